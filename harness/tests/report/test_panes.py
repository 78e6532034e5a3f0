"""Two panes of an exchange: JSON in lines, the decisive member, the difference to the control."""

import re
from dataclasses import replace

import pytest

from assay.report.cards import LINES, json_lines, panes
from assay.report.values import ReportedExchange, ReportedRequest, ReportedResponse
from assay.rules.verdict import Agreement, Evidence

SENT = ReportedExchange(
    trial="aisp/a#b",
    n=17,
    operation="accounts",
    request=ReportedRequest(
        method="POST",
        url="https://bank.invalid/payments?b=2&a=1",
        headers=(("X-Request-ID", "9"), ("psu-ip", "192.0.2.10")),
        body='{"amount":"12.30","more":{"charge":"SHAR"}}',
    ),
    response=ReportedResponse(status=201, body='{"amount":"47.11","id":"p-1"}'),
    outcome="accepted",
    why="",
)
CONTROL = replace(
    SENT,
    n=16,
    request=replace(
        SENT.request,
        url="https://bank.invalid/payments?a=1",
        headers=(("X-Request-ID", "8"), ("psu-ip", "192.0.2.10"), ("psu-id", "7")),
        body='{"amount":"12.30","more":{"charge":"SLEV"}}',
    ),
)


def evidence(expected, seen, **changes):
    """Return evidence of a violation that exchange 17 shows."""
    values = {"facet": "", "agreement": Agreement.DISAGREES, "exchanges": (17,)}
    return Evidence(expected=expected, seen=seen, **values | changes)


def texts(pane, element):
    """Return the lines of a pane that stand in an element."""
    return [line for name, text in pane if name == element for line in text.split("\n")]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            '{"a":1.10,"a":[],"b":"\\u003c, {"}',
            ["{", '  "a": 1.10,', '  "a": [],', '  "b": "\\u003c, {"', "}"],
        ),
        ("[ {} , 1e2 ]", ["[", "  {},", "  1e2", "]"]),
        ("{not, json}", ["{not, json}"]),
        ("a\nb", ["a", "b"]),
        (
            '{"a":"b… (1,000 more characters left out)',
            ["{", '  "a": "b', "… (1,000 more characters left out)"],
        ),
        ("", []),
    ],
    ids=["kept", "empty", "no JSON", "text", "cut", "nothing"],
)
def test_json_lines(text, lines):
    """JSON is broken into lines, cut or not, and nothing of it is decoded; other text stays."""
    assert lines == list(json_lines(text))


def test_deep():
    """JSON of any depth makes a small pane."""
    sent = replace(SENT, response=replace(SENT.response, body="[" * 800 + "]" * 800))
    (text,) = {text for _, text in panes(sent, None, ()).response}
    assert len(text) < LINES * 40
    assert "more lines left out" in text


def test_difference():
    """A request shows what only it has and what only its control has; not what always differs."""
    shown = panes(SENT, CONTROL, ())
    added = ["+   ? b=2", "+   & a=1", '+     "charge": "SHAR"']
    removed = ["-   ? a=1", "- psu-id: 7", '-     "charge": "SLEV"']
    assert (16, added, removed) == (
        shown.control,
        texts(shown.request, "ins"),
        texts(shown.request, "del"),
    )
    assert "  X-Request-ID: 9" in texts(shown.request, "")


def test_difference_at_the_end():
    """A member that only gets a comma, because another follows it, is no difference."""
    sent, without = (
        replace(SENT, request=replace(SENT.request, body=body))
        for body in ('{"a":1,"b":2}', '{"a":1}')
    )
    shown = panes(sent, without, ()).request
    assert (['+   "b": 2'], []) == (texts(shown, "ins"), texts(shown, "del"))


def test_no_control():
    """Without a control there is no difference."""
    shown = panes(SENT, None, ())
    assert (0, [], []) == (shown.control, texts(shown.request, "ins"), texts(shown.request, "del"))


