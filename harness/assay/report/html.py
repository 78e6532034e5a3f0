"""The HTML report: one self-contained page, the result first and the details below.

The page loads nothing. Its content policy allows one style sheet and one script, by their digests;
the page is complete without the script, which only filters, opens and closes what is there. Every
text passes Jinja's autoescape. The page has a size budget, so that a browser can open it: findings
and exchanges beyond it are only counted.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import TextIO

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template

from assay.judging.verdict import Standing
from assay.report.html_evidence import FINDINGS, evidence_of, short
from assay.report.html_tables import (
    contract_name,
    coverage_table,
    item_words,
    latency,
    line_words,
    moment,
    not_applicable_groups,
    open_questions,
    page_sections,
    run_label,
    traffic_bars,
)
from assay.report.sanitize import css_string
from assay.report.source_matrix import Coverage, source_matrices
from assay.report.traffic_summary import read_traffic_summary
from assay.report.values import Report
from assay.report.views import by_clause, by_reason, is_open_point, reason_of, source_text
from assay.report.waivers import waiver_sentence
from assay.report.wording import (
    MEANINGS,
    SIGNS,
    answer_summary,
    caveats,
    closing,
    counted,
    duration,
    headline,
    party_name,
    search_notes,
    search_summary,
)

#: Findings listed of each search, and violations in the summary.
FOUND = 100
SUMMARY = 20


def render(report: Report, out: TextIO) -> None:
    """Write the report as one HTML page."""
    style = page_text("page.css") + _running_footer(report)
    script = page_text("page.js")
    traffic = read_traffic_summary(report.journal)
    evidence = evidence_of(report, traffic)
    rows = by_clause(report)
    matrices = source_matrices(report)
    coverage = coverage_table(traffic, rows)
    chunks = page_template("page.html.j2").generate(
        **_NAMES,
        report=report,
        page_style=style,
        script=script,
        policy=content_policy(style, script),
        headline=headline(report),
        party=party_name(report),
        caveats=caveats(report),
        closing=closing(report),
        violated=report.of(Standing.VIOLATES),
        evidence=evidence,
        groups=by_reason(report.of(Standing.UNVERIFIED)),
        rows=rows,
        matrices=matrices,
        coverage=coverage,
        questions=open_questions(report),
        inapplicable=not_applicable_groups(report),
        traffic=traffic,
        bars=traffic_bars(traffic),
        sections=page_sections(report, matrices, coverage, traffic),
        most=FOUND,
        summary=SUMMARY,
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
        f" style-src {_digest(style)}; script-src {_digest(script)}"
    )


def _digest(text: str) -> str:
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
    return _environment().get_template(name, globals={"style": page_text("page.css")})


#: The functions and tables that the template uses, besides the report.
_NAMES: Mapping[str, object] = {
    "Standing": Standing,
    "Coverage": Coverage,
    "signs": SIGNS,
    "meanings": MEANINGS,
    "findings": FINDINGS,
    "counted": counted,
    "contract_name": contract_name,
    "duration_of": duration,
    "item_words": item_words,
    "line_words": line_words,
    "latency": latency,
    "moment": moment,
    "search_summary": search_summary,
    "answer_summary": answer_summary,
    "search_notes": search_notes,
    "source_text": source_text,
    "waiver_sentence": waiver_sentence,
    "reason": reason_of,
    "short": short,
    "open_point": is_open_point,
}
