"""How many signatures a run will ask for, before it asks: every probe is played to nobody.

Whatever a probe asks for is granted, so a request that a real target would refuse is
signed here as well: the figure is an upper bound for a target that keeps its contract.
Not for anything else; what a run costs in calls is the plan's own price.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import cast

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
from assay.model import Contract
from assay.plan import Plan, Trial, script_of

#: So many steps of a probe are played, for nobody's answers might keep it going.
MOST = 1_000
_WIRE = Wire(method="GET", url="nobody:", status=200)


def signatures(plan: Plan) -> int:
    """Return how many signatures the trials of a plan ask for, at the most."""
    return sum(asked_in(plan, trial) for trial in plan.trials if trial.signed)


def asked_in(plan: Plan, trial: Trial) -> int:
    """Return how many signatures one trial asks for, at the most."""
    _, script = script_of(plan, trial)
    nobody, asked = _Nobody(contract=plan.contracts[trial.contract]), 0
    try:
        step = next(script)
        for _ in range(MOST):
            asked += isinstance(step, Authorise)
            step = script.send(nobody.reply(step))
    except StopIteration:
        pass
    except Exception:  # noqa: BLE001 -- a figure for a person must not stop a run
        return asked
    finally:
        script.close()
    return asked


@dataclass(slots=True, kw_only=True)
class _Nobody:
    """Grants everything; remembers what was signed, to say that it is done."""

    contract: Contract
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    made: int = 0
    signed: set[str] = field(default_factory=set[str])

    def reply(self, step: Step) -> Event:
        """Say that it went well."""
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
                    offered=self._offered(),
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

    def _offered(self) -> tuple[str, ...]:
        """Return every factor that the contract names."""
        segments = [
            cast("Mapping[str, list[str]]", clause.params["offered"])
            for clause in self.contract.clauses
            if clause.kind == "factors"
        ]
        return tuple(dict.fromkeys(w for one in segments for words in one.values() for w in words))

    def _subject(self, step: Arrange) -> Subject:
        things = [one for one in step.holdings for _ in range(one.count)]
        owns = tuple(
            Owned(
                key=f"{step.subject}-{n}",
                resource=one.resource,
                traits=one.traits,
                entries=tuple(Entry(key=f"{n}-{on}", on=on) for on in one.entries or ()),
            )
            for n, one in enumerate(things)
        )
        return Subject(name=step.subject, now=self.now, owns=owns, segment=step.segment)

    def _call(self, call: Call) -> Exchange:
        operation = self.contract.operations[call.operation]
        key = str(call.arguments.get(operation.about or ""))
        if operation.makes:
            self.made += 1
            key = f"request-{self.made}"
        state = State.DONE if key in self.signed else State.OPEN
        item = Item(key=key, state=state, fields=call.arguments)
        outcome = Accepted(items=(item,), approval="nobody:")
        return Exchange(n=0, at=self.now, call=call, outcome=outcome, wire=_WIRE)
