"""Values of a report, from which every format is rendered.

They are frozen and clean: `decode` removes control characters and bounds every text, so a format
only escapes for its own syntax. Nothing here reads a file or knows a format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import TypeAlias

from assay.contract.model import OPENAPI, BankAnswer, NotRequirement, OpenPoint, Source
from assay.journal.lines import Line
from assay.judging.waivers import WaiverResult
from assay.report.timeline import Timeline
from assay.rules.obligation import UNSPECIFIED
from assay.rules.verdict import Agreement, Evidence, Standing

Headers = tuple[tuple[str, str], ...]
#: The title of a section of the document, and numbers of its lines.
SectionLines: TypeAlias = tuple[str, tuple[int, ...]]

#: Evidence kept per verdict, and exchanges kept of those that it cites.
KEPT = 10

#: The kinds of search, and the noun for their cases: singular and plural.
WAYS: Mapping[str, tuple[str, str]] = {
    "lives": ("life", "lives"),
    "journeys": ("random sequence", "random sequences"),
    "fields": ("field variation", "field variations"),
    "schema": ("schema case", "schema cases"),
}

#: The transport of a target without an address in the network.
EMBEDDED = "embedded"

#: Why an obligation of an unfinished run has no verdict of its own.
ENDED = "the run ended before this obligation was tested"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractOutline:
    """What a contract says of the lines of its document besides its rules and open points.

    `sections` are the title and the lines of each section, `cited` those lines that a clause or an
    open point of the contract names, whether or not it was part of the run. The statements of
    `scope` say who is covered; they are not tested.
    """

    contract: str
    document: str = ""
    sections: tuple[SectionLines, ...]
    cited: tuple[SectionLines, ...] = ()
    not_requirements: tuple[NotRequirement, ...] = ()
    scope: tuple[OpenPoint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractRef:
    """The contract of a run: its version and digest."""

    id: str
    title: str = ""
    version: str = ""
    digest: str = ""
    path: str = ""
    document: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRef:
    """The target of a run, without secrets."""

    name: str = ""
    transport: str = ""
    base_url: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line of a journal: tool, contracts, target and options of the run.

    `party` is the judged party: `bank` or `tpp`. `shard` is the part of a plan that was run, such
    as `2/5`, and `division` identifies the division of that plan; both are empty for a whole plan.
    `environment` is `sandbox` or `live`, `not_offered` the clauses that the target need not offer,
    `absent` the reasons for which parts of a contract are not there.
    """

    tool: str
    version: str = ""
    started: str = ""
    seed: int = 0
    contracts: tuple[ContractRef, ...]
    target: TargetRef
    selection: Mapping[str, str] = field(default_factory=dict[str, str])
    command: str = ""
    party: str = "bank"
    shard: str = ""
    division: str = ""
    environment: str = ""
    not_offered: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    outlines: tuple[ContractOutline, ...] = ()

    @property
    def chosen(self) -> dict[str, str]:
        """The options of the selection that were given, `k` and `m`."""
        return {option: text for option, text in self.selection.items() if text}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedObligation:
    """One obligation as planned before the first call.

    `says` is the sentence of the clause, `asks` that of the facet; `line` is the line in
    the contract file. `parameters` is a digest of those of the clause. `disposition` and `reason`
    are what the plan decided. `decision` is the bank's answer from which it follows, or by which
    an open point is answered.
    """

    id: str
    contract: str
    clause: str
    facet: str = ""
    kind: str
    level: str = ""
    says: str
    asks: str = ""
    sources: tuple[Source, ...] = ()
    line: int = 0
    needs: tuple[str, ...] = ()
    parameters: str = ""
    calls: int = 0
    trial: str = ""
    disposition: str
    reason: str = ""
    decision: BankAnswer | None = None

    @property
    def of_bank_document(self) -> bool:
        """Whether it follows from the bank's own OpenAPI document, not from the source document."""
        decision = self.decision
        return decision is not None and decision.point == OPENAPI and self.kind != UNSPECIFIED


@dataclass(frozen=True, slots=True, kw_only=True)
class ElsewhereObligation:
    """An obligation of another shard, with its place in the whole plan; `violated` by this one."""

    planned: PlannedObligation
    position: int
    shard: int
    violated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRequest:
    """A request, redacted."""

    method: str
    url: str
    headers: Headers = ()
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedResponse:
    """A response, redacted; `status` 0 means that there was none."""

    status: int = 0
    headers: Headers = ()
    body: str = ""
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedExchange:
    """One numbered call of a trial and its answer; `at` is the target's clock."""

    trial: str
    n: int
    at: str = ""
    operation: str = ""
    subject: str = ""
    present: bool = False
    variation: str = ""
    request: ReportedRequest
    response: ReportedResponse
    outcome: str
    why: str
    ms: float = 0.0


