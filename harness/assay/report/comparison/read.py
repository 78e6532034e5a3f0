"""Reader of a run to be compared: a folder, a journal, or a JSON report.

Either may come from somewhere else: it is checked and cleaned, and refused if it is damaged,
unfinished, or a part of a run.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import cast

from assay.errors import InputError
from assay.journal.journal_file import JOURNAL
from assay.journal.lines import Line
from assay.report import decode
from assay.report.build import read_journal
from assay.report.formats.json_report import SCHEMA
from assay.report.sanitize import one_line, shown_text
from assay.report.values import (
    ContractRef,
    Header,
    PlannedObligation,
    Report,
    ReportedResult,
    TargetRef,
)
from assay.report.wording import counted

#: The files of a run, the better evidence first.
REPORT = "report.json"
#: The greatest JSON report that is read.
MAX_BYTES = 512 * 1024 * 1024


def read_run(path: str | Path) -> Report:
    """Read a run from its folder, its journal or its JSON report; `journal` is this path.

    Of a JSON report, only that is read which is compared.

    Raises:
        InputError: there is none, or it is not that of a whole run.
        JournalError: it is damaged or unfinished.

    """
    path = Path(path)
    file = path
    if path.is_dir():
        file = next((path / name for name in (JOURNAL, REPORT) if (path / name).exists()), path)
        if file is path:
            hint = "name the folder of a run, a journal, or a JSON report"
            raise InputError.one(str(path), f"there is no {JOURNAL} or {REPORT} here", hint=hint)
    run = _of_json(file) if file.suffix == ".json" else read_journal(file)
    if run.header.shard:
        hint = "`assay report --merge` makes one run of all shards"
        raise InputError.one(str(path), f"this is shard {run.header.shard} of a run", hint=hint)
    return replace(run, journal=one_line(str(path)))


def _of_json(file: Path) -> Report:
    line = Line(path=str(file), number=0, values=_values(file))
    if line.text("schema", "") != SCHEMA:
        raise InputError.one(str(file), f"this is no report of the format {SCHEMA}")
    run, target = line.inner("run"), line.inner("target")
    if not run.flag("complete", default=False):
        raise InputError.one(str(file), "the run ended early", hint="compare whole runs")
    results = {each.planned.id: each for each in map(_result, line.objects("obligations"))}
    if len(results) != line.count("planned"):
        planned = counted(line.count("planned"), "obligation")
        line.refuse(f"{planned} planned, but {len(results):,} are here")
    selection = run.inner("selection")
    header = Header(
        tool="assay",
        version=shown_text(line.inner("tool"), "version"),
        started=shown_text(run, "started"),
        seed=run.number_of("seed", 0),
        contracts=tuple(
            ContractRef(**{key: shown_text(each, key) for key in ("id", "version", "digest")})
            for each in line.objects("contracts")
        ),
        target=TargetRef(
            **{key: shown_text(target, key) for key in ("name", "base_url", "digest")}
        ),
        selection={key: shown_text(selection, key) for key in ("k", "m")},
        party=shown_text(run, "party") or "bank",
    )
    return Report(
        header=header,
        results=tuple(results.values()),
        faults=(),
        footer=None,
        complete=True,
        waivers=decode.waivers(line),
    )


def _result(line: Line) -> ReportedResult:
    plan = line.inner("plan")
    return ReportedResult(
        planned=PlannedObligation(
            id=shown_text(line, "id", None),
            contract=shown_text(line, "contract"),
            clause=shown_text(line, "clause"),
            kind=shown_text(line, "kind"),
            level=shown_text(line, "level"),
            says=shown_text(line, "statement"),
            sources=decode.read_sources(line),
            parameters=shown_text(plan, "parameters"),
            disposition="",
        ),
        standing=decode.standing(line),
        reason=shown_text(line, "reason"),
        trial=shown_text(line, "trial"),
    )


def _values(file: Path) -> dict[str, object]:
    hint = "name the folder of a run, a journal, or a JSON report"
    try:
        if file.stat().st_size > MAX_BYTES:
            raise InputError.one(str(file), f"larger than {MAX_BYTES:,} bytes", hint=hint)
        values: object = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise InputError.one(str(file), what, hint=hint) from None
    except (ValueError, RecursionError):
        raise InputError.one(str(file), "this is not JSON", hint=hint) from None
    if not isinstance(values, dict):
        raise InputError.one(str(file), "this is not a JSON object", hint=hint)
    return cast("dict[str, object]", values)
