"""Shortening of a sequence that still violates the same obligation.

Steps are removed, in halves, then one by one, each with those that refer to it; then
the remaining ones are simplified. Each try is a replay with a fixture of its own, so
this is not for a bank that counts its calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

from assay.contexts.context import Context
from assay.fuzzing.sequences.abstract_step import AbstractSequence, AbstractStep
from assay.history import Arrange, Authorise, Call, Holding, Step

#: Whether a sequence still violates the same obligation.
Breaks: TypeAlias = Callable[[AbstractSequence], bool]


def shrink(sequence: Sequence[AbstractStep], breaks: Breaks, most: int = 400) -> AbstractSequence:
    """Return the shortest sequence found in `most` tries, or the sequence itself."""
    shrinker = _Shrinker(sequence=tuple(sequence), breaks=breaks, tries_left=most)
    shrinker.remove_steps()
    shrinker.simplify_steps()
    return shrinker.sequence


def needed(context: Context, breaks: Callable[[Context], bool]) -> Context:
    """Return the values of a context that a violation takes: none, one, or as few as it can be."""
    if not context or breaks(()):
        return ()
    for value in context if context[1:] else ():
        if breaks((value,)):
            return (value,)
    for value in context if context[2:] else ():
        fewer = tuple(each for each in context if each is not value)
        if breaks(fewer):
            context = fewer
    return context


class _Shrinker:
    """The shortest sequence so far, and how many tries are left."""

    def __init__(self, sequence: AbstractSequence, breaks: Breaks, tries_left: int) -> None:
        self.sequence, self.breaks, self.tries_left = sequence, breaks, tries_left

    def remove_steps(self) -> None:
        """Remove pieces of the sequence, from large ones to single steps, from the end."""
        size = len(self.sequence) // 2
        while size:
            end, removed = len(self.sequence), False
            while end > 0:
                removed |= self._accept(without(self.sequence, range(max(end - size, 0), end)))
                end = min(end - size, len(self.sequence))
            size = size if removed and size == 1 else size // 2

    def simplify_steps(self) -> None:
        """Make each step as simple as possible."""
        for place in range(len(self.sequence)):
            while any(
                self._accept((*self.sequence[:place], simpler, *self.sequence[place + 1 :]))
                for simpler in _simpler(self.sequence[place])
            ):
                pass

    def _accept(self, sequence: AbstractSequence) -> bool:
        """Keep a shorter sequence if it still violates the same obligation."""
        if self.tries_left <= 0 or sequence == self.sequence:
            return False
        self.tries_left -= 1
        if not self.breaks(sequence):
            return False
        self.sequence = sequence
        return True


def without(sequence: Sequence[AbstractStep], places: range) -> AbstractSequence:
    """Return a sequence without some steps, and without those that refer to them."""
    removed_subjects = {
        step.subject
        for place, step in enumerate(abstract_step.step for abstract_step in sequence)
        if place in places and isinstance(step, Arrange)
    }
    new_places: dict[int, int] = {}
    kept: list[AbstractStep] = []
    for place, abstract_step in enumerate(sequence):
        orphan = any(used not in new_places for used in abstract_step.places)
        if place in places or orphan or abstract_step.names & removed_subjects:
            continue
        new_places[place] = len(kept)
        kept.append(abstract_step.moved(new_places.__getitem__))
    return tuple(kept)


def _simpler(abstract_step: AbstractStep) -> Iterator[AbstractStep]:
    """Yield variants of a step with one member left out or set to its default."""
    step = abstract_step.step
    match step:
        case Call():
            plain: Step = Call(operation=step.operation, subject=step.subject)
            for name in step.arguments:
                left = {key: value for key, value in step.arguments.items() if key != name}
                yield replace(abstract_step, step=replace(step, arguments=left))
        case Authorise():
            plain = Authorise(subject=step.subject, request=step.request, approval=step.approval)
        case Arrange():
            plain = replace(step, segment=None)
            yield from _smaller(abstract_step, step)
        case _:
            return
    for name in step.__dataclass_fields__:
        default: Any = getattr(plain, name)
        # The variation of a call stays: it tells the checks that the call is no control.
        if name not in {"arguments", "variation"} and getattr(step, name) != default:
            yield replace(abstract_step, step=replace(cast("Any", step), **{name: default}))


def _smaller(household: AbstractStep, step: Arrange) -> Iterator[AbstractStep]:
    """Yield smaller households; the first items stay, since steps refer to them by number."""
    last = len(step.holdings) - 1
    if last > 0:
        fewer = replace(step, holdings=step.holdings[:last])
        yield replace(household, step=fewer, days=household.days[:last])
    for place, (holding, days) in enumerate(zip(step.holdings, household.days, strict=True)):

        def put(holding: Holding, days: tuple[int, ...] | None, place: int = place) -> AbstractStep:
            holdings = (*step.holdings[:place], holding, *step.holdings[place + 1 :])
            entries = (*household.days[:place], days, *household.days[place + 1 :])
            return replace(household, step=replace(step, holdings=holdings), days=entries)

        if holding.count > 1:
            yield put(replace(holding, count=1), days)
            yield put(replace(holding, count=holding.count - 1), days)
        if days:
            yield put(holding, days[: len(days) // 2])
            yield put(holding, days[len(days) // 2 :])
            yield put(holding, days[:-1])
