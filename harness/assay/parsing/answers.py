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
from assay.files.shape_check import rule_findings
from assay.rules.kinds import find_kind, schema_of

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


def findings(document: Document) -> Iterator[Finding]:
    """Yield what is wrong with the rules of answers, each as a rule of the contract that follows."""
    raw = cast("_Raw", document.data)
    known = {each["id"] for each in raw["rules"]}
    for index, point in enumerate(raw.get("unspecified", ())):
        for name, answer in point.get("answers", {}).items():
            for id_, rule, new in answered_rules(raw, point, answer):
                at: Pointer = ("unspecified", index, "answers", name, "rules", id_)
                if new and not {"kind", "says"} <= rule.keys():
                    hint = did_you_mean(id_, known)
                    hint = hint or "a rule that an answer adds has `kind` and `says`"
                    yield at, f"there is no rule {found(id_)}", hint
                else:
                    yield from faults_of(rule, at, raw)


def faults_of(rule: _Raw, at: Pointer, raw: _Raw) -> Iterator[Finding]:
    """Yield what is wrong with a rule that takes the place of one of a contract, or is added to it."""
    wrong = [*rule_findings(rule, schema_of, at)]
    yield from wrong
    kind = find_kind(rule["kind"])
    if kind is not None and not wrong:
        others = [each for each in raw["rules"] if each["id"] != rule["id"]]
        yield from kind.references(at, rule, {**raw, "rules": [*others, rule]})
