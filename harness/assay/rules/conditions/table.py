"""Conditions as expression trees, and the decision table that is derived from one.

An expression combines numbered atoms by all, any and not. An atom may be true, false, or unknown
(None), and so may a condition: it is known where it is the same whatever the unknown atoms are, as
far as `all` and `any` show that. An atom looks at one *input* of a request: an argument, the factor
that it was signed with, a registration. The value of the input is that of a *point*.

The table has the requests that show that each atom decides, by unique-cause MC/DC. An
*assignment* is one way for all atoms to be true or false. Two assignments that differ in one atom
alone, and in the result of the condition, are a *pair* that shows this atom. One pair is chosen for
every atom, such that all of them together need few assignments: N atoms need N + 1 at best, and 2 N
at most. Every other point of the atom is tried in such a row, too (at a threshold: just below it, at
it and just above it). A row for several atoms is included once. What cannot be shown is listed with
the reason. `render` writes the table as text with one column for each atom. Pure and deterministic.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product
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

    spans: dict[tuple[str, str, str], tuple[datetime, datetime]] = field(
        default_factory=dict[tuple[str, str, str], "tuple[datetime, datetime]"]
    )
    who: dict[tuple[str, str], set[str]] = field(default_factory=dict[tuple[str, str], set[str]])
    complete: set[str] = field(default_factory=set[str])

    def note(self, event: Registered | Subject) -> None:
        """Process registrations; of several by one customer any may be the one that counts."""
        if isinstance(event, Registered):
            self._add(event.subject, event)
        elif event.registrations is not None or event.fresh:
            self.complete.add(event.name)
            for known in event.registrations or ():
                self._add(event.name, known)

    def _add(self, subject: str, known: Registered | Registration) -> None:
        key = (subject, known.argument, repr(known.value))
        since, latest = known.since, known.latest or known.since
        before = self.spans.get(key, (since, latest))
        self.spans[key] = min(since, before[0]), max(latest, before[1])
        self.who.setdefault(key[1:], set()).add(subject)

    def since(self, subject: str, argument: str, value: Json) -> tuple[datetime, datetime] | None:
        """Return since when a subject has registered a value: the first and last possible moment."""
        return self.spans.get((subject, argument, repr(value)))

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


def parse_expression(raw: Json, number: Callable[[Mapping[str, Json]], int]) -> Expression:
    """Parse a condition of a contract; `number` returns the number of an atom."""
    node = cast("Mapping[str, Json]", raw)
    if "all" in node:
        return All(_parts(node["all"], number))
    if "any" in node:
        return Any(_parts(node["any"], number))
    if "not" in node:
        return Not(parse_expression(node["not"], number))
    return AtomRef(number(node))


def _parts(raw: Json, number: Callable[[Mapping[str, Json]], int]) -> tuple[Expression, ...]:
    return tuple(parse_expression(part, number) for part in cast("Sequence[Json]", raw))


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


# -- decision tables -------------------------------------------------------------------------
#: The characters that an id must not have, and its greatest length.
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST = 60
#: The truths, at a point, of the atoms that look at the point's input.
Slice: TypeAlias = tuple[bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input, with the atoms that look at it and the points of all of them."""

    name: str
    atoms: tuple[int, ...]
    points: tuple[Point, ...]
    slices: tuple[Slice, ...]

    def at(self, point: Point) -> Slice:
        """Return the truths at a point."""
        return self.slices[self.points.index(point)]

    def of(self, assignment: Assignment) -> Slice:
        """Return the truths of the atoms of this input in an assignment."""
        return tuple(assignment[atom] for atom in self.atoms)

    def place(self, value: Value) -> int | None:
        """Return the place of the point that has a value, if there is one."""
        return next((n for n, point in enumerate(self.points) if point.value == value), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    """One request to make: a point for each input, the truths of the atoms, and the result.

    `decides` lists the atoms whose effect the row shows.
    """

    id: str
    points: tuple[Point, ...]
    assignment: Assignment
    result: bool
    decides: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """All rows of a condition; `hidden` has an id and a reason for all that no row can show."""

    expression: Expression
    atoms: tuple[Atom, ...]
    inputs: tuple[Input, ...]
    rows: tuple[DecisionRow, ...]
    hidden: Mapping[str, str] = field(default_factory=dict[str, str])

    def row(self, id_: str) -> DecisionRow:
        """Return a row by its id."""
        return next(row for row in self.rows if row.id == id_)

    def assignment(self, points: Sequence[Point]) -> Assignment:
        """Return the truth of every atom at these points."""
        truths = {
            atom: truth
            for input_, point in zip(self.inputs, points, strict=True)
            for atom, truth in zip(input_.atoms, input_.at(point), strict=True)
        }
        return tuple(truths[atom] for atom in range(len(self.atoms)))


def inputs(atoms: Sequence[Atom]) -> tuple[Input, ...]:
    """Return the inputs of the atoms; equal points of one input are merged."""
    names = list(dict.fromkeys(atom.input for atom in atoms))
    return tuple(_input(name, atoms) for name in names)


def _input(name: str, atoms: Sequence[Atom]) -> Input:
    here = tuple(n for n, atom in enumerate(atoms) if atom.input == name)
    merged: dict[Value, Point] = {}
    for point in (point for n in here for point in atoms[n].points):
        merged.setdefault(point.value, point)
    points: list[Point] = []
    slices: list[Slice] = []
    for point in merged.values():
        truths = [atoms[n].holds(point.value) for n in here]
        known = tuple(truth for truth in truths if truth is not None)
        if len(known) == len(here):
            points.append(point)
            slices.append(known)
    return Input(name=name, atoms=here, points=tuple(points), slices=tuple(slices))


def derive(expression: Expression, atoms: Sequence[Atom]) -> Table:
    """Derive the table of a condition."""
    about = inputs(atoms)
    bare = Table(expression=expression, atoms=tuple(atoms), inputs=about, rows=())
    results = {assignment: bool(holds(expression, assignment)) for assignment in _assignments(bare)}
    showing = pairs_by_atom(results)
    sheet = _TableBuilder(table=bare, results=results)
    for atom, pair in enumerate(choose_pairs(showing)):
        sheet.add(atom, pair, showing[atom])
    return Table(
        expression=expression,
        atoms=bare.atoms,
        inputs=about,
        rows=tuple(sheet.rows()),
        hidden=sheet.hidden,
    )


def _assignments(table: Table) -> Iterator[Assignment]:
    """Yield the possible assignments, in the order of the points."""
    for choice in product(*(dict.fromkeys(input_.slices) for input_ in table.inputs)):
        truths = {
            atom: truth
            for input_, slice_ in zip(table.inputs, choice, strict=True)
            for atom, truth in zip(input_.atoms, slice_, strict=True)
        }
        yield tuple(truths[atom] for atom in range(len(table.atoms)))


@dataclass(slots=True, kw_only=True)
class _TableBuilder:
    """A table being derived: rows by the places of their points, with their atoms and names."""

    table: Table
    results: Mapping[Assignment, bool]
    places: dict[tuple[int, ...], list[tuple[int, str]]] = field(
        default_factory=dict[tuple[int, ...], list[tuple[int, str]]]
    )
    hidden: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, number: int, pair: Pair | None, pairs: Sequence[Pair]) -> None:
        """Add the rows of an atom: all its points, where it alone decides."""
        atom = self.table.atoms[number]
        if pair is None:
            self._hide(number, "hidden", "it never decides alone, whatever the other atoms are")
            return
        input_ = next(input_ for input_ in self.table.inputs if number in input_.atoms)
        assignments, left = (
            [assignment for candidate in (pair, *pairs) for assignment in candidate],
            list(pair),
        )
        for point in atom.points:
            place = input_.place(point.value)
            if place is None:
                self._hide(number, point.name, "other atoms with the same input are unknown there")
                continue
            slice_ = input_.slices[place]
            assignment = next(
                (candidate for candidate in assignments if input_.of(candidate) == slice_), None
            )
            if assignment is None:
                self._hide(number, point.name, "it does not decide alone there")
                continue
            self._put(number, assignment, input_, place, point.name)
            left = [candidate for candidate in left if candidate != assignment]
        for assignment in left:
            place = input_.slices.index(input_.of(assignment))
            self._put(number, assignment, input_, place, input_.points[place].name)

    def _hide(self, number: int, name: str, why: str) -> None:
        atom = self.table.atoms[number]
        self.hidden[self._id(number, name, self.hidden)] = f"{atom.label}: {why}"

    def _put(
        self, number: int, assignment: Assignment, input_: Input, place: int, name: str
    ) -> None:
        places = tuple(
            place if each is input_ else each.slices.index(each.of(assignment))
            for each in self.table.inputs
        )
        self.places.setdefault(places, []).append((number, name))

    def _id(self, number: int, name: str, taken: Collection[str]) -> str:
        id_ = _UNFIT.sub("-", f"{self.table.atoms[number].id_prefix}-{name}")[:LONGEST]
        tried = (id_, *(f"{id_}-{n}" for n in range(2, len(taken) + 3)))
        return next(id_ for id_ in tried if id_ not in taken)

    def rows(self) -> Iterator[DecisionRow]:
        """Yield the rows, each named after the atom and point that first required it."""
        taken = set(self.hidden)
        for places, why in self.places.items():
            id_ = self._id(*why[0], taken)
            taken.add(id_)
            inputs = zip(self.table.inputs, places, strict=True)
            points = tuple(input_.points[place] for input_, place in inputs)
            assignment = self.table.assignment(points)
            yield DecisionRow(
                id=id_,
                points=points,
                assignment=assignment,
                result=self.results[assignment],
                decides=tuple(dict.fromkeys(atom for atom, _ in why)),
            )


