"""The executor: probes against a target with arbitrary responses."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from threading import Barrier
from typing import Any

import httpx
import pytest
from rows import for_each

from assay.binding.model.target import (
    Auth,
    AuthKind,
    Budget,
    CustomerSource,
    FixtureKind,
    Fixtures,
    ItemBinding,
    NextPage,
    OperationBinding,
    Sca,
    Target,
    TransportKind,
    Turn,
)
from assay.binding.wire.encode import Access
from assay.contract.model import Capability, Operation
from assay.errors import CannotArrange, TargetError
from assay.history import (
    Accepted,
    Advance,
    Advanced,
    Arrange,
    Call,
    Cause,
    Event,
    Exchange,
    Holding,
    Indeterminate,
    Step,
    Subject,
)
from assay.history.events import ProbeRun
from assay.rules import steps
from assay.rules.steps import perform_all
from assay.running.environment import Environment
from assay.running.executor import executing, run_probe
from assay.transport.http import HttpClient

NOW = datetime(2026, 9, 16, tzinfo=UTC)
BASE = "https://bank.example"
ACCOUNTS = Operation(id="accounts", method="GET", path="/accounts", lists=("account",))
CALL = Call(operation="accounts", subject="psu")
PROFILE = Target(
    name="t",
    transport=TransportKind.HTTP,
    base_url=BASE,
    auth=Auth(kind=AuthKind.BEARER),
    operations={
        "accounts": OperationBinding(
            list=("/accounts",),
            next=NextPage(turn=Turn.LINK, at="/next"),
            item=ItemBinding(key=("/iban",)),
        )
    },
)


@dataclass
class Place:
    """A world and a scene in one: everybody owns nothing, and time stands still."""

    token: str | None = "own"
    codes: dict[str, str] = field(default_factory=dict)
    trouble: str = ""
    closed: int = 0
    asked: list[Arrange] = field(default_factory=list)

    def open(self) -> Place:
        return self

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        self.asked.append(step)
        if step.subject == "nobody":
            raise CannotArrange("somebody who owns a ship")
        return Subject(name=step.subject, now=NOW, owns=()), Access(
            token=self.token, codes=self.codes
        )

    def clock(self, to: datetime | None) -> datetime:
        return to or NOW

    def close(self) -> None:
        self.closed += 1
        if self.trouble:
            raise TargetError(self.trouble)


@dataclass
class Run:
    """One driven probe, with all that was sent and recorded."""

    driven: ProbeRun
    sent: list[httpx.Request]
    recorded: list[tuple[Event, Access]]
    place: Place


def go(
    probe: Any,
    answer: Callable[[httpx.Request], bytes] = lambda _: b"{}",
    *,
    target: Target = PROFILE,
    common: str | None = "common",
    operation: Operation = ACCOUNTS,
    world: type[Place] = Place,
    **place: Any,
) -> Run:
    sent: list[httpx.Request] = []
    recorded: list[tuple[Event, Access]] = []

    def respond(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, stream=httpx.ByteStream(answer(request)))

    made = world(**place)
    client = HttpClient(base_url=BASE, transport=httpx.MockTransport(respond))
    environment = Environment(
        target=replace(target, sca=Sca(factors={"sms": "TXT"})),
        client=client,
        fixtures=made,
        common=Access(token=common),
    )
    number = count(1)
    driven = run_probe(
        probe,
        environment,
        {"accounts": operation},
        number=lambda: next(number),
        record=lambda event, access: recorded.append((event, access)),
    )
    return Run(driven, sent, recorded, made)


def listing(*pages: str) -> Callable[[httpx.Request], bytes]:
    """Answer with one item and these next links, in turn."""
    left = list(pages)

    def answer(request: httpx.Request) -> bytes:
        item = {"iban": str(request.url)[-40:]}
        return json.dumps({"accounts": [item], "next": left.pop(0) if left else None}).encode()

    return answer


def whole_walk(most: int = 40) -> Any:
    yield from steps.arrange("psu")
    yield from steps.walk(CALL, most=most)


def test_a_clock_is_not_moved_back():
    """Where time passed for another reason, a probe that asks for an earlier time reads the clock."""
    asked = []

    class Noted(Place):
        def clock(self, to: datetime | None) -> datetime:
            asked.append(to)
            return to or later

    later = NOW + timedelta(days=3)
    shown = []

    def probe() -> Any:
        yield from steps.arrange("psu")
        shown.append((yield from steps.clock(later)))
        shown.append((yield from steps.clock(NOW + timedelta(days=1))))
        shown.append((yield from steps.clock(later + timedelta(days=1))))

    go(probe(), world=Noted)
    assert [later, None, later + timedelta(days=1)] == asked
    assert [later, later, later + timedelta(days=1)] == shown


def test_calls_at_one_moment_are_ordinary_exchanges() -> None:
    """Sent side by side, recorded one by one in the order of the probe, each with its own answer."""
    three = Barrier(3)

    def answer(request: httpx.Request) -> bytes:
        if "page" in str(request.url):
            three.wait(timeout=10)
        return json.dumps({"accounts": [{"iban": str(request.url)[-1]}]}).encode()

    def probe() -> Any:
        yield from steps.arrange("psu")
        pages = [replace(CALL, follow=f"{BASE}/accounts?page={n}") for n in (3, 1, 2)]
        yield from steps.send_together(*pages, group=7)
        yield from steps.send(CALL)

    run = go(probe(), answer)
    exchanges = run.driven.history.exchanges
    assert ["3", "1", "2", "s"] == [exchange.items[0].key for exchange in exchanges]
    assert [(1, 7), (2, 7), (3, 7), (4, 0)] == [(each.n, each.call.together) for each in exchanges]
    assert len(run.recorded) == 5
    assert "" == run.driven.stopped


def test_calls_at_one_moment_are_admitted_before_any_is_sent() -> None:
    """A run that cannot make one of them makes none."""

    def probe() -> Any:
        yield from steps.arrange("psu")
        yield from steps.send_together(CALL, CALL, CALL)

    run = go(probe(), target=replace(PROFILE, budget=Budget(calls=2)))
    assert [] == run.sent
    assert "needs" in run.driven.stopped


def test_codes_of_a_customer() -> None:
    """The codes of a customer come by the target's words, and are known by the contract's."""
    run = go(whole_walk(), codes={"TXT": "123456", "sms": "1"})
    assert {"sms": "123456"} == run.recorded[0][1].codes


@pytest.mark.parametrize("offers", [frozenset(), frozenset({Capability.ENTRIES})])
def test_entries_that_are_not_offered_are_not_asked_for(offers: frozenset[Capability]) -> None:
    """A fixture provider without `entries` cannot be asked for a customer who has some."""
    target = replace(PROFILE, fixtures=Fixtures(kind=FixtureKind.PYTHON, offers=offers))
    done = go(
        steps.arrange("psu", Holding(resource="account", entries=(NOW.date(),))), target=target
    )
    (asked,) = done.place.asked
    assert [holding.entries for holding in asked.holdings] == [(NOW.date(),) if offers else ()]


@pytest.mark.parametrize("source", CustomerSource)
def test_a_token_is_of_its_trial_where_customers_are_created(source: CustomerSource) -> None:
    """A bank with new customers may be a new bank; one with existing customers is the same."""
    target = replace(PROFILE, fixtures=Fixtures(kind=FixtureKind.PYTHON, customers=source))
    client = HttpClient(base_url=BASE, transport=httpx.MockTransport(lambda _: httpx.Response(200)))
    environment = Environment(target=target, client=client, fixtures=Place())
    trials = set()
    for _ in range(2):
        with executing(environment, {"accounts": ACCOUNTS}, number=lambda: 1) as executor:
            asked = executor.calls.tokens.request(CALL, Access(), by_tpp=True)
            trials.add(asked.trial)
    assert (2 if source is CustomerSource.CREATED else 1) == len(trials)


def test_the_order_of_events() -> None:
    """Every event is recorded as it happens, in the order of the history."""
    run = go(whole_walk(), listing("?page=2"))
    events = run.driven.history.events
    assert [Subject, Exchange, Exchange] == [type(one) for one in events]
    assert list(events) == [event for event, _ in run.recorded]
    assert [1, 2] == [one.n for one in run.driven.history.exchanges]
    assert ("", 1) == (run.driven.stopped, run.place.closed)


@pytest.mark.parametrize(("own", "used"), [("own", "own"), (None, "common")])
def test_the_token_of_a_subject(own: str | None, used: str) -> None:
    """A subject's own token outweighs the common one."""
    run = go(whole_walk(), listing(), token=own)
    assert f"Bearer {used}" == run.sent[0].headers["authorization"]


