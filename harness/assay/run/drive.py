"""Driving one probe: performing each step it yields, telling it what became.

What happens is returned as a history and handed to a recorder on the way, so
that nothing is lost when a run is cut short. No judgement here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import perf_counter

from assay.errors import CannotArrange, TargetError
from assay.history import (
    Advance,
    Advanced,
    Arrange,
    Call,
    Cause,
    Event,
    Exchange,
    History,
    Indeterminate,
    Outcome,
    Step,
    Subject,
)
from assay.model import Capability, Operation
from assay.plan import UNBLOCKS
from assay.rules.rule import Script
from assay.run.stage import Stage
from assay.target.decode import body_of, decode, links_of
from assay.target.encode import BARE, Access, encode
from assay.target.pointer import MISSING
from assay.target.profile import Profile
from assay.target.world import Scene

#: Told of every event as it happens, with what authorised a subject or a call.
Recorder = Callable[[Event, Access], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """A probe's history, and what stopped it before its end, if anything did."""

    history: History
    stopped: str = ""


@dataclass(slots=True, kw_only=True)
class _Play:
    """The state of one trial while it runs."""

    stage: Stage
    scene: Scene
    operations: Mapping[str, Operation]
    number: Callable[[], int]
    record: Recorder
    access: dict[str, Access] = field(default_factory=dict[str, Access])
    now: datetime | None = None

    def perform(self, step: Step) -> Event:
        match step:
            case Call():
                return self._call(step)
            case Arrange():
                return self._arrange(step)
            case Advance(to=to):
                self.now = self.scene.clock(to)
                event = Advanced(now=self.now)
                if to is not None:
                    self.record(event, Access())
                return event

    def _arrange(self, step: Arrange) -> Subject:
        subject, access = self.scene.arrange(step)
        common = self.stage.common
        self.access[step.subject] = access if access.token else replace(access, token=common.token)
        self.now = subject.now
        self.record(subject, self.access[step.subject])
        return subject

    def _call(self, call: Call) -> Exchange:
        operation = self.operations[call.operation]
        access = self.access.get(call.subject, self.stage.common)
        profile = self.stage.profile
        _permitted(call, operation, profile)
        request = encode(call, operation, profile, access)
        began = perf_counter()
        sent = self.stage.client.send(request)
        ms = (perf_counter() - began) * 1000
        at = self.scene.clock(None)
        wire, n = sent.wire, self.number()
        if sent.trouble:
            outcome: Outcome = Indeterminate(cause=Cause.TRANSPORT, why=sent.trouble)
        else:
            body = body_of(wire)
            outcome = decode(wire, body, operation, profile)
            binding = profile.operations.get(operation.id, BARE)
            if body is not MISSING and (binding.links or binding.next):
                wire = replace(wire, links=links_of(body, wire.url, binding))
        exchange = Exchange(n=n, at=at, call=call, outcome=outcome, wire=wire, ms=ms)
        self.record(exchange, access)
        return exchange


def _permitted(call: Call, operation: Operation, profile: Profile) -> None:
    """Hold back what the profile does not offer, whatever a rule forgot to need.

    A consent would change the customer's affairs; a call without the customer
    that nothing marks as such would look like one with.
    """
    if operation.grants and Capability.CONSENT not in profile.world.offers:
        raise CannotArrange(UNBLOCKS[Capability.CONSENT])
    if not call.present and profile.presence is None:
        raise CannotArrange(UNBLOCKS[Capability.BATCH])


def drive(
    script: Script,
    stage: Stage,
    operations: Mapping[str, Operation],
    *,
    number: Callable[[], int],
    record: Recorder,
) -> Driven:
    """Run a probe to its end, or to the step that cannot be performed.

    Raises:
        TargetError: the target's world cannot be reached or used at all.

    """
    events: list[Event] = []

    def keep(event: Event, access: Access) -> None:
        events.append(event)
        record(event, access)

    scene = stage.world.open()
    play = _Play(stage=stage, scene=scene, operations=operations, number=number, record=keep)
    stopped = ""
    try:
        step = next(script)
        while True:
            step = script.send(play.perform(step))
    except StopIteration:
        pass
    except CannotArrange as error:
        stopped = f"needs {error}"
    finally:
        script.close()
        with suppress(TargetError):  # a scene that cannot be given back costs no verdict
            scene.close()
    return Driven(history=History(events=tuple(events)), stopped=stopped)
