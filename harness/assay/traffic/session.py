"""Session that judges a recording: reads it, plans what it can show, and writes the journal.

The command line and Python callers use it. No capability is needed to look at what others sent, but
an operation that the target file does not describe cannot be recognised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.binding.encode import Access
from assay.binding.join import BoundContract, bind, capabilities
from assay.binding.target import Target
from assay.contract.model import Contract, Operation, Party
from assay.contract.parse import find_contract, parse_contract
from assay.errors import InputError
from assay.execution.session import RunResult
from assay.history import Authorised, Exchange
from assay.journal.redact import Redactor
from assay.journal.writer import Journal, header, planned
from assay.planning.obligation import Obligation, bound_clauses, tpp_obligations
from assay.planning.plan import Plan, Planned, decide, missing_capabilities
from assay.planning.prepare import SHIPPED, load_target, selector
from assay.traffic.har import read_har
from assay.traffic.har_to_history import MOST_KNOWN, to_history
from assay.traffic.journal_history import JournalHistories, is_journal, read_trials
from assay.traffic.judge import Judge, NamedHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingSession:
    """A recording that was read, ready to be judged.

    `strangers` counts requests that are no call of the contract, `unread` the calls whose own body
    was not recorded.
    """

    plan: Plan
    target: Target
    party: Party
    told: tuple[NamedHistory, ...]
    access: Mapping[int, Access]
    redactor: Redactor
    selection: Mapping[str, str]
    strangers: Mapping[str, int]
    unread: int = 0

    @property
    def exchanges(self) -> int:
        """How many exchanges there are to judge."""
        return sum(len(one.history.exchanges) for one in self.told)

    def close(self, path: Path, *, allow_incomplete: bool = False, command: str = "") -> RunResult:
        """Judge it, and write the record of it to a new file.

        Raises:
            InputError: the file exists, or cannot be made.
            JournalError: there is no room.

        """
        bench = Judge(
            plan=self.plan,
            target=self.target,
            party=self.party,
            allow_incomplete=allow_incomplete,
        )
        judged = bench.judge(self.told)
        conclusion = judged.conclusion
        journal = Journal.at(path)
        journal.redactor = self.redactor
        head = header(self.plan, self.target, seed=0, selection=self.selection, command=command)
        journal.write("header", {**head, "party": self.party.value})
        for item in self.plan.items:
            journal.write("plan", planned(item))
        for one in self.told:
            if len(self.told) > 1:
                journal.redactor.begin()
            for event in one.history.events:
                if len(journal.redactor.known) > MOST_KNOWN:
                    journal.redactor.begin()  # as while it was read
                n = event.n if isinstance(event, Exchange | Authorised) else 0
                journal.event(one.name, event, self.access.get(n, Access()))
        verdicts = tuple(map(journal.clean, conclusion.verdicts))
        for verdict in verdicts:
            journal.verdict(verdict, command, judged.trials.get(verdict.obligation, ""))
        journal.footer(
            {
                "planned": len(self.plan.items),
                "counts": dict(conclusion.counts),
                "exchanges": self.exchanges,
                "faults": 0,
                "exit": conclusion.exit.value,
            }
        )
        return RunResult(
            verdicts=verdicts,
            counts=conclusion.counts,
            exchanges=self.exchanges,
            faults=(),
            exit=conclusion.exit,
        )


def open_recording(
    path: Path,
    *,
    contracts: Sequence[str] = (),
    target_name: str | None = None,
    party: Party = Party.BANK,
    keywords: str = "",
    marks: str = "",
    bases: Sequence[str] = (),
) -> RecordingSession:
    """Read a recording, with the contracts and the target file that describe it.

    Raises:
        InputError: a file or an option cannot be used, or nothing is selected.
        JournalError: a journal is damaged.

    """
    select = selector(keywords, marks)
    target = load_target(target_name)
    journey = read_trials(path) if is_journal(path) else None
    named = contracts or (journey.contracts if journey else SHIPPED)
    parsed = [parse_contract(find_contract(name)) for name in named]
    if journey is not None:
        _same(path, parsed, journey)
    bound = bind(parsed, target)
    plan = plan_recording(bound, target, party, select)
    if not plan.items:
        hint = "`assay plan` lists every obligation of a bank"
        raise InputError.one("selection", "nothing is selected", hint=hint)
    if bases:
        target = replace(target, base_url=bases[0], hosts=(*bases[1:], *target.hosts))
    operations: dict[str, Operation] = {
        name: one for each in bound for name, one in each.contract.operations.items()
    }
    redactor, told = Redactor(), tuple[NamedHistory, ...]()
    access: Mapping[int, Access] = {}
    strangers: Mapping[str, int] = {}
    unread = 0
    if journey is not None:
        told = journey.told
    else:
        found = to_history(
            read_har(path, target.zone),
            operations,
            target,
            redactor,
            lenient=party is Party.TPP,
        )
        told = (NamedHistory(name=RECORDING, history=found.history),)
        access, strangers, unread = found.access, found.strangers, found.unread
    return RecordingSession(
        plan=plan,
        target=target,
        party=party,
        told=told,
        access=access,
        redactor=redactor,
        selection={"k": keywords, "m": marks},
        strangers=strangers,
        unread=unread,
    )


def _same(path: Path, contracts: Sequence[Contract], journey: JournalHistories) -> None:
    """Refuse to judge a run by other contracts than those of the run."""
    for one in contracts:
        if journey.digests.get(one.id, one.digest) != one.digest:
            what = f"recorded with another version of the contract {one.id}"
            hint = "name the contract file of that time with --contract"
            raise InputError.one(str(path), what, hint=hint)


#: The trial as which a recording stands in the record.
RECORDING = "recording"


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
        for obligation in each.obligations if is_bank else tpp_obligations(contract):
            if select(obligation):
                missing = () if is_bank else missing_capabilities(obligation, offered)
                items.append(decide(obligation, contract, target, missing=missing, party=party))
    return Plan(
        items=tuple(items),
        trials=(),
        clauses={each.contract.id: bound_clauses(each.contract) for each in bound},
        contracts={each.contract.id: each.contract for each in bound},
    )
