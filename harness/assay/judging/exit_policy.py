"""Exit code of a run, and the reasons for it; changes between the verdicts of two runs.

A run fails for what its verdicts and waivers say. A user can require that enough was tested, and
accept what an earlier run, the baseline, has shown already. The comparison of runs and the report
of a fleet share what a change is called. Nothing here does I/O.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from assay.errors import Exit, InputError
from assay.judging.waivers import WaiverResult, WaiverState
from assay.rules.verdict import OPEN, Standing


class ChangeKind(Enum):
    """How the verdict on an obligation changed; the value is the word used everywhere."""

    NEWLY_VIOLATED = "newly-violated"
    NEWLY_WAIVED = "newly-waived"
    NEWLY_UNVERIFIED = "newly-unverified"
    NO_LONGER_PLANNED = "no-longer-planned"
    FIXED = "fixed"
    NEWLY_VERIFIED = "newly-verified"
    NEWLY_PLANNED = "newly-planned"
    OTHER = "other"


#: Verdicts on what a run had to test.
OWED = frozenset(
    {
        Standing.CONFORMS,
        Standing.VIOLATES,
        Standing.WAIVED,
        Standing.INDETERMINATE,
        Standing.UNVERIFIED,
    }
)
#: Verdicts on what a run has tested.
TESTED = OWED - OPEN


#: How a verdict changed, by what it is now; where it depends on the verdict before, see below.
_TO: Mapping[Standing | None, ChangeKind] = {
    Standing.VIOLATES: ChangeKind.NEWLY_VIOLATED,
    Standing.WAIVED: ChangeKind.NEWLY_WAIVED,
    Standing.CONFORMS: ChangeKind.FIXED,
    Standing.INDETERMINATE: ChangeKind.NEWLY_UNVERIFIED,
    Standing.UNVERIFIED: ChangeKind.NEWLY_UNVERIFIED,
}
_VIOLATED = frozenset({ChangeKind.NEWLY_VIOLATED, ChangeKind.NEWLY_WAIVED})


def change_of(before: Standing | None, now: Standing | None) -> ChangeKind | None:
    """Return how a verdict changed, None if it did not; no verdict means not planned."""
    if before is now:
        return None
    change = _TO.get(now, ChangeKind.NO_LONGER_PLANNED)
    if change in _VIOLATED:
        return change
    if before not in OWED:
        return ChangeKind.NEWLY_PLANNED if now in OWED else ChangeKind.OTHER
    if before in OPEN and now in OWED:
        return ChangeKind.NEWLY_VERIFIED if change is ChangeKind.FIXED else ChangeKind.OTHER
    return change


#: How many ids a reason names.
NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """The least number of obligations to be tested, or their share in percent."""

    number: int = 0
    percent: float | None = None

    def __str__(self) -> str:
        return f"{self.number:,}" if self.percent is None else f"{self.percent:g}%"

    def met(self, tested: int, owed: int) -> bool:
        """Whether enough was tested of what a run had to test."""
        return tested >= self.number and tested * 100 >= (self.percent or 0) * owed


def read_floor(text: str) -> Floor:
    """Read a number or a percentage.

    Raises:
        InputError: it is neither.

    """
    written = re.fullmatch(r"(\d{1,9})|(\d{1,3}(?:\.\d{1,6})?) ?%", text.strip(), re.ASCII)
    if written and written[1]:
        return Floor(number=int(written[1]))
    if written and float(written[2]) <= 100:  # noqa: PLR2004 -- percent
        return Floor(percent=float(written[2]))
    what = f"expected a number of obligations or a percentage, found {text!r}"
    raise InputError.one("--min-verified", what, hint="for example 120, or 80%")


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The verdicts of an earlier run.

    `whole` says that all its obligations should be in this run, too: it has the same selection.
    """

    name: str
    verdicts: Mapping[str, Standing]
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitPolicy:
    """What a user accepts and requires of a run."""

    allow_incomplete: bool = False
    min_verified: Floor | None = None
    baseline: Baseline | None = None


