"""What a search did and found is told in every view, and never more than that."""

import json
import re
import xml.etree.ElementTree as ET
from io import StringIO
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console

from assay.errors import JournalError
from assay.report.formats import html, junit
from assay.report.formats import terminal as text_view
from assay.report.values import WAYS
from assay.report.wording import caveats, closing, headline, search_summary

SCHEMA = json.loads((Path(__file__).parents[3] / "contract/schema/report.json").read_text("utf-8"))

NAME = "aisp/batch-quota/next-day"
SEQUENCE = "sequences/aisp-batch-quota-next-day.json"
NOTHING = "aisp: 200 random sequences, 4,312 calls, seed 0: no violation found"


@pytest.fixture
def found(journal):
    """Return the report of a run in which only a search broke an obligation."""
    journal.plan().plan("aisp/pages/complete")
    journal.exchange(n=17, body="the directed trial")
    journal.exchange("aisp/journeys#1", n=17, body="the sequence replayed")
    journal.search(NAME, seed=7).search(how="fields", made=1, exchanges=1)
    journal.verdict(verdict="violates", reason="only a search broke it", trial="aisp/journeys#1")
    return journal.verdict("aisp/pages/complete").footer().read()


def quiet(journal, **changes):
    """Return the report of a run whose one search found nothing."""
    return journal.plan().search(**changes).verdict().footer().read()


def refused(journal, *, partial=False):
    """Return the text with which a journal is refused."""
    with pytest.raises(JournalError) as caught:
        journal.read(partial=partial)
    return str(caught.value)


def read_by_eye(view, report):
    """Return a view as a reader sees it: without the tags of HTML and the marks of Markdown."""
    marks = {"html": r"(?s)<(style|script)>.*?</\1>|<[^>]*>", "markdown": r"[`\\]"}
    return re.sub(marks.get(view.format, "(?!)"), "", view(report))


# -- reading --------------------------------------------------------------------


def test_read(found):
    """Each search is read with what it did and found, in the journal's order."""
    first, second = found.searches
    assert ("aisp", "journeys", 200, 4312, 8.1, 7) == (
        first.contract,
        first.how,
        first.made,
        first.exchanges,
        first.seconds,
        first.seed,
    )
    assert [(NAME, SEQUENCE, 4)] == [(f.obligation, f.sequence, f.steps) for f in first.findings]
    assert ("fields", ()) == (second.how, second.findings)


def test_no_search(mixed):
    """A journal of before searches were made is read as one without."""
    assert mixed.searches == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"contract": "pis"}, "a search of pis, which is no contract of this run"),
        ({"contract": None}, "'contract' is not a text"),
        ({"how": "luck"}, "unknown kind of search 'luck'"),
        ({"how": None}, "'how' is not a text"),
        ({"made": -1}, "'made' is not a count"),
        ({"made": 10**400}, "'made' is not a count"),
        ({"made": True}, "'made' is not a whole number"),
        ({"exchanges": "4312"}, "'exchanges' is not a whole number"),
        ({"seconds": -0.1}, "'seconds' is negative"),
        ({"seconds": None}, "'seconds' is not a number"),
        ({"seed": 0.5}, "'seed' is not a whole number"),
        ({"findings": {}}, "'findings' is not a list"),
        ({"findings": [NAME]}, "'findings' contains something that is not an object"),
        ({"findings": [{"steps": 4}]}, "'obligation' is missing"),
        ({"findings": [{"obligation": NAME}]}, "'steps' is missing"),
        ({"findings": [{"obligation": NAME, "steps": -4}]}, "'steps' is not a count"),
    ],
)
def test_odd_line(journal, change, said):
    """A search of another shape, or with numbers that cannot be, is refused with its place."""
    assert f":2: {said}" in refused(journal.search(**change))


@pytest.mark.parametrize("key", ["contract", "how", "made", "exchanges", "seconds", "seed"])
def test_missing(journal, key):
    """A search that does not say what it did is refused."""
    journal.search().lines[-1].pop(key)
    assert re.search(f":2: '{key}' is (missing|not a number)", refused(journal))


