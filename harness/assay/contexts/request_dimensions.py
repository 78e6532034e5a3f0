"""The dimensions of requests: who makes them, what is in them, and how they are signed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from assay.binding.model.security import AuthKind
from assay.contexts import mappers
from assay.contexts.context import DimensionValue, Situation, StepMapper, Values
from assay.contexts.mappers import (
    NO_REQUEST,
    OWN,
    InMode,
    arrangements,
    calls,
    created,
    mode_reason,
)
from assay.contract.model import Capability, Contract, Json, Operation
from assay.history import (
    Advance,
    Advanced,
    Arrange,
    Authorise,
    Call,
    Exchange,
    Holding,
    Register,
    Reply,
    Staying,
    Step,
    Subject,
)
from assay.rules.lifecycle.tracker import lifecycle_of_operation
from assay.rules.rule import Script, facts_of

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
    for operation in mappers.creating(at.contract).values():
        for mode in facts_of(at.contract).accepted_modes.get(operation.makes or "", ())[1:]:
            if mode not in at.binding(operation.id).modes:
                yield mode, f"operations.{operation.id}.modes.{mode} in the target file"
                continue
            yield DimensionValue(
                dimension="mode",
                name=mode,
                description=f"for {mode} requests",
                reason=partial(mappers.mode_reason, at.contract, mode),
                mapper=partial(mappers.InMode, contract=at.contract, mode=mode),
            )


def factors(at: Situation) -> Values:
    """Yield each factor that the contract offers to sign with."""
    for operation in mappers.creating(at.contract).values():
        by_segment = facts_of(at.contract).factors_by_segment.get(operation.makes or "", {})
        factors = dict.fromkeys(factor for offered in by_segment.values() for factor in offered)
        shared = {each for each in factors if all(each in some for some in by_segment.values())}
        # What stands beside fewer values finds its place first.
        for factor in sorted(factors, key=shared.__contains__):
            if Capability.SCA not in at.offered or factor not in at.target.sca.factors:
                yield factor, f"`sca.factors.{factor}` in the target file"
                continue
            yield DimensionValue(
                dimension="factor",
                name=factor,
                description=f"signed with {factor}",
                reason=mappers.factor_reason,
                mapper=partial(mappers.WithFactor, factor=factor, by_segment=by_segment),
                # Who does not have it signs nothing with it.
                hides=() if factor in shared else ("segment",),
            )


def amounts(at: Situation) -> Values:
    """Yield a small and a large amount, where requests have one."""
    for operation in mappers.creating(at.contract).values():
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
                reason=partial(mappers.argument_reason, at.contract, operation.amount),
                mapper=partial(
                    mappers.WithArgument,
                    contract=at.contract,
                    argument=operation.amount,
                    value=value,
                ),
            )


def payees(at: Situation) -> Values:
    """Yield a payee whom the customer has registered, and one that is an account of her own."""
    for operation in mappers.creating(at.contract).values():
        if operation.payee is None:
            continue
        if Capability.REGISTRATIONS not in at.offered:
            yield "registered", "`registrations` in `fixtures.offers` in the target file"
        else:
            yield DimensionValue(
                dimension="payee",
                name="registered",
                description="to a registered payee",
                reason=partial(mappers.registration_reason, at.contract, operation.payee),
                mapper=partial(
                    mappers.PayeeRegistered, operation=operation.id, argument=operation.payee
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
    """Yield a second TPP, where calls are made in the name of one, or customers have its token."""
    kind, listed = at.target.auth.of(by_tpp=False).kind, at.target.fixtures.roles
    # With a code, a customer gives each TPP a token of its own.
    authorised = kind is AuthKind.CODE
    given = Capability.TPP_TOKENS in at.offered or (
        listed and all(one.token_envs for one in listed)
    )
    plain = kind is AuthKind.BEARER
    own = frozenset(
        operation.id
        for operation in at.contract.operations.values()
        if operation.by_tpp or authorised or (plain and given)
    )
    if not own and plain:
        yield OTHER_TPP, "`tpp-tokens` in `fixtures.offers` in the target file"
    if not own:
        return
    if Capability.TPPS not in at.offered:
        yield OTHER_TPP, "`tpps` in `fixtures.offers` in the target file"
        return
    yield DimensionValue(
        dimension="tpp",
        name=OTHER_TPP,
        description="by another TPP",
        reason=partial(mappers.tpp_reason, own),
        mapper=partial(mappers.ByAnotherTpp, operations=own, tpp=OTHER_TPP),
        # A renewed token of a customer is that for the first TPP.
        hides=("token",)
        if plain and not any(map(_by_tpp, at.contract.operations.values()))
        else (),
    )


def other_value(at: Situation, operation: str, argument: str) -> Json:
    """Return another valid value of an argument, if the target file has one."""
    spelling = at.binding(operation).arguments.get(argument)
    return None if spelling is None else spelling.other


def _by_tpp(operation: Operation) -> bool:
    return operation.by_tpp


def registrations(at: Situation) -> Values:
    """Yield customers who have registered another payee than that of a request."""
    for operation in mappers.creating(at.contract).values():
        if operation.payee is None:
            continue
        value = other_value(at, operation.id, operation.payee)
        if Capability.REGISTRATIONS not in at.offered:
            yield "another", "`registrations` in `fixtures.offers` in the target file"
        elif value is None:
            where = f"operations.{operation.id}.arguments.{operation.payee}.other"
            yield "another", f"`{where}` in the target file"
        else:
            yield DimensionValue(
                dimension="registered",
                name="another",
                description="for customers who have registered another payee",
                reason=partial(another_payee_reason, at.contract, operation.payee),
                mapper=partial(
                    mappers.PayeeRegistered,
                    operation=operation.id,
                    argument=operation.payee,
                    value=value,
                ),
            )


def changes(at: Situation) -> Values:
    """Yield requests that are changed before they are signed, in a mode that allows it."""
    for operation in mappers.creating(at.contract).values():
        lifecycle = lifecycle_of_operation(at.contract, operation)
        changeable = facts_of(at.contract).changeable_modes.get(operation.makes or "", ())
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
                reason=partial(change_reason, at.contract, mode),
                mapper=mapper,
                implies=f"mode={mode}",
                suit=partial(_suited_to_modes, at.contract, mode, partial(mapper, own_modes=True)),
            )


def screens(at: Situation) -> Values:
    """Yield each screen on which the customer can be idle before that of the decision."""
    timed = any(
        facts_of(at.contract).signing_limits.get(operation.makes or "", {})
        for operation in mappers.creating(at.contract).values()
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
            hides=() if "code" in asked else ("factor",),
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
    for operation in mappers.creating(at.contract).values():
        limits = facts_of(at.contract).signing_limits.get(operation.makes or "", {}).values()
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


# -- Dimensions between a request and its signature: own payees, changes, and pauses -------------
NO_SIGNATURE = "the trial has no signature"


@dataclass(slots=True, kw_only=True)
class ToAnOwnAccount(StepMapper):
    """The first customer owns one thing more, to which all requests go.

    A request of another customer is often the control: it must go to the same payee.
    """

    operation: Operation
    owner: str = ""
    payee: str = ""

    def map(self, step: Step) -> Step:
        """Return an arrangement with one thing more, or a request that goes to it."""
        if isinstance(step, Arrange) and step.holdings and self.owner in ("", step.subject):
            self.owner = step.subject
            one_more = Holding(resource=step.holdings[0].resource)
            return replace(step, holdings=(*step.holdings, one_more))
        argument = self.operation.payee or ""
        if (
            not isinstance(step, Call)
            or step.operation != self.operation.id
            or step.malformed
            or argument in {*step.arguments, *step.without, *step.varied}
            or not self.payee
        ):
            return step
        return replace(step, arguments={**step.arguments, argument: self.payee})

    def reply(self, step: Step, reply: Reply) -> Reply:
        """Return the customer without the thing that was added."""
        if not isinstance(reply, Subject) or not isinstance(step, Arrange):
            return reply
        asked = sum(holding.count for holding in step.holdings)
        if reply.name != self.owner or len(reply.owns) < asked:
            return reply
        self.payee = reply.owns[asked - 1].key
        return replace(reply, owns=(*reply.owns[: asked - 1], *reply.owns[asked:]))


def own_payee_reason(contract: Contract, argument: str, steps: Sequence[Step]) -> str:
    """Say why the payees of a trial cannot be an account of a customer's own."""
    made = created(contract, steps, argument=argument)
    if not made:
        return NO_REQUEST
    if not any(step.holdings for step in arrangements(steps)):
        return "the trial uses no item of the customer"
    named = [argument in {*call.arguments, *call.without, *call.varied} for call in made]
    return OWN if any(named) or any(isinstance(step, Register) for step in steps) else ""


