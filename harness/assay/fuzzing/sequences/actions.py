"""The actions of random sequences, gathered from the contract's own probes.

Every probe is played against a dry target, and each step that it yields becomes an
action without its context: whose account, which request and which day are left open. So
a sequence combines what the rules care about (the segments of customers, the
variations, the days around a limit, the moments at which something changes), and a new
kind of rule supplies its own actions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from itertools import groupby
from zoneinfo import ZoneInfo

from assay.contract.model import Contract, Json
from assay.fuzzing.sequences.abstract_step import (
    WEEK,
    AbstractStep,
    After,
    At,
    Moment,
    On,
    OwnedRef,
    RelativeDay,
    RequestRef,
    map_leaves,
)
from assay.fuzzing.sequences.concretize import ANYWHERE
from assay.history import (
    Advance,
    Arrange,
    Authorise,
    Call,
    Lack,
    Register,
    Renew,
    Step,
    Submit,
    Together,
    Withdraw,
)
from assay.planning.plan import Plan, Trial, script_of
from assay.rules.dry_run import DryTarget, dry_run
from assay.rules.state.calendar import local

#: A control character, as JSON escapes it.
CONTROL = re.compile(r"\\u00[01]|\\u007f")
#: The subject of an action, and the owner of other things; a sequence assigns customers.
SELF, OTHER = "self", "other"
#: The most steps of a probe that are gathered.
MOST = 300
#: Moments of a week at which a probe is played, to see which steps depend on its clock.
NOWS = (
    datetime(2024, 5, 15, 10, 17, 23, tzinfo=UTC),
    datetime(2024, 5, 15, 12, 28, 29, tzinfo=UTC),
    datetime(2024, 5, 16, 13, 31, 7, tzinfo=UTC),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """Everything that a sequence through a contract may do.

    `plain` calls are those of controls, `varied` ones have a variation. `repeats` are
    how many times one call is made in a row.
    """

    households: tuple[AbstractStep, ...] = ()
    plain: tuple[AbstractStep, ...] = ()
    varied: tuple[AbstractStep, ...] = ()
    moments: tuple[Moment, ...] = ()
    signatures: tuple[AbstractStep, ...] = ()
    asides: tuple[AbstractStep, ...] = ()
    repeats: tuple[int, ...] = ()
    zone: ZoneInfo = ANYWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProbeStep:
    """A step that a probe yielded, with the state of the dry target at that time."""

    step: Step
    now: datetime
    owned: Mapping[str, tuple[str, int]]
    requests: tuple[str, ...]


def _is_writable(step: Step) -> bool:
    """Whether a step can stand in a file: YAML has no control characters."""
    arguments = step.arguments if isinstance(step, Call) else {}
    return not CONTROL.search(json.dumps(dict(arguments), default=str))


def gather_actions(plan: Plan, contract: Contract) -> Actions:
    """Gather the actions of a contract from the trials of a plan."""
    zone = contract.zone or ANYWHERE
    actions: dict[str, AbstractStep] = {}
    moments: dict[Moment, None] = {}
    repeats: set[int] = set()
    for trial in plan.trials:
        if trial.contract != contract.id:
            continue
        plays = [_probe_steps(plan, trial, local(now, zone)) for now in NOWS]
        for probe_step in plays[0]:
            if not isinstance(probe_step.step, Advance) and _is_writable(probe_step.step):
                action = _without_context(probe_step)
                key = repr(_without_variation(action))
                # A control of one probe is plain, even if another probe calls it varied.
                actions[key] = action if _is_plain(action) else actions.get(key, action)
        moments |= dict.fromkeys(_moments(plays, zone))
        repeats |= {
            len([*row])
            for step, row in groupby(probe_step.step for probe_step in plays[0])
            if isinstance(step, Call)
        }
    calls = [action for action in actions.values() if isinstance(action.step, Call)]
    others = [action for action in actions.values() if not isinstance(action.step, Call | Lack)]
    return Actions(
        households=tuple(action for action in others if isinstance(action.step, Arrange)),
        plain=tuple(_without_variation(action) for action in calls if _is_plain(action)),
        varied=tuple(action for action in calls if not _is_plain(action)),
        moments=tuple(moments),
        signatures=tuple(action for action in others if isinstance(action.step, Authorise)),
        asides=tuple(
            action for action in others if not isinstance(action.step, Arrange | Authorise)
        ),
        repeats=tuple(sorted(repeats)),
        zone=zone,
    )


def _is_plain(action: AbstractStep) -> bool:
    step = action.step
    return isinstance(step, Call) and (not step.variation or not step.present)


def _without_variation(action: AbstractStep) -> AbstractStep:
    """Remove the probe's description of its call, which does not fit another context."""
    step = action.step
    return replace(action, step=replace(step, variation="")) if isinstance(step, Call) else action


