"""Schema-based fuzzing with Schemathesis, driven by the exported OpenAPI document.

`case` is one change to a request that is known to be accepted; `generator` has
Schemathesis generate cases and validate answers (the only module that uses it; imported
on demand); `search` sends the cases of an operation and has every check of the contract
judge them; `items` is how the shipped suite runs that. A schema violation without a
clause of its own is reported as `general`.
"""
