"""`modification`: requests of some modes can be changed, those of others cannot, and changes last.

Accepted is not yet done: an accepted change must be read back, and be what is carried out
in the end. The target decides which arguments can be changed, so a request counts as closed
to changes only if no change of it was accepted while it was surely open. The control of a
refusal is the same change of a request that can be changed, accepted.

The TPP: it changes only requests of the right mode that are not known to be carried out.
Requests that were made before the history began, or that ended otherwise, are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.contract.model import Capability
from assay.history import Exchange, History, State, Subject
from assay.judging.verdict import Evidence
from assay.rules.evidence import AGREES, DISAGREES, UNCLEAR, describe_answer, tpp_evidence
from assay.rules.lifecycle import request_queries, request_steps, tracker
from assay.rules.lifecycle.changes import CARRIED, PERSISTS, Change, ChangeTracker, Phase, change_of
from assay.rules.lifecycle.parameters import (
    changeable_arguments,
    deferred_modes,
    modes,
    the_request,
)
from assay.rules.lifecycle.tracker import Tracker
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

SIGNED, DONE = "signed-accepted", "done-refused"
#: A control that outlives the request beside it is put off by so many days more.
BEYOND = 7


#: The TPP's obligation.
TPP_FACET = "changeable-only"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModificationScenario(Scenario):
    """Changes of a request in a mode, that must be accepted or `refused`.

    The `mode` is None where it is the first that can be changed.
    """

    mode: str | None = None
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Modification(Kind):
    """The modes whose requests can be changed or cannot, and the arguments that can."""

    name = "modification"
    applies_to = ("changes",)

    lifecycle: tracker.Lifecycle = the_request()
    only: tuple[str, ...] = deferred_modes(key="only")
    never: tuple[str, ...] = modes(key="never", schema="words", required=True)
    fields: tuple[str, ...] = changeable_arguments(key="fields")

    @property
    def day(self) -> str | None:
        """The argument that says the day."""
        return self.lifecycle.create.due.argument if self.lifecycle.create.due else None

    @property
    def plain(self) -> str | None:
        """What a request in any mode has, and can be asked to change."""
        return next((one for one in self.fields if one != self.day), None)

    @property
    def closed(self) -> tuple[str, ...]:
        """The modes of which a change can be asked that must be refused."""
        return self.never if self.plain else ()

    @property
    def once(self) -> str | None:
        """A mode that cannot be changed, and is carried out as soon as it is signed."""
        return next((one for one in self.closed if not self.lifecycle.deferred(one)), None)

    def changeable_modes(self, request: str) -> tuple[str, ...] | None:
        """Return the modes in which the request of this clause can be changed."""
        return self.only if request == self.lifecycle.request.id else None

    def facets(self) -> tuple[Facet, ...]:
        """One facet a mode; and after signing, after the day, what is read, what is done."""
        if self.lifecycle.change is None:
            return ()
        sign, day = needs(Capability.SCA), needs(Capability.SCA, Capability.CLOCK)
        only = {mode: ModificationScenario(id=f"{mode}:accepted", mode=mode) for mode in self.only}
        out = [
            _facet(self, f"{mode}-accepted", f"{mode} requests can be changed", tried)
            for mode, tried in only.items()
        ]
        asks = "what was accepted as a change is read back"
        out.append(_facet(self, PERSISTS, asks, only[self.only[0]]))
        for mode in self.closed:
            tried = ModificationScenario(id=f"{mode}:refused", mode=mode, refused=True)
            asks = f"{mode} requests cannot be changed"
            out.append(_facet(self, f"{mode}-refused", asks, tried))
        asks = "it can be changed once signed, before its day"
        out.append(_facet(self, SIGNED, asks, ModificationScenario(id="signed"), more=sign))
        if self.plain:
            asks = "it cannot be changed once it is carried out"
            tried = ModificationScenario(id="done", mode=self.once, refused=True)
            out.append(_facet(self, DONE, asks, tried, more=day))
        asks = "what is carried out is what was last accepted as a change"
        carried = day | needs(Capability.EFFECTS)
        last = ModificationScenario(id="carried-out")
        return (*out, _facet(self, CARRIED, asks, last, more=carried))

    def probe(self, scenario: Scenario) -> Script:
        """Ask for changes, one argument at a time."""
        tried = scenario_of(scenario, ModificationScenario)
        psu = yield from request_steps.customer(self.lifecycle)
        first = self.only[0]
        if tried.id == "signed":
            made = yield from _made(self, psu, first, sign=True)
            yield from _change(self, psu, made, self.fields, days=request_steps.DAYS_AHEAD + 1)
            yield from request_steps.read(self.lifecycle, made)
        elif tried.id == "done":
            yield from _probe_done(self, psu)
        elif tried.id == "carried-out":
            made = yield from _made(self, psu, first)
            yield from _change(self, psu, made, self.fields, days=request_steps.DAYS_AHEAD + 1)
            yield from request_steps.sign(made)
            made = yield from _made(self, psu, first, sign=True)
            yield from _change(self, psu, made, self.fields, days=request_steps.DAYS_AHEAD + 2)
            yield from request_steps.wait_days(psu, request_steps.DAYS_AHEAD + 2)
            yield from request_steps.inquire()
        elif tried.refused:
            control = yield from _made(self, psu, first)
            made = yield from _made(self, psu, tried.mode)
            yield from _change(self, psu, control, (self.plain,))
            yield from _change(self, psu, made, (self.plain,), variation=f"it is {tried.mode}")
        else:
            made = yield from _made(self, psu, tried.mode)
            for name in self.fields:
                yield from _change(self, psu, made, (name,), days=request_steps.DAYS_AHEAD + 1)
                yield from request_steps.read(self.lifecycle, made)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every change that was asked for, and what became of those that were accepted."""
        book = tracker.Tracker(lifecycle=self.lifecycle)
        held = ChangeTracker(lifecycle=self.lifecycle, modes=self.only, fields=self.fields)
        changes: list[Change] = []
        opened: dict[str | None, int] = {}
        for event in history.events:
            change = change_of(self.lifecycle, book, event)
            if change is not None:
                changes.append(change)
            held.before(book, event, change)
            request = book.note(event)
            held.after(event, request)
            for one in request_queries.requests_shown(book, event, request):
                if isinstance(event, Exchange) and one.state is State.OPEN:
                    opened[one.key] = event.n
        apart = {one.key for one in request_queries.with_own_key(book)}
        yield from (evidence for key, evidence in held.evidence if key in apart)
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
            change = change_of(self.lifecycle, book, event)
            if change is not None:
                yield from _judge(self, change)
            book.note(event)