@pytest.mark.parametrize("by_tpp", [True, False])
def test_no_call_without_a_token(*, by_tpp: bool) -> None:
    """A call that needs a token is not sent without one: its refusal would be no fault of the bank."""
    operation = replace(ACCOUNTS, by_tpp=by_tpp)
    run = go(whole_walk(), listing(), operation=operation, token=None, common=None)
    assert [] == run.sent
    missing = "auth.tpp" if by_tpp else "a token of the customer psu"
    assert missing in run.driven.stopped


def test_a_party_that_needs_no_token() -> None:
    """Where the target file says that the TPP needs no token, its calls are sent without."""
    auth = replace(PROFILE.auth, tpp=Auth(kind=AuthKind.NONE))
    operation = replace(ACCOUNTS, by_tpp=True)
    run = go(
        whole_walk(),
        listing(),
        target=replace(PROFILE, auth=auth),
        operation=operation,
        token=None,
        common=None,
    )
    assert ["authorization" in one.headers for one in run.sent] == [False]
    assert "" == run.driven.stopped


def test_a_huge_token() -> None:
    """A token that no server takes in a header is neither sent nor recorded."""
    run = go(whole_walk(), listing(), token="x" * 1_000_000)
    assert ([], []) == (run.sent, run.recorded)
    assert "a token of at most 8192 characters, not one of 1000000" in run.driven.stopped


