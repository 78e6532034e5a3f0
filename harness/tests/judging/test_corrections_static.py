"""Static answers: which operations are detected, and which verdicts are taken back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from support.static_mock import mock, target_file

from assay.history import (
    Accepted,
    Call,
    Entry,
    Exchange,
    History,
    Item,
    Malformed,
    Owned,
    Rejected,
    Subject,
    Wire,
)
from assay.journal.writer import Journal
from assay.judging.corrections import StaticWatch, discount_static
from assay.preparation.prepare import prepare
from assay.rules.verdict import Agreement, Evidence, Standing, Verdict
from assay.running.environment import set_up
from assay.running.session import RunResult, Session, run_session

NOW = datetime(2026, 9, 16, tzinfo=UTC)
ITEMS = (Item(key="A"),)


def run(folder: Path, transport: httpx.BaseTransport) -> RunResult:
    """Run the whole contract on a target with two listed customers."""
    prepared = prepare(target_name=target_file(folder))
    environment = set_up(prepared.target)
    environment.client.close()
    environment.client._wire = transport
    return run_session(
        Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
    )


def test_a_mock(tmp_path: Path) -> None:
    """Nothing conforms at a target that returns the same bytes for every request."""
    result = run(tmp_path, httpx.MockTransport(mock))
    assert () == result.faults
    assert (11, 0) == (result.counts["violates"], result.counts["conforms"])
    static = [one for one in result.verdicts if one.reason.startswith("static answers: ")]
    assert 30 < len(static)
    assert {Standing.INDETERMINATE} == {one.standing for one in static}
    assert "static answers: accounts returns the same bytes for every request" in {
        one.reason for one in static
    }


def exchange(n: int, body: bytes, operation: str = "accounts", **call: object) -> Exchange:
    return Exchange(
        n=n,
        at=NOW,
        call=Call(operation=operation, **{"subject": "psu", **call}),
        outcome=Accepted(items=ITEMS),
        wire=Wire(method="GET", url="https://bank.example/", status=200, body=body),
    )


def seen(*exchanges: Exchange, subjects: tuple[Subject, ...] = ()) -> StaticWatch:
    watch = StaticWatch()
    watch.see(History(events=(*subjects, *exchanges)))
    return watch


def asked(n: int, body: bytes, operation: str = "balances") -> Exchange:
    return exchange(n, body, operation, arguments={"iban": f"FR{n}"})


def test_enough_questions() -> None:
    """Four different questions with one answer are static; three are not, nor is one repeated."""
    assert {"balances"} == seen(*(asked(n, b"x") for n in range(4))).static()
    assert frozenset() == seen(*(asked(n, b"x") for n in range(3))).static()
    assert frozenset() == seen(*(asked(1, b"x") for _ in range(9))).static()


def test_one_different_answer() -> None:
    """One answer that differs, however late, shows that an operation is not static."""
    every = [asked(n, b"x") for n in range(9)]
    assert frozenset() == seen(*every, asked(9, b"y")).static()


def test_over_trials() -> None:
    """Questions of several trials count together if their customers own different things."""
    watch = StaticWatch()
    for n in range(4):
        psu = Subject(name="psu", now=NOW, owns=(Owned(key=f"A{n}", resource="account"),))
        watch.see(History(events=(psu, exchange(n, b"x"))))
    assert {"accounts"} == watch.static()


def trial(n: int, *exchanges: Exchange, entries: tuple[Entry, ...] = ()) -> History:
    """Return the history of a trial with a customer of its own."""
    things = tuple(Owned(key=f"A{n}-{m}", resource="account", entries=entries) for m in range(2))
    return History(events=(Subject(name="psu", now=NOW, owns=things), *exchanges))


def made(n: int, body: bytes, debtor: str, amount: str = "1.00") -> Exchange:
    arguments = {"debtorAccount": debtor, "amount": amount}
    return exchange(n, body, "create-payment", arguments=arguments)


def test_a_deterministic_bank() -> None:
    """The first request of every trial may have the same key: each trial has a bank of its own."""
    watch = StaticWatch(making={"create-payment"}, about_requests={"read-payment"})
    for n in range(9):
        read = exchange(2, b"read", "read-payment", arguments={"id": "PAY-1"})
        watch.see(trial(n, made(1, b"PAY-1", f"A{n}-0"), read))
    assert frozenset() == watch.static()


def test_requests_of_one_trial_have_keys_of_their_own() -> None:
    """Different requests of one trial that are answered with one key show a mock."""
    watch = StaticWatch(making={"create-payment"})
    for n in range(4):
        again = made(2, b"PAY-1", f"A{n}-0", "2.00")
        watch.see(trial(n, made(1, b"PAY-1", f"A{n}-0"), again))
    assert {"create-payment"} == watch.static()


def test_the_same_request_again() -> None:
    """An equal request may be answered with the same key."""
    watch = StaticWatch(making={"create-payment"})
    for n in range(9):
        watch.see(trial(n, *(made(m, b"PAY-1", f"A{n}-0") for m in (1, 2))))
    assert frozenset() == watch.static()


def test_accounts_with_the_same_entries() -> None:
    """Two accounts may have the same entries, and so the same answer; others may not."""
    for days, static in (((1, 1), frozenset()), ((1, 2), {"transactions"})):
        watch = StaticWatch()
        owned = tuple(
            Owned(
                key=f"A{n}",
                resource="account",
                entries=(
                    Entry(key="T1", on=NOW.date().replace(day=days[n % 2] + n * (days[1] - 1))),
                ),
            )
            for n in range(8)
        )
        psu = Subject(name="psu", now=NOW, owns=owned)
        asked = [
            exchange(n, b"x", "transactions", arguments={"iban": one.key})
            for n, one in enumerate(owned)
        ]
        watch.see(History(events=(psu, *asked)))
        assert static == watch.static()


@pytest.mark.parametrize("outcome", [Accepted(items=()), Accepted(), Rejected(leaked=ITEMS)])
def test_nothing_to_compare(outcome: object) -> None:
    """Empty lists and refusals are the same at any bank, and show nothing."""
    every = [asked(n, b"x") for n in range(9)]
    plain = [
        Exchange(n=one.n, at=NOW, call=one.call, outcome=outcome, wire=one.wire) for one in every
    ]
    assert frozenset() == seen(*plain).static()


def test_the_other_operations_of_a_mock() -> None:
    """Once one operation is static, others that never varied are static as well."""
    shown = [asked(n, b"x") for n in range(4)]
    dull = [exchange(n, b"{}", "consents") for n in (5, 6)]
    lively = [exchange(n, str(n).encode(), "accounts") for n in (7, 8)]
    assert frozenset() == seen(*dull, *lively).static()
    assert {"balances", "consents"} == seen(*shown, *dull, *lively).static()


def test_an_operation_that_refuses_is_not_static() -> None:
    """An operation that ever refused a request does read its requests."""
    shown = [asked(n, b"x") for n in range(4)]
    accepted = exchange(5, b"{}", "consents")
    refused = Exchange(
        n=6, at=NOW, call=accepted.call, outcome=Rejected(), wire=Wire(method="PUT", url="")
    )
    assert {"balances"} == seen(*shown, accepted, refused).static()


@pytest.mark.parametrize("how", [{"malformed": Malformed.NOT_JSON}, {"credentials": True}])
def test_empty_answers_of_a_mock(how: dict[str, object]) -> None:
    """An operation that refuses only the wrong shape, and answers all else with nothing, is static."""
    shown = [asked(n, b"x") for n in range(4)]
    empty = [
        replace(exchange(n, b"", "consents"), outcome=Accepted(items=None)) for n in range(5, 9)
    ]
    refused = replace(exchange(9, b"", "consents", **how), outcome=Rejected())
    assert {"balances", "consents"} == seen(*shown, *empty, refused).static()
    assert frozenset() == seen(*empty, refused).static()


def verdict(standing: Standing, *cites: int) -> Verdict:
    evidence = Evidence(
        facet="f", agreement=Agreement.AGREES, expected="e", seen="s", exchanges=cites
    )
    return Verdict(obligation="a/b/c", standing=standing, reason="why", evidence=(evidence,))


@pytest.mark.parametrize(
    ("standing", "after"),
    [(Standing.CONFORMS, Standing.INDETERMINATE), (Standing.VIOLATES, Standing.VIOLATES)],
)
def test_taken_back(standing: Standing, after: Standing) -> None:
    """That something conforms by a static operation is taken back; what was violated stays."""
    rests, stays = verdict(standing, 1, 2), verdict(standing, 1)
    operations = {1: "accounts", 2: "balances"}
    verdicts = [
        discount_static(each, frozenset({"balances"}), operations) for each in (rests, stays)
    ]
    reason = "static answers: balances returns the same bytes for every request"
    assert [(after, reason if after is not standing else "why"), (standing, "why")] == [
        (one.standing, one.reason) for one in verdicts
    ]


def test_a_verdict_that_is_open_already() -> None:
    """A verdict that is open for another reason keeps that reason."""
    before = verdict(Standing.UNVERIFIED, 1)
    assert before == discount_static(before, frozenset({"accounts"}), {1: "accounts"})
