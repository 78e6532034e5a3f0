"""Checks of the test data: fixture provider, time zone, SCA screens and executed payments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final, cast
from urllib.parse import parse_qsl, urlsplit

from assay.binding.model.target import FixtureKind, ScaKind, Target
from assay.contract.model import Capability, Json
from assay.errors import TargetError, did_you_mean
from assay.files.document import Pointer, found
from assay.files.edits import Edit, flow
from assay.fixtures.protocol import FixtureProvider
from assay.history import (
    Advanced,
    Authorised,
    Effect,
    Effects,
    Ending,
    Event,
    Exchange,
    State,
    Wire,
    Withdrawn,
)
from assay.onboarding.doctor.items import alike, unit_of
from assay.onboarding.doctor.offers import begin, place_of
from assay.onboarding.doctor.pointer_probe import is_day, nearest
from assay.onboarding.doctor.probes import DENIED, PAST, SEGMENT, TWIN, WAITING, WITHDRAWN
from assay.onboarding.doctor.record import Examined, Finding, SeenAnswer, Weight
from assay.onboarding.signer_guess import asked_by
from assay.rules.lifecycle.request_queries import split_url
from assay.rules.rule import facts_of
from assay.rules.state.calendar import local, local_day
from assay.sca.html_forms import Form, forms
from assay.transport.protocol import CONTROL_PATH

API: Final = "assay-control/1"
_REFUSED: Final = frozenset({401, 403})
#: The control API's names of the capabilities that a target file can offer.
CAPABILITIES: Final[Mapping[Capability, str]] = {
    Capability.PSU: "customers",
    Capability.TWO_PSU: "customers",
    Capability.CLOCK: "clock",
    Capability.ROSTER: "roster",
    Capability.CONSENT: "consent",
    Capability.CREDENTIALS: "credentials",
    Capability.TPPS: "tpps",
    Capability.TPP_TOKENS: "tpp-tokens",
    Capability.REGISTRATIONS: "creditors",
    Capability.SEGMENTS: "segments",
    Capability.BANKS: "offers",
    Capability.EFFECTS: "executions",
    Capability.DIRECT_ACCESS: "cancel",
    Capability.RENEWAL: "tokens",
}


def answers(record: Examined) -> Iterator[Finding]:
    """Check that the control API answers, and has the capabilities that the file offers."""
    target, environment = record.target, record.environment
    fixtures = target.fixtures
    if fixtures.kind is FixtureKind.PYTHON:
        begin(record)
        return
    if environment is None or fixtures.kind is not FixtureKind.CONTROL:
        if fixtures.kind is FixtureKind.NONE:
            found, weight = "none: no call can be made without a customer", Weight.UNSEEN
            yield record.finding(("fixtures",), "a fixture provider", found, weight=weight)
        return
    place = ("fixtures", "url") if fixtures.url else ("base_url",)
    expected = f"the control API ({API}) below it"
    status, body, reason = 0, None, ""
    try:
        status, body = environment.client.control("GET", "/", None)
    except TargetError as error:
        reason = str(error)
    if status in _REFUSED and fixtures.key_env:
        key, found = ("fixtures", "key_env"), f"{status}: the key is refused"
        yield record.finding(key, "the control API's key", found, weight=Weight.FAULT)
    elif isinstance(body, dict) and cast("dict[str, Any]", body).get("api") == API:
        yield from _capabilities(record, cast("dict[str, Any]", body))
        begin(record)
    elif not _opens(environment.fixtures):
        found = reason or f"status {status} and another body"
        yield record.finding(place, expected, found, _elsewhere(record), weight=Weight.FAULT)


def _opens(fixtures: FixtureProvider) -> bool:
    """Whether the provider works, even if its API does not describe itself."""
    try:
        fixtures.open().close()
    except TargetError:
        return False
    return True


def _elsewhere(record: Examined) -> str:
    """Return a hint at the URL: the API is often at the root of the host."""
    where = record.target.fixtures.url or record.target.base_url
    path = urlsplit(where).path.rstrip("/")
    hint = f"requested at {where}{CONTROL_PATH}/"
    if path:
        hint += f"; is the path {path} right, or should fixtures.url be set?"
    return hint


def _capabilities(record: Examined, description: Mapping[str, Any]) -> Iterator[Finding]:
    """Compare the offers of the target file with the capabilities of the API."""
    listed = description.get("capabilities")
    if not isinstance(listed, list):
        return
    for offer in sorted(record.target.fixtures.offers, key=lambda offer: offer.value):
        needed = CAPABILITIES.get(offer)
        if needed and needed not in listed:
            expected = f"{needed!r} among the API's capabilities, for {offer.value}"
            yield record.finding(("fixtures", "offers"), expected, "none", weight=Weight.FAULT)


def zone(record: Examined) -> Iterator[Finding]:
    """Compare the zone with the offset of the bank's clock, as the fixture provider shows it."""
    zone, fixtures = record.target.zone, record.target.fixtures
    if zone is None or fixtures.kind is FixtureKind.ROLES:
        return
    if fixtures.kind is not FixtureKind.CONTROL and Capability.CLOCK not in fixtures.offers:
        return  # the clock may be that of the machine
    for subject in list(record.subjects.values())[:1]:
        theirs, ours = subject.now.utcoffset(), local(subject.now, zone).utcoffset()
        if theirs and theirs != ours:
            found = f"a clock at {subject.now.strftime('%z')}"
            expected = f"a clock of the zone {zone.key}"
            yield record.finding(("zone",), expected, found)


