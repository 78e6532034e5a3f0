"""Matching of the requests of whole runs, in both dialects: each is the call that was sent."""

from collections import Counter
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from runs import whole

from assay.history import Call, Exchange, History, Wire
from assay.journal.redact import Redactor
from assay.parsing.parse import parse_contract
from assay.preparation.prepare import prepare
from assay.preparation.target_file import read_target
from assay.rules.kinds.access.own_data import LINK
from assay.traffic.har_to_history import RecordedEntry, to_history

TARGETS = ("sandbox", "stet-1.4.0")
#: Fields of a call that no request shows; an argument that was varied shows its value, and a token
#: not whose it is.
HIDDEN = {"subject", "by", "variation", "varied", "bearer", "invented", "together"}
#: Fields that a request with a malformed body does not show.
UNREADABLE = {"arguments", "mode", "without"}


def entries(exchanges):
    """Return exchanges as the entries of a recording."""
    return [
        RecordedEntry(at=one.at, wire=one.wire, lost="" if one.wire.status else "no response")
        for one in exchanges
    ]


def at_own_hosts(events, target):
    """Return the exchanges with this bank; a recording of another one is not of this target."""
    others = tuple(bank.base_url for bank in target.banks)
    return [
        one for one in events if isinstance(one, Exchange) and not one.wire.url.startswith(others)
    ]


def visible(call):
    """Return everything in a call that its request shows, in a normal form."""
    hidden = HIDDEN | (UNREADABLE if call.malformed else set())
    shown = {one.name: getattr(call, one.name) for one in fields(Call) if one.name not in hidden}
    if "arguments" in shown:
        shown["arguments"] = {
            name: str(list(one) if isinstance(one, tuple) else one)
            for name, one in call.arguments.items()
            # Several transfers have amounts of their own.
            if not (call.mode == "several" and name == "amount")
        }
    return shown


@pytest.mark.parametrize("target", TARGETS)
def test_every_request_matches_its_call(target):
    """Every request that was encoded and sent in a whole run is recognised as its call."""
    prepared, operations, trials = whole(target)
    counted = Counter()
    for name, events in trials.items():
        sent = at_own_hosts(events, prepared.target)
        recorded = to_history(entries(sent), operations, prepared.target, Redactor())
        assert ({}, 0) == (recorded.unmatched, recorded.unread), name
        for original, matched in zip(sent, recorded.history.exchanges, strict=True):
            call = original.call
            # A value of the wrong sort need not be one that the target file can spell back.
            # Nor is a link recognised that another caller was given, or the place of credentials.
            foreign = call.variation == LINK or (call.follow and call.bearer)
            hidden = foreign or call.credentials_in is not None
            if not hidden and not name.startswith(("pis/values#", "aisp/consent.effect#")):
                assert visible(call) == visible(matched.call), name
            assert original.outcome == matched.outcome, name
            counted["all"] += 1
            counted["next page"] += call.follow is not None
            counted["unattended"] += not call.present
            counted["malformed"] += call.malformed is not None
            counted["credentials"] += call.credentials
            counted["without"] += bool(call.without)
            counted["other host"] += call.host is not None
            counted["in a mode"] += call.mode is not None
            counted["other name"] += call.alias is not None
    assert counted["all"] > 800
    lacking = {"other name"} if target != "sandbox" else set()
    kinds = (
        "next page",
        "unattended",
        "malformed",
        "credentials",
        "without",
        "other host",
        "in a mode",
    )
    assert set() == {one for one in (*kinds, "other name") if not counted[one]} - lacking


@pytest.mark.parametrize("target", TARGETS)
def test_callers_are_distinguished(target):
    """Each customer of a trial has one name in its recording, and no two have the same."""
    prepared, operations, trials = whole(target)
    for name, events in trials.items():
        sent = at_own_hosts(events, prepared.target)
        recorded = to_history(entries(sent), operations, prepared.target, Redactor())
        names = {
            (original.call.subject, matched.call.subject)
            for original, matched in zip(sent, recorded.history.exchanges, strict=True)
            if not operations[original.call.operation].by_tpp and original.call.own_token
        }
        originals, recordings = ({pair[side] for pair in names} for side in (0, 1))
        assert len(names) == len(originals) == len(recordings), name


@pytest.mark.parametrize("target", TARGETS)
def test_own_calls_violate_no_tpp_obligation(target):
    """The harness's calls without a variation are no violation, as sent and as recorded."""
    prepared, operations, trials = whole(target)
    agreeing = 0
    for name, events in trials.items():
        plain = [one for one in events if not (isinstance(one, Exchange) and one.call.variation)]
        sent = at_own_hosts(plain, prepared.target)
        recorded = to_history(entries(sent), operations, prepared.target, Redactor(), lenient=True)
        for history in (History(events=tuple(plain)), recorded.history):
            counts = Counter(one.agreement.value for one in tpp_evidence(prepared, history))
            assert {"agrees"} >= set(counts), name
            agreeing += counts["agrees"]
    assert agreeing > 1000


def tpp_evidence(prepared, history):
    """Yield the evidence of every TPP check on a history."""
    for clauses in prepared.plan.clauses.values():
        for clause in clauses.values():
            yield from clause.kind.check_tpp(history)


@pytest.mark.parametrize(("always", "arguments"), [({"v": "3"}, {}), ({}, {"?v": ["3"]})])
def test_a_fixed_query_parameter_is_no_argument(always, arguments):
    """A parameter that the target file always sends is no argument; any other one is."""
    prepared = prepare(["aisp"])
    target = prepared.target
    accounts = replace(target.operations["accounts"], queries=always)
    target = replace(target, operations={**target.operations, "accounts": accounts})
    wire = Wire(
        method="GET",
        url=f"{target.base_url}/accounts?v=3",
        status=200,
        headers=(("content-type", "application/json"),),
        body=b'{"accounts": []}',
    )
    sent = [RecordedEntry(at=datetime(2026, 9, 16, 10, tzinfo=UTC), wire=wire, lost="")]
    recorded = to_history(sent, prepared.plan.contracts["aisp"].operations, target, Redactor())
    assert arguments == recorded.history.exchanges[0].call.arguments


def test_an_id_of_a_call_that_ends_something_is_an_argument():
    """A value that the target file makes for each call is another one in each recording."""
    folder = Path(__file__).parents[3] / "contract" / "examples" / "xs2a"
    target = read_target(folder / "nordhafen.yaml")
    operations = parse_contract(folder / "xs2a.yaml").operations
    sent = {"X-Request-ID": "8f0f4dc0-4c7b-4a4e-9f3a-000000000001"}
    wires = [
        Wire(
            method="DELETE",
            url=f"{target.base_url}/v1/consents/C-1",
            request_headers=(("Authorization", "Bearer t"), *headers.items()),
            status=204,
        )
        for headers in (sent, {})
    ]
    ended = [RecordedEntry(at=datetime(2026, 9, 16, tzinfo=UTC), wire=wire) for wire in wires]
    history = to_history(ended, operations, target, Redactor()).history
    calls = [exchange.call for exchange in history.exchanges]
    assert [(), ("X-Request-ID",)] == [call.without for call in calls]
    assert sent.items() <= calls[0].arguments.items()
