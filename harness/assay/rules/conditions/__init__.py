"""Conditions of decisions: how they are read, and with which requests a decision is compared.

They are atoms combined by all, any and not, with a decision table. Each kind of atom is a class in
`atoms`, listed in the table below. To add one: write its class and how it is read, add it to the
table under the key by which a contract names it, and add that key to `condition` in
contract/schema/common.yaml and, if it refers to names that could be misspelt, to the reference
check below.

A control is a request that differs from its row at one input, and must be accepted. Beside a row
that must be rejected it shows that not everything is rejected; beside one that must be accepted,
and was not, that no other rule is the reason. It need not be a row.

Requests are seldom made for a row, so each value is mapped to a point: the nearest one at which the
atoms have the same truths. A conforming request is evidence for a row only if it is *exactly* that
row's; a violation is attributed to the nearest row. An unknown value may be anything.

A rejection may have a cause outside the condition. It counts only beside a request that differs in
nothing but the condition's arguments, and was executed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from assay.contract.model import Capability, Json
from assay.contract.scalars import is_word
from assay.files.document import Finding, Pointer
from assay.rules.conditions.atoms import (
    is_above,
    named_values,
    read_above,
    read_factor,
    read_is,
    read_registered,
    sent_values,
)
from assay.rules.conditions.table import (
    Atom,
    DecidedRequest,
    DecisionRow,
    Input,
    Point,
    ReadAtom,
    Table,
    Value,
    derive,
    holds,
    parse_expression,
)
from assay.rules.lifecycle import comparison, request_queries, tracker
from assay.rules.lifecycle.comparison import Likeness
from assay.rules.lifecycle.tracker import Instance, Lifecycle
from assay.rules.parameters import Raw, known
from assay.rules.rule import needs

ATOMS: Mapping[str, ReadAtom] = {
    "is": read_is,
    "above": read_above,
    "factor": read_factor,
    "registered": read_registered,
}


def parse(raw: Json, lifecycle: Lifecycle) -> Table:
    """Parse a condition about a request, and derive its decision table; equal atoms are merged."""
    atoms: list[Atom] = []

    def number(node: Mapping[str, Json]) -> int:
        key = next(name for name in ATOMS if name in node)
        atom = ATOMS[key](node, lifecycle)
        if atom not in atoms:
            atoms.append(atom)
        return atoms.index(atom)

    return derive(parse_expression(raw, number), atoms)


#: The keys that contain further conditions, and the keys whose values are arguments.
_PARTS = ("all", "any")
_ARGUMENTS = ("field", "registered")
#: The table of a condition doubles with each atom.
_MOST = 8


def references(at: Pointer, value: Raw, rule: Raw, raw: Raw) -> Iterator[Finding]:
    """Find unknown arguments and factors in a condition, and conditions with too many atoms."""
    operations: Mapping[str, Raw] = raw["operations"]
    request = rule.get("request")
    makes = next(
        (operation for operation in operations.values() if operation.get("makes") == request), None
    )
    factors = {
        name
        for rule in raw["rules"]
        if rule["kind"] == "factors" and rule.get("request") == request
        for names in rule["offered"].values()
        for name in names
    }
    atoms = list(_atoms(at, value))
    for where, atom in atoms:
        for key in _ARGUMENTS:
            if key in atom and makes is not None:
                yield from known((*where, key), atom[key], makes.get("arguments", ()), "argument")
        if "factor" in atom and makes is not None and not makes.get("signed", True):
            what = f"{request!r} is not signed, and the condition is about its signature"
            yield (*where, "factor"), what, "remove it, or `signed: false` from the operation"
        elif "factor" in atom and factors:
            yield from known((*where, "factor"), atom["factor"], factors, "factor")
    if len({tuple(sorted(atom.items())) for _, atom in atoms}) > _MOST:
        yield at, f"there are more than {_MOST} atoms", "write several rules"


def _atoms(at: Pointer, node: Raw) -> Iterator[tuple[Pointer, Raw]]:
    parts = [(key, n, part) for key in _PARTS for n, part in enumerate(node.get(key, ()))]
    if parts:
        for key, n, part in parts:
            yield from _atoms((*at, key, n), part)
    elif "not" in node:
        yield from _atoms((*at, "not"), node["not"])
    else:
        yield at, node


def atoms_of(condition: Json) -> Iterator[Mapping[str, Json]]:
    """Yield the atoms of a condition as the contract has them."""
    yield from (atom for _, atom in _atoms((), cast("Raw", condition)))


def registered_arguments(condition: Json) -> tuple[str, ...]:
    """Return the arguments whose registration a condition is about."""
    named = (str(atom["registered"]) for atom in atoms_of(condition) if "registered" in atom)
    return tuple(dict.fromkeys(named))


def may_hold(condition: Json, arguments: Mapping[str, Json]) -> bool:
    """Whether a condition can be true of a request with these arguments, whoever signs it."""
    truths: list[bool | None] = []

    def number(atom: Mapping[str, Json]) -> int:
        truths.append(_truth(atom, arguments))
        return len(truths) - 1

    return holds(parse_expression(condition, number), truths) is not False


def _truth(atom: Mapping[str, Json], arguments: Mapping[str, Json]) -> bool | None:
    """Return whether an atom is true of a request; None where its arguments alone do not say."""
    value = arguments.get(str(atom.get("field")))
    if "is" in atom:
        return value is not None and is_word(atom["is"], value)
    return is_above(value, atom["above"]) if "above" in atom else None


# -- requests with which a decision is compared ----------------------------------------------
#: The cost of a control: whether no atom differs, what it needs, whether it asks for the same.
_Cost: TypeAlias = tuple[bool, int, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A control of a row, and how it differs from the row.

    `moved` is the row's own point where they differ. Where what is asked is the same, a
    control that was accepted must not make a repeat of its row, so it is `about` another
    thing; where something else is prepared, it is `for_another` customer.
    """

    points: tuple[Point, ...]
    moved: Point
    needs: frozenset[Capability]
    about_another: bool
    for_another: bool


