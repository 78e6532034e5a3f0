"""Checks of the pointers into one item: key, date, resource and state.

More than names is known: the keys of what customers own, and their resources; and links to a
created request end with its key. The fields are in `item_fields`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from assay.binding.outputs import id_of
from assay.contract.model import Capability, Json, Operation
from assay.contract.scalars import same
from assay.files.document import Pointer
from assay.onboarding.doctor.context import DoctorContext, Finding, SeenAnswer
from assay.onboarding.doctor.item_fields import all_owned, alternatives
from assay.onboarding.doctor.pointer_probe import (
    AnsweredOperation,
    PointerProbe,
    compare,
    correction,
    is_day,
    is_id,
    is_text,
    kind,
    nearest,
    values,
)

#: How many different words of a bank are reported for one key.
_MOST_WORDS = 5
#: A shorter value may be part of a link by chance.
_DISTINCTIVE = 4


def date(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the date by which items are filtered."""
    if seen.binding.item.on:
        probe = PointerProbe(feature="on", at=seen.binding.item.on, fits=is_day, named=False)
        yield from compare(seen, probe, seen.items)


def bank_id(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the bank's own name of an item."""
    if seen.binding.item.id is not None:
        probe = PointerProbe(feature="id", at=(seen.binding.item.id,), fits=is_id)
        yield from compare(seen, probe, seen.items)


# -- Words for resources and states


def resource(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the words by which a bank says which resource an item is."""
    if bound := seen.binding.item.resource:
        known = {name: (word,) for name, word in bound.values.items()}
        findings = tuple(_words(seen, "resource", (bound.at,), known))
        yield from findings or _resources(seen)


def _resources(seen: AnsweredOperation) -> Iterator[Finding]:
    """Report a word that is shown only for owned items of another resource than its own."""
    owned = {item.key: item.resource for item in all_owned(seen)}
    items = [item for answer in seen.answers for item in answer.exchange.items]
    shown = {(item.resource, owned[item.key]) for item in items if item.key in owned}
    for resource, actual in sorted(pair for pair in shown if pair[0] and pair[0] != pair[1]):
        if (resource, resource) not in shown and resource:
            place, expected = (
                (*seen.place("resource"), "values", resource),
                f"the word for {resource}",
            )
            yield seen.context.finding(place, expected, f"that for {actual}")


def state(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the words by which a bank says which state a request has."""
    if bound := seen.binding.item.state:
        known = {state.value: values for state, values in bound.values.items()}
        yield from _words(seen, "state", bound.at, known)


def _words(
    seen: AnsweredOperation,
    feature: str,
    pointers: tuple[str, ...],
    known: Mapping[str, tuple[Json, ...]],
) -> Iterator[Finding]:
    known_values = [word for several in known.values() for word in several]
    single = [word for word in known_values if not isinstance(word, tuple)]

    def fits(value: Json) -> bool:
        return any(same(value, word) for word in single) if single else is_text(value)

    probe = PointerProbe(
        feature=feature,
        below=("at",),
        at=pointers,
        what="one of the words under `values`",
        fits=fits,
        named=False,
    )
    shown = values(seen.items, pointers)
    if not shown:
        yield from compare(seen, probe, seen.items)
        return
    if len(single) < len(known_values):
        return  # words that only mean something together cannot be examined one by one
    unknown = {str(value): value for value in shown if not fits(value)}
    hint = "" if any(map(fits, shown)) else correction(seen.items, probe)
    if hint:
        place, found = (*seen.place(feature), "at"), f"another word at {pointers[0]}"
        yield seen.context.finding(place, probe.expected, found, hint)
        return
    for value in [*unknown.values()][:_MOST_WORDS]:
        yield _unknown_word(seen.context, (*seen.place(feature), "values"), known, value)


def _unknown_word(
    context: DoctorContext, place: Pointer, known: Mapping[str, tuple[Json, ...]], value: Json
) -> Finding:
    """Report a word that is missing, at the entry with a similar one if there is any."""
    word = str(value) if isinstance(value, str | int) else kind(value)
    similar = nearest(word, (str(value) for values in known.values() for value in values))
    entry = next((name for name, values in known.items() if similar in map(str, values)), None)
    masked = context.redactor.bounded(word, 40)
    where = (*place, entry) if entry else place
    expected = "a word listed in the target file"
    return context.finding(where, expected, repr(masked), f"add {masked!r}")


# -- Keys


def key(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the key: it must exist, and identify the item."""
    item, operation = seen.binding.item, seen.operation
    if not item.key:
        return
    if operation.makes:
        yield from _created_key(seen)
        return
    yield from alternatives(seen, "key", item.key)
    known = known_keys(seen)
    probe = PointerProbe(
        feature="key",
        at=item.key,
        fits=(lambda value: id_of(value) in known) if known else is_id,
        named=not known,
    )
    finding = next(compare(seen, probe, seen.items), None)
    shown = values(seen.items, item.key)
    foreign = known and (finding is None or not finding.hint) and not operation.about
    if foreign and any(map(is_id, shown)):
        yield from tuple(_foreign_keys(seen)) or _keys_of_resources(seen)
    elif finding is not None and (known or not shown):
        yield finding


def _foreign_keys(seen: AnsweredOperation) -> Iterator[Finding]:
    """Report each customer whose list shows none of what the customer owns, or more than that."""
    context = seen.context
    roles = {role.name for role in context.target.fixtures.roles}
    complete = Capability.ROSTER in context.target.fixtures.offers
    shown: defaultdict[str, set[str]] = defaultdict(set)
    for answer in seen.answers:
        shown[answer.subject] |= {item.key for item in answer.exchange.items if item.key}
    for name, keys in shown.items():
        subject, role = context.subjects.get(name), context.role_of.get(name, "")
        owned = {item.key for item in subject.owns} if subject else keys
        listed = ("fixtures", "roles", role, "owns")
        if keys and owned and not keys & owned:
            place = listed if role in roles else seen.place("key")
            expected, found = "keys of items that the customer owns", "other keys in the list"
            yield context.finding(place, expected, found)
        elif role in roles and complete and keys - owned and owned - keys:
            expected = "only keys of items that the customer owns"
            found = f"{len(keys - owned)} other keys in the list of {seen.operation.id}"
            hint = "is a key misspelt, or is something missing here?"
            yield context.finding(listed, expected, found, hint)


def _keys_of_resources(seen: AnsweredOperation) -> Iterator[Finding]:
    """Report a resource none of whose items has the key of one that a customer owns."""
    shown: defaultdict[str, set[str]] = defaultdict(set)
    owned: defaultdict[str, set[str]] = defaultdict(set)
    for answer in seen.answers:
        for item in answer.exchange.items:
            if item.resource and item.key:
                shown[item.resource].add(item.key)
    for thing in all_owned(seen) if seen.context.makes_customers else ():
        owned[thing.resource].add(thing.key)
    for resource, keys in shown.items():
        if owned[resource] and not keys & owned[resource]:
            expected, found = f"the key of each {resource}", "something else"
            yield seen.context.finding(seen.place("key"), expected, found)


def known_keys(seen: AnsweredOperation) -> frozenset[Json]:
    """Return the keys of what the customers own, some of which an operation should list."""
    if seen.operation.request:
        return frozenset()
    if not seen.operation.about:
        return frozenset(owned.key for owned in all_owned(seen))
    entries = (entry for owned in all_owned(seen) for entry in owned.entries)
    return frozenset(entry.key for entry in entries if seen.binding.item.on)


def _created_key(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the key of a created request: links end with it, and no two are the same."""
    item, answer = seen.binding.item, seen.answers[0]
    keys = [key for key in values(seen.items, item.key) if is_id(key)]
    if not keys:
        probe = PointerProbe(feature="key", at=item.key, fits=is_id)
        yield from compare(seen, probe, seen.items)
        return
    # A request that is sent twice for the same thing may have the same key twice, and no more often.
    repeated = len(keys) > 1 and 2 * len(set(map(str, keys))) <= len(keys)
    if _linked(answer, str(keys[0])) and not repeated:
        return

    def fits(value: Json) -> bool:
        return is_id(value) and len(str(value)) >= _DISTINCTIVE and _linked(answer, str(value))

    probe = PointerProbe(feature="key", at=item.key, fits=fits, named=False)
    hint = correction(seen.items, probe)
    if hint or repeated:
        found = "the same value in many requests" if repeated else "a value that is in no link"
        yield seen.context.finding(seen.place("key"), probe.expected, found, hint)


def has_wrong_key(context: DoctorContext, operation: Operation) -> bool:
    """Whether the target file has the wrong key for what an operation creates."""
    good = [answer for answer in context.of(operation.id) if answer.good]
    if not good or not good[0].binding.item.key:
        return False
    seen = AnsweredOperation(context=context, operation=operation, answers=good)
    return any(True for _ in _created_key(seen))


def _linked(answer: SeenAnswer, value: str) -> bool:
    """Whether a link of the answer, or its Location, ends with a value."""
    wire = answer.exchange.wire
    links: Sequence[str] = (*wire.links, wire.header("Location") or "")
    return any(link.partition("?")[0].rstrip("/").endswith(f"/{value}") for link in links)
