"""Parts of a long history that are enough for a check, by the scope of its kind.

Most checks are about a few operations. In a history of many trials' length, they are faster if
they are shown the calls of these operations alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.history import Exchange, History
from assay.rules.consent_probes import operations_in_scope
from assay.rules.rule import Kind
from assay.traffic.stored_history import StoredHistory

#: The number of events from which a history is long.
LONG = 1000


@dataclass(slots=True)
class HistoryParts:
    """The parts of one history: the last that was made for a contract, and for a scope in it.

    All events but the calls of other operations are in each part, in their order.
    """

    whole: History
    _of_contract: tuple[frozenset[str], History] | None = None
    _last: tuple[frozenset[str], History] | None = None

    def of(self, kind: Kind) -> History:
        """Return the part of the history that is enough for the check of a kind."""
        operations = operations_in_scope(kind)
        if len(self.whole.events) < LONG or operations is None:
            return self.whole
        if self._last is None or self._last[0] != operations:
            every = frozenset(kind.contract.operations)
            if self._of_contract is None or self._of_contract[0] != every:
                self._last = None
                self._of_contract = every, _part(self.whole, every)
            own = self._of_contract[1]
            self._last = operations, own if operations == every else _part(own, operations)
        return self._last[1]


def _part(history: History, operations: frozenset[str]) -> History:
    if isinstance(history, StoredHistory):
        return history.part(operations)
    events = (
        event
        for event in history.events
        if not isinstance(event, Exchange) or event.call.operation in operations
    )
    return History(events=tuple(events))
