"""Context of a trial: values of dimensions, and the probe whose steps they change.

A value maps what a probe asks for: the same customer in another segment, the same request in
another mode. It never maps what a probe varies on purpose, so the probe and the checks need not
know of it. `in_context` wraps a probe; the values of one trial act one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from assay.binding.join import capabilities
from assay.binding.spelling import OperationBinding
from assay.binding.target import Target
from assay.contract.model import Capability, Contract
from assay.history import Reply, Step
from assay.rules.rule import Script


class StepMapper:
    """What a value does to the steps of one trial; a new one is made for each trial.

    The default changes nothing.
    """

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


def _same(value: DimensionValue, steps: Sequence[Step]) -> DimensionValue:
    """Return a value that applies to every probe in the same way."""
    del steps
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class DimensionValue:
    """One value of a dimension, in words that complete "only ...".

    `reason` says why the probe with these steps cannot be tested with it; empty if it can.
    `implies` is the id of a value that it brings along, `hides` a dimension whose values have
    no effect beside it. `suit` returns the value as it applies to a probe with these steps,
    where it does not apply to all in the same way.
    """

    dimension: str
    name: str
    description: str
    reason: Callable[[Sequence[Step]], str]
    mapper: Callable[[], StepMapper]
    implies: str = ""
    hides: str = ""
    suit: Callable[[DimensionValue, Sequence[Step]], DimensionValue] = _same

    @property
    def id(self) -> str:
        """Dimension and value, as they stand in a trial's id."""
        return f"{self.dimension}={self.name}"

    def excludes(self, other: DimensionValue) -> bool:
        """Whether it hides the other one, or brings along another value of its dimension."""
        if other.dimension == self.hides:
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
    mappers = [value.mapper() for value in context]
    try:
        step = next(script)
        while True:
            step = script.send((yield from mapped(step, mappers)))
    except StopIteration:
        return
    finally:
        script.close()


def mapped(step: Step, mappers: Sequence[StepMapper]) -> Generator[Step, Reply, Reply]:
    """Yield a step as the values of a context change it, and what they add; return the reply."""
    for mapper in mappers:
        step = mapper.map(step)
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


def _added(mappers: Sequence[StepMapper], adding: StepMapper, script: Script) -> Script:
    """Yield the steps that one value adds, as the other values change them."""
    try:
        step = next(script)
        while True:
            for mapper in mappers:
                if mapper is not adding:
                    step = mapper.map(step)
            step = script.send((yield step))
    except StopIteration:
        return


# -- Situations: what the values of dimensions follow from ---------------------------------------
_NOTHING = OperationBinding()


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A contract at a target, from which the values of dimensions follow."""

    contract: Contract
    target: Target

    @property
    def offered(self) -> frozenset[Capability]:
        """What the target offers for the contract."""
        return capabilities(self.contract, self.target)

    def binding(self, operation: str) -> OperationBinding:
        """Return how the target spells an operation."""
        return self.target.operations.get(operation, _NOTHING)


#: Yields each value of a dimension, or its name and what the target lacks for it.
Values = Iterator[DimensionValue | tuple[str, str]]
