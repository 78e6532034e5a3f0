"""A dialect of its own: what is sent and read where the target does not speak as the contract."""

from __future__ import annotations

import json
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from rows import for_each

from assay.binding.model.pointer import lists, put
from assay.binding.model.spelling import Place, Spelling
from assay.binding.model.target import Target
from assay.binding.wire.decode import body_of, decode
from assay.binding.wire.encode import Access, HttpRequest, encode
from assay.binding.wire.links import links_of
from assay.binding.wire.values import RequestValues
from assay.binding.wire.values import sent as sent_value
from assay.contract.model import Operation
from assay.errors import CannotArrange
from assay.files.load import loads
from assay.history import Accepted, Call, Item, Rejected, State, Wire
from assay.preparation.target_file import read_document
from assay.traffic.match_request import decode_value

HEAD = "assay: 1\ntarget: t\ntransport: http\nbase_url: https://bank.example/v1\n"
GIVE = Operation(id="give", method="PUT", path="/give", grants="accounts")
READ = Operation(id="read", method="GET", path="/read", about="iban", since="since", until="until")
MAKE = Operation(
    id="make", method="POST", path="/make", makes="payment", arguments=("amount", "bearer")
)


def target(text: str) -> Target:
    """Read a target file."""
    return read_document(loads(HEAD + text, "t.yaml"))


def sent(
    text: str, operation: Operation, made: RequestValues | None = None, **changes: Any
) -> HttpRequest:
    """Return the request that a call becomes."""
    call = Call(operation=operation.id, subject="psu", **changes)
    return encode(call, operation, target(text), Access(), made)


def told(text: str, body: object, headers: tuple[tuple[str, str], ...] = ()) -> Any:
    """Return what an answer to `read` means."""
    wire = Wire(
        method="GET",
        url="https://bank.example/v1/read",
        status=200,
        headers=(("Content-Type", "application/json"), *headers),
        body=json.dumps(body).encode(),
    )
    return decode(wire, body_of(wire), READ, target(text))


def test_the_targets_own_name() -> None:
    """What is found goes in place of the key; a key that nobody owns goes as it is."""
    text = "operations: {read: {path: '/a/{id}/b', arguments: {iban: {path: id, found: list}}}}"
    made = RequestValues(ids={"FR1": "x/1"})
    assert (
        "https://bank.example/v1/a/x%2F1/b" == sent(text, READ, made, arguments={"iban": "FR1"}).url
    )
    assert (
        "https://bank.example/v1/a/FR2/b" == sent(text, READ, made, arguments={"iban": "FR2"}).url
    )


def test_days() -> None:
    """A day stands in a text, and an end that is exclusive is the day after."""
    text = (
        "operations: {read: {arguments: {iban: {query: iban}, since: {query: from, text: '{}T00:00Z'},"
        " until: {query: to, exclusive: true}}}}"
    )
    given = {"iban": "FR1", "since": "2026-11-01", "until": "2026-12-31"}
    url = sent(text, READ, arguments=given).url
    assert "https://bank.example/v1/read?iban=FR1&from=2026-11-01T00%3A00Z&to=2027-01-01" == url
    odd = sent(text, READ, arguments={**given, "until": "yesterday"}).url
    assert odd.endswith("to=yesterday")


@for_each(
    ("zone", "day", "moment"),
    [
        ("Europe/Paris", "2026-07-01", "2026-07-01T00:00:00+02:00"),
        ("Europe/Paris", "2026-12-01", "2026-12-01T00:00:00+01:00"),
        ("America/Sao_Paulo", "2026-07-01", "2026-07-01T00:00:00-03:00"),
        ("Europe/London", "2026-12-01", "2026-12-01T00:00:00Z"),
        (None, "2026-07-01", "2026-07-01T00:00:00Z"),
        ("Europe/Paris", "yesterday", "yesterdayT00:00:00Z"),
    ],
)
def test_a_day_begins_in_the_zone_of_the_bank(zone: str | None, day: str, moment: str) -> None:
    """The offset is that of the zone on the day itself, and a recording is read back."""
    text = "{}T00:00:00{offset}"
    spelling = Spelling(place=Place.QUERY, name="from", text=text)
    made = RequestValues(zone=ZoneInfo(zone) if zone else None)
    assert moment == sent_value(day, spelling, made)
    assert day == decode_value(moment, spelling, {})
    assert f"{moment}x" == decode_value(f"{moment}x", spelling, {})


