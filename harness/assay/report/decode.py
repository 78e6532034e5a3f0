"""From a journal's lines to a report's values, cleaned and bounded on the way.

This is the only place where text enters a report, so no view has to remember
that a target is hostile. Each function reads one kind of line and knows
nothing of the others.
"""

from __future__ import annotations

from pathlib import PureWindowsPath

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

FORMAT = 1

_WORDS = {standing.value: standing for standing in Standing}
_AGREEMENTS = {agreement.value: agreement for agreement in Agreement}
_WEIGHT = {Agreement.DISAGREES: 0, Agreement.UNCLEAR: 1, Agreement.AGREES: 2}


def _clean(line: Line, key: str, default: str | None = "") -> str:
    return sanitize.one_line(sanitize.clean(line.text(key, default)))


def _command(line: Line, key: str) -> str:
    """Read a command to copy: its spaces matter, so only line breaks are shown."""
    return sanitize.clean(line.text(key, "")).replace("\n", r"\n")


def header(line: Line) -> Header:
    """Read the first line, or refuse a record that is not ours."""
    if line.values.get("type") != "header" or "journal" not in line.values:
        line.refuse("not an Assay journal: the first line is no header")
    version = line.values["journal"]
    if version != FORMAT or isinstance(version, bool):
        line.refuse(f"journal format {version!r:.40} is unknown; known: {FORMAT}")
    target = line.inner("target")
    selection = line.inner("selection")
    return Header(
        tool=_clean(line, "tool", None),
        version=_clean(line, "version"),
        started=_clean(line, "started"),
        seed=line.number_of("seed", 0),
        contracts=tuple(_contract(one) for one in line.objects("contracts")),
        target=TargetRef(
            name=_clean(target, "name"),
            transport=_clean(target, "transport"),
            base_url=_clean(target, "base_url"),
            digest=_clean(target, "digest"),
        ),
        selection={key: _clean(selection, key) for key in ("k", "m")},
        command=_command(line, "command"),
        party=_clean(line, "party", "bank"),
    )


def _contract(line: Line) -> ContractRef:
    keys = ("title", "version", "digest", "path", "document")
    return ContractRef(id=_clean(line, "id", None), **{key: _clean(line, key) for key in keys})


def planned(line: Line) -> PlannedObligation:
    """Read a plan line."""
    return PlannedObligation(
        id=_clean(line, "obligation", None),
        contract=_clean(line, "contract", None),
        clause=_clean(line, "clause", None),
        facet=_clean(line, "facet"),
        kind=_clean(line, "kind", None),
        level=_clean(line, "level"),
        says=_clean(line, "says", None),
        asks=_clean(line, "asks"),
        sources=tuple(
            Source(
                section=_clean(one, "section"),
                line=one.number_of("line", 0),
                text=_clean(one, "text"),
            )
            for one in line.objects("sources")
        ),
        line=line.number_of("line", 0),
        needs=tuple(sanitize.clean(one) for one in line.list_of("needs", str)),
        calls=line.number_of("calls", 0),
        trial=_clean(line, "trial"),
        fate=_clean(line, "fate", None),
        why=_clean(line, "why"),
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
    body = response.text("body", "")
    return ReportedExchange(
        trial=_clean(line, "trial", None),
        n=line.number_of("n"),
        at=_clean(line, "at"),
        operation=_clean(line, "operation"),
        subject=_clean(line, "subject"),
        present=line.flag("present", default=False),
        variation=_clean(line, "variation"),
        request=ReportedRequest(
            method=sanitize.header_name(request.text("method", "")),
            url=_clean(request, "url"),
            headers=_headers(request),
            body=sanitize.clean(request.text("body", ""), sanitize.BODY),
        ),
        response=ReportedResponse(
            status=response.number_of("status", 0),
            headers=_headers(response),
            body=sanitize.clean(body, sanitize.BODY),
            truncated=response.flag("truncated", default=False),
        ),
        outcome=_clean(outcome, "kind"),
        why=_clean(outcome, "why"),
        ms=line.decimal("ms", 0.0),
    )


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
        line.refuse("'seconds' is less than nought")
    return ReportedSearch(
        contract=_clean(line, "contract", None),
        how=how,
        made=line.count("made"),
        exchanges=line.count("exchanges"),
        seconds=seconds,
        seed=line.number_of("seed"),
        findings=tuple(
            FoundSequence(
                obligation=_clean(one, "obligation", None),
                steps=one.count("steps"),
                story=_beside(one, "story"),
            )
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
    return Fault(where=_clean(line, "where"), what=_clean(line, "what"))


def footer(line: Line) -> Footer:
    """Read the closing line."""
    counts = line.inner("counts")
    return Footer(
        finished=_clean(line, "finished"),
        planned=line.number_of("planned"),
        counts={word: counts.number_of(word, 0) for word in _WORDS},
        exchanges=line.number_of("exchanges", 0),
        faults=line.number_of("faults", 0),
        exit=line.number_of("exit"),
        digest=_clean(line, "digest", None),
        aborted=_clean(line, "aborted"),
    )
