"""`eligibility`: which of the things that a customer owns are listed, by their state.

Each hidden state is a facet; recent use has three: listed when recent, still
listed just inside the edge, hidden just outside. Months are calendar months of
the bank's zone. The edge day itself is judged only where the contract says so.

What is hidden may also be withheld: its data are refused, even if a consent names it. The
control is the same question about a plain one, answered in the trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from assay.contract.files.document import Finding, Pointer
from assay.contract.model import Capability, Contract, Json, Operation
from assay.history import Call, Exchange, History, Holding, Owned
from assay.judging.verdict import Evidence, Standing
from assay.rules import parameters, steps
from assay.rules.evidence import AGREES, DISAGREES, UNCLEAR, must_be_refused
from assay.rules.parameters import Raw, about_one_thing, all_known, known, ref
from assay.rules.queries import PageWalk, bare, consented_keys, page_walks, plain, question
from assay.rules.rule import BindingRequirement, Facet, Kind, Scenario, Script, consent, needs
from assay.rules.state.calendar import dates, months_before

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    """The trait with the date of last use, and how far back it may lie."""

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
class Eligibility(Kind):
    """The states in which a resource is listed by an operation, or is not."""

    name = "eligibility"
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

    def facets(self) -> tuple[Facet, ...]:
        """Three facets for recent use, one or two for each state that hides."""
        roster = needs(Capability.PSU, Capability.ROSTER)
        dated = roster | needs(Capability.ZONE)
        wants = (BindingRequirement(operation=self.operation.id, feature="key"),)
        asked = [
            (f"hides-{trait}", f"one that is {trait} is not listed", roster) for trait in self.hides
        ]
        if self.recent:
            span = f"{self.recent.months} months"
            asked += [
                ("lists-recent", "one used yesterday is listed", roster),
                ("lists-just-inside", f"one last used {span} ago less a day is listed", dated),
                ("hides-just-outside", f"one last used {span} and a day ago is not listed", dated),
            ]
        out = [
            Facet(
                id=id_,
                description=asks,
                scenario=Scenario(id="states"),
                needs=needed,
                requires=wants,
            )
            for id_, asks, needed in asked
        ]
        out += [
            Facet(
                id=f"withholds-{trait}",
                description=f"data of one that is {trait} are refused, whatever the consent",
                scenario=Scenario(id="data"),
                needs=roster | consent(self.grant),
                requires=tuple(map(_unlisted, self.withholds)),
            )
            for trait in (self.hides if self.withholds else ())
        ]
        return tuple(out)

    def listed_by_trait(self, thing: Owned, at: datetime) -> Mapping[str, bool]:
        """Return whether the date of a thing's last use lets it be listed."""
        if (
            self.recent is None
            or thing.resource != self.resource
            or self.recent.trait not in thing.traits
        ):
            return {}
        judged = _recent(self, thing, at)
        return {self.recent.trait: judged is not None and judged[1]}

    def probe(self, scenario: Scenario) -> Script:
        """Own one of each state, and list; or name each in a consent and ask for its data."""
        if scenario.id == "data":
            yield from _data_of_each(self)
            return
        now = yield from steps.clock()
        today = dates(now, self.zone)[-1]
        holdings = [Holding(resource=self.resource, traits={trait: True}) for trait in self.hides]
        if self.recent:
            edge = months_before(today, self.recent.months)
            holdings += [
                Holding(resource=self.resource, traits={self.recent.trait: str(day)})
                for day in (today - DAY, edge + DAY, edge, edge - DAY)
            ]
        else:
            holdings.append(Holding(resource=self.resource))
        yield from steps.arrange("psu", *holdings)
        yield from steps.walk(Call(operation=self.operation.id, subject="psu"))

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge each whole walk of a customer of whom everything is known."""
        subjects = history.subjects
        for walk in page_walks(history, self.operation.id):
            subject = subjects.get(walk.call.subject)
            if subject is None or not walk.ended or not bare(walk.call, self.operation):
                continue
            at = walk.pages[0].at
            owned = [one for one in subject.owns if one.resource == self.resource]
            keys = walk.keys
            control = any(one.key in keys for one in owned if _plain(self, one, at))
            for one in owned:
                yield from _judge(self, one, walk, seen=one.key in keys, control=control)
        yield from _withheld(self, history)


def _plain(p: Eligibility, one: Owned, at: datetime) -> bool:
    """Whether nothing at all speaks against listing this one."""
    found = _facet(p, one, at)
    return found[1] if found else not any(one.traits.values())


def _facet(p: Eligibility, one: Owned, at: datetime) -> tuple[str, bool] | None:
    """Return the facet on which an owned thing bears, and whether it must be listed.

    None where it bears on none, or is left out for two reasons at once.
    """
    states = [name for name, value in one.traits.items() if value]
    hiding = [trait for trait in p.hides if one.traits.get(trait) is True]
    recent = _recent(p, one, at)
    if p.recent and p.recent.trait in states:
        states.remove(p.recent.trait)
        if recent is None or (hiding and not recent[1]):
            return None
    if not states:
        return recent
    return (f"hides-{hiding[0]}", False) if len(states) == 1 and hiding == states else None


def _recent(p: Eligibility, one: Owned, at: datetime) -> tuple[str, bool] | None:
    """Return what the date of last use asks for; None where nobody can tell.

    With no zone known it is told only where all dates of today agree.
    """
    if p.recent is None:
        return None
    try:
        used = date.fromisoformat(str(one.traits.get(p.recent.trait)))
    except ValueError:
        return None
    found = [_on(p.recent, used, today) for today in dates(at, p.zone)]
    asked = {None if one is None else one[1] for one in found}
    return found[-1] if len(asked) == 1 else None


def _on(recent: Recent, used: date, today: date) -> tuple[str, bool] | None:
    edge = months_before(today, recent.months)
    if used == edge:
        return {
            "included": ("lists-just-inside", True),
            "excluded": ("hides-just-outside", False),
        }.get(recent.edge)
    if used < edge:
        return "hides-just-outside", False
    return ("lists-recent" if today - used <= DAY else "lists-just-inside"), True


def _judge(
    p: Eligibility, one: Owned, walk: PageWalk, *, seen: bool, control: bool
) -> Iterator[Evidence]:
    found = _facet(p, one, walk.pages[0].at)
    if found is None:
        return
    facet, listed = found
    if not control and facet != "lists-recent":
        return
    state = ", ".join(f"{name}: {value}" for name, value in one.traits.items())
    unclear = walk.has_unnamed_items and not seen
    yield Evidence(
        facet=facet,
        agreement=UNCLEAR if unclear else AGREES if seen is listed else DISAGREES,
        expected=f"the {p.resource} ({state}) to be {'listed' if listed else 'left out'}",
        seen="it is listed" if seen else "it is not listed",
        exchanges=walk.numbers,
        variation=state,
    )


def _unlisted(operation: Operation) -> BindingRequirement:
    name, silent = operation.about or "", Standing.NOT_APPLICABLE
    return BindingRequirement(
        operation=operation.id, feature="unlisted", name=name, if_missing=silent
    )


def _data_of_each(p: Eligibility) -> Script:
    """Ask for the data of a plain one, then of each hidden one once a consent names it."""
    today = (yield from steps.clock()).date()
    entries = steps.days_before(today, 1, 2)
    hidden = (Holding(resource=p.resource, traits={one: True}, entries=entries) for one in p.hides)
    psu = yield from steps.arrange("psu", Holding(resource=p.resource, entries=entries), *hidden)
    plain_one, *others = (one.key for one in psu.owns)
    yield from steps.grant(p.grant, "psu", plain_one)
    asks = [
        Call(operation=operation.id, subject="psu", arguments=steps.arguments(operation, plain_one))
        for operation in p.withholds
    ]
    for ask in asks:
        yield from steps.send(ask)
    for trait, key in zip(p.hides, others, strict=True):
        state = f"one that is {trait}"
        abouts = [
            replace(ask, arguments=steps.arguments(operation, key), variation=f"about {state}")
            for operation, ask in zip(p.withholds, asks, strict=True)
        ]
        if p.grant:
            for about in abouts:
                yield from steps.send(about)
            yield from steps.send(
                Call(
                    operation=p.grant.id,
                    subject="psu",
                    arguments={p.grant.grants or "": [plain_one, key]},
                    variation=f"naming {state}",
                )
            )
        for about in abouts:
            yield from steps.send(about)


def _withheld(p: Eligibility, history: History) -> Iterator[Evidence]:
    """Judge every call about a hidden one that a consent named, taken or not.

    What was served before, without that consent, is the business of the consent's scope.
    """
    asked = list(_asked(p, history))
    controlled = {
        (exchange.call.subject, exchange.call.operation)
        for exchange, owned, _ in asked
        if exchange.accepted and exchange.items and not any(owned.traits.values())
    }
    refused = set[tuple[str, ...]]()
    for exchange, owned, named in asked:
        states = [name for name, value in owned.traits.items() if value]
        call = exchange.call
        if (call.subject, call.operation) not in controlled or len(states) != 1:
            continue
        if p.grant and not named:
            withheld = exchange.refused and not exchange.items
            refused |= {question(call)} if withheld else set[tuple[str, ...]]()
        elif states[0] in p.hides and (question(call) in refused or p.grant is None):
            why = f"the {p.resource} is {states[0]}"
            yield must_be_refused(f"withholds-{states[0]}", exchange, why)


def _asked(p: Eligibility, history: History) -> Iterator[tuple[Exchange, Owned, bool]]:
    """Yield each call about an own thing, the thing, and whether a consent named it before."""
    subjects, named = history.subjects, set[tuple[str, str]]()
    operations = {one.id: one for one in p.withholds}
    for exchange in history.exchanges:
        call = exchange.call
        if p.grant and call.operation == p.grant.id and plain(call):
            named |= {(call.subject, key) for key in consented_keys(call, p.grant)}
        operation, subject = operations.get(call.operation), subjects.get(call.subject)
        if operation is None or subject is None or not call.present or not bare(call, operation):
            continue
        owned = subject.owned(call.arguments.get(operation.about or ""))
        if owned is not None and owned.resource == p.resource:
            yield exchange, owned, (call.subject, owned.key) in named
