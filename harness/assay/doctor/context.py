"""Who is examined: a profile, what it was joined to, and all that it was seen to answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from assay.binding.decode import body_of
from assay.binding.encode import BARE
from assay.binding.pointer import MISSING, find, lists
from assay.binding.target import OperationBinding, Target, TransportKind
from assay.contract.model import Contract, Json, Operation
from assay.doctor.probes import PRESENCE
from assay.errors import Problem
from assay.execution.environment import Environment
from assay.history import Authorised, Effects, Event, Exchange, Subject, Wire
from assay.journal.redact import Redactor
from assay.planning.prepare import Prepared

#: By HTTP, all went well.
GOOD = range(200, 300)
#: Things of an answer that are looked at.
MOST_THINGS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenAnswer:
    """One answer that was seen, with the operation that was called and its whole body."""

    story: str
    operation: Operation
    binding: OperationBinding
    exchange: Exchange
    body: Json

    @property
    def status(self) -> int:
        """The HTTP status; 0 where no answer came."""
        return self.exchange.wire.status

    @property
    def good(self) -> bool:
        """Whether HTTP says that all went well, whatever the profile makes of it."""
        return self.status in GOOD

    @property
    def things(self) -> tuple[Mapping[str, Json], ...]:
        """The items as they were sent, as far as the profile finds them."""
        if self.binding.one is not None:
            found: list[Json] = [find(self.body, self.binding.one)]
        else:
            every = (lists(self.body, pointer) for pointer in self.binding.list)
            found = [one for each in every for one in each or ()]
        named = [cast("dict[str, Any]", one) for one in found if isinstance(one, dict)]
        return tuple(named[:MOST_THINGS])


@dataclass(slots=True, kw_only=True)
class DoctorContext:
    """What the steps of the examination share, and leave behind for later ones.

    `whole` says that a world is made for every story, so that nobody's accesses are
    spent. `ahead` is how far the target's clock goes ahead of ours, if it told. `played` tells
    which listed customer a subject of the stories was, `lacks` why a story ended early.
    """

    target_name: str | None
    contracts: tuple[str, ...] = ()
    prepared: Prepared | None = None
    ledger: Path | None = None
    environment: Environment | None = None
    whole: bool = False
    ahead: timedelta | None = None
    answers: list[SeenAnswer] = field(default_factory=list[SeenAnswer])
    played: dict[str, str] = field(default_factory=dict[str, str])
    subjects: dict[str, Subject] = field(default_factory=dict[str, Subject])
    signed: list[tuple[Authorised, Wire]] = field(default_factory=list[tuple[Authorised, Wire]])
    told: list[Effects] = field(default_factory=list[Effects])
    lacks: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])
    redactor: Redactor = field(default_factory=Redactor)
    on_call: Callable[[], None] = lambda: None
    problems: list[Problem] = field(default_factory=list[Problem])

    @property
    def target(self) -> Target:
        """The profile, once it was read."""
        if self.prepared is None:
            raise TypeError("no step needs the profile before it was read")
        return self.prepared.target

    @property
    def contracts_bound(self) -> tuple[Contract, ...]:
        """The contracts as they stand for this target."""
        return tuple(one.contract for one in self.prepared.bound) if self.prepared else ()

    @property
    def today(self) -> date:
        """The day by our own clock."""
        return datetime.now(UTC).date()

    @property
    def networked(self) -> bool:
        """Whether there is a network between."""
        return self.target.transport is TransportKind.HTTP

    def note(self, story: str, contract: Contract, event: Event) -> None:
        """Keep what happened in a story."""
        match event:
            case Exchange():
                operation = contract.operations[event.call.operation]
                binding = self.target.operations.get(operation.id, BARE)
                body = body_of(event.wire)
                self.answers.append(
                    SeenAnswer(
                        story=story,
                        operation=operation,
                        binding=binding,
                        exchange=event,
                        body=body,
                    )
                )
            case Subject():
                self.subjects[f"{story} {event.name}"] = event
            case Effects():
                self.told.append(event)
            case _:
                pass

    def of(self, operation: str) -> tuple[SeenAnswer, ...]:
        """Return the answers of an operation, but those about what is used up."""
        return tuple(
            one
            for one in self.answers
            if one.operation.id == operation and not one.story.endswith(PRESENCE)
        )

    @property
    def presences(self) -> tuple[SeenAnswer, ...]:
        """The answers to calls by which what is free without the customer was used up."""
        return tuple(one for one in self.answers if one.story.endswith(PRESENCE))

    def plain(self, operation: str) -> tuple[SeenAnswer, ...]:
        """Return the answers to plain first calls of an operation."""
        return tuple(one for one in self.of(operation) if ordinary(one.exchange))

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations that were called, in the order of the contracts."""
        called = {one.operation.id for one in self.answers}
        every = (one for each in self.contracts_bound for one in each.operations.values())
        return tuple(one for one in every if one.id in called)

    def said(self, answer: SeenAnswer) -> str:
        """Return the beginning of what the target said, with everything private masked."""
        text = (
            self.redactor.body(answer.exchange.wire.body)[0] if answer.body is not MISSING else ""
        )
        return text[:120]


def ordinary(exchange: Exchange) -> bool:
    """Whether a call is a plain first one, by its own name, with the customer there."""
    call = exchange.call
    return call.present and call.follow is None and call.alias is None and not call.variation
