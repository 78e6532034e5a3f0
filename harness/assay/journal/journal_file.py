"""File of a journal: created, or opened again to continue it, and locked for one run at a time.

Nothing that was recorded is overwritten. Only an incomplete last line, which could not be read, is
cut off before a journal is continued.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from assay.errors import InputError, JournalError
from assay.journal.lines import is_complete, raw_lines

if sys.platform != "win32":
    import fcntl

#: The name of a journal in the folder of its run.
JOURNAL = "journal.jsonl"


def journal_at(path: Path) -> Path:
    """Return the journal at a path, which is that of the file or of the folder of its run."""
    return path / JOURNAL if path.is_dir() else path


def check_new(path: Path) -> None:
    """Raise the error of `create` for a journal that exists, before anything is sent."""
    if path.exists():
        raise _exists(path)


def _exists(path: Path) -> InputError:
    hint = "choose another --out; journals are never overwritten"
    return InputError.one(str(path), "a journal already exists", hint=hint)


def create(path: Path) -> IO[str]:
    """Create the file of a new journal; an existing one is never overwritten.

    Raises:
        InputError: the file exists, or cannot be created.

    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        out = path.open("x", encoding="utf-8", newline="\n")
    except FileExistsError:
        raise _exists(path) from None
    except OSError as error:
        raise InputError.one(str(path), _cannot_write(error)) from None
    with suppress(OSError):  # not every file system has locks
        _lock(out)
    return out


def reopen(path: Path) -> IO[str]:
    """Open the journal of a run that was cut short, and change nothing in it.

    Raises:
        InputError: there is none, it cannot be written, or another run is writing it.

    """
    try:
        out = path.open("r+", encoding="utf-8", newline="\n")
    except (FileNotFoundError, NotADirectoryError):
        hint = "pass the folder of a run (--out), or start a new run"
        raise InputError.one(str(path), "there is no journal to resume", hint=hint) from None
    except OSError as error:
        raise InputError.one(str(path), _cannot_write(error), hint="copy the folder") from None
    try:
        _lock(out)
        if not os.access(path.parent, os.W_OK):
            what = "the folder is read-only, so no report can be written"
            raise InputError.one(str(path.parent), what, hint="copy the folder")
    except BlockingIOError:
        out.close()
        hint = "wait until it has ended"
        raise InputError.one(str(path), "another run is writing this journal", hint=hint) from None
    except OSError:
        pass  # as above
    except InputError:
        out.close()
        raise
    return out


def continue_lines(out: IO[str], path: Path, see: Callable[[bytes], None]) -> None:
    """Go to the end of the last complete line; pass each complete line to `see`.

    Raises:
        JournalError: the file cannot be read or written.

    """
    try:
        size, last = 0, b"\n"
        with path.open("rb") as stream:
            for _, last in raw_lines(stream, str(path)):
                if last.endswith(b"\n"):
                    see(last)
                    size += len(last)
        if not last.endswith(b"\n") and is_complete(last):
            out.seek(0, os.SEEK_END)
            out.write("\n")
            out.flush()
            see(last + b"\n")
        else:
            out.seek(size)
            out.truncate()
    except OSError as error:
        raise JournalError(_cannot_write(error)) from None


def _cannot_write(error: OSError) -> str:
    return f"cannot write the journal: {error.strerror}"


def _lock(out: IO[str]) -> None:
    """Lock a journal until it is closed.

    Raises:
        BlockingIOError: another program has locked it.

    """
    if sys.platform != "win32":
        fcntl.flock(out.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
