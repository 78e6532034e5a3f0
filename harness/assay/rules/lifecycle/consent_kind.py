"""Base of the kinds about a consent that is made and signed: parameters, steps and evidence.

They share the consent, an operation whose data it opens, and the operation that shows its state.

A consent is a request whose maker also grants. An access uses the consent that it names, or the
last one that was made for its customer. What can be said of a consent at that moment is whether it
was signed, refused or ended before, and whether a later one was signed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import Enum
from typing import Any

from assay.contract.model import Capability, Json, Operation
from assay.files.document import Finding, Pointer
from assay.history import Accepted, Call, Exchange, History, Holding, Owned, State, Subject
from assay.rules import parameters, steps
from assay.rules.consents import EARLIER, confirmed, consented_keys, last_day, lists_keys
from assay.rules.facets import make_facet
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.parameters import the_request
from assay.rules.lifecycle.tracker import Instance, Lifecycle, Tracker
from assay.rules.parameters import Raw, about_one_thing, known, maker
from assay.rules.queries import ordinary, plain, question
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import BindingRequirement, Calls, Facet, Scenario, Scope, Script, bound, needs
from assay.rules.state.calendar import dates
from assay.rules.steps import Part
from assay.rules.verdict import AGREES, DISAGREES, Evidence, doubt, must_be_refused, must_be_served


class ConsentPhase(Enum):
    """What the customer did with a consent, as far as a history shows it."""

    UNSIGNED = "it is not signed"
    DECLINED = "the customer refused it"
    AUTHORISED = "it is signed"
    UNKNOWN = "it may be signed"


#: The phases in which a consent may open something.
_PERHAPS_OPEN = frozenset({ConsentPhase.AUTHORISED, ConsentPhase.UNKNOWN})


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentAt:
    """A consent at a moment: its phase, the exchange that ended it, and the consents around it.

    `former` are the consents of the same customer and TPP that were made and signed before it,
    `later` those after it, both without those that the TPP ended. `fresh` says that the customer had none before the history, and `perhaps_over` that
    its last day, `until`, may be over.
    """

    instance: Instance
    phase: ConsentPhase
    ended: Exchange | None
    former: tuple[ConsentPhase, ...]
    later: tuple[ConsentPhase, ...]
    fresh: bool
    until: date | None
    perhaps_over: bool

    @property
    def replaced(self) -> bool:
        """Whether a later consent of the same customer is certainly signed."""
        return ConsentPhase.AUTHORISED in self.later

    @property
    def perhaps_replaced(self) -> bool:
        """Whether a later consent of the same customer may be signed."""
        return self.replaced or ConsentPhase.UNKNOWN in self.later

    @property
    def signed(self) -> bool:
        """Whether it is certainly signed, and not ended."""
        return self.phase is ConsentPhase.AUTHORISED and self.ended is None

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the exchanges and signatures that say so."""
        signings = (each.n for each in self.instance.signings)
        ends = (self.ended.n,) if self.ended else ()
        return (self.instance.made.n, *signings, *ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentUse:
    """A read of what a consent covers, or of the consent itself (`shows_consent`).

    `owned` is what a call is about, and None where it is about nothing. `others` are the consents
    that may have opened what was read as well, and `foreign` says that the consent is that of
    another customer, who does not own it.
    """

    exchange: Exchange
    consent: ConsentAt
    owned: Owned | None
    others: tuple[Instance, ...] = ()
    foreign: bool = False
    shows_consent: bool = False

    @property
    def alone(self) -> bool:
        """Whether no other consent can have opened what was read."""
        return not self.others

    @property
    def state(self) -> State | None:
        """The state that is shown."""
        return self.exchange.item.state if self.exchange.item and self.shows_consent else None


def uses(
    lifecycle: Lifecycle, operation: Operation, history: History, *, ranged: bool = False
) -> Iterator[ConsentUse]:
    """Yield each use of a consent, in order; `ranged` adds reads from a day on.

    A call can be refused for its number without the customer: only those with the customer are
    uses, and of several pages the first.
    """
    named = {operation.about, operation.since} if ranged else {operation.about}
    tracker = Tracker(lifecycle=lifecycle)
    for event in history.events:
        noted = tracker.note(event)
        if not isinstance(event, Exchange):
            continue
        if noted is not None and lifecycle.read and event.call.operation == lifecycle.read.id:
            consent = _at(noted, event, tracker)
            yield ConsentUse(exchange=event, consent=consent, owned=None, shows_consent=True)
        elif _is_of(event.call, operation, named) and event.call.present and not event.call.follow:
            yield from _access(event, operation, tracker)


def shown_uses(
    lifecycle: Lifecycle, operation: Operation, history: History
) -> Iterator[ConsentUse]:
    """Yield each use of a consent by an answer with items, in order: all pages, whoever is there.

    A further page is one only under the consent of the page before it.
    """
    named = {operation.about, operation.since, operation.until}
    tracker, pages = Tracker(lifecycle=lifecycle), dict[tuple[str, str], Instance]()
    for event in history.events:
        tracker.note(event)
        outcome = event.outcome if isinstance(event, Exchange) else None
        if not isinstance(event, Exchange) or not isinstance(outcome, Accepted):
            continue
        call = event.call
        if not _is_of(call, operation, named):
            continue
        for use in _access(event, operation, tracker):
            consent = use.consent.instance
            if call.follow and pages.get((call.subject, call.follow)) is not consent:
                continue
            if outcome.next:
                pages[call.subject, outcome.next] = consent
            if event.items:
                yield use


def _is_of(call: Call, operation: Operation, named: Collection[str | None]) -> bool:
    """Whether a call is of an operation, and has none but the named arguments."""
    return call.operation == operation.id and all(name in named for name in call.arguments)


def _access(exchange: Exchange, operation: Operation, tracker: Tracker) -> Iterator[ConsentUse]:
    """Yield the use of a consent by a plain call, about what the customer owns and consented to.

    A call that is about nothing is one about everything that the consent covers.
    """
    call, subject = exchange.call, tracker.subjects.get(exchange.call.subject)
    owned = subject.owned(call.arguments.get(operation.about or "")) if subject else None
    bare = not (call.without or call.malformed or call.mode)
    if subject is None or not (bare and call.own_token) or (operation.about and owned is None):
        return
    about = owned.key if owned else None
    other = tracker.find(call.consent) if call.consent else None
    if other is not None and other.made.call.subject != call.subject:
        theirs = tracker.subjects.get(other.made.call.subject)
        if theirs is not None and (about is None or theirs.owned(about) is None):
            consent = _at(other, exchange, tracker)
            yield ConsentUse(exchange=exchange, consent=consent, owned=owned, foreign=True)
        return
    any_tpp = not operation.by_tpp and not call.by
    mine = [each for each in tracker.requests if _of(each, call, any_tpp=any_tpp)]
    named = [each for each in mine if each.key == call.consent] if call.consent else mine[-1:]
    grant = tracker.lifecycle.create
    for each in named:
        keys = consented_keys(each.made.call, grant)
        if keys if about is None else about in keys:
            others = () if call.consent else (one for one in _in_force(mine) if one is not each)
            opening = tuple(one for one in others if _phase(one, tracker) in _PERHAPS_OPEN)
            yield ConsentUse(
                exchange=exchange, consent=_at(each, exchange, tracker), owned=owned, others=opening
            )


def _of(instance: Instance, call: Call, *, any_tpp: bool = False) -> bool:
    """Whether a consent was made, and for the customer and the TPP of a call.

    `any_tpp` is true for a call in the customer's name, which uses the consent that was made last.
    """
    own = instance.made.call.subject == call.subject
    own = own and (any_tpp or instance.made.call.by == call.by)
    return own and instance.made.accepted and instance.key is not None


def _in_force(consents: Sequence[Instance]) -> list[Instance]:
    """Return the consents that the TPP did not end."""
    return [each for each in consents if not any(end.accepted for end in each.ends)]


def _is_after(other: Instance, instance: Instance) -> bool:
    """Whether another consent was made, or signed, after one was."""
    first = min((each.n for each in instance.signings), default=None)
    signed_later = first is not None and any(each.n > first for each in other.signings)
    return other.made.n > instance.made.n or signed_later


def _at(instance: Instance, exchange: Exchange, tracker: Tracker) -> ConsentAt:
    """Return a consent at the moment of an exchange."""
    made, subject = instance.made, tracker.subjects.get(instance.made.call.subject)
    mine = [each for each in tracker.requests if _of(each, made.call)]
    others = [each for each in _in_force(mine) if each is not instance]
    after = {id(each) for each in others if _is_after(each, instance)}
    until = last_day(made.call, tracker.lifecycle.create)
    today = dates(exchange.at, tracker.lifecycle.contract.zone)[-1]
    return ConsentAt(
        instance=instance,
        phase=_phase(instance, tracker),
        ended=next((end for end in instance.ends if not end.refused), None),
        former=tuple(_phase(each, tracker) for each in others if id(each) not in after),
        later=tuple(_phase(each, tracker) for each in others if id(each) in after),
        fresh=subject is not None and subject.fresh,
        until=until,
        perhaps_over=until is not None and today > until,
    )


def _phase(instance: Instance, tracker: Tracker) -> ConsentPhase:
    """Return what the customer certainly did with a consent."""
    call, grant = instance.made.call, tracker.lifecycle.create
    if any(map(confirmed, instance.signings[-1:])):  # another entry may have ended it since
        return (
            ConsentPhase.AUTHORISED
            if plain(call) and lists_keys(call, grant)
            else ConsentPhase.UNKNOWN
        )
    if not all(each.ending.declines for each in instance.signings):
        return ConsentPhase.UNKNOWN
    if instance.signings:
        return ConsentPhase.DECLINED
    # A recording of the interface does not show who signs.
    return ConsentPhase.UNSIGNED if call.subject in tracker.subjects else ConsentPhase.UNKNOWN


# -- the base of the kinds -------------------------------------------------------------------
#: How the ids of facets end that are about the state that is shown.
SHOWN = "-shown"


# -- parameters -------------------------------------------------------------------
def the_consent(*, ended: bool = False, dated: bool = False) -> Any:
    """Declare the consent that the clause is about; the value is its `Lifecycle`.

    `ended` says that an operation must end it, `dated` that it must have a last day.
    """

    def check(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
        made = maker(clause, raw)
        if "grants" not in made:
            hint = "add `grants`, the argument with the consented items, to the operation that makes it"
            yield at, f"{name!r} is no consent", hint
        if dated and "until" not in made:
            hint = "add `until`, the argument with the last day, to the operation that makes it"
            yield at, f"{name!r} has no last day", hint
        operations: Mapping[str, Raw] = raw["operations"]
        if ended and not any(each.get("ends") == name for each in operations.values()):
            yield at, f"no operation ends {name!r}", f"add `ends: {name}` to one"

    return the_request(also=check)


def dated_consent() -> Any:
    """Declare a consent with a last day."""
    return the_consent(dated=True)


def ending_consent() -> Any:
    """Declare a consent that an operation ends."""
    return the_consent(ended=True)


def access() -> Any:
    """Declare the operation that needs the consent: it lists what belongs to one owned thing."""

    def check(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
        yield from known(at, name, raw["operations"], "operation")
        if name in raw["operations"]:
            yield from about_one_thing(at, name, clause, raw)

    return parameters.parameter(
        parameters.ref("operation"),
        lambda name, contract: contract.operations[name],
        key="operation",
        references=check,
    )


def status_operation() -> Any:
    """Declare the operation that shows the consent's state; None for the first that shows it."""

    def check(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
        yield from known(at, name, raw["operations"], "operation")
        shown = raw["operations"].get(name, {"shows": clause["request"]}).get("shows")
        if shown != clause["request"]:
            hint = f"add `shows: {clause['request']}` to operations.{name}"
            yield at, f"the operation {name!r} does not show {clause['request']!r}", hint

    return parameters.parameter(
        parameters.ref("operation"),
        lambda name, contract: contract.operations[name],
        key="status",
        references=check,
        required=False,
    )


def mode_of_consent() -> Any:
    """Declare a mode of the operation that makes the consent."""

    def check(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
        yield from known(at, name, maker(clause, raw).get("modes", ()), "mode")

    return parameters.word(key="mode", references=check)


def signed_in_mode(use: ConsentUse, lifecycle: Lifecycle, mode: str) -> bool:
    """Whether a use is of a consent in a mode, which is certainly signed."""
    made, signings = use.consent.instance.made.call, use.consent.instance.signings
    listed = ordinary(made) and lists_keys(made, lifecycle.create)
    return made.mode == mode and listed and any(map(confirmed, signings))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentKind(RefusingKind):
    """The base of kinds about a consent: the parameters that they share, and their facets."""

    own_consents = True
    scope = Scope(calls=Calls.NAMED, needs=(Subject,))

    consent: Lifecycle = the_consent()  # noqa: RUF009 -- declares a parameter
    operation: Operation = access()  # noqa: RUF009 -- as above
    status: Operation | None = status_operation()  # noqa: RUF009 -- as above

    @property
    def lifecycle(self) -> Lifecycle:
        """The operations around the consent, with the one that shows its state."""
        return replace(self.consent, read=self.status) if self.status else self.consent

    @property
    def owner(self) -> str:
        """The resource that the customer owns, and the consent covers."""
        return steps.owners(self.contract, self.operation)[0]

    def facet(
        self,
        id_: str,
        description: str,
        scenario: str,
        *more: Capability,
        requires: tuple[BindingRequirement, ...] = (),
        not_applicable_because: str = "",
    ) -> Facet:
        """Return a facet; one whose id ends with `-shown` needs the state of a consent."""
        lifecycle = self.lifecycle
        if id_.endswith(SHOWN):
            requires = (*requires, *lifecycle.state_requirement())
            if lifecycle.read is None:
                not_applicable_because = "no operation shows a consent"
        return make_facet(
            id_,
            description,
            scenario,
            needs(Capability.PSU, Capability.CONSENT, *more),
            (*bound(lifecycle.create, "key"), *requires),
            not_applicable_because=not_applicable_because,
        )

    def probe(self, scenario: Scenario) -> Script:
        """Create a customer who owns one thing with entries, and use consents as the kind does."""
        psu = yield from self.customer("psu")
        yield from self.follow(scenario, psu)

    def customer(self, name: str) -> Part[Subject]:
        """Create a customer who owns one thing with entries."""
        today = (yield from steps.clock()).date()
        entries = steps.days_before(today, 1, 2)
        return (yield from steps.arrange(name, Holding(resource=self.owner, entries=entries)))

    def follow(self, scenario: Scenario, psu: Subject) -> Script:
        """Yield the steps that show the facets of a scenario."""
        raise NotImplementedError

    def make(self, psu: Subject, **arguments: Json) -> Part[Exchange]:
        """Make a consent to what the customer owns, and leave it unsigned."""
        return (yield from steps.send(request_steps.request(self.lifecycle, psu, None, arguments)))

    def show(self, made: Exchange) -> Part[None]:
        """Read the state of a consent."""
        yield from request_steps.read(self.lifecycle, made)

    def ask(self, psu: Subject, variation: str = "", consent: str | None = None) -> Part[Exchange]:
        """Ask for the data of the customer's thing."""
        arguments = steps.arguments(self.operation, psu.owns[0].key)
        call = Call(
            operation=self.operation.id,
            subject=psu.name,
            arguments=arguments,
            consent=consent,
            variation=variation,
        )
        return (yield from steps.send(call))


# -- evidence -------------------------------------------------------------------------
def own_uses(
    kind: ConsentKind, history: History, *, ranged: bool = False
) -> tuple[ConsentUse, ...]:
    """Return the uses of consents by the customers who made them; `ranged`: also from a day on."""
    every = uses(kind.lifecycle, kind.operation, history, ranged=ranged)
    return tuple(use for use in every if not use.foreign)


def served_questions(uses_: Sequence[ConsentUse]) -> frozenset[tuple[str, str, str]]:
    """Return the questions that were answered with items under some consent."""
    return frozenset(
        question(use.exchange.call)
        for use in uses_
        if use.owned is not None and use.exchange.accepted and use.exchange.items
    )


def refused_access(
    facet: str, use: ConsentUse, served: frozenset[tuple[str, str, str]], why: str
) -> Iterator[Evidence]:
    """Judge an access that must be refused; the control is the same question, answered."""
    if not use.alone or question(use.exchange.call) not in served:
        return
    evidence = must_be_refused(facet, use.exchange, why, controlled=True)
    evidence = replace(evidence, exchanges=(*use.consent.numbers, use.exchange.n))
    named = use.exchange.call.consent is not None
    yield evidence if use.consent.fresh or named else doubt(evidence, EARLIER)


def served_access(
    facet: str, use: ConsentUse, why: str, control: Exchange | None = None
) -> Evidence:
    """Judge an access that must be served; `control` is one for which the same token was good."""
    evidence = must_be_served(facet, use.exchange, why)
    if use.exchange.refused and control is not None:
        evidence = replace(evidence, agreement=DISAGREES, controls=(control.n,))
    return replace(evidence, exchanges=(*use.consent.numbers, use.exchange.n, *evidence.controls))


def shown_state(
    facet: str, use: ConsentUse, good: frozenset[State], wrong: frozenset[State]
) -> Iterator[Evidence]:
    """Judge the state that a reading shows; a word that the target file does not map says nothing."""
    state = use.state
    if state is not None and state in good | wrong:
        yield Evidence(
            facet=facet,
            agreement=AGREES if state in good else DISAGREES,
            expected=f"one of {', '.join(sorted(each.value for each in good))}",
            seen=f"it is shown as {state.value}",
            exchanges=(*use.consent.numbers, use.exchange.n),
            decisive=use.exchange.n,
            member=use.exchange.member_of(use.exchange.item, "state"),
        )
