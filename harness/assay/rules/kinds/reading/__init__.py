"""Kinds about what an operation returns: lists, pages, fields, filters, errors."""
