"""What counts towards a `quota`: refused calls, page turns, and calls under another name.

Documents often leave this open, and a bank answers it. Such a call is made a few times, so that the
next plain call is beyond the limit if they count, and within it if not. It is judged only where
nothing else in the period can have counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from assay.contract.model import Contract, Operation
from assay.history import Accepted, Call, Exchange, Holding, Subject
from assay.rules import parameters, steps
from assay.rules.rule import Script, facts_of
from assay.rules.state.counts import Pair, moment
from assay.rules.state.periods import Period
from assay.rules.verdict import Evidence, must_be_refused, must_be_served

UNSPECIFIED, COUNTED = "unspecified", "counted"
REFUSED, TURNS, NAMES = "refused-calls", "page-turns", "names"
SERVED = "served"
#: The words of the parameters, the one that counts first.
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    REFUSED: (COUNTED, "free"),
    TURNS: (COUNTED, "free"),
    NAMES: ("shared", "apart"),
}
#: The facets in the same order, with what they require.
_FACETS: Final[Mapping[str, tuple[tuple[str, str], tuple[str, str]]]] = {
    REFUSED: (
        ("refused-calls-count", "refused calls count"),
        ("refused-calls-free", "refused calls do not count"),
    ),
    TURNS: (
        ("page-turns-count", "further pages of a list count"),
        ("page-turns-free", "further pages of a list do not count"),
    ),
    NAMES: (
        ("names-share", "the names of an operation share one count"),
        ("names-apart", "each name of an operation has its own count"),
    ),
}


def counted(key: str, *, required: bool = True) -> str:
    """Declare whether calls of a kind count."""
    return parameters.choice(
        UNSPECIFIED,
        *_WORDS[key],
        key=key,
        description=f"{', '.join(_WORDS[key])} or {UNSPECIFIED}",
        hint="does the document, or the bank, say whether these calls count?",
        required=required,
        default=UNSPECIFIED,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatCounts:
    """What is said of each kind of call, for some operations of a contract."""

    said: Mapping[str, str]
    operations: Sequence[Operation]
    contract: Contract
    limit: int
    grant: Operation | None

    @property
    def facets(self) -> Mapping[str, tuple[str, str, Operation]]:
        """The facet of each kind of call of which something is said, with an operation that it tests."""
        found: dict[str, tuple[str, str, Operation]] = {}
        for kind, word in self.said.items():
            if operations := self._operations(kind):
                id_, sentence = _FACETS[kind][_WORDS[kind].index(word)]
                found[kind] = id_, sentence, operations[0]
        return found

    @property
    def refusing(self) -> list[str]:
        """The facets that expect a refusal."""
        return [_FACETS[kind][0][0] for kind in _FACETS]

    def _operations(self, kind: str) -> list[Operation]:
        """Return the operations with such calls."""
        sizes = facts_of(self.contract).page_sizes
        fits: Mapping[str, Callable[[Operation], bool]] = {
            REFUSED: lambda each: bool(each.about and self.grant and not self.grant.given),
            TURNS: lambda each: bool(sizes.get(each.id) and each.about),
            NAMES: lambda each: bool(each.aliases and each.about),
        }
        return [*filter(fits[kind], self.operations)]

    def probe(self, kind: str, call: Callable[[Operation, str], Call]) -> Script:
        """Use up the limit with such calls, as far as they count, and make a plain one.

        `call` returns a plain call of an operation that counts, about the thing with a key. Each
        operation may count its names in a way of its own.
        """
        _, _, operation = self.facets[kind]
        today = (yield from steps.clock()).date()
        owner = steps.owners(self.contract, operation)[0]
        size = facts_of(self.contract).page_sizes.get(operation.id) or 1
        number = size * (self.limit - 1) + 1 if kind == TURNS else 0
        days = steps.days_before(today, *(1 + n % 20 for n in range(number)))
        entries = days if kind == TURNS else None
        psu = yield from steps.arrange("psu", Holding(resource=owner, count=2, entries=entries))
        first, second = (owned.key for owned in psu.owns[:2])
        yield from steps.grant(self.grant, "psu", first)
        plain = call(operation, first)
        if kind == REFUSED:
            other = replace(plain, arguments=steps.arguments(operation, second))
            for _ in range(self.limit):
                yield from steps.send(replace(other, variation="beyond the consent"))
        elif kind == TURNS:
            page = yield from steps.send(plain)
            for _ in range(self.limit - 1):
                following = page.outcome.next if isinstance(page.outcome, Accepted) else None
                if following:
                    page = yield from steps.send(replace(plain, follow=following))
        else:
            yield from self._by_names(psu, call)
            return
        yield from steps.send(plain)
        yield from steps.send(replace(plain, present=True, variation=""))

    def _by_names(self, psu: Subject, call: Callable[[Operation, str], Call]) -> Script:
        """Use up the limit under the plain name of each operation, and call it by its other ones."""
        for operation in self._operations(NAMES):
            owners = steps.owners(self.contract, operation)
            key = next(owned.key for owned in psu.owns if owned.resource in owners)
            plain = call(operation, key)
            for _ in range(self.limit):
                yield from steps.send(plain)
            for alias in range(len(operation.aliases)):
                # A target may have some of the names only.
                yield from steps.attempted(replace(plain, alias=alias))
            yield from steps.send(replace(plain, present=True, variation=""))

    def judge(self, exchange: Exchange, seen: SeenCalls) -> Iterator[Evidence]:
        """Judge a plain call by the calls before it, if these are of one doubtful kind."""
        if not self.said or exchange.call.together:
            return
        kinds = seen.before(exchange)
        doubtful = [kind for kind in kinds if kind != SERVED]
        kind = doubtful[0] if len(doubtful) == 1 else ""
        if kind not in self.facets or kinds[SERVED] >= self.limit:
            return
        number = kinds[SERVED] + kinds[kind]
        if number < self.limit:
            return
        facet, sentence, _ = self.facets[kind]
        why = f"{sentence}, and {number} calls were made"
        if facet == _FACETS[kind][0][0]:
            yield must_be_refused(facet, exchange, why, limit=True)
        else:
            yield must_be_served(facet, exchange, why)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCalls:
    """The calls so far by who has the count of them, each with its kind."""

    period: Period
    pair: Callable[[Call], Pair]
    calls: defaultdict[Pair, list[tuple[datetime, Exchange]]] = field(
        default_factory=lambda: defaultdict[Pair, list[tuple[datetime, Exchange]]](list)
    )

    def note(self, exchange: Exchange) -> None:
        """Note a call that counts or may count."""
        self.calls[self.pair(exchange.call)].append((moment(exchange), exchange))

    def before(self, exchange: Exchange) -> Counter[str]:
        """Return how many calls of each kind there were in the period; "" is one of no known kind."""
        now, alias = moment(exchange), exchange.call.alias
        latest, earliest = self.period.latest_begin(now), self.period.earliest_begin(now)
        return Counter(
            "" if at < latest else _kind(each, alias)
            for at, each in self.calls[self.pair(exchange.call)]
            if at >= earliest
        )


def _kind(exchange: Exchange, alias: int | None) -> str:
    """Return what kind of call this is for one under a name."""
    call = exchange.call
    if call.together:
        return ""
    if exchange.refused:
        return REFUSED if call.follow is None and call.alias == alias else ""
    if not exchange.accepted:
        return ""
    if call.follow is not None:
        return TURNS if call.alias == alias else ""
    return SERVED if call.alias == alias else NAMES
