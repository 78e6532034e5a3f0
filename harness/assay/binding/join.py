"""Where a contract and a target file meet, and only here.

`bind` fills in what the contract leaves to the bank (its zone) and refuses what
cannot go together: a bank that the document excludes, names of operations and
fields that the contract does not have, waivers of nothing, a live host of the
wrong form. Everything wrong is reported at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import cast
from urllib.parse import urlsplit

from assay.binding.target import OperationBinding, Profile, ScaKind, Waiver
from assay.contract.files.load import load
from assay.contract.model import Capability, Contract, Operation
from assay.contract.parse import find_contract
from assay.errors import InputError, Problem, did_you_mean
from assay.planning.obligation import Obligation, obligations
from assay.rules.rule import Want

#: What a profile with a presence header and a zone adds to what its world offers.
EMPTY = OperationBinding()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A contract as it stands for one target, with its obligations."""

    contract: Contract
    obligations: tuple[Obligation, ...]


def bind(contracts: Sequence[Contract], profile: Profile) -> tuple[Bound, ...]:
    """Join contracts and a profile.

    Raises:
        InputError: they do not fit; every problem is in it, with its line.

    """
    bound = tuple(_bind(contract, profile) for contract in contracts)
    problems = [
        *(one for each in bound for one in _excluded(each.contract, profile)),
        *_operations(bound, profile),
        *(one for each in bound for one in _host(each.contract, profile)),
        *_waivers(bound, profile),
    ]
    if problems:
        raise InputError(problems)
    return bound


def _bind(contract: Contract, profile: Profile) -> Bound:
    zoned = replace(contract, zone=contract.zone or profile.zone)
    return Bound(contract=zoned, obligations=obligations(zoned))


def capabilities(contract: Contract, profile: Profile) -> frozenset[Capability]:
    """Return what a target offers: its world's, plus what its spelling allows."""
    offered = set(profile.world.offers)
    if profile.presence:
        offered.add(Capability.BATCH)
    if contract.zone:
        offered.add(Capability.ZONE)
    if profile.hosts:
        offered.add(Capability.HOSTS)
    if profile.sca.kind is not ScaKind.NONE:
        offered.add(Capability.SCA)
    if profile.sca.kind in {ScaKind.FORMS, ScaKind.BROWSER}:
        offered.add(Capability.SCREENS)
    return frozenset(offered)


def spelt(want: Want, contract: Contract, profile: Profile) -> bool:
    """Whether the profile spells what a facet wants."""
    if want.feature == "approval" and profile.sca.kind is ScaKind.CONTROL:
        return True  # whoever signs without screens needs no link to them
    binding = profile.operations.get(want.operation, EMPTY)
    operation = contract.operations[want.operation]
    return SPELT[want.feature](want.name, binding, operation)


#: For each feature that a facet can want: whether a binding spells it.
SPELT: Mapping[str, Callable[[str, OperationBinding, Operation], bool]] = {
    "key": lambda _, binding, __: binding.item.keyed,
    "on": lambda _, binding, __: bool(binding.item.on),
    "links": lambda _, binding, __: bool(binding.links or binding.next),
    "credentials": lambda _, binding, __: binding.credentials is not None,
    "mode": lambda name, binding, _: name in binding.modes,
    "value": lambda name, binding, _: name in binding.values,
    "field": lambda name, binding, _: name in binding.item.fields,
    "state": lambda _, binding, __: binding.item.state is not None,
    "aliases": lambda _, binding, __: binding.aliases != (),
    "approval": lambda _, binding, __: binding.approval is not None,
    "other": lambda name, binding, _: (
        name in binding.arguments and binding.arguments[name].other is not None
    ),
    "argument": lambda name, binding, operation: (
        name in binding.arguments or _in_path(name, operation, binding)
    ),
}


def _in_path(name: str, operation: Operation, binding: OperationBinding) -> bool:
    return f"{{{name}}}" in (binding.path or operation.path)


