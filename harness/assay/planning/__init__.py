"""The plan of a run, made before the first call: obligations, trials, costs."""
