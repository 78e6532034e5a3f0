"""Banks with a fault: which lines of a sound target file are questioned because of it."""

import pytest
from examined_banks import embed

from assay.onboarding.doctor import examination
from assay.sandbox.mutants import MUTANTS, NEUTRAL, PIS_MUTANTS, PIS_NEUTRAL

pytestmark = pytest.mark.slow

FAULTY = {one.id: one.change for one in (*MUTANTS, *PIS_MUTANTS)}
SOUND_ENOUGH = {one.id: one.change for one in (*NEUTRAL, *PIS_NEUTRAL)}
ACCOUNTS = {one.id for one in NEUTRAL}
#: What only the bank's developers know: it does less than the target file says, or uses one word for two
#: states.
ASKED = {
    "pis.cancelled-is-rejected": [("doubt", "operations.read-payment.item.state.values.rejected")],
    "pis.amount-modifiable": [("doubt", "operations.modify-payment.arguments.creditorAccount")],
    "pis.creditor-modifiable": [("doubt", "operations.modify-payment.arguments.amount")],
    "pis.day-modifiable": [("doubt", "operations.modify-payment.arguments.amount")],
}


@pytest.fixture
def examined(monkeypatch):
    """Return a function that examines the embedded sandbox with changed policies."""

    def examined(change):
        embed(monkeypatch, change)
        return [(one.weight.value, one.key) for one in examination.examine(None).findings]

    return examined


@pytest.mark.parametrize("name", SOUND_ENOUGH)
def test_another_bank_that_is_sound(name, examined):
    """A bank that differs only in what the contract leaves open is not doubted."""
    found = [
        each for each in examined(SOUND_ENOUGH[name]) if name in ACCOUNTS or each[0] == "doubt"
    ]
    assert ASKED.get(name, []) == found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        # No line explains a failure, or JSON that breaks off: the run tells whose that is.
        (
            "available.accounts-500",
            [("not seen", "operations.accounts"), ("not seen", "presence.header")],
        ),
        ("form.balances-cut-off", [("not seen", "operations.balances")]),
        ("pis.modify.never", [("not seen", "operations.modify-payment")]),
        # Faults of meaning, where all is spelt as it should be.
        ("quota.accounts-five-a-day", []),
        ("paging.accounts-first-page-long", []),
        ("eligible.savings-listed", []),
        # Here nobody can tell a fault of the bank from one of the file.
        ("quota.accounts-unlimited", [("doubt", "presence.header")]),
        ("attended.refused-after-batch", [("doubt", "presence.header")]),
        ("paging.accounts-stops-early", [("doubt", "operations.accounts.next")]),
        ("links.accounts-next-elsewhere", [("doubt", "hosts")]),
        (
            "consistent.range-from-anywhere",
            [("doubt", "operations.transactions.arguments.since")],
        ),
        (
            "consistent.reading-takes-a-cent",
            [("doubt", "operations.balances.item.volatile")],
        ),
        ("identity.misnamed", [("doubt", "operations.accounts.values.PsuIdentity")]),
    ],
)
def test_a_bank_with_a_fault(name, found, examined):
    """Findings name only keys that could explain the fault of the bank."""
    assert found == examined(FAULTY[name])
