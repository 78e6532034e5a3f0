"""Verdicts of a run in progress: preliminary ones from trials, final ones at the end.

A run that is killed leaves no final verdict. So the verdicts on the obligations of a trial are
written as soon as it has ended, and again where later evidence changes them. The final verdicts
take their place, so that the journal of a finished run says nothing twice.

When a trial has ended, a line says so, with its verdicts before corrections. A resumed run goes on
from there.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.execution.ambient import FindingSource, Sources
from assay.execution.resumption import RecordedProgress
from assay.journal.trial_end import RecordedVerdict, TrialEnd, VerdictSource, record_of
from assay.journal.writer import Journal
from assay.judging.assembly import VerdictAssembly
from assay.judging.verdict import Verdict


@dataclass(slots=True, kw_only=True)
class VerdictRecord:
    """Takes verdicts into the assembly, and writes them to the journal."""

    journal: Journal
    assembly: VerdictAssembly
    sources: Sources
    _written: dict[str, Verdict] = field(default_factory=dict[str, Verdict])
    _taken: dict[str, FindingSource | None] = field(
        default_factory=dict[str, "FindingSource | None"]
    )

    def take(self, verdict: Verdict, source: FindingSource | None = None) -> None:
        """Keep a verdict unless a graver one was reached before.

        `source` is the trial that shows it, if that is not the one of the obligation.
        """
        verdict = self.journal.clean(verdict)
        if self.assembly.record_graver(verdict):
            self._taken[verdict.obligation] = source
            if source is None:
                self.sources.forget(verdict.obligation)
            else:
                self.sources.add(verdict.obligation, source)

    def restore(self, progress: RecordedProgress) -> None:
        """Take in what the trials of a run showed before it was cut short."""
        progress.restore(self.assembly)
        for name, recorded in progress.verdicts.items():
            found = recorded.source
            if found.trial:
                replayed = Path(found.replay) if found.replay else None
                source = FindingSource(trial=found.trial, replay=replayed, settles=found.settles)
                self.sources.add(name, source)

    def write_end(self, end: TrialEnd) -> None:
        """Write that a trial has ended, and all that it changed; before its preliminary verdicts."""
        if self.journal.out is None:
            return
        end = replace(end, answers=self.assembly.answers.changes())
        verdicts = [
            RecordedVerdict(verdict=verdict, source=self._source(verdict.obligation))
            for verdict in self.assembly.recorded(self._taken)
        ]
        self.journal.write("ended", record_of(replace(end, verdicts=tuple(verdicts))))
        self._taken.clear()

    def _source(self, obligation: str) -> VerdictSource:
        source = self._taken[obligation]
        if source is None:
            return VerdictSource()
        replayed = "" if source.replay is None else self.journal.redactor.link(str(source.replay))
        return VerdictSource(trial=source.trial, replay=replayed, settles=source.settles)

    def write_preliminary(self, changed: Collection[str]) -> None:
        """Write the verdicts that differ from those written before, some obligations having changed."""
        if self.journal.out is None:
            return
        for verdict in self.assembly.reached(changed):
            if self._written.get(verdict.obligation) != verdict:
                self._write(verdict, preliminary=True)

    def write_final(self) -> tuple[Verdict, ...]:
        """Write and return every verdict that was reached, in the plan's order.

        What the verdicts of other shards depend on is written before, if the plan is a shard.
        """
        if self.assembly.plan.shard is not None:
            answers = record_of(self.assembly.answers.seen())
            self.journal.write("observations", {"answers": answers, **self.assembly.observations()})
        verdicts = self.assembly.final()
        for verdict in verdicts:
            self._write(verdict)
        return verdicts

    def _write(self, verdict: Verdict, *, preliminary: bool = False) -> None:
        name = verdict.obligation
        reproduce, trial = self.sources.reproduce(name), self.sources.get(name)
        self.journal.verdict(verdict, reproduce, trial, preliminary=preliminary)
        self._written[name] = verdict
