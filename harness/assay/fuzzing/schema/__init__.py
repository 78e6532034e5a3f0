"""Schema-based fuzzing with Schemathesis, driven by the exported OpenAPI document.

`generator` has Schemathesis generate cases and validate answers (the only module that
uses it; imported on demand); `case_requests` makes the request of a case from one that
was accepted, and matches it to the nearest call; `search` sends the cases of an operation
and has every check of the contract judge them; `items` is how the shipped suite runs
that. A schema violation without a clause of its own is reported as `general`.
"""
