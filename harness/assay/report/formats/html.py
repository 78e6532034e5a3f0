"""The HTML report: one self-contained page, the findings first and the record below.

The page loads nothing. Its content policy allows one style sheet and one script, by their digests;
the page is complete without the script, which only filters, opens and closes what is there. Every
text passes Jinja's autoescape.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from pathlib import PureWindowsPath
from typing import TextIO

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template

from assay.report.cards import evidence_of
from assay.report.journal_exchanges import (
    OperationTraffic,
    TrafficSummary,
    context_values,
    read_traffic_summary,
)
from assay.report.sanitize import bounded, css_string
from assay.report.source_matrix import Coverage, MatrixLine, SourceMatrix, source_matrices
from assay.report.timeline import EntryKind
from assay.report.values import Report, ReportedResult
from assay.report.views import (
    ClauseRow,
    by_clause,
    by_reason,
    call_title,
    entry_outcome,
    is_open_point,
    reason_of,
    source_text,
)
from assay.report.wording import (
    KEPT,
    MEANINGS,
    SAID,
    SIGNS,
    answer_summary,
    closing,
    counted,
    decided_summary,
    duration,
    harness_notes,
    headline,
    search_notes,
    search_summary,
    target_caveats,
    waiver_sentence,
)
from assay.rules.verdict import Standing

#: Findings listed of each search, observations on each card, and the length of their texts.
FOUND = 100
FINDINGS = 5
TEXT = 1_000

# -- Tables --------------------------------------------------------------------------------------
# The template only lays out what it gets here; texts are escaped there.
#: The part of a chart that the longest bar fills.
FULL = 100.0
_SECOND = 1_000
_LONG = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSection:
    """A section of the page, as the contents list names it."""

    id: str
    title: str
    number: int | None = None


def page_sections(
    report: Report,
    matrices: Sequence[SourceMatrix],
    coverage: CoverageTable | None,
    traffic: TrafficSummary,
) -> Mapping[str, PageSection]:
    """Return the sections that the page has, in their order."""

    def of(id_: str, title: str, standing: Standing) -> tuple[str, str, object, int | None]:
        number = len(report.of(standing))
        return id_, title, number, number

    rows: tuple[tuple[str, str, object, int | None], ...] = (
        of("violations", "Violations", Standing.VIOLATES),
        of("inconclusive", "Inconclusive", Standing.INDETERMINATE),
        ("result", "Verdicts", True, None),
        ("about", "Scope", True, None),
        of("unverified", "Not verified", Standing.UNVERIFIED),
        of("waived", "Known non-conformities, waived", Standing.WAIVED),
        ("waivers", "Waivers", report.waivers, len(report.waivers)),
        ("clauses", "All clauses", report.results, None),
        ("document", "Source document", any(each.lines for each in matrices), None),
        ("coverage", "Contexts", coverage, None),
        ("traffic", "Calls and latency", traffic.operations, None),
        of("open-points", "Open points of the document", Standing.UNSPECIFIED),
        of("not-applicable", "Not applicable", Standing.NOT_APPLICABLE),
        ("search", "Search", report.searches, None),
        ("record", "Record", True, None),
        ("faults", "Harness faults", report.faults, len(report.faults)),
    )
    return {
        id_: PageSection(id=id_, title=title, number=number)
        for id_, title, there, number in rows
        if there
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRow:
    """A clause, the number of contexts of its trials, and the values tested of each dimension."""

    clause: str
    contexts: int
    values: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageTable:
    """The values of each dimension that trials of each clause had; `dimensions` have all values."""

    dimensions: tuple[tuple[str, tuple[str, ...]], ...]
    rows: tuple[CoverageRow, ...]


def coverage_table(traffic: TrafficSummary, clauses: Sequence[ClauseRow]) -> CoverageTable | None:
    """Return what further contexts were tested of each clause, or None if none was."""
    dimensions: dict[str, dict[str, None]] = {}
    tested: dict[str, dict[str, dict[str, None]]] = {}
    contexts: dict[str, int] = {}
    for trial, known in traffic.contexts.items():
        clause = trial.partition("#")[0]
        for context in filter(None, known):
            contexts[clause] = contexts.get(clause, 0) + 1
            for dimension, value in context_values(context):
                dimensions.setdefault(dimension, {})[value] = None
                tested.setdefault(clause, {}).setdefault(dimension, {})[value] = None
    if not dimensions:
        return None
    names = (f"{row.contract}/{row.clause}" for row in clauses)
    return CoverageTable(
        dimensions=tuple((name, tuple(sorted(values))) for name, values in dimensions.items()),
        rows=tuple(
            CoverageRow(
                clause=name,
                contexts=contexts[name],
                values=tuple(tuple(sorted(tested[name].get(each, ()))) for each in dimensions),
            )
            for name in names
            if name in tested
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficBar:
    """An operation with the lengths of its bars, in hundredths of the chart."""

    traffic: OperationTraffic
    calls: float
    median: float
    p95: float


def traffic_bars(traffic: TrafficSummary) -> tuple[TrafficBar, ...]:
    """Return the operations with the bars of their calls and latencies."""
    operations = traffic.operations
    most = max((each.calls for each in operations), default=0) or 1
    slowest = max((each.p95 for each in operations), default=0.0) or 1.0
    return tuple(
        TrafficBar(
            traffic=each,
            calls=round(FULL * each.calls / most, 1),
            median=round(FULL * each.median / slowest, 1),
            p95=round(FULL * each.p95 / slowest, 1),
        )
        for each in operations
    )


def latency(milliseconds: float) -> str:
    """Return a latency with its unit, to two digits and more where it is long."""
    if milliseconds >= _SECOND:
        return f"{milliseconds / _SECOND:,.2f} s"
    return f"{milliseconds:.2g} ms" if milliseconds < _LONG else f"{milliseconds:,.0f} ms"


def not_applicable_groups(report: Report) -> tuple[tuple[str, tuple[ReportedResult, ...]], ...]:
    """Return the obligations that do not apply, by the kind of the reason."""
    titles = ("Not offered by this bank", "Cannot occur at this target")
    groups: dict[str, list[ReportedResult]] = {title: [] for title in titles}
    for result in report.of(Standing.NOT_APPLICABLE):
        planned = result.planned
        names = {planned.clause, f"{planned.clause}/{planned.facet}"}
        offered = names.isdisjoint(report.header.not_offered)
        offered = offered and result.reason not in report.header.absent
        groups[titles[offered]].append(result)
    return tuple((title, tuple(results)) for title, results in groups.items() if results)


def contract_name(path: str) -> str:
    """Return the path of a contract file; of one outside the working directory only its name."""
    # A Windows path recognises every form of absolute path.
    parts = PureWindowsPath(path)
    return parts.name if parts.anchor or ".." in parts.parts else path


def short(text: str, limit: int = TEXT) -> str:
    """Return a text of a card, bounded."""
    return bounded(text, limit)


def time_text(text: str) -> str:
    """Return a time for people, to the second and with its zone; any other text as it is."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return text
    zone = "UTC" if time.utcoffset() == timedelta() else time.strftime("%z") or "(no zone)"
    return f"{time:%Y-%m-%d %H:%M:%S} {zone}"


