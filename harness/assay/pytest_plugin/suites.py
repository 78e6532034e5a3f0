"""The pytest plugin proper: obligations as items, verdicts as their outcomes.

The plan is made at collection. Each item is one obligation, by its id; its trial runs with
the first of its items. Verdicts travel in `user_properties`, which JUnit files and xdist
carry. The exit code is decided where the reports of all workers come together.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NoReturn, cast

import pytest

from assay.binding.model.target import Target
from assay.contexts.context import Depth
from assay.errors import AssayError, Exit, InputError, one_line
from assay.fixtures.waiting import span
from assay.fuzzing.findings import SearchRequest, SearchResult
from assay.journal.journal_file import create
from assay.judging.exit_policy import ExitDecision, ExitPolicy
from assay.planning.plan import Plan, Planned, Shard
from assay.planning.shards import check_divisible, read_shard
from assay.preparation.cost import announce
from assay.preparation.prepare import Prepared, markers, prepare
from assay.pytest_plugin import presentation, searches
from assay.pytest_plugin.presentation import Failure, allure_marks, failure_of
from assay.pytest_plugin.relay import (
    Relay,
    SendingRecorder,
    TrialJournal,
    relayed,
    sending,
    trials_of_violations,
)
from assay.pytest_plugin.reported_verdicts import (
    OUTPUT,
    PROPERTY,
    ReportedVerdicts,
    print_summary,
    violations_of,
)
from assay.pytest_plugin.searches import params_of, search_of
from assay.rules.kinds import room_of
from assay.rules.obligation import Obligation
from assay.rules.verdict import Standing, Verdict
from assay.running.contextual import run_contexts
from assay.running.environment import set_up
from assay.running.parallel_trials import lanes_for, most_lanes
from assay.running.session import Options, Session
from assay.sca.protocol import StderrPrompt

NAME = "assay-suites"
#: The key under which a worker returns why it ended early.
ENDED = "assay_ended"
#: What an item keeps of its failure, for its report.
FAILURE: pytest.StashKey[Failure] = pytest.StashKey()


def install(config: pytest.Config) -> None:
    """Plan the run, and register the plugin proper.

    Raises:
        pytest.UsageError: a file or an option cannot be used.

    """
    try:
        prepared = prepared_of(config)
    except AssayError as error:
        raise pytest.UsageError(*str(error).splitlines()) from None
    if getattr(config.option, "numprocesses", None):
        if prepared.plan.person:
            raise pytest.UsageError("a person signs (`sca.kind: manual`): do not use -n")
        if config.option.assay_journal:
            check_relayed(config, prepared)
    add_markers(config, prepared.plan)
    config.pluginmanager.register(Suites(config=config, prepared=prepared), NAME)


@dataclass(slots=True, kw_only=True)
class Suites:
    """The hooks of the plugin, and the session that they share."""

    config: pytest.Config
    prepared: Prepared
    session: Session | None = None
    journal: TrialJournal = field(default_factory=lambda: TrialJournal(out=None))
    reported: ReportedVerdicts = field(default_factory=ReportedVerdicts)
    claimed: set[str] = field(default_factory=set[str])
    run_trials: set[str] = field(default_factory=set[str])
    ended: str = ""
    sender: SendingRecorder | None = None
    relay: Relay | None = None
    _planned: dict[str, Planned] = field(init=False)

    def __post_init__(self) -> None:
        """Index the plan."""
        self._planned = {item.obligation.id: item for item in self.prepared.plan.items}

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Give each test the obligations of the rooms that it discharges."""
        if "searched" in metafunc.fixturenames:
            searches.parametrize(metafunc, self.prepared.plan)
        if "verdict" not in metafunc.fixturenames:
            return
        self.claimed |= parametrize(metafunc, self.prepared.plan)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Drop items without an obligation or search, and order the others."""
        items[:] = [item for item in items if not asks_nothing(item)]
        sort(items, self.prepared.plan, waiting=wait_of(config) is not None)

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Keep the items of a trial on one worker."""
        serial = serial_reason(config, self.prepared.target)
        return trial_scheduler(config, log, self.prepared.plan, serial)

    def pytest_report_header(self, config: pytest.Config) -> list[str]:
        """Say that one worker runs all items, and why."""
        serial = serial_reason(config, self.prepared.target)
        return [f"assay: one worker runs all obligations: {serial}"] if serial else []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Restrict the plan to the selected items, and open the session."""
        chosen = set(filter(None, map(obligation_of, session.items)))
        searching = any(map(search_of, session.items))
        if session.config.option.collectonly or not (chosen or searching):
            return
        missing = {item.obligation.id for item in self.prepared.plan.items} - self.claimed
        if missing and self._whole():
            first = ", ".join(sorted(missing)[:5])
            raise pytest.UsageError(f"no suite discharges {len(missing)} obligations: {first}")
        self.session = self._open(self.prepared.part(chosen))

    def _whole(self) -> bool:
        """Whether all suites run, and not only some of their files."""
        return not any(".py" in arg for arg in self.config.args)

    def _open(self, plan: Plan) -> Session:
        option = self.config.option
        worker = hasattr(self.config, "workerinput")
        several = worker or getattr(option, "numprocesses", None)
        try:
            environment = set_up(
                self.prepared.target, seed=option.assay_seed, wait=wait_of(self.config)
            )
            recorded = option.assay_journal and not worker
            journal = TrialJournal(out=create(Path(option.assay_journal)) if recorded else None)
        except AssayError as error:
            raise pytest.UsageError(*str(error).splitlines()) from None
        environment.person = UncapturedPrompt(self.config)
        announce(environment.waiting, plan, self.prepared.target, environment.person.show)
        session = Session(
            plan=plan,
            environment=environment,
            journal=journal,
            options=Options(
                seed=option.assay_seed,
                policy=ExitPolicy(allow_incomplete=option.assay_allow_incomplete),
                selection={"k": option.keyword, "m": option.markexpr},
                command="pytest " + " ".join(self.config.invocation_params.args),
                reproduce=self.prepared.reproduce,
                roles=self.prepared.roles,
                concurrency=lanes_for(
                    self.prepared.target, 1 if several else option.assay_concurrency
                ),
            ),
        )
        self.journal = journal
        if option.assay_journal and worker:
            self.sender = sending(session, journal)
        session.open()
        # In the order in which the items take them up.
        order = [
            trial
            for base in plan.trials
            for trial in (base, *(each for each in plan.contextual if each.settles == base.settles))
        ]
        session.run_ahead(order)
        return session

    @contextmanager
    def _opened(self) -> Generator[Session]:
        """Provide the session; an error that a user can fix aborts it and ends pytest."""
        if self.ended:
            pytest.skip(self.ended)
        if self.session is None:
            raise pytest.UsageError("no session is open (are the items collected?)")
        try:
            yield self.session
        except AssayError as error:
            self.session.abort(str(error))
            what = self.session.journal.redactor.link(str(error))
            self._end(f"{what}; {self.session.blame}")

    def _end(self, reason: str) -> NoReturn:
        """End pytest; in a worker, skip all further items, and let the controller end."""
        output = cast("dict[str, object] | None", getattr(self.config, "workeroutput", None))
        if output is None:
            pytest.exit(reason, Exit.USAGE.value)
        self.ended = reason
        output[ENDED] = reason
        pytest.skip(reason)

    @pytest.fixture
    def planned(self, obligation: str) -> Planned:
        """Return the obligation of the item, as the plan has it."""
        return self._planned[obligation]

    @pytest.fixture
    def verdict(self, planned: Planned, request: pytest.FixtureRequest) -> Verdict:
        """Run the trial of the obligation in all contexts, unless it has run; return the verdict."""
        verdict = self._judge(planned.obligation.id)
        properties = request.node.user_properties
        properties.append((PROPERTY, verdict.standing.value))
        properties.append(("level", planned.obligation.level.value))
        properties.append(("obligation", verdict.obligation))
        properties.append(("statement", planned.obligation.statement))
        if verdict.standing not in {Standing.CONFORMS, Standing.VIOLATES}:
            pytest.skip(f"{verdict.standing.value}: {one_line(verdict.reason)}")
        return verdict

    def _judge(self, name: str) -> Verdict:
        """Run the trial of an obligation in all contexts, unless it has run; return the verdict."""
        obligation = self._planned[name].obligation
        with self._opened() as session:
            self.journal.keep_only(trials_of_violations(session))
            session.settle(obligation)
            self._hold_contexts(session, obligation)
            return session.settle(obligation)

    @pytest.fixture
    def expect(
        self, verdict: Verdict, request: pytest.FixtureRequest
    ) -> Callable[[Standing], None]:
        """Return a function that fails the item with a card unless its verdict is this one."""

        def expect(standing: Standing) -> None:
            if verdict.standing is not standing:
                self._fail(verdict, request.node)

        return expect

    def _fail(self, verdict: Verdict, item: pytest.Item) -> None:
        """Fail an item with the card of its obligation."""
        with self._opened() as session:
            failure = failure_of(session, self.journal, verdict)
        item.stash[FAILURE] = failure
        item.user_properties.append(("reproduce", failure.card.reproduce))
        presentation.attach(self.config, failure)
        pytest.fail(failure.text, pytrace=False)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Present the failure of an item by its card."""
        report = yield
        failure = item.stash.get(FAILURE, None)
        if failure is not None and report.when == "call" and report.failed:
            presentation.present(self.config, report, call, failure)
        if self.sender is not None and report.when == "teardown":
            self.sender.send(report)
        return report

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        """Open the journal of a run with workers, once their items are known."""
        if self.relay is not None or not self.config.option.assay_journal:
            return
        known = (name.partition("[")[2].removesuffix("]") for name in ids)
        names = [name for name in known if name in self._planned]
        self.session = self._open(self.prepared.part(names))
        recorder = relayed(self.session)
        self.relay = Relay(names=names, recorder=recorder, judge=self._judge)

    def _hold_contexts(self, session: Session, obligation: Obligation) -> None:
        """Run the trial of an obligation in further contexts, unless it has run there."""
        for trial in session.plan.contextual:
            if obligation in trial.settles and trial.id not in self.run_trials:
                self.run_trials.add(trial.id)
                run_contexts(session, [trial])

    @pytest.fixture
    def searched(self, search_request: SearchRequest) -> SearchResult:
        """Run the search of an item, and return its result."""
        examples = cast("str | None", self.config.getoption("assay_examples"))
        with self._opened() as session:
            return searches.search(session, self.prepared, search_request, examples)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the verdicts of all workers, and take up their trials."""
        obligation = self.reported.note(report)
        if self.relay is not None and obligation and not self.ended:
            self.relay.take(report, obligation)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take in what the session of a worker found."""
        output = getattr(node, "workeroutput", {})
        self.reported.take_in(output.get(OUTPUT))
        self.ended = self.ended or str(output.get(ENDED, ""))

    @pytest.hookimpl(specname="pytest_sessionfinish", tryfirst=True)
    def pytest_report_violations(self, session: pytest.Session) -> None:
        """Report violations that no item reports; pytest knows its hooks by their prefix."""
        if self.relay is not None and not self.ended:
            self.relay.finish()
        violations = violations_of(self.session, self.journal) if self.session else {}
        output = cast("dict[str, object] | None", getattr(self.config, "workeroutput", None))
        if output is not None:
            output[OUTPUT] = violations
            return
        self.reported.take_in(violations)
        for report in self.reported.errors():
            self.config.hook.pytest_runtest_logreport(report=report)
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Close the session, and set the exit code of an incomplete or failed run."""
        if self.session is not None and not self.session.closed:
            everything = len(self.reported.standings) >= len(self.session.plan.items)
            if everything:
                self.session.close()
            else:
                self.session.abort("pytest ended before all obligations were judged")
        if self.session is not None:
            self.session.environment.close()
        if self.ended:
            session.exitstatus = Exit.USAGE.value
        elif session.exitstatus == pytest.ExitCode.OK and self.reported.standings:
            session.exitstatus = self._decision().exit.value

    def _decision(self) -> ExitDecision:
        faults = len(self.session.faults) if self.session else 0
        policy = ExitPolicy(allow_incomplete=self.config.option.assay_allow_incomplete)
        return self.reported.decide(self.prepared, faults, policy)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the counts of the verdicts, what is violated, and what is incomplete."""
        if self.ended:
            terminalreporter.write_line(self.ended)
        if self.reported.standings:
            faults = self.session.faults if self.session else []
            print_summary(terminalreporter, self.prepared, self.reported, faults, self._decision())


