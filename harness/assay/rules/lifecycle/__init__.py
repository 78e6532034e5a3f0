"""Requested resources, such as payments: how each was made, signed, changed and executed."""
