"""The trend page: true, self-contained, and without a say for what is in a journal."""

import re
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from urllib.parse import unquote

import pytest
from command_line import assay

from assay import report
from assay.report.trend import read_trend, render

HOSTILE = "<script>alert(1)</script>\"'&\x1b[31m]]>"


class Page(HTMLParser):
    """The tags, links and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in {"href", "src", "action"}]

    def handle_data(self, data):
        self.text += data


def page_of(folder, last=100):
    """Return the page about the runs of a folder."""
    out = StringIO()
    render(read_trend(folder, folder / "trend.html", last=last), out)
    return out.getvalue()


@pytest.fixture
def run_in(tmp_path, journal_at):
    """Return what records a run with one verdict in a folder below."""

    def record(name, verdict, started, **changes):
        (tmp_path / name).mkdir()
        journal = journal_at(tmp_path / name / "journal.jsonl")
        journal.lines[0] = journal.lines[0] | {"started": started} | changes
        journal.plan("aisp/batch-quota/next-day").plan("aisp/batch-quota/other")
        journal.verdict("aisp/batch-quota/next-day", verdict)
        return journal.verdict("aisp/batch-quota/other").footer().write()

    return record


def test_the_runs_of_a_folder(run_in, tmp_path):
    """Runs are in the order of time, each compared with the one before, and damaged ones are listed."""
    run_in("b", "violates", "2026-11-22T10:00:00Z")
    run_in("a", "conforms", "2026-11-23T10:00:00Z")
    run_in("c", "conforms", "2026-11-21T10:00:00Z")
    run_in("other", "violates", "2026-11-24T10:00:00Z", selection={"k": "quota", "m": ""})
    (tmp_path / "b" / "report.html").write_text("a page", "utf-8")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "journal.jsonl").write_text("{}\n", "utf-8")
    trend = read_trend(tmp_path, tmp_path / "trend.html", last=100)
    assert ["c", "b", "a", "other"] == [each.name for each in trend.runs]
    changes = [
        each.since and [found.category.value for found in each.since.differences]
        for each in trend.runs
    ]
    assert [None, ["newly-violated"], ["fixed"], None] == changes
    assert [("damaged", True)] == [
        (each.name, "not an Assay journal" in each.reason) for each in trend.unreadable
    ]
    page = Page(page_of(tmp_path))
    assert ["b/report.html"] == page.links
    assert "Newly violated (1)" in page.text
    assert ["a", "other"] == [
        each.name for each in read_trend(tmp_path, tmp_path / "t.html", last=2).runs
    ]


def test_the_page_is_self_contained(run_in, tmp_path):
    """It has no script, loads nothing, and what is in a journal or a path is only text."""
    target = {"name": HOSTILE, "transport": "http", "base_url": HOSTILE, "digest": HOSTILE}
    name = "javascript:alert(1) <b>"
    run_in(name, "violates", "2026-11-22T10:00:00Z", target=target)
    (tmp_path / name / "report.html").write_text("a page", "utf-8")
    text = page_of(tmp_path)
    page = Page(text)
    assert not {"script", "img", "link", "iframe", "b"} & {*page.tags}
    assert "default-src 'none'" in text
    assert [f"{name}/report.html"] == [unquote(link) for link in page.links]
    assert not page.links[0].startswith("javascript:")
    assert "<script>alert(1)</script>" in page.text
    assert "\x1b" not in text
    assert not re.search(r"url\(|https?://(?!www\.w3\.org)", text)


def test_the_charts_have_a_style_of_their_own():
    """The style that all pages share does not colour the charts of this one."""
    folder = Path(report.__file__).parent
    page = (folder / "html" / "trend.html.j2").read_text("utf-8")
    drawn = set(re.findall(r'<(?:svg|ul) class="([\w-]+)"', page))
    shared = set(re.findall(r"\.([a-z][\w-]*)", (folder / "html" / "page.css").read_text("utf-8")))
    assert {"trend-chart", "trend-row", "trend-legend"} == drawn
    assert not drawn & shared


def test_the_command(run_in, tmp_path):
    """It writes a file, and says what it cannot use."""
    run_in("run", "violates", "2026-11-22T10:00:00Z")
    code, out, _ = assay("trend", ".", cwd=tmp_path)
    assert (0, "trend.html: 1 run\n") == (code, out)
    assert (tmp_path / "trend.html").exists()
    code, _, err = assay("trend", "none", cwd=tmp_path)
    assert (2, True) == (code, "none: cannot be read: No such file or directory" in err)
    Path(tmp_path / "empty").mkdir()
    code, _, err = assay("trend", "empty", cwd=tmp_path)
    assert (2, True) == (code, "there is no run here" in err)
