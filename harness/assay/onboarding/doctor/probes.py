"""The doctor's probes: ordinary calls that show whether the target file is right.

A `ProbePlan` says what a contract and a target allow: how many items exceed a page, which
operation transmits consents, which calls without the customer are counted. `doctor_probes`
makes the probes. Each is a generator of steps, so that its cost can be estimated in a dry run
before it is performed. Where no customers can be created for a probe, each operation is
called at most once, with the customer present; only lists that are known whole are read to their
end. Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from typing import Final, TypeAlias

from assay.binding.model.target import Role, ScaKind, Target
from assay.binding.wire.values import repeats_argument
from assay.contract.model import Capability, Contract, Operation
from assay.history import (
    Accepted,
    Arrange,
    Authorise,
    Call,
    Decision,
    Exchange,
    Holding,
    Owned,
    Subject,
)
from assay.onboarding.doctor.probe_plan import HOST, ProbePlan, rule_probes
from assay.rules import steps
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.tracker import Lifecycle, lifecycle_of_operation
from assay.rules.rule import Script, facts_of
from assay.rules.steps import Part

#: The names of the probes; that of a segment is `segment` and its name.
READS, ROLES, REQUESTS, PRESENCE, SEGMENT = "reads", "roles", "requests", "presence", "segment"
#: What the name of a probe of a rule begins with; the clause and the facet follow.
RULE = "rule"
#: The variations of a call, in words.
SINCE, UNTIL, ALIAS = "from a day on", "up to a day", "by another name"
AGAIN = "once more, with all else unchanged"
#: From how many days the entries are, and how many days ago the two dates are.
DAYS, SINCE_AGO, UNTIL_AGO = 6, 3, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorProbe:
    """A probe with its name; `segment` is the customer segment that it creates, if any.

    `target` is the target with other words, where that is what the probe is about. An
    `optional` one needs what the fixture provider may not have.
    """

    name: str
    start: Callable[[], Script]
    segment: str = ""
    target: Target | None = None
    optional: bool = False


def doctor_probes(plan: ProbePlan) -> Iterator[DoctorProbe]:
    """Yield the probes of a contract."""
    if any(operation.available and not operation.grants for operation in plan.reads):
        yield DoctorProbe(name=READS, start=partial(_reads, plan))
        if len(plan.target.fixtures.own_roles) > 1:
            yield DoctorProbe(name=ROLES, start=partial(_roles, plan))
    for create in plan.making:
        yield from _requests(plan, create)
    if plan.makes and plan.makes_customers:
        yield from _segments(plan, plan.makes)
    for name, start in rule_probes(plan) if plan.makes_customers else ():
        yield DoctorProbe(name=f"{RULE} {name}", start=start, optional=True)
    if plan.makes_customers and plan.counted():
        yield DoctorProbe(name=PRESENCE, start=partial(_presence, plan))


def _requests(plan: ProbePlan, create: Operation) -> Iterator[DoctorProbe]:
    """Yield the probes of the requests that an operation creates."""
    lifecycle = lifecycle_of_operation(plan.contract, create)
    beginning = "" if create is plan.makes else f"{create.id}: "
    scripts: list[_Named] = [(REQUESTS, partial(_made, plan, lifecycle))]
    if plan.makes_customers:
        scripts += [*_signature_probes(plan, lifecycle), *_varied_probes(plan, lifecycle)]
    for name, start in scripts:
        yield DoctorProbe(name=f"{beginning}{name}", start=start)
    if plan.makes_customers:
        # The words of the modes are ones that no bank knows.
        worded = _worded(plan, create)
        yield DoctorProbe(
            name=f"{beginning}unknown modes",
            start=partial(_in_modes, plan, lifecycle, worded, UNKNOWN),
            target=_with_unknown_words(plan, create, worded),
        )


def _segments(plan: ProbePlan, create: Operation) -> Iterator[DoctorProbe]:
    """Yield the probes of each segment in the file, and of those that have factors of their own."""
    fixtures, named = plan.target.fixtures, plan.target.fixtures.segments
    offered = Capability.SEGMENTS in fixtures.offers
    by_factors = (
        facts_of(plan.contract).factors_by_segment.get(create.makes or "", {}) if offered else ()
    )
    for name in dict.fromkeys((*named, *by_factors)):
        yield DoctorProbe(
            name=f"{SEGMENT} {name}",
            start=partial(_segment, plan, name),
            segment=name,
            optional=name not in named,
        )


def _reads(plan: ProbePlan) -> Script:
    """Call every operation that reads, and those that the contract says are unavailable."""
    psu = yield from _customer(plan)
    needed = plan.grant if any(operation.consent for operation in plan.lists) else None
    yield from steps.grant(needed, "psu", *(owned.key for owned in psu.owns))
    for operation in plan.lists:
        first = yield from steps.send(Call(operation=operation.id, subject="psu"))
        yield from _second_page(plan, first)
        yield from _all_pages(plan, first, plan.first_role)
    for host in plan.other_hosts if plan.lists else ():
        elsewhere = Call(operation=plan.lists[0].id, subject="psu", host=host)
        yield from steps.send(replace(elsewhere, variation=HOST))
    if plan.grant and not needed:
        yield from steps.grant(plan.grant, "psu", *(owned.key for owned in psu.owns))
        for operation in plan.lists if plan.makes_customers else ():
            if operation.disclosures or plan.is_compared(operation):
                yield from steps.send(Call(operation=operation.id, subject="psu"))
    for operation in plan.reads:
        if operation.available and operation.about:
            yield from _about(plan, operation, psu)
    for operation in plan.reads:
        if not operation.available and not operation.about:
            yield from steps.send(Call(operation=operation.id, subject="psu"))
    yield from _again(plan, psu)


def _again(plan: ProbePlan, psu: Subject) -> Part[None]:
    """Repeat what the rules compare, as late as possible: some values change by the second."""
    for operation in plan.reads:
        if not plan.is_compared(operation):
            continue
        owners = steps.owners(plan.contract, operation) if operation.about else ()
        keys = [item.key for item in psu.owns if item.resource in owners][:1]
        for key in keys if operation.about else ("",):
            arguments = steps.arguments(operation, key) if key else {}
            call = Call(operation=operation.id, subject="psu", arguments=arguments)
            yield from steps.send(replace(call, variation=AGAIN))


def _customer(plan: ProbePlan) -> Part[Subject]:
    """Create a customer that owns more than a page of items, and of entries below one."""
    now = yield from steps.clock()
    owner = plan.owner()
    if not plan.makes_customers or owner is None:
        return (yield from steps.arrange("psu", *([Holding(resource=owner)] if owner else [])))
    others = [resource.id for resource in steps.roots(plan.contract) if resource.id != owner]
    entries = plan.most(operation for operation in plan.reads if operation.about)
    items = plan.most(each for each in plan.reads if each.lists and not each.about)
    # A history may be short: more than a page of it is from a few days.
    dates = steps.days_before(now.date(), *(1 + DAYS * n // entries for n in range(entries)))
    return (
        yield from steps.arrange(
            "psu",
            Holding(resource=owner, entries=dates),
            Holding(resource=owner, count=max(items - 1 - len(others), 1), entries=dates[:2]),
            *(Holding(resource=resource, entries=dates[:2]) for resource in others),
        )
    )


def _second_page(plan: ProbePlan, first: Exchange) -> Part[None]:
    """Read the second page, if there is one and no real customer's accesses are spent."""
    if plan.makes_customers and isinstance(first.outcome, Accepted) and first.outcome.next:
        yield from steps.send(replace(first.call, follow=first.outcome.next))


