"""Decoder of journal lines into report values, cleaned and bounded.

Text enters a report only here, so no view has to remember that a target may be hostile. Each
function reads one kind of line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from enum import Enum
from pathlib import PureWindowsPath
from typing import Any, TypeVar

from assay.contract.model import BankAnswer, NotRequirement, OpenPoint, Source
from assay.journal.lines import Line
from assay.judging.waivers import WaiverResult, WaiverState
from assay.planning.plan import Disposition
from assay.report import sanitize
from assay.report.sanitize import shown_text
from assay.report.values import (
    KEPT,
    WAYS,
    ContractOutline,
    ContractRef,
    DocumentedAnswer,
    ElsewhereObligation,
    Footer,
    FoundSequence,
    Header,
    Headers,
    PlannedObligation,
    ReportedExchange,
    ReportedRequest,
    ReportedResponse,
    ReportedResult,
    ReportedSearch,
    SectionLines,
    TargetRef,
)
from assay.rules.verdict import Agreement, Evidence, Standing, Verdict

T = TypeVar("T")
E = TypeVar("E", bound=Enum)

FORMAT = 1
#: Numbers of exchanges that are read of one observation.
CITED = 100

STANDINGS = {standing.value: standing for standing in Standing}
_WEIGHT = {Agreement.DISAGREES: 0, Agreement.UNCLEAR: 1, Agreement.AGREES: 2}


def _command(line: Line, key: str) -> str:
    """Read a command to copy: its spaces matter, so only line breaks are shown."""
    return sanitize.clean(line.text(key, "")).replace("\n", r"\n")


def read_fields(kind: type[T], line: Line, **given: object) -> T:
    """Read the fields of a class from the keys of the same names; those without a default are required."""
    class_: Any = kind
    for field in fields(class_):
        if field.name not in given:
            default = None if field.default is MISSING else field.default
            given[field.name] = READERS[str(field.type)](line, field.name, default)
    return kind(**given)


#: The reader of a field, by its type.
READERS: Mapping[str, Callable[[Line, str, Any], object]] = {
    "str": shown_text,
    "int": Line.number_of,
    "float": Line.decimal,
    "bool": lambda line, key, default: line.flag(key, default=default),
    "tuple[str, ...]": lambda line, key, _: _texts(line, key),
}


def header(line: Line) -> Header:
    """Read the first line, or refuse a journal that is not ours."""
    if line.values.get("type") != "header" or "journal" not in line.values:
        line.refuse("not an Assay journal: the first line is no header")
    version = line.values["journal"]
    if version != FORMAT or isinstance(version, bool):
        line.refuse(f"journal format {version!r:.40} is unknown; known: {FORMAT}")
    selection = line.inner("selection")
    return read_fields(
        Header,
        line,
        contracts=tuple(
            read_fields(ContractRef, contract) for contract in line.objects("contracts")
        ),
        target=read_fields(TargetRef, line.inner("target")),
        selection={key: shown_text(selection, key) for key in ("k", "m")},
        command=_command(line, "command"),
        outlines=contract_outlines(line),
    )


def planned(line: Line) -> PlannedObligation:
    """Read a plan line."""
    return read_fields(
        PlannedObligation,
        line,
        id=obligation(line),
        sources=read_sources(line),
        decision=_decision(line),
    )


def _decision(line: Line) -> BankAnswer | None:
    """Read the bank's answer on which an obligation rests."""
    return read_fields(BankAnswer, line.inner("decision")) if "decision" in line.values else None


def elsewhere(line: Line) -> ElsewhereObligation:
    """Read the plan line of an obligation in another shard."""
    return read_fields(ElsewhereObligation, line, planned=planned(line), violated=False)


def disposition(line: Line) -> Disposition:
    """Read what the plan decided of an obligation."""
    try:
        return Disposition(line.text("disposition"))
    except ValueError:
        line.refuse("'disposition' is not known")


def standing(line: Line) -> Standing:
    """Read the verdict of a verdict line."""
    return _member(Standing, line, "verdict")


