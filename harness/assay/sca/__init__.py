"""Who signs: one file for each way in which a customer's signature can be had.

`signer` is the bargain. `walk` is the way through the screens, which `forms` shows over
plain HTTP (read by `page`) and `browser` in a `chromium`; `control` asks the world, and
`manual` a `person`, whose browser comes back to a `reception`. Nothing here judges what
the screens do.
"""
