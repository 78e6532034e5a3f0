"""Verdicts on the obligations of one trial, from the evidence that the checks yield.

Evidence gathered in announced maintenance hours cannot convict. Corrections that need
more than one trial are made later, by the assembly of all verdicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Final, TypeAlias

from assay.binding.model.features import BINDING_FEATURES
from assay.binding.model.target import Target
from assay.contract.model import Operation
from assay.history import (
    Accepted,
    Advanced,
    Authorise,
    Authorised,
    Call,
    Cause,
    Effects,
    Ending,
    Event,
    Exchange,
    History,
    Indeterminate,
    Renewed,
    State,
    Withdrawn,
)
from assay.history.events import ProbeRun
from assay.judging.corrections import located, soften
from assay.planning.plan import Plan
from assay.rules.checks import checked, countable
from assay.rules.consent_probes import operations_in_scope
from assay.rules.facets import NOTHING, BindingRequirement, Facts
from assay.rules.formats import is_date
from assay.rules.obligation import Obligation
from assay.rules.rule import Kind, facts_of
from assay.rules.verdict import Agreement, Evidence, Standing, Verdict, describe_answer, weigh


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """An obligation that a history violates, and the evidence."""

    obligation: str
    evidence: Evidence


#: Judges a history: what each exchange says of a facet.
Check: TypeAlias = Callable[[History], Iterator[Evidence]]


def breaches(
    plan: Plan,
    contract: str,
    history: History,
    tested: Collection[str] | None = None,
    *,
    own: str = "",
    judging: Collection[str] | None = None,
    target: Target | None = None,
) -> Iterator[Breach]:
    """Let every check of a contract judge a history, or those of some clauses; yield what it violates.

    Only obligations that are `tested`, by default those of the plan, can be violated: not what a
    bank does not offer, nor what a target file does not describe. `own` is the clause whose trial
    it is, in the base context. `target` has the pointers to decisive members.
    """
    tested = plan.judged if tested is None else tested
    exchanges = history.answered
    facts = facts_of(plan.contracts[contract])
    for bound in plan.clauses[contract].values():
        if judging is not None and bound.clause.id not in judging:
            continue
        for evidence in countable(checked(bound.kind, history, own=bound.clause.id == own)):
            if evidence.agreement is not Agreement.DISAGREES:
                continue
            obligation = f"{contract}/{bound.clause.id}/{evidence.facet}"
            softened = soften(evidence, exchanges, facts)
            if softened.agreement is Agreement.DISAGREES and obligation in tested:
                yield Breach(obligation=obligation, evidence=located(softened, exchanges, target))


def judge(
    check: Check,
    obligations: Sequence[Obligation],
    run: ProbeRun,
    kind: Kind,
    facts: Facts,
    *,
    target: Target | None = None,
) -> tuple[Verdict, ...]:
    """Return the verdict on each obligation of a trial, all of one clause, with decisive members."""
    exchanges = run.history.answered
    by_facet: dict[str, list[Evidence]] = {}
    for evidence in check(run.history):
        softened = soften(evidence, exchanges, facts)
        by_facet.setdefault(evidence.facet, []).append(located(softened, exchanges, target))
    called = {n: exchange.call.operation for n, exchange in exchanges.items()}
    served = {called[n] for n, exchange in exchanges.items() if exchange.accepted}
    verdicts: list[Verdict] = []
    for obligation in obligations:
        verdict = _verdict(
            obligation,
            by_facet.get(obligation.facet, []),
            run,
            lambda each: why_undecided(run.history, kind, each, facts),
        )
        whole = exercised(verdict, obligation, served, called)
        if run.stopped and whole is not verdict:
            stopped = Standing.UNVERIFIED
            whole = replace(whole, standing=stopped, reason=run.stopped, shortage=run.shortage)
        verdicts.append(whole)
    return tuple(verdicts)


def indeterminate(obligations: Iterable[Obligation], reason: str) -> tuple[Verdict, ...]:
    """Return the verdict on each obligation of a trial that could not be judged."""
    return tuple(
        Verdict(obligation=obligation.id, standing=Standing.INDETERMINATE, reason=reason)
        for obligation in obligations
    )


def _verdict(
    obligation: Obligation,
    evidence: Sequence[Evidence],
    run: ProbeRun,
    why: Callable[[Obligation], Undecided],
) -> Verdict:
    standing, reason = weigh(evidence)
    shortage = None
    if not evidence and run.stopped:
        standing, reason, shortage = Standing.UNVERIFIED, run.stopped, run.shortage
        # What the answers do not show is missing in spite of what stopped the trial.
        beside = why(obligation) if run.history.exchanges else None
        reason += f"; {beside}" if beside and beside.key.startswith("operations.") else ""
    elif not evidence:
        reason = str(why(obligation))
    elif standing is Standing.INDETERMINATE and run.stopped:
        reason = f"{reason}; the trial {run.stopped}"
    elif standing is Standing.INDETERMINATE and (waiting := next(_waiting(run.history), None)):
        reason = f"{reason}; {waiting.what}"
    return Verdict(
        obligation=obligation.id,
        standing=standing,
        reason=reason,
        evidence=tuple(evidence),
        calls=len(run.history.exchanges),
        shortage=shortage,
    )


def exercised(
    verdict: Verdict, obligation: Obligation, served: Collection[str], operations: Mapping[int, str]
) -> Verdict:
    """Take back that an obligation conforms where one of its operations was not exercised.

    `served` are the operations that accepted a call; `operations` says what each exchange called.
    """
    if verdict.standing is not Standing.CONFORMS or not obligation.exercises:
        return verdict
    judged = {operations.get(n) for each in verdict.evidence for n in each.exchanges}
    idle = [name for name in obligation.exercises if name not in served and name not in judged]
    if not idle:
        return verdict
    reason = f"not judged: no call of {', '.join(idle)} was accepted"
    return replace(verdict, standing=Standing.INDETERMINATE, reason=reason)


# -- Undecided -----------------------------------------------------------------------------------
# Why no exchange of a trial decides an obligation: what happened, or what the target file lacks.
#
# A reason names the event that was to be otherwise, or the key of the target file that would change
# it. Of several, it is the first that concerns the operations of the clause and was not made good by
# an equal call that succeeded.
#: How many different answers a reason names.
_MOST: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """Why an obligation is undecided: what happened, at which events, or which key would change it."""

    what: str
    events: tuple[Event, ...] = ()
    key: str = ""

    def __post_init__(self) -> None:
        """Refuse a reason without a cause."""
        if not (self.events or self.key):
            raise ValueError(f"a reason without an event or a key: {self.what}")

    def __str__(self) -> str:
        """Return the reason as verdicts have it."""
        return f"not judged: {self.what}{f' ({self.key})' if self.key else ''}"


def why_undecided(
    history: History, kind: Kind, obligation: Obligation, facts: Facts = NOTHING
) -> Undecided:
    """Return why no exchange of a trial decides an obligation; `facts` are those of the contract."""
    scope = operations_in_scope(kind)
    calls = [each for each in history.exchanges if scope is None or each.call.operation in scope]
    open_ = [each for each in calls if not facts.closed_at(each.at)]
    causes = (
        _failed(open_, "the control call of"),
        _unsigned(history),
        _unreported(history),
        _waiting(history),
        _unread(open_, kind, obligation),
        _failed(calls, "in the announced maintenance hours,"),
        _unanswered(calls),
    )
    return next(chain(*causes), None) or _undecisive(history, calls, obligation)


# -- calls -------------------------------------------------------------------------
def _failed(calls: Sequence[Exchange], which: str) -> Iterator[Undecided]:
    """Yield the calls that were to succeed and did not, unless an equal one succeeded."""
    good = {_question(each.call) for each in calls if each.accepted}
    for each in calls:
        if not each.accepted and not each.call.variation and _question(each.call) not in good:
            why = getattr(each.outcome, "why", "") or f"it was refused ({each.wire.status})"
            yield Undecided(what=f"{which} {each.call.operation} failed: {why}", events=(each,))


def _question(call: Call) -> str:
    way = call.operation, call.subject, call.by, call.mode, call.present, call.host, call.alias
    return repr((way, call.follow, call.without, call.varied, sorted(call.compared.items())))


def _unanswered(calls: Sequence[Exchange]) -> Iterator[Undecided]:
    """Yield the varied calls that got no answer, or whose request differs in more than it should."""
    for each in calls:
        named = f"the call of {each.call.operation} ({each.call.variation})"
        if each.confounded:
            yield Undecided(what=f"{named}: {each.confounded}", events=(each,))
        elif isinstance(each.outcome, Indeterminate):
            yield Undecided(what=f"{named}: {each.outcome.why}", events=(each,))


# -- what the target file finds ------------------------------------------------------
#: Whether an answer shows what a binding feature locates, by the name of the requirement.
_Shows: TypeAlias = Callable[[Exchange, str], bool]
_SHOWS: Final[Mapping[str, _Shows]] = {
    "key": lambda each, _: any(item.key for item in each.items),
    "on": lambda each, _: any(item.on for item in each.items),
    "state": lambda each, _: any(item.state for item in each.items),
    "field": lambda each, name: any(name in item.fields for item in each.items),
    "value": lambda each, name: isinstance(each.outcome, Accepted) and name in each.outcome.values,
    "next": lambda each, _: isinstance(each.outcome, Accepted) and each.outcome.next is not None,
    "links": lambda each, _: bool(each.wire.links),
    "list": lambda each, _: isinstance(each.outcome, Accepted) and each.outcome.items is not None,
    "one": lambda each, _: each.item is not None,
}


def _unread(calls: Sequence[Exchange], kind: Kind, obligation: Obligation) -> Iterator[Undecided]:
    """Yield what the target file does not find: an answer, or something in accepted answers."""
    for each in calls:
        if isinstance(each.outcome, Indeterminate) and each.outcome.cause is Cause.BINDING:
            what = f"{each.call.operation}: {each.outcome.why}"
            yield Undecided(what=what, events=(each,), key="outcomes")
    accepted: dict[str, list[Exchange]] = {}
    for each in calls:
        if each.accepted:
            accepted.setdefault(each.call.operation, []).append(each)
    for required in (*_implied(kind, accepted), *obligation.requires):
        answers, shows = accepted.get(required.operation), _SHOWS.get(required.feature)
        if answers and shows and not any(shows(each, required.name) for each in answers):
            feature = BINDING_FEATURES[required.feature]
            key = ".".join(feature.place(required.operation, required.name))
            what = f"the {required.feature} {required.name}" if required.name else feature.title
            what = f"no answer of {required.operation} shows {what}"
            yield Undecided(what=what, events=tuple(answers), key=key)
    for name, answers in accepted.items():
        if name in kind.contract.operations:  # a recording has calls of other contracts, too
            yield from _unnamed(kind.contract.operations[name], answers)


def _unnamed(operation: Operation, answers: Sequence[Exchange]) -> Iterator[Undecided]:
    """Yield what the items of an operation show that the target file has no word or pointer for."""
    at, events = f"operations.{operation.id}.item", tuple(answers)
    items = [item for each in answers for item in each.items]
    for what in ("state", "resource"):
        known = [getattr(item, what) is not None for item in items]
        if any(known) and not all(known):
            says = f"{operation.id} shows a {what} that is in no list of the target file"
            yield Undecided(what=says, events=events, key=f"{at}.{what}.values")
    reads = operation.lists or operation.shows
    if reads and items and not any(item.fields or item.digest for item in items):
        what = f"no field of the contract is read from the items of {operation.id}"
        yield Undecided(what=what, events=events, key=f"{at}.fields")


def _implied(kind: Kind, called: Collection[str]) -> Iterator[BindingRequirement]:
    """Yield what any clause needs of the operations of a trial: where items are, and which."""
    for name in called:
        operation = kind.contract.operations.get(name)
        features: tuple[str, ...] = ()
        if operation and operation.lists:
            features = ("list",)
        elif operation and operation.makes and not operation.given:
            features = ("one", "key")
        for feature in features:
            yield BindingRequirement(operation=name, feature=feature)


# -- signatures and states -------------------------------------------------------------
def _cut_short(event: Authorised) -> bool:
    return event.ending in {Ending.DISCONNECTED, Ending.STOPPED}


def _chosen(event: Authorised) -> bool:
    """Whether it is known with which factor the customer signed; without screens it is."""
    return not event.screens or "factor" in event.screens or len(event.offered or ()) == 1


def _unsigned(history: History) -> Iterator[Undecided]:
    """Yield why a customer could not sign as was to be shown, or why nothing shows what followed."""
    for event in history.events:
        what = key = ""
        match event:
            case Authorised(step=step) if not step.variation and (event.why or _cut_short(event)):
                why = event.why or f"the customer was disconnected ({event.wire.status})"
                what = f"the control signature: {why}"
            case Authorised(step=Authorise(factor=str(factor))) if not _chosen(event):
                what = f"no screen offered the factor {factor}"
            case Withdrawn(done=False):
                what = "the bank did not accept the customer's own cancellation"
                key = "fixtures.offers: direct-access"
            case Renewed(operation=operation, done=False):
                what = f"the token for {operation} was not renewed"
            case _:
                pass
        if what:
            yield Undecided(what=what, events=(event,), key=key)
    confirmed = {
        event.step.request: event.step
        for event in history.events
        if isinstance(event, Authorised) and event.ending is Ending.CONFIRMED
        if not event.step.variation
    }
    for exchange in history.exchanges:
        item = exchange.item
        if item and item.key in confirmed and item.state is State.REJECTED:
            what = (
                f"{exchange.call.operation}: the control request was rejected after its signature"
            )
            why = "does it repeat a request of an earlier trial, or did `executes_within` let time pass?"
            if confirmed[item.key].linger or confirmed[item.key].pace:
                why = (
                    "if a page says that the customer was logged off, name it in `sca.disconnected`"
                )
            yield Undecided(what=f"{what} ({why})", events=(exchange,))


def _waiting(history: History) -> Iterator[Undecided]:
    """Yield the requests that are signed and due, and still open: nothing shows how they end."""
    for event in history.events:
        confirmed = isinstance(event, Authorised) and event.ending is Ending.CONFIRMED
        if not isinstance(event, Authorised) or not confirmed or not event.moments:
            continue
        about = [
            each for each in history.exchanges if each.item and each.item.key == event.step.request
        ]
        later = [each for each in about if each.n > event.n and each.item]
        states = {each.item.state for each in later if each.item}
        days = (str(value)[:10] for each in about[:1] for value in each.call.arguments.values())
        if states == {State.OPEN} and not any(map(is_date, days)):
            signed, seen = f"{event.moments[-1]:%H:%M:%S}", f"{later[-1].at:%H:%M:%S}"
            what = f"a request that was signed at {signed} is still open at {seen}"
            why = "if the bank executes it later, set `executes_within` in the target file"
            yield Undecided(what=f"{what} ({why})", events=(event, later[-1]))


def _unreported(history: History) -> Iterator[Undecided]:
    """Yield what the fixture provider does not report of executed requests."""
    inquired = [event for event in history.events if isinstance(event, Effects)]
    if inquired and all(event.done is None for event in inquired):
        what = "the fixture provider does not report executed requests"
        yield Undecided(what=what, events=tuple(inquired), key="fixtures.offers")
    effects = [effect for event in inquired for effect in event.done or ()]
    if effects and not any(effect.fields for effect in effects):
        what = "the fixture provider reports executed requests without their fields"
        yield Undecided(what=what, events=tuple(inquired), key="fixtures.effects")


def _undecisive(history: History, calls: Sequence[Exchange], obligation: Obligation) -> Undecided:
    """Return what the calls were, none of which is a case that decides."""
    answers = Counter(f"{each.call.operation}: {describe_answer(each)}" for each in calls)
    named = [answer + f" ({n} times)" * (n > 1) for answer, n in answers.most_common(_MOST)]
    named += [f"and {len(answers) - _MOST} other answers"] if len(answers) > _MOST else []
    events = [each for each in history.events if isinstance(each, Exchange | Advanced | Authorised)]
    ran = sum(
        (later.at - each.at).total_seconds()
        for each, later in pairwise(events)
        if isinstance(each, Exchange) and isinstance(later, Exchange)
    )
    parts = any(each.at.microsecond for each in calls)
    named += [f"the bank's clock ran by {ran:g} s between calls"] if ran > 0 else []
    named += ["the bank's clock shows parts of a second"] if parts else []
    what = f"the calls do not decide it ({obligation.description})"
    key = "" if calls else "fixtures"
    return Undecided(
        what=f"{what}: {'; '.join(named) or 'none was made'}", events=(*calls,), key=key
    )
