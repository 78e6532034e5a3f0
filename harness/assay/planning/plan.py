"""The plan of a run: which obligations are tested, in which trials, at how many calls.

`plan` is a pure function of bound contracts and a target. Every obligation has a
disposition before the first call, so that none can drop out of a run unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from functools import cached_property, partial

from assay.binding.model.features import is_bound, missing_reason, place_of_items
from assay.binding.model.target import RoleChoice, ScaKind, Target
from assay.binding.read.join import BoundContract, capabilities
from assay.contexts.context import Context, Settling, in_context, with_mappers
from assay.contract.model import Capability, Contract, Party
from assay.errors import Shortage
from assay.history import Authorise, Call, Step
from assay.planning.remedies import ALLOW_WRITES, REMEDIES, Remedy, needs
from assay.rules.consent_probes import probe_of
from assay.rules.dry_run import ConformingTarget, DryTarget, dry_run, play
from assay.rules.obligation import UNSPECIFIED, BoundClause, Obligation, bound_clauses
from assay.rules.rule import Kind, Scenario, Script
from assay.rules.verdict import Standing


# -- Prices --------------------------------------------------------------------------------------
# The submission of a request is a call that no probe asks for; only the target file says that there
# is one.
class Price:
    """How many calls a trial takes, counted by a dry run when it is first asked for."""

    __slots__ = ("_calls", "_count")

    def __init__(self, count: Callable[[], int]) -> None:
        self._count: Callable[[], int] | None = count
        self._calls = 0

    @property
    def calls(self) -> int:
        """The number of calls."""
        if self._count is not None:
            self.know(self._count())
        return self._calls

    def know(self, calls: int) -> None:
        """Keep the number of calls where a dry run has shown it already."""
        self._calls, self._count = calls, None


#: The price of what is not tested.
FREE = Price(lambda: 0)


def submitting(target: Target) -> frozenset[str]:
    """Return the operations whose requests the TPP submits."""
    return frozenset(name for name, each in target.operations.items() if each.submission)


def count_calls(kind: Kind, scenario: Scenario, submitted: frozenset[str] = frozenset()) -> int:
    """Return how many calls and signatures a dry run takes; the TPP submits requests of `submitted`."""
    accepts = kind.accepts_variation(scenario)
    target = ConformingTarget(
        contract=kind.contract, accepts_variation=accepts, submitted=submitted
    )
    return calls_in(play(probe_of(kind, scenario), target), target)


def calls_in(steps: Iterable[Step], target: ConformingTarget) -> int:
    """Return how many calls and signatures the steps are that were played to a target."""
    return sum(isinstance(step, Call | Authorise) for step in steps) + target.submissions


# -- Plans ---------------------------------------------------------------------------------------
#: What a live bank refuses unless the target file allows it.
WRITING = frozenset({Capability.CONSENT, Capability.WRITE})


class Disposition(Enum):
    """What the plan decides for an obligation before the first call."""

    ASK = "ask"
    UNVERIFIED = "unverified"
    UNSPECIFIED = "unspecified"
    NOT_APPLICABLE = "not-applicable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """An obligation with its disposition and the reason, and the price of its whole trial.

    `shortage` is set if it stays unverified only for lack of something that is there another day.
    """

    obligation: Obligation
    disposition: Disposition
    reason: str = ""
    price: Price = field(default=FREE, repr=False, compare=False)
    shortage: Shortage | None = None

    @property
    def calls(self) -> int:
        """How many calls its trial takes, signatures included."""
        return self.price.calls

    @property
    def standing(self) -> Standing:
        """The verdict that the plan alone decides."""
        return Standing(self.disposition.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One run of a probe on one fixture, and the obligations that it settles.

    `signed` is true if one of these obligations needs a signature, `consents` if one needs a
    consent. A trial in a `context` can
    only add violations to what the same trial in the base context shows. `choice` says which of
    the listed customers it takes, where a dry run has chosen them.
    """

    id: str
    contract: str
    clause: str
    scenario: Scenario
    settles: tuple[Obligation, ...]
    price: Price = field(repr=False, compare=False)
    signed: bool = False
    consents: bool = False
    context: Context = ()
    choice: RoleChoice | None = field(default=None, repr=False, compare=False)

    @property
    def calls(self) -> int:
        """How many calls it takes, signatures included."""
        return self.price.calls

    @property
    def needs_clock(self) -> bool:
        """Whether it is about times to which a clock is moved, or until which it is waited."""
        return any(Capability.CLOCK in obligation.needs for obligation in self.settles)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One of several parts of a plan, each of which is run by itself.

    `elsewhere` are the obligations of the other parts, with their position in the whole plan and
    the number of their part. `digest` identifies the division of the whole plan.
    """

    number: int
    of: int
    digest: str = ""
    elsewhere: tuple[tuple[int, int, Planned], ...] = ()

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All obligations in the contracts' order, and the trials that test them.

    `clauses` are those of each contract, by the ids of both. `person` is true if a person signs
    (`sca.kind: manual`); trials without a signature then come first. `submitted` are the operations
    whose requests are submitted. `settling` is how long the bank needs to execute what is signed,
    where the clock can be moved. `shard` is set if the plan is a part of a greater one.
    """

    items: tuple[Planned, ...]
    trials: tuple[Trial, ...]
    clauses: dict[str, dict[str, BoundClause]]
    contracts: dict[str, Contract]
    person: bool = False
    submitted: frozenset[str] = frozenset()
    contextual: tuple[Trial, ...] = ()
    settling: timedelta = timedelta(0)
    shard: Shard | None = None

    @property
    def all_trials(self) -> tuple[Trial, ...]:
        """The trials in the base context, and then those in others."""
        return (*self.trials, *self.contextual)

    @cached_property
    def asked(self) -> frozenset[str]:
        """The ids of the obligations that are tested."""
        return frozenset(
            item.obligation.id for item in self.items if item.disposition is Disposition.ASK
        )

    @property
    def judged(self) -> frozenset[str]:
        """The ids of the obligations that a trial may violate: the tested ones of all parts."""
        if self.shard is None:
            return self.asked
        items = (item for _, _, item in self.shard.elsewhere)
        return self.asked | {
            item.obligation.id for item in items if item.disposition is Disposition.ASK
        }

    @property
    def calls(self) -> int:
        """The number of calls of the whole run."""
        return sum(trial.calls for trial in self.all_trials)

    @property
    def signed(self) -> int:
        """The number of trials that need signatures; one trial can need several."""
        return sum(trial.signed for trial in self.trials)


