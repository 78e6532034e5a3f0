"""Draft of a target file: `assay init`, by questions or from an OpenAPI document.

`safe_load` reads the document, `openapi_schemas` and `openapi_operations` list what it has and
match its operations to those of the contracts. `operation_bindings` has a guess for each binding
feature, made in `requests`, `responses` and `items`; `target_file` puts the file together and
`yaml_writer` writes it. A guess says why, and a gap says what is missing: nothing is made up.
Nothing is sent: `assay check` and `assay doctor` show whether the file is right.
"""
