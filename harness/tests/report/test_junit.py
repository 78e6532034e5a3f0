"""JUnit XML has one case per obligation, and is never green for nothing."""

import xml.etree.ElementTree as ET

from assay.report import junit


def test_junit_cases(mixed, written):
    """Each obligation is one uniquely named case with the fitting outcome."""
    root = ET.fromstring(written(mixed, "junit"))
    cases = {one.get("name"): one for one in root.iter("testcase")}
    assert len(mixed.results) + 1 == len(list(root.iter("testcase"))) == len(cases)
    for result in mixed.results:
        case = cases[result.planned.id]
        verdict = case.find("system-out").text.split()[1]
        assert verdict == result.standing.value
        tags = {child.tag for child in case} - {"system-out"}
        wanted = {"conforms": set(), "violates": {"failure"}}
        assert wanted.get(verdict, {"skipped"}) == tags
    broken = cases["aisp/batch-quota/next-day"]
    assert broken.get("classname") == "aisp.batch-quota"
    assert broken.find("failure").get("type") == "batch-quota"
    skipped = cases["aisp/batch-quota/midnight"].find("skipped")
    assert skipped.get("message") == "unverified: needs clock"
    assert len(root.findall(".//error")) == 1


def test_junit_totals(mixed, written):
    """The totals of the root are those of its suites and of its cases."""
    root = ET.fromstring(written(mixed, "junit"))
    for key, tag in (
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        found = len(root.findall(f".//{tag}"))
        assert found == sum(int(s.get(key)) for s in root)
        assert key == "skipped" or found == int(root.get(key))
    assert int(root.get("tests")) == 8


def test_junit_size(journal, monkeypatch, written):
    """Cards beyond the budget are left out of the file, and it says so."""
    monkeypatch.setattr(junit, "BUDGET", 10_000)
    text = written(journal.findings(20), "junit")
    assert len(text) < 30_000
    assert len(ET.fromstring(text).findall(".//failure")) == 20
    assert junit.SPENT in text
