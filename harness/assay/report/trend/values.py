"""Values of a trend: its runs in the order of time, each with what changed since the one before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from assay.report.comparison.values import ComparedRun, Comparison
from assay.rules.verdict import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendRun:
    """One run; `page` is the path of its HTML report from that of the trend, if there is one.

    `since` is the comparison with the run before on the same target, with the same contracts
    and selection, if there is one.
    """

    name: str
    run: ComparedRun
    page: str = ""
    since: Comparison | None = None

    @property
    def counts(self) -> Mapping[Standing, int]:
        """The number of obligations of each verdict."""
        return Counter(self.run.verdicts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableRun:
    """A run that cannot be shown, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """The runs of a folder, the first one first, and those that cannot be read."""

    folder: str
    runs: tuple[TrendRun, ...]
    unreadable: tuple[UnreadableRun, ...] = ()
