"""Contracts: what a document says, as values; and the reader of contract files."""
