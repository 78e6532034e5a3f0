"""The consequences of changes outside the rules: of operations, resources, hosts and names.

What a change of a rule means is declared by its kind (`rules.comparisons`). Here are the
comparisons of all other keys of a contract, as tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, cast

from assay.contract.model import Json
from assay.files.document import Pointer
from assay.parsing.references import OPEN
from assay.rules.comparisons import (
    ABSENT,
    Comparison,
    ParameterDifference,
    Versions,
    any_change,
    by_name,
    canonical,
    covered,
    keyed,
    members,
    names,
    presence,
    same,
    switch,
    test_only,
    undirected,
)
from assay.rules.consequences import (
    NAMING,
    OPENED,
    REFUSE_LESS,
    REFUSE_MORE,
    REPLACED,
    SERVE_LESS,
    SERVE_MORE,
    SETTLED,
    TEST_ONLY,
    UNDECIDED,
    WORDING,
)


def wording(key: str, versions: Versions) -> Iterator[ParameterDifference]:
    """Compare texts and what consists of texts, down to each of them."""
    old, new = versions.values(key)
    yield from _texts((key,), old, new, (key,), (key,))


def _texts(
    path: tuple[str, ...], old: Json, new: Json, old_at: Pointer, new_at: Pointer
) -> Iterator[ParameterDifference]:
    if same(old, new):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        before, after = cast("Mapping[str, Json]", old), cast("Mapping[str, Json]", new)
        for name in (*before, *(name for name in after if name not in before)):
            values = before.get(name, ABSENT), after.get(name, ABSENT)
            yield from _texts((*path, name), *values, (*old_at, name), (*new_at, name))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _lists(path, cast("list[Json]", old), cast("list[Json]", new), old_at, new_at)
    else:
        yield ParameterDifference(
            path=path, old=old, new=new, consequence=WORDING, old_at=old_at, new_at=new_at
        )


def _lists(
    path: tuple[str, ...], old: list[Json], new: list[Json], old_at: Pointer, new_at: Pointer
) -> Iterator[ParameterDifference]:
    """Compare lists of one length item by item, others by what is in only one of them."""
    if len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            at = (*old_at, index), (*new_at, index)
            yield from _texts((*path, str(index)), before, after, *at)
        return
    before = {canonical(item): index for index, item in enumerate(old)}
    after = {canonical(item): index for index, item in enumerate(new)}
    for text, index in before.items():
        if text not in after:
            yield from _texts(path, old[index], ABSENT, (*old_at, index), new_at)
    for text, index in after.items():
        if text not in before:
            yield from _texts(path, ABSENT, new[index], old_at, (*new_at, index))
    if before.keys() == after.keys():
        yield from _texts(path, len(old), len(new), old_at, new_at)


def zone(key: str, versions: Versions) -> Iterator[ParameterDifference]:
    """Compare time zones, of which one can be open."""
    old, new = versions.values(key)
    consequence = SETTLED if old == OPEN else OPENED if new == OPEN else REPLACED
    yield from any_change(consequence)(key, versions)


def hosts(key: str, versions: Versions) -> Iterator[ParameterDifference]:
    """Compare the forms of hosts, and the patterns of their parts."""
    forms = by_name(any_change(REPLACED), added=SERVE_MORE, removed=SERVE_LESS)
    none = Versions(old={key: {}}, new={key: {}})
    old, new = (
        {key: value if isinstance(value, Mapping) else none.old[key]}
        for value in versions.values(key)
    )
    for difference in forms(key, Versions(old=old, new=new)):
        patterns = [
            value
            for value in (difference.old, difference.new)
            if value is not ABSENT and "<" not in str(value)
        ]
        consequence = UNDECIDED if patterns else difference.consequence
        yield replace(difference, consequence=consequence)


#: The keys of a contract that stand alone.
CONTRACT: Final[Mapping[str, Comparison]] = {
    "assay": undirected,
    "contract": any_change(NAMING),
    "title": wording,
    "version": wording,
    "interface": any_change(NAMING),
    "document": wording,
    "zone": zone,
    "hosts": hosts,
    "outline": wording,
}
#: The keys of an operation. What an operation offers is a promise of its own.
OPERATION: Final[Mapping[str, Comparison]] = {
    "method": any_change(REPLACED),
    "path": any_change(REPLACED),
    "aliases": covered(),
    "lists": covered("resource"),
    "about": undirected,
    "since": presence(added=SERVE_MORE, removed=SERVE_LESS),
    "until": presence(added=SERVE_MORE, removed=SERVE_LESS),
    "grants": undirected,
    "consent": undirected,
    "arguments": members(added=REFUSE_MORE, removed=REFUSE_LESS),
    "modes": covered(),
    "disclosures": covered(),
    "available": switch(on=SERVE_MORE, off=SERVE_LESS, absent=True),
    "by": undirected,
    "makes": names("resource"),
    "shows": names("resource"),
    "changes": names("resource"),
    "ends": names("resource"),
    "owned": undirected,
    "returns": undirected,
    "signed": undirected,
    "amount": test_only,
    "payee": test_only,
    "due": keyed(
        {"argument": undirected, "modes": members(added=UNDECIDED, removed=UNDECIDED)},
        added=UNDECIDED,
        removed=UNDECIDED,
    ),
}
#: The keys of a resource.
RESOURCE: Final[Mapping[str, Comparison]] = {
    "says": wording,
    "key": presence(added=UNDECIDED, removed=UNDECIDED, changed=REPLACED),
    "of": names("resource"),
    "fields": covered(),
    "traits": by_name(any_change(TEST_ONLY), added=TEST_ONLY, removed=TEST_ONLY),
}
#: The keys that every rule has, but for `level` and `kind`; and those of a statement.
STATEMENT: Final[Mapping[str, Comparison]] = {"says": wording, "source": wording}
