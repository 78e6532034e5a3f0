"""The behaviours of hostile banks, each a few lines on a raw socket."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

from support.hostile import Act, Answer, Behaviour, Peer

__all__ = ["BEHAVIOURS"]

MEGABYTE = 1024 * 1024
#: An answer that no request asked for.
STRANGE = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n"
SOUND_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


def sends(make: Callable[[Answer], bytes], *, keep: bool = False) -> Act:
    """Send these bytes, and close the connection unless it is kept."""

    def act(peer: Peer, answer: Answer) -> bool:
        peer.send(make(answer))
        return keep

    return Act(act)


def drips(
    make: Callable[[Answer], bytes], before: Callable[[Answer], bytes] = lambda _: b""
) -> Act:
    """Send something, and then these bytes one by one."""

    def act(peer: Peer, answer: Answer) -> None:
        peer.send(before(answer))
        peer.drip(make(answer))

    return Act(act, waits=True)


def floods(data: bytes, before: Callable[[Answer], bytes] = lambda _: b"") -> Act:
    """Send something, and then the same bytes for ever."""

    def act(peer: Peer, answer: Answer) -> None:
        peer.send(before(answer))
        peer.flood(data)

    return Act(act, waits=True)


def silent(peer: Peer, _: Answer) -> None:
    """Never answer."""
    peer.silence()


def reset(peer: Peer, answer: Answer) -> None:
    """Reset the connection in the middle of the body."""
    peer.send(answer.bytes()[:-5])
    peer.reset()


def stall(peer: Peer, answer: Answer) -> None:
    """Stop in the middle of the body, and keep the connection."""
    peer.send(answer.bytes()[:-5])
    peer.silence()


def interim_dripped(peer: Peer, _: Answer) -> None:
    """Send one interim answer after the other, slowly."""
    peer.drip_forever(INTERIM)


def body_of(make: Callable[[], bytes], kind: bytes = b"application/json", *lines: bytes) -> Act:
    """Answer 200 with a body that is made when it is sent, correctly framed."""
    head = b"\r\n".join([b"HTTP/1.1 200 OK", b"content-type: " + kind, *lines])

    def framed(_: Answer) -> bytes:
        content = make()
        return head + b"\r\ncontent-length: %d\r\n\r\n" % len(content) + content

    return sends(framed, keep=True)


def page(make: Callable[[], bytes]) -> Act:
    """Show a page."""
    return body_of(make, b"text/html; charset=utf-8")


def coded(coding: bytes, pack: Callable[[bytes], bytes]) -> Act:
    """Send the sound body in a content coding."""
    line = b"content-encoding: " + coding
    return sends(lambda answer: answer.bytes(line, body=pack(answer.body)), keep=True)


def redirect(location: Callable[[Answer], bytes]) -> Act:
    """Redirect."""
    head = b"HTTP/1.1 302 Found\r\ncontent-length: 0\r\nlocation: "
    return sends(lambda answer: head + location(answer) + b"\r\n\r\n", keep=True)


def member(name: str, value: Any) -> Act:
    """Replace one member of the sound JSON answer; `now` and so on."""

    def make(answer: Answer) -> bytes:
        return answer.bytes(body=json.dumps({**json.loads(answer.body), name: value}).encode())

    return sends(make, keep=True)


def holdings(number: int) -> Act:
    """Say that the customer owns this many accounts more."""

    def make(answer: Answer) -> bytes:
        content = json.loads(answer.body)
        extra = [{"resource": "account", "key": f"{n}", "traits": {}} for n in range(number)]
        content["holdings"] += extra
        return answer.bytes(body=json.dumps(content).encode())

    return sends(make, keep=True)


def gzip_bomb(size: int) -> bytes:
    """Return spaces of this size, compressed: one block, repeated; its checksum is wrong."""
    packer, piece = zlib.compressobj(9, wbits=31), b" " * MEGABYTE
    first, second = (packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + second * (size // MEGABYTE - 1) + packer.flush()


def bomb(kind: bytes = b"application/json") -> Act:
    """Answer with a body of 256 MB that is 256 kB on the wire."""
    return body_of(lambda: gzip_bomb(256 * MEGABYTE), kind, b"content-encoding: gzip")


def form(*fields: bytes) -> bytes:
    """Return a page with a login form and these further fields."""
    own = b"<input name=login><input name=password type=password>"
    return b"<html><form method=post>" + own + b"".join(fields) + b"</form></html>"


STATUS_LINE = {
    "status line dripped": drips(lambda answer: b"HTTP/1.1 200 " + b"O" * 5000),
    "no answer": Act(silent, waits=True),
    "closed without a byte": sends(lambda _: b""),
    "closed in the status line": sends(lambda _: b"HTTP/1.1 2"),
    "no status line": sends(lambda answer: answer.body),
    "status line of garbage": sends(lambda _: b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"),
    "status line of 200 kB": sends(lambda _: b"HTTP/1.1 200 " + b"O" * 200_000 + b"\r\n\r\n"),
    "status line with NUL": sends(lambda _: b"HTTP/1.1 200 \0\r\ncontent-length: 2\r\n\r\n{}"),
    "status without digits": sends(lambda _: b"HTTP/1.1 abc OK\r\n\r\n"),
    "status 000": sends(lambda _: b"HTTP/1.1 000 OK\r\ncontent-length: 2\r\n\r\n{}"),
    "status 999": sends(lambda _: b"HTTP/1.1 999 OK\r\ncontent-length: 2\r\n\r\n{}"),
    "status of 5 digits": sends(lambda _: b"HTTP/1.1 20000 OK\r\ncontent-length: 2\r\n\r\n{}"),
    "HTTP/9.9": sends(lambda _: b"HTTP/9.9 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
    "HTTP/2 preface": sends(lambda _: b"\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64"),
    "protocol switched (101)": sends(
        lambda _: b"HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nxxxx"
    ),
}

HEADERS = {
    "headers dripped": drips(
        lambda _: b"x-slow: " + b"a" * 5000, before=lambda _: b"HTTP/1.1 200 OK\r\n"
    ),
    "headers without end": floods(b"x-a: b\r\n" * 1000, before=lambda _: b"HTTP/1.1 200 OK\r\n"),
    "closed in the headers": sends(lambda answer: answer.bytes()[:40]),
    "header of 2 MB": sends(lambda answer: answer.bytes(b"x-a: " + b"b" * 2 * MEGABYTE)),
    "20,000 headers": sends(lambda answer: answer.bytes(*(b"x-%d: b" % n for n in range(20_000)))),
    "header with NUL": sends(lambda answer: answer.bytes(b"x-a: a\0b")),
    "header without colon": sends(lambda answer: answer.bytes(b"x-a b")),
    "header without name": sends(lambda answer: answer.bytes(b": b")),
    "header with a bare CR": sends(lambda answer: answer.bytes(b"x-a: a\rx-b: c")),
    "space before the colon": sends(lambda answer: answer.bytes(b"x-a : b")),
}

HARMLESS_HEADERS = {
    "header continued on the next line": sends(
        lambda answer: answer.bytes(b"x-a: b\r\n c"), keep=True
    ),
    "header of bytes over 127": sends(
        lambda answer: answer.bytes(b"x-a: " + bytes(range(128, 256))), keep=True
    ),
    "1,000 cookies": sends(
        lambda answer: answer.bytes(*(b"set-cookie: c%d=v" % n for n in range(1000))), keep=True
    ),
}

INTERIMS = {
    "interim answers dripped": Act(interim_dripped, waits=True),
    "flood of interim answers": floods(INTERIM * 1000),
    "flood of large interim answers": floods(
        b"HTTP/1.1 103 Early Hints\r\nlink: " + b"x" * 60_000 + b"\r\n\r\n"
    ),
}

HARMLESS_INTERIMS = {
    "ten interim answers": sends(lambda answer: INTERIM * 10 + answer.bytes(), keep=True),
}

LENGTHS = {
    "length too long, then closed": sends(
        lambda answer: answer.bytes(b"content-length: 99999", without=("content-length",))
    ),
    "length negative": sends(
        lambda answer: answer.bytes(b"content-length: -1", without=("content-length",))
    ),
    "length in words": sends(
        lambda answer: answer.bytes(b"content-length: two", without=("content-length",))
    ),
    "two lengths": sends(lambda answer: answer.bytes(b"content-length: 3")),
    "length of 30 digits": sends(
        lambda answer: answer.bytes(b"content-length: " + b"9" * 30, without=("content-length",))
    ),
    "closed in the body": sends(lambda answer: answer.bytes()[:-5]),
    "reset in the body": Act(reset),
    "stalled in the body": Act(stall, waits=True),
    "body dripped": drips(
        lambda _: b" " * 5000, before=lambda _: SOUND_HEAD + b"content-length: 5000\r\n\r\n"
    ),
    "body without end": floods(b" " * 65536, before=lambda _: SOUND_HEAD + b"\r\n"),
}

CHUNKS = {
    "chunk size dripped": drips(lambda _: b"0" * 5000, before=lambda answer: answer.chunked()),
    "chunk size in words": sends(lambda answer: answer.chunked(b"two\r\n{}\r\n0\r\n\r\n")),
    "chunk size negative": sends(lambda answer: answer.chunked(b"-2\r\n{}\r\n0\r\n\r\n")),
    "chunk of 16 EB": sends(lambda answer: answer.chunked(b"F" * 15 + b"\r\n{}")),
    "chunk size of 30 digits": sends(lambda answer: answer.chunked(b"F" * 30 + b"\r\n{}")),
    "chunk extension without end": floods(
        b";a=b" * 1000, before=lambda answer: answer.chunked(b"2")
    ),
    "chunks without end": floods(b"1\r\n \r\n" * 1000, before=lambda answer: answer.chunked()),
    "no last chunk": sends(lambda answer: answer.chunked(b"2\r\n{}\r\n")),
    "trailer dripped": drips(
        lambda _: b"x-slow: " + b"a" * 5000,
        before=lambda answer: answer.chunked(b"2\r\n{}\r\n0\r\n"),
    ),
    "trailers without end": floods(
        b"x-a: b\r\n" * 1000, before=lambda answer: answer.chunked(b"2\r\n{}\r\n0\r\n")
    ),
    "unknown transfer coding": sends(
        lambda answer: answer.bytes(b"transfer-encoding: zebra", without=("content-length",))
    ),
    "chunked twice": sends(
        lambda answer: answer.bytes(
            b"transfer-encoding: chunked, chunked", without=("content-length",)
        )
    ),
}

HARMLESS_CHUNKS = {
    "a chunk for each byte": sends(
        lambda answer: answer.chunked(
            *(b"1\r\n%c\r\n" % byte for byte in answer.body), b"0\r\n\r\n"
        ),
        keep=True,
    ),
}

LEFTOVERS = {
    "two answers": sends(lambda answer: answer.bytes() + STRANGE, keep=True),
    "half of a second answer": sends(lambda answer: answer.bytes() + STRANGE[:20], keep=True),
    "megabytes after the answer": sends(
        lambda answer: answer.bytes() + b"x" * 8 * MEGABYTE, keep=True
    ),
    "empty lines after the answer": sends(lambda answer: answer.bytes() + b"\r\n\r\n", keep=True),
}

CODINGS = {
    "bomb of 256 MB by gzip": bomb(),
    "cut gzip": coded(b"gzip", lambda body: gzip.compress(body)[:20]),
    "no gzip": coded(b"gzip", lambda body: body),
    "unknown content coding": coded(b"zebra", lambda body: body),
    "compressed twice": coded(b"gzip, gzip", lambda body: gzip.compress(gzip.compress(body))),
    "gzip, then bytes without end": floods(
        b"x" * 65536,
        before=lambda answer: SOUND_HEAD + b"content-encoding: gzip\r\n\r\n" + gzip.compress(b"{}"),
    ),
    "gzip that never says anything": floods(
        b"\0\0\0\xff\xff" * 10_000,
        before=lambda answer: (
            SOUND_HEAD + b"content-encoding: deflate\r\n\r\n" + zlib.compress(b"")[:2]
        ),
    ),
}

HARMLESS_CODINGS = {
    "a sound body by gzip": coded(b"gzip", gzip.compress),
}

BODIES = {
    "body of 5 MB": body_of(lambda: b'{"a": "' + b"x" * 5 * MEGABYTE + b'"}'),
    "body of NUL": body_of(lambda: b"\0" * 1000),
    "empty lists in 4 MB": body_of(lambda: b"[" + b"[]," * (4 * MEGABYTE // 3 - 10) + b"[]]"),
    "numbers in 4 MB": body_of(lambda: b"[" + b"1.5," * (MEGABYTE - 10) + b"1]"),
    "small objects in 4 MB": body_of(
        lambda: b"[" + b",".join([b'{"a":0}'] * (4 * MEGABYTE // 8 - 10)) + b"]"
    ),
    "keys in 4 MB": body_of(lambda: b"{" + b",".join(b'"%x":1' % n for n in range(400_000)) + b"}"),
    "100,000 nested lists": body_of(lambda: b"[" * 100_000),
    "a number of 1,000,000 digits": body_of(lambda: b"[" + b"9" * MEGABYTE + b"]"),
    "body that is no UTF-8": body_of(lambda: b'{"a": "\xff\xfe"}'),
    "redirect to itself": redirect(lambda _: b"/balances"),
    "redirect to nowhere": redirect(lambda _: b"http://[::::"),
}

SCREENS = {
    "page dripped": drips(
        lambda _: b"<" * 5000,
        before=lambda _: b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n",
    ),
    "page of 3 MB of attributes": page(
        lambda: b"<form><input " + b"a " * (3 * MEGABYTE // 2) + b">"
    ),
    "page of 3 MB of attributes, no end": page(
        lambda: b"<form><input " + b"a " * (3 * MEGABYTE // 2)
    ),
    "page of 3 MB of quotes": page(lambda: b"<input a='" + b"' b='" * (3 * MEGABYTE // 5)),
    **{
        f"page of 3 MB of {sign}": page(
            lambda sign=sign: sign.encode() * (3 * MEGABYTE // len(sign))
        )
        for sign in ("<", "<a", "</", "<!", "<![", "<?", "<!--", "&")
    },
    "page of 3 MB of &#": page(lambda: b"<form><input value='" + b"&#1" * MEGABYTE + b"'>"),
    "page of 500,000 forms": page(lambda: b"<form>" * 500_000),
    "page of 100,000 fields": page(
        lambda: form(*(b"<input name=f%d>" % n for n in range(100_000)))
    ),
    "page of 200,000 options": page(lambda: form(b"<select name=s>", b"<option>x" * 200_000)),
    "page of 3 MB in a script": page(lambda: b"<script>" + b"<form>" * (MEGABYTE // 2)),
    "page of 3 MB in a title": page(lambda: b"<title>" + b"&lt;" * (3 * MEGABYTE // 4)),
    "page of NUL": page(lambda: b"\0" * MEGABYTE),
    "page that shows itself again": page(form),
    "page bomb of 256 MB by gzip": bomb(b"text/html"),
    "page redirects in a circle": redirect(lambda _: b"?again"),
    "page redirects to another host": redirect(lambda _: b"http://127.0.0.1:9/x"),
    "flood instead of a page": floods(INTERIM * 1000),
}

HARMLESS_SCREENS = {
    "page with 3,000 cookies": sends(
        lambda answer: answer.bytes(*(b"set-cookie: c%d=v" % n for n in range(3000)))
    ),
}

#: What may come in place of an answer in JSON from any server.
ANYTHING = {
    "dripped": drips(lambda answer: answer.bytes()),
    "no answer": Act(silent, waits=True),
    "closed": sends(lambda _: b""),
    "flood of interim answers": floods(INTERIM * 1000),
    "HTML": body_of(lambda: b"<html>Welcome</html>", b"text/html"),
    "null": body_of(lambda: b"null"),
    "a list": body_of(lambda: b"[]"),
    "100,000 nested lists": body_of(lambda: b"[" * 100_000),
    "NaN": body_of(lambda: b'{"now": NaN}'),
    "5 MB": body_of(lambda: b'{"a": "' + b"x" * 5 * MEGABYTE + b'"}'),
    "bomb of 256 MB by gzip": bomb(),
    "status 500": sends(lambda _: b"HTTP/1.1 500 Oops\r\ncontent-length: 2\r\n\r\n{}", keep=True),
    "redirect": redirect(lambda _: b"http://127.0.0.1:9/x"),
}
#: Of these, what is tried at a token endpoint.
TRIED_AT_TOKENS = (
    *("dripped", "no answer", "closed", "HTML", "null", "5 MB", "bomb of 256 MB by gzip"),
    *("status 500", "redirect"),
)
CONTROL = {
    **{f"control: {name}": act for name, act in ANYTHING.items()},
    "control: clock in the year 1": member("now", "0001-01-01T00:00:00+00:00"),
    "control: clock in the year 9999": member("now", "9999-12-31T23:59:59+00:00"),
    "control: clock without offset": member("now", "2026-09-16T10:00:00"),
    "control: clock of 1 MB": member("now", "9" * MEGABYTE),
    "control: token of 1 MB": member("token", "t" * MEGABYTE),
    "control: token with NUL": member("token", "t\0t"),
    "control: token with a lone surrogate": member("token", "\ud800"),
    "control: token is a list": member("token", ["t"]),
    "control: name of 1 MB": member("name", "n" * MEGABYTE),
    "control: password of 1 MB": member("password", "p" * MEGABYTE),
    "control: 100,000 accounts": holdings(100_000),
    "control: no accounts": member("holdings", []),
    "control: accounts are a text": member("holdings", "FR76"),
}

TOKENS = {
    **{f"token endpoint: {name}": ANYTHING[name] for name in TRIED_AT_TOKENS},
    "token endpoint: token of 1 MB": member("access_token", "t" * MEGABYTE),
    "token endpoint: token with a line break": member("access_token", "t\r\nx-a: b"),
    "token endpoint: token is a number": member("access_token", 7),
    "token endpoint: another type": member("token_type", "mac"),
}

HARMLESS_TOKENS = {
    "token endpoint: refresh token of 1 MB": member("refresh_token", "t" * MEGABYTE),
    "token endpoint: lifetime of 40 digits": member("expires_in", "9" * 40),
}

#: For each place: the behaviours that harm one obligation, and those that harm none.
GROUPS: list[tuple[str, str, dict[str, Act], bool]] = [
    ("api", "status line", STATUS_LINE, False),
    ("api", "headers", HEADERS, False),
    ("api", "headers", HARMLESS_HEADERS, True),
    ("api", "interim answers", INTERIMS, False),
    ("api", "interim answers", HARMLESS_INTERIMS, True),
    ("api", "lengths", LENGTHS, False),
    ("api", "chunks", CHUNKS, False),
    ("api", "chunks", HARMLESS_CHUNKS, True),
    ("api", "after the answer", LEFTOVERS, True),
    ("api", "content codings", CODINGS, False),
    ("api", "content codings", HARMLESS_CODINGS, True),
    ("api", "bodies", BODIES, False),
    ("screen", "screens", SCREENS, False),
    ("screen", "screens", HARMLESS_SCREENS, True),
    ("control", "control API", CONTROL, False),
    ("token", "token endpoint", TOKENS, False),
    ("token", "token endpoint", HARMLESS_TOKENS, True),
]

BEHAVIOURS: tuple[Behaviour, ...] = tuple(
    Behaviour(name=name, place=place, about=about, act=act, harmless=harmless)
    for place, about, acts, harmless in GROUPS
    for name, act in acts.items()
)
