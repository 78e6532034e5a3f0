"""Bodies that are forms, in runs, searches and recordings."""

import json
from pathlib import Path

import pytest
from embedded import run_plan
from examined_files import doubts
from foreign.dialects import STORK
from foreign.faults import HERON_FAULTS
from rows import for_each

from assay.binding.model.forms import FORM, as_json, as_sent
from assay.binding.read.join import bind
from assay.files.load import loads
from assay.history import Wire
from assay.journal.writer import Journal
from assay.parsing.parse import parse_contract
from assay.planning.plan import plan
from assay.preparation.target_file import read_document
from assay.rules.verdict import Standing
from assay.traffic.parse_request import ParsedRequest

HERE = Path(__file__).parent
CONTRACT = HERE / "heron.yaml"
AS_FORM = (("content-type", f"{FORM}; charset=utf-8"),)
TARGET = (
    (HERE / "heron-target.yaml")
    .read_text("utf-8")
    .replace(
        "  pay:\n",
        f"  pay:\n    headers: {{Content-Type: {FORM}}}\n    template: {{tags: [a, b]}}\n",
    )
    .replace("iban: {body: /account}", "iban: {body: /payer/account}")
)


@for_each(
    ("document", "form"),
    [
        (
            {"a": "1", "card": {"number": "4 2", "x": {"y": "z"}}},
            "a=1&card%5Bnumber%5D=4+2&card%5Bx%5D%5By%5D=z",
        ),
        ({"ids": ["1", "2"]}, "ids%5B%5D=1&ids%5B%5D=2"),
        ({"items": [{"n": "1"}, {"n": "2"}]}, "items%5B0%5D%5Bn%5D=1&items%5B1%5D%5Bn%5D=2"),
        ({"a": ""}, "a="),
    ],
)
def test_a_body_is_a_form_and_back(document, form):
    """Members stand in brackets, and elements have a number or none."""
    body = json.dumps(document).encode()
    assert form == as_sent(AS_FORM, body).decode()
    assert document == json.loads(as_json(AS_FORM, form.encode()))
    assert body == as_sent((), body)


@for_each(
    ("body", "sent"),
    [
        (b'{"a": 1.50, "b": true, "c": null, "d": {}, "e": []}', b"a=1.50&b=true"),
        (b"<no-json/>", b"<no-json/>"),
        (b"[1]", b"[1]"),
        (b"", b""),
    ],
)
def test_what_has_no_form(body, sent):
    """Numbers are their texts, null is left out, and what is malformed is sent so."""
    assert sent == as_sent(AS_FORM, body)


@pytest.mark.parametrize(
    "body",
    [b"a[b=1", b"[]=1", b"a" + b"[x]" * 99 + b"=1", b"\xff=1", b"&".join([b"a=1"] * 2000)],
)
def test_a_hostile_form_stays_as_it_is(body):
    """Recorded requests may have any body."""
    assert body == as_json(AS_FORM, body)


@for_each("body", [b"a=1&a=2&a[b]=3", b"a[b]=1&a=2", b"a[5]=1&a[]=2"])
def test_an_ambiguous_form_is_read(body):
    """Of two values at one place, the first is read."""
    assert isinstance(json.loads(as_json(AS_FORM, body)), dict)


def run(bank, journal=None):
    """Return the standing of each obligation."""
    target = read_document(loads(TARGET, str(HERE / "stork.yaml")))
    planned = plan(bind([parse_contract(CONTRACT)], target), target)
    result = run_plan(planned, target, lambda _: bank, journal=Journal(out=journal))
    return {each.obligation.partition("/")[2]: each.standing for each in result.verdicts}


def test_the_sound_bank_conforms_and_its_accounts_stay_private(tmp_path):
    """What is sent as a form is recorded as one, with the numbers of accounts masked."""
    bank, path = STORK(), tmp_path / "journal.jsonl"
    with path.open("w") as journal:
        assert {Standing.CONFORMS} == {*run(bank, journal).values()}
    recorded = path.read_text("utf-8")
    accounts = [
        name for world in bank.worlds.values() for each in world.customers for name in each.accounts
    ]
    assert "payer%5Baccount%5D=" in recorded
    assert not [each for each in accounts if each in recorded]


@pytest.mark.parametrize(
    "fault", [each for each in HERON_FAULTS if "content" in str(each.breaks)], ids=str
)
def test_a_fault_is_found(fault):
    """A form changes nothing of what is judged."""
    found = run(fault.of(STORK)())
    assert fault.breaks == {name for name in found if found[name] is Standing.VIOLATES}


def test_json_in_place_of_a_form_is_named():
    """The doctor names `headers`, and the operation whose request is refused."""
    found = doubts(CONTRACT, TARGET.replace(f"    headers: {{Content-Type: {FORM}}}\n", ""), STORK)
    assert any("headers" == each.key and "seen at pay" in each.hint for each in found), found


def test_a_recorded_form_is_read():
    """As the JSON that it stands for."""
    wire = Wire(
        method="POST",
        url="https://s.example/orders",
        request_headers=AS_FORM,
        request_body=b"payer%5Baccount%5D=1",
    )
    assert {"payer": {"account": "1"}} == ParsedRequest(wire).body
