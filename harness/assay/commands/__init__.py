"""The commands of `assay`, one a file; `assay.cli` has their table."""