def another_payee_reason(contract: Contract, argument: str, steps: Sequence[Step]) -> str:
    """Say why the customers of a trial cannot have registered another payee."""
    if not created(contract, steps, argument=argument):
        return NO_REQUEST
    others = any(argument in {*call.arguments, *call.varied} for call in calls(steps))
    named = any(isinstance(step, Register) and step.value is not None for step in steps)
    return OWN if others or named else ""


@dataclass(slots=True, kw_only=True)
class OnceChanged(InMode):
    """Every request is changed once it is accepted, to what it says already.

    Plain requests are made in a mode that can be changed, unless the trial makes some in this
    mode itself: then these are changed, and the others stay as they are.
    """

    change: Operation
    argument: str
    own_modes: bool = False

    def map(self, step: Step) -> Step:
        """Return a plain request in the mode, unless modes are the trial's own."""
        return step if self.own_modes else InMode.map(self, step)

    def after(self, step: Step, reply: Reply) -> Script:
        """Change a request that was accepted."""
        if not self.own_modes:
            yield from InMode.after(self, step, reply)
        made = reply if isinstance(reply, Exchange) and isinstance(step, Call) else None
        if made is None or made.call.mode != self.mode or not made.item:
            return
        if made.call.without or made.call.varied or made.call.malformed or made.call.credentials:
            return  # what is wrong with it must stay so
        makes = self.contract.operations[made.call.operation].makes
        value = made.call.arguments.get(self.argument)
        if makes == self.change.changes and made.item.key is not None and value is not None:
            about = {self.change.about or "": made.item.key, self.argument: value}
            yield Call(
                operation=self.change.id,
                subject=made.call.subject,
                arguments=about,
                by=made.call.by,
            )


