"""Views of a history with one change in each call, made when the events are read.

A recording may be longer than memory, and a check reads a history once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from assay.history import AnsweredCall, Event, Exchange, History, Subject

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Repeatable(Generic[T]):
    """What a function yields, as often as it is read."""

    make: Callable[[], Iterator[T]]

    def __iter__(self) -> Iterator[T]:
        """Begin again."""
        return self.make()


class ChangedHistory(History):
    """A history in which each call is changed."""

    __slots__ = ("_change", "_whole")

    _whole: History
    _change: Callable[[AnsweredCall], AnsweredCall]

    def __init__(self, *, whole: History, change: Callable[[AnsweredCall], AnsweredCall]) -> None:
        for name, value in (("_whole", whole), ("_change", change)):
            object.__setattr__(self, name, value)

    @property
    def events(self) -> tuple[Event, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All events, made again for each reader."""
        return cast("tuple[Event, ...]", Repeatable(lambda: self._changed(self._whole.events)))

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The exchanges, made again for each reader."""
        made = Repeatable(lambda: self._changed(self._whole.exchanges))
        return cast("tuple[Exchange, ...]", made)

    @property
    def subjects(self) -> dict[str, Subject]:
        """The subjects of the whole history."""
        return self._whole.subjects

    def _changed(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, AnsweredCall):
                yield cast("Event", self._change(event))
            else:
                yield event
