"""The kind `submission` at the bank beside it: what is submitted is what was signed, once."""

import json
from pathlib import Path

import pytest
from embedded import run_plan
from merlin_bank import CONSENTS, Merlin
from rows import for_each

from assay.binding.read.join import bind
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.plan import plan
from assay.preparation.dry_run import dry_run_trial
from assay.preparation.target_file import read_target
from assay.rules.dry_run import START
from assay.rules.verdict import Standing

TARGET = Path(__file__).parent / "merlin-target.yaml"
RULE = """\
  - id: submit
    kind: submission
    says: A TPP submits what the customer signed, once.
    source: [{section: Here, line: 0}]
    request: payment
    repeats: [amount, creditorAccount]
    consent: read-consent
    afterwards: ended
  - id: payments.read
"""
OPERATION = """\
  read-consent:
    method: GET
    path: /payment-consents/{paymentRequestResourceId}
    by: tpp
    shows: payment
    about: paymentRequestResourceId
  modify-payment:
"""
BINDING = """\
  read-consent:
    path: /payment-consents/{consent-id}
    one: ""
    item:
      key: /paymentRequestResourceId
      state: {at: /status, values: {open: [received, pending], ended: [consumed]}}
  modify-payment:
"""
FACETS = {
    f"submit/{name}"
    for name in (
        "amount-changed-refused",
        "creditorAccount-changed-refused",
        "changed-undone",
        "once",
        "consent-afterwards",
    )
}


@pytest.fixture(scope="session")
def of(tmp_path_factory):
    """Plan the rule for a target file in which the consent has a path of its own."""
    folder = tmp_path_factory.mktemp("submission")
    contract, target = folder / "c.yaml", folder / "t.yaml"
    text = find_contract("pis").read_text()
    text = text.replace("  modify-payment:\n", OPERATION, 1)
    contract.write_text(text.replace("  - id: payments.read\n", RULE, 1))
    target.write_text(TARGET.read_text().replace("  modify-payment:\n", BINDING, 1))
    read = read_target(target)
    bound = bind([parse_contract(contract)], read)
    return plan(bound, read, lambda each: each.id.removeprefix("pis/") in FACETS), read, contract


def run(bank, of):
    """Return the standing of each obligation at a bank."""
    verdicts = run_plan(*of[:2], lambda _: bank).verdicts
    return {each.obligation.removeprefix("pis/"): each.standing for each in verdicts}


def having(verdicts, standing):
    """Return the obligations with a standing."""
    return {name for name, each in verdicts.items() if each is standing}


class Consumes(Merlin):
    """The bank, which shows a consent that was used as consumed."""

    state = "consumed"

    def translated(self, environ, start, path, sent):
        """Answer a read of a consent that was submitted."""
        key = path.rpartition("/")[2]
        if path.startswith(CONSENTS) and key in self.names:
            start("200 OK", [("Content-Type", "application/json")])
            return [json.dumps({"paymentRequestResourceId": key, "status": self.state}).encode()]
        return super().translated(environ, start, path, sent)


class SameAnswer(Consumes):
    """A sound bank: a submission that comes again gets the answer of the first."""

    def submit(self, environ, sent):
        """Answer with the payment that was made."""
        consent = sent.get("consent")
        if consent not in self.names:
            return super().submit(environ, sent)
        return 201, {"paymentId": self.names[consent], "status": "executed"}


class Strict(Consumes):
    """A sound bank: a wrong submission ends the consent."""

    def submit(self, environ, sent):
        """Refuse it, and every later one."""
        status, shown = super().submit(environ, sent)
        if status == 403:
            self.sent[next(reversed(self.sent))] = {}
        return status, shown


class Unread(Consumes):
    """A mutant: what is submitted is not compared with what was signed; what was is executed."""

    def submit(self, environ, sent):
        """Submit what was signed."""
        consent = sent["consent"]
        return super().submit(environ, {**self.sent.get(consent, {}), "consent": consent})


