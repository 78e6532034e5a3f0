"""The kill matrix: runs on faulty sandbox banks, which test the harness itself.

A mutant is the sandbox with one fault: a run on it must find the violations of that fault, and the
trials of other clauses alone may show more. A neutral variant differs only in what the document
leaves open: a run on it must find none. An obligation without a mutant counts against the proof.

A run has the trials that the changed policies concern (`policy_trace`), and a sample of the
others, which must show nothing either. A whole proof runs every trial.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass, replace
from functools import cache
from hashlib import sha256
from multiprocessing import parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import Any, Final, TypeAlias, cast

from assay.binding.model.target import Decided, Target
from assay.binding.read.join import bind
from assay.errors import Exit
from assay.journal.redact import Careless
from assay.journal.writer import Journal
from assay.parsing.parse import parse_contracts
from assay.planning.plan import Disposition, Plan, Trial, plan
from assay.preparation.target_file import find_target, read_target
from assay.rules.verdict import Standing, Verdict
from assay.running.environment import set_up
from assay.running.session import Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS, NEUTRAL, PIS_MUTANTS, PIS_NEUTRAL, Mutant, Neutral
from assay.sandbox.mutants.bundles import replaced
from assay.sandbox.mutants.mutant import Change
from assay.sandbox.policies import SOUND, Policies

#: The contracts of the proof, and the shipped target of the sandbox.
CONTRACTS, TARGET = ("aisp", "pis"), "sandbox"

#: The names of figures: one that only a proof of all mutants has, and how much of the proof ran.
UNPROVED = "obligations without a mutant"
RAN, PLANNED = "trials that ran", "trials of a whole proof"
#: Of the trials that a change does not concern, one in this number is run as well, at least one.
SAMPLED: Final = 20
#: The same, without `elsewhere`, of those that it concerns and that are not about its violations.
SAMPLED_CONCERNED: Final = 6
#: A row to make: the variant, the trials to run, perhaps others where these do not give what is
#: expected, and the clauses that judge them; None for all.
_Task: TypeAlias = tuple[str, tuple[frozenset[str] | None, ...], frozenset[str] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """The result of a run on one mutant or neutral variant.

    `expected` are the obligations that the fault violates (none for a neutral variant),
    `violated` those that the run found violated, `elsewhere` those of them that only trials of
    other clauses show, `unresolved` those that it left
    indeterminate or unverified, `undecidable` those that a neutral variant must leave so.
    The run had `trials` trials of `planned`.
    """

    id: str
    description: str
    expected: frozenset[str]
    violated: frozenset[str]
    elsewhere: frozenset[str]
    unresolved: frozenset[str]
    neutral: bool
    undecidable: frozenset[str] = frozenset()
    trials: int = 0
    planned: int = 0

    @property
    def as_expected(self) -> bool:
        """Whether the run found the expected violations, and its own trials no other."""
        if self.neutral:
            return not self.violated and self.unresolved == self.undecidable
        return self.expected <= self.violated and not self.unexpected

    @property
    def unexpected(self) -> frozenset[str]:
        """The obligations that their own trials found violated, and that the fault does not violate."""
        return self.violated - self.elsewhere - self.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The rows of a proof, and the ids of all obligations that can be tested."""

    rows: tuple[MatrixRow, ...]
    obligations: tuple[str, ...]

    @property
    def unproved(self) -> tuple[str, ...]:
        """The obligations that no mutant was found to violate."""
        killed = {id_ for row in self.rows for id_ in row.violated & row.expected}
        return tuple(id_ for id_ in self.obligations if id_ not in killed)

    @property
    def wrong(self) -> tuple[MatrixRow, ...]:
        """The rows whose result is not the expected one."""
        return tuple(row for row in self.rows if not row.as_expected)

    @property
    def proved(self) -> bool:
        """Whether every row is as expected and every obligation has a mutant."""
        return not self.wrong and not self.unproved


@cache
def reference(contracts: tuple[str, ...] = CONTRACTS) -> tuple[Plan, Target]:
    """Return the plan of the proof in the base context, and its target without decisions."""
    return planned_with(contracts, {})


