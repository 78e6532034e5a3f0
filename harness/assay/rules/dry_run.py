"""Dry runs: a probe played to a made-up target, with nothing sent.

A dry run shows what a probe would ask for: how many calls and signatures it costs, how long
it waits, and which requests it makes. `DryTarget` grants every step and knows no rule;
`ConformingTarget` also shows pages, and rejects what a bank that keeps the contract rejects.
What they answer is no evidence of anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

from assay.contract.model import Contract, Operation
from assay.history import (
    Accepted,
    Advance,
    Advanced,
    Arrange,
    Authorise,
    Authorised,
    Call,
    Decision,
    Effects,
    Ending,
    Entry,
    Event,
    Exchange,
    Inquire,
    Item,
    Lack,
    Lacking,
    Owned,
    Register,
    Registered,
    Rejected,
    Renew,
    Renewed,
    Resend,
    State,
    Step,
    Subject,
    Submit,
    Together,
    Wire,
    Withdraw,
    Withdrawn,
)
from assay.rules.rule import Script, facts_of
from assay.rules.steps import each_step

#: When dry runs begin unless a time is given: always the same, so that prices are stable.
START = datetime(2026, 9, 16, 8, 0, tzinfo=UTC)
#: The most steps of a probe that are played, since a probe might never end.
MOST = 1_000

_WIRE = Wire(method="GET", url="dry-run:", status=200)


@dataclass(slots=True, kw_only=True)
class DryTarget:
    """A target that grants every step, and remembers what was signed, to show it as done.

    `owned` maps each key to its owner and its place among the owner's things; `requests`
    lists the keys of the requests that were made. `submitted` are the operations whose requests are
    submitted, `takes` their keys, `waiting` those that were not yet, and `submissions` how many were.
    """

    contract: Contract
    now: datetime = START
    owned: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    requests: list[str] = field(default_factory=list[str])
    signed: set[str] = field(default_factory=set[str])
    submitted: frozenset[str] = frozenset()
    takes: set[str] = field(default_factory=set[str])
    waiting: set[str] = field(default_factory=set[str])
    submissions: int = 0

    def reply(self, step: Step) -> Event:  # noqa: C901 -- one case for each step
        """Return the event of a step that succeeds."""
        match step:
            case Call():
                event: Event = self._call(step)
            case Arrange():
                event = self._subject(step)
            case Authorise():
                event = self._authorised(step)
            case Advance(to=to):
                self.now = to or self.now
                event = Advanced(now=self.now)
            case Submit(request=request, variation=variation):
                self.submissions += request in (self.takes if variation else self.waiting)
                event = Advanced(now=self.now)
            case Inquire():
                event = Effects(now=self.now)
            case Register(subject=subject, argument=argument, age=age, value=value):
                since = self.now - age
                event = Registered(subject=subject, argument=argument, value=value, since=since)
            case Withdraw(subject=subject, request=request):
                event = Withdrawn(subject=subject, request=request, done=True, now=self.now)
            case Renew(subject=subject, operation=operation, by=by):
                event = Renewed(
                    subject=subject, operation=operation, by=by, done=True, now=self.now
                )
            case Lack(mode=mode):
                event = Lacking(mode=mode, bank=step.bank, now=self.now)
            case Together():
                event = Advanced(now=self.now)
            case Resend():
                raise TypeError("no probe sends a request again")
        return event

    def _authorised(self, step: Authorise) -> Authorised:
        confirmed = step.decision is Decision.CONFIRM
        if confirmed:
            self.signed.add(step.request)
            if step.submits:
                self._submit(step.request)
        return Authorised(
            n=0,
            step=step,
            ending=Ending.CONFIRMED if confirmed else Ending.REFUSED,
            moments=(self.now,),
            offered=facts_of(self.contract).factors,
            wire=_WIRE,
        )

    def _submit(self, request: str) -> None:
        self.submissions += request in self.waiting
        self.waiting.discard(request)

    def _subject(self, step: Arrange) -> Subject:
        holdings = [holding for holding in step.holdings for _ in range(holding.count)]
        owns = tuple(
            Owned(
                key=f"{step.subject}-{n}",
                resource=holding.resource,
                traits=holding.traits,
                entries=tuple(Entry(key=f"{n}-{on}", on=on) for on in holding.entries or ()),
            )
            for n, holding in enumerate(holdings)
        )
        self.owned |= {thing.key: (step.subject, n) for n, thing in enumerate(owns)}
        return Subject(name=step.subject, now=self.now, owns=owns, segment=step.segment)

    def _call(self, call: Call) -> Exchange:
        operation = self.contract.operations[call.operation]
        key = str(call.arguments.get(operation.about or ""))
        if operation.makes:
            key = f"request-{len(self.requests) + 1}"
            self.requests.append(key)
            if operation.id in self.submitted:
                self.takes.add(key)
                self.waiting.add(key)
            if not operation.signed:
                self.signed.add(key)
                self._submit(key)
        signed = State.VALID if operation.about_consent else State.DONE
        state = signed if key in self.signed else State.OPEN
        item = Item(key=key, state=state, fields=call.arguments)
        outcome = Accepted(items=(item,), approval="dry-run:")
        return Exchange(n=0, at=self.now, call=call, outcome=outcome, wire=_WIRE)


@dataclass(slots=True, kw_only=True)
class ConformingTarget(DryTarget):
    """A dry target that costs a probe as many calls as a bank that keeps the contract.

    It lists what a subject owns in pages of the contract's size, and rejects a call with a
    variation unless `accepts_variation`.
    """

    accepts_variation: bool
    subjects: dict[str, Subject] = field(default_factory=dict[str, Subject])

    def reply(self, step: Step) -> Event:
        """Return the event of a step, with a rejection or the next page where one is due."""
        event = DryTarget.reply(self, step)
        if isinstance(event, Subject):
            self.subjects[event.name] = event
        if not isinstance(event, Exchange):
            return event
        if event.call.variation and not self.accepts_variation:
            return replace(event, outcome=Rejected(), wire=replace(_WIRE, status=403))
        operation = self.contract.operations[event.call.operation]
        size = facts_of(self.contract).page_sizes.get(operation.id)
        page = int(event.call.follow or 0) + 1
        if size is None or page * size >= self._listed(operation, event.call):
            return event
        return replace(event, outcome=Accepted(items=event.items, next=str(page)))

    def _listed(self, operation: Operation, call: Call) -> int:
        """Return how many items all pages of an operation have together."""
        if not operation.about:
            subject = self.subjects.get(call.subject)
            return sum(
                thing.resource in operation.lists
                and facts_of(self.contract).surely_listed(thing, self.now, self.now)
                for thing in (subject.owns if subject else ())
            )
        key = str(call.arguments.get(operation.about))
        candidates = (subject.owned(key) for subject in self.subjects.values())
        thing = next((owned for owned in candidates if owned is not None), None)
        entries = (thing.entries if thing else None) or ()
        days = facts_of(self.contract).history_days.get(operation.id)
        if days is None:
            return len(entries)
        first = (self.now.date() - timedelta(days=days)).isoformat()
        since = str(call.arguments.get(operation.since or "", first))
        until = str(call.arguments.get(operation.until or "", date.max.isoformat()))
        return sum(max(first, since) <= entry.on.isoformat() <= until for entry in entries)


def play(script: Script, dry_target: DryTarget, most: int | None = None) -> Iterator[Step]:
    """Play a probe to a dry target; yield each step as the probe asks for it.

    Raises:
        RuntimeError: the probe asks for more than `most` steps.

    """
    yield from each_step(script, dry_target.reply, most)


def dry_run(script: Script, dry_target: DryTarget, most: int = MOST) -> Iterator[Step]:
    """Play a probe as `play` does; where it fails on a made-up answer, stop without an error."""
    with suppress(Exception):
        yield from play(script, dry_target, most)
