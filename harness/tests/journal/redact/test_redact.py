"""Redaction: what is found, its pseudonyms, and its cost."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import UTC, datetime

import pytest
from rows import for_each

from assay.binding.wire.encode import Access
from assay.history import Item, Owned, Subject, Wire
from assay.journal.redact import MOST_BODY, MOST_HEADERS, Redactor
from assay.rules.text_shape import TextShape

NOW = datetime(2026, 9, 16, tzinfo=UTC)
IBAN = "FR7630001007941234567890185"
CARD = "ab/c+dEF==0123456789"


def knowing(*keys: str, **access: str) -> Redactor:
    """Make a redactor that has met one customer."""
    redactor = Redactor()
    owns = tuple(Owned(key=key, resource="account") for key in keys)
    redactor.learn(Subject(name="psu", now=NOW, owns=owns), Access(**access))
    return redactor


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "x{}x",
        "https://bank.example/accounts/{}/transactions",
        '{{"iban":"{}"}}',
        "%2F{}%2F",
    ],
)
def test_everywhere(text: str) -> None:
    """A known value is masked anywhere, also within a word."""
    assert text.format("<account-1>") == knowing("zz-key").text(text.format("zz-key"))


def test_the_value_of_a_hidden_header() -> None:
    """What a journal hides in a header is masked wherever it is quoted; plain words are not."""
    redactor = Redactor(public=frozenset({"SEPA"}))
    wire = Wire(
        method="GET",
        url="https://bank.example/",
        request_headers=(
            ("X-Idempotency", "key-4711"),
            ("X-Product", "SEPA"),
            ("X-Since", "2026-09-16"),
            ("Authorization", "Basic dXNlcjpwYXNz"),
            ("Accept-Encoding", "gzip, deflate"),
            ("X-Old", "<hidden>"),
            *(("X-Form", value) for value in TextShape(pattern="^[0-9]{4}$").misfits()),
        ),
        headers=(("ETag", 'W/"4f-7"'), ("Connection", "keep-alive"), ("X-Last", "true")),
    )
    redactor.learn_headers(wire)
    said = 'it was "key-4711" (W/"4f-7"), not dXNlcjpwYXNz'
    assert 'it was "<header-1>" (<header-3>), not <header-2>' == redactor.text(said)
    plain = "SEPA since 2026-09-16: keep-alive, true, gzip, deflate, Basic, <hidden>"
    assert plain == redactor.text(plain)
    command = "assay run --target bank.yaml"
    assert command == redactor.text(command)


@pytest.mark.parametrize(
    "spelt",
    [
        CARD,
        "ab%2Fc%2BdEF%3D%3D0123456789",
        "ab/c%2BdEF%3D%3D0123456789",
        "ab\\/c+dEF==0123456789",
    ],
)
def test_spellings(spelt: str) -> None:
    """Other spellings of a value have the same pseudonym."""
    assert "see <account-1>." == knowing(CARD).text(f"see {spelt}.")


@for_each(
    "text",
    [
        "login-7",
        "pass word",
        "pass%20word",
        "pass+word",
        b64encode(b"login-7:pass word").decode(),
        b64encode(b"login-7:pass word").decode().rstrip("="),
        b64encode(b"pass word").decode(),
        "Z\\u00e9lie Fictif",
        "Z\u00e9lie Fictif",
        "Z%C3%A9lie%20Fictif",
    ],
)
def test_credentials(text: str) -> None:
    """Login, password, their Basic pair and the customer's name are masked in every spelling."""
    redactor = knowing(login="login-7", password="pass word", name="Z\u00e9lie Fictif")
    masked = redactor.text(f"[{text}]")
    assert masked.startswith("[<")
    assert masked.endswith(">]")


@for_each(
    "text",
    [
        IBAN,
        IBAN.lower(),
        "FR76 3000 1007 9412 3456 7890 185",
        "FR76%203000%201007%209412%203456%207890%20185",
        "fr76%203000%201007%209412%203456%207890%20185",
        "GB82WEST12345698765432",
        "4970101234567890",
        "4970 1012 3456 7890",
        "4970-1012-3456-7890",
        "4970%201012%203456%207890",
        f"%2F{IBAN}",
        f"id_{IBAN}",
    ],
)
def test_texts_that_look_private(text: str) -> None:
    """Texts that look like an IBAN or a card number are masked, even if they are unknown."""
    masked = Redactor().text(f"a {text} b")
    assert "<number-1> b" == masked[-12:]
    assert not set("0123456789") & set(masked.replace("<number-1>", "").replace("%2F", ""))


