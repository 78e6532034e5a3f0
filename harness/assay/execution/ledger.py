"""Ledger of the accesses made today without the customer, shared by all runs.

A bank counts such accesses for each customer, operation and calendar day, so one file counts them
for threads, processes and later runs. An access is written down before it is sent, and stays
whatever its answer is. Each access opens its own connection: there are few of them, and no two
threads share one.

The file has no names. A customer is a keyed hash, and the key is the file's own, so two ledgers
cannot be compared.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TypeAlias

from assay.errors import AssayError, InputError, TargetError

__all__ = ["Ledger", "QuotaUse", "default_path"]

#: Makes the error that tells what is the matter with a ledger.
Told: TypeAlias = Callable[[str], AssayError]

#: What SQLite keeps in the file's header to say whose it is, and in which form.
APPLICATION, FORMAT = 0x41737379, 1
#: For so many seconds another program may be writing.
PATIENCE = 5.0
#: What every message about a file that is not ours advises.
OTHER = "name another file with --ledger, or none: then it stands in your state directory"

_TABLES = """
CREATE TABLE secret (key BLOB NOT NULL);
CREATE TABLE access (
    target TEXT NOT NULL, customer TEXT NOT NULL, method TEXT NOT NULL, day TEXT NOT NULL,
    run TEXT NOT NULL, at TEXT NOT NULL
);
CREATE INDEX spent ON access (target, customer, method, day);
"""
_COUNT = "SELECT count(*) FROM access WHERE target=? AND customer=? AND method=? AND day=?"
_WRITE = "INSERT INTO access (target, customer, method, day, run, at) VALUES (?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaUse:
    """What an access counts against. `customer` identifies one customer among all."""

    target: str
    customer: str
    method: str
    day: date


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the default path of the ledger: $ASSAY_LEDGER, or below the state directory."""
    if environ.get("ASSAY_LEDGER"):
        return Path(environ["ASSAY_LEDGER"])
    state = environ.get("XDG_STATE_HOME", "")
    base = Path(state) if state.startswith("/") else Path.home() / ".local" / "state"
    return base / "assay" / "ledger.sqlite"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """A ledger in an existing file."""

    path: Path
    key: bytes = field(repr=False)

    @classmethod
    def at(cls, path: Path) -> Ledger:
        """Open a ledger to write in it; make it if it is not there.

        Raises:
            InputError: it is no ledger, it is locked, or it cannot be written.

        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
        except OSError as error:
            what = f"the ledger cannot be written ({error.strerror})"
            raise InputError.one(str(path), what, hint=OTHER) from None
        told = _told_at_first(path)
        with _opened(path, told) as connection:
            # Two that make it at once: the second finds it made.
            with _at_once(connection):
                if _empty(connection):
                    _make(connection)
                key = _key(connection, told)
                connection.execute("UPDATE secret SET key = key")  # it can be written
            connection.execute("PRAGMA journal_mode = WAL")
        return cls(path=path, key=key)

    @classmethod
    def found(cls, path: Path) -> Ledger | None:
        """Open a ledger only to look; None if there is none yet.

        Raises:
            InputError: it is no ledger, or it cannot be read.

        """
        try:
            if not path.exists() or not path.stat().st_size:
                return None
        except OSError as error:
            what = f"the ledger cannot be read ({error.strerror})"
            raise InputError.one(str(path), what, hint=OTHER) from None
        told = _told_at_first(path)
        with _opened(path, told) as connection:
            return cls(path=path, key=_key(connection, told))

    def gone(self, use: QuotaUse) -> int:
        """Return how many accesses were made.

        Raises:
            TargetError: the ledger can no longer be read.

        """
        with _opened(self.path, _told_later) as connection:
            return self._gone(connection, use)

    def spend(self, use: QuotaUse, *, most: int | None, run: str, at: datetime) -> bool:
        """Count an access if fewer than `most` are counted; return whether it was.

        Counting and writing are one transaction: of two processes, one comes first.

        Raises:
            TargetError: the ledger can no longer be written.

        """
        with _opened(self.path, _told_later) as connection, _at_once(connection):
            if most is not None and self._gone(connection, use) >= most:
                return False
            connection.execute(_WRITE, (*self._row(use), run, at.isoformat()))
            return True

    def _gone(self, connection: sqlite3.Connection, use: QuotaUse) -> int:
        (count,) = connection.execute(_COUNT, self._row(use)).fetchone()
        return int(count)

    def _row(self, use: QuotaUse) -> tuple[str, str, str, str]:
        hashed = hmac.new(self.key, use.customer.encode(), hashlib.sha256).hexdigest()
        return use.target, hashed, use.method, use.day.isoformat()


def _told_at_first(path: Path) -> Told:
    return lambda what: InputError.one(str(path), what, hint=OTHER)


def _told_later(what: str) -> AssayError:
    return TargetError(f"{what}; nothing was sent")


@contextmanager
def _opened(path: Path, told: Told) -> Generator[sqlite3.Connection]:
    """Connect for as long as the block lasts; what SQLite cannot do is told in our words."""
    try:
        uri = f"{path.absolute().as_uri()}?mode=rw"
        with closing(
            sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)
        ) as connection:
            yield connection
    except sqlite3.Error as error:
        raise told(_why(error)) from None


def _why(error: sqlite3.Error) -> str:
    """Say what is the matter; SQLite's own words may quote what is in the file."""
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"the ledger is locked by another program, for more than {PATIENCE:g} s"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return "the ledger cannot be written (it, or its disk, is read-only)"
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            return "the ledger cannot be written (the disk is full, or failed)"
        case _:
            return "this is no ledger of Assay's"


@contextmanager
def _at_once(connection: sqlite3.Connection) -> Generator[None]:
    """Do all in the block or nothing, with nobody else in between."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _empty(connection: sqlite3.Connection) -> bool:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return not tables


def _make(connection: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    connection.execute("INSERT INTO secret (key) VALUES (?)", (secrets.token_bytes(32),))
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def _key(connection: sqlite3.Connection, told: Told) -> bytes:
    """Return the key of a file that is a ledger, and one that we can read."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise told("this is no ledger of Assay's")
    if version != FORMAT:
        raise told(f"a ledger of form {version}; this Assay knows form {FORMAT}")
    row = connection.execute("SELECT key FROM secret").fetchone()
    if row is None or not isinstance(row[0], bytes):
        raise told("this is no ledger of Assay's")
    return row[0]
