"""Everything that is particular to one target: profile, spelling, worlds.

A target file loads with no contract (`read`); `join` puts the two together;
`encode` and `decode` translate calls and answers; `control` and `roles` arrange
what probes need.
"""
