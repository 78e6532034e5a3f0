"""One reader, one printer and one comparer for the values of a bank."""

from decimal import Decimal

from rows import for_each

from assay.binding.model.pointer import parse_json
from assay.contract.scalars import canonical, moment_of, number_of, one_word, same_value, text_of

SAME = [
    ("2027-01-27T00:00:00Z", "2027-01-27T00:00:00.000Z"),
    ("2027-01-27T00:00:00Z", "2027-01-27T01:00:00+01:00"),
    ("2027-01-27T00:00:00Z", "2027-01-26T19:00:00-0500"),
    ("2027-01-27T00:00:00", "2027-01-27T00:00:00,0"),
    ("12.30", 12.3),
    ("12.30", Decimal("12.3")),
    ("012.300", "12.30"),
    ("0", "0.00"),
    (0, "0"),
    ("AT61 1904 3002 3457 3201", "AT611904300234573201"),
    ("at611904300234573201", "AT61 1904 3002 3457 3201"),
    (True, "true"),
    (["1.0", {"a": "2.50"}], [1, {"a": 2.5}]),
    (None, None),
]
OTHER = [
    ("2027-01-27T00:00:00Z", "2027-01-27T00:00:00+01:00"),
    ("2027-01-27T00:00:00Z", "2027-01-27T00:00:00"),
    ("2027-01-27T00:00:00Z", "2027-01-27"),
    ("12.30", "12.31"),
    ("12.30", "1_2.30"),
    ("12.30", " 12.30"),
    ("12.30", "\u0661\u0662.\u0663\u0660"),
    ("1000", "1e3"),
    ("AT62 1904 3002 3457 3201", "AT621904300234573201"),
    ("RE12 paid in May 2026", "RE12paidinMay2026"),
    ("Tea", "tea"),
    (True, 1),
    (False, "0"),
    (None, ""),
    ("", "0"),
]


@for_each(("one", "other"), SAME)
def test_values_that_mean_the_same_are_one_value(one, other):
    """An instant, a number, an IBAN in groups, a truth value: their spelling does not matter."""
    assert same_value(one, other)
    assert canonical(one) == canonical(other)
    assert hash(canonical(one)) == hash(canonical(other))


def test_a_key_in_groups_is_one_word():
    """The spaces of an IBAN are left out, and no others."""
    assert one_word("AT61 1904 3002 3457 3201") == "AT611904300234573201"
    for key in ("AT611904300234573201", "AT62 1904 3002 3457 3201", "card of June", ""):
        assert one_word(key) == key


@for_each(("one", "other"), OTHER)
def test_values_that_differ_are_two(one, other):
    """What only looks alike, or what only Python reads as a number, is another value."""
    assert not same_value(one, other)


@for_each(
    "value",
    ["1e5", "+5", "5.", ".5", "1,5", "NaN", "inf", "", "9" * 31, True, None, [1], float("nan")],
)
def test_what_is_no_plain_number_is_not_read(value):
    """The reader is strict: a bank that writes an amount so has not written it."""
    assert number_of(value) is None


@for_each("text", ["1e999999999", "-1E+4000000000", "1e-999999999", "0.5e1000"])
def test_a_number_of_a_bank_costs_no_memory(text):
    """An exponent of four digits or more is kept as the text that it is, and never written out."""
    [value] = parse_json(f"[{text}]".encode())

    assert text == value
    assert number_of(value) is None
    assert len(text_of(Decimal("1e999999"))) < 20
    assert not same_value(Decimal("1e999999"), "1")


def test_numbers_with_a_small_exponent_stay_numbers():
    """JSON may write an amount with an exponent."""
    [value] = parse_json(b"[1.23E1]")

    assert same_value(value, "12.30")
    assert "12.3" == text_of(value)


@for_each("text", ["2027-02-30T00:00:00Z", "2027-01-27", "9999-12-31T23:59:59-10:00"])
def test_what_is_no_moment_of_the_calendar_is_none(text):
    """Neither is one whose instant is beyond the calendar."""
    assert moment_of(text) is None
