"""From a page to the next: by link, header, cursor, number and offset, whatever a target says."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from rows import for_each

from assay.binding.model.pointer import parse_json
from assay.binding.model.target import NextPage, Target, Turn
from assay.binding.wire.decode import decode
from assay.binding.wire.encode import Access, encode
from assay.binding.wire.links import links_of, next_page, page_of_call
from assay.contract.model import Operation
from assay.errors import InputError
from assay.files.load import loads
from assay.history import Accepted, Call, Item, Wire
from assay.preparation.target_file import read_document

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


def test_a_link_beside_each_of_two_lists() -> None:
    """Whichever finds one; where both do, the first."""
    how = NextPage(turn=Turn.LINK, at="/a/next", also=("/b/next",))
    assert "https://bank.example/v1/2" == turned(how, {"b": {"next": "2"}})
    assert "https://bank.example/v1/1" == turned(how, {"a": {"next": "1"}, "b": {"next": "2"}})
    assert "https://bank.example/v1/2" == turned(how, {"a": {"next": ""}, "b": {"next": "2"}})
    assert None is turned(how, {"a": {}, "b": {}})
    bound = posted("[/a/next, /b/next]").operations["list"]
    assert bound.next == how
    wire = Wire(method="POST", url=URL, status=200)
    assert ("https://bank.example/v1/2",) == links_of(wire, {"b": {"next": "2"}}, bound)


@for_each(
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


@for_each(
    ("more", "goes_on"),
    [(True, True), ("yes", True), (3, True), (False, False), (None, False), ("", False)],
)
def test_numbered_pages(more: object, goes_on: bool) -> None:
    """The number goes up by one while there is more, be the page empty or not."""
    how = NextPage(turn=Turn.PAGE, query="page", first=0, more="/more")
    for items in (TWO, ()):
        assert (f"{URL}&page=1" if goes_on else None) == turned(how, {"more": more}, items=items)


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


# -- in the body of a request by POST ------------------------------------------------
LIST = Operation(id="list", method="GET", path="/list", about="account")
POSTED = """\
assay: 1
target: posted
transport: http
base_url: https://bank.example/v1
operations:
  list:
    method: POST
    template: {{kind: all, pageId: null}}
    arguments: {{account: {{body: /account}}}}
    list: /items
    next: {next}
    item: {{key: /id}}
"""


def posted(how: str) -> Target:
    """Read a target file whose list is read by POST."""
    return read_document(loads(POSTED.format(next=how)))


def page_after(target: Target, call: Call, answer: object) -> tuple[Call, dict[str, object]]:
    """Send a call, and return the call for the next page with the body of its request."""
    request = encode(call, LIST, target, Access())
    body = json.dumps(answer).encode()
    wire = Wire(
        method=request.method, url=request.url, status=200, body=body, request_body=request.body
    )
    outcome = decode(wire, parse_json(body), LIST, target)
    paged = page_of_call(outcome, call, target.operations["list"].next)
    assert isinstance(paged, Accepted)
    assert paged.next is not None
    following = replace(call, follow=paged.next)
    return following, json.loads(encode(following, LIST, target, Access()).body)


def test_a_cursor_in_the_body() -> None:
    """The request for the next page is that for the first one, with the cursor in its place."""
    target = posted("{cursor: /page/next, body: /pageId}")
    first = Call(operation="list", subject="anna", arguments={"account": "A1"})
    answer = {"items": [{"id": 1}], "page": {"next": "p/2 &"}}
    following, body = page_after(target, first, answer)
    assert {"kind": "all", "pageId": "p/2 &", "account": "A1"} == body
    request = encode(following, LIST, target, Access())
    assert ("POST", "https://bank.example/v1/list") == (request.method, request.url)
    assert 3 == page_after(target, first, {"items": [], "page": {"next": 3}})[1]["pageId"]


def test_pages_of_two_lists_are_two_links() -> None:
    """The same cursor of another list is another page; the link of the same page is the same."""
    target = posted("{cursor: /next, body: /pageId}")
    links = [
        page_after(target, Call(operation="list", subject="anna", arguments=arguments), answer)[0]
        for arguments in ({"account": "A1"}, {"account": "A2"}, {"account": "A1"})
        for answer in [{"items": [], "next": "p2"}]
    ]
    assert links[0].follow != links[1].follow
    assert links[0].follow == links[2].follow


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("{page: {body: /pageId}}", [2, 3]),
        ("{page: {body: /pageId}, first: 0}", [1, 2]),
        ("{offset: {body: /pageId}}", [2, 4]),
    ],
)
def test_a_number_in_the_body(how: str, expected: list[int]) -> None:
    """Pages are counted from the number in the request's own body."""
    target, seen = posted(how), list[object]()
    call = Call(operation="list", subject="anna", arguments={"account": "A1"})
    for _ in expected:
        call, body = page_after(target, call, {"items": [{"id": "a"}, {"id": "b"}]})
        seen.append(body["pageId"])
    assert expected == seen


@pytest.mark.parametrize(
    "how",
    [
        "{cursor: /next}",
        "{cursor: /a, body: /b, query: c}",
        '{page: {body: ""}}',
        "/*/next",
        "{link: /*/next}",
    ],
)
def test_a_wrong_place_of_the_page_is_an_error(how: str) -> None:
    """The line is that of the key."""
    with pytest.raises(InputError) as raised:
        posted(how)
    assert 11 == raised.value.problems[0].line
