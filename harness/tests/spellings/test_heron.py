"""A wrong spelling of what stands beside a list, or at the end of a link, is named, never judged."""

from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from examined_files import doubts
from foreign.dialects import HERON
from rows import for_each

from assay.binding.model.pointer import MISSING, BodyPointer, ItemInBody, UrlEndPointer, find
from assay.binding.wire.date_formats import read, written
from assay.errors import InputError
from assay.files.load import loads
from assay.preparation.target_file import read_document

HERE = Path(__file__).parent
CONTRACT = HERE / "heron.yaml"
TARGET = (HERE / "heron-target.yaml").read_text("utf-8")


@for_each(
    ("pointer", "document", "expected"),
    [
        (BodyPointer("/b"), ItemInBody({"b": 1}, {"b": 2}), 2),
        (BodyPointer("/b"), {"b": 3}, 3),
        (BodyPointer(UrlEndPointer("/b")), ItemInBody({}, {"b": "/x/y"}), "y"),
        (UrlEndPointer("/b"), {"b": "https://h.example/a/N%201/?q=/z#/f"}, "N 1"),
        (UrlEndPointer("/b"), {"b": "https://h.example"}, MISSING),
        (UrlEndPointer("/b"), {"b": "https://[h.example/a"}, MISSING),
        (UrlEndPointer("/b"), {"b": 7}, MISSING),
        (UrlEndPointer("/b"), [], MISSING),
    ],
)
def test_what_a_pointer_finds(pointer, document, expected):
    """It starts at the body, or finds the last segment of a URL; hostile values are missing."""
    assert expected == find(document, pointer)


def changed(old, new):
    """Return the target file with a change."""
    assert old in TARGET
    return TARGET.replace(old, new, 1)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("{body: /currency}", "{body: /items/0/currency}", "accounts.item.fields.currency.body"),
        ("{body: /currency}", '{body: "/items"}', "accounts.item.fields.currency.body"),
        ("{body: /currency}", "{body: currency}", "accounts.item.fields.currency"),
        ("{body: /currency}", "{body: /currency, at: /x}", "accounts.item.fields.currency"),
        ("key: {end_of: /links/self}", "key: {body: /currency}", "accounts.item.key.body"),
        ("key: {end_of: /links/self}", "key: {end_of: [/links]}", "accounts.item.key"),
        ("      key: /id\n", "", "entries.next.last"),
    ],
)
def test_a_place_that_cannot_be_right_is_refused(old, new, key):
    """At its own line, before any call."""
    with pytest.raises(InputError) as raised:
        read_document(loads(changed(old, new)))
    assert any(f"operations.{key}" in str(each) for each in raised.value.problems), raised.value


def test_the_right_file_raises_no_doubt():
    """Nothing is in doubt at the sound bank."""
    assert not doubts(CONTRACT, TARGET, HERON)


@pytest.mark.parametrize(
    ("old", "new", "key", "hint"),
    [
        ("currency: {body: /currency}", "currency: /currency",
         "accounts.item.fields.currency", "did you mean {body: /currency}?"),
        ("currency: {body: /currency}", "currency: {body: /curency}",
         "accounts.item.fields.currency", "did you mean {body: /currency}?"),
        ("key: {end_of: /links/self}", "key: /links/self",
         "accounts.item.key", "did you mean {end_of: /links/self}?"),
        ("key: {end_of: /links/self}", "key: {end_of: /links/selv}",
         "accounts.item.key", "did you mean {end_of: /links/self}?"),
    ],
)  # fmt: skip
def test_a_wrong_place_is_named(old, new, key, hint):
    """The doctor names the key and the right place, so nothing is judged by the wrong one."""
    found = [each for each in doubts(CONTRACT, changed(old, new), HERON) if key in each.key]
    assert found
    assert hint in [each.hint for each in found]


ATHENS = ZoneInfo("Europe/Athens")


@for_each(
    ("iso", "pattern", "shown"),
    [
        ("2026-11-29", "YYYYMMDD", "20261129"),
        ("2026-11-29", "DD.MM.YYYY", "29.11.2026"),
        ("2026-11-29T09:05:07+02:00", "DD/MM/YYYY hh:mm:ss", "29/11/2026 09:05:07"),
        ("2026-11-29T07:05:07+00:00", "YYYY-MM-DDThh:mm:ssZ", "2026-11-29T07:05:07Z"),
        ("2026-11-28T22:00:00+00:00", "epoch-seconds", 1795903200),
        ("2026-11-28T22:00:00+00:00", "epoch-milliseconds", 1795903200000),
    ],
)
def test_a_date_is_written_and_read(iso, pattern, shown):
    """What is read is what was written, in the zone of the bank."""
    assert shown == written(iso, pattern, ATHENS)
    assert iso == read(shown, pattern, ATHENS)


