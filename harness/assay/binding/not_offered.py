"""Checks of the `absent` and `not_offered` keys of a target file.

`absent` names resources and operations, `not_offered` names rules. Each name must be one of the
contracts of the file: a misspelt one would silently excuse nothing. An operation that the
contract declares unavailable is not absent, since the contract says so itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeAlias

from assay.binding.target import Target
from assay.contract.files.document import Pointer, spell
from assay.contract.model import Clause, Contract
from assay.errors import Problem, did_you_mean
from assay.rules.clauses import clauses_of
from assay.rules.refusing_kind import facets_of
from assay.rules.steps import roots

#: From a section of a contract to the names in those contracts of the file that are not in the run.
Elsewhere: TypeAlias = Callable[[str], Collection[str]]


def unmatched_ids(
    contracts: Sequence[Contract], target: Target, elsewhere: Elsewhere
) -> Iterator[Problem]:
    """Yield each name under `absent` and `not_offered` that excuses nothing, with its line."""
    operations = {name: each for one in contracts for name, each in one.operations.items()}
    resources = {name for contract in contracts for name in contract.resources}
    rules = {clause.id for contract in contracts for clause in _all_clauses(contract)}
    facets = {
        f"{clause.id}/{facet.id}"
        for contract in contracts
        if any("/" in name for name in target.not_offered)
        for clause, kind in zip(contract.clauses, clauses_of(contract), strict=True)
        for facet in facets_of(kind)
    }
    unavailable = {name for name, operation in operations.items() if not operation.available}
    for section, noun, given, known in (
        ("resources", "resource", target.absent.resources, resources),
        ("operations", "operation", target.absent.operations, operations.keys() - unavailable),
    ):
        for name in given:
            at = ("absent", section, name)
            if name in unavailable and section == "operations":
                yield from _problem(
                    target,
                    at,
                    "the contract itself says that this operation is not available",
                    f"remove it, and set operations.{name}.path to the path that the bank would use",
                )
            elif name not in known and name not in elsewhere(section):
                what = f"no contract of this run has such {_a(noun)}"
                yield from _problem(target, at, what, did_you_mean(name, known))
            elif section == "operations" and _is_bound_here(target, name):
                what = f"the operation is absent, and operations.{name} says how it is called"
                yield from _problem(target, at, what, "remove one of the two")
    for name in target.not_offered:
        rule, _, facet = name.partition("/")
        if rule not in rules and rule not in elsewhere("rules"):
            what = "no contract of this run has such a rule"
            yield from _problem(target, ("not_offered", name), what, did_you_mean(rule, rules))
        elif facet and rule in rules and name not in facets:
            own = [each for each in facets if each.startswith(f"{rule}/")]
            what = "the rule has no such facet"
            yield from _problem(target, ("not_offered", name), what, did_you_mean(name, own))
    yield from _all_absent(contracts, target)
    yield from _owned(target)
    yield from _removed(target, operations)


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _all_clauses(contract: Contract) -> tuple[Clause, ...]:
    return (*contract.clauses, *contract.not_applicable)


def _is_bound_here(target: Target, operation: str) -> bool:
    """Whether the file that declares an operation absent binds it, too."""
    if operation not in target.operations:
        return False
    absent, _ = target.place("absent", "operations", operation)
    bound, _ = target.place("operations", operation)
    return absent == bound


def _all_absent(contracts: Sequence[Contract], target: Target) -> Iterator[Problem]:
    """Yield a problem for each contract of which the customers own nothing at this bank."""
    for contract in contracts:
        owned = [resource.id for resource in roots(contract)]
        if owned and target.absent.resources.keys() >= {*owned}:
            what = f"without these resources, a customer of {contract.id} can own nothing"
            hint = f"leave the contract {contract.id} out of the run"
            yield from _problem(target, ("absent", "resources", owned[0]), what, hint)


def _owned(target: Target) -> Iterator[Problem]:
    """Yield each item of a listed customer whose resource the bank does not have."""
    for role in target.fixtures.roles:
        for index, holding in enumerate(role.owns):
            if holding.resource in target.absent.resources:
                what = f"the customer owns a {holding.resource}, and the bank has none"
                hint = f"remove it here, or absent.resources.{holding.resource}"
                yield from _problem(
                    target, ("fixtures", "roles", role.name, "owns", index), what, hint
                )


def _removed(target: Target, operations: Collection[str]) -> Iterator[Problem]:
    """Yield each inherited operation that is null, where a contract of the run has it."""
    for name in target.removed_operations:
        if name in operations and name not in target.absent.operations:
            what = "null removes what is inherited, and the contract has this operation"
            hint = (
                f"if the bank does not have it, write absent.operations.{name} with the reason;"
                " otherwise bind it"
            )
            yield from _problem(target, ("operations", name), what, hint)


def _problem(target: Target, at: Pointer, what: str, hint: str) -> Iterator[Problem]:
    """Yield a problem, unless the key is of a base that binds more than this file."""
    path, line = target.place(*at)
    key, path = spell(at), path or target.path
    if not target.is_of_wider_base(*at):
        yield Problem(path=path, line=line, what=f"{key}: {what}", hint=hint, key=key)
