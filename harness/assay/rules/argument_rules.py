"""Rules on the values of arguments: the base of the kinds that say what a good one is.

A call with a fault must be refused. That counts only beside a control: the same call with the one
argument as it should be, accepted. A call with several faults is evidence for none of them.

Of a call that makes a request, the request is judged. Acceptance itself is the violation, unless
the request is shown as rejected before anybody has signed or ended it: such requests are not signed.
An answer that never came, and a state that the target file does not list decide nothing. A target
that fails (5xx) beside such a control does not refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import ClassVar, TypeAlias

from assay.contract.model import Capability, Json
from assay.history import Call, Exchange, History
from assay.rules import steps
from assay.rules.controls import same_but
from assay.rules.facets import ArgumentSchema, Schema, SchemaPiece, make_facet
from assay.rules.lifecycle import request_queries, request_steps
from assay.rules.lifecycle.parameters import the_request
from assay.rules.lifecycle.tracker import Instance, Lifecycle, instances
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import (
    BindingRequirement,
    Calls,
    Facet,
    Kind,
    Purpose,
    S,
    Scope,
    Script,
    TppFacet,
    bound,
    facts_of,
    needs,
)
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNAUTHENTICATED,
    UNCLEAR,
    Agreement,
    Evidence,
    failed_instead,
    tpp_evidence,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """What is wrong with an argument of a call, the facet that it shows, and the reason."""

    argument: str
    facet: str
    why: str


#: The faults of a call: none of a good one, None where that is open.
Defects: TypeAlias = Sequence[Defect] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A call to judge; a `control` was good and accepted, so that others are compared with it.

    `request` is what it made, where that is followed; `ids` are arguments that only identify it.
    `exhausted` says that a limit of calls may be used up.
    """

    made: Exchange
    faults: Defects
    control: bool
    request: Instance | None = None
    ids: Sequence[str] = ()
    exhausted: bool = False

    def shared(self, argument: str) -> Hashable:
        """Return what it shares with its controls: all but one argument.

        A customer of the same name who was arranged again counts as another customer.
        """
        customer = id(self.request.subject) if self.request else 0
        return customer, same_but(self.made.call, argument, *self.ids)


