"""The interface of an atom of a condition: its input, its points, and when it is true.

An atom looks at one *input* of a request: an argument, the factor that it was signed
with, a registration. The value of the input is understood only by the atoms that look
at it. Two atoms with the same input are coupled: not every pair of truths is possible.
A *point* is a value worth trying, with the steps that produce it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeAlias

from assay.contract.model import Capability, Json
from assay.history import Authorise, Call, Registered, Subject
from assay.rules.lifecycle.tracker import Instance, Lifecycle
from assay.rules.rule import BindingRequirement
from assay.rules.steps import Part

#: The value of an input.
Value: TypeAlias = Hashable
#: The distance of two unrelated values.
FAR = float("inf")


@dataclass(slots=True, kw_only=True)
class Registrations:
    """The registrations so far: which customer registered which value, and since when."""

    first: dict[tuple[str, str, str], datetime] = field(
        default_factory=dict[tuple[str, str, str], datetime]
    )
    who: dict[tuple[str, str], set[str]] = field(default_factory=dict[tuple[str, str], set[str]])

    def note(self, event: Registered) -> None:
        """Process a registration; of several by one customer the earliest counts."""
        key = (event.subject, event.argument, repr(event.value))
        self.first[key] = min(event.since, self.first.get(key, event.since))
        self.who.setdefault(key[1:], set()).add(event.subject)

    def since(self, subject: str, argument: str, value: Json) -> datetime | None:
        """Return since when a subject has registered a value, as far as the history shows."""
        return self.first.get((subject, argument, repr(value)))

    def registered_by_another(self, subject: str, argument: str, value: Json) -> bool:
        """Whether another customer has registered a value."""
        who = self.who.get((argument, repr(value)), set())
        return len(who) > (subject in who)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedRequest:
    """A request at the moment of its decision, with the registrations until then."""

    lifecycle: Lifecycle
    request: Instance
    registrations: Registrations


def prepare_nothing(_life: Lifecycle, _subject: Subject, _call: Call) -> Part[None]:
    """Prepare nothing."""
    yield from ()


def unchanged_call(call: Call) -> Call:
    """Return the call unchanged."""
    return call


def unchanged_signature(how: Authorise) -> Authorise:
    """Return the signature unchanged."""
    return how


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A value worth trying: its name in ids, its description, and the steps that produce it.

    `distance` returns how far an observed value is from it, 0 for the point itself.
    `prepare` yields the steps before the request is made, `ask` changes the request, and
    `sign` its signature. `segments` lists the customer segments that can do so, if not all.
    """

    name: str
    description: str
    value: Value
    distance: Callable[[Value], float]
    prepare: Callable[[Lifecycle, Subject, Call], Part[None]] = prepare_nothing
    ask: Callable[[Call], Call] = unchanged_call
    sign: Callable[[Authorise], Authorise] = unchanged_signature
    needs: frozenset[Capability] = frozenset()
    requires: tuple[BindingRequirement, ...] = ()
    segments: tuple[str, ...] = ()

    @property
    def prepared(self) -> bool:
        """Whether it needs preparation."""
        return self.prepare is not prepare_nothing

    @property
    def asked(self) -> bool:
        """Whether it changes the request itself."""
        return self.ask is not unchanged_call


def describe_points(points: Sequence[Point]) -> str:
    """Join the descriptions of points."""
    return ", ".join(point.description for point in points)


class Atom(Protocol):
    """One atom; equal atoms are one."""

    @property
    def input(self) -> str:
        """The input that it looks at; atoms with the same input are coupled."""
        ...

    @property
    def argument(self) -> str | None:
        """The argument of the request that its input is about, if it is about one."""
        ...

    @property
    def id_prefix(self) -> str:
        """The prefix of the ids of its points."""
        ...

    @property
    def label(self) -> str:
        """A short description, the heading of its column in a decision table."""
        ...

    @property
    def points(self) -> tuple[Point, ...]:
        """The values worth trying; the first true and the first false point represent the others."""
        ...

    def holds(self, value: Value) -> bool | None:
        """Whether it is true for a value; None if unknown."""
        ...

    def look(self, seen: DecidedRequest) -> Value | None:
        """Return the value of its input; None where unknown."""
        ...


#: Reads an atom of a condition about a request, as written in a contract.
ReadAtom: TypeAlias = Callable[[Mapping[str, Json], Lifecycle], Atom]
