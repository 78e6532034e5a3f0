"""Observations of a shard on which verdicts in other shards depend.

Whether answers are static, whether credentials were ever accepted, and which obligations conform
is known only when all shards are seen. So the journal of a shard has what its trials show of these
questions, and its verdicts before they were corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from assay.binding.model.target import Waiver
from assay.judging.corrections import (
    AnswersSeen,
    CredentialWatch,
    StaticWatch,
    discount_rejected,
    discount_static,
    discount_unsupported,
)
from assay.judging.waivers import WaiverResult, apply_waivers, waiver_results
from assay.rules.verdict import Verdict

#: The parties whose credentials are observed, by the value that means them.
PARTIES: Mapping[bool, str] = {False: "customers", True: "tpps"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardObservations:
    """What one shard observed; `where` says which key has the credentials of a party.

    `covers` has the obligations that each waiver names.
    """

    answers: AnswersSeen
    accepted: frozenset[bool]
    refused: frozenset[bool]
    where: Mapping[bool, str]
    tpp_operations: frozenset[str]
    rests_on: Mapping[str, str]
    waivers: tuple[Waiver, ...]
    today: date
    covers: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


@dataclass(slots=True, kw_only=True)
class MergedVerdicts:
    """The verdicts of all shards before their correction, and what they rest on.

    `operations` are those of the exchanges, by number; `without_token` are the exchanges that
    lacked the token of their caller.
    """

    recorded: dict[str, Verdict] = field(default_factory=dict[str, Verdict])
    operations: dict[int, str] = field(default_factory=dict[int, str])
    without_token: set[int] = field(default_factory=set[int])

    def final(self, shards: Sequence[ShardObservations]) -> Mapping[str, Verdict]:
        """Return the final verdicts, corrected by what all shards observed together."""
        answers = StaticWatch()
        for shard in shards:
            answers.take(shard.answers)
        watch = CredentialWatch(
            tpp_operations=frozenset().union(*(shard.tpp_operations for shard in shards)),
            accepted={party for shard in shards for party in shard.accepted},
            refused={party for shard in shards for party in shard.refused},
            without_token=self.without_token,
        )
        where = {party: name for shard in shards for party, name in shard.where.items()}
        rests_on = {name: on for shard in shards for name, on in shard.rests_on.items()}
        waivers, today = _waivers(shards), _today(shards)
        verdicts = discount_static(self.recorded.values(), answers.static(), self.operations)
        verdicts = discount_rejected(
            verdicts, watch, self.operations, lambda party: where.get(party, "auth")
        )
        verdicts = discount_unsupported(verdicts, self.recorded, rests_on)
        return {verdict.obligation: apply_waivers(verdict, waivers, today) for verdict in verdicts}


def merged_waivers(
    shards: Sequence[ShardObservations], verdicts: Iterable[Verdict]
) -> tuple[WaiverResult, ...]:
    """Return the state of each waiver, given the final verdicts of all shards."""
    standings = {verdict.obligation: verdict.standing for verdict in verdicts}
    covers = {name: covered for shard in shards for name, covered in shard.covers.items()}
    return waiver_results(_waivers(shards), covers, standings, _today(shards))


def _waivers(shards: Sequence[ShardObservations]) -> tuple[Waiver, ...]:
    return tuple({each.name: each for shard in shards for each in shard.waivers}.values())


def _today(shards: Sequence[ShardObservations]) -> date:
    return max((shard.today for shard in shards), default=date.min)
