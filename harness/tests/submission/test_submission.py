"""A bank where a consent precedes a payment: the shipped contract judges it as any other bank."""

import json
import os
from functools import cache
from pathlib import Path

import merlin_faults
import pytest
from click.testing import CliRunner
from embedded import run_plan
from merlin_bank import Merlin
from rows import for_each

from assay.binding.model.spelling import Place
from assay.binding.read.join import bind
from assay.cli.main import group
from assay.contexts.context import Depth
from assay.errors import InputError
from assay.journal.writer import Journal
from assay.onboarding.doctor import examination
from assay.openapi import document
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.contextual import with_contexts
from assay.planning.plan import plan
from assay.preparation.dry_run import dry_run_trial
from assay.preparation.target_file import read_target
from assay.proof.contextual_neutral import run_trials
from assay.rules.dry_run import START
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.sandbox.mutants import PIS_MUTANTS
from assay.sandbox.policies import SOUND

HERE = Path(__file__).parent
TARGET = HERE / "merlin-target.yaml"
#: The obligations that a bank with another place of refusals could violate wrongly.
REFUSALS = "pis/duplicate/repeat-refused pis/duplicate/amount-changed-accepted"
#: Whether the banks are tried in all contexts, too, and with each fault of the sandbox bank.
WHOLE = bool(os.environ.get("ASSAY_SUBMISSIONS"))
#: The faults that this bank cannot have: nothing is executed without a submission, it is alone in its
#: group, and its target file offers no calls at one moment.
IMPOSSIBLE = {
    "pis.host.first-form-only",
    "pis.host.read-elsewhere",
    "pis.host.modify-elsewhere",
    "pis.host.cancel-elsewhere",
    "pis.read.unknown-answered",
    "pis.modify.unknown-answered",
    "pis.duplicate.races",
    "pis.embedded.body-in-create",
    "pis.embedded.query-in-read",
    "pis.embedded.body-in-modify",
    "pis.sca.immediate-unsigned",
    "pis.sca.deferred-unsigned",
    "pis.sca.small-unsigned",
    "pis.sca.tiny-unsigned",
    "pis.sca.refused-executed",
    "pis.sca.refused-executed-on-its-day",
    "pis.redirect.idle-executes-deferred",
    "pis.redirect.overall-executes-deferred",
    "pis.execution.refused-executed",
    "pis.execution.repeat-reopened",
}


@cache
def planned(selected="", contract="pis", target=TARGET):
    """Return the plan of a contract, or of what is selected of it, and the target."""
    read = read_target(target)
    chosen = selected.split()
    bound = bind([parse_contract(find_contract(contract))], read)
    return plan(bound, read, lambda each: not chosen or each.id in chosen), read


def run(bank, of, journal=None):
    """Run a plan against a bank; return the standing of each obligation, without its contract."""
    result = run_plan(*of, lambda _: bank, journal=journal)
    return {each.obligation.partition("/")[2]: each.standing for each in result.verdicts}


def having(verdicts, *wanted):
    """Return the obligations with one of some standings."""
    return {name for name, each in verdicts.items() if each in wanted}


def written(path, old="", new=""):
    """Write the target file with one change."""
    text = TARGET.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path


# -- the bank and its faults -------------------------------------------------------------
def test_the_sound_bank_conforms():
    """Every obligation is tested except that of a second host, which the bank does not have."""
    verdicts = run(Merlin(), planned())
    assert set() == having(verdicts, Standing.VIOLATES, Standing.INDETERMINATE)
    assert {"host/every-host"} == having(verdicts, Standing.UNVERIFIED)


@for_each("fault", merlin_faults.FAULTS)
def test_a_fault_is_found(fault):
    """Each fault violates its own obligations, and no other."""
    names = " ".join(f"pis/{name}" for name in sorted(fault.breaks))
    verdicts = run(fault.of(Merlin)(), planned(f"{names} pis/payments.content/amount"))
    assert fault.is_all_of(having(verdicts, Standing.VIOLATES))


