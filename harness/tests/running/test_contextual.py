"""Trials in further contexts: what they find, what they name, what they leave alone."""

from dataclasses import replace
from functools import partial

from assay.contexts.context import Depth
from assay.contexts.mappers import OTHER_AMOUNT
from assay.contract.model import Party
from assay.errors import CannotArrange
from assay.journal.redact import Careless
from assay.journal.writer import Journal
from assay.planning.contextual import with_contexts
from assay.planning.plan import restrict
from assay.proof.kill_matrix import reference, variants
from assay.rules.verdict import Standing
from assay.running import contextual
from assay.running.environment import set_up
from assay.running.fixture_events import FixtureEvents
from assay.running.session import Session, run_session
from assay.sandbox.access import BATCH
from assay.sandbox.app import make_app
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


#: The facet of what is executed after a change.
CARRIED = "carried-out-as-changed"
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


def test_a_context_that_the_target_cannot_have_is_not_tried_in_parts(monkeypatch):
    """A fixture provider without another segment costs one trial each, and says what it lacks."""
    arrange = FixtureEvents.arranged

    def lacking(self, step):
        if step.segment is not None:
            raise CannotArrange("customers of another segment")
        return arrange(self, step)

    monkeypatch.setattr(FixtureEvents, "arranged", lacking)
    performed = []
    plan, target = reference()
    chosen = [item.obligation.id for item in plan.items if "payments.create" in item.obligation.id]
    planned = with_contexts(restrict(plan, chosen), target, Depth.EACH).plan
    session = Session(
        plan=planned,
        environment=set_up(target),
        journal=Journal(out=None, redactor=Careless()),
    )
    run_session(session, lambda trial: performed.append(trial.id))
    assert len(planned.all_trials) == len(performed)


def test_a_context_that_shows_half_as_much_hides_nothing(monkeypatch):
    """Where fewer things are named, less evidence agrees; that alone is no reason for trials in parts."""

    def performed():
        _, session = run(lambda base_url: make_app(base_url=base_url), "beyond-limit-grants")
        return session.exchanges

    few = performed()
    monkeypatch.setattr(contextual, "WAYS", 1)
    assert few < performed()


def test_with_real_customers_nothing_is_tried_that_was_not_announced(monkeypatch):
    """The context is named as it was; neither what hides nor what breaks is looked for in parts."""
    created, listed = [], []

    def found(performed, repeats):
        monkeypatch.setattr("assay.running.session.has_real_customers", lambda _: not repeats)
        verdicts, session = run(confined(*FAULT), "eligible-accounts")
        performed.append(session.exchanges)
        return verdicts["pis/eligible-accounts/refuses-savings"]

    assert found(created, True).reason.startswith("only for instant requests: ")
    real = found(listed, False)
    assert Standing.VIOLATES is real.standing
    assert "for instant requests, " in real.reason
    assert created[0] > listed[0]


def test_a_payment_rejected_because_nobody_signed_it_is_no_finding_of_another_clause():
    """In a context, time may pass before the signature; a rejection then says nothing else."""
    policies = variants()["pis.too-late-is-rejected"].change(SOUND)
    verdicts, _ = run(lambda base_url: make_app(policies, base_url=base_url), "pis/")
    assert [] == [id_ for id_, each in verdicts.items() if each.standing is Standing.VIOLATES]


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


def test_a_quota_holds_across_renewed_tokens():
    """A bank that counts the accesses of each token for itself serves more than it may."""

    def each_token(access):
        return access.customer, access.operation, access.renewals

    quota = {name: (replace(BATCH, pool=each_token),) for name in SOUND.quota}
    wrong = replace(SOUND, quota=quota)
    bank = partial(bank_of, wrong)
    base, _ = run(bank, "quota", Depth.BASE)
    assert Standing.VIOLATES not in {verdict.standing for verdict in base.values()}
    verdicts, _ = run(bank, "quota")
    reasons = {
        verdict.reason for verdict in verdicts.values() if verdict.standing is Standing.VIOLATES
    }
    assert reasons
    assert all(reason.startswith("only with a renewed token: ") for reason in reasons)


def test_the_second_change_of_a_request_counts_as_well():
    """A bank that takes the first change of an amount alone shows and executes the wrong one."""

    def once(former, new):
        return replace(new, amount=former.amount) if former.amount == OTHER_AMOUNT else new

    wrong = replace(SOUND, payments=replace(SOUND.payments, modified=once))
    bank = partial(bank_of, wrong)
    base, _ = run(bank, "modify.deferred-only", Depth.BASE)
    assert Standing.VIOLATES not in {verdict.standing for verdict in base.values()}
    verdicts, _ = run(bank, "modify.deferred-only")
    violated = {
        id_: verdict.reason
        for id_, verdict in verdicts.items()
        if verdict.standing is Standing.VIOLATES
    }
    assert {f"pis/modify.deferred-only/{facet}" for facet in ("persists", CARRIED)} == set(violated)
    assert all(reason.startswith("only the third time: ") for reason in violated.values())


def bank_of(policies, base_url):
    return make_app(policies, base_url=base_url)
