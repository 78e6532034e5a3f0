"""`assay run`: test a target, write its journal and reports, print the summary."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import click

from assay.cli import doctor, options, publication
from assay.cli.crash_report import note_folder
from assay.cli.progress import Progress, announce, parts_of
from assay.cli.rerun import NEWEST, only_failed, watch
from assay.cli.results import continued_by, finish, named_if_cut_short, new_folder
from assay.cli.resume import (
    Resumption,
    RunOptions,
    check_same,
    check_same_bank,
    explicit_options,
    finished,
    invocation,
    remaining,
    resumption,
    with_recorded,
)
from assay.cli.signals import terminable
from assay.contexts.context import STRENGTH, Depth
from assay.errors import Exit, InputError, TargetError
from assay.files.document import file_name
from assay.fuzzing import DEFAULT_EXAMPLES, LIVES
from assay.journal.journal_file import JOURNAL, check_new
from assay.journal.writer import Journal
from assay.judging.exit_policy import ExitPolicy
from assay.planning.plan import Plan
from assay.planning.shards import check_divisible
from assay.preparation.prepare import Prepared, prepare
from assay.running.environment import Environment, set_up
from assay.running.parallel_trials import LaneTask, lanes_for, most_lanes
from assay.running.resumption import RecordedProgress
from assay.running.session import Options, RunResult, Session, run_session

if TYPE_CHECKING:
    from assay.fuzzing.findings import SearchRequest
    from assay.fuzzing.sequences.sequence_file import Examples, RecordedSequence


EPILOG = """\b
Examples:
  assay run
  assay run --target http://127.0.0.1:8080
  assay run --target bank.yaml --out reports/local/before-go-live
  assay run --target bank.yaml --out "reports/gate/{started}" --format sarif
  assay run -m quota -k "next-day or midnight"
  assay run --seed 7
  assay run --target bank.yaml -x
  assay run --target bank.yaml --lf
  assay run --target bank.yaml --watch --maxfail 3
  assay run --target bank.yaml --live
  assay run --shard 2/5 --out shard-2
  assay run --journeys 200 --fields 200 --schema 20
  assay run --replay reports/local/before-go-live/sequences
  assay run --resume reports/local/before-go-live
  assay run --target bank.yaml --waivers waivers.yaml --baseline reports/last-release
