"""Further runs: of what failed in an earlier one, and again whenever something changed.

What failed is selected by its ids, so journal, report and `reproduce` are those of any run with
`-k`. `--watch` starts each run as a process of its own: a changed Python adapter is loaded anew.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from assay.binding.model.target import TransportKind
from assay.cli.resume import RunOptions
from assay.contexts.context import split_trial_name
from assay.errors import AssayError, InputError
from assay.journal.journal_file import JOURNAL
from assay.rules.verdict import OPEN, Standing

if TYPE_CHECKING:
    from assay.report import Report

#: The value of `--lf` without a folder.
NEWEST = "newest"
#: The folder of runs for which `--out` named none.
RUNS = Path("reports") / "local"


def only_failed(given: RunOptions) -> RunOptions:
    """Return the options of a run of what failed in an earlier one; all of it if nothing did.

    Raises:
        InputError: there is no earlier run, or it cannot be read.
        JournalError: its journal is damaged.

    """
    if given.last_failed is None:
        return given
    from assay.report import read_journal  # noqa: PLC0415 -- seldom needed

    folder = _newest() if given.last_failed == NEWEST else Path(given.last_failed)
    journal = folder / JOURNAL if folder.is_dir() else folder
    earlier = read_journal(journal, partial=True)
    failed = failed_in(earlier)
    if not given.quiet:
        number = f"{len(failed)} obligation" + "s" * (len(failed) != 1)
        what = f"{number} that failed in {folder}" if failed else f"all: nothing failed in {folder}"
        click.echo(f"testing {what}", err=True)
        for result in earlier.of(Standing.VIOLATES):
            if "--replay" in result.reproduce:
                shown = f"{result.planned.id} was shown by a sequence, which is not repeated"
                click.echo(f"{shown}: {result.reproduce}", err=True)
    if not failed:
        return given
    names = " or ".join(failed)
    keywords = f"({given.keywords}) and ({names})" if given.keywords else names
    return replace(given, keywords=keywords)


def failed_in(earlier: Report) -> tuple[str, ...]:
    """Return the obligations that were violated or not verified, and those whose trials showed it."""
    results = [each for each in earlier.results if each.standing in {Standing.VIOLATES, *OPEN}]
    settled = {each.planned.trial: each.planned.id for each in reversed(earlier.results)}
    showing = (settled.get(split_trial_name(each.trial)[0]) for each in results if each.trial)
    return tuple(dict.fromkeys([*(each.planned.id for each in results), *filter(None, showing)]))


def _newest() -> Path:
    """Return the folder of the newest run.

    Raises:
        InputError: there is none.

    """
    journals = sorted(RUNS.glob(f"*/{JOURNAL}"), key=lambda path: path.stat().st_mtime)
    if not journals:
        hint = "name its folder: `--lf DIR`"
        raise InputError.one("--lf", f"there is no earlier run in {RUNS}", hint=hint)
    return journals[-1].parent


# -- Again whenever something changed ------------------------------------------------------------
#: Seconds between two looks at files and bank.
EVERY = 0.5
#: The files beside a named file that may be part of it: what it extends, a Python adapter.
KINDS = (".yaml", ".yml", ".py")


@dataclass(kw_only=True)
class Watch:
    """What a run depends on: the files beside those that were named, and whether the bank answers."""

    folders: Sequence[Path]
    address: tuple[str, int] | None = None

    @classmethod
    def of(cls, given: RunOptions) -> Watch:
        """Return what a run with these options depends on."""
        named = [name for name in (*given.contracts, given.target, given.waivers) if name]
        paths = [Path(str(name).partition("#")[0]) for name in named if "://" not in str(name)]
        folders = dict.fromkeys(path.parent for path in paths if path.is_file())
        return cls(folders=[*folders], address=_address(given.target))

    def __str__(self) -> str:
        watched = [f"{folder}/*{kind}" for folder in self.folders for kind in KINDS[::2]]
        at = [f"{self.address[0]}:{self.address[1]}"] if self.address else []
        return ", ".join([*watched, *at])

    def files(self) -> dict[Path, int]:
        """Return the files, and when each was changed."""
        found = (path for folder in self.folders for path in folder.iterdir())
        return {path: path.stat().st_mtime_ns for path in found if path.suffix in KINDS}

    def reached(self) -> bool:
        """Whether the bank takes connections; nothing is called."""
        if self.address is None:
            return True
        try:
            socket.create_connection(self.address, timeout=2).close()
        except OSError:
            return False
        return True

    def wait(self, files: dict[Path, int], pause: Callable[[], None]) -> str:
        """Return what changed, as soon as something has: since `files` were read, or at the bank."""
        reached = self.reached()
        while True:
            pause()
            now = self.files()
            if changed := [path for path in {**now, **files} if now.get(path) != files.get(path)]:
                return f"{min(changed)} changed"
            before, reached = reached, self.reached()
            if reached and not before:
                return "the bank can be reached again"


def _address(target: str | None) -> tuple[str, int] | None:
    """Return where a target takes connections; None where that is not known, or no network."""
    from assay.preparation.prepare import load_target  # noqa: PLC0415 -- only to watch

    try:
        loaded = load_target(target)
    except AssayError:
        return None
    parts = urlsplit(loaded.base_url if loaded.transport is TransportKind.HTTP else "")
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return (parts.hostname, port) if parts.hostname and port else None


def watch(
    given: RunOptions,
    arguments: Iterable[str],
    *,
    runs: Iterable[int] = count(),
    pause: Callable[[], None] = lambda: time.sleep(EVERY),
) -> int:
    """Run again whenever something changed, until Ctrl-C; return the exit code of the last run.

    Raises:
        InputError: the options do not fit together, or there is nothing to watch.

    """
    if given.out is not None or given.resume is not None:
        option = "--out" if given.out else "--resume"
        hint = "each run has a new folder in reports/local"
        raise InputError.one("--watch", f"cannot be combined with {option}", hint=hint)
    start = "from assay.cli.start import main; main()"
    command = [sys.executable, "-c", start, *(each for each in arguments if each != "--watch")]
    code = 0
    for _ in runs:
        watched = Watch.of(given)
        if not str(watched):
            hint = "name a target file, a contract file, or the URL of a bank"
            raise InputError.one("--watch", "there is nothing that could change", hint=hint)
        files = watched.files()
        try:
            code = subprocess.run(command, check=False).returncode  # noqa: S603 -- ours
            click.echo(f"watching {watched}; Ctrl-C ends", err=True)
            click.echo(f"{watched.wait(files, pause)}: testing again", err=True)
        except KeyboardInterrupt:
            break
    return code
