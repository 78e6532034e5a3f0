"""What holds of every view, and of each in its own way."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console

from assay.errors import InputError
from assay.report import FORMATS, render
from assay.report import text as text_view
from assay.report.plain import caveats, closing, headline

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "contract/schema/report.json").read_text("utf-8"))
MEBIBYTE = 1024 * 1024


def written(report, name):
    """Return a report in a format, as text."""
    out = StringIO()
    FORMATS[name].render(report, out)
    return out.getvalue()


def many(journal, count, verdict="violates"):
    """Return the report of a run with that many findings."""
    names = [f"aisp/clause-{n}/facet" for n in range(count)]
    for name in names:
        journal.plan(name)
    for name in names:
        journal.exchange(name.replace("/facet", "#facet"), body="y" * 3_000)
        journal.verdict(name, verdict, "expected 15; seen 17")
    return journal.footer().read()


# -- every format


def test_same_bytes(mixed, view):
    """The same report renders to the same text."""
    assert view(mixed) == view(mixed)


def test_card(mixed, view):
    """Every format shows sentence, source, evidence, exchange and command."""
    text = view(mixed)
    for words in (
        "At most four accesses a day without the customer.",
        "The next day four are accepted again.",
        "Limits",
        "163",
        "Up to 4 per calendar day",
        "refused with 429",
        "without the customer",
        "https://bank.invalid/accounts/1/balances",
        "token",
        "--seed 0",
    ):
        assert words in text


def test_every_reason(mixed, view):
    """Every format says why something was not checked, waived or left open."""
    text = view(mixed)
    for words in ("needs clock", "a probe crashed"):
        assert words in text


def test_missing_exchange(journal, view):
    """A cited exchange that the journal does not hold is said to be missing."""
    text = view(journal.plan().verdict(verdict="violates").footer().read())
    if view.format != "json":
        assert "exchange 17 is cited, but the journal does not hold it" in text


def test_empty_plan(journal, view):
    """A run of nothing renders, and claims nothing."""
    text = view(journal.footer().read())
    assert "Nothing was verified" in text


def test_unfinished(journal, view):
    """An unfinished run says so in every format."""
    journal.plan().plan("aisp/b/two").verdict("aisp/b/two")
    text = view(journal.read(partial=True))
    assert "the run ended before it" in text
    assert "The run ended early" in text


# -- plain words


def test_headline_of_all_kept(journal):
    """A run in which everything conforms says so."""
    journal.plan().plan("aisp/b/two").verdict().verdict("aisp/b/two")
    assert "The gateway keeps all 2 obligations." == headline(journal.footer().read())


def test_headline_of_broken(mixed):
    """A broken obligation is the first thing said."""
    assert "The gateway breaks 1 of 7 obligations." == headline(mixed)


def test_headline_of_incomplete(journal):
    """What was not asked is never counted as kept."""
    journal.plan().plan("aisp/b/two").verdict()
    journal.verdict("aisp/b/two", "unverified", "needs clock")
    report = journal.footer().read()
    assert "The gateway keeps 1 of 2 obligations; none was seen broken." == headline(
        report
    )
    assert ("1 could not be checked.",) == caveats(report)


def test_headline_of_unfinished(journal):
    """An unfinished run never claims that all is kept."""
    journal.plan().verdict()
    report = journal.footer(aborted="interrupted").read(partial=True)
    assert "none was seen broken" in headline(report)
    assert "(interrupted): this report is incomplete." in caveats(report)[0]


def test_selection(journal):
    """A run of a selection says that it was one."""
    journal.lines[0] = {**journal.lines[0], "selection": {"k": "quota", "m": ""}}
    report = journal.plan().verdict().footer().read()
    assert "Only a selection of the contract was run." in caveats(report)


def test_closing(mixed):
    """The closing line accounts for everything planned."""
    assert (
        "7 planned: 1 conform, 1 violate, 1 indeterminate, 1 unverified,"
        " 1 unspecified, 1 not applicable, 1 waived in 2.1 s, 2 exchanges,"
        " 1 harness fault"
    ) == closing(mixed)


# -- JSON


def test_json_schema_is_one():
    """The published schema is itself valid."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_json_valid(mixed):
    """A real report is valid by the published schema."""
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(written(mixed, "json")))


def test_json_of_unfinished(journal):
    """A report of an unfinished run is valid too."""
    values = json.loads(written(journal.plan().read(partial=True), "json"))
    jsonschema.Draft202012Validator(SCHEMA).validate(values)


def objects(values):
    """Yield every object inside JSON values."""
    if isinstance(values, dict):
        yield values
    inner = values.values() if isinstance(values, dict) else values
    for one in inner if isinstance(values, dict | list) else ():
        yield from objects(one)


def test_json_unknown_property(mixed):
    """The schema refuses an unknown property in any object of a report."""
    values = json.loads(written(mixed, "json"))
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for one in objects(values):
        one["surprise"] = 1
        assert not validator.is_valid(values)
        del one["surprise"]
    assert validator.is_valid(values)


