"""Target files and what they bind: how one bank spells a contract.

`read` loads a target file without any contract; `join` binds contracts to it; `encode` and
`decode` translate calls and answers; `features` is the table of what a facet can require.
"""
