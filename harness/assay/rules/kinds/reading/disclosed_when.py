"""`disclosed-when`: a value is disclosed only once the customer has consented.

"Not before" is judged only if the value was seen afterwards: a value that never shows
may be in another place than the target file says. What the value looks like is for the bank to
say, but two customers of different names must not be shown the same one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from assay.contract.model import Capability, Operation
from assay.files.document import Finding, Pointer
from assay.history import Accepted, Call, Exchange, History, Holding, Subject
from assay.rules import parameters, steps
from assay.rules.consents import EARLIER, GIVEN, Consents
from assay.rules.facets import Facts
from assay.rules.parameters import Raw, known
from assay.rules.queries import fresh_subjects, has_value, is_part, plain
from assay.rules.rule import (
    Calls,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Scope,
    Script,
    bound,
    facts_of,
    needs,
)
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Evidence, doubt

#: Why there is no answer before a consent.
NEEDS_CONSENT = "the contract says that the operation cannot be called without a consent"
AFTER, BEFORE, OWN = "disclosed-after", "withheld-before", "own-value"


def _disclosure(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with a value that the clause's operation does not disclose."""
    defined = raw["operations"].get(clause["operation"])
    if defined:
        yield from known(at, name, defined.get("disclosures", ()), "disclosure")


@dataclass(frozen=True, slots=True, kw_only=True)
class DisclosedWhen(Kind):
    """An operation, and the value that it discloses only with a consent."""

    name = "disclosed-when"
    # Before a consent there may be nothing on later pages.
    hiding = (("", "page"),)
    own_consents = True
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.PROMISE

    operation: Operation = parameters.operation()
    value: str = parameters.word(key="value", references=_disclosure)
    grant: Operation = parameters.grant(required=True)
    owner: str = parameters.derived(lambda contract, _: steps.roots(contract)[0].id)

    def facts(self) -> Facts:
        """Return the value, which is disclosed with a consent only."""
        return Facts(disclosures={self.operation.id: (self.value,)})

    @property
    def _unreadable(self) -> str:
        """Why nothing can be read before a consent; empty where it can."""
        if self.grant.given:
            return GIVEN
        return NEEDS_CONSENT if self.operation.consent else ""

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet after consent, one before, and one for another customer."""
        requirements = bound(self.operation, "value", self.value)
        return tuple(
            Facet(
                id=id_,
                description=description,
                scenario=Scenario(id="around-consent"),
                needs=needs(Capability.PSU, Capability.CONSENT, *more),
                requires=requirements,
                not_applicable_because=self._unreadable if id_ == BEFORE else "",
            )
            for id_, description, more in (
                (AFTER, f"{self.value} is returned once consent is given", ()),
                (BEFORE, f"{self.value} is not returned before consent is given", ()),
                (OWN, f"{self.value} belongs to the customer", (Capability.TWO_PSU,)),
            )
        )

    def probe(self, scenario: Scenario) -> Script:
        """Read, consent, read again; and read for another customer."""
        psu = yield from steps.arrange("psu", Holding(resource=self.owner))
        read = Call(operation=self.operation.id, subject="psu")
        yield from steps.send(replace(read, variation="before any consent"))
        yield from steps.grant(self.grant, "psu", psu.owns[0].key)
        yield from steps.send(read)
        other = yield from steps.arrange("other", Holding(resource=self.owner))
        yield from steps.grant(self.grant, "other", other.owns[0].key)
        yield from steps.send(replace(read, subject="other"))

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every answer by whether its customer had consented."""
        untouched = fresh_subjects(history)
        consents = Consents.of(self.contract, self.grant, history)
        before: list[Exchange] = []
        shown: set[str] = set()
        subjects = history.subjects
        values = _Values(subjects=subjects)
        for exchange in history.exchanges:
            call = exchange.call
            consents.note(exchange)
            if call.operation != self.operation.id or not plain(call) or not exchange.accepted:
                continue
            if not consents.perhaps_given(call.subject):
                before.append(exchange)
            elif self._names_listed(consents.certain(call.subject), exchange, subjects):
                given = self._given(exchange)
                if given:
                    shown.add(call.subject)
                    yield from values.judge(exchange, self.value)
                yield Evidence(
                    facet=AFTER,
                    agreement=AGREES if given else UNCLEAR if is_part(exchange) else DISAGREES,
                    expected=f"{self.value} in the answer",
                    seen="it is returned" if given else "it is missing",
                    exchanges=(exchange.n,),
                    member=exchange.member("value", self.value),
                )
        for exchange in before:
            given = self._given(exchange)
            if given or (exchange.call.subject in shown and not is_part(exchange)):
                evidence = Evidence(
                    facet=BEFORE,
                    agreement=DISAGREES if given else AGREES,
                    expected=f"no {self.value} before consent",
                    seen="it is returned" if given else "it is withheld",
                    exchanges=(exchange.n,),
                    member=exchange.member("value", self.value),
                    variation=exchange.call.variation,
                )
                known = exchange.call.subject in untouched
                yield evidence if known else doubt(evidence, EARLIER)

    def _names_listed(
        self, keys: frozenset[str], exchange: Exchange, subjects: Mapping[str, Subject]
    ) -> bool:
        """Whether a consent names something that it can be given to.

        A bank may ignore a consent to what it does not serve at all, such as a savings account, or to
        what belongs to somebody else.
        """
        subject = subjects.get(exchange.call.subject)
        if subject is None or not subject.owns:
            return bool(keys)
        listed, at = facts_of(self.contract).surely_listed, exchange.at
        return any(owned.key in keys and listed(owned, at, subject.now) for owned in subject.owns)

    def _given(self, exchange: Exchange) -> bool:
        outcome = exchange.outcome
        return isinstance(outcome, Accepted) and has_value(outcome.values.get(self.value))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Values:
    """The customers to whom each value was shown so far."""

    subjects: Mapping[str, Subject]
    shown: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    names: set[str] = field(default_factory=set[str])

    def judge(self, exchange: Exchange, value: str) -> Iterator[Evidence]:
        """Compare a value with those shown to other customers; only names tell them apart."""
        subject, outcome = self.subjects.get(exchange.call.subject), exchange.outcome
        if subject is None or not isinstance(outcome, Accepted):
            return
        text = json.dumps(outcome.values[value], sort_keys=True, default=str)
        alone = self.names <= {subject.name}
        self.names.add(subject.name)
        holders = self.shown.setdefault(text, {})
        holders.setdefault(subject.name, exchange.n)
        others = {name: n for name, n in holders.items() if name != subject.name}
        apart = [n for name, n in others.items() if _differ(subject, self.subjects[name])]
        if not alone:
            yield Evidence(
                facet=OWN,
                agreement=DISAGREES if apart else UNCLEAR if others else AGREES,
                expected=f"another {value} than that of a customer of another name",
                seen="the same" if others else "another",
                exchanges=(*(apart or others.values()), exchange.n),
                controls=tuple(apart or others.values()),
                member=exchange.member("value", value),
                variation=exchange.call.variation,
            )


def _differ(one: Subject, other: Subject) -> bool:
    """Whether two customers certainly have different names."""
    return bool(one.identity and other.identity) and one.identity != other.identity
