"""Session of a run: runs every trial, records it, and gives every obligation a verdict.

The command line and the pytest plugin both use it. It writes the plan before the first call and the
footer after the last verdict, and reports a fault if an obligation has no verdict.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

from assay.binding.model.target import Target
from assay.contract.model import Contract, Json
from assay.errors import Exit, JournalError, TargetError
from assay.fixtures.providers import has_real_customers
from assay.history import AnsweredCall, Authorised, Event, History
from assay.history.events import ProbeRun
from assay.journal.codec import RecordedVerdict, TrialEnd, VerdictSource
from assay.journal.typed_values import record_of
from assay.journal.writer import Journal
from assay.judging.assembly import RunResult, VerdictAssembly
from assay.judging.corrections import digest_key, parties
from assay.judging.exit_policy import ExitPolicy
from assay.judging.judge import Breach, breaches, indeterminate
from assay.planning.plan import Plan, Trial, count_signatures
from assay.rules.obligation import Obligation
from assay.rules.rule import Script
from assay.rules.verdict import Standing, Verdict, tally
from assay.running import contextual
from assay.running.contextual import run_contexts
from assay.running.environment import Environment
from assay.running.parallel_trials import LaneTask, RecordedRun
from assay.running.resumption import RecordedProgress
from assay.running.trial_recorder import TrialRecorder, TrialResult, other_findings
from assay.transport.auth.diagnostics import AuthenticationError

__all__ = ["Options", "RunResult", "Session", "run_session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of the user that shape verdicts and the journal."""

    seed: int = 0
    policy: ExitPolicy = field(default_factory=ExitPolicy)
    selection: Mapping[str, str] = field(default_factory=dict[str, str])
    command: str = "assay run"
    #: How many trials run side by side.
    concurrency: int = 1
    #: The part of a reproduction command between `assay run` and the selection.
    reproduce: str = ""
    #: The listed customers to which the user restricted the run.
    roles: tuple[str, ...] = ()
    #: The options with which the run can be resumed, if it can.
    invocation: Mapping[str, Json] | None = None
    #: The clauses that judge each trial besides its own: all, unless some are named.
    judging: frozenset[str] | None = None
    #: After how many violated obligations the run stops; 0 for never.
    most_violated: int = 0


