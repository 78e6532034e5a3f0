"""A target file as values: addresses, spellings, security, and the table of its features."""
