"""What changes between two versions of a contract, for the bank and for the TPP.

`compare` takes two documents of the right shape and returns all changes, each with its places
in both files and its impact on each party. What a new clause means, or one that is gone, follows
from the purpose of its kind; every other change must be reviewed, unless it is only of words.

Entries are matched by their names, and clauses by their kinds, too. One that has another name and
is otherwise the same is renamed. What is nested in an entry that only one version has is part of
one change. Nothing is resolved: what refers to nothing is found by `parsing.parse` before.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Final, TypeAlias, cast

from assay.contract.model import Json, Level, Party
from assay.files.document import Document, Pointer
from assay.rules.kinds import find_kind
from assay.rules.rule import Purpose


# -- values ----------------------------------------------------------------------------
# A change has an `id` for its sort ("quota.limit-changed"), a path that is the same in both
# versions, and a fingerprint that depends on nothing but contract, sort, path and values: not on
# lines, file names, wording or severity.
class Absent(Enum):
    """The type of `ABSENT`, the value that a version does not have."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


def canonical(value: Json) -> str:
    """Return a value as text that is the same only for the same value: `1` is neither `1.0` nor true."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=_number)


def _number(value: object) -> object:
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, Absent):
        return {"absent": True}
    raise TypeError(f"no JSON: {type(value).__name__}")


class Impact(Enum):
    """What a change means for one party, the worst first."""

    #: The party must do more, or can do less: what conformed, or worked, may fail now.
    BREAKING = "breaking"
    #: The bank must refuse or withhold more: easy, but an unchanged gateway violates it.
    ADJUST = "adjust"
    #: It depends: the party must judge it.
    REVIEW = "review"
    #: The party can do more, or must do less; it can stay as it is.
    EASIER = "easier"
    #: Nothing changes for the party.
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consequence:
    """What a change means for each party, and why in a few words."""

    tpp: Impact
    bank: Impact
    why: str


_SERVE_MORE = Consequence(tpp=Impact.EASIER, bank=Impact.BREAKING, why="the bank must serve more")
_SERVE_LESS = Consequence(
    tpp=Impact.BREAKING, bank=Impact.EASIER, why="the bank no longer has to serve it"
)
UNDECIDED: Final = Consequence(
    tpp=Impact.REVIEW, bank=Impact.REVIEW, why="changed; both parties must review it"
)
WORDING: Final = Consequence(tpp=Impact.NONE, bank=Impact.NONE, why="wording only")
NAMING: Final = Consequence(
    tpp=Impact.NONE,
    bank=Impact.NONE,
    why="only the name changes; waivers and baselines may still use the old one",
)
#: What a new clause means, by the purpose of its kind.
ADDED: Final[Mapping[Purpose, Consequence]] = {
    Purpose.PROMISE: _SERVE_MORE,
    Purpose.LIMIT: Consequence(
        tpp=Impact.BREAKING, bank=Impact.ADJUST, why="the bank must refuse or withhold more"
    ),
    Purpose.SAFEGUARD: Consequence(
        tpp=Impact.NONE, bank=Impact.BREAKING, why="the bank must prevent more"
    ),
    Purpose.EXCUSE: _SERVE_LESS,
    Purpose.UNSTATED: UNDECIDED,
}
#: What a clause that is gone means, by the purpose of its kind.
REMOVED: Final[Mapping[Purpose, Consequence]] = {
    Purpose.PROMISE: _SERVE_LESS,
    Purpose.LIMIT: Consequence(
        tpp=Impact.EASIER,
        bank=Impact.EASIER,
        why="the bank no longer has to refuse or withhold it",
    ),
    Purpose.SAFEGUARD: Consequence(
        tpp=Impact.NONE, bank=Impact.EASIER, why="the bank no longer has to prevent it"
    ),
    Purpose.EXCUSE: _SERVE_MORE,
    Purpose.UNSTATED: UNDECIDED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractVersion:
    """One of the two contract files."""

    path: str
    contract: str
    version: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractChange:
    """One change from one version of a contract to the next.

    `old` and `new` are `ABSENT` where a version has no value. `old_line` and `new_line` are the
    lines of the values, or of the nearest parent that a version has. `statement` is the
    sentence that is concerned, if there is one.
    """

    id: str
    path: tuple[str, ...]
    old: Json
    new: Json
    consequence: Consequence
    old_line: int
    new_line: int
    fingerprint: str
    statement: str = ""

    def impact(self, party: Party) -> Impact:
        """Return what the change means for a party."""
        return self.consequence.tpp if party is Party.TPP else self.consequence.bank

    @property
    def worst(self) -> Impact:
        """The more severe of the two impacts."""
        return min((self.impact(party) for party in Party), key=SEVERITY.index)

    @property
    def name(self) -> str:
        """The path as text."""
        return "/".join(self.path)


#: The impacts, the most severe first.
SEVERITY: Final = tuple(Impact)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractDiff:
    """All changes between two versions of a contract, in the order of the files."""

    old: ContractVersion
    new: ContractVersion
    changes: tuple[ContractChange, ...]

    def counts(self, party: Party) -> Mapping[Impact, int]:
        """Return how many changes have each impact on a party."""
        counted = Counter(change.impact(party) for change in self.changes)
        return {impact: counted[impact] for impact in SEVERITY}

    @property
    def by_severity(self) -> tuple[ContractChange, ...]:
        """The changes, the most severe first; changes that break both parties before others."""
        return tuple(sorted(self.changes, key=_rank))


def _rank(change: ContractChange) -> tuple[int, int]:
    ranks = sorted(SEVERITY.index(change.impact(party)) for party in Party)
    return ranks[0], ranks[1]


def _breaks(*parties: Party) -> Callable[[ContractChange], bool]:
    return lambda change: any(change.impact(party) is Impact.BREAKING for party in parties)


def _at_least(impact: Impact) -> Callable[[ContractChange], bool]:
    return lambda change: SEVERITY.index(change.worst) <= SEVERITY.index(impact)


#: The gates: which changes fail a comparison.
GATES: Mapping[str, Callable[[ContractChange], bool]] = {
    "breaking-tpp": _breaks(Party.TPP),
    "breaking-bank": _breaks(Party.BANK),
    "breaking": _breaks(*Party),
    "review": _at_least(Impact.REVIEW),
    "any": lambda _: True,
}


# -- comparison ------------------------------------------------------------------------
_Raw: TypeAlias = Mapping[str, Any]
_Versions: TypeAlias = tuple[Document, Document]

#: The sections with entries, and what one of them is called in the id of a change.
_NOUNS: Final = {
    "operations": "operation",
    "resources": "resource",
    "rules": "rule",
    "scope": "scope",
    "unspecified": "open-point",
}
#: The keys that only say where something stands and how it is worded.
_WORDS: Final = frozenset({"says", "source", "title", "version", "document", "outline"})
#: The keys of a contract that only name it.
_NAMES: Final = frozenset({"contract", "interface"})
#: What is not compared to find an entry that has another name.
_UNCOMPARED: Final = {"rules": frozenset({"id", "says", "source"})}
#: The keys that every rule has; the others are parameters of its kind.
_EVERY_RULE: Final = frozenset({"says", "source", "level"})
#: The level of a rule that names none.
_MUST: Final = Level.MUST.value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One named entry of a section, with its place and its content."""

    name: str
    at: Pointer
    raw: _Raw

    @property
    def purpose(self) -> Purpose:
        """What a rule is for; a rule that need not hold still does the same if it does."""
        kind = find_kind(str(self.raw.get("kind")))
        return kind.purpose if kind is not None else Purpose.UNSTATED


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matched:
    """The entries of a section in two versions: pairs in the new order, and those of one version."""

    pairs: tuple[tuple[_Entry, _Entry], ...]
    removed: tuple[_Entry, ...]
    added: tuple[_Entry, ...]


