"""What will be asked, what it costs, and what will stay open, fixed beforehand.

Pure: from bound contracts and a profile to a `Plan`. Every obligation has a
fate before the first call, so that nothing can drop out of a run unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from assay.binding.join import BoundContract, capabilities, is_bound
from assay.binding.target import ScaKind, Target
from assay.contract.model import Capability, Contract
from assay.errors import Shortage
from assay.history import Authorise
from assay.judging.verdict import Standing
from assay.planning.obligation import UNSPECIFIED, BoundClause, Obligation, bound_clauses
from assay.rules.dry_run import DryTarget, dry_run
from assay.rules.rule import Scenario

#: What would unblock an obligation that needs a capability the target lacks.
UNBLOCKS = {
    Capability.PSU: "a customer to test with (world: control, or roles)",
    Capability.TWO_PSU: "a second customer",
    Capability.CONSENT: "consents that the harness may transmit",
    Capability.BATCH: "how calls without the customer are marked (presence)",
    Capability.CLOCK: "a clock that can be moved (world: control)",
    Capability.ROSTER: "what the customer truly owns",
    Capability.ZONE: "the zone of the bank's calendar day (zone)",
    Capability.CREDENTIALS: "fictive customer credentials",
    Capability.ENTRIES: "dated entries that can be arranged",
    Capability.WRITE: "requests that the harness may make (fixtures.offers: write)",
    Capability.SCA: "somebody who signs (sca)",
    Capability.SCREENS: "a program that walks the screens (sca: forms, or browser)",
    Capability.SEGMENTS: "customers of every segment",
    Capability.REGISTRATIONS: "registrations that can be arranged",
    Capability.PROVIDERS: "a second provider",
    Capability.BANKS: "a bank of the group that does not offer it",
    Capability.EFFECTS: "word of what was carried out (fixtures.offers: effects)",
    Capability.DIRECT_ACCESS: "a customer who acts through direct access",
    Capability.HOSTS: "the other hosts of the target (hosts)",
}


#: What nobody does at a bank that is only read, and what would allow it.
WRITING, ALLOW = frozenset({Capability.CONSENT, Capability.WRITE}), "safety.allow_writes"


class Disposition(Enum):
    """What the plan foresees for an obligation."""

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
    """One probe in one world, and the obligations that it can settle.

    `signed` says that one of these takes a signature.
    """

    id: str
    contract: str
    clause: str
    scenario: Scenario
    settles: tuple[Obligation, ...]
    calls: int
    signed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All obligations in order, and the trials that will be held.

    `person` says that a person signs: trials for which nobody is needed come first.
    """

    items: tuple[Planned, ...]
    trials: tuple[Trial, ...]
    ruled: dict[str, dict[str, BoundClause]]
    contracts: dict[str, Contract]
    person: bool = False

    @property
    def asked(self) -> frozenset[str]:
        """The ids of the obligations that are asked of the target."""
        return frozenset(one.obligation.id for one in self.items if one.fate is Disposition.ASK)

    @property
    def calls(self) -> int:
        """What the whole run costs in calls."""
        return sum(trial.calls for trial in self.trials)

    @property
    def signed(self) -> int:
        """How many trials take signatures; how many they take, only holding them tells."""
        return sum(trial.signed for trial in self.trials)


def plan(
    bound: Sequence[BoundContract],
    target: Target,
    select: Callable[[Obligation], bool] = lambda _: True,
) -> Plan:
    """Decide every selected obligation's fate, and gather the trials."""
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
            obligation=obligation, fate=Disposition.UNSPECIFIED, why="the document is silent"
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
    for want in obligation.requires:
        if not is_bound(want, contract, target):
            return Planned(
                obligation=obligation,
                fate=Disposition(want.if_missing.value),
                why=_unspelt(want.if_missing, str(want)),
            )
    lacking = sorted(obligation.needs - offered, key=lambda one: one.value)
    unblocks = [UNBLOCKS[one] for one in lacking]
    if obligation.needs & WRITING & offered and read_only(target):
        unblocks.append(ALLOW)
    if unblocks:
        why = "needs " + "; ".join(unblocks)
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


def read_only(target: Target) -> bool:
    """Whether nothing may be changed at a target: a live one, unless its profile says so."""
    return target.environment == "live" and not target.safety.allow_writes


def _unspelt(otherwise: Standing, where: str) -> str:
    if otherwise is Standing.NOT_APPLICABLE:
        return f"the target has none (profile: {where})"
    return f"needs {where} in the profile"


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
    """Return a trial's clause and a fresh probe for it."""
    applied = plan_.ruled[trial.contract][trial.clause]
    return applied, applied.kind.probe(trial.scenario)


def count_signatures(plan_: Plan) -> int:
    """Return how many signatures the trials of a plan ask for at most."""
    return sum(signatures_in(plan_, trial) for trial in plan_.trials if trial.signed)


def signatures_in(plan_: Plan, trial: Trial) -> int:
    """Return how many signatures one trial asks for at most."""
    _, script = script_of(plan_, trial)
    dry_target = DryTarget(contract=plan_.contracts[trial.contract])
    return sum(isinstance(step, Authorise) for step in dry_run(script, dry_target))


def decided(plan_: Plan, items: Iterable[Planned]) -> Plan:
    """Return a plan with these obligations and fates; its trials keep their order."""
    settled = tuple(items)
    order = {trial.id: number for number, trial in enumerate(plan_.trials)}
    trials = sorted(
        _trials(settled, person=plan_.person),
        key=lambda one: (plan_.person and one.signed, order.get(one.id, len(order))),
    )
    return replace(plan_, items=settled, trials=tuple(trials))


def restrict(plan_: Plan, ids: Collection[str]) -> Plan:
    """Return the part of a plan that is about these obligations."""
    return decided(plan_, (one for one in plan_.items if one.obligation.id in ids))