def run_label(report: Report) -> str:
    """Return what identifies a run on every printed page."""
    footer = report.footer
    digest = f"journal {footer.digest}" if footer else "unfinished, without a digest"
    return f"Assay {report.header.version}, run of {time_text(report.header.started)}\n{digest}"


def item_words(result: ReportedResult) -> Mapping[str, str]:
    """Return the words by which the page filters an obligation."""
    planned = result.planned
    return {
        "v": result.standing.value,
        "c": planned.contract,
        "k": planned.kind,
        "l": planned.level,
    }


#: The attributes by which the page filters, with the labels of their chips.
_DIMENSIONS = {"v": "Verdict", "c": "Contract", "l": "Level", "k": "Rule kind"}


def filters(report: Report) -> Iterator[tuple[str, str, Mapping[str, int]]]:
    """Yield the key, the label and the counted values of what obligations differ in."""
    for key, label in _DIMENSIONS.items():
        counts = Counter(item_words(result)[key] for result in report.results)
        order = (each.value for each in Standing) if key == "v" else sorted(counts)
        values = {value: counts[value] for value in order if value and counts[value]}
        if len(values) > 1:
            yield key, label, values


def line_words(line: MatrixLine) -> Mapping[str, str]:
    """Return the words by which the page filters a line of the document."""
    items = [item_words(result) for entry in line.entries for result in entry.results]
    return {key: " ".join(dict.fromkeys(item[key] for item in items)) for key in _DIMENSIONS}


