"""Conformance reports, rendered from the journal of a run.

`read_journal` turns a journal into a `Report`, or refuses it; `FORMATS` is the table of
formats, all rendered from the same `Report`. A format is imported when it is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from assay.errors import InputError, did_you_mean
from assay.report.build import read_journal
from assay.report.values import Report

__all__ = ["FORMATS", "Format", "Report", "read_journal", "render", "write_file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A report format: the usual suffix of its file, and the function that writes it."""

    suffix: str
    render: Callable[[Report, TextIO], None]


def _html(report: Report, out: TextIO) -> None:
    from assay.report import html  # noqa: PLC0415 -- Jinja2 only when used

    html.render(report, out)


def _json(report: Report, out: TextIO) -> None:
    from assay.report import json_report  # noqa: PLC0415 -- only when used

    json_report.render(report, out)


def _junit(report: Report, out: TextIO) -> None:
    from assay.report import junit  # noqa: PLC0415 -- only when used

    junit.render(report, out)


def _markdown(report: Report, out: TextIO) -> None:
    from assay.report import markdown  # noqa: PLC0415 -- only when used

    markdown.render(report, out)


def _text(report: Report, out: TextIO) -> None:
    from assay.report import terminal  # noqa: PLC0415 -- only when used

    terminal.render(report, out)


FORMATS: Mapping[str, Format] = {
    "html": Format(suffix=".html", render=_html),
    "json": Format(suffix=".json", render=_json),
    "junit": Format(suffix=".xml", render=_junit),
    "markdown": Format(suffix=".md", render=_markdown),
    "text": Format(suffix=".txt", render=_text),
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
