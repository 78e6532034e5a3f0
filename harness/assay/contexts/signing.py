"""Dimensions between a request and its signature: own payees, changes, and pauses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from assay.contexts.context import StepMapper
from assay.contexts.customers import OWN, arrangements, calls
from assay.contexts.requests import NO_REQUEST, InMode, created, mode_reason
from assay.contract.model import Contract, Operation
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
    Step,
    Subject,
)
from assay.rules.rule import Script

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
        if made is None or made.call.mode != self.mode or made.call.variation or not made.item:
            return
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


def change_reason(contract: Contract, change: str, mode: str, steps: Sequence[Step]) -> str:
    """Say why the requests of a trial cannot be changed before something is done with them."""
    made = created(contract, steps, mode=mode)
    if not made:
        return NO_REQUEST
    if any(call.operation == change for call in calls(steps)):
        return OWN
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
        if not isinstance(step, Authorise) or not step.linger:
            return step
        return replace(step, linger_on=self.screen)


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
