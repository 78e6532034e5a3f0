"""The JUnit XML report for build servers: one test case per obligation.

GitLab keeps only the first of two cases with one name, so the name is the whole
obligation id. It refuses files over 30 MB, so cards share a budget and say when it is
spent. Only a violation is a failure; every other verdict but `conforms` is `skipped`, with
the verdict in its message. A harness fault is an `error` in a suite of its own, and so are
a run that ended early or planned nothing, and a waiver to remove: a build server would otherwise
show them as green. A search is no test case: the obligation that it found violated fails. Its size and
its findings are properties of the contract's suite.

The file is valid by the schemas of Surefire and of Jenkins (junit-10.xsd). So what a case has
besides its result is its output. One thing is not in these schemas, and read by GitLab: `file` and
`line` of a contract that is in the user's repository.

The time of a case is that of the exchanges of its trial; obligations of one trial have the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TextIO

from assay.report.formats.pipeline import (
    FilePlace,
    FilePlaces,
    RunError,
    expiring_waivers,
    in_utc,
    run_errors,
)
from assay.report.journal_exchanges import trial_seconds, trials_of
from assay.report.sanitize import bounded, xml, xml_attribute
from assay.report.values import Report, ReportedResult, ReportedSearch
from assay.report.views import card_lines, reason_of
from assay.report.wording import (
    answer_summary,
    finding_summary,
    headline,
    search_notes,
    search_summary,
    waiver_sentence,
)
from assay.rules.verdict import Standing

#: The size of all cards together, in bytes; well under GitLab's 30 MB.
BUDGET = 16_000_000
#: The length of a message, in characters.
MESSAGE = 300
#: Findings listed of each search.
FOUND = 100

#: The suite of what is wrong with the run itself.
RUN = "assay.run"

SPENT = "(left out to keep this file under 30 MB; the JSON report has it)"


def render(report: Report, out: TextIO) -> None:
    """Write the report as JUnit XML."""
    errors = tuple(run_errors(report))
    totals = {**_totals(report.results, errors), "time": _time(report.seconds or 0.0)}
    del totals["skipped"]  # an attribute of suites only
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(f"<testsuites{_attributes({'name': 'assay', **totals})}>\n")
    seconds, places, budget = trial_seconds(report), FilePlaces(report), BUDGET
    for name in _contracts(report):
        results = tuple(result for result in report.results if result.planned.contract == name)
        trials = frozenset[str]().union(*map(trials_of, results))
        took = sum(seconds.get(trial, 0.0) for trial in trials)
        out.write(_suite_start(report, name, _totals(results, ()), took))
        out.write(_properties(_about(report, name)))
        for result in results:
            took = sum(seconds.get(trial, 0.0) for trial in trials_of(result))
            text, budget = _case(result, places.of(result.planned), took, budget)
            out.write(text)
        out.write("</testsuite>\n")
    if errors:
        out.write(_suite_start(report, RUN, _totals((), errors), 0.0))
        out.writelines(_error(n, error) for n, error in enumerate(errors, start=1))
        out.write("</testsuite>\n")
    out.write("</testsuites>\n")


def _contracts(report: Report) -> Iterable[str]:
    """Return the contracts that have a suite: each that was planned or searched."""
    planned = (result.planned.contract for result in report.results)
    return dict.fromkeys((*planned, *(search.contract for search in report.searches)))


def _totals(results: tuple[ReportedResult, ...], errors: tuple[RunError, ...]) -> Mapping[str, str]:
    passed = sum(result.standing is Standing.CONFORMS for result in results)
    failed = sum(result.standing is Standing.VIOLATES for result in results)
    return {
        "tests": str(len(results) + len(errors)),
        "failures": str(failed),
        "errors": str(len(errors)),
        "skipped": str(len(results) - passed - failed),
    }


def _suite_start(report: Report, name: str, totals: Mapping[str, str], took: float) -> str:
    started = in_utc(report.header.started)
    timestamp = {"timestamp": started.isoformat()} if started else {}
    about = {"name": name, **totals, "time": _time(took), **timestamp}
    return f"<testsuite{_attributes(about)}>\n"


def _time(seconds: float) -> str:
    """Return seconds as both schemas have them: without an exponent, to a thousandth."""
    return f"{seconds:.3f}"


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
            f"waiver-{number}": waiver_sentence(waiver)
            for number, waiver in enumerate(expiring_waivers(report), start=1)
        },
        **dict(_searches(report.searches_of(name))),
    }


def _case(result: ReportedResult, place: FilePlace, took: float, budget: int) -> tuple[str, int]:
    planned = result.planned
    about = {
        "classname": f"{planned.contract}.{planned.clause}",
        "name": planned.id,
        "time": _time(took),
        **({"file": place.path, "line": str(place.line)} if place.exists else {}),
    }
    output = (
        f"verdict       {result.standing.value}",
        f"level         {planned.level}",
        f"observations  {result.observations}",
    )
    inside, budget = _inside(result, budget)
    inside += f"<system-out>{xml(chr(10).join(output))}</system-out>\n"
    return f"<testcase{_attributes(about)}>\n{inside}</testcase>\n", budget


def _inside(result: ReportedResult, budget: int) -> tuple[str, int]:
    if result.standing is Standing.CONFORMS:
        return "", budget
    message = bounded(result.reason, MESSAGE)
    if result.standing is not Standing.VIOLATES:
        reason = bounded(reason_of(result), MESSAGE)
        skipped = _attributes({"message": f"{result.standing.value}: {reason}"})
        return f"<skipped{skipped}/>\n", budget
    body = xml("\n".join(card_lines(result)))
    size = len(body.encode())
    if size > budget:
        body, size = SPENT, 0
    about = {"type": result.planned.clause, "message": message}
    return f"<failure{_attributes(about)}>{body}</failure>\n", budget - size


def _searches(searches: Iterable[ReportedSearch]) -> Iterator[tuple[str, str]]:
    """Yield a property for each search of a contract, and one for each line on its findings."""
    for search in searches:
        name = "-".join(filter(None, ("search", search.how, search.operation)))
        yield name, search_summary(search)
        for number, line in enumerate(_findings(search), start=1):
            yield f"{name}-{number}", bounded(line, MESSAGE)


def _findings(search: ReportedSearch) -> Iterator[str]:
    yield from map(finding_summary, search.findings[:FOUND])
    if len(search.findings) > FOUND:
        yield f"and {len(search.findings) - FOUND:,} more in the JSON report"
    yield from map(answer_summary, search.documented[:FOUND])
    yield from search_notes(search)[:FOUND]


def _error(number: int, error: RunError) -> str:
    about = {"classname": RUN, "name": f"{number} {error.title}", "time": _time(0.0)}
    message = bounded(error.what, MESSAGE)
    inside = _attributes({"type": error.kind.value.replace(" ", "-"), "message": message})
    return f"<testcase{_attributes(about)}>\n<error{inside}/>\n</testcase>\n"


def _properties(values: Mapping[str, str]) -> str:
    properties = (
        f"<property{_attributes({'name': name, 'value': value})}/>\n"
        for name, value in values.items()
    )
    return "".join(("<properties>\n", *properties, "</properties>\n"))


def _attributes(values: Mapping[str, str]) -> str:
    return "".join(f" {name}={xml_attribute(text)}" for name, text in values.items())
