"""Conditions as expression trees: all, any and not over numbered atoms; and the interface of an atom.

An atom may be true, false, or unknown (None), and so may a condition: it is known where
it is the same whatever the unknown atoms are, as far as `all` and `any` show that.

An atom looks at one *input* of a request: an argument, the factor that it was signed
with, a registration. The value of the input is understood only by the atoms that look
at it. Two atoms with the same input are coupled: not every pair of truths is possible.
A *point* is a value worth trying, with the steps that produce it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeAlias, assert_never, cast

from assay.contract.model import Capability, Json
from assay.history import Authorise, Call, Registered, Registration, Subject
from assay.rules.lifecycle.tracker import Instance, Lifecycle
from assay.rules.rule import BindingRequirement
from assay.rules.steps import Part

#: The value of an input.
Value: TypeAlias = Hashable
#: The distance of two unrelated values.
FAR = float("inf")


@dataclass(slots=True, kw_only=True)
class Registrations:
    """The registrations so far: which customer registered which value, and since when.

    Of the customers in `complete` there are no others.
    """

    first: dict[tuple[str, str, str], tuple[datetime, datetime]] = field(
        default_factory=dict[tuple[str, str, str], "tuple[datetime, datetime]"]
    )
    who: dict[tuple[str, str], set[str]] = field(default_factory=dict[tuple[str, str], set[str]])
    complete: set[str] = field(default_factory=set[str])

    def note(self, event: Registered | Subject) -> None:
        """Process registrations; of several by one customer the earliest counts."""
        if isinstance(event, Registered):
            self._add(event.subject, event)
        elif event.registrations is not None or event.fresh:
            self.complete.add(event.name)
            for known in event.registrations or ():
                self._add(event.name, known)

    def _add(self, subject: str, known: Registered | Registration) -> None:
        key = (subject, known.argument, repr(known.value))
        since, latest = known.since, known.latest or known.since
        before = self.first.get(key, (since, latest))
        self.first[key] = min(since, before[0]), min(latest, before[1])
        self.who.setdefault(key[1:], set()).add(subject)

    def since(self, subject: str, argument: str, value: Json) -> tuple[datetime, datetime] | None:
        """Return since when a subject has registered a value: the first and last possible moment."""
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


def prepare_nothing(_life: Lifecycle, _subject: Subject, call: Call) -> Part[Call]:
    """Prepare nothing, and return the call as it is."""
    yield from ()
    return call


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
    `prepare` yields the steps before the request is made and returns the request, `ask` changes
    the request, and `sign` its signature. `segments` lists the customer segments that can do so, if not all.
    """

    name: str
    description: str
    value: Value
    distance: Callable[[Value], float]
    prepare: Callable[[Lifecycle, Subject, Call], Part[Call]] = prepare_nothing
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


@dataclass(frozen=True, slots=True)
class AtomRef:
    """One atom, by its number."""

    atom: int


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a condition."""

    part: Expression


@dataclass(frozen=True, slots=True)
class All:
    """The conjunction of several conditions."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """The disjunction of several conditions."""

    parts: tuple[Expression, ...]


Expression: TypeAlias = AtomRef | Not | All | Any


def parse(raw: Json, number: Callable[[Mapping[str, Json]], int]) -> Expression:
    """Parse a condition of a contract; `number` returns the number of an atom."""
    node = cast("Mapping[str, Json]", raw)
    if "all" in node:
        return All(_parts(node["all"], number))
    if "any" in node:
        return Any(_parts(node["any"], number))
    if "not" in node:
        return Not(parse(node["not"], number))
    return AtomRef(number(node))


def _parts(raw: Json, number: Callable[[Mapping[str, Json]], int]) -> tuple[Expression, ...]:
    return tuple(parse(part, number) for part in cast("Sequence[Json]", raw))


def holds(expression: Expression, truths: Sequence[bool | None]) -> bool | None:
    """Whether a condition holds, given the truth of each atom."""
    match expression:
        case AtomRef(atom):
            return truths[atom]
        case Not(part):
            inner = holds(part, truths)
            return None if inner is None else not inner
        case All(parts):
            return _decided(parts, truths, by=False)
        case Any(parts):
            return _decided(parts, truths, by=True)
        case _:
            assert_never(expression)


def _decided(
    parts: Sequence[Expression], truths: Sequence[bool | None], *, by: bool
) -> bool | None:
    """Return `by` if one part is `by`; otherwise every part must be known to be the opposite."""
    holding = {holds(part, truths) for part in parts}
    if by in holding:
        return by
    return None if None in holding else not by


def describe(expression: Expression, labels: Sequence[str]) -> str:
    """Describe a condition, given the label of each atom."""
    match expression:
        case AtomRef(atom):
            return labels[atom]
        case Not(part):
            return f"not {_inner(part, labels)}"
        case All(parts):
            return " and ".join(_inner(part, labels) for part in parts)
        case Any(parts):
            return " or ".join(_inner(part, labels) for part in parts)
        case _:
            assert_never(expression)


def _inner(part: Expression, labels: Sequence[str]) -> str:
    text = describe(part, labels)
    return f"({text})" if isinstance(part, All | Any) else text
