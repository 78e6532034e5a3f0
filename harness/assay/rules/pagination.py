"""`pagination`: pages have the default size, and together hold each item once.

One walk serves all facets. The walk itself refuses to go round in circles, so a
list without an end is a finding and not a hang.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from assay.history import Call, Exchange, History, Holding, Subject
from assay.model import Capability, Clause, Contract, Operation, Party
from assay.rules import eligibility, params, script
from assay.rules.folds import AGREES, DISAGREES, UNCLEAR, Walk, walks
from assay.rules.rule import Facet, Rule, Script, Want, needs
from assay.verdict import Agreement, Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The operation, its page size, and who owns what is listed."""

    operation: Operation
    size: int
    grant: Operation | None
    owners: tuple[str, ...]
    states: tuple[eligibility.Params, ...]
    zone: ZoneInfo | None

    @property
    def total(self) -> int:
        """How many items make two full pages and a rest."""
        return 2 * self.size + max(2, 2 * self.size // 3)

    @property
    def most(self) -> int:
        """How many pages the walk may turn before it counts as endless."""
        return self.total // self.size + 4


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    operation = params.operation(clause, contract)
    return Params(
        operation=operation,
        size=params.whole(clause, "size"),
        grant=params.granting(clause, contract),
        owners=script.owners(contract, operation),
        states=eligibility.states(contract),
        zone=contract.zone,
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """Two facets for sizes, two for the items, one for the end."""
    key = (Want(operation=p.operation.id, feature="key"),)
    asked: tuple[tuple[str, str, tuple[Want, ...]], ...] = (
        ("first-page", f"the first page holds {p.size} when there are more", ()),
        ("full-pages", f"every later page but the last holds {p.size}", ()),
        ("complete", "every item appears on some page", key),
        ("no-repeats", "no item appears twice", key),
        ("ends", "turning pages comes to an end", ()),
    )
    roster = [Capability.PSU, Capability.ROSTER]
    if p.operation.about:
        roster.append(Capability.ENTRIES)
    return tuple(
        Facet(id=id_, asks=asks, scenario="walk", needs=needs(*roster), wants=wants)
        for id_, asks, wants in asked
    )


def price(p: Params, scenario: str) -> int:
    """Count the calls: consent and the pages of a sound bank."""
    return (1 if p.grant else 0) + -(-p.total // p.size)


def probe(p: Params, scenario: str) -> Script:
    """Own two pages and a rest, and turn all pages."""
    if p.operation.about:
        today = (yield from script.clock()).date()
        dates = script.days_before(today, *(1 + n // 2 for n in range(p.total)))
        holdings = [Holding(resource=p.owners[0], entries=dates)]
    else:
        rest = len(p.operation.lists) - 1
        counts = [p.total - 2 * rest, *([2] * rest)]
        holdings = [
            Holding(resource=resource, count=count)
            for resource, count in zip(p.operation.lists, counts, strict=True)
        ]
    psu = yield from script.arrange("psu", *holdings)
    key = psu.owns[0].key
    yield from script.grant(p.grant, "psu", key)
    yield from script.walk(
        Call(
            operation=p.operation.id,
            subject="psu",
            arguments=script.arguments(p.operation, key),
        ),
        most=p.most,
    )


def expected(p: Params, walk: Walk, subject: Subject) -> frozenset[str]:
    """Return the keys that the roster lets us expect of a walk."""
    if p.operation.about:
        owned = subject.owned(walk.call.arguments.get(p.operation.about))
        return frozenset(entry.key for entry in owned.entries) if owned else frozenset()
    today = walk.pages[0].at.astimezone(p.zone).date()
    return frozenset(
        one.key
        for one in subject.owns
        if one.resource in p.operation.lists and eligibility.surely_listed(p.states, one, today)
    )


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge each walk against what its customer owns."""
    subjects = history.subjects
    for walk in walks(history, p.operation.id):
        subject = subjects.get(walk.call.subject)
        wanted = expected(p, walk, subject) if subject else frozenset[str]()
        if len(wanted) > p.size and walk.pages[0].accepted:
            straight = _straight(walk)
            yield from _sizes(p, straight)
            yield from _items(straight, wanted, whole=straight.ended or straight is not walk)
            yield from _end(p, walk)


def _straight(walk: Walk) -> Walk:
    """Return a walk up to the page that comes round again, if one does.

    What is seen twice because the walk goes in a circle is the business of
    `ends` alone.
    """
    seen: set[tuple[str | None, ...]] = set()
    for number, page in enumerate(walk.pages):
        keys = tuple(item.key for item in page.items)
        if keys and keys in seen:
            return replace(walk, pages=walk.pages[:number])
        seen.add(keys)
    return walk


def _sizes(p: Params, walk: Walk) -> Iterator[Evidence]:
    filled = max((n for n, page in enumerate(walk.pages, 1) if page.items), default=0)
    for number, page in enumerate(walk.pages, 1):
        # Empty pages behind the last item are the business of `ends`.
        if number == 1 or number < filled:
            held = len(page.items)
            yield Evidence(
                facet="first-page" if number == 1 else "full-pages",
                agreement=AGREES if held == p.size else DISAGREES,
                expected=f"{p.size} items on page {number}",
                seen=f"{held} items",
                exchanges=(page.n,),
            )


def _items(walk: Walk, wanted: frozenset[str], *, whole: bool) -> Iterator[Evidence]:
    counts = Counter(item.key for item in walk.items if item.key is not None)
    twice = sum(1 for count in counts.values() if count > 1)
    missing = len(wanted - counts.keys())
    if whole:
        yield Evidence(
            facet="complete",
            agreement=_unless(walk.nameless, broken=bool(missing)),
            expected=f"all {len(wanted)} items on some page",
            seen=f"{missing} missing" if missing else "all of them",
            exchanges=walk.numbers,
        )
    if len(walk.pages) > 1 and all(page.accepted for page in walk.pages):
        yield Evidence(
            facet="no-repeats",
            agreement=_unless(walk.nameless, broken=bool(twice)),
            expected="each item once",
            seen=f"{twice} items more than once" if twice else "each once",
            exchanges=walk.numbers,
        )


def _unless(nameless: bool, *, broken: bool) -> Agreement:
    return UNCLEAR if nameless else DISAGREES if broken else AGREES


def _end(p: Params, walk: Walk) -> Iterator[Evidence]:
    last: Exchange = walk.pages[-1]
    if not last.accepted:
        return
    circle = not walk.ended
    yield Evidence(
        facet="ends",
        agreement=DISAGREES if circle else AGREES,
        expected=f"an end after about {-(-p.total // p.size)} pages",
        seen=f"page {len(walk.pages)} still names a next one" if circle else "it ends",
        exchanges=walk.numbers,
    )


RULE = Rule(
    kind="pagination",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
