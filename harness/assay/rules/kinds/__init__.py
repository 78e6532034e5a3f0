"""The table of rule kinds; each kind is one class in the module of its name, in the room of its subject.

`python harness/tests/support/new_kind.py NAME ROOM` writes the files of a new one. Other packages
add kinds through the entry-point group `assay.rules`, whose values are classes derived from
`assay.rules.rule.Kind`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from assay.contract.model import Json
from assay.files.load import dump
from assay.rules.kinds.access.eligible_for import EligibleFor
from assay.rules.kinds.access.host_affinity import HostAffinity
from assay.rules.kinds.access.maintenance_window import MaintenanceWindow
from assay.rules.kinds.access.no_credentials import NoCredentials
from assay.rules.kinds.access.own_data import OwnData
from assay.rules.kinds.access.quota import Quota
from assay.rules.kinds.access.segments import Segments
from assay.rules.kinds.access.token_required import TokenRequired
from assay.rules.kinds.access.unmetered import Unmetered
from assay.rules.kinds.consents.consent_authorisation import ConsentAuthorisation
from assay.rules.kinds.consents.consent_effect import ConsentEffect
from assay.rules.kinds.consents.consent_field import ConsentField
from assay.rules.kinds.consents.consent_history import ConsentHistory
from assay.rules.kinds.consents.consent_mode import ConsentMode
from assay.rules.kinds.consents.consent_replacement import ConsentReplacement
from assay.rules.kinds.consents.consent_revocation import ConsentRevocation
from assay.rules.kinds.consents.consent_scope import ConsentScope
from assay.rules.kinds.consents.consent_validity import ConsentValidity
from assay.rules.kinds.reading.addressed import Addressed
from assay.rules.kinds.reading.available import Available
from assay.rules.kinds.reading.disclosed_when import DisclosedWhen
from assay.rules.kinds.reading.documented import Documented
from assay.rules.kinds.reading.echo import Echo
from assay.rules.kinds.reading.eligibility import Eligibility
from assay.rules.kinds.reading.error_body import ErrorBodyRule
from assay.rules.kinds.reading.field import Field
from assay.rules.kinds.reading.filter import Filter
from assay.rules.kinds.reading.history_depth import HistoryDepth
from assay.rules.kinds.reading.listing import Listing
from assay.rules.kinds.reading.pagination import Pagination
from assay.rules.kinds.reading.unavailable import UnavailableOperation
from assay.rules.kinds.reading.unsupported_mode import UnsupportedMode
from assay.rules.kinds.requests.cancellation import Cancellation
from assay.rules.kinds.requests.consistent import Consistent
from assay.rules.kinds.requests.decision import DecisionRule
from assay.rules.kinds.requests.deletion import Deletion
from assay.rules.kinds.requests.duplicate import Duplicate
from assay.rules.kinds.requests.execution import Execution
from assay.rules.kinds.requests.factors import Factors
from assay.rules.kinds.requests.fixed import Fixed
from assay.rules.kinds.requests.gives_back import GivesBack
from assay.rules.kinds.requests.idempotency import Idempotency
from assay.rules.kinds.requests.mandatory import Mandatory
from assay.rules.kinds.requests.modes import Modes
from assay.rules.kinds.requests.modification import Modification
from assay.rules.kinds.requests.notice import Notice
from assay.rules.kinds.requests.request_field import RequestField
from assay.rules.kinds.requests.required import Required
from assay.rules.kinds.requests.return_address import ReturnAddress
from assay.rules.kinds.requests.states import States
from assay.rules.kinds.requests.submission import Submission
from assay.rules.kinds.requests.timeout import Timeout
from assay.rules.kinds.requests.well_formed import WellFormed
from assay.rules.kinds.requests.withstands import Withstands
from assay.rules.obligation import UNSPECIFIED
from assay.rules.parameters import COMMON
from assay.rules.rule import Kind

#: The built-in kinds by the room of their subject: the suites have one test for each room.
ROOMS: Mapping[str, Sequence[type[Kind]]] = {
    "reading": (
        Available,
        UnavailableOperation,
        UnsupportedMode,
        Listing,
        Eligibility,
        Pagination,
        HistoryDepth,
        Field,
        DisclosedWhen,
        Addressed,
        Echo,
        Filter,
        ErrorBodyRule,
        Documented,
    ),
    "access": (
        OwnData,
        NoCredentials,
        TokenRequired,
        Quota,
        Unmetered,
        HostAffinity,
        MaintenanceWindow,
        Segments,
        EligibleFor,
    ),
    "consents": (
        ConsentScope,
        ConsentEffect,
        ConsentAuthorisation,
        ConsentValidity,
        ConsentRevocation,
        ConsentReplacement,
        ConsentHistory,
        ConsentMode,
        ConsentField,
    ),
    "requests": (
        GivesBack,
        Modes,
        Mandatory,
        Fixed,
        Modification,
        Cancellation,
        Deletion,
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
        Idempotency,
        States,
        RequestField,
        Submission,
    ),
}
#: The built-in kinds by name.
KINDS: Mapping[str, type[Kind]] = {kind.name: kind for kinds in ROOMS.values() for kind in kinds}


@cache
def installed() -> Mapping[str, type[Kind]]:
    """Return the kinds that installed packages add."""
    from importlib.metadata import entry_points  # noqa: PLC0415 -- slow, and seldom needed

    return {point.name: point.load() for point in entry_points(group="assay.rules")}


def find_kind(name: str) -> type[Kind] | None:
    """Return the built-in or installed kind with this name, or None."""
    return KINDS[name] if name in KINDS else installed().get(name)


def schema_of(name: str) -> Mapping[str, Json] | None:
    """Return the JSON Schema of the clauses of a kind, or None if there is no such kind."""
    kind = find_kind(name)
    return None if kind is None else kind.schema()


def kind_of(name: str) -> type[Kind]:
    """Return the built-in or installed kind with this name.

    Raises:
        KeyError: there is no such kind.

    """
    return KINDS[name] if name in KINDS else installed()[name]


def room_of(name: str) -> str:
    """Return the room of a built-in kind, or the word for kinds of packages or for open points."""
    if name in KINDS:
        return next(room for room, kinds in ROOMS.items() if KINDS[name] in kinds)
    return UNSPECIFIED if name == UNSPECIFIED else "packages"


def published_schema(kind: type[Kind]) -> str:
    """Return the schema of a kind as the file of its name in contract/schema/rules."""
    comment = "# Generated from the declared parameters of the kind; a test compares the two.\n"
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **kind.schema()}
    return comment + dump(schema).replace(COMMON, f"../{COMMON}")
