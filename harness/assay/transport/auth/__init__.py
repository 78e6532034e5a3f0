"""Authentication of a run to a target: certificates, signatures, tokens.

`setup` opens the channels to a target. `keys` reads the files that a target file names before
anything is sent, and signs each request with them. `tokens` keeps the OAuth tokens, which `oauth`
requests, after the customer's consent where that takes one. `diagnostics` finds the line of the
target file that a refusal is about.
"""
