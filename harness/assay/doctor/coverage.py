"""Coverage of each check: the answers that it needs before its result means anything.

A check without findings is only passed if the answers that it examines were there. Each
function of `COVERED` returns None if they were, or a `Gap` that says what was missing; a gap
without a place means that contracts and target file have nothing for the check to examine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from assay.binding.target import FixtureKind, ScaKind
from assay.contract.files.document import Pointer
from assay.contract.model import Capability, Operation
from assay.doctor.context import DoctorContext, Finding, SeenAnswer, Weight, ordinary
from assay.doctor.probes import RULE, SINCE, UNTIL
from assay.doctor.probing import probe_plans
from assay.doctor.request_effects import asked_for
from assay.doctor.request_probes import (
    BARRED,
    CANCELLED,
    CHANGED,
    DENIED,
    IN_MODE,
    OTHERS,
    SIGNED,
    UNKNOWN,
)
from assay.doctor.rule_probes import arguments_of
from assay.rules.clauses import clauses_of

#: The most operations that one finding names.
_MOST_NAMES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """What a check did not see; `place` is the nearest key of the file, if it had to see it."""

    place: Pointer = ()
    expected: str = ""
    found: str

    def finding(self, context: DoctorContext) -> Finding:
        """Return the gap as a finding."""
        return context.finding(self.place, self.expected, self.found, weight=Weight.UNSEEN)


def _idle(found: str) -> Gap:
    """Return the gap of a check that has nothing to examine."""
    return Gap(found=found)


def _offered(context: DoctorContext) -> Iterable[Operation]:
    """Yield the available operations of the contracts."""
    for contract in context.contracts_bound:
        yield from (each for each in contract.operations.values() if each.available)


def _network(context: DoctorContext) -> Gap | None:
    return None if context.networked else _idle("the target is not called over a network")


def _clocks(context: DoctorContext) -> Gap | None:
    if not context.networked or context.ahead is not None:
        return _network(context)
    place, expected = ("base_url",), "the date of an answer, to compare the clocks"
    return Gap(place=place, expected=expected, found="an answer without a date")


def _calls(context: DoctorContext) -> Gap | None:
    if any(answer.accepted for answer in context.answers):
        return None
    found = "no accepted call" if context.answers else "no call"
    return Gap(place=("operations",), found=found)


def _zone(context: DoctorContext) -> Gap | None:
    if context.target.zone is None:
        return _idle("the file names no time zone")
    if context.makes_customers and context.subjects:
        return None
    return Gap(
        place=("zone",), expected="the bank's clock", found="no clock among the fixtures' offers"
    )


def _static(context: DoctorContext) -> Gap | None:
    good = [answer for answer in context.answers if answer.good and answer.operation.available]
    if any(_asked_differently(context, answer, other) for answer in good for other in good):
        return None
    found = "no operation that answered two different requests"
    return Gap(place=("base_url",), expected="two answers to compare", found=found)


def _asked_differently(context: DoctorContext, answer: SeenAnswer, other: SeenAnswer) -> bool:
    """Whether two requests of one operation are for different things, which differ when shown."""
    if answer.operation.id != other.operation.id:
        return False
    follow, followed = answer.exchange.call.follow, other.exchange.call.follow
    return asked_for(context, answer) != asked_for(context, other) or follow != followed


def _pointers(context: DoctorContext) -> Gap | None:
    """Name the operations with pointers of which no successful answer was seen."""
    reported = {finding.key for finding in context.reported}
    unseen = [
        operation.id
        for operation in _offered(context)
        if _points(context, operation)
        and not any(answer.accepted for answer in context.of(operation.id))
        and not any(key.startswith(f"operations.{operation.id}") for key in reported)
    ]
    accepted = any(answer.accepted for answer in context.answers)
    if accepted and not unseen:
        return None
    place: Pointer = ("operations", unseen[0]) if len(unseen) == 1 else ("operations",)
    expected = "a successful answer of each operation"
    return Gap(place=place, expected=expected, found=f"none of {_names(unseen)}")


def _names(operations: list[str]) -> str:
    further = len(operations) - _MOST_NAMES
    named = ", ".join(operations[:_MOST_NAMES])
    return f"{named} and {further} more" if further > 0 else named or "any"


def _points(context: DoctorContext, operation: Operation) -> bool:
    binding = context.target.operations.get(operation.id)
    return binding is not None and bool(
        binding.list or binding.one is not None or binding.links or binding.approval
    )


def _pages(context: DoctorContext) -> Gap | None:
    lists = [each for each in _offered(context) if each.lists]
    if not lists:
        return _idle("the contracts have no lists")
    turned = [
        answer
        for operation in lists
        for answer in context.of(operation.id)
        if answer.accepted and (answer.exchange.call.follow or _whole(context, answer))
    ]
    if turned:
        return None
    place = ("operations", lists[0].id, "next")
    return Gap(place=place, expected="a second page of a list", found="none")


def _whole(context: DoctorContext, answer: SeenAnswer) -> bool:
    """Whether a list without pages was read of a customer whose items are all known."""
    known = context.makes_customers and answer.binding.next is None
    return known and ordinary(answer.exchange) and bool(answer.raw_items)


def _dates(context: DoctorContext) -> Gap | None:
    bound = [
        (operation, name)
        for operation in _offered(context)
        for name in (operation.since, operation.until)
        if not operation.grants
        if name and name in _arguments(context, operation)
    ]
    if not bound:
        return _idle("the file binds no date argument that limits a list")
    said = {SINCE, UNTIL}
    limited = [answer for answer in context.answers if answer.exchange.call.variation in said]
    if any(answer.accepted for answer in limited):
        return None
    operation, name = bound[0]
    place = ("operations", operation.id, "arguments", name)
    return Gap(place=place, expected="a date with an effect", found="no such accepted call")


def _arguments(context: DoctorContext, operation: Operation) -> Mapping[str, object]:
    binding = context.target.operations.get(operation.id)
    return binding.arguments if binding else {}


def _presence(context: DoctorContext) -> Gap | None:
    if any(answer.accepted for answer in context.presences):
        return None
    if not context.counted:
        return _idle("the contracts set no limit on calls without the customer")
    place, expected = ("presence", "header"), "a header with an effect"
    return Gap(place=place, expected=expected, found="no accepted call without the customer")


def _makes(context: DoctorContext) -> bool:
    return any(operation.makes for operation in _offered(context))


def _screens(context: DoctorContext) -> Gap | None:
    if context.target.sca.kind is ScaKind.NONE or not _makes(context):
        return _idle("nothing is signed")
    if context.signed:
        return None
    return Gap(place=("sca",), expected="SCA screens", found="no signed request")


def _effects(context: DoctorContext) -> Gap | None:
    fixtures = context.target.fixtures
    if Capability.EFFECTS not in fixtures.offers or not _makes(context):
        return _idle("executed requests are not reported")
    if any(event.done for event in context.effects):
        return None
    place = ("fixtures", "adapter" if fixtures.kind is FixtureKind.PYTHON else "effects")
    found = "no executed request"
    return Gap(place=place, expected="an executed request", found=found)


def _states(context: DoctorContext) -> Gap | None:
    if context.target.sca.kind is ScaKind.NONE or not _makes(context):
        return _idle("nothing is signed")
    moments = {answer.exchange.call.variation for answer in context.answers if answer.accepted}
    if moments & {SIGNED, DENIED, CANCELLED}:
        return None
    return Gap(place=("sca",), expected="a signed request, read back", found="none")


def _values(context: DoctorContext) -> Gap | None:
    making = [each for each in _offered(context) if each.makes or each.changes]
    varied = [
        each.id
        for each in making
        if (binding := context.target.operations.get(each.id))
        and (binding.modes or any(at.other is not None for at in binding.arguments.values()))
    ]
    if not varied:
        return _idle("the file has no modes and no second values")
    variations = {answer.exchange.call.variation for answer in context.answers}
    if variations & {IN_MODE, BARRED, UNKNOWN, OTHERS, CHANGED}:
        return None
    place, expected = ("operations", varied[0]), "requests in other modes and with other values"
    return Gap(place=place, expected=expected, found="none")


def _arguments_read(context: DoctorContext) -> Gap | None:
    """Name an argument that a rule is about, if no probe of such a rule was performed."""
    places = [
        ("operations", operation, "arguments", argument)
        for plan in probe_plans(context)
        for kind in clauses_of(plan.contract)
        for facet in kind.facets()
        for operation, argument, _ in arguments_of(plan, kind, facet)
    ]
    if not places:
        return _idle("no rule is about a header or a query parameter")
    if any(f" {RULE} " in answer.probe for answer in context.answers):
        return None
    expected, found = "a call that shows whether it is read", "none"
    return Gap(place=places[0], expected=expected, found=found)


#: The checks that say what was not seen besides their findings, if those are no faults.
IN_PART: Final = frozenset({"pointers"})
#: What the checks with calls need, by name; the others examine the file, which is there.
COVERED: Final[Mapping[str, Callable[[DoctorContext], Gap | None]]] = {
    "host": _network,
    "port": _network,
    "answers": _network,
    "clocks": _clocks,
    "calls": _calls,
    "zone": _zone,
    "static": _static,
    "status": _calls,
    "pointers": _pointers,
    "pages": _pages,
    "dates": _dates,
    "presence": _presence,
    "screens": _screens,
    "effects": _effects,
    "states": _states,
    "values": _values,
    "arguments": _arguments_read,
}
