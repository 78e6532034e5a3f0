"""Abstraction of concrete steps, the inverse of `concretize`.

What only the target can name, in the steps of a script that is performed, becomes a reference
to the step from which it comes. So a script becomes a part of a sequence that can be replayed.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import cast

from assay.contract.model import Json
from assay.fuzzing.sequences.abstract_step import (
    AbstractStep,
    After,
    OwnedRef,
    RelativeDay,
    RequestRef,
    map_leaves,
)
from assay.fuzzing.sequences.concretize import Concretizer
from assay.history import (
    Accepted,
    Advance,
    Arrange,
    Authorise,
    Call,
    Exchange,
    Step,
    Submit,
    Withdraw,
)


def abstracted(step: Step, so_far: Concretizer) -> AbstractStep:
    """Return a concrete step with references into the sequence that has run so far."""
    match step:
        case Call():
            arguments = cast(
                "Mapping[str, Json]",
                map_leaves(step.arguments, lambda value: _reference(value, so_far)),
            )
            bare: Step = replace(step, arguments=arguments, follow=None)
            return AbstractStep(step=bare, page=_page(step.follow, so_far))
        case Arrange():
            today = so_far.now.date()
            days = tuple(
                None
                if holding.entries is None
                else tuple((day - today).days for day in holding.entries)
                for holding in step.holdings
            )
            holdings = tuple(replace(holding, entries=()) for holding in step.holdings)
            return AbstractStep(step=replace(step, holdings=holdings), days=days)
        case Advance(to=to) if to is not None:
            return AbstractStep(step=Advance(), moment=After(to - so_far.now))
        case Authorise():
            bare = replace(step, request="", approval=None)
            return AbstractStep(step=bare, request=_made(so_far).get(step.request))
        case Withdraw() | Submit():
            bare = replace(step, request="")
            return AbstractStep(step=bare, request=_made(so_far).get(step.request))
        case _:
            return AbstractStep(step=step)


def _made(so_far: Concretizer) -> dict[str, int]:
    """Return the places of the steps that made or showed something, by its key."""
    places: dict[str, int] = {}
    for place, reply in enumerate(so_far.replies):
        if isinstance(reply, Exchange) and reply.item and reply.item.key:
            places.setdefault(reply.item.key, place)
    return places


def _page(follow: str | None, so_far: Concretizer) -> int | None:
    """Return the place of the call whose answer named a page."""
    for place, reply in enumerate(so_far.replies if follow else ()):
        match reply:
            case Exchange(outcome=Accepted(next=link)) if link == follow:
                return place
            case _:
                pass
    return None


def _reference(value: Json, so_far: Concretizer) -> Json:
    """Return the reference that a value stands for, or else the value itself."""
    if not isinstance(value, str):
        return value
    for subject in so_far.subjects.values():
        for n, thing in enumerate(subject.owns):
            if thing.key == value:
                return OwnedRef(of=subject.name, n=n)
    made = _made(so_far)
    if value in made:
        return RequestRef(made[value])
    with suppress(ValueError):
        return RelativeDay((date.fromisoformat(value) - so_far.now.date()).days)
    return value
