"""Lines of a journal: every event can be written, and nothing private is in them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO, StringIO
from typing import Any

from rows import for_each

from assay.binding.wire.encode import Access
from assay.history import (
    Advanced,
    Call,
    Cause,
    Event,
    Exchange,
    Indeterminate,
    Owned,
    Subject,
    Token,
    Wire,
)
from assay.journal.lines import encode_line, parse, raw_lines
from assay.journal.writer import Journal
from assay.rules.verdict import Agreement, Evidence, Standing, Verdict

NOW = datetime(2026, 9, 16, tzinfo=UTC)
IBAN = "FR7630001007941234567890185"
PSU = Subject(
    name="psu",
    now=NOW,
    owns=(Owned(key=IBAN, resource="account", traits={"last-used": IBAN, "savings": True}),),
)


class Sheet(StringIO):
    """A file in memory that can still be read when it is closed."""

    def close(self) -> None:
        """Stay open."""


def written(*events: Event) -> list[dict[str, Any]]:
    sheet = Sheet()
    journal = Journal(out=sheet)
    for event in events:
        journal.event("a/b#c", event, Access(token="tok-123"))
    return [without_place(json.loads(line)) for line in sheet.getvalue().splitlines()]


def without_place(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line without its place in the chain, which has tests of its own."""
    assert line.pop("chain")
    return line


def exchange(why: str = "", **wire: Any) -> Exchange:
    return Exchange(
        n=1,
        at=NOW,
        call=Call(operation="accounts", subject="psu", variation=f"without {IBAN}"),
        outcome=Indeterminate(cause=Cause.SERVER, why=why),
        wire=Wire(method="GET", **{"url": "https://bank.example/", **wire}),
    )


def test_a_subject() -> None:
    """A subject's things are written with their pseudonyms, also within their states."""
    (line,) = written(PSU)
    assert {
        "type": "subject",
        "trial": "a/b#c",
        "name": "psu",
        "now": "2026-09-16T00:00:00+00:00",
        "owns": [
            {
                "resource": "account",
                "key": "<account-1>",
                "traits": {"last-used": "<account-1>", "savings": True},
            }
        ],
    } == line


def test_an_exchange() -> None:
    """Reasons, variations, URLs and bodies of an exchange are masked."""
    _, _, line = written(
        PSU, Advanced(now=NOW), exchange(f"no {IBAN} for tok-123", url=f"https://b/{IBAN}")
    )
    assert "without <account-1>" == line["variation"]
    assert {"kind": "indeterminate", "why": "no <account-1> for <token-1>"} == line["outcome"]
    assert "https://b/<account-1>" == line["request"]["url"]


@for_each(
    "body",
    [
        b"\x00\x01\x02",
        b"\xff\xfe\xed\xa0\x80",
        "\u2028\u2029\u0085 \x0b\x0c".encode(),
        b'{"a": "line\nbreak"}\r\n',
        b'"\\ud800"',
        b"<script>alert(1)</script>",
        b"x" * 5_000_000,
    ],
)
def test_hostile_bodies(body: bytes) -> None:
    """Any body of a target is bounded, on one line of JSON."""
    sheet = Sheet()
    Journal(out=sheet).event("a/b#c", exchange(body=body), Access())
    assert 1 == sheet.getvalue().count("\n")
    assert len(json.loads(sheet.getvalue())["response"]["body"]) <= 4096


def test_lone_surrogates() -> None:
    """A text that is not valid Unicode is in the journal as it is, and different texts differ."""
    (line,) = written(exchange(why="\ud800 and \udfff"))
    assert "\ud800 and \udfff" == line["outcome"]["why"]


class Odd:
    """A value that JSON does not have."""

    def __str__(self) -> str:
        return "odd \ud800"


@for_each(
    ("value", "read"),
    [
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (1e308 * 10, "inf"),
        (10**640 - 1, 10**640 - 1),
        ([10**5000], ["1" + "0" * 5000]),
        ([-(10**5000)], ["-1" + "0" * 5000]),
        ({"a": [float("nan"), {"b": (10**5000,)}]}, {"a": ["nan", {"b": ["1" + "0" * 5000]}]}),
        ({"\ud800": "\ud800"}, {"\ud800": "\ud800"}),
        (Odd(), "odd \ud800"),
        (True, True),
        ("\u2028\x00\u0085", "\u2028\x00\u0085"),
    ],
)
def test_every_line_can_be_read_back(value: object, read: object) -> None:
    """Whatever is in a line, it is one line, and has what it had."""
    raw = encode_line({"type": "fault", "what": value})
    assert [(1, raw)] == [*raw_lines(BytesIO(raw), "j")]
    assert {"type": "fault", "what": read} == parse("j", 1, raw).values


