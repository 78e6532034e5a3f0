"""The event codec: every event can be written, and is read back unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import repeat
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from rows import for_each

from assay.history import (
    Accepted,
    Advanced,
    Aspect,
    Authorise,
    Authorised,
    Call,
    Cause,
    Code,
    CredentialPlace,
    Decision,
    DocumentRemark,
    Effect,
    Effects,
    Ending,
    Entry,
    ErrorBody,
    Event,
    Exchange,
    Indeterminate,
    Item,
    Lacking,
    Malformed,
    Owned,
    Registered,
    Rejected,
    Renewed,
    ShownError,
    State,
    Staying,
    Subject,
    Submitted,
    Token,
    Unavailable,
    Wire,
    Withdrawn,
)
from assay.history.events import Masked
from assay.journal.codec import EVENTS, EventEncoder, decode
from assay.journal.redact import Careless, Redactor
from assay.journal.redact.masking import ValueMasker
from assay.journal.typed_values import InvalidValueError
from assay.rules.lifecycle.request_queries import same_value

NOW = datetime(2026, 9, 16, 10, 30, tzinfo=UTC)
DAY = date(2026, 9, 16)
#: Every field of a call other than its default.
CALL = Call(
    operation="transactions",
    subject="psu",
    arguments={"from": "2026-01-01", "limit": 5, "ids": ["a", {"b": Decimal("1.50")}]},
    present=False,
    alias=2,
    follow="https://bank.example/next?page=2",
    mode="deferred",
    credentials=True,
    credentials_in=CredentialPlace.BODY,
    bearer=Token.INVENTED,
    malformed=Malformed.DEEP,
    without=("amount",),
    varied=("currency",),
    invented={"iban": "A1"},
    by="second",
    host=0,
    bank=0,
    variation="another amount",
    consent="consent-1",
    generated=("X-Request-ID",),
    together=2,
    spelling=1,
)
ITEM = Item(
    resource="transaction",
    key="T1",
    on=DAY,
    state=State.DONE,
    accepted=True,
    fields={"total": Decimal("12.30")},
)
SIGNED = Authorised(
    n=7,
    step=Authorise(
        subject="psu",
        request="P1",
        approval="https://bank.example/sign/P1",
        decision=Decision.REFUSE,
        factor="app",
        by="other",
        code=Code.WRONG,
        typed=Code.HALF,
        forced=True,
        pace=timedelta(seconds=1.5),
        linger=(timedelta(minutes=4), timedelta(seconds=1)),
        linger_on="code",
        stays=Staying.LINK,
        tries=3,
        together=4,
        spoof="https://other.example/",
        submits=False,
        variation="a wrong code",
    ),
    ending=Ending.STOPPED,
    moments=(NOW, NOW + timedelta(minutes=5)),
    offered=("app", "sms"),
    screens=("login", "decision"),
    redirected="https://tpp.example/back",
    unspelt=("Rauchzeichen",),
    anonymous=True,
    coded=True,
    stuck=True,
    why="the screens ended",
    wire=Wire(method="SIGN", url="https://bank.example/sign/P1", status=403),
    ms=12.5,
)
PLAIN: list[Event] = [
    Subject(
        name="psu",
        identity="Ann",
        now=NOW,
        owns=(
            Owned(
                key="A1",
                resource="account",
                traits={"balance": Decimal("0.10"), "savings": True},
                entries=(Entry(key="T1", on=DAY), Entry(key="T2", on=DAY)),
            ),
        ),
        fresh=False,
        segment="companies",
    ),
    Subject(name="other", now=NOW, owns=()),
    Advanced(now=NOW),
    Effects(now=NOW),
    Effects(now=NOW, done=()),
    Effects(now=NOW, done=(Effect(request="P1", on=DAY, fields={"amount": Decimal(7)}),)),
    Registered(subject="psu", argument="creditor", value={"iban": ["DE1"]}, since=NOW),
    Registered(subject="psu", argument="creditor", value="DE1", since=NOW, latest=NOW),
    Withdrawn(subject="psu", request="P1", done=True, now=NOW),
    Renewed(subject="psu", operation="read", by="other", done=True, now=NOW),
    Renewed(subject="", operation="make", done=False, now=NOW),
    Lacking(mode="several", bank="second", now=NOW),
    Submitted(
        n=9,
        at=NOW,
        call=CALL,
        outcome=Accepted(items=(ITEM,)),
        wire=Wire(method="POST", url="https://bank.example/payments", status=201),
        ms=1.25,
        request="P1",
    ),
    SIGNED,
    Authorised(
        n=8,
        step=Authorise(subject="psu", request="P2", approval=None),
        ending=Ending.CONFIRMED,
        moments=(NOW,),
        wire=Wire(method="SIGN", url="", status=200),
    ),
]
OUTCOMES = [
    Accepted(),
    Accepted(items=()),
    Accepted(
        items=(ITEM, Item(key="T2")), next="https://b.example/2", approval="https://b.example/3"
    ),
    Accepted(items=None, values={"empty": "", "none": None, "zero": 0}),
    Rejected(),
    Rejected(leaked=(ITEM,)),
    Rejected(error=ErrorBody(located=("code",))),
    Unavailable(
        error=ErrorBody(
            located=("code", "kind"), errors=(ShownError(fields={"kind": 1}, codes=("A",)),)
        )
    ),
    Unavailable(leaked=(ITEM,)),
    Indeterminate(cause=Cause.SERVER, why="it failed (503)"),
]


def again(event: Event, redactor: Redactor | None = None) -> Event:
    """Write an event as a line of a journal, and read it back."""
    encoder = EventEncoder(mask=ValueMasker(redactor=redactor or Careless()))
    kind, record = encoder.line(event)
    return decode(json.loads(json.dumps({"type": kind, **record})))


def exchange(**given: Any) -> Exchange:
    wire = Wire(method="GET", url="https://bank.example/", status=200)
    plain: dict[str, Any] = {"call": CALL, "outcome": Accepted(), "wire": wire, "ms": 1.25}
    return Exchange(n=3, at=NOW, **plain | given)


@for_each("event", PLAIN)
def test_an_event(event: Event) -> None:
    """An event of any kind that needs no masking is read back unchanged."""
    assert event == again(event)


def test_every_event_is_tried() -> None:
    """Every kind of event, and every field of a call or a signature, is in the table above."""
    assert {*get_args(Event)} == {Exchange, *map(type, PLAIN)}
    named = {type(one).__name__.lower() for one in PLAIN}
    assert EVENTS == {"exchange", *named} - {"authorised", "submitted"}
    for full, default in (
        (CALL, Call(operation="", subject="")),
        (SIGNED.step, Authorise(subject="", request="", approval=None)),
    ):
        same = [
            one.name
            for one in fields(full)
            if getattr(full, one.name) == getattr(default, one.name)
        ]
        assert [] == same


@for_each("outcome", OUTCOMES)
def test_an_exchange(outcome: Any) -> None:
    """A call and its outcome are read back unchanged."""
    event = exchange(outcome=outcome)
    assert event == again(event)


def test_a_confounded_exchange() -> None:
    """Why a varied call is not judged is kept, so that a journal is judged alike."""
    confounded = replace(exchange(), confounded="it differs in two things")
    assert confounded == again(confounded, Careless())


def test_what_a_document_said() -> None:
    """What the bank's own document said of an answer is read back, without private texts."""
    remarks = (
        DocumentRemark(aspect=Aspect.STATUS, fits=True),
        DocumentRemark(aspect=Aspect.STRUCTURE, fits=None, says="it is too large"),
        DocumentRemark(aspect=Aspect.HEADERS, fits=False, says="X-Id is missing"),
    )
    sent = next(each for each in PLAIN if isinstance(each, Submitted))
    for event in (exchange(documented=remarks), replace(sent, documented=remarks)):
        assert event == again(event)


