"""What answers mean: by every part of a matcher, and whatever a target sends."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from rows import for_each

from assay.binding.model.pointer import MISSING
from assay.binding.model.target import (
    FieldAt,
    ItemBinding,
    Matcher,
    NextPage,
    OperationBinding,
    Outcomes,
    ResourceAt,
    StateAt,
    Target,
    TransportKind,
    Turn,
)
from assay.binding.wire.decode import body_of, decode
from assay.binding.wire.links import links_of
from assay.contract.model import Operation
from assay.history import (
    Accepted,
    Cause,
    Indeterminate,
    Item,
    Outcome,
    Rejected,
    State,
    Unavailable,
    Wire,
)

URL = "https://bank.example/v1/accounts"
ACCOUNTS = Operation(id="accounts", method="GET", path="/accounts")
BINDING = OperationBinding(
    list=("/accounts",),
    next=NextPage(turn=Turn.LINK, at="/links/next"),
    links=("/links/self", "/links/next"),
    values={"identity": "/who"},
    item=ItemBinding(
        key=("/iban",),
        on=("/date",),
        resource=ResourceAt(at="/kind", values={"account": "A", "card": 1}),
        fields={
            "currency": FieldAt(at=("/amount/currency",)),
            "first": FieldAt(at=("/tags/0",)),
        },
    ),
)
EMPTY = '{"accounts": []}'


def wire(status: int, body: str | bytes = "", media: str = "application/json") -> Wire:
    raw = body.encode() if isinstance(body, str) else body
    return Wire(method="GET", url=URL, status=status, headers=(("Content-Type", media),), body=raw)


def outcome(
    got: Wire, binding: OperationBinding = BINDING, outcomes: Outcomes | None = None
) -> Outcome:
    target = Target(
        name="t",
        transport=TransportKind.HTTP,
        base_url="https://bank.example/v1",
        operations={"accounts": binding},
        outcomes=outcomes or Outcomes(),
    )
    return decode(got, body_of(got), ACCOUNTS, target)


def only(**matchers: Matcher) -> Outcomes:
    """Give outcomes that know nothing but these."""
    known = {name: (one,) for name, one in matchers.items()}
    return Outcomes(**{"unavailable": (), "rejected": (), "accepted": (), **known})


@for_each(
    ("status", "kind"),
    [
        (200, Accepted),
        (201, Accepted),
        (400, Rejected),
        (401, Rejected),
        (429, Rejected),
        (404, Unavailable),
        (405, Unavailable),
        (501, Unavailable),
    ],
)
def test_the_loosest_reading(status: int, kind: type) -> None:
    """With nothing said of outcomes, they are what HTTP says."""
    assert kind is type(outcome(wire(status, EMPTY)))


@for_each("status", [100, 199, 302, 304, 600, 999])
def test_unknown(status: int) -> None:
    """A status that no matcher knows is the profile's matter, and is kept."""
    why = f"no outcome of the target file matches status {status}"
    assert Indeterminate(cause=Cause.BINDING, why=why) == outcome(wire(status, EMPTY))


@pytest.mark.parametrize("status", [500, 503, 599])
def test_failures(status: int) -> None:
    """A failure of the server is that, and no refusal."""
    expected = Indeterminate(cause=Cause.SERVER, why=f"the target failed ({status})")
    assert expected == outcome(wire(status, "<html>"))


def test_a_known_failure() -> None:
    """A profile may say what a status of the five hundreds means, and is believed."""
    known = only(rejected=Matcher(statuses=("503",)))
    assert Rejected(early=True) == outcome(wire(503), outcomes=known)


@for_each(
    ("matcher", "fits"),
    [
        (Matcher(), True),
        (Matcher(statuses=("200",)), True),
        (Matcher(statuses=("404", "2xx")), True),
        (Matcher(statuses=("20",)), False),
        (Matcher(statuses=("3xx", "4xx")), False),
        (Matcher(empty=True), True),
        (Matcher(empty=False), False),
        (Matcher(media_type="application/json"), True),
        (Matcher(media_type="text/html"), False),
        (Matcher(body={"/code": 1}), True),
        (Matcher(body={"/code": "1"}), False),
        (Matcher(body={"/code": True}), False),
        (Matcher(body={"/flag": True}), True),
        (Matcher(body={"/flag": 1}), False),
        (Matcher(body={"/nothing": None}), True),
        (Matcher(body={"/absent": None}), False),
        (Matcher(body={"/code": 1, "/flag": False}), False),
        (Matcher(statuses=("2xx",), empty=True, body={"/code": 1}), True),
        (Matcher(statuses=("4xx",), empty=True, body={"/code": 1}), False),
    ],
)
def test_matchers(matcher: Matcher, fits: bool) -> None:
    """Every part of a matcher has to fit, and JSON's values are told apart."""
    body = '{"accounts": [], "code": 1, "flag": true, "nothing": null}'
    got = wire(200, body, "Application/JSON; charset=utf-8")
    assert (Rejected() if fits else Accepted(items=())) == outcome(
        got, outcomes=only(rejected=matcher, accepted=Matcher())
    )


