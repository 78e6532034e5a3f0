"""The dimensions of requests: who makes them, what is in them, and how they are signed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from assay.binding.security import AuthKind
from assay.contexts import customers, requests
from assay.contexts.context import DimensionValue, StepMapper
from assay.contexts.signing import (
    IdleOnScreen,
    OnceChanged,
    PauseBefore,
    PauseOnScreens,
    ToAnOwnAccount,
    change_reason,
    has_own_modes,
    own_payee_reason,
    pause_reason,
    screen_reason,
)
from assay.contexts.situation import Situation, Values
from assay.contract.model import Capability, Contract
from assay.history import Step
from assay.rules import clauses
from assay.rules.lifecycle.tracker import lifecycle_of_operation

#: The name of the second TPP in steps; the fixture provider knows it under this name.
OTHER_TPP = "other"
#: Amounts far below and far above those that target files usually give.
AMOUNTS = {"small": "0.01", "large": "15000.50"}

#: The screens of a target file that does not list them, and the share of a limit that is used.
MANY_SCREENS, LEISURE = 8, 3 / 4
#: What a screen may ask for, beginning with what it is named after.
SCREENS = ("password", "login", "factor", "code")


def modes(at: Situation) -> Values:
    """Yield the modes in which requests are made, but for the plain one."""
    for operation in requests.creating(at.contract).values():
        for mode in clauses.accepted_modes(at.contract, operation.makes or "")[1:]:
            if mode not in at.binding(operation.id).modes:
                yield mode, f"operations.{operation.id}.modes.{mode} in the target file"
                continue
            yield DimensionValue(
                dimension="mode",
                name=mode,
                description=f"for {mode} requests",
                reason=partial(requests.mode_reason, at.contract, mode),
                mapper=partial(requests.InMode, contract=at.contract, mode=mode),
            )


def segments(at: Situation) -> Values:
    """Yield the segments of customers that are served, but for the first."""
    for operation in requests.creating(at.contract).values():
        served = clauses.factors_by_segment(at.contract, operation.makes or "")
        for segment in list(served)[1:]:
            if Capability.SEGMENTS not in at.offered:
                yield segment, "`segments` in `fixtures.offers` in the target file"
                continue
            listed = {role.segment for role in at.target.fixtures.roles}
            if listed and segment not in listed:
                yield segment, "a customer with this `segment` in `fixtures.roles`"
                continue
            yield DimensionValue(
                dimension="segment",
                name=segment,
                description=f"for {segment} customers",
                reason=customers.segment_reason,
                mapper=partial(customers.InSegment, segment=segment),
            )


def factors(at: Situation) -> Values:
    """Yield each factor that the contract offers to sign with."""
    for operation in requests.creating(at.contract).values():
        by_segment = clauses.factors_by_segment(at.contract, operation.makes or "")
        factors = dict.fromkeys(factor for offered in by_segment.values() for factor in offered)
        for factor in factors:
            if Capability.SCA not in at.offered or factor not in at.target.sca.factors:
                yield factor, f"`sca.factors.{factor}` in the target file"
                continue
            yield DimensionValue(
                dimension="factor",
                name=factor,
                description=f"signed with {factor}",
                reason=requests.factor_reason,
                mapper=partial(requests.WithFactor, factor=factor, by_segment=by_segment),
            )


def amounts(at: Situation) -> Values:
    """Yield a small and a large amount, where requests have one."""
    for operation in requests.creating(at.contract).values():
        if operation.amount is None:
            continue
        if operation.amount not in at.binding(operation.id).arguments:
            for name in AMOUNTS:
                where = f"operations.{operation.id}.arguments.{operation.amount}"
                yield name, f"`{where}` in the target file"
            continue
        for name, value in AMOUNTS.items():
            yield DimensionValue(
                dimension="amount",
                name=name,
                description=f"for {name} amounts ({value})",
                reason=partial(requests.argument_reason, at.contract, operation.amount),
                mapper=partial(
                    requests.WithArgument,
                    contract=at.contract,
                    argument=operation.amount,
                    value=value,
                ),
            )


def payees(at: Situation) -> Values:
    """Yield a payee whom the customer has registered, and one that is an account of her own."""
    for operation in requests.creating(at.contract).values():
        if operation.payee is None:
            continue
        if Capability.REGISTRATIONS not in at.offered:
            yield "registered", "`registrations` in `fixtures.offers` in the target file"
        else:
            yield DimensionValue(
                dimension="payee",
                name="registered",
                description="to a registered payee",
                reason=partial(requests.registration_reason, at.contract, operation.payee),
                mapper=partial(
                    requests.PayeeRegistered, operation=operation.id, argument=operation.payee
                ),
            )
        if operation.owned is None:
            continue
        bound = at.binding(operation.id).arguments
        lacking = [name for name in (operation.owned, operation.payee) if name not in bound]
        if lacking:
            yield "own", f"`operations.{operation.id}.arguments.{lacking[0]}` in the target file"
        elif bound[operation.owned].found is None:
            # What is named by the target's own id as a debtor has no other name as a payee.
            yield DimensionValue(
                dimension="payee",
                name="own",
                description="to an account of the customer's own",
                reason=partial(own_payee_reason, at.contract, operation.payee),
                mapper=partial(ToAnOwnAccount, operation=operation),
            )


def tpps(at: Situation) -> Values:
    """Yield a second TPP, where calls are made in the name of one, or customers authorise each."""
    # With a code, a customer gives each TPP a token of its own.
    authorised = at.target.auth.of(by_tpp=False).kind is AuthKind.CODE
    own = frozenset(
        operation.id
        for operation in at.contract.operations.values()
        if operation.by_tpp or authorised
    )
    if not own:
        return
    if Capability.TPPS not in at.offered:
        yield OTHER_TPP, "`tpps` in `fixtures.offers` in the target file"
        return
    yield DimensionValue(
        dimension="tpp",
        name=OTHER_TPP,
        description="by another TPP",
        reason=partial(requests.tpp_reason, own),
        mapper=partial(requests.ByAnotherTpp, operations=own, tpp=OTHER_TPP),
    )


def changes(at: Situation) -> Values:
    """Yield requests that are changed before they are signed, in a mode that allows it."""
    for operation in requests.creating(at.contract).values():
        lifecycle = lifecycle_of_operation(at.contract, operation)
        changeable = clauses.changeable_modes(at.contract, operation.makes or "")
        argument, change = operation.amount, lifecycle.change
        if not changeable or change is None or argument not in lifecycle.changeable_arguments:
            continue
        mode = lifecycle.changeable_mode
        if mode is None or mode not in changeable[0]:
            continue
        if mode not in at.binding(operation.id).modes:
            yield "changed", f"operations.{operation.id}.modes.{mode} in the target file"
        elif argument not in at.binding(change.id).arguments:
            where = f"operations.{change.id}.arguments.{argument}"
            yield "changed", f"`{where}` in the target file"
        else:
            mapper = partial(
                OnceChanged, contract=at.contract, mode=mode, change=change, argument=argument
            )
            yield DimensionValue(
                dimension="change",
                name="changed",
                description="for requests that were changed before",
                reason=partial(change_reason, at.contract, change.id, mode),
                mapper=mapper,
                implies=f"mode={mode}",
                suit=partial(_suited_to_modes, at.contract, mode, partial(mapper, own_modes=True)),
            )


def screens(at: Situation) -> Values:
    """Yield each screen on which the customer can be idle before that of the decision."""
    timed = any(
        clauses.signing_limits(at.contract, operation.makes or "")
        for operation in requests.creating(at.contract).values()
    )
    if not timed:
        return
    if Capability.SCREENS not in at.offered:
        yield SCREENS[0], "`sca.kind` `forms` or `browser` in the target file"
        return
    after_login = 0
    for number, screen in enumerate(at.target.sca.screens):
        asked = [meaning for meaning in SCREENS if meaning in screen.values()]
        if not asked or at.target.sca.deciding in screen.values():
            continue
        if "password" in asked:
            after_login = number + 1
        if Capability.CLOCK not in at.offered:
            yield asked[0], "`clock` in `fixtures.offers` in the target file"
            continue
        yield DimensionValue(
            dimension="screen",
            name=asked[0],
            description=f"idle on the screen that asks for the {asked[0]}",
            reason=partial(screen_reason, loads_again=number > after_login),
            mapper=partial(IdleOnScreen, screen=asked[0]),
            hides="" if "code" in asked else "factor",
        )


def _suited_to_modes(
    contract: Contract,
    mode: str,
    mapper: Callable[[], StepMapper],
    value: DimensionValue,
    steps: Sequence[Step],
) -> DimensionValue:
    """Return a value with another mapper for trials that make requests in the mode themselves."""
    if not has_own_modes(contract, mode, steps):
        return value
    return replace(value, implies="", mapper=mapper)


def pauses(at: Situation) -> Values:
    """Yield customers who take their time, but less than the contract's limits."""
    for operation in requests.creating(at.contract).values():
        limits = clauses.signing_limits(at.contract, operation.makes or "").values()
        if not limits:
            continue
        # All pauses together stay below the shortest overall time, each below the idle time.
        screens = len(at.target.sca.screens) or MANY_SCREENS
        pause = min(*limits, max(limits) / (screens + 1)) * LEISURE
        for name, description, mapper in (
            ("login", "some minutes before the customer logs in", PauseBefore),
            ("screens", "with some minutes on each screen", PauseOnScreens),
        ):
            if Capability.CLOCK not in at.offered:
                yield name, "`clock` in `fixtures.offers` in the target file"
            elif name == "screens" and Capability.SCREENS not in at.offered:
                yield name, "`sca.kind` `forms` or `browser` in the target file"
            else:
                yield DimensionValue(
                    dimension="pause",
                    name=name,
                    description=description,
                    reason=partial(pause_reason, at.contract),
                    mapper=partial(mapper, pause=pause),
                )
