"""`pagination`: pages have the default size, or at most that, and together list each item once.

Items can be in the order of a date or of a number, within a page and across pages. One without the value
has no place, and only items of one list of the answer are compared.

One walk serves all facets. The walk itself refuses to go round in circles, so a
list without an end is a finding and not a hang.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import TypeAlias
from zoneinfo import ZoneInfo

from assay.contract.model import Capability, Json, Operation
from assay.contract.scalars import moment_of, number_of
from assay.history import Accepted, History, Holding, Subject
from assay.history.events import Masked
from assay.rules import operation_parameters, parameters, steps
from assay.rules.consents import NarrowedLists
from assay.rules.facets import Facts
from assay.rules.queries import (
    PageWalk,
    bare,
    bare_or_ranged,
    page_walks,
    perhaps_exhausted,
    target_failed,
)
from assay.rules.rule import (
    BindingRequirement,
    Calls,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Scope,
    Script,
    bound,
    consent,
    facts_of,
    needs,
)
from assay.rules.state.calendar import dates, day_of
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNAUTHENTICATED,
    UNCLEAR,
    Agreement,
    Evidence,
    Standing,
    describe_answer,
)

#: Entries at most this many days old are in every history, however short.
FRESH = 7
#: The facets of the size of a first page, and of later ones, which are full, or have at most so many.
FIRST, FULL, LATER = "first-page", "full-pages", "later-pages"
#: The facets of the order of items, and their scenario.
WITHIN, ACROSS, ORDER = "order-within-page", "order-across-pages", "order"
#: The lengths of dates in digits (DDMMYYYY, DDMMYY, with a time), which are no numbers.
DIGITS_OF_DATES = (6, 8, 12, 14)
#: A value of a field: its sort, and its rank among values of this sort.
_Ranked: TypeAlias = tuple[str, Decimal]
#: The facet and the scenario of a list without a last page that is not full.
EXACT = "exact"
_ORDERS = {AGREES: "they are", DISAGREES: "they are not", UNCLEAR: "it is not certain"}
_SCENARIOS = {EXACT: EXACT, WITHIN: ORDER, ACROSS: ORDER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pagination(Kind):
    """An operation with its page size, and the resources whose items it lists."""

    name = "pagination"
    # A range selects entries; a later page may be refused without the customer.
    hiding = (("", "arguments"), (EXACT, "presence"))
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.PROMISE

    limits = ("size", "at-most")
    at_least_one_of = ("size", "at-most", "descending", "ascending")
    at_most_one_of = ("size", "at-most")

    operation: Operation = parameters.operation(lists=True)
    exact_size: int | None = parameters.whole(key="size", required=False)
    at_most: int | None = parameters.whole(key="at-most", required=False)
    descending: str = operation_parameters.listed_field(key="descending", beside="ascending")
    ascending: str = operation_parameters.listed_field(key="ascending", beside="descending")
    grant: Operation | None = parameters.grant()
    owners: tuple[str, ...] = parameters.derived(
        lambda contract, known: steps.owners(contract, known["operation"])
    )
    zone: ZoneInfo | None = parameters.the_zone()
    granting: Operation | None = parameters.the_grant()

    @property
    def size(self) -> int:
        """The number of items of a full page, or the most that a page may have."""
        return self.exact_size or self.at_most or FRESH

    def _order_of(self, field: str) -> str:
        return f"in {'descending' if self.descending else 'ascending'} order of {field}"

    @property
    def depth(self) -> int | None:
        """How many days back answers go, if the contract limits it."""
        return facts_of(self.contract).history_days.get(self.operation.id)

    @property
    def total(self) -> int:
        """The number of items of two full pages and a partial one."""
        return 2 * self.size + max(2, 2 * self.size // 3)

    @property
    def most(self) -> int:
        """The number of pages after which a walk counts as endless."""
        return self.total + 2

    def facts(self) -> Facts:
        """Return the size of a full page."""
        paged = self.exact_size or self.at_most
        return Facts(page_sizes={self.operation.id: self.size} if paged else {})

    def facets(self) -> tuple[Facet, ...]:
        """Return two facets for page sizes, two for the items, two for the end, two for the order."""
        turned, key = (bound(self.operation, feature) for feature in ("next", "key"))
        later, size = (LATER, f"at most {self.size}") if self.at_most else (FULL, f"{self.size}")
        paged: tuple[tuple[str, str, tuple[BindingRequirement, ...]], ...] = (
            (FIRST, f"the first page has {size} items if there are more", ()),
            (later, f"every later page but the last has {size} items", turned),
            ("complete", "every item appears on some page", (*turned, *key)),
            ("no-repeats", "no item appears twice", (*turned, *key)),
            ("ends", "paging comes to an end", turned),
        )
        descriptions = paged if self.facts().page_sizes else ()
        one = bound(self.operation, "list", "single", if_missing=Standing.NOT_APPLICABLE)
        if field := self.descending or self.ascending:
            one += bound(self.operation, "field", field)
            descriptions += ((WITHIN, f"items on a page are {self._order_of(field)}", one),)
        if field and self.facts().page_sizes:
            descriptions += ((ACROSS, f"pages are {self._order_of(field)}", (*one, *turned)),)
        # How many things somebody owns can often not be arranged; of entries it can.
        full = f"a list of exactly {2 * self.size} items can be read to its end"
        fillable = self.operation.about and self.exact_size
        exact = ((EXACT, full, (*turned, *key)),) if fillable else ()
        roster = [Capability.PSU, Capability.ROSTER]
        if self.operation.about:
            roster.append(Capability.ENTRIES)
        return tuple(
            Facet(
                id=id_,
                description=description,
                scenario=Scenario(id=_SCENARIOS.get(id_, "walk")),
                needs=needs(*roster) | consent(self.grant),
                requires=requirements,
            )
            for id_, description, requirements in (*descriptions, *exact)
        )

    def probe(self, scenario: Scenario) -> Script:
        """Own items for two full pages, and a partial one or none, and turn all pages."""
        total = 2 * self.size if scenario.id == EXACT else self.total
        if self.operation.about:
            today = (yield from steps.clock()).date()
            dates = steps.days_before(today, *(1 + FRESH * n // total for n in range(total)))
            if scenario.id == ORDER:  # neither the newest nor the oldest is made first
                dates = (*dates[1::2], *dates[::-2])
            holdings = [Holding(resource=self.owners[0], entries=dates)]
        else:
            rest = len(self.operation.lists) - 1
            counts = [total - 2 * rest, *([2] * rest)]
            holdings = [
                Holding(resource=resource, count=count)
                for resource, count in zip(self.operation.lists, counts, strict=True)
            ]
        psu = yield from steps.arrange("psu", *holdings)
        key = psu.owns[0].key
        yield from steps.grant(self.grant, "psu", key)
        call = steps.ask(self.operation, "psu", key)
        if self.operation.about:
            yield from steps.walk(call, self.most)
        else:
            keys = [item.key for item in psu.owns]
            yield from steps.walk_whole(call, psu, keys, self.granting, self.most)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge each walk by itself, and against the resources of its customer."""
        subjects = history.subjects
        narrowed = NarrowedLists.read(self.contract, history, self.granting)
        exhausted = perhaps_exhausted(self.contract, self.operation.id, history)
        for walk in page_walks(history, self.operation.id, self.contract):
            if exhausted.intersection(walk.numbers):
                continue
            # A list without anything may be a refusal: what was consented to is
            # another clause's business.
            bare_walk = bare(walk.call, self.operation)
            if bare_or_ranged(walk.call, self.operation):
                yield from self._order(walk)
            if not self.facts().page_sizes:
                continue
            if bare_walk and walk.pages[0].accepted and walk.items:
                consented = narrowed.of(walk)
                roster = expected(self, walk, subjects.get(walk.call.subject), consented)
                straight = _straight(walk)
                yield from self._sizes(straight, roster)
                if len(roster.fresh) + len(roster.old) > self.size:
                    yield from _complete(straight, roster, whole=walk.ended or straight is not walk)
                yield from _repeats(straight, whole=walk.ended or straight is not walk)
                yield from self._end(walk, straight, roster)
            elif bare_or_ranged(walk.call, self.operation) and walk.items and not bare_walk:
                # What lies in the range is a matter of other clauses; its pages are as long.
                yield from self._sizes(_straight(walk), Roster())
            elif bare_walk and self._shows_nothing(walk, subjects.get(walk.call.subject)):
                yield from _end_of_nothing(walk)

    def _shows_nothing(self, walk: PageWalk, subject: Subject | None) -> bool:
        """Whether a walk is about a thing that certainly has no entries."""
        about = walk.call.arguments.get(self.operation.about or "")
        owned = subject.owned(about) if subject is not None and subject.fresh else None
        return owned is not None and not owned.entries

    def _order(self, walk: PageWalk) -> Iterator[Evidence]:
        """Judge neighbours on each page, and the extremes of it by those of the pages before."""
        field, before, whole = self.descending or self.ascending, list[_Ranked](), True
        for page in walk.pages if field else ():
            values = [_value_of(item.fields.get(field)) for item in page.items]
            known = [value for value in values if value is not None]
            whole = whole and len(known) == len(values)
            judged = [(WITHIN, [*pairwise(known)], len(known) == len(values))]
            if before and self.facts().page_sizes:
                pairs = [*zip(before, reversed(_extremes(known)), strict=False)]
                judged.append((ACROSS, pairs, whole and bool(pairs or not known)))
            for facet, pairs, sure in judged if values[1:] or before else ():
                found = _agreement_of(pairs, descending=bool(self.descending), sure=sure)
                if found is not None:
                    yield Evidence(
                        facet=facet,
                        agreement=found,
                        expected=f"items {self._order_of(field)}",
                        seen=_ORDERS[found],
                        exchanges=(page.n,),
                        member=page.member("list"),
                    )
            before = _extremes([*before, *known])

    def _sizes(self, walk: PageWalk, roster: Roster) -> Iterator[Evidence]:
        filled = max(n for n, page in enumerate(walk.pages, 1) if page.items)
        later, most = (LATER, "at most ") if self.at_most else (FULL, "")
        left = max(len(walk.items), len(roster.fresh))
        for number, page in enumerate(walk.pages, 1):
            size = len(page.items)
            # Empty pages after the last item count for `ends` only.
            must_be_full = number < filled or (number == 1 and len(roster.fresh) > self.size)
            shows = left > self.size if self.at_most else must_be_full
            left -= size
            if shows or size > self.size:
                good = size <= self.size if self.at_most else size == self.size
                yield Evidence(
                    facet=FIRST if number == 1 else later,
                    agreement=AGREES if good else DISAGREES,
                    expected=f"{most}{self.size} items on page {number}",
                    seen=f"{size} items",
                    exchanges=(page.n,),
                    member=page.member("list"),
                )

    def _end(self, walk: PageWalk, straight: PageWalk, roster: Roster) -> Iterator[Evidence]:
        """Judge the end; an unfinished walk is not a list without an end."""
        there = roster.fresh | roster.old.keys()
        missing = there - walk.keys
        exact = len(there) > self.size and not (self.at_most or len(there) % self.size)
        if (
            self.operation.about
            and exact
            and walk.ended
            and len(missing) == self.size
            and missing <= roster.fresh
        ):
            yield Evidence(
                facet=EXACT,
                agreement=UNCLEAR if walk.has_unnamed_items else DISAGREES,
                expected=f"all {len(there)} items on {len(there) // self.size} full pages",
                seen=f"a whole page is missing: there are {len(walk.pages)}",
                exchanges=walk.numbers,
            )
        exact = bool(self.operation.about) and exact and not missing
        dead = _is_dead(walk)
        if len(walk.pages) > 1 and walk.call.present and (dead or (exact and walk.ended)):
            yield Evidence(
                facet=EXACT if exact else "ends",
                agreement=DISAGREES if dead else AGREES,
                expected="every page that a link names to exist",
                seen=describe_answer(walk.pages[-1]) if dead else "the list comes to its end",
                exchanges=walk.numbers,
            )
            if dead:
                return
        turned = {page.call.follow for page in walk.pages}
        last = [page.outcome for page in walk.pages][-1]
        circle = straight is not walk or (
            isinstance(last, Accepted) and last.next in turned - {None}
        )
        # One page for each item would take fewer.
        endless = roster.most is not None and len(walk.pages) > roster.most + 1 and not walk.ended
        if circle or endless or (walk.ended and len(walk.pages) > 1):
            yield _ends(walk, never=circle or endless)


