"""A long recording is in a file, and is judged as if it were in memory."""

import json
import secrets
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random

import pytest
from mutilations import record

from assay.contract.model import Party
from assay.history import (
    Accepted,
    Call,
    Cause,
    CredentialPlace,
    Detail,
    ErrorBody,
    Exchange,
    Indeterminate,
    Item,
    Malformed,
    Rejected,
    ShownError,
    State,
    Token,
    Unavailable,
    Wire,
)
from assay.traffic import judge, stored_history
from assay.traffic.session import open_recording
from assay.traffic.stored_history import ExchangeStore, StoredExchange
from assay.traffic.stored_wire import WireStore

AT = datetime(2026, 9, 7, 8, 30, 0, 123456, tzinfo=UTC)
ITEM = Item(
    resource="account",
    key="k\ud800",
    on=date(2026, 2, 28),
    state=State.ENDED,
    accepted=True,
    fields={"amount": Decimal("1.10"), "list": [1, {"a": None}], "big": 10**40},
    id="i",
    digest="d",
    content="c",
)
PLAIN = Call(operation="list", subject="psu", arguments={"amount": "1.10", "keys": ["a", "b"]})
CALLS = [
    PLAIN,
    replace(PLAIN, arguments={"amount": Decimal("1.10"), "more": {"a": [True, 1.5]}}),
    replace(PLAIN, present=False, alias=0, follow="/next", mode="m", malformed=Malformed.DEEP),
    replace(PLAIN, credentials=True, credentials_in=CredentialPlace.BODY, bearer=Token.NONE),
    replace(
        PLAIN,
        without=("a",),
        varied=("b",),
        invented={"a": "b"},
        by="tpp-2",
        host=0,
        generated=("a",),
    ),
    replace(PLAIN, variation="another", arguments={"odd": object()}),
]
OUTCOMES = [
    Accepted(items=None, values={"name": {"a": [1]}}, next="/next", approval="/sign"),
    Accepted(items=()),
    Accepted(items=(ITEM, Item())),
    Rejected(),
    Rejected(leaked=(ITEM,)),
    Rejected(error=ErrorBody(located=("code",))),
    Unavailable(
        error=ErrorBody(
            located=("kind",), errors=(ShownError(fields={"kind": Decimal(1)}, codes=("A",)),)
        )
    ),
    Unavailable(leaked=(Item(key="k"),)),
    Indeterminate(cause=Cause.BINDING, why="odd", detail=Detail.UNKNOWN_STATUS),
]


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Keep nothing in memory that need not be there."""
    for name, value in {"KEPT": 0, "FILLED": 3, "BLOCK": 7}.items():
        monkeypatch.setattr(stored_history, name, value)
    monkeypatch.setattr(judge, "LONG", 0)


def exchanges(messages):
    """Return exchanges of every kind, with their messages in a store."""
    made = [(call, outcome) for call in CALLS for outcome in OUTCOMES]
    for n, (call, outcome) in enumerate(made, 1):
        wire = Wire(method="GET", url=f"/{n}", status=200, body=b"%d" % n, links=("/x",))
        at, ms = AT + timedelta(microseconds=n), n / 8
        kept = messages.keep(wire)
        yield Exchange(n=n, at=at, call=call, outcome=outcome, wire=kept, ms=ms)


def test_everything_comes_back():
    """Each exchange is equal to the one that was stored, again and again, also if it was kept."""
    store = ExchangeStore()
    expected = [*exchanges(WireStore())]
    for each in expected:
        store.append(each)
    history = store.history()
    kept = [*history.exchanges]
    shells = [each for each in kept if isinstance(each, StoredExchange)]
    assert len(OUTCOMES) * (len(CALLS) - 1) == len(shells)
    assert all(each._record is None for each in shells)
    for seen in (kept, [*history.exchanges]):
        assert [(e.n, e.at, e.call, e.outcome, e.wire, e.ms, e.confounded) for e in seen] == [
            (e.n, e.at, e.call, e.outcome, e.wire, e.ms, e.confounded) for e in expected
        ]
    assert [each.n for each in expected] == [each.n for each in history.events]
    assert expected[3].outcome == history.by_number()[4].outcome
    assert {each.n for each in expected} == {*history.by_number()}
    ids = [(each.id, each.digest, each.content) for each in history.exchanges[2].items]
    assert [("i", "d", "c"), (None, "", "")] == ids


def test_the_part_of_some_operations():
    """A part has the calls of its operations, in their order and with their numbers."""
    store, messages = ExchangeStore(), WireStore()
    for n, each in enumerate(exchanges(messages)):
        store.append(replace(each, call=replace(PLAIN, operation="abc"[n % 3])))
    part = store.history().part(frozenset("ac"))
    assert [n for n in range(1, len(CALLS) * len(OUTCOMES) + 1) if n % 3 != 2] == [
        each.n for each in part.exchanges
    ]
    assert {"a"} == {each.call.operation for each in part.part(frozenset("a")).exchanges}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("party", Party)
def test_the_same_verdicts(party, seed, tmp_path, monkeypatch):
    """Verdicts, reasons, evidence and the journal are those of a recording in memory."""
    monkeypatch.setattr(secrets, "token_bytes", bytes)  # the key of digests
    document = record(tmp_path / "x.har", Random(f"stored {seed}"), calls=40)
    (tmp_path / "x.har").write_text(json.dumps(document), encoding="utf-8")
    journals = []
    for kept in (0, 10, 10**6):
        monkeypatch.setattr(stored_history, "KEPT", kept)
        session = open_recording(tmp_path / "x.har", party=party)
        session.close(tmp_path / f"{kept}.jsonl")
        lines = (tmp_path / f"{kept}.jsonl").read_text(encoding="utf-8").splitlines()
        # The first and the last line have times, and so has the hash of the first.
        journals.append([json.loads(line) | {"chain": ""} for line in lines[1:-1]])
    assert 3 * [journals[0]] == journals