@dataclass(slots=True, kw_only=True)
class Session:
    """A run in progress; `progress` is what its journal at `resumes` has, if it was cut short."""

    plan: Plan
    environment: Environment
    journal: Journal
    options: Options = field(default_factory=Options)
    on_exchange: Callable[[], None] = lambda: None
    #: Is told each verdict that an obligation is violated as it is reached, and each that takes it back.
    on_violation: Callable[[Verdict], None] = lambda _: None
    faults: list[str] = field(default_factory=list[str])
    closed: bool = False
    resumes: Path | None = None
    progress: RecordedProgress = field(default_factory=RecordedProgress)
    #: What lanes do beside the trials.
    beside: Sequence[LaneTask] = ()
    masking: contextual.Masking = field(default_factory=contextual.Masking)
    recorder: TrialRecorder = field(init=False)
    _assembly: VerdictAssembly = field(init=False)
    _unauthenticated: set[bool] = field(default_factory=set[bool])
    _verdicts: VerdictRecord = field(init=False)

    def __post_init__(self) -> None:
        """Begin with the verdicts that the plan decides alone."""
        target = self.environment.target
        self.masking.repeats = not has_real_customers(target)
        self.masking.waits = self.environment.waiting is not None
        self._assembly = VerdictAssembly(plan=self.plan, target=target)
        self.recorder = TrialRecorder(
            plan=self.plan,
            environment=self.environment,
            journal=self.journal,
            on_event=self._see,
            concurrency=self.options.concurrency,
        )
        self._verdicts = VerdictRecord(
            journal=self.journal,
            assembly=self._assembly,
            sources=Sources.of(self.plan, target, self.options),
            on_violation=self._violated,
        )
        secrets = self.environment.secrets.entries
        self._assembly.answers.key = digest_key(each.value for each in secrets if each.lasting)
        if self.resumes is not None:
            self._restore(self.progress)

    @property
    def exchanges(self) -> int:
        """The number of exchanges and signatures so far."""
        return self.recorder.exchanges

    @property
    def sources(self) -> Sources:
        """Where violations come from that another trial than the planned one showed."""
        return self._verdicts.sources

    def _see(self, event: Event) -> None:
        """Take in an event that was just recorded."""
        self._assembly.see(event)
        if isinstance(event, AnsweredCall | Authorised):
            self.on_exchange()

    def _violated(self, verdict: Verdict) -> None:
        """Tell a verdict, and stop the run if enough is violated."""
        self.on_violation(verdict)
        most, guard = self.options.most_violated, self.environment.guard
        new = len(self._verdicts.told) - self._verdicts.restored
        if most and new >= most and not guard.stopped:
            obligations = "1 obligation was" if most == 1 else f"{most} obligations were"
            guard.stopped = f"the run was stopped because {obligations} violated (--maxfail)"

    def _restore(self, progress: RecordedProgress) -> None:
        """Take in what was done before the run was cut short."""
        self._verdicts.restore(progress)
        self.recorder.exchanges = progress.exchanges
        self.faults += progress.faults
        self.masking.shown |= progress.shown
        self.journal.redactor.counts |= progress.names
        self.environment.guard.calls = progress.calls
        self._restore_requests(progress)
        self.environment.guard.spent += progress.spent

    def _restore_requests(self, progress: RecordedProgress) -> None:
        """Count the requests that were made before, each at its greatest amount."""
        guard, most = self.environment.guard, self.environment.target.safety.most
        for contract in self.plan.contracts.values():
            for each in contract.operations.values():
                number = progress.operations[each.id] * each.writes
                limits = guard.most_written.items()
                sums = {name: number * Decimal(most.get(name, limit)) for name, limit in limits}
                guard.add_written(sums | {"": Decimal(number * bool(each.makes))})

    def open(self) -> None:
        """Write the header, the whole plan, and the verdicts that are known before the first trial."""
        options = self.options
        self.environment.guard.learn(self.plan)
        self.environment.expect_closures(self.plan.contracts.values())
        self.journal.learn_public(self.plan, self.environment.target)
        self.journal.redactor.secrets = self.environment.secrets
        if self.plan.person:
            self.environment.expect_signatures(count_signatures(self.plan))
        if self.resumes is not None:
            known, abandoned = self.progress.planned, self.progress.abandoned
            self.journal.resume(self.resumes, self.plan, known=known, abandoned=abandoned)
        else:
            self.journal.header(
                self.plan,
                self.environment.target,
                seed=options.seed,
                selection=options.selection,
                command=options.command,
                invocation=options.invocation,
            )
        self._verdicts.write_preliminary([item.obligation.id for item in self.plan.items])

    def run_ahead(self, *phases: Sequence[Trial | LaneTask]) -> None:
        """Run the missing trials of each phase ahead of their turn, if several may run side by side."""
        lacks = self.progress.lacks
        self.recorder.start(*([each for each in phase if lacks(each.id)] for phase in phases))

    def run_trial(self, trial: Trial) -> tuple[Verdict, ...]:
        """Run one trial, and return the verdicts on the obligations that it settles.

        A violation that another trial showed stays.

        Raises:
            TargetError: nothing was ever reached at the target.
            JournalError: the journal can no longer be written.

        """
        changed = [obligation.id for obligation in trial.settles]
        if self.progress.take(trial.id) is None:
            result = self._run(trial)
            for finding in result.findings:
                self._verdicts.take(*finding)
            for verdict in result.verdicts:
                self._verdicts.take(verdict)
            shown = self.masking.shown.get(trial.id, Counter())
            self.end_trial(TrialEnd(trial=trial.id, done=result.done, shown=shown))
            changed += [verdict.obligation for verdict, _ in result.findings]
        self._verdicts.write_preliminary(changed)
        return self._assembly.corrected(self._assembly.recorded(changed[: len(trial.settles)]))

    def _run(self, trial: Trial) -> TrialResult:
        """Run one trial and judge it; a fault of the harness affects no other one."""
        try:
            run, verdicts = self.recorder.judged(trial)
            judging, target = self.options.judging, self.environment.target
            shown = breaches(
                self.plan,
                trial.contract,
                run.history,
                own=trial.clause,
                judging=judging,
                target=target,
            )
            findings = other_findings(trial, shown, self.violated())
        except JournalError:
            raise
        except AuthenticationError as error:
            if error.party_lost is not None:
                self._unauthenticated.add(error.party_lost)
            unreached = error.unconnected and not self.environment.client.reached
            if unreached or self._unauthenticated >= parties(self.plan):
                raise
            return TrialResult(verdicts=indeterminate(trial.settles, str(error)), done=False)
        except TargetError as error:
            if not self.environment.client.reached:
                raise
            reason = f"the fixture provider failed: {error}"
            return TrialResult(verdicts=indeterminate(trial.settles, reason), done=False)
        except Exception as error:  # noqa: BLE001 -- a fault of the harness must not end the run
            self.fault(trial.id, error)
            reason = f"harness fault: {self.faults[-1]}"
            return TrialResult(verdicts=indeterminate(trial.settles, reason))
        self._assembly.see_trial(run.history)
        self.masking.see_base(self.plan, trial, run.history)
        done = not (run.stopped and self.environment.guard.stopped)
        return TrialResult(verdicts=verdicts, findings=findings, done=done)

    def end_trial(self, end: TrialEnd) -> None:
        """Record that a trial or a search has ended: a resumed run goes on from there."""
        self._verdicts.write_end(replace(end, spent=self.environment.guard.accesses))

    def run_contextual(self, trial: Trial) -> bool:
        """Run one trial in a further context, and record what it violates.

        Return whether it shows less than in the base context: what one value hides, another
        may show.

        Raises:
            TargetError: nothing was ever reached at the target.
            JournalError: the journal can no longer be written.

        """
        recorded = self.progress.take(trial.id)
        if recorded is not None:
            return recorded
        result, done = TrialResult(), True
        try:
            result = contextual.run_in_context(trial, self, self._assembly)
        except JournalError:
            raise
        except (TargetError, AuthenticationError):
            if not self.environment.client.reached:
                raise
            done = False
        except Exception as error:  # noqa: BLE001 -- a fault of the harness must not end the run
            self.fault(trial.id, error)
        for finding in result.findings:
            self._verdicts.take(*finding)
        done = done and not self.environment.guard.stopped
        self.end_trial(TrialEnd(trial=trial.id, done=done, hides=result.hides))
        self._verdicts.write_preliminary([verdict.obligation for verdict, _ in result.findings])
        return result.hides

    def run_unjudged(self, trial: Trial) -> ProbeRun:
        """Run the probe of a trial for the record, and return what it was.

        Raises:
            TargetError: the fixture provider cannot be reached or used at all.

        """
        run = self.recorder.perform(trial)
        contextual.note_end(self.journal, trial, run)
        self._assembly.see_trial(run.history)
        return run

    def fault(self, where: str, error: Exception) -> None:
        """Record a fault of the harness in a trial or a search."""
        what = self.journal.redactor.bounded(f"{type(error).__name__}: {error}", 500)
        self.faults.append(f"{where}: {what}")
        self.journal.write("fault", {"where": where, "what": what})

    def replay(
        self, name: str, contract: Contract, steps: Script, *, seed: int | None = None
    ) -> ProbeRun:
        """Perform the steps of a sequence for the record, as a trial of its own.

        Raises:
            TargetError: the fixture provider cannot be reached or used at all.

        """
        environment = None if seed is None else self.environment.seeded(seed)
        run = self.recorder.perform_steps(name, steps, contract, environment)
        self._assembly.see_trial(run.history)
        return run

    def record_run(self, name: str, seen: RecordedRun) -> ProbeRun:
        """Record what a search did before, as a trial of its own."""
        run = self.recorder.write(name, seen)
        self._assembly.see_trial(run.history)
        return run

    def broken(self, plan: Plan, contract: str, history: History) -> tuple[Breach, ...]:
        """Return what a history violates of all that a plan asks."""
        return tuple(breaches(plan, contract, history, target=self.environment.target))

    def record_finding(self, verdict: Verdict, source: VerdictSource) -> None:
        """Record a verdict that another trial showed, unless a graver one was reached before."""
        self._verdicts.take(verdict, source)
        self._verdicts.write_preliminary([verdict.obligation])

    def violated(self) -> frozenset[str]:
        """Return the obligations that were found to be violated so far."""
        return self._assembly.violated()

    @property
    def blame(self) -> str:
        """What a run that cannot go on has found: never that nothing is violated if something is."""
        count = len(self.violated())
        if not count:
            return "no obligation is reported as violated"
        return f"{count:,} obligation{'s are' if count > 1 else ' is'} reported as violated"

    def settle(self, obligation: Obligation) -> Verdict:
        """Return the verdict on one obligation, running its trial if need be.

        Raises:
            TargetError: nothing was ever reached at the target.

        """
        if not self._assembly.has(obligation.id):
            self.run_trial(next(each for each in self.plan.trials if obligation in each.settles))
        return self._assembly.final_on(obligation.id)

    def close(self) -> RunResult:
        """Write every verdict and the footer; every planned obligation must have one."""
        self.recorder.stop()
        verdicts = self._verdicts.write_final()
        if len(verdicts) != len(self.plan.items):
            self.faults.append("the verdicts are not those of the planned obligations")
        result = self._assembly.conclude(
            verdicts,
            policy=self.options.policy,
            exchanges=self.exchanges,
            faults=self.faults,
            stopped=self.environment.guard.stopped,
        )
        self.journal.waivers(result.waivers)
        self._footer(result.counts, result.exit, reasons=result.reasons)
        return result

    def abort(self, reason: str) -> None:
        """Write the footer of a run that cannot go on, with the verdicts reached so far."""
        self.recorder.stop()
        verdicts = self._verdicts.write_final()
        self.journal.waivers(self._assembly.waivers(verdicts))
        aborted = self.journal.redactor.bounded(reason, 2000)
        self._footer(tally(verdicts), Exit.USAGE, aborted=aborted)

    def _footer(self, counts: Mapping[str, int], exit_: Exit, **extra: object) -> None:
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


