"""`executes_within`: a bank that executes a quarter of an hour after the signature is tested whole."""

from dataclasses import replace
from datetime import timedelta

import pytest
from rows import for_each
from shipped import VARIANTS

from assay.contexts.context import Settling, with_mappers
from assay.history import Advance, Advanced, Authorise, Call, Ending
from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.rules.steps import each_step
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.running.session import Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND
from assay.testing import accepted, exchange, signature

LATER = timedelta(minutes=15)


def unhurried(policies):
    """Return a bank that executes immediate payments some time after they were signed."""
    due = policies.payments.due

    def later(payment, terms):
        moment = due(payment, terms)
        return moment + LATER if terms.type == "immediate" else moment

    return replace(policies, payments=replace(policies.payments, due=later))


def standings(policies, keywords, tmp_path, *, key):
    """Return the obligations of payments by their verdicts, at a bank that executes later."""
    file = tmp_path / "bank.yaml"
    within = f"executes_within: {LATER.seconds}\n" if key else ""
    file.write_text(f"assay: 1\ntarget: bank\nextends: sandbox\n{within}")
    prepared = prepare(["pis"], str(file), keywords=keywords)
    bank = unhurried(policies)
    environment = set_up(prepared.target, bank=lambda base_url: make_app(bank, base_url=base_url))
    session = Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
    verdicts = run_session(session).verdicts
    environment.close()
    return {
        standing: {each.obligation for each in verdicts if each.standing is standing}
        for standing in Standing
    }


def test_with_the_key_everything_is_decided(tmp_path):
    """Without it what depends on an execution is left open, and says which key is missing."""
    open_ = standings(SOUND, "", tmp_path, key=False)
    decided = standings(SOUND, "", tmp_path, key=True)
    assert open_[Standing.VIOLATES] == decided[Standing.VIOLATES] == set()
    assert "pis/duplicate/repeat-refused" in open_[Standing.INDETERMINATE]
    assert len(open_[Standing.INDETERMINATE]) > 5
    assert not decided[Standing.INDETERMINATE]
    assert not decided[Standing.UNVERIFIED]


@pytest.mark.parametrize(
    ("mutant", "obligation"),
    [
        ("pis.duplicate.never", "pis/duplicate/repeat-refused"),
        ("pis.execution.a-day-late", "pis/execution/not-late"),
    ],
)
def test_a_fault_is_found_there(tmp_path, mutant, obligation):
    """The rules judge what the bank did in the meantime."""
    policies = VARIANTS[mutant].change(SOUND)
    found = standings(policies, obligation, tmp_path, key=True)
    assert found[Standing.VIOLATES] == {obligation}


# -- when the clock moves ----------------------------------------------------------
SIGN = Authorise(subject="psu", request="1", approval=None)
READ = Call(operation="read-payment", subject="psu")


def moved(*steps, ending=Ending.CONFIRMED):
    """Return what is done for some steps, with the times to which the clock is moved."""
    clock = [exchange(READ, accepted()).at]

    def script():
        for step in steps:  # noqa: UP028 -- what is sent is not for the list
            yield step

    def reply(step):
        if isinstance(step, Advance):
            clock[0] = step.to or clock[0]
            return Advanced(now=clock[0])
        if isinstance(step, Authorise):
            return signature(step, ending=ending, at=clock[0])
        return replace(exchange(READ, accepted()), at=clock[0])

    start = clock[0]
    done = each_step(with_mappers(script(), [Settling(within=LATER)]), reply)
    return [
        (step.to - start if step.to else "look") if isinstance(step, Advance) else step
        for step in done
    ]


@for_each(
    ("steps", "expected"),
    [
        ([SIGN, READ], [SIGN, "look", LATER, READ]),
        ([SIGN, READ, READ], [SIGN, "look", LATER, READ, READ]),
        ([READ], [READ]),
        ([SIGN], [SIGN]),
    ],
)
def test_it_moves_before_the_next_look_and_once(steps, expected):
    """Nothing waits where nothing looks."""
    assert moved(*steps) == expected


def test_what_moves_the_clock_itself_is_left_alone():
    """A probe that tests a limit sets the time; what was not signed is not waited for."""
    later = Advance(to=exchange(READ, accepted()).at + timedelta(minutes=4))
    assert moved(SIGN, later, READ) == [SIGN, timedelta(minutes=4), READ]
    assert moved(SIGN, READ, ending=Ending.REFUSED) == [SIGN, READ]


def test_signatures_at_one_moment_stay_together():
    """The time passes after the last of them."""
    first, second = replace(SIGN, together=1), replace(SIGN, together=1, request="2")
    assert moved(first, second, READ) == [first, second, "look", LATER, READ]