def has_own_modes(contract: Contract, mode: str, steps: Sequence[Step]) -> bool:
    """Whether a trial makes requests in a mode itself."""
    return any(call.mode == mode for call in created(contract, steps))


def change_reason(contract: Contract, mode: str, steps: Sequence[Step]) -> str:
    """Say why the requests of a trial cannot be changed before something is done with them."""
    made = created(contract, steps, mode=mode)
    if not made:
        return NO_REQUEST
    later = steps[next(n for n, step in enumerate(steps) if step is made[0]) :]
    operations = contract.operations
    used = any(operations[call.operation].about and not call.credentials for call in calls(later))
    if not used and not any(isinstance(step, Authorise) for step in later):
        return "the trial does nothing with a request after making it"
    return "" if has_own_modes(contract, mode, steps) else mode_reason(contract, mode, steps)


@dataclass(slots=True, kw_only=True)
class PauseBefore(StepMapper):
    """The customer opens the screens some time after the request was made."""

    pause: timedelta

    def before(self, step: Step) -> Script:
        """Let the time pass."""
        if isinstance(step, Authorise):
            reply = yield Advance()
            if isinstance(reply, Advanced):
                yield Advance(to=reply.now + self.pause)


@dataclass(slots=True, kw_only=True)
class PauseOnScreens(StepMapper):
    """The customer pauses before she fills in each screen."""

    pause: timedelta

    def map(self, step: Step) -> Step:
        """Return a signature with pauses."""
        return replace(step, pace=self.pause) if isinstance(step, Authorise) else step


@dataclass(slots=True, kw_only=True)
class IdleOnScreen(StepMapper):
    """The customer is idle on another screen than that of the decision."""

    screen: str

    def map(self, step: Step) -> Step:
        """Return a signature with its pauses on this screen."""
        if not isinstance(step, Authorise) or step.stays is not Staying.RELOAD:
            return step  # where else it stays connected depends on the screen
        return replace(step, linger_on=self.screen) if step.linger else step


def screen_reason(steps: Sequence[Step], *, loads_again: bool) -> str:
    """Say why the customers of a trial cannot be idle on another screen.

    Where a screen never `loads_again`, they cannot look at it between two pauses: up to the
    login, its link may begin a new flow; after it, the address may be the former one.
    """
    idle = [step.linger for step in steps if isinstance(step, Authorise) and step.linger]
    if not idle:
        return "no customer of the trial is idle"
    looks = any(len(pauses) > 1 for pauses in idle)
    return "the screen need not load again" if looks and not loads_again else ""


def pause_reason(contract: Contract, steps: Sequence[Step]) -> str:
    """Say why the signatures of a trial cannot take longer."""
    signatures = [step for step in steps if isinstance(step, Authorise)]
    if not signatures:
        return NO_SIGNATURE
    if any(step.pace or step.linger for step in signatures):
        return OWN
    if any(isinstance(step, Register) for step in steps) or _waits_to_sign(contract, steps):
        return "the trial sets the times itself"
    return ""


def _waits_to_sign(contract: Contract, steps: Sequence[Step]) -> bool:
    """Whether a trial moves the clock before a signature, without a new request in between."""
    made = created(contract, steps)
    moved = False
    for step in steps:
        if isinstance(step, Advance) and step.to is not None:
            moved = True
        elif any(step is call for call in made):
            moved = False
        elif moved and isinstance(step, Authorise):
            return True
    return False