def _ends(walk: PageWalk, *, never: bool) -> Evidence:
    return Evidence(
        facet="ends",
        agreement=DISAGREES if never else AGREES,
        expected="paging to come to an end",
        seen=f"page {len(walk.pages)} still names a next one" if never else "it ends",
        exchanges=walk.numbers,
        member=walk.pages[-1].member("next"),
    )


def _end_of_nothing(walk: PageWalk) -> Iterator[Evidence]:
    """Judge the end of a list of nothing: a second empty page names no third one."""
    last = walk.pages[-1].outcome
    if len(walk.pages) > 1 and isinstance(last, Accepted):
        yield _ends(walk, never=bool(last.next))


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """The keys that a walk should show; `fresh` ones however short the history is.

    `old` maps the others to their dates: a shorter history may omit them. `most` is the
    maximum number of items; None if it is unknown.
    """

    fresh: frozenset[str] = frozenset()
    old: Mapping[str, date] = field(default_factory=dict[str, date])
    most: int | None = None


def expected(
    clause: Pagination, walk: PageWalk, subject: Subject | None, consented: frozenset[str] | None
) -> Roster:
    """Return what the roster lets us expect of a walk, which may show `consented` things only."""
    if subject is None:
        return Roster()
    at = walk.pages[0].at
    if not clause.operation.about:
        listed = [item for item in subject.owns if item.resource in clause.operation.lists]
        facts = facts_of(clause.contract)
        sure = frozenset(item.key for item in listed if facts.surely_listed(item, at, subject.now))
        fresh = sure if consented is None or sure <= walk.keys else sure & consented
        return Roster(fresh=fresh, most=len(subject.owns))
    owned = subject.owned(walk.call.arguments.get(clause.operation.about))
    if owned is None or not owned.entries:
        return Roster()
    days = dates(at, clause.zone)
    first, last = days[0], days[-1]
    begin = last - timedelta(days=clause.depth) if clause.depth else date.min
    due = {entry.key: entry.on for entry in owned.entries if begin < entry.on <= first}
    fresh = frozenset(key for key, on in due.items() if (last - on).days <= FRESH)
    old = {key: on for key, on in due.items() if key not in fresh}
    return Roster(fresh=fresh, old=old, most=len(owned.entries))


