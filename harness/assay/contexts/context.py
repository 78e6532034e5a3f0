"""Context of a trial: values of dimensions, and the probe whose steps they change.

A value maps what a probe asks for: the same customer in another segment, the same request in
another mode. It never maps what a probe varies on purpose, so the probe and the checks need not
know of it. `in_context` wraps a probe; the values of one trial act one after another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from itertools import combinations, product
from typing import ClassVar, TypeAlias

from assay.binding.model.spelling import OperationBinding
from assay.binding.model.target import Target
from assay.binding.read.join import capabilities
from assay.contract.model import Capability, Contract
from assay.errors import CannotArrange
from assay.history import (
    Advance,
    Advanced,
    Authorise,
    Authorised,
    Call,
    Ending,
    Reply,
    Step,
    Together,
)
from assay.rules.rule import Script
from assay.rules.steps import answered


# -- Names of trials in further contexts: written when a context is planned, read by reports -------
def contextual_name(trial: str, values: Iterable[str]) -> str:
    """Return the name of a trial in the context of these values, such as `mode=instant`."""
    return f"{trial} [{', '.join(values)}]"


def split_trial_name(name: str) -> tuple[str, str]:
    """Return the trial without its context, and the context, which is empty in the base context."""
    trial, _, context = name.partition(" [")
    return trial, context.removesuffix("]")


class StepMapper:
    """What a value does to the steps of one trial; a new one is made for each trial.

    The default changes nothing. What it adds is changed by the other values, unless it is `apart`:
    no part of the trial.
    """

    apart: ClassVar[bool] = False

    def before(self, step: Step) -> Script:
        """Yield steps to perform before a step of the probe; each receives its reply."""
        del step
        yield from ()

    def map(self, step: Step) -> Step:
        """Return the step to perform in place of a step of the probe."""
        return step

    def after(self, step: Step, reply: Reply) -> Script:
        """Yield steps to perform after a step, before the probe goes on."""
        del step, reply
        yield from ()

    def reply(self, step: Step, reply: Reply) -> Reply:
        """Return what the probe receives as the reply to a step."""
        del step
        return reply


@dataclass(slots=True, kw_only=True)
class Settling(StepMapper):
    """The clock moves on after a signature until the bank has executed what was signed.

    It does so before the next call, unless the probe moves the clock itself; what is signed next is
    signed at once.
    """

    within: timedelta
    due: datetime | None = None

    def before(self, step: Step) -> Script:
        """Let the time pass that the bank needs, where the probe is about to look."""
        due = self.due
        if isinstance(step, Advance) and step.to is not None:
            self.due = None
        elif due is not None and not isinstance(step, Authorise):
            self.due = None
            now = yield Advance()
            if isinstance(now, Advanced) and now.now < due:
                yield Advance(to=due)

    def after(self, step: Step, reply: Reply) -> Script:
        """Note until when a request that was signed may still be open."""
        if isinstance(reply, Authorised) and reply.ending is Ending.CONFIRMED:
            self.due = reply.at + self.within
        yield from StepMapper.after(self, step, reply)


def _same(value: DimensionValue, steps: Sequence[Step]) -> DimensionValue:
    """Return a value that applies to every probe in the same way."""
    del steps
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class DimensionValue:
    """One value of a dimension, in words that complete "only ...".

    `reason` says why the probe with these steps cannot be tested with it; empty if it can.
    `implies` is the id of a value that it brings along, `hides` the dimensions whose values
    have no effect beside it. `suit` returns the value as it applies to a probe with these steps,
    where it does not apply to all in the same way.
    """

    dimension: str
    name: str
    description: str
    reason: Callable[[Sequence[Step]], str]
    mapper: Callable[[], StepMapper]
    implies: str = ""
    hides: tuple[str, ...] = ()
    suit: Callable[[DimensionValue, Sequence[Step]], DimensionValue] = _same

    @property
    def id(self) -> str:
        """Dimension and value, as they stand in a trial's id."""
        return f"{self.dimension}={self.name}"

    def excludes(self, other: DimensionValue) -> bool:
        """Whether it hides the other one, or brings along another value of its dimension."""
        if other.dimension in self.hides:
            return True
        return other.id != self.implies and other.dimension == self.implies.partition("=")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """A way in which the situation of a rule can vary.

    `unavailable` maps each value that this target cannot show to what is missing.
    """

    name: str
    description: str
    values: tuple[DimensionValue, ...]
    unavailable: tuple[tuple[str, str], ...] = ()


