"""What a search finds, as values, and in words for whoever reads a failed test.

Not for searching: see `search`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.fuzzing.sequences.shrink import Story
from assay.fuzzing.sequences.step_codec import encode
from assay.judging.judge import Breach
from assay.planning.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A search to run: a contract, the way of searching, and the number of sequences."""

    contract: str
    how: str
    times: int


def requested_searches(plan: Plan, times: Mapping[str, int]) -> tuple[SearchRequest, ...]:
    """Return the searches of each contract that has trials, by the `times` of each way."""
    contracts = dict.fromkeys(trial.contract for trial in plan.trials)
    return tuple(
        SearchRequest(contract=contract, how=how, times=number)
        for contract in contracts
        for how, number in times.items()
        if number
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzFinding:
    """An obligation that is broken, and the shortest story found that breaks it.

    `seconds` is when it was found, shortened and all, since the search began, `after` the
    number of journeys it took.
    """

    obligation: str
    breach: Breach
    story: Story
    seconds: float
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What came of a search. `exchanges` counts those of shortening too."""

    findings: tuple[FuzzFinding, ...]
    journeys: int
    exchanges: int
    seconds: float


def describe_findings(searched: SearchResult) -> str:
    """Say what was broken, and by which stories, step by step."""
    return "\n\n".join("\n".join(_finding(one)) for one in searched.findings)


def _finding(finding: FuzzFinding) -> Iterator[str]:
    evidence = finding.breach.evidence
    yield f"{finding.obligation} violates, after {finding.after} stories:"
    yield f"  expected {evidence.expected}"
    yield f"  seen     {evidence.seen}"
    yield f"  in a story of {len(finding.story)} steps:"
    for place, told in enumerate(finding.story, 1):
        yield f"  {place:>4}  {json.dumps(encode(told), ensure_ascii=False)}"
