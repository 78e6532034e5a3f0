"""What will be asked of a target, fixed before the run."""