# -- Items of the suites: one for each obligation, and their order -------------------------------
# The parameter of an item is the id of its obligation; the plan has the rest.
#: The parameter of an item that tests an obligation.
PARAMETER = "obligation"
#: The mark of a test function with the rooms of kinds whose obligations it asserts.
DISCHARGES = "discharges"


def add_markers(config: pytest.Config, plan: Plan) -> None:
    """Declare the markers of the items of a plan."""
    for name in sorted({mark for item in plan.items for mark in markers(item.obligation)}):
        config.addinivalue_line(
            "markers", f"{name}: obligations of this rule kind, contract or level"
        )
    says = "the rooms of rule kinds whose obligations a test asserts"
    config.addinivalue_line("markers", f"{DISCHARGES}(*rooms): {says}")
    config.addinivalue_line(
        "markers", "searches(*kinds): the kinds of search that a test makes in a contract"
    )


def parametrize(metafunc: pytest.Metafunc, plan: Plan) -> frozenset[str]:
    """Give a test function the obligations of its rooms; return their ids."""
    rooms = searches.marked(metafunc.function, DISCHARGES)
    allure = {
        name: allure_marks(metafunc.config, metafunc.function, contract)
        for name, contract in plan.contracts.items()
    }
    parameters = [
        pytest.param(each.id, id=each.id, marks=[*_marks(each), *allure[each.contract](each)])
        for each in (item.obligation for item in plan.items)
        if room_of(each.kind) in rooms
    ]
    metafunc.parametrize(PARAMETER, parameters)
    return frozenset(str(parameter.id) for parameter in parameters)


