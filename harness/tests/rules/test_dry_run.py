"""Dry runs: what the made-up targets answer, and what a probe costs by them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from account_information import AISP, Obliging, ruled
from rows import for_each

from assay.history import Call, Holding
from assay.planning.plan import count_calls
from assay.rules import dry_run, steps

TODAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def conforming(**changed):
    """Return a target that keeps the contract, at a known time."""
    usual = {"contract": AISP, "now": TODAY, "accepts_variation": False}
    return dry_run.ConformingTarget(**usual | changed)


def walked(target, operation, *holdings, about=False, variation=""):
    """Return how many pages of an operation a walk turns, for a customer with these holdings."""

    def probe():
        psu = yield from steps.arrange("psu", *holdings)
        arguments = {"iban": psu.owns[0].key} if about else {}
        call = Call(operation=operation, subject="psu", arguments=arguments, variation=variation)
        yield from steps.walk(call)

    return sum(isinstance(step, Call) for step in dry_run.play(probe(), target))


def days(*ages):
    """Return the dates so many days ago."""
    return tuple((TODAY - timedelta(days=age)).date() for age in ages)


@for_each(("count", "pages"), [(1, 1), (5, 1), (6, 2), (11, 3)])
def test_a_list_has_pages_of_the_size_that_the_contract_states(count, pages):
    """Five accounts fit a page."""
    assert pages == walked(conforming(), "accounts", Holding(resource="account", count=count))


def test_what_must_not_be_listed_fills_no_page():
    """Five of six accounts are listed where one is blocked."""
    hidden = next(trait for trait in ruled("accounts.eligible").hides)
    blocked = Holding(resource="account", traits={hidden: True})

    assert 1 == walked(conforming(), "accounts", Holding(resource="account", count=5), blocked)


@for_each(("ages", "pages"), [(range(1, 16), 1), (range(1, 17), 2)])
def test_entries_have_pages_too(ages, pages):
    """Fifteen entries fit a page."""
    holding = Holding(resource="account", entries=days(*ages))

    assert pages == walked(conforming(), "transactions", holding, about=True)


def test_entries_that_are_too_old_fill_no_page():
    """The sixteenth is older than the history goes back."""
    holding = Holding(resource="account", entries=days(*range(1, 16), 100))

    assert 1 == walked(conforming(), "transactions", holding, about=True)


def test_without_a_limit_every_entry_counts():
    """Where no clause limits the history, the old one is on a second page."""
    clauses = tuple(clause for clause in AISP.clauses if clause.kind != "history-depth")
    target = conforming(contract=replace(AISP, clauses=clauses))
    holding = Holding(resource="account", entries=days(*range(1, 16), 100))

    assert 2 == walked(target, "transactions", holding, about=True)


@for_each(("accepts", "pages"), [(True, 2), (False, 1)])
def test_a_variation_is_rejected_unless_it_is_accepted(accepts, pages):
    """A rejection has no second page."""
    target = conforming(accepts_variation=accepts)
    six = Holding(resource="account", count=6)

    assert pages == walked(target, "accounts", six, variation="without the customer")


@for_each("operation", ["accounts", "transactions"])
def test_nobody_owns_what_was_not_arranged(operation):
    """Then there is one page, and it is empty."""
    target = conforming()
    call = Call(operation=operation, subject="stranger", arguments={"iban": "A1"})

    assert [call] == [*dry_run.play(steps.walk(call), target)]


def test_a_price_has_no_end():
    """A large quota costs what it costs."""
    params = ruled("online-unlimited", quota=dry_run.MOST // 2)
    scenario = params.scenario("accounts:unlimited")

    assert dry_run.MOST < count_calls(params, scenario)
    assert count_calls(params, scenario) == len(Obliging().play(params, scenario.id).calls)


def test_a_probe_that_cannot_use_an_answer_has_no_price_and_a_part_of_a_dry_run():
    """What it asked for until then stands; a price would be wrong."""

    def probe():
        yield from steps.arrange("psu")
        raise LookupError("no such thing")

    assert 1 == len([*dry_run.dry_run(probe(), conforming())])
    with pytest.raises(LookupError, match="no such thing"):
        list(dry_run.play(probe(), conforming()))


def test_a_dry_run_ends_at_its_bound():
    """A probe may never end."""

    def probe():
        while True:
            yield from steps.clock()

    assert dry_run.MOST == len([*dry_run.dry_run(probe(), conforming())])
