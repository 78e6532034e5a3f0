"""`unavailable`: a method is not offered, with or without a consent or a signature.

Any refusal will do, for documents seldom say which; an empty list is no refusal.
The control is another method, which must answer the same customer in the trial.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.contract.model import Capability, Clause, Contract, Operation, Party
from assay.history import Call, Exchange, History, Holding
from assay.judging.verdict import Evidence
from assay.rules import parameters, steps
from assay.rules.lifecycle import request_steps, tracker
from assay.rules.queries import DISAGREES, must_be_refused, ordinary, plain, served
from assay.rules.rule import BindingRequirement, Facet, Rule, Script, needs
from assay.rules.state.consents import Consents

WITHOUT, WITH = "refused-without-consent", "refused-with-consent"
UNSIGNED, SIGNED = "refused-before-signing", "refused-after-signing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The method that is not there, one that is, and how consent is given."""

    operation: Operation
    control: Operation
    grant: Operation | None
    owner: str
    lifecycle: tracker.Lifecycle | None = None


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    return Params(
        operation=parameters.operation(clause, contract),
        control=parameters.operation(clause, contract, "control"),
        grant=parameters.granting(clause, contract),
        owner=steps.roots(contract)[0].id,
        lifecycle=tracker.of_clause(clause, contract) if "request" in clause.params else None,
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """One facet before any consent or signature, one after, where there is such a thing."""
    if p.lifecycle is not None:
        return _of_request(p.lifecycle)
    out = [
        Facet(
            id=WITHOUT,
            description="it is refused before any consent",
            scenario="without",
            needs=needs(Capability.PSU),
        )
    ]
    if p.grant:
        out.append(
            Facet(
                id=WITH,
                description="it is refused with a consent too",
                scenario="with",
                needs=needs(Capability.PSU, Capability.CONSENT),
            )
        )
    return tuple(out)


def _of_request(lifecycle: tracker.Lifecycle) -> tuple[Facet, ...]:
    write = needs(Capability.PSU, Capability.WRITE)
    approval = BindingRequirement(operation=lifecycle.create.id, feature="approval")
    return (
        Facet(
            id=UNSIGNED,
            description="it is refused before the request is signed",
            scenario="unsigned",
            needs=write,
        ),
        Facet(
            id=SIGNED,
            description="it is refused after the request is signed",
            scenario="signed",
            needs=write | needs(Capability.SCA),
            requires=(approval,),
        ),
    )


def price(p: Params, scenario: str) -> int:
    """Count the calls of a scenario."""
    if p.lifecycle is not None:
        return 3 if scenario == "unsigned" else 4
    return 2 if scenario == "without" else 3


def probe(p: Params, scenario: str) -> Script:
    """Call the control, then the method."""
    if p.lifecycle is not None:
        yield from _ask_of_request(p, p.lifecycle, scenario)
        return
    psu = yield from steps.arrange("psu", Holding(resource=p.owner))
    key = psu.owns[0].key
    if scenario == "with":
        yield from steps.grant(p.grant, "psu", key)
    yield from steps.send(
        Call(
            operation=p.control.id,
            subject="psu",
            arguments=steps.arguments(p.control, key),
        )
    )
    yield from steps.send(
        Call(operation=p.operation.id, subject="psu", variation="a method that is not offered")
    )


def _ask_of_request(p: Params, lifecycle: tracker.Lifecycle, scenario: str) -> Script:
    psu = yield from request_steps.customer(lifecycle)
    made = yield from steps.send(request_steps.request(lifecycle, psu))
    if scenario == "signed":
        yield from request_steps.sign(made)
    yield from request_steps.maybe(request_steps.about(p.control, made))
    call = request_steps.about(p.operation, made)
    if call is not None:
        yield from steps.send(replace(call, variation="a method that is not offered"))


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every call of the method by a customer whom the control has answered."""
    if p.lifecycle is not None:
        yield from _check_of_request(p, p.lifecycle, history)
        return
    known = served(history)
    consents = Consents(grant=p.grant)
    for exchange in history.exchanges:
        call = exchange.call
        consents.note(exchange)
        controlled = (call.subject, p.control.id) in known
        sure, perhaps = consents.sure(call.subject), consents.perhaps(call.subject)
        if call.operation == p.operation.id and plain(call) and controlled:
            judged = must_be_refused(
                WITH if sure else WITHOUT, exchange, "the method is not available"
            )
            # Offered is offered; but a refusal must be known to be before or after.
            if judged.agreement is DISAGREES or sure or not perhaps:
                yield judged


def _check_of_request(
    p: Params, lifecycle: tracker.Lifecycle, history: History
) -> Iterator[Evidence]:
    """Judge every call of the method about a request of which the control was answered."""
    book = tracker.Tracker(lifecycle=lifecycle)
    known: set[str] = set()
    for event in history.events:
        book.note(event)
        if not isinstance(event, Exchange) or not ordinary(event.call):
            continue
        call = event.call
        if call.operation == p.control.id and event.accepted:
            known.add(str(call.arguments.get(p.control.about or "")))
        key = str(call.arguments.get(p.operation.about or ""))
        request = book.known(key)
        if call.operation != p.operation.id or request is None or key not in known:
            continue
        facet = SIGNED if request.signed or request.done else UNSIGNED
        judged = must_be_refused(facet, event, "the method is not available")
        # Who stopped on the way may have signed or not; offered is offered all the same.
        if judged.agreement is DISAGREES or request.signed or not request.signings:
            yield judged


RULE = Rule(
    kind="unavailable",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
