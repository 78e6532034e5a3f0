"""Guesses of the pointers into one item: an element of a list, or the single request shown.

Guessed by names, types, formats and words of the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from assay.contract.model import Json
from assay.files.edits import flow
from assay.onboarding.init.argument_matching import as_made
from assay.onboarding.init.example_calls import DAYS, IBAN
from assay.onboarding.init.openapi_operations import EACH, SchemaLeaf, words
from assay.onboarding.init.operation_matching import MatchedOperation
from assay.onboarding.init.synonyms import (
    THEIRS,
    beside,
    called,
    days_of,
    guessed,
    is_masked,
    is_synonym,
    only_iban,
    unit_of,
)
from assay.onboarding.init.yaml_writer import OPEN, YamlEntry
from assay.rules.rule import facts_of

#: Words for what customers own, in other languages.
_ELSEWHERE = {
    "account": ("konto", "compte", "conto", "cuenta", "rekening", "rachunek"),
    "card": ("karte", "carte", "carta", "tarjeta", "kaart", "karta"),
}
#: How many steps lead to a member of the object beside a list.
OF_OWNER = 2
#: Words for the date by which lists are filtered, the usual ones first.
_DATES = ("booking", "book", "booked", "posting", "date", "transaction", "value")
#: Usual words for the states of a request, in lower case.
_STATES = {
    "open": "rcvd pdng actc accp acsp acwc acwp patc part received pending open initiated submitted scheduled"
    " awaiting processing new signed authorised authorized",
    "done": "acsc accc executed done completed settled",
    "rejected": "rjct rejected failed declined",
    "ended": "canc cancelled canceled refused expired revoked withdrawn lapsed",
}
#: What words of several parts consist of, besides words for states.
_PARTS = frozenset(
    [
        "by",
        "tpp",
        "psu",
        "customer",
        "user",
        "authorisation",
        "authorization",
        "signature",
        "execution",
    ]
)
#: Those of the states of a consent.
_CONSENT_STATES = {
    "open": "received pending partiallyauthorised awaitingauthorisation awau",
    "valid": "valid authorised auth active",
    "rejected": "rejected rjct",
    "ended": "expired revokedbypsu terminatedbytpp revoked terminated canc expd",
}
#: How far below the top of an item a field may be.
_DEEPEST = 3
#: The codes of ISO 20022 for a refusal, a time-out, and a cancellation by the customer or TPP.
_ENDED_CODES = ("CUST", "NOAS", "DS02")


def key(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointer to the key of an item."""
    if shape.shows_one and (shape.members or shape.has_header("location")):
        yield _request_key(shape)
    elif shape.operation.lists and not shape.lists:
        yield shape.gap("key")
    elif name := list_key(shape):
        leaf = _field(name, shape.item, shape.operation.lists)
        beside_it = shape.item if _is_mixed(shape) else ()
        found = _pointer("key", leaf, name, beside_it) if leaf else _by_scheme("key", shape, name)
        yield found or shape.gap("key", example=f"/{name}")
    elif shape.operation.since:
        yield _entry_key(shape)


def _entry_key(shape: MatchedOperation) -> YamlEntry:
    """Return the key of an item without a name in the contract; banks may give one of two."""
    leaf = _identifier(shape.item, shape.operation.lists)
    why = f"{leaf.name} looks like an identifier" if leaf else ""
    # Another key for what may have no such one, and for the entries of other things.
    twins = {("entry", "reference"), *((kind, *leaf.words) for kind in _ELSEWHERE if leaf)}
    other = next((each for each in shape.item if each.words in twins), leaf)
    if leaf is None or other is None or leaf.needed or other is leaf:
        return shape.pointer("key", leaf, why)
    why += f", as does {other.name}"
    return YamlEntry(key="key", value=[leaf.pointer, other.pointer], why=why)


def list_key(shape: MatchedOperation) -> str | None:
    """Return the contract's name of the key of listed items."""
    listed = (shape.contract.resources[name] for name in shape.operation.lists)
    return next((resource.key for resource in listed if resource.key), None)


def _is_mixed(shape: MatchedOperation) -> bool:
    """Whether a list has items of several resources with a key."""
    return list_key(shape) is not None and len(shape.operation.lists) > 1


def _request_key(shape: MatchedOperation) -> YamlEntry:
    name, leaf = _request_leaf(shape)
    if leaf:
        return _pointer("key", leaf, name)
    if shape.has_header("location"):
        why = "the response has a Location header"
        return YamlEntry(key="key", value={"header": "Location"}, why=why)
    return shape.gap("key", example=f"/{name}")


