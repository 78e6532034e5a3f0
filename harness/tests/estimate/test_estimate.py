"""How many signatures a run will ask for is told beforehand, and is never too few."""

from collections import Counter
from dataclasses import replace

import pytest

from assay.estimate import estimate
from assay.execution.environment import set_up
from assay.execution.session import Session, run_session
from assay.history import Authorised
from assay.journal.redact import Careless
from assay.journal.writer import Journal
from assay.planning.plan import count_signatures, restrict, signatures_in
from assay.planning.prepare import prepare


class Counting(Journal):
    """A journal that counts the signatures of each trial."""

    signed: Counter

    def event(self, trial, event, access):
        self.signed[trial] += isinstance(event, Authorised)


@pytest.fixture(scope="module")
def prepared():
    return prepare(["pis"])


def test_no_trial_asks_for_more_than_was_foretold(prepared):
    """The sound bank refuses some requests at once, so that fewer are signed; never more."""
    journal = Counting(out=None, redactor=Careless())
    journal.signed = Counter()
    environment = set_up(prepared.target)
    run_session(Session(plan=prepared.plan, environment=environment, journal=journal))
    environment.close()
    foretold = {one.id: signatures_in(prepared.plan, one) for one in prepared.plan.trials}
    assert [] == [id_ for id_, count in journal.signed.items() if count > foretold[id_]]
    assert 40 < sum(journal.signed.values()) <= sum(foretold.values())


def test_who_need_not_sign_is_asked_for_nothing(prepared):
    """Trials without a signature expect_signatures none."""
    ids = {one.obligation.id for one in prepared.plan.items if "payments." in one.obligation.id}
    some = restrict(prepared.plan, ids)
    assert 1 == count_signatures(some) == sum(trial.signed for trial in some.trials)


@pytest.mark.parametrize("most", [1, 3])
def test_a_probe_that_never_ends_is_left(prepared, monkeypatch, most):
    """Only so many steps are played."""
    monkeypatch.setattr(estimate, "MOST", most)
    trial = next(one for one in prepared.plan.trials if one.signed)
    assert signatures_in(prepared.plan, trial) <= most


def test_a_probe_that_stumbles_over_nobody_stops_no_run(prepared, monkeypatch):
    """A figure for a person is not worth a run."""

    def broken(_plan, _trial):
        def probe():
            yield from ()
            raise KeyError

        return None, probe()

    monkeypatch.setattr("assay.planning.plan.script_of", broken)
    assert 0 == count_signatures(replace(prepared.plan))
