"""Session of a run: runs every trial, records it, and gives every obligation a verdict.

The command line and the pytest plugin both use it. It writes the plan before the first call and the
footer after the last verdict, and reports a fault if an obligation has no verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from assay.binding.encode import Access
from assay.contract.model import Contract
from assay.errors import JournalError, TargetError
from assay.execution import ambient, contextual
from assay.execution.ambient import FindingSource, Sources
from assay.execution.environment import Environment
from assay.execution.executor import run_probe
from assay.execution.verdicts import VerdictRecord
from assay.history import Authorised, Event, Exchange, History
from assay.history.events import ProbeRun
from assay.journal.writer import Journal
from assay.judging.assembly import VerdictAssembly
from assay.judging.corrections import parties
from assay.judging.judge import Breach, breaches, judge
from assay.judging.verdict import Exit, Standing, Verdict, tally
from assay.planning.obligation import BoundClause, Obligation
from assay.planning.plan import Plan, Trial, count_signatures, script_of
from assay.rules.clauses import clauses_of
from assay.rules.evidence import evidence_of
from assay.rules.rule import Script
from assay.transport.auth.diagnostics import AuthenticationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of the user that shape verdicts and the journal."""

    seed: int = 0
    allow_incomplete: bool = False
    selection: Mapping[str, str] = field(default_factory=dict[str, str])
    command: str = "assay run"
    #: The part of a reproduction command between `assay run` and the selection.
    reproduce: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Result of a finished run; `stopped` says what ended it early."""

    verdicts: tuple[Verdict, ...]
    counts: Mapping[str, int]
    exchanges: int
    faults: tuple[str, ...]
    exit: Exit
    stopped: str = ""


@dataclass(slots=True, kw_only=True)
class Session:
    """A run in progress."""

    plan: Plan
    environment: Environment
    journal: Journal
    options: Options = field(default_factory=Options)
    on_exchange: Callable[[], None] = lambda: None
    faults: list[str] = field(default_factory=list[str])
    exchanges: int = 0
    closed: bool = False
    masking: contextual.Masking = field(default_factory=contextual.Masking)
    _assembly: VerdictAssembly = field(init=False)
    _unauthenticated: set[bool] = field(default_factory=set[bool])
    _verdicts: VerdictRecord = field(init=False)

    def __post_init__(self) -> None:
        """Begin with the verdicts that the plan decides alone."""
        self._assembly = VerdictAssembly(plan=self.plan, target=self.environment.target)
        self._verdicts = VerdictRecord(
            journal=self.journal,
            assembly=self._assembly,
            sources=Sources(command=self.options.reproduce, seed=self.options.seed),
        )

    def open(self) -> None:
        """Write the header, the whole plan, and the verdicts that it decides alone."""
        options = self.options
        self.environment.guard.learn(self.plan)
        self.journal.learn_public(self.plan, self.environment.target)
        self.journal.redactor.secrets = self.environment.secrets
        if self.plan.person:
            self.environment.expect_signatures(count_signatures(self.plan))
        self.journal.header(
            self.plan,
            self.environment.target,
            seed=options.seed,
            selection=options.selection,
            command=options.command,
        )
        self._verdicts.write_preliminary([item.obligation.id for item in self.plan.items])

    def run_trial(self, trial: Trial) -> tuple[Verdict, ...]:
        """Run one trial, and return the verdicts on the obligations that it settles.

        A fault of the harness affects its own trial and no other.

        Raises:
            TargetError: nothing was ever reached at the target.
            JournalError: the journal can no longer be written.

        """
        try:
            run, verdicts = self._run(trial)
            findings = [*ambient.findings(self.plan, trial, run.history, self.violated())]
        except JournalError:
            raise
        except AuthenticationError as error:
            if error.party_lost is not None:
                self._unauthenticated.add(error.party_lost)
            unreached = error.unconnected and not self.environment.client.reached
            if unreached or self._unauthenticated >= parties(self.plan):
                raise
            verdicts = self._indeterminate(trial, str(error))
        except TargetError as error:
            if not self.environment.client.reached:
                raise
            verdicts = self._indeterminate(trial, f"the fixture provider failed: {error}")
        except Exception as error:  # noqa: BLE001 -- a fault of the harness must not end the run
            self._fault(trial, error)
            verdicts = self._indeterminate(trial, "harness fault")
        else:
            self._assembly.see_trial(run.history)
            self.masking.see_base(self.plan, trial, run.history)
            for finding in findings:
                self.record_finding(*finding)
        return self._settled(trial, verdicts)

    def _settled(self, trial: Trial, verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
        """Record verdicts, unless another trial showed a violation; return those that stay."""
        for verdict in verdicts:
            self._verdicts.take(verdict)
        self._verdicts.write_preliminary([obligation.id for obligation in trial.settles])
        return self._assembly.corrected(self._assembly.recorded(trial.settles))

    def run_contextual(self, trial: Trial) -> None:
        """Run one trial in a further context, and record what it violates.

        Raises:
            TargetError: nothing was ever reached at the target.
            JournalError: the journal can no longer be written.

        """
        try:
            for finding in tuple(contextual.findings(trial, self, self._assembly)):
                self.record_finding(finding.verdict, FindingSource(trial=finding.trial))
        except (JournalError, TargetError, AuthenticationError):
            if not self.environment.client.reached:
                raise
        except Exception as error:  # noqa: BLE001 -- a fault of the harness must not end the run
            self._fault(trial, error)

    def hold(self, trial: Trial) -> History:
        """Run the probe of a trial for the record, and return its history.

        Raises:
            TargetError: the fixture provider cannot be reached or used at all.

        """
        _, probe = self._script(trial)
        run = self._perform(trial.id, probe, self.plan.contracts[trial.contract])
        contextual.note_end(self.journal, trial, run)
        self._assembly.see_trial(run.history)
        return run.history

    def _fault(self, trial: Trial, error: Exception) -> None:
        """Record a fault of the harness in a trial."""
        what = self.journal.redactor.bounded(f"{type(error).__name__}: {error}", 500)
        self.faults.append(f"{trial.id}: {what}")
        self.journal.write("fault", {"where": trial.id, "what": what})

    def replay(
        self,
        name: str,
        contract: Contract,
        steps: Script,
        *,
        seed: int | None = None,
    ) -> ProbeRun:
        """Perform the steps of a sequence for the record, as a trial of its own.

        Raises:
            TargetError: the fixture provider cannot be reached or used at all.

        """
        environment = None if seed is None else self.environment.seeded(seed)
        run = self._perform(name, steps, contract, environment)
        self._assembly.see_trial(run.history)
        return run

    def broken(self, plan: Plan, contract: str, history: History) -> tuple[Breach, ...]:
        """Return what a history violates of all that a plan asks."""
        return tuple(breaches(plan, contract, history, clauses_of(plan.contracts[contract])))

    def record_finding(self, verdict: Verdict, source: FindingSource) -> None:
        """Record a verdict that another trial showed, unless a graver one was reached before."""
        self._verdicts.take(verdict, source)
        self._verdicts.write_preliminary([verdict.obligation])

    def violated(self) -> frozenset[str]:
        """Return the obligations that were found to be violated so far."""
        return self._assembly.violated()

    def settle(self, obligation: Obligation) -> Verdict:
        """Return the verdict on one obligation, running its trial if need be.

        Raises:
            TargetError: nothing was ever reached at the target.

        """
        if not self._assembly.has(obligation.id):
            trial = next(trial for trial in self.plan.trials if obligation in trial.settles)
            self.run_trial(trial)
        return self._assembly.final_on(obligation.id)

    def _run(self, trial: Trial) -> tuple[ProbeRun, tuple[Verdict, ...]]:
        clause, probe = self._script(trial)
        if stopped := self.environment.guard.stopped:
            run = ProbeRun(history=History(), stopped=stopped)
            return run, judge(partial(evidence_of, clause.kind), trial.settles, run, ())
        run = self._perform(trial.id, probe, self.plan.contracts[trial.contract])
        stopped = self.environment.guard.stopped
        if run.stopped and stopped:
            run = replace(run, stopped=stopped, shortage=None)
        clauses = clauses_of(self.plan.contracts[trial.contract])
        return run, judge(partial(evidence_of, clause.kind), trial.settles, run, clauses)

    def _script(self, trial: Trial) -> tuple[BoundClause, Script]:
        """Return the clause of a trial and its probe, with an inquiry at the end if it needs one."""
        clause, probe = script_of(self.plan, trial)
        contract, target = self.plan.contracts[trial.contract], self.environment.target
        return clause, ambient.with_inquiry(probe, contract, target.fixtures.offers)

    def _perform(
        self, name: str, probe: Script, contract: Contract, environment: Environment | None = None
    ) -> ProbeRun:
        """Run a probe for the record, under a name."""

        def record(event: Event, access: Access) -> None:
            self.journal.event(name, event, access)
            self._assembly.see(event)
            if isinstance(event, Exchange | Authorised):
                self.on_exchange()

        self.journal.redactor.begin()
        return run_probe(
            probe,
            environment or self.environment,
            contract.operations,
            number=self._number,
            record=record,
        )

    def _number(self) -> int:
        self.exchanges += 1
        return self.exchanges

    @staticmethod
    def _indeterminate(trial: Trial, reason: str) -> tuple[Verdict, ...]:
        return tuple(
            Verdict(obligation=obligation.id, standing=Standing.INDETERMINATE, reason=reason)
            for obligation in trial.settles
        )

    def close(self) -> RunResult:
        """Write every verdict and the footer; every planned obligation must have one."""
        verdicts = self._verdicts.write_final()
        if len(verdicts) != len(self.plan.items):
            self.faults.append("planned obligations and verdicts do not add up")
        stopped = self.environment.guard.stopped
        conclusion = self._assembly.conclude(
            verdicts,
            faults=len(self.faults),
            allow_incomplete=self.options.allow_incomplete,
            stopped=bool(stopped),
        )
        self._footer(conclusion.counts, conclusion.exit)
        return RunResult(
            verdicts=verdicts,
            counts=conclusion.counts,
            exchanges=self.exchanges,
            faults=tuple(self.faults),
            exit=conclusion.exit,
            stopped=stopped,
        )

    def abort(self, reason: str) -> None:
        """Write the footer of a run that cannot go on, with the verdicts reached so far."""
        verdicts = self._verdicts.write_final()
        aborted = self.journal.redactor.bounded(reason, 2000)
        self._footer(tally(verdicts), Exit.USAGE, aborted=aborted)

    def _footer(self, counts: Mapping[str, int], exit_: Exit, **extra: str) -> None:
        self.closed = True
        self.journal.footer(
            {
                "planned": len(self.plan.items),
                "counts": dict(counts),
                "exchanges": self.exchanges,
                "faults": len(self.faults),
                "exit": exit_.value,
                **self.environment.guard.summary(),
                **extra,
            }
        )


def run_session(
    session: Session,
    on_trial: Callable[[Trial], None] = lambda _: None,
    search: Callable[[], None] = lambda: None,
) -> RunResult:
    """Run every trial of a session, then the random search, and close it.

    Raises:
        TargetError: the target was never reached; the journal says so.

    """
    session.open()
    try:
        for trial in session.plan.trials:
            on_trial(trial)
            session.run_trial(trial)
        for trial in session.plan.contextual:
            on_trial(trial)
            session.run_contextual(trial)
        search()
    except TargetError as error:
        session.abort(str(error))
        raise
    except KeyboardInterrupt:
        session.abort("interrupted")
        raise
    return session.close()
