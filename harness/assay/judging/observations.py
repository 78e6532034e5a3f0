"""Observations of a shard on which verdicts in other shards depend, as JSON and back.

Whether answers are static, whether credentials were ever accepted, and which obligations conform
is known only when all shards are seen. So the journal of a shard has what its trials show of these
questions, and its verdicts before they were corrected. Answers and questions are keyed digests:
they can be compared, and not guessed.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from assay.binding.target import Waiver
from assay.judging.corrections import (
    SAME_ANSWERS,
    CredentialWatch,
    StaticWatch,
    apply_waiver,
    discount_rejected,
    discount_static,
    discount_unsupported,
)
from assay.judging.verdict import Verdict

#: Two answers are enough to know that something changes.
ENOUGH = 2
#: The parties whose credentials are observed, by the value that means them.
PARTIES: Mapping[bool, str] = {False: "customers", True: "tpps"}


def digest_key(secrets: Iterable[str]) -> bytes:
    """Return a key for digests, the same in all runs with the same lasting secrets."""
    return hashlib.sha256(
        "\0".join(["digests", *sorted(secrets)]).encode("utf-8", "replace")
    ).digest()


def observed_answers(
    watch: StaticWatch, shard: str, key: bytes
) -> dict[str, dict[str, list[str] | bool]]:
    """Return what a shard shows of each operation, as far as it matters to `merged_answers`."""

    def digest(text: object) -> str:
        return hmac.new(key, repr(text).encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:24]

    names = sorted({*watch.questions, *watch.bodies, *watch.answers, *watch.refusing})
    return {
        name: {
            # The questions to an operation that makes requests name the trial in its shard.
            "questions": sorted(
                digest((shard, question) if name in watch.making else question)
                for question in sorted(watch.questions.get(name, ()))[:SAME_ANSWERS]
            ),
            "bodies": sorted(map(digest, watch.bodies.get(name, ()))),
            "answers": sorted(map(digest, watch.answers.get(name, ()))),
            "refusing": name in watch.refusing,
        }
        for name in names
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationAnswers:
    """What a shard shows of one operation: digests, and whether it ever refused a request."""

    questions: frozenset[str] = frozenset()
    bodies: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()
    refusing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardObservations:
    """What one shard observed; `where` says which key has the credentials of a party."""

    answers: Mapping[str, OperationAnswers]
    accepted: frozenset[bool]
    refused: frozenset[bool]
    where: Mapping[bool, str]
    tpp_operations: frozenset[str]
    rests_on: Mapping[str, str]
    waivers: tuple[Waiver, ...]
    today: date


def merged_answers(shards: Iterable[ShardObservations]) -> frozenset[str]:
    """Return the operations with static answers, over all shards."""
    questions: dict[str, set[str]] = {}
    bodies: dict[str, set[bytes]] = {}
    answers: dict[str, set[tuple[int, bytes]]] = {}
    refusing: set[str] = set()
    for shard in shards:
        for name, seen in shard.answers.items():
            if seen.bodies:
                questions.setdefault(name, set()).update(seen.questions)
                bodies.setdefault(name, set()).update(map(str.encode, seen.bodies))
            if seen.answers:
                answers.setdefault(name, set()).update((0, text.encode()) for text in seen.answers)
            refusing |= {name} if seen.refusing else set()
    merged = StaticWatch(questions=questions, bodies=bodies, answers=answers, refusing=refusing)
    return merged.static()


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
        watch = CredentialWatch(
            tpp_operations=frozenset().union(*(shard.tpp_operations for shard in shards)),
            accepted={party for shard in shards for party in shard.accepted},
            refused={party for shard in shards for party in shard.refused},
            without_token=self.without_token,
        )
        where = {party: name for shard in shards for party, name in shard.where.items()}
        rests_on = {name: on for shard in shards for name, on in shard.rests_on.items()}
        waivers = {each.obligation: each for shard in shards for each in shard.waivers}
        today = max((shard.today for shard in shards), default=date.min)
        verdicts = discount_static(self.recorded.values(), merged_answers(shards), self.operations)
        verdicts = discount_rejected(
            verdicts, watch, self.operations, lambda party: where.get(party, "auth")
        )
        verdicts = discount_unsupported(verdicts, self.recorded, rests_on)
        return {
            verdict.obligation: apply_waiver(verdict, waivers.get(verdict.obligation), today)
            for verdict in verdicts
        }
