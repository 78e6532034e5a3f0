"""The plan of a run: which obligations are tested, in which trials, at how many calls.

`plan` is a pure function of bound contracts and a target. Every obligation has a
disposition before the first call, so that none can drop out of a run unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from assay.binding.features import is_bound, missing_reason
from assay.binding.join import BoundContract, capabilities
from assay.binding.target import ScaKind, Target
from assay.contexts.context import Context, in_context
from assay.contract.model import Capability, Contract
from assay.errors import Shortage
from assay.history import Authorise
from assay.judging.verdict import Standing
from assay.planning.obligation import UNSPECIFIED, BoundClause, Obligation, bound_clauses
from assay.planning.remedies import ALLOW_WRITES, REMEDIES, needs
from assay.rules.dry_run import DryTarget, dry_run
from assay.rules.rule import Scenario

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
    """An obligation with its fate; `calls` is what its whole trial costs.

    `shortage` says that it is left unverified only for want of something that another day has.
    """

    obligation: Obligation
    fate: Disposition
    why: str = ""
    calls: int = 0
    shortage: Shortage | None = None

    @property
    def standing(self) -> Standing:
        """The verdict that the plan alone decides."""
        return Standing(self.fate.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One run of a probe on one fixture, and the obligations that it settles.

    `signed` is true if one of these obligations needs a signature. A trial in a `context` can
    only add violations to what the same trial in the base context shows.
    """

    id: str
    contract: str
    clause: str
    scenario: Scenario
    settles: tuple[Obligation, ...]
    calls: int
    signed: bool = False
    context: Context = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All obligations in the contracts' order, and the trials that test them.

    `person` is true if a person signs (`sca.kind: manual`); trials without a signature then
    come first.
    """

    items: tuple[Planned, ...]
    trials: tuple[Trial, ...]
    ruled: dict[str, dict[str, BoundClause]]
    contracts: dict[str, Contract]
    person: bool = False
    contextual: tuple[Trial, ...] = ()

    @property
    def all_trials(self) -> tuple[Trial, ...]:
        """The trials in the base context, and then those in others."""
        return (*self.trials, *self.contextual)

    @property
    def asked(self) -> frozenset[str]:
        """The ids of the obligations that are tested."""
        return frozenset(one.obligation.id for one in self.items if one.fate is Disposition.ASK)

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
    items: list[Planned] = []
    ruled: dict[str, dict[str, BoundClause]] = {}
    for each in bound:
        contract = each.contract
        ruled[contract.id] = bound_clauses(contract)
        offered = capabilities(contract, target)
        items += [
            _decide(obligation, contract, target, offered)
            for obligation in each.obligations
            if select(obligation)
        ]
    person = target.sca.kind is ScaKind.MANUAL
    priced = tuple(_priced(items, ruled))
    return Plan(
        items=priced,
        trials=_trials(priced, person=person),
        ruled=ruled,
        contracts={each.contract.id: each.contract for each in bound},
        person=person,
    )


def _decide(
    obligation: Obligation,
    contract: Contract,
    target: Target,
    offered: frozenset[Capability],
) -> Planned:
    if obligation.kind == UNSPECIFIED:
        return Planned(
            obligation=obligation,
            fate=Disposition.UNSPECIFIED,
            why="the source document leaves this open",
        )
    if obligation.clause in target.not_offered:
        why = target.not_offered[obligation.clause]
        return Planned(obligation=obligation, fate=Disposition.NOT_APPLICABLE, why=why)
    if obligation.not_applicable_because:
        return Planned(
            obligation=obligation,
            fate=Disposition.NOT_APPLICABLE,
            why=obligation.not_applicable_because,
        )
    for requirement in obligation.requires:
        if not is_bound(requirement, contract, target):
            return Planned(
                obligation=obligation,
                fate=Disposition(requirement.if_missing.value),
                why=missing_reason(requirement),
            )
    remedies = [REMEDIES[one] for one in lacking(obligation, offered)]
    if obligation.needs & WRITING & offered and read_only(target):
        remedies.append(ALLOW_WRITES)
    if remedies:
        why = needs(remedies)
        return Planned(obligation=obligation, fate=Disposition.UNVERIFIED, why=why)
    return Planned(obligation=obligation, fate=Disposition.ASK)


def _priced(
    items: Iterable[Planned], ruled: Mapping[str, Mapping[str, BoundClause]]
) -> Iterator[Planned]:
    """Give each obligation that is asked the price of its trial, which is played dry once."""
    prices: dict[str, int] = {}
    for item in items:
        asked, scenario = item.obligation, item.obligation.scenario
        if item.fate is not Disposition.ASK or scenario is None:
            yield item
            continue
        if asked.trial not in prices:
            prices[asked.trial] = ruled[asked.contract][asked.clause].kind.price(scenario)
        yield replace(item, calls=prices[asked.trial])


def lacking(obligation: Obligation, offered: frozenset[Capability]) -> list[Capability]:
    """Return the capabilities that an obligation needs and a target lacks, sorted by name."""
    return sorted(obligation.needs - offered, key=lambda capability: capability.value)


def read_only(target: Target) -> bool:
    """Whether a target must not be changed: it is live and its file does not allow writes."""
    return target.environment == "live" and not target.safety.allow_writes


def _trials(items: Iterable[Planned], *, person: bool) -> tuple[Trial, ...]:
    gathered: dict[str, list[Planned]] = {}
    for item in items:
        if item.fate is Disposition.ASK:
            gathered.setdefault(item.obligation.trial, []).append(item)
    trials = [_trial(id_, settled) for id_, settled in gathered.items()]
    return tuple(sorted(trials, key=lambda one: person and one.signed))


def _trial(id_: str, settled: list[Planned]) -> Trial:
    first = settled[0].obligation
    if first.scenario is None:
        raise TypeError(f"{first.id} is never asked")
    return Trial(
        id=id_,
        contract=first.contract,
        clause=first.clause,
        scenario=first.scenario,
        settles=tuple(one.obligation for one in settled),
        calls=settled[0].calls,
        signed=any(Capability.SCA in one.obligation.needs for one in settled),
    )


def script_of(plan_: Plan, trial: Trial) -> tuple[BoundClause, Any]:
    """Return the clause of a trial, and a new probe for it, in the trial's context."""
    applied = plan_.ruled[trial.contract][trial.clause]
    probe = applied.kind.probe(trial.scenario)
    return applied, in_context(probe, trial.context) if trial.context else probe


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
    settled = tuple(items)
    order = {trial.id: number for number, trial in enumerate(plan_.trials)}
    asked = frozenset(one.obligation.id for one in settled if one.fate is Disposition.ASK)
    trials = sorted(
        _trials(settled, person=plan_.person),
        key=lambda one: (plan_.person and one.signed, order.get(one.id, len(order))),
    )
    return replace(
        plan_,
        items=settled,
        trials=tuple(trials),
        contextual=tuple(_remaining(plan_.contextual, asked)),
    )


def _remaining(trials: Iterable[Trial], asked: Collection[str]) -> Iterator[Trial]:
    """Yield the trials that settle something that is still asked, with only that."""
    for trial in trials:
        settles = tuple(one for one in trial.settles if one.id in asked)
        if settles:
            yield replace(trial, settles=settles)


def restrict(plan_: Plan, ids: Collection[str]) -> Plan:
    """Return the part of a plan that tests these obligations."""
    return decided(plan_, (one for one in plan_.items if one.obligation.id in ids))