def run_trials(
    session: Session,
    on_trial: Callable[[Trial], None] = lambda _: None,
    enough: Callable[[], bool] = lambda: False,
) -> None:
    """Run the trials of an open session, then those in further contexts, until that is `enough`.

    Raises:
        TargetError: nothing was ever reached at the target.

    """
    plan, beside, lanes = session.plan, session.beside, session.options.concurrency
    # What is kept until the end must not fill the room that trials need.
    session.run_ahead(plan.trials, beside[:lanes], plan.contextual, beside[lanes:])
    for trial in plan.trials:
        if enough():
            return
        on_trial(trial)
        session.run_trial(trial)
    guard = session.environment.guard
    run_contexts(session, plan.contextual, on_trial, lambda: enough() or bool(guard.stopped))


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
        run_trials(session, on_trial)
        search()
    except TargetError as error:
        session.abort(str(error))
        raise
    except KeyboardInterrupt:
        session.abort("interrupted")
        raise
    return session.close()


#: Stands for the trial of the obligation itself.
OWN = VerdictSource()


# -- Commands that reproduce a verdict -----------------------------------------------------------
# A sequence or a trial in a further context can show a violation, too. The command that reproduces
# it has to run that, too.
@dataclass(slots=True, kw_only=True)
class Sources:
    """The sources of a run, by obligation; `command` is how the run was begun.

    `chosen` are the listed customers to which the user restricted the run, and `roles` those that
    were used, by trial and by obligation.
    """

    command: str = ""
    seed: int = 0
    chosen: tuple[str, ...] = ()
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    _found: dict[str, VerdictSource] = field(default_factory=dict[str, VerdictSource])

    @classmethod
    def of(cls, plan: Plan, target: Target, options: Options) -> Sources:
        """Return the sources of a run that begins."""
        return cls(
            command=options.reproduce,
            seed=options.seed,
            chosen=options.roles,
            roles=roles_of(plan) if len(target.fixtures.roles) > 1 else {},
        )

    def add(self, obligation: str, source: VerdictSource) -> None:
        """Note what showed the violation of an obligation, if another trial than its own did."""
        self._found.pop(obligation, None)
        if source.trial:
            self._found[obligation] = source

    def get(self, obligation: str) -> str:
        """Return the trial that showed a violation; empty for that of the obligation."""
        source = self._found.get(obligation)
        return source.trial if source else ""

    def reproduce(self, obligation: str) -> str:
        """Return the command that shows the verdict on an obligation again."""
        source = self._found.get(obligation)
        if source is not None and source.replay:
            command = self.command + _role_options(self.chosen)
            return f"assay run{command} --replay {shlex.quote(source.replay)}"
        trials = [source.trial] if source is not None else []
        used = [name for each in (*trials, obligation) for name in self.roles.get(each, ())]
        command = self.command + _role_options(used or self.chosen)
        seed = f" --seed {self.seed}" if self.seed else ""
        settles = source.settles if source is not None else ""
        chosen = f"{settles} or {obligation}" if settles else obligation
        return f"assay run{command} -k {shlex.quote(chosen)}{seed}"