#: The values of a trial's dimensions, at most one of each; empty in the base context.
Context: TypeAlias = tuple[DimensionValue, ...]


def label(context: Context) -> str:
    """Return a context in words, for reports: "for instant requests, by another TPP"."""
    return ", ".join(value.description for value in context)


def in_context(script: Script, context: Context) -> Script:
    """Return a probe with its steps changed by each value of a context."""
    return with_mappers(script, [value.mapper() for value in context])


def with_mappers(script: Script, mappers: Sequence[StepMapper]) -> Script:
    """Return a probe with its steps changed by each of several mappers."""
    try:
        step = next(script)
        while True:
            try:
                reply: Reply | CannotArrange = yield from mapped(step, mappers)
            except CannotArrange as missing:
                reply = missing
            step = answered(script, reply)
    except StopIteration:
        return
    finally:
        script.close()


def mapped(step: Step, mappers: Sequence[StepMapper]) -> Generator[Step, Reply, Reply]:
    """Yield a step as the values of a context change it, and what they add; return the reply."""
    step = _changed(step, mappers)
    for mapper in mappers:
        if type(mapper).before is not StepMapper.before:  # the default adds nothing
            yield from _added(mappers, mapper, mapper.before(step))
    reply = yield step
    for mapper in mappers:
        if type(mapper).after is not StepMapper.after:
            yield from _added(mappers, mapper, mapper.after(step, reply))
    for mapper in reversed(mappers):
        reply = mapper.reply(step, reply)
    return reply


def _changed(step: Step, mappers: Sequence[StepMapper]) -> Step:
    """Return a step, or each of those at one moment, as the values of a context change it."""
    if isinstance(step, Together):
        steps = [_changed(each, mappers) for each in step.steps]
        calls = tuple(each for each in steps if isinstance(each, Call))
        return Together(steps=calls or tuple(each for each in steps if isinstance(each, Authorise)))
    for mapper in mappers:
        step = mapper.map(step)
    return step


def _added(mappers: Sequence[StepMapper], adding: StepMapper, script: Script) -> Script:
    """Yield the steps that one value adds, as the other values change them."""
    try:
        step = next(script)
        while True:
            for mapper in mappers if not adding.apart else ():
                if mapper is not adding:
                    step = mapper.map(step)
            step = script.send((yield step))
    except StopIteration:
        return


