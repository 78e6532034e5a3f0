"""Authentication of a run to a target: certificates, signatures, tokens.

`setup` opens the channels to a target. `certificates` reads the files that a target file
names before anything is sent, `tls` uses them for the connection, `signing` signs each
request, and `tokens` keeps the OAuth tokens, which `oauth` requests; `authorization_code` gets the
code for one, and `request_objects` signs the request for that. `diagnostics` and `token_refusals`
find the line of the target file that a refusal is about.
"""
