"""`eligibility`: which resources of a customer are listed, depending on their state.

Each hidden state is a facet; recent use has three: listed when recent, still listed just inside the
edge, hidden just outside. Months are those of the bank's calendar. The edge day has a facet of its own where the
contract or the bank says on which side it is. What was listed, and named by a consent, is hidden once it is outside.
After a consent a list may show only what is consented to: that something is not there says nothing then.

What is hidden may also be withheld: its data are refused, even if a consent names it. The
control is the same question about a plain one, answered in the trial.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from assay.contract.model import Capability, Contract, Json, Operation
from assay.files.document import Finding, Pointer
from assay.history import Call, Exchange, History, Holding, Owned
from assay.rules import consents, parameters, steps
from assay.rules.consents import NarrowedLists, consented_keys
from assay.rules.facets import NOTHING, Facts, make_facet
from assay.rules.parameters import Raw, about_one_thing, all_known, known, ref
from assay.rules.queries import (
    PageWalk,
    bare,
    bare_or_ranged,
    page_walks,
    perhaps_over_quota,
    plain,
    question,
)
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import (
    BindingRequirement,
    Facet,
    Purpose,
    Scenario,
    Script,
    all_pages,
    bound,
    consent,
    facts_of,
    needs,
)
from assay.rules.state.calendar import dates, months_before
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNCLEAR,
    Evidence,
    Standing,
    counts_unattended,
    must_be_refused,
)

DAY = timedelta(days=1)
#: After this time, what was just inside is outside, whatever the lengths of the months.
OUTSIDE = timedelta(days=5)


#: The facet of what was recent when a consent named it, and is no more.
OUTDATED = "hides-outdated"
#: The facet of the day on the edge, and whether a resource used on it is listed; by the edge.
_ON_THE_EDGE: Mapping[str, tuple[str, bool]] = {
    "included": ("lists-on-the-edge", True),
    "excluded": ("hides-on-the-edge", False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    """The trait with the date of last use, and how old that date may be."""

    trait: str
    months: int
    edge: str


_TRAITS: Mapping[str, Json] = {
    "description": "a list of traits",
    "type": "array",
    "uniqueItems": True,
    "items": {"description": "the name of a trait", "type": "string"},
}
_RECENT: Mapping[str, Json] = {
    "description": "how recently one must have been used: trait, months and edge",
    "type": "object",
    "additionalProperties": False,
    "required": ["trait", "months", "edge"],
    "properties": {
        "trait": {"description": "the name of a trait", "type": "string"},
        "months": ref("whole"),
        "edge": ref("edge"),
    },
}


def _traits(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with traits that the clause's resource does not have."""
    defined = raw["resources"].get(clause["resource"])
    if defined:
        yield from all_known(at, wanted, defined.get("traits", {}), "trait")


