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


BODY = (
    '{"accounts":[{"iban":"1","currency":"EUR"},{"iban":"1"},{"iban":"1","currency":"EUR"}],'
    '"currency":"EUR","a/b~c":{"currency":"EUR"}}'
)


def response(body, found, **changes):
    """Return the marked lines of an answer, and the names of what decides."""
    answered = replace(SENT, response=replace(SENT.response, body=body, **changes))
    shown = panes(answered, None, found)
    return texts(shown.response, "mark"), ["".join(each) for each in shown.decisive]


@pytest.mark.parametrize(
    ("pointer", "number", "note"),
    [
        ("/accounts/2/currency", 13, ""),
        ("/currency", 16, ""),
        ("/a~1b~0c/currency", 18, ""),
        ("/accounts", 3, ""),
        ("/accounts/1/currency", 8, " (missing)"),
        ("/accounts/9/currency", 3, " (missing)"),
        ("/balance", 2, " (missing)"),
    ],
    ids=["third", "another", "escaped", "list", "missing", "no item", "missing at the top"],
)
def test_decisive(pointer, number, note):
    """Of members of one name and value the decisive one is marked; of a missing one, what lacks it."""
    answered = replace(SENT, response=replace(SENT.response, body=BODY))
    shown = panes(answered, None, [evidence("EUR", "'EUR'", pointer=pointer)])
    lines = "\n".join(text for _, text in shown.response).split("\n")
    assert {number} == {n for n, line in enumerate(lines) if line.startswith("→")}
    assert [*json_lines(BODY)] == [line[2:] for line in lines[2:]]
    assert ((pointer, note),) == shown.decisive


@pytest.mark.parametrize(
    ("changes", "marked"),
    [
        ({"header": "Content-Type"}, (["→ content-type: text/plain"], ["Content-Type"])),
        ({"header": "x-id"}, (["→ 201"], ["x-id (missing)"])),
        ({"pointer": "/a"}, (["→ 201"], ["/a (missing)"])),
        ({}, (["→ 201"], [])),
    ],
    ids=["header", "missing header", "no JSON", "nothing"],
)
def test_decisive_outside_of_json(changes, marked):
    """A header is marked; the status where a header or all of a body is missing, or no member decides."""
    found = [evidence("a", "b", **changes)]
    assert marked == response("oops", found, headers=(("content-type", "text/plain"),))


def test_words_mark_nothing():
    """Neither a value nor a name is marked because a sentence has it."""
    assert (["→ 201"], []) == response(BODY, [evidence("no currency", "'EUR' in accounts (404)")])
    assert ([], []) == response(BODY, [])


CUT = '{"a":{"b":1},"c":[{"d":1},{"d":2,"e":"'


@pytest.mark.parametrize(
    ("body", "truncated", "last"),
    [
        (CUT + "… (1,000 more characters left out)", False, "… (1,000 more characters left out)"),
        (CUT, True, "(the body is truncated in the journal)"),
    ],
    ids=["report", "journal"],
)
def test_decisive_in_what_is_cut(body, truncated, last):
    """Where a member may be in what is left out, it is not called missing; elsewhere it is."""

    def shown(pointer):
        return response(body, [evidence("a", "b", pointer=pointer)], truncated=truncated)

    assert ([f"→ {last}"], ["/c/7/d (in what is left out)"]) == shown("/c/7/d")
    assert ([f"→ {last}"], ["/c/1/f (in what is left out)"]) == shown("/c/1/f")
    assert (['→       "d": 2,'], ["/c/1/d"]) == shown("/c/1/d")
    assert (['→   "a": {'], ["/a/f (missing)"]) == shown("/a/f")
    assert (["→     {"], ["/c/0/f (missing)"]) == shown("/c/0/f")


def test_several_decisive():
    """Each of several findings has its mark, and a place that two share is named once."""
    found = [evidence("a", "b", pointer=each) for each in ("/a~1b~0c", "/currency", "/currency")]
    marks = ['→   "currency": "EUR",', '→   "a/b~c": {']
    assert (marks, ["/a~1b~0c", "/currency"]) == response(BODY, found)


def test_decisive_of_another():
    """What a finding on other exchanges names is not marked."""
    other = evidence("'12.30'", "'47.11'", exchanges=(3,), pointer="/amount")
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
