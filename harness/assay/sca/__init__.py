"""Signers: the ways in which a customer's signature (SCA) is obtained in a run.

`protocol` is the interface, with the signer of the control API. `screen_flow` fills in the
target's screens over plain HTTP (read by `html_forms`), and `browser` in a Chromium; `manual`
asks a person and waits for their browser. Nothing here judges what the screens do.
"""
