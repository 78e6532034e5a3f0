"""Findings of a random search, as values and as text for a failed test."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from assay.contexts.context import Context, label
from assay.fuzzing.sequences.abstract_step import AbstractSequence
from assay.fuzzing.sequences.step_codec import encode_step
from assay.history import Exchange
from assay.judging.judge import Breach
from assay.planning.plan import Plan
from assay.running.parallel_trials import RecordedRun


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A search to run: a contract, the way of searching, and how many `times`.

    This is the number of cases, or the strength of lives.
    `operation` restricts a search by schemas to one operation.
    """

    contract: str
    how: str
    times: int
    operation: str = ""


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

    `context` are the values of dimensions that the violation takes. `seconds` is the time from
    the start of the search until it was found and shortened, `after` the number of sequences
    run by then. `seen` is the run of the sequence that showed it.
    """

    obligation: str
    breach: Breach
    sequence: AbstractSequence
    context: Context = ()
    seconds: float
    after: int
    seen: RecordedRun = field(default_factory=RecordedRun, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A remark on an answer, by the exported document alone.

    `at` is the path into the schema of the answer, to the keyword that failed; empty
    where the remark is not about the schema.
    """

    check: str
    says: str
    at: tuple[str, ...] = ()

    def alike(self, remark: Remark) -> bool:
        """Whether another remark is about the same, whatever value was seen."""
        return (self.check, self.at) == (remark.check, remark.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFinding:
    """An answer that the exported document does not allow, and the sequence that shows it.

    It violates no obligation by itself, for the document is Assay's own. `clauses` are those
    that the document names for it, `n` is the number of its exchange, `case` what set its
    request apart. `judge` returns the remarks on the answer of another exchange.
    """

    operation: str
    clauses: tuple[str, ...]
    remark: Remark
    case: str
    n: int
    sequence: AbstractSequence
    context: Context
    judge: Callable[[Exchange], tuple[Remark, ...]]

    def again(self, exchange: Exchange) -> Remark | None:
        """Return the same remark on another exchange, if there is one."""
        return next((each for each in self.judge(exchange) if each.alike(self.remark)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What a search has reached: pairs of dimension values, and states of operations.

    `possible` is the number of pairs that the target can show, `asked` that of the sequences that
    the search might run. If it stopped early, the last `quiet` sequences reached nothing new.
    """

    asked: int = 0
    pairs: int = 0
    possible: int = 0
    states: int = 0
    quiet: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The result of a search. `exchanges` includes those made for shortening.

    `documented` are the answers that the exported document does not allow, which violate no
    obligation by themselves. `notes` say in a sentence what was not searched, and why.
    """

    findings: tuple[FuzzFinding, ...]
    sequences: int
    exchanges: int
    seconds: float
    documented: tuple[DocumentFinding, ...] = ()
    notes: tuple[str, ...] = ()
    reached: Reached = Reached()


def situation(context: Context) -> str:
    """Return a context as the end of a sentence; empty for the base context."""
    return f", {label(context)}" if context else ""


def describe_findings(result: SearchResult) -> str:
    """Describe each violation and its sequence, step by step, and then other findings."""
    findings = [
        *("\n".join(_lines(finding)) for finding in result.findings),
        *("\n".join(_document_lines(finding)) for finding in result.documented),
    ]
    return "\n\n".join(findings)


def _lines(finding: FuzzFinding) -> Iterator[str]:
    evidence = finding.breach.evidence
    yield f"{finding.obligation} violates, after {finding.after} sequences:"
    yield f"  expected {evidence.expected}"
    yield f"  seen     {evidence.seen}"
    yield from _step_lines(finding.sequence, finding.context)


def _document_lines(finding: DocumentFinding) -> Iterator[str]:
    names = ", ".join(finding.clauses) or "no clause"
    yield f"{finding.operation}: an answer that the exported document does not allow ({names}):"
    yield f"  seen     {finding.remark.says}"
    yield f"  by       {finding.case}"
    yield from _step_lines(finding.sequence, finding.context)


def _step_lines(sequence: AbstractSequence, context: Context) -> Iterator[str]:
    yield f"  in a sequence of {len(sequence)} steps{situation(context)}:"
    for place, abstract_step in enumerate(sequence, 1):
        yield f"  {place:>4}  {json.dumps(encode_step(abstract_step), ensure_ascii=False)}"
