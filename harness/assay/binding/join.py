"""Binding of contracts to a target: their obligations, and everything that does not fit.

`bind` fills in what the contract leaves to the bank (its time zone) and refuses what cannot
go together: a bank that the document excludes, names of operations and arguments that the
contract does not have, waivers of unknown obligations, a live host of the wrong form. All
problems are reported at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from itertools import chain
from typing import cast
from urllib.parse import urlsplit

from assay.binding import not_offered
from assay.binding.absent_parts import with_reasons, without
from assay.binding.contract_names import ContractNames, unknown_names
from assay.binding.role_names import unknown_in_roles
from assay.binding.security import ISSUING
from assay.binding.target import AbsentParts, OperationBinding, Place, ScaKind, Target, Waiver
from assay.binding.token_places import places_for
from assay.contract.files.document import Pointer, spell
from assay.contract.files.load import load
from assay.contract.model import Capability, Contract
from assay.contract.parse import find_contract, parse_contracts
from assay.contract.references import host_pattern
from assay.errors import InputError, Problem, did_you_mean
from assay.planning.obligation import UNSPECIFIED, Obligation, obligations, tpp_obligations
from assay.rules.consents import GIVEN
from assay.rules.text_shape import matches

#: The binding of an operation that the target file does not mention.
EMPTY = OperationBinding()


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundContract:
    """A contract completed for one target, with the obligations of the bank and of a TPP.

    The contract is without what the target file declares absent.
    """

    contract: Contract
    obligations: tuple[Obligation, ...]
    tpp_obligations: tuple[Obligation, ...] = ()


def bind(contracts: Sequence[Contract], target: Target) -> tuple[BoundContract, ...]:
    """Bind contracts to a target.

    Raises:
        InputError: they do not fit; it holds every problem, with its line.

    """
    elsewhere = _elsewhere(contracts, target)
    if problems := list(not_offered.unmatched_ids(contracts, target, elsewhere)):
        raise InputError(problems)
    bound = tuple(_bind(contract, target) for contract in contracts)
    misfits = chain(
        (problem for each in bound for problem in _excluded(each.contract, target)),
        _names(contracts, target),
        _given(contracts, target),
        (problem for each in bound for problem in _scopes(each.contract, target)),
        (problem for each in bound for problem in _unsent_tokens(each.contract, target)),
        (problem for each in bound for problem in _host(each.contract, target)),
        unmatched_waivers(
            target,
            [obligation for each in bound for obligation in each.obligations],
            elsewhere=target.contracts - {each.contract.id for each in bound},
        ),
    )
    error = InputError(misfits)
    if error.problems:
        raise error
    return bound


def _bind(contract: Contract, target: Target) -> BoundContract:
    zoned = replace(contract, zone=contract.zone or target.zone)
    absent = missing_parts(target)
    if not absent:
        return BoundContract(
            contract=zoned, obligations=obligations(zoned), tpp_obligations=tpp_obligations(zoned)
        )
    return BoundContract(
        contract=without(zoned, absent),
        obligations=with_reasons(zoned, absent, obligations),
        tpp_obligations=with_reasons(zoned, absent, tpp_obligations),
    )


def _given(contracts: Sequence[Contract], target: Target) -> Iterator[Problem]:
    """Yield each operation that transmits no consent, and whose consent the token is said to give."""
    for contract in contracts:
        for name, operation in contract.operations.items():
            binding = target.operations.get(name)
            if binding is not None and binding.given and not operation.grants:
                hint = "remove it, or move it to the operation that transmits consents"
                at = ("operations", name, "given")
                yield problem_at(target, at, "the operation transmits no consent", hint)


def missing_parts(target: Target) -> AbsentParts:
    """Return what is declared absent, with the consents that come with the customer's token."""
    given = {name: GIVEN for name, each in target.operations.items() if each.given}
    operations = {**target.absent.operations, **given}
    return replace(target.absent, operations=operations, given=frozenset(given))


def capabilities(contract: Contract, target: Target) -> frozenset[Capability]:
    """Return what a target offers: its fixture provider's offers, and what its file enables."""
    offered = set(target.fixtures.offers)
    if target.presence:
        offered.add(Capability.BATCH)
    if contract.zone:
        offered.add(Capability.ZONE)
    if target.hosts:
        offered.add(Capability.HOSTS)
    if target.sca.kind is not ScaKind.NONE:
        offered.add(Capability.SCA)
    if target.sca.kind in {ScaKind.FORMS, ScaKind.BROWSER}:
        offered.add(Capability.SCREENS)
    return frozenset(offered)


def problem_at(target: Target, at: Pointer, what: str, hint: str = "") -> Problem:
    """Return a problem at a key; what is inherited stands at `extends`, with its own place."""
    key = spell(at)
    path, line = target.place(*at)
    if path != target.path and "extends" in target.lines:
        what += f", inherited from {path}:{line}"
        path, line = target.path, target.lines["extends"]
    return Problem(path=path, line=line, what=f"{key}: {what}", hint=hint, key=key)