def compare(old: Document, new: Document) -> ContractDiff:
    """Return the changes from one version of a contract to another."""
    versions = old, new
    points = [{each.name for each in _entries(one.data, "unspecified")} for one in versions]
    rules = _match(old, new, "rules")
    # An open point that becomes a rule with its id, or the other way round, is one change.
    settled = points[0] & {each.name for each in rules.added}
    opened = points[1] & {each.name for each in rules.removed}
    changes = [*_inside(versions, "contract", _contract(old), _contract(new))]
    for section in _NOUNS:
        left_out = settled | opened if section == "unspecified" else set[str]()
        matched = rules if section == "rules" else _match(old, new, section, left_out)
        changes += _section(versions, _NOUNS[section], matched, settled, opened)
    return ContractDiff(old=_version(old), new=_version(new), changes=tuple(changes))


def _version(document: Document) -> ContractVersion:
    return ContractVersion(
        path=document.path,
        contract=str(document.data["contract"]),
        version=str(document.data["version"]),
        digest=document.digest,
    )


# -- entries ---------------------------------------------------------------------------
def _contract(document: Document) -> _Entry:
    """Return the keys that stand alone, as one entry."""
    raw = {key: value for key, value in document.data.items() if key not in _NOUNS}
    return _Entry(name="", at=(), raw=raw)


