"""Draft of a target file: `assay init`, by questions or from an OpenAPI document.

`safe_load` reads the document and `openapi_operations` lists its operations;
`operation_match` finds those of the contracts; `requests`, `responses` and `items` guess
their bindings; `target_file` puts the file together and `yaml_writer` writes it. A guess
says why, and a gap says what is missing: nothing is made up. Nothing is sent: `assay check`
and `assay doctor` show whether the file is right.
"""