def _marks(obligation: Obligation) -> Iterator[pytest.MarkDecorator]:
    for name in sorted(markers(obligation)):
        yield pytest.MarkDecorator(pytest.Mark(name, (), {}, _ispytest=True), _ispytest=True)


def obligation_of(item: pytest.Item) -> str:
    """Return the id of the obligation of an item, '' if it has none."""
    name = params_of(item).get(PARAMETER)
    return name if isinstance(name, str) else ""


def asks_nothing(item: pytest.Item) -> bool:
    """Whether an item is the placeholder of a test without any parameter set."""
    asks = obligation_of(item) or search_of(item)
    return bool(params_of(item).keys() & {PARAMETER, searches.PARAMETER}) and not asks


def sort(items: list[pytest.Item], plan: Plan, *, waiting: bool) -> None:
    """Put searches and signatures last.

    Where a run is `waiting`, trials keep the order of the plan: the shortest wait first.
    """
    items.sort(key=lambda item: search_of(item) is not None)
    if waiting:
        turn = {each.id: n for n, trial in enumerate(plan.trials) for each in trial.settles}
        items.sort(key=lambda item: turn.get(obligation_of(item), -1))
    if plan.person:
        signed = {each.id for trial in plan.trials if trial.signed for each in trial.settles}
        items.sort(key=lambda item: obligation_of(item) in signed)