@pytest.mark.parametrize(
    "sequence",
    ["/etc/passwd", "../x.json", "sequences/../../x", r"..\x", r"C:\x", "c:x", r"\\a\b\c"],
)
def test_sequence_elsewhere(journal, sequence):
    """A sequence lies where the journal lies, or below."""
    journal.search(findings=[{"obligation": NAME, "steps": 4, "sequence": sequence}])
    assert ":2: 'sequence' is not a path below the folder of the journal" in refused(journal)


def test_no_story(journal):
    """A finding whose sequence was not kept is reported without a file."""
    journal.plan().search(findings=[{"obligation": NAME, "steps": 1}]).verdict(verdict="violates")
    report = journal.footer().read()
    out = StringIO()
    text_view.render(report, out)
    assert f"      {NAME} in 1 step\n" in out.getvalue()


def test_twice(journal):
    """A contract is searched in one way once; in another way it may be again."""
    journal.search().search(how="schema").search()
    assert ":4: two searches of aisp by journeys" in refused(journal)


def test_planned_late(journal):
    """The plan is fixed before anything is searched."""
    assert ":3: aisp/batch-quota/next-day is planned after" in refused(journal.search().plan())


@pytest.mark.parametrize("partial", [False, True])
def test_found_and_passed(journal, partial):
    """A record that passes what its own search found broken is refused, wherever it stands."""
    said = f"damaged: {NAME} conforms, but a search found a violation of it"
    assert said in refused(journal.plan().verdict().search(NAME).footer(), partial=partial)


@pytest.mark.parametrize("verdict", ["violates", "waived", "indeterminate"])
def test_found_and_told(journal, verdict):
    """What a search broke may be waived, or doubted for what the trials show besides."""
    journal.plan().search(NAME).verdict(verdict=verdict)
    assert journal.footer().read().searches


def test_exchanges_of_the_story(found):
    """What only a search broke shows the exchanges of its sequence, not of its planned trial."""
    bodies = [one.response.body for one in found.results[0].exchanges]
    assert bodies == ["the sequence replayed"]


def test_how_it_was_found(found, view):
    """What only a search broke says so on its card."""
    assert "only a search broke it" in view(found)


def test_reason_once(mixed, view):
    """What its planned trial broke says no more than was expected and seen."""
    text = view(mixed)
    assert text.count("expected accepted; refused") == (view.format in {"json", "junit"})


# -- telling --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, NOTHING),
        (
            {"made": 1, "exchanges": 1, "seed": 12},
            "aisp: 1 random sequence, 1 call, seed 12: no violation found",
        ),
        (
            {"made": 0, "exchanges": 0},
            "aisp: 0 random sequences, 0 calls, seed 0: nothing was tested",
        ),
        ({"exchanges": 0}, "aisp: 200 random sequences, 0 calls, seed 0: nothing was tested"),
        ({"how": "fields"}, "aisp: 200 field variations, 4,312 calls, seed 0: no violation found"),
        ({"how": "schema"}, "aisp: 200 schema cases, 4,312 calls, seed 0: no violation found"),
    ],
)
def test_sentence(journal, change, said):
    """A search says what it did; one that tried nothing does not say that it found nothing."""
    assert said == search_summary(quiet(journal, **change).searches[0])


def test_quiet(journal, view):
    """A search without findings is told in every view."""
    report = quiet(journal)
    if view.format == "json":
        (one,) = json.loads(view(report))["searches"]
        assert (200, 4312, []) == (one["cases"], one["exchanges"], one["findings"])
    else:
        assert NOTHING in read_by_eye(view, report)


def test_found(found, view):
    """What a search found is reported in every view, with its steps and the file of its sequence."""
    if view.format == "json":
        (one,) = json.loads(view(found))["searches"][0]["findings"]
        assert {"obligation": NAME, "steps": 4, "sequence": SEQUENCE} == one
    else:
        text = read_by_eye(view, found)
        assert "aisp: 200 random sequences, 4,312 calls, seed 7: 1 violation found" in text
        assert "aisp: 1 field variation, 1 call, seed 0: no violation found" in text
        assert f"{NAME} in 4 steps, {SEQUENCE}" in text


