"""Payments whose consent has a token that submits it: the shipped contract judges them as any others."""

from pathlib import Path

import pytest
from command_line import assay
from morgan_bank import Morgan
from morgan_faults import FAULTS, NEUTRAL

from assay.parsing.parse import find_contract
from assay.rules.verdict import Standing
from assay.testing import verdicts

CONTRACT, TARGET = find_contract("pis"), Path(__file__).parent / "morgan-target.yaml"
#: What does not apply: customers return to the address of the client, not to one of the payment.
RETURN = {"report-url/after-signing", "report-url/only-there"}
#: What needs another host or bank, an hour that the clocks skip, or screens that sign at one moment.
ELSEWHERE = {
    *("host/every-host", "maintenance/short-night", "duplicate/at-once"),
    *(f"host/{name}-payment-elsewhere" for name in ("read", "modify", "cancel")),
}


def violated(found):
    """Return the obligations that are violated."""
    return {name for name, standing in found.items() if standing is Standing.VIOLATES}


@pytest.mark.parametrize("bank", NEUTRAL, ids=lambda each: each.__name__)
def test_a_sound_bank_conforms(bank):
    """Every payment is authorised, and submitted with its own token."""
    found = verdicts(CONTRACT, TARGET, bank())
    known = {Standing.CONFORMS, Standing.UNSPECIFIED}

    assert RETURN | ELSEWHERE == {name for name, each in found.items() if each not in known}
    assert {Standing.NOT_APPLICABLE} == {found[name] for name in RETURN}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda each: each.name)
def test_a_fault_turns_its_own_obligations_red(fault):
    """A violation is reported for what the fault breaks, and for nothing else."""
    assert fault.is_all_of(violated(verdicts(CONTRACT, TARGET, fault.of(Morgan)())))


class WithoutCodes(Morgan):
    """A bank that returns the customer without a code."""

    def code(self, consent):
        return ""


def test_a_payment_whose_customer_returns_without_a_code_is_not_judged():
    """The line of the target file is named, and the bank is not blamed for what was not submitted."""
    found = verdicts(CONTRACT, TARGET, WithoutCodes())

    assert set() == violated(found)
    assert Standing.INDETERMINATE is found["execution/main-flow"]


class RejectsAll(Morgan):
    """A bank that answers every authorization with an error, once the customer has confirmed."""

    def answer_to(self, status):
        return "access_denied"


class RejectsTheClient(RejectsAll):
    """A bank that answers every authorization with an error that is one of the client."""

    def answer_to(self, status):
        return "unauthorized_client"


def test_an_error_of_the_client_is_one_of_the_target_file():
    """Nothing is violated by a bank that does not know the client."""
    assert set() == violated(verdicts(CONTRACT, TARGET, RejectsTheClient()))


def test_a_bank_that_lets_no_payment_be_authorised_violates_the_main_flow():
    """The customer confirmed; what comes of it is the bank's own decision."""
    assert "execution/main-flow" in violated(verdicts(CONTRACT, TARGET, RejectsAll()))


def test_the_reason_names_the_address_to_which_customers_return(tmp_path):
    """It is that of the OAuth client."""
    _, shown, _ = assay("plan", "-c", "pis", "-t", TARGET, "-k", "report-url", cwd=tmp_path)
    assert "to auth.redirect_uri" in shown