def test_empty_needs_a_list() -> None:
    """Where there is no list, it is neither empty nor full."""
    known = only(rejected=Matcher(empty=True), accepted=Matcher())
    assert isinstance(outcome(wire(200, "{}"), outcomes=known), Indeterminate)
    assert isinstance(
        outcome(wire(200, "{}"), outcomes=only(rejected=Matcher(empty=False))), Rejected
    )


def test_the_order() -> None:
    """Unavailable is asked before rejected, and rejected before accepted."""
    every = only(unavailable=Matcher(), rejected=Matcher(), accepted=Matcher())
    assert Unavailable() == outcome(wire(200, EMPTY), outcomes=every)
    two = only(rejected=Matcher(), accepted=Matcher())
    assert Rejected() == outcome(wire(200, EMPTY), outcomes=two)


@pytest.mark.parametrize(("status", "kind"), [(403, Rejected), (404, Unavailable)])
def test_leaks(status: int, kind: type) -> None:
    """What a refusal carries all the same is seen."""
    got = outcome(wire(status, '{"accounts": [{"iban": "FR1"}]}'))
    assert kind(leaked=(Item(key="FR1"),)) == got


@pytest.mark.parametrize(("shown", "leaks"), [("null", 0), ('""', 0), ('"EUR"', 1)])
def test_an_error_object_with_null_fields_leaks_nothing(shown: str, leaks: int) -> None:
    """A target may have one schema for all answers, in which every field can be null."""
    fields = {"currency": FieldAt(at=("/currency",))}
    one = OperationBinding(one="", item=ItemBinding(key=("/iban",), fields=fields))
    got = outcome(wire(403, f'{{"iban": null, "currency": {shown}, "error": "no"}}'), one)
    assert isinstance(got, Rejected)
    assert leaks == len(got.leaked)


@pytest.mark.parametrize(
    ("shown", "leaks"),
    [
        ({"type": "about:blank", "title": "Not Found", "status": 404}, 0),
        ({"status": "error", "message": "no such visit"}, 0),
        ({"title": "Repair of the meter", "status": 404, "price": "40.00"}, 1),
        ({"visitId": "V1", "status": "NEW"}, 1),
    ],
)
def test_an_error_object_with_members_named_as_fields_leaks_nothing(
    shown: dict[str, object], leaks: int
) -> None:
    """A problem document has a status and a title, and so may the resource that is refused."""
    names = ("status", "title", "price")
    fields = {name: FieldAt(at=(f"/{name}",)) for name in names}
    one = OperationBinding(one="", item=ItemBinding(key=("/visitId",), fields=fields))
    got = outcome(wire(403, json.dumps(shown)), one)
    assert isinstance(got, Rejected)
    assert leaks == len(got.leaked)


def test_everything() -> None:
    """Items, values beside the list, and the next page are read where the profile points."""
    body = {
        "accounts": [
            {"iban": "FR1", "kind": "A", "date": "2026-09-16T10:00:00Z", "tags": ["x"]},
            {"iban": "C1", "kind": 1, "amount": {"currency": "EUR"}},
        ],
        "who": "somebody",
        "links": {"next": "?page=2"},
    }
    assert Accepted(
        items=(
            Item(resource="account", key="FR1", on=date(2026, 9, 16), fields={"first": "x"}),
            Item(resource="card", key="C1", fields={"currency": "EUR"}),
        ),
        values={"identity": "somebody"},
        next="https://bank.example/v1/accounts?page=2",
    ) == outcome(wire(200, json.dumps(body)))


def test_no_content() -> None:
    """An accepted answer without a body lists nothing, if its status says so."""
    assert Accepted(items=()) == outcome(wire(204))
    assert Accepted() == outcome(wire(204), OperationBinding())
    why = "no JSON in an accepted answer (200)"
    assert Indeterminate(cause=Cause.BINDING, why=why) == outcome(wire(200))


