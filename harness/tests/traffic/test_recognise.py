"""Requests of whole runs, in both dialects, read again: each gives the call back that it was."""

from collections import Counter
from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest
from runs import whole

from assay.history import Call, Exchange, History, Wire
from assay.journal.redact import Redactor
from assay.planning.prepare import prepare
from assay.traffic.har_to_history import RecordedEntry, to_history

TARGETS = ("sandbox", "stet-1.4.0")
#: What stands in no request: who it is for, by which name, and why it is sent. What was
#: varied stands there as the value that it has.
UNSEEN = {"subject", "by", "variation", "varied"}
#: Where the body is none that can be read, nothing but that is known.
UNREAD = {"arguments", "mode", "without"}


def entries(exchanges):
    """Make a recording of some exchanges."""
    return [
        RecordedEntry(at=one.at, wire=one.wire, lost="" if one.wire.status else "no answer")
        for one in exchanges
    ]


def seen(call, operations):
    """Return all of a call that a request shows, in one spelling."""
    hidden = UNSEEN | (UNREAD if call.malformed else set())
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
def test_every_request_gives_its_call_back(target):
    """What was encoded and sent in a whole run is recognised as the call that it was."""
    prepared, operations, trials = whole(target)
    counted = Counter()
    for name, events in trials.items():
        sent = [one for one in events if isinstance(one, Exchange)]
        told = to_history(entries(sent), operations, prepared.target, Redactor())
        assert ({}, 0) == (told.strangers, told.unread), name
        for one, again in zip(sent, told.history.exchanges, strict=True):
            assert seen(one.call, operations) == seen(again.call, operations), name
            assert one.outcome == again.outcome, name
            call = one.call
            counted["all"] += 1
            counted["turned"] += call.follow is not None
            counted["alone"] += not call.present
            counted["malformed"] += call.malformed is not None
            counted["credentials"] += call.credentials
            counted["without"] += bool(call.without)
            counted["other host"] += call.host is not None
            counted["in a mode"] += call.mode is not None
            counted["other name"] += call.alias is not None
    assert counted["all"] > 800
    lacking = {"other name"} if target != "sandbox" else set()
    kinds = ("turned", "alone", "malformed", "credentials", "without", "other host", "in a mode")
    assert set() == {one for one in (*kinds, "other name") if not counted[one]} - lacking


@pytest.mark.parametrize("target", TARGETS)
def test_who_calls_is_told_apart(target):
    """Two customers of a trial have two names in its recording, and one has one."""
    prepared, operations, trials = whole(target)
    for name, events in trials.items():
        sent = [one for one in events if isinstance(one, Exchange)]
        told = to_history(entries(sent), operations, prepared.target, Redactor())
        names = {
            (one.call.subject, again.call.subject)
            for one, again in zip(sent, told.history.exchanges, strict=True)
            if not operations[one.call.operation].by_provider and not one.call.credentials
        }
        assert len(names) == len({one for one, _ in names}) == len({one for _, one in names}), name


@pytest.mark.parametrize("target", TARGETS)
def test_our_own_calls_break_no_duty(target):
    """What our harness asks without deviating is no breach, with or without what it knew."""
    prepared, operations, trials = whole(target)
    kept = 0
    for name, events in trials.items():
        plain = [one for one in events if not (isinstance(one, Exchange) and one.call.variation)]
        sent = [one for one in plain if isinstance(one, Exchange)]
        told = to_history(entries(sent), operations, prepared.target, Redactor(), lenient=True)
        for history in (History(events=tuple(plain)), told.history):
            found = Counter(one.agreement.value for one in every(prepared, history))
            assert {"agrees"} >= set(found), name
            kept += found["agrees"]
    assert kept > 1000


def every(prepared, history):
    """Let every duty speak of a history."""
    for clauses in prepared.plan.clauses.values():
        for applied in clauses.values():
            yield from applied.kind.check_tpp(history)


@pytest.mark.parametrize(("always", "arguments"), [({"v": "3"}, {}), ({}, {"?v": ["3"]})])
def test_a_parameter_that_stands_in_every_call_is_none_of_its_own(always, arguments):
    """What the profile always sends says nothing of a call; anything else does."""
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
    told = to_history(sent, prepared.plan.contracts["aisp"].operations, target, Redactor())
    assert arguments == told.history.exchanges[0].call.arguments
