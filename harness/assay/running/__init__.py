"""Running a plan against a target: sending, recording, and judging trial by trial.

All effects of a run are here and in the rooms below: no rule and no check has any.
"""
