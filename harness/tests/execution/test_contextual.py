"""Trials in further contexts: what they find, what they name, what they leave alone."""

import pytest

from assay.contexts.covering import Depth
from assay.contextual_matrix import pairs, prove_contexts
from assay.contract.model import Party
from assay.execution.environment import set_up
from assay.execution.session import Session, run_session
from assay.journal.redact import Careless
from assay.journal.writer import Journal
from assay.judging.verdict import Standing
from assay.kill_matrix import reference, variants
from assay.planning.contextual import with_contexts
from assay.planning.plan import restrict
from assay.sandbox.app import make_app
from assay.sandbox.mutants.bundles import bundles, together
from assay.sandbox.mutants.contextual import make_contextual_app
from assay.sandbox.policies import SOUND
from assay.traffic.judge import Judge
from assay.traffic.session import read_trials


def run(bank, words, depth=Depth.EACH):
    """Test a bank by the obligations with these words; return verdicts by id, and the session."""
    plan, target = reference()
    chosen = [item.obligation.id for item in plan.items if words in item.obligation.id]
    planned = with_contexts(restrict(plan, chosen), target, depth).plan
    environment = set_up(target, bank=bank)
    try:
        session = Session(
            plan=planned, environment=environment, journal=Journal(out=None, redactor=Careless())
        )
        result = run_session(session)
    finally:
        environment.close()
    assert () == result.faults
    return {verdict.obligation: verdict for verdict in result.verdicts}, session


def confined(mutant, situation):
    """Return a bank with a mutant's fault in one situation."""
    wrong = variants()[mutant].change(SOUND)
    return lambda base_url: make_contextual_app(wrong, SOUND, situation, base_url=base_url)


FAULT = ("pis.debtor.savings", "mode=instant")


def test_a_fault_in_one_context_is_found_and_named():
    """The reason says for which requests the rule is broken, and names no other value."""
    verdicts, session = run(confined(*FAULT), "eligible-accounts")
    verdict = verdicts["pis/eligible-accounts/refuses-savings"]
    assert Standing.VIOLATES is verdict.standing
    assert verdict.reason.startswith("only for instant requests: expected a rejection")
    others = {id_ for id_, each in verdicts.items() if each.standing is Standing.VIOLATES}
    assert {verdict.obligation} == others
    assert session.violated() == others


def test_the_base_context_alone_does_not_see_it():
    """Without contexts the same bank is green: the matrix of our own making."""
    verdicts, _ = run(confined(*FAULT), "eligible-accounts", Depth.BASE)
    assert {Standing.CONFORMS} == {verdict.standing for verdict in verdicts.values()}


def test_what_is_broken_everywhere_is_no_matter_of_context():
    """A violation of the base context keeps its words."""
    wrong = variants()[FAULT[0]].change(SOUND)
    verdicts, _ = run(lambda base_url: make_app(wrong, base_url=base_url), "eligible-accounts")
    verdict = verdicts["pis/eligible-accounts/refuses-savings"]
    assert Standing.VIOLATES is verdict.standing
    assert not verdict.reason.startswith("only")


def test_a_value_that_hides_another_is_tried_alone():
    """Where a row of several values shows nothing, each is tried by itself."""
    verdicts, _ = run(confined("pis.available.create-503", "host=host-2"), "payments.create")
    verdict = verdicts["pis/payments.create/answers"]
    assert Standing.VIOLATES is verdict.standing
    assert "only at host 2: " in verdict.reason


def test_neutral_variants_together_stay_green():
    """Banks that only look different are green in every context, several variants at once."""
    policies = together(bundles()[0])
    verdicts, _ = run(lambda base_url: make_app(policies, base_url=base_url), "")
    assert [] == [id_ for id_, each in verdicts.items() if each.standing is Standing.VIOLATES]


def test_a_payment_rejected_because_nobody_signed_it_is_no_finding_of_another_clause():
    """In a context, time may pass before the signature; a rejection then says nothing else."""
    policies = variants()["pis.too-late-is-rejected"].change(SOUND)
    verdicts, _ = run(lambda base_url: make_app(policies, base_url=base_url), "")
    assert [] == [id_ for id_, each in verdicts.items() if each.standing is Standing.VIOLATES]


def test_the_order_of_pairs_is_stable():
    """The first pairs are a sample of all mutants, the same on every machine."""
    names = {mutant for mutant, _ in pairs()[:100]}
    assert len(names) > 90
    assert len(pairs()) > 3000


def test_a_sample_of_contextual_mutants_is_found():
    """At least 98 % of the faults that show in their situation are found by their clause."""
    matrix = prove_contexts(40, workers=2)
    assert len(matrix.missed) <= 0.02 * len(matrix.counted), matrix.missed


@pytest.mark.parametrize(
    "pair",
    [
        # One value shows less than the base context: a factor that the segment lacks, a change
        # that is made twice.
        "pis.factors.soft-token-not-asked-for mode=deferred",
        "pis.modify.shows-former-amount factor=soft-token",
        "pis.modify.shows-former-amount tpp=other",
        # Days pass in the trial of a deferred payment, and it is still the same weekday.
        "pis.confirmation.200-after-signing weekday=sunday",
        "pis.factors.login-alone weekday=sunday",
        "pis.factors.half-a-password weekday=sunday",
        "pis.factors.takes-what-is-not-offered weekday=sunday",
        # The fault of the bank is confined to nothing else: not to one page, nor to one TPP.
        "listing.consented-item-lost weekday=saturday",
        "listing.last-item-lost turn=second",
        "pis.credentials.basic-for-read turn=second",
        # A malformed identifier is one in a path as well.
        "available.transactions-500-on-identifier-alphabet weekday=saturday",
    ],
)
def test_no_value_hides_what_another_shows(pair):
    """A fault is found although the values of its situation are tested with others."""
    (row,) = prove_contexts(chosen=lambda name: name == pair, workers=1).rows
    assert row.found


def test_the_situation_alone_is_that_of_the_contract():
    """Two contracts have a value of one name; a trial gets the one of its own contract."""
    pair = ("listing.last-item-lost", "turn=second")
    assert pair in pairs()
    (row,) = prove_contexts(chosen=lambda name: name == " ".join(pair), workers=1).rows
    assert pair == (row.mutant, row.situation)


def test_judge_says_the_same_of_the_journal(tmp_path):
    """The record of a run has the trials in all contexts, and is judged like the run."""
    plan, target = reference()
    words = "refuses-savings"
    chosen = [item.obligation.id for item in plan.items if words in item.obligation.id]
    planned = with_contexts(restrict(plan, chosen), target, Depth.EACH).plan
    path = tmp_path / "journal.jsonl"
    environment = set_up(target, bank=confined(*FAULT))
    try:
        session = Session(plan=planned, environment=environment, journal=Journal.at(path))
        result = run_session(session)
    finally:
        environment.close()
    judge = Judge(plan=restrict(plan, chosen), target=target, party=Party.BANK)
    judged = judge.judge(read_trials(path).histories)
    assert result.counts == judged.conclusion.counts
    (violated,) = [id_ for id_, trial in judged.trials.items() if "mode=instant" in trial]
    assert "pis/eligible-accounts/refuses-savings" == violated
