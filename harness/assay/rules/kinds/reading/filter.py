"""`filter`: an argument selects the items of a list, by the value of a field or by their day.

With a value, no item of another kind is shown, and none of its own is left out. A range of days
includes its first and last day, or does not, as the document says.

Each answer is compared with two others to the same question, one before it and one after it, which
select otherwise: what both show with the same value and day was there in between. An item without
the field says nothing, and only whole lists show that something is missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final

from assay.contract.model import Capability, Json, Operation
from assay.files.document import Finding, Pointer
from assay.history import Call, History, Holding, Item
from assay.history.events import Masked
from assay.rules import operation_parameters, parameters, steps
from assay.rules.controls import Shared, same_but
from assay.rules.facets import Facts
from assay.rules.parameters import Raw, known
from assay.rules.queries import PageWalk, ordinary, page_walks
from assay.rules.rule import (
    Calls,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Scope,
    Script,
    bound,
    consent,
    facts_of,
    needs,
)
from assay.rules.state.calendar import day_of
from assay.rules.verdict import AGREES, DISAGREES, Agreement, Evidence

#: The days before today of which the probe owns entries, and the one that ranges begin or end on.
DAYS: Final = (0, 1, 2, 3, 4)
EDGE: Final = 2
DAY: Final = timedelta(days=1)
_VALUES: Mapping[str, Json] = {
    "description": "for each value of the argument the values of the field that it selects",
    "x-hint": "for example {booked: [booked], both: [booked, pending]}",
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {
        "description": "a list of at least one value",
        "type": "array",
        "minItems": 1,
        "uniqueItems": True,
        "items": {"description": "a text", "type": "string", "minLength": 1},
    },
}
_EDGE: Mapping[str, Json] = {
    "description": "included or excluded",
    "x-hint": "is the day itself in or out? where the document is silent, leave it out",
    "enum": ["included", "excluded"],
}
_EDGES: Mapping[str, Json] = {
    "description": "since, until or both, each included or excluded",
    "x-hint": "for example {since: included, until: included}",
    "type": "object",
    "minProperties": 1,
    "additionalProperties": False,
    "properties": {"since": _EDGE, "until": _EDGE},
}


def _check_edges(at: Pointer, value: Raw, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find an end of a range that the clause's operation does not take."""
    name = str(clause.get("operation"))
    defined: Raw = raw["operations"].get(name, {})
    for key in value if defined else ():
        if key not in defined:
            yield (*at, key), f"{name!r} takes no such day", f"add `{key}` to operations.{name}"