def _request_leaf(shape: MatchedOperation) -> tuple[str, SchemaLeaf | None]:
    """Return the contract's name of the key of a request, and the leaf for it."""
    resource = shape.contract.resources[shape.operation.request or ""]
    name = resource.key or "id"
    exact = next((leaf for leaf in shape.item if leaf.steps == (name,)), None)
    found = exact or _identifier(shape.item, [resource.id, "request"], shape.identifiers)
    # Whatever it is called: paths have its name.
    named = [leaf for leaf in shape.item if leaf.is_member and leaf.name in shape.path_names]
    return name, found or (named[0] if len(named) == 1 and named[0].is_value else None)


def bank_id(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointer to the bank's own name of an item, where calls may need it."""
    if shape.lists and shape.lister and list_key(shape):
        leaf = _identifier(shape.item, shape.operation.lists)
        why = f"{leaf.name} looks like the name used in paths" if leaf else ""
        yield shape.pointer("id", leaf, why)


def date(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointer to the date by which items are filtered."""
    if not (shape.lists and shape.operation.since):
        return
    days = [
        leaf
        for leaf in shape.item
        if (leaf.form in DAYS or "date" in leaf.words)
        and not leaf.is_listed
        and not leaf.path & THEIRS
    ]
    usual = (leaf for word in _DATES for leaf in days if word in leaf.words)
    # Where an item has a single date, its name does not matter.
    dates = [leaf for leaf in days if leaf.form in DAYS]
    leaf = next(usual, None) or (dates[0] if len(dates) == 1 else None)
    entry = shape.pointer("on", leaf, f"{leaf.name} is a date" if leaf else "")
    day_format = days_of(leaf) if leaf else {}
    yield replace(entry, value={"at": entry.value, **day_format}) if day_format else entry


def resource(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield how an item says which resource it is: by words similar to their names."""
    if not (shape.lists and _is_mixed(shape)):
        return
    names = shape.operation.lists
    for leaf in shape.item:
        words_of = _word_of_each(names, leaf.values) if leaf.fixed else None
        if words_of:
            value: dict[str, Json] = {"at": leaf.pointer, "values": words_of}
            why = f"{leaf.name} has a value for each resource"
            yield YamlEntry(key="resource", value=value, why=why)
            return
    example = (
        "{at: /kind, values: {" + ", ".join(f"{name}: {name.upper()}" for name in names) + "}}"
    )
    yield shape.gap("resource", example=example)


def _word_of_each(names: Sequence[str], choices: Sequence[str]) -> dict[str, Json] | None:
    """Return the choice for each resource; a last one without may have the only one left.

    Of several choices for a resource, each may be another kind of it: none is guessed.
    """
    if len(choices) < len(names):
        return None
    chosen: dict[str, Json] = {}
    for name in names:
        usual = {*words(name), *_ELSEWHERE.get(name, ())}
        mine = [word for word in choices if usual & {*words(word.lower())}]
        if len(mine) > 1:
            return None
        chosen[name] = next(iter(mine), None)
    left = [word for word in choices if word not in chosen.values()]
    unsure = [name for name, word in chosen.items() if word is None]
    if len(unsure) == 1 < len(names) and len(left) == 1:
        chosen[unsure[0]] = left[0]
    return chosen if None not in chosen.values() else None


def state(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield how a request says which state it has."""
    if not (shape.shows_one and shape.members):
        return
    for leaf in shape.item:
        matching = {
            state: [word for word in leaf.values if _means(word, usual.split())]
            for state, usual in (
                _CONSENT_STATES if shape.operation.about_consent else _STATES
            ).items()
        }
        words_of: dict[str, Json] = {state: [*each] for state, each in matching.items() if each}
        if {"status", "state"} & {*leaf.words} and words_of:
            reason = _reason_of(shape, leaf)
            if reason is None or not matching["rejected"]:
                value: dict[str, Json] = {"at": leaf.pointer, "values": words_of}
                yield YamlEntry(key="state", value=value, why=f"by the values of {leaf.name}")
                yield from _unknown_words(shape, leaf, words_of)
                return
            ended = [[word, code] for word in matching["rejected"] for code in _by_customer(reason)]
            words_of["ended"] = [*matching["ended"], *ended]
            value = {"at": [leaf.pointer, reason.pointer], "values": words_of}
            why = f"by the values of {leaf.name} and {reason.name}"
            yield YamlEntry(key="state", value=value, why=why)
            yield from _unknown_words(shape, leaf, words_of)
            return
    statuses = (leaf for leaf in shape.item if leaf.fixed and {"status", "state"} & {*leaf.words})
    status = next(statuses, None)
    yield from _unknown_words(shape, status, {}) if status else [shape.gap("state")]


def _means(word: str, usual: Sequence[str]) -> bool:
    """Whether a word is a usual one for a state, or one of several parts of which the others say nothing."""
    parts = {*words(word)} - _PARTS
    return word.lower() in usual or (len(parts) == 1 and parts <= {*usual})


def _unknown_words(
    shape: MatchedOperation, status: SchemaLeaf, words_of: Mapping[str, Json]
) -> Iterator[YamlEntry]:
    """Yield which of the words of a status have no known meaning; of a reason, none need have."""
    known = {
        word
        for each in words_of.values()
        for word in cast("list[Json]", each)
        if isinstance(word, str)
    }
    unknown = [word for word in status.values if word not in known]
    if unknown:
        states = "open, valid" if shape.operation.about_consent else "open, done"
        what = f"which of {', '.join(unknown)} are {states}, rejected or ended"
        example = flow({"at": status.pointer, "values": {**words_of, OPEN: unknown}})
        yield shape.gap("state", what=what, example=example)


def _reason_of(shape: MatchedOperation, status: SchemaLeaf) -> SchemaLeaf | None:
    """Return the leaf with the reason of a status, if it has one for the customer's refusal."""
    reasons = (leaf for leaf in shape.item if "reason" in leaf.words and leaf is not status)
    return next((leaf for leaf in reasons if _by_customer(leaf)), None)


def _by_customer(reason: SchemaLeaf) -> list[str]:
    """Return the codes for a request that its customer, and not the bank, brought to an end."""
    return [code for code in _ENDED_CODES if code in reason.values]


def fields(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointer to each field; several resources may be identified by different ones."""
    resources, names = shape.contract.resources, list[str]()
    if shape.lists:
        names = [name for listed in shape.operation.lists for name in resources[listed].fields]
    elif shape.shows_one and shape.members and shape.operation.shows:
        names = [*resources[shape.operation.request or ""].fields]
    key_name, key_leaf = ("", None) if shape.lists or not names else _request_leaf(shape)
    for name in dict.fromkeys(names):
        leaf, why = key_leaf if name == key_name else None, ""
        if shape.lists:
            leaf = _field(name, shape.item, shape.operation.lists)
        elif leaf is None:
            leaf = called(name, shape.parts)
            if leaf is None and (made := as_made(shape, name, shape.parts)):
                leaf, why = made
        if leaf is None:
            found = _beside_list(shape, name) or _by_words(shape, name) if shape.lists else None
            yield found or shape.gap("field", name, example=f"/{name}")
        else:
            entry = _pointer(name, leaf, name, shape.item if _is_mixed(shape) else ())
            yield replace(entry, why=why) if why else entry


def volatile(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield that members which change by themselves are not known: no document says so."""
    if shape.lists:
        yield shape.gap("volatile")


def _pointer(at: str, leaf: SchemaLeaf, name: str, item: Sequence[SchemaLeaf] = ()) -> YamlEntry:
    """Return a pointer, with that beside it that identifies other resources, if there is one."""
    why, neighbour = guessed(name, leaf), beside(leaf, item) if len(leaf.steps) > 1 else None
    if at != "key" and leaf.form == "date-time":
        day: dict[str, Json] = {"at": leaf.pointer, "first": len("2026-12-31")}
        return YamlEntry(
            key=at, value=day, why=f"{why or name}; a timestamp that begins with the day"
        )
    if spelling := {**unit_of(leaf), **days_of(leaf)}:
        return YamlEntry(key=at, value={"at": leaf.pointer, **spelling}, why=why)
    if neighbour is None:
        return YamlEntry(key=at, value=leaf.pointer, why=why)
    why = f"{why}; or the identification next to it"
    return YamlEntry(key=at, value=[leaf.pointer, neighbour.pointer], why=why)


def _by_words(shape: MatchedOperation, name: str) -> YamlEntry | None:
    """Return the only member that has words which the contract lists for a field, and no others."""
    allowed = facts_of(shape.contract).allowed_values
    listed = [allowed.get((each, name), ()) for each in shape.operation.lists]
    words_of = {str(word) for clauses in listed for values in clauses for word in values}
    near = [leaf for leaf in shape.item if len(leaf.values) > 1 and {*leaf.values} <= words_of]
    why = f"its words are those of {name}"
    return YamlEntry(key=name, value=near[0].pointer, why=why) if len(near) == 1 else None


def _beside_list(shape: MatchedOperation, name: str) -> YamlEntry | None:
    """Return the identification whose scheme has the name of a field, or what stands beside the list."""
    # What is no whole IBAN, a manual may have cut.
    outside = [
        leaf
        for leaf in shape.members
        if leaf.is_value and shape.operation.about and (leaf.form == IBAN or not leaf.values)
    ]
    if leaf := called(name, outside):
        return YamlEntry(key=name, value={"body": leaf.pointer}, why=guessed(name, leaf))
    # The account that the list is of, or the card.
    owners = [
        leaf
        for leaf in shape.offered.answer
        if len(leaf.steps) == OF_OWNER and leaf.words == words(name) and shape.operation.about
    ]
    if owners:
        places: list[Json] = [{"body": leaf.pointer} for leaf in owners]
        why = f"{name} of what the list is of"
        return YamlEntry(key=name, value=places if len(places) > 1 else places[0], why=why)
    return _by_scheme(name, shape, name)


def _by_scheme(at: str, shape: MatchedOperation, name: str) -> YamlEntry | None:
    """Return the one of several identifications whose scheme has the name of a key."""
    for leaf in shape.item:
        *above, last = leaf.steps
        if words(last) != ("identification",) or above[-1:] != [EACH]:
            continue
        for scheme in shape.item:
            value = next((word for word in scheme.values if name.upper() in word.upper()), None)
            if scheme.steps[:-1] == leaf.steps[:-1] and "scheme" in scheme.words and value:
                place: dict[str, Json] = {
                    "in": SchemaLeaf(steps=tuple(above[:-1])).pointer,
                    "where": {f"/{scheme.name}": value},
                    "at": f"/{last}",
                }
                why = f"{value} is a value of {scheme.name}"
                return YamlEntry(key=at, value=place, why=why)
    return None


def _field(name: str, item: Sequence[SchemaLeaf], lists: Sequence[str]) -> SchemaLeaf | None:
    """Return the leaf with the name of a field that is not about another party."""
    about = {word for pointer in lists for word in words(pointer)}
    mine = words(name)
    # In an item of `balances`, `type` is the type of a balance.
    short = mine[1:] if len(mine) > 1 and mine[0] in about else mine

    def far(leaf: SchemaLeaf) -> tuple[bool, int, int]:
        return leaf.name != name, len(leaf.path - about) - len(leaf.path & about), len(leaf.steps)

    own = [leaf for leaf in item if not leaf.path & THEIRS and not leaf.is_listed]
    # What is far below is about something else.
    own = [leaf for leaf in own if len(leaf.steps) <= _DEEPEST]
    near = [leaf for leaf in own if leaf.words == mine]
    near = near or [leaf for leaf in own if leaf.words == short and leaf.is_member]
    near = near or only_iban(mine, own)
    # Of what identifies an item, a synonym may be a masked spelling.
    near = near or [leaf for leaf in own if mine != ("iban",) and is_synonym(name, leaf)]
    return min((leaf for leaf in near if not is_masked(leaf)), key=far, default=None)


def _identifier(
    item: Sequence[SchemaLeaf],
    lists: Sequence[str],
    slots: frozenset[tuple[str, ...]] = frozenset(),
) -> SchemaLeaf | None:
    """Return the leaf that looks like the bank's own name of an item.

    `slots` are the words of path parameters, which are identifiers.
    """
    usual = {word for pointer in lists for word in words(pointer)}
    usual |= {"resource", "entry", "id", "item", "reference", "internal"}
    near = [
        leaf
        for leaf in item
        if leaf.is_member
        and (leaf.words[-1:] == ("id",) or "reference" in leaf.words)
        and set(leaf.words) <= usual
    ]
    mine = {word for pointer in lists for word in words(pointer)} - {"request"}
    named = [leaf for leaf in item if leaf.is_member and mine & set(leaf.words)]
    near = near or [leaf for leaf in named if leaf.words in slots]
    shown = [leaf for leaf in item if leaf.is_member and leaf.words in slots]
    near = near or (shown if len(shown) == 1 else [])
    order = ("id", "resource", *lists)

    def rank(leaf: SchemaLeaf) -> int:
        return min(order.index(word) if word in order else len(order) for word in leaf.words)

    return min(near, key=rank, default=None)
