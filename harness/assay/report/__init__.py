"""Conformance reports, rendered from the journal of a run.

`read_journal` turns a journal into a `Report`, or refuses it; `FORMATS` is the table of
formats, all rendered from the same `Report`. A format is imported when it is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import TextIO

from assay.errors import InputError, did_you_mean
from assay.report.build import read_journal
from assay.report.values import Report

__all__ = ["FORMATS", "Format", "Report", "read_journal", "render", "rendered", "write_file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A report format: the usual name of its file, and the module that writes it."""

    file: str
    module: str

    def render(self, report: Report, out: TextIO) -> None:
        """Write a report; the module, and what it needs, is imported only now."""
        import_module(self.module).render(report, out)


_ROOM = "assay.report.formats"
FORMATS: Mapping[str, Format] = {
    "html": Format(file="report.html", module=f"{_ROOM}.html"),
    "json": Format(file="report.json", module=f"{_ROOM}.json_report"),
    "junit": Format(file="junit.xml", module=f"{_ROOM}.junit"),
    "markdown": Format(file="report.md", module=f"{_ROOM}.markdown"),
    "text": Format(file="report.txt", module=f"{_ROOM}.terminal"),
    "ctrf": Format(file="ctrf-report.json", module=f"{_ROOM}.ctrf"),
    "sarif": Format(file="assay.sarif", module=f"{_ROOM}.sarif"),
    "github": Format(file="github-annotations.txt", module=f"{_ROOM}.github_annotations"),
    "har": Format(file="exchanges.har", module=f"{_ROOM}.har"),
}


def find_format(name: str) -> Format:
    """Return the format of this name.

    Raises:
        InputError: there is no such format.

    """
    if name not in FORMATS:
        hint = did_you_mean(name, FORMATS)
        raise InputError.one("--format", f"there is no report format {name!r}", hint=hint)
    return FORMATS[name]


def rendered(report: Report, name: str) -> str:
    """Return a report in a named format.

    Raises:
        InputError: there is no such format.

    """
    text = StringIO()
    find_format(name).render(report, text)
    return text.getvalue()


def render(report: Report, name: str, path: str | Path) -> None:
    """Write a report to a file in a named format, completely or not at all.

    Raises:
        InputError: there is no such format, or the file cannot be written.

    """
    form = find_format(name)
    write_file(Path(path), lambda out: form.render(report, out))


def write_file(path: Path, write: Callable[[TextIO], object]) -> None:
    """Write a text file completely or not at all.

    Raises:
        InputError: the file cannot be written.

    """
    unfinished = path.with_name(path.name + ".part")
    try:
        with unfinished.open("w", encoding="utf-8", newline="\n") as out:
            write(out)
        os.replace(unfinished, path)  # noqa: PTH105 -- overwrites on every system
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError.one(str(path), f"cannot be written: {why}") from error
    finally:
        unfinished.unlink(missing_ok=True)
