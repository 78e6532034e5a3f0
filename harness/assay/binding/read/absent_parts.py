"""Absent parts of a bank: the contract without the resources and operations that the bank lacks.

A target file declares them under `absent`, each with the reason. The contract is then read as
if its document did not have them: whatever else would refer to one is left out, too, and the
consent that no operation transmits is not transmitted. A clause that needs what is absent is
moved to `Contract.not_applicable`. Which clauses those are follows from the references that each
rule kind declares, so that no kind is named here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, cast

from assay.binding.model.target import AbsentParts
from assay.contract.model import Clause, Contract, Json, Operation
from assay.files.document import Finding, Pointer
from assay.rules.kinds import kind_of
from assay.rules.obligation import Obligation
from assay.rules.rule import Kind

_Raw: TypeAlias = Mapping[str, Any]

#: The parameter that a clause can do without: a consent that cannot be transmitted.
_GRANT: Final = "grant"
#: Ends the search for dangling names in one clause.
_MOST: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """The names that are left, and those that are gone."""

    resources: frozenset[str]
    operations: frozenset[str]
    gone: frozenset[str]


def without(contract: Contract, absent: AbsentParts) -> Contract:
    """Return a contract as if its document did not have what is absent."""
    names = _remaining(contract, absent)
    if not names.gone:
        return contract
    operations = {
        id_: replace(
            each,
            lists=tuple(name for name in each.lists if name in names.resources),
            consent=each.consent if each.consent in names.operations else None,
        )
        for id_, each in contract.operations.items()
        if id_ in names.operations
    }
    raw = _raw(contract, names)
    kept: list[Clause] = []
    dropped: list[Clause] = [*contract.not_applicable]
    for clause in contract.clauses:
        params = _fitting(clause, kind_of(clause.kind), raw, names.gone)
        if params is None and _is_covered(clause, raw, absent):
            kept.append(clause)
        elif params is None:
            dropped.append(clause)
        else:
            kept.append(clause if params == clause.params else replace(clause, params=params))
    return replace(
        contract,
        operations=operations,
        resources={id_: each for id_, each in contract.resources.items() if id_ in names.resources},
        clauses=tuple(kept),
        not_applicable=tuple(dropped),
        given={
            id_: replace(each, given=True)
            for id_, each in contract.operations.items()
            if id_ in absent.given
        },
    )


def absent_grants(contract: Contract, operation: Operation) -> tuple[str, ...]:
    """Return the operations of the document that make the consent for a call, and are absent.

    That is the one that an operation names as its `consent`. Where none does, a call about an
    item needs any. `contract` is without what is absent.
    """
    raw = cast("_Raw", contract.data)["operations"]
    named = raw[operation.id].get("consent")
    if named is None and (not operation.about or any("consent" in each for each in raw.values())):
        return ()
    absent = [
        id_ for id_, each in raw.items() if "grants" in each and id_ not in contract.operations
    ]
    return tuple(id_ for id_ in absent if named in {None, id_})


def with_reasons(
    contract: Contract,
    absent: AbsentParts,
    obligations: Callable[[Contract], tuple[Obligation, ...]],
) -> tuple[Obligation, ...]:
    """Return the obligations of a whole contract, with a reason for each that needs what is absent.

    The others are those of the contract without it. `obligations` returns those of a contract.
    """
    asked = {each.id: each for each in obligations(without(contract, absent))}
    alone = [
        (reason, {each.id for each in obligations(without(contract, part))})
        for part, reason in absent.each()
    ]
    every = "; ".join(dict.fromkeys(reason for reason, _ in alone))

    def as_bound(obligation: Obligation) -> Obligation:
        if obligation.id in asked:
            return asked[obligation.id]
        reasons = (reason for reason, known in alone if obligation.id not in known)
        return replace(obligation, requires=(), not_applicable_because=next(reasons, every))

    return tuple(map(as_bound, obligations(contract)))


def _remaining(contract: Contract, absent: AbsentParts) -> _Names:
    """Return the names that are left once everything that needs an absent part is gone, too."""
    resources = [id_ for id_ in contract.resources if id_ not in absent.resources]
    operations = [id_ for id_ in contract.operations if id_ not in absent.operations]
    while True:
        known = frozenset(resources)
        lost = _lost_requests(contract, operations)
        owned = [
            id_
            for id_ in resources
            if contract.resources[id_].of in {None, *known} and id_ not in lost
        ]
        needed = [id_ for id_ in operations if not _is_lost(contract.operations[id_], known, lost)]
        if (owned, needed) == (resources, operations):
            break
        resources, operations = owned, needed
    gone = (contract.resources.keys() - resources) | (contract.operations.keys() - operations)
    return _Names(
        resources=frozenset(resources), operations=frozenset(operations), gone=frozenset(gone)
    )


def _lost_requests(contract: Contract, operations: Collection[str]) -> frozenset[str]:
    """Return the requests that an operation of the contract makes, and none that is left."""
    made = {each.makes for each in contract.operations.values() if each.makes}
    return frozenset(name for name in made if name) - {
        contract.operations[id_].makes for id_ in operations
    }


def _is_lost(operation: Operation, resources: Collection[str], requests: Collection[str]) -> bool:
    """Whether nothing is left that an operation could list, or be about."""
    request = operation.request
    if request is not None:
        return request not in resources or request in requests
    return bool(operation.lists) and not any(name in resources for name in operation.lists)


def _raw(contract: Contract, names: _Names) -> _Raw:
    """Return the contract's file without the names that are gone, for checks of references."""
    data = cast("_Raw", contract.data)
    operations = {
        id_: _raw_operation(each, names)
        for id_, each in data["operations"].items()
        if id_ in names.operations
    }
    resources = {id_: each for id_, each in data["resources"].items() if id_ in names.resources}
    return {**data, "operations": operations, "resources": resources}


