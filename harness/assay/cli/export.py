"""`assay export`: contracts and a target as an OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from assay.binding.read.join import bind
from assay.cli import options
from assay.cli.results import print_document
from assay.openapi import document
from assay.parsing.editor_schema import EDITOR_SCHEMAS, editor_schema
from assay.parsing.parse import parse_contracts
from assay.preparation.prepare import SHIPPED, load_target

EPILOG = """\b
Examples:
  assay export openapi > sandbox.json
  assay export openapi --contract aisp --target bank.yaml --format yaml --out bank-openapi.yaml
"""


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _yaml(data: dict[str, Any]) -> str:
    from assay.files.load import dump  # noqa: PLC0415 -- only where YAML is asked for

    return dump(data)


#: The formats of a document.
FORMATS: Mapping[str, Callable[[dict[str, Any]], str]] = {"json": _json, "yaml": _yaml}


@click.group(epilog=EPILOG)
def command() -> None:
    """Export contracts and a target for other tools. Nothing is sent."""


@command.command(epilog=EPILOG)
@options.contracts
@options.target
@options.document_format(FORMATS, "document")
@options.out_file
def openapi(contracts: Sequence[str], target: str | None, form: str, out: Path | None) -> int:
    """Write an OpenAPI 3.1 document of contracts and a target.

    The document uses the paths and names of the target. Limits and rules become `x-assay-`
    extensions (see contract/openapi.md).
    """
    loaded = load_target(target)
    names = contracts or loaded.own_contracts or SHIPPED
    bound = bind(parse_contracts(names), loaded)
    print_document(FORMATS[form](document(bound, loaded)), form, out)
    return 0


# -- schemas ---------------------------------------------------------------------
SCHEMA_EPILOG = """\b
Examples:
  assay schema target > assay-target.schema.json
  assay schema contract > assay-contract.schema.json
\b
Editors with the YAML language server apply the schema to files that begin with this line:
  # yaml-language-server: $schema=assay-target.schema.json
"""


@click.command(epilog=SCHEMA_EPILOG)
@click.argument("file", type=click.Choice(EDITOR_SCHEMAS))
def schema(file: str) -> None:
    """Print the JSON Schema of a kind of file, for editors.

    The schema is one self-contained document. The schema of contracts covers the parameters of
    every rule kind, including kinds from installed packages. An editor uses it to complete keys
    and mark mistakes. `assay check` finds more mistakes and says how to fix them.
    """
    click.echo(editor_schema(file), nl=False)
