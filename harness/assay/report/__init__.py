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
    """A report format: the usual suffix and name of its file, and the function that writes it."""

    suffix: str
    file: str
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


def _ctrf(report: Report, out: TextIO) -> None:
    from assay.report import ctrf  # noqa: PLC0415 -- only when used

    ctrf.render(report, out)


def _sarif(report: Report, out: TextIO) -> None:
    from assay.report import sarif  # noqa: PLC0415 -- only when used

    sarif.render(report, out)


def _code_quality(report: Report, out: TextIO) -> None:
    from assay.report import code_quality  # noqa: PLC0415 -- only when used

    code_quality.render(report, out)


def _github(report: Report, out: TextIO) -> None:
    from assay.report import github_annotations  # noqa: PLC0415 -- only when used

    github_annotations.render(report, out)


def _har(report: Report, out: TextIO) -> None:
    from assay.report import har  # noqa: PLC0415 -- harfile only when used

    har.render(report, out)


def _open_metrics(report: Report, out: TextIO) -> None:
    from assay.report import open_metrics  # noqa: PLC0415 -- only when used

    open_metrics.render(report, out)


FORMATS: Mapping[str, Format] = {
    "html": Format(suffix=".html", file="report.html", render=_html),
    "json": Format(suffix=".json", file="report.json", render=_json),
    "junit": Format(suffix=".xml", file="junit.xml", render=_junit),
    "markdown": Format(suffix=".md", file="report.md", render=_markdown),
    "text": Format(suffix=".txt", file="report.txt", render=_text),
    "ctrf": Format(suffix=".ctrf.json", file="ctrf-report.json", render=_ctrf),
    "sarif": Format(suffix=".sarif", file="assay.sarif", render=_sarif),
    "code-quality": Format(
        suffix=".code-quality.json", file="gl-code-quality-report.json", render=_code_quality
    ),
    "github": Format(suffix=".github.txt", file="github-annotations.txt", render=_github),
    "har": Format(suffix=".har", file="exchanges.har", render=_har),
    "openmetrics": Format(suffix=".prom", file="metrics.prom", render=_open_metrics),
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
