"""The provider's side of the rule kinds: one file each, gathered in a table that anybody can see.

A clause binds whoever calls as well as whoever answers: a bank serves four calls a day,
and a provider asks no more. Every duty is tied to a clause of the contract and judges any
history; it is never probed, for nobody makes a provider do wrong. What a kind says of the
bank alone has no entry here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.rules.client import (
    addressed,
    cancellation,
    consent_scope,
    duplicate,
    fixed,
    history_depth,
    host_affinity,
    mandatory,
    modes,
    modification,
    no_credentials,
    quota,
    unavailable,
    unsupported_mode,
)
from assay.rules.rule import Duty

DUTIES: Mapping[str, Duty[Any]] = {
    "unavailable": unavailable.DUTY,
    "unsupported-mode": unsupported_mode.DUTY,
    "history-depth": history_depth.DUTY,
    "consent-scope": consent_scope.DUTY,
    "no-credentials": no_credentials.DUTY,
    "quota": quota.DUTY,
    "host-affinity": host_affinity.DUTY,
    "addressed": addressed.DUTY,
    "modes": modes.DUTY,
    "mandatory": mandatory.DUTY,
    "fixed": fixed.DUTY,
    "modification": modification.DUTY,
    "cancellation": cancellation.DUTY,
    "duplicate": duplicate.DUTY,
}