def test_a_shape_at_several_places() -> None:
    """Each thing of a list takes the shape for what it is, at every pointer."""
    text = (
        "operations: {give: {template: {all: false, x: []}, arguments: {accounts: {body: [/balances,"
        " /slips], each: {by: {account: {iban: '{}'}, card: {other: {id: '{}'}}}}}}}}"
    )
    made = RequestValues(resources={"A": "account", "C": "card"})
    body = json.loads(sent(text, GIVE, made, arguments={"accounts": ["A", "C", "?"]}).body)
    each = [{"iban": "A"}, {"other": {"id": "C"}}, {"iban": "?"}]
    assert {"all": False, "x": [], "balances": each, "slips": each} == body


@pytest.mark.parametrize("value", ["SLEV", "null"])
def test_what_is_left_out_is_not_sent_because_a_template_has_it(value: str) -> None:
    """A draft may have its own value, or null, where an argument goes, at several places and below."""
    text = (
        f"operations: {{make: {{template: {{a: {value}, parts: [{{b: {value}, c: 1}}]}},"
        " arguments: {bearer: {body: [/a, /parts/0/b], value: SHAR}, amount: {body: /c, value: '1'}}}}"
    )
    whole = json.loads(sent(text, MAKE, RequestValues()).body)
    assert {"a": "SHAR", "c": "1", "parts": [{"b": "SHAR", "c": 1}]} == whole
    left = json.loads(sent(text, MAKE, RequestValues(), without=("bearer",)).body)
    assert {"c": "1", "parts": [{"c": 1}]} == left


def test_a_template_is_filled_in_and_never_changed() -> None:
    """Arguments go into the lists of a template, and the next request finds it as it was."""
    text = (
        "headers: {X-Request-ID: '{unique}'}\n"
        "operations: {make: {queries: {v: '3'}, template: {ref: '{alike}', at: '{now}', parts: [{}]}, headers: {A: b},"
        " arguments: {amount: {body: /parts/0/amount, value: '1.00'},"
        " bearer: {body: /bearer, value: SLEV, words: {SLEV: shared}}}}}"
    )
    bank = target(text)
    made = RequestValues(now="2026-11-21T10:00", unique="u", alike="k")
    call = Call(operation="make", subject="psu")
    for without in ((), ("amount",)):
        request = encode(
            Call(operation="make", subject="psu", without=without), MAKE, bank, Access(), made
        )
        part = {} if without else {"amount": "1.00"}
        expected = {"ref": "k", "at": "2026-11-21T10:00", "parts": [part], "bearer": "shared"}
        assert expected == json.loads(request.body)
        assert ("X-Request-ID", "u") in request.headers
        assert ("A", "b") in request.headers
        assert request.url.endswith("/make?v=3")
    assert encode(call, MAKE, bank, Access(), made).body != b""


def test_presence_by_absence() -> None:
    """A header can say that the customer is not there."""
    text = (
        "presence: {header: Batch, value: 'yes', when: absent}\n"
        "operations: {read: {arguments: {iban: {query: iban}}}}"
    )
    given = {"iban": "FR1"}
    assert ("Batch", "yes") not in sent(text, READ, arguments=given).headers
    assert ("Batch", "yes") in sent(text, READ, arguments=given, present=False).headers


def test_several_lists() -> None:
    """Lists at several pointers, and within every element, count as one."""
    text = "operations: {read: {list: [/booked, '/days/*/moves'], item: {key: [/iban, /other/id], id: /ref}}}"
    body = {
        "booked": [{"iban": "A", "ref": "1"}],
        "days": [{"moves": [{"other": {"id": "C"}}]}, {}, {"moves": [{"iban": "B"}]}],
    }
    got = told(text, body)
    assert ["A", "C", "B"] == [one.key for one in got.items]
    assert ["1", None, None] == [one.id for one in got.items]
    assert [] == list(told(text, {"booked": []}).items)
    assert (
        "no list at '/booked' or '/days/*/moves' in an accepted answer (200)" == told(text, {}).why
    )