NO_POLICY = ExitPolicy()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What a run has shown: all that its exit code depends on.

    `musts` are the obligations of the level `must`. `elsewhere` are obligations of other shards
    that it violates; `part` says that it is a shard. `stopped` says that it ended early.
    """

    verdicts: Mapping[str, Standing]
    musts: Collection[str]
    waivers: Sequence[WaiverResult] = ()
    faults: int = 0
    stopped: bool = False
    elsewhere: Sequence[str] = ()
    part: bool = False

    def having(self, *standings: Standing) -> list[str]:
        """Return the obligations with one of these verdicts."""
        return [name for name, standing in self.verdicts.items() if standing in standings]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitDecision:
    """An exit code, and a sentence for each reason, the decisive ones first."""

    exit: Exit
    reasons: tuple[str, ...]


#: The exit codes from the gravest to the lightest.
_GRAVITY = (Exit.FAULT, Exit.VIOLATION, Exit.USAGE, Exit.INCOMPLETE)


def decide_exit(facts: RunFacts, policy: ExitPolicy) -> ExitDecision:
    """Return the exit code of a finished run, and why."""
    found: list[tuple[Exit, str]] = [
        *_faults(facts),
        *(_since(facts, policy.baseline) if policy.baseline else _violations(facts)),
        *_waivers(facts.waivers),
        *_incomplete(facts, policy),
    ]
    found.sort(key=lambda each: _GRAVITY.index(each[0]))
    if found:
        return ExitDecision(exit=found[0][0], reasons=tuple(reason for _, reason in found))
    return ExitDecision(exit=Exit.OK, reasons=(_passed(facts, policy),))


def _faults(facts: RunFacts) -> Iterator[tuple[Exit, str]]:
    if facts.faults:
        times = "once" if facts.faults == 1 else f"{facts.faults:,} times"
        yield Exit.FAULT, f"the harness itself failed {times}"


def _violations(facts: RunFacts) -> Iterator[tuple[Exit, str]]:
    if violated := facts.having(Standing.VIOLATES):
        yield Exit.VIOLATION, f"{_number(violated)} violated"
    if facts.elsewhere:
        what = f"{_number(facts.elsewhere)} in other shards violated: {_listed(facts.elsewhere)}"
        yield Exit.VIOLATION, what


def _since(facts: RunFacts, baseline: Baseline) -> Iterator[tuple[Exit, str]]:
    """Yield what is worse than in the baseline."""
    since = f"since the baseline ({baseline.name})"
    names = dict.fromkeys([*facts.verdicts, *(baseline.verdicts if baseline.whole else ())])
    changes = {
        name: change_of(baseline.verdicts.get(name), facts.verdicts.get(name)) for name in names
    }
    newly = [name for name, change in changes.items() if change is ChangeKind.NEWLY_VIOLATED]
    if newly:
        yield Exit.VIOLATION, f"{_number(newly)} newly violated {since}: {_listed(newly)}"
    for change, words in (
        (ChangeKind.NEWLY_UNVERIFIED, "could not be verified, but conformed in"),
        (ChangeKind.NO_LONGER_PLANNED, "no longer tested, but conformed in"),
    ):
        lost = [
            name
            for name, seen in changes.items()
            if seen is change and baseline.verdicts[name] is Standing.CONFORMS
        ]
        if lost:
            noun = "1 obligation" if len(lost) == 1 else f"{len(lost):,} obligations"
            is_ = "" if words.startswith("could") else "is " if len(lost) == 1 else "are "
            what = f"{noun} {is_}{words} the baseline ({baseline.name}): {_listed(lost)}"
            yield Exit.INCOMPLETE, what


def _waivers(waivers: Sequence[WaiverResult]) -> Iterator[tuple[Exit, str]]:
    remove = [each.name for each in waivers if each.state is WaiverState.SUPERFLUOUS]
    if remove:
        what = "1 waiver" if len(remove) == 1 else f"{len(remove)} waivers"
        yield Exit.USAGE, f"{what} to remove (no longer needed): {_listed(remove)}"
    lapsed = [
        each.name for each in waivers if each.invalid and each.state is not WaiverState.SUPERFLUOUS
    ]
    if lapsed:
        what = "1 waiver has" if len(lapsed) == 1 else f"{len(lapsed)} waivers have"
        yield Exit.USAGE, f"{what} expired: {_listed(lapsed)}"


def _incomplete(facts: RunFacts, policy: ExitPolicy) -> Iterator[tuple[Exit, str]]:
    owed, tested = facts.having(*OWED), facts.having(*TESTED)
    if facts.stopped:
        yield Exit.INCOMPLETE, "the run ended early"
    if not tested and not facts.part:
        yield Exit.INCOMPLETE, "nothing was verified"
    elif policy.baseline is None and not policy.allow_incomplete:
        open_musts = [name for name in facts.having(*OPEN) if name in facts.musts]
        if open_musts:
            noun = "1 `must` obligation" if len(open_musts) == 1 else f"{len(open_musts):,} `must`"
            noun += "" if len(open_musts) == 1 else " obligations"
            yield Exit.INCOMPLETE, f"{noun} could not be verified"
    floor = policy.min_verified
    if floor is not None and not floor.met(len(tested), len(owed)):
        seen = f"{len(tested):,} of {len(owed):,} obligations were verified"
        yield Exit.INCOMPLETE, f"{seen}, fewer than --min-verified {floor}"


def _passed(facts: RunFacts, policy: ExitPolicy) -> str:
    counts = Counter(facts.verdicts.values())
    accepted = [f"{counts[Standing.WAIVED]:,} waived"] if counts[Standing.WAIVED] else []
    if policy.baseline is None:
        open_ = sum(counts[standing] for standing in OPEN)
        accepted += [f"{open_:,} not verified"] if open_ else []
        known = f" ({', '.join(accepted)})" if accepted else ""
        return f"no violation{known}"
    violated = counts[Standing.VIOLATES]
    accepted += [f"{violated:,} already violated there"] if violated else []
    besides = f" ({', '.join(accepted)})" if accepted else ""
    return f"nothing is worse than in the baseline ({policy.baseline.name}){besides}"


def _number(names: Collection[str]) -> str:
    return "1 obligation is" if len(names) == 1 else f"{len(names):,} obligations are"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")
