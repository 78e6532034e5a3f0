"""`well-formed` judges bytes and what they are declared to be."""

from dataclasses import replace

from account_information import AISP, Obliging, ask, check, ruled
from rows import for_each

from assay.planning.plan import count_calls
from assay.testing import listed

JSON = (("Content-Type", "application/json; charset=utf-8"),)
PROBLEM = (("content-type", "application/problem+json"),)
HTML = (("Content-Type", "text/html"),)


def says(body, headers=JSON, status=200, **wire):
    event = ask("accounts", replace(listed(), status=status))
    wired = replace(event.wire, body=body, headers=headers, **wire)
    return check("well-formed", replace(event, wire=wired))


@for_each(
    ("body", "agreement"),
    [
        (b"{}", "agrees"),
        (b"[1.5, 1e400, -0]", "agrees"),
        (b"9" * 5000, "agrees"),
        ('"é"'.encode(), "agrees"),
        (b"{", "disagrees"),
        (b"[NaN]", "disagrees"),
        (b"[Infinity]", "disagrees"),
        (b"[01]", "disagrees"),
        (b"{'a': 1}", "disagrees"),
        ('"é"'.encode("latin-1"), "disagrees"),
        (b"\xef\xbb\xbf{}", "disagrees"),
        (b"<html>", "disagrees"),
        (b"[" * 100_000 + b"]" * 100_000, "unclear"),
    ],
)
def test_a_body_that_says_it_is_json_is(body, agreement):
    """Numbers may be as long as they like; what is too deep for us is left open."""
    assert [f"json {agreement} 1", "media-type agrees 1"] == says(body)


@for_each("headers", [HTML, (), (("Content-Type", "application/jsonx"),)])
def test_an_accepted_answer_declares_json(headers):
    """A body that declares something else is a violation, whatever it holds."""
    assert ["media-type disagrees 1"] == says(b"{}", headers)


EMPTY = ("Content-Length", "0")


@for_each(
    ("headers", "wire", "found"),
    [
        ((*JSON, EMPTY), {}, ["json disagrees 1", "media-type agrees 1"]),
        # A recording without its bodies, and answers that need none.
        (JSON, {}, []),
        ((EMPTY,), {}, []),
        ((*JSON, EMPTY), {"status": 204}, []),
        ((*JSON, EMPTY), {"status": 401}, []),
        ((*JSON, EMPTY), {"method": "PUT"}, []),
    ],
)
def test_a_read_that_declares_json_has_some(headers, wire, found):
    """An empty list is not an empty body."""
    assert found == says(b"", headers, **wire)


@for_each(("headers", "found"), [(HTML, []), (PROBLEM, ["json agrees 1"])])
def test_a_refusal_may_be_of_any_type_but_must_be_what_it_says(headers, found):
    """The document says nothing of error bodies."""
    assert found == says(b"{}", headers, 403)
    assert [one.replace("agrees", "disagrees") for one in found] == says(b"{", headers, 500)


@for_each("status", [502, 503, 504])
def test_a_broken_answer_of_a_gateway_says_nothing_of_the_bank(status):
    """A load balancer answers in place of the bank, whatever it says that it sends."""
    assert ["json unclear 1"] == says(b"<html>", JSON, status)
    assert ["json agrees 1"] == says(b"{}", JSON, status)


def test_what_never_came_or_was_cut_off_by_us_is_not_judged():
    """No body, no answer, and more than the client keeps."""
    assert [] == says(b"")
    assert [] == says(b"{", status=0)
    assert [] == says(b"{", truncated=True)


def test_only_what_an_operation_can_be_asked_about_is_asked():
    """A thing without balances is not asked for them, and is not paid for."""
    params = ruled("well-formed")
    vault = replace(AISP.resources["card"], id="vault")
    contract = replace(AISP, resources={"vault": vault, **AISP.resources})
    params = replace(params, contract=contract)
    bank = Obliging(contract=contract)
    calls = bank.play(params, "each").calls
    (key,) = [one.key for one in bank.people["psu"].owns if one.resource == "vault"]

    assert count_calls(params, params.scenario("each")) == len(calls)
    assert key not in {call.arguments.get("iban") for call in calls}


def test_without_anything_guarded_no_refusal_is_provoked():
    """Where nothing is asked about a thing, the consent alone is paid for."""
    params = ruled("well-formed")
    plain = tuple(one for one in params.operations if not one.about)
    params = replace(params, operations=plain)

    assert (
        2
        == count_calls(params, params.scenario("each"))
        == len(Obliging().play(params, "each").calls)
    )
