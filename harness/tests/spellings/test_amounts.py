"""Amounts in cents: the key `unit` of an argument and of a field."""

from decimal import Decimal
from functools import cache

import pytest
from cents_bank import CentsBank
from embedded import run_plan, standings
from rows import for_each

from assay.binding.model.spelling import Place, Spelling
from assay.binding.read.join import bind
from assay.binding.wire.values import from_units, in_units
from assay.errors import InputError
from assay.files.load import loads
from assay.onboarding.doctor import examination
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.plan import plan
from assay.preparation.prepare import Prepared
from assay.preparation.target_file import extended, read_document
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.sandbox.app import make_app
from assay.sandbox.mutants import PIS_MUTANTS
from assay.sandbox.policies import SOUND
from assay.traffic.match_request import decode_value

CENT = Decimal("0.01")
#: What the target file of the bank says beyond that of the sandbox.
FILE = """\
assay: 1
target: cents
extends: sandbox
contracts: [pis]
hosts: null
operations:
  create-payment:
    arguments: {amount: {unit: "0.01"}}
    modes:
      several: {value: {paymentType: immediate, transfers: [{amount: 100}, {amount: 200}]}}
  read-payment:
    item: {fields: {amount: {at: /amount, unit: "0.01"}}}
  modify-payment:
    arguments: {amount: {unit: "0.01"}}
"""


@for_each(
    ("amount", "count"),
    [
        ("40.00", 4000),
        ("0.01", 1),
        ("-1.5", -150),
        (Decimal("15000.01"), 1_500_001),
        (12, 1200),
        ("0.005", 0.5),
        ("1E2", "1E2"),
        ("", ""),
        (None, None),
        (True, True),
        (10**400, 10**400),
        (["1.00"], ["1.00"]),
    ],
)
def test_an_amount_is_sent_as_a_number_of_units(amount, count):
    """Exactly; what is no plain number is sent as it is."""
    sent = in_units(amount, CENT)
    assert (count, type(count)) == (sent, type(sent))


@for_each(
    ("count", "amount"),
    [(4000, "40.00"), ("4000", "40.00"), (1, "0.01"), (0.5, "0.005"), ("-", "-"), (False, False)],
)
def test_a_number_of_units_is_read_as_an_amount(count, amount):
    """In the main unit of the currency, as a text; anything else as it is."""
    read = from_units(count, CENT)
    assert (amount, type(amount)) == (read, type(read))


@pytest.mark.parametrize("number", ["1e999999999", "1e-999999999"])
def test_a_number_beyond_any_amount_is_read_as_it_is(number):
    """A bank cannot make us write out a number with a billion digits."""
    assert Decimal(number) == from_units(Decimal(number), CENT)


def test_a_recorded_amount_is_read_in_the_main_unit():
    """A client that sent 4000 cents paid 40 euros."""
    spelling = Spelling(place=Place.BODY, name="/amount", unit=CENT)
    assert "40.00" == decode_value(4000, spelling, {})


@for_each("unit", ["0", "0.00", "cent", "-1", "1e2", ""])
def test_a_unit_is_a_positive_number(unit):
    """Any other is refused at its line."""
    text = FILE.replace('{unit: "0.01"}', f'{{unit: "{unit}"}}', 1)
    with pytest.raises(InputError, match=r"arguments\.amount\.unit: expected what an amount"):
        read_document(extended(loads(text)))


@cache
def prepared(text=FILE):
    """Return the plan of a target file."""
    target = read_document(extended(loads(text)))
    bound = bind([parse_contract(find_contract("pis"))], target)
    return Prepared(target=target, bound=bound, plan=plan(bound, target), reproduce="")


def verdicts(bank, of=None):
    """Run everything; return the standing of each obligation."""
    of = of or prepared()
    return standings(run_plan(of.plan, of.target, lambda _: bank))


def test_a_bank_that_counts_cents_gets_the_verdicts_of_one_that_counts_euros():
    """Nothing is violated or undecided because of the unit."""
    in_euros = prepared("assay: 1\ntarget: euros\nextends: sandbox\nhosts: null\n")
    assert verdicts(make_app(SOUND), in_euros) == verdicts(CentsBank())


@pytest.mark.parametrize("name", ["pis.content.amount", "pis.modify.keeps-amount"])
def test_another_amount_is_found(name):
    """A fault about amounts violates the same obligations behind the gate."""
    (mutant,) = (each for each in PIS_MUTANTS if each.id == name)
    found = verdicts(CentsBank(mutant.change(SOUND)))
    violated = {each for each, one in found.items() if one is Standing.VIOLATES}
    # What is changed and shown as before differs from what was asked for, too.
    assert mutant.breaks <= violated <= mutant.breaks | {"pis/payments.content/amount"}


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('arguments: {amount: {unit: "0.01"}}\n    modes', "arguments: {}\n    modes", "amount"),
        ('{at: /amount, unit: "0.01"}', "/amount", "read-payment.item.fields.amount"),
        ('{at: /amount, unit: "0.01"}', '{at: /amount, unit: "0.001"}', "fields.amount"),
    ],
)
def test_a_unit_that_is_missing_or_wrong_is_named(old, new, line, monkeypatch):
    """The doctor names the argument or the field, and the unit that fits."""
    assert old in FILE
    monkeypatch.setattr(
        examination, "set_up", lambda target, **how: set_up(target, bank=lambda _: CentsBank())
    )
    examined = examination.examine("cents.yaml", prepared=prepared(FILE.replace(old, new)))
    assert any(line in finding.key for finding in examined.blocking), examined.blocking
