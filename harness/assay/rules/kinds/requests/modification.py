"""`modification`: requests of some modes can be changed, those of others cannot, and changes last.

An accepted change must be read back, and executed. Which arguments can be changed is open, and
whether before signing or after, so a violation is a mode in which every change is refused at both
times. The control of a refusal is the same change of another request.

An argument of `keeps` cannot be changed: a call that names another value of it is refused, or a read shows
the former value. The control of such a refusal is an accepted change of the same request.

Without `only`, something that is simply made can be changed at any time: a read shows each change, and
the fields that were not changed stay as an earlier read showed them.

The TPP: it changes only requests in a changeable mode that are not known to be executed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from assay.contract.model import Capability
from assay.history import Exchange, History, State, Subject
from assay.rules.facets import Facts
from assay.rules.lifecycle import request_queries, request_steps, tracker
from assay.rules.lifecycle.changes import (
    CARRIED,
    OTHERS,
    PERSISTS,
    Change,
    ChangeTracker,
    Phase,
    change_of,
    must_be_taken,
)
from assay.rules.lifecycle.parameters import (
    changeable_arguments,
    check_never,
    deferred_modes,
    kept_arguments,
    the_request,
)
from assay.rules.lifecycle.request_queries import was_refused
from assay.rules.lifecycle.tracker import Instance
from assay.rules.parameters import names, ref
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
    needs,
)
from assay.rules.steps import Part, send
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Evidence, describe_answer, tpp_evidence

ACCEPTED, DONE = "accepted", "done-refused"
#: How many days later than the tested request its control is due.
BEYOND = 7
#: The TPP's obligation.
TPP_FACET = "changeable-only"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModificationScenario(Scenario):
    """Changes that must be accepted or `refused`; without a `mode`, in the first changeable one.

    `kept` is an argument that cannot be changed.
    """

    mode: str | None = None
    refused: bool = False
    kept: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Modification(RefusingKind[ModificationScenario]):
    """The modes whose requests can or cannot be changed, and the arguments that can."""

    name = "modification"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.PROMISE
    applies_to = ("changes",)

    lifecycle: tracker.Lifecycle = the_request()
    only: tuple[str, ...] = deferred_modes(key="only", required=False)
    never: tuple[str, ...] = names(
        ref("words"), key="never", references=check_never, required=False
    )
    fields: tuple[str, ...] = changeable_arguments(key="fields")
    keeps: tuple[str, ...] = kept_arguments(key="keeps")

    @property
    def day(self) -> str | None:
        """The argument with the day of the request."""
        return self.lifecycle.create.due.argument if self.lifecycle.create.due else None

    @property
    def changed_modes(self) -> tuple[str | None, ...]:
        """The modes whose requests can be changed: all where none is named."""
        return self.only or self.lifecycle.create.modes or (None,)

    @property
    def plain(self) -> str | None:
        """A changeable argument that requests in every mode have."""
        return next((name for name in self.fields if name != self.day), None)

    @property
    def closed(self) -> tuple[str, ...]:
        """The modes whose requests must refuse a change that can be tested."""
        return self.never if self.plain else ()

    @property
    def once(self) -> str | None:
        """A mode whose requests cannot be changed and are executed when signed."""
        return next((mode for mode in self.closed if not self.lifecycle.deferred(mode)), None)

    def facts(self) -> Facts:
        """Return the modes in which the request can be changed, and its fields that can be."""
        request = self.lifecycle.request.id
        return Facts(
            changeable_modes={request: (self.only,)}, changeable_fields={request: self.fields}
        )

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for each mode, and those for reading and execution."""
        if self.lifecycle.change is None:
            return ()
        day = self.lifecycle.signing_needs | needs(Capability.CLOCK)
        if not self.only:
            any_time = ModificationScenario(id="any-time")
            return (
                self._facet(ACCEPTED, "it can be changed at any time", any_time),
                self._facet(PERSISTS, "a read shows an accepted change", any_time),
                self._facet(OTHERS, "what is not changed stays", any_time),
                *self._kept_facets(),
            )
        only = {mode: ModificationScenario(id=f"{mode}:accepted", mode=mode) for mode in self.only}
        out = [
            self._facet(f"{mode}-accepted", f"{mode} requests can be changed", scenario)
            for mode, scenario in only.items()
        ]
        out.append(self._facet(PERSISTS, "a read shows an accepted change", only[self.only[0]]))
        for mode in self.closed:
            scenario = ModificationScenario(id=f"{mode}:refused", mode=mode, refused=True)
            description = f"{mode} requests cannot be changed"
            out.append(self._facet(f"{mode}-refused", description, scenario))
        if self.plain:
            description = "a request cannot be changed once it is executed"
            scenario = ModificationScenario(id="done", mode=self.once, refused=True)
            out.append(self._facet(DONE, description, scenario, extra=day))
        description = "a request is executed as last changed"
        carried = day | needs(Capability.EFFECTS)
        last = ModificationScenario(id="carried-out")
        changed = self._facet(CARRIED, description, last, extra=carried)
        return (*out, changed, *self._kept_facets())

    def _kept_facets(self) -> Iterator[Facet]:
        for name in self.keeps if self.plain else ():
            scenario = ModificationScenario(id=f"{name}:kept", kept=name)
            yield self._facet(f"{name}-kept", f"{name} cannot be changed", scenario)

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return [DONE, *(f"{mode}-refused" for mode in self.closed)]

    def probe(self, scenario: ModificationScenario) -> Script:
        """Request changes, one argument at a time."""
        psu = yield from request_steps.customer(self.lifecycle)
        first = self.changed_modes[0]
        if scenario.id == "done":
            yield from self._probe_done(psu)
        elif scenario.id == "carried-out":
            ahead = request_steps.days_ahead(self.lifecycle, psu)
            made = yield from self._made(psu, first)
            yield from self._change(psu, made, self.fields, days=ahead + 1)
            yield from request_steps.sign(self.lifecycle, made)
            made = yield from self._made(psu, first, sign=True)
            yield from self._change(psu, made, self.fields, days=ahead + 2)
            yield from request_steps.wait_days(psu, ahead + 3)
            yield from request_steps.inquire()
        elif scenario.kept:
            yield from self._probe_kept(psu, scenario.kept)
        elif scenario.refused:
            control = yield from self._made(psu, first)
            made = yield from self._made(psu, scenario.mode)
            yield from self._change(psu, control, (self.plain,))
            yield from self._change(psu, made, (self.plain,), variation=f"it is {scenario.mode}")
        else:
            made = yield from self._made(psu, scenario.mode)
            if not self.only:
                yield from request_steps.read(self.lifecycle, made)
            accepted = yield from self._change_each(psu, made)
            if not accepted:
                # The contract may allow changes of signed requests only.
                yield from request_steps.sign(self.lifecycle, made)
                yield from self._change_each(psu, made)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every change, and the later state of the accepted ones."""
        tracked = tracker.Tracker(lifecycle=self.lifecycle)
        kept = ChangeTracker(
            lifecycle=self.lifecycle,
            modes=self.changed_modes,
            fields=self.fields,
            at_any_time=not self.only,
        )
        changes: list[Change] = []
        opened: dict[str | None, int] = {}
        for event in history.events:
            change = change_of(self.lifecycle, tracked, event)
            if change is not None:
                changes.append(change)
            kept.before(tracked, event, change)
            request = tracked.note(event)
            kept.after(event, request)
            for observed in request_queries.requests_shown(tracked, event, request):
                if isinstance(event, Exchange) and observed.state is State.OPEN:
                    opened[observed.key] = event.n
            for read in request.reads[-1:] if request and not self.only else ():
                if read is event and read.item is not None and read.item.state is None:
                    opened[read.item.key] = read.n  # what has no states is there while it is shown
        apart = {request.key: request for request in request_queries.with_own_key(tracked)}
        yield from (evidence for key, evidence in kept.evidence if key in apart)
        changes = [change for change in changes if change.request.key in apart]
        for evidence in must_be_taken(changes, opened, self.changed_modes, self.fields, self.day):
            yield evidence if self.only else replace(evidence, facet=ACCEPTED)
        yield from self._must_be_refused(changes)
        for change in changes:
            for name in (name for name in self.keeps if name in change.new):
                yield from self._is_kept(name, change, apart[change.request.key])

    def tpp_facet(self) -> TppFacet | None:
        """Return the one obligation of the TPP, where not everything can be changed."""
        if not self.only:
            return None
        return TppFacet(
            id=TPP_FACET,
            description=f"the TPP changes only {' and '.join(self.only)} requests, before they are executed",
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every change of a request that was made in this history."""
        tracked = tracker.Tracker(lifecycle=self.lifecycle)
        for event in history.events:
            change = change_of(self.lifecycle, tracked, event)
            if change is not None:
                yield from self._judge(change)
            tracked.note(event)

    def _facet(
        self,
        id_: str,
        description: str,
        scenario: ModificationScenario,
        *,
        extra: frozenset[Capability] = frozenset(),
    ) -> Facet:
        create, change = self.lifecycle.create, self.lifecycle.change
        modes = [*self.only[:1]] if scenario.mode not in self.only else []
        modes += [scenario.mode] if scenario.mode else []
        approval = self.lifecycle.approval_requirement() if extra else ()
        changed = (self.plain,) if scenario.refused or scenario.kept else self.fields
        changed = (*changed, scenario.kept) if scenario.kept else changed
        return Facet(
            id=id_,
            description=description,
            scenario=scenario,
            needs=needs(Capability.PSU, Capability.WRITE) | extra,
            requires=(
                *(self.lifecycle.state_requirement() if self.only else ()),
                *approval,
                *bound(create, "mode", modes),
                *(
                    each
                    for name in changed
                    for each in bound(change, "argument" if name == self.day else "other", (name,))
                ),
            ),
        )

    def _probe_kept(self, psu: Subject, kept: str) -> Script:
        made = yield from self._made(psu, self.changed_modes[0])
        if not (yield from self._change(psu, made, (self.plain,))):
            yield from request_steps.sign(self.lifecycle, made)
            yield from self._change(psu, made, (self.plain,))
        variation = f"{kept} cannot be changed"
        yield from self._change(psu, made, (kept,), variation=variation)
        yield from request_steps.read(self.lifecycle, made)

    def _probe_done(self, psu: Subject) -> Script:
        made = yield from self._made(psu, self.only[0], sign=True)
        done = [made]
        if self.once:
            done.append((yield from self._made(psu, self.once, sign=True)))
        yield from request_steps.wait_days(psu, request_steps.days_ahead(self.lifecycle, psu) + 1)
        # Made only now: banks drop a request that stays unsigned for days.
        control = yield from self._made(psu, self.only[0], later=BEYOND)
        if not (yield from self._change(psu, control, (self.plain,))):
            yield from request_steps.sign(self.lifecycle, control)
            yield from self._change(psu, control, (self.plain,))
        for exchange in done:
            yield from request_steps.read(self.lifecycle, exchange)
            yield from self._change(psu, exchange, (self.plain,), variation="it was executed")
            yield from request_steps.read(self.lifecycle, exchange)

    def _made(
        self, psu: Subject, mode: str | None, *, sign: bool = False, later: int = 0
    ) -> Part[Exchange]:
        ahead = request_steps.days_ahead(self.lifecycle, psu) + later
        made = yield from send(request_steps.request(self.lifecycle, psu, mode, ahead=ahead))
        if sign:
            yield from request_steps.sign(self.lifecycle, made)
        return made

    def _change_each(self, psu: Subject, made: Exchange) -> Part[bool]:
        """Change each argument and read it back; return whether any change was accepted."""
        accepted = False
        for name in self.fields:
            days = request_steps.days_ahead(self.lifecycle, psu) + 1
            accepted |= yield from self._change(psu, made, (name,), days=days)
            yield from request_steps.read(self.lifecycle, made)
        return accepted

    def _change(
        self,
        psu: Subject,
        made: Exchange,
        names: Sequence[str | None],
        *,
        days: int = 0,
        variation: str = "",
    ) -> Part[bool]:
        """Change each argument in turn: to another day, or to the target file's other value."""
        accepted = False
        mode = self.changed_modes[0]
        due = request_steps.request(self.lifecycle, psu, mode, ahead=days).arguments
        for name in names:
            moved = {name: due[name]} if name and name == self.day else {}
            call = request_steps.call_about(self.lifecycle.change, made, **moved)
            if call is not None and name is not None:
                varied = () if moved else (name,)
                exchange = yield from send(replace(call, varied=varied, variation=variation))
                accepted |= exchange.accepted
        return accepted

    def _is_kept(self, name: str, change: Change, request: Instance) -> Iterator[Evidence]:
        """Judge a change of an argument that cannot be changed, as `request` was seen afterwards."""
        exchange, numbers = change.exchange, change.numbers
        others = [each for each in request.changes if each.accepted and each.n != exchange.n]
        taken = [each.n for each in others if each.n < exchange.n]
        again = min((each.n for each in others if each.n > exchange.n), default=inf)
        read = next(
            (each for each in request.reads if exchange.n < each.n < again and each.item), None
        )
        if exchange.refused and taken and was_refused(exchange):
            agreement, seen, numbers = AGREES, describe_answer(exchange), (*numbers, taken[-1])
        elif exchange.accepted and read and read.item and name in read.item.fields:
            shown = read.item.fields[name]
            former, new = (
                request_queries.shows_argument(self.lifecycle, name, value, shown)
                for value in (request.made.call.arguments.get(name), change.new[name])
            )
            changed = DISAGREES if new and former is False else UNCLEAR
            agreement, seen, numbers = (
                AGREES if former else changed,
                f"{shown!r}",
                (*numbers, read.n),
            )
        else:
            return
        yield Evidence(
            facet=f"{name}-kept",
            agreement=agreement,
            expected=f"a refusal, or {name} as it was",
            seen=seen,
            exchanges=tuple(sorted({*numbers})),
            variation=exchange.call.variation,
            decisive=exchange.n,
        )

    def _must_be_refused(self, changes: Sequence[Change]) -> Iterator[Evidence]:
        """Judge the changes of requests that can never, or no longer, be changed."""
        taken = {
            change.like
            for change in changes
            if change.request.mode in self.only
            and change.phase is not Phase.DONE
            and change.exchange.accepted
        }
        for change in changes:
            mode, controlled = change.request.mode, change.like in taken and change.untouched
            if mode in self.never:
                alone = controlled and change.phase is Phase.UNSIGNED
                alone = alone or (change.done_when_made and change.like in taken)
                why = f"{mode} requests cannot be changed"
                yield from _refused(f"{mode}-refused", change, why, controlled=alone)
            if change.phase is Phase.DONE and mode in (*self.only, *self.never):
                alone = change.like in taken and mode in self.only
                yield from _refused(DONE, change, "it was executed", controlled=alone)

    def _judge(self, change: Change) -> Iterator[Evidence]:
        request, exchange = change.request, change.exchange
        owed = f"the TPP changes only {' and '.join(self.only)} requests, before they are executed"
        made, kind = request.made.n, f"it is {request.mode}"
        if request.mode in self.never:
            yield tpp_evidence(TPP_FACET, DISAGREES, exchange, owed, kind, made)
        elif request.mode in self.only and request.done:
            shown = request.seen_in or made
            yield tpp_evidence(TPP_FACET, DISAGREES, exchange, owed, "it was executed", made, shown)
        elif request.mode in self.only and change.untouched:
            yield tpp_evidence(TPP_FACET, AGREES, exchange, owed, kind, made)


def _refused(facet: str, change: Change, why: str, *, controlled: bool) -> Iterator[Evidence]:
    """Judge one change; a refusal counts only with its control, and for its content."""
    exchange = change.exchange
    if exchange.refused and not (controlled and was_refused(exchange)):
        return
    wrong = exchange.accepted or (controlled and change.failed)
    yield Evidence(
        facet=facet,
        agreement=DISAGREES if wrong else AGREES if exchange.refused else UNCLEAR,
        expected=f"a refusal: {why}",
        seen=describe_answer(exchange),
        exchanges=change.numbers,
        variation=exchange.call.variation,
        decisive=exchange.n,
    )
