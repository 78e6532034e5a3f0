"""Changes since an earlier run of a fleet, read from its JSON report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from assay.errors import InputError
from assay.report.decode import STANDINGS
from assay.report.fleet.json_fleet import FILE, SCHEMA
from assay.report.fleet.values import BankRow, Changes, VerdictChange
from assay.report.sanitize import clean, one_line
from assay.rules.verdict import Standing

#: The verdicts of a fleet run by bank and obligation, and when it began.
Before = tuple[str, Mapping[str, Mapping[str, Standing]]]


def read_before(folder: Path) -> Before:
    """Read the verdicts of an earlier run of a fleet.

    Raises:
        InputError: the folder has no report of a fleet, or one that cannot be read.

    """
    path = folder / FILE if folder.is_dir() else folder
    hint = f"name the folder of a fleet run, which has {FILE}"
    try:
        raw: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise InputError.one(str(path), what, hint=hint) from None
    except (ValueError, RecursionError):
        raise InputError.one(str(path), "this is not JSON", hint=hint) from None
    if not isinstance(raw, dict) or cast("dict[str, Any]", raw).get("schema") != SCHEMA:
        raise InputError.one(str(path), f"this is no report {SCHEMA}", hint=hint)
    values = cast("dict[str, Any]", raw)
    try:
        banks = {
            str(bank["name"]): dict(_verdicts(values, bank["name"])) for bank in values["banks"]
        }
        started = one_line(clean(str(values["run"]["started"]), 100))
    except (KeyError, TypeError, AttributeError):
        raise InputError.one(str(path), "a part of the report is missing", hint=hint) from None
    return started, {one_line(clean(name, 100)): verdicts for name, verdicts in banks.items()}


def _verdicts(values: Mapping[str, Any], bank: str) -> Iterator[tuple[str, Standing]]:
    for obligation in values["obligations"]:
        word = obligation["verdicts"].get(bank)
        if word in STANDINGS:
            yield one_line(clean(str(obligation["id"]), 400)), STANDINGS[word]


def changes(banks: tuple[BankRow, ...], before: Before) -> Changes:
    """Return what changed; a bank that could not be tested now has not changed."""
    since, verdicts = before
    names = {bank.name for bank in banks}
    changed = tuple(
        each
        for bank in banks
        if bank.name in verdicts
        for each in _changes_of(bank, verdicts[bank.name])
    )
    return Changes(
        since=since,
        verdicts=changed,
        added=tuple(bank.name for bank in banks if bank.name not in verdicts),
        removed=tuple(name for name in verdicts if name not in names),
    )


def _changes_of(bank: BankRow, before: Mapping[str, Standing]) -> Iterator[VerdictChange]:
    now = {verdict.obligation: verdict.standing for cell in bank.cells for verdict in cell.verdicts}
    # A contract without any verdict was not tested: nothing is known to have changed.
    tested = {name.partition("/")[0] for name in now}
    for name in dict.fromkeys([*now, *before]):
        old, new = before.get(name), now.get(name)
        if old is not new and name.partition("/")[0] in tested:
            yield VerdictChange(bank=bank.name, obligation=name, before=old, now=new)
