"""`unsupported-mode`: a mode that is not supported is refused or changes nothing.

Written for history modes: "changes nothing" means no entry older than the usual limit. The
control is the same call without the mode.

The TPP: it does not use the mode.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from assay.contract.model import Capability, Operation
from assay.history import Call, History, Holding
from assay.rules import operation_parameters, parameters, steps
from assay.rules.facets import BarredMode, SchemaPiece
from assay.rules.queries import PageWalk, bare, oldest_date, page_walks
from assay.rules.rule import (
    Calls,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Scope,
    Script,
    TppFacet,
    bound,
    consent,
    needs,
)
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Evidence, describe_answer, tpp_evidence

FACET = "gives-no-more"
#: The TPP's obligation.
TPP_FACET = "mode-not-asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsupportedMode(Kind):
    """An operation with a mode that it does not support, and its depth without the mode."""

    name = "unsupported-mode"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.LIMIT
    limits = ("mode", "days")

    operation: Operation = parameters.operation()
    mode: str = parameters.mode()
    days: int = parameters.whole(key="days")
    grant: Operation | None = parameters.grant()
    owner: str = operation_parameters.owner()
    zone: ZoneInfo | None = parameters.the_zone()

    def schema_pieces(self) -> Iterator[SchemaPiece]:
        """Yield the mode that is never valid."""
        yield BarredMode(operation=self.operation.id, mode=self.mode, word="unsupported")

    def facets(self) -> tuple[Facet, ...]:
        """Return the only facet."""
        return (
            Facet(
                id=FACET,
                description=f"a call with {self.mode} is refused or returns nothing older than {self.days} days",
                scenario=Scenario(id="asked"),
                needs=needs(Capability.PSU, Capability.ROSTER, Capability.ENTRIES)
                | consent(self.grant),
                requires=(*bound(self.operation, "mode", self.mode), *bound(self.operation, "on")),
            ),
        )

    def probe(self, scenario: Scenario) -> Script:
        """Call without the mode, then with it, then with it for older entries."""
        today = (yield from steps.clock()).date()
        old = timedelta(days=self.days + 60)
        entries = steps.days_before(today, 1, self.days + 1, self.days + 30, self.days + 60)
        psu = yield from steps.arrange("psu", Holding(resource=self.owner, entries=entries))
        key = psu.owns[0].key
        yield from steps.grant(self.grant, "psu", key)
        plain = steps.arguments(self.operation, key)
        yield from steps.walk(Call(operation=self.operation.id, subject="psu", arguments=plain))
        questions = [plain]
        if self.operation.since:
            questions.append({**plain, self.operation.since: str(today - old)})
        for arguments in questions:
            yield from steps.walk(
                Call(
                    operation=self.operation.id,
                    subject="psu",
                    arguments=arguments,
                    mode=self.mode,
                    variation=f"in the mode {self.mode}",
                )
            )

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every walk in the mode about a resource that was shown without it."""
        subjects = history.subjects
        walks = tuple(page_walks(history, self.operation.id, self.contract))
        controlled = {
            self._about(walk)
            for walk in walks
            if walk.call.mode is None
            and walk.ended
            and walk.items
            and bare(walk.call, self.operation)
        }
        for walk in walks:
            subject, key = self._about(walk)
            if walk.call.mode == self.mode and (subject, key) in controlled:
                owned = subjects[subject].owned(key) if subject in subjects else None
                limit = oldest_date(walk.pages[0].at, self.days, self.zone)
                has_older = owned is not None and any(entry.on < limit for entry in owned.entries)
                yield from _judge(walk, limit, has_older=has_older)

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description=f"{self.mode} is not used",
            requires=bound(self.operation, "mode", self.mode),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every call of the operation; page turns ask for nothing new."""
        owed = f"{self.mode} is not used: it is unsupported"
        for exchange in history.exchanges:
            if exchange.call.operation == self.operation.id and exchange.call.follow is None:
                used = exchange.call.mode == self.mode
                done = "it is used" if used else "it is not used"
                yield tpp_evidence(TPP_FACET, DISAGREES if used else AGREES, exchange, owed, done)

    def _about(self, walk: PageWalk) -> tuple[str, str]:
        return walk.call.subject, str(walk.call.arguments.get(self.operation.about or ""))


def _judge(walk: PageWalk, limit: date, *, has_older: bool) -> Iterator[Evidence]:
    """Judge a walk; `has_older` says whether older entries exist that it could show."""
    first = walk.pages[0]
    older = [item for item in walk.items if item.on and item.on < limit]
    undated = any(item.on is None for item in walk.items)
    if older:
        agreement = DISAGREES
    elif first.refused or (walk.ended and has_older and not undated):
        agreement = AGREES
    elif walk.ended and not has_older:
        return
    else:
        agreement = UNCLEAR
    evidence = Evidence(
        facet=FACET,
        agreement=agreement,
        expected=f"a refusal, or no entry before {limit}",
        seen=f"{len(older)} items are older" if older else describe_answer(first),
        exchanges=walk.numbers,
        variation=walk.call.variation,
    )
    yield walk.showing(evidence, lambda item: item in older, "on")