def _straight(walk: PageWalk) -> PageWalk:
    """Return a walk up to the first page that repeats, if one does.

    Items that repeat because the walk is circular count for `ends` only.
    """
    seen: set[tuple[str | None, ...]] = set()
    for number, page in enumerate(walk.pages):
        keys = tuple(item.key for item in page.items)
        if keys and None not in keys and keys in seen:
            return replace(walk, pages=walk.pages[:number])
        seen.add(keys)
    return walk


def _complete(walk: PageWalk, roster: Roster, *, whole: bool) -> Iterator[Evidence]:
    if not whole:
        return
    keys = walk.keys
    oldest = min((on for key, on in roster.old.items() if key in keys), default=date.max)
    missing = roster.fresh - keys
    gaps = {key for key, on in roster.old.items() if on >= oldest} - keys
    shorter = roster.old.keys() - keys - gaps
    lost = len(missing) + len(gaps)
    unsure = walk.has_unnamed_items or (shorter and not lost)
    yield Evidence(
        facet="complete",
        agreement=UNCLEAR if unsure else DISAGREES if lost else AGREES,
        expected=f"all {len(roster.fresh) + len(roster.old)} items on some page",
        seen=f"{lost} missing"
        if lost
        else f"the {len(shorter)} oldest are missing; the bank's history may be shorter"
        if shorter
        else "all of them",
        exchanges=walk.numbers,
    )


