"""The summary of the exchanges counts all of them, in memory that they do not fill."""

import random

import pytest

from assay.contexts.context import split_trial_name
from assay.errors import JournalError
from assay.report import journal_exchanges
from assay.report.journal_exchanges import read_traffic_summary


def latencies(journal, values, **changes):
    """Add an exchange for each latency, and return the path of the journal."""
    for number, value in enumerate(values):
        journal.exchange(n=number, ms=value, **changes)
    return journal.write()


@pytest.mark.parametrize("seed", range(3))
def test_percentiles(journal, seed):
    """Median and 95th percentile are right to one per cent, and the longest is exact."""
    values = [random.Random(seed).lognormvariate(1, 2) for _ in range(400)]
    (operation,) = read_traffic_summary(latencies(journal, values)).operations
    ordered = sorted(values)
    assert ordered[199] == pytest.approx(operation.median, rel=0.0101)
    assert ordered[379] == pytest.approx(operation.p95, rel=0.0101)
    assert ordered[-1] == operation.longest


def test_latencies_at_the_edge(journal):
    """A latency of nothing, and a negative one, count as nothing."""
    (operation,) = read_traffic_summary(latencies(journal, [0.0, -5, 0])).operations
    assert (0.0, 0.0, 3) == (operation.median, operation.longest, operation.calls)


def test_counts(journal):
    """Calls, outcomes and statuses are counted by operation, in the order of the first call."""
    journal.exchange(operation="b").exchange(n=2, operation="a").exchange(n=3, operation="b")
    response = {"status": 200, "headers": [], "body": "", "truncated": False}
    journal.exchange(n=4, operation="b", response=response, outcome={"kind": "accepted"})
    summary = read_traffic_summary(journal.write())
    assert 4 == summary.exchanges
    assert [("b", 3), ("a", 1)] == [(each.operation, each.calls) for each in summary.operations]
    assert (("rejected", 2), ("accepted", 1)) == summary.operations[0].outcomes
    assert ((200, 1), (429, 2)) == summary.operations[0].statuses


def test_contexts(journal):
    """A trial is named without its context; each of its contexts is kept once."""
    for number, trial in enumerate(("a/b#c", "a/b#c [mode=x, tpp=y]", "a/b#c", "a/d#e")):
        journal.exchange(trial, number)
    contexts = read_traffic_summary(journal.write()).contexts
    assert {"a/b#c": ("", "mode=x, tpp=y"), "a/d#e": ("",)} == contexts
    assert ("a/b#c", "") == split_trial_name("a/b#c")


def test_bounded(journal, monkeypatch):
    """A journal with any number of names makes a small summary."""
    monkeypatch.setattr(journal_exchanges, "NAMES", 3)
    for number in range(9):
        journal.exchange(n=number, operation=f"o{number}", outcome={"kind": f"k{number}"})
    operations = read_traffic_summary(journal.write()).operations
    assert ["o0", "o1", "o2", "others"] == [each.operation for each in operations]
    assert 9 == sum(each.calls for each in operations)


def test_abandoned_lines(journal):
    """What a resumed run did again counts once."""
    journal.exchange().exchange(n=18)
    journal.add(type="resumed", at="", version="", abandoned=[[2, 2]])
    assert 1 == read_traffic_summary(journal.write()).exchanges


def test_wrong_type(journal):
    """A line that no run writes is refused with its number."""
    with pytest.raises(JournalError, match=r":2: 'ms' is not a number"):
        read_traffic_summary(journal.exchange(ms="long").write())