def evidence(line: Line, facet: str) -> tuple[Evidence, ...]:
    """Read the evidence of a verdict: disagreement first, the first few only."""
    items = sorted(
        (_evidence_item(item, facet) for item in line.objects("evidence")),
        key=lambda item: _WEIGHT[item.agreement],
    )
    return tuple(items[:KEPT])


def agreement(line: Line) -> Agreement:
    """Read what an observation says."""
    return _member(Agreement, line, "agreement")


def _member(kind: type[E], line: Line, key: str, what: str = "") -> E:
    word = line.text(key)
    try:
        return kind(word)
    except ValueError:
        line.refuse(f"unknown {what or key} {sanitize.clean(word, 40)!r}")


def _evidence_item(line: Line, facet: str) -> Evidence:
    decisive = line.number_of("decisive", 0)
    return Evidence(
        facet=facet,
        agreement=agreement(line),
        expected=shown_text(line, "expected"),
        seen=shown_text(line, "seen"),
        exchanges=_numbers(line, "exchanges", decisive),
        variation=shown_text(line, "variation"),
        decisive=decisive,
        controls=_numbers(line, "controls"),
        pointer=shown_text(line, "pointer"),
        header=sanitize.header_name(line.text("header", "")),
    )


def _numbers(line: Line, key: str, first: int = 0) -> tuple[int, ...]:
    """Read the numbers of exchanges, in order, as many as a report has room for."""
    numbers = line.list_of(key, int)
    if len(numbers) <= CITED:
        return tuple(numbers)
    kept = sorted({*numbers[:CITED], *({first} & {*numbers})})
    return tuple(kept)


def obligation(line: Line) -> str:
    """Read the id of the obligation that a line is about."""
    return shown_text(line, "obligation", None)


def result(line: Line, about: PlannedObligation) -> ReportedResult:
    """Read a verdict line."""
    return ReportedResult(
        planned=about,
        standing=standing(line),
        reason=shown_text(line, "reason"),
        evidence=evidence(line, about.facet),
        observations=len(line.objects("evidence")),
        calls=line.number_of("calls", 0),
        reproduce=_command(line, "reproduce"),
        trial=shown_text(line, "trial"),
    )


def verdict(line: Line, *, offset: int = 0) -> Verdict:
    """Read a verdict line to be judged by: all of its evidence, without the texts of it.

    `offset` is added to the numbers of the exchanges.
    """
    return Verdict(
        obligation=obligation(line),
        standing=standing(line),
        reason=line.text("reason", ""),
        evidence=tuple(
            Evidence(
                facet="",
                agreement=agreement(item),
                expected="",
                seen="",
                exchanges=tuple(n + offset for n in item.list_of("exchanges", int)),
            )
            for item in line.objects("evidence")
        ),
    )


def exchange_key(line: Line) -> tuple[str, int]:
    """Read the trial of an exchange, and its number in the trial."""
    return shown_text(line, "trial", None), line.number_of("n")


def exchange(line: Line) -> ReportedExchange:
    """Read an exchange line."""
    request, response = line.inner("request"), line.inner("response")
    outcome = line.inner("outcome")
    return read_fields(
        ReportedExchange,
        line,
        request=read_fields(
            ReportedRequest,
            request,
            method=sanitize.header_name(request.text("method", "")),
            headers=_headers(request),
            body=_body(request),
        ),
        response=read_fields(
            ReportedResponse, response, headers=_headers(response), body=_body(response)
        ),
        outcome=shown_text(outcome, "kind"),
        why=shown_text(outcome, "why"),
    )


def _body(line: Line) -> str:
    return sanitize.clean(line.text("body", ""), sanitize.BODY)


def _headers(line: Line) -> Headers:
    return tuple(
        (
            sanitize.header_name(name),
            sanitize.one_line(sanitize.clean(value, sanitize.HEADER_VALUE)),
        )
        for name, value in line.pairs("headers")[: sanitize.HEADERS]
    )


