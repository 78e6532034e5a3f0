"""What the pytest plugin does once there is a contract to run.

The plan is made when items are collected; each item is one obligation, by its
id; its trial is held when the first of its items runs. Verdicts travel in
`user_properties`, so JUnit files and xdist carry them without our help. The run
is judged where the reports come together, so also over many workers.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from assay.contract.model import Level
from assay.errors import AssayError
from assay.estimate.estimate import announce
from assay.execution.environment import set_up
from assay.execution.session import Options, Session
from assay.fixtures.waiting import span
from assay.fuzzing.findings import SearchResult
from assay.journal.writer import Journal
from assay.judging.assembly import OPEN
from assay.judging.verdict import Exit, Standing, Verdict
from assay.planning.obligation import Obligation
from assay.planning.plan import Plan, Planned
from assay.planning.prepare import Prepared, markers, prepare
from assay.pytest_plugin import searches as pytest_plugin_searches
from assay.pytest_plugin.searches import Sought, params_of, sought_by
from assay.sca.prompt import StderrPrompt

if TYPE_CHECKING:
    from assay.fuzzing.schema.items import ItemResult, SchemaItem, SchemaRun

NAME = "assay-suites"
#: The parameter of an item that examines an operation by its schemas.
SCHEMA = "schema_item"
#: The name of the property that carries a verdict.
PROPERTY = "verdict"


def install(config: pytest.Config) -> None:
    """Prepare contracts and target, and register the plugin proper.

    Raises:
        pytest.UsageError: a file or an option cannot be used.

    """
    contracts = cast("list[str]", config.getoption("--contract"))
    target = cast("str | None", config.getoption("--target"))
    try:
        prepared = prepare(contracts, target, wait=_wait(config))
    except AssayError as error:
        raise pytest.UsageError(*str(error).splitlines()) from None
    if prepared.plan.person and getattr(config.option, "numprocesses", None):
        raise pytest.UsageError("one person signs (sca: manual): leave -n away")
    for name in sorted({mark for one in prepared.plan.items for mark in markers(one.obligation)}):
        config.addinivalue_line("markers", f"{name}: obligations of this kind, contract or level")
    config.addinivalue_line("markers", "discharges(*kinds): the rule kinds that a suite asserts")
    config.addinivalue_line("markers", "searches(*ways): how a suite searches a contract")
    config.pluginmanager.register(Suites(config=config, prepared=prepared), NAME)


def _wait(config: pytest.Config) -> timedelta | None:
    """Return how long the run may wait in all, where no clock can be moved."""
    text = cast("str | None", config.getoption("assay_wait", default=None))
    return None if text is None else span(text, "--assay-wait")


def kinds_of(function: object) -> frozenset[str]:
    """Return the rule kinds that a test function says it discharges."""
    marks = cast("list[pytest.Mark]", getattr(function, "pytestmark", []))
    return frozenset(kind for mark in marks if mark.name == "discharges" for kind in mark.args)


@dataclass(frozen=True, slots=True)
class Uncaptured(StderrPrompt):
    """Speaks to a person past whatever pytest does with output."""

    config: pytest.Config

    def tell(self, text: str) -> None:
        """Write on lines of its own: pytest is in the middle of one."""
        manager: Any = self.config.pluginmanager.getplugin("capturemanager")
        with manager.global_and_fixture_disabled() if manager else nullcontext():
            StderrPrompt.tell(self, f"\n{text}")


@dataclass(slots=True, kw_only=True)
class Suites:
    """The hooks, and the run that they share."""

    config: pytest.Config
    prepared: Prepared
    session: Session | None = None
    schemas: SchemaRun | None = None
    counts: Counter[str] = field(default_factory=Counter[str])
    open_musts: int = 0
    seen: set[str] = field(default_factory=set[str])
    claimed: set[str] = field(default_factory=set[str])
    began: float = field(default_factory=time.monotonic)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Give each suite the obligations of the kinds that it discharges."""
        if "searched" in metafunc.fixturenames:
            pytest_plugin_searches.parametrize(metafunc, self.prepared.plan)
        if "schema_told" in metafunc.fixturenames:
            from assay.fuzzing.schema.items import items as examined  # noqa: PLC0415 -- seldom used

            wanted = metafunc.config.getoption("assay_schema")
            every = examined(self.prepared) if wanted else ()
            metafunc.parametrize(SCHEMA, every, ids=[one.id for one in every])
        if "verdict" not in metafunc.fixturenames:
            return
        kinds = kinds_of(metafunc.function)
        items = [one for one in self.prepared.plan.items if one.obligation.kind in kinds]
        self.claimed |= {one.obligation.id for one in items}
        metafunc.parametrize(
            "planned",
            [
                pytest.param(one, id=one.obligation.id, marks=[*_marks(one.obligation)])
                for one in items
            ],
        )

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out suites with nothing to ask; put last what searches, or takes a person."""
        items[:] = [item for item in items if not _asks_nothing(item)]
        items.sort(key=lambda item: sought_by(item) is not None or _examines(item))
        plan = self.prepared.plan
        signed = {one.id for trial in plan.trials if trial.signed for one in trial.settles}
        if _wait(self.config) is not None:
            # What is waited for comes as the plan has it: last, and the shortest first.
            turn = {each.id: n for n, one in enumerate(plan.trials) for each in one.settles}
            items.sort(key=lambda item: turn.get(_obligation(item), -1))
        if plan.person:
            items.sort(key=lambda item: _obligation(item) in signed)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Fix the plan to what is selected, and begin the record."""
        chosen = set(filter(None, map(_obligation, session.items)))
        searches = any(sought_by(one) or _examines(one) for one in session.items)
        if session.config.option.collectonly or not (chosen or searches):
            return
        forgotten = {one.obligation.id for one in self.prepared.plan.items} - self.claimed
        if forgotten and self._whole():
            some = ", ".join(sorted(forgotten)[:5])
            raise pytest.UsageError(f"no suite discharges {len(forgotten)} obligations: {some}")
        self.session = self._open(self.prepared.part(chosen))

    def _whole(self) -> bool:
        """Whether all suites are run, and not some files of them."""
        return not any(".py" in arg for arg in self.config.args)

    def _open(self, plan: Plan) -> Session:
        option = self.config.option
        worker = hasattr(self.config, "workerinput")
        if option.assay_journal and (worker or getattr(option, "numprocesses", None)):
            raise pytest.UsageError("--assay-journal records one process: leave -n away")
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
        environment.person = Uncaptured(self.config)
        announce(environment.waiting, plan, self.prepared.target, environment.person.tell)
        session = Session(
            plan=plan,
            environment=environment,
            journal=journal,
            options=Options(
                seed=option.assay_seed,
                allow_incomplete=option.allow_incomplete,
                selection={"k": option.keyword, "m": option.markexpr},
                command="pytest " + " ".join(self.config.invocation_params.args),
                reproduce=self.prepared.reproduce,
            ),
        )
        session.open()
        return session

    @pytest.fixture
    def verdict(self, planned: Planned, request: pytest.FixtureRequest) -> Verdict:
        """Hold the obligation's trial, if nobody has yet, and return its verdict."""
        if self.session is None:
            raise pytest.UsageError("there is no run to take a verdict from")
        try:
            verdict = self.session.settle(planned.obligation)
        except AssayError as error:
            self.session.abort(str(error))
            pytest.exit(f"{error}; no obligation is blamed on the bank", Exit.USAGE.value)
        properties = request.node.user_properties
        properties.append((PROPERTY, verdict.standing.value))
        properties.append(("level", planned.obligation.level.value))
        properties.append(("obligation", verdict.obligation))
        if verdict.standing not in {Standing.CONFORMS, Standing.VIOLATES}:
            pytest.skip(f"{verdict.standing.value}: {verdict.reason}")
        return verdict

    @pytest.fixture
    def searched(self, sought: Sought) -> SearchResult:
        """Search a contract of the target, and return what was found."""
        if self.session is None:
            raise pytest.UsageError("there is no run to search in")
        examples = cast("str | None", self.config.getoption("assay_examples"))
        try:
            return pytest_plugin_searches.search(self.session, self.prepared, sought, examples)
        except AssayError as error:
            self.session.abort(str(error))
            pytest.exit(f"{error}; no obligation is blamed on the bank", Exit.USAGE.value)

    @pytest.fixture
    def schema_told(self, schema_item: SchemaItem) -> ItemResult:
        """Examine an operation by its schemas, and tell what is broken."""
        if self.session is None:
            raise pytest.UsageError("there is no run to take a part in")
        if self.schemas is None:
            from assay.fuzzing.schema.items import SchemaRun  # noqa: PLC0415 -- an extra

            self.schemas = SchemaRun(prepared=self.prepared, session=self.session)
        try:
            return self.schemas.examine(schema_item)
        except AssayError as error:
            self.session.abort(str(error))
            pytest.exit(f"{error}; no obligation is blamed on the bank", Exit.USAGE.value)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the verdicts, wherever they were reached."""
        found: Mapping[str, object] = dict(report.user_properties)
        standing = found.get(PROPERTY)
        if report.when != "teardown" or standing is None:
            return
        self.seen.add(str(found["obligation"]))
        self.counts[str(standing)] += 1
        must = found.get("level") == Level.MUST.value
        self.open_musts += must and Standing(str(standing)) in OPEN

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Close the record, and let an incomplete run say so by its exit code."""
        if self.session is not None and not self.session.closed:
            everything = len(self.seen) >= len(self.session.plan.items)
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
            elif self.open_musts and not self.config.option.allow_incomplete:
                session.exitstatus = Exit.INCOMPLETE.value

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the verdicts, and what made the run incomplete."""
        if not self.counts:
            return
        terminalreporter.section(f"conformance of {self.prepared.target.name}")
        for standing in Standing:
            if self.counts[standing.value]:
                terminalreporter.write_line(f"{self.counts[standing.value]:>5} {standing.value}")
        for fault in self.session.faults if self.session else []:
            terminalreporter.write_line(f"harness fault: {fault}")
        if self.open_musts:
            terminalreporter.write_line(
                f"incomplete: {self.open_musts} musts could not be verified (pytest -rs says why)"
            )


def _asks_nothing(item: pytest.Item) -> bool:
    """Whether an item only stands for a suite without any obligation in this run."""
    asks = _obligation(item) or sought_by(item) or _examines(item)
    return (
        bool(params_of(item).keys() & {"planned", pytest_plugin_searches.PARAMETER, SCHEMA})
        and not asks
    )


def _examines(item: pytest.Item) -> bool:
    """Whether an item examines an operation by its schemas."""
    return hasattr(params_of(item).get(SCHEMA), "operation")


def _obligation(item: pytest.Item) -> str:
    """Return the obligation that an item is about, if it is about one."""
    planned = params_of(item).get("planned")
    return planned.obligation.id if isinstance(planned, Planned) else ""


def _marks(obligation: Obligation) -> Iterator[pytest.MarkDecorator]:
    for name in sorted(markers(obligation)):
        yield pytest.MarkDecorator(pytest.Mark(name, (), {}, _ispytest=True), _ispytest=True)