def _recent_trait(at: Pointer, value: Raw, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with a trait that the clause's resource does not have."""
    defined = raw["resources"].get(clause["resource"])
    if defined:
        yield from known((*at, "trait"), value["trait"], defined.get("traits", {}), "trait")


def _data(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with operations that there are not, or that are not about one thing."""
    yield from all_known(at, wanted, raw["operations"], "operation")
    for index, name in enumerate(wanted):
        if name in raw["operations"]:
            yield from about_one_thing((*at, index), name, clause, raw)


def _read_recent(value: Mapping[str, Json], _contract: Contract) -> Recent:
    return Recent(
        trait=str(value["trait"]), months=int(str(value["months"])), edge=str(value["edge"])
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligibility(RefusingKind):
    """The states in which a resource is listed by an operation, or is not."""

    name = "eligibility"
    purpose = Purpose.LIMIT
    limits = ("recent",)
    at_least_one_of = ("hides", "recent")

    operation: Operation = parameters.operation()
    resource: str = parameters.resource()
    hides: tuple[str, ...] = parameters.names(
        _TRAITS, key="hides", references=_traits, required=False
    )
    recent: Recent | None = parameters.parameter(
        _RECENT, _read_recent, key="recent", references=_recent_trait, required=False
    )
    withholds: tuple[Operation, ...] = parameters.parameter(
        ref("operations"),
        lambda value, contract: tuple(contract.operations[name] for name in value),
        key="withholds",
        references=_data,
        required=False,
        default=(),
    )
    grant: Operation | None = parameters.grant()
    zone: ZoneInfo | None = parameters.the_zone()
    granting: Operation | None = parameters.the_grant()

    def facets(self) -> tuple[Facet, ...]:
        """Return one or two facets for each hiding state, and three for recent use."""
        roster = needs(Capability.PSU, Capability.ROSTER)
        dated = roster | needs(Capability.ZONE)
        requirements = bound(self.operation, "key")
        pages = all_pages(self.contract, self.operation)
        descriptions = [
            (f"hides-{trait}", f"no {trait} {self.resource} is listed", roster, False)
            for trait in self.hides
        ]
        if self.recent:
            span = f"{self.recent.months} months"
            inside, outside = f"a day less than {span} ago", f"{span} and a day ago"
            descriptions += [
                ("lists-recent", f"every {self.resource} used yesterday is listed", roster, True),
                (
                    "lists-just-inside",
                    f"every {self.resource} last used {inside} is listed",
                    dated,
                    True,
                ),
                (
                    "hides-just-outside",
                    f"no {self.resource} last used {outside} is listed",
                    dated,
                    False,
                ),
            ]
            if on := _ON_THE_EDGE.get(self.recent.edge):
                word = "every" if on[1] else "no"
                what = f"{word} {self.resource} last used exactly {span} ago is listed"
                descriptions.append((on[0], what, dated, on[1]))
        out = [
            make_facet(
                id_, description, "states", needed, (*requirements, *(pages if listed else ()))
            )
            for id_, description, needed, listed in descriptions
        ]
        if self.recent and self.granting:
            ago = f"{self.recent.months} months and a day ago"
            what = f"no {self.resource} that a consent names is listed once last used {ago}"
            later = dated | consent(self.granting) | needs(Capability.CLOCK)
            out.append(make_facet(OUTDATED, what, "outdated", later, requirements))
        out += [
            Facet(
                id=f"withholds-{trait}",
                description=f"data of any {trait} {self.resource} is refused, whatever the consent",
                scenario=Scenario(id="data"),
                needs=roster | consent(self.grant),
                requires=tuple(each for of in self.withholds for each in _unlisted(of)),
                exercises=tuple(operation.id for operation in self.withholds),
            )
            for trait in (self.hides if self.withholds else ())
        ]
        return tuple(out)

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return [f"withholds-{trait}" for trait in self.hides]

    def facts(self) -> Facts:
        """Return how a resource is listed by its date of last use."""
        if self.recent is None:
            return NOTHING
        return Facts(listed={(self.resource, self.recent.trait): (self._lists,)})

    def _lists(self, thing: Owned, at: datetime) -> bool:
        """Whether a thing with such a date is certainly listed."""
        judged = self._recent(thing, at)
        return judged is not None and judged[1]

    def probe(self, scenario: Scenario) -> Script:
        """Own one resource in each state, and list them; or name each in a consent and read it."""
        if scenario.id == "data":
            yield from self._ask_for_data()
            return
        now = yield from steps.clock()
        if scenario.id == "outdated" and self.recent:
            yield from self._list_what_is_outdated(self.recent, now)
            return
        today = dates(now, self.zone)[-1]
        holdings = [Holding(resource=self.resource, traits={trait: True}) for trait in self.hides]
        if self.recent:
            edge, last = _edges(self.recent, today)
            holdings += [
                Holding(resource=self.resource, traits={self.recent.trait: str(day)})
                for day in (today - DAY, last + DAY, edge, edge - DAY)
            ]
        else:
            holdings.append(Holding(resource=self.resource))
        psu = yield from steps.arrange("psu", *holdings)
        plain = [thing.key for thing in psu.owns if self._plain(thing, psu.now)]
        call = Call(operation=self.operation.id, subject="psu")
        yield from steps.walk_whole(call, psu, plain, self.granting, steps.MOST_PAGES)

    def _list_what_is_outdated(self, recent: Recent, now: datetime) -> Script:
        """Let a consent name what is just inside, and list it some days later."""
        today = dates(now, self.zone)[-1]
        used = _edges(recent, today)[1] + DAY
        holdings = (
            Holding(resource=self.resource, traits={recent.trait: str(day)})
            for day in (used, today - DAY)
        )
        psu = yield from steps.arrange("psu", *holdings)
        call = Call(operation=self.operation.id, subject="psu")
        yield from steps.walk(call)
        yield from steps.grant(self.granting, "psu", *(thing.key for thing in psu.owns))
        yield from steps.clock(psu.now + OUTSIDE)
        yield from steps.walk(call)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge each complete page walk of a customer whose resources are known."""
        subjects = history.subjects
        narrowed = NarrowedLists.read(self.contract, history, self.granting)
        for walk in page_walks(history, self.operation.id, self.contract):
            subject = subjects.get(walk.call.subject)
            if subject is None or not walk.ended or not bare(walk.call, self.operation):
                continue
            at, consented = walk.pages[0].at, narrowed.of(walk)
            owned = [thing for thing in subject.owns if thing.resource == self.resource]
            keys = walk.keys
            plain = {thing.key for thing in owned if self._plain(thing, at)}
            # A list that has everything it may have is narrowed by no consent.
            whole = consented is None or plain <= keys
            for thing in owned:
                found = self._facet(thing, at)
                if thing.key in keys or whole or thing.key in (consented or ()):
                    control = not plain.isdisjoint(keys)
                    outdated = thing.key in (consented or ()) and self._plain(thing, subject.now)
                    for evidence in self._judge(
                        thing, walk, seen=thing.key in keys, control=control
                    ):
                        was = outdated and evidence.facet == "hides-just-outside"
                        yield replace(evidence, facet=OUTDATED) if was else evidence
                elif found is not None and not found[1] and not subject.fresh:
                    yield self._narrowed_out(thing, walk, found[0])
        yield from self._check_data(history)

    def _plain(self, thing: Owned, at: datetime) -> bool:
        """Whether a resource must be listed."""
        expected = self._facet(thing, at)
        return expected[1] if expected else not self._states(thing, at)

    def _states(self, thing: Owned, at: datetime) -> list[str]:
        """Return the states of a resource that may keep it from being listed."""
        allows = facts_of(self.contract).allows
        return [name for name, on in thing.traits.items() if on and not allows(thing, name, at)]

    def _facet(self, thing: Owned, at: datetime) -> tuple[str, bool] | None:
        """Return the facet that a resource tests, and whether it must be listed.

        None if it tests no facet, or is hidden for two reasons at once.
        """
        states = self._states(thing, at)
        hiding = [trait for trait in self.hides if thing.traits.get(trait) is True]
        recent = self._recent(thing, at)
        if self.recent and thing.traits.get(self.recent.trait):
            states = [state for state in states if state != self.recent.trait]
            if recent is None or (hiding and not recent[1]):
                return None
        if not states:
            return recent
        return (f"hides-{hiding[0]}", False) if len(states) == 1 and hiding == states else None

    def _recent(self, thing: Owned, at: datetime) -> tuple[str, bool] | None:
        """Return the facet and result for the date of last use; None if they are uncertain.

        If the time zone is unknown, they are certain only if all possible dates agree.
        """
        if self.recent is None:
            return None
        try:
            used = date.fromisoformat(str(thing.traits.get(self.recent.trait)))
        except ValueError:
            return None
        results = [_on(self.recent, used, today) for today in dates(at, self.zone)]
        listed = {None if result is None else result[1] for result in results}
        return results[-1] if len(listed) == 1 else None

    def _narrowed_out(self, thing: Owned, walk: PageWalk, facet: str) -> Evidence:
        """Return that one is not listed, by a list that may show consented things only."""
        state = ", ".join(f"{name}: {value}" for name, value in thing.traits.items())
        return Evidence(
            facet=facet,
            agreement=UNCLEAR,
            expected=f"the {self.resource} ({state}) to be left out",
            seen=f"it is not listed, {consents.EARLIER}",
            exchanges=walk.numbers,
            variation=state,
        )

    def _judge(
        self, thing: Owned, walk: PageWalk, *, seen: bool, control: bool
    ) -> Iterator[Evidence]:
        expected = self._facet(thing, walk.pages[0].at)
        if expected is None:
            return
        facet, listed = expected
        if not control and facet != "lists-recent":
            return
        state = ", ".join(f"{name}: {value}" for name, value in thing.traits.items())
        unclear = walk.has_unnamed_items and not seen
        evidence = Evidence(
            facet=facet,
            agreement=UNCLEAR if unclear else AGREES if seen is listed else DISAGREES,
            expected=f"the {self.resource} ({state}) to be {'listed' if listed else 'hidden'}",
            seen="it is listed" if seen else "it is not listed",
            exchanges=walk.numbers,
            variation=state,
        )
        yield walk.showing(evidence, lambda item: item.key == thing.key, "key")

    # -- data of what is not listed: withheld, even if a consent names it ------------------
    def _ask_for_data(self) -> Script:
        """Ask for the data of a plain one, then of each hidden one once a consent names it."""
        today = (yield from steps.clock()).date()
        entries = steps.days_before(today, 1, 2)
        hidden = (
            Holding(resource=self.resource, traits={trait: True}, entries=entries)
            for trait in self.hides
        )
        psu = yield from steps.arrange(
            "psu", Holding(resource=self.resource, entries=entries), *hidden
        )
        plain_one, *others = (thing.key for thing in psu.owns)
        yield from steps.grant(self.grant, "psu", plain_one)
        calls = [steps.ask(operation, "psu", plain_one) for operation in self.withholds]
        for ask in calls:
            yield from steps.send(ask)
        for trait, key in zip(self.hides, others, strict=True):
            state = f"one that is {trait}"
            abouts = [
                replace(ask, arguments=steps.arguments(operation, key), variation=f"about {state}")
                for operation, ask in zip(self.withholds, calls, strict=True)
            ]
            if self.grant:
                for about in abouts:
                    yield from steps.send(about)
                naming = Call(
                    operation=self.grant.id,
                    subject="psu",
                    arguments={self.grant.grants or "": [plain_one, key]},
                    variation=f"naming {state}",
                )
                yield from steps.consent(self.grant, naming)
            for about in abouts:
                yield from steps.send(about)

    def _check_data(self, history: History) -> Iterator[Evidence]:
        """Judge every call about a hidden one that a consent named, taken or not.

        What was served before, without that consent, is the business of the consent's scope.
        """
        asked = list(self._asked(history))
        over_quota = perhaps_over_quota(self.contract, history)
        controlled = {
            _manner(exchange.call)
            for exchange, owned, _ in asked
            if exchange.accepted and exchange.items and not self._states(owned, exchange.at)
        }
        refused = set[tuple[object, ...]]()
        for exchange, owned, named in asked:
            states = self._states(owned, exchange.at)
            call = exchange.call
            if _manner(call) not in controlled or len(states) != 1:
                continue
            same = (*question(call), call.present)
            if self.grant and not named:
                withheld = exchange.refused and not exchange.items
                refused |= {same} if withheld else set[tuple[object, ...]]()
            elif states[0] in self.hides and (same in refused or self.grant is None):
                why = f"the {self.resource} is {states[0]}"
                # The controls are asked in the same way, so a call with days is judged like others.
                evidence = must_be_refused(f"withholds-{states[0]}", exchange, why)
                if counts_unattended(evidence, exchange, over_quota):
                    yield evidence

    def _asked(self, history: History) -> Iterator[tuple[Exchange, Owned, bool]]:
        """Yield each call about an own thing, the thing, and whether a consent named it before."""
        subjects, named = history.subjects, set[tuple[str, str]]()
        operations = {thing.id: thing for thing in self.withholds}
        for exchange in history.exchanges:
            call = exchange.call
            if self.grant and call.operation == self.grant.id and plain(call):
                named |= {(call.subject, key) for key in consented_keys(call, self.grant)}
            operation, subject = operations.get(call.operation), subjects.get(call.subject)
            if operation is None or subject is None or not bare_or_ranged(call, operation):
                continue
            owned = subject.owned(call.arguments.get(operation.about or ""))
            if owned is not None and owned.resource == self.resource:
                yield exchange, owned, (call.subject, owned.key) in named


def _edges(recent: Recent, today: date) -> tuple[date, date]:
    """Return the first and the last day that may be the same day some months earlier.

    They differ where the earlier month is too short: it is its last day, or runs into the next.
    """
    edge = months_before(today, recent.months)
    return edge, edge + (today.day - edge.day) * DAY


def _on(recent: Recent, used: date, today: date) -> tuple[str, bool] | None:
    edge, last = _edges(recent, today)
    if edge < last and edge <= used <= last:
        return None
    if used == edge:
        return _ON_THE_EDGE.get(recent.edge)
    if used < edge:
        return "hides-just-outside", False
    return ("lists-recent" if today - used <= DAY else "lists-just-inside"), True


def _unlisted(operation: Operation) -> tuple[BindingRequirement, ...]:
    silent = Standing.NOT_APPLICABLE
    return bound(operation, "unlisted", operation.about or "", if_missing=silent)


def _manner(call: Call) -> tuple[str, str, bool, frozenset[str]]:
    """Return who asks by which operation and with what, and whether the customer is there."""
    return call.subject, call.operation, call.present, frozenset(call.arguments)
