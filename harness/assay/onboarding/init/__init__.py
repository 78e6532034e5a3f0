"""Draft of a target file: `assay init`, by questions or from an OpenAPI document.

`safe_load` reads the document and `swagger2` converts an old one; `openapi_schemas` and
`openapi_operations` list what it has, and `operation_matching` and `name_matching` compare it with
the contracts. `operation_bindings` has a guess for each binding feature, made in `requests`,
`granted_lists`, `body_templates`, `responses`, `items`, `sent_outputs` and `submissions`; `authentication` is that
of the operations used. `inherited` leaves to an extended file what it knows better. `target_file`
puts the file together and `yaml_writer` writes it. A guess says why, and a gap says what is
missing: nothing is made up.
Nothing is sent: `assay check` and `assay doctor` show whether the file is right.
"""
