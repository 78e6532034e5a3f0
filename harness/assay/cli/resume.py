"""`assay run --resume`: options from the journal, and checks that the inputs are the same.

`assay run --resume FOLDER` needs no other option. A contract or target file may be given again if
it is elsewhere now. What would make it another run is refused before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import click

from assay import __version__
from assay.binding.model.target import Target
from assay.cli.results import exit_code, print_summary, write_reports
from assay.contexts.context import Depth
from assay.contract.model import Contract, Json
from assay.errors import Exit, InputError
from assay.journal.journal_file import JOURNAL, reopen
from assay.journal.lines import Line
from assay.journal.redact import Redactor
from assay.journal.writer import Journal
from assay.judging.exit_policy import Floor, read_floor
from assay.planning.plan import Disposition, Plan, Planned, Price, Shard, decided
from assay.planning.shards import read_shard
from assay.preparation.prepare import Prepared
from assay.running.environment import Environment
from assay.running.resumption import ProgressReader, RecordedProgress

if TYPE_CHECKING:
    from assay.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of `assay run`, as click parsed them."""

    contracts: Sequence[str]
    target: str | None
    waivers: Path | None
    keywords: str
    marks: str
    seed: int
    out: Path | None
    resume: Path | None
    allow_incomplete: bool
    min_verified: Floor | None
    baseline: Path | None
    lives: int | None
    journeys: int
    fields: int
    schema: int
    replays: Sequence[Path]
    examples: str
    concurrency: int | None
    wait: timedelta | None
    ledger: Path | None
    contexts: Depth | None
    roles: Sequence[str]
    shard: Shard | None
    dry_run: bool
    no_doctor: bool
    exit_first: bool
    most_violated: int
    last_failed: str | None
    watch: bool
    live: bool
    quiet: bool


Reader: TypeAlias = Callable[[Line, str], Any]


def _nullable(read: Reader) -> Reader:
    return lambda line, key: None if line.values[key] is None else read(line, key)


def _texts(line: Line, key: str) -> list[str]:
    return line.list_of(key, str)


