"""Writer of the journal, a file of JSON lines that records a run as it happens.

Header, plan, events, verdicts, footer: every report is a view of them. Lines are redacted,
written and flushed one by one, and verdicts when a trial has shown them, so that a run that is
cut short leaves an honest, unfinished journal. Such a journal can be continued, by one run at a time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, cast

from assay import __version__
from assay.binding.model.security import forged
from assay.binding.model.target import Target
from assay.binding.wire.encode import Access
from assay.contract.model import Contract, Json, Source
from assay.errors import JournalError
from assay.history import Accepted, AnsweredCall, Event, Exchange, Subject
from assay.journal.codec import EventEncoder, Record
from assay.journal.journal_file import continue_lines, create
from assay.journal.lines import CHAIN, ChainWriter, encode_line
from assay.journal.redact import Redactor
from assay.journal.redact.masking import ValueMasker
from assay.judging.waivers import WaiverResult, as_record
from assay.planning.plan import Plan, Planned
from assay.rules.kinds.reading.documented import Documented
from assay.rules.verdict import Evidence, Verdict

FORMAT = 1
#: Says in the header of a journal that it has only the exchanges that its evidence quotes.
QUOTED = "quoted"


def _texts(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for member in cast("Mapping[str, Json]", value).values():
                yield from _texts(member)
        case list() | tuple():
            for member in cast("list[Json]", value):
                yield from _texts(member)
        case _:
            pass


@dataclass(slots=True, kw_only=True)
class Journal:
    """An open journal; without `out` nothing is written, for runs whose record is not kept."""

    out: IO[str] | None
    redactor: Redactor = field(default_factory=Redactor)
    _encoder: EventEncoder | None = None
    _digest: Any = field(default_factory=hashlib.sha256)
    _chain: ChainWriter = field(default_factory=ChainWriter)
    _torn: bool = False
    _listers: frozenset[str] = frozenset()

    @classmethod
    def at(cls, path: Path) -> Journal:
        """Open a new journal; an existing one is never overwritten.

        Raises:
            InputError: the file exists, or cannot be created.

        """
        return cls(out=create(path))

    def resume(
        self, path: Path, plan: Plan, *, known: tuple[int, int], abandoned: Sequence[range]
    ) -> None:
        """Continue a journal, in which `abandoned` are lines that count for nothing.

        `known` says how many obligations of the plan it has, and how many of other shards.

        Raises:
            JournalError: the file cannot be read or written.

        """
        if self.out is None:
            return
        continue_lines(self.out, path, self._see)
        self._write_plan(plan, *known)
        lines = [[each[0], each[-1]] for each in abandoned]
        self.write("resumed", {"at": now(), "version": __version__, "abandoned": lines})

    def write(self, kind: str, record: Mapping[str, object]) -> None:
        """Write one line and flush it.

        After an interruption in the middle of a line nothing more is written, because what
        follows an incomplete line could not be read.

        Raises:
            JournalError: the disk is full, or the file is gone.

        """
        if self.out is None or self._torn:
            return
        encoded = encode_line({"type": kind, **record, CHAIN: self._chain.place()})
        self._torn = True
        try:
            self.out.write(encoded.decode("utf-8"))
            self.out.flush()
        except OSError as error:
            raise JournalError(f"cannot write the journal: {error.strerror}") from None
        self._see(encoded)
        self._torn = False

    def _see(self, line: bytes) -> None:
        """Take a line into the digest and the chain."""
        self._digest.update(line)
        self._chain.see(line)

    def event(self, trial: str, event: Event, access: Access) -> None:
        """Write an event of a trial."""
        self.learn(event, access)
        if self.out is not None:
            kind, record = self._encode(event)
            self.write(kind, {"trial": trial, **record})

    def learn(self, event: Event, access: Access) -> None:
        """Learn what must be masked because of an event: credentials, links, values of headers."""
        if isinstance(event, Subject):
            self.redactor.learn(event, access)
        else:
            self.redactor.learn_access(access)
        if isinstance(event, AnsweredCall):
            outcome, bearer = event.outcome, event.call.bearer
            if bearer is not None and access.token:
                # An altered token shows most of the one that it was made from.
                self.redactor.name(forged(access.token, bearer), "token")
            if isinstance(outcome, Accepted) and outcome.approval:
                self.redactor.name(outcome.approval, "approval-link")
            for name, value in outcome.outputs.items() if isinstance(outcome, Accepted) else ():
                self.redactor.name(value, name)
            self.redactor.learn_headers(event.wire)
        if isinstance(event, Exchange) and event.call.operation in self._listers:
            self.redactor.learn_keys(event.items)

    def learn_unwritten(self, event: Event, access: Access) -> None:
        """Learn from an event that is not written what must be masked in others."""
        self.learn(event, access)
        if isinstance(event, AnsweredCall):
            self.redactor.learn_wire(event.wire)

    def _encode(self, event: Event) -> tuple[str, Record]:
        if self._encoder is None or self._encoder.mask.redactor is not self.redactor:
            self._encoder = EventEncoder(mask=ValueMasker(redactor=self.redactor))
        return self._encoder.line(event)

    def learn_public(self, plan: Plan, target: Target) -> None:
        """Learn the words that are not masked as a header's value, and what lists private keys."""
        self._listers = frozenset(
            operation.id
            for contract in plan.contracts.values()
            for operation in contract.operations.values()
            if operation.lists and not (operation.about or operation.request)
        )
        bindings = target.operations.values()
        spellings = [
            spelling
            for each in bindings
            for spelling in (*each.arguments.values(), *each.modes.values())
        ]
        values: list[Json] = [*target.headers.values()]
        values += [text for each in bindings for text in each.headers.values()]
        values += [
            value
            for each in spellings
            for value in (each.value, each.other, [*each.words.values()])
        ]
        clauses = (value for each in plan.clauses.values() for value in each.values())
        values += [value for each in clauses for value in each.clause.params.values()]
        self.redactor.public = frozenset(text for value in values for text in _texts(value))

    def clean(self, verdict: Verdict) -> Verdict:
        """Return a verdict with private texts masked; call it before the next trial begins."""
        bounded = self.redactor.bounded
        return replace(
            verdict,
            reason=bounded(verdict.reason, 2000),
            evidence=tuple(
                replace(
                    evidence,
                    expected=bounded(evidence.expected, 1000),
                    seen=bounded(evidence.seen, 1000),
                    variation=bounded(evidence.variation, 1000),
                    pointer=bounded(evidence.pointer, 1000),
                )
                for evidence in verdict.evidence
            ),
        )

    def verdict(
        self, verdict: Verdict, reproduce: str, trial: str = "", *, preliminary: bool = False
    ) -> None:
        """Write a verdict, which has been cleaned, with its evidence.

        `trial` is the one with its exchanges, if that is not the planned one. A `preliminary`
        verdict counts until a later one on its obligation is written.
        """
        if self.out is None:
            return
        self.write(
            "preliminary" if preliminary else "verdict",
            {
                "obligation": verdict.obligation,
                "verdict": verdict.standing.value,
                "reason": verdict.reason,
                "evidence": [_evidence(each) for each in verdict.evidence],
                "calls": verdict.calls,
                "reproduce": self.redactor.link(reproduce),
                **({"trial": trial} if trial else {}),
            },
        )

    def header(
        self,
        plan: Plan,
        target: Target,
        *,
        seed: int,
        selection: Mapping[str, str],
        command: str,
        invocation: Mapping[str, Json] | None = None,
        extra: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Write the first line, and then the plan, in which no target has a say.

        The command line and the base URL may contain credentials. `invocation` are the options
        with which a run can be resumed, of which one with a credential is left out.
        """
        record = header(plan, target, seed=seed, selection=selection)
        record["target"] = {**record["target"], "base_url": self.redactor.link(target.base_url)}
        record["command"] = self.redactor.link(command)
        if invocation is not None:
            record["invocation"] = {
                name: value
                for name, value in invocation.items()
                if all(self.redactor.link(text) == text for text in _texts(value))
            }
        self.write("header", {**record, **extra})
        self._write_plan(plan)

    def _write_plan(self, plan: Plan, known: int = 0, known_elsewhere: int = 0) -> None:
        digests = parameter_digests(plan)

        def line(item: Planned) -> dict[str, object]:
            clause = f"{item.obligation.contract}/{item.obligation.clause}"
            digest = digests.get(clause)
            return {**planned(item), **({"parameters": digest} if digest else {})}

        for item in plan.items[known:]:
            self.write("plan", line(item))
        elsewhere = plan.shard.elsewhere if plan.shard else ()
        for position, number, item in elsewhere[known_elsewhere:]:
            self.write("elsewhere", {"position": position, "shard": number, **line(item)})

    def waivers(self, results: Sequence[WaiverResult]) -> None:
        """Write the state of each waiver, if the target has any."""
        if results:
            self.write("waivers", {"waivers": [as_record(each) for each in results]})

    def footer(self, record: Mapping[str, object]) -> None:
        """Write the footer, with the digest of all lines before it, and close the journal."""
        digest = "sha256:" + self._digest.hexdigest()
        self.write("footer", {"finished": now(), **record, "digest": digest})
        if self.out is not None:
            self.out.close()


def now() -> str:
    """Return the real time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def header(
    plan: Plan, target: Target, *, seed: int, selection: Mapping[str, str]
) -> dict[str, Any]:
    """Return the content of the first line: tool, contracts, target and selection."""
    return {
        "journal": FORMAT,
        "tool": "assay",
        "version": __version__,
        "started": now(),
        "seed": seed,
        "contracts": [
            {
                **_plain(contract, "id", "title", "version", "digest", "path", "document"),
                **({"outline": outline} if (outline := outline_record(contract)) else {}),
            }
            for contract in plan.contracts.values()
        ],
        "target": _plain(target, "name", "transport", "base_url", "digest"),
        "environment": target.environment,
        "not_offered": sorted(target.not_offered),
        **(
            {"absent": sorted({reason for _, reason in target.absent.each()})}
            if target.absent
            else {}
        ),
        "selection": dict(selection),
        **({"shard": str(plan.shard), "division": plan.shard.digest} if plan.shard else {}),
    }


def _plain(value: object, *names: str) -> dict[str, object]:
    """Return fields of a value by their names; of an enumeration, its value."""
    contents = {name: getattr(value, name) for name in names}
    return {
        name: content.value if isinstance(content, Enum) else content
        for name, content in contents.items()
    }


def parameter_digests(plan: Plan) -> dict[str, str]:
    """Return a digest of the parameters of each clause, by its full id."""
    return {
        f"{contract}/{name}": hashlib.sha256(
            json.dumps(bound.clause.params, sort_keys=True, default=str).encode()
        ).hexdigest()[:16]
        for contract, clauses in plan.clauses.items()
        for name, bound in clauses.items()
    }


#: What evidence need not have, and a journal leaves out then.
_SOMETIMES = ("decisive", "controls", "pointer", "header")


def _evidence(evidence: Evidence) -> dict[str, object]:
    """Return an observation; the decisive exchange and the controls only where they are named."""
    return {
        **_plain(evidence, "agreement", "expected", "seen", "variation", "exchanges"),
        **{name: value for name in _SOMETIMES if (value := getattr(evidence, name))},
    }


def planned(item: Planned) -> dict[str, object]:
    """Return a plan line's content."""
    obligation = item.obligation
    return {
        "obligation": obligation.id,
        **_plain(obligation, "contract", "clause", "facet", "kind", "level", "line", "trial"),
        "says": obligation.statement,
        "asks": obligation.description,
        "sources": source_records(obligation.sources),
        **({"decision": asdict(obligation.decision)} if obligation.decision else {}),
        "needs": sorted(need.value for need in obligation.needs),
        **_plain(item, "calls", "disposition", "reason"),
    }


# -- Outline of a contract's document as the header of a journal has it --------------------------
# It says which lines the document has and which of them the contract names, so that a report of any
# part of the contract can tell a line that nothing covers from one that was not part of the run.
def outline_record(contract: Contract) -> dict[str, object]:
    """Return what a contract says of the lines of its document; empty if it has no outline."""
    outline = contract.outline
    if not outline.sections:
        return {}
    return {
        "sections": [
            {"title": title, "lines": list(lines)} for title, lines in outline.sections.items()
        ],
        "not_requirements": [*map(asdict, outline.not_requirements)],
        "scope": [
            {"id": each.id, "statement": each.statement, "sources": source_records(each.sources)}
            for each in contract.scope
        ],
        "cited": _cited(contract),
    }


def source_records(sources: Iterable[Source]) -> list[dict[str, object]]:
    """Return places in the document as a journal has them."""
    return [*map(asdict, sources)]


def _cited(contract: Contract) -> list[dict[str, object]]:
    """Return the lines that rules and open points name, whatever part of them is tested."""
    lines: dict[str, set[int]] = {}
    clauses = (*contract.clauses, *contract.not_applicable)
    own = (clause for clause in clauses if clause.kind != Documented.name)
    sources = [source for clause in own for source in clause.sources]
    sources += [source for point in contract.open_points for source in point.sources]
    for source in sources:
        if source.line:
            lines.setdefault(source.section, set()).add(source.line)
    return [{"title": title, "lines": sorted(each)} for title, each in lines.items()]