def _probe_steps(plan: Plan, trial: Trial, now: datetime) -> list[_ProbeStep]:
    """Play a trial's probe against a dry target and return its steps."""
    contract = plan.contracts[trial.contract]
    _, script = script_of(plan, trial)
    dry_target = DryTarget(contract=contract, now=now)
    return [
        _ProbeStep(
            step=replace(step, together=0) if isinstance(step, Call | Authorise) else step,
            now=dry_target.now,
            owned=dry_target.owned,
            requests=(*dry_target.requests,),
        )
        for step in dry_run(script, dry_target, MOST)
        # A request is submitted by itself, once it is signed; steps come one after another.
        if not isinstance(step, Submit | Together)
    ]


def _without_context(probe_step: _ProbeStep) -> AbstractStep:
    """Return a step as an action: its subject is `SELF`, any other one `OTHER`."""
    step = probe_step.step
    match step:
        case Call():
            action = _call_action(probe_step, step)
        case Arrange():
            action = _household_action(probe_step, step)
        case Authorise():
            by = OTHER if step.by else ""
            bare = replace(step, subject=SELF, by=by, request="", approval=None, variation="")
            action = AbstractStep(step=bare, request=0)
        case Withdraw():
            action = AbstractStep(step=replace(step, subject=SELF, request=""), request=0)
        case Register() | Renew():
            action = AbstractStep(step=replace(step, subject=SELF))
        case _:
            action = AbstractStep(step=step)
    return action


def _call_action(probe_step: _ProbeStep, step: Call) -> AbstractStep:
    def reference(value: Json) -> Json:
        return _reference(value, probe_step, step.subject)

    def first(value: Json) -> Json:
        referred = reference(value)
        return OwnedRef(of=referred.of, n=0) if isinstance(referred, OwnedRef) else referred

    # The sequence chooses which of the customer's things a call is about.
    arguments = {
        name: map_leaves(value, reference if isinstance(value, list | tuple) else first)
        for name, value in step.arguments.items()
    }
    bare = replace(step, subject=SELF, arguments=arguments, follow=None, invented={})
    return AbstractStep(step=bare)


def _household_action(probe_step: _ProbeStep, step: Arrange) -> AbstractStep:
    today = probe_step.now.date()

    def traits(values: Mapping[str, Json]) -> dict[str, Json]:
        return {
            name: map_leaves(value, lambda leaf: _reference(leaf, probe_step, step.subject))
            for name, value in values.items()
        }

    holdings = tuple(
        replace(holding, entries=(), traits=traits(holding.traits)) for holding in step.holdings
    )
    days = tuple(
        None if holding.entries is None else tuple((day - today).days for day in holding.entries)
        for holding in step.holdings
    )
    return AbstractStep(step=replace(step, subject=SELF, holdings=holdings), days=days)


def _reference(value: Json, probe_step: _ProbeStep, subject: str) -> Json:
    """Return the reference that a value stands for, or else the value itself."""
    if not isinstance(value, str):
        return value
    if value in probe_step.owned:
        owner, n = probe_step.owned[value]
        return OwnedRef(of=SELF if owner == subject else OTHER, n=n)
    if value in probe_step.requests:
        return RequestRef(0)
    with suppress(ValueError):
        return RelativeDay((date.fromisoformat(value) - probe_step.now.date()).days)
    return value


def _moments(plays: Sequence[Sequence[_ProbeStep]], zone: ZoneInfo) -> Iterator[Moment]:
    """Infer from several plays of one probe how its moments are computed."""
    for same_step in zip(*plays, strict=False):
        pairs = [
            (local(played.now, zone), local(played.step.to, zone))
            for played in same_step
            if isinstance(played.step, Advance) and played.step.to
        ]
        if len(pairs) == len(plays):
            moment = _moment(pairs)
            if moment is not None:
                yield moment


def _moment(pairs: Sequence[tuple[datetime, datetime]]) -> Moment | None:
    spans = {to - now for now, to in pairs}
    times = {to.time() for _, to in pairs}
    days = {(to.date() - now.date()).days for now, to in pairs}
    weekdays = {to.weekday() for _, to in pairs}
    if len(spans) == 1:
        return After(spans.pop())
    if len(times) == 1 and len(days) == 1:
        return At(days.pop(), times.pop())
    if len(times) == 1 and len(weekdays) == 1 and max(days) <= WEEK:
        return On(weekdays.pop(), times.pop())
    return None
