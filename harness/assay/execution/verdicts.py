"""Record of the verdicts of a run: preliminary ones as trials show them, final ones at its end.

A run that is killed leaves no final verdict. So the verdicts on the obligations of a trial are
written as soon as it has ended, and again where later evidence changes them. The final verdicts
take their place, so that the journal of a finished run says nothing twice.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from assay.execution.ambient import FindingSource, Sources
from assay.journal.writer import Journal
from assay.judging.assembly import VerdictAssembly
from assay.judging.observations import digest_key
from assay.judging.verdict import Verdict


@dataclass(slots=True, kw_only=True)
class VerdictRecord:
    """Takes verdicts into the assembly, and writes them to the journal."""

    journal: Journal
    assembly: VerdictAssembly
    sources: Sources
    _written: dict[str, Verdict] = field(default_factory=dict[str, Verdict])

    def take(self, verdict: Verdict, source: FindingSource | None = None) -> None:
        """Keep a verdict unless a graver one was reached before.

        `source` is the trial that shows it, if that is not the one of the obligation.
        """
        verdict = self.journal.clean(verdict)
        if self.assembly.record_graver(verdict):
            if source is None:
                self.sources.forget(verdict.obligation)
            else:
                self.sources.add(verdict.obligation, source)

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
            secrets = self.journal.redactor.secrets.entries
            key = digest_key(secret.value for secret in secrets if secret.lasting)
            self.journal.write("observations", self.assembly.observations(key))
        verdicts = self.assembly.final()
        for verdict in verdicts:
            self._write(verdict)
        return verdicts

    def _write(self, verdict: Verdict, *, preliminary: bool = False) -> None:
        name = verdict.obligation
        reproduce, trial = self.sources.reproduce(name), self.sources.get(name)
        self.journal.verdict(verdict, reproduce, trial, preliminary=preliminary)
        self._written[name] = verdict
