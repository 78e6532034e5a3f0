"""Answers to the open points of a contract: what a bank can decide, and the rules that follow.

An answer gives parameters to rules of the contract, laid over what these say, or adds rules; a rule
that it adds has the source of its open point. Which answer a bank gives is in its target file: see
`binding.read.decisions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

from assay.errors import did_you_mean
from assay.files.document import Document, Finding, Pointer, found, laid_over
from assay.files.shape_check import RuleSchema, rule_findings
from assay.rules.kinds import find_kind

_Raw: TypeAlias = Mapping[str, Any]

#: The keys that rules of all kinds have; the others are parameters.
COMMON: Final = frozenset({"id", "kind", "says", "source", "level"})


def answered_rules(raw: _Raw, point: _Raw, answer: _Raw) -> Iterator[tuple[str, _Raw, bool]]:
    """Yield the id of each rule that an answer is about, the whole rule, and whether it is new."""
    rules = {rule["id"]: rule for rule in raw["rules"]}
    for name, given in answer.get("rules", {}).items():
        if name in rules:
            yield name, laid_over(rules[name], given), False
        else:
            yield name, {"id": name, "source": point["source"], **given}, True


def findings(document: Document, rule_schema: RuleSchema) -> Iterator[Finding]:
    """Yield what is wrong with the rules of answers, each as a rule of the contract that follows."""
    raw = cast("_Raw", document.data)
    for index, point in enumerate(raw.get("unspecified", ())):
        for name, answer in point.get("answers", {}).items():
            at: Pointer = ("unspecified", index, "answers", name, "rules")
            yield from _answer(raw, answered_rules(raw, point, answer), at, rule_schema)


def _answer(
    raw: _Raw, rules: Iterator[tuple[str, _Raw, bool]], at: Pointer, rule_schema: RuleSchema
) -> Iterator[Finding]:
    for name, rule, new in rules:
        known = {each["id"] for each in raw["rules"]}
        if new and not {"kind", "says"} <= rule.keys():
            hint = did_you_mean(name, known) or "a rule that an answer adds has `kind` and `says`"
            yield (*at, name), f"there is no rule {found(name)}", hint
            continue
        wrong = [*rule_findings(rule, rule_schema, (*at, name))]
        yield from wrong
        kind = find_kind(rule["kind"])
        if kind is not None and not wrong:
            rules_ = [each for each in raw["rules"] if each["id"] != name]
            yield from kind.references((*at, name), rule, {**raw, "rules": [*rules_, rule]})