# -- The page ------------------------------------------------------------------------------------


def render(report: Report, out: TextIO) -> None:
    """Write the report as one HTML page."""
    style = page_text("html/page.css") + _running_footer(report)
    script = page_text("html/page.js")
    traffic = read_traffic_summary(report.journal)
    evidence = evidence_of(report, traffic.contexts)
    rows = by_clause(report)
    matrices = source_matrices(report)
    coverage = coverage_table(traffic, rows)
    chunks = page_template("html/page.html.j2").generate(
        **_NAMES,
        report=report,
        page_style=style,
        script=script,
        policy=content_policy(style, script),
        headline=headline(report),
        caveats=target_caveats(report),
        harness=tuple(harness_notes(report)),
        closing=closing(report),
        filters=filters(report),
        evidence=evidence,
        groups=by_reason(report.of(Standing.UNVERIFIED)),
        rows=rows,
        matrices=matrices,
        coverage=coverage,
        questions=report.open_questions,
        decided=report.decided,
        decided_summary=decided_summary(report),
        inapplicable=not_applicable_groups(report),
        traffic=traffic,
        bars=traffic_bars(traffic),
        sections=page_sections(report, matrices, coverage, traffic),
        most=FOUND,
        planned=frozenset(result.planned.id for result in report.results),
        duration="" if report.seconds is None else duration(report.seconds),
    )
    out.writelines(chunks)
    out.write("\n")


def _running_footer(report: Report) -> str:
    """Return the style of a printed page's margin: the run and its digest, and the page number."""
    return (
        f"@page {{ @bottom-left {{ content: {css_string(run_label(report))};"
        " font: 7pt monospace; white-space: pre-line; }"
        ' @bottom-right { content: counter(page) " / " counter(pages); font: 7pt monospace; } }\n'
    )


def content_policy(style: str, script: str) -> str:
    """Return the policy that allows this style sheet and this script, and nothing else."""
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none';"
        f" style-src {digest(style)}; script-src {digest(script)}"
    )


def digest(text: str) -> str:
    """Return the digest of a script or a style sheet, as a content policy names it."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


@lru_cache
def page_text(name: str) -> str:
    """Return the text of a file of the pages."""
    return files("assay.report").joinpath(name).read_text(encoding="utf-8")


@lru_cache
def _environment() -> Environment:
    # Autoescape is on for every template of this environment, whatever its name.
    return Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(page_text),
    )


def page_template(name: str) -> Template:
    """Return the template of a page, with the style that all pages share."""
    return _environment().get_template(name, globals={"style": page_text("html/page.css")})


#: The functions and tables that the template uses, besides the report.
_NAMES: Mapping[str, object] = {
    "Standing": Standing,
    "Coverage": Coverage,
    "EntryKind": EntryKind,
    "signs": SIGNS,
    "meanings": MEANINGS,
    "findings": FINDINGS,
    "counted": counted,
    "call_title": call_title,
    "contract_name": contract_name,
    "duration_of": duration,
    "item_words": item_words,
    "line_words": line_words,
    "latency": latency,
    "entry_outcome": entry_outcome,
    "moment": time_text,
    "search_summary": search_summary,
    "answer_summary": answer_summary,
    "search_notes": search_notes,
    "source_text": source_text,
    "waiver_sentence": waiver_sentence,
    "reason": reason_of,
    "KEPT": KEPT,
    "SAID": SAID,
    "short": short,
    "open_point": is_open_point,
}