_MOST = 12


def screens(record: Examined) -> Iterator[Finding]:
    """Examine every visit of the SCA screens."""
    for event, page in record.signed:
        yield from _factors(record, event)
        yield from _codes(record, event)
        yield from _additions(record, event)
        if event.step.variation == DENIED and event.ending is Ending.CONFIRMED:
            found = "a decision that signs the request"
            place, expected = ("sca", "decisions", "refuse"), "a decision that refuses the request"
            yield record.finding(place, expected, found)
        elif event.ending is not Ending.CONFIRMED and not event.step.variation:
            yield from _stopped(record, event, page)
    yield from _offered_to_segments(record)


def _additions(record: Examined, event: Authorised) -> Iterator[Finding]:
    """Doubt a parameter in `adds` that a return address lacks, where it has a similar one."""
    sent = {
        name
        for answer in record.answers
        for value in answer.call.arguments.values()
        for name in _parameters(value)
    }
    added = _parameters(event.redirected) - sent - {*(event.adds or ())}
    for operation in record.operations:
        binding = record.target.operations.get(operation.id)
        spelling = binding.arguments.get(operation.returns or "") if binding else None
        if spelling is None or spelling.adds is None or spelling.adds != event.adds:
            continue
        for n, name in enumerate(spelling.adds):
            meant = nearest(name, sorted(added))
            if meant and name not in _parameters(event.redirected):
                argument = ("operations", operation.id, "arguments", operation.returns or "")
                expected, found = "a parameter that the bank adds", "none of this name"
                hint = f"did you mean {record.redactor.bounded(meant, 40)}?"
                yield record.finding((*argument, "adds", n), expected, found, hint)


def _parameters(url: object) -> set[str]:
    """Return the names of the query parameters of a URL; of anything else, none."""
    parts = split_url(url) if isinstance(url, str) else None
    return {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)} if parts else set()


def _offered_to_segments(record: Examined) -> Iterator[Finding]:
    """Report a factor in whose place the screens of a segment offer another one."""
    words = record.target.sca.factors
    for segment, expected, event in _signed_by_segments(record):
        offered = {*(event.offered or ())}
        missing, other = expected - offered, offered - expected
        if len(missing) == len(other) == 1 and missing | other <= words.keys():
            (factor,), (instead,) = missing, other
            found = f"{instead} in its place on the screens of {segment}"
            hint = f"are the words for {factor} and {instead} swapped?"
            place = ("sca", "factors", factor)
            yield record.finding(place, f"{factor} to be offered", found, hint)


def _signed_by_segments(record: Examined) -> Iterator[tuple[str, set[str], Authorised]]:
    """Yield each visit of the screens by a customer of a segment, and the factors of that."""
    for contract in record.contracts_bound:
        for operation in (each for each in contract.operations.values() if each.makes):
            by_segment = facts_of(contract).factors_by_segment.get(operation.makes or "", {})
            for segment, factors in by_segment.items():
                for event in record.events.get(f"{contract.id} {SEGMENT} {segment}", ()):
                    if isinstance(event, Authorised) and event.offered:
                        yield segment, {*factors}, event