"""

#: The options of `run` by section of its help.
SECTIONS = {
    "What is tested": (
        "contracts",
        "target",
        "waivers",
        "keywords",
        "marks",
        "contexts",
        "roles",
        "last_failed",
        "shard",
        "seed",
    ),
    "Searches": ("lives", "journeys", "fields", "schema", "examples", "replays"),
    "Safety and cost": ("dry_run", "no_doctor", "concurrency", "wait", "ledger"),
    "While it runs": ("exit_first", "most_violated", "watch", "live", "quiet"),
    "Result": (
        "out",
        "resume",
        "allow_incomplete",
        "min_verified",
        "baseline",
        "formats",
        "annotations",
    ),
}


@click.command(cls=options.SectionedCommand, sections=SECTIONS, epilog=EPILOG)
@options.contracts
@options.target
@options.waivers
@options.selection
@options.seed
@options.out
@click.option(
    "--resume",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Continue the interrupted run in this folder with its remaining trials. Contracts,"
    " target and seed are taken from its journal.",
)
@options.allow_incomplete
@publication.format_option
@publication.annotation_option
@options.gate
@click.option(
    "--lives",
    type=click.IntRange(0, 3),
    metavar="0..3",
    help="Also let the events of each interface (consents, repeats, changes, a week, ...) come in"
    " orders in which every two, or every three, come in every order; every rule judges them."
    " Default: 2 with --contexts each, 3 with pairs, 0 for a selection or a shard.",
)
@click.option(
    "--journeys",
    type=click.IntRange(0, 1_000_000),
    default=0,
    metavar="N",
    help="Also run N random sequences of calls for each contract; every rule judges each of them.",
)
@click.option(
    "--fields",
    type=click.IntRange(0, 1_000_000),
    default=0,
    metavar="N",
    help="Also send N requests with one mutated field, each next to a valid control request.",
)
@click.option(
    "--schema",
    type=click.IntRange(0, 1_000_000),
    default=0,
    metavar="N",
    help="Also send the requests that Schemathesis generates from the OpenAPI document that the"
    " target file names, or the exported one:"
    " its fixed cases and N random cases for each operation. Requires assay[schema].",
)
@click.option(
    "--replay",
    "replays",
    type=click.Path(path_type=Path, exists=True),
    multiple=True,
    metavar="FILE|DIR",
    help="Replay only this recorded sequence (or all sequences in this folder) and judge the"
    " obligations that it violated. Repeatable.",
)
@click.option(
    "--examples",
    default=DEFAULT_EXAMPLES,
    show_default=True,
    metavar="DIR|URL|none",
    help="Where to keep sequences that found a violation: a folder, or a redis:// URL shared by a"
    " team. They are tried first next time.",
)
@options.concurrency
@options.wait
@options.ledger
@options.contexts
@options.roles
@options.shard
@options.dry_run
@options.no_doctor
@click.option("-x", "--exitfirst", "exit_first", is_flag=True, help="Stop at the first violation.")
@click.option(
    "--maxfail",
    "most_violated",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Stop when N obligations are violated. `--resume` continues the run.",
)
@click.option(
    "--lf",
    "--last-failed",
    "last_failed",
    is_flag=False,
    flag_value=NEWEST,
    metavar="[RUN]",
    help="Test only what was violated, inconclusive or not verified in this earlier run (its folder"
    " or journal; default: the newest in reports/local), in all contexts; everything if nothing was.",
)
@click.option(
    "--watch",
    is_flag=True,
    help="Run again whenever a YAML or Python file beside the named files changes, or the bank can"
    " be reached again.",
)
@click.option(
    "--live",
    is_flag=True,
    help="Show the report in a browser of this machine while the run goes on, at the address that"
    " is printed.",
)
@options.quiet
def command(**given: Any) -> int:
    """Test a target against its contracts and write a conformance report.

    Without options, `assay run` tests the embedded sandbox against the shipped contracts.
    """
    options_ = RunOptions(**given)
    with terminable(), publication.commands_stopped():
        if options_.watch:
            return watch(options_, sys.argv[1:])
        return run(options_) if options_.resume is None else _resume(options_, options_.resume)


def _resume(given: RunOptions, folder: Path) -> int:
    """Continue a run that was cut short; return the exit code.

    Raises:
        InputError: it cannot be continued like this.

    """
    with resumption(folder) as resumed:
        if not resumed.progress.complete:
            return run(with_recorded(given, resumed, explicit_options()), resumed)
    return finished(resumed, quiet=given.quiet)


def run(given: RunOptions, resumed: Resumption | None = None) -> int:
    """Plan, check the target file, test and report; return the exit code.

    `resumed` is the run that is continued, if it is not a new one.

    Raises:
        InputError: a file or an option cannot be used, or the target cannot be reached.

    """
    given = only_failed(given)
    sequences = read_sequences(given.replays)
    check_extras(given.schema)
    searches = {"journeys": given.journeys, "fields": given.fields, "schema": given.schema}
    if given.shard:
        options_of_searches = {f"--{name}": number for name, number in searches.items()}
        options_of_searches["--lives"] = given.lives or 0
        check_divisible({**options_of_searches, "--replay": sequences, "--wait": given.wait})
    policy = options.exit_policy(
        allow_incomplete=given.allow_incomplete,
        min_verified=given.min_verified,
        baseline=given.baseline,
        selection={"k": given.keywords, "m": given.marks},
        shard=given.shard,
    )
    prepared = prepare(
        given.contracts or [*dict.fromkeys(sequence.contract for sequence in sequences)],
        given.target,
        waivers=given.waivers,
        keywords=given.keywords,
        marks=given.marks,
        wait=given.wait,
        ledger=given.ledger,
        contexts=Depth.BASE if sequences else given.contexts,
        shard=given.shard,
        roles=given.roles,
    )
    if resumed is not None:
        check_same(resumed, prepared)
    times = {} if sequences else {LIVES: _strength(given, prepared), **searches}
    if given.dry_run:
        from assay.cli.plan import print_dry_run  # noqa: PLC0415 -- estimates, seldom needed

        print_prices(prepared, times)
        return print_dry_run(prepared)
    if resumed is None and given.out is not None:
        check_new(given.out / JOURNAL)
    if not given.no_doctor and not doctor.fit(
        prepared,
        given.contracts,
        given.target,
        given.ledger,
        concurrency=given.concurrency,
        quiet=given.quiet,
    ):
        return Exit.USAGE.value
    examples = examples_of(given.examples, times)
    session, folder = _open(given, prepared, sequences, policy, resumed)
    if sys.stderr.isatty() and not given.quiet:
        announce(session, folder, given.concurrency)
    with named_if_cut_short(folder, quiet=given.quiet):
        result = _perform(session, given, prepared, sequences, times, folder, examples)
        code = finish(folder, result, quiet=given.quiet)
        if result.stopped:
            click.echo(continued_by(folder))
        return code


def _strength(given: RunOptions, prepared: Prepared) -> int:
    """Return of how many events each order is tested."""
    if given.lives is not None:
        return given.lives
    part = given.keywords or given.marks or given.shard
    return 0 if part else STRENGTH[prepared.depth]


def _perform(
    session: Session,
    given: RunOptions,
    prepared: Prepared,
    sequences: Sequence[RecordedSequence],
    times: Mapping[str, int],
    folder: Path,
    examples: Any,
) -> RunResult:
    """Run the trials and the searches of a session.

    Raises:
        InputError: the target cannot be reached.

    """
    try:
        parts = partial(expected, prepared, times)
        if session.options.concurrency > 1:
            session.beside = _beside(session, prepared, times)
        with _live(given, folder), Progress(session, parts, quiet=given.quiet) as progress:

            def search() -> None:
                replay(session, prepared, sequences)
                run_searches(session, prepared, times, progress, folder, examples)

            return run_session(session, progress.on_trial, search)
    except TargetError as error:
        hint = f"{session.blame}; the journal is in {folder}"
        what = session.journal.redactor.link(str(error))
        raise InputError.one(given.target or prepared.target.name, what, hint=hint) from None
    finally:
        _close(session)


@contextmanager
def _live(given: RunOptions, folder: Path) -> Generator[None]:
    """Serve the report while the run goes on, if that is asked for."""
    if not given.live:
        yield
        return
    from assay.cli.live import serving  # noqa: PLC0415 -- only where somebody looks

    with serving(folder / JOURNAL) as url:
        click.echo(f"live: {url}", err=True)
        yield


def _open(
    given: RunOptions,
    prepared: Prepared,
    sequences: Sequence[RecordedSequence],
    policy: ExitPolicy,
    resumed: Resumption | None,
) -> tuple[Session, Path]:
    """Make the target ready and open the journal; return the session and its folder."""
    plan = plan_of(prepared, sequences)
    if resumed is not None:
        plan = remaining(resumed, plan, prepared)
    environment = _set_up(given, prepared, plan)
    environment.secrets.add(password_in(given.examples), "password", lasting=True)
    if resumed is not None:
        check_same_bank(resumed, prepared.target, environment)
    folder = (
        resumed.folder if resumed else given.out or new_folder(file_name(prepared.target.name, 40))
    )
    note_folder(folder)
    session = Session(
        plan=plan,
        environment=environment,
        journal=resumed.journal if resumed else Journal.at(folder / JOURNAL),
        resumes=resumed.path if resumed else None,
        progress=resumed.progress if resumed else RecordedProgress(),
        options=Options(
            seed=given.seed,
            policy=policy,
            selection={"k": given.keywords, "m": given.marks},
            command="assay " + " ".join(sys.argv[1:]),
            reproduce=prepared.reproduce,
            roles=prepared.roles,
            most_violated=1 if given.exit_first else given.most_violated,
            concurrency=_concurrency(given, prepared),
            invocation=invocation(given, environment),
        ),
    )
    return session, folder


def _concurrency(given: RunOptions, prepared: Prepared) -> int:
    """Return how many trials run side by side, and say so if that is fewer than asked for."""
    asked, lanes = given.concurrency, lanes_for(prepared.target, given.concurrency)
    if asked is not None and lanes < asked and not given.quiet:
        _, reason = most_lanes(prepared.target)
        click.echo(f"concurrency: {lanes} instead of {asked}: {reason}", err=True)
    return lanes


def _close(session: Session) -> None:
    """Close the target and the journal, which a full disk may have left open."""
    session.environment.close()
    if session.journal.out is not None:
        with suppress(OSError):
            session.journal.out.close()


def _set_up(given: RunOptions, prepared: Prepared, plan: Plan) -> Environment:
    """Make the target ready, and announce how long the run will wait."""
    environment = set_up(prepared.target, seed=given.seed, wait=given.wait, ledger=given.ledger)

    if environment.waiting is not None and not given.quiet:
        from assay.preparation.cost import announce  # noqa: PLC0415 -- only where a run waits

        def show(text: str) -> None:
            environment.person.show(text)  # looked up late: the progress bar replaces it

        announce(environment.waiting, plan, prepared.target, show)
    return environment


# -- The searches of `assay run`: what is asked for, recorded sequences, and how they are run ----
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
                examples=None if request.how == LIVES else examples,
            )


def _beside(session: Session, prepared: Prepared, times: Mapping[str, int]) -> Sequence[LaneTask]:
    """Return the lives that can run beside the trials."""
    if not times.get(LIVES):
        return ()
    from assay.fuzzing.findings import requested_searches  # noqa: PLC0415 -- only for a search
    from assay.fuzzing.lives import lives_beside  # noqa: PLC0415 -- as above

    requests = [
        each
        for each in requested_searches(prepared.plan, {LIVES: times[LIVES]})
        if (each.contract, each.how, each.operation) not in session.progress.searches
    ]
    return lives_beside(prepared.plan.contracts, prepared.target, requests)


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
    if not any(number for how, number in times.items() if how != LIVES):
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
    from assay.fuzzing.limits import price_of  # noqa: PLC0415 -- only for a search

    for request, operations, lives in _searches(prepared, times):
        click.echo(price_of(request, prepared.target, operations, lives))


def expected(prepared: Prepared, times: Mapping[str, int]) -> dict[str, int]:
    """Return about how many calls each part of a run will make, in their order."""
    from assay.fuzzing.limits import expected_calls  # noqa: PLC0415 -- only where it is shown

    parts = parts_of(prepared.plan)
    for request, operations, lives in _searches(prepared, times):
        calls = expected_calls(request, prepared.target, operations, lives)
        parts[f"{request.contract}: {request.how}"] = calls
    return parts


def _searches(
    prepared: Prepared, times: Mapping[str, int]
) -> Iterator[tuple[SearchRequest, int, tuple[int, ...]]]:
    """Yield each requested search, the number of operations, and the calls of each life."""
    if not any(times.values()):
        return
    from assay.fuzzing.findings import requested_searches  # noqa: PLC0415 -- only for a search
    from assay.fuzzing.lives import lives_of  # noqa: PLC0415 -- as above

    for request in requested_searches(prepared.plan, times):
        contract = prepared.plan.contracts[request.contract]
        strength = request.times if request.how == LIVES else 0
        calls = tuple(each.calls for each in lives_of(contract, prepared.target, strength))
        yield request, len(contract.operations), calls
