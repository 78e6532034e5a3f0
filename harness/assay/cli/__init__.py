"""The commands of `assay`, one a file; `assay.cli.main` has their table."""
