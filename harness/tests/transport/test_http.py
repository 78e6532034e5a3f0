"""What the client sends, and how it bears what comes back."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import httpx
import pytest
from rows import for_each

from assay.binding.wire.encode import HttpRequest
from assay.errors import TargetError
from assay.traffic.proxy.messages import decompress
from assay.transport.http import MAX_BODY, Decompressor, HttpClient, coding_of

BASE = "https://bank.example/v1"


@dataclass
class Wire(httpx.BaseTransport):
    """A target made by hand: answers what it is told to, and keeps what it was sent."""

    answer: Callable[[httpx.Request], httpx.Response]
    seen: list[httpx.Request] = field(default_factory=list)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        return self.answer(request)


class Drip(httpx.SyncByteStream):
    """A body that comes in parts, and says when it was put away."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self.parts, self.taken, self.closed = parts, 0, False

    def __iter__(self) -> Iterator[bytes]:
        for part in self.parts:
            self.taken += 1
            yield part

    def close(self) -> None:
        self.closed = True


def client(answer: Callable[[httpx.Request], httpx.Response], **how: object) -> HttpClient:
    return HttpClient(base_url=BASE, transport=Wire(answer), **how)


def told(status: int = 200, content: bytes = b"{}", **headers: str) -> HttpClient:
    """Make a client of a target that always says the same."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client(lambda _: httpx.Response(status, stream=Drip(iter([content])), headers=named))


def get(url: str = f"{BASE}/accounts", *headers: tuple[str, str]) -> HttpRequest:
    return HttpRequest(method="GET", url=url, headers=headers)


def forever(part: bytes) -> Iterator[bytes]:
    while True:
        yield part


def test_an_answer() -> None:
    """Status, headers and body arrive as they were sent, also for a failure."""
    sent = told(503, b"closed", retry_after="60").send(get())
    assert ("", 503, b"closed", False) == (
        sent.trouble,
        sent.wire.status,
        sent.wire.body,
        sent.wire.truncated,
    )
    assert ("retry-after", "60") in sent.wire.headers


@pytest.mark.parametrize(
    ("size", "cut"), [(MAX_BODY, False), (MAX_BODY + 1, True), (3 * MAX_BODY, True)]
)
def test_large(size: int, cut: bool) -> None:
    """An answer is read up to four MiB, and what is larger is known to be cut."""
    sent = told(content=b"x" * size).send(get())
    assert (min(size, MAX_BODY), cut) == (len(sent.wire.body), sent.wire.truncated)


def test_endless() -> None:
    """A body without end is left at the bound, and its connection given back."""
    drip = Drip(forever(b"x" * 65_536))
    sent = client(lambda _: httpx.Response(200, stream=drip)).send(get())
    assert (True, True, MAX_BODY // 65_536 + 1) == (sent.wire.truncated, drip.closed, drip.taken)


@dataclass
class Clock:
    """A clock that goes on by so many seconds whenever somebody looks."""

    step: float
    now: float = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def test_slow_drip() -> None:
    """Bytes that trickle in do not keep a call alive beyond the time it has as a whole."""
    drip = Drip(forever(b"x"))
    slow = client(lambda _: httpx.Response(200, stream=drip), timeout=10.0, clock=Clock(3.0))
    sent = slow.send(get())
    assert ("no complete answer within 10.0 s", 0) == (sent.trouble, sent.wire.status)
    assert (4, True) == (drip.taken, drip.closed)


def test_each_wait_has_its_time() -> None:
    """The transport is told how long connecting, sending and each read may take."""
    client = told()
    client.timeout = 7.0
    client.send(get())
    (asked,) = client.transport.seen
    assert {"connect": 7.0, "read": 7.0, "write": 7.0, "pool": 7.0} == asked.extensions["timeout"]


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_packed(pack: Callable[[bytes], bytes]) -> None:
    """A packed answer is unpacked, whichever of the two ways it was packed in."""
    sent = told(content=pack(b'{"a":1}'), content_encoding="gzip").send(get())
    assert b'{"a":1}' == sent.wire.body


def raw(data: bytes) -> bytes:
    """Compress without a header, as many servers do for `deflate`."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def parts(data: bytes) -> bytes:
    """Compress each byte as a part of gzip of its own."""
    return b"".join(gzip.compress(data[at : at + 1]) for at in range(len(data)))


