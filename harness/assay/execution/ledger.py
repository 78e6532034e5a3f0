"""Ledger of today's accesses without the customer, shared by all runs.

A bank counts such accesses for each customer, operation and calendar day, so one file counts them
for threads, processes and later runs. An access is recorded before it is sent, and stays recorded
whatever the response is. Each access opens a connection of its own: accesses are few, and no two
threads share a connection.

The file has no names. A customer is a hash with a key that only this file has, so two ledgers
cannot be compared.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TypeAlias

from assay._resources import state_dir
from assay.errors import AssayError, InputError, TargetError

__all__ = ["Ledger", "QuotaUse", "default_path"]

#: Makes the error for a problem with a ledger.
ErrorFactory: TypeAlias = Callable[[str], AssayError]

#: The application id and the format version in the SQLite header of the file.
APPLICATION, FORMAT = 0x41737379, 1
#: How many seconds another program may lock the file.
LOCK_TIMEOUT = 5.0
#: The hint of every message about an unusable file.
HINT = "pass another file with --ledger, or none to use the one in your state directory"

_TABLES = """
CREATE TABLE secret (key BLOB NOT NULL);
CREATE TABLE access (
    target TEXT NOT NULL, customer TEXT NOT NULL, method TEXT NOT NULL, day TEXT NOT NULL,
    run TEXT NOT NULL, at TEXT NOT NULL
);
CREATE INDEX spent ON access (target, customer, method, day);
"""
_COUNT = "SELECT count(*) FROM access WHERE target=? AND customer=? AND method=? AND day=?"
_COUNT_ALL = "SELECT count(*) FROM access WHERE target=? AND customer=? AND day=?"
_WRITE = "INSERT INTO access (target, customer, method, day, run, at) VALUES (?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaUse:
    """What an access counts against. `customer` identifies one customer among all."""

    target: str
    customer: str
    method: str
    day: date


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the default path of the ledger: $ASSAY_LEDGER, or below the state directory.

    Raises:
        InputError: the user has no home directory.

    """
    if environ.get("ASSAY_LEDGER"):
        return Path(environ["ASSAY_LEDGER"])
    folder = state_dir(environ)
    if folder is None:
        hint = "pass --ledger FILE, or set ASSAY_LEDGER or XDG_STATE_HOME"
        raise InputError.one("--ledger", "this user has no home directory", hint=hint)
    return folder / "ledger.sqlite"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """A ledger in an existing file."""

    path: Path
    key: bytes = field(repr=False)

    @classmethod
    def at(cls, path: Path) -> Ledger:
        """Open a ledger for writing; create it if it does not exist.

        Raises:
            InputError: it is not a ledger, is locked, or cannot be written.

        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
        except OSError as error:
            what = f"the ledger cannot be written ({error.strerror})"
            raise InputError.one(str(path), what, hint=HINT) from None
        make_error = _input_error(path)
        # If two programs create it at the same time, the second one uses it.
        with _connection(path, make_error) as connection, _transaction(connection):
            if _is_empty(connection):
                _create(connection)
            key = _key(connection, make_error)
            connection.execute("UPDATE secret SET key = key")  # fails if the file is read-only
        return cls(path=path, key=key)

    @classmethod
    def existing(cls, path: Path) -> Ledger | None:
        """Open a ledger for reading; None if it does not exist.

        Raises:
            InputError: it is not a ledger, or cannot be read.

        """
        try:
            if not path.exists() or not path.stat().st_size:
                return None
        except OSError as error:
            what = f"the ledger cannot be read ({error.strerror})"
            raise InputError.one(str(path), what, hint=HINT) from None
        make_error = _input_error(path)
        with _connection(path, make_error) as connection:
            return cls(path=path, key=_key(connection, make_error))

    def used(self, use: QuotaUse) -> int:
        """Return how many accesses are recorded.

        Raises:
            TargetError: the ledger can no longer be read.

        """
        with _connection(self.path, _target_error) as connection:
            return self._count(connection, use)

    def used_in_all(self, use: QuotaUse) -> int:
        """Return how many accesses and other uses are recorded of a customer that day.

        Raises:
            TargetError: the ledger can no longer be read.

        """
        target, customer, _, day = self._row(use)
        with _connection(self.path, _target_error) as connection:
            (count,) = connection.execute(_COUNT_ALL, (target, customer, day)).fetchone()
        return int(count)

    def spend(self, use: QuotaUse, *, most: int | None, run: str, at: datetime) -> bool:
        """Record an access if fewer than `most` are recorded; return whether it was.

        Counting and recording are one transaction, so two processes cannot exceed the limit.

        Raises:
            TargetError: the ledger can no longer be written.

        """
        with _connection(self.path, _target_error) as connection, _transaction(connection):
            if most is not None and self._count(connection, use) >= most:
                return False
            connection.execute(_WRITE, (*self._row(use), run, at.isoformat()))
            return True

    def note(self, uses: Iterable[QuotaUse], *, run: str, at: datetime) -> None:
        """Record uses that no limit depends on, without waiting for the disk.

        Raises:
            TargetError: the ledger can no longer be written.

        """
        rows = [(*self._row(use), run, at.isoformat()) for use in uses]
        with _connection(self.path, _target_error) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            with _transaction(connection):
                connection.executemany(_WRITE, rows)

    def _count(self, connection: sqlite3.Connection, use: QuotaUse) -> int:
        (count,) = connection.execute(_COUNT, self._row(use)).fetchone()
        return int(count)

    def _row(self, use: QuotaUse) -> tuple[str, str, str, str]:
        hashed = hmac.new(self.key, use.customer.encode(), hashlib.sha256).hexdigest()
        return use.target, hashed, use.method, use.day.isoformat()


def _input_error(path: Path) -> ErrorFactory:
    return lambda what: InputError.one(str(path), what, hint=HINT)


def _target_error(what: str) -> AssayError:
    return TargetError(f"{what}; nothing was sent")


@contextmanager
def _connection(path: Path, make_error: ErrorFactory) -> Generator[sqlite3.Connection]:
    """Connect to a ledger; an error of SQLite is raised as ours."""
    try:
        uri = f"{path.absolute().as_uri()}?mode=rw"
        with closing(
            sqlite3.connect(uri, uri=True, timeout=LOCK_TIMEOUT, isolation_level=None)
        ) as connection:
            yield connection
    except sqlite3.Error as error:
        raise make_error(_reason(error)) from None


def _reason(error: sqlite3.Error) -> str:
    """Return what went wrong; SQLite's own message may quote the content of the file."""
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"the ledger is locked by another program, for more than {LOCK_TIMEOUT:g} s"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return "the ledger cannot be written (it, or its disk, is read-only)"
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            return "the ledger cannot be written (the disk is full, or failed)"
        case _:
            return "this is not a ledger of Assay"


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    """Run the block as one exclusive transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _is_empty(connection: sqlite3.Connection) -> bool:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return not tables


def _create(connection: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    connection.execute("INSERT INTO secret (key) VALUES (?)", (secrets.token_bytes(32),))
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def _key(connection: sqlite3.Connection, make_error: ErrorFactory) -> bytes:
    """Return the key of a ledger, after checking its application id and format."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise make_error("this is not a ledger of Assay")
    if version != FORMAT:
        raise make_error(
            f"the ledger has format {version}; this version of Assay reads format {FORMAT}"
        )
    row = connection.execute("SELECT key FROM secret").fetchone()
    if row is None or not isinstance(row[0], bytes):
        raise make_error("this is not a ledger of Assay")
    return row[0]
