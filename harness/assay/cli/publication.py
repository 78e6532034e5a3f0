"""Publication of a report where GitHub looks: annotations and step summary; more formats.

The environment says which server it is, and `--annotations` overrides it. What cannot be published
is printed and changes no exit code.

GitHub executes workflow commands in whatever a step prints, `##[add-mask]` even in the middle of a
line. So they are stopped while texts of a target are printed.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from assay.report import Report

GITHUB, NONE, AUTO = "github", "none", "auto"
#: The variable that GitHub sets for its jobs.
ON_GITHUB = "GITHUB_ACTIONS"
#: The variable with the path of GitHub's step summary, and its greatest size in bytes.
STEP_SUMMARY, MOST_BYTES = "GITHUB_STEP_SUMMARY", 1024 * 1024
#: The word for every format there is.
EVERY = "all"
#: The key of the token that lets GitHub execute commands again.
STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class _CommandStop:
    """The token that lets GitHub execute commands again, and the stream that it is printed on."""

    token: str
    err: bool

    @property
    def stop(self) -> str:
        """Return the command after which no other one is executed."""
        return f"::stop-commands::{self.token}"

    @property
    def resume(self) -> str:
        """Return the command after which commands are executed."""
        return f"::{self.token}::"


# -- options ---------------------------------------------------------------------
def _key(name: str | None) -> str:
    return f"{__name__}.{name}"


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    context.meta[_key(parameter.name)] = value


def _keep_formats(context: click.Context, parameter: click.Parameter, value: Sequence[str]) -> None:
    _keep(context, parameter, format_names(value) if value else ())


annotation_option = click.option(
    "--annotations",
    type=click.Choice([AUTO, GITHUB, NONE]),
    default=AUTO,
    show_default=True,
    envvar="ASSAY_ANNOTATIONS",
    expose_value=False,
    callback=_keep,
    help="Annotate violations for GitHub, by workflow commands and a step summary. `auto`"
    " detects it.",
)
#: For a command that writes the usual reports anyway.
format_option = click.option(
    "-f",
    "--format",
    "formats",
    multiple=True,
    metavar="NAME",
    expose_value=False,
    callback=_keep_formats,
    help="Also write the report in this format, for example sarif (`assay report --help`"
    " lists all). Repeatable.",
)


def _kept(name: str, default: Any) -> Any:
    context = click.get_current_context(silent=True)
    return default if context is None else context.meta.get(_key(name), default)


def format_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the formats of these names, each once; `all` is every one.

    Raises:
        InputError: there is no such format.

    """
    from assay.report import FORMATS, find_format  # noqa: PLC0415 -- a run needs it at its end

    if EVERY in names:
        return tuple(FORMATS)
    for name in names:
        find_format(name)
    return tuple(dict.fromkeys(names))


def chosen_formats() -> tuple[str, ...]:
    """Return the formats that were asked for besides the usual ones."""
    return tuple(_kept("formats", ()))


def _on_github() -> bool:
    choice = _kept("annotations", NONE)
    return os.environ.get(ON_GITHUB) == "true" if choice == AUTO else bool(choice == GITHUB)


# -- GitHub ----------------------------------------------------------------------
@contextmanager
def commands_stopped(*, err: bool = False) -> Generator[None]:
    """Keep GitHub from executing workflow commands in what is printed meanwhile.

    With `err`, this is said on standard error, and so are the annotations.
    """
    if not _on_github():
        yield
        return
    stopped = _CommandStop(token=os.urandom(16).hex(), err=err)
    meta = click.get_current_context().meta
    meta[_key(STOPPED)] = stopped
    click.echo(stopped.stop, err=err)
    try:
        yield
    finally:
        click.echo(stopped.resume, err=err)
        del meta[_key(STOPPED)]


def publish(read: Report) -> None:
    """Print the annotations of a report and append it to the step summary, if this is GitHub.

    A shard has neither: the merged report of all shards has them once.
    """
    stopped: _CommandStop | None = _kept(STOPPED, None)
    if stopped is None or read.header.shard:
        return
    from assay.report import rendered  # noqa: PLC0415 -- not before the run is over

    lines = (f"{stopped.resume}\n", rendered(read, "github"), f"{stopped.stop}\n")
    click.echo("".join(lines), nl=False, err=stopped.err)
    if path := os.environ.get(STEP_SUMMARY):
        _append(Path(path), rendered(read, "markdown").encode())


def _append(path: Path, text: bytes) -> None:
    """Append to the step summary, if it has room: GitHub shows none that is too large."""
    try:
        with path.open("ab") as summary:
            if summary.tell() + len(text) > MOST_BYTES:
                what = f"no room for {len(text):,} bytes; the report is in report.md"
                click.echo(f"assay: step summary: {what}", err=True)
                return
            summary.write(text)
    except OSError as error:
        why = error.strerror or str(error)
        click.echo(f"assay: step summary: {path} cannot be written: {why}", err=True)


# -- the newest of several folders -----------------------------------------------
#: What a time replaces in `--out`, and the name of the link to the newest folder.
STARTED, LATEST = "{started}", "latest"


def time_stamp() -> str:
    """Return the time as a part of a folder's name."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S-%fZ")


def with_time(context: click.Context, _parameter: click.Parameter, value: Path | None) -> Any:
    """Return the folder of `--out` with the time in place of `{started}`."""
    if value is None or STARTED not in str(value):
        return value
    stamp = time_stamp()
    parts = [part.replace(STARTED, stamp) for part in value.parts]
    depth = next(n for n, part in enumerate(value.parts, start=1) if STARTED in part)
    context.meta[_key(LATEST)] = Path(*parts[:depth])
    return Path(*parts)


def link_latest() -> None:
    """Make `latest` a link to the folder that `--out` named by the time, beside it."""
    folder: Path | None = _kept(LATEST, None)
    if folder is None:
        return
    link, unfinished = folder.with_name(LATEST), folder.with_name(f"{folder.name}.{LATEST}")
    try:
        if link.exists() and not link.is_symlink():
            click.echo(f"assay: {link} is not a link, so it was not replaced", err=True)
            return
        unfinished.symlink_to(folder.name, target_is_directory=True)
        os.replace(unfinished, link)  # noqa: PTH105 -- overwrites on every system
    except OSError as error:
        why = error.strerror or str(error)
        click.echo(f"assay: {link} cannot be written: {why}", err=True)
