"""The rule kinds, and what they are written with."""
