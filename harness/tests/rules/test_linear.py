"""Judging costs the same for each exchange, however long the history is.

Nothing is timed: what is counted are the lines of Python that run, which no machine and
no neighbour changes. So a check is caught that goes over what was before for every event.
"""

import sys
from dataclasses import replace
from functools import cache

import pytest
from building import AISP, account, owner
from chapters import accounts, long, payments
from orders import PIS
from rows import for_each

from assay.history import Effects, Exchange, History
from assay.rules.lifecycle.tracker import Tracker, lifecycle_of_request
from assay.rules.obligation import bound_clauses

#: From so many chapters to so many: three of them near the beginning, and three later.
EARLY, LATE = (2, 5), (12, 15)
#: How much more the later ones may cost. To look back at all that was before costs nearly
#: four times as much; a fold costs the same to the line, but for odd days of the calendar.
BOUND = 1.05
RULED = {
    (contract.id, clause): (chapter, ruled)
    for contract, chapter in ((AISP, accounts), (PIS, payments))
    for clause, ruled in bound_clauses(contract).items()
}


@cache
def told(chapter, chapters, *, same):
    """Return a history; every clause judges the same."""
    return long(chapter, chapters, same=same)


def lines(check, history):
    """Count the lines that a check runs, and the frames that it enters, to judge a history."""
    ran = 0

    def trace(_frame, _event, _argument):
        nonlocal ran
        ran += 1
        return trace

    former = sys.gettrace()
    sys.settrace(trace)
    try:
        for _ in check(history):
            pass
    finally:
        sys.settrace(former)
    return ran


def growth(check, chapter, *, same):
    """Return how many times as much late chapters cost as early ones."""
    lines(check, told(chapter, 1, same=same))  # what is worked out only once
    cost = {size: lines(check, told(chapter, size, same=same)) for size in (*EARLY, *LATE)}
    return (cost[LATE[1]] - cost[LATE[0]]) / (cost[EARLY[1]] - cost[EARLY[0]])


@pytest.mark.parametrize("same", [True, False], ids=["the-same-customers", "new-customers"])
@pytest.mark.parametrize("clause", RULED, ids="/".join)
def test_a_late_chapter_costs_what_an_early_one_does(clause, same):
    """No check looks back at all that was before."""
    chapter, ruled = RULED[clause]

    assert growth(ruled.kind.check, chapter, same=same) <= BOUND


def looks_back(history):
    """Look for each answer whether the same was asked before."""
    before = []
    for event in history.exchanges:
        if any(one.call == event.call for one in before):
            yield event.n
        before.append(event)


def goes_over_all_requests(history):
    """Follow requests as a fold does, but for each inquiry look at all that there are."""
    book = Tracker(lifecycle=lifecycle_of_request(PIS, "payment"))
    for event in history.events:
        book.note(event)
        if isinstance(event, Effects):
            for one in book.requests:
                if one.done:
                    yield one.made.n


def reads_again(history):
    """Gather the exchanges anew for each inquiry."""
    for event in history.events:
        if isinstance(event, Effects):
            yield sum(isinstance(one, Exchange) for one in history.events)


@for_each("check", [looks_back, goes_over_all_requests, reads_again])
def test_a_check_that_looks_back_is_caught(check):
    """The bound is one that can be broken, also by what does so only now and then."""
    assert growth(check, payments, same=True) > BOUND + 0.1


def again(history):
    """Let the world tell at every inquiry all that it has told before."""
    done, out = (), []
    for event in history.events:
        if isinstance(event, Effects):
            done += event.done
            out.append(replace(event, done=done))
        else:
            out.append(event)
    return History(events=tuple(out))


@for_each("clause", [one for one in RULED if one[0] == PIS.id])
def test_what_the_world_has_told_it_need_not_tell_again(clause):
    """A history in which it does so is longer, and says the same."""
    chapter, ruled = RULED[clause]
    brief = told(chapter, 4, same=True)

    assert list(ruled.kind.check(brief)) == list(ruled.kind.check(again(brief)))


def test_a_thing_is_found_by_its_key_however_many_there_are():
    """Of two with one key it is the first; what is no key names nothing."""
    things = [account("A1"), account("A2"), account("A1", savings=True)]
    psu = owner("psu", *things)

    assert [*things[:2], None, None] == [psu.owned(key) for key in ("A1", "A2", "A3", ["A1"])]
    assert owner("psu", *things) == psu


@for_each("clause", RULED)
def test_there_is_something_to_judge_in_a_chapter(clause):
    """What a check does not look at costs nothing, however it is done."""
    chapter, ruled = RULED[clause]

    assert list(ruled.kind.check(told(chapter, 7, same=True)))
