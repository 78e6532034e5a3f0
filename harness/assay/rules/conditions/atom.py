"""The interface of an atom of a condition: its input, its points, and when it is true.

An atom looks at one *input* of a request: an argument, the factor that it was signed
with, a registration. The value of the input is understood only by the atoms that look
at it. Two atoms with the same input are coupled: not every pair of truths is possible.
A *point* is a value worth trying, with the way to bring it about.
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

#: What stands at an input.
Value: TypeAlias = Hashable
#: How far apart two values are that have nothing to do with each other.
FAR = float("inf")


@dataclass(slots=True, kw_only=True)
class Registrations:
    """Who is known to have registered what, and since when: a fold over registrations."""

    first: dict[tuple[str, str, str], datetime] = field(
        default_factory=dict[tuple[str, str, str], datetime]
    )
    who: dict[tuple[str, str], set[str]] = field(default_factory=dict[tuple[str, str], set[str]])

    def note(self, event: Registered) -> None:
        """Take a registration in; who registers twice has done so since the first time."""
        key = (event.subject, event.argument, repr(event.value))
        self.first[key] = min(event.since, self.first.get(key, event.since))
        self.who.setdefault(key[1:], set()).add(event.subject)

    def since(self, subject: str, argument: str, value: Json) -> datetime | None:
        """Return since when a subject has known a value, as far as the history tells."""
        return self.first.get((subject, argument, repr(value)))

    def registered_by_another(self, subject: str, argument: str, value: Json) -> bool:
        """Whether somebody else has registered a value."""
        who = self.who.get((argument, repr(value)), set())
        return len(who) > (subject in who)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedRequest:
    """A request as it stood when it was decided on, and what was registered by then."""

    lifecycle: Lifecycle
    request: Instance
    registrations: Registrations


def prepare_nothing(_life: Lifecycle, _subject: Subject, _call: Call) -> Part[None]:
    """Prepare nothing."""
    yield from ()


def unchanged_call(call: Call) -> Call:
    """Ask as usual."""
    return call


def unchanged_signature(how: Authorise) -> Authorise:
    """Sign as usual."""
    return how


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A value that is worth trying: its name in ids, its words, and how to bring it about.

    `near` tells how far a value that was seen is from it, 0 for the point itself.
    `prepare` is done before the request is made, which `ask` alters, and `sign` its
    signature. `segments` are those whose customers can do so, where not all can.
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
        """Whether anything has to be prepared for it."""
        return self.prepare is not prepare_nothing

    @property
    def asked(self) -> bool:
        """Whether the request itself is another for it."""
        return self.ask is not unchanged_call


def describe_points(points: Sequence[Point]) -> str:
    """Say what stands at some points."""
    return ", ".join(point.description for point in points)


class Atom(Protocol):
    """One atom; equal atoms are one."""

    @property
    def input(self) -> str:
        """What it looks at; atoms with the same input are coupled."""
        ...

    @property
    def argument(self) -> str | None:
        """The argument of the request that its input is about, if it is about one."""
        ...

    @property
    def id_prefix(self) -> str:
        """How the ids of its points begin."""
        ...

    @property
    def label(self) -> str:
        """What it says, in a few words."""
        ...

    @property
    def points(self) -> tuple[Point, ...]:
        """What is worth trying; the first true and the first false point stand for others."""
        ...

    def holds(self, value: Value) -> bool | None:
        """Whether it is true of a value; None if unknown."""
        ...

    def look(self, seen: DecidedRequest) -> Value | None:
        """Return what stands at its input; None where unknown."""
        ...


#: Reads an atom as a contract writes it, about a request.
ReadAtom: TypeAlias = Callable[[Mapping[str, Json], Lifecycle], Atom]
