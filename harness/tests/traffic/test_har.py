"""HAR files of many recorders: valid, unusual and damaged."""

import base64
import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from clients import BASE, write

from assay.errors import InputError
from assay.traffic.har import NO_BODY, NO_RESPONSE, read_har

ITEMS = json.dumps({"accounts": []})


def entry(**changed):
    """Return an entry as most recorders write it; `request` and `response` replace parts."""
    request = {
        "method": "GET",
        "url": f"{BASE}/accounts",
        "headers": [{"name": "Authorization", "value": "Bearer t"}],
        **changed.pop("request", {}),
    }
    response = {
        "status": 200,
        "headers": [{"name": "Content-Type", "value": "application/json"}],
        "content": {"size": len(ITEMS), "mimeType": "application/json", "text": ITEMS},
        **changed.pop("response", {}),
    }
    return {
        "startedDateTime": "2026-09-16T08:00:00.000Z",
        "time": 12.5,
        "request": request,
        "response": response,
        **changed,
    }


def read(tmp_path, *entries, zone=None):
    """Return the entries of a file, as they are read."""
    return [*read_har(write(tmp_path / "x.har", {"log": {"entries": list(entries)}}), zone)]


def test_an_entry(tmp_path):
    """Time, request and response are read."""
    (exchange,) = read(tmp_path, entry())
    assert datetime(2026, 9, 16, 8, tzinfo=UTC) == exchange.at
    assert ("GET", f"{BASE}/accounts", 200, ITEMS.encode(), 12.5, "") == (
        exchange.wire.method,
        exchange.wire.url,
        exchange.wire.status,
        exchange.wire.body,
        exchange.ms,
        exchange.lost,
    )


def test_bodies_in_base64(tmp_path):
    """A body in base64 is decoded, in a response and in a request."""
    packed = base64.b64encode(b'{"a": 1}').decode()
    content = {"size": 8, "mimeType": "application/json", "text": packed, "encoding": "base64"}
    posted = {"mimeType": "application/json", "text": packed, "encoding": "base64"}
    (exchange,) = read(
        tmp_path,
        entry(response={"content": content}, request={"method": "PUT", "postData": posted}),
    )
    assert (b'{"a": 1}', b'{"a": 1}') == (exchange.wire.body, exchange.wire.request_body)


def test_headers_of_http_2(tmp_path):
    """The pseudo-headers of HTTP/2 are left out."""
    names = [":method", ":authority", "authorization"]
    headers = [{"name": name, "value": "x"} for name in names]
    (one,) = read(tmp_path, entry(request={"headers": headers}))
    assert (("authorization", "x"),) == one.wire.request_headers


@pytest.mark.parametrize(
    ("response", "lost"),
    [
        ({"content": {"size": 17, "mimeType": "application/json"}}, NO_BODY),
        ({"content": {"size": 0}}, NO_BODY),
        ({"content": {"size": -1, "mimeType": "x"}, "bodySize": 17}, NO_BODY),
        ({"content": None}, NO_BODY),
        ({"status": 204, "content": {"size": 0}}, ""),
        ({"content": {"size": 0}, "headers": []}, ""),
        ({"content": {}, "headers": [{"name": "content-length", "value": "0"}]}, ""),
        ({"status": 0}, NO_RESPONSE),
        ({"status": -1}, NO_RESPONSE),
        ({"status": True}, NO_RESPONSE),
        ({"status": None}, NO_RESPONSE),
    ],
)
def test_a_missing_response(response, lost, tmp_path):
    """A response that never came, or whose body was not recorded, is marked as unknown."""
    (one,) = read(tmp_path, entry(response=response))
    assert lost == one.lost


def test_a_request_without_its_body(tmp_path):
    """A request whose body was left out is not taken for one without."""
    first, second, third = read(
        tmp_path,
        entry(request={"method": "PUT", "bodySize": 40}),
        entry(request={"method": "PUT", "bodySize": 0}),
        entry(request={"method": "PUT", "postData": {"text": "{", "comment": "cut off after 4"}}),
    )
    assert [True, False, True] == [first.body_lost, second.body_lost, third.body_lost]


