"""Draft of a target file: `assay init`, by questions or from an OpenAPI document.

`foreign_document` reads the document and converts an old one; `openapi_operations` lists what it
has, and `operation_matching` compares it with the contracts. `operation_bindings` has a guess for
each binding feature, made there, in `requests` and in `responses`; `defaults` has the answers to the
other questions, such as how the operations used are authenticated. `inherited` leaves to an extended file what it knows better. `target_file`
puts the file together and `yaml_writer` writes it. A guess says why, and a gap says what is
missing: nothing is made up.
Nothing is sent: `assay check` and `assay doctor` show whether the file is right.
"""
