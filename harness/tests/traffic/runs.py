"""Whole embedded runs, with every event as it happened or as the journal has it."""

from collections import defaultdict
from functools import cache

from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.running.environment import set_up
from assay.running.session import Session, run_session


class EventKeeper(Journal):
    """A journal that writes nothing, and keeps every event."""

    def __init__(self):
        super().__init__(out=None)
        self.kept = defaultdict(list)

    def event(self, trial, event, access):
        """Keep an event of a trial."""
        self.kept[trial].append(event)


@cache
def whole(target):
    """Run everything against a shipped target, once; return the plan, operations and events."""
    prepared = prepare((), target)
    journal = EventKeeper()
    run_session(Session(plan=prepared.plan, environment=set_up(prepared.target), journal=journal))
    operations = {
        name: operation
        for each in prepared.bound
        for name, operation in each.contract.operations.items()
    }
    return prepared, operations, dict(journal.kept)


def recorded(path, bank=None, contracts=(), keywords=""):
    """Run against a bank, with a journal; return the verdicts by obligation."""
    prepared = prepare(contracts, None, keywords=keywords)
    environment = set_up(prepared.target, **({"bank": bank} if bank else {}))
    session = Session(plan=prepared.plan, environment=environment, journal=Journal.at(path))
    return {verdict.obligation: verdict.standing for verdict in run_session(session).verdicts}
