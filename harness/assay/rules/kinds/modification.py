"""`modification`: requests of some modes can be changed, those of others cannot, and changes last.

An accepted change must also be read back, and the request must be carried out as changed.
The target decides which arguments can be changed, so changes count as refused only if none
was accepted while the request was certainly open. The control of a refusal is the same
change, accepted, of a request that can be changed.

The TPP: it changes only requests in a changeable mode that are not known to be carried out.
Requests from before the history, or that ended in another way, are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.contract.model import Capability
from assay.history import Exchange, History, State, Subject
from assay.judging.verdict import Evidence
from assay.rules.lifecycle import request_queries, request_steps, tracker
from assay.rules.lifecycle.changes import CARRIED, PERSISTS, Change, ChangeTracker, Phase, asked
from assay.rules.lifecycle.parameters import (
    changeable_arguments,
    deferred_modes,
    modes,
    the_request,
)
from assay.rules.lifecycle.tracker import Tracker
from assay.rules.queries import AGREES, DISAGREES, UNCLEAR, describe
from assay.rules.rule import (
    BindingRequirement,
    Facet,
    Kind,
    Scenario,
    Script,
    TppFacet,
    needs,
    scenario_of,
)
from assay.rules.steps import Part, send
from assay.rules.tpp_evidence import BROKEN, KEPT, say

SIGNED, DONE = "signed-accepted", "done-refused"
#: How many days later than the tested request its control is due.
BEYOND = 7


#: The TPP's obligation.
TPP_FACET = "changeable-only"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModificationScenario(Scenario):
    """Changes of a request that must be accepted or `refused`.

    If `mode` is None, the request is in the first changeable mode.
    """

    mode: str | None = None
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Modification(Kind):
    """The modes whose requests can or cannot be changed, and the arguments that can."""

    name = "modification"
    applies_to = ("changes",)

    lifecycle: tracker.Lifecycle = the_request()
    only: tuple[str, ...] = deferred_modes(key="only")
    never: tuple[str, ...] = modes(key="never", schema="words", required=True)
    fields: tuple[str, ...] = changeable_arguments(key="fields")

    @property
    def day(self) -> str | None:
        """The argument with the day of the request."""
        return self.lifecycle.create.due.argument if self.lifecycle.create.due else None

    @property
    def plain(self) -> str | None:
        """A changeable argument that requests in every mode have."""
        return next((one for one in self.fields if one != self.day), None)

    @property
    def closed(self) -> tuple[str, ...]:
        """The modes whose requests must refuse a change that can be tested."""
        return self.never if self.plain else ()

    @property
    def once(self) -> str | None:
        """A mode whose requests cannot be changed and are carried out when signed."""
        return next((one for one in self.closed if not self.lifecycle.due(one)), None)

    def changeable_modes(self, request: str) -> tuple[str, ...] | None:
        """Return the modes in which the request of this clause can be changed."""
        return self.only if request == self.lifecycle.request.id else None

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for each mode, and those for reading, signing and execution."""
        if self.lifecycle.change is None:
            return ()
        sign, day = needs(Capability.SCA), needs(Capability.SCA, Capability.CLOCK)
        only = {mode: ModificationScenario(id=f"{mode}:accepted", mode=mode) for mode in self.only}
        out = [
            _facet(self, f"{mode}-accepted", f"{mode} requests can be changed", tried)
            for mode, tried in only.items()
        ]
        asks = "an accepted change is read back"
        out.append(_facet(self, PERSISTS, asks, only[self.only[0]]))
        for mode in self.closed:
            tried = ModificationScenario(id=f"{mode}:refused", mode=mode, refused=True)
            asks = f"{mode} requests cannot be changed"
            out.append(_facet(self, f"{mode}-refused", asks, tried))
        asks = "a signed request can be changed before its day"
        out.append(_facet(self, SIGNED, asks, ModificationScenario(id="signed"), more=sign))
        if self.plain:
            asks = "a request cannot be changed once it is carried out"
            tried = ModificationScenario(id="done", mode=self.once, refused=True)
            out.append(_facet(self, DONE, asks, tried, more=day))
        asks = "a request is carried out as last changed"
        carried = day | needs(Capability.EFFECTS)
        last = ModificationScenario(id="carried-out")
        return (*out, _facet(self, CARRIED, asks, last, more=carried))

    def probe(self, scenario: Scenario) -> Script:
        """Request changes, one argument at a time."""
        tried = scenario_of(scenario, ModificationScenario)
        psu = yield from request_steps.customer(self.lifecycle)
        first = self.only[0]
        if tried.id == "signed":
            made = yield from _made(self, psu, first, sign=True)
            yield from _change(self, psu, made, self.fields, days=request_steps.AHEAD + 1)
            yield from request_steps.read(self.lifecycle, made)
        elif tried.id == "done":
            yield from _probe_done(self, psu)
        elif tried.id == "carried-out":
            made = yield from _made(self, psu, first)
            yield from _change(self, psu, made, self.fields, days=request_steps.AHEAD + 1)
            yield from request_steps.sign(made)
            made = yield from _made(self, psu, first, sign=True)
            yield from _change(self, psu, made, self.fields, days=request_steps.AHEAD + 2)
            yield from request_steps.later(psu, request_steps.AHEAD + 2)
            yield from request_steps.inquire()
        elif tried.refused:
            control = yield from _made(self, psu, first)
            made = yield from _made(self, psu, tried.mode)
            yield from _change(self, psu, control, (self.plain,))
            yield from _change(self, psu, made, (self.plain,), variation=f"it is {tried.mode}")
        else:
            made = yield from _made(self, psu, tried.mode)
            for name in self.fields:
                yield from _change(self, psu, made, (name,), days=request_steps.AHEAD + 1)
                yield from request_steps.read(self.lifecycle, made)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every change, and the later state of the accepted ones."""
        book = tracker.Tracker(lifecycle=self.lifecycle)
        held = ChangeTracker(lifecycle=self.lifecycle, modes=self.only, fields=self.fields)
        changes: list[Change] = []
        opened: dict[str | None, int] = {}
        for event in history.events:
            change = asked(self.lifecycle, book, event)
            if change is not None:
                changes.append(change)
            held.before(book, event, change)
            request = book.note(event)
            held.after(event, request)
            for one in request_queries.told(book, event, request):
                if isinstance(event, Exchange) and one.state is State.OPEN:
                    opened[one.key] = event.n
        apart = {one.key for one in request_queries.apart(book)}
        yield from (evidence for key, evidence in held.found if key in apart)
        changes = [one for one in changes if one.request.key in apart]
        yield from _must_be_taken(self, changes, opened)
        yield from _must_be_refused(self, changes)

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description=f"only {' and '.join(self.only)} requests are changed, before they are carried out",
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every change of a request that was made in this history."""
        book = Tracker(lifecycle=self.lifecycle)
        for event in history.events:
            change = asked(self.lifecycle, book, event)
            if change is not None:
                yield from _judge(self, change)
            book.note(event)


