"""HAR files as their many writers leave them, whole, odd and broken."""

import base64
import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from clients import BASE, write

from assay.errors import InputError
from assay.traffic.har import NO_ANSWER, NO_BODY, read_har

ITEMS = json.dumps({"accounts": []})


def entry(**changed):
    """Write one entry as most do; `response` and `request` lay over what is there."""
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
    """Write a file with these entries, and read it."""
    return read_har(write(tmp_path / "x.har", {"log": {"entries": list(entries)}}), zone)


def test_an_entry(tmp_path):
    """Time, request and answer are read as they stand there."""
    (one,) = read(tmp_path, entry())
    assert datetime(2026, 9, 16, 8, tzinfo=UTC) == one.at
    assert ("GET", f"{BASE}/accounts", 200, ITEMS.encode(), 12.5, "") == (
        one.wire.method,
        one.wire.url,
        one.wire.status,
        one.wire.body,
        one.ms,
        one.lost,
    )


def test_bodies_in_base64(tmp_path):
    """A body in base64 is unpacked, in an answer and in a request."""
    packed = base64.b64encode(b'{"a": 1}').decode()
    content = {"size": 8, "mimeType": "application/json", "text": packed, "encoding": "base64"}
    posted = {"mimeType": "application/json", "text": packed, "encoding": "base64"}
    (one,) = read(
        tmp_path,
        entry(response={"content": content}, request={"method": "PUT", "postData": posted}),
    )
    assert (b'{"a": 1}', b'{"a": 1}') == (one.wire.body, one.wire.request_body)


def test_headers_of_http_2(tmp_path):
    """The headers that only HTTP/2 has are none of the message's."""
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
        ({"status": 0}, NO_ANSWER),
        ({"status": -1}, NO_ANSWER),
        ({"status": True}, NO_ANSWER),
        ({"status": None}, NO_ANSWER),
    ],
)
def test_what_is_not_there(response, lost, tmp_path):
    """An answer that never came, or whose body is not recorded, is told as such."""
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
    assert [True, False, True] == [first.asked_lost, second.asked_lost, third.asked_lost]


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
    """A form that stands there as its fields is put together again."""
    params = [{"name": "grant_type", "value": "refresh_token"}, {"name": "a", "value": "b c"}]
    (one,) = read(tmp_path, entry(request={"method": "POST", "postData": {"params": params}}))
    assert b"grant_type=refresh_token&a=b+c" == one.wire.request_body


def test_a_byte_order_mark_and_several_pages(tmp_path):
    """A file that begins with a byte order mark, and one of several pages, is read."""
    path = tmp_path / "x.har"
    log = {"log": {"pages": [{"id": "p1"}, {"id": "p2"}], "entries": [entry(pageref="p2")]}}
    path.write_text(json.dumps(log), encoding="utf-8-sig")
    assert 1 == len(read_har(path))


def test_times_without_an_offset(tmp_path):
    """A time without an offset is the bank's own, where that is known."""
    naive = entry(startedDateTime="2026-09-16T10:00:00")
    (paris,) = read(tmp_path, naive, zone=ZoneInfo("Europe/Paris"))
    (utc,) = read(tmp_path, naive)
    assert (8, 10) == (paris.at.hour, utc.at.hour)


def test_a_large_body_is_cut(tmp_path):
    """Of a body no more is kept than a run would read, and that it was cut is told."""
    text = "9" * (5 * 1024 * 1024)
    (one,) = read(tmp_path, entry(response={"content": {"size": len(text), "text": text}}))
    assert (4 * 1024 * 1024, True) == (len(one.wire.body), one.wire.truncated)


@pytest.mark.parametrize(
    ("text", "said"),
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
        ("[" * 100_000, "no JSON that can be read"),
        ('{"log": ' + "9" * 5000 + "}", "no JSON that can be read"),
    ],
)
def test_what_is_no_har(text, said, tmp_path):
    """A file that is no HAR is refused with what is wrong, where, and what to do."""
    path = tmp_path / "x.har"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_har(path)
    assert said in str(error.value)
    assert error.value.problems[0].hint


@pytest.mark.parametrize("when", ["yesterday", "", "0001-01-01T00:00:00+14:00", 7, None])
def test_no_time(when, tmp_path):
    """An entry whose time cannot be read is refused, and named."""
    with pytest.raises(InputError, match=r"entry 2 of the log"):
        read(tmp_path, entry(), entry(startedDateTime=when))


def test_no_file(tmp_path):
    """A file that is not there, or is no text, is said to be so."""
    with pytest.raises(InputError, match="cannot be read"):
        read_har(tmp_path / "none.har")
    path = tmp_path / "x.har"
    path.write_bytes(b"\xff\xfe{\x00}\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_har(path)