# -- Situations: what the values of dimensions follow from ---------------------------------------
_NOTHING = OperationBinding()


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Contract and target file from which dimensions are derived.

    `others` are the target's other contracts.
    """

    contract: Contract
    target: Target
    others: Sequence[Contract] = ()

    @property
    def offered(self) -> frozenset[Capability]:
        """What the target offers for the contract."""
        return capabilities(self.contract, self.target)

    def binding(self, operation: str) -> OperationBinding:
        """Return how the target spells an operation."""
        return self.target.operations.get(operation, _NOTHING)


#: Yields each value of a dimension, or its name and what the target lacks for it.
Values = Iterator[DimensionValue | tuple[str, str]]


# -- Covering arrays: the contexts in which a trial is run beside the base context ---------------
# With `each`, every value of every dimension appears with every trial that it can be tested with, so
# a trial is run as many more times as its longest dimension has values. With `pairs`, every two
# values of two dimensions meet as well.
class Depth(Enum):
    """How many contexts a trial is run in."""

    BASE = "base"
    EACH = "each"
    PAIRS = "pairs"


#: Of how many events each order is tested in lives (`fuzzing.lives`), with each depth.
STRENGTH: Mapping[Depth, int] = {Depth.BASE: 0, Depth.EACH: 2, Depth.PAIRS: 3}


def applicable(
    dimensions: Iterable[Dimension], steps: Sequence[Step]
) -> list[list[DimensionValue]]:
    """Return the values of each dimension that a trial with these steps can be tested with."""
    values = [[value for value in each.values if not value.reason(steps)] for each in dimensions]
    return [choices for choices in values if choices]


def contexts(values: Sequence[Sequence[DimensionValue]], depth: Depth) -> tuple[Context, ...]:
    """Return the contexts in which the values of each dimension are covered."""
    if depth is Depth.BASE or not values:
        return ()
    return _each(values) if depth is Depth.EACH else _pairs(values)


def _each(values: Sequence[Sequence[DimensionValue]]) -> tuple[Context, ...]:
    """Return as few contexts as there are values of the longest dimension.

    Every value stands in one of them. Those of shorter dimensions are spread over them in
    turn, so that as few as possible stand together: one may hide what another would show.
    """
    rows: list[list[DimensionValue]] = [[] for _ in range(max(map(len, values)))]
    start = 0
    for choices in values:
        for place, value in enumerate(choices):
            turns = [rows[(start + place + turn) % len(rows)] for turn in range(len(rows))]
            row = next((row for row in turns if _may_stand(value, row)), None)
            if row is None:
                rows.append(row := [])
            row.append(value)
        start += len(choices)
    return tuple(tuple(row) for row in rows)


def _may_stand(value: DimensionValue, row: Sequence[DimensionValue | None]) -> bool:
    """Whether a value contradicts none of a row, which has none of its dimension."""
    return not any(
        each is not None
        and (each.dimension == value.dimension or value.excludes(each) or each.excludes(value))
        for each in row
    )


def _agree(row: Sequence[DimensionValue | None]) -> bool:
    """Whether the last value of a row contradicts none before it."""
    *before, last = row
    return last is None or _may_stand(last, before)


def _pairs(values: Sequence[Sequence[DimensionValue]]) -> tuple[Context, ...]:
    """Return contexts in which every two values meet, the base values among them."""
    from allpairspy import AllPairs  # noqa: PLC0415 -- only where pairs are asked for

    columns: list[list[DimensionValue | None]] = [[None, *choices] for choices in values]
    rows = (
        AllPairs(columns, filter_func=_agree)
        if len(columns) > 1
        else ([value] for value in columns[0])
    )
    covered = dict.fromkeys(tuple(value for value in row if value is not None) for row in rows)
    # Where values contradict each other, allpairspy can leave out pairs that do not.
    for first, second in combinations(columns, 2):
        for pair in product(first, second):
            together = tuple(value for value in pair if value is not None)
            if _agree(pair) and not any(_meet(first, second, pair, row) for row in covered):
                covered[together] = None
    return tuple(row for row in covered if row)


Column: TypeAlias = Sequence[DimensionValue | None]


def _meet(first: Column, second: Column, pair: Column, row: Context) -> bool:
    """Whether a row has both values of a pair; None is the base value of its column."""
    return all(
        value in row if value is not None else not any(each in row for each in column)
        for column, value in zip((first, second), pair, strict=True)
    )


# -- Coverage: which clause is tested with which value of which dimension ------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A clause with a value of a dimension.

    `trials` is the number of trials that are run with the value; if there is none,
    `reason` says why. `possible` is False where the target lacks something for it.
    """

    clause: str
    dimension: str
    value: str
    trials: int
    reason: str = ""
    possible: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredTrial:
    """The steps of one trial of a clause in the base context, and its other contexts.

    `dimensions` are those of the contract, with the reasons of this clause.
    """

    clause: str
    dimensions: Sequence[Dimension]
    steps: Sequence[Step]
    contexts: Sequence[Context]


def coverage(
    dimensions: Sequence[Dimension], trials: Iterable[CoveredTrial]
) -> Mapping[str, tuple[Cell, ...]]:
    """Return for each clause a cell for each value of each dimension."""
    by_clause: dict[str, list[CoveredTrial]] = {}
    for trial in trials:
        by_clause.setdefault(trial.clause, []).append(trial)
    return {
        clause: tuple(_cells(clause, dimensions, trials)) for clause, trials in by_clause.items()
    }


def _cells(
    clause: str, dimensions: Sequence[Dimension], trials: Sequence[CoveredTrial]
) -> Iterable[Cell]:
    asked = Counter(value.id for trial in trials for context in trial.contexts for value in context)
    for number, dimension in enumerate(dimensions):
        for place, value in enumerate(dimension.values):
            reasons = [
                trial.dimensions[number].values[place].reason(trial.steps) for trial in trials
            ]
            # The most frequent reason speaks for a clause with several trials.
            why = Counter(reason for reason in reasons if reason).most_common(1)
            yield Cell(
                clause=clause,
                dimension=dimension.name,
                value=value.name,
                trials=asked[value.id],
                reason="" if asked[value.id] else why[0][0] if why else "not requested",
            )
        for name, missing in dimension.unavailable:
            yield Cell(
                clause=clause,
                dimension=dimension.name,
                value=name,
                trials=0,
                reason=f"needs {missing}",
                possible=False,
            )
