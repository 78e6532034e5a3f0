"""Record of an examination: the target file, every answer received, and the findings."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Any, cast

from assay.binding.model.pointer import MISSING, ItemInBody, find, lists
from assay.binding.model.submission import SUBMISSION, SUBMITTED
from assay.binding.model.target import OperationBinding, Target, TransportKind
from assay.binding.wire.decode import body_of
from assay.binding.wire.encode import BARE
from assay.contract.model import Contract, Json, Operation
from assay.errors import Hint, Problem
from assay.files.document import Pointer, spell
from assay.files.edits import Edit
from assay.fixtures.protocol import Fixture
from assay.history import (
    AnsweredCall,
    Authorised,
    Effects,
    Event,
    Exchange,
    History,
    Subject,
    Submitted,
    Wire,
)
from assay.journal.redact import Redactor
from assay.onboarding.doctor.probes import PRESENCE, RULE
from assay.preparation.prepare import Prepared
from assay.report.sanitize import clean
from assay.rules.rule import Kind, clauses_of
from assay.rules.verdict import Agreement, Evidence
from assay.running.environment import Environment

#: How much of a text from the target is quoted, in characters.
MOST = 160


class Weight(Enum):
    """How certain a finding is; the value is the word for it in the output."""

    #: The file, this machine, the test side or the credentials are wrong, whatever the bank does.
    FAULT = "fault"
    #: Either the target file is wrong or the target behaves unusually: a question. All that only
    #: the answers of a bank show is one, since another bank may answer so and be right.
    DOUBT = "doubt"
    UNSEEN = "not seen"
    #: Nothing is wrong, but it deserves a look: a line marked as a guess.
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One problem at one place: what was expected, what was found, and a hint.

    `line` counts from 1; 0 means the whole file. `key` is the dotted name of the place. A key
    that the file inherits is reported at its line with `extends`; `inherited` is the place itself.
    `expected` is empty where `found` is a complete statement. `confirmation` is the name under
    `confirmed` with which the file says that a doubt is intended. `edit` is the change of the file
    that the hint proposes, where it is one, and `answer` what it was read from, masked.
    """

    weight: Weight
    path: str
    line: int
    key: str
    inherited: str = ""
    expected: str
    found: str
    hint: str = ""
    confirmation: str = ""
    edit: Edit | None = None
    answer: str = ""

    @property
    def blocking(self) -> bool:
        """Whether it would make the verdicts of a run wrong, and so must be fixed first."""
        return self.weight in {Weight.FAULT, Weight.DOUBT}

    @property
    def problem(self) -> Problem:
        """The finding in the form in which all commands report a problem in a file."""
        inherited = f" (inherited from {self.inherited})" if self.inherited else ""
        key = f"{self.key}{inherited}: " if self.key else ""
        asked = "; is this intended?" if self.weight is Weight.DOUBT else ""
        expected = f"expected {self.expected}, found " if self.expected else ""
        what = f"{key}{expected}{self.found}{asked}"
        return Problem(path=self.path, line=self.line, what=what, hint=self.hint, key=self.key)

    def __str__(self) -> str:
        return str(self.problem)


def from_problem(problem: Problem) -> Finding:
    """Return a problem that another part of Assay reported, as a finding."""
    meant = problem.hint.meant if isinstance(problem.hint, Hint) and problem.at else None
    return Finding(
        weight=Weight.FAULT,
        path=problem.path,
        line=problem.line,
        key=problem.key,
        expected="",
        found=one_line(problem.statement),
        hint=problem.hint,
        edit=Edit(at=problem.at, old=meant[0], new=meant[1], certain=True) if meant else None,
    )


def one_line(text: str) -> str:
    """Return a text from the target, cut to a bound, without control characters, in one line."""
    return " ".join(clean(text, 3 * MOST).split())