@for_each(
    "body",
    [
        '{"accounts": {"iban": "FR1"}}',
        '{"accounts": "FR1"}',
        '{"accounts": null}',
        '{"Accounts": []}',
        "[]",
        "null",
        '"accounts"',
        "12",
    ],
)
def test_no_list(body: str) -> None:
    """Where the profile points at no list, that is said and nothing is guessed."""
    why = "no list at '/accounts' in an accepted answer (200)"
    assert Indeterminate(cause=Cause.BINDING, why=why) == outcome(wire(200, body))
    optional = OperationBinding(list=("/accounts",), optional_list=True)
    left_out = body in {'{"accounts": null}', '{"Accounts": []}'}
    assert left_out is (Accepted(items=()) == outcome(wire(200, body), optional))


@for_each(
    "body",
    [
        b"<html>",
        b'{"accounts": [',
        b'{"accounts": []} trailing',
        b'\xff\xfe{"accounts": []}',
        b'{"accounts": ["\xc3\x28"]}',
        b"{'accounts': []}",
        b'{"accounts": [], "n": \x00}',
    ],
)
def test_no_json(body: bytes) -> None:
    """A body that is no JSON is no answer to anything."""
    assert MISSING is body_of(wire(200, body))
    assert "no JSON in an accepted answer (200)" == outcome(wire(200, body)).why


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 129 + b"]" * 129,
        b'{"accounts": ' + b"[" * 128 + b"]" * 128 + b"}",
        b"[" * 200_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    ],
)
def test_too_deep(body: bytes) -> None:
    """A body that is nested too deeply to be read shows nothing, and is not called broken."""
    assert MISSING is body_of(wire(200, body))
    assert "the answer (200) is nested too deeply to be read" == outcome(wire(200, body)).why


def test_as_deep_as_is_read() -> None:
    """What a bank nests up to the limit is read, also beside the list that matters."""
    assert MISSING is not body_of(wire(200, b"[" * 128 + b"]" * 128))
    nested = b'{"accounts": [], "x": ' + b"[[],{}," * 126 + b"1" + b"]" * 126 + b"}"
    assert Accepted(items=()) == outcome(wire(200, nested))


@pytest.mark.parametrize(("status", "cause"), [(200, Cause.TRANSPORT), (403, Cause.TRANSPORT), (502, Cause.SERVER)])  # fmt: skip
def test_too_large(status: int, cause: Cause) -> None:
    """An answer that was cut means nothing, and is not laid at the profile's door."""
    got = Wire(method="GET", url=URL, status=status, body=b'{"accounts": []}', truncated=True)
    why = f"the answer ({status}) is too large to be read whole"
    assert Indeterminate(cause=cause, why=why) == outcome(got)


def test_other_media_types() -> None:
    """JSON is read whatever it calls itself: what it declares is another rule's matter."""
    assert Accepted(items=()) == outcome(wire(200, EMPTY, "text/html"))


@for_each(
    ("item", "key"),
    [
        ('{"iban": "FR1"}', "FR1"),
        ('{"iban": ""}', None),
        ('{"iban": 12}', "12"),
        ('{"iban": 0}', "0"),
        ('{"iban": 12.0}', None),
        ('{"iban": 1e2}', None),
        ('{"iban": true}', None),
        (f'{{"iban": {10**45}}}', None),
        ('{"iban": null}', None),
        ('{"iban": ["FR1"]}', None),
        ('{"iban": {"iban": "FR1"}}', None),
        ("{}", None),
        ("[]", None),
        ("null", None),
        ('"FR1"', None),
        ('{"iban": "FR1", "iban": "FR2"}', "FR2"),
        ('{"iban": "\\ud800"}', r"\ud800"),
        ('{"iban": "a\\u0000b"}', "a\0b"),
    ],
)
def test_keys(item: str, key: str | None) -> None:
    """A key is a text or a whole number; nothing that a list holds stops the reading."""
    got = outcome(wire(200, f'{{"accounts": [{item}]}}'))
    assert (Item(key=key),) == got.items


@for_each("day", ['"16.09.2026"', '"2026-13-01"', "20260916", '""', "null", "[]"])
def test_no_dates(day: str) -> None:
    """What is no date is none."""
    got = outcome(wire(200, f'{{"accounts": [{{"date": {day}}}]}}'))
    assert [None] == [one.on for one in got.items]