#: The options that the header of a journal has, and how each is read.
RECORDED: Mapping[str, Reader] = {
    "contracts": _texts,
    "target": _nullable(Line.text),
    "keywords": Line.text,
    "marks": Line.text,
    "contexts": _nullable(lambda line, key: Depth(line.text(key))),
    "roles": _texts,
    "shard": _nullable(lambda line, key: read_shard(line.text(key))),
    "seed": Line.number_of,
    "lives": _nullable(Line.number_of),
    "journeys": Line.number_of,
    "fields": Line.number_of,
    "schema": Line.number_of,
    "examples": Line.text,
    "replays": lambda line, key: [Path(text) for text in _texts(line, key)],
    "wait": _nullable(lambda line, key: timedelta(seconds=line.decimal(key))),
    "ledger": _nullable(lambda line, key: Path(line.text(key))),
    "allow_incomplete": lambda line, key: line.flag(key, default=False),
    "waivers": _nullable(lambda line, key: Path(line.text(key))),
    "baseline": _nullable(lambda line, key: Path(line.text(key))),
    "min_verified": _nullable(lambda line, key: read_floor(line.text(key))),
}
#: Options that may be given with another value: what they name must be the same.
ELSEWHERE = frozenset(
    {
        *("contracts", "target", "replays", "ledger", "examples"),
        *("allow_incomplete", "waivers", "baseline", "min_verified"),
    }
)
#: Options that make no sense for a run that has begun.
USELESS = ("out", "dry_run", "last_failed")
#: The names of options that differ from those of their parameters.
OPTION_NAMES = {
    "contracts": "--contract",
    "keywords": "-k",
    "marks": "-m",
    "replays": "--replay",
    "roles": "--role",
    "dry_run": "--dry-run",
    "last_failed": "--lf",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """A run that is resumed: its folder, its locked journal, and how far it has come."""

    folder: Path
    journal: Journal
    recorded: Report
    progress: RecordedProgress

    @property
    def path(self) -> Path:
        """The path of the journal."""
        return self.folder / JOURNAL

    @property
    def header(self) -> Line:
        """The header of the journal."""
        return self.recorded.lines.header

    def refuse(self, what: str, hint: str) -> InputError:
        """Return the error that another run cannot continue this one."""
        return InputError.one(str(self.path), what, hint=hint)


def explicit_options() -> frozenset[str]:
    """Return the parameters that the command line has."""
    context = click.get_current_context()
    given = click.core.ParameterSource.COMMANDLINE
    return frozenset(name for name in context.params if context.get_parameter_source(name) is given)


@contextmanager
def resumption(folder: Path) -> Generator[Resumption]:
    """Lock and read the journal of a run.

    Raises:
        InputError: there is no journal, or it cannot be written now.
        JournalError: it is damaged.

    """
    out = reopen(folder / JOURNAL)
    try:
        recorded, progress = read_progress(folder / JOURNAL)
        yield Resumption(
            folder=folder, journal=Journal(out=out), recorded=recorded, progress=progress
        )
    finally:
        out.close()


def read_progress(path: Path) -> tuple[Report, RecordedProgress]:
    """Read a journal, and how far its run has come.

    Raises:
        JournalError: it is damaged.

    """
    from assay.report import read_journal  # noqa: PLC0415 -- a run loads it when it has ended

    reader = ProgressReader()
    report = read_journal(path, partial=True, each=reader.take, abandoned=reader.count)
    return report, reader.end((len(report.lines.plan), len(report.lines.elsewhere)))


def finished(run: Resumption, *, quiet: bool) -> int:
    """Print the summary of a run that is complete and write its reports; return its exit code."""
    read = run.recorded
    click.echo(f"assay: the run in {run.folder} is complete; nothing was run again", err=True)
    print_summary(read, quiet=quiet)
    written = write_reports(read, run.folder)
    return exit_code(read.footer.exit if read.footer else Exit.FAULT.value, written=written)


# -- options ---------------------------------------------------------------------
def invocation(given: RunOptions, environment: Environment) -> dict[str, Json]:
    """Return the options of a run, as its header has them."""
    values = {name: _plain(getattr(given, name)) for name in RECORDED}
    return {**values, "ledger_mark": _ledger_mark(environment)}


def _plain(value: Any) -> Json:
    match value:
        case Depth():
            return value.value
        case timedelta():
            return value.total_seconds()
        case Path() | Shard() | Floor():
            return str(value)
        case list() | tuple():
            return [_plain(each) for each in value]
        case _:
            return value


def _ledger_mark(environment: Environment) -> str:
    """Return a mark by which a ledger is recognised; empty where there is none."""
    key = getattr(environment.guard.book, "key", b"")
    return blake2b(b"ledger", digest_size=9, key=key).hexdigest() if key else ""


def with_recorded(given: RunOptions, run: Resumption, explicit: Collection[str]) -> RunOptions:
    """Return the options of a run, with all that were recorded and not given again.

    Raises:
        InputError: an option would make it another run, or one is needed that was not recorded.

    """
    header = run.header
    if "invocation" not in header.values:
        raise run.refuse(
            "this run cannot be resumed", "only runs of this version of `assay run` can be resumed"
        )
    known = header.inner("invocation")
    for name in USELESS:
        if name in explicit:
            what = f"{_option(name)} cannot be combined with --resume"
            raise InputError.one("--resume", what, hint=f"leave out {_option(name)}")
    recorded: dict[str, Any] = {}
    for name, read in RECORDED.items():
        if name not in known.values:
            if name not in explicit:
                hint = f"pass {_option(name)} again: it contains a credential, and journals never record credentials"
                raise run.refuse(f"{_option(name)} is not recorded", hint)
            continue
        try:
            value = read(known, name)
        except (ValueError, OverflowError):
            known.refuse(f"{name!r} is not known")
        if name not in explicit:
            recorded[name] = value
        elif name not in ELSEWHERE and _plain(getattr(given, name)) != _plain(value):
            what = f"the run was recorded {_recorded_with(name, _plain(value))}"
            raise run.refuse(what, f"leave out {_option(name)}, or start a new run")
    _check_found(recorded, run)
    names = {each.name for each in fields(given)}
    return replace(given, **{name: recorded[name] for name in recorded if name in names})


def _check_found(recorded: Mapping[str, Any], run: Resumption) -> None:
    """Check that a recorded path leads somewhere from here."""
    paths = [("contracts", name) for name in recorded.get("contracts", ())]
    paths += [("replays", str(path)) for path in recorded.get("replays", ())]
    paths += [(key, str(recorded[key])) for key in ("target", "waivers") if recorded.get(key)]
    for name, path in paths:
        is_file = path.endswith((".yaml", ".yml", ".json")) and "://" not in path
        if is_file and not Path(path).exists():
            hint = f"pass it with {_option(name)}, or resume in the directory of the first run"
            raise run.refuse(f"the run was recorded with {path}, which is not found here", hint)


def _recorded_with(name: str, value: Json) -> str:
    """Return an option as it was recorded; a repeatable one may not have been given at all."""
    values = cast("list[Json]", value) if isinstance(value, list) else [value]
    given = " ".join(f"{_option(name)} {each}" for each in values)
    return f"with {given}" if given else f"without {_option(name)}"


def _option(name: str) -> str:
    return OPTION_NAMES.get(name, f"--{name.replace('_', '-')}")


# -- what must be the same -------------------------------------------------------
def check_same(run: Resumption, prepared: Prepared) -> None:
    """Check that contracts and target file are those of the recorded run.

    Raises:
        InputError: they are not.

    """
    recorded = {each.text("id"): each.text("digest") for each in run.header.objects("contracts")}
    contracts = prepared.plan.contracts
    if [*recorded] != [*contracts]:
        names = ", ".join(recorded)
        raise run.refuse(
            f"the run was recorded with other contracts: {names}", _again("--contract")
        )
    for contract in contracts.values():
        if recorded[contract.id] != contract.digest:
            what = f"the contract {contract.id} has changed since the run began{_at(contract)}"
            raise run.refuse(what, _again("--contract"))
    target, known = prepared.target, run.header.inner("target")
    if (known.text("name"), known.text("digest")) != (target.name, target.digest):
        what = "the target file has changed since the run began, or is a different one"
        raise run.refuse(what, _again("--target"))


def _again(option: str) -> str:
    return f"restore the file, pass the right one with {option}, or start a new run"


def _at(contract: Contract) -> str:
    return f" ({contract.path})" if contract.path else ""


def check_same_bank(run: Resumption, target: Target, environment: Environment) -> None:
    """Check that the address and the ledger are those of the recorded run.

    Raises:
        InputError: they are not.

    """
    url = Redactor(secrets=environment.secrets).link(target.base_url)
    if run.header.inner("target").text("base_url") != url:
        what = "the run was recorded at a different address"
        raise run.refuse(what, "pass the same --target, or start a new run")
    mark = run.header.inner("invocation").text("ledger_mark", "")
    if mark != _ledger_mark(environment):
        what = "the run was recorded with a different ledger"
        raise run.refuse(what, "pass the same --ledger: it records today's accesses")


def remaining(run: Resumption, plan: Plan, prepared: Prepared) -> Plan:
    """Return the plan of a resumed run: what was planned, and what of it can still be tested today.

    Raises:
        InputError: this version of Assay plans other obligations.

    """
    progress, feasibility = run.progress, prepared.feasibility
    assess = prepared.assess if feasibility and plan is prepared.plan else None
    if feasibility and assess:
        plan = feasibility.before
    known = [(item.obligation.id, item.obligation.trial) for item in plan.items]
    recorded = [(name, each.text("trial", "")) for name, each in run.recorded.lines.plan.items()]
    if known[: len(recorded)] != recorded:
        what = f"this version of Assay ({__version__}) plans other obligations"
        raise run.refuse(what, f"resume with version {run.header.text('version', '')}")
    whole = decided(plan, (_as_planned(item, run) for item in plan.items))
    for trial in whole.trials:
        if any(each.id not in progress.verdicts for each in trial.settles):
            progress.done.pop(trial.id, None)
    if assess is None:
        return whole
    missing, contextual = (
        tuple(trial for trial in trials if progress.lacks(trial.id))
        for trials in (whole.trials, whole.contextual)
    )
    possible = assess(replace(whole, trials=missing, contextual=contextual)).plan
    done = [trial for trial in whole.contextual if not progress.lacks(trial.id)]
    return replace(possible, contextual=(*done, *possible.contextual))


def _as_planned(item: Planned, run: Resumption) -> Planned:
    """Return an obligation as it was planned, unless it was to be tested."""
    from assay.report.decode import disposition  # noqa: PLC0415 -- loaded by now

    recorded = run.recorded.lines.plan.get(item.obligation.id)
    if recorded is None or disposition(recorded) is Disposition.ASK:
        return item
    calls = recorded.count("calls")
    return replace(
        item,
        disposition=disposition(recorded),
        reason=recorded.text("reason", ""),
        price=Price(lambda: calls),
    )
