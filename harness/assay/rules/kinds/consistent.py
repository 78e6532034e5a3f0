"""`consistent`: answers to the same and to overlapping questions agree.

The same question has the same answer, reading changes nothing, a range of dates gives its
part of the whole, ranges that meet lose nothing between them, and a smaller consent shows
no more. No document has to say so, and no model of the target is needed for it: each
answer is judged by another one. What may have changed on its own convicts nobody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from assay.contract.model import Capability, Contract, Operation
from assay.history import Call, History, Holding
from assay.judging.verdict import Agreement, Evidence, Standing
from assay.rules import parameters, steps
from assay.rules.queries import AGREES, DISAGREES, UNCLEAR
from assay.rules.rule import BindingRequirement, Facet, Kind, Scenario, Script, consent, needs
from assay.rules.state.answers import Answers, Page, SeenAnswers, mark
from assay.rules.state.ranges import MEETING, SHORTER, Ranges

TWICE, READING, SMALLER = "same-twice", "unchanged-by-reading", "smaller-consent"
#: How many days back the entries go: they are in every history, however short.
FRESH = 5
#: What a difference may be due to that is nobody's fault.
HINT = "what changes by itself stands under `volatile` in the target file"


def _ranged(_contract: Contract, known: Mapping[str, Any]) -> Operation | None:
    """Return the first operation that takes a range of dates."""
    every: tuple[Operation, ...] = known["operations"]
    return next((one for one in every if one.about and (one.since or one.until)), None)


def _owner(contract: Contract, known: Mapping[str, Any]) -> str:
    """Return the resource to own so that the operations can be asked about it."""
    every: tuple[Operation, ...] = known["operations"]
    about = known["ranged"] or next((one for one in every if one.about), every[0])
    return steps.owners(contract, about)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistent(Kind):
    """Operations whose answers must agree; `ranged` takes a range of dates."""

    name = "consistent"

    operations: tuple[Operation, ...] = parameters.operations()
    grant: Operation | None = parameters.grant()
    ranged: Operation | None = parameters.derived(_ranged)
    owner: str = parameters.derived(_owner)

    def facets(self) -> tuple[Facet, ...]:
        """Two facets for the same question, two for ranges, one for consents."""
        base = needs(Capability.PSU) | consent(self.grant)
        out = [_facet(TWICE, "the same question asked twice has the same answer", base)]
        if len(self.operations) > 1:
            out.append(_facet(READING, "an answer is the same after others were read", base))
        if self.ranged:
            dated = base | needs(Capability.ENTRIES)
            wants: tuple[BindingRequirement, ...] = (
                _want(self.ranged, "key"),
                _want(self.ranged, "on"),
            )
            since, until = (
                _argument(self.ranged, one) for one in (self.ranged.since, self.ranged.until)
            )
            asks = "a range of dates gives what the whole has of it, and no more"
            out.append(_facet(SHORTER, asks, dated, *wants, *(since or until)))
            if since and until:
                asks = "ranges that meet on a day lose nothing between them"
                out.append(_facet(MEETING, asks, dated, *wants, *since, *until))
        if self.grant:
            asks = "a smaller consent shows no more than a larger one did"
            wants = tuple(_want(one, "key") for one in _keyed(self))
            out.append(_facet(SMALLER, asks, base, *wants))
        return tuple(out)

    def probe(self, scenario: Scenario) -> Script:
        """Ask in two ways what must have one answer."""
        today = (yield from steps.clock()).date()
        entries = steps.days_before(today, *range(1, FRESH + 1))
        count = 3 if scenario.id == SMALLER else 1
        psu = yield from steps.arrange(
            "psu", Holding(resource=self.owner, count=count, entries=entries)
        )
        first, second, *_ = (*(one.key for one in psu.owns), "")
        if scenario.id == SMALLER:
            for keys in ((first, second), (first,)):
                yield from steps.grant(self.grant, "psu", *keys)
                for operation in _keyed(self):
                    for key in (first, second) if operation.about else (first,):
                        yield from _ask(operation, key)
            return
        yield from steps.grant(self.grant, "psu", first)
        if self.ranged and scenario.id in {SHORTER, MEETING}:
            yield from _ask(self.ranged, first)
            for days in _ranges(self.ranged, scenario.id, today):
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
        operations = {one.id: one for one in self.operations}
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
                if seen.number < len(former.pages):
                    yield from _again(self, seen, former.pages[seen.number])
            elif former is not None and former.whole:
                yield from _smaller(seen, former.keys, former.pages[0])
            operation = operations[seen.answer.call.operation]
            if seen.answer.whole and operation.about:
                yield from ranges.judge(operation, seen)


def _facet(id_: str, asks: str, needed: frozenset[Capability], *wants: BindingRequirement) -> Facet:
    return Facet(id=id_, description=asks, scenario=Scenario(id=id_), needs=needed, requires=wants)


def _want(operation: Operation, feature: str) -> BindingRequirement:
    return BindingRequirement(operation=operation.id, feature=feature)


def _argument(operation: Operation, name: str | None) -> tuple[BindingRequirement, ...]:
    """Want an argument, if there is one; a bank that has no name for it does not offer it."""
    if name is None:
        return ()
    silent = Standing.NOT_APPLICABLE
    return (
        BindingRequirement(
            operation=operation.id, feature="argument", name=name, if_missing=silent
        ),
    )


def _keyed(clause: Consistent) -> tuple[Operation, ...]:
    """Return the operations whose items have keys: what is owned, and what is dated."""
    return tuple(one for one in clause.operations if one == clause.ranged or not one.about)


def _ranges(operation: Operation, scenario: str, today: date) -> tuple[Mapping[str, str], ...]:
    """Return the ranges to ask for: with an open end each; or three that meet."""
    early, late = (str(today - timedelta(days=n)) for n in (FRESH - 1, 2))
    since, until = operation.since or "", operation.until or ""
    if scenario == MEETING:
        return {until: early}, {since: early, until: late}, {since: late}
    open_ = {since: early}, {until: late}
    return tuple(one for one in open_ if "" not in one)


def _ask(operation: Operation, key: str, **days: str) -> Script:
    arguments = {**steps.arguments(operation, key), **days}
    yield from steps.walk(Call(operation=operation.id, subject="psu", arguments=arguments))


def _again(clause: Consistent, seen: SeenAnswers, old: Page) -> Iterator[Evidence]:
    """Judge a page by the same page of the last answer to the same question."""
    new = seen.page
    if new.marks == old.marks and new.given == old.given:
        if not new.items:
            return  # nothing was there to be compared
        agreement = AGREES
    else:
        agreement = DISAGREES if seen.settled or _rewritten(seen, old) else UNCLEAR
    twice = new.turn == old.turn
    if twice or len(clause.operations) > 1:
        yield Evidence(
            facet=TWICE if twice else READING,
            agreement=agreement,
            expected="the same answer to the same question"
            if twice
            else "the answer that came before others were read",
            seen="it is the same" if agreement is AGREES else _difference(old, new),
            exchanges=(old.n, new.n),
            variation=seen.answer.call.variation,
        )


def _difference(old: Page, new: Page) -> str:
    gone, come = Counter(old.marks), Counter(new.marks)
    values = f", and beside them {', '.join(sorted(new.given ^ old.given))}"
    return (
        f"{(gone - come).total()} items are gone and {(come - gone).total()} are there instead"
        f"{values if new.given != old.given else ''}; {HINT}"
    )


def _rewritten(seen: SeenAnswers, old: Page) -> bool:
    """Whether something has changed that is too old for it, whoever the customer is.

    What has left a page may be on the next one, as long as there is one.
    """
    now = {item.key: mark(item) for item in seen.page.items}
    whole = not (old.more or seen.page.more or seen.number)
    return any(
        now[item.key] != mark(item) if item.key in now else whole
        for item in old.items
        if item.key is not None and item.on is not None and item.on < seen.lately
    )


def _smaller(seen: SeenAnswers, known: frozenset[str | None], first: Page) -> Iterator[Evidence]:
    """Judge a page by all that the same question showed under a consent to no less."""
    page = seen.page
    keys = {item.key for item in page.items} - {None}
    more = keys - known if None not in known else set[str | None]()
    values = page.given - first.given if seen.number == 0 else frozenset[str]()
    agreement: Agreement = AGREES
    if more or values:
        agreement = DISAGREES if seen.settled else UNCLEAR
    if more or values or (keys and None not in known):
        also = f", and {', '.join(sorted(values))}" if values else ""
        yield Evidence(
            facet=SMALLER,
            agreement=agreement,
            expected="nothing that a consent to more did not show",
            seen=f"{len(more)} items that were not there{also}" if more or values else "no more",
            exchanges=(first.n, page.n),
            variation=seen.answer.call.variation,
        )
