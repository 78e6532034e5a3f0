"""The HTML page stands alone, runs nothing and can be read by everyone."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from assay.report import html


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
def page(mixed, written):
    """Return the parsed HTML of a run with every verdict."""
    return Page(written(mixed, "html"))


def test_html_well_formed(page):
    """Every tag that is opened is closed in its place."""
    assert page.open == []


def test_html_alone(page, mixed, written):
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
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]


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
    styles = written(mixed, "html")
    grounds = {"paper", "raised", "sunk"}
    for block in re.findall(r":root \{(.*?)\}", styles, re.DOTALL):
        colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))
        assert grounds < colours.keys()
        for name in colours.keys() - grounds - {"rule"}:
            for ground in grounds:
                pair = sorted((luminance(colours[name]), luminance(colours[ground])))
                assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, (name, ground)
