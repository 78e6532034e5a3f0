"""What runs can do without: runs at many banks, differences of contracts, signed evidence."""
