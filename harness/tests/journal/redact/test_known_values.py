"""Known values in texts: every encoding, at any position, and no number inside of an id."""

import html
import json
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest
from rows import for_each

from assay.journal.redact import LIKE_A_NUMBER, is_account_or_card, known_values, squeezed
from assay.journal.redact.known_values import KnownValues, replaced

SECRET = "tok-\u00e9?9fQz/7Lm~x"


def masked(text, *values, earlier=False):
    """Mask values in a text."""
    known = KnownValues()
    for value in values or (SECRET,):
        known.add(value, "<x>")
    if earlier:
        known.begin()
    return replaced(text, known.spans(text))


ENCODED = {
    "plain": SECRET,
    "percent": quote(SECRET),
    "percent, all of it": "".join(f"%{byte:02x}" for byte in SECRET.encode()),
    "percent twice": quote(quote(SECRET, safe=""), safe=""),
    "JSON": json.dumps(SECRET)[1:-1],
    "JSON, all of it": "".join(f"\\u{ord(char):04X}" for char in SECRET),
    "JSON twice": json.dumps(json.dumps(SECRET)[1:-1])[1:-1],
    "decimal entities": "".join(f"&#{ord(char)};" for char in SECRET),
    "hexadecimal entities": "".join(f"&#x{ord(char):X};" for char in SECRET),
    "named entities": html.escape(SECRET).replace("\u00e9", "&eacute;"),
    "hex": SECRET.encode().hex(),
    "HEX": SECRET.encode().hex().upper(),
    "base64": b64encode(SECRET.encode()).decode(),
    "base64url": urlsafe_b64encode(SECRET.encode()).decode().rstrip("="),
    "base64 in percent": quote(b64encode(SECRET.encode()).decode(), safe=""),
    "base64 in JSON": b64encode(SECRET.encode()).decode().replace("/", "\\/"),
    "percent in base64": b64encode(quote(SECRET).encode()).decode(),
}


@for_each("earlier", [False, True])
@for_each("encoding", ENCODED)
def test_encodings(encoding, earlier):
    """A value is found in every encoding, and all of it is replaced."""
    assert "a [<x>] b" == masked(f"a [{ENCODED[encoding]}] b", earlier=earlier)


@for_each("earlier", [False, True])
@for_each("before", ["", "x ", "xy ", "Bearer ", "user:", "a=b&c="])
@for_each("encode", [b64encode, urlsafe_b64encode])
def test_base64_at_any_position(encode, before, earlier):
    """A value is found inside of base64, whatever stands before and behind it there."""
    for behind in ("", " ", " and more"):
        text = encode((before + SECRET + behind).encode()).decode()
        for around in (text, f"path/{text}", f"x_{text}", text.rstrip("=")):
            assert "<x>" in masked(around, earlier=earlier)


@for_each(
    ("text", "expected"),
    [
        ("code 840123.", "code <x>."),
        ('["840123",840123]', '["<x>",<x>]'),
        ("/840123/", "/<x>/"),
        ("a840123", "a840123"),
        ("8401234", "8401234"),
        ("1840123", "1840123"),
        ("840123.50", "840123.50"),
        ("c0ffee840123c0ffee", "c0ffee840123c0ffee"),
        ("ODQwMTIz", "<x>"),
        ("383430313233", "<x>"),
        ("%38%34%30%31%32%33", "<x>"),
    ],
)
def test_a_code_stands_alone(text, expected):
    """A short number is masked as a whole word, and never inside of an id or another number."""
    assert expected == masked(text, "840123")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pin 2026", "pin <x>"),
        ("2026-09-16", "2026-09-16"),
        ("16.09.2026", "16.09.2026"),
        ("20:2026", "20:2026"),
        ("1234-2026-1234", "1234-2026-1234"),
    ],
)
def test_a_short_pin_is_no_part_of_a_date(text, expected):
    """A number of four digits is not masked in dates and times, and only in its own trial."""
    assert expected == masked(text, "2026")
    assert text == masked(text, "2026", earlier=True)


def test_names_in_any_case():
    """A name is found in capitals and in small letters."""
    name = "Z\u00e9lie Fictif"
    for text in (name, name.upper(), name.lower(), name.replace(" ", "+")):
        assert "<x>" == masked(text, name)


def test_lasting_values():
    """A lasting value is found inside of words in every trial, another one as a whole word."""
    known = KnownValues()
    known.add("lasting-secret", "<a>", lasting=True)
    known.add("passing-secret", "<b>")
    known.begin()
    text = "xlasting-secretx passing-secret xpassing-secretx"
    assert "x<a>x <b> xpassing-secretx" == replaced(text, known.spans(text))


def test_only_so_many_values_are_remembered(monkeypatch):
    """Of more values than the bound, the later ones are remembered."""
    monkeypatch.setattr(known_values, "MOST_VALUES", 10)
    known = KnownValues()
    for number in range(30):
        known.add(f"value-{number:04d}-end", "<x>")
        known.begin()
    assert len(known.earlier) <= 10
    assert known.spans("value-0029-end")
    assert not known.spans("value-0001-end")


@for_each(
    ("text", "is_number"),
    [
        ("FR7630001007941234567890185", True),
        ("FR763000100794123456789018", True),
        ("gb82west12345698765432", True),
        ("4970101234567890", True),
        ("be45c0ffee1234567890ab", False),
        ("de45f0a1b2c3d4e5f60718", False),
        ("TR20260916000000000001234", True),
        ("PM20260916000000000001234", False),
        ("Ab12cdefGH34567890", False),
        ("20260916000001", False),
        ("1700000000000", False),
    ],
)
def test_account_and_card_numbers(text, is_number):
    """An account or card number is recognised; ids, digests and times that look alike are not."""
    match = LIKE_A_NUMBER.fullmatch(text)
    assert match
    number = squeezed(match[0])
    assert is_number is is_account_or_card(number, grouped=number != match[0])


@pytest.mark.parametrize(
    "text",
    [
        "12345678-1234-1234-1234-123456789012",
        "a4970101234567890",
        "4970101234567890b",
        "4970101234567890-a",
    ],
)
def test_an_id_is_no_number(text):
    """Digits of a UUID, or of a longer id, are no card number."""
    assert not any(
        is_account_or_card(squeezed(match[0]), grouped=False)
        for match in LIKE_A_NUMBER.finditer(text)
    )
