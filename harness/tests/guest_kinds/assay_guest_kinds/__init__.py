"""Two rule kinds for Assay: `echo` and `idempotency`."""