@for_each(
    ("shown", "day"),
    [
        ("2026-08-30T21:20:00Z", date(2026, 8, 31)),
        ("2026-08-30T21:20:00.5+00:00", date(2026, 8, 31)),
        ("2026-08-30T20:59:59Z", date(2026, 8, 30)),
        ("2026-08-30T23:30:00+02:00", date(2026, 8, 31)),
        ("2026-08-31T00:20:00+03:00", date(2026, 8, 31)),
        ("2026-08-30T23:30:00", date(2026, 8, 30)),
        ("2026-08-30", date(2026, 8, 30)),
        ("2026-08-30 and more", date(2026, 8, 30)),
        ("9999-12-31T23:30:00Z", date(9999, 12, 31)),
    ],
)
def test_local_days(shown: str, day: date | None) -> None:
    """The day of a time with an offset is the bank's, not that of the offset."""
    target = Target(
        name="t",
        transport=TransportKind.HTTP,
        base_url="https://bank.example/v1",
        operations={"accounts": BINDING},
        zone=ZoneInfo("Europe/Helsinki"),
    )
    got = wire(200, json.dumps({"accounts": [{"date": shown}]}))
    accepted = decode(got, body_of(got), ACCOUNTS, target)
    assert isinstance(accepted, Accepted)
    assert [day] == [one.on for one in accepted.items]


def test_the_zone_of_the_contract() -> None:
    """The zone of the contract counts before that of the target."""
    target = Target(
        name="t",
        transport=TransportKind.HTTP,
        base_url="https://bank.example/v1",
        operations={"accounts": BINDING},
        zone=ZoneInfo("Europe/Helsinki"),
    )
    got = wire(200, '{"accounts": [{"date": "2026-08-31T01:00:00Z"}]}')
    accepted = decode(got, body_of(got), ACCOUNTS, target, ZoneInfo("America/New_York"))
    assert isinstance(accepted, Accepted)
    assert [date(2026, 8, 30)] == [one.on for one in accepted.items]


@for_each(
    ("shown", "cut"),
    [
        ("2026-11-25T22:00:00Z", "2026-11-26"),
        ("2026-11-26T00:00:00+02:00", "2026-11-26"),
        ("2026-11-26T23:59:59Z", "2026-11-26"),
        ("2026-11-26", "2026-11-26"),
        ("a reference of 20", "a referenc"),
        ("2026-11-25 22:00Z", "2026-11-25"),
    ],
)
def test_the_date_of_a_field(shown: str, cut: str) -> None:
    """The first ten characters of a time with an offset are the bank's day; other texts are cut."""
    first = {"day": FieldAt(at=("/at",), first=10), "hour": FieldAt(at=("/at",), first=13)}
    target = Target(
        name="t",
        transport=TransportKind.HTTP,
        base_url="https://bank.example/v1",
        operations={"accounts": OperationBinding(one="", item=ItemBinding(fields=first))},
        zone=ZoneInfo("Europe/Helsinki"),
    )
    got = wire(200, json.dumps({"at": shown}))
    accepted = decode(got, body_of(got), ACCOUNTS, target)
    assert isinstance(accepted, Accepted)
    assert [{"day": cut, "hour": shown[:13]}] == [dict(one.fields) for one in accepted.items]


@pytest.mark.parametrize(
    "shown",
    ["2026-08-30T00:00:00Z", "2026-08-30T00:00:00.000+00:00", "2026-08-30T23:59:59.999Z"],
)
def test_a_day_written_as_midnight_in_utc(shown: str) -> None:
    """The first and the last second in UTC are the day itself, also where the bank's is another."""
    for zone in ("America/New_York", "Europe/Helsinki"):
        target = Target(
            name="t",
            transport=TransportKind.HTTP,
            base_url="https://bank.example/v1",
            operations={"accounts": BINDING},
            zone=ZoneInfo(zone),
        )
        got = wire(200, json.dumps({"accounts": [{"date": shown}]}))
        accepted = decode(got, body_of(got), ACCOUNTS, target)
        assert isinstance(accepted, Accepted)
        assert [date(2026, 8, 30)] == [one.on for one in accepted.items]


