"""Public names for testing a rule kind in a package of your own.

Three ways to show that a kind is right, from the fastest to the most complete:

- A literal history: write `exchange`s down, put them into a `history`, and compare what
  `evidence` returns.
- A scripted bank, which is a function from a `Call` to an `Answer`: `play` runs one probe
  against it, `judge` all of them. A mutant is a bank with one fault, and `violated` must
  return exactly the facets that it breaks.
- A real run: `verdicts` runs contract and target file against a WSGI application.

`problems` returns the findings in a contract file, `kind_in` one of its clauses; `use_kind`
makes a kind known to both where its package is not installed.

`Bank` is the type of a scripted bank, and `START` the moment at which literal histories and
scripted banks begin.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TypeAlias, cast

from assay.contract.model import Contract, Json
from assay.contract.parse import parse_contract
from assay.errors import InputError
from assay.history import (
    Accepted,
    Advance,
    Advanced,
    Arrange,
    Authorise,
    Authorised,
    Call,
    Cause,
    Effects,
    Ending,
    Entry,
    Event,
    Exchange,
    History,
    Indeterminate,
    Inquire,
    Item,
    Lack,
    Lacking,
    Outcome,
    Owned,
    Register,
    Registered,
    Rejected,
    Reply,
    Step,
    Subject,
    Unavailable,
    Wire,
    Withdraw,
    Withdrawn,
)
from assay.judging.verdict import Evidence, Standing, weigh
from assay.rules.kinds import installed, kind_of
from assay.rules.rule import Kind
from assay.transport.embedded import Application

__all__ = [
    "START",
    "Answer",
    "Bank",
    "Played",
    "accepted",
    "evidence",
    "exchange",
    "failed",
    "history",
    "judge",
    "kind_in",
    "listed",
    "lost",
    "play",
    "problems",
    "refused",
    "unavailable",
    "use_kind",
    "verdicts",
    "violated",
]

#: The moment at which literal histories and scripted banks begin.
START = datetime(2026, 9, 16, 8, 0, tzinfo=UTC)


# -- answers -------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a call came back with: its meaning, its status, its headers."""

    outcome: Outcome
    status: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


#: A scripted bank, a function from a call to its answer.
Bank: TypeAlias = Callable[[Call], Answer]


def accepted(
    *items: Item | str,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    values: Mapping[str, Json] | None = None,
    next: str | None = None,  # noqa: A002 -- its name in `Accepted`
) -> Answer:
    """Return an answer that does what was asked; a text stands for an item with this key.

    Without items the answer shows none; `listed` returns an empty list.
    """
    outcome = Accepted(items=_items(items) or None, values=values or {}, next=next)
    return Answer(outcome=outcome, status=status, headers=headers or {})


def listed(*items: Item | str, next: str | None = None) -> Answer:  # noqa: A002 -- likewise
    """Return an answer with a list, which may be empty; `next` names the next page."""
    return Answer(outcome=Accepted(items=_items(items), next=next), status=200)


def refused(*leaked: str, status: int = 403, headers: Mapping[str, str] | None = None) -> Answer:
    """Return a refusal; `leaked` are keys of items that it discloses all the same."""
    outcome = Rejected(leaked=_items(leaked))
    return Answer(outcome=outcome, status=status, headers=headers or {})


