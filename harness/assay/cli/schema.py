"""`assay schema`: the JSON Schema of a kind of file, for editors and other tools."""

from __future__ import annotations

import click

from assay.contract.editor_schema import EDITOR_SCHEMAS, editor_schema

EPILOG = """\b
Examples:
  assay schema target > assay-target.schema.json
  assay schema contract > assay-contract.schema.json
\b
An editor with the YAML language server uses it with this first line in a file:
  # yaml-language-server: $schema=assay-target.schema.json
"""


@click.command(epilog=EPILOG)
@click.argument("file", type=click.Choice(EDITOR_SCHEMAS))
def command(file: str) -> None:
    """Print the JSON Schema of contracts, target files, waivers, files of banks or sequences.

    The schema is one document that refers to no other. That of contracts has the parameters of
    every rule kind, those of installed packages included. An editor completes keys with it and
    marks mistakes; `assay check` finds more, and says what to do.
    """
    click.echo(editor_schema(file), nl=False)