class OtherCreditor(Unread):
    """A mutant: only the amount is compared."""

    def submit(self, environ, sent):
        """Refuse another amount."""
        signed = self.sent.get(sent["consent"], {})
        if sent.get("amount") != signed.get("amount"):
            return 403, {}
        return super().submit(environ, sent)


class RefusesAndExecutes(Unread):
    """A mutant: what differs is refused, and executed as it was signed."""

    def submit(self, environ, sent):
        """Refuse what was executed."""
        said = {name: value for name, value in sent.items() if name != "consent"}
        different = said != self.sent.get(sent["consent"])
        answer = super().submit(environ, sent)
        return (403, {}) if different else answer


class Twice(Consumes):
    """A mutant: a second submission makes another payment."""

    def submit(self, environ, sent):
        """Execute it again, under another id."""
        consent = sent.get("consent")
        if consent not in self.names:
            return super().submit(environ, sent)
        world, _ = self.caller(environ["HTTP_AUTHORIZATION"].removeprefix("Bearer "))
        payment = world.payments.payments[consent]
        payment.status = "pending"
        self.carry_out(world, payment)
        return 201, {"paymentId": f"P-again-{consent}", "status": payment.status}


class StaysSigned(Consumes):
    """A mutant: a consent that was used is shown as one that can be."""

    state = "pending"


class RefusesAll(Consumes):
    """No submission is accepted."""

    def submit(self, environ, sent):
        """Refuse it."""
        return 403, {}


class Fails(Consumes):
    """A bank that fails at every submission but the first of the run."""

    def submit(self, environ, sent):
        """Answer the first only."""
        return (500, {}) if self.names else super().submit(environ, sent)


# -- the bank and its faults -------------------------------------------------------------
@for_each("bank", [Consumes, SameAnswer, Strict])
def test_a_sound_bank_conforms(bank, of):
    """A repeat may be refused or answered as before, and a wrong one may end the consent."""
    verdicts = run(bank(), of)
    assert FACETS == having(verdicts, Standing.CONFORMS)


BREAKS = {
    Unread: {"amount-changed-refused", "creditorAccount-changed-refused"},
    OtherCreditor: {"creditorAccount-changed-refused"},
    RefusesAndExecutes: {"changed-undone"},
    Twice: {"once"},
    StaysSigned: {"consent-afterwards"},
}


@for_each("bank", [*BREAKS])
def test_a_mutant_breaks_its_own_facets(bank, of):
    """No other facet of the rule is violated."""
    verdicts = run(bank(), of)
    broken = {f"submit/{name}" for name in BREAKS[bank]}
    assert broken == having(verdicts, Standing.VIOLATES)


def test_no_submission_at_all_proves_nothing(of):
    """A bank that refuses everything is neither praised nor blamed; nor is one that fails."""
    for bank in (RefusesAll, Fails):
        verdicts = run(bank(), of)
        assert set() == having(verdicts, Standing.CONFORMS) | having(verdicts, Standing.VIOLATES)


def test_each_submission_of_a_probe_is_counted(of):
    """The plan has the calls that a dry run makes."""
    chosen, target, _ = of
    for trial in chosen.trials:
        estimate = dry_run_trial(chosen, trial, target, START)
        assert (trial.calls, "") == (estimate.calls + estimate.signatures, estimate.stopped)


def test_without_a_submission_the_rule_is_unverified(of, tmp_path):
    """The key that is missing is named."""
    target = tmp_path / "t.yaml"
    before, _, after = TARGET.read_text().partition("    submission:")
    rest = after[after.index("  read-payment:") :].replace("  modify-payment:\n", BINDING, 1)
    lines = [line for line in (before + rest).splitlines() if "submitted:" not in line]
    target.write_text("\n".join(lines))
    bound = bind([parse_contract(of[2])], read_target(target))
    chosen = plan(bound, read_target(target), lambda each: each.id == "pis/submit/once")
    (verdict,) = run_plan(chosen, read_target(target), lambda _: Merlin()).verdicts
    assert Standing.UNVERIFIED is verdict.standing
    assert "submission" in verdict.reason
