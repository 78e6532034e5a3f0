"""The beginning of a target file: written by asking, or from an OpenAPI document.

`foreign` reads somebody's document and `offered` says what it offers; `match` finds the
contract's operations in it; `requests` and `answers` guess how they are spelt; `lines` and
`written` write it down. A guess says why, and a gap says what is missing: nothing is made
up. Nothing is sent, and whether the file is right is for `assay check` and a run to tell.
"""
