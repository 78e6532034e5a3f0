"""Strict reading and schema validation of contract and target files, with line numbers.

`load` opens files and `strict_yaml` reads them; `shape_check` validates them and writes the
error messages. `assay.parsing.parse` and `assay.preparation.target_file` interpret the content.
"""
