"""A recording reverse proxy: what a provider's own client says to a bank, written down.

`proxy` listens and answers, `upstream` asks the bank, `origins` turns its links to the
proxy, `record` writes a HAR file and `secrets` keeps out of it what opens doors. Nothing
is judged here: that is done with the record, later.
"""