def _all_pages(plan: ProbePlan, first: Exchange, role: Role | None) -> Part[None]:
    """Read a listed customer's list to its end, where the file says all that the customer owns."""
    shown, page = len(first.items), first
    while (
        role
        and Capability.ROSTER in plan.target.fixtures.offers
        and isinstance(page.outcome, Accepted)
        and page.outcome.next
        and 0 < shown < len(role.owns)
    ):
        page = yield from steps.send(replace(first.call, follow=page.outcome.next))
        shown = shown + len(page.items) if page.items else 0


def _about(plan: ProbePlan, operation: Operation, psu: Subject) -> Part[None]:
    """Call about one item of each resource; for the first item, with every variation."""
    owners = set(steps.owners(plan.contract, operation))
    first_of: dict[str, Owned] = {}
    for item in psu.owns:
        if item.resource in owners:
            first_of.setdefault(item.resource, item)
    for n, thing in enumerate(first_of.values()):
        arguments = steps.arguments(operation, thing.key)
        call = Call(operation=operation.id, subject="psu", arguments=arguments)
        if n and not plan.makes_customers:
            return
        first = yield from steps.send(call)
        if n or not plan.makes_customers:
            continue
        yield from _second_page(plan, first)
        given = plan.binding(operation).aliases
        for alias in range(len(operation.aliases if given is None else given)):
            yield from steps.send(replace(call, alias=alias, variation=ALIAS))
        yield from _between(plan, operation, call, psu.now.date())


