"""From a page to the next: by link, header, cursor, number and offset, whatever a target says."""

from __future__ import annotations

import json

import pytest

from assay.binding.links import next_page
from assay.binding.target import NextPage, Turn
from assay.history import Item, Wire

URL = "https://bank.example/v1/list?size=5"
TWO = (Item(key="a"), Item(key="b"))


def turned(
    how: NextPage,
    body: object,
    url: str = URL,
    items: tuple[Item, ...] | None = TWO,
    headers: tuple[tuple[str, str], ...] = (),
) -> str | None:
    """Return the next page of an answer."""
    wire = Wire(method="GET", url=url, status=200, headers=headers, body=json.dumps(body).encode())
    return next_page(wire, body, items, how)


def test_a_link() -> None:
    """A link in the body is made absolute."""
    how = NextPage(turn=Turn.LINK, at="/next")
    assert "https://bank.example/v1/list?page=2" == turned(how, {"next": "list?page=2"})
    assert None is turned(how, {"next": ""})
    assert None is turned(how, {"next": 3})
    assert "invalid://http://[" == turned(how, {"next": "http://["})


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ('</l?p=2>; rel="next"', "https://bank.example/l?p=2"),
        ('</l?p=1>; rel="prev", </l?p=3>; rel="next"', "https://bank.example/l?p=3"),
        ("</l?p=2>; rel=next; title=x", "https://bank.example/l?p=2"),
        ('</l?p=2>; title="a"; rel="last next"', "https://bank.example/l?p=2"),
        ('</l?p=2>; rel="nextish"', None),
        ('</l?p=1>; rel="prev"', None),
        ("next", None),
        ("<" * 9000, None),
    ],
)
def test_a_header(header: str, expected: str | None) -> None:
    """The link whose relation is next is taken, and no other."""
    how = NextPage(turn=Turn.HEADER, at="Link")
    assert expected == turned(how, {}, headers=(("link", header),))


def test_a_cursor() -> None:
    """A cursor goes into its parameter, in place of the one before."""
    how = NextPage(turn=Turn.CURSOR, at="/after", query="c")
    assert f"{URL}&c=x%2Fy" == turned(how, {"after": "x/y"})
    assert f"{URL}&c=7" == turned(how, {"after": 7}, url=f"{URL}&c=6")
    for end in ({}, {"after": None}, {"after": ""}, {"after": True}, {"after": {}}):
        assert None is turned(how, end)


@pytest.mark.parametrize(
    ("more", "goes_on"),
    [(True, True), ("yes", True), (3, True), (False, False), (None, False), ("", False)],
)
def test_numbered_pages(more: object, goes_on: bool) -> None:
    """The number goes up by one while there is more."""
    how = NextPage(turn=Turn.PAGE, query="page", first=0, more="/more")
    assert (f"{URL}&page=1" if goes_on else None) == turned(how, {"more": more})


def test_pages_until_one_is_empty() -> None:
    """With nothing said of the end, the end is an empty page."""
    how = NextPage(turn=Turn.PAGE, query="page")
    assert f"{URL}&page=2" == turned(how, {})
    assert f"{URL}&page=10" == turned(how, {}, url=f"{URL}&page=9")
    assert None is turned(how, {}, items=())
    assert None is turned(how, {}, items=None)
    assert f"{URL}&page=2" == turned(how, {}, url=f"{URL}&page=nine")


def test_the_last_page_is_counted() -> None:
    """The total of pages, or of items, ends the walk, and a total that is no number, too."""
    page = NextPage(turn=Turn.PAGE, query="page", total="/pages")
    assert f"{URL}&page=2" == turned(page, {"pages": 2})
    assert None is turned(page, {"pages": 2}, url=f"{URL}&page=2")
    assert None is turned(page, {"pages": "2"})
    offset = NextPage(turn=Turn.OFFSET, query="from", first=0, total="/all")
    assert f"{URL}&from=2" == turned(offset, {"all": 3})
    assert f"{URL}&from=4" == turned(offset, {"all": 5}, url=f"{URL}&from=2")
    assert None is turned(offset, {"all": 4}, url=f"{URL}&from=2")