def _stopped(record: Examined, event: Authorised, page: Wire) -> Iterator[Finding]:
    """Report the screen at which signing ended, and the fields of its form."""
    target = record.target
    shown = list(forms(page.body)) if target.sca.kind is ScaKind.FORMS else []
    if event.redirected and event.screens and target.sca.deciding not in event.screens:
        expected = f"a screen that asks for the {target.sca.deciding}"
        found = f"a redirect after the screens for {', '.join(event.screens)}"
        hint = f"does the form that asks for the {event.screens[-1]} confirm? (confirmed_by)"
        yield record.finding(("sca", "screens"), expected, found, hint, weight=Weight.DOUBT)
        return
    if target.sca.kind is ScaKind.CONTROL or not shown:
        found = event.why or event.ending.value
        disconnected = event.ending is Ending.DISCONNECTED and not target.fixtures.roles
        weight = Weight.UNSEEN if disconnected else Weight.DOUBT
        yield record.finding(("sca",), "the request to be signed", found, weight=weight)
        return
    names = sorted({name for form in shown for name in form.names})[:_MOST]
    known = [screen for screen in target.sca.screens if screen.keys() <= set(names)]
    if known:
        yield from _filled(record, event, known[0], shown)
        return
    place, hint = _misspelt(target, names, event.screens)
    buttons = (name for form in shown for name, given in form.choices.items() if len(given) == 1)
    asked = next(filter(None, (asked_by(form, record.contracts_bound) for form in shown)), None)
    if not hint and asked:
        hint = record.redactor.bounded(f"add the screen `{flow(asked)}`", 200)
    elif not hint and (button := next(buttons, "")):
        shown_button = record.redactor.bounded(button, 40)
        hint = f"if this page is only read, add the screen `{{{shown_button}: continue}}`"
    found = f"a screen that asks for {record.redactor.bounded(', '.join(names), 120)}"
    yield record.finding(place, "a screen listed in the target file", found, hint)


