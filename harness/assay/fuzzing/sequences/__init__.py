"""Journeys: stories that nobody wrote, told to a target and judged by every check.

`told` are their steps, with references in place of what only a target can name;
`words` gathers which steps there are, from the contract's own probes; `machine` puts
them together at random; `telling` turns them into steps again, `shorten` leaves away
what a story does not need, `story` keeps it in a file. What a story means is no matter
of this package: the rules' checks judge it, as they judge any history.
"""
