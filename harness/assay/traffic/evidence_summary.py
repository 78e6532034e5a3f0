"""Summary of the evidence on one obligation: what a verdict needs of it, in bounded memory.

A long recording has a piece of evidence for every exchange. The first pieces of each agreement are
kept, and which exchanges all of them rest on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from assay.rules.verdict import DECIDED, Agreement, Evidence, Standing, Verdict, weigh

#: Why a recording that can be read in several ways does not decide.
ORDER_UNKNOWN = "but the order or the times in this recording are uncertain"
MISSING = "but a call or a header may be missing from this recording (pass `--complete` if none is)"
#: Why it does not decide where the times of a recording are not those of the bank's clock.
CLOCK_UNKNOWN = (
    "but this bank's clock can be moved and may differ from the times in the recording (pass"
    " `--bank-clock` if it does not)"
)
#: Why it does not decide where tokens do not tell callers apart.
CALLERS_UNKNOWN = (
    "but this recording does not show with certainty which callers its tokens belong to"
)
#: How much evidence of one agreement is kept for one obligation.
MAX_EVIDENCE = 20


@dataclass(slots=True)
class EvidenceSummary:
    """The first pieces of evidence that one history shows, by agreement and doubt.

    A violation is in doubt if something that the recording may not show explains it.
    """

    numbers: set[int] = field(default_factory=set[int])
    _first: dict[tuple[Agreement, str], list[tuple[int, Evidence]]] = field(
        default_factory=dict[tuple[Agreement, str], "list[tuple[int, Evidence]]"]
    )
    _count: int = 0

    def add(self, evidence: Evidence, *, doubt: str = "") -> None:
        """Add the next piece; `doubt` says why it does not decide, if it does not."""
        first = self._first.setdefault((evidence.agreement, doubt), [])
        if len(first) < MAX_EVIDENCE:
            first.append((self._count, evidence))
        self._count += 1
        self.numbers.update(evidence.exchanges)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return self._count > 0

    @property
    def standing(self) -> Standing:
        """The standing if nothing were in doubt."""
        return weigh(evidence for _, _, evidence in self._in_order())[0]

    def certain(self, *, agreed: bool) -> list[Evidence]:
        """Return the first pieces, unclear where the recording can be read otherwise.

        A violation counts if it is one in spite of everything that may be missing. A standing
        counts if every reading of the recording has it (`agreed`).
        """
        decided = self.standing in DECIDED
        pieces: list[Evidence] = []
        for _, doubt, evidence in self._in_order():
            why = doubt if agreed else ORDER_UNKNOWN
            if decided and why and evidence.agreement is not Agreement.UNCLEAR:
                seen = f"{evidence.seen}; {why}"
                pieces.append(replace(evidence, agreement=Agreement.UNCLEAR, seen=seen))
            else:
                pieces.append(evidence)
        return pieces

    def _in_order(self) -> list[tuple[int, str, Evidence]]:
        return sorted(
            (
                (index, doubt, evidence)
                for (_, doubt), first in self._first.items()
                for index, evidence in first
            ),
            key=lambda piece: piece[0],
        )


@dataclass(slots=True)
class MergedEvidence:
    """What several histories show of one obligation."""

    numbers: set[int] = field(default_factory=set[int])
    pieces: list[Evidence] = field(default_factory=list[Evidence])
    trials: dict[Standing, str] = field(default_factory=dict[Standing, str])

    def take(self, pieces: Sequence[Evidence], numbers: Iterable[int], trial: str) -> None:
        """Add what one history shows, in the trial of this name."""
        self.pieces = [*_bounded([*self.pieces, *pieces])]
        self.numbers.update(numbers)
        self.trials.setdefault(weigh(pieces)[0], trial)

    def verdict(self, obligation: str, missing: str) -> tuple[Verdict, str]:
        """Weigh it; the gravest history names the trial. `missing` is the reason without any."""
        if not self.pieces:
            return Verdict(obligation=obligation, standing=Standing.UNVERIFIED, reason=missing), ""
        standing, reason = weigh(self.pieces)
        verdict = Verdict(
            obligation=obligation,
            standing=standing,
            reason=reason,
            evidence=tuple(self.pieces),
            calls=len(self.numbers),
        )
        return verdict, self.trials[standing]


def _bounded(evidence: Iterable[Evidence]) -> Iterator[Evidence]:
    """Yield the first pieces of evidence of each agreement."""
    left = dict.fromkeys(Agreement, MAX_EVIDENCE)
    for each in evidence:
        if left[each.agreement] > 0:
            left[each.agreement] -= 1
            yield each