def _misspelt(
    target: Target, names: Sequence[str], seen: Sequence[str]
) -> tuple[tuple[str | int, ...], str]:
    """Return the likeliest misspelt field of a screen, and a hint.

    Where no name is similar, it is the first screen that was not seen yet.
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
    record: Examined, event: Authorised, screen: Mapping[str, str], shown: Sequence[Form]
) -> Iterator[Finding]:
    """Report what is wrong with the values that were entered into a known screen."""
    target, choices = record.target, {k: v for screen in shown for k, v in screen.choices.items()}
    for name, what in screen.items():
        offered = choices.get(name, [])
        word = event.step.decision.value
        sent = target.sca.decisions.get(word, word)
        if what == "decision" and offered and sent not in offered:
            near = nearest(sent, offered)
            hint = f"did you mean {near or offered[0]}?"
            found = f"{', '.join(offered[:_MOST])} on the screen"
            place: Pointer = ("sca", "decisions", word)
            edit = Edit(at=place, old=sent, new=near) if near else None
            yield record.finding(place, repr(sent), found, hint, edit=edit)
            return
    n = list(target.sca.screens).index(screen)
    found, expected = event.why or event.ending.value, "the form to lead to the next screen"
    yield record.finding(("sca", "screens", n), expected, found)


def _factors(record: Examined, event: Authorised) -> Iterator[Finding]:
    """Report factors on the screen that the target file does not have or misspells."""
    factors = record.target.sca.factors
    for shown in event.unspelt:
        masked = record.redactor.bounded(shown, 40)
        unseen = [name for name, word in factors.items() if word not in (event.offered or ())]
        similar = [name for name in unseen if name == shown or nearest(factors[name], [shown])]
        place = ("sca", "factors", *similar[:1])
        found = f"{masked!r} on the screen"
        weight = Weight.DOUBT if similar else Weight.UNSEEN
        expected = "a factor listed in the target file"
        hint = f"did you mean {similar[0]}: {masked}?" if similar else f"add {masked} to it"
        edit = Edit(at=place, old=factors[similar[0]], new=shown) if similar else None
        yield record.finding(place, expected, found, hint, weight=weight, edit=edit)


def _codes(record: Examined, event: Authorised) -> Iterator[Finding]:
    """Report a factor for which the test data has no code, so that nothing was entered."""
    by_program = record.target.sca.kind in {ScaKind.FORMS, ScaKind.BROWSER}
    # Who stayed too long is sent no code.
    if event.coded or event.step.linger or "code" not in event.screens or not by_program:
        return
    factor = event.step.factor or next(iter(event.offered or ()), "")
    word = record.redactor.bounded(record.target.sca.factors.get(factor, factor), 40)
    expected, python = (
        f"a code of the customer for the factor {word!r}",
        record.target.fixtures.adapter,
    )
    hint = "key it in Access.codes by the word from sca.factors, or return it by `code`"
    hint = hint if python else ""
    weight = Weight.UNSEEN if event.ending is Ending.CONFIRMED else Weight.DOUBT
    yield record.finding(("fixtures",), expected, "none", hint, weight=weight)


# -- Checks of what the fixture provider reports as executed: its requests, days and fields --------
# A request of the doctor's own is compared with what was sent. A bank may execute something
# else, and that is for the run to judge; reported here is what looks like a pointer to another
# value, another unit of an amount, or a report of another day. Requests are new in each probe.


def effects(record: Examined) -> Iterator[Finding]:
    """Examine the fields, the ids and the days of executed requests."""
    done = [effect for event in record.effects for effect in event.done or ()]
    yield from _equal_requests(record)
    if not done:
        yield from _unreported(record)
        return
    made, python = made_requests(record), record.target.fixtures.kind is FixtureKind.PYTHON
    reported = (name for effect in done for name in effect.fields)
    for name in dict.fromkeys(reported if python else record.target.fixtures.effects):
        yield from _field(record, name, done, made)
    if python:
        yield from _ids(record, done, made)
    yield from _days(record, done, made)


def effects_place(record: Examined) -> Pointer:
    """Return the key of the target file that says who reports executed requests."""
    python = record.target.fixtures.kind is FixtureKind.PYTHON
    return ("fixtures", "adapter" if python else "effects")


def _field(
    record: Examined, name: str, done: Sequence[Effect], made: Mapping[str, Sequence[SeenAnswer]]
) -> Iterator[Finding]:
    """Examine a field that the target file points at, or that the class in Python returns."""
    fixtures, place = record.target.fixtures, effects_place(record)
    source = f"in effects() of {fixtures.adapter}"
    if fixtures.kind is not FixtureKind.PYTHON:
        place, source = (*place, name), f"at {fixtures.effects[name]}"
    else:
        operations = (each for one in record.contracts_bound for each in one.operations.values())
        known = [argument for each in operations if each.makes for argument in each.arguments]
        if name not in known:
            what, hint = f"a field {found(name)} {source}", did_you_mean(name, known)
            expected = "an argument of the request"
            yield record.finding(place, expected, what, hint, weight=Weight.FAULT)
            return
    values = [(effect.request, effect.fields[name]) for effect in done if name in effect.fields]
    expected = f"{name} of an executed payment"
    if not values:
        yield record.finding(place, expected, f"nothing {source}")
    for request, value in values:
        sent = [answer.call.arguments for answer in made.get(request, ())]
        if what := _mistaken(name, value, sent):
            yield record.finding(place, f"{expected}, as it was sent", f"{what} {source}")
            return


def _mistaken(name: str, value: Json, sent: Sequence[Mapping[str, Json]]) -> str:
    """Return what a value seems to be that is not the one that was sent."""
    named = [arguments for arguments in sent if name in arguments]
    if not named or any(alike(value, arguments[name]) for arguments in named):
        return ""
    for arguments in named:
        for each, other in arguments.items():
            if each != name and alike(value, other):
                return f"the value of {each}"
        if unit_of(value, arguments[name]):
            return "the amount in another unit"
    return ""


def _unreported(record: Examined) -> Iterator[Finding]:
    """Report a class that reports nothing, although the bank had shown a request as done."""
    python = record.target.fixtures.kind is FixtureKind.PYTHON
    if python and any(map(_asked_when_done, record.events.values())):
        expected = "executed requests, because the bank shows one as done"
        seen = f"none in effects() of {record.target.fixtures.adapter}"
        hint = "return `None` if executed requests are unknown"
        yield record.finding(effects_place(record), expected, seen, hint)


def _asked_when_done(events: Iterable[Event]) -> bool:
    """Whether the class was asked after the bank had shown a request as done."""
    done = False
    for event in events:
        if isinstance(event, Exchange):
            done = done or any(item.state is State.DONE for item in event.items)
        elif isinstance(event, Effects) and event.done is not None and done:
            return True
    return False


def _ids(
    record: Examined, done: Sequence[Effect], made: Mapping[str, Sequence[SeenAnswer]]
) -> Iterator[Finding]:
    """Report a class whose ids are none that the bank's own answers have."""
    if not any(effect.request in made for effect in done):
        expected = "the bank's id of a request that was made, in `Effect.request`"
        seen = f"ids of no request in effects() of {record.target.fixtures.adapter}"
        yield record.finding(effects_place(record), expected, seen)