def _problem(profile: Profile, at: str, what: str, hint: str = "") -> Problem:
    return Problem(path=profile.path, line=profile.lines.get(at, 0), what=what, hint=hint)


def _excluded(contract: Contract, profile: Profile) -> Iterator[Problem]:
    scope = {one.id: one for one in contract.scope}
    for name in profile.outside:
        if name in scope:
            yield _problem(
                profile,
                "outside",
                f"this target is outside the scope of {contract.id}: {scope[name].says}",
                "test another bank, or another contract",
            )


def _operations(bound: Sequence[Bound], profile: Profile) -> Iterator[Problem]:
    known = {name: op for each in bound for name, op in each.contract.operations.items()}
    for name, binding in profile.operations.items():
        if name not in known:
            continue
        operation = known[name]
        names = {operation.about, operation.grants, operation.since, operation.until}
        yield from _unknown(
            profile, name, "arguments", binding.arguments, {*names, *operation.arguments}
        )
        yield from _unknown(profile, name, "modes", binding.modes, operation.modes)
        yield from _unknown(profile, name, "values", binding.values, operation.disclosures)
    unknown = profile.operations.keys() - known.keys()
    for name in sorted(unknown - _elsewhere(profile, bound) if unknown else unknown):
        yield _problem(
            profile,
            f"operations.{name}",
            f"operations.{name}: no contract of this run has such an operation",
            did_you_mean(name, known),
        )


def _elsewhere(profile: Profile, bound: Sequence[Bound]) -> frozenset[str]:
    """Return the operations that the file spells for contracts that are not run now."""
    names: set[str] = set()
    for contract in sorted(profile.contracts - {each.contract.id for each in bound}):
        operations = load(find_contract(contract)).data.get("operations")
        names |= cast("dict[str, object]", operations).keys()
    return frozenset(names)


def _unknown(
    profile: Profile,
    operation: str,
    section: str,
    given: Iterable[str],
    known: Iterable[str | None],
) -> Iterator[Problem]:
    names = {one for one in known if one}
    for name in given:
        if name not in names:
            yield _problem(
                profile,
                f"operations.{operation}",
                f"operations.{operation}.{section}.{name}: the contract has no such name",
                did_you_mean(name, names),
            )


def _host(contract: Contract, profile: Profile) -> Iterator[Problem]:
    """Check the form of a live host (`www.<bankcode>.live.<api_domain>`)."""
    form = contract.hosts.get("live")
    if profile.environment != "live" or not form:
        return
    pattern = ""
    for part in re.split(r"(<[a-z_]+>)", form):
        name = part.strip("<>")
        if part.startswith("<"):
            pattern += contract.hosts.get(name, r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*")
        else:
            pattern += re.escape(part)
    host = urlsplit(profile.base_url).hostname or ""
    if not re.fullmatch(pattern, host):
        yield _problem(
            profile,
            "base_url",
            f"base_url: expected a live host of the form {form}, found {host!r}",
            f"bank codes match {contract.hosts.get('bankcode', 'anything')}",
        )


def _waivers(bound: Sequence[Bound], profile: Profile) -> Iterator[Problem]:
    known = {one.id for each in bound for one in each.obligations}
    elsewhere = profile.contracts - {each.contract.id for each in bound}
    for waiver in profile.waivers:
        contract = waiver.obligation.partition("/")[0]
        if waiver.obligation not in known and contract not in elsewhere:
            yield Problem(
                path=profile.path,
                line=waiver.line,
                what=f"waiver of {waiver.obligation!r}: no such obligation in this run",
                hint=did_you_mean(waiver.obligation, known),
            )


def waiver_of(profile: Profile, obligation: str) -> Waiver | None:
    """Return the waiver of an obligation, expired or not."""
    return next((one for one in profile.waivers if one.obligation == obligation), None)


def expired(waiver: Waiver, today: date) -> bool:
    """Whether a waiver no longer holds on a day."""
    return date.fromisoformat(waiver.expires) < today
