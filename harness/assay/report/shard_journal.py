"""Journal of a shard, as far as a merge needs it: its plan, its verdicts, and what it observed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from assay.binding.target import Waiver
from assay.errors import InputError
from assay.journal.chain import CHAIN
from assay.journal.codec import SIGNING, SUBMITS
from assay.journal.journal_file import journal_at
from assay.journal.lines import Line, read_lines
from assay.journal.typed_values import read_line, read_record
from assay.judging.observations import (
    PARTIES,
    MergedVerdicts,
    ShardObservations,
)
from assay.judging.static_answers import AnswersSeen
from assay.planning.shards import read_shard
from assay.report import decode
from assay.report.build import read_journal
from assay.report.values import Report

#: The name of the journal in the folder of a run.

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
    footer: Values = field(default_factory=dict[str, object])
    offset: int = 0

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
    return ShardJournal(path=journal, report=report)


def shard_lines(shard: ShardJournal) -> Iterator[Line]:
    """Yield the lines of a journal, without abandoned ones and an incomplete one at its end."""
    yield from read_lines(shard.path)


def content(line: Line) -> Values:
    """Return what a line says, without its type and its place in the chain."""
    return {key: line.values[key] for key in line.values if key not in {"type", CHAIN}}


def take_in(shard: ShardJournal, merged: MergedVerdicts) -> int:
    """Take in what a journal says, and return how many numbers its exchanges need."""
    greatest = 0
    for line in shard_lines(shard):
        match line.text("type"):
            case "plan" | "elsewhere":
                record = content(line)
                shard.plan[decode.obligation(line)] = record
            case "exchange":
                n = line.number_of("n")
                greatest = max(greatest, n)
                if line.text("operation") != SIGNING and SUBMITS not in line.values:
                    _see(line, n + shard.offset, merged)
            case "preliminary" | "verdict":
                shard.written[decode.obligation(line)] = line
            case "footer":
                shard.footer = dict(line.values)
            case "observations":
                shard.observations = _observations(line)
                shard.uncorrected.clear()
                for verdict in line.objects("uncorrected"):
                    shard.uncorrected[decode.obligation(verdict)] = verdict
            case _:
                pass
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
