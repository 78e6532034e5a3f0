"""The Markdown report for step summaries and issues: findings first, under 1 MiB.

GitHub drops a step summary over 1 MiB, so every section has a share of that and says what
it leaves out. Texts are escaped, so that a target can add no link, mention, table or HTML;
exchanges are in code fences that nothing in them can close.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from assay.report.sanitize import bounded, code, fenced, markdown
from assay.report.values import (
    DecidedPoint,
    EvidenceRole,
    FoundSequence,
    Report,
    ReportedExchange,
    ReportedResult,
)
from assay.report.views import (
    ClauseRow,
    Group,
    by_cause,
    by_clause,
    by_reason,
    card_lines,
    exchange_lines,
    exchange_title,
    notes,
    reason_of,
    sentences,
    source_text,
    timeline_lines,
)
from assay.report.wording import (
    KEPT,
    MEANINGS,
    SAID,
    SIGNS,
    answer_summary,
    caveats,
    closing,
    counted,
    duration,
    exit_reasons,
    headline,
    listed,
    search_notes,
    search_summary,
    waiver_sentence,
)
from assay.rules.verdict import Standing

#: The size of the page, in bytes, and the sentence in place of what is over it.
LIMIT = 1024 * 1024 - 1
CUT = "\n*The end of this page is left out to keep it under 1 MiB; the JSON report has it.*"
#: The size of each section, in bytes; together with the usual head under 1 MiB.
CARDS = 450_000
INCONCLUSIVE = 100_000
GROUPS = 100_000
OPEN_POINTS = 80_000
OTHERS = 40_000
SEARCHES = 20_000
MATRIX = 150_000

#: The size from which a card leaves out its exchanges, in bytes.
CARD = 50_000
EXCHANGES = 3
ENTRIES = 40
FINDINGS = 3
BODY = 1_500
TEXT = 600
NAMES = 5

Blocks = Iterator[str]


def render(report: Report, out: TextIO) -> None:
    """Write the report as Markdown of less than 1 MiB."""
    out.writelines(block + "\n" for block in _within(_page(report), LIMIT))


def _within(blocks: Blocks, limit: int) -> Blocks:
    """Yield the blocks that fit, and a sentence in place of those that do not."""
    room = limit - len(CUT) - 1
    for block in blocks:
        room -= len(block.encode()) + 1
        if room < 0:
            yield CUT
            return
        yield block


def _page(report: Report) -> Blocks:
    yield f"# {markdown(headline(report))}\n"
    if known := caveats(report):
        yield " ".join(map(_text, known)) + "\n"
    yield from _about(report)
    yield from _counts(report)
    violated = map(_card, report.of(Standing.VIOLATES))
    yield from _section("Violations", violated, CARDS, "violations")
    inconclusive = map(_cause, by_cause(report))
    yield from _section("Inconclusive", inconclusive, INCONCLUSIVE, "causes")
    groups = map(_group, by_reason(report.of(Standing.UNVERIFIED)))
    yield from _section("Not verified", groups, GROUPS, "reasons")
    points = map(_open_point, report.of(Standing.UNSPECIFIED))
    yield from _section("Open points of the source document", points, OPEN_POINTS, "points")
    waived = map(_reasoned, report.of(Standing.WAIVED))
    yield from _section("Answered by this bank", map(_decided, report.decided), OTHERS, "answers")
    yield from _section("Known non-conformities, waived", waived, OTHERS, "waivers")
    waivers = (f"- {_text(waiver_sentence(each))}" for each in report.waivers)
    yield from _section("Waivers", waivers, OTHERS, "waivers")
    not_applicable = map(_reasoned, report.of(Standing.NOT_APPLICABLE))
    yield from _section("Not applicable", not_applicable, OTHERS, "obligations")
    yield from _section("Search", _searches(report), SEARCHES, "lines")
    faults = (f"- {_text(fault.where)}: {_text(fault.what)}" for fault in report.faults)
    yield from _section("Harness faults", faults, OTHERS, "faults")
    rows = map(_row, by_clause(report))
    head = "| Clause | Facets |\n| --- | --- |"
    yield from _section("All clauses", rows, MATRIX, "clauses", head)
    yield _text(closing(report))
    yield from (f"\n{_text(reason)}" for reason in exit_reasons(report))


def _section(title: str, blocks: Iterable[str], budget: int, noun: str, head: str = "") -> Blocks:
    """Yield the blocks of a section that fit into its budget, then the number left out."""
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
            " 1 MiB; the JSON report has all of them.*"
        )
    if begun:
        yield ""


def _text(text: str) -> str:
    return markdown(bounded(text, TEXT))


def _about(report: Report) -> Blocks:
    header = report.header
    yield "| | |\n| --- | --- |"
    url = code(bounded(header.target.base_url, TEXT))
    yield f"| Target | {_text(header.target.name)} {url} |"
    for contract in header.contracts[:10]:
        title = f"{contract.title} ({contract.id} {contract.version})"
        yield f"| Contract | {_text(title)} |"
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
    text = "\n".join(_card_lines(result, EXCHANGES))
    return text if len(text.encode()) <= CARD else "\n".join(_card_lines(result, 0))


def _card_lines(result: ReportedResult, exchanges: int) -> Blocks:
    yield f"### {SIGNS[result.standing]} {code(bounded(result.planned.id, TEXT))}\n"
    yield from _sentences(result)
    if result.timeline:
        lines = "\n".join(timeline_lines(result, entries=ENTRIES))
        yield _details("timeline", lines)
    roles = result.roles
    for exchange in result.exchanges[:exchanges]:
        yield _exchange(exchange, roles.get(exchange.n))
    for note in notes(result, shown=exchanges):
        yield f"\n*{_text(note)}*"
    if result.reproduce:
        commands = filter(None, (result.reproduce, result.resend))
        yield "\n" + fenced("\n".join(commands), "sh")
    yield ""


def _sentences(result: ReportedResult) -> Blocks:
    for label, text, place in sentences(result, FINDINGS):
        title = "Variation sent" if label == "variation" else label.capitalize()
        yield f"- **{title}:** {_text(text)}{place}"
    if (hidden := len(result.findings) - FINDINGS) > 0:
        yield f"- and {counted(hidden, 'more observation')}"


def _exchange(exchange: ReportedExchange, role: EvidenceRole | None) -> str:
    lines = exchange_title(exchange, role), *exchange_lines(exchange, body=BODY)
    suffix = f" ({role.value})" if role else ""
    return _details(f"exchange {exchange.n}{suffix}", "\n".join(lines))


def _details(title: str, text: str) -> str:
    # Markdown's escapes do not work between HTML tags, so all text of the target is inside
    # the fence.
    return f"\n<details><summary>{title}</summary>\n\n{fenced(text)}\n\n</details>"


def _names(results: Sequence[ReportedResult]) -> str:
    return listed([code(bounded(result.planned.id, TEXT)) for result in results], NAMES)


def _group(group: Group) -> str:
    advice = f" What to do: {_text(group.advice)}." if group.advice else ""
    number = counted(len(group.results), "obligation")
    names = _names(group.results)
    return f"- **{_text(group.reason)}** ({number}).{advice}\n  {names}"


def _cause(group: Group) -> str:
    """Return a group of inconclusive obligations, and the card of the first."""
    result = group.results[0]
    lines = [
        f"first: {result.planned.id}",
        *card_lines(result, exchanges=1, body=BODY, entries=ENTRIES),
    ]
    text = bounded("\n".join(lines), CARD)
    return f"{_group(group)}\n{_details('the first of them', text)}\n"


def _open_point(result: ReportedResult) -> str:
    planned = result.planned
    sources = (f"; {_text(source_text(source))}" for source in planned.sources[:FINDINGS])
    return f"- {_text(planned.says)} ({code(planned.id)}{''.join(sources)})"


def _decided(point: DecidedPoint) -> str:
    kept = KEPT[point.kept] if point.results else SAID
    source = f" ({_text(point.decision.source)})" if point.decision.source else ""
    names = ", ".join(code(each.planned.id) for each in point.results[:NAMES])
    return f"- {_text(point.decision.says)}{source}: {kept}{f', {names}' if names else ''}"


def _reasoned(result: ReportedResult) -> str:
    name = code(bounded(result.planned.id, TEXT))
    return f"- {name}: {_text(reason_of(result))}"


def _searches(report: Report) -> Blocks:
    for search in report.searches:
        yield f"- {_text(search_summary(search))}"
        yield from map(_finding, search.findings)
        yield from (f"  - {_text(answer_summary(answer))}" for answer in search.documented)
        yield from (f"  - {_text(note)}" for note in search_notes(search))


def _finding(finding: FoundSequence) -> str:
    name = code(bounded(finding.obligation, TEXT))
    summary = f"  - {name} in {counted(finding.steps, 'step')}"
    return f"{summary}, {code(bounded(finding.sequence, TEXT))}" if finding.sequence else summary


def _row(row: ClauseRow) -> str:
    facets = " · ".join(
        f"{SIGNS[result.standing]} {_text(result.planned.facet)}" for result in row.results
    )
    name = code(bounded(f"{row.contract}/{row.clause}", TEXT))
    return f"| {name} {_text(row.statement)} | {facets} |"
