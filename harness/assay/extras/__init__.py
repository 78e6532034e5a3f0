"""Optional commands: runs at many banks, differences between contracts, signed evidence."""