def _excluded(contract: Contract, target: Target) -> Iterator[Problem]:
    scope = {statement.id: statement for statement in contract.scope}
    for name in target.outside:
        if name in scope:
            yield problem_at(
                target,
                ("outside",),
                f"this target is outside the scope of {contract.id}: {scope[name].statement}",
                "use another target or another contract",
            )


def _names(contracts: Sequence[Contract], target: Target) -> Iterator[Problem]:
    """Yield the names of a target file that its contracts do not have."""
    names = ContractNames(contracts=contracts)

    @cache
    def others() -> ContractNames | None:
        outside = sorted(target.contracts - {each.id for each in contracts})
        names = map(target.contract_name, outside)
        parsed = parse_contracts(names)
        return ContractNames(contracts=parsed) if parsed else None

    unknown = [name for name in target.operations if name not in names.operations]
    elsewhere = others() if unknown else None
    for name in sorted(unknown):
        inherited = target.is_of_wider_base("operations", name)
        if not inherited and (not elsewhere or name not in elsewhere.operations):
            what = "no contract of this run has such an operation"
            hint = did_you_mean(name, names.operations)
            yield problem_at(target, ("operations", name), what, hint)
    # An alias repeats what stands at its anchor: it is one problem.
    written: set[tuple[str | int, ...]] = set()
    for at, what, hint in chain(
        unknown_names(target, names, others), unknown_in_roles(target, names, others)
    ):
        once = (*target.place(*at), *at[-1:], what)
        if once not in written and not target.is_of_wider_base(*at):
            written.add(once)
            yield problem_at(target, at, what, hint)


def _elsewhere(contracts: Sequence[Contract], target: Target) -> Callable[[str], frozenset[str]]:
    """Return the names in a section of the file's contracts that are not in this run."""

    @cache
    def names(section: str) -> frozenset[str]:
        known: set[str] = set()
        for contract in sorted(target.contracts - {each.id for each in contracts}):
            part = load(find_contract(target.contract_name(contract))).data[section]
            rules = cast("list[Mapping[str, str]]", part) if isinstance(part, list) else ()
            known.update(rule["id"] for rule in rules)
            known.update(cast("Mapping[str, object]", part) if isinstance(part, dict) else ())
        return frozenset(known)

    return names


def _scopes(contract: Contract, target: Target) -> Iterator[Problem]:
    """Find the modes that are scopes of tokens that are not requested."""
    for name, operation in contract.operations.items():
        auth = target.auth.of(by_tpp=operation.by_tpp)
        binding = target.operations.get(name)
        if binding is None or auth.kind in ISSUING:
            continue
        for mode, spelling in binding.modes.items():
            if spelling.place is Place.SCOPE:
                party = "the TPP's own calls (auth.tpp)" if operation.by_tpp else "customers (auth)"
                hint = "set its kind to client-credentials or authorization-code"
                what = f"no token with this scope is requested for {party}"
                yield problem_at(target, ("operations", name, "modes", mode, "scope"), what, hint)


def _unsent_tokens(contract: Contract, target: Target) -> Iterator[Problem]:
    """Find the operations whose requests have no body, where a token is sent only in the body."""
    for name, operation in contract.operations.items():
        auth = target.auth.of(by_tpp=operation.by_tpp)
        binding = target.operations.get(name)
        method = (binding.method if binding else None) or operation.method
        if operation.available and auth.token_in and not [*places_for(auth, method)]:
            own = operation.by_tpp and target.auth.tpp is not None
            what = (
                f"{method} requests of {name} have no body, so they would be sent without a token"
            )
            hint = "add a header or a query parameter, or the method of the operation"
            yield problem_at(target, ("auth", *(("tpp",) if own else ()), "token_in"), what, hint)


def _host(contract: Contract, target: Target) -> Iterator[Problem]:
    """Check the form of a live host (`www.<bankcode>.live.<api_domain>`)."""
    form = contract.hosts.get("live")
    if target.environment != "live" or not form:
        return
    host = urlsplit(target.base_url).hostname or ""
    if not matches(host_pattern(contract.hosts, "live"), host):
        yield problem_at(
            target,
            ("base_url",),
            f"expected a live host of the form {form}, found {host!r}",
            f"bank codes match {contract.hosts.get('bankcode', 'anything')}",
        )


def unmatched_waivers(
    target: Target, obligations_: Iterable[Obligation], *, elsewhere: Collection[str]
) -> Iterator[Problem]:
    """Yield a problem for each waiver that names none of some obligations.

    Waivers of the contracts `elsewhere` are not looked up.
    """
    known = {each.id for each in obligations_ if each.kind != UNSPECIFIED}
    clauses = {name.rpartition("/")[0] for name in known}
    for index, waiver in enumerate(target.waivers):
        names, noun = (known, "obligation") if waiver.obligation else (clauses, "clause")
        if waiver.name not in names and waiver.name.partition("/")[0] not in elsewhere:
            path, line = target.place("waivers", index)
            yield Problem(
                path=path or target.path,
                line=line or waiver.line,
                what=f"waiver of {waiver.name!r}: no such {noun} in this run",
                hint=did_you_mean(waiver.name, names),
            )


def expired(waiver: Waiver, today: date) -> bool:
    """Whether a waiver no longer holds on a day."""
    return date.fromisoformat(waiver.expires) < today