#: The controls of a call, by the argument in which they differ from it.
Beside: TypeAlias = Callable[[str], Sequence[Tried]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentRule(Kind[S]):
    """Base of the kinds about the values of arguments.

    A subclass says which calls are `tried`, and how one with a fault is judged.
    """

    purpose = Purpose.LIMIT
    scope = Scope(calls=Calls.NAMED)

    def arguments_of(self) -> Mapping[str, Sequence[str]]:
        """Return the arguments to which the rule applies, by operation."""
        raise NotImplementedError

    def tried(self, history: History) -> Iterator[Tried]:
        """Yield the calls to judge, and their controls."""
        raise NotImplementedError

    def judge(self, tried: Tried, fault: Defect, beside: Sequence[Tried]) -> Iterator[Evidence]:
        """Judge a call with one fault beside its controls."""
        raise NotImplementedError

    def judge_other(self, tried: Tried, beside: Beside) -> Iterator[Evidence]:
        """Judge a call without a fault, or one for which that is open."""
        del tried, beside
        yield from ()

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every call with one fault, beside the same call without it."""
        tried, named = tuple(self.tried(history)), self.arguments_of()

        @cache
        def controls() -> Mapping[Hashable, Sequence[Tried]]:
            out: dict[Hashable, list[Tried]] = {}
            for each in tried:
                for argument in named[each.made.call.operation] if each.control else ():
                    out.setdefault(each.shared(argument), []).append(each)
            return out

        def beside(each: Tried, argument: str) -> Sequence[Tried]:
            return controls().get(each.shared(argument), ())

        for each in tried:
            if each.faults is not None and len(each.faults) == 1:
                (fault,) = each.faults
                yield from self.judge(each, fault, beside(each, fault.argument))
            else:
                yield from self.judge_other(each, partial(beside, each))


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodValueRule(ArgumentRule[S], RefusingKind[S]):
    """Base of the kinds that say what a good value is: calls with another one are refused.

    For the TPP, who sends good ones, `duty` and `judge_sent` say what is owed, and what it did.
    """

    #: The id of the TPP's obligation.
    duty_facet: ClassVar[str]

    def duty(self) -> str:
        """Return what every call of the TPP must be like."""
        raise NotImplementedError

    def judge_sent(self, exchange: Exchange) -> tuple[Agreement, str, str] | None:
        """Judge the arguments of a call of the TPP: what is owed, and what it did; None if open."""
        raise NotImplementedError

    def value_schema(self) -> tuple[Schema, bool]:
        """Return what a good value looks like, and whether a call must have one."""
        raise NotImplementedError

    def schema_pieces(self) -> Iterator[SchemaPiece]:
        """Yield what the arguments must be."""
        for operation, names in self.arguments_of().items():
            for name in names:
                schema, mandatory = self.value_schema()
                yield ArgumentSchema(
                    operation=operation, argument=name, schema=schema, mandatory=mandatory
                )

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        operations = self.contract.operations
        return TppFacet(
            id=self.duty_facet,
            description=self.duty(),
            requires=tuple(
                each
                for operation, names in self.arguments_of().items()
                for each in bound(operations[operation], "argument", names)
            ),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every call of the operations."""
        named = self.arguments_of()
        for exchange in history.exchanges:
            call = exchange.call
            if call.operation in named and not (call.malformed or call.follow):
                judged = self.judge_sent(exchange)
                if judged is not None:
                    agreement, owed, done = judged
                    yield tpp_evidence(self.duty_facet, agreement, exchange, owed, done)


# -- requests ------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class RequestArgumentRule(GoodValueRule):
    """Base of the kinds that say what a good value of an argument of a request is."""

    applies_to = ("makes",)

    lifecycle: Lifecycle = the_request()  # noqa: RUF009 -- declares a parameter

    def faults(self, made: Sequence[Instance]) -> Iterator[Defects]:
        """Yield the faults of each request."""
        raise NotImplementedError

    @property
    def about(self) -> Sequence[str]:
        """The operations that make, change, show or end the request."""
        request = self.lifecycle.request.id
        return [each.id for each in self.contract.operations.values() if each.request == request]

    def argument_facet(
        self,
        id_: str,
        description: str,
        argument: str,
        scenario: str,
        *requires: BindingRequirement,
        not_applicable_because: str = "",
    ) -> Facet:
        """Return a facet on the values of an argument of the request."""
        return make_facet(
            id_,
            description,
            scenario,
            needs(Capability.PSU, Capability.WRITE),
            (*bound(self.lifecycle.create, "argument", argument), *requires),
            not_applicable_because=not_applicable_because,
        )

    def send_and_read(self, calls: Iterable[Call]) -> Script:
        """Make each request, and read it."""
        for call in calls:
            made = yield from steps.send(call)
            yield from request_steps.read(self.lifecycle, made)

    def tried(self, history: History) -> Iterator[Tried]:
        """Yield every request."""
        made = tuple(instances(history, self.lifecycle))
        repeatable = self.lifecycle.request.id not in facts_of(self.contract).unrepeatable
        for request, faults in zip(made, self.faults(made), strict=True):
            good = faults is not None and not faults
            control = good and _is_control(request, repeatable=repeatable)
            yield Tried(made=request.made, faults=faults, control=control, request=request)

    def judge(self, tried: Tried, fault: Defect, beside: Sequence[Tried]) -> Iterator[Evidence]:
        """Judge a request that must not be accepted; nothing is said where no control shows anything."""
        request, made = tried.request, tried.made
        if request is None:
            return
        seen = request.describe()
        if request.stays_accepted:
            agreement = UNCLEAR if request.undecided else DISAGREES
            if _unknown(request):
                agreement = UNCLEAR
                seen += "; its current state is not listed in the target file"
            elif self.lifecycle.read and request.key and not looked_at(request, [fault.argument]):
                agreement = UNCLEAR
                seen += "; it was not read since, and may have been rejected"
        elif not beside:
            return
        elif made.accepted and _touched(request):
            agreement = UNCLEAR
            seen += "; it may have been rejected for something that happened to it since"
        elif made.accepted or (made.refused and made.wire.status != UNAUTHENTICATED):
            agreement = AGREES
        elif failed_instead(made):
            agreement = DISAGREES
        else:
            agreement = UNCLEAR
        controls = tuple(each.made.n for each in beside[-1:])
        yield Evidence(
            facet=fault.facet,
            agreement=agreement,
            expected=f"a refusal: {fault.why}",
            seen=seen,
            exchanges=tuple(sorted({*request.numbers, *controls})),
            variation=made.call.variation,
            decisive=made.n,
            controls=controls,
        )


def _is_control(request: Instance, *, repeatable: bool = False) -> bool:
    """Whether a request can be the control of others.

    One that was executed, or will be, cannot: another like it may be rejected as a repeat.
    Where nobody signs it can, if no rule rejects repeats (`repeatable`).
    """
    signed = request.signed is not None and not request.unsigned
    over = request.done or signed
    return request.stays_accepted and (not over or (repeatable and request.unsigned))


def _touched(request: Instance) -> bool:
    """Whether a request was signed, changed or ended, which can be why it was rejected."""
    return bool(request.screen_flows or request.changes or request.ends or request.withdrawn)


def looked_at(request: Instance, arguments: Collection[str]) -> bool:
    """Whether an answer showed what became of a request: a bank may reject it later.

    A change that names one of the `arguments` may correct it: what is shown from then on is about
    another value.
    """
    changed = (each for each in request.changes if each.accepted)
    corrected = [each.n for each in changed if not each.call.arguments.keys().isdisjoint(arguments)]
    looks = (*request.reads, *request.changes, *request.ends)
    shown = [each for each in looks if not corrected or each.n < corrected[0]]
    # A refusal shows nothing, except where the requester reads its own request.
    own = (
        each in request.reads and request_queries.is_by_requester(request, each.call)
        for each in shown
    )
    return (request.done and not corrected) or any(each.accepted for each in shown) or any(own)


def _unknown(request: Instance) -> bool:
    """Whether the last answer about a request did not show its state."""
    looks = [look for look in (*request.reads, *request.changes, *request.ends) if look.accepted]
    last = max(looks, key=lambda look: look.n, default=None)
    return last is not None and not request.done and (not last.item or last.item.state is None)


def replaced(call: Call, argument: str, value: Json, description: str = "") -> Call:
    """Return a call with another value of an argument; `description` says which, if it is bad."""
    sent = {**call.arguments, argument: value}
    varied = tuple(name for name in call.varied if name != argument)
    variation = f"{argument} is {description}" if description else ""
    return replace(call, arguments=sent, varied=varied, variation=variation)
