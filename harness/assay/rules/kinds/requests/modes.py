"""`modes`: the modes in which requests can be made.

A mode is accepted everywhere (`served`), accepted by the banks that offer it and rejected by
the others (`where-offered`), or rejected everywhere (`refused`). The control is the same
request in a plain mode. The target file is responsible for the spelling of modes.

The TPP: it makes requests only in modes that are served.
A bank whose target file does not bind a mode does not offer it: an unbound word that the
bank refuses is such a mode. An unbound word that the bank accepts is an omission of the file.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from assay.contract.model import Capability
from assay.history import Exchange, History, Lacking, Subject
from assay.history.steps import SEVERAL_MODES, UNBOUND_MODE, UNSEEN_MODE
from assay.rules import steps
from assay.rules.facets import BarredMode, Facts, SchemaPiece
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.attempts import (
    AcceptanceRule,
    Attempt,
    Case,
    sign_and_read,
    unrepeated_amount,
)
from assay.rules.lifecycle.parameters import modes
from assay.rules.lifecycle.request_queries import was_refused
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
#: The TPP's obligation.
TPP_FACET = "served-modes-only"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeScenario(Scenario):
    """A request in one mode, with a control; or in all served modes if `mode` is None.

    `accepted` is the expected result; `lacking` says that the bank does not offer the mode.
    """

    mode: str | None = None
    accepted: bool = False
    lacking: bool = False


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
        return tuple(out)

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return [
            *(f"{mode}{REFUSED}" for mode in self.refused),
            *(f"{mode}{NOT_OFFERED}" for mode in self.offered),
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
            if not psu.fresh:
                yield from self._try_again(psu, asked)
            return
        if scenario.lacking:
            yield from request_steps.without_mode(scenario.mode)
        psu = yield from request_steps.customer(self.lifecycle)
        plain = request_steps.request(self.lifecycle, psu)
        variation = f"in the mode {scenario.mode}"
        call = request_steps.request(self.lifecycle, psu, scenario.mode, variation=variation)
        if self.lifecycle.signed:
            control = yield from steps.send(plain)
            made = yield from steps.send(call)
        else:  # the plain one is executed at once, and the other could be its repeat
            made = yield from steps.send(call)
            control = yield from steps.send(plain)
        yield from sign_and_read(self.lifecycle, control, made)

    def _try_again(self, psu: Subject, asked: Sequence[Exchange]) -> Script:
        """Make what was refused, which may be for repeating something, with another amount.

        The same is made in a mode that was accepted, as the control.
        """
        accepted = next((exchange.call.mode for exchange in asked if exchange.accepted), None)
        for exchange in asked:
            amount = unrepeated_amount(self.lifecycle, exchange)
            if exchange.refused and accepted is not None and amount is not None:
                given = {self.lifecycle.create.amount or "": amount}
                for mode in (exchange.call.mode, accepted):
                    yield from steps.send(request_steps.request(self.lifecycle, psu, mode, given))

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
