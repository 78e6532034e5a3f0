"""Recording reverse proxy: writes what a TPP's own client sends to a bank to a HAR file.

`server` listens and answers, `upstream` asks the bank, `origins` rewrites its links to the proxy,
`recorder` writes the file and `masking` keeps secrets out of it. Nothing is judged here: `assay
judge` does that later.
"""
