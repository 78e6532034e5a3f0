"""The shipped suites: what is asserted of a target, never how it is found out.

Run them with `pytest --pyargs assay.suites`, or by `assay run`, which asks the same.
"""
