"""Every clause judges the trials of the others, which end with an inquiry of what was executed."""

from datetime import UTC, datetime

from assay.contexts.context import Depth
from assay.contract.model import Capability
from assay.history import Advance, Advanced, Arrange, Call, Effects, Inquire
from assay.journal.redact import Careless
from assay.journal.writer import Journal
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.contextual import with_contexts
from assay.planning.plan import restrict
from assay.proof.kill_matrix import reference, variants
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.running.session import Session, run_session
from assay.running.trial_recorder import with_inquiry
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND

AISP, PIS = (parse_contract(find_contract(name)) for name in ("aisp", "pis"))
NOW = datetime(2026, 9, 16, 8, tzinfo=UTC)
OFFERED = frozenset({Capability.EFFECTS})
ASK = Arrange(subject="psu", holdings=())
MAKE = Call(operation="create-payment", subject="psu")
READ = Call(operation="read-payment", subject="psu", arguments={"paymentRequestResourceId": "P1"})


def steps(*probe, contract=PIS, offers=OFFERED):
    """Return the steps of a probe as they are performed."""

    def script():
        for step in probe:  # noqa: UP028 -- a tuple takes no replies
            yield step

    wrapped, performed = with_inquiry(script(), contract, offers), []
    step = next(wrapped, None)
    while step is not None:
        performed.append(step)
        reply = Effects(now=NOW, done=()) if isinstance(step, Inquire) else Advanced(now=NOW)
        try:
            step = wrapped.send(reply)
        except StopIteration:
            break
    return performed


def test_a_trial_that_made_a_request_ends_with_an_inquiry():
    """Whatever it was about."""
    assert [MAKE, READ, Inquire()] == steps(MAKE, READ)


def test_no_inquiry_is_made_twice():
    """What was only read since the last one cannot have been executed by that."""
    assert [MAKE, Inquire(), READ] == steps(MAKE, Inquire(), READ)
    assert [MAKE, Inquire(), Advance(), Inquire()] == steps(MAKE, Inquire(), Advance())


def test_no_inquiry_is_made_for_nothing():
    """Without a request, without a clause about what was executed, and where nothing can be told."""
    assert [ASK, READ] == steps(ASK, READ)
    assert [MAKE] == steps(MAKE, offers=frozenset())
    assert [ASK] == steps(ASK, contract=AISP)


def run(policies, *obligations, depth=Depth.BASE):
    """Run the trials of some obligations, and return the verdicts that the journal would have."""
    plan, target = reference(("pis",))
    environment = set_up(target, bank=lambda base_url: make_app(policies, base_url=base_url))
    session = Session(
        plan=with_contexts(restrict(plan, obligations), target, depth).plan,
        environment=environment,
        journal=Journal(out=None, redactor=Careless()),
    )
    try:
        return run_session(session), session
    finally:
        environment.close()


def test_a_violation_in_another_trial_counts():
    """The verdict names that trial, and the command runs both."""
    wrong = variants()["pis.execution.a-day-early"].change(SOUND)
    early, own = "pis/execution/not-early", "pis/execution/cancelled-undone"
    result, session = run(wrong, early, own)
    assert {early: Standing.VIOLATES, own: Standing.CONFORMS} == {
        verdict.obligation: verdict.standing for verdict in result.verdicts
    }
    assert "" == session._verdicts.sources.get(own)


def test_a_violation_in_another_trial_stays_beside_an_own_one_that_conforms():
    """The trial of the other clause comes first, and the own trial does not take it back."""
    wrong = variants()["pis.modify.executes-former-amount"].change(SOUND)
    changed, as_asked = "pis/modify.deferred-only/carried-out-as-changed", "pis/execution/as-asked"
    result, session = run(wrong, changed, as_asked)
    assert {Standing.VIOLATES} == {verdict.standing for verdict in result.verdicts}
    command = session._verdicts.sources.reproduce(as_asked)
    assert "pis/modify.deferred-only" in session._verdicts.sources.get(as_asked)
    assert f" or {as_asked}" in command


def test_a_violation_in_another_trial_in_a_context_is_reproduced_by_running_both():
    """What the trial of another clause showed in a context, its command selects, and it shows it again."""
    wrong = variants()["pis.types.immediate-beside-deferred"].change(SOUND)
    shown, trial = "pis/payments.create/answers", "pis/payment-types/immediate"
    _, session = run(wrong, shown, depth=Depth.EACH)
    assert frozenset() == session.violated()
    _, session = run(wrong, shown, trial, depth=Depth.EACH)
    assert f" -k '{trial} or {shown}'" in session._verdicts.sources.reproduce(shown)
    assert shown in session.violated()


def test_only_what_is_tested_can_be_violated():
    """A selection leaves the other clause out."""
    wrong = variants()["pis.modify.executes-former-amount"].change(SOUND)
    result, _ = run(wrong, "pis/modify.deferred-only/carried-out-as-changed")
    assert 1 == len(result.verdicts)