@pytest.mark.parametrize(
    "text",
    ["2026-09-16T10:00:00+02:00", "aisp/batch-quota/next-day", "status 404", "T0001000001", "EUR"],
)
def test_other_texts_stay(text: str) -> None:
    """Dates, codes and short numbers are not masked."""
    assert text == knowing(IBAN).text(text)


def test_one_name_for_all_spellings_of_a_number() -> None:
    """A number has one pseudonym in any grouping and case; two numbers have two."""
    grouped = "FR76 3000 1007 9412 3456 7890 185"
    quoted = grouped.replace(" ", "%20")
    text = Redactor().text(f"{IBAN} | {grouped} | {quoted} | {IBAN.lower()} | 4970101234567890")
    assert "<number-1> | <number-1> | <number-1> | <number-1> | <number-2>" == text


def test_pseudonyms_are_stable() -> None:
    """A value keeps its pseudonym in all trials, also from before it was known as private."""
    redactor = Redactor()
    assert "<number-1>" == redactor.text(IBAN)
    redactor.learn(
        Subject(name="psu", now=NOW, owns=(Owned(key=IBAN, resource="account"),)), Access()
    )
    redactor.begin()
    assert ("<number-1>", "<number-1>") == (redactor.text(IBAN), redactor.name(IBAN, "account"))


@pytest.mark.parametrize(
    "text", ["tok-abc", "Bearer tok-abc", "/accounts/tok-abc/x", "sorry, tok-abc.", '"tok-abc"']
)
def test_earlier_customers(text: str) -> None:
    """Values of a customer of an earlier trial are masked as whole words."""
    redactor = knowing(token="tok-abc")
    redactor.begin()
    assert text.replace("tok-abc", "<token-1>") == redactor.text(text)


@pytest.mark.parametrize("key", ["", "a", "404"])
def test_very_short_keys(key: str) -> None:
    """A very short key is not searched for, because it would occur everywhere."""
    assert "a 404 answer" == knowing(key).text("a 404 answer")


@for_each(
    "member",
    [
        '"PsuIdentity":"Camille Fictif"',
        '"psuName" : "Camille \\"Fictif\\""',
        '"owner":["Camille","Fictif"]',
        '"address":{"street":"Camille Fictif"}',
        '"phone":33612345678',
        '"remittanceInformation":"Camille Fictif, cut of',
        '"label":"Camille \\',
    ],
)
def test_private_members(member: str) -> None:
    """The value of a member with a private name is masked, also if it is cut off."""
    body, _ = Redactor().body(f'{{"status":"ok",{member}'.encode())
    assert '{"status":"ok",' == body[:15]
    assert body.endswith('"<private>"')
    assert not {"Camille", "Fictif", "33612345678"} & set(body.replace('"', " ").split())


@for_each("offset", range(-30, 31, 3))
def test_cut_in_two(offset: int) -> None:
    """No part of a private value is left at the end of a cut body, even if masking shortens it."""
    token = "secret-" + "0aZ" * 300
    redactor = knowing(IBAN, token=token)
    many = (IBAN + " ") * 20 + "x" * (MOST_BODY + offset)
    for body in (many + token * 40, many + (IBAN + " ") * 2000, token * 200):
        text, cut = redactor.body(body.encode())
        assert cut is True
        assert len(text) <= MOST_BODY
        assert "0aZ0aZ" not in text
        assert "FR76" not in text
        assert "secret-" not in text


def test_a_bounded_text() -> None:
    """The same holds for URLs and sentences."""
    redactor = knowing(IBAN)
    for most in range(20, 60):
        masked = redactor.bounded(f"{IBAN} " * 1000, most)
        assert len(masked) <= most
        assert "FR" not in masked


def test_headers() -> None:
    """Header names are written, and the values of a few harmless ones."""
    masked = knowing(IBAN).headers(
        [
            ("Authorization", "Bearer x"),
            ("Content-Type", "application/json"),
            ("X-Request-Id", f"for {IBAN}"),
            (f"X-{IBAN}", "1"),
            ("Set-Cookie", "a=b"),
        ]
    )
    assert [
        ["authorization", "<hidden>"],
        ["content-type", "application/json"],
        ["x-request-id", "for <account-1>"],
        ["x-<account-1>", "<hidden>"],
        ["set-cookie", "<hidden>"],
    ] == masked


