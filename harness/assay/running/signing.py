"""Signing of requests by their customers, and the submission of what was signed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import perf_counter

from assay.binding.encode import Access, encode
from assay.binding.spelling import SLOT, OperationBinding
from assay.binding.submission import SUBMISSION
from assay.contract.model import Operation
from assay.errors import CannotArrange
from assay.history import (
    Accepted,
    Authorise,
    Authorised,
    Call,
    Ending,
    Event,
    Exchange,
    Indeterminate,
    Rejected,
    Step,
    Submitted,
)
from assay.rules.verdict import UNAUTHENTICATED
from assay.running.calls import TrialCalls, with_binding

__all__ = ["TrialSigning"]


@dataclass(slots=True)
class TrialSigning:
    """The signatures and submissions of one trial."""

    calls: TrialCalls
    #: The return addresses of calls.
    returns: dict[str, str] = field(default_factory=dict[str, str])

    # -- signatures --------------------------------------------------------------------
    def with_return(self, call: Call) -> tuple[Call, str | None]:
        """Return a call with the signer's address, and that as the one to which the customer returns.

        A call that has an address, or leaves it out on purpose, stays as it is. Equal calls get
        the same address, so that it never distinguishes two equal requests.
        """
        trial = self.calls.trial
        name = trial.operations[call.operation].returns
        if name is None or name in {*call.arguments, *call.without, *call.varied}:
            return call, None
        equal = repr(replace(call, by="", variation=""))
        address = self.returns.get(equal) or trial.signer.return_address()
        if address is None:
            return call, None
        self.returns[equal] = address
        return replace(call, arguments={**call.arguments, name: address}), address

    def signed(self, step: Authorise) -> Authorised:
        """Take a customer through the screens on which a request is signed; return the event.

        Raises:
            CannotArrange: the budget has no call left, or nothing can sign.

        """
        trial, guard = self.calls.trial, self.calls.trial.environment.guard
        step = replace(step, approval=self._newest_link(step))
        access = trial.access.get(step.by or step.subject, Access())
        signer = trial.who(step.by or step.subject)
        guard.count()
        guard.note_use(signer, trial.used_items(step), trial.look)
        began = perf_counter()
        flow = self.calls.tokens.authorised(step, access)
        flow = flow or trial.signer.sign(step, access, trial.wait)
        return Authorised(
            n=trial.number(),
            step=step,
            ending=flow.ending,
            moments=tuple(flow.moments) or (trial.look(),),
            offered=flow.offered,
            screens=tuple(flow.screens),
            redirected=flow.redirected,
            adds=self._added_parameters(step.request),
            unspelt=flow.unspelt,
            coded=flow.coded,
            stuck=flow.stuck,
            why=flow.why,
            wire=replace(flow.wire, body=b"", request_body=b""),
            ms=(perf_counter() - began) * 1000,
        )

    def _newest_link(self, step: Authorise) -> str | None:
        """Return the link that the bank gave last: a request that was changed may have another."""
        for event in reversed(self.calls.trial.events):
            if not isinstance(event, Exchange) or not isinstance(event.outcome, Accepted):
                continue
            about = self.calls.trial.operations[event.call.operation].about or ""
            if event.outcome.approval and event.call.arguments.get(about) == (step.request or None):
                return event.outcome.approval
        return step.approval

    def _added_parameters(self, request: str) -> tuple[str, ...] | None:
        """Return the query parameters that the target adds to the return address of a request."""
        trial, made = self.calls.trial, self.calls.trial.making(request)
        if made is None:
            return None
        returns = trial.operations[made.call.operation].returns
        spelling = trial.binding(made.call.operation).arguments.get(returns or "")
        return spelling.adds if spelling is not None else None

    # -- submissions -------------------------------------------------------------------
    def submission_after(self, step: Step, event: Event) -> Submitted | None:
        """Submit a request that its customer has just signed, or that takes no signature.

        Raises:
            CannotArrange: the call cannot be made.

        """
        request = ""
        if isinstance(event, Authorised) and event.ending is Ending.CONFIRMED:
            request = event.step.request
        elif isinstance(event, Exchange) and event.item is not None and isinstance(step, Call):
            operation = self.calls.trial.operations[step.operation]
            request = (event.item.key or "") if operation.makes and not operation.signed else ""
        return self.submitted(request, signed=True) if request else None

    def note_end(self, submitted: Submitted) -> None:
        """Note what became of the submission of a signed request.

        Raises:
            CannotArrange: the bank does not say what it did.

        """
        outcome, key = submitted.outcome, ("operations", submitted.call.operation, SUBMISSION)
        if isinstance(outcome, Rejected) and submitted.wire.status != UNAUTHENTICATED:
            self.calls.trial.submissions.refused.add(submitted.request)
        elif not isinstance(outcome, Accepted):
            why = outcome.why if isinstance(outcome, Indeterminate) else ""
            why = why or f"the target answered {submitted.wire.status}"
            raise CannotArrange(f"an outcome of the submission ({'.'.join(key)}): {why}", key=key)

    def submitted(self, request: str, *, signed: bool = False) -> Submitted | None:
        """Submit a request; None if the bank takes no submission of it, or has had it.

        What was `signed` is not submitted if that led to no token. What was not is submitted with the TPP's
        own token, if it takes one of the customer.

        Raises:
            CannotArrange: the call cannot be made.

        """
        calls, trial = self.calls, self.calls.trial
        submissions, made = trial.submissions, trial.making(request)
        known = {*submissions.keys, *submissions.refused}
        if made is None or request in known or made.call.malformed or made.call.credentials:
            return None
        operation = trial.operations[made.call.operation]
        binding = trial.binding(operation.id).submission
        if binding is None:
            return None
        call = _call(self._in_force(made, request), operation, binding)
        caller = operation if binding.by is None else replace(operation, by_tpp=binding.by == "tpp")
        if signed and calls.tokens.lacks(request, caller):
            return None
        target = with_binding(trial.target, operation, binding)
        named = replace(call, consent=request)
        access = calls.tokens.credentials(named, caller)
        values = calls.values.of(named, target)
        sent = encode(call, caller, target, access, values)
        exchange = calls.submitted(call, sent, request, target)
        outcome = exchange.outcome
        if isinstance(outcome, Accepted):
            shown = exchange.item.key if exchange.item else None
            submissions.keys[request] = shown or request
            calls.values.kept.keep_submission(request, outcome, binding)
            outcome = submissions.outcome(outcome, None)
        return Submitted(
            n=exchange.n,
            at=exchange.at,
            call=made.call,
            outcome=outcome,
            wire=exchange.wire,
            ms=exchange.ms,
            request=request,
        )

    def _in_force(self, made: Exchange, request: str) -> Call:
        """Return the call that made a request, with what the TPP has changed since then."""
        call = made.call
        for event in self.calls.trial.exchanges:
            operation = self.calls.trial.operations[event.call.operation]
            sent = event.call.arguments
            changes = operation.changes and sent.get(operation.about or "") == request
            if event.accepted and changes:
                call = replace(
                    call,
                    arguments={**call.arguments, **sent},
                    varied=tuple(name for name in call.varied if name not in sent),
                )
        return call


def _call(made: Call, operation: Operation, binding: OperationBinding) -> Call:
    """Return the call that made a request without what its submission does not say."""
    slots = SLOT.findall(binding.path or operation.path)
    said = {name for name in made.arguments if name in binding.arguments or name in slots}
    unsaid = [name for name in (*operation.arguments, *made.arguments) if name not in said]
    # What identifies a call is another in each.
    unique = {name for name, each in binding.arguments.items() if "{unique}" in str(each.value)}
    arguments = {name: value for name, value in made.arguments.items() if name in said - unique}
    varied = tuple(name for name in made.varied if name in said)
    without = tuple(dict.fromkeys((*made.without, *unsaid)))
    return replace(made, arguments=arguments, varied=varied, without=without, alias=None)
