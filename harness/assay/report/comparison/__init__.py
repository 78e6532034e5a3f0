"""Comparison of two runs: what became better, what became worse, and what is not comparable."""