def planned_with(contracts: tuple[str, ...], decided: Mapping[str, Decided]) -> tuple[Plan, Target]:
    """Return the plan for the sandbox with these answers to open points, and its target."""
    target = replace(read_target(find_target(TARGET)), decided=decided)
    bound = bind(parse_contracts(contracts), target)
    return plan(bound, target), target


def variants() -> dict[str, Mutant | Neutral]:
    """Return all mutants and neutral variants, by id."""
    candidates: list[Mutant | Neutral] = [*MUTANTS, *PIS_MUTANTS, *NEUTRAL, *PIS_NEUTRAL]
    return {variant.id: variant for variant in candidates}


def changed_contracts(policies: Policies) -> tuple[str, ...]:
    """Return the contracts whose half of the bank differs from the sound bank.

    The two halves share no policy, so a run on the unchanged half would repeat the run on
    the sound bank, exchange by exchange.
    """
    halves = {
        "aisp": replace(policies, payments=SOUND.payments) != SOUND,
        "pis": policies.payments != SOUND.payments,
    }
    return tuple(name for name in CONTRACTS if halves[name]) or CONTRACTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """The obligations that a run found violated, those that it did elsewhere, and the unresolved."""

    violated: frozenset[str]
    elsewhere: frozenset[str]
    unresolved: frozenset[str]


def run_on_bank(
    policies: Policies,
    contracts: tuple[str, ...] = CONTRACTS,
    *,
    trials: Collection[str] | None = None,
    judging: frozenset[str] | None = None,
    planned_for: tuple[Plan, Target] | None = None,
) -> Tested:
    """Test a bank by contracts, or as it was `planned_for` a target.

    Given the ids of `trials`, only these are run. Each is judged by its own clause and by all
    others, or by those that are `judging`.

    Raises:
        RuntimeError: the harness itself failed.

    """
    planned, target = planned_for or reference(contracts)
    with session_on(bank_of(policies), planned, target) as session:
        session.options = replace(session.options, judging=judging)
        if trials is None:
            verdicts = run_session(session).verdicts
        else:
            verdicts = _run_part(session, planned, trials)
    by = {
        standing: frozenset(
            verdict.obligation for verdict in verdicts if verdict.standing is standing
        )
        for standing in Standing
    }
    return Tested(
        violated=by[Standing.VIOLATES],
        elsewhere=frozenset(filter(session.sources.get, by[Standing.VIOLATES])),
        unresolved=by[Standing.INDETERMINATE] | by[Standing.UNVERIFIED],
    )


def bank_of(policies: Policies) -> Callable[[str], Any]:
    """Return what makes the bank with these policies for a base URL."""
    return lambda base_url: make_app(policies, base_url=base_url)


@contextmanager
def session_on(
    bank: Callable[[str], Any], planned: Plan, target: Target, seed: int = 0
) -> Generator[Session]:
    """Open a session without a journal on a bank; `RuntimeError` where the harness itself failed."""
    session = Session(
        plan=planned,
        environment=set_up(target, seed=seed, bank=bank),
        journal=Journal(out=None, redactor=Careless()),
    )
    try:
        yield session
    finally:
        session.environment.close()
    if session.faults:
        raise RuntimeError("; ".join(session.faults))


def _run_part(session: Session, planned: Plan, trials: Collection[str]) -> tuple[Verdict, ...]:
    """Run some trials, and return the verdicts on what they settle, and on what they violate."""
    session.open()
    chosen = [trial for trial in planned.trials if trial.id in trials]
    for trial in chosen:
        session.run_trial(trial)
    settled = {obligation.id for trial in chosen for obligation in trial.settles}
    reached = settled | session.violated()
    obligations = (item.obligation for item in planned.items)
    return tuple(session.settle(each) for each in obligations if each.id in reached)


@cache
def traced() -> Trace:
    """Run every trial on the sound bank, and return which of them each variant concerns.

    Raises:
        RuntimeError: the sound bank is not sound while its policies are traced.

    """
    trace = Trace(tuple(ChangedBank.of(id_, each.change) for id_, each in variants().items()))
    planned, target = reference()
    with session_on(bank_of(trace.policies()), planned, target) as session:
        session.open()
        for trial in planned.trials:
            trace.trial = trial.id
            session.run_trial(trial)
            trace.trial = OUTSIDE
        if violated := session.violated():
            raise RuntimeError("; ".join([*session.faults, *sorted(violated)]))
    return trace