#: Marks the atoms whose effect a row shows.
DECIDES = " *"


def render(table: Table, result: str, otherwise: str) -> str:
    """Render the table as text; `result` is the outcome where the condition holds."""
    return "\n".join(_lines(table, result, otherwise))


def _lines(table: Table, result: str, otherwise: str) -> Iterator[str]:
    heads = [atom.label for atom in table.atoms]
    yield f"{result} if {describe(table.expression, heads)}"
    yield ""
    results = {True: result, False: otherwise}
    cells = [[*heads, "result", "facet"]]
    cells += [[*_cells(table, row), results[row.result], row.id] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield _line(line, widths)
        if line is cells[0]:
            yield _line(["-" * width for width in widths], widths)
    yield f"{DECIDES.strip()} decides alone: reversing it would reverse the result"
    yield from (f"not tested: {why}" for why in table.hidden.values())


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    row = zip(cells, widths, strict=True)
    return "  ".join(f"{cell:<{width}}" for cell, width in row).rstrip()


def _cells(table: Table, row: DecisionRow) -> Iterator[str]:
    for n, truth in enumerate(row.assignment):
        at = next(place for place, input_ in enumerate(table.inputs) if n in input_.atoms)
        mark = DECIDES if n in row.decides else ""
        yield f"{'yes' if truth else 'no'}: {row.points[at].name}{mark}"


# -- pairs ---------------------------------------------------------------------------
#: The truth of every atom.
Assignment: TypeAlias = tuple[bool, ...]
#: Two assignments that differ in one atom, which is false in the first and true in the second.
Pair: TypeAlias = tuple[Assignment, Assignment]

#: The number of starting points tried in the search for few assignments.
BEGINNINGS = 16


def pairs_by_atom(results: Mapping[Assignment, bool]) -> tuple[tuple[Pair, ...], ...]:
    """Return for each atom all pairs of possible assignments that show it."""
    atoms = range(len(next(iter(results), ())))
    return tuple(
        tuple(
            (low, high)
            for low in results
            if not low[atom]
            and (high := (*low[:atom], True, *low[atom + 1 :])) in results
            and results[low] is not results[high]
        )
        for atom in atoms
    )


def choose_pairs(showing_: Sequence[Sequence[Pair]]) -> tuple[Pair | None, ...]:
    """Choose one pair for each atom that can be shown, with few assignments in all."""
    shared = Counter(assignment for pairs in showing_ for pair in pairs for assignment in pair)
    candidates = [
        _greedy(showing_, assignment, shared) for assignment, _ in shared.most_common(BEGINNINGS)
    ]
    return min(candidates, key=_size, default=(None,) * len(showing_))


def _size(pairs: Sequence[Pair | None]) -> int:
    return len({assignment for pair in pairs if pair for assignment in pair})


def _greedy(
    showing_: Sequence[Sequence[Pair]], begin: Assignment, shared: Mapping[Assignment, int]
) -> tuple[Pair | None, ...]:
    """From an assignment on, repeatedly take the pair that needs the fewest new ones."""
    have, out = {begin}, dict[int, Pair]()
    left = [atom for atom, pairs in enumerate(showing_) if pairs]

    def cost(choice: tuple[int, Pair]) -> tuple[int, int]:
        pair = choice[1]
        return sum(assignment not in have for assignment in pair), -sum(
            shared[assignment] for assignment in pair
        )

    while left:
        atom, pair = min(
            ((left_atom, pair) for left_atom in left for pair in showing_[left_atom]), key=cost
        )
        out[atom] = pair
        have.update(pair)
        left.remove(atom)
    return tuple(out.get(atom) for atom in range(len(showing_)))
