"""The journal of a run: written as it happens, redacted, and read back."""
