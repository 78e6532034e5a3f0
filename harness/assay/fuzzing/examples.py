"""Saved sequences that violated an obligation, tried first in the next run.

The database is one of Hypothesis' (`hypothesis.database`): a directory, or a Redis that
a team shares. It stores sequences in the format of this package, not Hypothesis'
choices: they outlive changes of the strategies, and are readable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.fuzzing.sequences.sequence_file import RecordedSequence, read_text, write

if TYPE_CHECKING:
    from hypothesis.database import ExampleDatabase

#: The default directory, and the word for no database.
DEFAULT, NOWHERE = "reports/local/examples", "none"
#: The most saved sequences that are tried of one contract.
MOST = 100


@dataclass(frozen=True, slots=True)
class Examples:
    """The saved sequences of a database, by contract."""

    database: ExampleDatabase

    def stories(self, contract: str) -> Iterator[RecordedSequence]:
        """Yield the sequences of a contract; unreadable ones are deleted.

        Raises:
            InputError: the database does not answer.

        """
        for raw in sorted(self._fetch(contract))[:MOST]:
            try:
                yield read_text(raw.decode(), contract)
            except (InputError, UnicodeDecodeError):
                self.database.delete(_key(contract), raw)

    def save(self, kept: RecordedSequence) -> None:
        """Save a sequence."""
        self.database.save(_key(kept.contract), write(kept).encode())

    def drop(self, kept: RecordedSequence) -> None:
        """Delete a sequence that violates nothing any more."""
        self.database.delete(_key(kept.contract), write(kept).encode())

    def _fetch(self, contract: str) -> list[bytes]:
        try:
            return [*self.database.fetch(_key(contract))]
        except OSError as error:
            raise _unusable("the database", error) from None
        except Exception as error:  # noqa: BLE001 -- whatever its client raises
            raise _unusable("the database", error) from None


def open_examples(where: str) -> Examples | None:
    """Return the database at a directory or a redis:// URL; None for the word `none`.

    Raises:
        InputError: it cannot be used.

    """
    from hypothesis.database import DirectoryBasedExampleDatabase  # noqa: PLC0415 -- slow

    if where == NOWHERE:
        return None
    if where.startswith(("redis://", "rediss://", "unix://")):
        return Examples(_redis(where))
    return Examples(DirectoryBasedExampleDatabase(where))


def _redis(url: str) -> ExampleDatabase:
    try:
        from hypothesis.extra.redis import RedisExampleDatabase  # noqa: PLC0415 -- an extra
        from redis import Redis  # noqa: PLC0415 -- an extra
    except ImportError:
        hint = "pip install 'assay[redis]'"
        raise InputError.one("--examples", "redis is not installed", hint=hint) from None
    try:
        client: Any = Redis.from_url(url, socket_timeout=5, socket_connect_timeout=5)
        client.ping()
    except Exception as error:  # noqa: BLE001 -- whatever its client raises
        raise _unusable("redis", error) from None
    return RedisExampleDatabase(client, key_prefix=b"assay-example:")


def _unusable(what: str, error: Exception) -> InputError:
    # The client's message may quote the URL, and with it a password.
    return InputError.one("--examples", f"{what} cannot be used ({type(error).__name__})")


def _key(contract: str) -> bytes:
    return f"assay/stories/1/{contract}".encode()
