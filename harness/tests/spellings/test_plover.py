"""A bank that counts in cents, takes whole orders, deletes, and names an account in two ways."""

from functools import cache
from pathlib import Path

import pytest
from plover_bank import Plover

from assay.rules.verdict import Standing
from assay.testing import verdicts

HERE = Path(__file__).parent
CONTRACT, TARGET = HERE / "plover.yaml", HERE / "plover-target.yaml"
#: What takes a clock, of which the bank has none to move.
OPEN = {"move/carried-out-as-changed", "move/done-refused", "call-off/by-tpp-never-done"}
OPEN |= {"call-off/by-customer-shown", "call-off/by-customer-never-done"}


@cache
def standings(bank):
    """Run the contract against a bank."""
    return verdicts(CONTRACT, TARGET, bank())


class InEuro(Plover):
    """The price is shown in euro, and taken in cents."""

    breaks = frozenset({"content/price", "move/persists"})

    def shown_price(self, cents):
        """Return euro."""
        return cents / 100


class AnotherBalance(Plover):
    """Under the other name, another balance is shown."""

    breaks = frozenset({"balances/aliases-agree"})

    def by_iban(self, amount):
        """Return another balance."""
        return amount + 1


class ForgetsMemo(Plover):
    """A change keeps the memo that the order had."""

    breaks = frozenset({"move/persists"})

    def changed(self, body, sent):
        """Return an order with the former memo."""
        return {**sent, "memo": body["memo"]}


class StaysOn(Plover):
    """An order that is called off stays open."""

    breaks = frozenset({"call-off/by-tpp-shown"})

    def called_off(self, order):
        """Do nothing."""


class Confirms(Plover):
    """A confirmation is served."""

    breaks = frozenset({"confirm/refused-once-made"})

    def confirm(self):
        """Return success."""
        return 200


FAULTS = [InEuro, AnotherBalance, ForgetsMemo, StaysOn, Confirms]


def test_the_sound_bank_conforms():
    """Every obligation that needs no clock is tested, and conforms."""
    standing = standings(Plover)
    assert {n for n in standing if standing[n] is not Standing.CONFORMS} == OPEN, standing


@pytest.mark.parametrize("bank", FAULTS, ids=lambda bank: bank.__name__)
def test_a_fault_violates_what_it_breaks(bank):
    """A fault turns its own obligations red and no other."""
    standing = standings(bank)
    assert {n for n in standing if standing[n] is Standing.VIOLATES} == bank.breaks
