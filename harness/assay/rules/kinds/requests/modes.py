"""`modes`: the modes in which requests can be made.

A mode is accepted everywhere (`served`), accepted by the banks that offer it and rejected by
the others (`where-offered`), or rejected everywhere (`refused`). The control is the same
request in a plain mode. The target file is responsible for the spelling of modes.

The TPP: it makes requests only in modes that are served.
A bank whose target file does not bind a mode does not offer it: an unbound word that the
bank refuses is such a mode. An unbound word that the bank accepts is an omission of the file.

Where the contract or the bank says whether a request that is not deferred may name a day (`dated`), one that
names the present day is judged beside one without a day, in the same mode. That a bank refuses it at a
weekend or in the evening may be for its calendar.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date

from assay.contract.model import Capability, Json
from assay.files.document import Finding, Pointer
from assay.history import Exchange, History, Lacking, Subject
from assay.history.steps import SEVERAL_MODES, UNBOUND_MODE, UNSEEN_MODE
from assay.rules import parameters, steps
from assay.rules.facets import BarredMode, Facts, SchemaPiece
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.attempts import (
    AcceptanceRule,
    Attempt,
    Case,
    attempts,
    controls,
    must_be_accepted,
    must_be_rejected,
    sign_and_read,
    try_again,
)
from assay.rules.lifecycle.parameters import check_modes, modes
from assay.rules.lifecycle.request_queries import due_day, was_refused
from assay.rules.lifecycle.request_steps import today
from assay.rules.parameters import Raw, maker
from assay.rules.rule import (
    BindingRequirement,
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
from assay.rules.state.calendar import dates, wall_time
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNCLEAR,
    Agreement,
    Evidence,
    Standing,
    tpp_evidence,
)

SERVED = "served"
#: The second part of a facet id, after the mode.
OFFERED, NOT_OFFERED, REFUSED = "-offered", "-not-offered", "-refused"
#: The same of a request that names a day, by what is said of it.
DATED = {"accepted": "-dated-accepted", "refused": "-dated-refused"}
#: The last weekday, Monday being 0, and the hour before which a bank does not put off the present day.
FRIDAY, CLOSING = 4, 15
#: The TPP's obligation.
TPP_FACET = "served-modes-only"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeScenario(Scenario):
    """A request in one mode, with a control; or in all served modes if `mode` is None.

    `accepted` is the expected result; `lacking` says that the bank does not offer the mode, and
    `dated` that the control is in the mode, and the request names the present day besides.
    """

    mode: str | None = None
    accepted: bool = False
    lacking: bool = False
    dated: bool = False


_DATED: Mapping[str, Json] = {
    "description": "accepted, refused or unspecified for each mode",
    "x-hint": "is a request accepted that names a day, although it is not deferred?",
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {
        "description": "accepted, refused or unspecified",
        "enum": [*DATED, "unspecified"],
    },
}


def _check_dated(at: Pointer, value: Raw, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find modes in which the clause's request cannot be made, and those that always have a day."""
    yield from check_modes(at, [*value], clause, raw)
    for name in {*value}.intersection(maker(clause, raw).get("due", {}).get("modes", ())):
        yield (*at, name), f"requests in the mode {name!r} always name a day", "leave it out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Modes(AcceptanceRule[ModeScenario]):
    """The modes in which requests are accepted everywhere, where offered, or never."""

    name = "modes"
    scope = Scope(calls=Calls.NAMED, needs=(Subject,))
    purpose = Purpose.PROMISE
    applies_to = ("makes",)
    at_least_one_of = ("served", "where-offered", "refused")
    of_each_bank = True

    served: tuple[str, ...] = modes(key="served")
    offered: tuple[str, ...] = modes(key="where-offered")
    refused: tuple[str, ...] = modes(key="refused")
    dated: Mapping[str, str] = parameters.parameter(
        _DATED,
        lambda value, _: {mode: word for mode, word in value.items() if word in DATED},
        key="dated",
        references=_check_dated,
        required=False,
        default={},
    )

    def facts(self) -> Facts:
        """Return the modes that are served, and those that are where they are offered."""
        return Facts(accepted_modes={self.lifecycle.request.id: (*self.served, *self.offered)})

    def schema_pieces(self) -> Iterator[SchemaPiece]:
        """Yield the modes that are never valid."""
        for mode in self.refused:
            yield BarredMode(operation=self.lifecycle.create.id, mode=mode, word="refused")

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for each mode, two for a mode that not every bank offers."""
        served = bound(self.lifecycle.create, "mode", self.served)
        plain = ModeScenario(id=SERVED)
        out = [
            _facet(mode, f"{mode} requests are accepted", plain, *served) for mode in self.served
        ]
        for mode in self.offered:
            here = bound(self.lifecycle.create, "mode", mode)
            # A bank that does not bind the mode does not offer it.
            silent = tuple(replace(each, if_missing=Standing.NOT_APPLICABLE) for each in here)
            text = f"{mode} requests are accepted by a bank that offers them"
            offered = ModeScenario(id=f"{mode}:offered", mode=mode, accepted=True)
            out.append(_facet(f"{mode}{OFFERED}", text, offered, *silent))
            text = f"{mode} requests are rejected by a bank that does not offer them"
            lacking = ModeScenario(id=f"{mode}:not-offered", mode=mode, lacking=True)
            refused_here = _facet(f"{mode}{NOT_OFFERED}", text, lacking, *here)
            # A bank that never accepts it would refuse it here as well.
            out.append(replace(refused_here, rests_on=f"{mode}{OFFERED}"))
        for mode in self.refused:
            here, refused = bound(self.lifecycle.create, "mode", mode), f"{mode}{REFUSED}"
            scenario = ModeScenario(id=f"{mode}:refused", mode=mode)
            out.append(_facet(refused, f"{mode} requests are rejected", scenario, *here))
        return (*out, *self._dated_facets())

    def _dated_facets(self) -> Iterator[Facet]:
        create, due = self.lifecycle.create, self.lifecycle.create.due
        for mode, word in self.dated.items() if due else ():
            accepted, id_ = word == "accepted", f"{mode}:dated"
            missing = Standing.NOT_APPLICABLE if mode in self.offered else Standing.UNVERIFIED
            required = bound(create, "mode", mode, if_missing=missing)
            required = (*required, *bound(create, "argument", due.argument if due else ""))
            scenario = ModeScenario(id=id_, mode=mode, accepted=accepted, dated=True)
            text = f"{mode} requests that name a day are {word}"
            yield _facet(f"{mode}{DATED[word]}", text, scenario, *required)

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return [
            *(f"{mode}{REFUSED}" for mode in self.refused),
            *(f"{mode}{NOT_OFFERED}" for mode in self.offered),
            *(f"{mode}{DATED[word]}" for mode, word in self.dated.items() if word == "refused"),
        ]

    def accepts_variation(self, scenario: ModeScenario) -> bool:
        """Whether the request in the scenario's mode is accepted."""
        return scenario.accepted

    def probe(self, scenario: ModeScenario) -> Script:
        """Make a request in each served mode; or in a plain one, then in the scenario's mode."""
        if scenario.mode is None:
            psu = yield from request_steps.customer(self.lifecycle)
            # The plain mode comes last: it must be accepted after the others, too.
            asked: list[Exchange] = []
            for mode in sorted(self.served, key=lambda mode: mode == self.lifecycle.mode):
                call = request_steps.request(self.lifecycle, psu, mode)
                asked.append((yield from steps.send(call)))
            accepted = next((exchange.call.mode for exchange in asked if exchange.accepted), None)
            for exchange in asked if accepted is not None and not psu.fresh else ():
                ways = ((psu, exchange.call.mode), (psu, accepted))
                yield from try_again(self.lifecycle, exchange, *ways)
            return
        if scenario.lacking:
            yield from request_steps.without_mode(scenario.mode)
        psu = yield from request_steps.customer(self.lifecycle)
        plain = request_steps.request(self.lifecycle, psu)
        variation = f"in the mode {scenario.mode}"
        call = request_steps.request(self.lifecycle, psu, scenario.mode, variation=variation)
        if scenario.dated and self.lifecycle.create.due:
            plain = replace(call, variation="")
            day = today(self.lifecycle, psu).isoformat()
            named = {**call.arguments, self.lifecycle.create.due.argument: day}
            call = replace(call, arguments=named, variation="it names the present day")
        if self.lifecycle.signed:
            control = yield from steps.send(plain)
            made = yield from steps.send(call)
        else:  # the plain one is executed at once, and the other could be its repeat
            made = yield from steps.send(call)
            control = yield from steps.send(plain)
        yield from sign_and_read(self.lifecycle, control, made)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every attempt in one of the modes, and those that name a day without need."""
        yield from AcceptanceRule.check(self, history)
        if self.dated and self.lifecycle.create.due is not None:
            yield from self._dated(history, self.lifecycle.create.due.argument)

    def _dated(self, history: History, argument: str) -> Iterator[Evidence]:
        """Judge requests that are not deferred and name a day, beside others without one."""
        owned = self.lifecycle.create.owned or ""

        def alike(attempt: Attempt) -> Hashable:
            sent = attempt.made.call.arguments
            return attempt.subject.name, owned in sent, repr(sent.get(owned)), attempt.request.mode

        tries = attempts(self.lifecycle, history)
        undated = {each.made.n for each in tries if argument not in each.made.call.arguments}
        beside = controls(tries, lambda each: each.made.n in undated, alike)
        for attempt in tries:
            mode = attempt.request.mode or ""
            word, day = self.dated.get(mode), due_day(self.lifecycle, attempt.made.call.arguments)
            if word is None or day is None:
                continue
            # Its day is no other reason to reject it, whatever `attempts` says of those with a day.
            dated = replace(attempt, timely=self._is_today(day, attempt.made))
            judge = must_be_accepted if word == "accepted" else must_be_rejected
            why = f"{mode} requests that name a day are {word}"
            yield from judge(f"{mode}{DATED[word]}", dated, beside.get(attempt.made.n, ()), why)

    def _is_today(self, day: date, made: Exchange) -> bool:
        """Whether a day is certainly the present one, and it is not too late for it."""
        now = wall_time(made.at, self.lifecycle.contract.zone)
        open_ = now.weekday() <= FRIDAY and now.hour < CLOSING
        return open_ and {*dates(made.at, self.lifecycle.contract.zone)} == {day}

    def case(self, attempt: Attempt) -> Case | None:
        """Return the expected result of an attempt in one of the modes."""
        mode = attempt.request.mode or ""
        if mode in self.served:
            return Case(facet=mode, accepted=True, why=f"{mode} requests are served")
        if mode in self.offered and mode not in attempt.bank:
            why = f"this bank offers {mode} requests"
            return Case(facet=f"{mode}{OFFERED}", accepted=True, why=why)
        if mode in self.offered:
            why = f"this bank does not offer {mode} requests"
            return Case(facet=f"{mode}{NOT_OFFERED}", accepted=False, why=why)
        if mode in self.refused:
            why = f"{mode} requests are not served"
            return Case(facet=f"{mode}{REFUSED}", accepted=False, why=why)
        return None

    def is_control(self, attempt: Attempt) -> bool:
        """Whether an attempt is in a plain mode."""
        return attempt.request.mode in {self.lifecycle.mode, *self.served}

    def common(self, attempt: Attempt) -> Hashable:
        """Return the customer and the named resource; none is not the same as null.

        Where the plain mode has a day, a request without one may be refused for that.
        """
        create, sent = self.lifecycle.create, attempt.made.call.arguments
        day = create.due.argument if create.due and self.lifecycle.mode in create.due.modes else ""
        owned = create.owned or ""
        return attempt.subject.name, owned in sent, repr(sent.get(owned)), day in sent

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description="requests are made only in modes that are served",
            requires=bound(self.lifecycle.create, "mode", (*self.served, *self.refused)),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every request that is made in a mode."""
        lacking: set[str] = set()
        for event in history.events:
            if isinstance(event, Lacking):
                lacking.add(event.mode)
            if not isinstance(event, Exchange) or event.call.operation != self.lifecycle.create.id:
                continue
            mode = event.call.mode
            judged = None if mode is None else self._judge(mode, event, lacking)
            if judged is not None and not event.call.malformed:
                yield tpp_evidence(
                    TPP_FACET, judged, event, "a mode that is served", f"it is {mode}"
                )

    def _judge(self, mode: str, exchange: Exchange, lacking: set[str]) -> Agreement | None:
        """Judge a mode; None if the self does not mention it."""
        served = {*self.served, *self.offered}
        if mode in self.refused or (mode in self.offered and mode in lacking):
            return DISAGREES
        if mode == UNBOUND_MODE:
            return None if not served else DISAGREES if was_refused(exchange) else UNCLEAR
        if mode in {SEVERAL_MODES, UNSEEN_MODE}:
            return UNCLEAR
        return AGREES if mode in served or not served else None


def _facet(
    id_: str, description: str, scenario: ModeScenario, *requirements: BindingRequirement
) -> Facet:
    plain = needs(Capability.PSU, Capability.WRITE)
    return Facet(
        id=id_,
        description=description,
        scenario=scenario,
        needs=plain | needs(Capability.BANKS) if scenario.lacking else plain,
        requires=requirements,
    )
