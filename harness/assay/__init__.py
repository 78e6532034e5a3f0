"""Assay: a contract-conformance test harness for bank API gateways.

The package is imported by every pytest run on a machine that has it installed,
so this file imports nothing. Start reading at `model` (what a contract is),
`history` (what happened) and `verdict` (what it means).
"""

__version__ = "0.1.0"
