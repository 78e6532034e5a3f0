"""The JUnit XML report for build servers: one test case per obligation.

GitLab keeps only the first of two cases with one name, so the name is the whole
obligation id. It refuses files over 30 MB, so cards share a budget and say when it is
spent. Only a violation is a failure; every other verdict but `conforms` is `skipped`, with
the verdict in its message. A harness fault is an `error` in a suite of its own, and so is
a run that ended early or planned nothing, which a build server would otherwise show as
green. A search is no test case: the obligation that it found violated fails. Its size and
its findings are a property and the output of the contract's suite.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TextIO

from assay.judging.verdict import Standing
from assay.report.sanitize import bounded, xml, xml_attribute
from assay.report.values import Fault, Report, ReportedResult, ReportedSearch
from assay.report.views import card_lines, make_card, reason_of
from assay.report.wording import (
    answer_summary,
    finding_summary,
    headline,
    search_notes,
    search_summary,
    unfinished,
)

#: The size of all cards together, in bytes; well under GitLab's 30 MB.
BUDGET = 16_000_000
#: The length of a message, in characters.
MESSAGE = 300
#: Findings listed of each search.
FOUND = 100

SPENT = "(left out to keep this file under 30 MB; the JSON report has it)"


def render(report: Report, out: TextIO) -> None:
    """Write the report as JUnit XML."""
    seconds = f"{report.seconds or 0.0:.3f}"
    faults = tuple(_faults(report))
    totals = _totals(report.results, faults)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(f"<testsuites{_attributes({'name': 'assay', **totals, 'time': seconds})}>\n")
    budget = BUDGET
    for name in _contracts(report):
        results = tuple(result for result in report.results if result.planned.contract == name)
        out.write(_suite_start(report, name, _totals(results, ())))
        out.write(_properties(_about(report, name)))
        for result in results:
            path = report.contract(name).path
            text, budget = _case(result, path, budget)
            out.write(text)
        out.write(_output(report.searches_of(name)))
        out.write("</testsuite>\n")
    if faults:
        out.write(_suite_start(report, "assay.harness", _totals((), faults)))
        out.writelines(_fault(n, fault) for n, fault in enumerate(faults, start=1))
        out.write("</testsuite>\n")
    out.write("</testsuites>\n")


def _faults(report: Report) -> Iterator[Fault]:
    """Yield the harness faults, and runs that a build server would read as green."""
    yield from report.faults
    if not report.complete:
        yield Fault(where="run", what=unfinished(report))
    if not report.results:
        yield Fault(where="plan", what=headline(report))


def _contracts(report: Report) -> Iterable[str]:
    """Return the contracts that have a suite: each that was planned or searched."""
    planned = (result.planned.contract for result in report.results)
    return dict.fromkeys((*planned, *(search.contract for search in report.searches)))


def _totals(results: tuple[ReportedResult, ...], faults: tuple[Fault, ...]) -> Mapping[str, str]:
    passed = sum(result.standing is Standing.CONFORMS for result in results)
    failed = sum(result.standing is Standing.VIOLATES for result in results)
    return {
        "tests": str(len(results) + len(faults)),
        "failures": str(failed),
        "errors": str(len(faults)),
        "skipped": str(len(results) - passed - failed),
    }


def _suite_start(report: Report, name: str, totals: Mapping[str, str]) -> str:
    about = {"name": name, **totals, "timestamp": report.header.started}
    return f"<testsuite{_attributes(about)}>\n"


def _about(report: Report, name: str) -> Mapping[str, str]:
    contract, target = report.contract(name), report.header.target
    return {
        "headline": headline(report),
        "contract": f"{contract.id} {contract.version}".strip(),
        "contract-digest": contract.digest,
        "target": target.name,
        "target-digest": target.digest,
        "seed": str(report.header.seed),
        **{
            "-".join(filter(None, ("search", search.how, search.operation))): search_summary(search)
            for search in report.searches_of(name)
        },
    }


def _case(result: ReportedResult, path: str, budget: int) -> tuple[str, int]:
    planned = result.planned
    about = {
        "classname": f"{planned.contract}.{planned.clause}",
        "name": planned.id,
        **({"file": path} if path else {}),
        **({"line": str(planned.line)} if planned.line else {}),
    }
    properties = _properties(
        {
            "verdict": result.standing.value,
            "level": planned.level,
            "observations": str(result.observations),
        }
    )
    inside, budget = _inside(result, budget)
    return f"<testcase{_attributes(about)}>\n{properties}{inside}</testcase>\n", budget


def _inside(result: ReportedResult, budget: int) -> tuple[str, int]:
    if result.standing is Standing.CONFORMS:
        return "", budget
    message = bounded(result.reason, MESSAGE)
    if result.standing is not Standing.VIOLATES:
        reason = bounded(reason_of(result), MESSAGE)
        skipped = _attributes({"message": f"{result.standing.value}: {reason}"})
        return f"<skipped{skipped}/>\n", budget
    body = xml("\n".join(card_lines(make_card(result))))
    size = len(body.encode())
    if size > budget:
        body, size = SPENT, 0
    about = {"type": result.planned.clause, "message": message}
    return f"<failure{_attributes(about)}>{body}</failure>\n", budget - size


def _output(searches: Iterable[ReportedSearch]) -> str:
    """Return the findings of a contract's searches, as the output of its suite."""
    lines = "\n".join(
        line
        for search in searches
        if search.findings or search.documented or search_notes(search)
        for line in _findings(search)
    )
    return f"<system-out>{xml(lines)}</system-out>\n" if lines else ""


def _findings(search: ReportedSearch) -> Iterator[str]:
    yield search_summary(search)
    for finding in search.findings[:FOUND]:
        yield f"  {bounded(finding_summary(finding), MESSAGE)}"
    if len(search.findings) > FOUND:
        yield f"  and {len(search.findings) - FOUND:,} more in the JSON report"
    for answer in search.documented[:FOUND]:
        yield f"  {bounded(answer_summary(answer), MESSAGE)}"
    for note in search_notes(search)[:FOUND]:
        yield f"  {bounded(note, MESSAGE)}"


def _fault(number: int, fault: Fault) -> str:
    about = {"classname": "assay.harness", "name": f"fault {number}: {fault.where}"}
    message = bounded(fault.what, MESSAGE)
    error = _attributes({"type": "harness-fault", "message": message})
    return f"<testcase{_attributes(about)}>\n<error{error}/>\n</testcase>\n"


def _properties(values: Mapping[str, str]) -> str:
    properties = (
        f"<property{_attributes({'name': name, 'value': value})}/>\n"
        for name, value in values.items()
    )
    return "".join(("<properties>\n", *properties, "</properties>\n"))


def _attributes(values: Mapping[str, str]) -> str:
    return "".join(f" {name}={xml_attribute(text)}" for name, text in values.items())
