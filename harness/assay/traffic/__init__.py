"""Somebody else's traffic: a recording read as a history, so that rules can judge it.

`har` reads what browsers and proxies record, `journal` what a run of ours has recorded;
`recognise` tells which call of a contract a request is; `retell` makes a history of it
all, and `judging` lets the checks of the bank's or the provider's side speak. Nothing is
sent here, and nothing that a recording does not show is made up.
"""
