"""Recording reverse proxy: writes what a TPP's own client sends to a bank to a HAR file.

`server` listens and serves clients, `upstream` forwards to the bank, `messages`
rewrites the bank's links to the proxy, and `recorder` writes the file without secrets. Nothing is
judged here: `assay judge` does that later.
"""
