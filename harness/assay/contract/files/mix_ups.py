"""Detection of mix-ups: a file of another kind, or a JSONPath instead of a pointer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from assay.contract.model import Json

#: Of each kind, by its schema: the key with a file's name, what it is called, where it is given.
_KINDS: Final[Mapping[str, tuple[str, str, str]]] = {
    "contract": ("contract", "contract", "with --contract"),
    "target": ("target", "target file", "with --target"),
    "banks": ("fleet", "file of banks", "to `assay fleet`, or as FILE#BANK with --target"),
}


def of_another_kind(data: Mapping[str, Json], schema_name: str) -> tuple[str, str] | None:
    """Return an error and a hint for a file of another kind than that of a schema, or None."""
    if schema_name not in _KINDS:
        return None
    key, name, _ = _KINDS[schema_name]
    other = next((kind for kind in _KINDS.values() if kind[0] in data), None)
    if key in data or other is None:
        return None
    return f"this is a {other[1]}, not a {name}", f"give it {other[2]}"


def named(schema_name: str) -> str:
    """Return what a file of a schema is called."""
    return _KINDS[schema_name][1] if schema_name in _KINDS else f"file of {schema_name}"


#: The hint of the schemas at a JSON pointer.
POINTER_HINT: Final = "for example /links/next"
#: A pointer in the words of JSONPath, or without its slash.
_PATH: Final = re.compile(r"(?:\$\.)?(\w+(?:\.\w+)*)")


def pointer_hint(value: Json) -> str:
    """Return the hint for what should be a JSON pointer: the one that was meant, or an example."""
    plain = _PATH.fullmatch(value) if isinstance(value, str) else None
    return f"did you mean '/{plain[1].replace('.', '/')}'?" if plain else POINTER_HINT
