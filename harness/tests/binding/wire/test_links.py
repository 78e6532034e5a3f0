"""Links in answers: in the body or in a header, optional or not, absolute or relative."""

from __future__ import annotations

import json

import pytest

from assay.binding.wire.decode import body_of, decode
from assay.binding.wire.links import links_of
from assay.contract.model import Operation
from assay.errors import InputError
from assay.files.load import loads
from assay.history import Accepted, Wire
from assay.preparation.target_file import read_document

PAY = Operation(id="pay", method="POST", path="/payments", makes="payment")
FILE = """\
assay: 1
target: links
transport: http
base_url: https://bank.example/v1
operations:
  pay:
    one: ""
    approval: {}
    links: {}
"""


def target(approval: str, links: str):
    """Read a target file with these links."""
    return read_document(loads(FILE.format(approval, links)))


def answer(body: object, *headers: tuple[str, str]) -> Wire:
    """Return an answer that creates a payment."""
    content = b"" if body is None else json.dumps(body).encode()
    url = "https://bank.example/v1/payments"
    return Wire(method="POST", url=url, status=201, headers=headers, body=content)


@pytest.mark.parametrize(
    ("link", "absolute"),
    [
        ("accounts?page=2", "https://bank.example/v1/accounts?page=2"),
        ("?page=2", "https://bank.example/v1/payments?page=2"),
        ("/v2/x", "https://bank.example/v2/x"),
        ("//other.example/x", "https://other.example/x"),
        ("https://other.example/x", "https://other.example/x"),
    ],
)
def test_a_relative_reference_is_a_link(link, absolute):
    """A reference is resolved against the URL of the request (RFC 3986)."""
    binding = target("/go", "[/self]").operations["pay"]
    wire = answer({"self": link})
    assert (absolute,) == links_of(wire, body_of(wire), binding)


def test_an_optional_link_is_read_where_it_is_there():
    """The pointer counts like any other, and the file says that the link may be absent."""
    binding = target("/go", "[/self, {at: /prev, optional: true}, {at: /last}]").operations["pay"]
    assert ("/self", "/prev", "/last") == binding.links
    assert {"/prev"} == binding.optional_links
    wire = answer({"self": "/a", "prev": "/b"})
    assert 2 == len(links_of(wire, body_of(wire), binding))


def test_links_in_headers():
    """Each link of an RFC 8288 header is one, and so is a header that is a reference itself."""
    binding = target("/go", "[{header: Link}, {header: X-Status}]").operations["pay"]
    link = '<https://bank.example/a>; rel="status", </b>; rel=up'
    wire = answer(None, ("link", link), ("x-status", "c"))
    expected = (
        "https://bank.example/a",
        "https://bank.example/b",
        "https://bank.example/v1/c",
    )
    assert expected == links_of(wire, body_of(wire), binding)


def test_the_link_to_the_screens_may_be_in_a_header():
    """It is the approval of the outcome, and no link that the TPP follows."""
    file = target("{header: Location}", "[/self]")
    wire = answer({"self": "/a"}, ("Location", "https://screens.example/1"))
    body = body_of(wire)
    outcome = decode(wire, body, PAY, file)
    assert isinstance(outcome, Accepted)
    assert "https://screens.example/1" == outcome.approval
    assert ("https://bank.example/a",) == links_of(wire, body, file.operations["pay"])
    without = decode(answer({}), {}, PAY, file)
    assert isinstance(without, Accepted)
    assert without.approval is None


@pytest.mark.parametrize("links", ["[{optional: true}]", "[{header: A B}]", "[{at: x}]", "/self"])
def test_a_wrong_link_is_an_error(links):
    """It has the line of the key."""
    with pytest.raises(InputError) as raised:
        target("/go", links)
    assert 9 == raised.value.problems[0].line
