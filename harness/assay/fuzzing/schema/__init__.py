"""Schemathesis as a generator and as a judge of schemas, over the exported document.

`case` is one thing that is changed in a known-good request, `generator` has Schemathesis
make cases and judge answers (the only place that knows it, and loaded only when asked),
`search` sends the cases of an operation into stories and has every check of the contract
judge them, `items` is how the shipped suite runs that. What only the judge of schemas
sees is told as `general`, unless the document says whose clause it is.
"""