@for_each(
    ("pack", "coding"),
    [
        (gzip.compress, "identity, gzip"),
        (gzip.compress, "X-GZIP"),
        (parts, "gzip"),
        (raw, "deflate"),
        (zlib.compress, "identity, deflate"),
        (bytes, "identity, identity"),
    ],
)
@for_each("size", [1, 7, 4096])
def test_unusual_packings(pack: Callable[[bytes], bytes], coding: str, size: int) -> None:
    """Parts, deflate without its header and `identity` are correct; so is any division in chunks."""
    body = b'{"accounts": [1, 2, 3]}'
    data = pack(body)
    if coding_of(coding):
        decompressor = Decompressor(coding=coding_of(coding))
        chunks = (data[at : at + size] for at in range(0, len(data), size))
        assert body == b"".join(decompressor.feed(chunk, MAX_BODY) for chunk in chunks)
    sent = told(content=data, content_encoding=coding).send(get())
    assert ("", body) == (sent.trouble, sent.wire.body)
    assert (body, "") == decompress(data, coding)


def test_bomb() -> None:
    """A small packed answer of 64 MiB is unpacked to the bound, and no further on the way."""
    bomb = zlib.compress(b"0" * 2**26)
    assert len(bomb) < 2**17
    client = told(content=bomb, content_encoding="deflate")
    tracemalloc.start()
    try:
        sent = client.send(get())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (MAX_BODY, True) == (len(sent.wire.body), sent.wire.truncated)
    assert peak < 4 * MAX_BODY


@pytest.mark.parametrize(
    ("coding", "trouble"),
    [
        ("br", "the answer cannot be read: unsupported content coding: br"),
        ("gzip, gzip", "the answer cannot be read: unsupported content coding: gzip, gzip"),
        ("gzip", "the answer cannot be read: broken gzip content: "),
    ],
)
def test_unreadable(coding: str, trouble: str) -> None:
    """What cannot be unpacked is trouble on the way, and packed twice cannot be."""
    sent = told(content=b"no gzip at all", content_encoding=coding).send(get())
    assert sent.trouble.startswith(trouble)
    assert 0 == sent.wire.status


def test_redirects_stay() -> None:
    """A redirection is an answer like any other; nobody goes there."""
    one = told(302, location="https://elsewhere.example/")
    assert 302 == one.send(get()).wire.status
    assert 1 == len(one.transport.seen)


@for_each(
    "url",
    [
        "https://elsewhere.example/accounts",
        "https://bank.example.evil.example/v1/accounts",
        "https://bank.example:8443/v1/accounts",
        "http://bank.example/v1/accounts",
        "https://bank.example@evil.example/v1",
        "https://somebody@bank.example/v1",
        "//elsewhere.example/x",
        "ftp://bank.example/v1",
        "javascript:alert(1)",
        "invalid://http://[",
        "/accounts",
        "",
    ],
)
def test_other_hosts(url: str) -> None:
    """A link to anywhere else is not followed: not another host, port or scheme."""
    client = told()
    sent = client.send(get(url, ("Authorization", "Bearer secret")))
    assert ("links to other hosts are not followed", 0) == (sent.trouble, sent.wire.status)
    assert not sent.sent
    assert [] == client.transport.seen
    assert client.reached is False


@pytest.mark.parametrize("url", ["HTTPS://BANK.example/v1/x", "https://bank.example:443/v1/x"])
def test_the_same_host_in_other_words(url: str) -> None:
    """Upper case and the usual port are the same host."""
    assert "" == told().send(get(url)).trouble


@for_each(
    "url",
    [
        "https://[",
        "https://bank.example/\x00",
        "https://bank.example/\n",
        "https://bank.example:99999999/",
        "https://bank.example/\ud800",
        "https://bank.example/" + "9" * 70_000,
    ],
)
def test_no_url(url: str) -> None:
    """What is no URL at all is trouble with the link, and stops nothing."""
    one = told()
    assert one.send(get(url)).trouble.startswith(("not a valid URL", "links to other"))
    assert [] == one.transport.seen


