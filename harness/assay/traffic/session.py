"""Session that judges a recording, a HAR file or the journal of a run, and writes a journal.

The recording is read, and the plan says what it can be judged by. The command line and Python
callers use it. No capability is needed to look at what others sent, but an operation that the
target file does not describe cannot be recognised.

A journal has pseudonyms in place of private texts, but the same one for the same text, so every
check says of it what it said in the run. A journal that is damaged is refused; what one
that is unfinished does not show is unverified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from assay.binding.model.request_parts import RequestParts
from assay.binding.model.target import Target
from assay.binding.read.join import BoundContract, bind, capabilities
from assay.binding.wire.encode import Access
from assay.contract.model import Capability, Contract, Party
from assay.errors import InputError
from assay.history import AnsweredCall, Authorised, History
from assay.journal.redact import Redactor
from assay.journal.writer import QUOTED, Journal
from assay.judging.assembly import RunResult
from assay.judging.exit_policy import NO_POLICY, ExitPolicy
from assay.parsing.parse import parse_contracts
from assay.planning.plan import Plan, Planned, decide, missing_capabilities
from assay.preparation.prepare import SHIPPED, load_target, selector
from assay.rules.obligation import Obligation, bound_clauses
from assay.rules.verdict import Verdict
from assay.traffic.doubts import RecordingDoubts
from assay.traffic.har import RecordedEntry, read_har
from assay.traffic.har_to_history import MAX_KNOWN, RecordedHistory, to_history
from assay.traffic.journal_trials import JournalHistories, is_journal, read_trials
from assay.traffic.judge import Judge, NamedHistory
from assay.traffic.readings import readings

#: The name of the trial for a recording that is a HAR file.
RECORDING = "recording"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingSession:
    """A recording that was read, ready to be judged.

    `unmatched` counts the requests that match no call of the contract, by kind; `unread` counts
    the calls whose body was not recorded. `unfinished` says why a journal is not that of a whole
    run; what it shows is incomplete at best. `again` says that the recording is a journal.
    `undeclared` are the options of a HAR file that would make more of it certain.
    """

    plan: Plan
    target: Target
    party: Party
    histories: tuple[NamedHistory, ...]
    access: Mapping[int, Access] = field(default_factory=dict[int, Access])
    redactor: Redactor = field(default_factory=Redactor)
    selection: Mapping[str, str]
    unmatched: Mapping[str, int] = field(default_factory=dict[str, int])
    unread: int = 0
    unfinished: str = ""
    again: bool = False
    undeclared: tuple[str, ...] = ()

    @property
    def exchanges(self) -> int:
        """How many exchanges there are to judge."""
        return sum(len(named.history.exchanges) for named in self.histories)

    def close(self, path: Path, *, policy: ExitPolicy = NO_POLICY, command: str = "") -> RunResult:
        """Judge the recording, and write the journal to a new file.

        Raises:
            InputError: the file exists, or cannot be created.
            JournalError: the disk is full.

        """
        judge = Judge(
            plan=self.plan,
            target=self.target,
            party=self.party,
            policy=policy,
            sample=not self.again,
        )
        judged = judge.judge(self.histories, stopped=self.unfinished)
        conclusion = judged.conclusion
        journal = Journal.at(path)
        journal.redactor = self.redactor
        journal.learn_public(self.plan, self.target)
        journal.header(
            self.plan,
            self.target,
            seed=0,
            selection=self.selection,
            command=command,
            extra={"party": self.party.value} | ({} if self.again else {"exchanges": QUOTED}),
        )
        self._write_events(journal, conclusion.verdicts)
        verdicts = tuple(map(journal.clean, conclusion.verdicts))
        for verdict in verdicts:
            journal.verdict(verdict, command, judged.trials.get(verdict.obligation, ""))
        journal.waivers(conclusion.waivers)
        journal.footer(
            {
                "planned": len(self.plan.items),
                "counts": dict(conclusion.counts),
                "exchanges": self.exchanges,
                "faults": 0,
                "exit": conclusion.exit.value,
                "reasons": list(conclusion.reasons),
                **({"stopped": self.unfinished} if self.unfinished else {}),
            }
        )
        return replace(conclusion, verdicts=verdicts, exchanges=self.exchanges)

    def _write_events(self, journal: Journal, verdicts: Sequence[Verdict]) -> None:
        """Write the events of a journal, which can be judged again, or what evidence quotes of a HAR.

        What the exchanges that are not written show to be private is masked in the others.
        """
        quoted = frozenset(
            n for verdict in verdicts for each in verdict.evidence for n in each.exchanges
        )
        for named in self.histories:
            if len(self.histories) > 1:
                journal.redactor.begin()
            for event in named.history.events:
                if len(journal.redactor.known) > MAX_KNOWN:
                    journal.redactor.begin()  # as when the recording was read
                n = event.n if isinstance(event, AnsweredCall | Authorised) else 0
                access = self.access.get(n, Access())
                if self.again or n in quoted:
                    journal.event(named.name, event, access)
                else:
                    journal.learn_unwritten(event, access)


def open_recording(
    path: Path,
    *,
    contracts: Sequence[str] = (),
    target_name: str | None = None,
    waivers: Path | None = None,
    party: Party = Party.BANK,
    keywords: str = "",
    marks: str = "",
    bases: Sequence[str] = (),
    complete: bool = False,
    bank_clock: bool = False,
) -> RecordingSession:
    """Read a recording, with the contracts and the target file that describe it.

    `complete` says that a HAR file has every call of its callers, as it was sent; `bank_clock`
    that its times are those of the bank, though the bank's clock can be moved.

    Raises:
        InputError: a file or an option cannot be used, or nothing is selected.
        JournalError: a journal is damaged.

    """
    select = selector(keywords, marks)
    target = load_target(target_name, waivers)
    journal = read_trials(path) if is_journal(path) else None
    names = contracts or (journal.contracts if journal else target.own_contracts or SHIPPED)
    parsed = parse_contracts(names)
    if journal is not None:
        _check_digests(path, parsed, journal)
    bound = bind(parsed, target)
    plan = plan_recording(bound, target, party, select)
    if not plan.items:
        hint = "`assay plan` lists all obligations of a bank"
        raise InputError.one("selection", "nothing is selected", hint=hint)
    if bases:
        target = replace(target, base_url=bases[0], hosts=(*bases[1:], *target.hosts))
    session = RecordingSession(
        plan=plan,
        target=target,
        party=party,
        histories=journal.histories if journal else (),
        selection={"k": keywords, "m": marks},
        unfinished=journal.unfinished if journal else "",
        again=journal is not None,
    )
    if journal is not None:
        return session
    bank_clock = bank_clock or Capability.CLOCK not in target.fixtures.offers
    recorded, named = _read_har(
        path, bound, target, session.redactor, party, complete=complete, bank_clock=bank_clock
    )
    return replace(
        session,
        histories=(named,),
        access=recorded.access,
        unmatched=recorded.unmatched,
        unread=recorded.unread,
        undeclared=(
            *([] if complete else ["--complete"]),
            *([] if bank_clock else ["--bank-clock"]),
        ),
    )


def _read_har(
    path: Path,
    bound: Sequence[BoundContract],
    target: Target,
    redactor: Redactor,
    party: Party,
    *,
    complete: bool,
    bank_clock: bool,
) -> tuple[RecordedHistory, NamedHistory]:
    """Read a HAR file as a history, with every other way in which it can be read."""
    contracts = [each.contract for each in bound]
    operations = {
        name: operation for each in contracts for name, operation in each.operations.items()
    }

    zones = {each.zone for each in contracts}
    zoned = target if target.zone or len(zones) > 1 else replace(target, zone=zones.pop())

    def convert(entries: Sequence[RecordedEntry], learning: Redactor) -> RecordedHistory:
        return to_history(entries, operations, zoned, learning, lenient=party is Party.TPP)

    entries = read_har(path, target.zone)
    possible = readings(entries)
    recorded = convert(next(possible), redactor)
    named = NamedHistory(name=RECORDING, history=recorded.history)
    if next(possible, None) is not None:

        def others() -> Iterator[History]:
            for reading in islice(readings(entries), 1, None):
                yield convert(reading, Redactor()).history

        named = replace(named, others=others)
    doubts = RecordingDoubts(
        recorded=recorded,
        operations=operations,
        contracts=contracts,
        complete=complete,
        bank_clock=bank_clock,
        marked=target.presence is None
        or any(RequestParts.of(each.wire).values_at(target.presence) for each in entries),
        read=lambda change: convert([*map(change, next(readings(entries)))], Redactor()).history,
    )
    return recorded, replace(named, doubts=doubts.histories)


def plan_recording(
    bound: Sequence[BoundContract],
    target: Target,
    party: Party,
    select: Callable[[Obligation], bool] = lambda _: True,
) -> Plan:
    """Decide for every selected obligation of a party whether a recording can be judged by it.

    A recording of a bank may show what no fixture of the target can set up, so no capability is
    needed. What judges a TPP, such as the bank's time zone, must be known.
    """
    items: list[Planned] = []
    for each in bound:
        contract, is_bank = each.contract, party is Party.BANK
        offered = capabilities(contract, target)
        for obligation in each.obligations if is_bank else each.tpp_obligations:
            if select(obligation):
                missing = () if is_bank else missing_capabilities(obligation, offered)
                items.append(decide(obligation, contract, target, missing=missing, party=party))
    return Plan(
        items=tuple(items),
        trials=(),
        clauses={each.contract.id: bound_clauses(each.contract) for each in bound},
        contracts={each.contract.id: each.contract for each in bound},
    )


def _check_digests(path: Path, contracts: Sequence[Contract], journal: JournalHistories) -> None:
    """Refuse to judge a run by another version of its contracts."""
    for contract in contracts:
        if journal.digests.get(contract.id, contract.digest) != contract.digest:
            what = f"recorded with another version of the contract {contract.id}"
            hint = "pass the contract file of the run with --contract"
            raise InputError.one(str(path), what, hint=hint)
