"""Recorded sequences: their file format, and the database of those that found something.

A recorded sequence can be replayed on another day or target. It holds no key of a
customer, no token and no address: what only a target can name is a reference (see
`step_codec`). Its schema is `contract/schema/sequence.yaml`.

Saved sequences are tried first in the next run. The database is one of Hypothesis
(`hypothesis.database`): a directory, or a Redis that a team shares. It stores sequences
in this format, not Hypothesis' choices: they outlive changes of the strategies, and are
readable.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from assay.contract.model import Contract
from assay.errors import InputError, Problem, did_you_mean
from assay.files.document import Document, Pointer, problem
from assay.files.load import load, loads
from assay.files.shape_check import check
from assay.fuzzing.sequences.abstract_step import AbstractSequence, AbstractStep
from assay.fuzzing.sequences.step_codec import UnreadableStep, decode_step, encode_step
from assay.history import Call, Register, Renew, Step

if TYPE_CHECKING:
    from hypothesis.database import ExampleDatabase

#: The default directory, and the word for no database.
NOWHERE = "none"
#: The most saved sequences that are tried of one contract.
MOST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSequence:
    """A sequence with its name, its contract, what it violates, and its fixture's seed.

    `context` has the ids of the dimension values in which it is run.
    """

    name: str
    contract: str
    breaks: tuple[str, ...]
    steps: AbstractSequence
    seed: int = 0
    says: str = ""
    path: str = ""
    context: tuple[str, ...] = ()


def write(recorded: RecordedSequence) -> str:
    """Return a sequence as JSON text, one step per line."""
    head = {
        "assay": 1,
        "sequence": recorded.name,
        "contract": recorded.contract,
        "breaks": list(recorded.breaks),
        "says": recorded.says,
        "seed": recorded.seed,
        **({"context": list(recorded.context)} if recorded.context else {}),
    }
    lines = [f"  {_line(name)}: {_line(value)}," for name, value in head.items()]
    steps = ",\n".join(f"    {_line(encode_step(step))}" for step in recorded.steps)
    return "{\n" + "\n".join(lines) + f'\n  "steps": [\n{steps}\n  ]\n}}\n'


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def read(path: str | Path) -> RecordedSequence:
    """Read a sequence from a file.

    Raises:
        InputError: it cannot be read, or is not a valid sequence; all problems are reported.

    """
    return _recorded(load(path))


def read_text(text: str, path: str) -> RecordedSequence:
    """Parse a sequence from a text, as if it were the content of the file `path`.

    Raises:
        InputError: it is not a valid sequence.

    """
    return _recorded(loads(text, path))


def _recorded(document: Document) -> RecordedSequence:
    problems = check(document, "sequence")
    if problems:
        raise InputError(problems)
    raw = cast("Mapping[str, Any]", document.data)
    steps: list[AbstractStep] = []
    for place, step in enumerate(raw["steps"]):
        try:
            steps.append(decode_step(step, place))
        except UnreadableStep as error:
            where: Pointer = ("steps", place, *error.where)
            problems.append(problem(document, where, error.what, error.hint))
    if problems:
        raise InputError(problems)
    return RecordedSequence(
        name=raw["sequence"],
        contract=raw["contract"],
        breaks=tuple(raw["breaks"]),
        steps=tuple(steps),
        seed=raw.get("seed", 0),
        says=raw.get("says", ""),
        path=document.path,
        context=tuple(raw.get("context", ())),
    )


# -- saved sequences -----------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Examples:
    """The saved sequences of a database, by contract."""

    database: ExampleDatabase

    def sequences(self, contract: str) -> Iterator[RecordedSequence]:
        """Yield the sequences of a contract; unreadable ones are deleted.

        Raises:
            InputError: the database does not answer.

        """
        for raw in sorted(self._fetch(contract))[:MOST]:
            try:
                yield read_text(raw.decode(), contract)
            except (InputError, UnicodeDecodeError):
                self.database.delete(_key(contract), raw)

    def save(self, recorded: RecordedSequence) -> None:
        """Save a sequence."""
        self.database.save(_key(recorded.contract), write(recorded).encode())

    def drop(self, recorded: RecordedSequence) -> None:
        """Delete a sequence that violates nothing any more."""
        self.database.delete(_key(recorded.contract), write(recorded).encode())

    def _fetch(self, contract: str) -> list[bytes]:
        try:
            return [*self.database.fetch(_key(contract))]
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
    return f"assay/sequences/1/{contract}".encode()


# -- Names that a contract does not have: of another version of it, or written by hand ----------
def foreign_names(recorded: RecordedSequence, contract: Contract) -> list[Problem]:
    """Return a problem for each name that the contract does not have."""
    return [
        Problem(
            path=recorded.path,
            line=0,
            what=f"steps[{number}].{key}: {contract.id} has no {key} {name!r}",
            hint=did_you_mean(name, known),
        )
        for number, abstract_step in enumerate(recorded.steps)
        for key, name, known in _names(abstract_step.step, contract)
        if name not in known
    ]


def _names(step: Step, contract: Contract) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each name in a step, by its key, with the names that the contract has."""
    if isinstance(step, Call | Register | Renew):
        yield "operation", step.operation, [*contract.operations]