def by_key(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the first finding of each key."""
    keys: set[str] = set()
    for finding in findings:
        if finding.key not in keys:
            keys.add(finding.key)
            yield finding


#: HTTP statuses of success.
GOOD = range(200, 300)
#: How many items of an answer are examined.
MOST_ITEMS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenAnswer(Exchange):
    """One answer; `part` is the key of its binding below that of the operation, if any."""

    probe: str
    operation: Operation
    binding: OperationBinding
    body: Json
    part: str = ""

    @property
    def status(self) -> int:
        """The HTTP status; 0 if there was no answer."""
        return self.wire.status

    @property
    def good(self) -> bool:
        """Whether the HTTP status means success, independently of the target file."""
        return self.status in GOOD

    @property
    def ordinary(self) -> bool:
        """Whether the call is plain: the first page, the main path, the customer present."""
        call = self.call
        return call.present and call.follow is None and call.alias is None and not call.variation

    @property
    def subject(self) -> str:
        """The name of the probe's customer, which no other probe has."""
        return f"{self.probe} {self.call.subject}"

    @property
    def about(self) -> str:
        """The item that the call is about, empty if it is about none."""
        return str(self.call.arguments.get(self.operation.about or "", ""))

    def place(self, *key: str | int) -> Pointer:
        """Return a key of the operation in the target file."""
        return ("operations", self.operation.id, *filter(None, (self.part,)), *key)

    @property
    def raw_items(self) -> tuple[Mapping[str, Json], ...]:
        """The items as they were sent, as far as the target file points at them."""
        if self.binding.one is not None:
            items: list[Json] = [find(self.body, self.binding.one)]
        else:
            found_lists = (lists(self.body, pointer) for pointer in self.binding.list)
            items = [item for each in found_lists for item in each or ()]
        objects = [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]
        return tuple(ItemInBody(item, self.body) for item in objects[:MOST_ITEMS])


@dataclass(slots=True, kw_only=True)
class Examined:
    """What an examination has seen so far: the target file, the answers and the findings.

    `makes_customers` says that new customers are created for every probe, so that no real
    customer's accesses are spent. `ahead` is how far the target's clock is ahead of ours,
    if an answer had a date. `role_of` maps a subject of the probes to the listed customer
    that stood for it. `counted` is whether calls without the customer are limited. In a `quick`
    examination, three calls are made. `concurrency` is how many trials at a time a run after it was
    asked for. `page` is the first screen of the first request, where no signer is known. `untouched` is a world in which nothing moves the clock,
    `untouched_at` the time that it showed before the calls.
    """

    target_name: str | None
    contracts: tuple[str, ...] = ()
    prepared: Prepared | None = None
    ledger: Path | None = None
    environment: Environment | None = None
    makes_customers: bool = False
    counted: bool = False
    quick: bool = False
    concurrency: int | None = None
    ahead: timedelta | None = None
    answers: list[SeenAnswer] = field(default_factory=list[SeenAnswer])
    submissions: list[SeenAnswer] = field(default_factory=list[SeenAnswer])
    role_of: dict[str, str] = field(default_factory=dict[str, str])
    subjects: dict[str, Subject] = field(default_factory=dict[str, Subject])
    signed: list[tuple[Authorised, Wire]] = field(default_factory=list[tuple[Authorised, Wire]])
    events: defaultdict[str, list[Event]] = field(default_factory=lambda: defaultdict(list))
    page: Wire | None = None
    effects: list[Effects] = field(default_factory=list[Effects])
    reported: list[Finding] = field(default_factory=list[Finding])
    untouched: Fixture | None = None
    untouched_at: datetime | None = None
    redactor: Redactor = field(default_factory=Redactor)
    on_call: Callable[[], None] = lambda: None

    @property
    def target(self) -> Target:
        """The target, once its file was read."""
        if self.prepared is None:
            raise TypeError("the target file was not read yet")
        return self.prepared.target

    @property
    def contracts_bound(self) -> tuple[Contract, ...]:
        """The contracts as bound to this target."""
        return tuple(bound.contract for bound in self.prepared.bound) if self.prepared else ()

    @property
    def today(self) -> date:
        """The current date by the clock of this machine."""
        return datetime.now(UTC).date()

    @property
    def networked(self) -> bool:
        """Whether the target is called over a network."""
        return self.target.transport is TransportKind.HTTP

    def note(self, probe: str, contract: Contract, event: Event) -> None:
        """Keep an event of a probe."""
        self.events[probe].append(event)
        match event:
            case Exchange():
                operation = contract.operations[event.call.operation]
                binding, part = self.binding(operation), ""
                # Since a submission, the answers about the request have a binding of their own.
                about = event.call.arguments.get(operation.about or "")
                done = (each.request == about for each in self.submitted(probe) if each.accepted)
                if binding.submitted is not None and any(done):
                    binding, part = binding.submitted, SUBMITTED
                self.answers.append(_seen(probe, operation, binding, event, part))
            case Submitted():
                operation = contract.operations[event.call.operation]
                if (submission := self.binding(operation).submission) is not None:
                    self.submissions.append(_seen(probe, operation, submission, event, SUBMISSION))
            case Subject():
                self.subjects[f"{probe} {event.name}"] = event
            case Effects():
                self.effects.append(event)
            case _:
                pass

    def binding(self, operation: Operation) -> OperationBinding:
        """Return the binding of an operation."""
        return self.target.operations.get(operation.id, BARE)

    def submitted(self, probe: str) -> tuple[Submitted, ...]:
        """Return the submissions of a probe."""
        return tuple(event for event in self.events[probe] if isinstance(event, Submitted))

    @property
    def submitting(self) -> Iterator[Operation]:
        """The operations that were called whose requests are submitted."""
        yield from (each for each in self.operations if self.binding(each).submission is not None)

    @property
    def rules(self) -> Iterator[tuple[Contract, str, Kind]]:
        """The clauses of all contracts: each with its contract and its name, parsed."""
        for contract in self.contracts_bound:
            kinds = zip(contract.clauses, clauses_of(contract), strict=True)
            yield from ((contract, clause.id, kind) for clause, kind in kinds)

    def history(self, contract: Contract, clause: str, facet: str) -> History:
        """Return what the probe of a facet has seen."""
        return History(events=tuple(self.events.get(rule_probe(contract, clause, facet), ())))

    def violations(
        self, contract: Contract, clause: str, kind: Kind, facet: str
    ) -> Sequence[Evidence]:
        """Return the evidence against a facet that its own probe shows."""
        history = self.history(contract, clause, facet)
        evidence = kind.check(history) if history.events else ()
        wrong = (each for each in evidence if each.agreement is Agreement.DISAGREES)
        return [each for each in wrong if each.facet == facet]

    def of(self, operation: str) -> tuple[SeenAnswer, ...]:
        """Return the answers of an operation, except those of the presence probe."""
        answers = (answer for answer in self.answers if answer.operation.id == operation)
        return tuple(answer for answer in answers if not answer.probe.endswith(PRESENCE))

    @property
    def presences(self) -> tuple[SeenAnswer, ...]:
        """The answers of the presence probe, which uses up calls without the customer."""
        return tuple(answer for answer in self.answers if answer.probe.endswith(PRESENCE))

    def plain(self, *operations: str) -> tuple[SeenAnswer, ...]:
        """Return the answers to plain first calls of operations."""
        answers = (answer for operation in operations for answer in self.of(operation))
        return tuple(each for each in answers if each.ordinary and f" {RULE} " not in each.probe)

    def first(self, operation: str) -> SeenAnswer | None:
        """Return the answer to the first plain call of an operation, if there was one."""
        return next(iter(self.plain(operation)), None)

    def varied(self, *variations: str) -> tuple[SeenAnswer, ...]:
        """Return the answers to calls with any of some variations."""
        return tuple(each for each in self.answers if each.call.variation in variations)

    @property
    def grants(self) -> tuple[SeenAnswer, ...]:
        """The answers to the calls that transmitted a consent."""
        granting = (
            operation.id
            for operation in self.operations
            if operation.grants and operation.available
        )
        return self.plain(*granting)

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations that were called, in the order of the contracts."""
        called = {answer.operation.id for answer in self.answers}
        operations = (
            operation
            for contract in self.contracts_bound
            for operation in contract.operations.values()
        )
        return tuple(operation for operation in operations if operation.id in called)

    def contract_of(self, operation: Operation) -> Contract:
        """Return the contract of an operation."""
        bound = self.contracts_bound
        return next(each for each in bound if each.operations.get(operation.id) is operation)

    def not_offered(self, operation: Operation) -> str:
        """Return why an operation is not offered, if the file says so of a rule about it."""
        ends = bool(operation.changes or operation.ends)
        for _, clause, kind in self.rules:
            reason = self.target.not_offered.get(clause)
            named = _named(kind) if ends else {getattr(getattr(kind, "operation", None), "id", "")}
            if reason and (ends or kind.name == "available") and operation.id in named:
                return reason
        return ""

    def refusal(self, answer: SeenAnswer, *, of: str = "") -> str:
        """Return the status of an answer, with the operation and the beginning of its body."""
        excerpt = self.excerpt(answer)
        status = f"{answer.status} from {of}" if of else str(answer.status)
        return f"{status}: {excerpt}" if excerpt else status

    def refused_mode(self, answer: SeenAnswer, consequence: str) -> Finding:
        """Doubt a mode in which a request was refused; `consequence` is that of removing it."""
        mode = answer.call.mode or ""
        expected = f"a request in the mode {mode} to be accepted, as without it"
        hint = f"if the bank does not offer the mode, remove it; {consequence}"
        return self.finding(answer.place("modes", mode), expected, self.refusal(answer), hint)

    def excerpt(self, answer: SeenAnswer) -> str:
        """Return the beginning of a body, redacted, its single values first: they say why."""
        if answer.body is MISSING:
            return ""
        content = answer.wire.body
        if isinstance(answer.body, dict):
            nested = {
                name: value for name, value in answer.body.items() if isinstance(value, dict | list)
            }
            single = {name: value for name, value in answer.body.items() if name not in nested}
            if single and nested:
                content = json.dumps({**single, **nested}, ensure_ascii=False).encode()
        return self.redactor.body(content)[0][:120]

    def unavailable(self, pointer: Pointer, expected: str) -> Finding:
        """Return that a target answered with 503, which says nothing of the target file."""
        hint = "the bank may be under maintenance; try again later"
        return self.finding(pointer, expected, "503", hint, weight=Weight.UNSEEN)

    def finding(
        self,
        pointer: Pointer,
        expected: str,
        found: str,
        hint: str = "",
        *,
        weight: Weight = Weight.DOUBT,
        edit: Edit | None = None,
    ) -> Finding:
        """Return a finding at a key of the target file, or at its nearest parent that exists."""
        path, line = self.target.place(*pointer)
        document, inherited = self.target.document, ""
        if document is not None and path != document.path:
            own, extends = document.place(("extends",))
            if own == document.path:
                path, line, inherited = own, extends, f"{path}:{line}"
        return Finding(
            weight=weight,
            path=path,
            line=line,
            inherited=inherited,
            key=spell(pointer),
            expected=expected,
            found=one_line(self.redactor.link(found)),
            hint=one_line(self.redactor.link(hint)),
            edit=edit,
        )


def rule_probe(contract: Contract, clause: str, facet: str = "") -> str:
    """Return the name of the probe of a facet of a rule, or what those of the rule begin with."""
    return f"{contract.id} {RULE} {clause} {facet}"


def _seen(
    probe: str, operation: Operation, binding: OperationBinding, event: AnsweredCall, part: str
) -> SeenAnswer:
    return SeenAnswer(
        n=event.n,
        at=event.at,
        call=event.call,
        outcome=event.outcome,
        wire=event.wire,
        ms=event.ms,
        confounded=event.confounded,
        probe=probe,
        operation=operation,
        binding=binding,
        body=body_of(event.wire),
        part=part,
    )


def _named(kind: Kind) -> frozenset[str]:
    """Return the operations that a clause itself names, or that its facets require."""
    values = (getattr(kind, each.name) for each in fields(kind))
    required = (need.operation for facet in kind.facets() for need in facet.requires)
    return frozenset((*required, *(each.id for each in values if isinstance(each, Operation))))
