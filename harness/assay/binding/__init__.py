"""Target files and what they bind: how one bank spells a contract.

`model` is a target file as values, `read` makes these values and finds what does not fit, and
`wire` writes calls and reads answers with them.
"""
