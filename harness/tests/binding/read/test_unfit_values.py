"""Values and pointers of a target file with which every bank would seem to violate the contract."""

from __future__ import annotations

import pytest

from assay.binding.read.join import bind
from assay.errors import InputError
from assay.parsing.parse import find_contract, parse_contract
from assay.preparation.target_file import read_target

CONTRACT = """\
assay: 1
contract: orders
title: Orders
version: "1"
interface: orders
document: Guide
zone: UTC
resources:
  account: {says: an account, key: iban, fields: [iban]}
  entry: {says: an entry, of: account, key: entryId, fields: [entryId]}
  order: {says: an order, key: orderId, fields: [orderId, payer, price, until, kind]}
operations:
  accounts: {method: GET, path: /accounts, lists: [account]}
  entries:
    {method: GET, path: "/accounts/{iban}/entries", lists: [entry], about: iban, arguments: [X-Id]}
  order:
    method: POST
    path: /orders
    makes: order
    owned: payer
    amount: price
    arguments: [payer, price, until, kind]
  show: {method: GET, path: "/orders/{orderId}", shows: order, about: orderId}
rules:
"""
RULES = """\
  - {id: until, kind: request-field, request: order, field: until, format: date, SAYS}
  - {id: price, kind: request-field, request: order, field: price, decimals: 1, SAYS}
  - {id: payer, kind: request-field, request: order, field: payer, pattern: "^AT", SAYS}
  - {id: kind, kind: fixed, request: order, field: kind, const: TEA, others: [MILK], spelling: unspecified, SAYS}
  - {id: given, kind: mandatory, request: order, fields: [kind], SAYS}
  - {id: ids, kind: required, operations: [entries], argument: X-Id, format: uuid, SAYS}
"""
SAYS = "says: It is so., source: {section: S, line: 1}"
TARGET = """\
assay: 1
target: t
transport: http
base_url: http://127.0.0.1:9
fixtures:
  kind: roles
  offers: [psu, write]
  roles: {a: {token_env: T, owns: [{resource: account, key: AT1}]}}
operations:
  accounts: {list: /accounts, item: {key: /iban, id: /number}}
  entries: {list: /entries, item: {key: /id, id: /id}, arguments: {X-Id: {header: X-Id, value: "{unique}"}}}
  order:
    one: ""
    arguments:
      payer: {body: /payer}
      price: {body: /price, unit: "0.01", value: "40.0"}
      until: {body: /until, value: "{today+30}", other: 2027-02-01}
      kind: {body: /kind, value: TEA}
    item: {key: /id}
  show: {one: "", item: {key: /id}}
"""


@pytest.fixture
def problems(tmp_path):
    """Give a function from a change of the target file to the problems of binding it."""

    def bound(right: str = "", wrong: str = "", below: str = "") -> list[str]:
        contract, path = tmp_path / "orders.yaml", tmp_path / "t.yaml"
        rules = RULES.replace("SAYS", SAYS)
        contract.write_text(f"{CONTRACT}{rules}", encoding="utf-8")
        assert right in TARGET
        path.write_text(TARGET.replace(right, wrong, 1) if right else TARGET, encoding="utf-8")
        if below:
            path = tmp_path / "below.yaml"
            path.write_text(below, encoding="utf-8")
        try:
            bind([parse_contract(find_contract(str(contract)))], read_target(path))
        except InputError as error:
            return [f"{one.line}: {one.what} ({one.hint})" for one in error.problems]
        return []

    return bound


def test_a_file_that_fits(problems) -> None:
    """Placeholders, second values and a unit are judged as what the contract would see."""
    assert [] == problems()