def _between(plan: ProbePlan, operation: Operation, call: Call, today: date) -> Part[None]:
    """Call with each date that the target file binds."""
    for name, ago, says in (
        (operation.since, SINCE_AGO, SINCE),
        (operation.until, UNTIL_AGO, UNTIL),
    ):
        if name and name in plan.binding(operation).arguments:
            day = (today - timedelta(days=ago)).isoformat()
            named = {**call.arguments, name: day}
            yield from steps.send(replace(call, arguments=named, variation=says))


def _roles(plan: ProbePlan) -> Script:
    """Call once for every listed customer not used yet, to see whether its token is accepted."""
    first = plan.first_role
    for role in plan.target.fixtures.own_roles:
        # The next one of this kind of customer, whatever it owns.
        yield Arrange(subject=role.name, holdings=(), segment=role.segment)
        if role != first and plan.lists:
            page = yield from steps.send(Call(operation=plan.lists[0].id, subject=role.name))
            yield from _all_pages(plan, page, role)


def _presence(plan: ProbePlan) -> Script:
    """Use up the calls without the customer, then call with the customer present.

    Where the calls are never used up, call as often with the customer: the header may have
    the opposite meaning. Without a header, only calls with the customer are made: one too many
    for a bank that takes them for calls without.
    """
    counted, owner = plan.counted(), plan.owner()
    if counted is None or owner is None:
        return
    operation, limit = counted
    if operation.about and owner not in steps.owners(plan.contract, operation):
        return
    psu = yield from steps.arrange("psu", Holding(resource=owner))
    if operation.consent or operation.about:
        yield from steps.grant(plan.grant, "psu", *(owned.key for owned in psu.owns))
    about = steps.arguments(operation, psu.owns[0].key) if operation.about else {}
    call = Call(operation=operation.id, subject="psu", arguments=about, present=False)
    for n in () if plan.target.presence is None else range(2 * (limit + 1)):
        last = yield from steps.send(call)
        # A bank with another limit distinguishes calls without the customer, too.
        if not last.accepted and (n >= limit or n == 0):
            yield from steps.send(replace(call, present=True))
            return
    for _ in range(limit + 1):
        yield from steps.send(replace(call, present=True))


# -- The doctor's probes of requests: make, show, change, sign and end one -------------------------
# Where customers are created, every mode and every second value of the target file is sent
# once, and a request is shown at each moment of its life, so that its words can be compared
# with what was done. With listed customers, one request is made, shown, changed and ended.

#: The moments of a request at which it is shown, after that at which it was made.
SIGNED, WAITING = "after it was signed", "after it was signed, for a later day"
DENIED, LEFT = "after the customer refused", "after the customer was idle"
CANCELLED, CHANGED = "after it was cancelled", "after it was changed"
WITHDRAWN = "after the customer cancelled it elsewhere"
#: The variation of a request that is equal to another one.
TWIN = "equal to another request"
#: How many days the clock is moved past the day of a deferred request.
PAST: Final = 10
#: The variations of a call that makes or changes a request.
IN_MODE, OTHERS = "in a mode", "with other values"
BARRED, UNKNOWN = "in a mode that is refused", "in an invalid mode"
#: The variation of a request by a customer of a segment.
OF_SEGMENT = "by a customer of a segment"
#: What makes a word of a bank one that it does not know.
_NO_WORD: Final = "-0"
#: The name of a probe, and the probe that has not begun.
_Named: TypeAlias = tuple[str, "partial[Script]"]
#: A signature that the customer refuses to give.
REFUSAL: Final = Authorise(
    subject="", request="", approval=None, decision=Decision.REFUSE, variation=DENIED
)
#: The signature of a customer of a segment, with the first factor that is offered.
IN_SEGMENT: Final = replace(request_steps.SIGN, variation=OF_SEGMENT)


