"""The shapes in `contract/schema`, as validators of JSON Schema 2020-12.

Any other tool can use the shapes too. The one thing that is stricter here is the
end of a pattern. What a failed keyword means in words is not known: see `keywords`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from assay._resources import contract_dir
from assay.files.load import load
from assay.model import Json

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator
    from referencing import Registry

__all__ = ["described", "kinds", "validator"]

#: Any URI that relative references can be resolved against.
_BASE: Final = "file:///"
#: The schema that all others refer to.
_COMMON: Final = "common.yaml"


@cache
def kinds() -> frozenset[str]:
    """Return the rule kinds that have a schema."""
    return frozenset(one.stem for one in (contract_dir() / "schema" / "rules").glob("*.yaml"))


@cache
def validator(name: str) -> Validator:
    """Return what compares values with a schema file, or with a part of one (`x.yaml#/…`)."""
    registry = _registry(name.partition("#")[0])
    return cast("Validator", _strict()({"$ref": _BASE + name}, registry=registry))


@cache
def _strict() -> Any:
    """Return the kind of validator that all shapes have; made once, for that is slow."""
    from jsonschema import Draft202012Validator, validators  # noqa: PLC0415 -- slow

    return cast("Any", validators).extend(Draft202012Validator, {"pattern": _whole_text})


def described(schema: Mapping[str, Any]) -> str:
    """Return the noun phrase for a value of a shape, its own or that of what it refers to."""
    if "description" in schema:
        return str(schema["description"])
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    for file in ("common.yaml", "contract.yaml", "target.yaml") if name else ():
        shapes = cast("dict[str, dict[str, Any]]", _schema(file).get("$defs", {}))
        if name in shapes:
            return str(shapes[name].get("description", ""))
    return ""


@cache
def _registry(name: str) -> Registry[Any]:
    """Hold one schema and those it refers to; crawled once, for that is slow."""
    from referencing import Registry  # noqa: PLC0415
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415

    # What all refer to is crawled for the first of them, and for all.
    below: Registry[Any] = Registry() if name == _COMMON else _registry(_COMMON)
    names = {name, "contract.yaml"} if name == "target.yaml" else {name}
    resources = [(_BASE + one, DRAFT202012.create_resource(_schema(one))) for one in names]
    return below.with_resources(cast("Any", resources)).crawl()


@cache
def _schema(name: str) -> Mapping[str, Json]:
    """Load a schema; without `$schema`, which would bring the plain validator back."""
    data = load(contract_dir() / "schema" / name).data
    return {key: value for key, value in data.items() if key != "$schema"}


def _whole_text(
    _validator: object, pattern: str, value: object, _schema: object
) -> Iterator[ValidationError]:
    """`pattern`, with a `$` that does not let a line break through as Python's does."""
    from jsonschema import ValidationError  # noqa: PLC0415

    if isinstance(value, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), value):
        yield ValidationError("pattern")
