"""`consent-effect`: an accepted consent covers everything that it names, and a refused one nothing.

Each thing that a consent names is served, the last like the first, and so is what a later one
names. A consent that is refused (one that cannot be read, or is beyond the limit of calls) gives
access to nothing and takes none away. A list that is empty, of another type, or names one thing
twice may be taken or refused, but gives no access to what it does not name. Each read of the data
shows it, beside one of the same thing before.

Not judged: whether a list is accepted that names a thing twice, or an unknown one beside others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from assay.contract.model import Capability, Json, Operation
from assay.history import Call, Exchange, History, Holding, Malformed, Subject
from assay.rules import parameters, steps
from assay.rules.consents import EARLIER, GIVEN, Consents, consented_keys, ends_consent, lists_keys
from assay.rules.lifecycle.request_queries import similar_key, was_refused
from assay.rules.parameters import about_one_thing
from assay.rules.queries import bare, perhaps_over_quota, plain, question
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
from assay.rules.state.consented_answers import served_with_consent
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNCLEAR,
    Evidence,
    counts_unattended,
    describe_answer,
    doubt,
    failed_instead,
    must_be_refused,
)

EACH, LATER = "each-named", "later-served"
REFUSED, KEEPS, BEYOND = "refused-grants-nothing", "refused-keeps", "beyond-limit-grants-nothing"
LISTS, SURVIVES = "malformed-grants-nothing", "survives-lists"
#: The scenario of all facets but the one about calls beyond the limit.
TAKEN: Final = "taken"
#: How many things the first consent names.
NAMED = 3
NAMED_BY_NONE: Final = "for something that no consent names"
NAMED_BY_REFUSED: Final = "for something that only a refused consent names"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentEffect(Kind):
    """The operation that transmits a consent, and those whose data it opens.

    `quota` is how many a day are accepted without the customer, if that is limited.
    """

    name = "consent-effect"
    own_consents = True
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.PROMISE

    operations: tuple[Operation, ...] = parameters.operations(also=about_one_thing)
    grant: Operation = parameters.grant(required=True)
    quota: int = parameters.whole(key="quota", required=False, default=0)

    def facets(self) -> tuple[Facet, ...]:
        """What is taken, what is refused, and lists that name nothing."""
        name = self.grant.id
        asked = [
            (EACH, "everything that a consent names is served"),
            (LATER, "everything that a later consent names is served"),
            (REFUSED, "data that only a refused consent names is refused"),
            (KEEPS, "a refused consent takes no access away"),
            (LISTS, "an empty or malformed list gives no access beyond what it names"),
            (SURVIVES, f"no list in a consent causes a server error in {name}"),
        ]
        out = [self._facet(id_, description, TAKEN) for id_, description in asked]
        if self.quota:
            description = "data that only a consent beyond the call limit names is refused"
            beyond = self._facet(BEYOND, description, BEYOND)
            out.append(replace(beyond, needs=beyond.needs | needs(Capability.BATCH)))
        return tuple(out)

    def _facet(self, id_: str, description: str, scenario: str) -> Facet:
        grants = self.grant.grants or ""
        return Facet(
            id=id_,
            description=description,
            scenario=Scenario(id=scenario),
            needs=needs(Capability.PSU, Capability.CONSENT),
            requires=bound(self.grant, "argument", grants),
            not_applicable_because=GIVEN if self.grant.given else "",
            exercises=() if id_ == SURVIVES else tuple(each.id for each in self.operations),
        )

    def probe(self, scenario: Scenario) -> Script:
        """Transmit consents that are taken and others that are not, and read what they name."""
        today = (yield from steps.clock()).date()
        owner = steps.owners(self.contract, self.operations[0])[0]
        entries = steps.days_before(today, 1, 2)
        count = NAMED + 2 if scenario.id == TAKEN else 2
        psu = yield from steps.arrange("psu", Holding(resource=owner, count=count, entries=entries))
        keys = [owned.key for owned in psu.owns]
        if scenario.id == TAKEN:
            yield from self._taken(keys[:NAMED], *keys[NAMED:])
        else:
            yield from self._beyond(keys[0], keys[1])

    def _taken(self, named: list[str], refused: str, never: str) -> Script:
        """Transmit a good consent, refused ones, malformed ones, and another good one."""
        first = named[0]
        yield from self._transmit(named)
        for key in named:
            yield from self._read(key)
        for key in (refused, never):
            yield from self._read(key, NAMED_BY_NONE)
        yield from self._transmit([refused], Malformed.TRUNCATED.value, Malformed.TRUNCATED)
        yield from self._read(refused, NAMED_BY_REFUSED)
        yield from self._read(first)
        unknown = [refused, similar_key(first)]
        yield from self._transmit(unknown, "naming one thing that does not exist")
        yield from self._read(refused, NAMED_BY_REFUSED)
        yield from self._read(never, NAMED_BY_NONE)
        lists: tuple[tuple[Json, str], ...] = (
            (None, "null in place of a list"),
            (first, "a text in place of a list"),
            ([first, 42], "a list with a number in it"),
            ([], "an empty list"),
        )
        for value, variation in lists:
            yield from self._transmit(value, variation)
        yield from self._read(never, NAMED_BY_NONE)
        yield from self._read(first)
        yield from self._transmit([first, first], "a list that names one thing twice")
        yield from self._transmit([never])
        yield from self._read(never)

    def _beyond(self, named: str, beyond: str) -> Script:
        """Use up the calls of a day, and transmit one consent more, which names another thing."""
        for _ in range(self.quota):
            yield from self._transmit([named], present=False)
        yield from self._read(named)
        yield from self._read(beyond, NAMED_BY_NONE)
        yield from self._transmit([beyond], f"call {self.quota + 1} of a day", present=False)
        yield from self._read(beyond, NAMED_BY_REFUSED)

    def _transmit(
        self,
        value: Json,
        variation: str = "",
        malformed: Malformed | None = None,
        *,
        present: bool = True,
    ) -> steps.Part[Exchange]:
        call = Call(
            operation=self.grant.id,
            subject="psu",
            arguments={self.grant.grants or "": value},
            variation=variation,
            malformed=malformed,
            present=present,
        )
        return (yield from steps.consent(self.grant, call))

    def _read(self, key: str, variation: str = "") -> steps.Part[None]:
        for operation in self.operations:
            call = steps.ask(operation, "psu", key, variation)
            yield from steps.send(call)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every consent, and every read of a thing by what came before it."""
        operations = {operation.id: operation for operation in self.operations}
        known = {facet.id for facet in self.own_facets}
        consents, people = Consents.of(self.contract, self.grant, history), dict[str, _Past]()
        subjects = history.subjects
        over_quota = perhaps_over_quota(self.contract, history)
        for exchange in history.exchanges:
            call = exchange.call
            past = people.setdefault(call.subject, _Past())
            consents.note(exchange)
            if call.operation == self.grant.id:
                yield from past.transmitted(exchange, self.grant, subjects.get(call.subject))
            elif exchange.accepted and ends_consent(self.contract, self.grant, call):
                past.taken, past.former = (), set()
            operation, subject = operations.get(call.operation), subjects.get(call.subject)
            if operation is None or subject is None or not bare(call, operation):
                continue
            for evidence in self._judge(exchange, operation, subject, consents, past):
                if evidence.facet in known and counts_unattended(evidence, exchange, over_quota):
                    yield evidence

    def _judge(
        self,
        exchange: Exchange,
        operation: Operation,
        subject: Subject,
        consents: Consents,
        past: _Past,
    ) -> Iterator[Evidence]:
        """Judge a read of a thing that its reader owns."""
        owned = subject.owned(exchange.call.arguments.get(operation.about or ""))
        if owned is None or not self.contract.children(owned.resource, operation.id):
            return
        if not facts_of(self.contract).surely_listed(owned, exchange.at, subject.now):
            return
        asked = (*question(exchange.call), "" if exchange.call.present else "without the customer")
        if owned.key in consents.certain(subject.name):
            for covered in past.covered(asked, owned.key):
                evidence = served_with_consent(covered, exchange, owned)
                # That an operation serves nothing at all is the matter of the consent's scope.
                alone = (operation.id, exchange.call.present) not in past.methods
                yield doubt(evidence, "but nothing else was served either") if alone else evidence
            if exchange.accepted and exchange.items:
                past.served[asked] = past.count
                past.methods.add((operation.id, exchange.call.present))
        elif owned.key not in consents.possible(subject.name):
            facet = past.uncovered(asked, owned.key)
            if facet is not None and (operation.id, exchange.call.present) in past.methods:
                evidence = must_be_refused(facet, exchange, "no accepted consent names it")
                yield evidence if subject.fresh else doubt(evidence, EARLIER)
            if exchange.refused and not exchange.items:
                past.refused[asked] = past.count