@pytest.mark.parametrize(
    ("expected", "seen", "marked"),
    [
        ("amount as it was sent: '12.30'", "'47.11'", ['    "amount": "47.11",']),
        ("a refusal", "it was accepted (201)", ["  201"]),
        ("no amount", "an id", []),
        ("a refusal", "it was accepted (200)", []),
    ],
    ids=["member", "status", "only words", "another status"],
)
def test_decisive(expected, seen, marked):
    """The member, or the status, that the finding names is marked; words alone mark nothing."""
    assert marked == texts(panes(SENT, None, [evidence(expected, seen)]).response, "mark")


@pytest.mark.parametrize(
    ("expected", "seen", "marked"),
    [
        ("none", "'47.11'", ['    "price": "47.11",', '    "fee": "47.11",']),
        ("the maxFee as sent", "'1.10'", ['    "maxFee": "1.10",']),
        ("links on a.example", "a link to b.example", ['    "next": "https://b.example/2"']),
    ],
    ids=["value", "name and value", "part of a value"],
)
def test_decisive_among_many(expected, seen, marked):
    """A value marks all that have it, a name decides between them; a short value is no part."""
    body = (
        '{"total":"147.11","price":"47.11","fee":"47.11","tax":"1.10","maxFee":"1.10",'
        '"self":"https://a.example/1","next":"https://b.example/2"}'
    )
    answered = replace(SENT, response=replace(SENT.response, body=body))
    assert marked == texts(panes(answered, None, [evidence(expected, seen)]).response, "mark")


def test_decisive_of_another():
    """What a finding on other exchanges names is not marked."""
    other = evidence("'12.30'", "'47.11'", exchanges=(3,))
    assert [] == texts(panes(SENT, None, [other]).response, "mark")


def varied(journal, **changes):
    """Write an accepted call and a varied one, and return the page's card of the varied one."""
    url = "https://bank.invalid/accounts?page=1"
    sent = {"method": "GET", "url": url, "headers": [], "body": ""}
    accepted = {"n": 15, "variation": "", "request": sent, "outcome": {"kind": "accepted"}}
    journal.plan().exchange(**accepted | changes)
    return journal.exchange(n=17).verdict(verdict="violates").footer().read()


def test_control_of_the_trial(journal, written):
    """The last call that was accepted without the variation is the control, cited or not."""
    text = written(varied(journal), "html")
    assert "difference to the control, exchange 15" in text
    assert re.search(r"<del>[^<]*-   \? page=1", text)


def test_control_after(journal, written):
    """Where none was accepted before, one that was accepted after the varied call is the control."""
    journal.plan().exchange(n=17)
    for n in (18, 19):
        journal.exchange(n=n, variation="", outcome={"kind": "accepted"})
    text = written(journal.verdict(verdict="violates").footer().read(), "html")
    assert "difference to the control, exchange 19" in text


@pytest.mark.parametrize(
    "changes",
    [
        {"variation": "another"},
        {"outcome": {"kind": "rejected"}},
        {"operation": "accounts"},
        {"subject": "another"},
        {"trial": "aisp/another#trial"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_no_control_of_the_trial(journal, written, changes):
    """A varied, rejected or other call is no control, and none of another customer or trial."""
    assert "difference to the control" not in written(varied(journal, **changes), "html")


def test_control_of_the_evidence(journal, written):
    """Controls that the evidence names win over others of the trial, and have no difference."""
    journal.plan()
    for n in (13, 14, 15):
        journal.exchange(n=n, variation="", outcome={"kind": "accepted"})
    found = {"agreement": "disagrees", "expected": "a", "seen": "b"}
    found |= {"exchanges": [13, 14, 17], "controls": [13, 14]}
    report = journal.exchange(n=17).verdict(verdict="violates", evidence=[found]).footer().read()
    text = written(report, "html")
    assert ["13"] == re.findall(r"difference to the control, exchange (\d+)", text)
