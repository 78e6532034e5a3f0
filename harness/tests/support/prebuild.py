"""The prebuilt form of the schemas, made anew from its sources."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from functools import partial

from assay._resources import contract_dir, shipped_contracts
from assay.files import shape_check
from assay.files.document import Document
from assay.files.load import load
from assay.files.shape_check import SCHEMAS, digests
from assay.parsing.parse import full_shape_problems
from assay.preparation.target_file import extended, shipped, shipped_file

FOLDER = contract_dir() / "schema"


def shipped_documents() -> Iterator[tuple[str, Document]]:
    """Yield every shipped contract and target, with the name of its schema."""
    for path in shipped_contracts():
        yield "contract", load(path)
    for name in shipped():
        yield "target", extended(load(shipped_file(name)))


def problems(schema_name: str, document: Document) -> list[str]:
    """Validate a document in full, whatever was recorded of it."""
    validate = (
        full_shape_problems
        if schema_name == "contract"
        else partial(shape_check.validate, schema_name=schema_name)
    )
    return [str(problem) for problem in validate(document)]


def text() -> str:
    """Return the content of the prebuilt file; what does not conform is not recorded."""
    conforming: dict[str, list[str]] = {"contract": [], "target": []}
    for schema_name, document in shipped_documents():
        if not problems(schema_name, document):
            conforming[schema_name].append(document.digest)
    content = {
        "digests": digests(FOLDER),
        "conforming": conforming,
        "schemas": {name: load(FOLDER / name).data for name in SCHEMAS},
    }
    return json.dumps(content, ensure_ascii=False, indent=0, default=_number) + "\n"


def _number(value: object) -> float:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(type(value).__name__)
