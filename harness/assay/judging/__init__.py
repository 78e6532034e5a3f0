"""Verdicts from evidence: weighed for each trial, corrected, waived and counted."""
