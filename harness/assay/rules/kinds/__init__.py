"""The rule kinds: one file each, gathered in a table that anybody can see.

To add one: write `<kind>.py` with a `RULE`, add its schema fragment under
`contract/schema/rules`, put it into the table below, and give the sandbox a
mutant for each of its facets. Other packages add theirs by the entry-point
group `assay.rules.kinds`, whose values are `Rule`s.

What is no kind is what kinds are written with: `rule`, `script`, `folds`, `consents`,
`counts`, `periods`, `answers`, `ranges`, `calendar`, `params` and `formats` here; `requests` for kinds about
requests; `conditions` for those of a decision. The provider's side of the kinds is in `duties`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from assay.rules.kinds import (
    addressed,
    available,
    cancellation,
    consent_scope,
    consistent,
    decision,
    disclosed_when,
    duplicate,
    eligibility,
    eligible_for,
    factors,
    field,
    fixed,
    gives_back,
    history_depth,
    host_affinity,
    listing,
    maintenance_window,
    mandatory,
    modes,
    modification,
    no_credentials,
    notice,
    pagination,
    quota,
    return_address,
    segments,
    timeout,
    unavailable,
    unmetered,
    unsupported_mode,
    well_formed,
)
from assay.rules.rule import Rule

RULES: Mapping[str, Rule[Any]] = {
    "available": available.RULE,
    "unavailable": unavailable.RULE,
    "unsupported-mode": unsupported_mode.RULE,
    "listing": listing.RULE,
    "eligibility": eligibility.RULE,
    "pagination": pagination.RULE,
    "history-depth": history_depth.RULE,
    "field": field.RULE,
    "consent-scope": consent_scope.RULE,
    "disclosed-when": disclosed_when.RULE,
    "no-credentials": no_credentials.RULE,
    "quota": quota.RULE,
    "unmetered": unmetered.RULE,
    "host-affinity": host_affinity.RULE,
    "maintenance-window": maintenance_window.RULE,
    "gives-back": gives_back.RULE,
    "addressed": addressed.RULE,
    "modes": modes.RULE,
    "segments": segments.RULE,
    "eligible-for": eligible_for.RULE,
    "mandatory": mandatory.RULE,
    "fixed": fixed.RULE,
    "modification": modification.RULE,
    "cancellation": cancellation.RULE,
    "notice": notice.RULE,
    "factors": factors.RULE,
    "timeout": timeout.RULE,
    "return-address": return_address.RULE,
    "duplicate": duplicate.RULE,
    "decision": decision.RULE,
    "well-formed": well_formed.RULE,
    "consistent": consistent.RULE,
}


@cache
def installed() -> Mapping[str, Rule[Any]]:
    """Return the kinds that installed packages add to the table."""
    from importlib.metadata import entry_points  # noqa: PLC0415 -- slow, and seldom needed

    return {point.name: point.load() for point in entry_points(group="assay.rules")}


def rule_of(kind: str) -> Rule[Any]:
    """Return the rule of a kind, one of ours or one that a package adds.

    Raises:
        KeyError: there is no such kind.

    """
    return RULES[kind] if kind in RULES else installed()[kind]