def _made(plan: ProbePlan, lifecycle: Lifecycle) -> Script:
    """Create, read, change and end a request; where customers are created, sign another one."""
    psu = yield from request_steps.customer(lifecycle)
    if plan.makes_customers:
        made = yield from steps.send(request_steps.request(lifecycle, psu))
        yield from _show(lifecycle, made, everywhere=True)
        for operation in plan.contract.operations.values():
            if not operation.available and operation.by_tpp:
                yield from request_steps.send_if_any(request_steps.call_about(operation, made))
        if plan.signs:
            if not lifecycle.create.grants and Capability.EFFECTS in plan.target.fixtures.offers:
                yield from steps.send(request_steps.request(lifecycle, psu, variation=TWIN))
            yield from _sign(plan, lifecycle, made, SIGNED, everywhere=True)
    for host in plan.other_hosts if not plan.reads else ():
        elsewhere = replace(request_steps.request(lifecycle, psu), host=host, variation=HOST)
        yield from steps.send(elsewhere)
    mode = _changeable_mode(plan, lifecycle)
    made = yield from steps.send(request_steps.request(lifecycle, psu, mode))
    if not plan.makes_customers:
        if made.refused and mode != lifecycle.mode:
            made = yield from steps.send(request_steps.request(lifecycle, psu))
        yield from _show(lifecycle, made)
    yield from request_steps.send_if_any(request_steps.plain_change(lifecycle, made))
    end = request_steps.call_about(lifecycle.end, made)
    yield from request_steps.send_if_any(end)
    if plan.makes_customers and end is not None:
        yield from _show(lifecycle, made, CANCELLED)


def _changeable_mode(plan: ProbePlan, lifecycle: Lifecycle) -> str | None:
    """Return the mode of a request that can be changed, or the plain one if it is not bound."""
    mode = lifecycle.changeable_mode
    bound = mode in plan.binding(lifecycle.create).modes
    return mode if bound else lifecycle.mode


def _make(
    lifecycle: Lifecycle,
    variation: str,
    mode: str | None = None,
    *,
    name: str = "psu",
    varied: tuple[str, ...] = (),
) -> Part[Exchange]:
    """Create a customer, named `name`, who makes a request with a variation."""
    psu = yield from request_steps.customer(lifecycle, name)
    call = request_steps.request(lifecycle, psu, mode, variation=variation)
    return (yield from steps.send(replace(call, varied=varied)))


def _show(
    lifecycle: Lifecycle, made: Exchange, moment: str = "", *, everywhere: bool = False
) -> Part[None]:
    """Read a request at a moment of its life; `everywhere`: also its status, for example."""
    others = [
        each
        for each in lifecycle.contract.operations.values()
        if each.available and each.shows == lifecycle.request.id and each is not lifecycle.read
    ]
    for operation in (lifecycle.read, *(others if everywhere else ())):
        if call := request_steps.call_about(operation, made):
            yield from steps.send(replace(call, variation=moment))


def _leads(plan: ProbePlan, made: Exchange) -> bool:
    """Whether a request was made, and it is known where it is signed."""
    linked = isinstance(made.outcome, Accepted) and made.outcome.approval is not None
    return made.item is not None and (linked or plan.target.sca.kind is ScaKind.CONTROL)


def _sign(
    plan: ProbePlan,
    lifecycle: Lifecycle,
    made: Exchange,
    moment: str,
    how: Authorise = request_steps.SIGN,
    *,
    everywhere: bool = False,
) -> Part[None]:
    """Sign a request in one way, show it, and ask what was executed."""
    if _leads(plan, made) and (yield from request_steps.sign(lifecycle, made, how)):
        yield from _show(lifecycle, made, moment, everywhere=everywhere)
        yield from request_steps.inquire()


def _signed(
    plan: ProbePlan, lifecycle: Lifecycle, how: Authorise, moment: str, mode: str | None = None
) -> Script:
    """Make a request, sign it in one way, and show it."""
    made = yield from _make(lifecycle, moment, mode)
    yield from _sign(plan, lifecycle, made, moment, how)


