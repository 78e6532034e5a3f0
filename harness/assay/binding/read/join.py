"""Binding of contracts to a target: their obligations, and everything that does not fit.

`bind` fills in what the contract leaves to the bank (its time zone) and refuses what cannot
go together: a bank that the document excludes, names of operations and arguments that the
contract does not have, waivers of unknown obligations, a live host of the wrong form. All
problems are reported at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache, lru_cache
from itertools import chain
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from assay.binding.model.security import ISSUING, places_for
from assay.binding.model.target import (
    AbsentParts,
    OperationBinding,
    Place,
    ScaKind,
    Target,
    Waiver,
)
from assay.binding.read.absent_parts import with_reasons, without
from assay.binding.read.contract_names import ContractNames, unknown_names
from assay.binding.read.decisions import DecidedContract, decided, decision_findings
from assay.binding.read.document_clauses import with_document
from assay.contract.model import BankAnswer, Capability, Contract
from assay.errors import InputError, Problem, did_you_mean
from assay.files.document import Pointer, spell
from assay.parsing.parse import parse_contracts
from assay.parsing.references import host_pattern
from assay.rules.checks import facets_of
from assay.rules.consents import GIVEN
from assay.rules.obligation import UNSPECIFIED, Obligation, obligations, tpp_obligations
from assay.rules.rule import clauses_of
from assay.rules.steps import roots
from assay.rules.text_shape import matches

#: The binding of an operation that the target file does not mention.
EMPTY = OperationBinding()


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundContract:
    """A contract completed for one target, with the obligations of the bank and of a TPP.

    The contract is without what the target file declares absent, and with what the bank decides
    of its open points: `decisions` are its answers, by point.
    """

    contract: Contract
    obligations: tuple[Obligation, ...]
    tpp_obligations: tuple[Obligation, ...] = ()
    decisions: Mapping[str, BankAnswer] = field(default_factory=dict[str, BankAnswer])


def bind(contracts: Sequence[Contract], target: Target) -> tuple[BoundContract, ...]:
    """Bind contracts to a target.

    Raises:
        InputError: they do not fit; it holds every problem, with its line.

    """
    names = ContractNames(contracts=contracts, outside=_outside(contracts, target))
    undecided = (problem_at(target, *each) for each in decision_findings(contracts, target))
    if problems := [*_unmatched_ids(names, target), *undecided]:
        raise InputError(problems)
    bound = tuple(_bind(contract, target) for contract in contracts)
    misfits = chain(
        (problem for each in bound for problem in _excluded(each.contract, target)),
        _names(names, target),
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
    undecided = _in_zone(contract, contract.zone or target.zone)
    answers = with_document(decided(undecided, target), target)
    absent = missing_parts(target)
    if not absent:
        owed, of_tpp = obligations(answers.contract), tpp_obligations(answers.contract)
        whole = answers.contract
    else:
        whole = without(answers.contract, absent)
        owed = with_reasons(answers.contract, absent, obligations)
        of_tpp = with_reasons(answers.contract, absent, tpp_obligations)
    return BoundContract(
        contract=whole,
        obligations=_following(owed, answers, undecided),
        tpp_obligations=of_tpp,
        decisions=answers.answered,
    )


@lru_cache(maxsize=16)
def _in_zone(contract: Contract, zone: ZoneInfo | None) -> Contract:
    """Return a contract with its days in a zone, the same one each time: its clauses are parsed once."""
    return replace(contract, zone=zone)


def _following(
    owed: Sequence[Obligation], answers: DecidedContract, undecided: Contract
) -> tuple[Obligation, ...]:
    """Return obligations in which those that follow from a bank's answers say so."""
    if not answers.answered and not answers.by_clause:
        return tuple(owed)
    before = {each.id for each in obligations(undecided)}
    points = answers.answered
    return tuple(
        replace(each, decision=points.get(each.facet))
        if each.kind == UNSPECIFIED
        else replace(each, decision=answers.by_clause[each.clause])
        if each.id not in before and each.clause in answers.by_clause
        else each
        for each in owed
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
    most = target.safety.concurrency
    if not target.is_live if most is None else most > 1:
        offered.add(Capability.TOGETHER)
    elif most is not None:  # whatever the fixtures offer, one call is made at a time
        offered.discard(Capability.TOGETHER)
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
    return Problem(path=path, line=line, what=f"{key}: {what}", hint=hint, key=key, at=at)


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


def _outside(contracts: Sequence[Contract], target: Target) -> Callable[[], ContractNames | None]:
    """Return the names of the file's contracts that are not in this run, read when they are needed."""

    @cache
    def names() -> ContractNames | None:
        outside = sorted(target.contracts - {each.id for each in contracts})
        parsed = parse_contracts(map(target.contract_name, outside))
        return ContractNames(contracts=parsed) if parsed else None

    return names


def _names(names: ContractNames, target: Target) -> Iterator[Problem]:
    """Yield the names of a target file that its contracts do not have."""
    unknown = [name for name in target.operations if name not in names.operations]
    elsewhere = names.outside() if unknown else None
    for name in sorted(unknown):
        inherited = target.is_of_wider_base("operations", name)
        if not inherited and (not elsewhere or name not in elsewhere.operations):
            what = "no contract of this run has such an operation"
            hint = did_you_mean(name, names.operations)
            yield problem_at(target, ("operations", name), what, hint)
    # An alias repeats what stands at its anchor: it is one problem.
    written: set[tuple[str | int, ...]] = set()
    for at, what, hint in unknown_names(target, names):
        once = (*target.place(*at), *at[-1:], what)
        if once not in written and not target.is_of_wider_base(*at):
            written.add(once)
            yield problem_at(target, at, what, hint)


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
    banks = ((("banks", bank.name, "base_url"), bank.base_url) for bank in target.banks)
    for at, url in ((("base_url",), target.base_url), *banks):
        host = urlsplit(url).hostname or ""
        if matches(host_pattern(contract.hosts, "live"), host):
            continue
        yield problem_at(
            target,
            at,
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


# -- Checks of the `absent` and `not_offered` keys of a target file ------------------------------
# `absent` names resources and operations, `not_offered` names rules. Each name must be one of the
# contracts of the file: a misspelt one would silently excuse nothing. An operation that the
# contract declares unavailable is not absent, since the contract says so itself.
def _unmatched_ids(names: ContractNames, target: Target) -> Iterator[Problem]:
    """Yield each name under `absent` and `not_offered` that excuses nothing, with its line."""
    for name in target.absent.resources:
        known = names.lacking(name, lambda contract: contract.resources)
        if known is not None:
            what = "no contract of this run has such a resource"
            hint = did_you_mean(name, known)
            yield from _problem(target, ("absent", "resources", name), what, hint)
    yield from _unmatched_operations(names, target)
    yield from _unmatched_rules(names, target)
    yield from _all_absent(names.contracts, target)
    yield from _owned(target)
    yield from _removed(target, names.operations)


def _unmatched_operations(names: ContractNames, target: Target) -> Iterator[Problem]:
    unavailable = {name for name, each in names.operations.items() if not each.available}
    for name in target.absent.operations:
        at: Pointer = ("absent", "operations", name)
        known = names.lacking(name, lambda contract: contract.operations)
        if name in unavailable:
            what = "the contract itself says that this operation is not available"
            hint = f"remove it, and set operations.{name}.path to the path that the bank would use"
            yield from _problem(target, at, what, hint)
        elif known is not None:
            what = "no contract of this run has such an operation"
            yield from _problem(target, at, what, did_you_mean(name, known - unavailable))
        elif _is_bound_here(target, name):
            what = f"the operation is absent, and operations.{name} says how it is called"
            yield from _problem(target, at, what, "remove one of the two")


def _unmatched_rules(names: ContractNames, target: Target) -> Iterator[Problem]:
    for name in target.not_offered:
        at, (rule, _, facet) = ("not_offered", name), name.partition("/")
        if (known := names.lacking(rule, _rule_ids)) is not None:
            what = "no contract of this run has such a rule"
            yield from _problem(target, at, what, did_you_mean(rule, known))
        elif facet and any(rule in _rule_ids(contract) for contract in names.contracts):
            own = [f"{rule}/{each}" for one in names.contracts for each in _facets(one, rule)]
            if name not in own:
                what = "the rule has no such facet"
                yield from _problem(target, at, what, did_you_mean(name, own))


def _rule_ids(contract: Contract) -> set[str]:
    return {clause.id for clause in (*contract.clauses, *contract.not_applicable)}


def _facets(contract: Contract, rule: str) -> Iterator[str]:
    for clause, kind in zip(contract.clauses, clauses_of(contract), strict=True):
        if clause.id == rule:
            yield from (facet.id for facet in facets_of(kind))


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
        yield Problem(path=path, line=line, what=f"{key}: {what}", hint=hint, key=key, at=at)
