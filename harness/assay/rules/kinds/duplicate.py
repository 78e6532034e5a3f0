"""`duplicate`: a request that is identical to one carried out is rejected, and no other is.

Two requests are identical if all that was sent is equal, the mode too, and the day. One
that differs in a parameter, in the mode or in the day must be accepted, and so must the
repeat of one that was never carried out. Where such a one is rejected, the probe asks
what may explain it: does the former stand where it stood, and is the like of it accepted
of another customer? Only then has this rule been applied to what it does not say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from assay.contract.model import Capability, Clause, Contract, Party
from assay.history import Call, Decision, History, Subject
from assay.judging.verdict import Agreement, Evidence
from assay.rules import parameters as rules_parameters
from assay.rules.lifecycle import comparison, request_queries, request_steps, tracker
from assay.rules.lifecycle.alternative_causes import Explanations
from assay.rules.lifecycle.comparison import (
    CANCELLED,
    MODE,
    NEXT_DAY,
    REFUSED,
    REPEAT,
    UNSIGNED,
    ComparisonTracker,
    Relation,
    changed,
    later_day,
    same_day,
)
from assay.rules.lifecycle.request_steps import EACH, RequestResult, through
from assay.rules.lifecycle.tracker import Instance, Lifecycle, Progress
from assay.rules.queries import AGREES, DISAGREES, UNCLEAR
from assay.rules.rule import BindingRequirement, Facet, Rule, Script, needs
from assay.rules.steps import Part, send

#: The numbered events that bring the first request to where its repeat finds it.
BEFORE: Mapping[str, int] = {CANCELLED: 3, REFUSED: 2, UNSIGNED: 1}
#: How a customer refuses.
NO = replace(request_steps.SIGN, decision=Decision.REFUSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The request, the parameters that make two different, and the modes that are asked."""

    lifecycle: Lifecycle
    parameters: tuple[str, ...]
    modes: tuple[str | None, ...]

    def parameter(self, facet: str) -> str | None:
        """Return the parameter that a facet is about, if it is about one."""
        return next((one for one in self.parameters if changed(one) == facet), None)

    def mode(self, facet: str) -> str | None:
        """Return the mode of the first request: to be cancelled, it has to be put off."""
        due = self.lifecycle.create.due
        return due.modes[0] if facet == CANCELLED and due else self.modes[0]


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    lifecycle = tracker.of_clause(clause, contract)
    return Params(
        lifecycle=lifecycle,
        parameters=rules_parameters.texts(clause, "parameters"),
        modes=rules_parameters.texts(clause, "modes") or (lifecycle.mode,),
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """One facet for the repeat, one a difference, one for each way not to be carried out."""
    asks = {
        REPEAT: "the same as one that was carried out is rejected",
        **{changed(one): f"with another {one} it is accepted" for one in p.parameters},
        MODE: "in another mode it is accepted",
        NEXT_DAY: "on the next day it is accepted",
        CANCELLED: "the same as one that was cancelled is accepted",
        REFUSED: "the same as one that the customer refused is accepted",
        UNSIGNED: "the same as one that nobody signed is accepted",
    }
    due = p.lifecycle.create.due
    left_out = {
        *(() if len(p.modes) > 1 else (MODE,)),
        *(() if p.lifecycle.end and due and due.modes else (CANCELLED,)),
    }
    return tuple(
        Facet(
            id=id_,
            description=words,
            scenario=id_,
            needs=_needs(id_),
            requires=tuple(_wants(p, id_)),
        )
        for id_, words in asks.items()
        if id_ not in left_out
    )


def _needs(facet: str) -> frozenset[Capability]:
    day = needs(Capability.CLOCK, Capability.ZONE) if facet == NEXT_DAY else needs()
    return day | needs(Capability.PSU, Capability.WRITE, Capability.SCA)


def _wants(p: Params, facet: str) -> Iterator[BindingRequirement]:
    create, parameter = p.lifecycle.create, p.parameter(facet)
    yield from p.lifecycle.state()
    yield BindingRequirement(operation=create.id, feature="approval")
    for mode in dict.fromkeys((p.mode(facet), p.modes[1] if facet == MODE else None)):
        if mode:
            yield BindingRequirement(operation=create.id, feature="mode", name=mode)
    if parameter and parameter != create.owned:
        yield BindingRequirement(operation=create.id, feature="other", name=parameter)


def price(p: Params, scenario: str) -> int:
    """Count: what happens to the first request, and the second from making to reading."""
    return BEFORE.get(scenario, EACH) + EACH


def probe(p: Params, scenario: str) -> Script:
    """Bring one request to where it is to be, and make another; if it is rejected, look why."""
    lifecycle, parameter = p.lifecycle, p.parameter(scenario)
    owned = parameter is not None and parameter == lifecycle.create.owned
    psu = yield from request_steps.customer(lifecycle, count=2 if owned else 1)
    call = request_steps.request(lifecycle, psu, p.mode(scenario))
    first = yield from send(call)
    if scenario != UNSIGNED:
        yield from request_steps.sign(first, NO if scenario == REFUSED else request_steps.SIGN)
    if scenario == CANCELLED:
        yield from request_steps.maybe(request_steps.about(lifecycle.end, first))
    elif scenario not in BEFORE:
        yield from request_steps.read(lifecycle, first)
    if scenario == NEXT_DAY:
        yield from request_steps.later(psu, 1)
    came = yield from through(lifecycle, _second(p, scenario, call, psu))
    if came.rejected:
        if scenario in BEFORE:
            yield from request_steps.read(lifecycle, first)
        if not (owned or scenario in (REPEAT, NEXT_DAY)):
            # In these, the first request is like the second in all that matters.
            yield from _beside(p, scenario)


def _second(p: Params, scenario: str, call: Call, psu: Subject) -> Call:
    """Return the second call: the first one again, but for the one difference."""
    create, parameter = p.lifecycle.create, p.parameter(scenario)
    if scenario == MODE:
        return replace(call, mode=p.modes[1], variation="it is in another mode")
    if parameter is None:
        return replace(call, variation=_AGAIN.get(scenario, "it is the same again"))
    call = replace(call, variation=f"{parameter} is another")
    if parameter == create.owned:
        return replace(call, arguments={**call.arguments, parameter: psu.owns[1].key})
    return replace(call, varied=(parameter,))


_AGAIN: Mapping[str, str] = {
    NEXT_DAY: "it is the same on the next day",
    CANCELLED: "it is the same as one that was cancelled",
    REFUSED: "it is the same as one that was refused",
    UNSIGNED: "it is the same as one that nobody signed",
}


def _beside(p: Params, scenario: str) -> Part[RequestResult | None]:
    """Make the like of the second request for another customer, who has made none before."""
    other = yield from request_steps.customer(p.lifecycle, "another")
    call = request_steps.request(p.lifecycle, other, p.mode(scenario))
    like = replace(_second(p, scenario, call, other), variation="")
    return (yield from through(p.lifecycle, like))


# -- judging ---------------------------------------------------------------------
def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every request beside those that came before it."""
    compared = ComparisonTracker(
        lifecycle=p.lifecycle,
        parameters=p.parameters,
        modes=p.modes,
        book=tracker.Tracker(lifecycle=p.lifecycle),
    )
    for event in history.events:
        compared.note(event)
    explanations = Explanations.of(compared)
    for request in comparison.sure(compared.book):
        yield from _judge(p, request, explanations)


def _judge(p: Params, request: Instance, explanations: Explanations) -> Iterator[Evidence]:
    """Judge a repeat as such; all else by what it differs in from former requests."""
    relations = explanations.compared.relations[id(request)]
    for relation in relations:
        if relation.facet == REPEAT and same_day(p.lifecycle, relation.former, request):
            yield from _evidence(request, relation, _repeat(request))
            return
    for relation in relations:
        if _told(p, request, relation):
            again = relation.facet == REPEAT
            named = replace(relation, facet=NEXT_DAY) if again else relation
            yield from _evidence(request, named, _other(p, request, named, explanations))


def _told(p: Params, request: Instance, relation: Relation) -> bool:
    """Whether a relation says surely what it says: on the same day, or a later one."""
    former = relation.former
    if relation.facet == REPEAT:
        return later_day(p.lifecycle, former, request)
    if relation.facet in BEFORE:
        return not former.done
    return same_day(p.lifecycle, former, request)


#: How a request is judged, what is to be added, and which others it rests on.
_Judged: TypeAlias = tuple[Agreement, str, tuple[Instance, ...]]


def _rejected(request: Instance) -> bool:
    """Whether it was rejected for what it is, and not for who asked."""
    return request.fate is Progress.REJECTED or (
        request.made.refused and request_queries.said_no(request.made)
    )


def _repeat(request: Instance) -> _Judged | None:
    if _rejected(request):
        return AGREES, "", ()
    if request.done:
        return DISAGREES, "", ()
    return (UNCLEAR, "", ()) if request_queries.signature(request) else None


def _other(
    p: Params, request: Instance, relation: Relation, explanations: Explanations
) -> _Judged | None:
    if _rejected(request):
        why, control = explanations.why(request, relation), explanations.control(request)
        beside = (control,) if control else ()
        return (UNCLEAR, why, beside) if why else (DISAGREES, "", beside)
    if request.done:
        return AGREES, "", ()
    if not request_queries.signature(request):
        return None
    still = p.lifecycle.due(request.mode) and request.fate is Progress.OPEN
    return (AGREES, "", ()) if still else (UNCLEAR, "", ())


def _evidence(request: Instance, relation: Relation, judged: _Judged | None) -> Iterator[Evidence]:
    if judged is None:
        return
    agreement, why, beside = judged
    told = (request, relation.former, *beside)
    yield Evidence(
        facet=relation.facet,
        agreement=agreement,
        expected=_EXPECTED.get(relation.facet, "that it is accepted: it differs in one thing"),
        seen=f"{request.tell()}; {why}" if why else request.tell(),
        exchanges=tuple(sorted({n for one in told for n in one.numbers})),
        variation=request.made.call.variation,
    )


_EXPECTED: Mapping[str, str] = {
    REPEAT: "that it is rejected: the same was carried out before on that day",
    NEXT_DAY: "that it is accepted: the same was carried out, but on a day before",
    CANCELLED: "that it is accepted: the same was cancelled, and not carried out",
    REFUSED: "that it is accepted: the same was refused by the customer",
    UNSIGNED: "that it is accepted: the same was never signed",
}


RULE = Rule(
    kind="duplicate",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
