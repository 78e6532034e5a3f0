"""Merge of the journals of shards into the journal of one run.

Events are copied with new numbers; trials keep their names. The verdicts are those before their
correction, and are corrected again by what all shards observed together: a trial of one shard
can show a violation of an obligation of another. A shard that is missing leaves its obligations
unverified. Nothing is judged here, and neither contract nor target file is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from assay.binding.model.target import Waiver
from assay.contexts.context import split_trial_name
from assay.errors import Exit, InputError
from assay.journal.codec import EVENTS, SIGNING, SUBMITS, accesses
from assay.journal.journal_file import JOURNAL, journal_at
from assay.journal.lines import CHAIN, Line, read_lines
from assay.journal.typed_values import read_line, read_record
from assay.journal.writer import Journal
from assay.judging.assembly import (
    PARTIES,
    MergedVerdicts,
    ShardObservations,
    merged_waivers,
)
from assay.judging.corrections import AnswersSeen
from assay.judging.exit_policy import NO_POLICY, ExitDecision, ExitPolicy, RunFacts, decide_exit
from assay.judging.waivers import WaiverResult
from assay.planning.shards import read_shard
from assay.report import decode
from assay.report.build import read_journal
from assay.report.decode import STANDINGS
from assay.report.values import Header, RecordedLines, Report
from assay.rules.verdict import Standing, Verdict, tally

_ENDED = "shard {} ended early"
_MISSING = "shard {} was not run"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedRun:
    """The result of a merge: how many obligations have which verdict, and the exit code."""

    journal: Path
    counts: Mapping[str, int]
    exit: Exit


def merge(
    paths: Sequence[Path],
    folder: Path,
    *,
    command: str,
    partial: bool = False,
    policy: ExitPolicy = NO_POLICY,
) -> MergedRun:
    """Merge the journals of shards, or of the folders that have one, into a new folder.

    With `partial`, the journal of a shard that ended early counts as far as it goes.

    Raises:
        InputError: they are not shards of one plan, or the folder has a journal already.
        JournalError: a journal is damaged or unfinished, or the disk is full.

    """
    shards = [open_shard(path, partial=partial) for path in paths]
    check_same_plan([(str(shard.path), shard.report) for shard in shards])
    shards.sort(key=lambda shard: shard.number)
    merged, numbers = MergedVerdicts(), 0
    for shard in shards:
        shard.offset = numbers
        numbers += take_in(shard, merged)
    plan = _plan(shards)
    sources = _sources(shards, plan)
    merged.recorded = {name: _verdict(name, source) for name, source in sources.items()}
    observed = [_observations(line) for each in shards if (line := each.lines.observations)]
    final = merged.final(observed)
    waivers = merged_waivers(observed, final.values())
    journal = Journal.at(folder / JOURNAL)
    _write_head(journal, shards, plan, command)
    for shard in shards:
        _copy_events(journal, shard)
    for name in plan:
        journal.write("verdict", _verdict_line(final[name], sources[name]))
    journal.waivers(waivers)
    counts = tally(final.values())
    decision = _decide(shards, plan, final, waivers, policy)
    stopped = "; ".join(_stopped(shards))
    journal.footer(
        {
            **_times(shards),
            "planned": len(plan),
            "counts": counts,
            "exchanges": sum(shard.report.exchanges for shard in shards),
            "faults": sum(len(shard.report.faults) for shard in shards),
            "exit": decision.exit.value,
            "reasons": list(decision.reasons),
            **_spent(shards),
            **({"stopped": stopped} if stopped else {}),
        }
    )
    return MergedRun(journal=folder / JOURNAL, counts=counts, exit=decision.exit)


def _decide(
    shards: Sequence[ShardJournal],
    plan: Mapping[str, Values],
    final: Mapping[str, Verdict],
    waivers: Sequence[WaiverResult],
    policy: ExitPolicy,
) -> ExitDecision:
    """Return the exit code of the merged run; one that lacks a shard is incomplete at best."""
    facts = RunFacts(
        verdicts={name: verdict.standing for name, verdict in final.items()},
        musts={name for name, record in plan.items() if record.get("level") == "must"},
        waivers=waivers,
        faults=sum(len(shard.report.faults) for shard in shards),
        stopped=any(_stopped(shards)),
    )
    return decide_exit(facts, policy)


def _stopped(shards: Sequence[ShardJournal]) -> Iterator[str]:
    """Yield what is missing of the whole run: shards, or the end of some."""
    of = int(shards[0].report.header.shard.partition("/")[2])
    present = {shard.number for shard in shards}
    yield from (
        _MISSING.format(f"{number}/{of}") for number in range(1, of + 1) if number not in present
    )
    for shard in shards:
        if not shard.report.complete:
            yield _ENDED.format(shard.report.header.shard)
        elif stopped := shard.lines.footer.values.get("stopped"):
            yield str(stopped)


def _spent(shards: Sequence[ShardJournal]) -> Values:
    """Return the accesses without the customer of all shards, as the footer of a run has them."""
    spent: Counter[tuple[str, str]] = Counter()
    for shard in shards:
        for each in accesses(shard.lines.footer):
            spent[each.customer, each.operation] += each.accesses
    records = [
        {"customer": customer, "operation": operation, "accesses": number}
        for (customer, operation), number in sorted(spent.items())
    ]
    return {"spent": records} if records else {}


# -- merging -----------------------------------------------------------------------
def _plan(shards: Sequence[ShardJournal]) -> dict[str, Values]:
    """Return the plan line of each obligation, in the order of the whole plan."""
    plan: dict[str, Values] = {}
    owners = {shard.number: shard for shard in shards}
    for name, number in positions(shards[0].report):
        known = owners.get(number) or shards[0]
        line = content(known.planned(name))
        plan[name] = {key: line[key] for key in line if key not in {"position", "shard"}}
    return plan


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """Where the verdict on an obligation comes from; without a line, what it is and why."""

    shard: ShardJournal | None = None
    line: Line | None = None
    reason: str = ""
    decided: Standing = Standing.UNVERIFIED

    def standing(self, name: str) -> Standing:
        if self.shard is None or self.line is None:
            return self.decided
        return decode.standing(self.shard.uncorrected.get(name, self.line))


def _sources(shards: Sequence[ShardJournal], plan: Mapping[str, Values]) -> dict[str, _Source]:
    """Return for each obligation the journal whose verdict on it counts.

    It is that of its own shard, unless only a trial of another one shows a violation. Of several
    such trials the first counts: the base context comes first, and then the order of the plan.
    """
    own = {shard.number: shard for shard in shards}
    order = {str(plan[name].get("trial")): number for number, name in reversed([*enumerate(plan)])}
    shards_of = dict(positions(shards[0].report))
    sources: dict[str, _Source] = {}
    for name in plan:
        owner = own.get(shards_of[name])
        mine = _own_source(name, shards_of[name], owner, shards)
        others = [
            _Source(shard=shard, line=shard.lines.written[name])
            for shard in shards
            if shard is not owner and name in shard.lines.written
        ]
        shown = [each for each in others if each.standing(name) is Standing.VIOLATES]
        asked = plan[name]["disposition"] == "ask"
        if shown and asked and mine.standing(name) is not Standing.VIOLATES:
            mine = min(shown, key=lambda source: _turn(source, order))
        elif shown and asked and mine.line is not None and mine.line.text("trial", ""):
            # Its own shard has it from another trial, too: the earlier one is reported.
            mine = min([mine, *shown], key=lambda source: _turn(source, order))
        sources[name] = mine
    return sources


def _own_source(
    name: str, number: int, owner: ShardJournal | None, shards: Sequence[ShardJournal]
) -> _Source:
    of = shards[0].report.header.shard.partition("/")[2]
    if owner is None:
        planned = shards[0].planned(name).values
        if planned["disposition"] == "ask":
            return _Source(reason=_MISSING.format(f"{number}/{of}"))
        decided = STANDINGS.get(str(planned["disposition"]), Standing.UNVERIFIED)
        return _Source(reason=str(planned.get("reason", "")), decided=decided)
    if name in owner.lines.written:
        return _Source(shard=owner, line=owner.lines.written[name])
    return _Source(reason=_ENDED.format(f"{number}/{of}"))


def _turn(source: _Source, order: Mapping[str, int]) -> tuple[bool, int, str]:
    """Return when the trial of a verdict would run in a whole run."""
    trial = source.line.text("trial", "") if source.line else ""
    base, context = split_trial_name(trial)
    return bool(context), order.get(base, len(order)), context


def _verdict(name: str, source: _Source) -> Verdict:
    """Return a verdict before its correction, its evidence with the numbers of the merged run."""
    shard, line = source.shard, source.line
    if shard is None or line is None:
        return Verdict(obligation=name, standing=source.decided, reason=source.reason)
    uncorrected = decode.verdict(shard.uncorrected.get(name, line))
    return replace(uncorrected, evidence=decode.verdict(line, offset=shard.offset).evidence)


# -- writing -----------------------------------------------------------------------
def _write_head(
    journal: Journal, shards: Sequence[ShardJournal], plan: Mapping[str, Values], command: str
) -> None:
    first = content(shards[0].lines.header)
    header = {key: first[key] for key in first if key not in {"shard", "division"}}
    started = min(shard.report.header.started for shard in shards)
    merged = [shard.report.header.shard for shard in shards]
    journal.write("header", {**header, "started": started, "command": command, "merged": merged})
    for record in plan.values():
        journal.write("plan", record)


def _copy_events(journal: Journal, shard: ShardJournal) -> None:
    for line in read_lines(shard.path):
        kind = line.text("type")
        if kind not in EVENTS and kind not in {"fault", "unfinished"}:
            continue
        record = content(line)
        if kind == "exchange":
            record["n"] = line.number_of("n") + shard.offset
        journal.write(kind, record)


def _verdict_line(verdict: Verdict, source: _Source) -> Values:
    record: Values = {
        "obligation": verdict.obligation,
        "verdict": verdict.standing.value,
        "reason": verdict.reason,
        "evidence": [],
        "calls": 0,
        "reproduce": "",
    }
    if source.shard is None or source.line is None:
        return record
    line, offset = source.line, source.shard.offset
    record["evidence"] = [
        {**item.values, **_renumbered(item, offset)} for item in line.objects("evidence")
    ]
    kept = ("calls", "reproduce", "trial")
    return {**record, **{key: line.values[key] for key in kept if key in line.values}}


def _renumbered(evidence: Line, offset: int) -> Values:
    """Return the numbers of the exchanges of an observation as the merged run has them."""
    numbers: Values = {
        key: [n + offset for n in evidence.list_of(key, int)]
        for key in ("exchanges", "controls")
        if key in evidence.values
    }
    decisive = evidence.number_of("decisive", 0)
    return {**numbers, **({"decisive": decisive + offset} if decisive else {})}


def _times(shards: Sequence[ShardJournal]) -> Values:
    ends = [shard.report.footer.finished for shard in shards if shard.report.footer]
    return {"finished": max(ends)} if ends else {}


# -- Check that journals are the shards of one plan, before they are merged ----------------------
#: What must be the same in all shards, by the words for it.
_SAME: Mapping[str, Callable[[Header], object]] = {
    "the number of shards": lambda header: header.shard.partition("/")[2],
    "the version of Assay": lambda header: header.version,
    "the contracts": lambda header: [each.id for each in header.contracts],
    "the content of the contract files": lambda header: [each.digest for each in header.contracts],
    "the target": lambda header: header.target.name,
    "the content of the target file": lambda header: header.target.digest,
    "the base URL of the target": lambda header: header.target.base_url,
    "the seed": lambda header: header.seed,
    "the selection (-k, -m)": lambda header: sorted(header.selection.items()),
    "the division of the plan": lambda header: header.division,
}


def check_same_plan(shards: Sequence[tuple[str, Report]]) -> None:
    """Check that reports, each with its path, are different shards of one plan.

    Raises:
        InputError: they are not; it names what differs.

    """
    first_path, first = shards[0]
    seen: dict[str, str] = {}
    for path, report in shards:
        shard = report.header.shard
        if shard in seen:
            hint = "leave out one of them"
            what = f"shard {shard} was given twice; the other one is {seen[shard]}"
            raise InputError.one(path, what, hint=hint)
        seen[shard] = path
        for name, read in _SAME.items():
            if read(report.header) != read(first.header):
                what = f"not a shard of the plan of {first_path}: {name} differs"
                seen_values = f"{_shown(read(report.header))} and {_shown(read(first.header))}"
                raise InputError.one(path, what, hint=f"{seen_values}")
        _check_positions(path, report)
    plan = [*positions(first)]
    for path, report in shards:
        if [*positions(report)] != plan:
            what = f"not a shard of the plan of {first_path}: the obligations differ"
            raise InputError.one(path, what, hint="was only part of one shard selected in pytest?")


def _check_positions(path: str, report: Report) -> None:
    """Check that the obligations of a shard and those of the others fill the whole plan."""
    places = {each.position for each in report.elsewhere}
    total = len(report.results) + len(report.elsewhere)
    outside = any(not 0 <= place < total for place in places)
    if len(places) < len(report.elsewhere) or outside:
        hint = "was only part of it selected in pytest?"
        raise InputError.one(path, "the shard does not have all its obligations", hint=hint)


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:80]}…"  # noqa: PLR2004 -- a line of a message


def positions(report: Report) -> Iterator[tuple[str, int]]:
    """Yield each obligation of the whole plan and the number of its shard, in the plan's order."""
    number = int(report.header.shard.partition("/")[0])
    elsewhere = {each.position: each for each in report.elsewhere}
    own = iter(report.results)
    for position in range(len(report.results) + len(elsewhere)):
        other = elsewhere.get(position)
        if other is not None:
            yield other.planned.id, other.shard
        else:
            yield next(own).planned.id, number


