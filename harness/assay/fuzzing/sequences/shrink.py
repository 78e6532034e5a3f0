"""Shortening of a sequence that still violates the same obligation.

Steps are removed, in halves, then one by one, each with those that refer to it; then
the remaining ones are simplified. Each try is a replay with a fixture of its own, so
this is not for a bank that counts its calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

from assay.fuzzing.sequences.abstract_step import AbstractStep
from assay.history import Arrange, Authorise, Call, Holding, Step

Story: TypeAlias = tuple[AbstractStep, ...]
#: Whether a sequence still violates the same obligation.
Breaks: TypeAlias = Callable[[Story], bool]


def shrink(story: Sequence[AbstractStep], breaks: Breaks, most: int = 400) -> Story:
    """Return the shortest story found in so many tries; the story itself if none is."""
    shorter = _Shorter(story=tuple(story), breaks=breaks, left=most)
    shorter.drop()
    shorter.plain()
    return shorter.story


class _Shorter:
    """The shortest story so far, and how many tries are left."""

    def __init__(self, story: Story, breaks: Breaks, left: int) -> None:
        self.story, self.breaks, self.left = story, breaks, left

    def better(self, story: Story) -> bool:
        """Take a story in place of the one so far, if it still breaks what it broke."""
        if self.left <= 0 or story == self.story:
            return False
        self.left -= 1
        if not self.breaks(story):
            return False
        self.story = story
        return True

    def drop(self) -> None:
        """Leave away pieces of the story, from large ones to single steps, from the end."""
        size = len(self.story) // 2
        while size:
            end, went = len(self.story), False
            while end > 0:
                went |= self.better(without(self.story, range(max(end - size, 0), end)))
                end = min(end - size, len(self.story))
            size = size if went and size == 1 else size // 2

    def plain(self) -> None:
        """Make each step as plain as it can be."""
        for place in range(len(self.story)):
            while any(
                self.better((*self.story[:place], told, *self.story[place + 1 :]))
                for told in _plainer(self.story[place])
            ):
                pass


def without(story: Sequence[AbstractStep], places: range) -> Story:
    """Return a story without some steps, and without what rests on them."""
    names = {
        told.step.subject
        for place, told in enumerate(story)
        if place in places and isinstance(told.step, Arrange)
    }
    kept: dict[int, int] = {}
    out: list[AbstractStep] = []
    for place, told in enumerate(story):
        if place in places or told.names & names or any(one not in kept for one in told.places):
            continue
        kept[place] = len(out)
        out.append(told.moved(kept.__getitem__))
    return tuple(out)


def _plainer(told: AbstractStep) -> Iterator[AbstractStep]:
    """Yield a step with one thing less to it, or one thing plainer, at a time."""
    step = told.step
    match step:
        case Call():
            plain: Step = Call(operation=step.operation, subject=step.subject)
            for name in step.arguments:
                left = {key: value for key, value in step.arguments.items() if key != name}
                yield replace(told, step=replace(step, arguments=left))
        case Authorise():
            plain = Authorise(subject=step.subject, request=step.request, approval=step.approval)
        case Arrange():
            plain = replace(step, segment=None)
            yield from _smaller(told, step)
        case _:
            return
    for name in step.__dataclass_fields__:
        bare: Any = getattr(plain, name)
        # What a call says of itself stays: it tells the checks that it is no control.
        if name not in {"arguments", "variation"} and getattr(step, name) != bare:
            yield replace(told, step=replace(cast("Any", step), **{name: bare}))


def _smaller(told: AbstractStep, step: Arrange) -> Iterator[AbstractStep]:
    """Yield a household with less in it; what comes first stays, for steps name it so."""
    last = len(step.holdings) - 1
    if last > 0:
        yield replace(
            told, step=replace(step, holdings=step.holdings[:last]), days=told.days[:last]
        )
    for place, (holding, days) in enumerate(zip(step.holdings, told.days, strict=True)):

        def put(holding: Holding, days: tuple[int, ...] | None, place: int = place) -> AbstractStep:
            holdings = (*step.holdings[:place], holding, *step.holdings[place + 1 :])
            entries = (*told.days[:place], days, *told.days[place + 1 :])
            return replace(told, step=replace(step, holdings=holdings), days=entries)

        if holding.count > 1:
            yield put(replace(holding, count=1), days)
            yield put(replace(holding, count=holding.count - 1), days)
        if days:
            yield put(holding, days[: len(days) // 2])
            yield put(holding, days[len(days) // 2 :])
            yield put(holding, days[:-1])
