"""Journal that keeps the events of trials, for the cards of what they violate.

A pytest run need not write a journal. The events of the trials of an item are kept while it runs,
and those of trials that show a violation to the end.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypeAlias

from assay.binding.encode import Access
from assay.execution.session import Session
from assay.history import Event
from assay.journal.writer import Journal

#: Events in order, each with the credentials with which it is recorded.
Events: TypeAlias = list[tuple[Event, Access]]


@dataclass(slots=True, kw_only=True)
class TrialJournal(Journal):
    """A journal that also keeps the events of trials, by trial, until they are forgotten."""

    events: dict[str, Events] = field(default_factory=dict[str, "Events"])

    def event(self, trial: str, event: Event, access: Access) -> None:
        """Write an event of a trial, and keep it."""
        self.events.setdefault(trial, []).append((event, access))
        Journal.event(self, trial, event, access)

    def keep_only(self, trials: Collection[str]) -> None:
        """Forget the events of all other trials."""
        for trial in self.events.keys() - {*trials}:
            del self.events[trial]


def trials_of_violations(session: Session) -> frozenset[str]:
    """Return the trials that show the violations found so far."""
    violated = session.violated()
    if not violated:
        return frozenset()
    planned = {item.obligation.id: item.obligation.trial for item in session.plan.items}
    return frozenset(session.sources.get(name) or planned.get(name, "") for name in violated)