def unavailable(*, status: int = 404, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer that says that the operation or the thing does not exist."""
    return Answer(outcome=Unavailable(), status=status, headers=headers or {})


def failed(*, status: int = 503) -> Answer:
    """Return an answer with which the target itself fails."""
    why = f"the target failed ({status})"
    return Answer(outcome=Indeterminate(cause=Cause.SERVER, why=why), status=status)


def lost() -> Answer:
    """Return what is recorded where no answer arrives."""
    why = "no answer within 10 s"
    return Answer(outcome=Indeterminate(cause=Cause.TRANSPORT, why=why), status=0)


def _items(items: Iterable[Item | str]) -> tuple[Item, ...]:
    return tuple(Item(key=each) if isinstance(each, str) else each for each in items)


# -- literal histories ---------------------------------------------------------------
def exchange(call: Call, answer: Answer, *, at: datetime | None = None) -> Exchange:
    """Return a call with its answer; `history` fills in its number and, without `at`, its time."""
    wire = Wire(
        method="GET",
        url="https://bank.example/",
        status=answer.status,
        headers=tuple(answer.headers.items()),
    )
    return Exchange(n=0, at=at or START, call=call, outcome=answer.outcome, wire=wire)


def history(*events: Event) -> History:
    """Return the events as a history: numbered, and a second apart where no time is given."""
    numbers = count(1)
    numbered: list[Event] = []
    for event in events:
        if isinstance(event, Exchange):
            n = next(numbers)
            at = START + timedelta(seconds=n) if event.at == START else event.at
            event = replace(event, n=n, at=at)  # noqa: PLW2901 -- the same event, numbered
        elif isinstance(event, Authorised):
            event = replace(event, n=next(numbers))  # noqa: PLW2901 -- likewise
        numbered.append(event)
    return History(events=tuple(numbered))


def evidence(kind: Kind, history: History, *, tpp: bool = False) -> list[str]:
    """Return what a check says of a history, one text for each piece of evidence.

    A text is the facet, the agreement and the numbers of the exchanges, for example
    `returned disagrees 1,2`. With `tpp` it is the check of the TPP's side.
    """
    return [
        f"{each.facet} {each.agreement.value} {','.join(map(str, each.exchanges))}"
        for each in (kind.check_tpp if tpp else kind.check)(history)
    ]


# -- scripted banks ------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """The steps that a probe asked for, and the history that they became."""

    steps: tuple[Step, ...]
    history: History

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls among the steps."""
        return tuple(step for step in self.steps if isinstance(step, Call))


def play(kind: Kind, scenario: str, bank: Bank) -> Played:
    """Run the probe of a scenario, by its id, against a scripted bank.

    Whatever is not a call is granted: subjects own what they are asked to own, with keys
    such as `psu-1`, the clock moves, and signatures are given.
    """
    script = kind.probe(kind.scenario(scenario))
    steps: list[Step] = []
    events: list[Event] = []
    now = START
    step = next(script, None)
    while step is not None:
        steps.append(step)
        if isinstance(step, Advance):
            now = step.to or now
        reply = _reply(step, bank, now, 1 + len(steps))
        # As in a run, a look at the clock is no event.
        if not (isinstance(step, Advance) and step.to is None):
            events = [*history(*events, reply).events]
            reply = events[-1]
        try:
            step = script.send(reply)
        except StopIteration:
            step = None
    return Played(steps=tuple(steps), history=History(events=tuple(events)))


def judge(kind: Kind, bank: Callable[[], Bank]) -> dict[str, Standing]:
    """Play every scenario of a clause against a new bank, and return each facet's verdict.

    Evidence counts for the facets of its own scenario only, as in a run.
    """
    facets = [each for each in kind.facets() if not each.not_applicable_because]
    trials = dict.fromkeys(each.scenario.id for each in facets)
    found: dict[str, list[Evidence]] = {
        id_: list(kind.check(play(kind, id_, bank()).history)) for id_ in trials
    }
    return {
        facet.id: weigh(each for each in found[facet.scenario.id] if each.facet == facet.id)[0]
        for facet in facets
    }


def violated(kind: Kind, bank: Callable[[], Bank]) -> set[str]:
    """Return the facets that a bank violates; for a mutant exactly those that it breaks."""
    standings = judge(kind, bank)
    return {facet for facet, standing in standings.items() if standing is Standing.VIOLATES}


def _reply(step: Step, bank: Bank, now: datetime, number: int) -> Reply:
    reply: Reply
    match step:
        case Call():
            reply = exchange(step, bank(step), at=now + timedelta(seconds=number))
        case Arrange():
            owns = tuple(_owned(step))
            reply = Subject(name=step.subject, now=now, owns=owns, segment=step.segment)
        case Advance():
            reply = Advanced(now=now)
        case Authorise():
            wire = Wire(method="GET", url="https://bank.example/sign", status=200)
            ending = Ending.CONFIRMED if step.decision.value == "confirm" else Ending.REFUSED
            reply = Authorised(n=0, step=step, ending=ending, moments=(now,), wire=wire)
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
        case Lack():
            reply = Lacking(mode=step.mode, now=now)
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
    found = {each.id: each for each in parsed.clauses}[clause]
    return kind_of(found.kind).parse(found, parsed)


def problems(contract: str | Path) -> list[str]:
    """Return what is wrong in a contract file, each with line, problem and hint."""
    try:
        parse_contract(contract)
    except InputError as error:
        return [str(each) for each in error.problems]
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
    from assay.binding.join import bind  # noqa: PLC0415 -- only where something is run
    from assay.binding.read import read_target  # noqa: PLC0415
    from assay.execution.environment import set_up  # noqa: PLC0415
    from assay.execution.session import Session, run_session  # noqa: PLC0415
    from assay.journal.writer import Journal  # noqa: PLC0415
    from assay.planning.plan import plan  # noqa: PLC0415

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
        each.obligation.removeprefix(f"{parsed.id}/"): each.standing for each in result.verdicts
    }