def plan(
    bound: Sequence[BoundContract],
    target: Target,
    select: Callable[[Obligation], bool] = lambda _: True,
) -> Plan:
    """Return the plan of every selected obligation."""
    clauses = {each.contract.id: bound_clauses(each.contract) for each in bound}
    items: list[Planned] = []
    for each in bound:
        contract = each.contract
        offered = capabilities(contract, target)
        items += [
            decide(obligation, contract, target, missing=_missing(obligation, offered, target))
            for obligation in each.obligations
            if select(obligation)
        ]
    person = target.sca.kind is ScaKind.MANUAL
    moves = any(Capability.CLOCK in capabilities(each.contract, target) for each in bound)
    submitted = submitting(target)
    priced = tuple(_priced(items, clauses, submitted))
    return Plan(
        items=priced,
        trials=_trials(priced, person=person),
        clauses=clauses,
        contracts={each.contract.id: each.contract for each in bound},
        person=person,
        submitted=submitted,
        settling=timedelta(seconds=target.executes_within if moves or target.settles_soon else 0),
    )


def decide(
    obligation: Obligation,
    contract: Contract,
    target: Target,
    *,
    missing: Sequence[Remedy] = (),
    party: Party = Party.BANK,
) -> Planned:
    """Decide whether an obligation is tested, in a run or from a recording.

    `missing` is what testing it needs and the target file does not provide. What a bank does
    not offer excuses the bank, but not a TPP.
    """
    disposition, reason = Disposition.ASK, ""
    nowhere = next(
        filter(None, (place_of_items(each, contract, target) for each in obligation.requires)), ""
    )
    unbound = [each for each in obligation.requires if not is_bound(each, contract, target)]
    if obligation.kind == UNSPECIFIED:
        disposition, reason = Disposition.UNSPECIFIED, "the source document leaves this open"
        if obligation.decision:
            reason = f"this bank answers: {obligation.decision.says}"
    elif party is Party.BANK and (excuse := obligation.excused_by(target.not_offered)):
        disposition, reason = Disposition.NOT_APPLICABLE, excuse
    elif obligation.not_applicable_because:
        disposition, reason = Disposition.NOT_APPLICABLE, obligation.not_applicable_because
    elif nowhere:
        disposition, reason = Disposition.UNVERIFIED, f"needs {nowhere} in the target file"
    elif unbound:
        disposition = Disposition(unbound[0].if_missing.value)
        reason = missing_reason(unbound[0])
    elif missing:
        disposition, reason = Disposition.UNVERIFIED, needs(missing)
    return Planned(obligation=obligation, disposition=disposition, reason=reason)


