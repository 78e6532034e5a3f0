"""The dialect of STET 1.4.0: its paths, HAL bodies, opaque identifiers and status words.

Written from what is publicly known of that interface, for a bank that speaks something
else. :mod:`~assay.sandbox.dialects.stet.edge` is its door. Not a validator of the
standard: what this bank does not look at, the dialect lets pass.
"""

__all__: list[str] = []
