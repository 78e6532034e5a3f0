"""`consent-scope`: data is served only for what the customer consented to.

Each resource has five facets: with a consent it is served; it is refused if the consent does
not cover it, before any consent, to another customer, and to another customer whose own
consent names it. Each refusal has a control: the same call about a resource with a consent,
served in the same trial.

The TPP: it asks only for data that a consent covers. A consent from before a recording may still be valid. It cannot be if the customer is new,
or if the customer's list was read without the value that is disclosed only with a consent;
it hardly can be if the bank refuses what no recorded consent covers and serves the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from assay.contract.model import Capability, Contract, Operation
from assay.contract.scalars import same_value
from assay.history import Accepted, Call, Exchange, History, Holding, Owned, Subject
from assay.rules import parameters, steps
from assay.rules.consents import EARLIER, GIVEN, Consents, consented_keys, lists_keys
from assay.rules.facets import Facts
from assay.rules.lifecycle.request_queries import was_refused
from assay.rules.parameters import about_one_thing
from assay.rules.queries import (
    bare,
    bare_or_ranged,
    fresh_subjects,
    has_value,
    is_part,
    perhaps_over_quota,
    plain,
    question,
)
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import (
    Calls,
    Facet,
    Purpose,
    Scenario,
    Scope,
    Script,
    TppFacet,
    bound,
    facts_of,
    needs,
)
from assay.rules.state.consented_answers import ServedThings, UncoveredCalls, served_with_consent
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNCLEAR,
    Agreement,
    Evidence,
    counts_unattended,
    doubt,
    must_be_refused,
    must_be_served,
    tpp_evidence,
)

#: The second part of a facet id, after the resource, and what the facet requires.
ASKS: Mapping[str, str] = {
    "granted": "served once consent is given",
    "refused": "refused if the consent does not cover it",
    "before": "refused before any consent is given",
    "foreign": "refused to other customers, even if the owner has consented",
    "usurped": "refused to other customers, even if their own consent names it",
}
#: The same of what only a former consent covers, by what a new consent replaces.
FORMER: Mapping[str, tuple[str, str]] = {
    "former": ("former-refused", "refused once a new consent does not name it"),
    "nothing": ("former-served", "served after a new consent that does not name it"),
}
#: The facets for which a consent to everything will do.
WHOLE = frozenset({"granted", "foreign"})
#: The facets that take another customer.
STRANGERS = frozenset({"foreign", "usurped"})


def _guarded(contract: Contract, known: Mapping[str, Any]) -> Mapping[str, tuple[Operation, str]]:
    """Return the operation that lists each guarded resource, and the resource that owns it."""
    return {
        child: (operation, contract.resources[child].of or "")
        for operation in known["operations"]
        for child in operation.lists
    }


#: The customer, the TPP and the bank of a consent.
_Who: TypeAlias = tuple[str, str, int | None]
#: The TPP's obligation.
TPP_FACET = "only-consented"
OWED = "the TPP only requests data that a consent covers"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentScope(RefusingKind):
    """The operations that need a consent, and the data that they guard."""

    name = "consent-scope"
    # Other resources have other facets.
    hiding = (("", "item"), ("", "spelling"))
    respells = True
    own_consents = True
    scope = Scope(calls=Calls.NAMED, needs=(Subject,))
    purpose = Purpose.LIMIT

    operations: tuple[Operation, ...] = parameters.operations(also=about_one_thing)
    grant: Operation = parameters.grant(required=True)
    replaces: str = parameters.choice(
        "unspecified",
        *FORMER,
        key="replaces",
        description="former, nothing or unspecified",
        hint="does a new consent replace the former one?",
    )
    guarded: Mapping[str, tuple[Operation, str]] = parameters.derived(_guarded)

    def facets(self) -> tuple[Facet, ...]:
        """Return five facets for each guarded resource, and one about a former consent if that is said."""
        former, sentence = FORMER.get(self.replaces, ("", ""))
        return (
            *self._facets_of_one_consent(),
            *(
                Facet(
                    id=f"{child}-{former}",
                    description=f"each {child} is {sentence}",
                    scenario=Scenario(id=f"{child}:{former}"),
                    needs=needs(Capability.PSU, Capability.CONSENT),
                    not_applicable_because=GIVEN if self.grant.given else "",
                )
                for child in (self.guarded if former else ())
            ),
        )

    def _facets_of_one_consent(self) -> tuple[Facet, ...]:
        return tuple(
            Facet(
                id=f"{child}-{word}",
                description=f"each {child} is {requirement}",
                scenario=Scenario(id=child),
                needs=needs(Capability.PSU, Capability.CONSENT)
                | (needs(Capability.TWO_PSU) if word in STRANGERS else needs()),
                not_applicable_because=GIVEN if self.grant.given and word not in WHOLE else "",
            )
            for child in self.guarded
            for word, requirement in ASKS.items()
        )

    def unaffected_in(self, scenario: Scenario) -> Mapping[str, str]:
        """Return what cannot matter to a former consent: that a key opens nothing is shown without one."""
        return {"spelling": "the consent is what varies"} if ":" in scenario.id else {}

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        words = [*(word for word in ASKS if word != "granted"), "former-refused"]
        return [f"{child}-{word}" for child in self.guarded for word in words]

    def probe(self, scenario: Scenario) -> Script:
        """Call before consent, with it, beyond it, and about another customer's resource."""
        child, _, former = scenario.id.partition(":")
        operation, owner = self.guarded[child]
        if former:
            yield from self._probe_former(operation, owner)
            return
        today = (yield from steps.clock()).date()
        entries = steps.days_before(today, 1, 2)
        psu = yield from steps.arrange("psu", Holding(resource=owner, count=2, entries=entries))
        first, second = psu.owns[0].key, psu.owns[1].key
        ask = steps.ask(operation, "psu", first)
        for key in () if self.grant.given else (first,) if psu.fresh else (second, first):
            early = replace(ask, arguments=steps.arguments(operation, key))
            yield from steps.send(replace(early, variation="before any consent"))
        yield from steps.grant(self.grant, "psu", first)
        yield from steps.send(ask)
        if not self.grant.given:
            beyond = steps.arguments(operation, second)
            what = f"about another {owner}, which the consent does not cover"
            yield from steps.send(replace(ask, arguments=beyond, variation=what))
        other = yield from steps.arrange("other", Holding(resource=owner, entries=entries))
        foreign = steps.arguments(operation, other.owns[0].key)
        yield from steps.grant(self.grant, "other", other.owns[0].key)
        yield from steps.send(replace(ask, subject="other", arguments=foreign))
        stolen = replace(ask, arguments=foreign, variation=f"about another customer's {owner}")
        yield from steps.send(stolen)
        if self.grant.given:
            return
        both = [first, other.owns[0].key]
        naming = Call(
            operation=self.grant.id,
            subject="psu",
            arguments={self.grant.grants or "": both},
            variation=f"naming another customer's {owner}",
        )
        yield from steps.consent(self.grant, naming)
        yield from steps.send(
            replace(stolen, variation=f"{stolen.variation}, which the caller's consent names")
        )

    def _probe_former(self, operation: Operation, owner: str) -> Script:
        """Read one under its consent, and again after a consent to another one alone."""
        today = (yield from steps.clock()).date()
        entries = steps.days_before(today, 1, 2)
        psu = yield from steps.arrange("psu", Holding(resource=owner, count=2, entries=entries))
        first, second = (steps.ask(operation, "psu", owned.key) for owned in psu.owns[:2])
        for owned, ask in zip(psu.owns, (first, second), strict=False):
            yield from steps.grant(self.grant, "psu", owned.key)
            yield from steps.send(ask)
        yield from steps.send(replace(first, variation="covered by the former consent only"))

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every call about a resource whose owners are known."""
        over_quota = perhaps_over_quota(self.contract, history)
        seen = _Seen.of(self, history)
        consents = Consents.of(self.contract, self.grant, history)
        strangers, former = _Strangers(served=seen.served), _Former(grant=self.grant)
        for exchange in history.exchanges:
            if self.replaces in FORMER and not self.grant.makes:
                yield from self._judge_former(exchange, former, seen)
            consents.note(exchange)
            strangers.note(exchange, self.grant)
            seen.uncovered.note(exchange, consents)
            for evidence in self._judge(exchange, seen, consents, strangers):
                if counts_unattended(evidence, exchange, over_quota):
                    yield evidence

    def _judge_former(self, exchange: Exchange, former: _Former, seen: _Seen) -> Iterator[Evidence]:
        """Judge one call about what only a former consent covers."""
        call = exchange.call
        operation = next((each for each in self.operations if each.id == call.operation), None)
        if operation is None or not call.present or not bare(call, operation):
            former.note_consent(exchange)
            return
        key = str(call.arguments.get(operation.about or ""))
        owned = seen.owners.get(key, {}).get(call.subject)
        child = self.contract.children(owned.resource, operation.id) if owned else None
        if child and owned and former.has(call, key):
            id_ = f"{child}-{FORMER[self.replaces][0]}"
            if self.replaces == "former":
                yield must_be_refused(id_, exchange, "only a former consent names it")
            elif seen.surely_listed(owned, exchange):
                yield must_be_served(id_, exchange, "a former consent names it")
        former.note_read(exchange, key)

    def _judge(
        self, exchange: Exchange, seen: _Seen, consents: Consents, strangers: _Strangers
    ) -> Iterator[Evidence]:
        """Judge one call; one with days need not be served, so only what it shows is wrong.

        Nor does one whose key is written in another way, and it may show something else.
        """
        call = exchange.call
        operation = next((each for each in self.operations if each.id == call.operation), None)
        respelled = call.malformed is not None and call.malformed.respells
        asked = replace(call, malformed=None) if respelled else call
        if operation is not None and bare_or_ranged(asked, operation):
            shows = _shows_its_thing(exchange, operation, seen) if respelled else exchange.items
            sure = bare(call, operation) or bool(shows)
            for evidence in self._judge_by_consents(exchange, operation, seen, consents, strangers):
                if sure or evidence.agreement is AGREES:
                    yield evidence

    def _judge_by_consents(
        self,
        exchange: Exchange,
        operation: Operation,
        seen: _Seen,
        consents: Consents,
        strangers: _Strangers,
    ) -> Iterator[Evidence]:
        """Judge one call by what was served at some time, and by the consents so far."""
        call = exchange.call
        key = str(call.arguments.get(operation.about or ""))
        whose = seen.owners.get(key, {})
        child = next(
            (self.contract.children(owned.resource, operation.id) for owned in whose.values()), None
        )
        if child is None:
            return
        if call.subject not in whose:
            yield from strangers.judge(child, exchange, key, whose)
        elif key in consents.certain(call.subject):
            if seen.surely_listed(whose[call.subject], exchange) and not call.malformed:
                yield served_with_consent(f"{child}-granted", exchange, whose[call.subject])
        elif key not in consents.possible(call.subject):
            known = call.subject in seen.untouched or seen.uncovered.has(call)
            for evidence in _own(child, exchange, consents, seen.served):
                yield evidence if known else doubt(evidence, EARLIER)

    def tpp_facet(self) -> TppFacet | None:
        """Return the one obligation of the TPP, if it has consents to transmit."""
        return (
            None
            if self.grant.given
            else TppFacet(
                id=TPP_FACET,
                description="the TPP only requests data that a consent covers",
                requires=bound(self.grant, "argument", self.grant.grants or ""),
            )
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every call about a resource, except page turns."""
        consents, clean = Consents.of(self.contract, self.grant, history), set[str]()
        about = {operation.id: operation.about or "" for operation in self.operations}
        served = self._served(history)
        for event in history.events:
            if isinstance(event, Subject):
                clean |= {event.name} if event.fresh else set[str]()
            if not isinstance(event, Exchange):
                continue
            call, name = event.call, event.call.subject
            if self._none_yet(event) and not consents.possible(name):
                clean.add(name)
            consents.note(event)
            key = call.arguments.get(about.get(call.operation, ""))
            if call.operation not in about or key is None or call.follow is not None:
                continue
            if str(key) in consents.possible(name):
                yield tpp_evidence(TPP_FACET, AGREES, event, OWED, "a consent covers it")
            else:
                judged = _uncovered(event, clean, consents, served)
                doubt = f", {EARLIER}" if judged is UNCLEAR else ""
                yield tpp_evidence(TPP_FACET, judged, event, OWED, f"no consent covers it{doubt}")

    def _served(self, history: History) -> frozenset[tuple[str, str]]:
        """Return (subject, operation) of the calls served under a consent."""
        about = {operation.id: operation.about or "" for operation in self.operations}
        consents, out = Consents.of(self.contract, self.grant, history), set[tuple[str, str]]()
        for exchange in history.exchanges:
            consents.note(exchange)
            key = str(exchange.call.arguments.get(about.get(exchange.call.operation, "")))
            if exchange.accepted and key in consents.certain(exchange.call.subject):
                out.add((exchange.call.subject, exchange.call.operation))
        return frozenset(out)

    def _none_yet(self, exchange: Exchange) -> bool:
        """Whether an answer lacks a value that is disclosed only with a consent."""
        outcome, call = exchange.outcome, exchange.call
        if not isinstance(outcome, Accepted):
            return False
        hidden = facts_of(self.contract).disclosures.get(call.operation, ())
        missing = any(not has_value(outcome.values.get(value)) for value in hidden)
        return missing and call.present and bool(outcome.items) and not is_part(exchange)


