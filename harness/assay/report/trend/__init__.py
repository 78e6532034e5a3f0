"""Trend of the runs in a folder: how many obligations have which verdict, and what changed."""
