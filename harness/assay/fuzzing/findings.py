"""Findings of a random search, as values and as text for a failed test."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.fuzzing.sequences.abstract_step import AbstractSequence
from assay.fuzzing.sequences.step_codec import encode_step
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
    """A violated obligation, and the shortest sequence found that violates it.

    `seconds` is the time from the start of the search until it was found and shortened,
    `after` the number of sequences run by then.
    """

    obligation: str
    breach: Breach
    sequence: AbstractSequence
    seconds: float
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The result of a search. `exchanges` includes those made for shortening."""

    findings: tuple[FuzzFinding, ...]
    sequences: int
    exchanges: int
    seconds: float


def describe_findings(result: SearchResult) -> str:
    """Describe each violation and its sequence, step by step."""
    return "\n\n".join("\n".join(_lines(finding)) for finding in result.findings)


def _lines(finding: FuzzFinding) -> Iterator[str]:
    evidence = finding.breach.evidence
    yield f"{finding.obligation} violates, after {finding.after} sequences:"
    yield f"  expected {evidence.expected}"
    yield f"  seen     {evidence.seen}"
    yield f"  in a sequence of {len(finding.sequence)} steps:"
    for place, abstract_step in enumerate(finding.sequence, 1):
        yield f"  {place:>4}  {json.dumps(encode_step(abstract_step), ensure_ascii=False)}"