def _facet(
    clause: Modification,
    id_: str,
    asks: str,
    tried: ModificationScenario,
    *,
    more: frozenset[Capability] = frozenset(),
) -> Facet:
    create, change = (
        clause.lifecycle.create.id,
        clause.lifecycle.change.id if clause.lifecycle.change else "",
    )
    modes = [clause.only[0]] if tried.mode not in clause.only else []
    modes += [tried.mode] if tried.mode else []
    approval = (BindingRequirement(operation=create, feature="approval"),) if more else ()
    changed = (clause.plain,) if tried.refused else clause.fields
    return Facet(
        id=id_,
        description=asks,
        scenario=tried,
        needs=needs(Capability.PSU, Capability.WRITE) | more,
        requires=(
            *clause.lifecycle.state(),
            *approval,
            *(BindingRequirement(operation=create, feature="mode", name=mode) for mode in modes),
            *(
                BindingRequirement(
                    operation=change,
                    feature="argument" if name == clause.day else "other",
                    name=name,
                )
                for name in changed
                if name
            ),
        ),
    )


def _probe_done(clause: Modification, psu: Subject) -> Script:
    made = yield from _made(clause, psu, clause.only[0], sign=True)
    control = yield from _made(clause, psu, clause.only[0], ahead=request_steps.AHEAD + BEYOND)
    done = [made]
    if clause.once:
        done.append((yield from _made(clause, psu, clause.once, sign=True)))
    yield from request_steps.later(psu, request_steps.AHEAD)
    yield from _change(clause, psu, control, (clause.plain,))
    for one in done:
        yield from request_steps.read(clause.lifecycle, one)
        yield from _change(clause, psu, one, (clause.plain,), variation="it was carried out")


def _made(
    clause: Modification,
    psu: Subject,
    mode: str | None,
    *,
    sign: bool = False,
    ahead: int = request_steps.AHEAD,
) -> Part[Exchange]:
    made = yield from send(request_steps.request(clause.lifecycle, psu, mode, ahead=ahead))
    if sign:
        yield from request_steps.sign(made)
    return made


