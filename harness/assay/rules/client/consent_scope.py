"""`consent-scope`, the provider's side: data are asked only of what was consented to.

A consent from before a recording may still hold. It cannot where the customer is new, or
where the list of what he owns was read without that which is given with it once there is
a consent; it hardly can where the bank refuses what no recorded consent covers, while it
serves what one does.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.history import Accepted, Exchange, History, Subject
from assay.judging.verdict import Agreement, Evidence
from assay.rules import parameters
from assay.rules.client.evidence import BROKEN, KEPT, OPEN, say
from assay.rules.kinds.consent_scope import Params
from assay.rules.lifecycle.request_queries import said_no
from assay.rules.rule import BindingRequirement, Duty
from assay.rules.state.consents import EARLIER, Consents

ID = "only-consented"
OWED = "that data are asked only of what was consented to"


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every first question about a thing."""
    consents, clean = Consents(grant=p.grant), set[str]()
    about = {one.id: one.about or "" for one in p.operations}
    served = _served(p, history)
    for event in history.events:
        if isinstance(event, Subject):
            clean |= {event.name} if event.fresh else set[str]()
        if not isinstance(event, Exchange):
            continue
        call, name = event.call, event.call.subject
        if _none_yet(p, event) and not consents.perhaps(name):
            clean.add(name)
        consents.note(event)
        key = call.arguments.get(about.get(call.operation, ""))
        if call.operation not in about or key is None or call.follow is not None:
            continue
        if str(key) in consents.perhaps(name):
            yield say(ID, KEPT, event, OWED, "consent was given for it")
        else:
            judged = _uncovered(event, clean, consents, served)
            doubt = f", {EARLIER}" if judged is OPEN else ""
            yield say(ID, judged, event, OWED, f"no consent covers it{doubt}")


def _uncovered(
    exchange: Exchange, clean: set[str], consents: Consents, served: frozenset[tuple[str, str]]
) -> Agreement:
    name = exchange.call.subject
    if name in clean:
        return BROKEN
    told = consents.sure(name) and (name, exchange.call.operation) in served
    return BROKEN if told and said_no(exchange) and exchange.call.present else OPEN


def _served(p: Params, history: History) -> frozenset[tuple[str, str]]:
    """Return who was served what, about a thing that a consent covers."""
    about = {one.id: one.about or "" for one in p.operations}
    consents, out = Consents(grant=p.grant), set[tuple[str, str]]()
    for one in history.exchanges:
        consents.note(one)
        key = str(one.call.arguments.get(about.get(one.call.operation, "")))
        if one.accepted and key in consents.sure(one.call.subject):
            out.add((one.call.subject, one.call.operation))
    return frozenset(out)


def _none_yet(p: Params, exchange: Exchange) -> bool:
    """Whether an answer shows that there is no consent: what comes with one is not there."""
    outcome = exchange.outcome
    for clause in p.contract.clauses:
        if clause.kind == "disclosed-when" and isinstance(outcome, Accepted):
            asked = parameters.text(clause, "operation") == exchange.call.operation
            value = outcome.values.get(parameters.text(clause, "value"), "")
            if asked and exchange.call.follow is None and value in (None, ""):
                return exchange.call.present and bool(outcome.items)
    return False


DUTY = Duty(
    kind="consent-scope",
    id=ID,
    description=lambda p: "data are asked only of what was consented to",
    check=check,
    requires=lambda p: (
        BindingRequirement(operation=p.grant.id, feature="argument", name=p.grant.grants or ""),
    ),
)
