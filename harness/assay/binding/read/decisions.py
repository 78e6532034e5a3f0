"""What a bank decides: its answers to the open points of a contract, and the rules that follow.

The document leaves a point open, so nothing is wrong that a bank does there. A bank that answers it
in its own manual can be held to that: `decided` in its target file gives rules of the contract the
parameters that the answer stands for, or adds rules. Their obligations name the answer and its source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from assay.binding.model.target import Decided, Target
from assay.contract.model import BankAnswer, Clause, Contract, Json, OpenPoint
from assay.errors import did_you_mean
from assay.files.document import Finding, Pointer, found, laid_over
from assay.parsing.answers import faults_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedContract:
    """A contract with the rules that follow from a bank's answers.

    `by_clause` has the answer that each of these rules follows from, and `answered` how the bank
    answers each point, also where only its words say so.
    """

    contract: Contract
    by_clause: Mapping[str, BankAnswer] = field(default_factory=dict[str, BankAnswer])
    answered: Mapping[str, BankAnswer] = field(default_factory=dict[str, BankAnswer])


def decided(contract: Contract, target: Target) -> DecidedContract:
    """Return a contract with what a target file answers of its open points."""
    parameters: dict[str, Any] = {}
    added: list[Clause] = []
    by_clause: dict[str, BankAnswer] = {}
    answered: dict[str, BankAnswer] = {}
    for point, given in _answers(contract, target):
        chosen = [point.answers[name] for name in given.value if name in point.answers]
        says = " ".join(filter(None, (*(each.statement for each in chosen), given.says)))
        decision = BankAnswer(
            point=point.id, says=says or f"{_listed(given)}.", source=given.source
        )
        answered[point.id] = decision
        for rules in (*(each.parameters for each in chosen), given.rules):
            parameters = laid_over(parameters, rules)
            by_clause |= dict.fromkeys(rules, decision)
        for clause in (clause for each in chosen for clause in each.clauses):
            added.append(clause)
            by_clause[clause.id] = decision
    for point in contract.open_points:
        standing = [key for key in point.stands_at if key in _written(target)]
        if point.id not in answered and standing:
            says = f"It stands in the target file, at {', '.join(standing)}."
            answered[point.id] = BankAnswer(point=point.id, says=says, source="")
    if not by_clause:
        return DecidedContract(contract=contract, answered=answered)
    clauses = tuple(
        replace(clause, params=laid_over(clause.params, parameters[clause.id]))
        if clause.id in parameters
        else clause
        for clause in contract.clauses
    )
    return DecidedContract(
        contract=replace(contract, clauses=(*clauses, *added)),
        by_clause=by_clause,
        answered=answered,
    )


def _answers(contract: Contract, target: Target) -> Iterator[tuple[OpenPoint, Decided]]:
    """Yield each open point that a target file answers for this contract, with the answer."""
    for point in contract.open_points:
        given = target.decided.get(f"{contract.id}/{point.id}") or target.decided.get(point.id)
        # Another contract may leave a point of the same name open, with other answers.
        if given and (given.says or given.rules or {*given.value} & point.answers.keys()):
            yield point, given


def _listed(given: Decided) -> str:
    return "; ".join(
        f"{rule}: {', '.join(f'{key} {value}' for key, value in parameters.items())}"
        for rule, parameters in given.rules.items()
    )


def _written(target: Target) -> Mapping[str, Json]:
    return target.document.data if target.document else {}


def decision_findings(contracts: Sequence[Contract], target: Target) -> Iterator[Finding]:
    """Yield each answer that is none, at its place in the target file."""
    for name, given in target.decided.items():
        at: Pointer = ("decided", name)
        prefix, _, id_ = name.rpartition("/")
        asked = [each for each in contracts if prefix in ("", each.id)]
        if prefix and not asked and prefix in target.contracts:
            continue  # of a contract that is no part of this run
        every = [(one, point) for one in asked for point in one.open_points]
        named = [(one, point) for one, point in every if point.id == id_]
        whole = bool(prefix) or target.contracts <= {each.id for each in contracts}
        if not named and whole:
            hint = did_you_mean(id_, {point.id for _, point in every})
            yield at, "no contract of this run leaves such a point open", hint
        if named and whole:
            yield from _values(at, [point for _, point in named], given)
        for contract, point in named:
            yield from _twice(at, point, given)
            yield from _parameters(at, contract, point, given)


def _values(at: Pointer, points: Sequence[OpenPoint], given: Decided) -> Iterator[Finding]:
    """Yield values that are no answer to the point in any contract."""
    answers = {name for point in points for name in point.answers}
    for index, name in enumerate(given.value):
        if name not in answers:
            where = (*at, "value", *((index,) if len(given.value) > 1 else ()))
            hint = did_you_mean(name, answers) or (
                "say it in words, with `says`: no rule can judge an answer to this point"
            )
            yield where, f"{found(name)} is no answer to it that can be judged", hint


def _parameters(
    at: Pointer, contract: Contract, point: OpenPoint, given: Decided
) -> Iterator[Finding]:
    """Yield parameters that the point does not open, and those that no rule can have."""
    raws = {str(rule["id"]): rule for rule in cast("list[dict[str, Any]]", contract.data["rules"])}
    for id_, parameters in given.rules.items():
        below: Pointer = (*at, "rules", id_)
        if id_ not in raws:
            yield below, "the contract has no such rule", did_you_mean(id_, raws)
            continue
        for key in parameters:
            if key not in point.opens:
                hint = did_you_mean(key, point.opens) if point.opens else "use `value` or `says`"
                yield (*below, key), f"the point does not open {found(key)}", hint
        if parameters.keys() <= {*point.opens}:
            yield from faults_of(laid_over(raws[id_], parameters), below, contract.data)


def _twice(at: Pointer, point: OpenPoint, given: Decided) -> Iterator[Finding]:
    """Yield answers that contradict each other."""
    said: dict[tuple[str, ...], str] = {}
    for name in given.value:
        for key in _keys(point.answers[name].parameters if name in point.answers else {}):
            other = said.setdefault(key, name)
            if other != name:
                what = f"{found(other)} and {found(name)} answer the same question"
                yield (*at, "value"), what, "keep one of them"


def _keys(parameters: Mapping[str, Any], *above: str) -> Iterator[tuple[str, ...]]:
    """Yield the path to each value of the rules of an answer."""
    for key, value in parameters.items():
        if isinstance(value, Mapping):
            yield from _keys(cast("Mapping[str, Any]", value), *above, key)
        else:
            yield (*above, key)
