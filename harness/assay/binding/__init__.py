"""Target files and what they bind: how one bank spells a contract.

`join` binds contracts to a target; `encode` and `decode` translate calls and answers; `features`
is the table of what a facet can require.
"""