REACH = {"asked": 200, "made": 140, "pairs": 45, "possible": 52, "states": 9, "quiet": 60}
REACHED = (
    "stopped early, after 140 of 200: nothing new in the last 60;"
    " reached 45 of 52 pairs of dimension values, 9 states"
)


def test_reached(journal, view):
    """What a search reached, why it stopped early and what it left out is told in every view."""
    report = quiet(journal, **REACH, notes=["only reads: it is live"])
    if view.format == "json":
        (search,) = json.loads(view(report))["searches"]
        reached = {**search["reached"], "made": search["cases"]}
        reached["possible"] = reached.pop("possible_pairs")
        assert (REACH, ["only reads: it is live"]) == (reached, search["notes"])
        jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(view(report)))
    else:
        text = read_by_eye(view, report)
        assert REACHED in text
        assert "only reads: it is live" in text


ANSWER = {
    "operation": "balances",
    "clauses": ["aisp/form"],
    "says": "Undocumented status code: 302",
    "case": "an odd header",
    "trial": "aisp/schema#balances-1",
    "exchange": 3,
}


def test_documented(journal, view):
    """An answer that only the exported document forbids is told in every view, and its exchange."""
    journal.plan().exchange("aisp/schema#balances-1", n=3, body="odd")
    journal.search(how="schema", operation="balances", documented=[ANSWER]).verdict()
    report = journal.footer().read()
    assert ["odd"] == [one.response.body for one in report.documented[0].exchanges]
    assert headline(report) == "The gateway meets the one obligation."
    if view.format == "json":
        values = json.loads(view(report))
        jsonschema.Draft202012Validator(SCHEMA).validate(values)
        (answer,) = values["searches"][0]["documented"]
        assert (["aisp/form"], "Undocumented status code: 302") == (
            answer["clauses"],
            answer["message"],
        )
        assert [3] == [one["number"] for one in values["exchanges"]]
    else:
        text = read_by_eye(view, report)
        assert "1 answer that the exported document does not allow" in text
        assert "balances: Undocumented status code: 302 (by aisp/form); sent with an odd" in text


def test_one_search_of_each_operation(journal):
    """A contract may be searched operation by operation."""
    report = (
        journal.search(how="schema", operation="a").search(how="schema", operation="b").footer()
    ).read()
    assert ["a", "b"] == [search.operation for search in report.searches]
    again = journal.__class__(journal.path).search(how="schema", operation="a")
    assert "two searches of aisp by schema" in refused(again.search(how="schema", operation="a"))


def test_silent(mixed, view):
    """Where nothing was searched no view speaks of it."""
    assert "search" not in read_by_eye(view, mixed).lower()


def test_closing_stays(journal):
    """The closing line and the headline are those of the planned trials."""
    without = journal.plan().exchange().verdict().footer().read()
    with_ = journal.__class__(journal.path).plan().exchange().search().verdict().footer().read()
    assert closing(without) == closing(with_)
    assert headline(without) == headline(with_)
    assert caveats(without) == caveats(with_) == ()


@pytest.mark.parametrize(("number", "what"), [(1, "1 violation"), (2, "2 violations")])
def test_stray(journal, number, what):
    """What no planned obligation is about is not hidden by a headline without it."""
    journal.plan().search(*[f"general/{n}" for n in range(number)]).verdict()
    report = journal.footer().read()
    assert headline(report) == "The gateway meets the one obligation."
    assert caveats(report) == (f"The search found {what} of obligations that were not planned.",)


def test_text_bounded(journal, written):
    """A terminal gets twenty findings of a search and the number of the others."""
    names = [f"aisp/x/{n}" for n in range(25)]
    text = written(journal.plan().search(*names).verdict().footer().read(), "text")
    assert text.count("      aisp/x/") == 20
    assert "\n      and 5 more\n" in text


def test_text_coloured(found):
    """What was found stands out on a console, and what was not is plain."""
    out = StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard", width=120)
    text_view.show(found, console)
    lines = out.getvalue().splitlines()
    (loud,) = (one for one in lines if "1 violation found" in one)
    (plain,) = (one for one in lines if "no violation found" in one)
    assert "\x1b[1m" in loud
    assert "\x1b" not in plain


