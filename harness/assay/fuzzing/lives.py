"""Lives: long sequences in which events come in every order, with a look at everything after each.

The orders are those of a sequence covering array: every `strength` events come in every order. The
checks of all clauses judge a life, as they judge any history. A life that violates an obligation is
shortened, as a random sequence is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
from assay.fuzzing import LIVES
from assay.fuzzing.findings import FuzzFinding, SearchRequest, SearchResult
from assay.fuzzing.limits import limits_of
from assay.fuzzing.search import Search
from assay.fuzzing.sequences.abstract_step import AbstractSequence, AbstractStep
from assay.fuzzing.sequences.concretize import ANYWHERE, Concretizer, MissingReference
from assay.fuzzing.sequences.sequence import SequenceBuilder
from assay.history import Arrange, Authorise, Call, Event, Holding, Step, Subject
from assay.history.events import ProbeRun
from assay.rules import steps
from assay.rules.consent_probes import with_consents
from assay.rules.dry_run import ConformingTarget, play
from assay.rules.rule import facts_of
from assay.rules.steps import Part
from assay.running.environment import Environment
from assay.running.executor import Executor, Recorder, executing

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


@dataclass(slots=True, kw_only=True)
class Life:
    """A life of a contract: an order of events for customers of a segment, as far as a target offers.

    It is performed without a verdict, perhaps beside the trials of a run; then `steps` are those
    of the sequence, which can be performed again.
    """

    id: str
    contract: Contract
    offers: frozenset[Capability]
    order: Order
    segment: str | None = None
    steps: AbstractSequence = ()

    @property
    def calls(self) -> int:
        """The number of its calls and signatures at a bank that keeps the contract."""
        dry = ConformingTarget(contract=self.contract, accepts_variation=False)
        played = play(self.script(), dry)
        return sum(isinstance(step, Call | Authorise) for step in played) + dry.submissions

    def script(self) -> Part[None]:
        """Let the events happen in their order, and look at everything after each."""
        return with_consents(self.contract, self._script())

    def _script(self) -> Part[None]:
        state = yield from _begin(self.contract, self.offers, self.segment)
        yield from _inspect(state)
        for event in self.order:
            yield from event.happen(state)
            yield from _inspect(state)
        if state.made:
            yield from let_pass(state, LAST)
            yield from _inspect(state)

    def perform(
        self, environment: Environment, number: Callable[[], int], record: Recorder
    ) -> ProbeRun:
        """Perform the life with a fixture of its own, as far as the target can.

        Raises:
            TargetError: the fixture provider cannot be reached or used at all.

        """
        operations = self.contract.operations
        with executing(environment, operations, number=number, record=record) as executor:
            now = executor.trial.look()
            sequence = SequenceBuilder(
                contract=self.contract,
                target=_Unjudged(executor),
                concretizer=Concretizer(zone=self.contract.zone or ANYWHERE, now=now),
            )
            with suppress(CannotArrange, MissingReference):
                sequence.play(self.script())
            self.steps = tuple(sequence.steps)
            return ProbeRun(history=executor.history)


@dataclass(frozen=True, slots=True)
class _Unjudged:
    """The target's side of a sequence that is judged later."""

    executor: Executor

    def perform(self, step: Step) -> Event:
        """Perform a step."""
        return self.executor.perform(step)

    def judge(self, sequence: Sequence[AbstractStep]) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing: the fixture is closed by what opened it."""


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


def lives_of(contract: Contract, target: Target, strength: int) -> tuple[Life, ...]:
    """Return the lives of a contract at a target."""
    person = target.sca.kind is ScaKind.MANUAL  # is asked for the planned signatures only
    offers = capabilities(contract, target) - ({Capability.SCA} if person else set())
    segments: list[str | None] = [None]
    if Capability.SEGMENTS in offers:
        named = facts_of(contract).factors_by_segment.values()
        segments = [*dict.fromkeys(name for each in named for name in each)] or segments
    return tuple(
        Life(
            id=f"{contract.id}/{LIVES}#{number + 1}",
            contract=contract,
            offers=offers,
            order=order,
            segment=segments[number % len(segments)],
        )
        for number, order in enumerate(orders(events_of(contract, offers), strength))
    )


def lives_beside(
    contracts: Mapping[str, Contract], target: Target, requests: Iterable[SearchRequest]
) -> tuple[Life, ...]:
    """Return the lives among searches that can run beside the trials of a run."""
    return tuple(
        life
        for request in requests
        if request.how == LIVES and not limits_of(target, request.times).reads
        for life in lives_of(contracts[request.contract], target, request.times)
    )


def run_lives(search: Search, on_finding: Callable[[FuzzFinding], None]) -> SearchResult:
    """Run the lives of a contract, of the strength that the search says; they vary no dimensions.

    Raises:
        TargetError: the target's fixture provider cannot be used at all.

    """
    if search.limits.reads:
        why = f"no lives, which change things: {search.limits.restricted}"
        return replace(search.result(), notes=(why,))
    contract, target = search.contract, search.environment.target
    planned = (each for each in search.beside if isinstance(each, Life))
    beside = [each for each in planned if each.contract.id == contract.id]
    lives = beside or lives_of(contract, target, search.strength)
    search.limits = replace(search.limits, sequences=len(lives))
    for life in lives:

        def live(life: Life = life) -> None:
            run = search.take_up(life)
            search.judge_run(life.steps, run)

        if not search.attempt(live, on_finding):
            break
    return search.result()
