"""Reports of a fleet: what is common to its banks, what is one bank's own, and what changed."""