def _facet(
    p: Modification,
    id_: str,
    asks: str,
    tried: ModificationScenario,
    *,
    more: frozenset[Capability] = frozenset(),
) -> Facet:
    create, change = p.lifecycle.create.id, p.lifecycle.change.id if p.lifecycle.change else ""
    modes = [p.only[0]] if tried.mode not in p.only else []
    modes += [tried.mode] if tried.mode else []
    approval = (BindingRequirement(operation=create, feature="approval"),) if more else ()
    changed = (p.plain,) if tried.refused else p.fields
    return Facet(
        id=id_,
        description=asks,
        scenario=tried,
        needs=needs(Capability.PSU, Capability.WRITE) | more,
        requires=(
            *p.lifecycle.state_requirement(),
            *approval,
            *(BindingRequirement(operation=create, feature="mode", name=mode) for mode in modes),
            *(
                BindingRequirement(
                    operation=change, feature="argument" if name == p.day else "other", name=name
                )
                for name in changed
                if name
            ),
        ),
    )


def _probe_done(p: Modification, psu: Subject) -> Script:
    made = yield from _made(p, psu, p.only[0], sign=True)
    control = yield from _made(p, psu, p.only[0], ahead=request_steps.DAYS_AHEAD + BEYOND)
    done = [made]
    if p.once:
        done.append((yield from _made(p, psu, p.once, sign=True)))
    yield from request_steps.wait_days(psu, request_steps.DAYS_AHEAD)
    yield from _change(p, psu, control, (p.plain,))
    for one in done:
        yield from request_steps.read(p.lifecycle, one)
        yield from _change(p, psu, one, (p.plain,), variation="it was carried out")


def _made(
    p: Modification,
    psu: Subject,
    mode: str | None,
    *,
    sign: bool = False,
    ahead: int = request_steps.DAYS_AHEAD,
) -> Part[Exchange]:
    made = yield from send(request_steps.request(p.lifecycle, psu, mode, ahead=ahead))
    if sign:
        yield from request_steps.sign(made)
    return made


