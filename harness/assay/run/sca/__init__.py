"""Who signs: one file for each way in which a customer's signature can be had.

`signer` is the bargain, `forms` walks the screens over plain HTTP, `control` asks the
world. Nothing here judges what the screens do.
"""
