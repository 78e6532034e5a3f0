"""Markdown, for a step summary or an issue: the findings first, never too long.

GitHub drops a whole step summary over 1 MiB, so every section has a share of a
budget and says what it left out. Texts are escaped so that a target can make
neither link nor mention, table nor HTML; wire text stands in code fences that
nothing in it can close.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from assay.judging.verdict import Standing
from assay.report.card import Card, card, exchange_title, notes, source, wire
from assay.report.group import ClauseRow, Group, by_clause, by_reason, reason_of
from assay.report.sanitize import bounded, code, fenced, markdown
from assay.report.values import FoundSequence, Report, ReportedExchange, ReportedResult
from assay.report.wording import (
    MEANINGS,
    SIGNS,
    caveats,
    closing,
    duration,
    headline,
    searched,
    some,
)

#: What each section may take, in bytes; together well under 1 MiB.
CARDS = 450_000
UNDECIDED = 100_000
GROUPS = 100_000
QUESTIONS = 80_000
OTHERS = 40_000
SEARCHES = 20_000
MATRIX = 150_000

#: What one card may take before its exchanges are left out, in bytes.
CARD = 50_000
EXCHANGES = 3
FINDINGS = 3
BODY = 1_500
TEXT = 600
NAMES = 5

Blocks = Iterator[str]


def render(report: Report, out: TextIO) -> None:
    """Write the report as Markdown of less than 1 MiB."""
    out.writelines(block + "\n" for block in _page(report))


def _page(report: Report) -> Blocks:
    yield f"# {markdown(headline(report))}\n"
    if said := caveats(report):
        yield " ".join(_text(one) for one in said) + "\n"
    yield from _about(report)
    yield from _counts(report)
    broken = report.of(Standing.VIOLATES)
    yield from _section("What is broken", map(_card, broken), CARDS, "violations")
    unclear = report.of(Standing.INDETERMINATE)
    blocks = map(_card, unclear)
    yield from _section("What the answers do not tell", blocks, UNDECIDED, "obligations")
    groups = map(_group, by_reason(report.of(Standing.UNVERIFIED)))
    yield from _section("What could not be checked", groups, GROUPS, "reasons")
    questions = map(_question, report.of(Standing.UNSPECIFIED))
    title = "Open questions of the document"
    yield from _section(title, questions, QUESTIONS, "questions")
    waived = map(_reasoned, report.of(Standing.WAIVED))
    yield from _section("Known variations, waived", waived, OTHERS, "waivers")
    absent = map(_reasoned, report.of(Standing.NOT_APPLICABLE))
    yield from _section("What does not apply", absent, OTHERS, "obligations")
    yield from _section("Search", _searches(report), SEARCHES, "lines")
    faults = (f"- {_text(one.where)}: {_text(one.what)}" for one in report.faults)
    yield from _section("Harness faults", faults, OTHERS, "faults")
    rows = map(_row, by_clause(report))
    head = "| Clause | Facets |\n| --- | --- |"
    yield from _section("Every clause", rows, MATRIX, "clauses", head)
    yield _text(closing(report))


def _section(title: str, blocks: Iterable[str], budget: int, noun: str, head: str = "") -> Blocks:
    """Yield a section's blocks while they fit, then how many were left out."""
    left_out, begun = 0, False
    for block in blocks:
        budget -= len(block.encode()) + 1
        if budget < 0:
            left_out += 1
            continue
        if not begun:
            yield f"## {title}\n" + (f"\n{head}" if head else "")
            begun = True
        yield block
    if left_out:
        yield (
            f"\n*{left_out:,} more {noun} are left out here to keep this page under"
            " 1 MiB; the JSON report has them all.*"
        )
    if begun:
        yield ""


def _text(text: str) -> str:
    return markdown(bounded(text, TEXT))


def _about(report: Report) -> Blocks:
    header = report.header
    yield "| | |\n| --- | --- |"
    where = " ".join(code(bounded(one, TEXT)) for one in (header.target.base_url,) if one)
    yield f"| Target | {_text(header.target.name)} {where} |"
    for one in header.contracts[:10]:
        yield f"| Contract | {_text(f'{one.title} ({one.id} {one.version})')} |"
    took = "" if report.seconds is None else f", {duration(report.seconds)}"
    yield f"| Run | {_text(header.started + took)}, seed {header.seed} |"
    yield f"| Tool | {_text(f'{header.tool} {header.version}')} |\n"