# -- Options of a pytest run that mean what those of `assay run` mean ----------------------------
#: The options whose work is not divided.
UNDIVIDED = tuple(f"--assay-{each}" for each in ("wait", "lives", "journeys", "fields", "schema"))


def prepared_of(config: pytest.Config) -> Prepared:
    """Return the plan that the options ask for.

    Raises:
        InputError: a file or an option cannot be used.

    """
    try:
        return prepare(
            cast("list[str]", config.getoption("--assay-contract")),
            cast("str | None", config.getoption("--assay-target")),
            wait=wait_of(config),
            contexts=depth_of(config),
            shard=shard_of(config),
            roles=cast("list[str]", config.getoption("--assay-role")),
        )
    except InputError as error:
        names = {"--role": "--assay-role"}
        problems = (replace(each, path=names.get(each.path, each.path)) for each in error.problems)
        raise InputError(tuple(problems)) from None


def shard_of(config: pytest.Config) -> Shard | None:
    """Return the part of the plan to run; None for the whole.

    Raises:
        InputError: it is no shard, or an option is given that cannot be divided.

    """
    text = cast("str | None", config.getoption("assay_shard", default=None))
    if text is None:
        return None
    check_divisible({name: config.getoption(name, default=None) for name in UNDIVIDED})
    return read_shard(text, "--assay-shard")


