"""Every clause judges the trials of the others, which end with an inquiry of what was executed."""

from dataclasses import replace
from datetime import UTC, datetime

from rows import for_each

from assay.binding.model.target import OperationBinding, Place, Spelling
from assay.contexts.context import Depth
from assay.contract.model import Capability
from assay.history import (
    Advance,
    Advanced,
    Arrange,
    Authorise,
    Call,
    Effect,
    Effects,
    Ending,
    Inquire,
    Item,
    State,
)
from assay.journal.redact import Careless
from assay.journal.writer import Journal
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.contextual import with_contexts
from assay.planning.plan import restrict
from assay.proof.kill_matrix import reference, variants
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.running.session import Session, run_session
from assay.running.trial_recorder import LONG_AFTER, in_every_spelling, with_inquiry
from assay.sandbox.app import make_app
from assay.sandbox.mutants.mutant import changing_pis
from assay.sandbox.policies import SOUND
from assay.testing import accepted, exchange, refused, signature

AISP, PIS = (parse_contract(find_contract(name)) for name in ("aisp", "pis"))
NOW = datetime(2026, 9, 16, 8, tzinfo=UTC)
OFFERED = frozenset({Capability.EFFECTS})
ASK = Arrange(subject="psu", holdings=())
MAKE = Call(operation="create-payment", subject="psu")
READ = Call(operation="read-payment", subject="psu", arguments={"paymentRequestResourceId": "P1"})


SIGN = Authorise(subject="psu", request="P1", approval=None)


def steps(*probe, contract=PIS, offers=OFFERED, state=State.OPEN, done=(), ending=Ending.CONFIRMED):
    """Return the steps of a probe as they are performed.

    Readings show the request in a state, and what is `done` is told by each inquiry.
    """

    def answer(step):
        match step:
            case Inquire():
                return Effects(now=NOW, done=tuple(Effect(request=key, on=NOW) for key in done))
            case Authorise():
                return signature(step, ending=ending)
            case Call(operation="read-payment"):
                return exchange(step, accepted(Item(key="P1", state=state)))
            case _:
                return Advanced(now=NOW)

    def script():
        for step in probe:  # noqa: UP028 -- a tuple takes no replies
            yield step

    wrapped, performed = with_inquiry(script(), contract, offers), []
    step = next(wrapped, None)
    while step is not None:
        performed.append(step)
        try:
            step = wrapped.send(answer(step))
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


LATE = [Advance(), Advance(to=NOW + LONG_AFTER), Inquire()]
CLOCK = OFFERED | {Capability.CLOCK}


def test_a_signed_request_that_has_not_ended_is_looked_at_when_its_day_is_long_past():
    """An open state that never ends, and an execution on the day, show then; no call is made."""
    assert [MAKE, SIGN, READ, Inquire(), *LATE] == steps(MAKE, SIGN, READ, offers=CLOCK)
    assert [MAKE, SIGN, Inquire(), READ, *LATE] == steps(MAKE, SIGN, Inquire(), READ, offers=CLOCK)


@for_each(
    "how",
    [
        {"state": State.DONE},
        {"state": State.REJECTED},
        {"state": State.ENDED},
        {"done": ["P1"]},
        {"ending": Ending.REFUSED},
        {"offers": OFFERED},
    ],
)
def test_nothing_is_looked_at_late_where_nothing_is_open(how):
    """What ended, what nobody signed, and a clock that cannot be moved."""
    assert [MAKE, SIGN, READ, Inquire()] == steps(MAKE, SIGN, READ, **{"offers": CLOCK, **how})


@for_each(("answers", "goes_on_with"), [("ny", 1), ("y", 0), ("nnn", 2), ("nny", 2)])
def test_a_request_is_made_in_every_spelling_of_its_mode(answers, goes_on_with):
    """Until one is accepted, with which the probe goes on."""
    several = Spelling(place=Place.BODY, name="", value={"n": 1}, others=({"n": 2}, {"n": 3}))
    bindings = {
        name: OperationBinding(modes={"several": several})
        for name in ("create-payment", "read-payment")
    }
    asked, replies = [], iter(answers)

    def script():
        steps = [MAKE, READ, replace(READ, mode="several"), replace(MAKE, mode="several")]
        while steps:
            asked.append((yield steps.pop(0)))

    performed = []
    wrapped = in_every_spelling(script(), PIS, bindings)
    step = next(wrapped, None)
    while step is not None:
        performed.append(step)
        taken = step.mode is None or step.operation != MAKE.operation or next(replies) == "y"
        try:
            step = wrapped.send(exchange(step, accepted() if taken else refused()))
        except StopIteration:
            step = None
    several_times = [
        replace(MAKE, mode="several", spelling=number) for number in range(len(answers))
    ]
    assert [MAKE, READ, replace(READ, mode="several"), *several_times] == performed
    assert 4 == len(asked)
    assert goes_on_with == asked[-1].call.spelling


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


def test_a_signed_payment_that_stays_open_for_ever_is_found_in_any_trial():
    """The trial of another clause waits for it, once nothing else is to be done."""
    sound = SOUND.payments.executable
    first = slice(9, 14), "10002"  # the branch of the first account of a world

    def executable(payment):
        return payment.terms.debtor[first[0]] == first[1] and sound(payment)

    stuck = changing_pis(executable=executable)(SOUND)
    shown, trial = "pis/execution/main-flow", "pis/segments/PRO"
    _, session = run(stuck, shown)
    assert frozenset() == session.violated()
    _, session = run(stuck, shown, trial)
    assert frozenset({shown}) == session.violated()
