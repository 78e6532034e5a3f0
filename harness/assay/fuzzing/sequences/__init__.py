"""Random sequences: calls generated from the contract's own probes, judged by every check.

`abstract_step` has their steps, with references in place of what only a target can
name; `actions` gathers the possible steps from the probes; `sequence` performs chosen
ones; `concretize` resolves the references, `shrink` removes steps that a violation does
not need, and `sequence_file` stores a sequence. Nothing is judged here: the rules'
checks judge a sequence as they judge any history.
"""
