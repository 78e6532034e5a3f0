"""Alternative histories that a recording allows: a violation that one of them explains is none.

Calls and headers may be missing, tokens may belong to other callers, and the clock of a bank may
show another time than that of the recorder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.contract.model import Contract, Operation
from assay.history import History
from assay.rules.clauses import call_limits
from assay.traffic.clocks import FAR, Clock, other_clocks, shifted
from assay.traffic.evidence_summary import CALLERS_UNKNOWN, CLOCK_UNKNOWN, MISSING
from assay.traffic.har_to_history import RecordedHistory
from assay.traffic.judge import DoubtedHistory
from assay.traffic.other_callers import other_callers
from assay.traffic.readings import with_gaps
from assay.traffic.recorded_entries import RecordedEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingDoubts:
    """What is not certain of one recording.

    `complete` says that no call is missing, `bank_clock` that the times are those of the bank, and
    `marked` that a header says which calls are made with the customer. `read` reads the recording
    again, with a change to each entry.
    """

    recorded: RecordedHistory
    operations: Mapping[str, Operation]
    contracts: Sequence[Contract]
    complete: bool
    bank_clock: bool
    marked: bool
    read: Callable[[Callable[[RecordedEntry], RecordedEntry]], History]

    def histories(self) -> Iterator[DoubtedHistory]:
        """Yield the histories in each of which a violation must be found, each made when needed."""
        history = self.recorded.history
        if not self.complete:
            yield from self._gaps(history)
        for other in other_callers(history, self.recorded.access, self.operations):
            yield DoubtedHistory(history=other, why=CALLERS_UNKNOWN)
        if not self.bank_clock:
            for moved in (*other_clocks(history, self.contracts), *self._other_modes()):
                yield DoubtedHistory(history=moved, why=CLOCK_UNKNOWN)

    def _gaps(self, history: History) -> Iterator[DoubtedHistory]:
        known = (call_limits(contract, attended=False).items() for contract in self.contracts)
        limits = {name: limit for limits in known for name, limit in limits}
        # Without any mark, a filter may have removed the header from every call.
        for each in (limits, *([] if self.marked else [dict.fromkeys(limits, 0)])):
            gaps = with_gaps(history, self.operations, each)
            yield DoubtedHistory(history=gaps, why=MISSING)

    def _other_modes(self) -> Iterator[History]:
        """Yield the history by clocks on which other days are to come: that may tell modes apart."""
        if any(operation.due for operation in self.operations.values()):
            yield from map(self.read, (_moved(shifted(by)) for by in (-FAR, FAR)))


def _moved(clock: Clock) -> Callable[[RecordedEntry], RecordedEntry]:
    return lambda entry: replace(entry, at=clock(0, entry.at))
