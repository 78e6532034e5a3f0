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
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit

from assay.binding.absent_parts import with_reasons, without
from assay.binding.contract_names import ContractNames, not_allowed, unknown_names
from assay.binding.security import ISSUING
from assay.binding.target import AbsentParts, OperationBinding, Place, ScaKind, Target, Waiver
from assay.binding.token_places import places_for
from assay.contract.model import Capability, Clause, Contract, Json
from assay.errors import InputError, Problem, did_you_mean
from assay.files.document import Finding, Pointer, found, spell
from assay.files.load import load
from assay.parsing.parse import find_contract, parse_contracts
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
    if problems := list(unmatched_ids(contracts, target, elsewhere)):
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


# -- Checks of the `absent` and `not_offered` keys of a target file ------------------------------
# `absent` names resources and operations, `not_offered` names rules. Each name must be one of the
# contracts of the file: a misspelt one would silently excuse nothing. An operation that the
# contract declares unavailable is not absent, since the contract says so itself.
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


# -- Role names ----------------------------------------------------------------------------------
# Names in listed customers that must be those of a contract: segments, resources, states, arguments.
#
# A customer of a misspelt segment would never be used, and one who owns a misspelt resource would own
# nothing. Each finding has the pointer of its own key. What the roles need without a contract is
# checked in `fixtures.role_checks`.
_Raw: TypeAlias = Mapping[str, Any]
#: A name in the file, its pointer, the names that a contract has, and the noun for them.
_Use: TypeAlias = tuple[str, Pointer, Callable[[ContractNames], Collection[str]], str]


def unknown_in_roles(
    target: Target, names: ContractNames, others: Callable[[], ContractNames | None]
) -> Iterator[Finding]:
    """Yield each name in the roles of a target file that no contract has.

    `others` returns the names of further contracts that the file binds.
    """
    raw = cast("_Raw", target.document.data) if target.document else {}
    for role, content in ((raw.get("fixtures") or {}).get("roles") or {}).items():
        at: Pointer = ("fixtures", "roles", role)
        for name, where, known_in, noun in _uses(content, at):
            known = known_in(names)
            if name not in known and (more := others()):
                known = {*known, *known_in(more)}
            if known and name not in known:
                yield where, f"no contract has the {noun} {found(name)}", did_you_mean(name, known)
        for argument, value, where in _sent(content, names, at):
            for operation in names.operations.values():
                if operation.makes and argument in {operation.owned, *operation.arguments}:
                    yield from not_allowed(operation, argument, value, names.expected, where)


def _sent(role: _Raw, names: ContractNames, at: Pointer) -> Iterator[tuple[str, Json, Pointer]]:
    """Yield the values of a customer that requests are sent with, each with its argument."""
    for index, registration in enumerate(role.get("registrations") or ()):
        where = (*at, "registrations", index, "value")
        yield registration["argument"], registration["value"], where
    for contract in names.contracts:
        arguments = {each.owned for each in contract.operations.values() if each.makes}
        for index, holding in enumerate(role.get("owns") or ()):
            if holding["resource"] in [owner.id for owner in roots(contract)[:1]]:
                for argument in filter(None, arguments):
                    yield argument, holding["key"], (*at, "owns", index, "key")


def _uses(role: _Raw, at: Pointer) -> Iterator[_Use]:
    if "segment" in role:
        yield role["segment"], (*at, "segment"), lambda names: names.segments, "segment"
    for index, registration in enumerate(role.get("registrations") or ()):
        where = (*at, "registrations", index, "argument")
        yield registration["argument"], where, lambda names: names.arguments, "argument"
    for index, holding in enumerate(role.get("owns") or ()):
        where = (*at, "owns", index)
        resource = cast("str", holding["resource"])
        yield resource, (*where, "resource"), lambda names: names.resources, "resource"
        for trait in cast("_Raw", holding.get("traits") or {}):
            noun = f"{resource} state"
            yield trait, (*where, "traits", trait), _traits_of(resource), noun


def _traits_of(resource: str) -> Callable[[ContractNames], Collection[str]]:
    return lambda names: names.traits.get(resource, ())
