"""`assay schema`: the JSON Schema of a kind of file, for editors and other tools."""

from __future__ import annotations

import click

from assay.parsing.editor_schema import EDITOR_SCHEMAS, editor_schema

EPILOG = """\b
Examples:
  assay schema target > assay-target.schema.json
  assay schema contract > assay-contract.schema.json
\b
Editors with the YAML language server apply the schema to files that begin with this line:
  # yaml-language-server: $schema=assay-target.schema.json
"""


@click.command(epilog=EPILOG)
@click.argument("file", type=click.Choice(EDITOR_SCHEMAS))
def command(file: str) -> None:
    """Print the JSON Schema of a kind of file, for editors.

    The schema is one self-contained document. The schema of contracts covers the parameters of
    every rule kind, including kinds from installed packages. An editor uses it to complete keys
    and mark mistakes. `assay check` finds more mistakes and says how to fix them.
    """
    click.echo(editor_schema(file), nl=False)
