"""What can be judged of a recording: the plan of a run that asks nothing.

No capability is needed to look at what others did, but what the profile does not spell
cannot be read off their traffic either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.model import Contract, Party
from assay.obligation import UNSPECIFIED, Obligation, apply_rules, duties
from assay.plan import UNBLOCKS, Fate, Plan, Planned
from assay.target.join import Bound, capabilities, spelt
from assay.target.profile import Profile
from assay.verdict import Standing

#: The trial as which a recording stands in the record.
RECORDING = "recording"


def foresee(
    bound: Sequence[Bound],
    profile: Profile,
    party: Party,
    select: Callable[[Obligation], bool] = lambda _: True,
) -> Plan:
    """Decide the fate of every selected obligation of the party that is judged."""
    items: list[Planned] = []
    for each in bound:
        owed = each.obligations if party is Party.BANK else duties(each.contract)
        items += [_decide(one, each.contract, profile, party) for one in owed if select(one)]
    return Plan(
        items=tuple(items),
        trials=(),
        ruled={each.contract.id: apply_rules(each.contract) for each in bound},
        contracts={each.contract.id: each.contract for each in bound},
    )


def _decide(one: Obligation, contract: Contract, profile: Profile, party: Party) -> Planned:
    if one.kind == UNSPECIFIED:
        return Planned(obligation=one, fate=Fate.UNSPECIFIED, why="the document is silent")
    if party is Party.BANK and one.clause in profile.not_offered:
        why = profile.not_offered[one.clause]
        return Planned(obligation=one, fate=Fate.NOT_APPLICABLE, why=why)
    if one.void:
        return Planned(obligation=one, fate=Fate.NOT_APPLICABLE, why=one.void)
    for want in one.wants:
        if not spelt(want, contract, profile):
            none = want.otherwise is Standing.NOT_APPLICABLE
            why = (
                f"the target has none (profile: {want})" if none else f"needs {want} in the profile"
            )
            return Planned(obligation=one, fate=Fate(want.otherwise.value), why=why)
    lacking = sorted(one.needs - capabilities(contract, profile), key=lambda need: need.value)
    if party is Party.TPP and lacking:
        why = "needs " + "; ".join(UNBLOCKS[need] for need in lacking)
        return Planned(obligation=one, fate=Fate.UNVERIFIED, why=why)
    # What has to be arranged to ask for it may stand in a recording as well.
    return Planned(obligation=one, fate=Fate.ASK)
