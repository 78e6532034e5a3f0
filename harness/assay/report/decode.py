"""Decoder of journal lines into report values, cleaned and bounded.

Text enters a report only here, so no view has to remember that a target may be hostile. Each
function reads one kind of line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from pathlib import PureWindowsPath
from typing import Any, TypeVar

from assay.contract.model import Source
from assay.journal.lines import Line
from assay.judging.verdict import Agreement, Evidence, Standing
from assay.report import sanitize
from assay.report.values import (
    KEPT,
    WAYS,
    ContractRef,
    Fault,
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
    TargetRef,
)

T = TypeVar("T")

FORMAT = 1

_WORDS = {standing.value: standing for standing in Standing}
_AGREEMENTS = {agreement.value: agreement for agreement in Agreement}
_WEIGHT = {Agreement.DISAGREES: 0, Agreement.UNCLEAR: 1, Agreement.AGREES: 2}


def _clean(line: Line, key: str, default: str | None = "") -> str:
    return sanitize.one_line(sanitize.clean(line.text(key, default)))


def _command(line: Line, key: str) -> str:
    """Read a command to copy: its spaces matter, so only line breaks are shown."""
    return sanitize.clean(line.text(key, "")).replace("\n", r"\n")


def _read(kind: type[T], line: Line, **given: object) -> T:
    """Read the fields of a class, each from the key of its name; what has no default must be there."""
    known: Any = kind
    for one in fields(known):
        if one.name not in given:
            default = None if one.default is MISSING else one.default
            given[one.name] = READERS[str(one.type)](line, one.name, default)
    return kind(**given)


#: What reads a field, by its type.
READERS: Mapping[str, Callable[[Line, str, Any], object]] = {
    "str": _clean,
    "int": Line.number_of,
    "float": Line.decimal,
    "bool": lambda line, key, default: line.flag(key, default=default),
}


def header(line: Line) -> Header:
    """Read the first line, or refuse a record that is not ours."""
    if line.values.get("type") != "header" or "journal" not in line.values:
        line.refuse("not an Assay journal: the first line is no header")
    version = line.values["journal"]
    if version != FORMAT or isinstance(version, bool):
        line.refuse(f"journal format {version!r:.40} is unknown; known: {FORMAT}")
    selection = line.inner("selection")
    return _read(
        Header,
        line,
        contracts=tuple(_read(ContractRef, one) for one in line.objects("contracts")),
        target=_read(TargetRef, line.inner("target")),
        selection={key: _clean(selection, key) for key in ("k", "m")},
        command=_command(line, "command"),
    )


def planned(line: Line) -> PlannedObligation:
    """Read a plan line."""
    return _read(
        PlannedObligation,
        line,
        id=obligation(line),
        sources=tuple(
            Source(
                section=_clean(one, "section"),
                line=one.number_of("line", 0),
                text=_clean(one, "text"),
            )
            for one in line.objects("sources")
        ),
        needs=tuple(sanitize.clean(one) for one in line.list_of("needs", str)),
    )


def standing(line: Line) -> Standing:
    """Read the verdict word of a verdict line."""
    word = line.text("verdict")
    if word not in _WORDS:
        line.refuse(f"unknown verdict {sanitize.clean(word, 40)!r}")
    return _WORDS[word]


def evidence(line: Line, facet: str) -> tuple[Evidence, ...]:
    """Read a verdict's evidence, what speaks against the target first, bounded."""
    found = sorted(
        (_one_evidence(one, facet) for one in line.objects("evidence")),
        key=lambda one: _WEIGHT[one.agreement],
    )
    return tuple(found[:KEPT])


def _one_evidence(line: Line, facet: str) -> Evidence:
    word = line.text("agreement")
    if word not in _AGREEMENTS:
        line.refuse(f"unknown agreement {sanitize.clean(word, 40)!r}")
    return Evidence(
        facet=facet,
        agreement=_AGREEMENTS[word],
        expected=_clean(line, "expected"),
        seen=_clean(line, "seen"),
        exchanges=tuple(line.list_of("exchanges", int)[:KEPT]),
        variation=_clean(line, "variation"),
    )


def obligation(line: Line) -> str:
    """Read which obligation a verdict line is about."""
    return _clean(line, "obligation", None)


def result(line: Line, about: PlannedObligation) -> ReportedResult:
    """Read a verdict line; a conforming one keeps only how much evidence it had."""
    word = standing(line)
    found = evidence(line, about.facet)
    return ReportedResult(
        planned=about,
        standing=word,
        reason=_clean(line, "reason"),
        evidence=() if word is Standing.CONFORMS else found,
        observations=len(line.objects("evidence")),
        calls=line.number_of("calls", 0),
        reproduce=_command(line, "reproduce"),
        trial=_clean(line, "trial"),
    )


def exchange_key(line: Line) -> tuple[str, int]:
    """Read which exchange this is: its trial and its number there."""
    return _clean(line, "trial", None), line.number_of("n")


def exchange(line: Line) -> ReportedExchange:
    """Read an exchange line."""
    request, response = line.inner("request"), line.inner("response")
    outcome = line.inner("outcome")
    return _read(
        ReportedExchange,
        line,
        request=_read(
            ReportedRequest,
            request,
            method=sanitize.header_name(request.text("method", "")),
            headers=_headers(request),
            body=_body(request),
        ),
        response=_read(
            ReportedResponse, response, headers=_headers(response), body=_body(response)
        ),
        outcome=_clean(outcome, "kind"),
        why=_clean(outcome, "why"),
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
    """Read what a search did and found."""
    how = line.text("how")
    if how not in WAYS:
        line.refuse(f"unknown way of searching {sanitize.clean(how, 40)!r}")
    seconds = line.decimal("seconds")
    if seconds < 0:
        line.refuse("'seconds' is negative")
    return _read(
        ReportedSearch,
        line,
        made=line.count("made"),
        exchanges=line.count("exchanges"),
        findings=tuple(
            _read(FoundSequence, one, steps=one.count("steps"), sequence=_beside(one, "sequence"))
            for one in line.objects("findings")
        ),
    )


def _beside(line: Line, key: str) -> str:
    """Read the path of a file that lies where the journal lies, or below."""
    # Windows knows all the ways of other systems to begin a path elsewhere. What is
    # cleaned may begin with the backslash of a character that was spelled out.
    path = PureWindowsPath(sanitize.one_line(line.text(key, "")))
    if path.anchor or ".." in path.parts:
        line.refuse(f"{key!r} is no path from where the journal lies")
    return _clean(line, key)


def fault(line: Line) -> Fault:
    """Read a harness fault."""
    return _read(Fault, line)


def footer(line: Line) -> Footer:
    """Read the closing line."""
    counts = line.inner("counts")
    return _read(Footer, line, counts={word: counts.number_of(word, 0) for word in _WORDS})