def _change(
    clause: Modification,
    psu: Subject,
    made: Exchange,
    names: Sequence[str | None],
    *,
    days: int = 0,
    variation: str = "",
) -> Part[None]:
    """Change each argument in turn: to another day, or to the target file's other value."""
    due = request_steps.request(clause.lifecycle, psu, clause.only[0], ahead=days).arguments
    for name in names:
        moved = {name: due[name]} if name and name == clause.day else {}
        call = request_steps.about(clause.lifecycle.change, made, **moved)
        if call is not None and name is not None:
            varied = () if moved else (name,)
            yield from send(replace(call, varied=varied, variation=variation))


def _must_be_taken(
    clause: Modification, changes: Sequence[Change], opened: Mapping[str | None, int]
) -> Iterator[Evidence]:
    """Judge the changes of each request together, before and after it was signed."""
    groups: dict[tuple[str | None, Phase], list[Change]] = {}
    for one in changes:
        early = one.ahead or one.phase is Phase.UNSIGNED
        telling = (
            early if one.exchange.accepted else one.untouched and one.ahead and _valid(clause, one)
        )
        if (
            telling
            and one.request.mode in clause.only
            and one.phase in (Phase.UNSIGNED, Phase.SIGNED)
        ):
            groups.setdefault((one.request.key, one.phase), []).append(one)
    for (key, phase), group in groups.items():
        taken = [one for one in group if one.exchange.accepted]
        refused = {
            name for one in group if request_queries.said_no(one.exchange) for name in one.new
        }
        last = group[-1].exchange
        closed = refused >= set(clause.fields) and opened.get(key, 0) > last.n
        yield Evidence(
            facet=SIGNED if phase is Phase.SIGNED else f"{group[0].request.mode}-accepted",
            agreement=AGREES if taken else DISAGREES if closed else UNCLEAR,
            expected="a change before the day of the request to be accepted",
            seen=describe((taken or group)[0].exchange),
            exchanges=tuple(sorted({n for one in taken or group for n in one.numbers})),
        )


def _valid(clause: Modification, change: Change) -> bool:
    """Whether a change sets one argument to a value that is certainly valid."""
    given = {*change.exchange.call.varied, clause.day}
    return len(change.new) == 1 and change.new.keys() <= given


def _must_be_refused(clause: Modification, changes: Sequence[Change]) -> Iterator[Evidence]:
    """Judge the changes of requests that can never, or no longer, be changed."""
    taken = {
        one.like
        for one in changes
        if one.request.mode in clause.only and one.phase is not Phase.DONE and one.exchange.accepted
    }
    for one in changes:
        mode, controlled = one.request.mode, one.like in taken and one.untouched
        if mode in clause.never:
            alone = controlled and one.phase is Phase.UNSIGNED
            why = f"{mode} requests cannot be changed"
            yield from _refused(f"{mode}-refused", one, why, controlled=alone)
        if one.phase is Phase.DONE and mode in (*clause.only, *clause.never):
            alone = one.like in taken and mode in clause.only
            yield from _refused(DONE, one, "it was carried out", controlled=alone)


def _refused(facet: str, change: Change, why: str, *, controlled: bool) -> Iterator[Evidence]:
    """Judge one change; a refusal counts only with its control, and for its content."""
    exchange = change.exchange
    if exchange.refused and not (controlled and request_queries.said_no(exchange)):
        return
    yield Evidence(
        facet=facet,
        agreement=DISAGREES if exchange.accepted else AGREES if exchange.refused else UNCLEAR,
        expected=f"a refusal: {why}",
        seen=describe(exchange),
        exchanges=change.numbers,
        variation=exchange.call.variation,
    )


def _judge(clause: Modification, change: Change) -> Iterator[Evidence]:
    request, exchange = change.request, change.exchange
    owed = f"only {' and '.join(clause.only)} requests are changed, before they are carried out"
    told = request.told or request.made.n
    if request.mode in clause.never:
        yield say(TPP_FACET, BROKEN, exchange, owed, f"it is {request.mode}", request.made.n)
    elif request.mode in clause.only and request.done:
        yield say(TPP_FACET, BROKEN, exchange, owed, "it was carried out", request.made.n, told)
    elif request.mode in clause.only and change.untouched:
        yield say(TPP_FACET, KEPT, exchange, owed, f"it is {request.mode}", request.made.n)
