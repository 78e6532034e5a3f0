"""Questions to all clauses of a contract, each clause as an instance of its kind.

One clause can depend on another: a probe that reads whole pages needs the page size of the
clause on pagination. It asks every clause a general question, which is a method of `Kind`, so
no kind knows another by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta

from assay.contract.model import Contract, Json, Operation
from assay.history import Call, Exchange, History, Owned, Subject
from assay.rules.call_limit import CallLimit
from assay.rules.consents import Consents, consented_keys, names_each_once
from assay.rules.contract_cache import per_contract
from assay.rules.queries import fresh_subjects
from assay.rules.rule import Kind
from assay.rules.state.calendar import local_day


@per_contract
def _answering(contract: Contract, question: str) -> tuple[Kind, ...]:
    """Parse the clauses whose kind overrides the method of this name."""
    from assay.rules.kinds import kind_of  # noqa: PLC0415 -- kinds ask one another through here

    general = getattr(Kind, question)
    return tuple(
        kind.parse(clause, contract)
        for clause in contract.clauses
        if getattr(kind := kind_of(clause.kind), question) is not general
    )


def clauses_of(contract: Contract) -> tuple[Kind, ...]:
    """Return every clause of a contract as an instance of its kind, in order."""
    return _answering(contract, "facets")


def with_duties(contract: Contract) -> tuple[Kind, ...]:
    """Return the clauses that have a duty of the TPP."""
    return _answering(contract, "check_tpp")


@per_contract
def has_ambient(contract: Contract) -> bool:
    """Whether a clause judges every trial."""
    return any(clause.ambient for clause in clauses_of(contract))


@per_contract
def page_size(contract: Contract, operation: str) -> int | None:
    """Return how many items a full page of an operation has, if a clause says so."""
    sizes = (clause.page_size(operation) for clause in _answering(contract, "page_size"))
    return next((size for size in sizes if size is not None), None)


def surely_listed(contract: Contract, thing: Owned, at: datetime) -> bool:
    """Whether every trait of an owned thing is known to allow listing it."""
    if not thing.traits:
        return True  # clauses judge traits
    judged: set[str] = set()
    for clause in _answering(contract, "listed_by_trait"):
        by_trait = clause.listed_by_trait(thing, at)
        if not all(by_trait.values()):
            return False
        judged |= by_trait.keys()
    return all(trait in judged for trait, value in thing.traits.items() if value)


def certainly_served(
    contract: Contract,
    operation: Operation,
    exchange: Exchange,
    *,
    grant: Operation | None,
    subject: Subject | None,
    consents: Consents,
) -> bool:
    """Whether the history shows a call to be one that must be served.

    Its resource must belong to the customer, be listed and be covered by a consent. A consent
    must name each thing once, in a list.
    """
    call = exchange.call
    if not operation.about and not operation.grants:
        return True
    if operation.grants:
        named = consented_keys(call, operation)
        if not names_each_once(call, operation):
            return False
    else:
        named = frozenset({str(call.arguments.get(operation.about or ""))})
    if grant and not named <= consents.certain(call.subject):
        return False
    if subject is None:
        return grant is not None
    owned = [subject.owned(key) for key in named]
    return bool(owned) and all(
        thing is not None and surely_listed(contract, thing, exchange.at) for thing in owned
    )


@per_contract
def history_days(contract: Contract, operation: str) -> int | None:
    """Return how many days back an operation answers, if a clause says so."""
    answers = (clause.history_days(operation) for clause in _answering(contract, "history_days"))
    return next((days for days in answers if days is not None), None)


@per_contract
def factors_by_segment(contract: Contract, request: str) -> Mapping[str, tuple[str, ...]]:
    """Return the factors that a contract offers to each segment to sign a request with."""
    offered: dict[str, tuple[str, ...]] = {}
    for clause in _answering(contract, "factors_by_segment"):
        for segment, factors in clause.factors_by_segment(request).items():
            offered[segment] = (*offered.get(segment, ()), *factors)
    return offered


@per_contract
def signing_limits(contract: Contract, request: str) -> Mapping[str, timedelta]:
    """Return how long a customer may take to sign a request: the shortest time by measure."""
    shortest: dict[str, timedelta] = {}
    for clause in _answering(contract, "signing_limits"):
        for measure, limit in clause.signing_limits(request).items():
            shortest[measure] = min(limit, shortest.get(measure, limit))
    return shortest


def closed_at(contract: Contract, instant: datetime) -> bool:
    """Whether a contract announces that the interface is closed at an instant."""
    return any(clause.closed_at(instant) for clause in _answering(contract, "closed_at"))


def closure_phases(contract: Contract, instant: datetime) -> tuple[int, ...]:
    """Return for each announced closure whether it is to come (-1), now (0), or over (1)."""
    phases = (clause.closure_phase(instant) for clause in _answering(contract, "closure_phase"))
    return tuple(phase for phase in phases if phase is not None)


def admits(contract: Contract, request: str, call: Call, subject: Subject | None) -> bool:
    """Whether every clause allows a bank to accept a call that makes a request."""
    return all(clause.admits(request, call, subject) for clause in _answering(contract, "admits"))


def may_reject(contract: Contract, request: str, arguments: Mapping[str, Json]) -> bool:
    """Whether a clause may reject a request because of the value of an argument."""
    return any(
        clause.may_reject(request, arguments) for clause in _answering(contract, "may_reject")
    )


@per_contract
def call_ids(contract: Contract, operation: str) -> frozenset[str]:
    """Return the arguments of an operation that only identify a call."""
    return frozenset(
        name for clause in _answering(contract, "call_ids") for name in clause.call_ids(operation)
    )


@per_contract
def _barring(contract: Contract, operation: str) -> tuple[Kind, ...]:
    """Return the clauses that may bar a call of an operation for one of its parameters."""
    return tuple(clause for clause in _answering(contract, "bars") if operation)


def is_barred(contract: Contract, call: Call) -> bool:
    """Whether a clause has a call refused for a header or a query parameter."""
    return any(clause.bars(call) for clause in _barring(contract, call.operation))


def without_call_ids(contract: Contract, exchange: Exchange) -> Exchange:
    """Return an exchange without the arguments that only identify its call.

    One that the call leaves out, or that has a bad value, does more than that: it is kept.
    """
    call = exchange.call
    ids = call_ids(contract, call.operation)
    if missing := ids.intersection(call.without):
        kept: dict[str, Json] = {**call.arguments, **dict.fromkeys(missing)}
        return replace(exchange, call=replace(call, arguments=kept))
    if ids.isdisjoint(call.arguments):
        return exchange
    if is_barred(contract, call):
        return exchange
    rest = {name: value for name, value in call.arguments.items() if name not in ids}
    return replace(exchange, call=replace(call, arguments=rest))


@per_contract
def rejects_repeats(contract: Contract, request: str) -> bool:
    """Whether a clause rejects a request that repeats an earlier one."""
    return any(
        clause.rejects_repeats(request) for clause in _answering(contract, "rejects_repeats")
    )


@per_contract
def changeable_modes(contract: Contract, request: str) -> tuple[tuple[str, ...], ...]:
    """Return for each clause that restricts changes of a request the modes that it allows."""
    answers = (
        clause.changeable_modes(request) for clause in _answering(contract, "changeable_modes")
    )
    return tuple(modes for modes in answers if modes is not None)


@per_contract
def changeable_fields(contract: Contract, request: str) -> frozenset[str]:
    """Return the arguments of a request of which a clause says that they can be changed."""
    return frozenset(
        name
        for clause in _answering(contract, "changeable_fields")
        for name in clause.changeable_fields(request)
    )


@per_contract
def accepted_modes(contract: Contract, request: str) -> tuple[str, ...]:
    """Return the modes in which a contract says that a request is accepted, if offered."""
    answers = (clause.accepted_modes(request) for clause in _answering(contract, "accepted_modes"))
    return tuple(dict.fromkeys(mode for modes in answers for mode in modes))


@per_contract
def call_limits(contract: Contract, *, attended: bool) -> Mapping[str, int]:
    """Return how many calls are allowed in a period, by operation.

    They are those where calls with the customer count, too, or else those where they do not.
    """
    limits: dict[str, int] = {}
    for clause in _answering(contract, "call_limits"):
        for operation, limit in clause.call_limits().items():
            if limit.attended is attended:
                limits[operation] = min(limit.number, limits.get(operation, limit.number))
    return limits


@per_contract
def counted_together(contract: Contract, operation: str) -> frozenset[str]:
    """Return the operations whose calls may count for the same limit as those of an operation."""
    together = {operation}
    for clause in _answering(contract, "call_limits"):
        limit = clause.call_limits().get(operation)
        together |= limit.shared if limit is not None else frozenset[str]()
    return frozenset(together)


def perhaps_exhausted(contract: Contract, operation: str, history: History) -> frozenset[int]:
    """Return the numbers of the calls for which the limit with the customer may be used up.

    What counts, and since when, is open, so every earlier call of the customer does.
    """
    most = call_limits(contract, attended=True).get(operation)
    if most is None:
        return frozenset()
    asked = Counter[str]()
    beyond: set[int] = set()
    together = counted_together(contract, operation)
    for exchange in history.exchanges:
        if exchange.call.operation in together:
            asked[exchange.call.subject] += 1
            if exchange.call.operation == operation and asked[exchange.call.subject] > most:
                beyond.add(exchange.n)
    return frozenset(beyond)


def perhaps_over_quota(contract: Contract, history: History) -> frozenset[int]:
    """Return the numbers of the calls without the customer that may be refused for their number.

    What counts is open, so every call without the customer does. Of a customer who was there
    before, the calls that were made before are unknown.
    """
    limits = {**call_limits(contract, attended=False)}
    for limit, operation in _limits_of_consents(contract):
        limits[operation] = min(limits[operation], _least_named(limit, history))
    asked = Counter[tuple[str, str, date | None]]()
    fresh = fresh_subjects(history)
    over: set[int] = set()
    for exchange in history.exchanges:
        call = exchange.call
        if call.operation in limits and not call.present:
            day = local_day(exchange.at, contract.zone) if contract.zone else None
            for each in counted_together(contract, call.operation):
                asked[call.subject, each, day] += 1
            number = asked[call.subject, call.operation, day]
            if number > limits[call.operation] or call.subject not in fresh:
                over.add(exchange.n)
    return frozenset(over)


@per_contract
def _limits_of_consents(contract: Contract) -> tuple[tuple[CallLimit, str], ...]:
    """Return the limits without the customer that a consent may name, each with its operation."""
    return tuple(
        (limit, operation)
        for clause in _answering(contract, "call_limits")
        for operation, limit in clause.call_limits().items()
        if limit.argument and not limit.attended
    )


def _least_named(limit: CallLimit, history: History) -> int:
    """Return the smallest number that a consent of a history names, or 0 where one names none."""
    named = [
        call.arguments.get(limit.argument)
        for call in (exchange.call for exchange in history.exchanges)
        if call.operation == limit.grant
    ]
    numbers = [number if isinstance(number, int) else 0 for number in named]
    return min([limit.number, *numbers])


@per_contract
def disclosures(contract: Contract, operation: str) -> tuple[str, ...]:
    """Return the values that an operation discloses with a consent only."""
    answers = (
        clause.disclosed_with_consent(operation)
        for clause in _answering(contract, "disclosed_with_consent")
    )
    return tuple(value for value in answers if value is not None)


@per_contract
def conditional_fields(contract: Contract, operation: str) -> Mapping[str, str]:
    """Return the fields that only some answers of an operation have, and when they have them."""
    named: dict[str, str] = {}
    for clause in _answering(contract, "conditional_fields"):
        named |= clause.conditional_fields(operation)
    return named


@per_contract
def showing(contract: Contract, operation: str, field: str) -> tuple[Kind, ...]:
    """Return the clauses whose probes alone show a field of what an operation returns."""
    every = _answering(contract, "conditional_fields")
    return tuple(clause for clause in every if field in clause.conditional_fields(operation))


@per_contract
def factors(contract: Contract) -> tuple[str, ...]:
    """Return every factor that a contract names."""
    answers = (clause.factors() for clause in _answering(contract, "factors"))
    return tuple(dict.fromkeys(factor for factors in answers for factor in factors))