@pytest.mark.parametrize("value", ["Bearer a\nb", "Bearer a ", "Bearer \u00e9", "Bearer \x00"])
def test_headers_that_cannot_be(value: str) -> None:
    """A header that cannot be sent is named, and its value is not told."""
    client = told()
    sent = client.send(get(f"{BASE}/accounts", ("Authorization", value)))
    assert "the header Authorization has a value that cannot be sent" == sent.trouble
    assert [] == client.transport.seen


def test_no_cookies() -> None:
    """A cookie that came with one answer does not travel with the next call."""
    client = told(set_cookie="session=alice; Path=/")
    client.send(get())
    client.send(get())
    client.control("GET", "/", None)
    assert [None] * 3 == [asked.headers.get("cookie") for asked in client.transport.seen]


def raising(error: Exception) -> Callable[[httpx.Request], httpx.Response]:
    def answer(_: httpx.Request) -> httpx.Response:
        raise error

    return answer


@pytest.mark.parametrize("error", [httpx.ConnectError("refused"), httpx.ConnectTimeout("slow")])
def test_never_reached(error: Exception) -> None:
    """Where nobody ever answered, nobody to connect to is no verdict but an error."""
    with pytest.raises(TargetError, match="cannot connect"):
        client(raising(error)).send(get())


def test_gone() -> None:
    """Where somebody did answer before, it is trouble with this one call."""
    client = told()
    client.send(get())
    client.transport.answer = raising(httpx.ConnectError("refused"))
    assert "cannot connect (refused)" == client.send(get()).trouble


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (httpx.ReadTimeout("slow"), "no complete answer within 10.0 s"),
        (httpx.RemoteProtocolError("bad"), "the connection broke (RemoteProtocolError: bad)"),
        (httpx.ReadError("x" * 999), f"the connection broke (ReadError: {'x' * 200})"),
    ],
)
def test_trouble(error: Exception, trouble: str) -> None:
    """Whatever breaks on the way is told in one bounded line, and nothing is tried again."""
    one = client(raising(error))
    assert trouble == one.send(get()).trouble
    assert 1 == len(one.transport.seen)


def test_control() -> None:
    """The control API gets JSON and its key, at its own address where it has one."""
    client = told(201, b'{"fixtures": "w1"}')
    client.control_url, client.control_key = "https://control.example/", "key"
    assert (201, {"fixtures": "w1"}) == client.control("POST", "/worlds", {"seed": 0})
    (asked,) = client.transport.seen
    assert "https://control.example/assay-control/1/worlds" == str(asked.url)
    assert ("key", {"seed": 0}) == (asked.headers["assay-control-key"], json.loads(asked.content))
    assert client.reached is True


def test_control_says_nothing() -> None:
    """An empty answer is an empty object."""
    assert (204, {}) == told(204, b"").control("DELETE", "/worlds/w1", None)


@pytest.mark.parametrize(
    "content",
    [b"<html>", b"{", b"\xff\xfe", b'{"now": NaN}', b"[" * 100_000],
)
def test_control_is_no_json(content: bytes) -> None:
    """Whoever speaks no JSON there speaks no assay-control, and was not reached."""
    client = told(200, content)
    with pytest.raises(TargetError, match="without JSON; is this an assay-control/1 API"):
        client.control("POST", "/worlds", {})
    assert client.reached is False


def test_control_answer_too_large() -> None:
    """An answer over the limit is no answer, and its beginning is not parsed."""
    with pytest.raises(TargetError, match="/worlds: the answer is larger than 4194304 bytes"):
        told(200, b" " * (MAX_BODY + 10) + b"{}").control("POST", "/worlds", {})


def test_control_refuses() -> None:
    """An orderly refusal is told as it is, and is not yet a target that was reached."""
    one = told(404, b'{"message": "no such method"}')
    assert (404, {"message": "no such method"}) == one.control("POST", "/worlds", {})
    assert one.reached is False


def test_control_is_not_there() -> None:
    """Nobody at the control API's address is an error with that address."""
    with pytest.raises(TargetError, match=r"https://bank.example/v1/assay-control/1/worlds: canno"):
        client(raising(httpx.ConnectError("refused"))).control("POST", "/worlds", {})
