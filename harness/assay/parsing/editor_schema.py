"""The schemas of the files a user writes, each as one JSON Schema document for editors.

A document refers to nothing outside itself. That of contracts has the parameters of every rule
kind, those of installed packages included; that of target files takes what `extends` allows:
`null` for any key, and nothing required that the other file may have. Editors show descriptions
and complete keys with them; `assay check` validates with the schemas in `contract/schema`, whose
errors have lines and hints.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, TypeAlias, cast

from assay.files.shape_check import schema
from assay.rules.kinds import KINDS, installed
from assay.rules.rule import Kind

_Schema: TypeAlias = dict[str, Any]

#: The files that have a schema for editors, by the name on the command line.
EDITOR_SCHEMAS: Final = ("contract", "target", "waivers", "banks", "sequence")
_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
#: What a file that extends another one need not repeat.
_DEMANDS: Final = frozenset({"required", "dependentRequired", "minProperties", "if", "then"})


def editor_schema(name: str) -> str:
    """Return the schema of a kind of file (one of `EDITOR_SCHEMAS`) as a JSON document."""
    bundle = _Bundle()
    whole = bundle.take(f"{name}.yaml")
    if name == "contract":
        whole["properties"]["rules"]["items"] = bundle.rules()
    if name == "target":
        whole = bundle.extending(whole)
    document = {
        "$schema": _DRAFT,
        "title": f"Assay: {name} file",
        **{key: value for key, value in whole.items() if key not in {"$schema", "title"}},
        "$defs": dict(sorted(bundle.definitions.items())),
    }
    return json.dumps(document, indent=1, ensure_ascii=False, default=_number) + "\n"


class _Bundle:
    """The schemas of several files, and the definitions that they refer to, under one name each."""

    def __init__(self) -> None:
        self.definitions: dict[str, _Schema] = {}

    def take(self, file: str) -> _Schema:
        """Return the schema of a file; its definitions are added to the bundle."""
        return {
            key: self._own(value, file)
            for key, value in schema(file).items()
            if key != "$defs" and not key.startswith("x-")
        }

    def rules(self) -> _Schema:
        """Return the schema of a rule: that of its kind."""
        kinds: Mapping[str, type[Kind]] = {**KINDS, **installed()}
        names = sorted(kinds)
        for name in names:
            self.definitions[f"rule.{name}"] = self._own(dict(kinds[name].schema()), "rules")
        return {
            "description": "a rule with id, kind, says and source",
            "type": "object",
            "required": ["id", "kind", "says", "source"],
            "properties": {"kind": {"description": "the name of a rule kind", "enum": names}},
            "allOf": [
                {
                    "if": {"required": ["kind"], "properties": {"kind": {"const": name}}},
                    "then": {"$ref": f"#/$defs/rule.{name}"},
                }
                for name in names
            ],
        }

    def extending(self, whole: _Schema) -> _Schema:
        """Return the schema of a file that may extend another one."""
        names = list(self.definitions)
        self.definitions["whole"] = _nullable(whole)
        for name in names:
            definition = self.definitions[name]
            self.definitions[name] = _nullable(definition)
            self.definitions[f"extending.{name}"] = _nullable(definition, extending=True)
        self.definitions["extending"] = _nullable(whole, extending=True)
        return {
            "type": "object",
            "required": ["assay", "target"],
            "if": {"required": ["extends"]},
            "then": {"$ref": "#/$defs/extending"},
            "else": {"$ref": "#/$defs/whole"},
        }

    def _own(self, value: Any, file: str) -> Any:
        """Return a part of a schema, with references into this document."""
        if isinstance(value, list):
            return [self._own(each, file) for each in value]
        if not isinstance(value, dict):
            return value
        keywords = cast("_Schema", value)
        part: _Schema = {
            key: self._refer(str(each), file) if key == "$ref" else self._own(each, file)
            for key, each in keywords.items()
            if not key.startswith("x-")
        }
        if "x-hint" in keywords and isinstance(keywords.get("description"), str):
            part["description"] = f"{keywords['description']} ({keywords['x-hint']})"
        return part

    def _refer(self, reference: str, file: str) -> str:
        """Return a reference to a definition of this document, which is added if it is new."""
        named, _, pointer = reference.partition("#")
        file = named or file
        definition = pointer.rpartition("/")[2]
        name = f"{file.removesuffix('.yaml')}.{definition}" if definition else file
        if name not in self.definitions:
            self.definitions[name] = {}  # it may refer to itself
            source: Any = schema(file)
            self.definitions[name] = self._own(
                source["$defs"][definition] if definition else source, file
            )
        return f"#/$defs/{name}"


def _nullable(value: Any, *, extending: bool = False, names: bool = False) -> Any:
    """Return a schema in which any key of a mapping may be null, or, if `extending`, missing.

    `names` is true where the keys of the value are those of a file, not keywords.
    """
    if isinstance(value, list):
        return [_nullable(each, extending=extending) for each in value]
    if not isinstance(value, dict):
        return value
    part: _Schema = {}
    for key, each in cast("_Schema", value).items():
        inner = _nullable(each, extending=extending, names=key == "properties" and not names)
        if isinstance(each, dict) and (names or key == "additionalProperties"):
            part[key] = _or_null(inner)
        elif key == "oneOf" and extending:
            part["anyOf"] = inner  # several may fit a part of a mapping
        elif key == "$ref" and extending:
            part[key] = str(each).replace("#/$defs/", "#/$defs/extending.")
        elif not extending or key not in _DEMANDS:
            part[key] = inner
    return part


def _or_null(part: _Schema) -> _Schema:
    described = {"description": part["description"]} if "description" in part else {}
    return {**described, "anyOf": [part, {"type": "null"}]}


def _number(value: object) -> float:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(type(value).__name__)
