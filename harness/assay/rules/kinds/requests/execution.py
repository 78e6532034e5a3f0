"""`execution`: what is executed is what the history implies, no more and no less.

Every request is judged like an entry in a ledger that is reconciled. What was validly asked for
and signed is executed: at once or on its day, once, with the values in force. What was
refused, rejected, denied, timed out, cancelled or never signed is not. So that every trial shows
it, whatever it was about, one that makes a request ends with an inquiry of what was executed.

An execution is missing only where days beyond any calendar have passed, or where a similar request,
due no sooner, was executed: a document seldom says when. A rejection that the bank shows is
the matter of other clauses, but for the first plain request of a customer, the main flow.
A refused request has no key; what the fixture tells with its values, and of no request that was
accepted, was executed of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import ClassVar, Final

from assay.contract.model import Capability, Json
from assay.files.document import Finding, Pointer
from assay.history import Authorise, Decision, Exchange, History, State, Subject
from assay.rules import parameters
from assay.rules.lifecycle import reconciliation, request_steps, signing
from assay.rules.lifecycle.executions import GRACE, Books
from assay.rules.lifecycle.parameters import modes, the_request, values_by_argument
from assay.rules.lifecycle.reconciliation import (
    AS_ASKED,
    CANCELLED,
    CARRIED,
    CHANGE,
    DENIED,
    DENIED_OVER,
    EARLY,
    LATE,
    MAIN,
    ONCE,
    REFUSED,
    REPEAT,
    SHOWN,
    TIMED_OUT,
    TIMED_OUT_OVER,
    UNSIGNED,
)
from assay.rules.lifecycle.request_steps import today
from assay.rules.lifecycle.tracker import Lifecycle
from assay.rules.parameters import Raw, maker
from assay.rules.rule import (
    BindingRequirement,
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
from assay.rules.steps import Part, send
from assay.rules.verdict import Evidence, Standing

#: The day of the week, Monday being 0, on which the first deferred request of the probe is due.
TUESDAY = 1
#: Longer than anybody is idle.
NEVER: Final = timedelta(days=100_000)


def _over(*, key: str) -> bool:
    """Declare whether a request that came to an end in a way is no longer shown as open."""
    return parameters.choice(
        "not-open",
        "unspecified",
        key=key,
        description="not-open or unspecified",
        hint="is such a request no longer shown as open afterwards?",
        required=False,
        default=False,
        convert=lambda value: value == "not-open",
    )


def _names_modes(at: Pointer, _name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find a clause that does not say which of the modes of its request are served."""
    if maker(clause, raw).get("modes") and "served" not in clause:
        yield at[:-1], "'served' is missing", "name the modes in which requests are executed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution(Kind):
    """The modes in which requests are executed, and what keeps one from being so.

    `unmet` are values with which a request is not accepted. After `minutes` on one screen, if the
    document says so, the customer is disconnected. `denied_over` and `timed_out_over` say that one
    that the customer refused, or did not sign in time, is no longer shown as open.
    """

    name = "execution"
    # A bank may limit the amounts that it executes.
    hiding = (("", "amount"),)
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.PROMISE
    applies_to = ("makes",)
    inquires: ClassVar[bool] = True
    accepts_refusals: ClassVar[bool] = True

    lifecycle: Lifecycle = the_request(also=_names_modes)
    served: tuple[str, ...] = modes(key="served")
    offered: tuple[str, ...] = modes(key="where-offered")
    unmet: Mapping[str, Json] = values_by_argument(key="unmet")
    minutes: int | None = parameters.whole(key="minutes", required=False)
    denied_over: bool = _over(key="denied")
    timed_out_over: bool = _over(key="timed-out")

    @property
    def deferred(self) -> str | None:
        """A mode that is deferred to a day, if one is served."""
        return next((mode for mode in self.served if self.lifecycle.deferred(mode)), None)

    @property
    def idle(self) -> timedelta:
        """How long a customer may be idle on one screen; very long where it is not said."""
        return NEVER if self.minutes is None else timedelta(minutes=self.minutes)

    @property
    def changed(self) -> tuple[str, ...]:
        """The argument of a change that is refused in the plain mode; none where it is not."""
        only = facts_of(self.lifecycle.contract).changeable_modes.get(self.lifecycle.request.id, ())
        barred = any(self.lifecycle.mode not in modes for modes in only)
        return self.lifecycle.changeable_arguments if barred and self.lifecycle.change else ()

    def unaffected_by(self) -> Mapping[str, str]:
        """Return the mode: each has a trial of its own."""
        return {"mode": "the clause itself is about each mode"}

    def facets(self) -> tuple[Facet, ...]:
        """The main flow, the other modes, the bounds of an execution, and each way to none."""
        effects, clock = needs(Capability.EFFECTS), needs(Capability.CLOCK)
        plain, signed = self.lifecycle.mode, ", can be signed" if self.lifecycle.signed else ""
        at_once = (
            (MAIN, f"a plain request gets a key{signed}, and is then executed", needs()),
            (ONCE, "no request is executed twice", effects),
            (AS_ASKED, "a request is executed with its current values", effects),
            (SHOWN, "a request is shown as executed if and only if it was", effects),
        )
        out = [self._facet(id_, asks, MAIN, more) for id_, asks, more in at_once]
        for mode in (*self.served, *self.offered):
            if mode != plain:
                asks = f"signed {mode} requests are executed"
                more = clock if self.lifecycle.deferred(mode) else needs()
                out.append(self._facet(f"{mode}{CARRIED}", asks, mode, more, mode))
        if self.deferred:
            more, mode = effects | clock, self.deferred
            out.append(
                self._facet(EARLY, "no request is executed before its day", mode, more, mode)
            )
            asks = (
                "no request is still pending after its day while others of that day were executed"
            )
            out.append(self._facet(LATE, asks, mode, more, mode))
        ends = (
            (REFUSED, "a request that was refused, or shown as rejected, is not executed", effects),
            (REPEAT, "a repeat that was refused, or shown as rejected, is not executed", effects),
            (CHANGE, "a refused change is neither shown nor executed", needs()),
            (DENIED, "a request that the customer refused is not executed", needs()),
            (UNSIGNED, "a request that was never signed is not executed", needs()),
            (
                TIMED_OUT,
                "a request that was not signed in time is not executed",
                signing.NEEDS | clock,
            ),
        )
        repeats = self.lifecycle.request.id in facts_of(self.lifecycle.contract).unrepeatable
        absent = {REFUSED: not self.unmet, REPEAT: not repeats, CHANGE: not self.changed}
        absent[TIMED_OUT] = self.minutes is None or not self.lifecycle.signed
        if not self.lifecycle.signed:
            absent |= dict.fromkeys((DENIED, UNSIGNED), True)
        out += [
            self._facet(id_, asks, id_, more) for id_, asks, more in ends if not absent.get(id_)
        ]
        late = signing.NEEDS | clock
        over = (
            (DENIED_OVER, self.denied_over, "the customer refused", DENIED, needs()),
            (TIMED_OUT_OVER, self.timed_out_over, "was not signed in time", TIMED_OUT, late),
        )
        out += [
            self._facet(id_, f"a request that {what} is no longer shown as open", way, more)
            for id_, said, what, way, more in over
            if said and not absent.get(way)
        ]
        if self.deferred and self.lifecycle.end:
            asks = "a cancelled request is not executed"
            out.append(self._facet(CANCELLED, asks, CANCELLED, clock, self.deferred))
        return tuple(out)

    def accepts_variation(self, scenario: Scenario) -> bool:
        """Whether the calls with a variation are accepted: only an unmet condition is refused."""
        return scenario.id != REFUSED

    def probe(self, scenario: Scenario) -> Script:
        """Bring requests to their ends, ask the fixture what was executed, and read them."""
        psu = yield from request_steps.customer(self.lifecycle, count=2)
        if scenario.id == self.deferred:
            yield from self._deferred(psu, scenario.id)
        elif scenario.id == REPEAT:
            yield from self._repeated(psu)
        elif scenario.id == CANCELLED:
            yield from self._cancelled(psu)
        elif scenario.id == CHANGE:
            yield from self._change_refused(psu)
        elif scenario.id in (REFUSED, DENIED, TIMED_OUT, UNSIGNED):
            yield from self._not_accepted(psu, scenario.id)
        else:
            mode = None if scenario.id == MAIN else scenario.id
            made = yield from self._signed(psu, mode)
            done = yield from self._look(made)
            if not done and request_steps.key_of(made) is not None:
                yield from request_steps.wait_days(psu, GRACE + 2)
                yield from self._look(made)

    def _signed(
        self,
        psu: Subject,
        mode: str | None = None,
        ahead: int | None = None,
        owned: int = 0,
    ) -> Part[Exchange]:
        """Make a plain request about one of the things owned, and have it signed."""
        named = {self.lifecycle.create.owned or "": psu.owns[owned].key} if owned else {}
        call = request_steps.request(self.lifecycle, psu, mode, named, ahead=ahead)
        made = yield from send(call)
        yield from request_steps.sign(self.lifecycle, made)
        return made

    def _look(self, *requests: Exchange) -> Part[bool]:
        """Ask what was executed, and read each request; return whether each is done, and shown so."""
        effects = yield from request_steps.inquire()
        told = {effect.request for effect in effects.done or ()}
        done = True
        for made in requests:
            read = yield from request_steps.read(self.lifecycle, made)
            state = read.item.state if read is not None and read.item is not None else None
            known = request_steps.key_of(made) in told if state is None else state is State.DONE
            done = done and known
        return done

    def _deferred(self, psu: Subject, mode: str) -> Script:
        """Make two requests for two days in the middle of a week, and look before and after."""
        weekday = today(self.lifecycle, psu).weekday()
        ahead = 2 + (TUESDAY - weekday - 2) % 7
        first = yield from self._signed(psu, mode, ahead)
        second = yield from self._signed(psu, mode, ahead + 1)
        # What is executed at once is not executed again on a later day.
        at_once = yield from self._signed(psu, owned=1)
        yield from request_steps.read(self.lifecycle, at_once)
        yield from request_steps.inquire()
        yield from request_steps.wait_days(psu, ahead - 1)
        yield from request_steps.inquire()
        for days in (ahead + 3, ahead + GRACE + 3):
            yield from request_steps.wait_days(psu, days)
            yield from self._look(first, second)

    def _repeated(self, psu: Subject) -> Script:
        """Make and sign the same request twice."""
        call = request_steps.request(self.lifecycle, psu)
        first = yield from send(call)
        yield from request_steps.sign(self.lifecycle, first)
        yield from request_steps.read(self.lifecycle, first)
        again = yield from send(replace(call, variation="it repeats an earlier request"))
        for _ in range(2):  # one that was rejected must not be open to another signature
            yield from request_steps.sign(self.lifecycle, again)
            yield from self._look(again)

    def _change_refused(self, psu: Subject) -> Script:
        """Ask for a change that is refused, have the request signed, and look before and after."""
        made = yield from send(request_steps.request(self.lifecycle, psu))
        change = request_steps.call_about(self.lifecycle.change, made)
        if change is not None:
            variation = f"the request is {self.lifecycle.mode}"
            yield from send(replace(change, varied=self.changed, variation=variation))
        yield from request_steps.read(self.lifecycle, made)
        yield from request_steps.sign(self.lifecycle, made)
        yield from self._look(made)

    def _cancelled(self, psu: Subject) -> Script:
        """Cancel a request that was signed, and wait for a day on which its control is due."""
        call = request_steps.request(
            self.lifecycle, psu, self.deferred, variation="it is cancelled"
        )
        made = yield from send(call)
        yield from request_steps.sign(self.lifecycle, made)
        yield from request_steps.send_if_any(request_steps.call_about(self.lifecycle.end, made))
        ahead = request_steps.days_ahead(self.lifecycle, psu) + 1
        control = yield from self._signed(psu, self.deferred, ahead)
        yield from request_steps.wait_days(psu, ahead + 1)
        yield from self._look(control, made)

    def _not_accepted(self, psu: Subject, way: str) -> Script:
        """Make a request that is not accepted in one way, and sign its control."""
        lifecycle = self.lifecycle
        if way == REFUSED:
            control = yield from self._signed(psu)
            owned = {lifecycle.create.owned: psu.owns[1].key} if lifecycle.create.owned else {}
            call = request_steps.request(lifecycle, psu, arguments={**owned, **self.unmet})
            made = yield from send(replace(call, variation="it does not meet the contract"))
            if made.item is not None and made.item.state is not State.REJECTED:
                yield from request_steps.sign(lifecycle, made)
            yield from self._look(control, made)
            yield from request_steps.read_refused(lifecycle, made)
            return
        variation, how = _WAYS[way]
        made = yield from send(request_steps.request(lifecycle, psu, variation=variation))
        if way == TIMED_OUT:
            how = replace(request_steps.SIGN, linger=(self.idle + timedelta(minutes=1),))
        if how is not None:
            yield from request_steps.sign(self.lifecycle, made, how)
        control = yield from self._signed(psu)
        yield from self._look(control, made)
        if way == TIMED_OUT and self.timed_out_over:
            yield from request_steps.wait_days(psu, 2)
            yield from request_steps.read(lifecycle, made)

    def check(self, history: History) -> Iterator[Evidence]:
        """Reconcile every request of the history."""
        known = {facet.id for facet in self.own_facets}
        books = Books.of(self.lifecycle, history)
        for evidence in reconciliation.reconcile(books, self.idle):
            if evidence.facet in known:
                yield evidence

    def _facet(
        self,
        id_: str,
        asks: str,
        scenario: str,
        more: frozenset[Capability],
        mode: str | None = None,
    ) -> Facet:
        create = self.lifecycle.create
        named = dict.fromkeys((self.lifecycle.mode, mode))
        return Facet(
            id=id_,
            description=asks,
            scenario=Scenario(id=scenario),
            needs=needs(Capability.PSU, Capability.WRITE) | self.lifecycle.signing_needs | more,
            requires=(
                *self.lifecycle.state_requirement(),
                *self.lifecycle.approval_requirement(),
                *bound(create, "key"),
                *(each for name in named for each in self._mode_requirement(name)),
                *bound(self.lifecycle.change, "other", self.changed if id_ == CHANGE else ()),
            ),
        )

    def _mode_requirement(self, mode: str | None) -> tuple[BindingRequirement, ...]:
        offered = Standing.NOT_APPLICABLE if mode in self.offered else Standing.UNVERIFIED
        return bound(self.lifecycle.create, "mode", (mode,), if_missing=offered)


#: What is said of a request that is not accepted, and what its customer does in place of signing.
_WAYS: Mapping[str, tuple[str, Authorise | None]] = {
    DENIED: ("the customer refuses", replace(request_steps.SIGN, decision=Decision.REFUSE)),
    TIMED_OUT: ("the customer is idle for too long", None),
    UNSIGNED: ("it is never signed", None),
}
