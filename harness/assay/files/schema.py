"""Whether a loaded file has the right shape: every problem, each with line and hint.

A rule is checked against the schema of its own kind alone; kinds of other packages
bring none. What names refer to is not known here: see `references` and
`target.checks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from assay.errors import Problem, did_you_mean
from assay.files.document import Document, Pointer
from assay.files.finding import Finding, found, problem, spell
from assay.files.keywords import Failed, words
from assay.files.shapes import kinds, validator
from assay.model import Json

__all__ = ["check", "found", "kinds", "problem", "spell"]


def check(document: Document, schema_name: str) -> list[Problem]:
    """Compare a document with the schema `contract` or `target`; list all problems."""
    findings = list(_compare(f"{schema_name}.yaml", document.data, ()))
    if schema_name == "contract":
        findings += _rules(document.data.get("rules"))
    problems = {problem(document, *one): None for one in findings}
    return sorted(problems, key=lambda one: (one.path != document.path, one.line))


def _rules(rules: Json) -> Iterator[Finding]:
    if not isinstance(rules, list):
        return
    for index, rule in enumerate(cast("list[Json]", rules)):
        if not isinstance(rule, dict):
            continue
        raw = cast("dict[str, Json]", rule)
        kind = raw.get("kind")
        if not isinstance(kind, str):
            continue
        where: Pointer = ("rules", index)
        if kind in kinds():
            yield from _compare(f"rules/{kind}.yaml", raw, where)
        elif _installed(kind):
            yield from _compare("common.yaml#/$defs/rule", raw, where)
        else:
            hint = did_you_mean(kind, kinds())
            yield (*where, "kind"), f"there is no rule kind {found(kind)}", hint


def _installed(kind: str) -> bool:
    """Whether another package brings rules of this kind, and checks them itself."""
    from importlib.metadata import entry_points  # noqa: PLC0415 -- slow to import

    return any(point.name == kind for point in entry_points(group="assay.rules"))


def _compare(name: str, value: Json, at: Pointer) -> Iterator[Finding]:
    for error in validator(name).iter_errors(cast("Any", value)):
        failed = Failed(
            keyword=str(error.validator),
            asked=error.validator_value,
            value=error.instance,
            schema=cast("Mapping[str, Any]", error.schema),
            is_key="propertyNames" in error.absolute_schema_path,
        )
        for below, what, hint in words(failed):
            yield (*at, *error.absolute_path, *below), what, hint