def test_ids_and_digests_of_a_target() -> None:
    """The target's own ids are not written, and digests only for comparison."""
    shown = [replace(ITEM, id=name, digest=name) for name in ("one", "two", "two")]
    answer = again(exchange(outcome=Accepted(items=tuple(shown))))
    assert isinstance(answer, Exchange)
    first, second, third = answer.items
    assert {None} == {one.id for one in answer.items}
    assert "one" != first.digest != second.digest == third.digest


@pytest.mark.parametrize(
    ("body", "form"), [(b'{"a": 1}', b'"'), (b"{,", b'{"'), (b"[" * 100_000, b"[[")]
)
def test_the_form_of_a_body(body: bytes, form: bytes) -> None:
    """The form of a body is read back, and whether two bodies were equal."""
    answers = [again(exchange(wire=Wire(method="GET", url="", body=one))) for one in (body, b"")]
    first, second = (one.wire.body for one in answers if isinstance(one, Exchange))
    assert first.startswith(form)
    assert b"" == second


def test_a_masked_text() -> None:
    """A private text is read back as a pseudonym with the formats of the text."""
    iban = "FR7630006000011234567890189"
    answer = again(
        exchange(outcome=Accepted(items=(Item(key=iban, fields={"iban": iban}),))), Redactor()
    )
    assert isinstance(answer, Exchange)
    (item,) = answer.items
    masked = item.fields["iban"]
    assert isinstance(masked, Masked)
    assert ("<number-1>", "<number-1>", True) == (item.key, masked, "iban" in masked.forms)