def _raw_operation(raw: _Raw, names: _Names) -> _Raw:
    """Return an operation of the file without the names that are gone."""
    operation = {
        key: value for key, value in raw.items() if key != "consent" or value in names.operations
    }
    if "lists" in raw:
        operation["lists"] = [name for name in raw["lists"] if name in names.resources]
    return operation


def _fitting(
    clause: Clause, kind: type[Kind], raw: _Raw, gone: Collection[str]
) -> Mapping[str, Json] | None:
    """Return the parameters of a clause without the names that are gone; None if it needs one."""
    params: dict[str, Any] = dict(clause.params)
    for _ in range(_MOST):
        found = next(_dangling(clause, kind, params, raw), None)
        if found is None:
            return params if _is_whole(kind, params) else None
        if not _remove(kind, params, found[0], gone):
            return None
    return None


def _dangling(clause: Clause, kind: type[Kind], params: _Raw, raw: _Raw) -> Iterator[Finding]:
    """Yield each name in the parameters of a clause that refers to nothing."""
    return kind.references((), {"id": clause.id, "kind": clause.kind, **params}, raw)


def _is_covered(clause: Clause, raw: _Raw, absent: AbsentParts) -> bool:
    """Whether all that a clause lacks is a consent, which comes with the customer's token here."""
    kind = kind_of(clause.kind)
    lacking = {at[0] for at, *_ in _dangling(clause, kind, clause.params, raw)}
    return lacking == {_GRANT} and clause.params[_GRANT] in absent.given


def _remove(kind: type[Kind], params: dict[str, Any], at: Pointer, gone: Collection[str]) -> bool:
    """Remove a name that is gone from the parameters; False if the clause cannot do without it.

    A list or a mapping of names can be shorter. Any other part of a sentence that cannot be
    true here changes what the sentence says.
    """
    key, *below = at
    required = any(each.required for each in kind.declared().values() if each.key == key)
    value = params[str(key)]
    if not below:
        if key != _GRANT or required or value not in gone:
            return False
        del params[str(key)]
        return True
    (step,) = below if len(below) == 1 else (None,)
    if isinstance(value, list) and isinstance(step, int) and value[step] in gone:
        shorter: Any = [name for name in value if name not in gone]
    elif isinstance(value, dict) and step in gone:
        shorter = {name: each for name, each in value.items() if name not in gone}
    else:
        return False
    # Without any operation that it names, a rule is about nothing, not about all operations.
    required = required or key == "operations"
    if shorter:
        params[str(key)] = shorter
    elif not required:
        del params[str(key)]
    return bool(shorter) or not required


def _is_whole(kind: type[Kind], params: _Raw) -> bool:
    """Whether a clause of a kind has all that it must have."""
    required = (each.key for each in kind.declared().values() if each.key and each.required)
    some = [names for names in (kind.at_least_one_of, kind.exactly_one_of) if names]
    return all(key in params for key in required) and all(
        any(name in params for name in names) for names in some
    )
