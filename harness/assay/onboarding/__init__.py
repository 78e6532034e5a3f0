"""A bank's first hour: drafting a target file and examining it."""
