"""Cost and feasibility of a run, estimated by a dry run."""
