"""Probes of operations that require a consent, which is made before them.

Most probes know nothing of consents: they read a list, or turn its pages. Where an operation
names the one that makes its consent, the customer consents to everything that is theirs, and
signs, before the first call that has no consent yet. Kinds about consents make their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace

from assay.contract.model import Contract, Operation
from assay.errors import CannotArrange
from assay.history import Arrange, Call, Reply, Subject
from assay.rules import steps
from assay.rules.lifecycle.tracker import Lifecycle
from assay.rules.rule import Calls, Kind, Scenario, Script


def probe_of(kind: Kind, scenario: Scenario) -> Script:
    """Return the probe of a scenario, which first makes the consents that the contract demands."""
    probe = _arranged(kind.contract, kind.probe(scenario))
    return probe if kind.own_consents else with_consents(kind.contract, probe)


def _arranged(contract: Contract, script: Script) -> Script:
    """Run a probe, and ask for entries only of what has any: another resource is `of` it."""
    dated = {resource.of for resource in contract.resources.values()}
    reply: Reply | CannotArrange | None = None
    while True:
        try:
            step = steps.answered(script, reply)
        except StopIteration:
            return
        if isinstance(step, Arrange):
            holdings = (
                each if each.resource in dated else replace(each, entries=())
                for each in step.holdings
            )
            step = replace(step, holdings=tuple(holdings))
        reply = yield from steps.attempted(step)


def signed_consents(kind: Kind) -> tuple[Operation, ...]:
    """Return the operations whose consents a clause makes and has signed.

    They are those that the clause names, and those that the contract demands before a call of an
    operation that it names.
    """
    operations = kind.contract.operations
    named = [*named_operations(kind)]
    demanded = [operations[each.consent] for each in named if each.consent]
    makers = (each for each in (*named, *demanded) if each.grants and each.makes)
    return tuple({each.id: each for each in makers}.values())


def demands_consent(kind: Kind) -> bool:
    """Whether the contract demands a consent before a call of an operation that a clause names."""
    return any(each.consent for each in named_operations(kind))


def named_operations(kind: Kind) -> Iterator[Operation]:
    """Yield the operations that a clause names, also those of its requests."""
    yield from _named(getattr(kind, each.name) for each in fields(kind))


def operations_in_scope(kind: Kind) -> frozenset[str] | None:
    """Return the operations whose calls a check looks at; None for all that there are."""
    every = kind.contract.operations.values()
    match kind.scope.calls:
        case Calls.ALL:
            return None
        case Calls.CONTRACT:
            return frozenset(operation.id for operation in every)
        case Calls.NAMED:
            named = {operation.id for operation in named_operations(kind)}
            requests = frozenset[str]().union(
                *(_requests(operation) for operation in every if operation.id in named)
            )
            return frozenset(
                operation.id
                for operation in every
                if operation.id in named
                or _requests(operation) & requests
                or operation.grants
                or operation.writes
            )


def _requests(operation: Operation) -> frozenset[str]:
    about = operation.makes, operation.shows, operation.changes, operation.ends
    return frozenset(request for request in about if request)


def _named(values: Iterable[object]) -> Iterator[Operation]:
    for value in values:
        match value:
            case Operation():
                yield value
            case Lifecycle():
                yield from value.operations
            case tuple():
                yield from _named(value)  # pyright: ignore[reportUnknownArgumentType]
            case _:
                pass


def with_consents(contract: Contract, script: Script) -> Script:
    """Run a probe, and make a consent before each first call that needs one."""
    needed = {
        operation.id: contract.operations[operation.consent]
        for operation in contract.operations.values()
        if operation.consent
    }
    if not needed:
        yield from script
        return
    given, subjects = set[tuple[str, str, str]](), dict[str, Subject]()
    reply: Reply | CannotArrange | None = None
    while True:
        try:
            step = steps.answered(script, reply)
        except StopIteration:
            return
        if isinstance(step, Call):
            grant = needed.get(step.operation)
            if contract.operations[step.operation].grants:
                given.add((step.subject, step.by, step.operation))
            elif grant and step.consent is None:
                way = step.subject, step.by, grant.id
                keys = _ordinary(subjects.get(step.subject))
                if way not in given and keys:
                    given.add(way)
                    arguments = {grant.grants or "": list(keys)}
                    call = Call(
                        operation=grant.id, subject=step.subject, arguments=arguments, by=step.by
                    )
                    yield from steps.consent(grant, call)
        reply = yield from steps.attempted(step)
        if isinstance(reply, Subject):
            subjects[reply.name] = reply


def _ordinary(subject: Subject | None) -> tuple[str, ...]:
    """Return the keys of what a customer owns and can consent to, as far as is known."""
    owns = subject.owns if subject else ()
    plain = tuple(owned.key for owned in owns if not any(owned.traits.values()))
    return plain or tuple(owned.key for owned in owns)
