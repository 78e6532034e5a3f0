"""The requests of our own trials: none is a repeat of another unless the trial is about repeats."""

from collections import Counter, defaultdict
from decimal import Decimal

import pytest

from assay.contexts.context import Depth
from assay.history import Authorised, Ending, Exchange
from assay.journal.writer import Journal
from assay.planning.contextual import with_contexts
from assay.proof.kill_matrix import reference
from assay.running.environment import set_up
from assay.running.session import Session, run_session

#: Clauses, and parts of the names of contexts, that are about requests made again.
ABOUT_REPEATS = ("pis/duplicate#", "pis/execution#repeat-undone", "turn=")
#: In the past of a customer one request is repeated.
WITH_ONE_REPEAT = "past=lived"


class EventKeeper(Journal):
    """A journal that writes nothing, and keeps the events of each trial."""

    def __init__(self):
        super().__init__(out=None)
        self.trials = defaultdict(list)

    def event(self, trial, event, access):
        """Keep an event."""
        self.trials[trial].append(event)


@pytest.fixture(scope="module")
def trials():
    """Return the events of every trial at the sandbox, in the base context and in each other one."""
    plan, target = reference(("pis",))
    journal = EventKeeper()
    environment = set_up(target)
    try:
        planned = with_contexts(plan, target, Depth.EACH).plan
        run_session(Session(plan=planned, environment=environment, journal=journal))
    finally:
        environment.close()
    return dict(journal.trials)


def content(sent, signed, zone):
    """Return what the strictest reading compares: day, debtor, creditor, amount and purpose."""
    day = sent.get("date") or str(signed.at.astimezone(zone).date())
    names = ("debtorAccount", "creditorAccount", "categoryPurpose")
    return (day, Decimal(str(sent["amount"])), *(sent.get(name) for name in names))


def repeated(events, zone):
    """Return the contents that were signed more than once, with their last accepted changes."""
    made = {}
    for event in events:
        if isinstance(event, Exchange) and event.accepted and event.item:
            sent, key = event.call.arguments, event.item.key
            if event.call.operation == "create-payment":
                made[key] = dict(sent)
            elif event.call.operation == "modify-payment" and key in made:
                made[key] |= {name: value for name, value in sent.items() if name in made[key]}
    signed = {
        event.step.request: event
        for event in events
        if isinstance(event, Authorised) and event.ending is Ending.CONFIRMED
    }
    counts = Counter(
        content(made[key], event, zone) for key, event in signed.items() if key in made
    )
    return [each for each, count in counts.items() if count > 1]


def test_no_request_of_ours_repeats_another(trials):
    """Whatever a bank counts among the parameters of a repeat, our own controls are none."""
    zone = reference(("pis",))[1].zone
    counts = {name: len(repeated(events, zone)) for name, events in trials.items()}
    repeats = {name for name, count in counts.items() if count > (WITH_ONE_REPEAT in name)}
    assert len(trials) > 300
    unintended = {name for name in repeats if not any(words in name for words in ABOUT_REPEATS)}
    assert set() == unintended
    assert repeats  # those that are about repeats make some
