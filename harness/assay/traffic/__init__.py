"""Judging of recorded traffic: a recording becomes a history that the checks can judge.

`har` reads what browsers and proxies record, `readings` orders it, `match_request` finds the call of
a contract that a request is, `har_to_history` makes the history, and `judge` applies the checks for
the bank or for the TPP; `doubts` has what else may have happened. `session` does all of it, also for
the journal of a run. Nothing is sent here, and nothing that a recording does not show is assumed.
"""
