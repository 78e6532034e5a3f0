"""Schema-based fuzzing with Schemathesis, driven by the exported OpenAPI document.

`generator` has Schemathesis generate cases and validate answers (the only module that
uses it; imported on demand); `cases` has what varies in a case; `search` sends the cases of
operations, each made from a request that was accepted, and has every check of the contract
judge them; `document_clauses` finds the clauses behind what only the document shows.
"""