def _entries(data: _Raw, section: str) -> list[_Entry]:
    """Return the entries of a section: a mapping, or a list of entries that have ids."""
    raws = data.get(section) or ()
    if isinstance(raws, Mapping):
        named = cast("Mapping[str, _Raw]", raws)
        return [_Entry(name=name, at=(section, name), raw=raw) for name, raw in named.items()]
    listed = cast("Sequence[_Raw]", raws)
    return [
        _Entry(name=str(raw["id"]), at=(section, index), raw=raw)
        for index, raw in enumerate(listed)
    ]


def _match(
    old: Document, new: Document, section: str, left_out: set[str] | None = None
) -> _Matched:
    """Match entries by name, then those that only one version has by their content.

    Among several of one content the first is taken.
    """
    before, after = (
        {
            each.name: each
            for each in _entries(one.data, section)
            if each.name not in (left_out or ())
        }
        for one in (old, new)
    )

    def content(entry: _Entry) -> str:
        ignored = _UNCOMPARED.get(section, frozenset({"id"}))
        return canonical({key: value for key, value in entry.raw.items() if key not in ignored})

    same = {
        name
        for name in before.keys() & after.keys()
        if before[name].raw.get("kind") == after[name].raw.get("kind")
    }
    gone: dict[str, list[_Entry]] = {}
    for entry in before.values():
        if entry.name not in same:
            gone.setdefault(content(entry), []).append(entry)
    pairs: list[tuple[_Entry, _Entry]] = []
    added: list[_Entry] = []
    for entry in after.values():
        if entry.name in same:
            pairs.append((before[entry.name], entry))
        elif alike := gone.get(content(entry)):
            pairs.append((alike.pop(0), entry))
        else:
            added.append(entry)
    kept = {pair[0].name for pair in pairs}
    removed = tuple(entry for entry in before.values() if entry.name not in kept)
    return _Matched(pairs=tuple(pairs), removed=removed, added=tuple(added))


def _section(
    versions: _Versions, noun: str, matched: _Matched, settled: set[str], opened: set[str]
) -> Iterator[ContractChange]:
    """Yield the changes of a section: entries renamed, removed, changed, and added."""
    for old, new in matched.pairs:
        if old.name != new.name:
            names = _Difference((), old.name, new.name, old.at, new.at)
            yield _change(versions, f"{noun}-renamed", new, names, NAMING)
    for entry in matched.removed:
        sort = f"{noun}-opened-removed" if entry.name in opened else f"{noun}-removed"
        gone = _Difference((), entry.raw, ABSENT, entry.at, entry.at[:1])
        yield _change(versions, sort, entry, gone, REMOVED[entry.purpose])
    for old, new in matched.pairs:
        if old.raw is not new.raw:
            yield from _inside(versions, noun, old, new)
    for entry in matched.added:
        sort = f"{noun}-settled-added" if entry.name in settled else f"{noun}-added"
        come = _Difference((), ABSENT, entry.raw, entry.at[:1], entry.at)
        yield _change(versions, sort, entry, come, ADDED[entry.purpose])