def _days(
    record: Examined, done: Sequence[Effect], made: Mapping[str, Sequence[SeenAnswer]]
) -> Iterator[Finding]:
    """Report a request that is said to be executed on a day before it was made."""
    zones = [contract.zone for contract in record.contracts_bound if contract.zone]
    for effect in done:
        answers = made.get(effect.request, ())
        days = [local_day(answer.at, zone) for answer in answers for zone in zones]
        if days and effect.on < min(days):
            expected = "the day on which a request was executed"
            seen = "a day before the request was made"
            yield record.finding(effects_place(record), expected, seen)
            return


def _equal_requests(record: Examined) -> Iterator[Finding]:
    """Examine what the probes with two equal requests, and with a request for a later day, show."""
    for probe in dict.fromkeys(answer.probe for answer in record.varied(TWIN, WAITING)):
        events = record.events[probe]
        signings = [
            event.step
            for event in events
            if isinstance(event, Authorised) and event.ending is Ending.CONFIRMED
        ]
        signed = {step.request for step in signings if step.variation != WITHDRAWN}
        reports = [event.done or () for event in events if isinstance(event, Effects)]
        done = {effect.request: effect.on for report in reports for effect in report}
        made = {key: seen for key, each in made_requests(record).items() for seen in each[:1]}
        twins = {key for key, seen in made.items() if seen.probe == probe}
        twins -= {step.request for step in signings}
        if signed and twins & done.keys() and not signed & done.keys():
            found = "an equal one, which was not signed"
            yield record.finding(effects_place(record), "the request that was signed", found)
            return
        other = tuple(_withdrawn(record, events, signed - done.keys()))
        yield from other
        jumped = not other and any(isinstance(event, Advanced) for event in events)
        known = any(each.request in made for event in record.effects for each in event.done or ())
        if jumped and reports and known:
            for seen in (made[key] for key in signed & made.keys()):
                yield from _skipped_days(record, seen, done)


def _skipped_days(
    record: Examined, made: SeenAnswer, done: Mapping[str, date]
) -> Iterator[Finding]:
    """Report a deferred request that a clock past its day leaves alone, or executes on another day."""
    due = made.operation.due
    day = str(made.call.arguments.get(due.argument)) if due else ""
    executed = done.get(made.item.key or "") if made.item else None
    if made.call.variation not in {WAITING, TWIN} or not is_day(day):
        return
    place = place_of(record, Capability.CLOCK)
    expected = f"a request to be executed on its own day, {day}, if the clock skips days"
    if executed is None:
        yield record.finding(place, expected, "one that is not executed")
    elif (executed - date.fromisoformat(day[:10])).days > PAST / 2:
        yield record.finding(place, expected, f"one that is executed on {executed}")


def _withdrawn(
    record: Examined, events: Sequence[Event], unexecuted: Collection[str]
) -> Iterator[Finding]:
    """Report a customer who cannot cancel, or who cancels another request than the one named."""
    place = place_of(record, Capability.DIRECT_ACCESS)
    # What was refused may have been tried once more, after the signature.
    last = {each.request: each for each in events if isinstance(each, Withdrawn)}
    for event in last.values():
        shown = [each for each in record.varied(WITHDRAWN) if each.about == event.request]
        still_open = any(item.state is State.OPEN for each in shown for item in each.items)
        if not event.done:
            expected = "a cancellation by the customer to be accepted"
            yield record.finding(place, expected, "one that is refused")
        elif still_open and unexecuted:
            yield record.finding(place, "the request that is named to be cancelled", "an equal one")


def made_requests(record: Examined) -> Mapping[str, Sequence[SeenAnswer]]:
    """Return the answers in which each request was made, by its key."""
    made: defaultdict[str, list[SeenAnswer]] = defaultdict(list)
    for answer in record.answers:
        if answer.operation.makes and answer.accepted:
            for item in answer.items:
                if item.key:
                    made[item.key].append(answer)
    return made
