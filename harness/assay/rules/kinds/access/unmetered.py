"""`unmetered`: calls with the customer present are not limited.

Far more of them than the batch quota are served; they do not count towards it; and they are
served when it is exhausted. Batch calls for another customer are the control.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TypeAlias
from zoneinfo import ZoneInfo

from assay.contract.model import Capability, Operation
from assay.history import Call, Exchange, History, Subject
from assay.rules import operation_parameters, parameters, steps
from assay.rules.consents import Consents
from assay.rules.queries import answered_questions, bare, fresh_subjects, plain, question
from assay.rules.rule import (
    Calls,
    CallScenario,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Scope,
    Script,
    consent,
    needs,
)
from assay.rules.state.calendar import within_a_day
from assay.rules.verdict import Evidence, doubt, must_be_served

#: A customer, an operation, and the day.
Slot: TypeAlias = tuple[str, str, date | datetime]

#: "Far more" calls are this many times the quota.
FAR = 5
NOT_COUNTED, EXHAUSTED = "not-counted", "after-exhausted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmetered(Kind):
    """Operations without a limit, and the quota of unattended calls beside them."""

    name = "unmetered"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.PROMISE
    bare_calls = True
    limits = ()

    operations: tuple[Operation, ...] = parameters.operations(
        also=operation_parameters.about_something_owned
    )
    quota: int = parameters.whole(key="quota")
    grant: Operation | None = parameters.grant()
    owner: str = operation_parameters.owner_of_operations()
    zone: ZoneInfo | None = parameters.the_zone()

    def unaffected_by(self) -> Mapping[str, str]:
        """Return the customer's absence: the clause is about calls that she asks for."""
        return {"presence": "the clause itself is about calls with the customer"}

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for each operation, and two about the batch quota."""
        psu = needs(Capability.PSU) | consent(self.grant, *self.operations)
        batch = psu | needs(Capability.BATCH, Capability.TWO_PSU)
        each = tuple(
            Facet(
                id=f"{operation.id}-unlimited",
                description=f"{FAR * self.quota} attended calls of {operation.id} are served",
                scenario=CallScenario(id=f"{operation.id}:unlimited", operation=operation),
                needs=psu,
            )
            for operation in self.operations
        )
        return (
            *each,
            Facet(
                id=NOT_COUNTED,
                description="attended calls do not count towards the batch quota",
                scenario=Scenario(id=NOT_COUNTED),
                needs=batch,
                exercises=tuple(operation.id for operation in self.operations),
            ),
            Facet(
                id=EXHAUSTED,
                description="attended calls are served when the batch quota is exhausted",
                scenario=Scenario(id=EXHAUSTED),
                needs=batch,
                exercises=tuple(operation.id for operation in self.operations),
            ),
        )

    def probe(self, scenario: Scenario) -> Script:
        """Call far more often than the quota; or around the quota, with a control."""
        psu = yield from steps.customer("psu", self.owner, self.grant)
        if isinstance(scenario, CallScenario):
            for _ in range(FAR * self.quota):
                yield from steps.send(_call(scenario.operation, psu, present=True))
            return
        other = yield from steps.customer("other", self.owner, self.grant)
        for operation in self.operations:
            counted = scenario.id == NOT_COUNTED
            yield from steps.send(_call(operation, other, present=not counted))
            for _ in range((2 * self.quota if counted else self.quota) + 1):
                yield from steps.send(_call(operation, psu, present=counted))
            yield from steps.send(_call(operation, psu, present=not counted))

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge attended calls, and batch calls that follow only attended ones.

        A call is judged if it was answered for the same customer at some time; only calls
        of one day can use up a daily quota.
        """
        named = {operation.id: operation for operation in self.operations}
        batch, attended = answered_questions(history, present=False), answered_questions(history)
        controls = Controls(
            questions=batch | attended,
            batch=frozenset(operation for _, operation, _ in batch),
            attended=frozenset(operation for _, operation, _ in attended),
            fresh=fresh_subjects(history),
        )
        needed = [each.consent for each in self.operations if each.consent]
        grant = self.grant or (self.contract.operations[needed[0]] if needed else None)
        consents = Consents.of(self.contract, grant, history)
        counts = _ServedCounts(quota=self.quota)
        for exchange in history.exchanges:
            call = exchange.call
            consents.note(exchange)
            operation = named.get(call.operation)
            if operation is None:
                continue
            day = within_a_day(exchange.at, self.zone)
            key = str(call.arguments.get(operation.about or ""))
            covered = consents.certain(call.subject)
            consented = grant is None or (
                key in covered if operation.about else bool(covered) or not operation.consent
            )
            if question(call) in controls.questions and bare(call, operation) and consented:
                yield from _judge(exchange, counts, controls, day)
            counts.note(exchange, day)


def _call(operation: Operation, psu: Subject, *, present: bool) -> Call:
    return Call(
        operation=operation.id,
        subject=psu.name,
        arguments=steps.arguments(operation, psu.owns[0].key),
        present=present,
        variation="" if present else "without the customer",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """The calls answered in a history, and the operations by batch and attended calls."""

    questions: frozenset[tuple[str, str, str]]
    batch: frozenset[str]
    attended: frozenset[str]
    fresh: frozenset[str]


@dataclass(slots=True, kw_only=True)
class _ServedCounts:
    """The number of calls served for each slot, by batch and attended calls."""

    quota: int
    attended: Counter[Slot] = field(default_factory=Counter[Slot])
    batch: Counter[Slot] = field(default_factory=Counter[Slot])
    tried: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    refused: set[Slot] = field(default_factory=set[Slot])

    def note(self, exchange: Exchange, day: date | datetime) -> None:
        call = exchange.call
        slot = (call.subject, call.operation, day)
        served = exchange.accepted and plain(call)
        if call.present:
            self.attended[slot] += served
            return
        self.tried.add(slot[:2])
        self.batch[slot] += served
        if exchange.refused and self.batch[slot] >= self.quota:
            self.refused.add(slot)


def _judge(
    exchange: Exchange, counts: _ServedCounts, controls: Controls, day: date | datetime
) -> Iterator[Evidence]:
    call = exchange.call
    slot = (call.subject, call.operation, day)
    if not call.present:
        alone = slot[:2] not in counts.tried and counts.attended[slot] > counts.quota
        if alone and call.operation in controls.batch:
            evidence = must_be_served(NOT_COUNTED, exchange, "only attended calls came before")
            known = call.subject in controls.fresh
            yield evidence if known else doubt(evidence, "earlier calls may be unknown")
    elif slot in counts.refused and call.operation in controls.attended:
        yield must_be_served(EXHAUSTED, exchange, "the customer is present")
    elif counts.attended[slot] and not (exchange.accepted and counts.attended[slot] < counts.quota):
        yield must_be_served(
            f"{call.operation}-unlimited", exchange, "calls with the customer have no limit"
        )
