"""Stories that broke something, kept between runs: what was found is tried first next time.

The database is one of Hypothesis' (`hypothesis.database`): a directory, or a Redis that a
team shares. What it holds are our own stories, not Hypothesis' choices: they outlive a
change of the strategies, and anybody can read them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.fuzzing.sequences.sequence_file import RecordedSequence, read_text, write

if TYPE_CHECKING:
    from hypothesis.database import ExampleDatabase

#: Where stories are kept if nobody says where, and the word for nowhere.
DEFAULT, NOWHERE = "reports/local/examples", "none"
#: No more stories than this are tried of one contract.
MOST = 100


@dataclass(frozen=True, slots=True)
class Examples:
    """The stories of a database, by contract."""

    database: ExampleDatabase

    def stories(self, contract: str) -> Iterator[RecordedSequence]:
        """Yield the stories of a contract; one that cannot be read any more is dropped.

        Raises:
            InputError: the database does not answer.

        """
        for raw in sorted(self._fetch(contract))[:MOST]:
            try:
                yield read_text(raw.decode(), contract)
            except (InputError, UnicodeDecodeError):
                self.database.delete(_key(contract), raw)

    def save(self, kept: RecordedSequence) -> None:
        """Keep a story."""
        self.database.save(_key(kept.contract), write(kept).encode())

    def drop(self, kept: RecordedSequence) -> None:
        """Forget a story: it breaks nothing any more."""
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
    # What the client says may quote the URL, and with it a password.
    return InputError.one("--examples", f"{what} cannot be used ({type(error).__name__})")


def _key(contract: str) -> bytes:
    return f"assay/stories/1/{contract}".encode()