def test_two_spellings_of_a_masked_text() -> None:
    """They mean the same after the journal as before; another IBAN with that beginning does not."""
    texts = (
        "FR7630006000011234567890189",
        "FR76 3000 6000 0112 3456 7890 189",
        "FR7630006000011234567890188",
    )
    answer = again(
        exchange(
            outcome=Accepted(items=tuple(Item(key="", fields={"iban": text}) for text in texts))
        ),
        Redactor(),
    )
    assert isinstance(answer, Exchange)
    first, grouped, other = (item.fields["iban"] for item in answer.items)
    assert isinstance(first, Masked)
    assert first != grouped
    assert same_value(first, grouped)
    assert not same_value(first, other)
    assert not same_value(grouped, other)


@for_each(
    ("key", "value"),
    [
        ("now", "2026-09-16T10:30:00"),
        ("now", 5),
        ("owns", {}),
        ("owns", [{"key": "A1"}]),
        ("fresh", "no"),
        ("name", None),
    ],
)
def test_a_damaged_line(key: str, value: object) -> None:
    """A missing value, or one of another type, is refused."""
    _, record = EventEncoder(mask=ValueMasker(redactor=Careless())).line(PLAIN[0])
    with pytest.raises((KeyError, ValueError, TypeError, AttributeError)):
        decode({"type": "subject", **record, key: value})


#: One value of each type of JSON, and some that only look right.
ODD: tuple[Any, ...] = (
    *(None, True, 7, 1.5, "x", [], {}),
    *(10**400, 1e300, "2026-09-16", {"x": 1}, [["x"]], {"decimal": "x"}, {"object": [["x"]]}),
)


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of each value in a line."""
    if place:
        yield place
    named = isinstance(value, dict)
    for key, member in value.items() if named else enumerate(value) if value else ():
        if isinstance(member, dict | list):
            yield from places(member, (*place, key))
        else:
            yield (*place, key)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value has the declared type, in all its parts."""
    inner = get_args(hint)
    if get_origin(hint) in {Union, UnionType}:
        return any(fits(value, each) for each in inner)
    if get_origin(hint) is tuple:
        kinds = repeat(inner[0]) if inner[-1] is Ellipsis else inner
        return type(value) is tuple and all(map(fits, value, kinds))
    if inner:
        return type(value) is dict and all(fits(each, inner[1]) for each in value.values())
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        return type(value) is hint and all(
            fits(getattr(value, item.name), hints[item.name]) for item in fields(hint)
        )
    return hint is object or type(value) is hint or (hint is str and isinstance(value, Masked))


@for_each(
    "event",
    [*PLAIN, *(exchange(outcome=outcome) for outcome in OUTCOMES)],
)
def test_what_is_read_has_the_declared_types(event: Event) -> None:
    """A line with any other value at any place is an event of its class, or refused as invalid."""
    kind, record = EventEncoder(mask=ValueMasker(redactor=Careless())).line(event)
    line = json.loads(json.dumps({"type": kind, **record}))
    assert fits(event, type(event))
    refused = 0
    for place in [*places(line)]:
        if place == ("type",):
            continue
        for value in ODD:
            changed = deepcopy(line)
            part = changed
            for key in place[:-1]:
                part = part[key]
            part[place[-1]] = value
            try:
                read = decode(changed)
            except InvalidValueError as error:
                refused += 1
                assert "\n" not in str(error)
            else:
                assert fits(read, type(event)), (place, value, read)
    assert refused