def _role_options(names: Iterable[str]) -> str:
    return "".join(f" --role {shlex.quote(name)}" for name in dict.fromkeys(names))


def roles_of(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return the listed customers that the trials of a plan take, by trial and by obligation."""
    used: dict[str, tuple[str, ...]] = {}
    for trial in plan.all_trials:
        names = trial.choice.taken if trial.choice else ()
        used[trial.id] = names
        used |= {each.id: names for each in trial.settles if not trial.context}
    return used


# -- Verdicts of a run in progress: preliminary ones from trials, final ones at the end ----------
# A run that is killed leaves no final verdict. So the verdicts on the obligations of a trial are
# written as soon as it has ended, and again where later evidence changes them. The final verdicts
# take their place, so that the journal of a finished run says nothing twice.
#
# When a trial has ended, a line says so, with its verdicts before corrections. A resumed run goes on
# from there.
@dataclass(slots=True, kw_only=True)
class VerdictRecord:
    """Takes verdicts into the assembly, and writes them to the journal."""

    journal: Journal
    assembly: VerdictAssembly
    sources: Sources
    on_violation: Callable[[Verdict], None] = lambda _: None
    #: The obligations that were told to be violated.
    told: set[str] = field(default_factory=set[str])
    #: How many of them were told before the run was resumed.
    restored: int = 0
    _written: dict[str, Verdict] = field(default_factory=dict[str, Verdict])
    _taken: dict[str, VerdictSource] = field(default_factory=dict[str, VerdictSource])

    def take(self, verdict: Verdict, source: VerdictSource = OWN) -> None:
        """Keep a verdict unless a graver one was reached before."""
        verdict = self.journal.clean(verdict)
        if self.assembly.record_graver(verdict):
            self._taken[verdict.obligation] = source
            self.sources.add(verdict.obligation, source)

    def restore(self, progress: RecordedProgress) -> None:
        """Take in what the trials of a run showed before it was cut short."""
        progress.restore(self.assembly)
        for name, recorded in progress.verdicts.items():
            self.sources.add(name, recorded.source)
        for verdict in self.assembly.reached(progress.verdicts):
            if verdict.standing is Standing.VIOLATES:
                self.told.add(verdict.obligation)
        self.restored = len(self.told)

    def write_end(self, end: TrialEnd) -> None:
        """Write that a trial has ended, and all that it changed; before its preliminary verdicts."""
        if self.journal.out is None:
            return
        end = replace(end, answers=self.assembly.answers.changes())
        verdicts = [
            RecordedVerdict(verdict=verdict, source=self._source(verdict.obligation))
            for verdict in self.assembly.recorded(self._taken)
        ]
        self.journal.write("ended", record_of(replace(end, verdicts=tuple(verdicts))))
        self._taken.clear()

    def _source(self, obligation: str) -> VerdictSource:
        source = self._taken[obligation]
        link = self.journal.redactor.link(source.replay) if source.replay else ""
        return replace(source, replay=link)

    def write_preliminary(self, changed: Collection[str]) -> None:
        """Write the verdicts that differ from those written before, some obligations having changed."""
        if self.journal.out is None:
            return
        for verdict in self.assembly.reached(changed):
            if self._written.get(verdict.obligation) != verdict:
                self._write(verdict, preliminary=True)
                self._tell(verdict)

    def _tell(self, verdict: Verdict) -> None:
        """Tell that an obligation is violated, or is no longer."""
        name = verdict.obligation
        if (verdict.standing is Standing.VIOLATES) is not (name in self.told):
            self.told ^= {name}
            self.on_violation(verdict)

    def write_final(self) -> tuple[Verdict, ...]:
        """Write and return every verdict that was reached, in the plan's order.

        What the verdicts of other shards depend on is written before, if the plan is a shard.
        """
        if self.assembly.plan.shard is not None:
            answers = record_of(self.assembly.answers.seen())
            self.journal.write("observations", {"answers": answers, **self.assembly.observations()})
        verdicts = self.assembly.final()
        for verdict in verdicts:
            self._write(verdict)
        return verdicts

    def _write(self, verdict: Verdict, *, preliminary: bool = False) -> None:
        name = verdict.obligation
        reproduce, trial = self.sources.reproduce(name), self.sources.get(name)
        self.journal.verdict(verdict, reproduce, trial, preliminary=preliminary)
        self._written[name] = verdict