# -- Shard journal -------------------------------------------------------------------------------
Values = dict[str, object]


@dataclass(slots=True, kw_only=True)
class ShardJournal:
    """The journal of one shard; `offset` is added to the numbers of its exchanges.

    Verdicts in `uncorrected` take the place of those that are written.
    """

    path: Path
    report: Report
    uncorrected: Mapping[str, Line]
    offset: int = 0

    @property
    def lines(self) -> RecordedLines:
        """The lines of the journal that are no events."""
        return self.report.lines

    def planned(self, name: str) -> Line:
        """Return the plan of an obligation, whichever shard it is in."""
        return self.lines.plan.get(name) or self.lines.elsewhere[name]

    @property
    def number(self) -> int:
        """The number of the shard."""
        return int(self.report.header.shard.partition("/")[0])


def open_shard(path: Path, *, partial: bool) -> ShardJournal:
    """Read and check the journal of a shard, or that in a folder.

    Raises:
        InputError: it is not that of a shard.
        JournalError: it is damaged, or unfinished and not read with `partial`.

    """
    journal = journal_at(path)
    report = read_journal(journal, partial=partial)
    if not report.header.shard:
        hint = "`assay run --shard 1/2` records one"
        raise InputError.one(str(journal), "this is not the journal of a shard", hint=hint)
    read_shard(report.header.shard, str(journal))
    observed = report.lines.observations
    uncorrected = observed.objects("uncorrected") if observed else []
    return ShardJournal(
        path=journal,
        report=report,
        uncorrected={decode.obligation(line): line for line in uncorrected},
    )


