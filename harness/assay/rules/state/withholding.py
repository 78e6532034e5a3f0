"""Data of resources that are not listed: they are withheld, even if a consent names them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.contract.model import Contract, Operation
from assay.history import Call, Exchange, History, Holding, Owned
from assay.rules import steps
from assay.rules.call_limit import perhaps_over_quota
from assay.rules.consents import consented_keys
from assay.rules.evidence import counts_unattended, must_be_refused
from assay.rules.queries import bare_or_ranged, plain, question
from assay.rules.rule import Script
from assay.rules.verdict import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Withholding:
    """A resource, the traits that hide it, and the operations that refuse its data."""

    contract: Contract
    resource: str
    hides: tuple[str, ...]
    operations: tuple[Operation, ...]
    grant: Operation | None

    def probe(self) -> Script:
        """Ask for the data of a plain one, then of each hidden one once a consent names it."""
        today = (yield from steps.clock()).date()
        entries = steps.days_before(today, 1, 2)
        hidden = (
            Holding(resource=self.resource, traits={trait: True}, entries=entries)
            for trait in self.hides
        )
        psu = yield from steps.arrange(
            "psu", Holding(resource=self.resource, entries=entries), *hidden
        )
        plain_one, *others = (thing.key for thing in psu.owns)
        yield from steps.grant(self.grant, "psu", plain_one)
        calls = [
            Call(
                operation=operation.id,
                subject="psu",
                arguments=steps.arguments(operation, plain_one),
            )
            for operation in self.operations
        ]
        for ask in calls:
            yield from steps.send(ask)
        for trait, key in zip(self.hides, others, strict=True):
            state = f"one that is {trait}"
            abouts = [
                replace(ask, arguments=steps.arguments(operation, key), variation=f"about {state}")
                for operation, ask in zip(self.operations, calls, strict=True)
            ]
            if self.grant:
                for about in abouts:
                    yield from steps.send(about)
                naming = Call(
                    operation=self.grant.id,
                    subject="psu",
                    arguments={self.grant.grants or "": [plain_one, key]},
                    variation=f"naming {state}",
                )
                yield from steps.consent(self.grant, naming)
            for about in abouts:
                yield from steps.send(about)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every call about a hidden one that a consent named, taken or not.

        What was served before, without that consent, is the business of the consent's scope.
        """
        asked = list(self._asked(history))
        over_quota = perhaps_over_quota(self.contract, history)
        controlled = {
            _way(exchange.call)
            for exchange, owned, _ in asked
            if exchange.accepted and exchange.items and not any(owned.traits.values())
        }
        refused = set[tuple[object, ...]]()
        for exchange, owned, named in asked:
            states = [name for name, value in owned.traits.items() if value]
            call = exchange.call
            if _way(call) not in controlled or len(states) != 1:
                continue
            same = (*question(call), call.present)
            if self.grant and not named:
                withheld = exchange.refused and not exchange.items
                refused |= {same} if withheld else set[tuple[object, ...]]()
            elif states[0] in self.hides and (same in refused or self.grant is None):
                why = f"the {self.resource} is {states[0]}"
                # The controls are asked in the same way, so a call with days is judged like others.
                evidence = must_be_refused(f"withholds-{states[0]}", exchange, why)
                if counts_unattended(evidence, exchange, over_quota):
                    yield evidence

    def _asked(self, history: History) -> Iterator[tuple[Exchange, Owned, bool]]:
        """Yield each call about an own thing, the thing, and whether a consent named it before."""
        subjects, named = history.subjects, set[tuple[str, str]]()
        operations = {thing.id: thing for thing in self.operations}
        for exchange in history.exchanges:
            call = exchange.call
            if self.grant and call.operation == self.grant.id and plain(call):
                named |= {(call.subject, key) for key in consented_keys(call, self.grant)}
            operation, subject = operations.get(call.operation), subjects.get(call.subject)
            if operation is None or subject is None or not bare_or_ranged(call, operation):
                continue
            owned = subject.owned(call.arguments.get(operation.about or ""))
            if owned is not None and owned.resource == self.resource:
                yield exchange, owned, (call.subject, owned.key) in named


def _way(call: Call) -> tuple[str, str, bool, frozenset[str]]:
    """Return who asks by which operation and with what, and whether the customer is there."""
    return call.subject, call.operation, call.present, frozenset(call.arguments)
