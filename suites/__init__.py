"""The shipped pytest suites: one assertion for each obligation of the contracts.

Run them with `pytest --pyargs assay.suites`; `assay run` tests the same obligations.
"""
