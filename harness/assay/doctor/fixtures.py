"""Whether who arranges things answers, and fits what the profile says of it.

Whether the screens on which a customer signs have the fields that the profile knows.

And what came of the signature: whether the world tells it in the fields that are spelt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast
from urllib.parse import urlsplit

from assay.binding.target import FixtureKind, ScaKind, Target
from assay.contract.model import Capability
from assay.doctor.context import DoctorContext
from assay.doctor.finding import Finding, Weight, at
from assay.doctor.pointer_probe import nearest
from assay.errors import TargetError
from assay.fixtures.protocol import FixtureProvider
from assay.history import Authorised, Ending, Wire
from assay.sca.html_forms import Form, forms
from assay.transport.protocol import PREFIX

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


_MOST = 12


def screens(patient: DoctorContext) -> Iterator[Finding]:
    """Judge every way through the screens."""
    made = any(one.operation.makes and one.exchange.accepted for one in patient.answers)
    if made and not patient.signed and patient.target.sca.kind is not ScaKind.NONE:
        what = "none that was walked"
        yield at(patient.target, ("sca",), "screens to sign on", what, weight=Weight.UNSEEN)
    for event, page in patient.signed:
        yield from _factors(patient, event)
        if event.ending is not Ending.CONFIRMED:
            yield from _stopped(patient, event, page)


def _stopped(patient: DoctorContext, event: Authorised, page: Wire) -> Iterator[Finding]:
    """Say at which screen the way ended, and what it asks for."""
    target = patient.target
    shown = list(forms(page.body)) if target.sca.kind is ScaKind.FORMS else []
    if target.sca.kind is ScaKind.CONTROL or not shown:
        why = event.why or event.ending.value
        sent_off = event.ending is Ending.DISCONNECTED and not target.fixtures.roles
        weight = Weight.UNSEEN if sent_off else Weight.DOUBT
        yield at(target, ("sca",), "the request to be signed", why, weight=weight)
        return
    names = sorted({name for form in shown for name in form.names})[:_MOST]
    known = [screen for screen in target.sca.screens if screen.keys() <= set(names)]
    if known:
        yield from _filled(patient, event, known[0], shown)
        return
    place, hint = _meant(target, names, event.screens)
    asked = patient.redactor.bounded(", ".join(names), 120)
    yield at(target, place, "a screen of the profile", f"one that asks for {asked}", hint)


def _meant(
    target: Target, names: Sequence[str], seen: Sequence[str]
) -> tuple[tuple[str | int, ...], str]:
    """Return the field that a screen of the profile misspells, the likeliest of them.

    Where no name is like any, it is the first screen that did not come yet.
    """
    best: tuple[int, tuple[str | int, ...], str] = (-1, ("sca", "screens"), "")
    for n, screen in enumerate(target.sca.screens):
        if set(screen.values()) <= set(seen):
            continue
        wrong = [name for name in screen if name not in names]
        meant = {name: nearest(name, names) for name in wrong}
        score = 2 * (len(screen) - len(wrong)) + sum(map(bool, meant.values()))
        place = next((name for name in wrong if meant[name]), wrong[0] if wrong else "")
        if score > best[0] and place:
            hint = f"did you mean {meant[place]}?" if meant[place] else ""
            best = score, ("sca", "screens", n, place), hint
    return best[1], best[2]


def _filled(
    patient: DoctorContext, event: Authorised, screen: Mapping[str, str], shown: Sequence[Form]
) -> Iterator[Finding]:
    """Say what is wrong with what a known screen was filled in with."""
    target, choices = patient.target, {k: v for one in shown for k, v in one.choices.items()}
    for name, what in screen.items():
        offered = choices.get(name, [])
        word = event.step.decision.value
        spelt = target.sca.decisions.get(word, word)
        if what == "decision" and offered and spelt not in offered:
            hint = f"did you mean {nearest(spelt, offered) or offered[0]}?"
            found = f"{', '.join(offered[:_MOST])} on the screen"
            yield at(target, ("sca", "decisions", word), repr(spelt), found, hint)
            return
    n = list(target.sca.screens).index(screen)
    why = event.why or event.ending.value
    yield at(target, ("sca", "screens", n), "the screen to lead on", why, weight=Weight.DOUBT)


def _factors(patient: DoctorContext, event: Authorised) -> Iterator[Finding]:
    """Say which factor on the screen has no word, or is misspelt."""
    spelt = patient.target.sca.factors
    for shown in event.unspelt:
        said = patient.redactor.bounded(shown, 40)
        loose = [name for name, one in spelt.items() if one not in (event.offered or ())]
        missing = [name for name in loose if name == shown or nearest(spelt[name], [shown])]
        place = ("sca", "factors", *missing[:1])
        found = f"{said!r} on the screen"
        weight = Weight.FAULT if missing else Weight.UNSEEN
        expected = "factors that the profile has a word for"
        hint = f"did you mean {missing[0]}: {said}?" if missing else f"add a word for {said}"
        yield at(patient.target, place, expected, found, hint, weight=weight)


def effects(patient: DoctorContext) -> Iterator[Finding]:
    """Judge whether what was carried out is told where the profile points."""
    done = [one for told in patient.told for one in told.done or ()]
    for name in patient.target.fixtures.effects if done else ():
        if not any(name in one.fields for one in done):
            pointer = patient.target.fixtures.effects[name]
            place = ("fixtures", "effects", name)
            yield at(
                patient.target, place, f"{name} of what was carried out", f"nothing at {pointer}"
            )
