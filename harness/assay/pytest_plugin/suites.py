"""The pytest plugin proper: obligations as items, verdicts as their outcomes.

The plan is made at collection. Each item is one obligation, by its id; its trial runs with
the first of its items. Verdicts travel in `user_properties`, which JUnit files and xdist
carry. The exit code is decided where the reports of all workers come together.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from assay.contexts.covering import Depth
from assay.errors import AssayError
from assay.estimate.estimate import announce
from assay.execution.ambient import ambient_obligations
from assay.execution.contextual import run_contexts
from assay.execution.environment import set_up
from assay.execution.lanes import lanes_for
from assay.execution.session import Options, Session
from assay.fixtures.waiting import span
from assay.fuzzing.findings import SearchRequest, SearchResult
from assay.journal.writer import Journal
from assay.judging.exit_policy import ExitPolicy
from assay.judging.verdict import Exit, Standing, Verdict
from assay.planning.obligation import Obligation
from assay.planning.plan import Plan, Planned
from assay.planning.prepare import Prepared, markers, prepare
from assay.pytest_plugin import searches
from assay.pytest_plugin.reported import OUTPUT, PROPERTY, ReportedVerdicts, violations_of
from assay.pytest_plugin.scheduling import trial_scheduler
from assay.pytest_plugin.searches import params_of, search_of
from assay.pytest_plugin.shards import shard_of
from assay.sca.protocol import StderrPrompt

NAME = "assay-suites"
#: What ends the message on a target that cannot be reached.
NO_BLAME = "no obligation is reported as violated"


def install(config: pytest.Config) -> None:
    """Plan the run, and register the plugin proper.

    Raises:
        pytest.UsageError: a file or an option cannot be used.

    """
    contracts = cast("list[str]", config.getoption("--contract"))
    target = cast("str | None", config.getoption("--target"))
    try:
        prepared = prepare(
            contracts, target, wait=_wait(config), contexts=_depth(config), shard=shard_of(config)
        )
    except AssayError as error:
        raise pytest.UsageError(*str(error).splitlines()) from None
    if prepared.plan.person and getattr(config.option, "numprocesses", None):
        raise pytest.UsageError("a person signs (`sca.kind: manual`): do not use -n")
    for name in sorted({mark for item in prepared.plan.items for mark in markers(item.obligation)}):
        config.addinivalue_line(
            "markers", f"{name}: obligations of this rule kind, contract or level"
        )
    config.addinivalue_line(
        "markers", "discharges(*kinds): the rule kinds whose obligations a test asserts"
    )
    config.addinivalue_line(
        "markers", "searches(*kinds): the kinds of search that a test makes in a contract"
    )
    config.pluginmanager.register(Suites(config=config, prepared=prepared), NAME)


def _wait(config: pytest.Config) -> timedelta | None:
    """Return the total time that the run may wait where no clock can be moved."""
    text = cast("str | None", config.getoption("assay_wait", default=None))
    return None if text is None else span(text, "--assay-wait")


def _depth(config: pytest.Config) -> Depth | None:
    """Return in which contexts rules are tested; None for the default of the target."""
    text = cast("str | None", config.getoption("assay_contexts", default=None))
    text = text or os.environ.get("ASSAY_CONTEXTS")
    return Depth(text) if text else None


def kinds_of(function: object) -> frozenset[str]:
    """Return the rule kinds in the `discharges` marks of a test function."""
    marks = cast("list[pytest.Mark]", getattr(function, "pytestmark", []))
    return frozenset(kind for mark in marks if mark.name == "discharges" for kind in mark.args)


@dataclass(frozen=True, slots=True)
class UncapturedPrompt(StderrPrompt):
    """A prompt that pytest's output capturing does not hide."""

    config: pytest.Config

    def show(self, text: str) -> None:
        """Write a text on a new line, since pytest has begun one."""
        manager: Any = self.config.pluginmanager.getplugin("capturemanager")
        with manager.global_and_fixture_disabled() if manager else nullcontext():
            StderrPrompt.show(self, f"\n{text}")


