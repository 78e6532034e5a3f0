"""The schema of an argument is that of what is sent: own ids, words, shapes and formats."""

from dataclasses import replace

from documented import STET, joined, made
from jsonschema import Draft202012Validator
from rows import for_each
from test_document import mine, operation, sent

from assay.binding.model.spelling import Place, Spelling
from assay.binding.wire.values import RequestValues
from assay.binding.wire.values import sent as sent_by_target
from assay.openapi import document
from assay.openapi.schemas import sent_schema

TEXT = {"type": "string", "minLength": 1}
DAY = {"type": "string", "format": "date"}


def spelling(**keys):
    """Return where an argument goes, with what its value is made into."""
    return Spelling(place=Place.BODY, name="/x", **keys)


FOUND = RequestValues(ids={"K1": "own-1"}, resources={"K1": "card"})
SHAPES = {"": {"iban": "{}"}, "card": {"other": {"id": "{}", "scheme": "CPAN"}}}


@for_each(
    ("schema", "keys", "value"),
    [
        ({"const": "SLEV"}, {}, "SLEV"),
        ({"const": "SLEV"}, {"words": {"SLEV": 7}}, "SLEV"),
        ({"const": "SLEV"}, {"text": "a-{}"}, "SLEV"),
        ({"const": "SLEV"}, {"each": {"": ["{}"]}}, "SLEV"),
        ({"enum": ["a", "b"]}, {"words": {"a": {"own": 1}}}, "b"),
        ({"enum": ["a", "b"]}, {"words": {"a": {"own": 1}}}, "a"),
        ({"type": "boolean"}, {"words": {"true": "Y"}}, True),
        (DAY, {"text": "{}T00:00:00.000"}, "2026-03-04"),
        (DAY, {"exclusive": True}, "2026-03-04"),
        ({"type": "string", "format": "iban"}, {"found": "accounts"}, "K1"),
        (TEXT, {"each": SHAPES}, "K1"),
        ({"type": "array", "items": TEXT}, {"each": SHAPES}, ["K1", "other"]),
    ],
)
def test_what_is_sent_fits(schema, keys, value):
    """The value that a target sends fits the schema, whatever it makes of the contract's."""
    place = spelling(**keys)
    checked = Draft202012Validator(
        sent_schema(schema, place, required=True),
        format_checker=Draft202012Validator.FORMAT_CHECKER,
    )
    assert [] == [*checked.iter_errors(sent_by_target(value, place, FOUND))]


@for_each(
    ("schema", "keys", "sent"),
    [
        ({"const": "SLEV"}, {"words": {"SLEV": 7}}, "SLEV"),
        ({"const": "SLEV"}, {"text": "a-{}"}, "SLEV"),
        ({"const": "EUR"}, {"each": {"": {"code": "{}"}}}, {"code": "USD"}),
        ({"enum": ["a", "b"]}, {"words": {"a": 1}}, "a"),
        (DAY, {"text": "{}T00:00:00"}, 5),
        (TEXT, {"each": SHAPES}, "K1"),
        (TEXT, {"each": SHAPES}, {"other": {"id": ""}}),
        (TEXT, {"each": SHAPES}, {}),
        ({"type": "array", "items": TEXT}, {"each": SHAPES}, [{"iban": 1}]),
    ],
)
def test_what_the_contract_forbids_does_not_fit(schema, keys, sent):
    """A constraint of a clause is not lost in the shape of the target."""
    made_of = sent_schema(schema, spelling(**keys), required=True)
    assert not Draft202012Validator(made_of).is_valid(sent)


def test_a_pointer_into_a_list_of_the_template_leads_into_that_list():
    """The template of a STET payment has a list of transfers, with the amount in the first."""
    transfers = sent("create-payment", made(*STET))["properties"]["creditTransferTransaction"]
    (first,) = transfers["prefixItems"]
    assert "array" == transfers["type"]
    amount = first["properties"]["instructedAmount"]["properties"]
    assert {"const": "EUR"}.items() <= amount["currency"].items()


def test_a_mandatory_argument_is_required_in_its_shape():
    """The creditor of a STET payment is mandatory, and so is the IBAN in it."""
    beneficiary = sent("create-payment", made(*STET))["properties"]["beneficiary"]
    creditor = beneficiary["properties"]["creditorAccount"]
    assert (["creditorAccount"], ["iban"]) == (beneficiary["required"], creditor["required"])


def test_a_mode_may_stand_where_an_argument_stands(tmp_path):
    """The value of a mode is allowed besides the argument's own, and no other one is demanded."""
    text = """\
operations:
  create-payment:
    arguments: {amount: {body: /a, value: "1.50"}}
    modes: {instant: {body: /a, value: []}, deferred: {body: /m, value: later}}
    template: {m: now}"""
    fields = sent("create-payment", mine(tmp_path, text))["properties"]
    checked = {name: Draft202012Validator(schema) for name, schema in fields.items()}
    assert [True, True, False] == [checked["a"].is_valid(each) for each in ("2.00", [], [1])]
    assert [True, True, False] == [checked["m"].is_valid(each) for each in ("later", "now", "no")]


def test_each_place_of_an_argument_is_described(tmp_path):
    """An argument with several pointers stands at each."""
    text = "operations: {create-payment: {arguments: {chargeBearer: {body: [/a, /b/c]}}}}"
    fields = sent("create-payment", mine(tmp_path, text))["properties"]
    assert "SLEV" == fields["a"]["const"] == fields["b"]["properties"]["c"]["const"]


def test_a_link_leads_by_the_own_id_of_the_bank():
    """Where a path has the bank's own id of an account, a link takes that, and not its key."""
    doc = made(*STET)
    links = operation("accounts", doc)["responses"]["200"]["links"]
    value = links["balances"]["parameters"]["path.accountResourceId"]
    assert "$response.body#/accounts/0/resourceId" == value


def test_a_generated_value_is_no_constant():
    """What is generated for each request is described by its type."""
    bound, target = joined(*STET)
    pis = target.operations["cancel-payment"]
    own = replace(pis.arguments["cancellation"], value="{unique}")
    binding = replace(pis, arguments={**pis.arguments, "cancellation": own})
    doc = document(
        bound, replace(target, operations={**target.operations, "cancel-payment": binding})
    )
    _, cancelled = sent("modify-payment-or-cancel-payment", doc)["anyOf"]
    assert "const" not in cancelled["properties"]["paymentInformationStatus"]