def test_markdown_bounded(journal, written):
    """Five thousand findings of a search leave room for the rest of the page."""
    names = [f"aisp/x/{n}-{'|' * 400}" for n in range(5_000)]
    text = written(journal.plan().search(*names).verdict().footer().read(), "markdown")
    assert len(text.encode()) < 50_000
    assert re.search(r"\*4,\d{3} more lines are left out here", text)


def test_html_links(found, written):
    """A finding links to its obligation; what is no obligation is no link."""
    assert f'<a href="#{NAME}"><code>{NAME}</code></a> in 4 steps' in written(found, "html")


def test_html_no_dead_link(journal, written):
    """What is found of no planned obligation is told without a link."""
    text = written(journal.plan().search("general").verdict().footer().read(), "html")
    assert "<li><code>general</code> in 4 steps" in text
    assert 'href="#general"' not in text


def test_html_bounded(journal, monkeypatch, written):
    """The page lists the first findings of a search and says how many more there are."""
    monkeypatch.setattr(html, "FOUND", 2)
    report = journal.plan().search("a", "b", "c").verdict().footer().read()
    text = written(report, "html")
    assert text.count("in 4 steps") == 2
    assert "and 1 more in the JSON report" in text


def test_junit_no_case(found, written):
    """A search is no test case: its size and its findings are properties of its suite."""
    root = ET.fromstring(written(found, "junit"))
    assert {one.get("name") for one in root.iter("testcase")} == {NAME, "aisp/pages/complete"}
    (suite,) = root.findall("testsuite")
    properties = {one.get("name"): one.get("value") for one in suite.findall("properties/property")}
    assert (
        properties["search-journeys"]
        == "aisp: 200 random sequences, 4,312 calls, seed 7: 1 violation found"
    )
    assert properties["search-fields"].endswith("no violation found")
    assert properties["search-journeys-1"] == f"{NAME} in 4 steps, {SEQUENCE}"
    assert [one.tag for one in suite] == ["properties", "testcase", "testcase"]


def test_junit_without_cases(journal, written):
    """A contract that was only searched has a suite of no cases that says so."""
    root = ET.fromstring(written(journal.search().footer().read(), "junit"))
    suite = root.find("testsuite[@name='aisp']")
    assert suite.get("tests") == "0"
    assert suite.find("properties/property[@name='search-journeys']").get("value") == NOTHING
    assert suite.find("properties/property[@name='search-journeys-1']") is None


def test_junit_bounded(journal, monkeypatch, written):
    """The properties name the first findings and how many more there are."""
    monkeypatch.setattr(junit, "FOUND", 2)
    report = journal.plan().search("a", "b", "c").verdict().footer().read()
    last = ET.fromstring(written(report, "junit")).findall("testsuite/properties/property")[-1]
    assert last.get("value") == "and 1 more in the JSON report"


# -- the published schema -------------------------------------------------------


def test_json_valid(found, written):
    """A report with searches is valid by the published schema."""
    values = json.loads(written(found, "json"))
    jsonschema.Draft202012Validator(SCHEMA).validate(values)
    assert values["obligations"][0]["trial"] == "aisp/journeys#1"
    assert "trial" not in values["obligations"][1]


def test_json_without(mixed, written):
    """A report without a search has no list of them."""
    assert "searches" not in json.loads(written(mixed, "json"))


def test_json_strict(found, written):
    """The schema refuses what is unknown in a search and in what it found."""
    values = json.loads(written(found, "json"))
    validator = jsonschema.Draft202012Validator(SCHEMA)
    search = values["searches"][0]
    for part in (search, search["findings"][0]):
        part["surprise"] = 1
        assert not validator.is_valid(values)
        del part["surprise"]
    assert validator.is_valid(values)


def test_json_ways():
    """The schema knows the ways of searching that a journal may name."""
    assert set(WAYS) == set(SCHEMA["$defs"]["search"]["properties"]["method"]["enum"])
