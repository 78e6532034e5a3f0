"""The pytest plugin proper: obligations as items, verdicts as their outcomes.

The plan is made at collection. Each item is one obligation, by its id; its trial runs with
the first of its items. Verdicts travel in `user_properties`, which JUnit files and xdist
carry. The exit code is decided where the reports of all workers come together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import pytest

from assay.errors import AssayError, one_line
from assay.estimate.estimate import announce
from assay.execution.contextual import run_contexts
from assay.execution.environment import set_up
from assay.execution.parallel_trials import lanes_for
from assay.execution.session import Options, Session
from assay.fuzzing.findings import SearchRequest, SearchResult
from assay.journal.journal_file import create
from assay.judging.exit_policy import ExitDecision, ExitPolicy
from assay.judging.verdict import Exit, Standing, Verdict
from assay.planning.obligation import Obligation
from assay.planning.plan import Plan, Planned
from assay.planning.prepare import Prepared
from assay.pytest_plugin import presentation, searches
from assay.pytest_plugin.items import add_markers, asks_nothing, obligation_of, parametrize, sort
from assay.pytest_plugin.options import check_relayed, prepared_of, wait_of
from assay.pytest_plugin.prompt import UncapturedPrompt
from assay.pytest_plugin.relay import Relay, SendingRecorder, relayed, sending
from assay.pytest_plugin.reported_verdicts import OUTPUT, PROPERTY, ReportedVerdicts, violations_of
from assay.pytest_plugin.scheduling import serial_reason, trial_scheduler
from assay.pytest_plugin.searches import search_of
from assay.pytest_plugin.summary import print_summary
from assay.pytest_plugin.trial_journal import TrialJournal, trials_of_violations

if TYPE_CHECKING:
    from assay.pytest_plugin.cards import Failure

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
    began: float = field(default_factory=time.monotonic)
    ended: str = ""
    sender: SendingRecorder | None = None
    relay: Relay | None = None
    _planned: dict[str, Planned] = field(init=False)

    def __post_init__(self) -> None:
        """Index the plan."""
        self._planned = {item.obligation.id: item for item in self.prepared.plan.items}

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Give each test the obligations of the kinds that it discharges."""
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
                policy=ExitPolicy(allow_incomplete=option.allow_incomplete),
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
        from assay.pytest_plugin.cards import failure_of  # noqa: PLC0415 -- only on a failure

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
        policy = ExitPolicy(allow_incomplete=self.config.option.allow_incomplete)
        return self.reported.decide(self.prepared, faults, policy)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the counts of the verdicts, what is violated, and what is incomplete."""
        if self.ended:
            terminalreporter.write_line(self.ended)
        if self.reported.standings:
            faults = self.session.faults if self.session else []
            print_summary(terminalreporter, self.prepared, self.reported, faults, self._decision())