@dataclass(slots=True, kw_only=True)
class Suites:
    """The hooks of the plugin, and the session that they share."""

    config: pytest.Config
    prepared: Prepared
    session: Session | None = None
    reported: ReportedVerdicts = field(default_factory=ReportedVerdicts)
    claimed: set[str] = field(default_factory=set[str])
    run_trials: set[str] = field(default_factory=set[str])
    began: float = field(default_factory=time.monotonic)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Give each test the obligations of the kinds that it discharges."""
        if "searched" in metafunc.fixturenames:
            searches.parametrize(metafunc, self.prepared.plan)
        if "verdict" not in metafunc.fixturenames:
            return
        kinds = kinds_of(metafunc.function)
        items = [item for item in self.prepared.plan.items if item.obligation.kind in kinds]
        self.claimed |= {item.obligation.id for item in items}
        metafunc.parametrize(
            "planned",
            [
                pytest.param(item, id=item.obligation.id, marks=[*_marks(item.obligation)])
                for item in items
            ],
        )

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Drop items without an obligation or search; put searches and signatures last.

        Obligations that every trial is judged by come after all others, so that the verdict
        of their item is final.
        """
        items[:] = [item for item in items if not _asks_nothing(item)]
        plan = self.prepared.plan
        ambient = ambient_obligations(plan)
        items.sort(key=lambda item: _obligation(item) in ambient)
        items.sort(key=lambda item: search_of(item) is not None)
        signed = {
            obligation.id for trial in plan.trials if trial.signed for obligation in trial.settles
        }
        if _wait(self.config) is not None:
            # Trials that wait keep the order of the plan: last, the shortest wait first.
            turn = {
                obligation.id: n
                for n, trial in enumerate(plan.trials)
                for obligation in trial.settles
            }
            items.sort(key=lambda item: turn.get(_obligation(item), -1))
        if plan.person:
            items.sort(key=lambda item: _obligation(item) in signed)

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Keep the items of a trial on one worker."""
        return trial_scheduler(config, log, self.prepared.plan)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Restrict the plan to the selected items, and open the session."""
        chosen = set(filter(None, map(_obligation, session.items)))
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
        if option.assay_journal and (worker or getattr(option, "numprocesses", None)):
            raise pytest.UsageError("--assay-journal records one process: do not use -n")
        try:
            environment = set_up(
                self.prepared.target, seed=option.assay_seed, wait=_wait(self.config)
            )
            journal = (
                Journal.at(Path(option.assay_journal))
                if option.assay_journal
                else Journal(out=None)
            )
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
                concurrency=lanes_for(
                    self.prepared.target, 1 if worker else option.assay_concurrency
                ),
            ),
        )
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
        if self.session is None:
            raise pytest.UsageError("no session is open (are the items collected?)")
        try:
            yield self.session
        except AssayError as error:
            self.session.abort(str(error))
            what = self.session.journal.redactor.link(str(error))
            pytest.exit(f"{what}; {NO_BLAME}", Exit.USAGE.value)

    @pytest.fixture
    def verdict(self, planned: Planned, request: pytest.FixtureRequest) -> Verdict:
        """Run the trial of the obligation in all contexts, unless it has run; return the verdict."""
        with self._opened() as session:
            session.settle(planned.obligation)
            self._hold_contexts(session, planned.obligation)
            verdict = session.settle(planned.obligation)
        properties = request.node.user_properties
        properties.append((PROPERTY, verdict.standing.value))
        properties.append(("level", planned.obligation.level.value))
        properties.append(("obligation", verdict.obligation))
        if verdict.standing not in {Standing.CONFORMS, Standing.VIOLATES}:
            pytest.skip(f"{verdict.standing.value}: {verdict.reason}")
        return verdict

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
        """Note the verdicts of all workers."""
        self.reported.note(report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take in what the session of a worker found."""
        self.reported.take_in(getattr(node, "workeroutput", {}).get(OUTPUT))

    @pytest.hookimpl(specname="pytest_sessionfinish", tryfirst=True)
    def pytest_report_violations(self, session: pytest.Session) -> None:
        """Report violations that no item reports; pytest knows its hooks by their prefix."""
        violations = violations_of(self.session) if self.session else {}
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
                self.session.abort("pytest ended before every obligation was judged")
        if self.session is not None:
            self.session.environment.close()
        faults = self.session.faults if self.session else []
        if session.exitstatus == pytest.ExitCode.OK:
            if faults:
                session.exitstatus = Exit.FAULT.value
            elif self.reported.open_musts and not self.config.option.allow_incomplete:
                session.exitstatus = Exit.INCOMPLETE.value

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the counts of the verdicts, harness faults and what is incomplete."""
        counts, open_musts = self.reported.counts(), self.reported.open_musts
        if not counts:
            return
        terminalreporter.section(f"conformance of {self.prepared.target.name}")
        for standing in Standing:
            if counts[standing.value]:
                terminalreporter.write_line(f"{counts[standing.value]:>5} {standing.value}")
        for fault in self.session.faults if self.session else []:
            terminalreporter.write_line(f"harness fault: {fault}")
        if open_musts:
            terminalreporter.write_line(
                f"incomplete: {len(open_musts)} `must` obligations could not be verified"
                " (pytest -rs lists the reasons)"
            )


def _asks_nothing(item: pytest.Item) -> bool:
    """Whether an item is the placeholder of a test without any parameter set."""
    asks = _obligation(item) or search_of(item)
    return bool(params_of(item).keys() & {"planned", searches.PARAMETER}) and not asks


def _obligation(item: pytest.Item) -> str:
    """Return the id of the obligation of an item, '' if it has none."""
    planned = params_of(item).get("planned")
    return planned.obligation.id if isinstance(planned, Planned) else ""


def _marks(obligation: Obligation) -> Iterator[pytest.MarkDecorator]:
    for name in sorted(markers(obligation)):
        yield pytest.MarkDecorator(pytest.Mark(name, (), {}, _ispytest=True), _ispytest=True)
