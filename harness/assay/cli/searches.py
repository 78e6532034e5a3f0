"""The searches of `assay run`: what is asked for, recorded sequences, and how they are run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import click

from assay.cli.progress import Progress
from assay.errors import InputError
from assay.execution.session import Session
from assay.planning.plan import Plan
from assay.planning.prepare import Prepared

if TYPE_CHECKING:
    from assay.fuzzing.sequences.sequence_file import Examples, RecordedSequence


def check_extras(schema: int) -> None:
    """Check that what a search needs is installed.

    Raises:
        InputError: Schemathesis is needed and not installed.

    """
    if schema and find_spec("schemathesis") is None:
        hint = "pip install 'assay[schema]'"
        raise InputError.one("--schema", "Schemathesis is not installed", hint=hint)


def plan_of(prepared: Prepared, sequences: Sequence[RecordedSequence]) -> Plan:
    """Return the part of a plan that recorded sequences test; the whole if there are none."""
    if not sequences:
        return prepared.plan
    from assay.fuzzing.session import replayed  # noqa: PLC0415 -- Hypothesis only for a search

    return replayed(prepared.plan, sequences, prepared.target)


def replay(session: Session, prepared: Prepared, sequences: Sequence[RecordedSequence]) -> None:
    """Replay recorded sequences, and judge the obligations that each violated."""
    if sequences:
        from assay.fuzzing import session as fuzzing  # noqa: PLC0415 -- Hypothesis, as above

        for sequence in sequences:
            fuzzing.replay(session, prepared.plan, sequence)


def run_searches(
    session: Session,
    prepared: Prepared,
    times: Mapping[str, int],
    progress: Progress,
    folder: Path,
    examples: Examples | None,
) -> None:
    """Run the searches of each way by its `times`, until the guard stops the run."""
    if not any(times.values()):
        return
    from assay.fuzzing.findings import requested_searches  # noqa: PLC0415 -- only for a search
    from assay.fuzzing.session import run_search  # noqa: PLC0415 -- Hypothesis, as above

    whole = prepared.whole()
    for request in requested_searches(prepared.plan, times):
        done = (request.contract, request.how, request.operation) in session.progress.searches
        if not done and not session.environment.guard.stopped:
            progress.on_search(request.contract, request.how)
            run_search(
                session,
                request,
                plan=prepared.plan,
                whole=whole,
                bound=prepared.bound,
                folder=folder,
                examples=examples,
            )


#: The schemes of the URLs at which a team shares its sequences.
STORES = ("redis", "rediss", "unix")


def examples_of(url: str, times: Mapping[str, int]) -> Examples | None:
    """Open the store of sequences that showed a violation; None if nothing is searched.

    Raises:
        InputError: it cannot be used.

    """
    scheme, separator, _ = url.partition("://")
    if separator and scheme not in STORES:
        what = f"expected a folder or one of {', '.join(f'{each}://' for each in STORES)}"
        raise InputError.one("--examples", f"{what}; found {scheme}://…")
    if not any(times.values()):
        return None
    from assay.fuzzing.sequences.sequence_file import open_examples  # noqa: PLC0415 -- as above

    return open_examples(url)


def password_in(url: str) -> str | None:
    """Return the password in the URL of a database, if it has one."""
    try:
        return unquote(urlsplit(url).password or "")
    except ValueError:
        return None


def read_sequences(paths: Sequence[Path]) -> list[RecordedSequence]:
    """Read the recorded sequences of files and folders.

    Raises:
        InputError: a file is no recorded sequence, or a folder has none.

    """
    if not paths:
        return []
    from assay.fuzzing.sequences.sequence_file import read  # noqa: PLC0415 -- seldom needed

    sequences: list[RecordedSequence] = []
    for path in paths:
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not files:
            raise InputError.one(str(path), "there is no recorded sequence in this folder (*.json)")
        sequences += map(read, files)
    return sequences


def print_prices(prepared: Prepared, times: Mapping[str, int]) -> None:
    """Print what the requested searches may cost."""
    if not any(times.values()):
        return
    from assay.fuzzing.findings import requested_searches  # noqa: PLC0415 -- only for a search
    from assay.fuzzing.limits import price_of  # noqa: PLC0415 -- Hypothesis, as above

    for request in requested_searches(prepared.plan, times):
        operations = len(prepared.plan.contracts[request.contract].operations)
        click.echo(price_of(request, prepared.target, operations))
