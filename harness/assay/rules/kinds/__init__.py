"""The table of rule kinds; each kind is one class in the module of its name.

To add a kind, write its class, add it to the table below, and write a sandbox mutant for
each facet and literal histories for its check. Other packages add kinds through the
entry-point group `assay.rules`, whose values are classes derived from `assay.rules.rule.Kind`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from assay.contract.files.load import dump
from assay.rules.kinds.addressed import Addressed
from assay.rules.kinds.available import Available
from assay.rules.kinds.cancellation import Cancellation
from assay.rules.kinds.consent_authorisation import ConsentAuthorisation
from assay.rules.kinds.consent_effect import ConsentEffect
from assay.rules.kinds.consent_field import ConsentField
from assay.rules.kinds.consent_history import ConsentHistory
from assay.rules.kinds.consent_mode import ConsentMode
from assay.rules.kinds.consent_replacement import ConsentReplacement
from assay.rules.kinds.consent_revocation import ConsentRevocation
from assay.rules.kinds.consent_scope import ConsentScope
from assay.rules.kinds.consent_validity import ConsentValidity
from assay.rules.kinds.consistent import Consistent
from assay.rules.kinds.decision import DecisionRule
from assay.rules.kinds.disclosed_when import DisclosedWhen
from assay.rules.kinds.duplicate import Duplicate
from assay.rules.kinds.echo import Echo
from assay.rules.kinds.eligibility import Eligibility
from assay.rules.kinds.eligible_for import EligibleFor
from assay.rules.kinds.error_body import ErrorBodyRule
from assay.rules.kinds.execution import Execution
from assay.rules.kinds.factors import Factors
from assay.rules.kinds.field import Field
from assay.rules.kinds.filter import Filter
from assay.rules.kinds.fixed import Fixed
from assay.rules.kinds.gives_back import GivesBack
from assay.rules.kinds.history_depth import HistoryDepth
from assay.rules.kinds.host_affinity import HostAffinity
from assay.rules.kinds.idempotency import Idempotency
from assay.rules.kinds.listing import Listing
from assay.rules.kinds.maintenance_window import MaintenanceWindow
from assay.rules.kinds.mandatory import Mandatory
from assay.rules.kinds.modes import Modes
from assay.rules.kinds.modification import Modification
from assay.rules.kinds.no_credentials import NoCredentials
from assay.rules.kinds.notice import Notice
from assay.rules.kinds.own_data import OwnData
from assay.rules.kinds.pagination import Pagination
from assay.rules.kinds.quota import Quota
from assay.rules.kinds.request_field import RequestField
from assay.rules.kinds.required import Required
from assay.rules.kinds.return_address import ReturnAddress
from assay.rules.kinds.segments import Segments
from assay.rules.kinds.states import States
from assay.rules.kinds.timeout import Timeout
from assay.rules.kinds.token_required import TokenRequired
from assay.rules.kinds.unavailable import UnavailableOperation
from assay.rules.kinds.unmetered import Unmetered
from assay.rules.kinds.unsupported_mode import UnsupportedMode
from assay.rules.kinds.well_formed import WellFormed
from assay.rules.kinds.withstands import Withstands
from assay.rules.parameter_declaration import COMMON
from assay.rules.rule import Kind

KINDS: Mapping[str, type[Kind]] = {
    each.name: each
    for each in (
        Available,
        UnavailableOperation,
        UnsupportedMode,
        Listing,
        Eligibility,
        Pagination,
        HistoryDepth,
        Field,
        ConsentScope,
        ConsentEffect,
        ConsentAuthorisation,
        ConsentValidity,
        ConsentRevocation,
        ConsentReplacement,
        ConsentHistory,
        ConsentMode,
        ConsentField,
        OwnData,
        DisclosedWhen,
        NoCredentials,
        TokenRequired,
        Quota,
        Unmetered,
        HostAffinity,
        MaintenanceWindow,
        GivesBack,
        Addressed,
        Modes,
        Segments,
        EligibleFor,
        Mandatory,
        Fixed,
        Modification,
        Cancellation,
        Notice,
        Factors,
        Timeout,
        ReturnAddress,
        Duplicate,
        DecisionRule,
        WellFormed,
        Withstands,
        Consistent,
        Execution,
        Required,
        Echo,
        Idempotency,
        States,
        RequestField,
        Filter,
        ErrorBodyRule,
    )
}


@cache
def installed() -> Mapping[str, type[Kind]]:
    """Return the kinds that installed packages add."""
    from importlib.metadata import entry_points  # noqa: PLC0415 -- slow, and seldom needed

    return {point.name: point.load() for point in entry_points(group="assay.rules")}


def find_kind(name: str) -> type[Kind] | None:
    """Return the built-in or installed kind with this name, or None."""
    return KINDS[name] if name in KINDS else installed().get(name)


def kind_of(name: str) -> type[Kind]:
    """Return the built-in or installed kind with this name.

    Raises:
        KeyError: there is no such kind.

    """
    return KINDS[name] if name in KINDS else installed()[name]


def published_schema(kind: type[Kind]) -> str:
    """Return the schema of a kind as the file of its name in contract/schema/rules."""
    comment = "# Generated from the declared parameters of the kind; a test compares the two.\n"
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **kind.schema()}
    return comment + dump(schema).replace(COMMON, f"../{COMMON}")
