"""A fake target that grants every step of a probe, to see which steps a probe takes.

A dry run against it counts the signatures of a trial and collects the arguments that a
probe sends. It knows no rule of a contract, so its answers are no evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from assay.contract.model import Contract
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
    State,
    Step,
    Subject,
    Wire,
    Withdraw,
    Withdrawn,
)
from assay.planning.plan import Plan, Trial, script_of
from assay.rules.clauses import factors
from assay.rules.rule import Script

_WIRE = Wire(method="GET", url="dry-run:", status=200)


@dataclass(slots=True, kw_only=True)
class DryTarget:
    """Grants every step, and shows a request as carried out once it is signed.

    `owned` maps the key of each thing to its customer and its place among that customer's
    things; `requests` are the keys of the requests that were made.
    """

    contract: Contract
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    owned: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    requests: list[str] = field(default_factory=list[str])
    signed: set[str] = field(default_factory=set[str])

    def reply(self, step: Step) -> Event:
        """Return the event of a step that succeeds."""
        match step:
            case Call():
                event: Event = self._call(step)
            case Arrange():
                event = self._subject(step)
            case Authorise(request=request, decision=decision):
                confirmed = decision is Decision.CONFIRM
                self.signed |= {request} if confirmed else set()
                ending = Ending.CONFIRMED if confirmed else Ending.REFUSED
                event = Authorised(
                    n=0,
                    step=step,
                    ending=ending,
                    moments=(self.now,),
                    offered=factors(self.contract),
                    wire=_WIRE,
                )
            case Advance(to=to):
                self.now = to or self.now
                event = Advanced(now=self.now)
            case Inquire():
                event = Effects(now=self.now)
            case Register(subject=subject, argument=argument, age=age, value=value):
                since = self.now - age
                event = Registered(subject=subject, argument=argument, value=value, since=since)
            case Withdraw(subject=subject, request=request):
                event = Withdrawn(subject=subject, request=request, done=True, now=self.now)
            case Lack(mode=mode):
                event = Lacking(mode=mode, now=self.now)
        return event

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
        state = State.DONE if key in self.signed else State.OPEN
        item = Item(key=key, state=state, fields=call.arguments)
        outcome = Accepted(items=(item,), approval="dry-run:")
        return Exchange(n=0, at=self.now, call=call, outcome=outcome, wire=_WIRE)


def dry_run(script: Script, dry_target: DryTarget, most: int) -> Iterator[Step]:
    """Run a probe against a dry target for at most `most` steps; yield each step.

    A probe that fails on the meaningless answers ends the dry run; its steps until then count.
    """
    with suppress(Exception):  # the end of the probe, or an answer that it cannot use
        step = next(script)
        for _ in range(most):
            yield step
            step = script.send(dry_target.reply(step))
    script.close()


#: Steps after which a dry run ends: meaningless answers might keep a probe going for ever.
MOST = 1_000


def count_signatures(plan: Plan) -> int:
    """Return the largest number of signatures that the trials of a plan can need."""
    return sum(signatures_in(plan, trial) for trial in plan.trials if trial.signed)


def signatures_in(plan: Plan, trial: Trial) -> int:
    """Return the largest number of signatures that a trial can need."""
    _, script = script_of(plan, trial)
    dry_target = DryTarget(contract=plan.contracts[trial.contract])
    return sum(isinstance(step, Authorise) for step in dry_run(script, dry_target, MOST))