def check_relayed(config: pytest.Config, prepared: Prepared) -> None:
    """Check that the trials of several workers can be written to one journal.

    Raises:
        pytest.UsageError: their order matters, or there are searches.

    """
    most, reason = most_lanes(prepared.target)
    if any(config.getoption(f"assay_{how}") for how in ("lives", "journeys", "fields", "schema")):
        reason = "searches are recorded in one process"
    elif most is None or most > 1:
        return
    raise pytest.UsageError(f"--assay-journal: {reason}: do not use -n")


def wait_of(config: pytest.Config) -> timedelta | None:
    """Return the total time that the run may wait where no clock can be moved."""
    text = cast("str | None", config.getoption("assay_wait", default=None))
    return None if text is None else span(text, "--assay-wait")


def depth_of(config: pytest.Config) -> Depth | None:
    """Return in which contexts rules are tested; None for the default of the target."""
    text = cast("str | None", config.getoption("assay_contexts", default=None))
    text = text or os.environ.get("ASSAY_CONTEXTS")
    return Depth(text) if text else None


# -- Messages to a person who signs, which the output capturing of pytest does not hide ----------
@dataclass(frozen=True, slots=True)
class UncapturedPrompt(StderrPrompt):
    """A prompt that pytest's output capturing does not hide."""

    config: pytest.Config

    def show(self, text: str) -> None:
        """Write a text on a new line, since pytest has begun one."""
        manager: Any = self.config.pluginmanager.getplugin("capturemanager")
        with manager.global_and_fixture_disabled() if manager else nullcontext():
            StderrPrompt.show(self, f"\n{text}")


# -- Distribution of obligations to the workers of pytest-xdist, each trial to one of them -------
# By default pytest-xdist gives each item to any worker. But a trial settles several obligations, and
# the first item runs it: if they are with two workers, the trial and its contexts run twice.
#
# Where trials affect one another (they share real customers) or spend one budget, one worker runs
# all of them, as `assay run` runs them one after the other.
#: How items are distributed where `-n` is given and `--dist` is not.
_DEFAULT: Final = "load"
#: The scope of all items where one worker runs them.
_ALL: Final = "one worker"


def serial_reason(config: pytest.Config, target: Target) -> str:
    """Return why one worker runs all items although there are several; empty otherwise."""
    workers = cast("int | None", getattr(config.option, "numprocesses", None)) or 1
    most, reason = most_lanes(target)
    return reason if most is not None and most < workers else ""


def trial_scheduler(config: pytest.Config, log: Any, plan: Plan, serial: str = "") -> Any:
    """Return a scheduler that keeps the items of a trial together; None if the user chose one.

    `serial` is the reason why all items must be with one worker, if there is one.

    Raises:
        pytest.UsageError: they must, and the user chose another distribution.

    """
    chosen = config.getoption("dist", default="")
    if serial and chosen != _DEFAULT:
        raise pytest.UsageError(f"--dist {chosen}: {serial}: do not use --dist, or do not use -n")
    if chosen != _DEFAULT:
        return None
    trials = {each.id: trial.id for trial in plan.trials for each in trial.settles}

    def scope(name: str) -> str:
        """Return what is not divided: the trial of an obligation, or another test."""
        if serial:
            return _ALL
        return trials.get(name.partition("[")[2].removesuffix("]"), name)

    module: Any = import_module("xdist.scheduler.loadscope")
    # The order of the items stays: obligations that every trial is judged by come last.
    config.option.loadscopereorder = False
    scheduler = module.LoadScopeScheduling(config, log)
    scheduler._split_scope = scope  # noqa: SLF001 -- the method that subclasses of xdist replace
    return scheduler
