"""Matrix of the source document: each of its lines with clauses, verdicts and open points.

A regulator reads a report from the document: which of its sentences were tested, with what result,
and which not. The lines come from the outlines of the contracts and from the sources of clauses.
Without an outline only the lines that a clause names are known, so none is called uncovered.
Contracts of one document share one matrix. Pure: from a `Report` to frozen values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from assay.contract.model import OpenPoint
from assay.report.values import ContractOutline, Report, ReportedResult
from assay.report.views import is_open_point
from assay.rules.verdict import Standing

Counts = tuple[tuple[Standing, int], ...]


class Coverage(Enum):
    """How a line of the document is covered; the value is what a report says."""

    TESTED = "clause"
    OPEN = "open point"
    SCOPE = "scope"
    NOT_IN_RUN = "not part of this run"
    EXCLUDED = "no requirement"
    UNCOVERED = "not covered"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineEntry:
    """A clause or an open point about a line, with the words that it quotes, and its results."""

    contract: str
    clause: str
    statement: str
    open_point: bool
    quotes: tuple[str, ...]
    results: tuple[ReportedResult, ...]

    @property
    def counts(self) -> Counts:
        """Return the verdicts of its obligations that occur, each with its number."""
        return counts_of(self.results)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixLine:
    """A line of the document and everything about it.

    `line` is 0 for a general rule that no line states. `cited` says that a clause names the line,
    even if the clause is not part of the run; `reason` says why the line needs no clause.
    """

    section: str
    line: int
    quotes: tuple[str, ...] = ()
    entries: tuple[LineEntry, ...] = ()
    scope: tuple[OpenPoint, ...] = ()
    cited: bool = False
    reason: str = ""

    @property
    def coverage(self) -> Coverage:
        """Return how the line is covered; the strongest form counts."""
        if any(not entry.open_point for entry in self.entries):
            return Coverage.TESTED
        forms = (
            (self.entries, Coverage.OPEN),
            (self.scope, Coverage.SCOPE),
            (self.cited, Coverage.NOT_IN_RUN),
            (self.reason, Coverage.EXCLUDED),
        )
        return next((coverage for content, coverage in forms if content), Coverage.UNCOVERED)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixSection:
    """A section of the document with its lines, in their order."""

    title: str
    lines: tuple[MatrixLine, ...]

    @property
    def counts(self) -> Counts:
        """Return the verdicts of the section; an obligation counts once, for however many lines."""
        results = (
            result for line in self.lines for entry in line.entries for result in entry.results
        )
        return counts_of({result.planned.id: result for result in results}.values())

    def covered(self, *coverage: Coverage) -> int:
        """Return how many of its lines are covered in one of these ways."""
        return sum(line.coverage in coverage for line in self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMatrix:
    """The matrix of one document.

    `outlined` says that all lines of the document are known, so that uncovered ones can be named.
    """

    document: str
    contracts: tuple[str, ...]
    outlined: bool
    sections: tuple[MatrixSection, ...]

    @property
    def lines(self) -> tuple[MatrixLine, ...]:
        """Return all lines of the document, without general rules."""
        return tuple(line for section in self.sections for line in section.lines if line.line)

    @property
    def uncovered(self) -> tuple[MatrixLine, ...]:
        """Return the lines that nothing covers."""
        return tuple(line for line in self.lines if line.coverage is Coverage.UNCOVERED)


@dataclass(slots=True, kw_only=True)
class _DraftLine:
    quotes: dict[str, None] = field(default_factory=dict[str, None])
    results: dict[tuple[str, str], list[ReportedResult]] = field(
        default_factory=dict[tuple[str, str], list[ReportedResult]]
    )
    words: dict[tuple[str, str], dict[str, None]] = field(
        default_factory=dict[tuple[str, str], dict[str, None]]
    )
    scope: list[OpenPoint] = field(default_factory=list[OpenPoint])
    cited: bool = False
    reason: str = ""


_Draft = dict[str, dict[int, _DraftLine]]


def source_matrices(report: Report) -> tuple[SourceMatrix, ...]:
    """Return the matrix of each document that the contracts of a report come from."""
    documents: dict[str, list[str]] = {}
    for contract in report.header.contracts:
        documents.setdefault(contract.document, []).append(contract.id)
    return tuple(
        _matrix(report, document, tuple(contracts)) for document, contracts in documents.items()
    )


def counts_of(results: Iterable[ReportedResult]) -> Counts:
    """Return the verdicts that occur, in their order, each with its number."""
    numbers = Counter(result.standing for result in results)
    return tuple((standing, numbers[standing]) for standing in Standing if numbers[standing])


def _matrix(report: Report, document: str, contracts: tuple[str, ...]) -> SourceMatrix:
    outlines = [each for each in report.header.outlines if each.contract in contracts]
    draft: _Draft = {}
    for outline in outlines:
        _take_outline(draft, outline)
    for result in report.results:
        if result.planned.contract in contracts and not result.planned.of_bank_document:
            _take_result(draft, result)
    for other in report.elsewhere:
        if other.planned.contract in contracts and not other.planned.of_bank_document:
            for source in other.planned.sources:
                _line(draft, source.section, source.line).cited = True
    return SourceMatrix(
        document=document,
        contracts=contracts,
        outlined=bool(contracts) and len(outlines) == len(contracts),
        sections=tuple(_sections(draft)),
    )


def _line(draft: _Draft, section: str, line: int) -> _DraftLine:
    return draft.setdefault(section, {}).setdefault(line, _DraftLine())


def _take_outline(draft: _Draft, outline: ContractOutline) -> None:
    for title, lines in outline.sections:
        for line in lines:
            _line(draft, title, line)
    for title, lines in outline.cited:
        for line in lines:
            _line(draft, title, line).cited = True
    for each in outline.not_requirements:
        for line in each.lines:
            _line(draft, each.section, line).reason = each.reason
    for point in outline.scope:
        for source in point.sources:
            line_draft = _line(draft, source.section, source.line)
            line_draft.quotes[source.text] = None
            if point not in line_draft.scope:
                line_draft.scope.append(point)


def _take_result(draft: _Draft, result: ReportedResult) -> None:
    planned = result.planned
    clause = (planned.contract, planned.clause)
    for place in dict.fromkeys((source.section, source.line) for source in planned.sources):
        _line(draft, *place).results.setdefault(clause, []).append(result)
    for source in planned.sources:
        line_draft = _line(draft, source.section, source.line)
        line_draft.quotes[source.text] = None
        line_draft.words.setdefault(clause, {})[source.text] = None


def _sections(draft: _Draft) -> Iterator[MatrixSection]:
    """Yield the sections in the order of their lines; general rules, which have none, come last."""
    ordered = sorted(draft.items(), key=lambda item: 0 in item[1])
    for title, lines in ordered:
        yield MatrixSection(
            title=title,
            lines=tuple(_matrix_line(title, number, lines[number]) for number in sorted(lines)),
        )


def _matrix_line(section: str, number: int, draft: _DraftLine) -> MatrixLine:
    quotes = [text for text in draft.quotes if text]
    return MatrixLine(
        section=section,
        line=number,
        quotes=tuple(
            text for text in quotes if not any(text != other and text in other for other in quotes)
        ),
        entries=tuple(
            LineEntry(
                contract=contract,
                clause=clause,
                statement=results[0].planned.says,
                open_point=is_open_point(results[0].planned),
                quotes=tuple(filter(None, draft.words.get((contract, clause), ()))),
                results=tuple(results),
            )
            for (contract, clause), results in draft.results.items()
        ),
        scope=tuple(draft.scope),
        cited=draft.cited,
        reason=draft.reason,
    )