@for_each(
    "link",
    [
        "https://evil.example/accounts",
        "//evil.example/accounts",
        "http://bank.example/accounts?page=2",
        "https://bank.example@evil.example/",
        "javascript:alert(1)",
        "data:application/json,{}",
        "http://[",
        "\ud800",
        "/\x00",
    ],
)
def test_links_that_are_not_followed(link: str) -> None:
    """A link to another host is not followed, and no token is sent there."""
    run = go(whole_walk(), listing(link))
    assert 1 == len(run.sent)
    first, second = run.driven.history.exchanges
    assert isinstance(first.outcome, Accepted)
    assert isinstance(second.outcome, Indeterminate)
    assert (Cause.TRANSPORT, 0) == (second.outcome.cause, second.wire.status)


@pytest.mark.parametrize(
    ("links", "sent"),
    [
        (["/accounts"] * 99, 2),
        (["?page=2", "?page=3"] * 99, 3),
        ([f"?page={n}" for n in range(99)], 7),
    ],
)
def test_paging_ends(links: list[str], sent: int) -> None:
    """Paging that goes in a circle, or never ends, is stopped."""
    assert sent == len(go(whole_walk(most=7), listing(*links)).sent)


def test_cannot_arrange() -> None:
    """A step that cannot be arranged ends the probe; earlier events are kept."""

    def probe() -> Any:
        yield from whole_walk()
        yield from steps.arrange("nobody")
        yield from steps.send(CALL)

    run = go(probe(), listing())
    assert "needs somebody who owns a ship" == run.driven.stopped
    assert (1, 1) == (len(run.driven.history.exchanges), len(run.sent))
    assert 1 == run.place.closed


def test_the_clock() -> None:
    """Reading the clock is no event; moving it is one."""
    later = datetime(2026, 9, 17, tzinfo=UTC)

    def probe() -> Any:
        assert NOW == (yield from steps.clock())
        assert later == (yield from steps.clock(later))

    assert (Advanced(now=later),) == go(probe()).driven.history.events


def test_a_fixture_that_cannot_be_closed() -> None:
    """A fixture that cannot be closed does not lose the history."""
    run = go(whole_walk(), listing(), trouble="gone")
    assert (1, 1) == (run.place.closed, len(run.driven.history.exchanges))


def test_a_probe_that_raises() -> None:
    """A probe's own exception is raised after its fixture was closed."""
    place: list[Run] = []

    def probe() -> Any:
        yield from steps.send(CALL)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        place.append(go(probe()))
    assert [] == place


def test_a_probe_sees_what_it_requested() -> None:
    """A probe gets as many things as it requested; the history has everything that is owned."""
    from assay.history import Holding, Owned  # noqa: PLC0415 -- only here

    owns = tuple(Owned(key=f"A{n}", resource="account") for n in range(5))
    probe = steps.arrange("psu", Holding(resource="account", count=2))
    next(probe)
    with pytest.raises(StopIteration) as end:
        probe.send(Subject(name="psu", now=NOW, owns=owns))
    assert owns[:2] == end.value.value.owns


def counting(closed: list[bool]) -> Any:
    """Read the clock for ever, and note when it is over."""
    try:
        while True:
            yield Advance()
    finally:
        closed.append(True)


def test_a_script_without_an_end() -> None:
    """After the maximum number of steps the probe is closed, and an error is raised."""
    closed: list[bool] = []
    performed: list[Step] = []

    def perform(step: Step) -> Event:
        performed.append(step)
        return Advanced(now=NOW)

    with pytest.raises(RuntimeError, match="a script of more than 3 steps"):
        perform_all(counting(closed), perform, 3)
    assert (3, [True]) == (len(performed), closed)


def test_a_script_that_fails() -> None:
    """A step that cannot be performed closes the probe with the reason."""
    closed: list[bool] = []

    def refuse(_step: Step) -> Event:
        raise CannotArrange("a clock")

    with pytest.raises(CannotArrange, match="a clock"):
        perform_all(counting(closed), refuse)
    assert [True] == closed
