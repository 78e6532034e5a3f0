"""The commands of `assay`, one module each; `assay.cli.main` has their table."""