def _signature_probes(plan: ProbePlan, lifecycle: Lifecycle) -> Iterator[_Named]:
    """Yield the probes in which a request is signed late, for a later day, or not at all."""
    if not plan.signs or lifecycle.read is None:
        return
    yield "refused signature", partial(_signed, plan, lifecycle, REFUSAL, DENIED)
    limits = facts_of(plan.contract).signing_limits.get(lifecycle.request.id, {})
    if limits and Capability.CLOCK in plan.target.fixtures.offers:
        idle = (max(limits.values()) + timedelta(minutes=1),)
        late = replace(request_steps.SIGN, linger=idle, variation=LEFT)
        yield "late signature", partial(_signed, plan, lifecycle, late, LEFT)
    mode = lifecycle.changeable_mode
    if lifecycle.deferred(mode) and mode in plan.binding(lifecycle.create).modes:
        yield "later day", partial(_later_day, plan, lifecycle, mode)


def _later_day(plan: ProbePlan, lifecycle: Lifecycle, mode: str | None) -> Script:
    """Make two equal requests for a later day: sign one, let the customer cancel the other.

    Then many days pass at once, and the signed one must have been executed on its own day.
    """
    offers = plan.target.fixtures.offers
    made = yield from _make(lifecycle, WAITING, mode)
    other = None
    if Capability.DIRECT_ACCESS in offers and not lifecycle.create.grants:
        twin = yield from steps.send(replace(made.call, variation=TWIN))
        # By the id of the call, both may be one request.
        apart = twin.item and made.item and twin.item.key != made.item.key
        made, other = (twin, made) if apart else (made, None)
    yield from _sign(plan, lifecycle, made, WAITING)
    if other is not None:
        withdrawn = yield from request_steps.withdraw(other)
        if withdrawn is not None and not withdrawn.done:
            # A bank may let its customers cancel only what they have signed.
            signing = replace(request_steps.SIGN, variation=WITHDRAWN)
            yield from request_steps.sign(lifecycle, other, signing)
            yield from request_steps.withdraw(other)
        yield from _show(lifecycle, other, WITHDRAWN)
    if {Capability.CLOCK, Capability.EFFECTS} <= offers:
        yield from steps.clock(made.at + timedelta(days=request_steps.DAYS_AHEAD + PAST))
        yield from request_steps.inquire()


def _varied_probes(plan: ProbePlan, lifecycle: Lifecycle) -> Iterator[_Named]:
    """Yield the probes of the modes that the file binds, of second values and of changes."""
    create, bound = lifecycle.create, plan.binding(lifecycle.create).modes
    accepted = [mode for mode in plan.accepted_modes(create) if mode in bound]
    if accepted:
        done = {lifecycle.mode, _changeable_mode(plan, lifecycle)}
        further = [mode for mode in accepted if mode not in done]
        yield "modes", partial(_in_modes, plan, lifecycle, further, IN_MODE)
        refused = [mode for mode in create.modes if mode in bound and mode not in accepted]
        yield "refused modes", partial(_in_modes, plan, lifecycle, refused, BARRED)
    if names := _second_values(plan, create):
        yield "other values", partial(_others, lifecycle, names)
    yield "changes", partial(_changes, plan, lifecycle)


def _in_modes(
    plan: ProbePlan, lifecycle: Lifecycle, modes: Sequence[str], variation: str
) -> Script:
    """Make a request in each of some modes; show those that the bank should refuse.

    It may do so after the signature only.
    """
    signing = replace(request_steps.SIGN, variation=BARRED)
    for mode in modes:
        made = yield from _make(lifecycle, variation, mode, name=f"psu-{mode}")
        if variation == BARRED:
            yield from _show(lifecycle, made, BARRED)
            if plan.signs:
                yield from _sign(plan, lifecycle, made, BARRED, signing)


def _worded(plan: ProbePlan, create: Operation) -> tuple[str, ...]:
    """Return the accepted modes that a word of the bank requests."""
    binding = plan.binding(create)
    worded = {
        mode
        for mode, spelling in binding.modes.items()
        if isinstance(spelling.value, str) and not repeats_argument(spelling, binding)
    }
    return tuple(mode for mode in plan.accepted_modes(create) if mode in worded)


