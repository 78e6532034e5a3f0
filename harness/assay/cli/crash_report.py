"""Details of an unexpected error: a file with its traceback, for a report of the problem.

The messages of exceptions are left out, because they may quote data of customers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from assay import __version__
from assay._resources import state_dir

#: The name of the file in the folder of a run; elsewhere it has a time before it.
FILE = "error.txt"


@dataclass(slots=True)
class Invocation:
    """The command that is being executed; `folder` is that of its run, once there is one."""

    folder: Path | None = None


def note_folder(folder: Path) -> None:
    """Note the folder of the run, so that details of an error are kept there."""
    context = click.get_current_context(silent=True)
    invocation = context.find_object(Invocation) if context is not None else None
    if invocation is not None:
        invocation.folder = folder


def keep(error: BaseException, invocation: Invocation) -> Path | None:
    """Write the details of an error to a new file; return its path, or None if there is no place."""
    text = "\n".join(_lines(error)) + "\n"
    for path in _places(invocation):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:  # noqa: PTH123
                file.write(text)
        except OSError:
            continue
        return path
    return None


def where(error: BaseException) -> str:
    """Return the type of an error and the place in the code that raised it."""
    from traceback import StackSummary, walk_tb  # noqa: PLC0415 -- only for an error

    frames = StackSummary.extract(walk_tb(error.__traceback__), lookup_lines=False)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"


def _places(invocation: Invocation) -> Iterator[Path]:
    import tempfile  # noqa: PLC0415 -- only for an error

    if invocation.folder is not None and invocation.folder.is_dir():
        yield invocation.folder / FILE
    name = f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S-%fZ}-{FILE}"
    state = state_dir()
    if state is not None:
        yield state / "errors" / name
    yield Path(tempfile.gettempdir()) / f"assay-{name}"


def _lines(error: BaseException) -> Iterator[str]:
    from traceback import StackSummary, walk_tb  # noqa: PLC0415 -- only for an error

    yield f"Assay {__version__}, Python {sys.version.partition(' ')[0]}, {sys.platform}"
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield ""
        yield f"{type(link).__module__}.{type(link).__qualname__}"
        yield from map(str.rstrip, StackSummary.extract(walk_tb(link.__traceback__)).format())
        link = link.__cause__ or link.__context__