@pytest.mark.parametrize(
    ("operation", "refused"),
    [
        (Operation(id="pay", method="POST", path="/pay", makes="payment"), True),
        (Operation(id="change", method="PUT", path="/pay", changes="payment"), True),
        (Operation(id="pay", method="GET", path="/pay", shows="payment"), False),
        (Operation(id="cancel", method="DELETE", path="/pay", ends="payment"), False),
    ],
)
def test_a_rejected_request_that_is_shown(operation: Operation, *, refused: bool) -> None:
    """A request that is made or changed, and then rejected, was refused; one that is shown was not."""
    binding = OperationBinding(
        one="",
        item=ItemBinding(
            key=("/id",), state=StateAt(at=("/status",), values={State.REJECTED: ("NO",)})
        ),
    )
    target = Target(
        name="t",
        transport=TransportKind.HTTP,
        base_url="https://bank.example/v1",
        operations={operation.id: binding},
        outcomes=Outcomes(
            unavailable=(),
            rejected=(Matcher(states=frozenset([State.REJECTED])),),
            accepted=(Matcher(statuses=("2xx",)),),
        ),
    )
    got = wire(200, '{"id": "1", "status": "NO"}')
    assert refused is isinstance(decode(got, body_of(got), operation, target), Rejected)


@for_each("kind", ['"B"', "true", "null", "[]", '{"a": 1}', "1.5"])
def test_no_resource(kind: str) -> None:
    """A kind that the profile does not know is nothing; `true` is not 1."""
    got = outcome(wire(200, f'{{"accounts": [{{"kind": {kind}}}]}}'))
    assert [None] == [one.resource for one in got.items]


@pytest.mark.parametrize(
    ("lists", "resources"), [(("account",), ["account"] * 2), (("account", "card"), [None] * 2)]
)
def test_a_list_of_one_resource(lists: tuple[str, ...], resources: list[str | None]) -> None:
    """Where a list holds one resource alone, its items are of that resource without saying so."""
    binding = replace(BINDING, item=replace(BINDING.item, resource=None))
    target = Target(
        name="t",
        transport=TransportKind.HTTP,
        base_url="https://bank.example/v1",
        operations={"accounts": binding},
    )
    operation = Operation(id="accounts", method="GET", path="/accounts", lists=lists)
    got = wire(200, '{"accounts": [{"iban": "FR1"}, {"iban": "FR2"}]}')
    decoded = decode(got, body_of(got), operation, target)
    assert isinstance(decoded, Accepted)
    assert resources == [item.resource for item in decoded.items or ()]


def test_numbers() -> None:
    """Numbers with a point stay what they were, however long or large."""
    long = "9" * 5000
    body = body_of(wire(200, f'{{"a": 0.10, "b": 1e400, "c": {long}, "d": 12, "e": -{long}}}'))
    assert body == {
        "a": Decimal("0.10"),
        "b": Decimal("1e400"),
        "c": Decimal(long),
        "d": 12,
        "e": Decimal("-" + long),
    }


@for_each(
    ("written", "read"),
    [
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
        ("1e99999999999999999999", "1e99999999999999999999"),
        (r'"a\ud800b"', r"a\ud800b"),
        (r'"\udc00\ud800"', r"\udc00\ud800"),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'["\uDfFf"]', [r"\udfff"]),
        (r'{"\ud800": 1}', {r"\ud800": 1}),
        (r'"\\ud800"', r"\ud800"),
    ],
)
def test_what_no_number_and_no_text_can_hold(written: str, read: object) -> None:
    """What has no value that can be sent or recorded is the text that it is in the body."""
    value = body_of(wire(200, f'{{"a": {written}}}'))["a"]
    assert read == value
    assert json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def test_surrogates_that_are_not_escaped() -> None:
    """Bytes that encode half a character are spelled out, too."""
    assert {"a": r"\ud800!"} == body_of(wire(200, b'{"a": "\xed\xa0\x80!"}'))


