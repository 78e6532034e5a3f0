"""Merge of the journals of shards into the journal of one run.

Events are copied with new numbers; trials keep their names. The verdicts are those before their
correction, and are corrected again by what all shards observed together: a trial of one shard
can show a violation of an obligation of another. A shard that is missing leaves its obligations
unverified. Nothing is judged here, and neither contract nor target file is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import cast

from assay.errors import InputError
from assay.journal.codec import EVENTS, SIGNING
from assay.journal.lines import Line, parse, raw_lines
from assay.journal.writer import Journal
from assay.judging.observations import (
    PARTIES,
    MergedVerdicts,
    OperationAnswers,
    ShardObservations,
)
from assay.judging.verdict import Agreement, Evidence, Exit, Standing, Verdict, exit_of, tally
from assay.report.build import read_journal
from assay.report.merge_check import check_same_plan, positions
from assay.report.values import Report

_JOURNAL = "journal.jsonl"
_STANDINGS = {standing.value: standing for standing in Standing}
_OPEN = frozenset({Standing.INDETERMINATE, Standing.UNVERIFIED})
_ENDED = "shard {} ended early"
_MISSING = "shard {} was not run"

Values = dict[str, object]


@dataclass(slots=True, kw_only=True)
class ShardJournal:
    """The journal of one shard, with its last line on each obligation and its observations.

    `written` has the last preliminary or final verdict on each obligation; those in
    `uncorrected` take its place.
    """

    path: Path
    report: Report
    plan: dict[str, Values] = field(default_factory=dict[str, Values])
    written: dict[str, Line] = field(default_factory=dict[str, Line])
    uncorrected: dict[str, Line] = field(default_factory=dict[str, Line])
    observations: ShardObservations | None = None
    offset: int = 0

    @property
    def number(self) -> int:
        """The number of the shard."""
        return int(self.report.header.shard.partition("/")[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedRun:
    """The result of a merge: how many obligations have which verdict, and the exit code."""

    journal: Path
    counts: Mapping[str, int]
    exit: Exit
    missing: tuple[str, ...]


def merge(
    paths: Sequence[Path],
    folder: Path,
    *,
    command: str,
    partial: bool = False,
    allow_incomplete: bool = False,
) -> MergedRun:
    """Merge the journals of shards, or of the folders that have one, into a new folder.

    With `partial`, the journal of a shard that ended early counts as far as it goes.

    Raises:
        InputError: they are not shards of one plan, or the folder has a journal already.
        JournalError: a journal is damaged or unfinished, or the disk is full.

    """
    shards = [_open(path, partial=partial) for path in paths]
    check_same_plan([(str(shard.path), shard.report) for shard in shards])
    shards.sort(key=lambda shard: shard.number)
    merged, exchanges = MergedVerdicts(), 0
    for shard in shards:
        shard.offset = exchanges
        exchanges += _take_in(shard, merged)
    plan = _plan(shards)
    sources = _sources(shards, plan)
    merged.recorded = {
        name: _verdict(name, source, merged.recorded) for name, source in sources.items()
    }
    final = merged.final([each.observations for each in shards if each.observations])
    journal = Journal.at(folder / _JOURNAL)
    _write_head(journal, shards, plan, command)
    for shard in shards:
        _copy_events(journal, shard)
    for name in plan:
        journal.write("verdict", _verdict_line(final[name], sources[name]))
    missing = tuple(_missing(shards))
    counts = tally(final.values())
    faults = sum(len(shard.report.faults) for shard in shards)
    exit_ = exit_of(
        counts,
        incomplete_musts=sum(
            plan[name]["level"] == "must" and final[name].standing in _OPEN for name in plan
        ),
        faults=faults,
        allow_incomplete=allow_incomplete,
    )
    stopped = [f"shard {name} was not run" for name in missing]
    stopped += [_ENDED.format(each.report.header.shard) for each in shards if not _ended(each)]
    if exit_ is Exit.OK and stopped:
        exit_ = Exit.INCOMPLETE
    journal.footer(
        {
            **_times(shards),
            "planned": len(plan),
            "counts": counts,
            "exchanges": exchanges,
            "faults": faults,
            "exit": exit_.value,
            **({"stopped": "; ".join(stopped)} if stopped else {}),
        }
    )
    return MergedRun(journal=folder / _JOURNAL, counts=counts, exit=exit_, missing=missing)


def _open(path: Path, *, partial: bool) -> ShardJournal:
    journal = path / _JOURNAL if path.is_dir() else path
    report = read_journal(journal, partial=partial)
    if not report.header.shard:
        hint = "`assay run --shard 1/2` records one"
        raise InputError.one(str(journal), "this is not the journal of a shard", hint=hint)
    return ShardJournal(path=journal, report=report)


def _ended(shard: ShardJournal) -> bool:
    return shard.report.complete


# -- reading -----------------------------------------------------------------------
def _lines(shard: ShardJournal) -> Iterator[Line]:
    name = str(shard.path)
    with shard.path.open("rb") as stream:
        for number, raw in raw_lines(stream, name):
            if raw.endswith(b"\n"):
                yield parse(name, number, raw)


def _take_in(shard: ShardJournal, merged: MergedVerdicts) -> int:
    """Take in what a journal says, and return how many numbers its exchanges need."""
    greatest = 0
    for line in _lines(shard):
        match line.text("type"):
            case "plan" | "elsewhere":
                record = {key: line.values[key] for key in line.values if key != "type"}
                shard.plan[line.text("obligation")] = record
            case "exchange":
                n = line.number_of("n")
                greatest = max(greatest, n)
                if line.text("operation") != SIGNING:
                    _see(line, n + shard.offset, merged)
            case "preliminary" | "verdict":
                shard.written[line.text("obligation")] = line
            case "observations":
                shard.observations = _observations(line)
                for record in line.objects("uncorrected"):
                    shard.uncorrected[record.text("obligation")] = record
            case _:
                pass
    return greatest


def _see(line: Line, n: int, merged: MergedVerdicts) -> None:
    merged.operations[n] = line.text("operation")
    call = line.inner("again").inner("call").values
    if call.get("bearer") is not None or call.get("credentials"):
        merged.without_token.add(n)


def _observations(line: Line) -> ShardObservations:
    from assay.binding.target import Waiver  # noqa: PLC0415 -- the name alone is needed here

    parties = {name: party for party, name in PARTIES.items()}
    credentials = line.inner("credentials")
    try:
        today = date.fromisoformat(line.text("today"))
    except ValueError:
        line.refuse("'today' is no date")
    return ShardObservations(
        answers={name: _answers(line.inner("answers").inner(name)) for name in line.inner("answers").values},
        accepted=frozenset(parties[name] for name in line.list_of("accepted", str) if name in parties),
        refused=frozenset(parties[name] for name in line.list_of("refused", str) if name in parties),
        where={party: credentials.text(name, "") for name, party in parties.items()},
        tpp_operations=frozenset(line.list_of("tpp_operations", str)),
        rests_on={name: line.inner("rests_on").text(name) for name in line.inner("rests_on").values},
        waivers=tuple(
            Waiver(
                obligation=waiver.text("obligation"),
                owner=waiver.text("owner"),
                reason=waiver.text("reason"),
                expires=waiver.text("expires"),
            )
            for waiver in line.objects("waivers")
        ),
        today=today,
    )


def _answers(line: Line) -> OperationAnswers:
    return OperationAnswers(
        questions=frozenset(line.list_of("questions", str)),
        bodies=frozenset(line.list_of("bodies", str)),
        answers=frozenset(line.list_of("answers", str)),
        refusing=line.flag("refusing", default=False),
    )


# -- merging -----------------------------------------------------------------------
def _plan(shards: Sequence[ShardJournal]) -> dict[str, Values]:
    """Return the plan line of each obligation, in the order of the whole plan."""
    plan: dict[str, Values] = {}
    owners = {shard.number: shard for shard in shards}
    for name, number in positions([shard.report for shard in shards]):
        known = owners.get(number) or shards[0]
        plan[name] = {
            key: value
            for key, value in known.plan[name].items()
            if key not in {"position", "shard"}
        }
    return plan


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """Where the verdict on an obligation comes from; without a line, the reason why there is none."""

    shard: ShardJournal | None = None
    line: Line | None = None
    reason: str = ""

    def standing(self, name: str) -> Standing:
        if self.shard is None or self.line is None:
            return Standing.UNVERIFIED
        word = self.shard.uncorrected.get(name, self.line).text("verdict")
        return _STANDINGS[word] if word in _STANDINGS else self.line.refuse("unknown verdict")


def _sources(
    shards: Sequence[ShardJournal], plan: Mapping[str, Values]
) -> dict[str, _Source]:
    """Return for each obligation the journal whose verdict on it counts.

    It is that of its own shard, unless only a trial of another one shows a violation. Of several
    such trials the first counts: the base context comes first, and then the order of the plan.
    """
    own = {shard.number: shard for shard in shards}
    order = {str(plan[name]["trial"]): number for number, name in reversed([*enumerate(plan)])}
    shards_of = dict(positions([shard.report for shard in shards]))
    sources: dict[str, _Source] = {}
    for name in plan:
        owner = own.get(shards_of[name])
        mine = _own_source(name, shards_of[name], owner, shards)
        others = [
            _Source(shard=shard, line=shard.written[name])
            for shard in shards
            if shard is not owner and name in shard.written
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
        planned = shards[0].plan[name]
        decided = planned["disposition"] != "ask"
        return _Source(
            reason=str(planned["reason"]) if decided else _MISSING.format(f"{number}/{of}"),
        )
    if name in owner.written:
        return _Source(shard=owner, line=owner.written[name])
    return _Source(reason=_ENDED.format(f"{number}/{of}"))


def _turn(source: _Source, order: Mapping[str, int]) -> tuple[bool, int, str]:
    """Return when the trial of a verdict would run in a whole run."""
    trial = source.line.text("trial", "") if source.line else ""
    base, _, context = trial.partition(" [")
    return bool(context), order.get(base, len(order)), context


def _verdict(name: str, source: _Source, _recorded: Mapping[str, Verdict]) -> Verdict:
    """Return a verdict before its correction, its evidence with the numbers of the merged run."""
    shard, line = source.shard, source.line
    if shard is None or line is None:
        return Verdict(obligation=name, standing=Standing.UNVERIFIED, reason=source.reason)
    return Verdict(
        obligation=name,
        standing=source.standing(name),
        reason=shard.uncorrected.get(name, line).text("reason"),
        evidence=tuple(
            Evidence(
                facet="",
                agreement=Agreement(item.text("agreement")),
                expected="",
                seen="",
                exchanges=tuple(n + shard.offset for n in item.list_of("exchanges", int)),
            )
            for item in line.objects("evidence")
        ),
    )


# -- writing -----------------------------------------------------------------------
def _write_head(
    journal: Journal, shards: Sequence[ShardJournal], plan: Mapping[str, Values], command: str
) -> None:
    first = next(_lines(shards[0])).values
    header = {key: first[key] for key in first if key not in {"type", "shard", "division"}}
    started = min(shard.report.header.started for shard in shards)
    merged = [shard.report.header.shard for shard in shards]
    journal.write("header", {**header, "started": started, "command": command, "merged": merged})
    for record in plan.values():
        journal.write("plan", record)


def _copy_events(journal: Journal, shard: ShardJournal) -> None:
    """Copy the events of a shard, and what else its trials recorded."""
    for line in _lines(shard):
        kind = line.text("type")
        if kind not in EVENTS and kind not in {"fault", "unfinished"}:
            continue
        record = {key: line.values[key] for key in line.values if key != "type"}
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
        {**item.values, "exchanges": [n + offset for n in item.list_of("exchanges", int)]}
        for item in line.objects("evidence")
    ]
    kept = ("calls", "reproduce", "trial")
    return {**record, **{key: line.values[key] for key in kept if key in line.values}}


def _times(shards: Sequence[ShardJournal]) -> Values:
    ends = [shard.report.footer.finished for shard in shards if shard.report.footer]
    return {"finished": max(ends)} if ends else {}


def _missing(shards: Sequence[ShardJournal]) -> Iterator[str]:
    """Yield the shards without a journal."""
    of = int(shards[0].report.header.shard.partition("/")[2])
    present = {shard.number for shard in shards}
    return (f"{number}/{of}" for number in range(1, of + 1) if number not in present)
