"""Coverage of a search: the pairs of dimension values and the states that it reached.

The contexts of a search are those of covering arrays, as for the trials of a plan: every
third sequence is run in the base context, one with few values, and one with pairs of them. So
which context the n-th sequence has depends on nothing else.

A value is reached where it changed or added a step of a sequence in which an operation was
accepted. The state of an operation is how it was answered, and what is known then of the
request that it is about. A search that has reached nothing new for a good while stops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations

from assay.contexts.context import Context, Depth, Dimension, DimensionValue, StepMapper, contexts
from assay.contract.model import Contract
from assay.history import Event, Exchange, Reply, Step
from assay.rules.lifecycle.tracker import Tracker, lifecycle_of_request
from assay.rules.rule import Script

#: A search stops after this many sequences without anything new, ...
PATIENCE = 60
#: ... or after this part of those that it may run, if they are more.
PART = 4
#: Two values of different dimensions, or one value twice.
Pair = tuple[str, str]


@dataclass(slots=True)
class WatchedMapper(StepMapper):
    """What a value does to steps, and whether it has done anything."""

    mapper: StepMapper
    acted: bool = False

    def before(self, step: Step) -> Script:
        """Yield what the value adds before a step."""
        yield from self._watched(self.mapper.before(step))

    def map(self, step: Step) -> Step:
        """Return the step as the value changes it."""
        changed = self.mapper.map(step)
        self.acted |= changed != step
        return changed

    def after(self, step: Step, reply: Reply) -> Script:
        """Yield what the value adds after a step."""
        yield from self._watched(self.mapper.after(step, reply))

    def reply(self, step: Step, reply: Reply) -> Reply:
        """Return the reply as the value changes it."""
        return self.mapper.reply(step, reply)

    def _watched(self, script: Script) -> Script:
        try:
            step = next(script)
            while True:
                self.acted = True
                step = script.send((yield step))
        except StopIteration:
            return


@dataclass(slots=True, kw_only=True)
class WatchedContext:
    """A context in one sequence, and which of its values have done anything."""

    context: Context = ()
    mappers: list[WatchedMapper] = field(init=False)

    def __post_init__(self) -> None:
        self.mappers = [WatchedMapper(value.mapper()) for value in self.context]

    @property
    def values(self) -> Context:
        """The values, with what they do watched."""
        pairs = zip(self.context, self.mappers, strict=True)
        return tuple(replace(value, mapper=partial(_same, mapper)) for value, mapper in pairs)

    @property
    def acted(self) -> list[str]:
        """The ids of the values that changed or added a step."""
        pairs = zip(self.context, self.mappers, strict=True)
        return sorted(value.id for value, mapper in pairs if mapper.acted)


def _same(mapper: StepMapper) -> StepMapper:
    return mapper


@dataclass(slots=True, kw_only=True)
class Reach:
    """What a search through a contract has reached; `quiet` counts sequences since anything new.

    `made` counts the sequences for which a context was chosen.
    """

    contract: Contract
    dimensions: Sequence[Dimension] = ()
    seed: int = 0
    made: int = 0
    quiet: int = 0
    pairs: set[Pair] = field(default_factory=set[Pair])
    states: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    seen: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    _rows: dict[Depth, tuple[Context, ...]] = field(
        default_factory=dict[Depth, tuple[Context, ...]]
    )

    def next_context(self) -> Context:
        """Return the context of the next sequence."""
        number, turn = divmod(self.made, 3)
        self.made += 1
        depth = (Depth.BASE, Depth.EACH, Depth.PAIRS)[turn]
        if depth not in self._rows:
            values = [dimension.values for dimension in self.dimensions if dimension.values]
            self._rows[depth] = contexts(values, depth)
        rows = self._rows[depth]
        return rows[(number + self.seed) % len(rows)] if rows else ()

    def see(self, watched: WatchedContext, events: Iterable[Event]) -> None:
        """Take in a sequence that was run in a context."""
        before = len(self.seen)
        events = tuple(events)
        states = {*self._states(events)}
        self.states |= states
        self.seen |= states
        acted = watched.acted
        for exchange in events:
            if isinstance(exchange, Exchange) and exchange.accepted:
                operation = exchange.call.operation
                self.seen |= {(operation, value) for value in acted}
                self.seen |= {(operation, *pair) for pair in combinations(acted, 2)}
                self.pairs |= {*combinations(acted, 2)}
        self.quiet = 0 if len(self.seen) > before else self.quiet + 1

    def _states(self, events: Sequence[Event]) -> Iterator[tuple[str, str]]:
        """Yield each operation with how it was answered, and what is known of its request."""
        requests = dict.fromkeys(each.makes for each in self.contract.operations.values())
        trackers = [
            Tracker(lifecycle=lifecycle_of_request(self.contract, request))
            for request in requests
            if request and self._makes(request)
        ]
        for event in events:
            known = [tracker.note(event) for tracker in trackers]
            if isinstance(event, Exchange):
                about = next((each.outcome.value for each in known if each is not None), "")
                answer = type(event.outcome).__name__.lower()
                yield event.call.operation, f"{answer} {about}".rstrip()

    def _makes(self, request: str) -> bool:
        every = self.contract.operations.values()
        return any(each.makes == request and each.available for each in every)

    @property
    def possible(self) -> int:
        """The number of pairs of values of different dimensions that the target can show."""
        sizes = [len(dimension.values) for dimension in self.dimensions]
        return sum(one * other for one, other in combinations(sizes, 2))

    def patience(self, sequences: int) -> int:
        """Return after how many sequences without anything new a search of this size stops."""
        return max(PATIENCE, sequences // PART)


def value_named(name: str, dimensions: Iterable[Dimension]) -> DimensionValue | None:
    """Return the value with an id, None if the target cannot show it."""
    every = (value for dimension in dimensions for value in dimension.values)
    return next((value for value in every if value.id == name), None)