def controls(table: Table, row: DecisionRow) -> tuple[Control, ...]:
    """Return all controls of a row, the cheapest first.

    Beside a row that must be rejected one is enough. Beside one that must be accepted the
    same fault may strike several: where an atom is passed over, those that move another.
    """
    return tuple(control_ for control_, _ in sorted(_candidates(table, row), key=_cost))


def control(table: Table, row: DecisionRow) -> Control | None:
    """Return the cheapest control of a row: the first one, if there are several."""
    return next(iter(controls(table, row)), None)


def _candidates(table: Table, row: DecisionRow) -> Iterator[tuple[Control, _Cost]]:
    given = frozenset(need for point in row.points for need in point.needs)
    bound = {want for point in row.points for want in point.requires}
    for place, input_ in enumerate(table.inputs):
        mine = row.points[place]
        for point in input_.points:
            points = (*row.points[:place], point, *row.points[place + 1 :])
            assignment = table.assignment(points)
            if point is mine or holds(table.expression, assignment) is not False:
                continue
            prepared = mine.prepared or point.prepared
            capabilities = needs(Capability.TWO_PSU) if prepared else needs()
            extra = (capabilities | point.needs) - given
            cost = len(extra) + len(set(point.requires) - bound)
            same = not (mine.asked or point.asked)
            yield (
                Control(
                    points=points,
                    moved=mine,
                    needs=extra,
                    about_another=same and not prepared,
                    for_another=prepared,
                ),
                (assignment == row.assignment, cost, same),
            )


def _cost(candidate: tuple[Control, _Cost]) -> tuple[bool, _Cost]:
    control_, cost = candidate
    return control_.for_another, cost