def test_huge_headers() -> None:
    """Headers are bounded in number, name and value."""
    masked = Redactor().headers([("Server" + "r" * 9999, "1"), ("Server", "x" * 9999)] * 5000)
    assert MOST_HEADERS == len(masked)
    assert (128, 256) == (len(masked[0][0]), len(masked[1][1]))


def test_a_body_that_is_not_text() -> None:
    """A body that is not UTF-8 is written as far as it can be decoded."""
    body, cut = Redactor().body(b"\xff\xfe\x00" + IBAN.encode())
    assert ("\ufffd\ufffd\0<number-1>", False) == (body, cut)


def test_many_numbers() -> None:
    """Unknown numbers are not searched for individually, so many of them cost little."""
    redactor = knowing(IBAN)
    for n in range(50):
        redactor.body(" ".join(f"{n:08d}{m:08d}" for m in range(400)).encode())
    assert len(redactor.known) < 10


def test_the_wire() -> None:
    """A whole exchange is redacted, and marked if anything was cut."""
    wire = Wire(
        method="PUT",
        url=f"https://bank.example/accounts?iban={IBAN}",
        request_body=json.dumps({"accounts": [IBAN]}).encode(),
        status=201,
        body=b"{}",
        truncated=True,
    )
    written = knowing(IBAN).wire(wire)
    assert "https://bank.example/accounts?iban=<account-1>" == written["request"]["url"]
    assert '{"accounts": ["<account-1>"]}' == written["request"]["body"]
    assert (201, "{}", True) == tuple(
        written["response"][name] for name in ("status", "body", "truncated")
    )


@pytest.mark.parametrize("order", [("abcd-1234-wxyz", "1234"), ("1234", "abcd-1234-wxyz")])
def test_the_longer_of_two_overlapping_values_is_found_first(order):
    """Of two values that overlap, the longer one is masked, in any order of learning."""
    redactor = Redactor()
    for value in order:
        redactor.name(value, "key")
        redactor.text("something in between")
    masked = redactor.text("x abcd-1234-wxyz y 1234 z")
    names = {value: redactor.name(value, "key") for value in order}
    assert f"x {names['abcd-1234-wxyz']} y {names['1234']} z" == masked


def test_many_values_are_all_found():
    """The first and the last of many values are masked."""
    redactor = Redactor()
    values = [f"value-{n:04d}-end" for n in range(300)]
    for value in values:
        name = redactor.name(value, "key")
        assert f"a{name}b" == redactor.text(f"a{value}b")
    assert not any(value in redactor.text(" ".join(values)) for value in values)


@for_each(
    ("key", "text"),
    [
        ("20-00-00 12345678", "20-00-00 12345678"),
        ("20-00-00 12345678", "20000012345678"),
        ("20-00-00 12345678", "no. 12345678 of 20-00-00"),
        ("20000012345678", "20-00-00 12345678"),
        ("20000012345678", "200000-12345678"),
        ("20-00-00 12345678", "/accounts/20-00-00%2012345678/entries?a=20-00-00+12345678"),
        ("20-00-00 12345678", b64encode(b"account=20-00-00 12345678").decode()),
        ("20-00-00 12345678", '{\\"account\\":\\"20-00-00\\u002012345678\\"}'),
    ],
)
def test_an_account_number_without_a_check_digit(key: str, text: str) -> None:
    """It is masked however it is grouped and encoded; a date and another number are not."""
    redactor = knowing(key)
    masked = redactor.text(text)
    assert "<account-1>" in masked
    assert "12345678" not in masked
    other = "2026-11-28 20-00-00 87654321 200000"
    assert other == redactor.text(other)


def test_the_keys_of_a_list() -> None:
    """What a list shows is private although no fixture names it; words of the contract are not."""
    redactor = Redactor(public=frozenset({"savings"}))
    keys = ("40-11-22 11112222", "savings", "9876543210", None)
    redactor.learn_keys(Item(key=key, resource="account") for key in keys)
    text = "https://bank.example/accounts/40-11-22%2011112222?kind=savings&to=9876543210"
    masked = redactor.link(text)
    assert "https://bank.example/accounts/<account-1>?kind=savings&to=<account-2>" == masked
