"""Calls of one trial: each is encoded, admitted, sent once, and its answer decoded."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

from assay.binding.model.pointer import MISSING
from assay.binding.model.target import OperationBinding, Target
from assay.binding.wire.decode import body_of, decode
from assay.binding.wire.encode import BARE, Access, HttpRequest, encode
from assay.binding.wire.links import links_of, names_links, page_of_call
from assay.binding.wire.values import arguments, generated
from assay.contract.model import Operation
from assay.fixtures.providers import has_real_customers
from assay.history import (
    Accepted,
    Call,
    Cause,
    Detail,
    Exchange,
    Indeterminate,
    Outcome,
    Rejected,
    Unavailable,
    Wire,
)
from assay.running.guard import check_offered
from assay.running.single_variation import VariationGuard
from assay.running.tokens import TrialTokens
from assay.running.trial_state import CallValues, TrialState

__all__ = ["ResponseLimit", "TrialCalls", "with_binding"]

# -- Limit on the total size of the answers in one trial -----------------------------------------
# A trial keeps all of its exchanges until it is judged. Each answer is limited by the transport;
# many of them together, such as pages without end, are limited here.
#: The most bytes in the bodies of a trial's answers, and the most items in them.
MOST_BYTES, MOST_ITEMS = 32 * 1024 * 1024, 25_000


@dataclass(slots=True)
class ResponseLimit:
    """The bytes and items that a trial has received so far."""

    bytes: int = 0
    items: int = 0

    def limited(self, wire: Wire, outcome: Outcome) -> tuple[Wire, Outcome]:
        """Return an answer as it is, or without its content where that would be too much."""
        self.bytes += len(wire.body)
        self.items += _items(outcome)
        if self.bytes <= MOST_BYTES and self.items <= MOST_ITEMS:
            return wire, outcome
        self.bytes -= len(wire.body)
        self.items -= _items(outcome)
        most = f"{MOST_ITEMS} items or {MOST_BYTES // 1024**2} MiB"
        why = f"the answers of this trial have more than {most} in total"
        bare = replace(wire, body=b"", truncated=True)
        return bare, Indeterminate(cause=Cause.TRANSPORT, why=why)


def _items(outcome: Outcome) -> int:
    match outcome:
        case Accepted(items=items):
            return len(items or ())
        case Rejected(leaked=items) | Unavailable(leaked=items):
            return len(items)
        case _:
            return 0


# -- Calls ---------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyCall:
    """A call that can be made: as it is `sent`, how the target file spells that, and with what access."""

    call: Call
    sent: Call
    target: Target
    access: Access


@dataclass(slots=True, kw_only=True)
class TrialCalls:
    """The calls of one trial, with the values and the tokens that they have."""

    trial: TrialState
    values: CallValues = field(init=False)
    tokens: TrialTokens = field(init=False)
    variations: VariationGuard = field(default_factory=VariationGuard)
    response_limit: ResponseLimit = field(default_factory=ResponseLimit)

    def __post_init__(self) -> None:
        """Begin with no values and no tokens."""
        self.values = CallValues(self.trial)
        self.tokens = TrialTokens(self.trial, self.values)

    def ready(self, call: Call) -> ReadyCall:
        """Return a call with what it takes to make it.

        Raises:
            CannotArrange: the target file does not offer it, or there is no token for it.
            AuthenticationError: the token endpoint does not issue one.

        """
        operation = self.trial.operations[call.operation]
        sent, target = self._as_sent(call, operation)
        check_offered(call, operation, target)
        access = self.tokens.credentials(call, operation)
        return ReadyCall(call=call, sent=sent, target=target, access=access)

    def make(self, ready: ReadyCall) -> Exchange:
        """Make a call, and return the exchange.

        Raises:
            CannotArrange: it cannot be encoded, or the guard does not admit it.

        """
        call, sent, target, access = ready.call, ready.sent, ready.target, ready.access
        operation = self.trial.operations[call.operation]
        binding = target.operations.get(operation.id, BARE)
        values = self.values.of(sent, target)
        request = encode(sent, operation, target, access, values)
        doubt = self.variations.doubt(call, operation, target=target, access=access, made=values)
        # What the target file added is part of the request.
        given = arguments(call, operation, binding, values) if operation.request else call.arguments
        made = replace(call, arguments=given, generated=generated(call, given, binding))
        exchange = self.exchanged(made, request, target)
        self.variations.see(call, access, accepted=exchange.accepted)
        return replace(exchange, confounded=doubt or self._perhaps_unattended(exchange))

    def _as_sent(self, call: Call, operation: Operation) -> tuple[Call, Target]:
        """Return a call as it is sent, and the target as its operation is called now, or by this name."""
        submissions, target = self.trial.submissions, self.trial.target
        binding = target.operations.get(operation.id, BARE)
        if (named := binding.under(call.alias)) is not binding:
            target = with_binding(target, operation, named)
        key = _request_of(call, operation)
        if key not in submissions.keys:
            return call, target
        about, bank_key = operation.about or "", submissions.bank_key(key)
        if call.arguments.get(about) == key and bank_key != key:
            call = replace(call, arguments={**call.arguments, about: bank_key})
        return call, with_binding(target, operation, binding.submitted or binding)

    def _perhaps_unattended(self, exchange: Exchange) -> str:
        """Return why a refusal shows nothing where the bank may miss the mark of a customer's presence."""
        call, environment = exchange.call, self.trial.environment
        most = (environment.guard.limits or {}).get(call.operation)
        if most is None or environment.target.presence or not exchange.refused:
            return ""
        number = sum(
            (each.call.operation, each.call.subject) == (call.operation, call.subject)
            for each in self.trial.exchanges
        )
        many = f"{number} calls of {call.operation} came before, and the bank may take each for one"
        key = "without the customer: `presence` is not in the target file"
        return f"{many} {key}" if number >= most else ""

    def exchanged(self, call: Call, request: HttpRequest, target: Target | None = None) -> Exchange:
        """Send a ready request as this call, and return the exchange.

        Raises:
            CannotArrange: the guard does not admit it.

        """
        trial, target = self.trial, target or self.trial.target
        exchange = self._sent(call, request, target)
        about = _request_of(call, trial.operations[call.operation])
        refused = about if about in trial.submissions.refused else None
        outcome = trial.submissions.outcome(exchange.outcome, refused)
        exchange = replace(exchange, outcome=outcome)
        shown = {item.key: item.id for item in exchange.items if item.key and item.id}
        self.values.ids |= shown
        if has_real_customers(target):
            # A consent that another trial narrows may make later lists shorter.
            trial.environment.ids |= shown
        self.values.kept.keep(exchange, target.operations.get(call.operation))
        return exchange

    def submitted(self, call: Call, request: HttpRequest, key: str, target: Target) -> Exchange:
        """Send the submission of the request with a key; its exchange is no event."""
        return self._sent(call, request, target)

    def _sent(self, call: Call, request: HttpRequest, target: Target) -> Exchange:
        trial, operation = self.trial, self.trial.operations[call.operation]
        guard = trial.environment.guard
        who = partial(trial.who, call.subject)
        guard.admit(call, operation, request, who, trial.look, target)
        if operation.writes or operation.grants:
            guard.note_use(who(), trial.used_items(call), trial.look)
        began = perf_counter()
        sent = trial.environment.client.send(request)
        ms = (perf_counter() - began) * 1000
        if sent.sent:  # a link to another host says nothing about this one
            guard.see(sent.wire.status, sent.trouble)
        at, wire, n = trial.look(), sent.wire, trial.number()
        if sent.trouble:
            detail = Detail.TIMEOUT if sent.timed_out else None
            outcome: Outcome = Indeterminate(cause=Cause.TRANSPORT, why=sent.trouble, detail=detail)
        else:
            body = body_of(wire)
            binding = target.operations.get(operation.id, BARE)
            zone = guard.zones.get(operation.id)
            decoded = decode(wire, body, operation, target, zone)
            decoded = self.tokens.judged(call, operation, wire, decoded)
            decoded = page_of_call(decoded, call, binding.next)
            wire, outcome = self.response_limit.limited(wire, decoded)
            if binding.link_headers or (body is not MISSING and names_links(binding)):
                wire = replace(wire, links=links_of(wire, body, binding))
        return Exchange(n=n, at=at, call=call, outcome=outcome, wire=wire, ms=ms)


def _request_of(call: Call, operation: Operation) -> str:
    """Return the key of the request that a call is about, or from which its key was made."""
    about = operation.about or ""
    return call.invented.get(about) or str(call.arguments.get(about, ""))


def with_binding(target: Target, operation: Operation, binding: OperationBinding) -> Target:
    """Return a target file that spells one operation in another way."""
    return replace(target, operations={**target.operations, operation.id: binding})
