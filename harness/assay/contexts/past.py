"""The dimension of what came before a trial: its customer has lived at the bank already.

A fault of a real gateway often shows only after something: a second consent, a rejected repeat, a
cancellation. So before anything else is done with the first customer of a trial, several such things
happen, and the probe goes on as if nothing had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import ClassVar

from assay.binding.model.target import ScaKind
from assay.contexts import life_events, mappers
from assay.contexts.context import DimensionValue, Situation, StepMapper, Values
from assay.contexts.life_events import LifeState
from assay.contexts.request_dimensions import OTHER_TPP
from assay.contract.model import Capability, Contract, Operation
from assay.history import Arrange, Call, Decision, Exchange, Register, Reply, Step, Subject
from assay.rules import steps
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.request_steps import call_about, send_if_any
from assay.rules.lifecycle.tracker import Lifecycle, lifecycle_of_operation
from assay.rules.rule import Script, facts_of
from assay.rules.steps import SIGN

#: The dimension, and its value.
PAST, LIVED = "past", "past=lived"
#: Another customer, who does not appear in the trial itself.
NEIGHBOUR = "neighbour"
#: The TPPs by which the requests were made that are executed.
MAKERS = ("", OTHER_TPP, "")
#: As many ways of consenting leave a past; more would only cost calls.
MOST_GRANTS = 2
#: How long ago that was, where no entries are dated: the day of the week stays the same.
SINCE = timedelta(days=7)


def pasts(at: Situation) -> Values:
    """Yield a customer with a past, where the contract has something that leaves one."""
    operations = [each for each in at.contract.operations.values() if each.available]
    grants = [each for each in operations if each.grants and not (each.given or each.makes)]
    made = [each for each in operations if each.makes and not each.grants]
    lifecycles = [lifecycle_of_operation(at.contract, each) for each in made]
    lifecycles = [each for each in lifecycles if each.signing_needs <= at.offered]
    if grants and Capability.CONSENT not in at.offered:
        if not lifecycles:
            yield "lived", "`consent` in `fixtures.offers` in the target file"
        grants = []
    if not grants and not lifecycles:
        return
    if lifecycles and at.target.sca.kind is ScaKind.MANUAL:
        yield "lived", "`sca.kind` in the target file that takes no person"
        return
    mapper = partial(
        WithPast,
        contract=at.contract,
        offers=at.offered,
        grants=tuple(grants[:MOST_GRANTS]),
        lifecycles=tuple(lifecycles),
    )
    dated = grants and Capability.CLOCK in at.offered
    limits = facts_of(at.contract).limits(attended=False) if dated else {}
    counted = tuple(name for name in limits if not at.contract.operations[name].grants)

    def suit(value: DimensionValue, played: Sequence[Step]) -> DimensionValue:
        absent = [step for step in played if isinstance(step, Call) and not step.present]
        beyond = mappers.beyond_limits(mappers.calls_of_a_day(absent), limits)
        used_up = tuple(name for name in counted if name in beyond)
        return replace(value, mapper=partial(mapper, counted=used_up)) if used_up else value

    yield DimensionValue(
        dimension=PAST,
        name="lived",
        description="for a customer with a past",
        reason=partial(past_reason, at.contract),
        mapper=mapper,
        suit=suit,
    )


def past_reason(contract: Contract, played: Sequence[Step]) -> str:
    """Say why the customer of a trial cannot have a past."""
    if not any(step.holdings for step in mappers.arrangements(played)):
        return "the trial uses no item of the customer"
    own_times = any(isinstance(step, Register) for step in played)
    if own_times or not mappers.may_take_days(contract, played):
        return "the trial sets the times itself"
    consents = [bool(contract.operations[call.operation].grants) for call in mappers.calls(played)]
    if any(consents) and not consents[0]:
        return "the trial begins without a consent"
    return ""


@dataclass(slots=True, kw_only=True)
class WithPast(StepMapper):
    """The first customer with an item has given consents and made requests before.

    The operations that are `counted` without the customer were called so on an earlier day.
    """

    contract: Contract
    offers: frozenset[Capability]
    grants: tuple[Operation, ...]
    lifecycles: tuple[Lifecycle, ...]
    counted: tuple[str, ...] = ()
    lived: LifeState | None = None
    apart: ClassVar[bool] = True

    def after(self, step: Step, reply: Reply) -> Script:
        """Let the past happen, once the customer is there."""
        if self.lived is not None or not (isinstance(step, Arrange) and step.holdings):
            return
        if not isinstance(reply, Subject) or not reply.owns:
            return
        self.lived = state = LifeState(
            contract=self.contract, offers=self.offers, psu=reply, now=reply.now
        )
        if Capability.TWO_PSU in self.offers:
            neighbour = yield replace(step, subject=NEIGHBOUR, holdings=step.holdings[:1])
            state.other = neighbour if isinstance(neighbour, Subject) else None
        for grant in self.grants:
            yield from life_events.consent(grant, 0, other=state.other is not None)(state)
            plain = [n for n, owned in enumerate(reply.owns) if not any(owned.traits.values())]
            yield from life_events.consent(grant, *plain)(state)
            yield from _read_of_other(state)
            yield from life_events.consent(grant, variation=life_events.NOTHING)(state)
        for lifecycle in self.lifecycles:
            yield from _requests(state, lifecycle)
        for name in self.counted:
            operation = self.contract.operations[name]
            yield replace(steps.ask(operation, reply.name, reply.owns[0].key), present=False)
        # What a trial is about that counts calls has no age.
        if self.counted or not any(each.entries or each.traits for each in step.holdings):
            yield from life_events.let_pass(state, SINCE)

    def reply(self, step: Step, reply: Reply) -> Reply:
        """Return the customer with the time at which the trial begins."""
        if self.lived is None or not isinstance(step, Arrange) or not isinstance(reply, Subject):
            return reply
        return replace(reply, now=self.lived.now) if reply.name == self.lived.psu.name else reply


def _requests(state: LifeState, lifecycle: Lifecycle) -> Script:
    """Make requests that are executed, a repeat, one that is refused, and one that is ended."""
    made: list[Exchange] = []
    several = lifecycle.create.by_tpp and Capability.TPPS in state.offers
    for by in MAKERS:
        made.append((yield from life_events.make(state, lifecycle, by=by if several else "")))
        yield from request_steps.sign(lifecycle, made[-1])
    if state.other is not None:
        # With the values of the target file, so that they are known to be good.
        theirs = replace(state.other, now=state.now)
        yield from steps.send(request_steps.request(lifecycle, theirs))
    again = yield from life_events.make(state, lifecycle, like=made[0])
    yield from request_steps.sign(lifecycle, again)
    if lifecycle.signed:
        refused = yield from life_events.make(state, lifecycle)
        yield from request_steps.sign(lifecycle, refused, replace(SIGN, decision=Decision.REFUSE))
    for mode in lifecycle.deferred_modes[:1]:
        late = yield from life_events.make(state, lifecycle, mode)
        for _ in range(2):
            yield from life_events.change(state, lifecycle, late)
        too_late = request_steps.plain_change(lifecycle, made[0])
        if too_late is not None:
            yield replace(too_late, variation="of a request that is executed")
        yield from send_if_any(call_about(lifecycle.end, late))


def _read_of_other(state: LifeState) -> Script:
    """Read something about what another customer owns, which is refused."""
    about = [each for each in life_events.readings(state.contract) if each.about]
    if about and state.other is not None and state.other.owns:
        key = state.other.owns[0].key
        yield steps.ask(about[0], state.psu.name, key, "about another customer's")
