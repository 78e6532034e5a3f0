"""Random tests: sequences of calls, field values and schema cases beyond the planned probes."""
