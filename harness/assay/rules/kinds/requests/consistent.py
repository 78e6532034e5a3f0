"""`consistent`: answers to the same and to overlapping questions agree.

The same call returns the same answer, reading changes nothing, a date range returns its part
of the full list, adjacent ranges lose no entry, and a smaller consent shows no more. No
document has to say so, and no model of the target is needed: each answer is compared with
another one. A difference that may have arisen by itself is not a violation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from assay.contract.model import Capability, Contract, Operation
from assay.history import Call, Exchange, History, Holding, Item, Subject
from assay.rules import parameters, steps
from assay.rules.facets import make_facet
from assay.rules.rule import (
    BindingRequirement,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Script,
    bound,
    consent,
    facts_of,
    needs,
)
from assay.rules.state.answers import (
    LATELY,
    Answers,
    ComparedAnswer,
    Page,
    SeenAnswers,
    known_of,
    mark,
)
from assay.rules.state.ranges import MEETING, SHORTER, Ranges
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Agreement, Evidence, Standing

TWICE, READING, SMALLER = "same-twice", "unchanged-by-reading", "smaller-consent"
#: The age in days of the oldest entries; they are in every history, however short.
FRESH = 5
#: The least number of days on which ranges can meet.
PARTS = 3
#: How to declare a value whose change is not a fault.
HINT = "if a value changes by itself, list it under `volatile` in the target file"


def _ranged(_contract: Contract, known: Mapping[str, Any]) -> Operation | None:
    """Return the first operation that takes a range of dates."""
    operations: tuple[Operation, ...] = known["operations"]
    return next(
        (
            operation
            for operation in operations
            if operation.about and (operation.since or operation.until)
        ),
        None,
    )


def _owner(contract: Contract, known: Mapping[str, Any]) -> str:
    """Return the resource that the customer must own for the operations to be called."""
    operations: tuple[Operation, ...] = known["operations"]
    about = known["ranged"] or next(
        (operation for operation in operations if operation.about), operations[0]
    )
    return steps.owners(contract, about)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistent(Kind):
    """Operations whose answers must agree; `ranged` takes a range of dates."""

    name = "consistent"
    # A consent may be of one TPP only.
    hiding = ((SMALLER, "tpp"),)
    purpose = Purpose.PROMISE

    operations: tuple[Operation, ...] = parameters.operations()
    grant: Operation | None = parameters.grant()
    ranged: Operation | None = parameters.derived(_ranged)
    owner: str = parameters.derived(_owner)

    def facets(self) -> tuple[Facet, ...]:
        """Return two facets for repeated calls, two for date ranges, one for consents."""
        base = needs(Capability.PSU) | consent(self.grant)
        out = [_facet(TWICE, "the same call made twice returns the same answer", base)]
        if len(self.operations) > 1:
            out.append(_facet(READING, "an answer does not change when other data is read", base))
        named = tuple(operation.id for operation in self.operations)
        out = [replace(each, exercises=named) for each in out]
        if self.ranged:
            dated = base | needs(Capability.ENTRIES)
            requirements: tuple[BindingRequirement, ...] = (
                *bound(self.ranged, "key"),
                *bound(self.ranged, "on"),
            )
            since, until = (
                _argument(self.ranged, name) for name in (self.ranged.since, self.ranged.until)
            )
            description = "a date range returns exactly its part of the full list"
            out.append(_facet(SHORTER, description, dated, *requirements, *(since or until)))
            if since and until:
                description = "adjacent date ranges lose no entry between them"
                out.append(_facet(MEETING, description, dated, *requirements, *since, *until))
        if self.grant:
            description = "a smaller consent shows no more than a larger one"
            requirements = tuple(
                each for operation in self._keyed() for each in bound(operation, "key")
            )
            out.append(_facet(SMALLER, description, base, *requirements))
        return tuple(out)

    def probe(self, scenario: Scenario) -> Script:
        """Make calls in two ways whose answers must agree."""
        today = (yield from steps.clock()).date()
        # More than a page in all days but one, so that ranges have further pages, too.
        size = facts_of(self.contract).page_sizes.get(self.ranged.id) if self.ranged else None
        each = (size or 0) // (FRESH - 1) + 1 if scenario.id == SHORTER else 1
        # Ranges meet on days that are long past; only a long list of an existing customer has them.
        last = FRESH + 1 + (LATELY.days + 2 if scenario.id == MEETING else 0)
        entries = steps.days_before(today, *range(1, last)) * each
        count = 3 if scenario.id == SMALLER else 1
        psu = yield from steps.arrange(
            "psu", Holding(resource=self.owner, count=count, entries=entries)
        )
        first, second, *_ = (*(owned.key for owned in psu.owns), "")
        if scenario.id == SMALLER:
            for keys in ((first, second), (first,)):
                yield from steps.grant(self.grant, "psu", *keys)
                for operation in self._keyed():
                    for key in (first, second) if operation.about else (first,):
                        yield from _ask(operation, key)
            return
        yield from steps.grant(self.grant, "psu", first)
        if self.ranged and scenario.id in {SHORTER, MEETING}:
            pages = yield from _ask(self.ranged, first)
            for days in _ranges(self.ranged, scenario.id, today, _known_days(psu, pages)):
                yield from _ask(self.ranged, first, **days)
        elif scenario.id == TWICE:
            for operation in self.operations:
                yield from _ask(operation, first)
                yield from _ask(operation, first)
        else:
            for operation in (*self.operations, *self.operations):
                yield from _ask(operation, first)

    def check(self, history: History) -> Iterator[Evidence]:
        """Compare every page with those before it with which it must agree."""
        operations = {operation.id: operation for operation in self.operations}
        answers = Answers(
            contract=self.contract, operations=frozenset(operations), grant=self.grant
        )
        ranges = Ranges()
        for event in history.events:
            seen = answers.note(event)
            if seen is None:
                continue
            former = seen.answer.former
            if former is not None and former.state == seen.answer.state:
                yield from self._again(seen, former)
            elif former is not None and former.whole:
                yield from _smaller(seen, former.keys, former.pages[0])
            operation = operations[seen.answer.call.operation]
            if seen.answer.whole and operation.about:
                yield from ranges.judge(operation, seen)

    def _keyed(self) -> tuple[Operation, ...]:
        """Return the operations whose items have keys: lists of resources, and dated entries."""
        return tuple(
            operation
            for operation in self.operations
            if operation == self.ranged or not operation.about
        )

    def _again(self, seen: SeenAnswers, former: ComparedAnswer) -> Iterator[Evidence]:
        """Compare a page, or at its end a whole list, with that of the last answer to the same call.

        The order of a list is open, and with it what is on which of several pages.
        """
        ended = seen.answer.whole and former.whole
        several = seen.number or seen.page.more or former.pages[0].more
        if ended and several:
            old, new = _joined(former.pages), _joined(seen.answer.pages)
        elif seen.number < len(former.pages):
            old, new = former.pages[seen.number], seen.page
        else:
            return
        if new.marks == old.marks and new.given == old.given:
            if not new.items:
                return  # there is nothing to compare
            agreement = AGREES
        elif new.moves != old.moves and new.given == old.given and _same_fields(old, new):
            agreement = UNCLEAR  # an item may show the time of its answer
        else:
            # What has left a page may be on another one.
            lost = _changed(old, new) if several and not ended else _lost(old, new)
            if several and not ended and seen.settled and not lost:
                return
            # An entry that is too old to change has changed for any customer.
            rewritten = any(item.on is not None and item.on < seen.lately for item in lost)
            agreement = DISAGREES if seen.settled or rewritten else UNCLEAR
        twice = new.turn == old.turn
        if twice or len(self.operations) > 1:
            yield Evidence(
                facet=TWICE if twice else READING,
                agreement=agreement,
                expected="the same answer to the same call"
                if twice
                else "the same answer as before other data was read",
                seen="the same answer" if agreement is AGREES else _difference(old, new),
                exchanges=(old.n, new.n),
                controls=(old.n,),
                variation=seen.answer.call.variation,
            )


def _facet(
    id_: str, description: str, needed: frozenset[Capability], *requirements: BindingRequirement
) -> Facet:
    return make_facet(id_, description, id_, needed, requirements)


def _argument(operation: Operation, name: str | None) -> tuple[BindingRequirement, ...]:
    """Require an argument, if there is one; a bank that does not bind it does not offer it."""
    return bound(operation, "argument", (name,), if_missing=Standing.NOT_APPLICABLE)


def _known_days(psu: Subject, pages: Sequence[Exchange]) -> Sequence[date]:
    """Return the days of what a customer owns who was there before, except the last ones.

    What is listed of those may still change, so ranges that meet there show nothing.
    """
    if psu.fresh:
        return ()
    days = sorted({entry.on for entry in psu.owns[0].entries} or steps.days_shown(pages))
    return [day for day in days if day < psu.now.date() - LATELY - timedelta(days=1)]


def _ranges(
    operation: Operation, scenario: str, today: date, known: Sequence[date] = ()
) -> tuple[Mapping[str, str], ...]:
    """Return the ranges to ask for: two with an open end each and what both have, or three adjacent.

    They meet on days that are `known` to have something, if there are enough of them.
    """
    early, late = (str(today - timedelta(days=n)) for n in (FRESH - 1, 2))
    if len(known) >= PARTS:
        early, late = str(known[len(known) // 3]), str(known[2 * len(known) // 3])
    since, until = operation.since or "", operation.until or ""
    if scenario == MEETING:
        return {until: early}, {since: early, until: late}, {since: late}
    open_ = {since: early}, {until: late}
    asked = tuple(days for days in open_ if "" not in days)
    return (*asked, {since: early, until: late}) if len(asked) > 1 else asked


def _ask(operation: Operation, key: str, **days: str) -> steps.Part[tuple[Exchange, ...]]:
    arguments = {**steps.arguments(operation, key), **days}
    call = Call(operation=operation.id, subject="psu", arguments=arguments)
    return (yield from steps.walk(call))


def _joined(pages: Sequence[Page]) -> Page:
    """Return the pages of a whole list as one."""
    return replace(
        pages[-1],
        items=tuple(item for page in pages for item in page.items),
        marks=tuple(sorted(mark for page in pages for mark in page.marks)),
        given=frozenset[str]().union(*(page.given for page in pages)),
    )


def _difference(old: Page, new: Page) -> str:
    gone, come = Counter(old.marks), Counter(new.marks)
    values = f"; values differ: {', '.join(sorted(new.given ^ old.given))}"
    return (
        f"{(gone - come).total()} items are missing and {(come - gone).total()} are new"
        f"{values if new.given != old.given else ''}; {HINT}"
    )


def _same_fields(old: Page, new: Page) -> bool:
    """Whether two pages have the same items, as far as the contract names what is in them."""
    return sorted(map(known_of, old.items)) == sorted(map(known_of, new.items))


def _lost(old: Page, new: Page) -> Sequence[Item]:
    """Return the items of a list that another one lacks, or shows with other values."""
    now = {item.key: mark(item) for item in new.items}
    return [item for item in old.items if item.key and now.get(item.key) != mark(item)]


def _changed(old: Page, new: Page) -> Sequence[Item]:
    """Return the items of a page that another one shows with other values."""
    keys = {item.key for item in new.items}
    return [item for item in _lost(old, new) if item.key in keys]


def _smaller(seen: SeenAnswers, known: frozenset[str | None], first: Page) -> Iterator[Evidence]:
    """Compare a page with all that the same call showed under a larger consent."""
    page = seen.page
    keys = {item.key for item in page.items} - {None}
    added = keys - known if None not in known else set[str | None]()
    values = page.given - first.given if seen.number == 0 else frozenset[str]()
    agreement: Agreement = AGREES
    if added or values:
        agreement = DISAGREES if seen.settled else UNCLEAR
    if added or values or (keys and None not in known):
        also = f", and {', '.join(sorted(values))}" if values else ""
        yield Evidence(
            facet=SMALLER,
            agreement=agreement,
            expected="nothing that the larger consent did not show",
            seen=f"{len(added)} more items{also}" if added or values else "nothing more",
            exchanges=(first.n, page.n),
            controls=(first.n,),
            variation=seen.answer.call.variation,
        )
