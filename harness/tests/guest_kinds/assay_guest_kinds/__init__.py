"""Two rule kinds for Assay: `mirror` and `once`."""
