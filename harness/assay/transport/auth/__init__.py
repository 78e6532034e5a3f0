"""How a run proves to a target who it is: certificates, signatures, tokens.

`papers` reads the files that a profile names before anything is sent, `tls` makes the
connection of them, `signing` signs each request, and `desk` has the tokens of OAuth, asked
for as `grants` has it. `fault` is how the line of a profile is named that does not work,
and `taken` notices credentials that the target does not take.
"""