@pytest.mark.parametrize(
    ("bank", "selected"),
    [
        (merlin_faults.JudgesSubmissions, REFUSALS),
        (merlin_faults.ForgetsRefusals, REFUSALS),
        (merlin_faults.Impatient, "pis/execution/main-flow pis/execution/once"),
        (merlin_faults.Strict, "pis/sca.required/nothing-before-signing"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_another_sound_bank_conforms(bank, selected):
    """A refusal at either place is one, and what a bank does early or strictly is no fault."""
    assert {Standing.CONFORMS} == set(run(bank(), planned(selected)).values())


@pytest.mark.skipif(not WHOLE, reason="takes 20 s: set ASSAY_SUBMISSIONS")
@pytest.mark.parametrize("bank", [Merlin, *merlin_faults.SOUND_VARIANTS])
def test_sound_banks_conform_in_every_context(bank):
    """There is no false alarm in any situation in which a trial is repeated."""
    whole, target = planned()
    contextual = with_contexts(whole, target, Depth.EACH).plan
    assert set() == run_trials(lambda _: bank(), contextual, target)[1]


@pytest.mark.skipif(not WHOLE, reason="takes a minute: set ASSAY_SUBMISSIONS")
@pytest.mark.slow
def test_faults_of_the_sandbox_are_found_here_too():
    """Each turns its own obligations red, by their own trials or by those of other clauses."""

    def missed(mutant, selected):
        verdicts = run(Merlin(mutant.change(SOUND)), planned(selected))
        return mutant.breaks - {f"pis/{name}" for name in having(verdicts, Standing.VIOLATES)}

    possible = [mutant for mutant in PIS_MUTANTS if mutant.id not in IMPOSSIBLE]
    rest = [mutant for mutant in possible if missed(mutant, " ".join(sorted(mutant.breaks)))]
    assert {} == {mutant.id: found for mutant in rest if (found := missed(mutant, ""))}


# -- other ways to submit ----------------------------------------------------------------
def test_the_token_of_the_customer(tmp_path):
    """`by: customer` submits what the TPP made with the token of its customer."""
    by_customer = "    submission:\n      by: customer\n"
    target = written(tmp_path / "t.yaml", "    submission:\n", by_customer)
    selected = "pis/execution/main-flow"
    own = run(merlin_faults.TakesCustomers(), planned(selected, target=target))
    assert {Standing.CONFORMS} == set(own.values())
    others = run(merlin_faults.TakesCustomers(), planned(selected))
    assert {Standing.UNVERIFIED} == set(others.values())


def test_what_takes_no_signature_is_submitted_at_once(tmp_path):
    """Where the call that makes a request is all that it takes, its submission follows."""
    parcels = HERE.parent / "unsigned"
    target = tmp_path / "parcels.yaml"
    text = (parcels / "parcels-target.yaml").read_text()
    text = text.replace(
        "    modes:\n      now:",
        "    outputs: {consent-id: /paymentRequestResourceId}\n"
        '    submission: {path: /payments, template: {consent: "{consent-id}"}, '
        "item: {key: /paymentId}}\n    modes:\n      now:",
    )
    text = text.replace("path: /payment-requests/{id}", "path: /payment-consents/{id}")
    text = text.replace("path: /payment-requests\n", "path: /payment-consents\n")
    text = text.replace(
        "  show:\n",
        '  show:\n    submitted: {path: "/payments/{id}", item: {key: /paymentRequestResourceId}}\n',
    )
    for name in ("change", "recall"):
        text = text.replace(
            f"  {name}:\n", f'  {name}:\n    submitted: {{path: "/payments/{{id}}"}}\n'
        )
    target.write_text(text)
    of = planned(
        "parcels/twice/repeat-refused parcels/fetched/main-flow parcels/change/amount-changed",
        str(parcels / "parcels.yaml"),
        target,
    )
    assert {Standing.CONFORMS} == set(run(merlin_faults.Unsigned(), of).values())


def test_what_a_submission_does_not_say_is_as_at_the_operation(tmp_path):
    """An argument is moved or left out, words of outcomes are added, and the rest is the same."""
    own = (
        "      arguments: {amount: {header: X-Amount}, currency: null}\n"
        "      outcomes: {rejected: [{statuses: [409]}]}\n      item:"
    )
    target = read_target(written(tmp_path / "t.yaml", "      item:", own))
    operation = target.operations["create-payment"]
    submission = operation.submission
    assert {*operation.arguments} - {"currency"} == {*submission.arguments}
    moved, former = submission.arguments["amount"], operation.arguments["amount"]
    assert (Place.HEADER, "X-Amount", former.value) == (moved.place, moved.name, moved.value)
    assert Place.BODY is former.place
    assert (operation.modes, "") == (submission.modes, submission.one)
    assert ("409",) == submission.outcomes.rejected[0].statuses
    assert target.outcomes.accepted == submission.outcomes.accepted
    assert (operation.outputs, {}) != (submission.outputs, {})
    assert None is submission.approval is submission.credentials


def test_an_outage_is_no_refusal():
    """A submission that the bank does not answer leaves the obligations unverified."""
    selected = "pis/execution/main-flow pis/duplicate/repeat-refused"
    verdicts = run(merlin_faults.Fails(), planned(selected))
    assert {Standing.UNVERIFIED} == set(verdicts.values())


# -- plan, journal and document ----------------------------------------------------------
def test_every_submission_is_counted():
    """The plan counts the calls that a run makes, with each submission."""
    chosen, target = planned("pis/execution/main-flow pis/sca.required/nothing-after-refusal")
    for trial in chosen.trials:
        estimate = dry_run_trial(chosen, trial, target, START)
        assert (trial.calls, "") == (estimate.calls + estimate.signatures, estimate.stopped)


def test_a_journal_has_the_submissions(tmp_path):
    """They are judged again with it, quoted as evidence, and exported."""
    path = tmp_path / "journal.jsonl"
    fault, selected = merlin_faults.FORGETS_RULES.of(Merlin)(), "pis/duplicate/repeat-refused"
    seen = run(fault, planned(selected), journal=Journal.at(path))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    named = [line["n"] for line in lines if line.get("operation") == "create-payment.submission"]
    (verdict,) = [line for line in lines if line["type"] == "verdict"]
    assert set(named) & {n for each in verdict["evidence"] for n in each["exchanges"]}
    assert {"duplicate/repeat-refused": Standing.VIOLATES} == seen
    runner = CliRunner()
    judged = ("judge", path, "--contract", "pis", "--target", TARGET, "--out", tmp_path / "again")
    result = runner.invoke(group, [*map(str, judged), "-k", "duplicate"])
    assert f"✗ {selected}  violates" in result.output
    assert "exit code 1" in result.output
    har = runner.invoke(group, ["report", str(path), "--format", "har"])
    urls = [entry["request"]["url"] for entry in json.loads(har.stdout)["log"]["entries"]]
    assert len(named) == urls.count("https://merlin.example/payments")


def test_the_openapi_document_has_both_paths():
    """The submission, and the reads since then, are operations of the document."""
    target = read_target(TARGET)
    paths = document(bind([parse_contract(find_contract("pis"))], target), target)["paths"]
    assert "create-payment.submission" == paths["/payments"]["post"]["operationId"]
    assert {"get", "put"} == set(paths["/payments/{paymentRequestResourceId}"])


# -- mistakes ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ('"{consent-id}"', '"{consentid}"', 14, "nothing has the name '{consentid}'"),
        ("path: /payments\n", "path: payments\n", 13, "expected"),
        ("      path: /payments\n", "", 12, "'path' is missing"),
        ("item: {key: /paymentId}", "items: {key: /paymentId}", 15, "unknown key 'items'"),
        ("item: {key: /paymentId}", "arguments: {amont: {body: /x}}", 15, "no such argument"),
        ("path: /payments\n", "path: /payments\n      by: bank\n", 14, "expected tpp or customer"),
        ("    submitted:", "    submission:", 18, "the operation makes no request"),
        ("    outputs:", "    submitted: {path: /x}\n    outputs:", 11, "is about no request"),
    ],
)
def test_a_wrong_key_is_an_error(old, new, line, what, tmp_path):
    """It has the line of the key."""
    path = written(tmp_path / "wrong.yaml", old, new)
    with pytest.raises(InputError) as raised:
        bind([parse_contract(find_contract("pis"))], read_target(path))
    assert (line, True) in {(each.line, what in each.what) for each in raised.value.problems}


def test_reads_since_a_submission_that_no_call_makes(tmp_path):
    """`submitted` has no effect without `submission`."""
    text = TARGET.read_text()
    before, _, after = text.partition("    submission:")
    path = tmp_path / "wrong.yaml"
    path.write_text(before + after[after.index("  read-payment:") :])
    with pytest.raises(InputError) as raised:
        bind([parse_contract(find_contract("pis"))], read_target(path))
    assert {"operations.read-payment.submitted"} <= {each.key for each in raised.value.problems}


#: How a request is read at this bank, before its submission and since.
READ = """\
  read-payment:
    path: /payment-consents/{paymentRequestResourceId}
    submitted: {path: "/payments/{paymentRequestResourceId}"}
"""


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('consent: "{', 'consentId: "{', "operations.create-payment.submission.template"),
        ("key: /paymentId", "key: /paymntId", "operations.create-payment.submission.item.key"),
        (READ, "", "operations.read-payment.submitted"),
        ("", "", ""),
    ],
)
def test_the_doctor_names_the_line(old, new, key, tmp_path, monkeypatch):
    """A submission that is refused after a signature is a mistake of the file."""
    path = written(tmp_path / "t.yaml", old, new)

    def at_merlin(target, **given):
        return set_up(target, bank=lambda _: Merlin(), **given)

    monkeypatch.setattr(examination, "set_up", at_merlin)
    examined = examination.examine(str(path), ("pis",))
    assert {key} - {""} == {each.key for each in examined.blocking}
