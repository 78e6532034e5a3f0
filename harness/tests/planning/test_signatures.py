"""The number of signatures that a plan announces: an upper bound of what the run asks for."""

from collections import Counter

import pytest

from assay.history import Authorise, Authorised
from assay.journal.redact import Careless
from assay.journal.writer import Journal
from assay.planning.plan import count_signatures, restrict, signatures_in
from assay.preparation.prepare import prepare
from assay.rules.dry_run import MOST
from assay.running.environment import set_up
from assay.running.session import Session, run_session


class SignatureCounter(Journal):
    """A journal that counts the signatures of each trial."""

    signed: Counter

    def event(self, trial, event, access):
        self.signed[trial] += isinstance(event, Authorised)


@pytest.fixture(scope="module")
def prepared():
    return prepare(["pis"])


def test_no_trial_asks_for_more_signatures_than_planned(prepared):
    """A run asks for at most the planned signatures; a bank may refuse requests at once."""
    journal = SignatureCounter(out=None, redactor=Careless())
    journal.signed = Counter()
    environment = set_up(prepared.target)
    run_session(Session(plan=prepared.plan, environment=environment, journal=journal))
    environment.close()
    planned = {trial.id: signatures_in(prepared.plan, trial) for trial in prepared.plan.trials}
    assert [] == [id_ for id_, count in journal.signed.items() if count > planned[id_]]
    assert 40 < sum(journal.signed.values()) <= sum(planned.values())


def test_trials_without_a_signature_count_none(prepared):
    """Only trials that need a signature are counted."""
    ids = {item.obligation.id for item in prepared.plan.items}
    part = restrict(prepared.plan, {id_ for id_ in ids if "payments." in id_})
    assert 1 == count_signatures(part) == sum(trial.signed for trial in part.trials)


def scripted(monkeypatch, probe):
    """Make every trial's probe this generator."""
    monkeypatch.setattr("assay.planning.plan.script_of", lambda _plan, _trial: (None, probe()))


def test_an_endless_probe_is_stopped(prepared, monkeypatch):
    """No more than the maximum number of steps of a probe is performed."""

    def probe():
        while True:
            yield Authorise(subject="psu", request="P1", approval="https://bank.example/sign")

    scripted(monkeypatch, probe)
    assert MOST == signatures_in(prepared.plan, prepared.plan.trials[0])


def test_a_probe_that_raises_needs_no_signature(prepared, monkeypatch):
    """A probe that fails on the answers of the dry target does not stop a run."""

    def probe():
        yield from ()
        raise KeyError

    scripted(monkeypatch, probe)
    assert 0 == count_signatures(prepared.plan)