def _change(
    p: Modification,
    psu: Subject,
    made: Exchange,
    names: Sequence[str | None],
    *,
    days: int = 0,
    variation: str = "",
) -> Part[None]:
    """Ask to change one argument after the other: to another day, or the profile's value."""
    due = request_steps.request(p.lifecycle, psu, p.only[0], ahead=days).arguments
    for name in names:
        moved = {name: due[name]} if name and name == p.day else {}
        call = request_steps.call_about(p.lifecycle.change, made, **moved)
        if call is not None and name is not None:
            varied = () if moved else (name,)
            yield from send(replace(call, varied=varied, variation=variation))


def _must_be_taken(
    p: Modification, changes: Sequence[Change], opened: Mapping[str | None, int]
) -> Iterator[Evidence]:
    """Judge the changes of each request before and after it was signed, all together."""
    groups: dict[tuple[str | None, Phase], list[Change]] = {}
    for one in changes:
        early = one.ahead or one.phase is Phase.UNSIGNED
        telling = early if one.exchange.accepted else one.untouched and one.ahead and _valid(p, one)
        if telling and one.request.mode in p.only and one.phase in (Phase.UNSIGNED, Phase.SIGNED):
            groups.setdefault((one.request.key, one.phase), []).append(one)
    for (key, phase), group in groups.items():
        taken = [one for one in group if one.exchange.accepted]
        refused = {
            name for one in group if request_queries.was_refused(one.exchange) for name in one.new
        }
        last = group[-1].exchange
        closed = refused >= set(p.fields) and opened.get(key, 0) > last.n
        yield Evidence(
            facet=SIGNED if phase is Phase.SIGNED else f"{group[0].request.mode}-accepted",
            agreement=AGREES if taken else DISAGREES if closed else UNCLEAR,
            expected="that a change is accepted before the day has come",
            seen=describe_answer((taken or group)[0].exchange),
            exchanges=tuple(sorted({n for one in taken or group for n in one.numbers})),
        )


def _valid(p: Modification, change: Change) -> bool:
    """Whether a change asked for one thing that is surely as good as what it replaces."""
    given = {*change.exchange.call.varied, p.day}
    return len(change.new) == 1 and change.new.keys() <= given


def _must_be_refused(p: Modification, changes: Sequence[Change]) -> Iterator[Evidence]:
    """Judge the changes of requests that can never be changed, or not any more."""
    taken = {
        one.like
        for one in changes
        if one.request.mode in p.only and one.phase is not Phase.DONE and one.exchange.accepted
    }
    for one in changes:
        mode, controlled = one.request.mode, one.like in taken and one.untouched
        if mode in p.never:
            alone = controlled and one.phase is Phase.UNSIGNED
            why = f"{mode} requests cannot be changed"
            yield from _refused(f"{mode}-refused", one, why, controlled=alone)
        if one.phase is Phase.DONE and mode in (*p.only, *p.never):
            alone = one.like in taken and mode in p.only
            yield from _refused(DONE, one, "it was carried out", controlled=alone)


def _refused(facet: str, change: Change, why: str, *, controlled: bool) -> Iterator[Evidence]:
    """Judge one change; a refusal counts only with its control, and for what it asked."""
    exchange = change.exchange
    if exchange.refused and not (controlled and request_queries.was_refused(exchange)):
        return
    wrong = exchange.accepted or (controlled and change.failed)
    yield Evidence(
        facet=facet,
        agreement=DISAGREES if wrong else AGREES if exchange.refused else UNCLEAR,
        expected=f"a refusal: {why}",
        seen=describe_answer(exchange),
        exchanges=change.numbers,
        variation=exchange.call.variation,
    )


def _judge(p: Modification, change: Change) -> Iterator[Evidence]:
    request, exchange = change.request, change.exchange
    owed = f"that only {' and '.join(p.only)} requests are changed, before they are carried out"
    told, mode = request.seen_in or request.made.n, f"it is {request.mode}"
    if request.mode in p.never:
        yield tpp_evidence(TPP_FACET, DISAGREES, exchange, owed, mode, request.made.n)
    elif request.mode in p.only and request.done:
        yield tpp_evidence(
            TPP_FACET, DISAGREES, exchange, owed, "it was carried out", request.made.n, told
        )
    elif request.mode in p.only and change.untouched:
        yield tpp_evidence(TPP_FACET, AGREES, exchange, owed, mode, request.made.n)