def _repeats(walk: PageWalk, *, whole: bool) -> Iterator[Evidence]:
    counts = Counter(item.key for item in walk.items if item.key is not None)
    twice = sum(1 for count in counts.values() if count > 1)
    if len(walk.pages) > 1 and (twice or whole):
        evidence = Evidence(
            facet="no-repeats",
            agreement=DISAGREES if twice else UNCLEAR if walk.has_unnamed_items else AGREES,
            expected="each item once",
            seen=f"{twice} items more than once" if twice else "each once",
            exchanges=walk.numbers,
        )
        back = replace(walk, pages=walk.pages[::-1])
        yield back.showing(evidence, lambda item: counts[item.key or ""] > 1, "key")


def _is_dead(walk: PageWalk) -> bool:
    """Whether a page that the one before it named was refused, or made the target fail."""
    last = walk.pages[-1]
    refused = last.refused and last.wire.status != UNAUTHENTICATED
    return len(walk.pages) > 1 and (refused or target_failed(last))


# -- The order of values: which can be compared, and which are in the wrong order -----------------
# Days, instants and numbers are compared, each with its like; of a time without an offset, the day is,
# since clocks are set back. Equal values are in any order.
def _value_of(shown: Json) -> _Ranked | None:
    """Return the value of a field; None for a masked one, and for what is no date or number."""
    text = shown if isinstance(shown, str) else ""
    moment = moment_of(text)
    day = day_of(text, whole=moment is None)
    if moment is not None and moment.tzinfo is not None:
        sort, number = "instant", number_of(moment.timestamp())
    elif day is not None:
        sort, number = "day", number_of(day.toordinal())
    elif isinstance(shown, Masked) or (text.isdecimal() and len(text) in DIGITS_OF_DATES):
        return None
    else:
        sort, number = "number", number_of(shown)
    return None if number is None else (sort, number)


def _extremes(values: Sequence[_Ranked]) -> list[_Ranked]:
    """Return the least and the greatest of some values; none where they are of several sorts."""
    alike = len({sort for sort, _ in values}) == 1
    return [min(values), max(values)] if alike else []


def _agreement_of(
    pairs: Iterable[tuple[_Ranked, _Ranked]], *, descending: bool, sure: bool
) -> Agreement | None:
    """Return whether pairs are in order, `sure` if they are all; None if any order would do."""
    apart = [pair[::-1] if descending else pair for pair in pairs if pair[0] != pair[1]]
    if any(low[0] == high[0] and low[1] > high[1] for low, high in apart):
        return DISAGREES
    if not sure or any(low[0] != high[0] for low, high in apart):
        return UNCLEAR
    return AGREES if apart else None