def test_words_and_cut_texts() -> None:
    """A target's word is read as the contract's, and a text is cut where that is asked."""
    text = (
        "operations: {read: {list: '', item: {fields: {kind: {at: /k, words: {CLBD: closing}},"
        " on: {at: [/day, /when], first: 10}}}}}"
    )
    got = told(text, [{"k": "closing", "when": "2026-11-21T10:00"}, {"k": "CLBD", "day": 7}])
    assert {"kind": "CLBD", "on": "2026-11-21"} == got.items[0].fields
    assert {"kind": "CLBD", "on": 7} == got.items[1].fields


@for_each(
    ("status", "reason", "expected"),
    [
        ("RJCT", "DS02", State.ENDED),
        ("RJCT", "AC01", State.REJECTED),
        ("RJCT", None, State.REJECTED),
        ("PDNG", None, State.OPEN),
        ("PDNG", "X", None),
        ("????", "DS02", None),
    ],
)
def test_a_state_in_two_places(status: str, reason: str | None, expected: State | None) -> None:
    """What two values tell together comes before what one of them tells; null is nothing there."""
    text = (
        "operations: {read: {one: '', item: {state: {at: [/status, /reason], values:"
        " {rejected: [RJCT], ended: [[RJCT, DS02]], open: [[PDNG, null]]}}}}}"
    )
    body = {"status": status} | ({"reason": reason} if reason else {})
    assert expected == told(text, body).items[0].state


def test_a_key_in_a_header() -> None:
    """The end of a URL in a header is the key."""
    text = "operations: {read: {one: '', item: {key: {header: Location}}}}"
    got = told(text, {}, (("location", "https://bank.example/v1/pay/a%20b/?x=1"),))
    assert Accepted(items=(Item(key="a b"),)) == got
    assert None is told(text, {}).items[0].key
    assert None is told(text, {}, (("location", "http://["),)).items[0].key


def test_where_a_new_request_is_found_is_a_link() -> None:
    """The URL that names a key in a header is among the links, which must stay on the host."""
    text = "operations: {read: {one: '', item: {key: {header: Location}}}}"
    wire = Wire(method="POST", url="https://bank.example/v1/x", headers=(("location", "//evil/1"),))
    assert ("https://evil/1",) == links_of(wire, {}, target(text).operations["read"])


def test_outcomes_of_an_operation() -> None:
    """An operation's own outcomes count for it, and everybody's for the rest; states are known."""
    text = (
        "outcomes: {unavailable: [{statuses: [200], body: {/x: 1}}]}\n"
        "operations: {read: {one: '', outcomes: {rejected: [{states: [rejected]}]},"
        " item: {state: {at: /s, values: {rejected: [NO]}}}}}"
    )
    assert isinstance(told(text, {"s": "NO"}), Rejected)
    assert isinstance(told(text, {"s": "YES"}), Accepted)
    assert "Unavailable" == type(told(text, {"s": "NO", "x": 1})).__name__


def test_putting_into_lists() -> None:
    """A pointer leads into a list that is there, and makes none."""
    body: dict[str, Any] = {"a": [{"b": 1}]}
    put(body, "/a/0/c", 2)
    put(body, "/d/0/c", 3)
    put(body, "/a/7/c", 4)
    assert {"a": [{"b": 1, "c": 2}], "d": {"0": {"c": 3}}} == body


def test_lists_of_lists() -> None:
    """A star goes into every element, also twice."""
    body = {"a": [{"b": [{"c": [1]}, {"c": [2]}]}, {"b": 7}]}
    assert [1, 2] == lists(body, "/a/*/b/*/c")
    assert None is lists(body, "/x/*/b")
    assert [] == lists(body, "/a/*/x")


def test_what_is_not_spelt_is_still_said() -> None:
    """An argument without a place is named."""
    with pytest.raises(CannotArrange, match="the place of iban in a GET"):
        sent("operations: {read: {}}", READ, arguments={"iban": "FR1"})
