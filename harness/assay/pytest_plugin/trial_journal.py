"""Journal that keeps what trials did, for the cards of what they violate and for a controller.

A pytest run need not write a journal. The events of the trials of an item are kept while it runs,
and those of trials that show a violation to the end.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from assay.binding.encode import Access
from assay.history import Event
from assay.journal.writer import Journal
from assay.running.parallel_trials import Entry
from assay.running.session import Session


@dataclass(slots=True, kw_only=True)
class TrialJournal(Journal):
    """A journal that also keeps the events of trials, and the secrets that they learned in between."""

    entries: dict[str, list[Entry]] = field(default_factory=dict[str, "list[Entry]"])
    _learned: int = 0

    def event(self, trial: str, event: Event, access: Access) -> None:
        """Write an event of a trial, and keep it."""
        entries = self.entries.setdefault(trial, [])
        secrets = self.redactor.secrets
        entries += secrets.after(self._learned)
        self._learned = secrets.count
        entries.append((event, access))
        Journal.event(self, trial, event, access)

    def entries_of(self, trial: str) -> list[Entry]:
        """Return what a trial did and learned, in order."""
        return [*self.entries.get(trial, ())]

    def events_of(self, trial: str) -> list[tuple[Event, Access]]:
        """Return the events of a trial, each with the credentials with which it is recorded."""
        return [entry for entry in self.entries_of(trial) if isinstance(entry, tuple)]

    def keep_only(self, trials: Collection[str]) -> None:
        """Forget all other trials."""
        for trial in self.entries.keys() - {*trials}:
            del self.entries[trial]


def trials_of_violations(session: Session) -> frozenset[str]:
    """Return the trials that show the violations found so far."""
    violated = session.violated()
    if not violated:
        return frozenset()
    planned = {item.obligation.id: item.obligation.trial for item in session.plan.items}
    return frozenset(session.sources.get(name) or planned.get(name, "") for name in violated)
