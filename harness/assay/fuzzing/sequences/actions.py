"""The actions of random sequences, gathered from the contract's own probes.

Every probe is played against a dry target, and each step that it yields becomes an
action without its context: whose account, which request and which day are left open. So
a sequence combines what the rules care about (the segments of customers, the
variations, the days around a limit, the moments at which something changes), and a new
kind of rule supplies its own actions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from itertools import groupby
from typing import cast
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
    changed,
)
from assay.fuzzing.sequences.concretize import ANYWHERE
from assay.history import Advance, Arrange, Authorise, Call, Lack, Register, Step, Withdraw
from assay.planning.plan import Plan, Trial, script_of
from assay.rules.dry_run import DryTarget, dry_run

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

    `plain` calls are those of controls, `bent` ones have a variation. `repeats` are how
    many times one call is made in a row.
    """

    households: tuple[AbstractStep, ...] = ()
    plain: tuple[AbstractStep, ...] = ()
    bent: tuple[AbstractStep, ...] = ()
    moments: tuple[Moment, ...] = ()
    signatures: tuple[AbstractStep, ...] = ()
    asides: tuple[AbstractStep, ...] = ()
    repeats: tuple[int, ...] = ()
    zone: ZoneInfo = ANYWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """A step that a probe yielded, to whom, and when."""

    step: Step
    now: datetime
    owned: Mapping[str, tuple[str, int]]
    requests: tuple[str, ...]


def actions(plan: Plan, contract: Contract) -> Actions:
    """Gather the words of a contract from the trials that a plan holds."""
    zone = contract.zone or ANYWHERE
    told: dict[str, AbstractStep] = {}
    moments: dict[Moment, None] = {}
    repeats: set[int] = set()
    for trial in plan.trials:
        if trial.contract != contract.id:
            continue
        plays = [_heard(plan, trial, now.astimezone(zone)) for now in NOWS]
        for heard in plays[0]:
            if not isinstance(heard.step, Advance):
                one = _loosened(heard)
                name = repr(_anonymous(one))
                # What is a control somewhere is plain, whatever it is elsewhere.
                told[name] = one if _plain(one) else told.get(name, one)
        moments |= dict.fromkeys(_moments(plays, zone))
        repeats |= {
            len([*row])
            for step, row in groupby(one.step for one in plays[0])
            if isinstance(step, Call)
        }
    every = list(told.values())
    calls = [one for one in every if isinstance(one.step, Call)]
    return Actions(
        households=tuple(one for one in every if isinstance(one.step, Arrange)),
        plain=tuple(_anonymous(one) for one in calls if _plain(one)),
        bent=tuple(one for one in calls if not _plain(one)),
        moments=tuple(moments),
        signatures=tuple(one for one in every if isinstance(one.step, Authorise)),
        asides=tuple(
            one for one in every if not isinstance(one.step, Arrange | Call | Authorise | Lack)
        ),
        repeats=tuple(sorted(repeats)),
        zone=zone,
    )


def _plain(told: AbstractStep) -> bool:
    return isinstance(told.step, Call) and (not told.step.variation or not told.step.present)


def _anonymous(told: AbstractStep) -> AbstractStep:
    """Leave away what the probe said of its call: in a journey it stands elsewhere."""
    step = told.step
    return replace(told, step=replace(step, variation="")) if isinstance(step, Call) else told


def _heard(plan: Plan, trial: Trial, now: datetime) -> list[_Heard]:
    """Play a trial's probe to nobody and return what it asked for."""
    contract = plan.contracts[trial.contract]
    _, script = script_of(plan, trial)
    dry_target = DryTarget(contract=contract, now=now)
    return [
        _Heard(
            step=step, now=dry_target.now, owned=dry_target.owned, requests=(*dry_target.requests,)
        )
        for step in dry_run(script, dry_target, MOST)
    ]


def _loosened(heard: _Heard) -> AbstractStep:
    """Return a step without its place: its subject is `SELF`, any other one `OTHER`."""
    step = heard.step
    match step:
        case Call():
            told = _loosened_call(heard, step)
        case Arrange():
            told = _loosened_household(heard, step)
        case Authorise():
            by = OTHER if step.by else ""
            bare = replace(step, subject=SELF, by=by, request="", approval=None, variation="")
            told = AbstractStep(step=bare, request=0)
        case Withdraw():
            told = AbstractStep(step=replace(step, subject=SELF, request=""), request=0)
        case Register():
            told = AbstractStep(step=replace(step, subject=SELF))
        case _:
            told = AbstractStep(step=step)
    return told


def _loosened_call(heard: _Heard, step: Call) -> AbstractStep:
    def loosen(value: Json) -> Json:
        return _loose(value, heard, step.subject)

    def first(value: Json) -> Json:
        one = loosen(value)
        return OwnedRef(of=one.of, n=0) if isinstance(one, OwnedRef) else one

    # Of which one of his things a call about one is, is chosen in the journey.
    arguments = {
        name: changed(value, loosen if isinstance(value, list | tuple) else first)
        for name, value in step.arguments.items()
    }
    return AbstractStep(step=replace(step, subject=SELF, arguments=arguments, follow=None))


def _loosened_household(heard: _Heard, step: Arrange) -> AbstractStep:
    today = heard.now.date()

    def loosen(value: Json) -> Json:
        return _loose(value, heard, step.subject)

    holdings = tuple(
        replace(one, entries=(), traits=cast("dict[str, Json]", changed(one.traits, loosen)))
        for one in step.holdings
    )
    days = tuple(
        None if one.entries is None else tuple((on - today).days for on in one.entries)
        for one in step.holdings
    )
    return AbstractStep(step=replace(step, subject=SELF, holdings=holdings), days=days)


def _loose(value: Json, heard: _Heard, own: str) -> Json:
    """Return what a value stands for, if it stands for anything."""
    if not isinstance(value, str):
        return value
    if value in heard.owned:
        name, n = heard.owned[value]
        return OwnedRef(of=SELF if name == own else OTHER, n=n)
    if value in heard.requests:
        return RequestRef(0)
    with suppress(ValueError):
        return RelativeDay((date.fromisoformat(value) - heard.now.date()).days)
    return value


def _moments(plays: list[list[_Heard]], zone: ZoneInfo) -> Iterator[Moment]:
    """Tell from several plays of one probe by what its moments are set."""
    for each in zip(*plays, strict=False):
        pairs = [(one.now, one.step.to) for one in each if isinstance(one.step, Advance)]
        sure = [(now.astimezone(zone), to.astimezone(zone)) for now, to in pairs if to]
        if len(sure) == len(plays):
            moment = _moment(sure)
            if moment is not None:
                yield moment


def _moment(pairs: list[tuple[datetime, datetime]]) -> Moment | None:
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
