"""`own-data`: a list shows only the customer's own items, and a report only the requested item.

A list is wrong where it shows what another customer of the history owns. A report is wrong
where a field says that an item is of another thing, or where an item has the key of another
thing's entry. What nobody is known to own says nothing: a list of what a customer owns may
have gaps, and two customers may hold one thing together. The link to a page of a list that another
customer was given shows nothing of that customer's.

With `others: refused`, a call about what only another customer owns is refused: it needs no consent
for that, and a call of its owner, which was accepted, is the control.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from assay.contract.model import Capability, Operation
from assay.history import Accepted, Call, Exchange, History, Holding, Item, Subject
from assay.rules import parameters, steps
from assay.rules.controls import refused_beside
from assay.rules.queries import fresh_subjects, ordinary
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import (
    BindingRequirement,
    Calls,
    CallScenario,
    Facet,
    Purpose,
    Scope,
    Script,
    bound,
    consent,
    facts_of,
    needs,
)
from assay.rules.verdict import AGREES, DISAGREES, Evidence, Standing, doubt

#: How many of each resource the first customer owns.
EACH = 2
ANOTHERS = "it is about something that another customer owns"
FOREIGN = "foreign"
LINK = "the next page of another customer's list"
JOINT = "but it may be owned jointly: the fixture does not list everything that the customer owns"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingScenario(CallScenario):
    """Readings of one operation; `foreign` if by another customer than the owner."""

    foreign: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnData(RefusingKind[ReadingScenario]):
    """Operations that list what customers own or report on it, and the field that says on what."""

    name = "own-data"
    scope = Scope(calls=Calls.NAMED, needs=(Subject,))
    purpose = Purpose.SAFEGUARD

    operations: tuple[Operation, ...] = parameters.operations()
    field: str = parameters.word(key="field")
    refuses: str = parameters.choice(
        "refused", key="others", description="refused", required=False, default=""
    )
    grant: Operation | None = parameters.grant()

    def facets(self) -> tuple[Facet, ...]:
        """One facet for each resource that is listed, and one for calls about others' things."""
        return (*self._listed(), *(self._foreign() if self.refuses else ()))

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return [facet.id for facet in self._foreign()] if self.refuses else ()

    def _foreign(self) -> Iterator[Facet]:
        for operation in self.operations:
            if operation.about:
                id_ = f"{operation.id}-{FOREIGN}"
                yield Facet(
                    id=id_,
                    description=f"{operation.id} is refused to everyone except the owner",
                    scenario=ReadingScenario(id=id_, operation=operation, foreign=True),
                    needs=needs(Capability.PSU, Capability.TWO_PSU) | consent(self.grant),
                )

    def _listed(self) -> tuple[Facet, ...]:
        return tuple(
            Facet(
                id=self._facet(operation, resource),
                description=f"every {resource} shown is "
                + ("about the requested item" if operation.about else "the customer's own"),
                scenario=ReadingScenario(id=operation.id, operation=operation),
                needs=needs(Capability.PSU, Capability.TWO_PSU, Capability.ROSTER)
                | (consent(self.grant) if operation.about else needs()),
                requires=self._told_by(operation),
            )
            for operation in self.operations
            for resource in operation.lists
        )

    def _facet(self, operation: Operation, resource: str) -> str:
        """Return the id of a resource, with its operation where several list it."""
        listing = sum(resource in each.lists for each in self.operations)
        return resource if listing == 1 else f"{operation.id}-{resource}"

    def _told_by(self, operation: Operation) -> tuple[BindingRequirement, ...]:
        """Return what tells whose an item is: its key, or the field where it has none."""
        if not operation.about or operation.since:
            return bound(operation, "key")
        return bound(operation, "field", self.field, if_missing=Standing.NOT_APPLICABLE)

    def probe(self, scenario: ReadingScenario) -> Script:
        """Read for two customers in turn, of everything that they own; or what the other one owns."""
        operation = scenario.operation
        if scenario.foreign:
            yield from self._ask_about_another(operation)
            return
        today = (yield from steps.clock()).date()
        entries = steps.days_before(today, 1, 2)
        # The first resource has more than a page, for another page may be of another thing.
        owners = steps.owners(self.contract, operation)
        size = facts_of(self.contract).page_sizes.get(operation.id) or 0
        long = {owners[0]: entries * (size // len(entries) + 1)} if operation.about else {}
        asked: list[list[Call]] = []
        for name, count in (("psu", EACH), ("other", 1)):
            long_list = size > 0 and name == "psu" and not operation.about
            subject = yield from steps.arrange(
                name,
                *(
                    Holding(
                        resource=owner,
                        count=size + 1 if long_list and owner == owners[0] else count,
                        entries=long.get(owner, entries),
                    )
                    for owner in owners
                ),
            )
            keys = [item.key for item in subject.owns]
            if operation.about:
                yield from steps.grant(self.grant, name, *keys)
            asked.append(
                [
                    steps.ask(operation, name, key)
                    for key in (keys if operation.about else keys[:EACH])
                ]
            )
        first, second = asked
        link = None
        for n, call in enumerate(first):
            begin, *_ = yield from steps.walk(call)
            if link is None and isinstance(begin.outcome, Accepted):
                link = begin.outcome.next
            if n < len(second):
                yield from steps.walk(second[n])
        if link is not None:
            yield from steps.send(replace(first[0], subject="other", follow=link, variation=LINK))

    def _ask_about_another(self, operation: Operation) -> Script:
        """Let each of two customers read what they own, and one what the other one owns."""
        owner = steps.owners(self.contract, operation)[0]
        calls: list[Call] = []
        for name in ("psu", "other"):
            subject = yield from steps.customer(name, owner, self.grant)
            given = steps.arguments(operation, subject.owns[0].key)
            calls.append(Call(operation=operation.id, subject=name, arguments=given))
            yield from steps.send(calls[-1])
        yield from steps.send(replace(calls[1], arguments=calls[0].arguments, variation=ANOTHERS))

    def _judge_foreign(self, history: History) -> Iterator[Evidence]:
        """Judge calls about what other customers own, beside those of their owners."""
        about = {each.id: each.about for each in self.operations if each.about}
        known, fresh = _Known.of(history), fresh_subjects(history)
        calls = [
            (exchange, key, known.owned(key, exchange.call.subject))
            for exchange in history.exchanges
            if exchange.call.operation in about and ordinary(exchange.call)
            for key in [str(exchange.call.arguments.get(about[exchange.call.operation] or ""))]
        ]
        owners: dict[tuple[str, str], list[int]] = {}
        for exchange, key, own in calls:
            if own and exchange.accepted:
                owners.setdefault((exchange.call.operation, key), []).append(exchange.n)
        for exchange, key, own in calls:
            if own is not False:
                continue
            facet, beside = f"{exchange.call.operation}-{FOREIGN}", (exchange.call.operation, key)
            for evidence in refused_beside(facet, exchange, ANOTHERS, owners.get(beside, [])):
                yield evidence if exchange.call.subject in fresh else doubt(evidence, JOINT)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every page of an accepted answer, and calls about what others own."""
        if self.refuses:
            yield from self._judge_foreign(history)
        operations = {operation.id: operation for operation in self.operations}
        known, fresh = _Known.of(history), fresh_subjects(history)
        given: dict[str, set[str]] = {}
        for exchange in history.exchanges:
            operation, name = operations.get(exchange.call.operation), exchange.call.subject
            if operation is None or not exchange.accepted or exchange.call.malformed:
                continue
            if isinstance(exchange.outcome, Accepted) and exchange.outcome.next:
                given.setdefault(exchange.outcome.next, set()).add(name)
            foreign = name not in given.get(exchange.call.follow or "", {name})
            sorted_: dict[str, list[tuple[Item, bool]]] = {}
            for item in exchange.items:
                is_own = (
                    known.owned(item.key, name)
                    if not operation.about
                    else known.owns_entry(item.key, name)
                    if foreign
                    else self._is_own(item, exchange, operation, known)
                )
                resource = self._resource(operation, item, exchange, known)
                if is_own is not None and resource:
                    sorted_.setdefault(resource, []).append((item, is_own))
            for resource, own in sorted_.items():
                facet = self._facet(operation, resource)
                evidence = _judge(facet, exchange, own, of=bool(operation.about) and not foreign)
                joint = name not in fresh and (foreign or not operation.about)
                yield doubt(evidence, JOINT) if joint else evidence

    def _resource(
        self, operation: Operation, item: Item, exchange: Exchange, known: _Known
    ) -> str | None:
        """Return the resource of an item, as it says or as what it is about is known."""
        if item.resource in operation.lists:
            return item.resource
        about = exchange.call.arguments.get(operation.about or "", item.key)
        owner = known.resources.get(str(about), "")
        return self.contract.children(owner, operation.id) if operation.about else owner or None

    def _is_own(
        self, item: Item, exchange: Exchange, operation: Operation, known: _Known
    ) -> bool | None:
        """Whether an item is about the requested item; None where it does not tell."""
        asked = str(exchange.call.arguments.get(operation.about or ""))
        said = _compact(item.fields.get(self.field))
        if said in known.compact and said != _compact(asked):
            return False
        of = known.entries.get(item.key or "", frozenset())
        if of and asked in known.whole and asked not in of:
            return False
        others = len(known.compact) > 1
        return True if others and (asked in of or (said and said == _compact(asked))) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """Who owns what, by key, and of what each entry is; `apart` if no key of an entry is of two."""

    owners: Mapping[str, frozenset[str]]
    resources: Mapping[str, str]
    entries: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    #: The things of which every entry is known.
    whole: frozenset[str] = frozenset()
    #: The keys of all things, as they are compared with what a field says.
    compact: frozenset[str] = frozenset()
    customers: int = 0

    @classmethod
    def of(cls, history: History) -> _Known:
        """Collect what the subjects of a history own."""
        owners: dict[str, frozenset[str]] = {}
        resources: dict[str, str] = {}
        entries: dict[str, frozenset[str]] = {}
        subjects: Mapping[str, Subject] = history.subjects
        for name, subject in subjects.items():
            for item in subject.owns:
                owners[item.key] = owners.get(item.key, frozenset()) | {name}
                resources[item.key] = item.resource
                for entry in item.entries:
                    entries[entry.key] = entries.get(entry.key, frozenset()) | {item.key}
        apart = all(len(of) == 1 for of in entries.values())
        fresh = fresh_subjects(history)
        whole = frozenset(key for key, names in owners.items() if names <= fresh)
        return cls(
            owners=owners,
            resources=resources,
            entries=entries if apart else {},
            whole=whole,
            compact=frozenset(map(_compact, owners)),
            customers=len(subjects),
        )

    def owned(self, key: str | None, name: str) -> bool | None:
        """Whether a customer owns a thing; None where nobody is known to, or there is nobody else."""
        owners = self.owners.get(key or "")
        return None if owners is None or self.customers == 1 else name in owners

    def owns_entry(self, key: str | None, name: str) -> bool | None:
        """Whether a customer owns the thing that an entry is of; None where that is not known."""
        owned = [self.owned(thing, name) for thing in self.entries.get(key or "", ())]
        return None if None in owned or not owned else True in owned


def _compact(value: object) -> str:
    """Return an identifier without the spaces with which it may be printed."""
    return value.replace(" ", "") if isinstance(value, str) else ""


def _judge(facet: str, exchange: Exchange, own: list[tuple[Item, bool]], *, of: bool) -> Evidence:
    strangers = [item for item, is_own in own if not is_own]
    strange = len(strangers)
    whose = "about the requested item" if of else "the customer's own"
    return Evidence(
        facet=facet,
        agreement=DISAGREES if strange else AGREES,
        expected=f"only what is {whose}",
        seen=f"not true of {strange} of {len(own)} items"
        if strange
        else f"true of {len(own)} items",
        exchanges=(exchange.n,),
        variation=exchange.call.variation,
        member=exchange.member_of(next(iter(strangers), None), "key"),
    )
