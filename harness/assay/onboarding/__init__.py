"""Preparation of a target file: drafting it (`init`) and examining it (`doctor`)."""
