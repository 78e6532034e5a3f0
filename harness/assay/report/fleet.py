"""A fleet: its banks and their verdicts, what changed since an earlier run, and its reports.

All texts come from reports of runs, and are clean already (`report.decode`). A cell is one contract
at one bank. The text has the most important lines last, as after a run. The JSON report
(`assay-fleet/1`) has every verdict at every bank, for programs. The HTML page is one table of the
banks with their verdicts and reports; what is behind its numbers is in the other two.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Any, TextIO, cast

from assay.errors import Exit, InputError
from assay.judging.exit_policy import ChangeKind, change_of
from assay.judging.waivers import WaiverResult, as_record
from assay.report.decode import STANDINGS
from assay.report.formats.html import page_template
from assay.report.sanitize import bounded, clean, one_line
from assay.report.values import PlannedObligation, ReportedResult
from assay.report.wording import counted, listed, waiver_caveats
from assay.rules.verdict import OPEN, Standing

_Values = dict[str, object]

#: The format of the JSON report, and its file in the folder of a fleet.
SCHEMA, FILE = "assay-fleet/1", "fleet.json"


class CellState(Enum):
    """Whether a contract was tested at a bank."""

    TESTED = "tested"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


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
    verdicts: tuple[ReportedResult, ...] = ()
    waivers: tuple[WaiverResult, ...] = ()


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
            or any(each.planned.level == "must" and each.standing in OPEN for each in cell.verdicts)
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
    verdicts: Mapping[str, ReportedResult]

    @property
    def planned(self) -> PlannedObligation:
        """The obligation itself, the same at all banks."""
        return next(iter(self.verdicts.values())).planned

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
    obligations: tuple[FleetObligation, ...] = ()

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
    rows: dict[str, dict[str, ReportedResult]] = {}
    for bank in banks:
        for cell in bank.cells:
            for verdict in cell.verdicts:
                rows.setdefault(verdict.planned.id, {})[bank.name] = verdict
    return tuple(FleetObligation(id=name, verdicts=verdicts) for name, verdicts in rows.items())


# -- changes since an earlier run ------------------------------------------------------
#: The verdicts of a fleet run by bank and obligation, and when it began.
Before = tuple[str, Mapping[str, Mapping[str, Standing]]]


def read_before(folder: Path) -> Before:
    """Read the verdicts of an earlier run of a fleet.

    Raises:
        InputError: the folder has no report of a fleet, or one that cannot be read.

    """
    path = folder / FILE if folder.is_dir() else folder
    hint = f"name the folder of a fleet run, which has {FILE}"
    try:
        raw: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise InputError.one(str(path), what, hint=hint) from None
    except (ValueError, RecursionError):
        raise InputError.one(str(path), "this is not JSON", hint=hint) from None
    if not isinstance(raw, dict) or cast("dict[str, Any]", raw).get("schema") != SCHEMA:
        raise InputError.one(str(path), f"this is no report {SCHEMA}", hint=hint)
    values = cast("dict[str, Any]", raw)
    try:
        banks = {
            str(bank["name"]): dict(_verdicts(values, bank["name"])) for bank in values["banks"]
        }
        started = one_line(clean(str(values["run"]["started"]), 100))
    except (KeyError, TypeError, AttributeError):
        raise InputError.one(str(path), "a part of the report is missing", hint=hint) from None
    return started, {one_line(clean(name, 100)): verdicts for name, verdicts in banks.items()}


def _verdicts(values: Mapping[str, Any], bank: str) -> Iterator[tuple[str, Standing]]:
    for obligation in values["obligations"]:
        word = obligation["verdicts"].get(bank)
        if word in STANDINGS:
            yield one_line(clean(str(obligation["id"]), 400)), STANDINGS[word]


def changes(banks: tuple[BankRow, ...], before: Before) -> Changes:
    """Return what changed; a bank that could not be tested now has not changed."""
    since, verdicts = before
    names = {bank.name for bank in banks}
    changed = tuple(
        each
        for bank in banks
        if bank.name in verdicts
        for each in _changes_of(bank, verdicts[bank.name])
    )
    return Changes(
        since=since,
        verdicts=changed,
        added=tuple(bank.name for bank in banks if bank.name not in verdicts),
        removed=tuple(name for name in verdicts if name not in names),
    )


def _changes_of(bank: BankRow, before: Mapping[str, Standing]) -> Iterator[VerdictChange]:
    now = {verdict.planned.id: verdict.standing for cell in bank.cells for verdict in cell.verdicts}
    # A contract without any verdict was not tested: nothing is known to have changed.
    tested = {name.partition("/")[0] for name in now}
    for name in dict.fromkeys([*now, *before]):
        old, new = before.get(name), now.get(name)
        if old is not new and name.partition("/")[0] in tested:
            yield VerdictChange(bank=bank.name, obligation=name, before=old, now=new)


# -- sentences, the same in every format ----------------------------------------------
def headline(report: FleetReport) -> str:
    """Return the most important sentence of a fleet report."""
    banks = len(report.banks)
    violating = sum(bank.violates for bank in report.banks)
    tested = sum(any(cell.verdicts for cell in bank.cells) for bank in report.banks)
    if violating:
        verb = "violates" if violating == 1 else "violate"
        number = len(report.violated)
        return f"{violating:,} of {counted(banks, 'bank')} {verb} {counted(number, 'obligation')}."
    if not tested:
        return "No bank was tested: this report is no evidence of conformance."
    if tested == banks and not any(bank.incomplete for bank in report.banks):
        each = "The bank meets" if banks == 1 else f"All {banks:,} banks meet"
        return f"{each} every obligation that was tested."
    return f"{tested:,} of {counted(banks, 'bank')} were tested; no violation was found."


def caveats(report: FleetReport) -> tuple[str, ...]:
    """Return what a reader must know besides the headline, one sentence each."""
    sentences: list[str] = []
    if report.interrupted:
        sentences.append("The fleet run was interrupted: this report is incomplete.")
    failed = [
        bank.name
        for bank in report.banks
        if any(cell.state is CellState.FAILED for cell in bank.cells)
    ]
    if failed:
        sentences.append(f"{counted(len(failed), 'bank')} could not be tested: {listed(failed)}.")
    open_ = [
        bank.name
        for bank in report.banks
        if bank.incomplete and bank.name not in failed and not report.interrupted
    ]
    if open_:
        sentences.append(f"{counted(len(open_), 'bank')} could not be verified in full.")
    for bank in report.banks:
        sentences += [f"{bank.name}: {each}" for each in waiver_caveats(bank.invalid_waivers)]
    if report.common:
        same = counted(len(report.common), "obligation")
        sentences.append(f"All tested banks violate the same {same}.")
    return tuple(sentences)


def bank_line(bank: BankRow) -> str:
    """Return the result of one bank in a few words."""
    if not any(cell.verdicts for cell in bank.cells):
        return "; ".join(bank.reasons) or "not tested"
    counts = bank.counts
    parts = [
        f"{counts[standing.value]:,} {word}"
        for standing, word in (
            (Standing.VIOLATES, "violated"),
            (Standing.INDETERMINATE, "indeterminate"),
            (Standing.UNVERIFIED, "unverified"),
            (Standing.WAIVED, "waived"),
            (Standing.CONFORMS, "conform"),
        )
        if counts[standing.value] or standing is Standing.CONFORMS
    ]
    return ", ".join(parts) + "".join(f"; {reason}" for reason in bank.reasons)


def violation_line(obligation: FleetObligation) -> str:
    """Return which banks violate an obligation, of how many."""
    banks = obligation.banks(Standing.VIOLATES)
    return f"{obligation.id}: {len(banks)} of {obligation.tested} banks ({listed(banks)})"


def change_line(change: VerdictChange) -> str:
    """Return one change in a line."""
    before = change.before.value if change.before else "not there"
    now = change.now.value if change.now else "not there"
    return f"{change.bank}: {change.obligation}: {before} before, {now} now"


# -- text ---------------------------------------------------------------------------
#: How many obligations and changes are shown of each kind, and characters of a reason.
SHOWN = 30
WIDTH = 300


def render_text(report: FleetReport, out: TextIO) -> None:
    """Write the report as plain lines."""
    out.writelines(line + "\n" for line in lines(report))


def lines(report: FleetReport) -> Iterator[str]:
    """Yield the report line by line."""
    width = max((len(bank.name) for bank in report.banks), default=0)
    yield "Banks"
    for bank in report.banks:
        yield f"  {bank.name:<{width}}  {bounded(bank_line(bank), WIDTH)}"
    yield ""
    yield from _group("Violated by all tested banks", report.common)
    yield from _group("Violated by several banks", report.several)
    yield from _group("Violated by one bank only", report.own)
    if report.changes:
        yield from _change_lines(report.changes)
    yield headline(report)
    yield from caveats(report)


def _group(title: str, obligations: tuple[FleetObligation, ...]) -> Iterator[str]:
    if not obligations:
        return
    yield f"{title} ({len(obligations):,})"
    for obligation in obligations[:SHOWN]:
        yield f"  {violation_line(obligation)}"
        yield f"      {bounded(obligation.planned.says, WIDTH)}"
        first = obligation.verdicts[obligation.banks(Standing.VIOLATES)[0]]
        yield f"      {bounded(first.reason, WIDTH)}"
    if len(obligations) > SHOWN:
        yield f"  and {len(obligations) - SHOWN:,} more"
    yield ""


def _change_lines(changes: Changes) -> Iterator[str]:
    yield f"Since the run of {changes.since}"
    groups = (
        ("new violation", changes.new_violations),
        ("violation resolved", changes.resolved),
        ("other change", changes.others),
    )
    for noun, group in groups:
        if group:
            plural = {"violation resolved": "violations resolved"}.get(noun, "")
            yield f"  {counted(len(group), noun, plural)}"
            yield from (f"    {change_line(each)}" for each in group[:SHOWN])
    for word, names in (("added", changes.added), ("removed", changes.removed)):
        if names:
            yield f"  banks {word}: {', '.join(names)}"
    if not (changes.verdicts or changes.added or changes.removed):
        yield "  nothing changed"
    yield ""


# -- JSON ---------------------------------------------------------------------------
def render_json(report: FleetReport, out: TextIO) -> None:
    """Write the report as JSON, indented, in a fixed order."""
    json.dump(as_values(report), out, ensure_ascii=False, indent=1)
    out.write("\n")


def as_values(report: FleetReport) -> _Values:
    """Return the report as JSON values."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "assay", "version": report.version},
        "fleet": report.name,
        "headline": headline(report),
        "caveats": list(caveats(report)),
        "run": {
            "started": report.started,
            "finished": report.finished,
            "interrupted": report.interrupted,
            "command": report.command,
            "fail_on": report.fail_on,
            "exit_code": report.exit,
        },
        "banks": [_bank(bank) for bank in report.banks],
        "common": [each.id for each in report.common],
        "several": [each.id for each in report.several],
        "own": [
            {"bank": each.banks(Standing.VIOLATES)[0], "obligation": each.id} for each in report.own
        ],
        "obligations": [_obligation(each) for each in report.obligations],
        **({"changes": _changes(report.changes)} if report.changes else {}),
    }


