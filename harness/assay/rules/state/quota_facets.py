"""Facets of `quota`: what has a trial of its own, and those about the counts of consents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assay.contract.model import Capability, Operation
from assay.rules.consents import GIVEN
from assay.rules.rule import Facet, Scenario, bound
from assay.rules.state.periods import PeriodWords
from assay.rules.state.quota_judgement import PER_CONSENT
from assay.rules.state.quota_limit import FEWER, MORE, QuotaLimit


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaScenario(Scenario):
    """A quota to use up: that of one operation, or of all if `operation` is None.

    If `crosses`, the operation is called again in the next period.
    """

    operation: Operation | None = None
    crosses: bool = False


def facet(
    id_: str, description: str, scenario: QuotaScenario, needed: frozenset[Capability]
) -> Facet:
    """Return a facet of a quota."""
    return Facet(id=id_, description=description, scenario=scenario, needs=needed)


def limit_facets(
    limit: QuotaLimit,
    operations: Sequence[Operation],
    words: PeriodWords,
    needed: frozenset[Capability],
) -> Iterator[Facet]:
    """Yield what must be served of each operation, and then what must be refused."""
    served = f"the first {limit.number} calls {words.with_article} are served"
    too_many = f"call {limit.number + 1} of {words.with_article} is refused"
    for word, description in (("served", served), ("refused", too_many)):
        for operation in operations:
            scenario = QuotaScenario(id=f"{operation.id}:limit", operation=operation)
            yield facet(f"{operation.id}-{word}", description, scenario, needed)


def consent_facets(
    limit: QuotaLimit,
    grant: Operation,
    words: PeriodWords,
    plain: frozenset[Capability],
    apart: frozenset[Capability],
) -> Iterator[Facet]:
    """Yield facets about the count of each consent, and the numbers that consents name.

    `plain` is what a facet needs, `apart` one whose control calls may come in a later period.
    """
    asked = [(PER_CONSENT, "a new consent has its own count", apart)]
    for id_, most, number in ((FEWER, limit.fewer, limit.fewer), (MORE, limit.number, limit.more)):
        if number:
            text = f"call {most + 1} of {words.with_article} is refused where the consent names"
            asked.append((id_, f"{text} {number}", plain))
    for id_, description, needed in asked:
        yield replace(
            facet(id_, description, QuotaScenario(id=id_), needed),
            requires=bound(grant, "argument", (limit.argument,)),
            not_applicable_because=GIVEN if grant.given else "",
        )
