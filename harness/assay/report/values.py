"""Values of a report, from which every view is made.

Frozen and already clean: `decode` removes control characters and bounds every text, so a view only
escapes for its own syntax. Nothing here reads a file or knows a format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from assay.contract.model import Source
from assay.judging.verdict import Evidence, Standing

Headers = tuple[tuple[str, str], ...]

#: Evidence kept per verdict, and exchanges kept of those that it cites.
KEPT = 10

#: The ways of searching, and the noun for their cases: singular and plural.
WAYS: Mapping[str, tuple[str, str]] = {
    "journeys": ("random sequence", "random sequences"),
    "fields": ("field variation", "field variations"),
    "schema": ("schema case", "schema cases"),
}

#: Why an obligation of an unfinished run has no verdict of its own.
ENDED = "the run ended before this obligation was tested"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractRef:
    """Which contract was asked, exactly."""

    id: str
    title: str = ""
    version: str = ""
    digest: str = ""
    path: str = ""
    document: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRef:
    """Which target was asked; never how its secrets look."""

    name: str = ""
    transport: str = ""
    base_url: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line of a journal: who asked whom, about what, when.

    `party` is the judged side: `bank` or `tpp`.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedObligation:
    """One obligation as planned before the first call.

    `says` is the clause's sentence, `asks` the facet's; `line` is its line in
    the contract file; `disposition` and `reason` are what the plan decided.
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
    calls: int = 0
    trial: str = ""
    disposition: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRequest:
    """What was sent, redacted."""

    method: str
    url: str
    headers: Headers = ()
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedResponse:
    """What came back, redacted; `status` 0 means that no answer came."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedResult:
    """One obligation and what became of it.

    `evidence` is kept unless the verdict is `conforms` and is bounded;
    `observations` counts all of it. `exchanges` are those that the evidence
    of a broken or undecided obligation cites; they stand in `trial`, where
    that is another than the planned one, as for what only a search broke.
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

    @property
    def cites(self) -> tuple[int, ...]:
        """Return the numbers of the exchanges to show, each once, the first few."""
        numbers = dict.fromkeys(n for one in self.evidence for n in one.exchanges)
        return tuple(numbers)[:KEPT]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSequence:
    """What a search found broken, and the shortest sequence that breaks it.

    `sequence` is its file, from where the journal lies; empty when none was kept.
    """

    obligation: str
    steps: int
    sequence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedSearch:
    """One way of searching through one contract, and what it came to.

    `how` is one of `WAYS`, and `made` counts what that way makes. `exchanges`
    counts the calls that stand nowhere in the journal.
    """

    contract: str
    how: str
    made: int
    exchanges: int
    seconds: float
    seed: int
    findings: tuple[FoundSequence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The harness itself failed here; this is no finding about the target."""

    where: str = ""
    what: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """The closing line of a journal; without it a run is unfinished."""

    finished: str = ""
    planned: int
    counts: Mapping[str, int]
    exchanges: int = 0
    faults: int = 0
    exit: int
    digest: str
    aborted: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A whole run, read and checked; `results` stand in plan order.

    `complete` is false only for a journal read with `partial`: its run ended
    early, and `footer` may be missing.
    """

    header: Header
    results: tuple[ReportedResult, ...]
    faults: tuple[Fault, ...]
    footer: Footer | None
    complete: bool
    searches: tuple[ReportedSearch, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Return the verdicts by word, all seven in a fixed order."""
        seen = Counter(result.standing for result in self.results)
        return {standing.value: seen[standing] for standing in Standing}

    @property
    def seconds(self) -> float | None:
        """Return how long the run took, or None when the journal cannot tell."""
        if self.footer is None:
            return None
        try:
            started = datetime.fromisoformat(self.header.started)
            took = datetime.fromisoformat(self.footer.finished) - started
        except (ValueError, TypeError):
            return None
        return max(took.total_seconds(), 0.0)

    @property
    def strays(self) -> tuple[FoundSequence, ...]:
        """Return what searches found that no planned obligation is about."""
        planned = {result.planned.id for result in self.results}
        found = (one for search in self.searches for one in search.findings)
        return tuple(one for one in found if one.obligation not in planned)

    def of(self, *standings: Standing) -> tuple[ReportedResult, ...]:
        """Return the results with one of these verdicts, in plan order."""
        return tuple(one for one in self.results if one.standing in standings)

    def searches_of(self, contract: str) -> tuple[ReportedSearch, ...]:
        """Return the searches through the contract with this id."""
        return tuple(one for one in self.searches if one.contract == contract)

    def contract(self, name: str) -> ContractRef:
        """Return the contract with this id; a bare one when the header has none."""
        known = (one for one in self.header.contracts if one.id == name)
        return next(known, ContractRef(id=name))