@dataclass(slots=True, kw_only=True)
class _Past:
    """What one customer transmitted and read; `count` are the consents so far.

    `taken` is the last list that was accepted, as number `since`, and `former` are the keys of all
    before it. `naming` says for each key which refused consent named it last, and whether that
    was beyond the limit; `refusal` is the last refused one, `odd` the last one that was malformed,
    or accepted with what its customer does not own. `served` and `refused` say after how many
    consents a question was last answered so, `methods` which operations served anything, and
    whether the customer was there.
    """

    count: int = 0
    since: int = 0
    refusal: int = 0
    odd: int = 0
    taken: tuple[str, ...] = ()
    former: set[str] = field(default_factory=set[str])
    naming: dict[str, tuple[int, bool]] = field(default_factory=dict[str, tuple[int, bool]])
    served: dict[tuple[str, ...], int] = field(default_factory=dict[tuple[str, ...], int])
    refused: dict[tuple[str, ...], int] = field(default_factory=dict[tuple[str, ...], int])
    methods: set[tuple[str, bool]] = field(default_factory=set[tuple[str, bool]])

    def transmitted(
        self, exchange: Exchange, grant: Operation, subject: Subject | None
    ) -> Iterator[Evidence]:
        """Process a consent, and judge that a malformed list does not make the target fail."""
        call, self.count = exchange.call, self.count + 1
        keys, malformed = consented_keys(call, grant), _malformed(call, grant)
        refused = was_refused(exchange)
        strange = subject is not None and any(subject.owned(key) is None for key in keys)
        if refused:
            beyond = not (call.present or malformed or strange) and plain(call)
            self.refusal = self.count
            self.naming |= dict.fromkeys(keys, (self.count, beyond))
        if malformed or (strange and not refused):
            self.odd = self.count
        if malformed and plain(call) and self.taken:
            yield Evidence(
                facet=SURVIVES,
                agreement=AGREES
                if exchange.accepted or refused
                else DISAGREES
                if failed_instead(exchange)
                else UNCLEAR,
                expected="an answer or a refusal, not a server error",
                seen=describe_answer(exchange),
                exchanges=(exchange.n,),
                variation=call.variation,
            )
        if exchange.accepted and plain(call):
            self.since = self.count
            if not malformed:
                self.former.update(self.taken)
                self.taken = tuple(sorted(keys))

    def covered(self, asked: tuple[str, ...], key: str) -> Iterator[str]:
        """Yield the facets of a read of what the last consent names."""
        before = self.served.get(asked, 0)
        if self.refusal > max(before, self.since):
            if before >= self.since:
                yield KEEPS
            return
        if key not in self.taken:
            return
        if len(self.taken) > 1 and before < self.since:
            yield EACH
        if self.former and key not in self.former:
            yield LATER

    def uncovered(self, asked: tuple[str, ...], key: str) -> str | None:
        """Return the facet of a read of what no consent that was taken names, if it has one."""
        if asked not in self.refused:
            return None
        last = self.refused[asked]
        number, beyond = self.naming.get(key, (0, False))
        if number > last:
            return BEYOND if beyond else REFUSED
        return LISTS if self.odd > last else None


def _malformed(call: Call, grant: Operation) -> bool:
    """Whether a consent lists nothing, one thing twice, or something that is no key."""
    return call.malformed is None and not lists_keys(call, grant)
