"""A journal is read whole or refused; each refusal is one clear line."""

import tracemalloc

import pytest

from assay.errors import JournalError
from assay.journal import lines as lines_module
from assay.report import read_journal
from assay.rules.verdict import Standing

NAME = "aisp/batch-quota/next-day"


def refused(path, *, partial=False):
    """Return the text with which a journal is refused."""
    with pytest.raises(JournalError) as caught:
        read_journal(path, partial=partial)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_whole(journal):
    """A finished journal gives results in plan order with their verdicts."""
    journal.plan("aisp/a/one").plan("aisp/b/two")
    journal.verdict("aisp/b/two").verdict("aisp/a/one")
    report = journal.footer().read()
    assert [one.planned.id for one in report.results] == ["aisp/a/one", "aisp/b/two"]
    assert {k: v for k, v in report.counts.items() if v} == {"conforms": 2}
    assert report.complete
    assert report.seconds == 2.1


def test_cited_exchanges(journal):
    """Only the exchanges that a finding cites are kept, by trial and number."""
    journal.plan()
    for n in range(10, 20):
        journal.exchange(n=n, body=str(n))
    journal.exchange("aisp/other#facet", body="elsewhere")
    result = journal.verdict(verdict="violates").footer().read().results[0]
    assert [one.response.body for one in result.exchanges] == ["17"]


def test_conforming_exchanges(journal):
    """What conforms keeps no exchange, only how much evidence it had."""
    result = journal.plan().exchange().verdict().footer().read().results[0]
    assert result.exchanges == ()
    assert result.observations == 1


def test_at_most_ten_exchanges(journal):
    """A verdict that cites hundreds of exchanges keeps ten of them."""
    journal.plan()
    for n in range(200):
        journal.exchange(n=n)
    item = {"agreement": "disagrees", "expected": "a", "seen": "b"}
    evidence = [{**item, "exchanges": [n]} for n in range(200)]
    journal.verdict(verdict="violates", evidence=evidence)
    result = journal.footer().read().results[0]
    assert list(range(10)) == [one.n for one in result.exchanges]
    assert result.observations == 200


def test_weightiest_evidence_first(journal):
    """Evidence against the target is never crowded out by evidence for it."""
    agrees = {"agreement": "agrees", "expected": "", "seen": "", "exchanges": []}
    evidence = [agrees] * 50 + [{**agrees, "agreement": "disagrees", "seen": "no"}]
    journal.plan().verdict(verdict="violates", evidence=evidence)
    assert journal.footer().read().results[0].evidence[0].seen == "no"


def test_missing_file(tmp_path):
    """A file that is not there is refused."""
    assert "no such journal" in refused(tmp_path / "none.jsonl")


def test_directory(tmp_path):
    """A directory is refused."""
    assert "a directory" in refused(tmp_path)


def test_empty(journal):
    """An empty file is refused as foreign."""
    journal.lines = []
    assert "it is empty" in refused(journal.write())


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"a": NaN}',
        b"[" * 100_000,
        b"",
        b'{"n":' + b"9" * 9999,
    ],
)
def test_damaged_line(journal, raw):
    """A line that is no JSON object is refused with its number."""
    path = journal.plan().verdict().footer().write()
    lines = path.read_bytes().split(b"\n")
    lines[1] = raw
    path.write_bytes(b"\n".join(lines))
    text = refused(path)
    assert f"{path}:2: damaged" in text


def test_long_line(journal, monkeypatch):
    """A line without end is refused before it fills the memory."""
    monkeypatch.setattr(lines_module, "MAX_LINE", 2_000)
    path = journal.plan().exchange(body="x" * 3_000).verdict().footer().write()
    assert ":3: damaged: a line longer than 2,000 bytes" in refused(path)


@pytest.mark.parametrize("first", [{"type": "plan"}, {"hello": 1}, {"type": "header"}])
def test_foreign(journal, first):
    """A file that does not begin with our header is refused."""
    journal.lines = [first]
    assert ":1: not an Assay journal" in refused(journal.write())


@pytest.mark.parametrize("version", [2, "1", True, None])
def test_foreign_version(journal, version):
    """A journal format of another version is refused."""
    journal.lines[0] = {**journal.lines[0], "journal": version}
    assert "journal format" in refused(journal.plan().verdict().footer().write())


def test_unknown_line(journal):
    """A kind of line that this version does not know is refused."""
    path = journal.add(type="rumour").footer().write()
    assert ":2: unknown kind of line 'rumour'" in refused(path)


def test_second_header(journal):
    """Two journals in one file are refused."""
    path = journal.add(**journal.lines[0]).footer().write()
    assert ":2: unknown kind of line 'header'" in refused(path)


def test_no_footer(journal):
    """A journal without its closing line is refused as unfinished."""
    assert "unfinished: no footer" in refused(journal.plan().verdict().write())


def test_line_after_footer(journal):
    """Nothing may follow the footer."""
    path = journal.plan().verdict().footer().add(type="advanced").write()
    assert ":5: damaged: there is data after the footer" in refused(path)


def test_wrong_digest(journal):
    """A journal altered after it was written is refused, partial or not."""
    path = journal.finding().footer().write()
    path.write_bytes(path.read_bytes().replace(b'"n": 17', b'"n": 18'))
    assert "the digest does not match" in refused(path)
    assert "the digest does not match" in refused(path, partial=True)