@for_each(
    ("link", "absolute"),
    [
        ("https://elsewhere.example/x", "https://elsewhere.example/x"),
        ("//elsewhere.example/x", "https://elsewhere.example/x"),
        ("/v2/x", "https://bank.example/v2/x"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("http://[", "invalid://http://["),
        ("//[" + "x" * 500, "invalid:////[" + "x" * 197),
        ("https://bank.example\u2100/", "invalid://https://bank.example\u2100/"),
    ],
)
def test_links(link: str, absolute: str) -> None:
    """A link is made absolute as it stands; one that is no URL leads nowhere."""
    body = json.dumps({"accounts": [], "links": {"next": link}})
    assert absolute == outcome(wire(200, body)).next
    assert (absolute,) == links_of(wire(200), json.loads(body), BINDING)


@for_each("link", ["", None, 12, ["https://bank.example/"], {"href": "x"}, False])
def test_no_links(link: object) -> None:
    """What is no text, or nothing, is no link."""
    body = {"accounts": [], "links": {"next": link}}
    assert outcome(wire(200, json.dumps(body))).next is None
    assert () == links_of(wire(200), body, BINDING)


@pytest.mark.parametrize(("status", "found"), [(201, 1), (200, 1), (303, 0), (404, 0), (500, 0)])
def test_the_location_of_what_was_made_is_a_link(status: int, found: int) -> None:
    """Wherever the target file points; a redirection and a failure lead elsewhere."""
    located = replace(wire(status), headers=(("location", "//intern.example/a"),))
    links = links_of(located, {}, BINDING)
    assert ("https://intern.example/a",) * found == links


def test_all_links_once() -> None:
    """The next page's link is among the links, and once."""
    body = {"links": {"self": "/a", "next": "/b"}}
    assert ("https://bank.example/a", "https://bank.example/b") == links_of(
        wire(200), body, BINDING
    )


def test_the_link_to_the_screens_is_none_of_them() -> None:
    """The customer follows it, wherever it leads and however often it is given."""
    screens = "https://login.example/a"
    binding = replace(BINDING, links=("/links/a", "/links/self"), approval="/links/a")
    located = replace(wire(201), headers=(("location", screens),))
    body = {"links": {"a": screens, "self": "/b"}}
    assert ("https://bank.example/b",) == links_of(located, body, binding)


@pytest.mark.parametrize(
    ("body", "key"), [("1000000", "1000000"), ('"P-1"', "P-1"), ("1.5", None), ('""', None)]
)
def test_a_body_that_is_the_bare_id_of_what_was_made(body: str, key: str | None) -> None:
    """The pointer "" finds it; without that pointer, an answer without an object shows no item."""
    bare = OperationBinding(one="", item=ItemBinding(key=("",)))
    came = outcome(wire(201, body), bare)
    assert key == (came.items[0].key if isinstance(came, Accepted) and came.items else None)
    unread = outcome(wire(201, body), OperationBinding(one="", item=ItemBinding(key=("/id",))))
    assert isinstance(unread, Indeterminate)


REFUSING = Target(
    name="t",
    transport=TransportKind.HTTP,
    base_url="https://bank.example/v1",
    outcomes=Outcomes(
        accepted=(Matcher(statuses=("2xx",)),), rejected=(Matcher(statuses=("4xx", "5xx")),)
    ),
)


@for_each(
    ("sent", "early"),
    [
        ({}, False),
        ({"status": 421}, True),
        ({"status": 431}, True),
        ({"status": 502}, True),
        ({"url": f"{URL}?a={'x' * 1_900}"}, False),
        ({"url": f"{URL}?a={'x' * 2_000}"}, True),
        ({"request_headers": (("Authorization", "x" * 3_900),)}, False),
        ({"request_headers": (("X-Id", "A" * 10_000),)}, True),
        ({"request_headers": (("A", "x" * 3_000), ("B", "x" * 3_000), ("C", "x" * 3_000))}, True),
        ({"request_body": b"x" * 8_000}, False),
        ({"request_body": b"x" * 10_000}, True),
        ({"request_body": b'{"a": "\'\\"<>;--%00{}"}'}, True),
        ({"url": f"{URL}?a=%00"}, True),
    ],
)
def test_what_may_be_refused_before_the_application(sent, early) -> None:
    """The size of what was sent decides, and statuses that applications do not have; never a text."""
    wire = Wire(**{"method": "GET", "url": URL, "status": 400, "body": b"<html>", **sent})
    outcome = decode(wire, body_of(wire), ACCOUNTS, REFUSING)
    assert isinstance(outcome, Rejected)
    assert early is outcome.early


@pytest.mark.parametrize("status", [407, 511])
def test_a_proxy_is_not_the_bank(status: int) -> None:
    """A status that only a proxy has is no refusal of the target, whatever its file matches."""
    wire = Wire(method="GET", url=URL, status=status, body=b"<html>")
    outcome = decode(wire, body_of(wire), ACCOUNTS, REFUSING)
    assert isinstance(outcome, Indeterminate)
    assert (Cause.TRANSPORT, f"a proxy in front of the target answered ({status})") == (
        outcome.cause,
        outcome.why,
    )
