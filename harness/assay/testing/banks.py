"""Scripted banks, contracts with a kind that is not installed, and real runs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import cast

from assay.contract.model import Contract
from assay.errors import InputError
from assay.history import (
    Advance,
    Advanced,
    Arrange,
    Authorise,
    Authorised,
    Call,
    Effects,
    Ending,
    Entry,
    Event,
    Exchange,
    History,
    Inquire,
    Lack,
    Lacking,
    Owned,
    Register,
    Registered,
    Renew,
    Renewed,
    Reply,
    Resend,
    Step,
    Subject,
    Submit,
    Together,
    Withdraw,
    Withdrawn,
)
from assay.parsing.parse import parse_contract
from assay.rules.checks import evidence_of, facets_of
from assay.rules.consent_probes import probe_of
from assay.rules.kinds import installed, kind_of
from assay.rules.rule import Kind
from assay.rules.verdict import Evidence, Standing, weigh
from assay.testing.histories import START, Bank, exchange, signature
from assay.transport.protocol import Application


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """The steps that a probe asked for, and the history that they became."""

    steps: tuple[Step, ...]
    history: History

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls among the steps."""
        return tuple(step for step in self.steps if isinstance(step, Call))

    @property
    def signatures(self) -> tuple[Authorise, ...]:
        """The signatures among the steps."""
        return tuple(step for step in self.steps if isinstance(step, Authorise))

    @property
    def spent(self) -> int:
        """How many calls and signatures that is: what `count_calls` announces."""
        return len(self.calls) + len(self.signatures)


def play(
    kind: Kind,
    scenario: str,
    bank: Bank,
    *,
    reply: Callable[[Step, Reply], Reply] | None = None,
    start: datetime = START,
) -> Played:
    """Run the probe of a scenario, by its id, against a scripted bank, from `start`.

    Whatever is not a call is granted: subjects own what they are asked to own, with keys
    such as `psu-1`, the clock moves, and signatures are given. `reply` may replace what a
    step came back with, a call included: it is given the step and the reply, numbered, and
    returns one.
    """
    script = probe_of(kind, kind.scenario(scenario))
    steps: list[Step] = []
    events: list[Event] = []
    now, n = start, 1
    step = next(script, None)
    while step is not None:
        steps.append(step)
        if isinstance(step, Advance):
            now = step.to or now
        came = _reply(step, bank, now, now + timedelta(seconds=1 + len(steps)))
        if isinstance(came, Exchange | Authorised):
            came, n = replace(came, n=n), n + 1
        came = reply(step, came) if reply else came
        # As in a run, a look at the clock is no event.
        if not (
            isinstance(step, Submit | Together) or (isinstance(step, Advance) and step.to is None)
        ):
            events.append(came)
        try:
            step = script.send(came)
        except StopIteration:
            step = None
    return Played(steps=tuple(steps), history=History(events=tuple(events)))


def judge(kind: Kind, bank: Callable[[], Bank]) -> dict[str, Standing]:
    """Play every scenario of a clause against a new bank, and return each facet's verdict.

    Evidence counts for the facets of its own scenario only, as in a run.

    Raises:
        KindError: the check yields evidence for a facet that the kind does not have.

    """
    facets = [facet for facet in facets_of(kind) if not facet.not_applicable_because]
    trials = dict.fromkeys(facet.scenario.id for facet in facets)
    evidence: dict[str, list[Evidence]] = {
        id_: list(evidence_of(kind, play(kind, id_, bank()).history)) for id_ in trials
    }
    return {
        facet.id: weigh(item for item in evidence[facet.scenario.id] if item.facet == facet.id)[0]
        for facet in facets
    }


def violated(kind: Kind, bank: Callable[[], Bank]) -> set[str]:
    """Return the facets that a bank violates; for a mutant exactly those that it breaks."""
    standings = judge(kind, bank)
    return {facet for facet, standing in standings.items() if standing is Standing.VIOLATES}


