"""What an item is known by: there, and really its key.

What customers own is known, and so are their keys; what was made is named by links to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from assay.doctor.finding import Finding, Weight, at
from assay.doctor.looking import Look, look, mean, values
from assay.doctor.patient import Answer, Patient
from assay.doctor.suggest import is_text
from assay.files.document import Pointer
from assay.model import Json, Operation
from assay.target.binding import ItemBinding

__all__ = ["examine", "miskeyed", "things_of"]

#: A shorter value is in many links by chance.
_TELLING = 4


def examine(
    patient: Patient, operation: Operation, item: ItemBinding, good: list[Answer]
) -> Iterator[Finding]:
    """Match the key: it must be there, and be what the thing is known by."""
    if not item.keyed or item.key_header:
        return
    place, things = ("operations", operation.id, "item", "key"), things_of(good)
    known = _known(patient, operation, item)
    one = Look(
        key=place,
        at=item.key,
        what="what an item is known by",
        fits=(lambda value: is_text(value) and value in known) if known else is_text,
        named=not known,
    )
    if operation.makes:
        yield from _made(patient, item, place, good)
        return
    found = look(patient.profile, one, things)
    foreign = known and (found is None or not found.hint) and not operation.about
    if foreign and any(map(is_text, values(things, item.key))):
        yield from _nobodys(patient, place, good)
    elif found is not None and (known or not values(things, item.key)):
        yield found


def _nobodys(patient: Patient, place: Pointer, good: list[Answer]) -> Iterator[Finding]:
    """Say whose list shows none of the things that are known to be his."""
    roles = {one.name for one in patient.profile.world.roles}
    shown: defaultdict[str, set[str]] = defaultdict(set)
    for one in good:
        who = f"{one.story} {one.exchange.call.subject}"
        shown[who] |= {item.key for item in one.exchange.items if item.key}
    for who, keys in shown.items():
        subject, role = patient.subjects.get(who), patient.played.get(who, "")
        if keys and subject and subject.owns and not keys & {one.key for one in subject.owns}:
            where: Pointer = ("world", "roles", role, "owns") if role in roles else place
            expected = "keys of what the customer owns"
            weight = Weight.DOUBT
            yield at(patient.profile, where, expected, "other ones in the list", weight=weight)


def _known(patient: Patient, operation: Operation, item: ItemBinding) -> frozenset[Json]:
    """Return the keys of what the customers own, of which an operation should list some."""
    if operation.request:
        return frozenset()
    owned = [one for subject in patient.subjects.values() for one in subject.owns]
    if not operation.about:
        return frozenset(one.key for one in owned)
    return frozenset(entry.key for one in owned for entry in one.entries if item.on)


def _made(
    patient: Patient, item: ItemBinding, place: Pointer, good: list[Answer]
) -> Iterator[Finding]:
    """Match the key of what was made: links to it end with it, and no two have the same."""
    things = things_of(good)
    found = [one for one in values(things, item.key) if is_text(one)]
    one = Look(key=place, at=item.key, what="what the request is known by", fits=is_text)
    if not found:
        missing = look(patient.profile, one, things)
        if missing is not None:
            yield missing
        return
    alike = len(found) > 1 and len(set(map(str, found))) == 1
    linked = _linked(good[0], str(found[0]))
    if alike or not linked:
        own = Look(
            key=place,
            at=item.key,
            what=one.what,
            fits=lambda value: (
                is_text(value) and len(str(value)) >= _TELLING and _linked(good[0], str(value))
            ),
            named=False,
        )
        hint = mean(things, own)
        if hint or alike:
            what = "the same at every request" if alike else "what no link names"
            yield at(patient.profile, place, one.what, what, hint)


def miskeyed(patient: Patient, operation: Operation) -> bool:
    """Whether what an operation makes is known by something else than the profile says."""
    good = [one for one in patient.of(operation.id) if one.good]
    if not good or not good[0].binding.item.key:
        return False
    place = ("operations", operation.id, "item", "key")
    return any(True for _ in _made(patient, good[0].binding.item, place, good))


def _linked(answer: Answer, value: str) -> bool:
    """Whether a link of the answer, or its Location, ends with a value."""
    headers = answer.exchange.wire.headers
    links = [*answer.exchange.wire.links, *(v for k, v in headers if k.lower() == "location")]
    return any(one.partition("?")[0].rstrip("/").endswith(f"/{value}") for one in links)


def things_of(good: Sequence[Answer]) -> list[Json]:
    """Return every item of some answers, as it was sent."""
    return [thing for one in good for thing in one.things]