def _missing(
    obligation: Obligation, offered: frozenset[Capability], target: Target
) -> list[Remedy]:
    """Return what a run needs for an obligation and the target does not provide."""
    missing = missing_capabilities(obligation, offered)
    if obligation.needs & WRITING & offered and read_only(target):
        missing.append(ALLOW_WRITES)
    return missing


def missing_capabilities(obligation: Obligation, offered: frozenset[Capability]) -> list[Remedy]:
    """Return what an obligation needs and a target does not offer, with the keys to set."""
    lacking = sorted(obligation.needs - offered, key=lambda capability: capability.value)
    return [REMEDIES[capability] for capability in lacking]


def _priced(
    items: Iterable[Planned],
    clauses: Mapping[str, Mapping[str, BoundClause]],
    submitted: frozenset[str],
) -> Iterator[Planned]:
    """Give each obligation that is tested the price of its trial, which is dry-run once at most."""
    prices: dict[str, Price] = {}
    for item in items:
        obligation, scenario = item.obligation, item.obligation.scenario
        if item.disposition is not Disposition.ASK or scenario is None:
            yield item
            continue
        if obligation.trial not in prices:
            kind = clauses[obligation.contract][obligation.clause].kind
            prices[obligation.trial] = Price(partial(count_calls, kind, scenario, submitted))
        yield replace(item, price=prices[obligation.trial])


def read_only(target: Target) -> bool:
    """Whether a target must not be changed: it is live and its file does not allow writes."""
    return target.environment == "live" and not target.safety.allow_writes


def _trials(items: Iterable[Planned], *, person: bool) -> tuple[Trial, ...]:
    """Return the trials in order, those that a person signs last."""
    gathered: dict[str, list[Planned]] = {}
    for item in items:
        if item.disposition is Disposition.ASK:
            gathered.setdefault(item.obligation.trial, []).append(item)
    trials = [_trial(id_, planned) for id_, planned in gathered.items()]
    return tuple(sorted(trials, key=lambda trial: person and trial.signed))


def _trial(id_: str, items: Sequence[Planned]) -> Trial:
    first = items[0].obligation
    if first.scenario is None:
        raise TypeError(f"{first.id} has no scenario, so no trial can test it")
    return Trial(
        id=id_,
        contract=first.contract,
        clause=first.clause,
        scenario=first.scenario,
        settles=tuple(item.obligation for item in items),
        price=items[0].price,
        signed=any(Capability.SCA in item.obligation.needs for item in items),
        consents=any(Capability.CONSENT in item.obligation.needs for item in items),
    )


def script_of(plan_: Plan, trial: Trial) -> tuple[BoundClause, Script]:
    """Return the clause of a trial, and a new probe for it, in the trial's context."""
    clause = plan_.clauses[trial.contract][trial.clause]
    probe = probe_of(clause.kind, trial.scenario)
    script = in_context(probe, trial.context) if trial.context else probe
    if plan_.settling:
        script = with_mappers(script, [Settling(within=plan_.settling)])
    return clause, script


def count_signatures(plan_: Plan) -> int:
    """Return how many signatures the trials of a plan ask for at most."""
    return sum(signatures_in(plan_, trial) for trial in plan_.trials if trial.signed)


def signatures_in(plan_: Plan, trial: Trial) -> int:
    """Return how many signatures one trial asks for at most."""
    _, script = script_of(plan_, trial)
    dry_target = DryTarget(contract=plan_.contracts[trial.contract])
    return sum(isinstance(step, Authorise) for step in dry_run(script, dry_target))


def decided(plan_: Plan, items: Iterable[Planned]) -> Plan:
    """Return a plan of these items; the trials that remain keep their order."""
    planned = tuple(items)
    order = {trial.id: number for number, trial in enumerate(plan_.trials)}
    asked = frozenset(item.obligation.id for item in planned if item.disposition is Disposition.ASK)
    trials = sorted(
        _trials(planned, person=plan_.person),
        key=lambda trial: (plan_.person and trial.signed, order.get(trial.id, len(order))),
    )
    return replace(
        plan_,
        items=planned,
        trials=tuple(trials),
        contextual=tuple(_remaining(plan_.contextual, asked)),
    )


def _remaining(trials: Iterable[Trial], asked: Collection[str]) -> Iterator[Trial]:
    """Yield the trials that settle something that is still asked, with only that."""
    for trial in trials:
        settles = tuple(obligation for obligation in trial.settles if obligation.id in asked)
        if settles:
            yield replace(trial, settles=settles)


def restrict(plan_: Plan, ids: Collection[str]) -> Plan:
    """Return the part of a plan that tests these obligations."""
    return decided(plan_, (item for item in plan_.items if item.obligation.id in ids))