def test_the_digest() -> None:
    """The footer has the digest of all the bytes before it, and is the last line."""
    sheet = Sheet()
    journal = Journal(out=sheet)
    journal.write("header", {"a": "\u00e9"})
    journal.write("plan", {"b": "\ud800"})
    journal.footer({"planned": 0})
    *before, last = sheet.getvalue().splitlines(keepends=True)
    digest = hashlib.sha256("".join(before).encode()).hexdigest()
    assert f"sha256:{digest}" == json.loads(last)["digest"]


def test_a_verdict_is_masked_and_bounded() -> None:
    """The texts of a verdict and of its evidence are masked and bounded."""
    journal = Journal(out=None)
    journal.event("a/b#c", PSU, Access(token="tok-123"))
    evidence = Evidence(
        facet="f",
        agreement=Agreement.DISAGREES,
        expected="a" * 5000,
        seen=f"'{IBAN}'",
        exchanges=(1,),
        variation="with tok-123",
        pointer=f"/accounts/{IBAN}/tok-123",
    )
    verdict = Verdict(
        obligation="a/b/f", standing=Standing.VIOLATES, reason=f"not {IBAN}", evidence=(evidence,)
    )
    clean = journal.clean(verdict)
    (item,) = clean.evidence
    assert "/accounts/<account-1>/<token-1>" == item.pointer
    assert ("not <account-1>", "'<account-1>'", "with <token-1>", 1000) == (
        clean.reason,
        item.seen,
        item.variation,
        len(item.expected),
    )


def test_places_of_members() -> None:
    """The pointer or header that decides is on the line of a verdict, only where there is one."""
    lines = []
    for place in ({}, {"pointer": "/a/0"}, {"header": "Location"}):
        evidence = Evidence(
            facet="f",
            agreement=Agreement.DISAGREES,
            expected="a",
            seen="b",
            exchanges=(1,),
            **place,
        )
        sheet = Sheet()
        verdict = Verdict(obligation="a/b/f", standing=Standing.VIOLATES, evidence=(evidence,))
        Journal(out=sheet).verdict(verdict, "assay run")
        lines.append(json.loads(sheet.getvalue())["evidence"][0])
    plain, *others = lines
    assert {"agreement", "expected", "seen", "variation", "exchanges"} == plain.keys()
    assert [{**plain, "pointer": "/a/0"}, {**plain, "header": "Location"}] == others


def test_the_value_of_a_hidden_header_is_masked_where_it_is_quoted() -> None:
    """What a journal hides in a header stands in clear neither in arguments nor in evidence."""
    asked = exchange(request_headers=(("X-Key", "key-4711"),))
    call = replace(asked.call, arguments={"key": "key-4711"})
    asked = replace(asked, call=call)
    sheet = Sheet()
    journal = Journal(out=sheet)
    journal.event("a/b#c", asked, Access())
    assert "key-4711" not in sheet.getvalue()
    evidence = Evidence(
        facet="f",
        agreement=Agreement.AGREES,
        expected="X-Key: key-4711",
        seen="'key-4711'",
        exchanges=(1,),
    )
    verdict = Verdict(obligation="a/b/f", standing=Standing.CONFORMS, evidence=(evidence,))
    (clean,) = journal.clean(verdict).evidence
    assert ("X-Key: <header-1>", "'<header-1>'") == (clean.expected, clean.seen)


def test_an_altered_token_is_masked_where_a_bank_repeats_it() -> None:
    """A token with another ending shows nearly all of the one that was issued."""
    told = exchange(body=b'{"unknown": "secret-token-00"}')
    altered = replace(told, call=replace(told.call, bearer=Token.ENDING))
    sheet = Sheet()
    Journal(out=sheet).event("a/b#c", altered, Access(token="secret-token-99"))
    assert "secret-token" not in sheet.getvalue()


def test_no_file() -> None:
    """Without a file nothing is written, and nothing fails."""
    journal = Journal(out=None)
    journal.write("header", {})
    journal.event("a/b#c", exchange(), Access())
    journal.verdict(Verdict(obligation="a/b/c", standing=Standing.CONFORMS), "assay run")
    journal.footer({})
