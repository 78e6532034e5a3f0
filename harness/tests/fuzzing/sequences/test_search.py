"""Searches find what is broken, tell it shortly, and blame nobody for nothing."""

from dataclasses import replace
from itertools import count

import pytest

from assay.binding.target import ScaKind
from assay.errors import CannotArrange, TargetError
from assay.execution.environment import Environment, MissingSigner
from assay.fuzzing.search import Search
from assay.fuzzing.sequences.shrink import without
from assay.fuzzing.session import SEARCH_METHODS, limits_of
from assay.history import Exchange

from .conftest import VARIANTS, prepared

pytestmark = pytest.mark.slow

#: Faults that journeys find soon, each another way: one call, a sequence, two customers,
#: time, the screens, what was carried out.
FOUND_SOON = (
    "available.accounts-500",
    "consent.slip-leaks-outside",
    "quota.consents-five-a-day",
    "paging.transactions-overlap",
    "pis.content.amount",
    "pis.sca.immediate-unsigned",
    "pis.modify.immediate",
    "pis.report-url.no-query",
)


def contract_of(variant):
    return min(VARIANTS[variant].breaks).partition("/")[0]


@pytest.mark.parametrize("variant", FOUND_SOON)
def test_a_fault_is_found_and_told_shortly(searching, variant):
    """The sequence breaks the bank that has the fault, and not the one that has none."""
    contract = contract_of(variant)
    # Far more than it takes: what Hypothesis chooses depends on the modules that are loaded.
    done = searching(contract, variant, sequences=3000, findings=1).run_machine()
    found = done.findings[0]
    assert len(found.sequence) <= 10
    again = searching(contract, variant).violations(found.sequence)
    assert found.obligation in {one.obligation for one in again}
    assert () == searching(contract).violations(found.sequence)


def test_a_story_has_no_step_too_many(searching):
    """Whatever single step is left away, it breaks nothing any more."""
    done = searching("pis", "pis.content.amount", sequences=3000, findings=1).run_machine()
    (sequence,) = [one.sequence for one in done.findings]
    bank = searching("pis", "pis.content.amount")
    assert [] == [
        n for n in range(len(sequence)) if bank.violations(without(sequence, range(n, n + 1)))
    ]


@pytest.mark.parametrize("contract", ["aisp", "pis"])
def test_the_same_seed_makes_the_same_journeys(searching, contract, monkeypatch):
    """And another one others."""
    judge = Search.judge

    def stories(seed):
        told = []

        def heard(search, sequence):
            told.append(tuple(sequence))
            judge(search, sequence)

        monkeypatch.setattr(Search, "judge", heard)
        search = searching(contract, sequences=6)
        search.seed = seed
        search.run_machine()
        return told

    stories(1)  # what is loaded on the way is loaded now
    first = stories(1)
    assert len(first) >= 6
    assert first == stories(1) != stories(2)


def test_what_is_known_is_not_searched_for(searching):
    """Each obligation is found once, and the search goes on to others."""
    search = searching("pis", "pis.content.amount", sequences=20)
    search.known = frozenset({"pis/payments.content/amount"})
    done = search.run_machine()
    assert () == done.findings
    assert done.sequences == 20


def test_all_that_is_broken_is_told_once(searching):
    """Though many journeys break it."""
    done = searching("aisp", "available.accounts-500", sequences=200).run_machine()
    names = [one.obligation for one in done.findings]
    assert "aisp/accounts.available/answers" in names
    assert len(names) == len(set(names))


def test_limits(searching):
    """So many journeys, so many calls and not one more, so many seconds."""
    done = searching("aisp", sequences=7).run_machine()
    assert (done.sequences, done.findings) == (7, ())
    few = searching("aisp", sequences=500, calls=50).run_machine()
    assert few.exchanges == 50
    assert searching("aisp", sequences=500, seconds=0).run_machine().sequences == 0


def test_only_reading(searching, monkeypatch):
    """With the customer there: nothing is granted, bent, signed, moved."""
    events = []
    perform = Search.perform

    def heard(search, step):
        events.append(perform(search, step))
        return events[-1]

    monkeypatch.setattr(Search, "perform", heard)
    searching("aisp", sequences=5, reads=True).run_machine()
    calls = [one.call for one in events if isinstance(one, Exchange)]
    assert {one.operation for one in calls} <= {"accounts", "balances", "transactions"}
    assert all(one.present and not one.malformed for one in calls)
    assert len(calls) > 20


def test_only_reading_where_everything_writes(searching):
    """Payments are not made to see whether they can be."""
    done = searching("pis", sequences=5, reads=True).run_machine()
    assert done.findings == ()
    assert done.exchanges == 0


@pytest.mark.parametrize("how", ["journeys", "fields"])
def test_nobody_is_asked_to_sign_what_was_made_up(searching, how, monkeypatch):
    """A person has better things to do; a program signs."""
    signed = prepared().target
    assert limits_of(signed, 5).signs
    manual = replace(signed, sca=replace(signed.sca, kind=ScaKind.MANUAL))
    assert not limits_of(manual, 5).signs

    class Refusing(MissingSigner):
        def sign(self, step, access, wait):
            raise ZeroDivisionError

    monkeypatch.setattr(Environment, "signer", lambda _stage, _scene: Refusing())
    search = searching("pis", sequences=30, signs=False)
    assert SEARCH_METHODS[how](search, lambda _: None).findings == ()
    with pytest.raises(ZeroDivisionError):
        SEARCH_METHODS[how](searching("pis", sequences=100), lambda _: None)


def test_a_target_that_is_gone_ends_the_search(searching, monkeypatch):
    """It is no finding, and it is told as what it is."""

    def gone(_search, _step):
        raise TargetError("gone")

    monkeypatch.setattr(Search, "perform", gone)
    with pytest.raises(TargetError, match="gone"):
        searching("aisp", sequences=5).run_machine()


def test_a_fault_of_ours_is_none_of_the_banks(searching, monkeypatch):
    """It comes out as it is, and Hypothesis prints no sequence of its own."""

    def broken(_search, _story):
        raise ZeroDivisionError

    monkeypatch.setattr(Search, "judge", broken)
    with pytest.raises(ZeroDivisionError):
        searching("aisp", sequences=5).run_machine()


def test_a_target_that_does_not_do_the_same_twice(searching, monkeypatch):
    """Hypothesis notices, and the search goes on with other journeys."""
    turns = count()
    perform = Search.perform

    def moody(search, step):
        if next(turns) % 3 == 0:
            raise CannotArrange("today")
        return perform(search, step)

    monkeypatch.setattr(Search, "perform", moody)
    search = searching("aisp", sequences=40)
    assert search.run_machine().sequences >= 40