def _with_unknown_words(plan: ProbePlan, create: Operation, modes: Sequence[str]) -> Target:
    """Return the target with a word in place of that of each mode that no bank knows."""
    binding = plan.binding(create)
    unknown = {
        mode: replace(binding.modes[mode], value=f"{binding.modes[mode].value}{_NO_WORD}")
        for mode in modes
    }
    altered = replace(binding, modes={**binding.modes, **unknown})
    return replace(plan.target, operations={**plan.target.operations, create.id: altered})


def _others(lifecycle: Lifecycle, names: tuple[str, ...]) -> Script:
    """Make a request with every second value; if that is refused, one with each of them."""
    first = yield from _make(lifecycle, OTHERS, varied=names)
    for name in () if first.accepted or len(names) == 1 else names:
        yield from _make(lifecycle, OTHERS, name=f"psu-{name}", varied=(name,))


def _second_values(plan: ProbePlan, operation: Operation) -> tuple[str, ...]:
    bound = plan.binding(operation).arguments
    return tuple(
        name for name in operation.arguments if name in bound and bound[name].other is not None
    )


def _changes(plan: ProbePlan, lifecycle: Lifecycle) -> Script:
    """Change each argument of a request by itself, and show the request after it."""
    if lifecycle.change is None:
        return
    made = yield from _make(lifecycle, CHANGED, _changeable_mode(plan, lifecycle))
    for name in _second_values(plan, lifecycle.change):
        if change := request_steps.call_about(lifecycle.change, made):
            yield from steps.send(replace(change, varied=(name,), variation=CHANGED))
            yield from _show(lifecycle, made, CHANGED)


def _segment(plan: ProbePlan, name: str) -> Script:
    """Create a customer of a segment, who makes a request, and signs it if the factors matter."""
    owner, create = plan.owner(), plan.makes
    holdings = (Holding(resource=owner),) if owner else ()
    psu = yield Arrange(subject="psu", holdings=holdings, segment=name)
    if isinstance(psu, Subject) and create and (owner or not create.owned):
        lifecycle = lifecycle_of_operation(plan.contract, create)
        call = replace(request_steps.request(lifecycle, psu), variation=OF_SEGMENT)
        made = yield from steps.send(call)
        offered = facts_of(plan.contract).factors_by_segment.get(lifecycle.request.id, {})
        if name in offered and plan.signs and _leads(plan, made):
            yield from request_steps.sign(lifecycle, made, IN_SEGMENT)


# -- The probes of a quick examination: three calls at most, of all contracts together -------------
# A list is read first, then a request is made and shown; where no request can be made, a consent
# is transmitted, and one item is asked about. What these calls do not show is not seen.


def quick_probes(plan: ProbePlan, left: int, *, lists_only: bool) -> Iterator[DoctorProbe]:
    """Yield the probes of a contract that make at most `left` calls.

    With `lists_only`, the calls after the list are left to the requests of another contract.
    """
    if plan.lists and left > 0:
        reads = partial(_quick_reads, plan, 1 if lists_only else left)
        yield DoctorProbe(name=READS, start=reads)
        left -= 1
    if plan.makes and left > 0:
        request = partial(_quick_request, plan.contract, plan.makes, left)
        yield DoctorProbe(name=REQUESTS, start=request)


def _quick_reads(plan: ProbePlan, left: int) -> Script:
    """Read one list; where calls are left for it, transmit a consent and ask about an item."""
    owner = plan.owner()
    psu = yield from steps.arrange("psu", *([Holding(resource=owner)] if owner else []))
    yield from steps.send(Call(operation=plan.lists[0].id, subject="psu"))
    about = [each for each in plan.reads if each.available and each.about]
    if not about or not psu.owns:
        return
    if plan.grant and left > 2:  # noqa: PLR2004 -- the list, the consent and the item
        yield from steps.grant(plan.grant, "psu", *(owned.key for owned in psu.owns))
    if left > 1:
        arguments = steps.arguments(about[0], psu.owns[0].key)
        yield from steps.send(Call(operation=about[0].id, subject="psu", arguments=arguments))


def _quick_request(contract: Contract, create: Operation, left: int) -> Script:
    """Make a request, and show it where a call is left for that."""
    lifecycle = lifecycle_of_operation(contract, create)
    made = yield from _make(lifecycle, "")
    if left > 1:
        yield from _show(lifecycle, made)
