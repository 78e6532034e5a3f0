"""`unavailable`: an operation is not offered, with or without a consent or a signature.

Any refusal counts, because documents seldom say which; an empty list is no refusal, and a read
that returns no content (204) is inconclusive. The control is another method, which must answer the same customer in the trial.

The TPP: it does not call an operation that is not offered.
A call of the clause's control shows that the TPP uses the interface and could have called
the method.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from assay.contract.model import Capability, Operation
from assay.history import Call, Exchange, History, Holding
from assay.rules import parameters, steps
from assay.rules.consents import Consents
from assay.rules.facets import Facts, make_facet
from assay.rules.lifecycle import request_steps, tracker
from assay.rules.lifecycle.parameters import the_request
from assay.rules.queries import ordinary, plain, served_operations
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import Calls, Facet, Purpose, Scenario, Scope, Script, TppFacet, bound, needs
from assay.rules.verdict import AGREES, DISAGREES, Evidence, doubt, must_be_refused, tpp_evidence

WITHOUT, WITH = "refused-without-consent", "refused-with-consent"
UNSIGNED, SIGNED = "refused-before-signing", "refused-after-signing"
#: The facet of a request that is not signed.
MADE = "refused-once-made"


#: The status of an answer that has no content.
NO_CONTENT = 204
#: The TPP's obligation.
TPP_FACET = "never-called"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnavailableOperation(RefusingKind):
    """An operation that is not offered, and a control that is."""

    name = "unavailable"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.LIMIT

    operation: Operation = parameters.operation(available=False)
    control: Operation = parameters.operation(key="control")
    grant: Operation | None = parameters.grant()
    lifecycle: tracker.Lifecycle | None = the_request(required=False)
    owner: str = parameters.derived(lambda contract, _: steps.roots(contract)[0].id)

    def unaffected_by(self) -> Mapping[str, str]:
        """Return what came before: a consent, or a signature, is what its facets are about."""
        return {"past": "the clause itself is about what came before"}

    def facts(self) -> Facts:
        """Return the control of the operation."""
        return Facts(controls={self.operation.id: self.control.id})

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet before a consent or signature, and one after, if there is one.

        At a path that the target does not have, anything is refused.
        """
        path, psu = bound(self.operation, "path"), needs(Capability.PSU)
        write, name = psu | needs(Capability.WRITE), self.operation.id
        before = f"{name} is refused before any consent is given"
        after = f"{name} is refused even with a consent"
        rows = [(WITHOUT, before, "without", psu, path)]
        if self.lifecycle is not None and not self.lifecycle.signed:
            made = "the call is refused after the request is made"
            rows = [(MADE, made, "made", write, path)]
        elif self.lifecycle is not None:
            signing = (*path, *self.lifecycle.approval_requirement())
            signed = write | needs(Capability.SCA)
            rows = [
                (
                    UNSIGNED,
                    "the call is refused before the request is signed",
                    "unsigned",
                    write,
                    path,
                ),
                (
                    SIGNED,
                    "the call is refused after the request is signed",
                    "signed",
                    signed,
                    signing,
                ),
            ]
        elif self.grant:
            rows.append((WITH, after, "with", needs(Capability.PSU, Capability.CONSENT), path))
        return tuple(
            make_facet(id_, description, scenario, needed, requires)
            for id_, description, scenario, needed, requires in rows
        )

    def probe(self, scenario: Scenario) -> Script:
        """Call the control, then the method."""
        if self.lifecycle is not None:
            yield from self._ask_of_request(self.lifecycle, scenario.id)
            return
        psu = yield from steps.arrange("psu", Holding(resource=self.owner))
        key = psu.owns[0].key
        if scenario.id == "with":
            yield from steps.grant(self.grant, "psu", key)
        yield from steps.send(steps.ask(self.control, "psu", key))
        yield from steps.send(
            Call(
                operation=self.operation.id,
                subject="psu",
                variation="an operation that is not offered",
            )
        )

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every call of the method for a customer for whom the control was answered."""
        if self.lifecycle is not None:
            yield from self._check_of_request(self.lifecycle, history)
            return
        known = served_operations(history)
        consents = Consents.of(self.contract, self.grant, history)
        for exchange in history.exchanges:
            call = exchange.call
            consents.note(exchange)
            controlled = (call.subject, self.control.id, call.present) in known
            sure, perhaps = consents.certain(call.subject), consents.perhaps_given(call.subject)
            if call.operation == self.operation.id and plain(call) and controlled:
                judged = _judge(WITH if sure else WITHOUT, self.operation, exchange)
                # An answer is always a violation; a refusal must certainly be before or after.
                if judged.agreement is DISAGREES or sure or not perhaps:
                    yield judged

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(id=TPP_FACET, description=f"{self.operation.id} is not called")

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every call of the method, and of the control."""
        owed = f"{self.operation.id} is not called: it is not available"
        for exchange in history.exchanges:
            if exchange.call.operation == self.operation.id:
                yield tpp_evidence(TPP_FACET, DISAGREES, exchange, owed, "it was called")
            elif exchange.call.operation == self.control.id:
                yield tpp_evidence(
                    TPP_FACET, AGREES, exchange, owed, f"{self.control.id} was called"
                )

    def _ask_of_request(self, lifecycle: tracker.Lifecycle, scenario: str) -> Script:
        psu = yield from request_steps.customer(lifecycle)
        made = yield from steps.send(request_steps.request(lifecycle, psu))
        if scenario == "signed":
            yield from request_steps.sign(lifecycle, made)
        yield from request_steps.send_if_any(request_steps.call_about(self.control, made))
        call = request_steps.call_about(self.operation, made)
        if call is not None:
            yield from steps.send(replace(call, variation="an operation that is not offered"))

    def _check_of_request(
        self, lifecycle: tracker.Lifecycle, history: History
    ) -> Iterator[Evidence]:
        """Judge every call of the method about a request for which the control was answered."""
        tracked = tracker.Tracker(lifecycle=lifecycle)
        known: set[str] = set()
        for event in history.events:
            tracked.note(event)
            if not isinstance(event, Exchange) or not ordinary(event.call):
                continue
            call = event.call
            if call.operation == self.control.id and event.accepted:
                known.add(str(call.arguments.get(self.control.about or "")))
            key = str(call.arguments.get(self.operation.about or ""))
            request = tracked.find(key)
            if call.operation != self.operation.id or request is None or key not in known:
                continue
            facet = SIGNED if request.signed or request.done else UNSIGNED
            facet = facet if lifecycle.signed else MADE
            judged = _judge(facet, self.operation, event)
            # An unfinished signing may count or not; an answer is a violation in any case.
            if judged.agreement is DISAGREES or request.signed or not request.signings:
                yield judged


def _judge(facet: str, operation: Operation, exchange: Exchange) -> Evidence:
    """Judge a call of the method; a read that returns no content (204) may be no answer."""
    judged = must_be_refused(facet, exchange, "the operation is not available")
    if operation.method != "GET" or exchange.wire.status != NO_CONTENT:
        return judged
    return doubt(judged, "`outcomes` in the target file can say that this is a refusal")
