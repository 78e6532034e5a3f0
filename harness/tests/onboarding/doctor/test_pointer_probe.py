"""Suggestions for wrong pointers on literal answers: by name, by value, or none."""

import pytest
from rows import for_each

from assay.onboarding.doctor.pointer_probe import (
    is_day,
    is_link,
    is_text,
    is_things,
    members,
    nearest,
    suggest,
)

ANSWER = {
    "_embedded": {"accounts": [{"resourceId": "a1", "bookingDate": "2026-11-21", "name": "X"}]},
    "_links": {"self": {"href": "/accounts"}, "next": {"href": "/accounts?page=2"}},
    "count": 1,
    "a/b": {"~": "deep"},
}


@for_each(
    ("wanted", "fits", "named", "meant"),
    [
        ("/accounts", is_things, True, "/_embedded/accounts"),
        ("/entries", is_things, False, "/_embedded/accounts"),
        ("/entries", is_things, True, ""),
        ("/valueDate", is_day, False, "/_embedded/accounts/0/bookingDate"),
        ("/links/next/href", is_link, True, "/_links/next/href"),
        ("/iban", is_text, True, ""),
        ("", is_day, True, ""),
    ],
)
def test_what_was_meant(wanted, fits, named, meant):
    """The most similar name with a fitting value is suggested, or the only fitting value."""
    assert meant == suggest([ANSWER], wanted, fits, named=named)


def test_pointers_into_an_answer_are_escaped():
    """Slashes and tildes in names are escaped as in RFC 6901."""
    assert ("/a~1b/~0", "deep") in list(members(ANSWER))


def test_a_hostile_answer_costs_little():
    """The search is bounded in members, depth and length of names."""
    wide = {str(n): n for n in range(100_000)}
    assert 2_000 == len(list(members(wide)))
    deep: dict[str, object] = {}
    for _ in range(10_000):
        deep = {"a": deep}
    assert 8 == len(list(members(deep)))
    assert [] == list(members({"x" * 101: 1}))


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("receivd", ("received", "pending"), "received"),
        ("SMS-OTP", ("sms", "cap"), "sms"),
        ("otp", ("code", "decision"), ""),
        ("x", (), ""),
    ],
)
def test_the_nearest_word(word, known, found):
    """The most similar known word is returned, if any is similar enough."""
    assert found == nearest(word, known)


@for_each(
    ("value", "link"),
    [
        ("https://bank.example/x", True),
        ("/accounts?page=2", True),
        ("/", False),
        ("//[", False),
        ("a text of words", False),
        ("/with a space", False),
        (7, False),
    ],
)
def test_what_looks_like_a_link(value, link):
    """URLs and paths are links; other texts and values are not."""
    assert link is is_link(value)
