"""Whether who arranges things answers, and fits what the profile says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast
from urllib.parse import urlsplit

from assay.binding.target import FixtureKind
from assay.contract.model import Capability
from assay.doctor.context import DoctorContext
from assay.doctor.finding import Finding, Weight, at
from assay.errors import TargetError
from assay.fixtures.protocol import FixtureProvider
from assay.transport.protocol import PREFIX

__all__ = ["answers", "zone"]

API: Final = "assay-control/1"
DENIED: Final = frozenset({401, 403})
#: What the control API calls what a profile says that it offers.
CAPABILITIES: Final[Mapping[Capability, str]] = {
    Capability.PSU: "customers",
    Capability.TWO_PSU: "customers",
    Capability.CLOCK: "clock",
    Capability.ROSTER: "roster",
    Capability.CONSENT: "consent",
    Capability.CREDENTIALS: "credentials",
    Capability.PROVIDERS: "providers",
    Capability.REGISTRATIONS: "creditors",
    Capability.SEGMENTS: "segments",
    Capability.BANKS: "offers",
    Capability.EFFECTS: "executions",
    Capability.DIRECT_ACCESS: "cancel",
}


def answers(patient: DoctorContext) -> Iterator[Finding]:
    """Ask the control API what it is; a world of another kind is not asked."""
    target, environment = patient.target, patient.environment
    fixtures = target.fixtures
    if environment is None or fixtures.kind is not FixtureKind.CONTROL:
        if fixtures.kind is FixtureKind.NONE:
            what, weight = "none, so that nothing can be called for anybody", Weight.UNSEEN
            yield at(target, ("fixtures",), "a world", what, weight=weight)
        return
    place = ("fixtures", "url") if fixtures.url else ("base_url",)
    expected = f"the control API ({API}) below it"
    status, told, why = 0, None, ""
    try:
        status, told = environment.client.control("GET", "/", None)
    except TargetError as error:
        why = str(error)
    if status in DENIED and fixtures.key_env:
        found = f"{status}: the key is not taken"
        yield at(target, ("fixtures", "key_env"), "the control API's key", found)
    elif isinstance(told, dict) and cast("dict[str, Any]", told).get("api") == API:
        yield from _capabilities(patient, cast("dict[str, Any]", told))
    elif not _opens(environment.fixtures):
        found = why or f"status {status}, and not it"
        yield at(target, place, expected, found, _elsewhere(patient))


def _opens(fixtures: FixtureProvider) -> bool:
    """Whether a world can be made: an API that makes one need not tell what it is."""
    try:
        fixtures.open().close()
    except TargetError:
        return False
    return True


def _elsewhere(patient: DoctorContext) -> str:
    """Say where to look: the API is often at the root of the host, not below a path."""
    where = patient.target.fixtures.url or patient.target.base_url
    path = urlsplit(where).path.rstrip("/")
    hint = f"it is looked for at {where}{PREFIX}/"
    if path:
        hint += f"; is the path {path} right, or should fixtures.url name another place?"
    return hint


def _capabilities(patient: DoctorContext, told: Mapping[str, Any]) -> Iterator[Finding]:
    """Compare what the profile says is offered with what the API says."""
    listed = told.get("capabilities")
    if not isinstance(listed, list):
        return
    for one in sorted(patient.target.fixtures.offers, key=lambda one: one.value):
        needed = CAPABILITIES.get(one)
        if needed and needed not in listed:
            what = f"no {needed!r} among the API's capabilities"
            yield at(patient.target, ("fixtures", "offers"), f"{one.value} to be offered", what)


def zone(patient: DoctorContext) -> Iterator[Finding]:
    """Compare the zone with the offset of the world's own clock."""
    zone = patient.target.zone
    if zone is None or patient.target.fixtures.kind is not FixtureKind.CONTROL:
        return
    for subject in list(patient.subjects.values())[:1]:
        theirs, ours = subject.now.utcoffset(), subject.now.astimezone(zone).utcoffset()
        if theirs and theirs != ours:
            what = f"a clock at {subject.now.strftime('%z')}"
            expected = f"the bank's day to be that of {zone.key}"
            yield at(patient.target, ("zone",), expected, what, weight=Weight.DOUBT)