@pytest.mark.parametrize(
    ("right", "wrong", "place", "expected"),
    [
        ('"{today+30}"', '"{today+30}T00:00:00Z"', "17: operations.order.arguments.until.value", "a date"),
        ("2027-02-01", '"2027-02-01T00:00:00Z"', "17: operations.order.arguments.until.other", "a date"),
        ('"40.0"', '"40.01"', "16: operations.order.arguments.price.value", "at most 1 decimals"),
        ("TEA", "COFFEE", "18: operations.order.arguments.kind.value", "'TEA'"),
        ("AT1", "DE1", "8: fixtures.roles.a.owns[0].key", "a text that matches ^AT"),
        ('"{unique}"', '"{now}"', "11: operations.entries.arguments.X-Id.value", "a uuid"),
    ],
)  # fmt: skip
def test_a_value_that_breaks_a_clause(problems, right, wrong, place, expected) -> None:
    """It is named with its line and the clause, because each call with it would convict the bank."""
    (problem,) = problems(right, wrong)
    assert problem.startswith(f"{place}: expected {expected}, found ")
    assert problem.endswith(" allows no other value)")


def test_an_empty_value_of_a_mandatory_argument(problems) -> None:
    """Two clauses are broken by it, and both are named."""
    assert ["kind", "given"] == [
        problem.partition("the clause ")[2].partition(" ")[0]
        for problem in problems("value: TEA", 'value: ""')
    ]


def test_identifiers_of_what_belongs_to_one_item(problems) -> None:
    """They would never be looked up, and the word itself would be sent."""
    (problem,) = problems("{body: /payer}", "{body: /payer, found: entries}")
    assert "15: operations.order.arguments.payer.found: entries lists what belongs" in problem


def test_the_identifier_of_what_nobody_owns(problems) -> None:
    """A fixed value that no role owns is sent as it is, so `found` has no effect on it."""
    assert [] == problems("{body: /payer}", "{body: /payer, found: accounts, value: AT1}")
    (problem,) = problems("{body: /payer}", "{body: /payer, found: accounts, value: AT2}")
    assert "15: operations.order.arguments.payer.value: no customer owns 'AT2'" in problem


@pytest.mark.parametrize(
    ("pointer", "template", "found"),
    [
        ("/kinds/0", "", 1),
        ("/kinds/1/x", "template: {kinds: [null]}", 1),
        ("/kinds/x", "template: {kinds: null}", 1),
        ("/kinds/0", "template: {kinds: [null]}", 0),
        ("/kinds/0", 'template: {kinds: {"0": null}}', 0),
        ("/kinds/x/y", "", 0),
        ("/price/0", "", 0),  # within another argument, which may be a list
    ],
)
def test_a_pointer_at_no_place_of_the_template(problems, pointer, template, found) -> None:
    """An index without a list would make an object, and below a value nothing can be put."""
    wrong = f"body: {pointer}, value: TEA}}\n    {template}"
    assert found == len(problems("body: /kind, value: TEA}", wrong))


def test_null_removes_a_key_of_a_request_after_its_submission(problems) -> None:
    """It removes what the operation has, as with `extends`; where there is nothing, it is an error."""
    end = '  show: {one: "", item: {key: /id}}\n'
    shown = '  show: {one: "", item: {key: /id, fields: {price: /price}}, submitted: {item: {fields: {NAME: null}}}}\n'
    sent = "    submission: {path: /send}\n"
    for name, number in (("price", 0), ("until", 1)):
        assert number == len(problems(end, f"{sent}{shown.replace('NAME', name)}"))


def test_a_base_that_binds_more_contracts(problems, tmp_path) -> None:
    """What it excuses of the others is no mistake of a file that binds fewer; its own is one."""
    base = TARGET + "contracts: [./orders.yaml, pis]\nnot_offered: {duplicate: none}\n"
    base += "absent: {operations: {cancel-payment: none}}\n"
    (tmp_path / "base.yaml").write_text(base, encoding="utf-8")
    below = "assay: 1\ntarget: u\nextends: ./base.yaml\ncontracts: [./orders.yaml]\n"
    assert [] == problems(below=below)
    (problem,) = problems(below=f"{below}not_offered: {{unitl: none}}\n")
    assert "did you mean 'until'?" in problem