def trials_of(variant: str, trials: Sequence[Trial]) -> frozenset[str] | None:
    """Return the trials that a variant concerns, with a sample of the others; None for all."""
    concerned = traced().concerning(variant)
    if concerned is None:
        return None
    others = (trial.id for trial in trials if trial.id not in concerned)
    return concerned | _sample(variant, others, SAMPLED)


def _sample(variant: str, trials: Iterable[str], number: int) -> frozenset[str]:
    """Return one in a number of trials, at least one; for each variant others."""
    every = sorted(trials, key=lambda trial: sha256(f"{variant} {trial}".encode()).digest())
    return frozenset(every[: -(-len(every) // number)])


def _task(id_: str, *, whole: bool, elsewhere: bool) -> _Task:
    variant = variants()[id_]
    planned, _ = reference(changed_contracts(variant.change(SOUND)))
    trials = None if whole else trials_of(id_, planned.trials)
    if elsewhere or isinstance(variant, Neutral):
        return id_, (trials,), None
    broken = [each for item in planned.items if (each := item.obligation).id in variant.breaks]
    own = frozenset(trial.id for trial in planned.trials if {*trial.settles}.intersection(broken))
    others = trials or frozenset(trial.id for trial in planned.trials)
    some = own | _sample(id_, others - own, SAMPLED_CONCERNED)
    return id_, (some, trials), frozenset(each.clause for each in broken)


def _row(task: _Task) -> MatrixRow:
    id_, parts, judging = task
    row = _row_of(id_, parts[0], judging)
    return row if row.as_expected or len(parts) == 1 else _row_of(id_, parts[1], judging)


def _row_of(id_: str, trials: frozenset[str] | None, judging: frozenset[str] | None) -> MatrixRow:
    variant = variants()[id_]
    contracts = changed_contracts(policies := variant.change(SOUND))
    planned = [trial.id for trial in reference(contracts)[0].trials]
    tested = run_on_bank(policies, contracts=contracts, trials=trials, judging=judging)
    return MatrixRow(
        id=id_,
        description=variant.says,
        expected=variant.breaks if isinstance(variant, Mutant) else frozenset(),
        violated=tested.violated,
        elsewhere=tested.elsewhere,
        unresolved=tested.unresolved,
        neutral=isinstance(variant, Neutral),
        undecidable=variant.leaves if isinstance(variant, Neutral) else frozenset(),
        trials=sum(trials is None or trial in trials for trial in planned),
        planned=len(planned),
    )


def processes(workers: int) -> ProcessPoolExecutor:
    """Return a pool of worker processes, none of which outlives this process, however it ends."""
    return ProcessPoolExecutor(workers, initializer=_end_with_parent)


def _end_with_parent() -> None:
    def follow() -> None:
        parent = parent_process()
        if parent is not None:
            wait([parent.sentinel])
            os._exit(Exit.FAULT.value)

    Thread(target=follow, daemon=True).start()


def _rows(tasks: Sequence[_Task], workers: int) -> Iterator[MatrixRow]:
    if workers == 1:
        yield from map(_row, tasks)
        return
    with processes(workers) as pool:
        yield from pool.map(_row, tasks, chunksize=2)


def prove(
    chosen: Callable[[str], bool] = lambda _: True,
    *,
    workers: int | None = None,
    whole: bool = False,
    elsewhere: bool = True,
    on_row: Callable[[MatrixRow], None] = lambda _: None,
) -> Matrix:
    """Run every chosen mutant and neutral variant; return the matrix.

    Each run has the trials that the variant concerns, and a sample of the others; with `whole`, all.
    Without `elsewhere`, a mutant has a sample of those that it concerns beside those about what it
    violates, as long as they suffice, and is judged by the clauses of its trials and those that it
    violates: by others it may show anything. `workers` is the number of processes, one per core by default;
    `on_row` is called with each row as soon as it is known.
    """
    planned, _ = reference()
    rows: list[MatrixRow] = []
    tasks = [_task(id_, whole=whole, elsewhere=elsewhere) for id_ in variants() if chosen(id_)]
    for row in _rows(tasks, workers or os.cpu_count() or 1):
        rows.append(row)
        on_row(row)
    return Matrix(
        rows=tuple(rows),
        obligations=tuple(
            item.obligation.id for item in planned.items if item.disposition is Disposition.ASK
        ),
    )


def count(matrix: Matrix) -> dict[str, int]:
    """Return the figures of a matrix, by their names."""
    mutants = [row for row in matrix.rows if not row.neutral]
    neutral = [row for row in matrix.rows if row.neutral]
    return {
        "obligations": len(matrix.obligations),
        "mutants": len(mutants),
        "mutants found by exactly their own violations": sum(row.as_expected for row in mutants),
        "neutral variants": len(neutral),
        "neutral variants without a violation": sum(row.as_expected for row in neutral),
        UNPROVED: len(matrix.unproved),
        RAN: sum(row.trials for row in matrix.rows),
        PLANNED: sum(row.planned for row in matrix.rows),
    }


# -- Policy trace --------------------------------------------------------------------------------
# The policies that each trial uses, to find the trials that a changed policy affects. The sound bank runs every
# trial once, with its policies wrapped from outside: it cannot know. A policy that is a plain value concerns the trials that read it. One that is a function is also
# called as each changed bank has it, with the same arguments: it concerns the trials in which an answer
# differs. In all other trials the changed bank does what the sound one does, step by step, since each
# trial has customers of its own. What is read outside a trial concerns all of them.
#: The steps from the policies to one of them: names of fields, and keys of tables.
Path: TypeAlias = tuple[str, ...]

#: What is read while no trial runs.
OUTSIDE: Final = ""
_MISSING: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedBank:
    """A changed bank: its policies, the places where they differ, and whether it keeps a state.

    A bank that is changed twice with two results has policies with a state of their own: these
    must not be called but by their bank.
    """

    id: str
    policies: Policies
    places: frozenset[str]
    has_state: bool

    @classmethod
    def of(cls, id_: str, change: Change) -> ChangedBank:
        """Return the variant that a change makes of the sound bank."""
        policies = change(SOUND)
        return cls(
            id=id_,
            policies=policies,
            places=replaced(SOUND, policies),
            has_state=bool(replaced(policies, change(SOUND))),
        )

    def concerns(self, place: str) -> bool:
        """Whether it differs at a place, in a part of it, or in what it is a part of."""
        return any(_within(place, changed) or _within(changed, place) for changed in self.places)


@dataclass(slots=True)
class Trace:
    """The trials that each variant concerns; `trial` is the one that runs now."""

    variants: tuple[ChangedBank, ...]
    trial: str = OUTSIDE
    trials: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    _concerned: dict[str, tuple[ChangedBank, ...]] = field(default_factory=dict[str, Any])
    _comparing: bool = False

    def policies(self) -> Policies:
        """Return the policies of the sound bank, wrapped; a bank cannot tell them from others."""
        return cast("Policies", _Record(SOUND, (), self))

    def concerning(self, variant: str) -> frozenset[str] | None:
        """Return the trials that a variant concerns; None if it is all of them."""
        trials = self.trials.get(variant, set[str]())
        return None if OUTSIDE in trials else frozenset(trials)

    def read(self, path: Path) -> None:
        """Note that a policy was read, or a table as a whole."""
        for variant in self._at(path):
            self._note(variant)

    def call(
        self, path: Path, policy: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]
    ) -> Any:
        """Call a policy, and note each variant whose policy answers otherwise."""
        if self._comparing:
            return policy(*args, **kwargs)
        noted = [variant for variant in self._at(path) if not self._is_noted(variant)]
        if not noted:
            return policy(*args, **kwargs)
        args = [_rereadable(each) for each in args]
        answer = _outcome(policy, args, kwargs)
        self._comparing = True
        try:
            for variant in noted:
                changed = _at(variant.policies, path)
                same = callable(changed) and not variant.has_state
                if not (same and _equal(answer, _outcome(changed, args, kwargs))):
                    self._note(variant)
        finally:
            self._comparing = False
        if isinstance(answer, _Raised):
            raise answer.error
        return answer

    def _at(self, path: Path) -> tuple[ChangedBank, ...]:
        place = "".join(path)
        if place not in self._concerned:
            self._concerned[place] = tuple(
                variant for variant in self.variants if variant.concerns(place)
            )
        return self._concerned[place]

    def _is_noted(self, variant: ChangedBank) -> bool:
        return self.trial in self.trials.get(variant.id, ())

    def _note(self, variant: ChangedBank) -> None:
        self.trials.setdefault(variant.id, set()).add(self.trial)


def _within(place: str, whole: str) -> bool:
    """Whether a place is another one, or a part of it."""
    return place.startswith(whole) and place[len(whole) : len(whole) + 1] in {"", ".", "["}


def _at(policies: Policies, path: Path) -> Any:
    """Return what stands at a path; `_MISSING` if nothing does."""
    value: Any = policies
    for step in path:
        if step.startswith("."):
            value = getattr(value, step[1:], _MISSING)
        elif isinstance(value, Mapping):
            value = cast("Mapping[str, Any]", value).get(step[1:-1], _MISSING)
        else:
            return _MISSING
    return value


@dataclass(frozen=True, slots=True)
class _Raised:
    error: Exception


def _outcome(policy: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> Any:
    """Return what a policy answers, or the error that it raises."""
    try:
        return policy(
            *(each() if isinstance(each, _Rereadable) else each for each in args), **kwargs
        )
    except Exception as error:  # noqa: BLE001 -- an error is an answer as well
        return _Raised(error)


def _equal(one: Any, other: Any) -> bool:
    """Whether two answers are surely the same; iterators and functions hardly ever are."""
    if isinstance(one, _Raised) and isinstance(other, _Raised):
        errors = one.error, other.error
        return (
            type(errors[0]) is type(errors[1])
            and vars(errors[0]) == vars(errors[1])
            and (errors[0].args == errors[1].args)
        )
    if isinstance(one, Iterator) or isinstance(other, Iterator):
        return False
    return type(one) is type(other) and bool(one == other)


@dataclass(frozen=True, slots=True)
class _Rereadable:
    """An argument that can be read once only, as one that can be read again."""

    items: tuple[Any, ...]

    def __call__(self) -> Iterator[Any]:
        return iter(self.items)


def _rereadable(argument: Any) -> Any:
    """Return an argument that can be read again."""
    return _Rereadable(tuple(argument)) if isinstance(argument, Iterator) else argument


def _wrapped(value: Any, path: Path, trace: Trace) -> Any:
    """Wrap what can be asked further; note the reading of everything else."""
    if isinstance(value, Mapping):
        return _Table(cast("Mapping[str, Any]", value), path, trace)
    if callable(value):
        return _Function(value, path, trace)
    if is_dataclass(value) and type(value).__name__.endswith("Policies"):
        return _Record(value, path, trace)
    trace.read(path)
    return value


class _Record:
    """Policies whose fields are wrapped."""

    def __init__(self, value: Any, path: Path, trace: Trace) -> None:
        self._of = value, path, trace

    def __getattr__(self, name: str) -> Any:
        value, path, trace = self._of
        return _wrapped(getattr(value, name), (*path, f".{name}"), trace)


class _Table(Mapping[str, Any]):
    """A table whose entries are wrapped."""

    def __init__(self, value: Mapping[str, Any], path: Path, trace: Trace) -> None:
        self._of = value, path, trace

    def __getitem__(self, key: str) -> Any:
        value, path, trace = self._of
        entry = (*path, f"[{key}]")
        if key not in value:
            trace.read(entry)
        return _wrapped(value[key], entry, trace)

    def __iter__(self) -> Iterator[str]:
        value, path, trace = self._of
        trace.read(path)
        return iter(value)

    def __len__(self) -> int:
        value, path, trace = self._of
        trace.read(path)
        return len(value)


class _Function:
    """A policy that is called; whatever else is asked of it counts as a reading."""

    def __init__(self, value: Any, path: Path, trace: Trace) -> None:
        self._of = value, path, trace

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        value, path, trace = self._of
        return trace.call(path, value, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        value, path, trace = self._of
        trace.read(path)
        return getattr(value, name)
