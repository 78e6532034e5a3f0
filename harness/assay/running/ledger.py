"""Ledger of today's accesses without the customer, shared by all runs.

A bank counts such accesses for each customer, operation and calendar day, so one file counts them
for threads, processes and later runs. An access is recorded before it is sent, and stays recorded
whatever the response is. Each access opens a connection of its own: accesses are few, and no two
threads share a connection.

What a target file says may change between two runs, but not whom it is about. So an access is
recorded under all that identifies its customer, and counts for everybody who shares any of it. It
counts for as long as it is the same day in the zone of either run; in every zone that there is,
where one of them knew none.

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
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import TypeAlias
from zoneinfo import ZoneInfo

from assay._resources import state_dir
from assay.binding.model.origin import place_of
from assay.errors import AssayError, InputError, TargetError
from assay.rules.state.calendar import local_day

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
#: What later versions added: the zone of the day, and which rows are one access.
_ADDED = ("zone", "access")
_FIND = "SELECT rowid, * FROM access WHERE customer IN ({}) AND day >= ?"
_WRITE = (
    "INSERT INTO access (target, customer, method, day, run, at, zone, access)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
#: Every offset from UTC that a bank's zone can have.
_EVERYWHERE = tuple(timezone(timedelta(minutes=15 * n)) for n in range(-12 * 4, 14 * 4 + 1))
#: How many days earlier a date can be that is the same day somewhere.
_DAYS = timedelta(days=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaUse:
    """What an access counts against.

    `targets` are the places of the bank, `customers` all that identifies one customer there;
    `earlier` is how versions before this one identified them. `zone` is the bank's, if known.
    `later` says that what was recorded at a later time counts: the clock was set back since.
    """

    targets: tuple[str, ...]
    customers: tuple[str, ...]
    method: str
    at: datetime
    zone: tzinfo | None = None
    earlier: tuple[str, ...] = ()
    later: bool = False

    @property
    def day(self) -> date:
        """The calendar day at the bank, that of UTC if its zone is unknown."""
        return local_day(self.at, self.zone or UTC)

    def counts(self, row: Mapping[str, str | None]) -> bool:
        """Whether a recorded access of the customer was made at the same bank and day, perhaps."""
        places = (row["target"] or "").split()  # of an earlier version, the URL as it was written
        if not {place_of(each) if "://" in each else each for each in places} & {*self.targets}:
            return False
        try:
            at, named = datetime.fromisoformat(row["at"] or ""), row.get("zone")
            zones = (ZoneInfo(named), self.zone) if named and self.zone else _EVERYWHERE
            days = [(local_day(at, zone), local_day(self.at, zone)) for zone in zones]
        except (ValueError, OSError, LookupError, OverflowError):
            return True  # nothing is known of it
        noted = named is None and row["day"] == self.day.isoformat()
        return noted or any(day == today for day, today in days) or (self.later and at > self.at)


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
            _extend(connection)
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
        with _connection(self.path, _target_error) as connection:
            return self._count(connection, use, every=True)

    def spend(self, use: QuotaUse, *, most: int | None, run: str) -> bool:
        """Record an access if fewer than `most` are recorded; return whether it was.

        Counting and recording are one transaction, so two processes cannot exceed the limit.

        Raises:
            TargetError: the ledger can no longer be written.

        """
        with _connection(self.path, _target_error) as connection, _transaction(connection):
            if most is not None and self._count(connection, use) >= most:
                return False
            connection.executemany(_WRITE, self._rows(use, run))
            return True

    def note(self, uses: Iterable[QuotaUse], *, run: str) -> None:
        """Record uses that no limit depends on, without waiting for the disk.

        Raises:
            TargetError: the ledger can no longer be written.

        """
        rows = [row for use in uses for row in self._rows(use, run)]
        with _connection(self.path, _target_error) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            with _transaction(connection):
                connection.executemany(_WRITE, rows)

    def _count(self, connection: sqlite3.Connection, use: QuotaUse, *, every: bool = False) -> int:
        """Count the accesses of a method, or all, that anything identifies as this customer's."""
        customers = [self._hash(each) for each in {*use.customers, *use.earlier}]
        found = connection.execute(
            _FIND.format(", ".join("?" * len(customers))),
            (*customers, (use.day - _DAYS).isoformat()),
        )
        names = [name for name, *_ in found.description]
        rows = (dict(zip(names, row, strict=True)) for row in found)
        return len(
            {
                row.get("access") or row["rowid"]
                for row in rows
                if (every or row["method"] == use.method) and use.counts(row)
            }
        )

    def _rows(self, use: QuotaUse, run: str) -> list[tuple[str, ...]]:
        """Return a row for each identity of the customer; together they are one access."""
        places, zone, access = " ".join(use.targets), str(use.zone or ""), secrets.token_hex(8)
        more = (use.method, use.day.isoformat(), run, use.at.isoformat(), zone, access)
        return [(places, self._hash(each), *more) for each in use.customers]

    def _hash(self, customer: str) -> str:
        return hmac.new(
            self.key, customer.encode("utf-8", "surrogatepass"), hashlib.sha256
        ).hexdigest()


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


def _extend(connection: sqlite3.Connection) -> None:
    """Add what a ledger of an earlier version does not have; that version can still use it."""
    known = {name for _, name, *_ in connection.execute("PRAGMA table_info(access)")}
    for column in _ADDED:
        if column not in known:
            connection.execute(f"ALTER TABLE access ADD COLUMN {column} TEXT")
    connection.execute("CREATE INDEX IF NOT EXISTS customers ON access (customer, day)")


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
