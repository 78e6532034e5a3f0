"""Lives: long sequences in which events come in every order, with a look at everything after each.

The orders are those of a sequence covering array: every `strength` events come in every order. The
checks of all clauses judge a life, as they judge any history. A life that violates an obligation is
shortened, as a random sequence is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from typing import Final, TypeAlias

from assay.binding.model.target import ScaKind, Target
from assay.binding.read.join import capabilities
from assay.contexts.life_events import (
    LifeEvent,
    LifeState,
    events_of,
    last_made,
    let_pass,
    look,
    read,
)
from assay.contract.model import Capability, Contract
from assay.errors import CannotArrange
from assay.fuzzing.findings import FuzzFinding, SearchResult
from assay.fuzzing.search import Search
from assay.fuzzing.sequences.concretize import MissingReference
from assay.history import Arrange, Authorise, Call, Holding, Subject
from assay.rules import steps
from assay.rules.consent_probes import with_consents
from assay.rules.dry_run import ConformingTarget, play
from assay.rules.rule import facts_of
from assay.rules.steps import Part

#: The customer of a life, and another one.
PSU, OTHER = "psu-1", "psu-2"
#: How many things of each sort customers have, and on how many days before an entry.
THINGS, ENTRIES = 3, (0, 1, 2, 40, 80, 86, 89)
#: What passes after an event about a request, so that what it leads to has happened.
SOON = timedelta(hours=5)
#: What passes after all events about requests, so that all that are due were executed.
LAST = timedelta(days=18)
#: The most events of which each order is tested.
MOST: Final = 3

#: Events in an order.
Order: TypeAlias = tuple[LifeEvent, ...]


def orders(events: Sequence[LifeEvent], strength: int) -> tuple[Order, ...]:
    """Return orders in which every `strength` events (at most 3) come in every order."""
    forward = tuple(events)
    if strength < MOST:  # an order and its reverse have every two events in both orders
        return (forward, forward[::-1])[:strength]
    missing: set[_Triple] = {*permutations(range(len(forward)), MOST)}
    found: list[Order] = []
    while missing:
        row = _greedy(len(forward), missing)
        for each in (row, row[::-1]):
            missing -= {*_triples(each)}
            found.append(tuple(forward[place] for place in each))
    return tuple(found)


_Triple: TypeAlias = tuple[int, int, int]


def _greedy(size: int, missing: set[_Triple]) -> list[int]:
    """Return an order in which each event stands where it covers most of what is missing."""
    row: list[int] = []
    for event in range(size):
        rows = ([*row[:place], event, *row[place:]] for place in range(len(row) + 1))
        row = max(rows, key=lambda each: len(missing.intersection(_triples(each, event))))
    return row


def _triples(row: Sequence[int], having: int | None = None) -> list[_Triple]:
    """Return every three events of an order, in their order; those `having` one, if it is given."""
    return [
        (first, second, third)
        for n, first in enumerate(row)
        for m, second in enumerate(row[n + 1 :], n + 1)
        for third in row[m + 1 :]
        if having is None or having in (first, second, third)
    ]


def life(
    contract: Contract,
    offers: frozenset[Capability],
    order: Order,
    segment: str | None = None,
) -> Part[None]:
    """Let events happen in an order, and look at everything after each."""
    return with_consents(contract, _life(contract, offers, order, segment))


def _life(
    contract: Contract, offers: frozenset[Capability], order: Order, segment: str | None
) -> Part[None]:
    state = yield from _begin(contract, offers, segment)
    yield from _inspect(state)
    for event in order:
        yield from event.happen(state)
        yield from _inspect(state)
    if state.made:
        yield from let_pass(state, LAST)
        yield from _inspect(state)


def _begin(
    contract: Contract, offers: frozenset[Capability], segment: str | None
) -> Part[LifeState]:
    now = yield from steps.clock()
    dated = any(operation.since for operation in contract.operations.values())
    entries = steps.days_before(now.date(), *ENTRIES) if dated else ()
    holdings = tuple(
        Holding(resource=root.id, count=THINGS, entries=entries) for root in steps.roots(contract)
    )
    psus: list[Subject] = []
    for name in (PSU, OTHER) if Capability.TWO_PSU in offers else (PSU,):
        subject = yield Arrange(subject=name, holdings=holdings, segment=segment)
        if isinstance(subject, Subject):
            psus.append(subject)
    return LifeState(
        contract=contract,
        offers=offers,
        psu=psus[0],
        now=psus[-1].now,
        other=psus[1] if psus[1:] else None,
    )


def _inspect(state: LifeState) -> Part[None]:
    """Read everything that could show something."""
    yield from read(state, state.psu)
    last = last_made(state)
    if last is not None:
        lifecycle, made = last
        yield from look(state, lifecycle, *made)
        yield from let_pass(state, SOON)


def lives_of(
    contract: Contract, target: Target, strength: int
) -> tuple[tuple[Order, str | None], ...]:
    """Return the lives of a contract at a target: the order of each, and its customers' segment."""
    offers = _offers(contract, target)
    every = orders(events_of(contract, offers), strength)
    segments: list[str | None] = [None]
    if Capability.SEGMENTS in offers:
        named = facts_of(contract).factors_by_segment.values()
        segments = [*dict.fromkeys(name for each in named for name in each)] or segments
    return tuple((order, segments[n % len(segments)]) for n, order in enumerate(every))


def _offers(contract: Contract, target: Target) -> frozenset[Capability]:
    """Return what lives may use: a person is asked for the planned signatures only."""
    person = target.sca.kind is ScaKind.MANUAL
    return capabilities(contract, target) - ({Capability.SCA} if person else set())


def price_of_lives(contract: Contract, target: Target, strength: int) -> tuple[int, ...]:
    """Return how many calls and signatures each life is at a bank that keeps the contract."""
    offers = _offers(contract, target)
    return tuple(
        _calls(contract, offers, order, segment)
        for order, segment in lives_of(contract, target, strength)
    )


def _calls(
    contract: Contract, offers: frozenset[Capability], order: Order, segment: str | None
) -> int:
    dry = ConformingTarget(contract=contract, accepts_variation=False)
    played = play(life(contract, offers, order, segment), dry)
    return sum(isinstance(step, Call | Authorise) for step in played) + dry.submissions


def run_lives(search: Search, on_finding: Callable[[FuzzFinding], None]) -> SearchResult:
    """Run the lives of a contract, of the strength that the search says; they vary no dimensions.

    Raises:
        TargetError: the target's fixture provider cannot be used at all.

    """
    if search.limits.reads:
        why = f"no lives, which change things: {search.limits.restricted}"
        return replace(search.result(), notes=(why,))
    target, contract = search.environment.target, search.contract
    offers = _offers(contract, target)
    lives = lives_of(contract, target, search.strength)
    search.limits = replace(search.limits, sequences=len(lives))
    for order, segment in lives:

        def live(order: Order = order, segment: str | None = segment) -> None:
            sequence = search.begin(context=())
            try:
                with suppress(CannotArrange, MissingReference):
                    sequence.play(life(contract, offers, order, segment))
            finally:
                sequence.end(closing=False)

        if not search.attempt(live, on_finding):
            break
    return search.result()