def _reply(step: Step, bank: Bank, now: datetime, at: datetime) -> Reply:  # noqa: C901 -- one case for each step
    reply: Reply
    match step:
        case Call():
            reply = exchange(step, bank(step), at=at)
        case Arrange():
            owns = tuple(_owned(step))
            reply = Subject(name=step.subject, now=now, owns=owns, segment=step.segment)
        case Advance():
            reply = Advanced(now=now)
        case Authorise():
            ending = Ending.CONFIRMED if step.decision.value == "confirm" else Ending.REFUSED
            reply = signature(step, ending=ending, at=now)
        case Submit() | Together():
            reply = Advanced(now=now)
        case Inquire():
            reply = Effects(now=now)
        case Register():
            reply = Registered(
                subject=step.subject,
                argument=step.argument,
                value=step.value,
                since=now - step.age,
            )
        case Withdraw():
            reply = Withdrawn(subject=step.subject, request=step.request, done=True, now=now)
        case Renew():
            reply = Renewed(
                subject=step.subject, operation=step.operation, by=step.by, done=True, now=now
            )
        case Lack():
            reply = Lacking(mode=step.mode, bank=step.bank, now=now)
        case Resend():
            raise TypeError("a scripted bank has no request that is sent again")
    return reply


def _owned(step: Arrange) -> Iterator[Owned]:
    numbers = count(1)
    for holding in step.holdings:
        for _ in range(holding.count):
            key = f"{step.subject}-{next(numbers)}"
            entries = tuple(
                Entry(key=f"{key}-{n}", on=on) for n, on in enumerate(holding.entries or (), 1)
            )
            yield Owned(key=key, resource=holding.resource, traits=holding.traits, entries=entries)


# -- files and real runs -------------------------------------------------------------
@contextmanager
def use_kind(kind: type[Kind]) -> Generator[None]:
    """Make a kind known to contracts within a `with` block, as if its package were installed."""
    known = cast("dict[str, type[Kind]]", installed())
    before = dict(known)
    known[kind.name] = kind
    try:
        yield
    finally:
        known.clear()
        known.update(before)


def kind_in(contract: str | Path, clause: str) -> Kind:
    """Return a clause of a contract file, by its id, as an instance of its kind.

    Raises:
        InputError: something is wrong in the file.
        KeyError: the contract has no such clause.

    """
    parsed: Contract = parse_contract(contract)
    clauses = {known.id: known for known in parsed.clauses}
    return kind_of(clauses[clause].kind).parse(clauses[clause], parsed)


def problems(contract: str | Path) -> list[str]:
    """Return what is wrong in a contract file, each with line, problem and hint."""
    try:
        parse_contract(contract)
    except InputError as error:
        return [*map(str, error.problems)]
    return []


def verdicts(
    contract: str | Path, target: str | Path, bank: Application, *, seed: int = 0
) -> dict[str, Standing]:
    """Run a contract against a WSGI application and return the verdict of each obligation.

    The target file says `transport: embedded`. Obligations are named `clause/facet`.

    Raises:
        InputError: something is wrong in the contract or in the target file.
        RuntimeError: a probe or a check raised an exception.

    """
    from assay.binding.read.join import bind  # noqa: PLC0415 -- only where something is run
    from assay.journal.writer import Journal  # noqa: PLC0415
    from assay.planning.plan import plan  # noqa: PLC0415
    from assay.preparation.target_file import read_target  # noqa: PLC0415
    from assay.running.environment import set_up  # noqa: PLC0415
    from assay.running.session import Session, run_session  # noqa: PLC0415

    parsed, bound_to = parse_contract(contract), read_target(target)
    planned = plan(bind([parsed], bound_to), bound_to)
    environment = set_up(bound_to, seed=seed, bank=lambda _: bank)
    try:
        result = run_session(
            Session(plan=planned, environment=environment, journal=Journal(out=None))
        )
    finally:
        environment.close()
    if result.faults:
        raise RuntimeError("; ".join(result.faults))
    return {
        verdict.obligation.removeprefix(f"{parsed.id}/"): verdict.standing
        for verdict in result.verdicts
    }
