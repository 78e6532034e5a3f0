"""Contract and target files as files: read strictly, checked by schema, with their lines.

`load` opens and `strict` reads; `schema` checks the shape, and `keywords` and
`finding` say what is wrong so that a person can mend it. What the content means
is the business of `assay.contract.parse` and `assay.binding.read`.
"""
