"""A run: trials held one by one, every obligation given a verdict, all recorded.

`Session` is what both the command line and the pytest plugin use. It writes the
plan before the first call and the footer after the last verdict, and refuses to
finish with an obligation forgotten.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from assay.binding.encode import Access
from assay.binding.join import expired, waiver_of
from assay.contract.model import Contract, Level
from assay.errors import JournalError, TargetError
from assay.execution.driver import run_probe
from assay.execution.environment import Environment
from assay.execution.executor import Recorder
from assay.fuzzing.sequences.abstract_step import AbstractStep
from assay.fuzzing.sequences.concretize import script
from assay.history import Authorised, Event, Exchange, History
from assay.history.events import ProbeRun
from assay.journal.writer import Journal, header, planned
from assay.judging.judge import Breach, StaticWatch, breaches, discount_static, judge
from assay.judging.rejected_credentials import CredentialWatch, discount_untaken, parties, provided
from assay.judging.verdict import Exit, Standing, Verdict, exit_of, tally
from assay.planning.obligation import Obligation
from assay.planning.plan import Disposition, Plan, Trial, count_signatures, script_of
from assay.rules.clauses import clauses_of
from assay.transport.auth.diagnostics import AuthenticationError

#: Verdicts that leave a must unsettled.
OPEN = frozenset({Standing.INDETERMINATE, Standing.UNVERIFIED})
#: Which of two verdicts on one obligation stays: the graver one.
_GRAVE = dict.fromkeys(Standing, 0) | {Standing.INDETERMINATE: 1, Standing.VIOLATES: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a user asked for, as far as it shapes verdicts and the record."""

    seed: int = 0
    allow_incomplete: bool = False
    selection: Mapping[str, str] = field(default_factory=dict[str, str])
    command: str = "assay run"
    #: The part of a reproduction command between `assay run` and the selection.
    reproduce: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a finished run amounts to; `stopped` says what ended it before its time."""

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
    _found: dict[str, Verdict] = field(default_factory=dict[str, Verdict])
    _watch: StaticWatch = field(default_factory=StaticWatch)
    _operations: dict[int, str] = field(default_factory=dict[int, str])
    _credentials: CredentialWatch = field(default_factory=CredentialWatch)
    _lost: set[bool] = field(default_factory=set[bool])
    _told: dict[str, str] = field(default_factory=dict[str, str])
    _replays: dict[str, Path] = field(default_factory=dict[str, Path])

    def open(self) -> None:
        """Write the header and the whole plan."""
        options = self.options
        self.environment.guard.learn(self.plan)
        if self.plan.person:
            self.environment.foretell(count_signatures(self.plan))
        self.journal.write(
            "header",
            header(
                self.plan,
                self.environment.target,
                seed=options.seed,
                selection=options.selection,
                command=options.command,
            ),
        )
        for item in self.plan.items:
            self.journal.write("plan", planned(item))
        self._credentials.provided = provided(self.plan)
        for item in self.plan.items:
            if item.fate is not Disposition.ASK:
                verdict = Verdict(
                    obligation=item.obligation.id, standing=item.standing, reason=item.why
                )
                self._found[item.obligation.id] = verdict

    def run_trial(self, trial: Trial) -> tuple[Verdict, ...]:
        """Hold one trial, and return the verdicts on what it settles.

        A fault of the harness costs its own trial and no other.

        Raises:
            TargetError: nothing was ever reached at the target.
            JournalError: the record cannot be written any more.

        """
        try:
            driven, verdicts = self._try(trial)
        except JournalError:
            raise
        except AuthenticationError as error:
            if error.hopeless is not None:
                self._lost.add(error.hopeless)
            unreached = error.nowhere and not self.environment.client.reached
            if unreached or self._lost >= parties(self.plan):
                raise
            verdicts = self._without(trial, str(error))
        except TargetError as error:
            if not self.environment.client.reached:
                raise
            verdicts = self._without(trial, f"the world failed: {error}")
        except Exception as error:  # noqa: BLE001 -- a fault of ours must not cost the record
            what = self.journal.redactor.bounded(f"{type(error).__name__}: {error}", 500)
            self.faults.append(f"{trial.id}: {what}")
            self.journal.write("fault", {"where": trial.id, "what": what})
            verdicts = self._without(trial, "harness fault")
        else:
            self._watch.see(driven.history)
        verdicts = tuple(map(self.journal.clean, verdicts))
        self._found.update({one.obligation: one for one in verdicts})
        return self._discounted(verdicts)

    def replay(
        self,
        name: str,
        contract: Contract,
        story: Sequence[AbstractStep],
        *,
        seed: int | None = None,
    ) -> ProbeRun:
        """Tell a story for the record, as a trial of its own.

        Raises:
            TargetError: the target's world cannot be reached or used at all.

        """
        self.journal.redactor.begin()
        environment = self.environment if seed is None else self.environment.seeded(seed)
        driven = run_probe(
            script(story, contract.zone),
            environment,
            contract.operations,
            number=self._number,
            record=self._recorder(name),
        )
        self._watch.see(driven.history)
        return driven

    def broken(self, plan: Plan, contract: str, history: History) -> tuple[Breach, ...]:
        """Return what a history breaks of all that a plan asks."""
        return tuple(breaches(plan, contract, history, clauses_of(plan.contracts[contract])))

    def record_finding(self, verdict: Verdict, *, trial: str, replay: Path | None) -> None:
        """Take in a verdict that a story gave; a graver one that was reached before stays."""
        verdict = self.journal.clean(verdict)
        before = self._found.get(verdict.obligation)
        if before is None or _GRAVE[verdict.standing] >= _GRAVE[before.standing]:
            self._found[verdict.obligation] = verdict
            self._told[verdict.obligation] = trial
            if replay is not None:
                self._replays[verdict.obligation] = replay

    def violated(self) -> frozenset[str]:
        """Return the obligations that were found to be violated so far."""
        found = self._found.values()
        return frozenset(one.obligation for one in found if one.standing is Standing.VIOLATES)

    def settle(self, obligation: Obligation) -> Verdict:
        """Return the verdict on one obligation, holding its trial if need be.

        Raises:
            TargetError: nothing was ever reached at the target.

        """
        if obligation.id not in self._found:
            trial = next(one for one in self.plan.trials if obligation in one.settles)
            self.run_trial(trial)
        found = (self._found[obligation.id],)
        (verdict,) = self._discounted(found)
        return self._waived(verdict)

    def _discounted(self, verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
        """Take back what rests on static answers, or on credentials that were never taken."""
        live = discount_static(verdicts, self._watch.static(), self._operations)
        return discount_untaken(live, self._credentials, self._operations, self.environment.target)

    def _try(self, trial: Trial) -> tuple[ProbeRun, tuple[Verdict, ...]]:
        applied, probe = script_of(self.plan, trial)
        stopped = self.environment.guard.stopped
        if stopped:
            driven = ProbeRun(history=History(), stopped=stopped)
            return driven, judge(applied.kind.check, trial.settles, driven, ())
        self.journal.redactor.begin()

        driven = run_probe(
            probe,
            self.environment,
            self.plan.contracts[trial.contract].operations,
            number=self._number,
            record=self._recorder(trial.id),
        )
        stopped = self.environment.guard.stopped
        if driven.stopped and stopped:
            driven = replace(driven, stopped=stopped)
        return driven, judge(
            applied.kind.check,
            trial.settles,
            driven,
            clauses_of(self.plan.contracts[trial.contract]),
        )

    def _recorder(self, name: str) -> Recorder:
        def record(event: Event, access: Access) -> None:
            self.journal.event(name, event, access)
            if isinstance(event, Exchange):
                self._operations[event.n] = event.call.operation
                self._credentials.see(event)
            if isinstance(event, Exchange | Authorised):
                self.on_exchange()

        return record

    def _number(self) -> int:
        self.exchanges += 1
        return self.exchanges

    @staticmethod
    def _without(trial: Trial, why: str) -> tuple[Verdict, ...]:
        return tuple(
            Verdict(obligation=one.id, standing=Standing.INDETERMINATE, reason=why)
            for one in trial.settles
        )

    def close(self) -> RunResult:
        """Write every verdict and the footer; planned must equal judged."""
        verdicts = self._write_verdicts()
        counts = tally(verdicts)
        if sum(counts.values()) != len(self.plan.items):
            self.faults.append("planned obligations and verdicts do not add up")
        exit_ = exit_of(
            counts,
            incomplete_musts=sum(
                item.obligation.level is Level.MUST and verdict.standing in OPEN
                for item, verdict in zip(self.plan.items, verdicts, strict=True)
            ),
            faults=len(self.faults),
            # Whatever is missing of a run that was stopped, nobody has agreed to it.
            allow_incomplete=self.options.allow_incomplete and not self.environment.guard.stopped,
        )
        if self.environment.guard.stopped and exit_ is Exit.OK:
            exit_ = Exit.INCOMPLETE
        self._footer(counts, exit_)
        return RunResult(
            verdicts=verdicts,
            counts=counts,
            exchanges=self.exchanges,
            faults=tuple(self.faults),
            exit=exit_,
            stopped=self.environment.guard.stopped,
        )

    def abort(self, why: str) -> None:
        """Close the record of a run that cannot go on; nothing is blamed on anybody."""
        settled = self._write_verdicts()
        self._footer(tally(settled), Exit.USAGE, aborted=why)

    def _write_verdicts(self) -> tuple[Verdict, ...]:
        """Write every verdict that was reached, in the plan's order."""
        names = [item.obligation.id for item in self.plan.items]
        rough = [self._found[name] for name in names if name in self._found]
        found = tuple(map(self._waived, self._discounted(rough)))
        for one in found:
            told = self._told.get(one.obligation, "")
            self.journal.verdict(one, self._reproduce(one.obligation), told)
        return found

    def _footer(self, counts: Mapping[str, int], exit_: Exit, **more: str) -> None:
        self.closed = True
        self.journal.footer(
            {
                "planned": len(self.plan.items),
                "counts": dict(counts),
                "exchanges": self.exchanges,
                "faults": len(self.faults),
                "exit": exit_.value,
                **self.environment.guard.told(),
                **more,
            }
        )

    def _reproduce(self, obligation: str) -> str:
        if obligation in self._replays:
            path = shlex.quote(str(self._replays[obligation]))
            return f"assay run{self.options.reproduce} --replay {path}"
        seed = f" --seed {self.options.seed}" if self.options.seed else ""
        return f"assay run{self.options.reproduce} -k {shlex.quote(obligation)}{seed}"

    def _waived(self, verdict: Verdict) -> Verdict:
        """Apply the profile's waiver of an obligation, if it has a sound one."""
        waiver = waiver_of(self.environment.target, verdict.obligation)
        if waiver is None:
            return verdict
        if expired(waiver, datetime.now(UTC).date()):
            reason = f"the waiver of {waiver.owner} expired on {waiver.expires}"
            return replace(verdict, standing=Standing.VIOLATES, reason=reason)
        if verdict.standing is Standing.VIOLATES:
            reason = f"{waiver.reason} ({waiver.owner}, until {waiver.expires})"
            return replace(verdict, standing=Standing.WAIVED, reason=reason)
        if verdict.standing is Standing.CONFORMS:
            reason = f"waived by {waiver.owner}, but it conforms now: remove the waiver"
            return replace(verdict, standing=Standing.VIOLATES, reason=reason)
        return verdict


def run_session(
    session: Session,
    on_trial: Callable[[Trial], None] = lambda _: None,
    more: Callable[[], None] = lambda: None,
) -> RunResult:
    """Hold every trial of a session, do what there is more to do, and close it.

    Raises:
        TargetError: the target was never reached; the journal says so.

    """
    session.open()
    try:
        for trial in session.plan.trials:
            on_trial(trial)
            session.run_trial(trial)
        more()
    except TargetError as error:
        session.abort(str(error))
        raise
    except KeyboardInterrupt:
        session.abort("interrupted")
        raise
    return session.close()
