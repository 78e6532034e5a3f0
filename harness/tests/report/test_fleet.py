"""Reports of a fleet: what is common, what is one bank's own, and texts that are hostile."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO

import pytest
from jsonschema import Draft202012Validator

from assay._resources import contract_dir
from assay.errors import Exit
from assay.report.fleet import (
    BankRow,
    CellState,
    FleetCell,
    FleetReport,
    as_values,
    by_obligation,
    changes,
    render_html,
    render_json,
    render_text,
)
from assay.report.values import PlannedObligation, ReportedResult
from assay.rules.verdict import Standing

GOOD, BAD, OPEN = Standing.CONFORMS, Standing.VIOLATES, Standing.UNVERIFIED
HOSTILE = "<script>alert(1)</script>\"'&{{ 7 * 7 }}[bold]"
SCHEMA = json.loads((contract_dir() / "schema" / "fleet-report.json").read_text("utf-8"))


def verdict(clause, standing, reason, *, contract="c", name="", says=""):
    planned = PlannedObligation(
        id=name or f"{contract}/{clause}/f",
        contract=contract,
        clause=clause,
        kind="k",
        level="must",
        says=says or f"Says {clause}.",
        disposition="ask",
    )
    return ReportedResult(planned=planned, standing=standing, reason=reason)


def bank(name, state=CellState.TESTED, reason="", /, **standings):
    """Return a bank with these verdicts on the obligations of one contract."""
    verdicts = tuple(
        verdict(key, standing, "" if standing is GOOD else f"seen at {name}")
        for key, standing in standings.items()
    )
    cell = FleetCell(
        bank=name,
        contract="c",
        state=state,
        reason=reason,
        exit=Exit.OK,
        verdicts=verdicts,
        journal="banks/x/c/attempt-1/journal.jsonl" if verdicts else "",
    )
    return BankRow(name=name, cells=(cell,))


def fleet(*banks, **given):
    values = {
        "name": "ours",
        "version": "1",
        "started": "2026-09-16T10:00:00Z",
        "fail_on": "any",
        "finished": "2026-09-16T10:01:00Z",
        "command": "assay fleet",
        "exit": 0,
    }
    return FleetReport(**values, banks=banks, obligations=by_obligation(banks), **given)


def rendered(render, report):
    out = StringIO()
    render(report, out)
    return out.getvalue()


MIXED = fleet(
    bank("a", all=BAD, some=BAD, one=GOOD, untested=OPEN),
    bank("b", all=BAD, some=BAD, one=GOOD, untested=OPEN),
    bank("c", all=BAD, some=GOOD, one=BAD, untested=BAD),
    bank("d", CellState.FAILED, "it cannot be reached"),
)


def test_violations_are_grouped_by_how_many_banks_have_them():
    """All that were tested, several, or one alone; what one alone was tested for is its own."""
    assert ["c/all/f"] == [each.id for each in MIXED.common]
    assert ["c/some/f"] == [each.id for each in MIXED.several]
    assert ["c/one/f", "c/untested/f"] == [each.id for each in MIXED.own]
    alone = fleet(bank("a", all=BAD))
    assert () == alone.common
    assert ["c/all/f"] == [each.id for each in alone.own]


def test_the_text_ends_with_what_matters():
    """Headline and caveats come last."""
    lines = rendered(render_text, MIXED).splitlines()
    assert [
        "3 of 4 banks violate 4 obligations.",
        "1 bank could not be tested: d.",
        "2 banks could not be verified in full.",
        "All tested banks violate the same 1 obligation.",
    ] == lines[-4:]
    assert "  d  it cannot be reached" in lines


@pytest.mark.parametrize(
    ("report", "headline"),
    [
        (fleet(bank("a", x=GOOD), bank("b", x=GOOD)), "All 2 banks meet every obligation that was"),
        (fleet(bank("a", x=GOOD)), "The bank meets every obligation that was tested."),
        (
            fleet(bank("a", x=GOOD), bank("b", CellState.FAILED, "no")),
            "1 of 2 banks were tested; no",
        ),
        (
            fleet(bank("a", CellState.FAILED, "no")),
            "No bank was tested: this report is no evidence",
        ),
        (fleet(bank("a", x=BAD)), "1 of 1 bank violates 1 obligation."),
    ],
)
def test_the_headline_claims_no_more_than_was_seen(report, headline):
    """A fleet of which something was not tested does not meet everything."""
    assert as_values(report)["headline"].startswith(headline)


@pytest.mark.parametrize("report", [MIXED, fleet(bank("a", x=GOOD)), fleet()])
def test_the_json_report_has_its_schema(report):
    """Every report fits the schema, with changes and without."""
    before = ("2026-09-15", {"a": {"c/all/f": GOOD}, "gone": {}})
    for each in (report, replace(report, changes=changes(report.banks, before))):
        Draft202012Validator(SCHEMA).validate(json.loads(rendered(render_json, each)))


def test_a_bank_that_was_not_tested_has_not_changed():
    """Changes are between verdicts; a contract without any is not compared."""
    before = {"a": {"c/all/f": GOOD, "other/x/f": BAD}, "d": {"c/all/f": GOOD}}
    changed = changes(MIXED.banks, ("", before))
    assert ["c/all/f", "c/some/f"] == [each.obligation for each in changed.new_violations]
    assert {"a"} == {each.bank for each in changed.verdicts}
    assert not any(each.obligation.startswith("other") for each in changed.verdicts)
    assert (("b", "c"), ()) == (changed.added, changed.removed)


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.links = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name == "href"]


def test_hostile_texts_stay_texts():
    """A text of a bank is neither markup nor a template."""
    hostile = verdict(HOSTILE, BAD, HOSTILE, contract=HOSTILE, name=HOSTILE, says=HOSTILE)
    cell = FleetCell(
        bank=HOSTILE,
        contract=HOSTILE,
        state=CellState.FAILED,
        reason=HOSTILE,
        verdicts=(hostile,),
        journal=f"banks/{HOSTILE}/journal.jsonl",
    )
    report = fleet(BankRow(name=HOSTILE, cells=(cell,)))
    page = rendered(render_html, report)
    parser = _Tags()
    parser.feed(page)
    assert "script" not in parser.tags
    assert "49" not in page.partition("<body>")[2]
    assert all(":" not in link and "<" not in link for link in parser.links)
    assert "default-src 'none'" in page
    assert HOSTILE in rendered(render_text, report)


def test_the_page_has_the_verdicts_of_every_bank():
    """One row for each bank: how many obligations have each verdict, and its reports."""
    page = rendered(render_html, MIXED)
    for bank in MIXED.banks:
        row = page.partition(f'<th scope="row">{bank.name}</th>')[2].partition("</tr>")[0]
        numbers = re.findall(r'<td class="number[^>]*><span[^>]*>([0-9,]+)</span>', row)
        assert [str(number) for number in bank.counts.values()] == numbers
        links = sum(bool(cell.journal) for cell in bank.cells)
        assert links == row.count("<a href=")