def _change(
    versions: _Versions,
    sort: str,
    entry: _Entry,
    difference: _Difference,
    consequence: Consequence,
) -> ContractChange:
    """Return the change of an entry, or of what is at the path of the difference in it."""
    path = (str(entry.at[0]), entry.name) if entry.at else ()
    path = (*path, *difference.path)
    contract = versions[0].data.get("contract", "")
    # The last text is always empty: a fingerprint stays what it was.
    identity = canonical([contract, sort, path, difference.old, difference.new, ""])
    return ContractChange(
        id=sort,
        path=path,
        old=difference.old,
        new=difference.new,
        consequence=consequence,
        old_line=versions[0].line(difference.old_at),
        new_line=versions[1].line(difference.new_at),
        fingerprint=hashlib.sha256(identity.encode(errors="surrogatepass")).hexdigest()[:32],
        statement=str(entry.raw.get("says", "")),
    )


def _inside(versions: _Versions, noun: str, old: _Entry, new: _Entry) -> Iterator[ContractChange]:
    """Yield the changes of each key of an entry that both versions have."""
    for key in (*old.raw, *(key for key in new.raw if key not in old.raw)):
        if key == "id":
            continue
        default = _MUST if key == "level" else ABSENT
        before, after = (each.raw.get(key, default) for each in (old, new))
        of_kind = noun == "rule" and key not in _EVERY_RULE
        owner = str(new.raw["kind"]) if of_kind else noun
        pair = _Difference((key,), before, after, (*old.at, key), (*new.at, key))
        for found in _differences(pair):
            sort = f"{owner}.{key}-{_action(found.old, found.new)}"
            yield _change(versions, sort, new, found, _consequence(key, new, after))


def _action(old: Json, new: Json) -> str:
    if old is ABSENT:
        return "added"
    return "removed" if new is ABSENT else "changed"


def _consequence(key: str, entry: _Entry, now: Json) -> Consequence:
    """Return what another value of a key means; a rule that must hold now is like a new one."""
    if key in _WORDS:
        return WORDING
    if key in _NAMES and not entry.at:
        return NAMING
    if key == "level":
        return (ADDED if now == _MUST else REMOVED)[entry.purpose]
    return UNDECIDED


# -- differences of values -------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Difference:
    """Two values with the keys that lead to them, and the place of each, with indexes."""

    path: tuple[str, ...]
    old: Json
    new: Json
    old_at: Pointer
    new_at: Pointer


def _differences(pair: _Difference) -> Iterator[_Difference]:
    """Yield the differences of two values, down to single texts and numbers."""
    old, new = pair.old, pair.new
    if canonical(old) == canonical(new):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        before, after = cast("_Raw", old), cast("_Raw", new)
        for key in (*before, *(key for key in after if key not in before)):
            values = before.get(key, ABSENT), after.get(key, ABSENT)
            at = (*pair.old_at, key), (*pair.new_at, key)
            yield from _differences(_Difference((*pair.path, key), *values, *at))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _items(pair, cast("list[Json]", old), cast("list[Json]", new))
    else:
        yield pair


def _items(pair: _Difference, old: list[Json], new: list[Json]) -> Iterator[_Difference]:
    """Yield the items that only one of two lists has, in whatever order they stand.

    If only one item is another one, and both have keys, these are compared.
    """
    gone, come = _without(old, new), _without(new, old)
    if len(gone) == len(come) == 1 and isinstance(old[gone[0]], Mapping):
        at = (*pair.old_at, gone[0]), (*pair.new_at, come[0])
        path = (*pair.path, str(come[0]))
        yield from _differences(_Difference(path, old[gone[0]], new[come[0]], *at))
        return
    for index in gone:
        yield _Difference(pair.path, old[index], ABSENT, (*pair.old_at, index), pair.new_at)
    for index in come:
        yield _Difference(pair.path, ABSENT, new[index], pair.old_at, (*pair.new_at, index))


def _without(items: list[Json], others: list[Json]) -> list[int]:
    """Return the indexes of the items that the other list lacks, or has less often."""
    texts, wanted = [canonical(item) for item in items], [canonical(item) for item in others]
    moved = [index for index, text in enumerate(texts) if wanted[index : index + 1] != [text]]
    left = Counter(wanted) - Counter(text for n, text in enumerate(texts) if n not in moved)
    lacking: list[int] = []
    for index in moved:
        if left[texts[index]]:
            left[texts[index]] -= 1
        else:
            lacking.append(index)
    return lacking
