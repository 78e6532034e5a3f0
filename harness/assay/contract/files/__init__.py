"""Contract and target files as files: read strictly, checked by schema, with line numbers.

`load` opens and `strict_yaml` reads; `shape_check` validates the shape and words the
errors. What the content means is decided in `assay.contract.parse` and
`assay.binding.read`.
"""