#: The value of each input, in order; None where unknown.
Values = tuple[Value | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMatch:
    """The result of the condition for a request, and the rows that the request can be matched to.

    One row where the result is known, otherwise all possible rows.
    """

    result: bool | None
    rows: tuple[DecisionRow, ...]
    exact: bool


def look(table: Table, seen: DecidedRequest) -> Values:
    """Return the value of each input of a request."""
    return tuple(table.atoms[input_.atoms[0]].look(seen) for input_ in table.inputs)


def match(table: Table, values: Values) -> RowMatch:
    """Match a request with these values to rows."""
    truths = _truths(table, values)
    result = holds(table.expression, [truths[n] for n in range(len(table.atoms))])
    stands = [
        None if value is None else _point(input_, value, truths)
        for input_, value in zip(table.inputs, values, strict=True)
    ]
    fits = [
        row
        for row in table.rows
        if all(truths[n] in (None, truth) for n, truth in enumerate(row.assignment))
    ]
    if result is None:
        maybe = tuple(row for row in fits if _same(row, stands))
        return RowMatch(result=None, rows=maybe, exact=False)
    fits = [row for row in fits if row.result is result]
    best = max(fits, key=lambda row: _shared(row, stands), default=None)
    exact = best is not None and all(
        point is not None and point is mine and point.distance(value) == 0
        for point, mine, value in zip(stands, best.points, values, strict=True)
    )
    return RowMatch(result=result, rows=(best,) if best else (), exact=exact)


def _truths(table: Table, values: Values) -> Mapping[int, bool | None]:
    return {
        n: None if value is None else table.atoms[n].holds(value)
        for input_, value in zip(table.inputs, values, strict=True)
        for n in input_.atoms
    }


def _point(input_: Input, value: Value, truths: Mapping[int, bool | None]) -> Point | None:
    """Return the point that represents a value: the nearest one with the same truths."""
    here = [truths[n] for n in input_.atoms]
    alike = [
        point
        for point, slice_ in zip(input_.points, input_.slices, strict=True)
        if all(truth in (None, mine) for truth, mine in zip(here, slice_, strict=True))
    ]
    return min(alike, key=lambda point: point.distance(value), default=None)


def _shared(row: DecisionRow, stands: Sequence[Point | None]) -> int:
    return sum(mine is point for mine, point in zip(row.points, stands, strict=True))


def _same(row: DecisionRow, stands: Sequence[Point | None]) -> bool:
    return all(
        point is None or mine is point for mine, point in zip(row.points, stands, strict=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedRequests:
    """The requests that were executed: two of each sort, and the first of equal arguments.

    `known` has the values of conditional arguments that were accepted or that the contract
    names; `addresses` has the return addresses that were accepted.
    """

    table: Table
    lifecycle: tracker.Lifecycle
    sorts: Mapping[Likeness, Sequence[Instance]]
    first: Mapping[Likeness, Instance]
    known: frozenset[tuple[str, str]]
    addresses: frozenset[str]

    @staticmethod
    def of(
        table: Table, lifecycle: tracker.Lifecycle, tracked: tracker.Tracker
    ) -> ExecutedRequests:
        """Return the requests of a history that were executed."""
        sorts: dict[Likeness, list[Instance]] = {}
        first: dict[Likeness, Instance] = {}
        known = set(named_values(table.atoms))
        for request in comparison.comparable(tracked):
            if request.done:
                for sort in _sorts(table, lifecycle, request):
                    of_sort = sorts.setdefault(sort, [])
                    if len(of_sort) <= 1:  # another one is the control
                        of_sort.append(request)
                former = first.setdefault(_sent(lifecycle, request), request)
                if _decided(request) < _decided(former):
                    first[_sent(lifecycle, request)] = request
                known |= sent_values(table.atoms, request)
        taken = [
            request
            for request in tracked.requests
            if request.made.accepted and request.outcome not in tracker.REJECTED
        ]
        return ExecutedRequests(
            table=table,
            lifecycle=lifecycle,
            sorts=sorts,
            first=first,
            known=frozenset(known),
            addresses=frozenset(_address(lifecycle, request) for request in taken),
        )

    def control(self, request: Instance) -> Instance | None:
        """Return another request that differs only in the arguments of the condition."""
        sorts = _sorts(self.table, self.lifecycle, request)
        executed = (each for sort in sorts for each in self.sorts.get(sort, ()))
        return next((each for each in executed if each is not request), None)

    def strange(self, request: Instance) -> bool:
        """Whether a value was never accepted, so that it may be the cause of a rejection.

        A day that was accepted earlier may have come since.
        """
        unknown = not sent_values(self.table.atoms, request) <= self.known
        unsigned = request_queries.signature(request) is None
        elsewhere = unsigned and _address(self.lifecycle, request) not in self.addresses
        return unknown or elsewhere or (unsigned and _late(self.lifecycle, request))

    def repeats(self, request: Instance) -> bool:
        """Whether the bank may take it for a repeat of a request executed earlier."""
        first = self.first.get(_sent(self.lifecycle, request))
        return first is not None and _decided(first) < _decided(request)


def _decided(request: Instance) -> int:
    """Return the exchange that decided it: the first request made may be signed last."""
    return (request_queries.signature(request) or request.made).n


def _address(lifecycle: tracker.Lifecycle, request: Instance) -> str:
    return repr(request.made.call.arguments.get(lifecycle.create.returns or ""))


def _late(lifecycle: tracker.Lifecycle, request: Instance) -> bool:
    """Whether the day of a deferred request may have come before it was made."""
    made = request.made
    ahead = request_queries.is_before_due_day(lifecycle, made.call.arguments, made.at)
    return lifecycle.deferred(request.mode) and not ahead


def _sorts(table: Table, lifecycle: tracker.Lifecycle, request: Instance) -> Iterator[Likeness]:
    """Yield the sorts of a request: by its day, and by how many days ahead that was.

    A control is carried out on its day, and only then is its row made, for a later one.
    """
    due, but = lifecycle.create.due, [atom.argument for atom in table.atoms]
    yield comparison.sort_of(lifecycle, request, but=but)
    if due is not None and due.argument not in but:
        sort = comparison.sort_of(lifecycle, request, but=[*but, due.argument])
        yield sort, request_queries.days_ahead(lifecycle, request)


def _sent(lifecycle: tracker.Lifecycle, request: Instance) -> Likeness:
    """Return what a repeat would share; null asks for nothing, so that a bank may leave it out."""
    create, arguments = lifecycle.create, request.arguments
    nulls = (name for name in arguments if arguments[name] is None)
    return comparison.sent(request, but=(create.owned, create.returns, *nulls))