def _check_field(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find a field that nothing has which the clause's operation lists."""
    lists = raw["operations"].get(clause.get("operation"), {}).get("lists", ())
    fields = [field for each in lists for field in raw["resources"].get(each, {}).get("fields", ())]
    if lists:
        yield from known(at, name, fields, "field")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterScenario(Scenario):
    """Readings that select by value, or from or to a day; `edge` is `since` or `until`."""

    edge: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter(Kind[FilterScenario]):
    """An operation, the argument that selects by a field, and which days belong to a range."""

    name = "filter"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.PROMISE
    at_least_one_of = ("values", "edges")

    operation: Operation = parameters.operation(lists=True)
    argument: str = parameters.parameter(
        parameters.ref("word"),
        lambda value, _: str(value),
        key="argument",
        references=operation_parameters.check_argument,
        required=False,
        default="",
    )
    field: str = parameters.parameter(
        parameters.ref("word"),
        lambda value, _: str(value),
        key="field",
        references=_check_field,
        required=False,
        default="",
    )
    values: Mapping[str, tuple[str, ...]] = parameters.parameter(
        _VALUES,
        lambda value, _: {key: tuple(names) for key, names in value.items()},
        key="values",
        references=lambda at, _, clause, __: _check_values(at, clause),
        required=False,
        default={},
    )
    edges: Mapping[str, str] = parameters.parameter(
        _EDGES,
        lambda value, _: dict(value),
        key="edges",
        references=_check_edges,
        required=False,
        default={},
    )
    grant: Operation | None = parameters.grant()

    def facts(self) -> Facts:
        """Return the values that the argument selects."""
        selected = tuple(dict.fromkeys(name for names in self.values.values() for name in names))
        listed = self.operation.lists if selected else ()
        return Facts(allowed_values={(each, self.field): (selected,) for each in listed})

    def facets(self) -> tuple[Facet, ...]:
        """Return two facets for each value, and one for each end of a range."""
        base = needs(Capability.PSU) | consent(self.grant if self.operation.about else None)
        of = self.operation
        keyed = bound(of, "key")
        by_value = (*bound(of, "argument", self.argument), *bound(of, "field", self.field))
        out = [
            Facet(
                id=f"{value}-{what}",
                description=description,
                scenario=FilterScenario(id="values"),
                needs=base,
                requires=(*by_value, *(keyed if what == "all" else ())),
                not_applicable_because=reason,
            )
            for value, names in self.values.items()
            for what, description, reason in (
                ("only", f"with {value}, every {self.field} is {' or '.join(names)}", ""),
                ("all", f"with {value}, none of them is left out", self._alone(value)),
            )
        ]
        for edge, belongs in self.edges.items():
            argument = getattr(self.operation, edge) or ""
            dated = (*bound(of, "on"), *bound(of, "argument", argument))
            out.append(
                Facet(
                    id=edge,
                    description=f"the day itself is {belongs} in a range with {argument}",
                    scenario=FilterScenario(id=edge, edge=edge),
                    needs=base | needs(Capability.ENTRIES),
                    requires=(*keyed, *dated),
                )
            )
        return tuple(out)

    def _alone(self, value: str) -> str:
        """Return why nothing can be missing with a value; empty if another value selects it, too."""
        own = set(self.values[value])
        others = (names for other, names in self.values.items() if other != value)
        shared = any(own & {*names} for names in others)
        return "" if shared else "no other value selects the same items"

    def probe(self, scenario: FilterScenario) -> Script:
        """Read a list with each value, or a range of it, between two readings of more."""
        today = (yield from steps.clock()).date()
        owner = steps.owners(self.contract, self.operation)[0]
        entries = steps.days_before(today, *DAYS)
        psu = yield from steps.arrange("psu", Holding(resource=owner, entries=entries))
        key = psu.owns[0].key
        if self.operation.about:
            yield from steps.grant(self.grant, "psu", key)
        given = steps.arguments(self.operation, key)
        widest = sorted(self.values, key=lambda value: -len(self.values[value]))
        selections: list[Mapping[str, Json]]
        if scenario.edge:
            whole = Call(operation=self.operation.id, subject="psu", arguments=given)
            pages = yield from steps.walk(whole, most=self._most())
            days, day = steps.days_shown(pages), today - EDGE * DAY
            if days and day not in days:
                # A customer who was there before has entries on other days.
                day = days[len(days) // 2]
            selections = [{getattr(self.operation, scenario.edge) or "": day.isoformat()}, {}]
        else:
            # Each value is read between two readings of any other.
            selections = [{self.argument: value} for value in (*widest, *widest[:-1])]
            selections += [{self.argument: widest[-1]}, {self.argument: widest[0]}]
        for selection in selections:
            call = Call(
                operation=self.operation.id, subject="psu", arguments={**given, **selection}
            )
            yield from steps.walk(call, most=self._most())

    def _most(self) -> int:
        """Return how many pages the entries of the probe fill."""
        size = facts_of(self.contract).page_sizes.get(self.operation.id) or len(DAYS)
        return -(-len(DAYS) // size) + 1

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every list by what is shown, and by what is shown before and after it."""
        walks = [
            walk
            for walk in page_walks(history, self.operation.id, self.contract)
            if ordinary(walk.call) and walk.pages[0].accepted
        ]
        if self.values:
            for walk, lasting in with_lasting(walks, {self.argument}):
                yield from self._judge_value(walk, lasting)
        for edge in self.edges:
            argument = getattr(self.operation, edge) or ""
            ends = {self.operation.since or "", self.operation.until or ""}
            for walk, lasting in with_lasting(walks, ends):
                day = day_of(walk.call.arguments.get(argument), whole=True)
                other = (ends - {argument, ""}) & walk.call.arguments.keys()
                if day is not None and not other:
                    yield from self._judge_edge(edge, walk, day, lasting)

    def _judge_value(self, walk: PageWalk, lasting: LastingItems) -> Iterator[Evidence]:
        value = walk.call.arguments.get(self.argument)
        if not isinstance(value, str) or value not in self.values:
            return
        names = self.values[value]
        words = [_word(item, self.field) for item in walk.items]
        wrong = [word for word in words if word and word not in names]
        foreign = any(
            _word(item, self.field) not in ("", *names) for item in lasting.items.values()
        )
        if any(words) or (foreign and walk.ended):
            seen = f"{self.field}: {wrong[0]}" if wrong else f"so are {len(words)} items"
            expected = f"{self.field} to be {' or '.join(names)}"
            agreement = DISAGREES if wrong else AGREES
            others = () if any(words) else lasting.numbers
            shown = _evidence(f"{value}-only", agreement, expected, seen, walk, *others)
            yield walk.showing(
                shown, lambda item: _word(item, self.field) in wrong, "field", self.field
            )
        own = {key for key, item in lasting.items.items() if _word(item, self.field) in names}
        yield from _judge_missing(f"{value}-all", walk, own, lasting)

    def _judge_edge(
        self, edge: str, walk: PageWalk, day: date, lasting: LastingItems
    ) -> Iterator[Evidence]:
        on_day = {key for key, item in lasting.items.items() if item.on == day}
        if self.edges[edge] == "included":
            yield from _judge_missing(edge, walk, on_day, lasting)
            return
        shown = sum(item.on == day for item in walk.items)
        if shown or (on_day and walk.ended):
            expected, seen = f"no entry of {day}", f"{shown} entries of {day}"
            agreement, others = (DISAGREES, ()) if shown else (AGREES, lasting.numbers)
            evidence = _evidence(edge, agreement, expected, seen, walk, *others)
            yield walk.showing(evidence, lambda item: item.on == day, "on")


def _judge_missing(
    facet: str, walk: PageWalk, keys: set[str], lasting: LastingItems
) -> Iterator[Evidence]:
    """Judge whether a whole list shows what was there before and after it."""
    missing = keys - walk.keys
    if not keys or not walk.ended or (missing and walk.has_unnamed_items):
        return
    seen = f"{len(missing)} of {len(keys)} are missing" if missing else f"all {len(keys)} of them"
    agreement = DISAGREES if missing else AGREES
    expected = "every item that the lists before and after it show"
    yield _evidence(facet, agreement, expected, seen, walk, *lasting.numbers)


def _evidence(
    facet: str, agreement: Agreement, expected: str, seen: str, walk: PageWalk, *others: int
) -> Evidence:
    return Evidence(
        facet=facet,
        agreement=agreement,
        expected=expected,
        seen=seen,
        exchanges=tuple(sorted({*walk.numbers, *others})),
        decisive=walk.pages[0].n,
        controls=tuple(sorted({*others} - {*walk.numbers})),
    )


def _word(item: Item, name: str) -> str:
    value: Any = item.fields.get(name)
    return value if isinstance(value, str) and not isinstance(value, Masked) else ""


def _check_values(at: Pointer, clause: Raw) -> Iterator[Finding]:
    """Find values without the argument that has them, or without the field that they select by."""
    for key in ("argument", "field"):
        if key not in clause:
            yield at, f"`values` without `{key}`", f"add `{key}: ...`"


# -- items shown both before and after another list ------------------------------------------
#: How many lists before and after another one are looked at.
NEAR: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class LastingItems:
    """The items by key, unchanged in between, and the numbers of the exchanges that show them."""

    items: Mapping[str, Item] = field(default_factory=dict[str, Item])
    numbers: tuple[int, ...] = ()


def with_lasting(
    walks: Sequence[PageWalk], selecting: Collection[str]
) -> Iterator[tuple[PageWalk, LastingItems]]:
    """Yield each list with what lasts around it; `selecting` are the arguments that select."""
    groups: dict[tuple[int, Shared], list[PageWalk]] = {}
    for walk in walks:
        groups.setdefault((walk.changes, same_but(walk.call, *selecting)), []).append(walk)
    for group in groups.values():
        shown = [{item.key: item for item in walk.items if item.key} for walk in group]
        for n, walk in enumerate(group):
            before = _first_shown(shown[n - 1 :: -1][:NEAR] if n else ())
            after = _first_shown(shown[n + 1 : n + 1 + NEAR])
            lasting = {
                key: item
                for key, item in before.items()
                if key in after and _same(item, after[key])
            }
            beside = (*group[max(0, n - 1) : n], *group[n + 1 : n + 2])
            numbers = tuple(number for other in beside for number in other.numbers)
            yield walk, LastingItems(items=lasting, numbers=numbers)


def _first_shown(lists: Sequence[Mapping[str, Item]]) -> dict[str, Item]:
    """Return each item as the first of several lists shows it."""
    first: dict[str, Item] = {}
    for items in lists:
        first = {**items, **first}
    return first


def _same(item: Item, other: Item) -> bool:
    return item.on == other.on and item.fields == other.fields