def _owners(history: History) -> Mapping[str, Mapping[str, Owned]]:
    """Return the owners of each key: a resource may have several."""
    out: dict[str, dict[str, Owned]] = {}
    for name, subject in history.subjects.items():
        for owned in subject.owns:
            out.setdefault(owned.key, {})[name] = owned
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What a whole history shows: owners by key, new customers, and what was served."""

    facts: Facts
    subjects: Mapping[str, Subject]
    owners: Mapping[str, Mapping[str, Owned]]
    untouched: frozenset[str]
    served: ServedThings
    uncovered: UncoveredCalls = field(default_factory=UncoveredCalls)

    @classmethod
    def of(cls, clause: ConsentScope, history: History) -> _Seen:
        """Read a history."""
        return cls(
            facts=facts_of(clause.contract),
            subjects=history.subjects,
            owners=_owners(history),
            untouched=fresh_subjects(history),
            served=ServedThings.of(clause.contract, clause.operations, clause.grant, history),
        )

    def surely_listed(self, owned: Owned, exchange: Exchange) -> bool:
        """Whether a thing of the customer of a call is known to be listed."""
        said = self.subjects[exchange.call.subject].now
        return self.facts.surely_listed(owned, exchange.at, said)


def _shows_its_thing(exchange: Exchange, operation: Operation, seen: _Seen) -> bool:
    """Whether an answer says that it is about the thing of the call, by its key or by entries."""
    key = str(exchange.call.arguments.get(operation.about or ""))
    owners = seen.owners.get(key, {}).values()
    entries = {entry.key for owned in owners for entry in owned.entries}
    return any(
        item.key in entries or any(same_value(key, value) for value in item.fields.values())
        for item in exchange.items
    )


def _own(
    child: str, exchange: Exchange, consents: Consents, shown: ServedThings
) -> Iterator[Evidence]:
    """Judge a call about the customer's own resource that no consent covers.

    The control is another resource, or the same one later, served under a consent.
    """
    call = exchange.call
    if not shown.serves(call):
        return
    if consents.possible(call.subject):
        yield must_be_refused(f"{child}-refused", exchange, "the consent does not cover it")
    else:
        yield must_be_refused(f"{child}-before", exchange, "no consent has been given yet")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Strangers:
    """Calls about others' things: which were refused, and which a consent named, taken or not."""

    served: ServedThings
    named: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    refused: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])

    def note(self, exchange: Exchange, grant: Operation) -> None:
        """Note what a consent names."""
        call = exchange.call
        if call.operation == grant.id and plain(call):
            self.named.update((call.subject, key) for key in consented_keys(call, grant))

    def judge(
        self, child: str, exchange: Exchange, key: str, whose: Mapping[str, Owned]
    ) -> Iterator[Evidence]:
        """Judge a call about a stranger's thing.

        The controls are the owner, who was served it, and the caller's own things. What is
        served anyway is not served because the caller's consent names it.
        """
        call = exchange.call
        usurped, again = (call.subject, key) in self.named, question(call) in self.refused
        if not usurped and exchange.refused and not exchange.items:
            self.refused.add(question(call))
        served = any((call.operation, owner, key) in self.served.things for owner in whose)
        if served and self.served.serves(call) and (again or not usurped):
            facet = f"{child}-{'usurped' if usurped else 'foreign'}"
            yield must_be_refused(facet, exchange, "it is another customer's")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Former:
    """What the consents of a customer cover, for a TPP: the last one, and those before it.

    Of whoever gave a consent that is uncertain, or that names nothing, nothing is known any more.
    """

    grant: Operation
    last: dict[_Who, frozenset[str]] = field(default_factory=dict[_Who, frozenset[str]])
    earlier: dict[_Who, frozenset[str]] = field(default_factory=dict[_Who, frozenset[str]])
    unknown: set[_Who] = field(default_factory=set[_Who])
    served: set[tuple[_Who, str, str]] = field(default_factory=set[tuple[_Who, str, str]])
    works: set[tuple[_Who, str]] = field(default_factory=set[tuple[_Who, str]])

    def note_consent(self, exchange: Exchange) -> None:
        """Note a consent; a refused one changes nothing."""
        call, who = exchange.call, _who(exchange.call)
        if call.operation != self.grant.id or exchange.refused:
            return
        keys = consented_keys(call, self.grant)
        if not exchange.accepted or not plain(call) or not lists_keys(call, self.grant) or not keys:
            self.unknown.add(who)
        self.earlier[who] = self.earlier.get(who, frozenset()) | self.last.get(who, frozenset())
        self.last[who] = keys
        self.works.difference_update([each for each in self.works if each[0] == who])

    def note_read(self, exchange: Exchange, key: str) -> None:
        """Note what was served under the last consent."""
        who, operation = _who(exchange.call), exchange.call.operation
        if exchange.accepted and key in self.last.get(who, ()):
            self.served.add((who, operation, key))
            self.works.add((who, operation))

    def has(self, call: Call, key: str) -> bool:
        """Whether only a former consent covers a thing that was served, and another is served now."""
        who = _who(call)
        former = key in self.earlier.get(who, ()) and key not in self.last.get(who, ())
        controlled = (who, call.operation, key) in self.served and (
            who,
            call.operation,
        ) in self.works
        return former and controlled and who not in self.unknown


def _who(call: Call) -> _Who:
    return call.subject, call.by, call.bank


def _uncovered(
    exchange: Exchange, clean: set[str], consents: Consents, served: frozenset[tuple[str, str]]
) -> Agreement:
    name = exchange.call.subject
    if name in clean:
        return DISAGREES
    covered = consents.certain(name) and (name, exchange.call.operation) in served
    return DISAGREES if covered and was_refused(exchange) and exchange.call.present else UNCLEAR