class EvidenceRole(Enum):
    """What an exchange is for an observation; the value is the word in reports."""

    DECISIVE = "shows it"
    CONTROL = "control"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedResult:
    """One obligation and its verdict.

    `evidence` is bounded, `observations` counts all of it. `exchanges` are those that the
    evidence cites, the most telling first; of a conforming obligation, only if asked for. `trial`
    is set if it is not the planned one, as when only a search found the violation; `timeline` is
    that of the trial. `controls` are the like calls accepted without a variation, by the number of
    the varied exchange; no evidence need cite them. `resend` is the command that sends the decisive
    request again, where a target in the network got it. `waiver` says that its waiver has expired.
    """

    planned: PlannedObligation
    standing: Standing
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    observations: int = 0
    calls: int = 0
    reproduce: str = ""
    trial: str = ""
    exchanges: tuple[ReportedExchange, ...] = ()
    controls: Mapping[int, ReportedExchange] = field(default_factory=dict[int, ReportedExchange])
    timeline: Timeline = ()
    resend: str = ""
    waiver: str = ""

    @property
    def cites(self) -> tuple[int, ...]:
        """Return the numbers of the exchanges to show, each once: controls last, the first few."""
        controls = {n for item in self.evidence for n in item.controls}
        numbers = dict.fromkeys(n for item in self.evidence for n in item.in_reading_order)
        return tuple(sorted(numbers, key=lambda n: n in controls))[:KEPT]

    @property
    def shown_by(self) -> str:
        """Return the trial with the exchanges that the evidence cites."""
        return self.trial or self.planned.trial

    @property
    def findings(self) -> tuple[Evidence, ...]:
        """Return the observations that contradict the contract, or are inconclusive."""
        return tuple(item for item in self.evidence if item.agreement is not Agreement.AGREES)

    @property
    def further_reason(self) -> str:
        """Return the reason, unless the findings say it already."""
        # Only the reason says that another trial than the planned one showed it.
        return self.reason if self.trial or not self.findings else ""

    @property
    def circumstance(self) -> str:
        """Return what the reason says beside the first finding: the only context that shows it."""
        first = self.findings[0] if self.findings else None
        found = f": expected {first.expected}; {first.seen}" if first else ""
        reason = self.further_reason
        return reason.removesuffix(found) if found and reason.endswith(found) else ""

    @property
    def missing(self) -> tuple[int, ...]:
        """Return the exchanges that the evidence cites and the journal does not have."""
        recorded = {exchange.n for exchange in self.exchanges}
        return tuple(n for n in self.cites if n not in recorded)

    @property
    def roles(self) -> Mapping[int, EvidenceRole]:
        """Return the role of each exchange that has one, by its number."""
        by_number: dict[int, EvidenceRole] = {}
        for item in self.findings or self.evidence:
            by_number |= {n: EvidenceRole.CONTROL for n in item.controls if n not in by_number}
            by_number |= dict.fromkeys(item.in_reading_order[:1], EvidenceRole.DECISIVE)
        return by_number


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSequence:
    """An obligation that a search found violated, and the shortest sequence that violates it.

    `sequence` is the path of its file from the folder of the journal; empty if there is none.
    """

    obligation: str
    steps: int
    sequence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedAnswer:
    """An answer that the exported document does not allow, though no obligation is violated.

    `clauses` are those that the document names for it, `case` what set its request apart.
    `exchange` is its number in its trial, and `exchanges` has it, if the journal does.
    """

    operation: str
    clauses: tuple[str, ...] = ()
    says: str
    case: str
    trial: str = ""
    exchange: int = 0
    exchanges: tuple[ReportedExchange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedSearch:
    """One search through one contract, and its findings.

    `how` is one of `WAYS`, and `made` counts its cases. `exchanges` counts their calls,
    which the journal does not contain. `operation` is set where only one was searched.
    `notes` say what was not searched, and why. Of `asked` sequences, the search reached `pairs`
    of the `possible` pairs of dimension values, and `states` of operations. If it stopped early,
    the last `quiet` sequences reached nothing new.
    """

    contract: str
    how: str
    made: int
    exchanges: int
    seconds: float
    seed: int
    findings: tuple[FoundSequence, ...]
    operation: str = ""
    documented: tuple[DocumentedAnswer, ...] = ()
    notes: tuple[str, ...] = ()
    asked: int = 0
    pairs: int = 0
    possible: int = 0
    states: int = 0
    quiet: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A failure of the harness itself, which is no finding about the target."""

    where: str = ""
    what: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedTrial:
    """A trial in a further context that ended early, so that the context was not tested whole."""

    trial: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """The closing line of a journal; without it the run is unfinished.

    `reasons` say why it has this exit code.
    """

    finished: str = ""
    planned: int
    counts: Mapping[str, int]
    exchanges: int = 0
    faults: int = 0
    exit: int
    digest: str
    aborted: str = ""
    reasons: tuple[str, ...] = ()


_NO_LINE = Line(path="", number=0, values={})


@dataclass(slots=True, kw_only=True)
class RecordedLines:
    """The lines of a journal that its report is read from, as they are written; no events.

    `written` has the last verdict on each obligation, preliminary or not, and `elsewhere` the plan
    of other shards, by obligation. An unfinished journal has an empty `footer`.
    """

    header: Line = _NO_LINE
    plan: dict[str, Line] = field(default_factory=dict[str, Line])
    elsewhere: dict[str, Line] = field(default_factory=dict[str, Line])
    written: dict[str, Line] = field(default_factory=dict[str, Line])
    observations: Line | None = None
    footer: Line = _NO_LINE


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedPoint:
    """An open point that this bank answers: its decision, and the results that follow from it.

    `points` is the open point in each contract that has it in the same words.
    """

    statement: str
    decision: BankAnswer
    points: tuple[ReportedResult, ...]
    results: tuple[ReportedResult, ...]

    @property
    def kept(self) -> bool | None:
        """Whether the bank does what it says; None while nothing shows that."""
        standings = {each.standing for each in self.results}
        if Standing.VIOLATES in standings:
            return False
        return True if Standing.CONFORMS in standings else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A run, read and checked; `results` are in plan order.

    `complete` is false only for a journal that was read with `partial`: its run ended
    early, and `footer` may be missing. `journal` is the path of the journal.
    """

    header: Header
    results: tuple[ReportedResult, ...]
    faults: tuple[Fault, ...]
    footer: Footer | None
    complete: bool
    searches: tuple[ReportedSearch, ...] = ()
    unfinished: tuple[UnfinishedTrial, ...] = ()
    elsewhere: tuple[ElsewhereObligation, ...] = ()
    journal: str = ""
    waivers: tuple[WaiverResult, ...] = ()
    lines: RecordedLines = field(default_factory=RecordedLines, compare=False, repr=False)

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of obligations of each verdict, all seven in a fixed order."""
        seen = Counter(result.standing for result in self.results)
        return {standing.value: seen[standing] for standing in Standing}

    @property
    def verdicts(self) -> dict[str, Standing]:
        """The verdict on each obligation."""
        return {result.planned.id: result.standing for result in self.results}

    @property
    def exchanges(self) -> int:
        """How many exchanges the run had, if it has ended."""
        return self.footer.exchanges if self.footer else 0

    @property
    def bare_results(self) -> tuple[ReportedResult, ...]:
        """The verdicts without what shows them, for where those of many runs are kept."""
        return tuple(
            replace(
                each,
                reason="" if each.standing is Standing.CONFORMS else each.reason,
                evidence=(),
                exchanges=(),
                controls={},
                timeline=(),
            )
            for each in self.results
        )

    @property
    def label(self) -> str:
        """Its path and its beginning, to the second."""
        started = self.header.started.partition(".")[0].rstrip("Z")
        return ", ".join(filter(None, (self.journal, started)))

    @property
    def seconds(self) -> float | None:
        """Return how long the run took, or None if the journal does not say."""
        if self.footer is None:
            return None
        try:
            started = datetime.fromisoformat(self.header.started)
            took = datetime.fromisoformat(self.footer.finished) - started
        except (ValueError, TypeError):
            return None
        return max(took.total_seconds(), 0.0)

    @property
    def open_questions(self) -> Mapping[str, tuple[ReportedResult, ...]]:
        """The open points; what several contracts say in the same words is one question."""
        questions: dict[str, tuple[ReportedResult, ...]] = {}
        for result in self.of(Standing.UNSPECIFIED):
            questions[result.planned.says] = (*questions.get(result.planned.says, ()), result)
        return questions

    @property
    def decided(self) -> tuple[DecidedPoint, ...]:
        """The open points that the bank answers."""
        return tuple(
            DecidedPoint(
                statement=statement,
                decision=decision,
                points=points,
                results=tuple(
                    each
                    for each in self.results
                    if each.planned.decision == decision
                    and each.standing is not Standing.UNSPECIFIED
                ),
            )
            for statement, points in self.open_questions.items()
            if (decision := next((p.planned.decision for p in points if p.planned.decision), None))
        )

    @property
    def strays(self) -> tuple[FoundSequence, ...]:
        """Return the violations found of obligations that were not planned."""
        planned = {result.planned.id for result in self.results}
        findings = (finding for search in self.searches for finding in search.findings)
        return tuple(finding for finding in findings if finding.obligation not in planned)

    @property
    def documented(self) -> tuple[DocumentedAnswer, ...]:
        """Return the answers that the exported document does not allow."""
        return tuple(answer for search in self.searches for answer in search.documented)

    def of(self, *standings: Standing) -> tuple[ReportedResult, ...]:
        """Return the results with one of these verdicts, in plan order."""
        return tuple(result for result in self.results if result.standing in standings)

    def searches_of(self, contract: str) -> tuple[ReportedSearch, ...]:
        """Return the searches through the contract with this id."""
        return tuple(search for search in self.searches if search.contract == contract)

    def contract(self, name: str) -> ContractRef:
        """Return the contract with this id, without details if the header does not have it."""
        return {each.id: each for each in self.header.contracts}.get(name, ContractRef(id=name))
