"""Strict reading and schema validation of contract and target files, with line numbers.

`load` reads files; `shape_check` validates them and writes the error messages. What the content
means is read by `assay.parsing` and `assay.preparation.target_file`.
"""