def _counts(report: Report) -> Blocks:
    yield "| Verdict | Obligations | Meaning |\n| --- | ---: | --- |"
    for standing, meaning in MEANINGS.items():
        word = f"{SIGNS[standing]} {standing.value}"
        yield f"| {word} | {len(report.of(standing)):,} | {meaning} |"
    yield f"| planned | {len(report.results):,} | fixed before the first call |\n"


def _card(result: ReportedResult) -> str:
    one = card(result)
    whole = "\n".join(_card_lines(one, EXCHANGES))
    return whole if len(whole.encode()) <= CARD else "\n".join(_card_lines(one, 0))


def _card_lines(one: Card, exchanges: int) -> Blocks:
    yield f"### {SIGNS[one.standing]} {code(bounded(one.id, TEXT))}\n"
    yield from _sentences(one)
    for each in one.exchanges[:exchanges]:
        yield _exchange(each)
    for note in notes(one, shown=exchanges):
        yield f"\n*{_text(note)}*"
    if one.reproduce:
        yield "\n" + fenced(one.reproduce, "sh")
    yield ""


def _sentences(one: Card) -> Blocks:
    yield f"- **Contract:** {_text(one.says)}"
    if one.asks:
        yield f"- **Facet:** {_text(one.asks)}"
    for where in one.sources[:FINDINGS]:
        yield f"- **Source:** {_text(source(where))}"
    if one.reason:
        yield f"- **Reason:** {_text(one.reason)}"
    for found in one.findings[:FINDINGS]:
        yield f"- **Expected:** {_text(found.expected)}"
        yield f"- **Seen:** {_text(found.seen)}"
        if found.variation:
            yield f"- **Variation sent:** {_text(found.variation)}"
    if (more := len(one.findings) - FINDINGS) > 0:
        yield f"- and {some(more, 'more observation')}"


def _exchange(one: ReportedExchange) -> str:
    # Nothing of the target's stands between the tags, where Markdown's escapes
    # would not hold; all of it is inside the fence.
    block = fenced("\n".join((exchange_title(one), *wire(one, body=BODY))))
    title = f"exchange {one.n}"
    return f"\n<details><summary>{title}</summary>\n\n{block}\n\n</details>"


def _names(results: Sequence[ReportedResult]) -> str:
    names = ", ".join(code(bounded(one.planned.id, TEXT)) for one in results[:NAMES])
    more = len(results) - NAMES
    return names + (f" and {more:,} more" if more > 0 else "")


def _group(group: Group) -> str:
    advice = f" To unblock: {_text(group.advice)}." if group.advice else ""
    number = some(len(group.results), "obligation")
    names = _names(group.results)
    return f"- **{_text(group.reason)}** ({number}).{advice}\n  {names}"


def _question(result: ReportedResult) -> str:
    planned = result.planned
    where = "; ".join(_text(source(one)) for one in planned.sources[:FINDINGS])
    return f"- {_text(planned.says)} ({code(planned.id)}" + (f"; {where})" if where else ")")


def _reasoned(result: ReportedResult) -> str:
    name = code(bounded(result.planned.id, TEXT))
    return f"- {name}: {_text(reason_of(result))}"


def _searches(report: Report) -> Blocks:
    for search in report.searches:
        yield f"- {_text(searched(search))}"
        yield from map(_found, search.findings)


def _found(one: FoundSequence) -> str:
    said = f"  - {code(bounded(one.obligation, TEXT))} in {some(one.steps, 'step')}"
    return f"{said}, {code(bounded(one.story, TEXT))}" if one.story else said


def _row(row: ClauseRow) -> str:
    facets = " · ".join(f"{SIGNS[one.standing]} {_text(one.planned.facet)}" for one in row.results)
    name = code(bounded(f"{row.contract}/{row.clause}", TEXT))
    return f"| {name} {_text(row.says)} | {facets} |"
