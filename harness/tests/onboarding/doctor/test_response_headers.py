"""Headers of answers that a target file reads: a key, a link to the screens, an output, links."""

import json

import pytest
from examined_banks import BANK

from assay.onboarding.doctor import Weight, examine
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving

CREATE = '  create-payment:\n    one: ""\n    approval: /links/consentApproval\n'
HEADERS = """\
  create-payment:
    one: ""
    approval: {header: X-Screens}
    outputs: {request-id: {header: X-Request}}
"""
KEY = "    item:\n      key: /paymentRequestResourceId\n      state: &state"
FILE = (
    BANK.replace(CREATE, HEADERS)
    .replace(KEY, KEY.replace("/paymentRequestResourceId", "{header: Location}"))
    .replace("links: [/links/self, /links/consentApproval]", "links: [{header: Location}]")
    .replace(
        '  read-payment:\n    one: ""\n',
        '  read-payment:\n    one: ""\n    headers: {X-Request: "{request-id}"}\n',
    )
)


def with_headers(app):
    """Repeat in the headers what the answer to a new request has in its body."""

    def answer(environ, start):
        head: list[object] = []
        body = b"".join(app(environ, lambda *said: head.extend(said)))
        status, headers = head[0], head[1]
        if environ["REQUEST_METHOD"] == "POST" and environ["PATH_INFO"] == "/payment-requests":
            shown = json.loads(body)
            if "links" in shown:
                link, key = shown["links"], shown["paymentRequestResourceId"]
                headers = [
                    *headers,
                    ("Location", link["self"]),
                    ("X-Screens", link["consentApproval"]),
                    ("X-Request", key),
                ]
        start(status, headers)
        return [body]

    return answer


@pytest.fixture(scope="module")
def url():
    with serving(with_headers(make_app())) as url:
        yield url


def blocking(text, url, folder):
    """Examine a file; return the key and hint of each finding that stops a run, a doubt."""
    path = folder / "bank.yaml"
    path.write_text(text.replace("URL", url), encoding="utf-8")
    found = examine(str(path), ["pis"]).blocking
    assert {Weight.DOUBT} >= {each.weight for each in found}
    return [(each.key.partition("create-payment.")[2], each.hint) for each in found]


def test_headers_that_are_there(url, tmp_path):
    """A file that reads headers is sound."""
    assert BANK.count(CREATE) == BANK.count(KEY) == 1
    assert [] == blocking(FILE, url, tmp_path)


@pytest.mark.parametrize(
    ("right", "wrong", "found"),
    [
        ("Location}\n      state", "Locaion}\n      state", ("item.key", "did you mean location?")),
        ("Location}\n      state", "Etag}\n      state", ("item.key", "")),
        ("{header: X-Screens}", "{header: X-Screns}", ("approval", "did you mean x-screens?")),
        ("{header: X-Request}", "{header: X-Number}", ("outputs.request-id", "")),
        ("[{header: Location}]", "[{header: Loction}]", ("links", "did you mean location?")),
    ],
)
def test_a_header_that_no_answer_has(right, wrong, found, url, tmp_path):
    """A similar name is a fault of the file; otherwise the bank may leave the header out."""
    assert 1 == FILE.count(right)
    assert [found] == blocking(FILE.replace(right, wrong), url, tmp_path)


def test_links_in_a_header_are_optional(url, tmp_path):
    """An answer without a header for links has no links."""
    text = FILE.replace("links: [{header: Location}]", "links: [{header: Link}]")
    assert [] == blocking(text, url, tmp_path)
