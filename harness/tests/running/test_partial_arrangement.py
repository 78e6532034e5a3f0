"""Customers without the part that cannot be prepared, and what a trial loses for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from command_line import assay
from rows import for_each

from assay.binding.wire.encode import Access
from assay.errors import CannotArrange, Shortage
from assay.history import Arrange, Holding, Owned, Subject
from assay.rules.steps import arrange, perform_all
from assay.running.fixture_events import PartialArrangement

NOW = datetime(2026, 9, 16, tzinfo=UTC)
DAYS = (date(2026, 9, 1),)
ACCOUNT = Holding(resource="account", entries=DAYS)
CARD = Holding(resource="card", entries=DAYS)
UNUSED = Holding(resource="card", traits={"never-used": True})
PLAIN = Holding(resource="card", count=2)

Refuse = Callable[[Holding], CannotArrange | None]


class Picky:
    """A fixture that refuses some things, and counts how often it is asked."""

    def __init__(self, refuse: Refuse) -> None:
        self.refuse, self.asked = refuse, 0

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        self.asked += 1
        for holding in step.holdings:
            if (refusal := self.refuse(holding)) is not None:
                raise refusal
        owns = tuple(
            Owned(key=f"{n}-{m}", resource=holding.resource, traits=holding.traits)
            for n, holding in enumerate(step.holdings)
            for m in range(holding.count)
        )
        return Subject(name=step.subject, now=NOW, owns=(*owns, Owned(key="x", resource="x"))), (
            Access()
        )


def no_slips(holding: Holding) -> CannotArrange | None:
    """Refuse entries of cards, and say so."""
    if holding.resource == "card" and holding.entries:
        return CannotArrange("a card with slips", resource="card", entries=True)
    return None


def always_used(holding: Holding) -> CannotArrange | None:
    """Refuse a card that was never used, and say so."""
    if "never-used" in holding.traits:
        return CannotArrange("a card never used", resource="card", trait="never-used")
    return None


def no_words(holding: Holding) -> CannotArrange | None:
    """Refuse the same, without saying what it is about."""
    return CannotArrange("a card never used") if always_used(holding) else None


def few(holding: Holding) -> CannotArrange | None:
    """Refuse several of a kind."""
    return CannotArrange("several of a kind") if holding.count > 1 else None


def no_cards(holding: Holding) -> CannotArrange | None:
    """Refuse every card."""
    return CannotArrange("a card", resource="card") if holding.resource == "card" else None


@for_each(
    ("refuse", "holdings", "owned", "asked"),
    [
        (lambda _: None, (ACCOUNT, CARD), ["account", "card"], 1),
        (no_slips, (ACCOUNT, CARD), ["account", "card"], 2),
        (always_used, (UNUSED, PLAIN), ["card", "card"], 2),
        (no_words, (ACCOUNT, UNUSED, PLAIN), ["account", "card", "card"], 4),
        (no_cards, (ACCOUNT, CARD, PLAIN), ["account"], 2),
        (few, (Holding(resource="account", count=3), PLAIN, PLAIN), ["account", "card"], 4),
        (few, (PLAIN, UNUSED), ["card", "card"], 3),
        (
            lambda holding: no_slips(holding) or always_used(holding),
            (ACCOUNT, CARD, UNUSED),
            ["account", "card"],
            3,
        ),
    ],
)
def test_what_is_left(
    refuse: Refuse, holdings: tuple[Holding, ...], owned: list[str], asked: int
) -> None:
    """A customer lacks what was refused and nothing else, and few are asked for."""
    fixture: Any = Picky(refuse)
    partly = PartialArrangement()
    subject, _ = partly.arrange(fixture, Arrange(subject="psu", holdings=holdings))
    assert [*owned, "x"] == [thing.resource for thing in subject.owns]
    assert bool(partly.missing) is (asked > 1)
    assert asked == fixture.asked


@pytest.mark.parametrize(
    ("refuse", "holdings"),
    [
        (no_cards, (PLAIN,)),
        (lambda _: CannotArrange("a bank"), (ACCOUNT, PLAIN)),
        (lambda _: CannotArrange("a ship", resource="ship"), (ACCOUNT, PLAIN)),
        (lambda _: CannotArrange("calls", Shortage.BUDGET), (ACCOUNT, PLAIN)),
        (lambda _: CannotArrange("a key", key=("fixtures",)), (ACCOUNT, PLAIN)),
    ],
)
def test_nothing_is_left(refuse: Refuse, holdings: tuple[Holding, ...]) -> None:
    """What refuses the customer as a whole is passed on as it is."""
    step = Arrange(subject="psu", holdings=holdings)
    fixture: Any = Picky(refuse)
    with pytest.raises(CannotArrange) as caught:
        PartialArrangement().arrange(fixture, step)
    assert str(refuse(holdings[0]) or refuse(holdings[-1])) == str(caught.value)
    with pytest.raises(CannotArrange):
        PartialArrangement(allowed=False).arrange(fixture, step)


def test_a_whole_customer_is_asked_for_where_nothing_may_be_missing() -> None:
    """A search, and the doctor, take no customer for another."""
    fixture: Any = Picky(no_slips)
    with pytest.raises(CannotArrange, match="a card with slips"):
        PartialArrangement(allowed=False).arrange(
            fixture, Arrange(subject="psu", holdings=(ACCOUNT, CARD))
        )
    assert 1 == fixture.asked


@pytest.mark.parametrize("needed", [0, 1, 2])
def test_a_probe_goes_on_as_far_as_it_can(needed: int) -> None:
    """It sees only what was prepared for it, and ends where it needs what is missing."""
    seen: list[str] = []

    def probe() -> Any:
        psu = yield from arrange("psu", ACCOUNT, PLAIN)
        seen.append(str(len(psu.owns)))
        seen.append(psu.owns[needed].key)

    fixture: Any = Picky(no_cards)
    partly = PartialArrangement()
    with pytest.raises(CannotArrange, match=r"^a card$"):
        perform_all(partly.going_on(probe()), lambda step: partly.arrange(fixture, step)[0])
    assert ["1", "0-0"][: 2 if needed == 0 else 1] == seen


def test_a_probe_that_fails_by_itself() -> None:
    """An error of a probe whose customers are whole is not taken for something missing."""

    def probe() -> Any:
        yield from arrange("psu", ACCOUNT)
        raise IndexError("mine")

    fixture: Any = Picky(no_slips)
    partly = PartialArrangement()
    with pytest.raises(IndexError, match="mine"):
        perform_all(partly.going_on(probe()), lambda step: partly.arrange(fixture, step)[0])


def test_a_target_with_fewer_names_than_the_contract(tmp_path: Path) -> None:
    """It is called by those that it has, in every context, for accounts and cards."""
    file = tmp_path / "bank.yaml"
    names = "operations: {transactions: {aliases: [/transactions]}}"
    file.write_text(f"assay: 1\ntarget: bank\nextends: sandbox\n{names}\n")
    where = ("--target", str(file), "-m", "aisp", "-k", "transactions.available", "--out", "out")
    code, _, said = assay("run", *where, "--contexts", "each", "--journeys", "0", cwd=tmp_path)
    assert (0, False) == (code, "ended early" in said)
    lines = (tmp_path / "out" / "journal.jsonl").read_text("utf-8").splitlines()
    events = [event for event in map(json.loads, lines) if "aliases" in event.get("trial", "")]
    assert "unfinished" not in {event["type"] for event in events}
    base = [each for each in events if each["trial"].endswith("#aliases") and "variation" in each]
    assert 2 == sum("by its other name" in each["variation"] for each in base)
