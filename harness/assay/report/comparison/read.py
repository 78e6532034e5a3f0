"""Reader of a run to be compared: a folder, a journal, or a JSON report.

Either may come from somewhere else: it is checked and cleaned, and refused if it is damaged,
unfinished, or a part of a run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from assay.errors import InputError
from assay.journal.journal_file import JOURNAL
from assay.journal.lines import Line
from assay.planning.trial_names import split_trial_name
from assay.report import decode
from assay.report.build import read_journal
from assay.report.comparison.values import ComparedObligation, ComparedRun
from assay.report.formats.json_report import SCHEMA
from assay.report.outline import read_sources
from assay.report.sanitize import one_line, shown_text
from assay.report.values import ContractRef, Report, TargetRef
from assay.report.views import source_text
from assay.report.wording import counted
from assay.rules.verdict import Standing

#: The files of a run, the better evidence first.
REPORT = "report.json"
#: The greatest JSON report that is read.
MAX_BYTES = 512 * 1024 * 1024


def read_run(path: str | Path) -> ComparedRun:
    """Read a run from its folder, its journal or its JSON report.

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
    if file.suffix == ".json":
        return _of_json(file, str(path))
    return of_report(read_journal(file), str(path))


def of_report(report: Report, path: str) -> ComparedRun:
    """Return what is compared of a report.

    Raises:
        InputError: it is that of a shard.

    """
    header = report.header
    if header.shard:
        hint = "`assay report --merge` makes one run of all shards"
        raise InputError.one(path, f"this is shard {header.shard} of a run", hint=hint)
    return ComparedRun(
        path=one_line(path),
        started=header.started,
        conditions=_conditions(
            header.target, header.contracts, header.version, header.seed, header.party
        ),
        selection={key: text for key, text in header.selection.items() if text},
        obligations={
            result.planned.id: ComparedObligation(
                id=result.planned.id,
                clause=f"{result.planned.contract}/{result.planned.clause}",
                standing=result.standing,
                reason=result.reason,
                context=_context(result.trial, result.standing),
                kind=result.planned.kind,
                level=result.planned.level,
                sentence=result.planned.says,
                sources=tuple(map(source_text, result.planned.sources)),
                parameters=result.planned.parameters,
            )
            for result in report.results
        },
        waivers=report.waivers,
    )


def _conditions(
    target: TargetRef, contracts: tuple[ContractRef, ...], version: str, seed: int, party: str
) -> dict[str, str]:
    conditions = {"target": target.name, "address": target.base_url}
    conditions["target file"] = _short(target.digest)
    for contract in contracts:
        conditions[f"contract {contract.id}"] = f"{contract.version} {_short(contract.digest)}"
    return {**conditions, "version of Assay": version, "seed": str(seed), "judged party": party}


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:12]


def _context(trial: str, standing: Standing) -> str:
    """Return the further context that a trial names, where it shows a violation."""
    violated = standing in {Standing.VIOLATES, Standing.WAIVED}
    return split_trial_name(trial)[1] if violated else ""


# -- JSON reports ----------------------------------------------------------------
def _of_json(file: Path, path: str) -> ComparedRun:
    """Read a JSON report."""
    line = Line(path=str(file), number=0, values=_values(file))
    if line.text("schema", "") != SCHEMA:
        raise InputError.one(str(file), f"this is no report of the format {SCHEMA}")
    run, target = line.inner("run"), line.inner("target")
    if not run.flag("complete", default=False):
        raise InputError.one(str(file), "the run ended early", hint="compare whole runs")
    obligations = {each.id: each for each in _obligations(line)}
    if len(obligations) != line.count("planned"):
        planned = counted(line.count("planned"), "obligation")
        line.refuse(f"{planned} planned, but {len(obligations):,} are here")
    conditions = _conditions(
        TargetRef(**{key: shown_text(target, key) for key in ("name", "base_url", "digest")}),
        tuple(
            ContractRef(**{key: shown_text(each, key) for key in ("id", "version", "digest")})
            for each in line.objects("contracts")
        ),
        shown_text(line.inner("tool"), "version"),
        run.number_of("seed", 0),
        shown_text(run, "party") or "bank",
    )
    selection = run.inner("selection")
    return ComparedRun(
        path=one_line(path),
        started=shown_text(run, "started"),
        conditions=conditions,
        selection={key: text for key in ("k", "m") if (text := shown_text(selection, key))},
        obligations=obligations,
        waivers=decode.waivers(line),
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


def _obligations(line: Line) -> Iterator[ComparedObligation]:
    for each in line.objects("obligations"):
        standing = decode.standing(each)
        yield ComparedObligation(
            id=shown_text(each, "id", None),
            clause=f"{shown_text(each, 'contract')}/{shown_text(each, 'clause')}",
            standing=standing,
            reason=shown_text(each, "reason"),
            context=_context(shown_text(each, "trial"), standing),
            kind=shown_text(each, "kind"),
            level=shown_text(each, "level"),
            sentence=shown_text(each, "statement"),
            sources=tuple(map(source_text, read_sources(each))),
            parameters=shown_text(each.inner("plan"), "parameters"),
        )
