"""Ambient clauses, judged in every trial, and the source of violations outside their own trial.

The check of an ambient clause judges the end of every trial. So that it can see what was carried
out, a trial that made a request ends with an inquiry at the fixture, which is no exchange. A
sequence or a trial in a further context can show a violation, too. The command that reproduces it
has to run that, too.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assay.contract.model import Capability, Contract
from assay.history import Call, Effects, History, Inquire
from assay.judging.judge import Breach, breaches
from assay.planning.plan import Plan, Trial
from assay.rules.rule import Script, clauses_of
from assay.rules.verdict import Standing, Verdict

if TYPE_CHECKING:
    from assay.binding.target import Target
    from assay.running.run_values import Options


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingSource:
    """The trial that showed a violation, with its sequence or the obligation that it settles."""

    trial: str
    replay: Path | None = None
    settles: str = ""


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
    _found: dict[str, FindingSource] = field(default_factory=dict[str, FindingSource])

    @classmethod
    def of(cls, plan: Plan, target: Target, options: Options) -> Sources:
        """Return the sources of a run that begins."""
        return cls(
            command=options.reproduce,
            seed=options.seed,
            chosen=options.roles,
            roles=roles_of(plan) if len(target.fixtures.roles) > 1 else {},
        )

    def add(self, obligation: str, source: FindingSource) -> None:
        """Note what showed the violation of an obligation."""
        self._found[obligation] = source

    def forget(self, obligation: str) -> None:
        """Forget it, since the trial of the obligation itself showed the violation."""
        self._found.pop(obligation, None)

    def get(self, obligation: str) -> str:
        """Return the trial that showed a violation; empty for that of the obligation."""
        source = self._found.get(obligation)
        return source.trial if source else ""

    def reproduce(self, obligation: str) -> str:
        """Return the command that shows the verdict on an obligation again."""
        source = self._found.get(obligation)
        if source is not None and source.replay is not None:
            command = self.command + _role_options(self.chosen)
            return f"assay run{command} --replay {shlex.quote(str(source.replay))}"
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


def with_inquiry(script: Script, contract: Contract, offers: Collection[Capability]) -> Script:
    """Return a probe that asks, at its end, what was executed of the requests it made.

    Nothing is added where no clause is ambient, where the target does not offer it, or where the
    probe asks at its end itself.
    """
    if (
        not any(clause.ambient for clause in clauses_of(contract))
        or Capability.EFFECTS not in offers
    ):
        yield from script
        return
    made = asked = False
    try:
        step = next(script)
        while True:
            reply = yield step
            if isinstance(step, Call):
                operation = contract.operations[step.operation]
                made = made or operation.makes is not None
                asked = asked and operation.shows is not None
            else:
                asked = isinstance(reply, Effects)
            step = script.send(reply)
    except StopIteration:
        # A reading after the last inquiry alters nothing.
        if made and not asked:
            yield Inquire()
    finally:
        script.close()


def ambient_obligations(plan: Plan) -> frozenset[str]:
    """Return the obligations of a plan by which every trial is judged."""
    ambient = {
        (contract, name)
        for contract, clauses in plan.clauses.items()
        for name, clause in clauses.items()
        if clause.kind.ambient
    }
    obligations = (item.obligation for item in plan.items)
    return frozenset(each.id for each in obligations if (each.contract, each.clause) in ambient)


def findings(
    plan: Plan, trial: Trial, history: History, known: Collection[str]
) -> Iterator[tuple[Verdict, FindingSource]]:
    """Yield what a trial violates of ambient clauses, beside the obligations that it settles."""
    own = {obligation.id for obligation in trial.settles}
    violations: dict[str, list[Breach]] = {}
    for breach in breaches(plan, trial.contract, history, ambient=True):
        if breach.obligation not in own and breach.obligation not in known:
            violations.setdefault(breach.obligation, []).append(breach)
    for obligation, shown in violations.items():
        evidence = tuple(breach.evidence for breach in shown)
        first = evidence[0]
        verdict = Verdict(
            obligation=obligation,
            standing=Standing.VIOLATES,
            reason=f"expected {first.expected}; {first.seen}",
            evidence=evidence,
        )
        yield verdict, FindingSource(trial=trial.id, settles=trial.settles[0].id)