def content(line: Line) -> Values:
    """Return what a line says, without its type and its place in the chain."""
    return {key: line.values[key] for key in line.values if key not in {"type", CHAIN}}


def take_in(shard: ShardJournal, merged: MergedVerdicts) -> int:
    """Take in the exchanges of a journal, and return how many numbers they need."""
    greatest = 0
    for line in read_lines(shard.path):
        if line.text("type") == "exchange":
            n = line.number_of("n")
            greatest = max(greatest, n)
            if line.text("operation") != SIGNING and SUBMITS not in line.values:
                _see(line, n + shard.offset, merged)
    return greatest


def _see(line: Line, n: int, merged: MergedVerdicts) -> None:
    merged.operations[n] = line.text("operation")
    call = line.inner("again").inner("call").values
    if call.get("bearer") is not None or call.get("credentials"):
        merged.without_token.add(n)


def _observations(line: Line) -> ShardObservations:
    parties = {name: party for party, name in PARTIES.items()}
    credentials = line.inner("credentials")
    answers = line.inner("answers")
    return ShardObservations(
        answers=read_line(answers, lambda values: read_record(AnswersSeen, values, {})),
        accepted=frozenset(
            parties[name] for name in line.list_of("accepted", str) if name in parties
        ),
        refused=frozenset(
            parties[name] for name in line.list_of("refused", str) if name in parties
        ),
        where={party: credentials.text(name, "") for name, party in parties.items()},
        tpp_operations=frozenset(line.list_of("tpp_operations", str)),
        rests_on={
            name: line.inner("rests_on").text(name) for name in line.inner("rests_on").values
        },
        waivers=tuple(
            Waiver(
                obligation=waiver.text("obligation", ""),
                clause=waiver.text("clause", ""),
                intermittent=waiver.flag("intermittent", default=False),
                owner=waiver.text("owner"),
                reason=waiver.text("reason"),
                expires=_day(waiver, "expires").isoformat(),
            )
            for waiver in line.objects("waivers")
        ),
        today=_day(line, "today"),
        covers={
            waiver.text("obligation", "") or waiver.text("clause", ""): tuple(
                waiver.list_of("covers", str)
            )
            for waiver in line.objects("waivers")
        },
    )


def _day(line: Line, key: str) -> date:
    try:
        return date.fromisoformat(line.text(key))
    except ValueError:
        line.refuse(f"{key!r} is no date")
