"""What the bodies of refusals say, by the key `error` of a target file."""

import json
from pathlib import Path

import pytest
from rows import for_each

from assay.binding.read.join import bind
from assay.binding.wire.decode import MOST_ERRORS, body_of, decode
from assay.contract.model import Operation
from assay.errors import InputError
from assay.files.load import dump, loads
from assay.history import ErrorBody, ShownError, Wire
from assay.parsing.parse import parse_contract, parse_document
from assay.planning.plan import Disposition, plan
from assay.preparation.target_file import read_document

OPERATION = Operation(id="accounts", method="GET", path="/accounts")
HEAD = "assay: 1\ntarget: t\ntransport: http\nbase_url: https://bank.example\n"


def target(error):
    """Return a target whose file has this text under `error`."""
    return read_document(loads(f"{HEAD}error: {error}\n", "target.yaml"))


def shown(error, body, status=403):
    """Return what is read from the body of a refusal."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    wire = Wire(method="GET", url="https://bank.example/accounts", status=status, body=raw)
    return decode(wire, body_of(wire), OPERATION, target(error)).error


def codes(error, body):
    """Return the codes of each error."""
    return [each.codes for each in shown(error, body).errors]


def test_errors_in_a_list():
    """NextGenPSD2: each error has its fields and its code; a field that is missing is left out."""
    body = {"tppMessages": [{"category": "ERROR", "code": "A"}, {"category": "WARNING"}, "?"]}
    assert ErrorBody(
        located=("code", "category"),
        errors=(
            ShownError(fields={"category": "ERROR"}, codes=("A",)),
            ShownError(fields={"category": "WARNING"}),
            ShownError(),
        ),
    ) == shown("{list: /tppMessages, code: /code, fields: {category: /category}}", body)


def test_the_body_is_the_error():
    """RFC 9457: without a list, the body is the only error; so is what `one` points at."""
    problem = {"type": "https://bank.example/expired", "status": 401}
    assert [("https://bank.example/expired",)] == codes("{code: /type}", problem)
    assert [("E1",)] == codes("{one: /error, code: /code}", {"error": {"code": "E1"}})
    assert [] == codes("{one: /error, code: /code}", {"error": "E1"})


@for_each("body", [b"", b"<html>", [], "x", {"errors": {}}, {"errors": []}])
def test_no_errors(body):
    """A body that has none at the place, or is no JSON, has no errors; that is known."""
    assert ErrorBody(located=("code",)) == shown("{list: /errors, code: /code}", body)


def test_without_the_key_nothing_is_known():
    """A target file without `error` says nothing of bodies."""
    plain = read_document(loads(HEAD, "target.yaml"))
    wire = Wire(method="GET", url="https://bank.example/accounts", status=404, body=b"{}")
    assert decode(wire, {}, OPERATION, plain).error is None


def test_codes_are_spelled_by_the_bank():
    """A code may have several spellings, and one spelling may stand for several codes."""
    error = "{code: /code, codes: {A: [a1, 7], B: [a1], C: A}}"
    assert [("A", "B")] == codes(error, {"code": "a1"})
    assert [("A",)] == codes(error, {"code": 7})
    assert [("A",)] == codes(error, {"code": "7"})
    assert [("C",)] == codes(error, {"code": "A"})
    assert [("x",)] == codes(error, {"code": "x"})


def test_a_code_that_is_spelled_otherwise_does_not_stand_for_itself():
    """The target file says that the bank has another word for it."""
    ((code,),) = codes("{code: /code, codes: {B: b}}", {"code": "B"})
    assert "B" != code


@pytest.mark.parametrize("code", [None, "", [], {}, {"a": 1}])
def test_what_is_no_code(code):
    """A code is a text or a number."""
    assert [()] == codes("{code: /code}", {"code": code})


def test_only_the_first_errors_are_read():
    """A hostile body with many errors costs little."""
    body = {"errors": [{"code": "A"}] * (MOST_ERRORS + 1)}
    assert MOST_ERRORS == len(codes("{list: /errors, code: /code}", body))


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        ("{list: /errors, one: /error, code: /code}", "expected nothing here"),
        ("{list: /errors, codes: {A: a}}", "code"),
        ("{}", "expected where the body of a refusal has its errors"),
        ("{code: code}", "expected a JSON pointer"),
    ],
)
def test_wrong_keys(error, problem):
    """What cannot be read is named, with its line."""
    with pytest.raises(InputError) as raised:
        target(error)
    assert problem in str(raised.value.problems[0])
    assert 5 == raised.value.problems[0].line


# -- names -----------------------------------------------------------------------------
DESK = Path(__file__).parents[1] / "general_kinds"


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("NO_TOKEN: token", "NO_TOKENS: token", "no contract has the code 'NO_TOKENS'"),
        ("fields: {class:", "fields: {klass:", "no contract has the error field 'klass'"),
    ],
)
def test_a_misspelt_name_is_named_with_its_line(right, wrong, problem):
    """A code or a field that no rule names would have no effect."""
    text = (DESK / "errors-target.yaml").read_text("utf-8")
    line = text[: text.index(right)].count("\n") + 1
    read = read_document(loads(text.replace(right, wrong), "target.yaml"))
    contract = parse_contract(DESK / "errors.yaml")
    with pytest.raises(InputError) as raised:
        bind([contract], read)
    (only,) = raised.value.problems
    assert problem in str(only)
    assert line == only.line


def test_a_rule_that_refuses_nothing_has_no_code(tmp_path):
    """A key without an effect is an error of the contract."""
    text = (DESK / "errors.yaml").read_text("utf-8")
    path = tmp_path / "errors.yaml"
    path.write_text(text.replace("    others: refused\n", ""), "utf-8")
    with pytest.raises(InputError) as raised:
        parse_contract(path)
    assert ["code", "refusal-status"] == [
        each.key.rpartition(".")[2] for each in raised.value.problems
    ]
    assert all("no obligation of the rule expects" in str(each) for each in raised.value.problems)


@pytest.mark.parametrize(("named", "asked"), [("entries", False), ("entries, accounts", True)])
def test_a_rule_about_what_is_absent_is_about_nothing_else(named, asked):
    """If none of its operations is left, the rule about errors is not applicable."""
    before = "statuses: [400, 401, 404, 409, 422, 429]"
    text = (DESK / "errors.yaml").read_text("utf-8")
    text = text.replace(before, f"{before}\n    operations: [{named}]")
    spelled = loads((DESK / "errors-target.yaml").read_text("utf-8"), "target.yaml").data
    del spelled["operations"]["entries"]
    spelled["absent"] = {"operations": {"entries": "nothing is booked"}}
    read = read_document(loads(dump(spelled), "target.yaml"))
    (bound,) = bind([parse_document(loads(text, "errors.yaml"))], read)
    items = [each for each in plan([bound], read).items if each.obligation.clause == "errors"]
    assert {asked} == {each.disposition is Disposition.ASK for each in items}