@for_each(
    ("iso", "pattern", "shown"),
    [
        ("2026-11-29", "epoch-seconds", 1795903200),
        ("2026-11-29", "YYYYMMDDhhmm", "202611290000"),
        ("2026-11-29T23:30:00Z", "YYYYMMDD", "20261130"),
        ("2026-02-30", "YYYYMMDD", "20260230"),
        ("2026-02-30", "epoch-seconds", "2026-02-30"),
        ("not a date", "YYYYMMDD", "not a date"),
        ("", "YYYYMMDD", ""),
        (None, "YYYYMMDD", None),
        (7, "epoch-seconds", 7),
    ],
)
def test_what_is_sent_for_a_date(iso, pattern, shown):
    """A date begins at the bank's midnight, and what is no date is sent as wrong as it is."""
    assert shown == written(iso, pattern, ATHENS)


def test_a_date_is_a_number_if_the_file_says_so():
    """A bank may count a day as a number."""
    assert 20261129 == written("2026-11-29", "YYYYMMDD", None, number=True)
    assert "2026113O" == written("2026113O", "YYYYMMDD", None, number=True)


@pytest.mark.parametrize("pattern", ["YYYYMMDD", "epoch-seconds", "YYYY-MM-DDThh:mm:ssZ"])
@pytest.mark.parametrize(
    "value",
    [
        "",
        "2026113",
        "20261301",
        "٢٠٢٦١١٢٩",
        "9" * 29,
        10**80,
        Decimal("1E+50"),
        True,
        None,
        [1],
        {},
    ],
)
def test_what_is_no_date_is_read_as_it_is(value, pattern):
    """A hostile answer has no date, and breaks nothing."""
    found = read(value, pattern, ATHENS)
    assert value == found or (pattern == "epoch-seconds" and str(found).startswith("1970"))


@pytest.mark.parametrize(
    "pattern", ["YYMMDD", "YYYYMMDDYYYY", "YYYY-MM", "YYYYMMDD{}", "DDMMYYYYssmm"]
)
def test_a_format_that_means_no_day_is_refused(pattern):
    """At its own line."""
    with pytest.raises(InputError, match=r"entries\.item\.on"):
        read_document(
            loads(changed("at: /booked, format: YYYYMMDD", f'at: /booked, format: "{pattern}"'))
        )


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("format: YYYYMMDD, number: true", "format: DD.MM.YYYY, number: true",
         "operations.pay.arguments.due.number"),
        ("format: YYYYMMDD, number: true", "number: true", "operations.pay.arguments.due"),
        ("format: epoch-milliseconds, value", 'format: epoch-milliseconds, unit: "0.01", value',
         "operations.pay.arguments.expires.unit"),
    ],
)  # fmt: skip
def test_a_format_that_does_not_fit_is_refused(old, new, key):
    """A number has digits only, and a date no unit."""
    with pytest.raises(InputError) as raised:
        read_document(loads(changed(old, new)))
    assert any(key in str(each) for each in raised.value.problems), raised.value


@pytest.mark.parametrize(
    ("old", "new", "key", "hint"),
    [
        ("on: {at: /booked, format: YYYYMMDD}", "on: {at: /booked, format: DDMMYYYY}",
         "entries.item.on", "is it written as YYYYMMDD? (`format`)"),
        ("on: {at: /booked, format: YYYYMMDD}", "on: /booked",
         "entries.item.on", "is it written as YYYYMMDD? (`format`)"),
        ("{last: startingAfter, more: /hasMore}", "{last: startAfter, more: /hasMore}",
         "entries.next", "is the parameter, or `first`, wrong?"),
        ("{last: startingAfter, more: /hasMore}", "{last: startingAfter, more: /more}",
         "entries.next", None),
        ("due: {at: /dueDay, format: YYYYMMDD}", "due: /dueDay",
         "fields.due", "is it written as YYYYMMDD? (`format`)"),
        ("expires: {at: /expires, format: epoch-milliseconds, first: 10}", "expires: /expires",
         "fields.expires", "is it written as epoch-milliseconds? (`format`, with `first: 10`)"),
        ("{query: from, format: DD.MM.YYYY}", "{query: from}", "entries.arguments.first", None),
        ("{query: from, format: DD.MM.YYYY}", "{query: from, format: MM.DD.YYYY}",
         "entries.arguments.first", None),
        ("due: {body: /dueDay, format: YYYYMMDD, number: true,", "due: {body: /dueDay,",
         "operations.pay", None),
        ("due: {body: /dueDay, format: YYYYMMDD, number: true,", "due: {body: /dueDay, format: YYYYMMDD,",
         "operations.pay", None),
        ("expires: {body: /expires, format: epoch-milliseconds,", "expires: {body: /expires, format: epoch-seconds,",
         "operations.pay", None),
    ],
)  # fmt: skip
def test_a_wrong_format_is_named(old, new, key, hint):
    """The doctor names the argument or the field, with the format if the answers show it."""
    all_found = doubts(CONTRACT, changed(old, new), HERON)
    found = [each for each in all_found if key in each.key]
    assert found, all_found
    assert hint is None or hint in [each.hint for each in found], found