# -- JUnit


def test_junit_cases(mixed):
    """Each obligation is one uniquely named case with the fitting outcome."""
    root = ET.fromstring(written(mixed, "junit"))
    cases = {one.get("name"): one for one in root.iter("testcase")}
    assert len(mixed.results) + 1 == len(list(root.iter("testcase"))) == len(cases)
    for result in mixed.results:
        case = cases[result.planned.id]
        verdict = case.find("properties/property[@name='verdict']").get("value")
        assert verdict == result.standing.value
        tags = {child.tag for child in case} - {"properties"}
        wanted = {"conforms": set(), "violates": {"failure"}}
        assert wanted.get(verdict, {"skipped"}) == tags
    broken = cases["aisp/batch-quota/next-day"]
    assert "aisp.batch-quota" == broken.get("classname")
    assert "batch-quota" == broken.find("failure").get("type")
    skipped = cases["aisp/batch-quota/midnight"].find("skipped")
    assert "unverified: needs clock" == skipped.get("message")
    assert 1 == len(root.findall(".//error"))


def test_junit_totals(mixed):
    """The totals of the root are those of its suites and of its cases."""
    root = ET.fromstring(written(mixed, "junit"))
    for key, tag in (
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        found = len(root.findall(f".//{tag}"))
        assert found == int(root.get(key)) == sum(int(s.get(key)) for s in root)
    assert 8 == int(root.get("tests"))


def test_junit_size(journal, monkeypatch):
    """Cards beyond the budget are left out of the file, and it says so."""
    from assay.report import junit

    monkeypatch.setattr(junit, "BUDGET", 10_000)
    text = written(many(journal, 20), "junit")
    assert len(text) < 30_000
    assert 20 == len(ET.fromstring(text).findall(".//failure"))
    assert junit.SPENT in text


# -- Markdown


@pytest.mark.parametrize("verdict", ["violates", "indeterminate"])
def test_markdown_size(journal, verdict):
    """Five thousand findings stay under 1 MiB, and what is left out is said."""
    text = written(many(journal, 5_000, verdict), "markdown")
    assert len(text.encode()) < MEBIBYTE
    assert re.search(r"\*[\d,]+ more (violations|obligations) are left out here", text)
    assert re.search(r"\*[\d,]+ more clauses are left out here", text)


def test_markdown_all_reasons(journal):
    """Thousands of reasons, questions and waivers stay under 1 MiB too."""
    for n in range(5_000):
        verdict = ("unverified", "unspecified", "waived", "not-applicable")[n % 4]
        name = f"aisp/clause-{n}/facet"
        journal.lines.insert(1, journal.plan(name, says="|" * 900).lines.pop())
        journal.verdict(name, verdict, f"{n} " + "<" * 900)
        journal.add(type="fault", where="x" * 900, what="@" * 900)
    text = written(journal.footer().read(), "markdown")
    assert len(text.encode()) < MEBIBYTE
    assert 6 == text.count("are left out here to keep this page under 1 MiB")


def test_markdown_order(mixed):
    """The headline comes first, then counts, findings, gaps and the clauses."""
    text = written(mixed, "markdown")
    assert text.startswith("# The gateway breaks 1 of 7 obligations.\n")
    titles = re.findall(r"(?m)^## (.*)", text)
    assert [
        "What is broken",
        "What the answers do not tell",
        "What could not be checked",
        "Open questions of the document",
        "Known deviations, waived",
        "What does not apply",
        "Harness faults",
        "Every clause",
    ] == titles
    assert text.index("| Verdict |") < text.index("## What is broken")


def test_unblock(mixed):
    """What could not be checked comes with what would unblock it."""
    for name in ("html", "markdown", "text"):
        words = "give the target a clock that the harness can move"
        assert words in written(mixed, name)


# -- HTML


class Page(HTMLParser):
    """The tags of a page, and the text of none of them."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.open = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Keep a tag, and remember that it is open."""
        self.tags.append((tag, dict(attributes)))
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        """Close a tag, which must be the one that was opened last."""
        assert self.open.pop() == tag


@pytest.fixture
def page(mixed):
    """Return the parsed HTML of a run with every verdict."""
    return Page(written(mixed, "html"))


def test_html_well_formed(page):
    """Every tag that is opened is closed in its place."""
    assert [] == page.open


def test_html_alone(page, mixed):
    """The page refers to nothing outside itself and runs nothing."""
    tags = {tag for tag, _ in page.tags}
    forbidden = {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    assert not tags & forbidden
    for _, attributes in page.tags:
        assert attributes.get("href", "#").startswith("#")
        assert not {"src", "srcset", "action", "data", "onclick"} & attributes.keys()
    style = re.search(r"<style>(.*?)</style>", written(mixed, "html"), re.DOTALL)[1]
    assert "url(" not in style
    assert "@import" not in style


def test_html_policy(page):
    """The page forbids itself everything but its own styles."""
    policies = [
        attributes["content"]
        for tag, attributes in page.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert ["default-src 'none'; style-src 'unsafe-inline'"] == policies


def test_html_anchors(page, mixed):
    """Each obligation has one anchor, and each link inside the page has its end."""
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {one.planned.id for one in mixed.results} <= set(ids)
    links = {a["href"][1:] for tag, a in page.tags if tag == "a" and "href" in a}
    assert links <= set(ids)


def test_html_headings(page):
    """The page has a language, one main title and no skipped heading level."""
    assert ("html", {"lang": "en"}) in page.tags
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert 1 == levels[0] == levels.count(1)
    assert all(
        after - before <= 1 for before, after in zip(levels, levels[1:], strict=False)
    )


def test_html_budget(journal, monkeypatch):
    """Beyond its budget the page lists findings briefly, and says so."""
    from assay.report import html

    monkeypatch.setattr(html, "CARDS", 3)
    monkeypatch.setattr(html, "WIRE", 4_000)
    text = written(many(journal, 5), "html")
    assert 3 == text.count("<article")
    assert "2 more are not shown in full here" in text
    assert 1 == text.count("<details><summary>exchange 17")
    assert "and 1 more exchange" in text
    ids = re.findall(r'id="(aisp/[^"]+)"', text)
    assert 5 == len(ids) == len(set(ids))


def luminance(colour):
    """Return the relative luminance of #rrggbb as WCAG defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_html_contrast(mixed):
    """Every text colour meets WCAG AA on every ground, light and dark."""
    styles = written(mixed, "html")
    grounds = {"paper", "raised", "sunk"}
    for block in re.findall(r":root \{(.*?)\}", styles, re.DOTALL):
        colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))
        assert grounds < colours.keys()
        for name in colours.keys() - grounds - {"rule"}:
            for ground in grounds:
                pair = sorted((luminance(colours[name]), luminance(colours[ground])))
                assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, (name, ground)


# -- terminal


def test_text_bounded(journal):
    """A terminal gets twenty cards and the number of the others."""
    text = written(many(journal, 25), "text")
    assert 20 == text.count("✗ aisp/")
    assert "and 5 more violates" in text


def test_text_last_line(mixed):
    """The account of all that was planned is the last line."""
    assert closing(mixed) == written(mixed, "text").splitlines()[-1]


def test_text_on_console(mixed):
    """A Rich console gets the same lines, coloured."""
    out = StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard", width=80)
    text_view.show(mixed, console)
    assert "\x1b[1;31m" in out.getvalue()
    assert written(mixed, "text") == re.sub(r"\x1b\[[\d;]*m", "", out.getvalue())


def test_text_markup(journal):
    """Text of a target is never read as Rich markup."""
    out = StringIO()
    journal.plan().verdict(verdict="unverified", reason="[bold]needs[/bold] [/]")
    text_view.show(journal.footer().read(), Console(file=out, width=200))
    assert "[bold]needs[/bold] [/]" in out.getvalue()


# -- render


def test_render(mixed, tmp_path):
    """A report is written to a file in every format, and nothing else is left."""
    for name, chosen in FORMATS.items():
        render(mixed, name, tmp_path / f"r{chosen.suffix}")
    suffixes = {chosen.suffix for chosen in FORMATS.values()}
    assert suffixes == {path.suffix for path in tmp_path.glob("r.*")}


def test_render_unknown(mixed, tmp_path):
    """An unknown format is refused with the one that was meant."""
    with pytest.raises(InputError, match="did you mean 'html'"):
        render(mixed, "htlm", tmp_path / "r")


def test_render_unwritable(mixed, tmp_path):
    """A place that cannot be written to is an input error."""
    with pytest.raises(InputError, match="cannot be written"):
        render(mixed, "json", tmp_path / "none" / "r.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        render(mixed, "json", tmp_path / "folder")
    assert [] == list(tmp_path.glob("*.part"))


def test_render_whole_or_none(mixed, tmp_path, monkeypatch):
    """A view that fails midway leaves the older file as it was."""
    path = tmp_path / "r.json"
    path.write_text("older", "utf-8")
    broken = {"json": type(FORMATS["json"])(suffix=".json", render=lambda *_: 1 / 0)}
    monkeypatch.setattr("assay.report.FORMATS", broken)
    with pytest.raises(ZeroDivisionError):
        render(mixed, "json", path)
    assert "older" == path.read_text("utf-8")
    assert [] == list(tmp_path.glob("*.part"))


def test_light_import():
    """Importing the reports imports none of what only one format needs."""
    code = (
        "import sys, assay.report;"
        "heavy = {'jinja2', 'rich', 'xml', 'html', 'assay.report.html'};"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    path = str(ROOT / "harness")
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ("\n", "") == (done.stdout, done.stderr)
