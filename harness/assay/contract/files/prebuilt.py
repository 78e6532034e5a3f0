"""Prebuilt schemas: the schemas of `contract/schema` as one JSON file, which loads fast.

The file also has the digests of the shipped contracts and targets that were checked against
these schemas. Every schema stands there with the digest of its YAML file: if one of the files
has changed since, the prebuilt form is not used at all, so that it can be late but never wrong.
`python harness/tests/support/prebuild.py` writes it; a test compares it with its sources.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final

from assay._resources import contract_dir
from assay.contract.model import Json

#: The schemas of the files that a command reads at its start.
SCHEMAS: Final = ("common.yaml", "contract.yaml", "target.yaml")
NAME: Final = "prebuilt.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prebuilt:
    """Schemas by the names of their files, and the digests of files that conform, by schema."""

    schemas: Mapping[str, Mapping[str, Json]] = field(default_factory=dict[str, Any])
    conforming: Mapping[str, Collection[str]] = field(default_factory=dict[str, Any])

    def conforms(self, schema_name: str, digest: str) -> bool:
        """Whether the file with this digest was checked, and conforms to a schema."""
        return digest in self.conforming.get(schema_name, ())


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of each schema in a folder."""
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in SCHEMAS}


def read_prebuilt(folder: Path) -> Prebuilt:
    """Read the prebuilt form of the schemas in a folder; it is empty if it is not up to date."""
    try:
        made: Any = json.loads((folder / NAME).read_bytes(), parse_float=Decimal)
        if made["digests"] != digests(folder):
            return Prebuilt()
        return Prebuilt(schemas=made["schemas"], conforming=made["conforming"])
    except (OSError, ValueError, TypeError, KeyError):
        return Prebuilt()


@cache
def prebuilt() -> Prebuilt:
    """Return the prebuilt form of the shipped schemas."""
    return read_prebuilt(contract_dir() / "schema")
