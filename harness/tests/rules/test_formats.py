"""Formats: is this an IBAN, is this a card number in clear."""

from rows import for_each

from assay.history.events import Masked
from assay.rules.formats import (
    FAULTS,
    FORMATS,
    holds_a_pan,
    iban_fault,
    is_date,
    is_iban,
    is_no_clear_pan,
    is_uuid,
    may_be_a_pan,
    pan_fault,
)
from assay.rules.text_shape import TextShape


@for_each(
    ("value", "valid"),
    [
        ("FR7630006000011234567890189", True),
        ("DE89370400440532013000", True),
        ("FR76 3000 6000 0112 3456 7890 189", True),
        ("FR7630006000011234567890188", False),
        ("FR763000600001123456789018", False),
        ("XX7630006000011234567890189", False),
        ("4111111111111111", False),
        ("", False),
        (None, False),
        (7, False),
        (["FR7630006000011234567890189"], False),
        ("\u0660" * 27, False),
        ("FR76\x00", False),
    ],
)
def test_an_iban_has_a_country_a_length_and_a_checksum(value, valid):
    """One wrong digit is enough."""
    assert valid is is_iban(value)


@for_each(
    ("value", "hidden"),
    [
        ("4111111111111111", False),
        ("4111 1111 1111 1111", False),
        ("4111-1111-1111-1111", False),
        ("378282246310005", False),
        ("4111111111111112", True),
        ("411111XXXXXX1111", False),
        ("4970 10** **** 1234", False),
        ("************1234", False),
        ("XXXXXXXXXXXXXXXX", True),
        ("911111XXXXXX1111", True),
        ("411111XXX111111", False),
        ("497010...1234", False),
        ("497010\u20261234", False),
        ("CB 4970 10** **** 1234", False),
        ("497010-1234", True),
        ("4970-1234", True),
        ("****1234", True),
        ("4f11a1e29bd01234567890123456789a", True),
        ("NDk3MDEwWFhYWFhYMTIzNA==", False),
        ("NDExMTExMTExMTExMTExMQ==", False),
        ("34313131313131313131313131313131", False),
        ("NDExMTExMTExMTExMTExMg==", True),
        ("tok_4111111111111111", True),
        ("c2VjcmV0IHRva2Vu", True),
        ("0" * 11, True),
        ("0" * 12, True),
        ("0" * 19, True),
        ("9999999999999995", True),
        ("2221000000000009", False),
        ("0" * 20, True),
        ("", False),
        (None, False),
        (4111111111111111, False),
        ("\u0664" * 16, True),
    ],
)
def test_a_card_number_in_clear_is_one_of_a_network_that_passes_luhn(value, hidden):
    """Anything else that is text may be an encrypted one, also digits that no network has."""
    assert hidden is is_no_clear_pan(value)


@for_each(
    ("value", "open_"),
    [
        ("4111111111111112", True),
        ("4111 1111 1111 1112", True),
        ("4111111111111111", False),
        ("9999999999999994", False),
        ("4111111111111112a", False),
        (None, False),
        (Masked("<card-1>", ["no-clear-pan", "may-be-a-pan"]), True),
        (Masked("<card-1>", ["no-clear-pan", "like-a-pan"]), False),
    ],
)
def test_the_digits_of_a_network_that_fail_luhn_are_left_open(value, open_):
    """A token that keeps the format of a card number looks like one that is typed wrong."""
    assert open_ is may_be_a_pan(value)


@for_each(
    ("value", "holds"),
    [
        ("tok_4111111111111111", True),
        ("card-4111-1111-1111-1111-eur", True),
        ("tok_4111111111111112", False),
        ("tok_9999999999999995", False),
        ("tok_14111111111111111111", False),
        ("card-4111-1111-1111-1111-2026", False),
        ("c2VjcmV0IHRva2Vu", False),
        (None, False),
        (Masked("<card-1>", ["no-clear-pan", "holds-a-pan"]), True),
    ],
)
def test_a_card_number_beside_other_characters_is_a_whole_run_of_digits(value, holds):
    """A longer run, which a number is only a part of, is another number."""
    assert holds is holds_a_pan(value)


GOOD = "6c1f8a52-7f0b-4c55-9a0c-1e6d3b2f9010"


@for_each(
    ("value", "valid", "fault"),
    [
        (GOOD, True, ""),
        (GOOD.upper(), True, ""),
        (GOOD[:-1], False, "35 characters"),
        (GOOD.replace("-", ""), False, "32 characters"),
        (7, False, "not a text"),
        (Masked("id-1", ["uuid"]), True, ""),
        (Masked("id-1"), False, ""),
    ],
)
def test_a_uuid_has_36_characters(value, valid, fault):
    """The usual form alone is one; what is wrong is said without the value."""
    assert valid is is_uuid(value)
    assert valid or fault == FAULTS["uuid"](value)


@for_each(
    ("value", "valid", "fault"),
    [
        ("2026-02-28", True, ""),
        ("2026-02-30", False, "no day of the calendar"),
        ("20260228", False, "not in the form YYYY-MM-DD"),
        ("2026-02-28T00:00:00Z", False, "not in the form YYYY-MM-DD"),
        ("\u0662026-02-28", False, "not in the form YYYY-MM-DD"),
        (None, False, "not a text"),
        (Masked("day-1", ["date"]), True, ""),
        (Masked("day-1"), False, ""),
    ],
)
def test_a_date_is_a_day_of_the_calendar(value, valid, fault):
    """The form and the day count."""
    assert valid is is_date(value)
    assert valid or fault == FAULTS["date"](value)


def test_the_table_names_them_all():
    """A contract's words are looked up there."""
    assert {
        "iban": is_iban,
        "no-clear-pan": is_no_clear_pan,
        "uuid": is_uuid,
        "date": is_date,
    } == FORMATS


@for_each(
    ("value", "fault"),
    [
        (
            "FR7630006000011234567890188",
            "FR, 27 characters: the check digits do not match (mod 97 is 71, not 1)",
        ),
        ("XX6712345", "XX, 9 characters: not an IBAN of this country"),
        ("4111111111111111", "16 characters, not two letters, two digits, letters and digits"),
        ("FR" + "7" * 70, "72 characters, not two letters, two digits, letters and digits"),
        (7, "not a text"),
        (Masked("<account-1>"), ""),
    ],
)
def test_a_fault_of_an_iban_is_said_without_it(value, fault):
    """Which country, how long, and what does not fit; of a masked text nothing is known."""
    assert not is_iban(value)
    assert fault == iban_fault(value)


def test_a_fault_of_a_card_number_is_said_without_it():
    """A card number in clear has this many digits; more than that is not said."""
    text = "16 digits of a payment network, with a check digit that matches"
    assert text == pan_fault("4111 1111 1111 1111")
    text = "a card number of which 10 digits stand in clear"
    assert text == pan_fault("4111 11XX XXXX 1111")
    text = (
        "16 digits of a payment network, with a check digit that matches, encoded but not encrypted"
    )
    assert text == pan_fault("NDExMTExMTExMTExMTExMQ==")
    assert FAULTS.keys() == FORMATS.keys()


@for_each("pattern", ["(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_no_pattern_takes_long(pattern):
    """Patterns that keep Python's expressions busy for ever are decided at once."""
    shape = TextShape(pattern=pattern)
    assert shape.fits("a" * 4000 + "!") is False


def test_half_a_character_matches_no_letter():
    """JSON can hold half a character, which is a character like any other to a pattern."""
    assert TextShape(pattern="^a.$").fits("a\ud800") is True
    assert TextShape(pattern="^[a-z]+$").fits("a\ud800") is False
