"""Values of a fleet report, from which its formats are rendered.

All texts come from reports of runs, and are clean already (`report.decode`). A cell is one contract
at one bank. Nothing here reads a file or knows a format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from assay.judging.changes import ChangeKind, change_of
from assay.judging.waivers import WaiverResult
from assay.report.values import Report
from assay.rules.verdict import OPEN, Exit, Standing


class CellState(Enum):
    """Whether a contract was tested at a bank."""

    TESTED = "tested"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellVerdict:
    """The verdict on one obligation at one bank; `says` is the sentence of its clause.

    `must` says that a run is incomplete without it.
    """

    obligation: str
    clause: str
    says: str
    standing: Standing
    reason: str = ""
    must: bool = True

    @property
    def open(self) -> bool:
        """Whether it is a must that could not be verified."""
        return self.must and self.standing in OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetCell:
    """One contract at one bank; `journal` is the path of its record from the fleet's folder.

    `reason` says why it failed, or ended early. `exit` is the exit code of its run.
    """

    bank: str
    contract: str
    state: CellState
    reason: str = ""
    exit: Exit = Exit.USAGE
    seconds: float = 0.0
    exchanges: int = 0
    journal: str = ""
    verdicts: tuple[CellVerdict, ...] = ()
    waivers: tuple[WaiverResult, ...] = ()


def cell_verdicts(report: Report) -> tuple[CellVerdict, ...]:
    """Return the verdicts of a run, for a cell."""
    return tuple(
        CellVerdict(
            obligation=result.planned.id,
            clause=f"{result.planned.contract}/{result.planned.clause}",
            says=result.planned.says,
            standing=result.standing,
            reason="" if result.standing is Standing.CONFORMS else result.reason,
            must=result.planned.level == "must",
        )
        for result in report.results
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BankRow:
    """One bank of a fleet with its cells."""

    name: str
    cells: tuple[FleetCell, ...]

    @property
    def counts(self) -> dict[str, int]:
        """The number of obligations of each verdict."""
        seen = Counter(verdict.standing for cell in self.cells for verdict in cell.verdicts)
        return {standing.value: seen[standing] for standing in Standing}

    @property
    def violates(self) -> bool:
        """Whether an obligation is violated, and not waived."""
        return bool(self.counts[Standing.VIOLATES.value])

    @property
    def incomplete(self) -> bool:
        """Whether something could not be tested that must be."""
        return any(
            cell.state is not CellState.TESTED
            or cell.exit is Exit.INCOMPLETE
            or any(verdict.open for verdict in cell.verdicts)
            for cell in self.cells
        )

    @property
    def invalid_waivers(self) -> tuple[WaiverResult, ...]:
        """The waivers that must be removed or renewed."""
        return tuple(each for cell in self.cells for each in cell.waivers if each.invalid)

    @property
    def faulty(self) -> bool:
        """Whether Assay itself failed."""
        return any(cell.exit is Exit.FAULT for cell in self.cells)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why cells failed or ended early, each reason once."""
        return tuple(dict.fromkeys(cell.reason for cell in self.cells if cell.reason))

    @property
    def seconds(self) -> float:
        """How long its runs took together."""
        return sum(cell.seconds for cell in self.cells)

    @property
    def exchanges(self) -> int:
        """How many exchanges its runs had."""
        return sum(cell.exchanges for cell in self.cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetObligation:
    """One obligation at all banks that have it; `verdicts` are by bank."""

    id: str
    clause: str
    says: str
    verdicts: Mapping[str, CellVerdict]

    def banks(self, standing: Standing) -> tuple[str, ...]:
        """Return the banks with this verdict."""
        return tuple(
            bank for bank, verdict in self.verdicts.items() if verdict.standing is standing
        )

    @property
    def tested(self) -> int:
        """At how many banks it was tested: it conforms, is violated or waived."""
        decided = {Standing.CONFORMS, Standing.VIOLATES, Standing.WAIVED}
        return sum(verdict.standing in decided for verdict in self.verdicts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictChange:
    """A verdict that is another one than in the fleet run before; None where there was none."""

    bank: str
    obligation: str
    before: Standing | None
    now: Standing | None

    @property
    def kind(self) -> ChangeKind | None:
        """How the verdict changed."""
        return change_of(self.before, self.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What changed since another fleet run, of which `since` is the beginning."""

    since: str
    verdicts: tuple[VerdictChange, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def new_violations(self) -> tuple[VerdictChange, ...]:
        """The violations that were none before."""
        return tuple(each for each in self.verdicts if each.kind is ChangeKind.NEWLY_VIOLATED)

    @property
    def resolved(self) -> tuple[VerdictChange, ...]:
        """What conforms now and was violated before, waived or not."""
        return tuple(each for each in self.verdicts if each.kind is ChangeKind.FIXED)

    @property
    def others(self) -> tuple[VerdictChange, ...]:
        """The other changes."""
        shown = {*self.new_violations, *self.resolved}
        return tuple(each for each in self.verdicts if each not in shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetReport:
    """All banks of a fleet run; `fail_on` is the policy of its exit code."""

    name: str
    version: str
    started: str
    finished: str
    command: str
    fail_on: str
    exit: int
    banks: tuple[BankRow, ...]
    interrupted: bool = False
    changes: Changes | None = None
    obligations: tuple[FleetObligation, ...] = field(default=())

    @property
    def common(self) -> tuple[FleetObligation, ...]:
        """The obligations that all banks violate which were tested, at least two."""
        return tuple(
            each
            for each in self.violated
            if each.tested > 1 and len(each.banks(Standing.VIOLATES)) == each.tested
        )

    @property
    def own(self) -> tuple[FleetObligation, ...]:
        """The obligations that one bank alone violates."""
        return tuple(
            each
            for each in self.violated
            if len(each.banks(Standing.VIOLATES)) == 1 and each not in self.common
        )

    @property
    def several(self) -> tuple[FleetObligation, ...]:
        """The obligations that several banks violate, and others do not."""
        rest = {each.id for each in (*self.common, *self.own)}
        return tuple(each for each in self.violated if each.id not in rest)

    @property
    def violated(self) -> tuple[FleetObligation, ...]:
        """The obligations that a bank violates."""
        return tuple(each for each in self.obligations if each.banks(Standing.VIOLATES))


def by_obligation(banks: Iterable[BankRow]) -> tuple[FleetObligation, ...]:
    """Return every obligation with its verdict at each bank, in the order of the first plan."""
    rows: dict[str, dict[str, CellVerdict]] = {}
    for bank in banks:
        for cell in bank.cells:
            for verdict in cell.verdicts:
                rows.setdefault(verdict.obligation, {})[bank.name] = verdict
    return tuple(
        FleetObligation(
            id=name,
            clause=next(iter(verdicts.values())).clause,
            says=next(iter(verdicts.values())).says,
            verdicts=verdicts,
        )
        for name, verdicts in rows.items()
    )