def _bank(bank: BankRow) -> _Values:
    return {
        "name": bank.name,
        "counts": bank.counts,
        "seconds": round(bank.seconds, 3),
        "exchanges": bank.exchanges,
        "contracts": [
            {
                "contract": cell.contract,
                "state": cell.state.value,
                "reason": cell.reason,
                "exit_code": cell.exit.value,
                "journal": cell.journal,
                **({"waivers": [*map(as_record, cell.waivers)]} if cell.waivers else {}),
            }
            for cell in bank.cells
        ],
    }


def _obligation(obligation: FleetObligation) -> _Values:
    verdicts = obligation.verdicts.items()
    return {
        "id": obligation.id,
        "clause": f"{obligation.planned.contract}/{obligation.planned.clause}",
        "statement": obligation.planned.says,
        "verdicts": {bank: verdict.standing.value for bank, verdict in verdicts},
        "reasons": {bank: verdict.reason for bank, verdict in verdicts if verdict.reason},
    }


def _changes(changes: Changes) -> _Values:
    return {
        "since": changes.since,
        "added": list(changes.added),
        "removed": list(changes.removed),
        "verdicts": [*map(_change, changes.verdicts)],
    }


def _change(change: VerdictChange) -> _Values:
    before = change.before.value if change.before else None
    now = change.now.value if change.now else None
    return {**asdict(change), "before": before, "now": now}


# -- HTML ---------------------------------------------------------------------------
#: Characters of a reason.
TEXT = 600


def render_html(report: FleetReport, out: TextIO) -> None:
    """Write the report as one HTML page."""
    chunks = page_template("html/fleet.html.j2").generate(
        report=report,
        headline=headline(report),
        caveats=caveats(report),
        standings=tuple(Standing),
        tested=CellState.TESTED,
        page_of=_page_of,
        short=_short,
    )
    out.writelines(chunks)
    out.write("\n")


def _page_of(cell: FleetCell) -> str:
    return str(PurePosixPath(cell.journal).with_name("report.html"))


def _short(text: str) -> str:
    return bounded(text, TEXT)
