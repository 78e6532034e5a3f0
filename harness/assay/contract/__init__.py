"""Contracts: what a document says, as values."""