def search(line: Line) -> ReportedSearch:
    """Read a search and its findings."""
    how = line.text("how")
    if how not in WAYS:
        line.refuse(f"unknown kind of search {sanitize.clean(how, 40)!r}")
    seconds = line.decimal("seconds")
    if seconds < 0:
        line.refuse("'seconds' is negative")
    return read_fields(
        ReportedSearch,
        line,
        made=line.count("made"),
        exchanges=line.count("exchanges"),
        findings=tuple(
            read_fields(
                FoundSequence,
                finding,
                steps=finding.count("steps"),
                sequence=_relative_path(finding, "sequence"),
            )
            for finding in line.objects("findings")
        ),
        documented=tuple(
            read_fields(DocumentedAnswer, answer, exchanges=())
            for answer in line.objects("documented")
        ),
    )


def _texts(line: Line, key: str) -> tuple[str, ...]:
    return tuple(sanitize.clean(text) for text in line.list_of(key, str))


def _relative_path(line: Line, key: str) -> str:
    """Read the path of a file in the folder of the journal, or below."""
    # A Windows path recognises every form of absolute path. It is read before the text is
    # cleaned, because a cleaned text may begin with the backslash of an escape sequence.
    path = PureWindowsPath(sanitize.one_line(line.text(key, "")))
    if path.anchor or ".." in path.parts:
        line.refuse(f"{key!r} is not a path below the folder of the journal")
    return shown_text(line, key)


def resumed(line: Line) -> None:
    """Check the line of a run that was resumed."""
    for key in ("at", "version"):
        line.text(key)


def waivers(line: Line) -> tuple[WaiverResult, ...]:
    """Read the waivers of a run with their states."""
    return tuple(
        read_fields(
            WaiverResult,
            waiver,
            state=_member(WaiverState, waiver, "state", "state of a waiver"),
            waived=tuple(map(sanitize.one_line, _texts(waiver, "waived"))),
            violated=tuple(map(sanitize.one_line, _texts(waiver, "violated"))),
        )
        for waiver in line.objects("waivers")
    )


def footer(line: Line) -> Footer:
    """Read the closing line."""
    counts = line.inner("counts")
    return read_fields(
        Footer,
        line,
        counts={verdict: counts.number_of(verdict, 0) for verdict in STANDINGS},
        reasons=tuple(map(sanitize.one_line, _texts(line, "reasons"))),
    )


# -- the outline of a document --------------------------------------------------
def contract_outlines(header: Line) -> tuple[ContractOutline, ...]:
    """Read the outlines of the contracts in the header line."""
    contracts = (each for each in header.objects("contracts") if "outline" in each.values)
    return tuple(map(_contract_outline, contracts))


def read_sources(line: Line) -> tuple[Source, ...]:
    """Read the places in the document that a line names."""
    return tuple(
        Source(
            section=shown_text(source, "section"),
            line=source.number_of("line", 0),
            text=shown_text(source, "text"),
        )
        for source in line.objects("sources")
    )


def _contract_outline(contract: Line) -> ContractOutline:
    outline = contract.inner("outline")
    return ContractOutline(
        contract=shown_text(contract, "id"),
        document=shown_text(contract, "document"),
        sections=_section_lines(outline, "sections"),
        cited=_section_lines(outline, "cited"),
        not_requirements=tuple(
            NotRequirement(
                section=shown_text(each, "section"),
                lines=tuple(each.list_of("lines", int)),
                reason=shown_text(each, "reason"),
            )
            for each in outline.objects("not_requirements")
        ),
        scope=tuple(
            OpenPoint(
                id=shown_text(each, "id"),
                statement=shown_text(each, "statement"),
                sources=read_sources(each),
            )
            for each in outline.objects("scope")
        ),
    )


def _section_lines(outline: Line, key: str) -> tuple[SectionLines, ...]:
    return tuple(
        (shown_text(section, "title"), tuple(section.list_of("lines", int)))
        for section in outline.objects(key)
    )
