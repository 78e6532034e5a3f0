"""The HTML page stands alone, runs nothing but its own script, and can be read by everyone."""

import hashlib
import re
from base64 import b64encode
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from assay.report.formats import html


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
        if tag not in {"meta", "br", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        """Close a tag, which must be the one that was opened last."""
        assert self.open.pop() == tag


@pytest.fixture
def page(mixed, written):
    """Return the parsed HTML of a run with every verdict."""
    return Page(written(mixed, "html"))


def test_html_well_formed(page):
    """Every tag that is opened is closed in its place."""
    assert page.open == []


def test_html_alone(page, mixed, written):
    """The page refers to nothing outside itself and has no script but its own."""
    tags = [tag for tag, _ in page.tags]
    forbidden = {"link", "img", "iframe", "object", "embed", "base", "form"}
    assert not forbidden.intersection(tags)
    assert 1 == tags.count("script")
    for _, attributes in page.tags:
        assert attributes.get("href", "#").startswith("#")
        assert not {"src", "srcset", "action", "data", "style"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)
    style = re.search(r"<style>(.*?)</style>", written(mixed, "html"), re.DOTALL)[1]
    assert "url(" not in style
    assert "@import" not in style


def test_html_policy(page, mixed, written):
    """The page allows one style sheet and one script, by their digests, and nothing else."""
    (policy,) = [
        attributes["content"]
        for tag, attributes in page.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    text = written(mixed, "html")
    digests = [
        b64encode(hashlib.sha256(content.encode()).digest()).decode()
        for tag in ("style", "script")
        for content in re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    ]
    nothing = "default-src 'none'; base-uri 'none'; form-action 'none'"
    style, script = (f"'sha256-{digest}'" for digest in digests)
    assert f"{nothing}; style-src {style}; script-src {script}" == policy


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
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_html_budget(journal, monkeypatch, written):
    """Beyond its budget the page counts the findings that it leaves out."""
    monkeypatch.setattr(html, "CARDS", 3)
    monkeypatch.setattr(html, "EXCHANGES", 4_000)
    text = written(journal.findings(5), "html")
    assert text.count("<article") == 3
    assert "2 more are left out here" in text
    assert text.count("<details><summary>exchange 17") == 1
    assert "and 1 more exchange" in text
    ids = re.findall(r'id="(aisp/[^"]+)"', text)
    assert 5 == len(ids) == len(set(ids))


def test_html_plain_words(journal, written):
    """The plain list is short and says how many more there are."""
    text = written(journal.findings(22), "html")
    assert text.count('<span class="seen">Expected:') == 20
    assert "and 2 more below" in text


def luminance(colour):
    """Return the relative luminance of #rrggbb as WCAG defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_html_contrast(mixed, written):
    """Every text colour meets WCAG AA on every ground, light and dark."""
    grounds = {"paper", "raised", "sunk"}
    pairs = r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)"
    colours = {name: pair for name, *pair in re.findall(pairs, written(mixed, "html"))}
    assert grounds < colours.keys()
    for scheme in (0, 1):
        for name in colours.keys() - grounds - {"rule"}:
            for ground in grounds:
                both = (luminance(colours[each][scheme]) for each in (name, ground))
                dark, light = sorted(both)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, ground)


def test_html_cause(journal, written):
    """Inconclusive obligations with one reason share a card; each has its anchor."""
    names = [f"aisp/clause-{n}/facet" for n in range(5)]
    for name in names:
        journal.plan(name)
    for name in names:
        journal.verdict(name, "indeterminate", "the control call failed")
    text = written(journal.footer().read(), "html")
    assert 1 == text.count("<article")
    assert "5 obligations" in text
    assert 5 == len(re.findall(r'<li id="aisp/clause-\d/facet"', text))


def test_html_questions(journal, written):
    """A question that two contracts ask in the same words is listed once, with both ids."""
    for name in ("aisp/codes/open", "pis/codes/open"):
        open_point = {"kind": "unspecified", "disposition": "unspecified", "asks": ""}
        journal.plan(name, says="Which status a refusal has.", **open_point)
    for name in ("aisp/codes/open", "pis/codes/open"):
        journal.verdict(name, "unspecified")
    text = written(journal.footer().read(), "html")
    listed = text[text.index('id="open-points"') :]
    assert 1 == listed.count("Which status a refusal has.")
    assert {"aisp/codes/open", "pis/codes/open"} <= set(re.findall(r'id="([^"]+)"', listed))


def test_html_not_applicable(journal, written):
    """What the bank does not offer is told from what cannot occur."""
    journal.lines[0] = journal.lines[0] | {"not_offered": ["instant"]}
    names = ("aisp/instant/offered", "aisp/night/short")
    for name in names:
        journal.plan(name)
    for name in names:
        journal.verdict(name, "not-applicable", f"the reason of {name}")
    text = written(journal.footer().read(), "html")
    text = text[text.index('id="not-applicable"') :]
    offered, never = text.index("Not offered by this bank"), text.index("Cannot occur")
    assert offered < text.index("the reason of aisp/instant/offered") < never
    assert never < text.index("the reason of aisp/night/short")


def test_html_absent(journal, written):
    """So is what the bank does not have at all, by the reason of the target file."""
    journal.lines[0] = journal.lines[0] | {"absent": ["no cards"]}
    journal.plan("aisp/cards/recent")
    journal.verdict("aisp/cards/recent", "not-applicable", "no cards")
    text = written(journal.footer().read(), "html")
    text = text[text.index('id="not-applicable"') :]
    assert "Not offered by this bank" in text
    assert "Cannot occur at this target" not in text


@pytest.mark.parametrize("path", ["/home/me/venv/assay/data/aisp.yaml", r"C:\me\aisp.yaml"])
def test_html_local_path(journal, written, path):
    """The page names the file of a contract, and not the folder of the user."""
    contract = journal.lines[0]["contracts"][0] | {"path": path}
    journal.lines[0] = journal.lines[0] | {"contracts": [contract], "environment": "live"}
    text = written(journal.finding().footer().read(), "html")
    assert path not in text
    assert text.count("<code>aisp.yaml</code>") == 2
    assert "live: a live bank" in text
    assert "2026-11-21 10:00:00 UTC" in text