def test_missing_verdict(journal):
    """Fewer verdicts than planned obligations are refused as unfinished."""
    path = journal.plan().plan("aisp/b/two").verdict().footer().write()
    assert "unfinished: 2 planned by the footer, 2 plan lines, 1 verdicts" in refused(path)


def test_shrunken_plan(journal):
    """A footer that planned more than the plan lines say is refused."""
    path = journal.plan().verdict().footer(planned=2).write()
    assert "unfinished: 2 planned by the footer, 1 plan lines" in refused(path)


def test_wrong_counts(journal):
    """A footer that counts a violation as conforming is refused."""
    path = journal.finding().footer(counts={"conforms": 1}).write()
    assert "counts are not those of the verdicts" in refused(path)


def test_verdict_without_plan(journal):
    """A verdict on what was never planned is refused."""
    path = journal.verdict().footer().write()
    assert f":2: a verdict on {NAME}, which was not planned" in refused(path)


def test_two_verdicts(journal):
    """A second verdict on one obligation is refused."""
    path = journal.plan().verdict().verdict().footer().write()
    assert f":4: {NAME} has two verdicts" in refused(path)


def test_planned_twice(journal):
    """A plan line that stands twice is refused."""
    path = journal.plan().plan().verdict().footer().write()
    assert f":3: {NAME} is planned twice" in refused(path)


def test_planned_late(journal):
    """The plan is fixed before the first call."""
    path = journal.plan("aisp/a/one").exchange().plan().footer().write()
    assert f":4: {NAME} is planned after the run began" in refused(path)


def test_unknown_verdict(journal):
    """A verdict word that is none of the seven is refused."""
    path = journal.plan().verdict(verdict="fine").footer(counts={}).write()
    assert ":3: unknown verdict 'fine'" in refused(path)


def test_unknown_agreement(journal):
    """An agreement that is none of the three is refused."""
    path = journal.plan().verdict(evidence=[{"agreement": "perhaps"}]).footer().write()
    assert "unknown agreement 'perhaps'" in refused(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"obligation": None}, "'obligation' is not a text"),
        ({"line": "120"}, "'line' is not a whole number"),
        ({"line": True}, "'line' is not a whole number"),
        ({"sources": {}}, "'sources' is not a list"),
        ({"sources": ["Limits"]}, "'sources' contains something that is not an object"),
        ({"needs": [1]}, "'needs' contains something that is not a text"),
    ],
)
def test_wrong_type(journal, change, said):
    """A value of the wrong type is refused with its key."""
    assert f":2: {said}" in refused(journal.plan(**change).write())


def test_missing_value(journal):
    """A line without what it cannot do without is refused."""
    path = journal.add(type="plan", obligation="aisp/a/one").write()
    assert ":2: 'contract' is missing" in refused(path)


def test_exchange_twice(journal):
    """An exchange number that could mean two exchanges is refused when cited."""
    path = journal.plan().exchange().exchange().verdict(verdict="violates").footer().write()
    assert "exchange 17 of aisp/batch-quota#next-day is recorded twice" in refused(path)


def test_odd_headers(journal):
    """Headers that are no pairs of texts are refused, not guessed at."""
    request = {"method": "GET", "url": "", "headers": [["a"]], "body": ""}
    journal.plan().exchange(request=request).verdict(verdict="violates")
    assert "not two texts" in refused(journal.footer().write())


@pytest.mark.parametrize("ms", ["1", True, 10**400, None])
def test_odd_time(journal, ms):
    """A duration that is no sensible number is refused."""
    path = journal.plan().exchange(ms=ms).verdict(verdict="violates").footer().write()
    assert "'ms' is not a number" in refused(path)


def test_aborted(journal):
    """An aborted run is refused, and read as partial with what it did not reach."""
    journal.plan().plan("aisp/b/two").verdict("aisp/b/two")
    path = journal.footer(exit=2, aborted="interrupted").write()
    assert "unfinished: the run was aborted: interrupted" in refused(path)
    report = read_journal(path, partial=True)
    assert not report.complete
    assert Standing.UNVERIFIED is report.results[0].standing
    assert report.results[0].reason == "the run ended before this obligation was tested"
    assert Standing.CONFORMS is report.results[1].standing


def test_partial_without_footer(journal):
    """A run killed in the middle of a line is read as far as it came."""
    path = journal.finding().write()
    path.write_bytes(path.read_bytes() + b'{"type":"exch')
    assert "not JSON" in refused(path)
    report = read_journal(path, partial=True)
    assert not report.complete
    assert report.footer is None
    assert len(report.results[0].exchanges) == 1


def test_partial_of_whole(journal):
    """A finished journal read as partial is complete all the same."""
    path = journal.plan().verdict().footer().write()
    assert read_journal(path, partial=True) == read_journal(path)
    assert read_journal(path, partial=True).complete


def test_unwritable_time(journal):
    """A duration that cannot be told is not made up."""
    assert journal.plan().verdict().footer(finished="soon").read().seconds is None


def test_flat_memory(journal):
    """Five thousand exchanges that nothing cites leave nothing behind."""
    journal.plan()
    line = journal.exchange(body="x" * 500).lines.pop()
    journal.lines += [{**line, "n": n} for n in range(5_000)]
    path = journal.verdict().footer().write()
    tracemalloc.start()
    read_journal(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000 < path.stat().st_size