def test_what_was_never_sent(tmp_path):
    """What came out of the browser's cache, a data URL and a web socket are no calls."""
    assert [] == read(
        tmp_path,
        entry(_fromCache="disk"),
        entry(response={"_fetchedViaServiceWorker": True}),
        entry(request={"url": "data:application/json,{}"}),
        entry(request={"url": "wss://bank.example/x"}),
        entry(_resourceType="websocket"),
    )


def test_forms(tmp_path):
    """A form that is recorded as fields is encoded again."""
    params = [{"name": "grant_type", "value": "refresh_token"}, {"name": "a", "value": "b c"}]
    (one,) = read(tmp_path, entry(request={"method": "POST", "postData": {"params": params}}))
    assert b"grant_type=refresh_token&a=b+c" == one.wire.request_body


def test_a_byte_order_mark_and_several_pages(tmp_path):
    """A file that begins with a byte order mark and has several pages is read."""
    path = tmp_path / "x.har"
    log = {"log": {"pages": [{"id": "p1"}, {"id": "p2"}], "entries": [entry(pageref="p2")]}}
    path.write_text(json.dumps(log), encoding="utf-8-sig")
    assert 1 == len(read_har(path))


def test_times_without_an_offset(tmp_path):
    """A time without an offset is in the bank's time zone, if that is known."""
    naive = entry(startedDateTime="2026-09-16T10:00:00")
    (paris,) = read(tmp_path, naive, zone=ZoneInfo("Europe/Paris"))
    (utc,) = read(tmp_path, naive)
    assert (8, 10) == (paris.at.hour, utc.at.hour)


def test_a_large_body_is_cut(tmp_path):
    """A body is cut at the size that a run would read, and marked as truncated."""
    text = "9" * (5 * 1024 * 1024)
    (one,) = read(tmp_path, entry(response={"content": {"size": len(text), "text": text}}))
    assert (4 * 1024 * 1024, True) == (len(one.wire.body), one.wire.truncated)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ('{"log": {\n"entries": [', "x.har:2: not JSON"),
        ("[]", "no 'log'"),
        ("{}", "no 'log'"),
        ('{"log": {}}', "no list 'log.entries'"),
        ('{"log": {"entries": {}}}', "no list 'log.entries'"),
        ('{"log": {"entries": [7]}}', "entry 1 of the log"),
        ('{"log": {"entries": [{}]}}', "entry 1 of the log cannot be read: it has no 'request'"),
        ('{"log": {"entries": [{"request": {"url": 3}}]}}', "it has no text 'url'"),
        ("[" * 100_000, "not JSON that can be read"),
        ('{"log": ' + "9" * 5000 + "}", "not JSON that can be read"),
    ],
)
def test_a_file_that_is_not_har(text, message, tmp_path):
    """A file that is not HAR is refused with the problem, its place, and a hint."""
    path = tmp_path / "x.har"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_har(path)
    assert message in str(error.value)
    assert error.value.problems[0].hint


@pytest.mark.parametrize(
    "when",
    [
        *("yesterday", "", "0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00Z", 7, None),
        *("9999-12-31T23:59:59Z", "2026-12-31T23:59:60Z", "2026-02-30T00:00:00Z", "1e400"),
    ],
)
def test_an_unreadable_time(when, tmp_path):
    """An entry whose time cannot be read is refused, with its number."""
    with pytest.raises(InputError, match=r"entry 2 of the log"):
        read(tmp_path, entry(), entry(startedDateTime=when))


@pytest.mark.parametrize("when", ["1970-01-01T00:00:00Z", "2026-01-01T00:00:00.123456789Z"])
def test_an_unusual_time(when, tmp_path):
    """The clock of a recorder may be wrong by decades, and be very exact."""
    assert 1 == len(read(tmp_path, entry(startedDateTime=when)))


def test_a_file_that_cannot_be_read(tmp_path):
    """A file that does not exist, or is not text, is refused."""
    with pytest.raises(InputError, match="cannot be read"):
        read_har(tmp_path / "none.har")
    path = tmp_path / "x.har"
    path.write_bytes(b"\xff\xfe{\x00}\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_har(path)
