"""Calls of one trial: each is encoded, admitted, sent once, and its answer decoded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from time import perf_counter
from typing import Final, TypeAlias, cast
from urllib.parse import parse_qsl, urlsplit

from assay.binding.model.forms import as_sent
from assay.binding.model.pointer import MISSING, find, steps
from assay.binding.model.spelling import SLOT, OperationBinding, Place, Spelling
from assay.binding.model.target import Target
from assay.binding.wire.decode import body_of, decode, documented
from assay.binding.wire.encode import BARE, Access, HttpRequest, encode
from assay.binding.wire.links import links_of, names_links, page_of_call
from assay.binding.wire.values import RequestValues, arguments, generated, repeated_arguments
from assay.contract.model import Json, Operation
from assay.errors import CannotArrange
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
from assay.running.tokens import TrialTokens
from assay.running.trial_state import CallValues, TrialState
from assay.transport.protocol import Delivery, at_one_moment

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


# -- Guard of variations -------------------------------------------------------------------------
# A call with a `variation` shows something only because the same request without it was accepted.
# Both requests are compared as they are encoded, with the same generated values (unique ids,
# moments) in both. Each difference must stand in a place of what the two calls do differently: an
# argument, a mode, the path, the customer. A target file can make it otherwise: the value of a mode
# lacks members that the bank demands, or overwrites another argument, so that the bank refuses the
# request for that; or the file spells two values alike, so that nothing is varied. The reason is
# kept with the exchange, and evidence that rests on it is not judged.
#: How many places a reason names.
MOST_NAMED: Final = 3
#: Where something stands in a request: the part, and the steps to it.
Where: TypeAlias = tuple[str, ...]
#: Fields of a call that do not travel, or that `arguments` has.
_NOT_COMPARED = frozenset(
    {
        "operation",
        "variation",
        "arguments",
        "without",
        "varied",
        "invented",
        "generated",
        "together",
    }
)
#: Differences of calls that concern the whole request, or its credentials.
_WHOLE = frozenset({"malformed", "credentials", "bearer", "follow", "consent"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedCall:
    """An accepted call without a variation, as its probe made it, with its credentials.

    `base_url` is that of the bank where it was made; empty for the one of the call beside it.
    """

    call: Call
    access: Access
    base_url: str = ""


@dataclass(slots=True, kw_only=True)
class VariationGuard:
    """Remembers the accepted controls of one trial, and compares varied calls with them."""

    controls: dict[str, list[AcceptedCall]] = field(default_factory=dict[str, list[AcceptedCall]])

    def see(self, call: Call, access: Access, *, accepted: bool, base_url: str = "") -> None:
        """Remember a call that was accepted, if it can be a control."""
        if accepted and not call.variation and call.malformed is None:
            known = self.controls.setdefault(call.operation, [])
            if all(control.call != call for control in known):
                known.append(AcceptedCall(call=call, access=access, base_url=base_url))

    def doubt(
        self,
        call: Call,
        operation: Operation,
        *,
        target: Target,
        access: Access,
        made: RequestValues,
    ) -> str:
        """Return why a varied call shows nothing beside its control; empty where it does.

        The control is the accepted call of the operation that differs least.
        """
        controls = self.controls.get(operation.id)
        if not call.variation or call.follow is not None or not controls:
            return ""
        binding = target.operations.get(operation.id, BARE)
        try:
            own = arguments(call, operation, binding, made)
            theirs = [arguments(each.call, operation, binding, made) for each in controls]
            differences = [
                (_differences(call, own, control.call, given), control)
                for control, given in reversed([*zip(controls, theirs, strict=True)])
            ]
            different, control = min(differences, key=lambda pair: len(pair[0]))
            if not different or different & _WHOLE:
                return ""
            varied = encode(call, operation, target, access, made)
            plain = encode(control.call, operation, target, control.access, made)
        except CannotArrange:
            return ""
        changed = _changed(varied, plain)
        tokens = list(_tokens(target))
        if not (different & {"subject", "by"} or _is_in_token(different, call, control, binding)):
            # A token that was renewed in between varies nothing.
            changed = {place: how for place, how in changed.items() if not _within(place, tokens)}
        if not changed:
            names = ", ".join(sorted(name.removeprefix("arguments.") for name in different))
            what = f"the request equals its control: {names} changes nothing in it"
            # At another bank, the bank is the difference.
            return what if control.base_url in {"", target.base_url} else ""
        explained = [
            *tokens,
            *_of_arguments(different, call, control.call, binding),
            *_of_fields(different, target),
        ]
        unexplained = [
            f"{_name(place)} {how}"
            for place, how in changed.items()
            if not _within(place, explained)
        ]
        unexplained += _incomplete(varied, plain)
        named = list(dict.fromkeys(unexplained))
        if not named:
            return ""
        rest = f", and {len(named) - MOST_NAMED} more" if named[MOST_NAMED:] else ""
        what = "the request differs from its control in more than one thing"
        return f"{what}: {', '.join(named[:MOST_NAMED])}{rest}"


def _differences(
    call: Call, own: Mapping[str, Json], control: Call, theirs: Mapping[str, Json]
) -> frozenset[str]:
    """Return the names of the arguments and fields in which two calls differ."""
    named = {name for name in {*own, *theirs} if _typed(own, name) != _typed(theirs, name)}
    sent = (each.name for each in fields(Call) if each.name not in _NOT_COMPARED)
    return frozenset(
        {f"arguments.{name}" for name in named}
        | {name for name in sent if getattr(call, name) != getattr(control, name)}
    )


def _typed(given: Mapping[str, Json], name: str) -> object:
    """Return an argument with its type: 1 is not True."""
    return (type(given[name]), given[name]) if name in given else None


# -- places ----------------------------------------------------------------------
def _of_arguments(
    different: frozenset[str], call: Call, control: Call, binding: OperationBinding
) -> list[Where]:
    """Return the places of the arguments and modes in which two calls differ.

    A mode does not explain what it writes over the place of an argument that both calls share, unless
    it repeats the argument; one that repeats an argument differs with it.
    """
    explained: list[Where] = []
    shared: list[Where] = []
    binding = binding.requesting(call.mode, call.spelling)
    for name, spelling in binding.arguments.items():
        group = explained if f"arguments.{name}" in different else shared
        group += _where(spelling, [()])
    if "mode" not in different:
        shared_mode = binding.modes.get(call.mode or "")
        repeated = repeated_arguments(shared_mode.value, binding.arguments) if shared_mode else ()
        if shared_mode and any(f"arguments.{name}" in different for name in repeated):
            explained += _where(shared_mode, [way for way, _ in _leaves(shared_mode.value)])
        return explained
    for mode in {call.mode, control.mode}:
        bound_mode = None if mode is None else binding.modes.get(mode)
        if bound_mode is not None:
            repeated = repeated_arguments(bound_mode.value, binding.arguments)
            explained += [at for name in repeated for at in _where(binding.arguments[name], [()])]
            places = _where(bound_mode, [way for way, _ in _leaves(bound_mode.value)])
            others = [place for place in shared if place not in explained]
            explained += [place for place in places if not _within(place, others)]
    return [*explained, ("path",)]


def _where(spelling: Spelling, leaves: list[Where]) -> list[Where]:
    match spelling.place:
        case Place.QUERY:
            return [("query", spelling.name)]
        case Place.HEADER:
            return [("header", spelling.name.lower())]
        case Place.PATH:
            return [("path",)]
        case Place.BASE:
            return [("base",)]
        case Place.SCOPE:
            return []
        case Place.BODY:
            pointers = (spelling.name, *spelling.also)
            return [("body", *steps(pointer), *leaf) for pointer in pointers for leaf in leaves]


def _is_in_token(
    different: frozenset[str], call: Call, control: AcceptedCall, binding: OperationBinding
) -> bool:
    """Whether two calls differ in a mode that is the scope of their tokens."""
    modes = (binding.modes.get(each or "") for each in (call.mode, control.call.mode))
    scoped = any(mode is not None and mode.place is Place.SCOPE for mode in modes)
    return scoped and "mode" in different


def _within(where: Where, places: list[Where]) -> bool:
    return any(where[: len(place)] == place for place in places)


def _of_fields(different: frozenset[str], target: Target) -> Iterator[Where]:
    """Yield the places of the fields in which two calls differ."""
    if any(name.startswith("arguments.") for name in different):
        yield ("path",)
    if "present" in different and target.presence:
        yield from _where(Spelling(place=target.presence.place, name=target.presence.name), [()])
    if different & {"alias", "host", "bank"}:
        yield from (("base",), ("path",), ("query",))


def _tokens(target: Target) -> Iterator[Where]:
    """Yield the places with a token."""
    yield "header", "authorization"
    for by_tpp in (False, True):
        for at in target.auth.of(by_tpp=by_tpp).credential_places:
            name = at.name.lower() if at.place is Place.HEADER else at.name
            yield from _where(Spelling(place=at.place, name=name), [()])


def _changed(varied: HttpRequest, plain: HttpRequest) -> Mapping[Where, str]:
    """Return each place where a varied request differs from the plain one, and how."""
    own, theirs = dict(_places(varied)), dict(_places(plain))
    names = dict.fromkeys((*own, *theirs))
    return {
        place: "is missing" if place not in own else "is another" if place in theirs else "is added"
        for place in names
        if own.get(place, MISSING) != theirs.get(place, MISSING)
    }


def _places(request: HttpRequest) -> Iterator[tuple[Where, object]]:
    """Yield what stands in a request, and where."""
    url = urlsplit(request.url)
    yield ("base",), (request.method, url.scheme, url.netloc)
    yield ("path",), url.path
    for name, value in _numbered(parse_qsl(url.query, keep_blank_values=True)):
        yield ("query", *name), value
    for name, value in _numbered((name.lower(), value) for name, value in request.headers):
        yield ("header", *name), value
    if content := _json(request.body):  # what has one member differs from nothing in that alone
        yield from ((("body", *way), value) for way, value in _leaves(content))


def _numbered(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[Where, str]]:
    """Yield pairs with the number of each that has the same name."""
    seen: dict[str, int] = {}
    for name, value in pairs:
        seen[name] = seen.get(name, 0) + 1
        yield (name, str(seen[name])), value


def _json(body: bytes) -> Json:
    try:
        return cast("Json", json.loads(body)) if body else None
    except ValueError:
        return body.decode("utf-8", "replace")


def _leaves(value: Json, way: Where = ()) -> Iterator[tuple[Where, object]]:
    """Yield the texts, numbers and empty containers in a JSON value, and where each stands."""
    if isinstance(value, Mapping) and value:
        for name, member in cast("Mapping[str, Json]", value).items():
            yield from _leaves(member, (*way, name))
    elif isinstance(value, list | tuple) and value:
        for n, member in enumerate(cast("list[Json]", value)):
            yield from _leaves(member, (*way, str(n)))
    else:
        # An empty container is a place, too; 1 and True are not the same.
        yield way, (type(value), value)


def _incomplete(varied: HttpRequest, plain: HttpRequest) -> Iterator[str]:
    """Yield what an added element of a list lacks, though each element of the control has it."""
    document = _json(plain.body)
    lists = {
        way[: n + 1]: None
        for way, _ in _leaves(document)
        for n, step in enumerate(way)
        if step.isdecimal()
    }
    own = _json(varied.body)
    for first in lists:
        *above, number = first
        pointer = "".join(f"/{step}" for step in above)
        before, after = find(document, pointer), find(own, pointer)
        if number != "0" or not isinstance(before, list) or not isinstance(after, list):
            continue
        whole = {way for way, _ in _leaves(before[0])}
        for n in range(len(before), len(after)):
            lacking = whole - {way for way, _ in _leaves(after[n])}
            yield from (
                f"{_name(('body', *above, str(n), *way))} is missing" for way in sorted(lacking)
            )


def _name(where: Where) -> str:
    part, *rest = where
    if part == "body":
        return f"{'/'.join(('', *rest))} of the body"
    return f"the {part} {rest[0]}" if rest else f"the {part}"


# -- Calls ---------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyCall:
    """A call that can be made: as it is `sent`, how the target file spells that, and with what access."""

    call: Call
    sent: Call
    target: Target
    access: Access


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedCall:
    """A call as its request was encoded; `delivery` is the answer that came, and after how many ms.

    `doubt` says why the call shows nothing beside its control.
    """

    made: Call
    request: HttpRequest
    doubt: str
    delivery: tuple[Delivery, float] | None = None


@dataclass(slots=True, kw_only=True)
class TrialCalls:
    """The calls of one trial, with the values and the tokens that they have."""

    trial: TrialState
    values: CallValues = field(init=False)
    tokens: TrialTokens = field(init=False)
    variations: VariationGuard = field(default_factory=VariationGuard)
    response_limit: ResponseLimit = field(default_factory=ResponseLimit)
    #: The calls that were sent together, until the probe asks for them.
    ahead: list[EncodedCall] = field(default_factory=list[EncodedCall])

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
        waiting = ready.call.together and self.ahead
        encoded = self.ahead.pop(0) if waiting else self._encoded(ready)
        exchange = self.exchanged(encoded.made, encoded.request, ready.target, encoded.delivery)
        at, accepted = self.trial.target.base_url, exchange.accepted
        self.variations.see(ready.call, ready.access, accepted=accepted, base_url=at)
        doubt = encoded.doubt or self._perhaps_unattended(exchange)
        return replace(exchange, confounded=doubt)

    def send_together(self, calls: Sequence[ReadyCall]) -> None:
        """Send calls at one moment; `make` then returns the exchange of each, in this order.

        Raises:
            CannotArrange: one of them cannot be encoded, or the guard does not admit it.

        """
        encoded = [self._encoded(ready) for ready in calls]
        for ready, each in zip(calls, encoded, strict=True):
            self._admit(each.made, each.request, ready.target)
        client = self.trial.environment.client
        deliveries = at_one_moment(
            client, [partial(client.send, _on_wire(each.request)) for each in encoded]
        )
        self.ahead = [
            replace(each, delivery=delivery)
            for each, delivery in zip(encoded, deliveries, strict=True)
        ]

    def _encoded(self, ready: ReadyCall) -> EncodedCall:
        call, sent, target, access = ready.call, ready.sent, ready.target, ready.access
        operation = self.trial.operations[call.operation]
        binding = target.operations.get(operation.id, BARE)
        values = self.values.of(sent, target)
        request = encode(sent, operation, target, access, values)
        doubt = self.variations.doubt(call, operation, target=target, access=access, made=values)
        # What the target file added is part of the request.
        given = arguments(call, operation, binding, values) if operation.request else call.arguments
        made = replace(call, arguments=given, generated=generated(call, given, binding))
        return EncodedCall(made=made, request=request, doubt=doubt)

    def _as_sent(self, call: Call, operation: Operation) -> tuple[Call, Target]:
        """Return a call as it is sent, and the target as its operation is called now, or by this name."""
        submissions, target = self.trial.submissions, self.trial.target
        binding = target.operations.get(operation.id, BARE)
        if (named := binding.under(call.alias)) is not binding:
            target = with_binding(target, operation, named)
        key, about = _request_of(call, operation), operation.about or ""
        placed = {*binding.arguments, *SLOT.findall(binding.path or operation.path)}
        if operation.shows and about not in {"", *placed} and placed & {*target.outputs}:
            # The path has a value of the answer that made the request in place of its key.
            consent = call.consent or key
            return replace(call, without=(*call.without, about), consent=consent), target
        if key not in submissions.keys:
            return call, target
        bank_key = submissions.bank_key(key)
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

    def exchanged(
        self,
        call: Call,
        request: HttpRequest,
        target: Target | None = None,
        delivery: tuple[Delivery, float] | None = None,
    ) -> Exchange:
        """Send a ready request as this call, if it was not delivered yet, and return the exchange.

        Raises:
            CannotArrange: the guard does not admit it.

        """
        trial, target = self.trial, target or self.trial.target
        exchange = self._sent(call, request, target, delivery)
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

    def _admit(self, call: Call, request: HttpRequest, target: Target) -> None:
        """Have the guard admit a call, and note what it uses."""
        trial, operation = self.trial, self.trial.operations[call.operation]
        guard = trial.environment.guard
        who = partial(trial.who, call.subject)
        guard.admit(call, operation, request, who, trial.look, target)
        if operation.writes or operation.grants:
            guard.note_use(who(), trial.used_items(call), trial.look)

    def _sent(
        self,
        call: Call,
        request: HttpRequest,
        target: Target,
        delivery: tuple[Delivery, float] | None = None,
    ) -> Exchange:
        trial, operation = self.trial, self.trial.operations[call.operation]
        guard = trial.environment.guard
        if delivery is None:
            self._admit(call, request, target)
            began = perf_counter()
            sent = trial.environment.client.send(_on_wire(request))
            delivery = sent, (perf_counter() - began) * 1000
        sent, ms = delivery
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
        remarks = documented(target, sent.wire)
        return Exchange(
            n=n, at=at, call=call, outcome=outcome, wire=wire, ms=ms, documented=remarks
        )


def _on_wire(request: HttpRequest) -> HttpRequest:
    """Return a request with its body as it is sent."""
    return replace(request, body=as_sent(request.headers, request.body))


def _request_of(call: Call, operation: Operation) -> str:
    """Return the key of the request that a call is about, or from which its key was made."""
    about = operation.about or ""
    return call.invented.get(about) or str(call.arguments.get(about, ""))


def with_binding(target: Target, operation: Operation, binding: OperationBinding) -> Target:
    """Return a target file that spells one operation in another way."""
    return replace(target, operations={**target.operations, operation.id: binding})
