"""Base of the kinds about a consent that is made and signed: parameters, steps and evidence.

They share the consent, an operation whose data it opens, and the operation that shows its state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.contract.model import Capability, Json, Operation
from assay.files.document import Finding, Pointer
from assay.history import Call, Exchange, History, Holding, State, Subject
from assay.rules import parameters, steps
from assay.rules.consents import EARLIER, confirmed, lists_keys
from assay.rules.evidence import AGREES, DISAGREES, doubt, must_be_refused, must_be_served
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.consent_use import ConsentUse, uses
from assay.rules.lifecycle.parameters import the_request
from assay.rules.lifecycle.tracker import Lifecycle
from assay.rules.parameters import Raw, about_one_thing, known, maker
from assay.rules.queries import ordinary, question
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import BindingRequirement, Facet, Scenario, Script, bound, needs
from assay.rules.scope import Calls, Scope
from assay.rules.steps import Part
from assay.rules.verdict import Evidence

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
        return Facet(
            id=id_,
            description=description,
            scenario=Scenario(id=scenario),
            needs=needs(Capability.PSU, Capability.CONSENT, *more),
            requires=(*bound(lifecycle.create, "key"), *requires),
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
        )
