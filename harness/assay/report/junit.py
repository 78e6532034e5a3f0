"""JUnit XML, for the build servers: one test case per obligation.

GitLab keeps only the first of two cases with one name, so the name is the
whole obligation id; it refuses files over 30 MB, so cards share a budget and
say when it is spent. Only a violation fails; what could not be told or asked is
`skipped` with its standing in the message, since JUnit has no better word. A
harness fault is an `error` in a suite of its own; so is a run that ended early
or planned nothing, which a build server would otherwise show as green. A search
is no case, since what it breaks fails an obligation's: it is told in its suite's
properties and output.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TextIO

from assay.judging.verdict import Standing
from assay.report.card import card, lines
from assay.report.group import reason_of
from assay.report.sanitize import bounded, xml, xml_attribute
from assay.report.values import Fault, Report, ReportedResult, ReportedSearch
from assay.report.wording import found, headline, searched, unfinished

#: What all cards together may take, in bytes; well under GitLab's 30 MB.
BUDGET = 16_000_000
#: What one message may take, in characters.
MESSAGE = 300
#: What is listed of the findings of one search.
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
        results = tuple(one for one in report.results if one.planned.contract == name)
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
        out.writelines(_fault(n, one) for n, one in enumerate(faults, start=1))
        out.write("</testsuite>\n")
    out.write("</testsuites>\n")


def _faults(report: Report) -> Iterator[Fault]:
    """Yield the harness faults, and what a build server would read as green."""
    yield from report.faults
    if not report.complete:
        yield Fault(where="run", what=unfinished(report))
    if not report.results:
        yield Fault(where="plan", what=headline(report))


def _contracts(report: Report) -> Iterable[str]:
    """Return what has a suite: each contract of which something was asked or searched."""
    asked = (one.planned.contract for one in report.results)
    return dict.fromkeys((*asked, *(one.contract for one in report.searches)))


def _totals(results: tuple[ReportedResult, ...], faults: tuple[Fault, ...]) -> Mapping[str, str]:
    passed = sum(one.standing is Standing.CONFORMS for one in results)
    failed = sum(one.standing is Standing.VIOLATES for one in results)
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
        **{f"search-{one.how}": searched(one) for one in report.searches_of(name)},
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
        told = {"message": f"{result.standing.value}: {reason}"}
        return f"<skipped{_attributes(told)}/>\n", budget
    body = xml("\n".join(lines(card(result))))
    size = len(body.encode())
    if size > budget:
        body, size = SPENT, 0
    about = {"type": result.planned.clause, "message": message}
    return f"<failure{_attributes(about)}>{body}</failure>\n", budget - size


def _output(searches: Iterable[ReportedSearch]) -> str:
    """Return what the searches of a contract found, as its suite's output."""
    told = "\n".join(line for one in searches if one.findings for line in _found(one))
    return f"<system-out>{xml(told)}</system-out>\n" if told else ""


def _found(search: ReportedSearch) -> Iterator[str]:
    yield searched(search)
    for one in search.findings[:FOUND]:
        yield f"  {bounded(found(one), MESSAGE)}"
    if len(search.findings) > FOUND:
        yield f"  and {len(search.findings) - FOUND:,} more in the JSON report"


def _fault(number: int, fault: Fault) -> str:
    about = {"classname": "assay.harness", "name": f"fault {number}: {fault.where}"}
    message = bounded(fault.what, MESSAGE)
    error = _attributes({"type": "harness-fault", "message": message})
    return f"<testcase{_attributes(about)}>\n<error{error}/>\n</testcase>\n"


def _properties(values: Mapping[str, str]) -> str:
    return "".join(("<properties>\n", *_each(values), "</properties>\n"))


def _each(values: Mapping[str, str]) -> Iterator[str]:
    for name, value in values.items():
        yield f"<property{_attributes({'name': name, 'value': value})}/>\n"


def _attributes(values: Mapping[str, str]) -> str:
    return "".join(f" {name}={xml_attribute(text)}" for name, text in values.items())
