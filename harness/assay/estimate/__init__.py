"""What a run will cost and how far it can get, found by a dry run."""
