"""Signers: the ways in which a customer's signature (SCA) is obtained in a run.

`protocol` is the interface. `screen_flow` fills in the target's screens, which `forms`
shows over plain HTTP (read by `html_forms`) and `browser` in a `chromium`; `control`
uses the control API; `manual` asks a person and waits for their browser. Nothing here
judges what the screens do.
"""
