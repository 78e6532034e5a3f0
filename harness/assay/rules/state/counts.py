"""Counts of the calls in a period against a quota: a lower and an upper bound.

Documents leave open what counts (further pages, refused calls, other names of a
method), a call that timed out may or may not have been counted, and without a zone it is
unknown which calls fall on one day. A call must be refused when the lower bound has
reached the quota, and answered while the upper bound is below it.

The limit is a number of calls, or the number that each consent names, up to a largest one. Where
consents name it, probes make consents that name the largest number, fewer and more.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, TypeAlias

from assay.contract.model import Contract, Json
from assay.files.document import Finding, Pointer
from assay.history import Call, Exchange
from assay.rules import parameters
from assay.rules.consents import MadeConsent
from assay.rules.parameters import Raw, as_number, known
from assay.rules.queries import plain
from assay.rules.state.periods import Period
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Evidence, tpp_evidence

#: The largest difference between two clocks that are treated as the same.
SKEW = timedelta(minutes=2)

#: Who has a count, a customer or a consent, and of what: an operation, all of them, or an operation
#: and a thing.
Pair: TypeAlias = tuple[str, str]
#: The same, under one of the operation's names.
Named: TypeAlias = tuple[Pair, int | None]
#: What has a count of its own, for a call that is about a thing or not.
Counted: TypeAlias = Callable[[Call], str]
#: The users of exhausted quotas; the most recent one at the end.
Users: TypeAlias = defaultdict[str, dict[str, Named]]


def by_operation(call: Call) -> str:
    """Count the calls of each operation."""
    return call.operation


def by_subject(call: Call) -> str:
    """Count the calls of each customer."""
    return call.subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """How many calls are certainly served, `least`, and beyond how many they are refused, `most`.

    `facet` is what a refusal beyond them shows, if it is not that of the operation.
    """

    least: int
    most: int
    facet: str = ""


@dataclass(slots=True, kw_only=True)
class Counts:
    """The calls so far. `closed` is when a call beyond the limit was last refused.

    `allowed` is the limit of a call, and `user` who has the count: the customer, or a consent.
    `counted` says which calls count together; `shared`, that those of all operations do.
    """

    allowed: Callable[[Call], Allowed]
    period: Period
    user: Callable[[Call], str] = by_subject
    counted: Counted = by_operation
    shared: bool = False
    closed: dict[Pair, datetime] = field(default_factory=dict[Pair, datetime])
    _sure: defaultdict[Named, list[datetime]] = field(
        default_factory=lambda: defaultdict[Named, list[datetime]](list)
    )
    _perhaps: defaultdict[Pair, list[datetime]] = field(
        default_factory=lambda: defaultdict[Pair, list[datetime]](list)
    )
    _limits: dict[Pair, int] = field(default_factory=dict[Pair, int])
    _methods: Users = field(default_factory=lambda: Users(dict))
    _consents: Users = field(default_factory=lambda: Users(dict))
    _subjects: Users = field(default_factory=lambda: Users(dict))

    def at_least(self, exchange: Exchange) -> int:
        """Return how many calls certainly count in the period of this one, under its name."""
        return self._counted(self._named(exchange), moment(exchange))

    def first(self, exchange: Exchange) -> datetime:
        """Return when the first of these calls was made."""
        made = self._sure[self._named(exchange)]
        return made[bisect_left(made, self.period.latest_begin(moment(exchange)))]

    def at_most(self, exchange: Exchange) -> int:
        """Return how many calls may count in the period of this one."""
        made = self._perhaps[self.pair(exchange.call)]
        return len(made) - bisect_left(made, self.period.earliest_begin(moment(exchange)))

    def exceeded_by(self, exchange: Exchange) -> bool:
        """Whether a call was answered beyond the limit, whatever preceded the history.

        Not near the end of a period: a clock that is only read is not the target's own.
        """
        if not exchange.accepted or self.at_least(exchange) < self.allowed(exchange.call).most:
            return False
        first, now = self.first(exchange), moment(exchange)
        return self.period.earliest_end(first - SKEW) == self.period.earliest_end(now + SKEW)

    def facet_beside_used_up(self, exchange: Exchange) -> str | None:
        """Return the facet that a call tests while another quota is used up."""
        call, now = exchange.call, moment(exchange)
        others = {
            name: named
            for name, named in self._methods[self.user(call)].items()
            if name != self.counted(call)
        }
        same = {
            name: each for name, each in others.items() if name.startswith(f"{call.operation} ")
        }
        if self._used_up(same, "", now):
            return "per-item"
        if self._used_up(others, "", now):
            return "per-method"
        if self._used_up(self._consents[self._own(call)], self.user(call), now):
            return "per-consent"
        if self._used_up(self._subjects[self._group(call)], call.subject, now):
            return "per-customer"
        return None

    def pair(self, call: Call) -> Pair:
        """Return who has the count of a call, and what it counts for."""
        return self.user(call), self.counted(call)

    def _named(self, exchange: Exchange) -> Named:
        return self.pair(exchange.call), exchange.call.alias

    def _group(self, call: Call) -> str:
        """Return what the counts of several customers can be compared for."""
        return "" if self.shared else call.operation

    def _own(self, call: Call) -> str:
        """Return what the counts of several consents of a customer can be compared for."""
        return f"{call.subject} {self.counted(call)}"

    def note(self, exchange: Exchange) -> None:
        """Count a call."""
        call, now, named = exchange.call, moment(exchange), self._named(exchange)
        limit = self._limits[named[0]] = self.allowed(call).most
        if exchange.refused and self.at_least(exchange) >= limit and self.period.has_known_end:
            self.closed[named[0]] = now
        insort(self._perhaps[named[0]], now)
        if exchange.accepted and plain(call):
            insort(self._sure[named], now)
        if self.at_least(exchange) >= limit:
            _last(self._methods[self.user(call)], self.counted(call), named)
            _last(self._consents[self._own(call)], self.user(call), named)
            _last(self._subjects[self._group(call)], call.subject, named)

    def _counted(self, named: Named, now: datetime) -> int:
        made = self._sure[named]
        return bisect_right(made, now) - bisect_left(made, self.period.latest_begin(now))

    def _used_up(self, users: dict[str, Named], but: str, now: datetime) -> bool:
        """Whether one of the last two others still has no calls left."""
        return any(
            name != but and self._counted(named, now) >= self._limits[named[0]]
            for name, named in islice(reversed(users.items()), 2)
        )


def moment(exchange: Exchange) -> datetime:
    """Return when a call was made, by a clock that is never turned back."""
    return exchange.at.astimezone(UTC)


def _last(users: dict[str, Named], name: str, named: Named) -> None:
    users.pop(name, None)
    users[name] = named


def same_customers(exchanges: Sequence[Exchange]) -> Mapping[str, str]:
    """Return one name for all subjects that asked about, or were shown, the same thing."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = name = parent[parent[name]]
        return name

    for exchange in exchanges:
        for key in _things(exchange):
            parent[root(f"thing {key}")] = root(f"name {exchange.call.subject}")
    subjects = {exchange.call.subject for exchange in exchanges}
    return {name: root(f"name {name}") for name in subjects}


def _things(exchange: Exchange) -> Iterator[str]:
    """Yield the keys of things in a call and its answer."""
    for value in exchange.call.arguments.values():
        for text in value if isinstance(value, list | tuple) else (value,):
            # A date or a word is not a key.
            if isinstance(text, str) and len(text) > len("2026-01-01"):
                yield text
    yield from (item.key for item in exchange.items if item.key is not None)


# -- the TPP ---------------------------------------------------------------------------------
def judge_tpp(
    calls: Sequence[Exchange],
    empty: Callable[[], Counts],
    facet: str,
    before: Callable[[Exchange], None],
) -> Iterator[Evidence]:
    """Judge each of the calls that count, except page turns.

    `empty` returns counts of no calls. `before` is called with each exchange before it is judged.
    """
    counts, together = empty(), empty()
    groups = same_customers(calls)
    words = counts.period.words
    served: dict[tuple[str, str, int | None], list[int]] = {}
    for exchange in calls:
        call = exchange.call
        before(exchange)
        joint = replace(exchange, call=replace(call, subject=groups[call.subject]))
        if counts.user(call) != call.subject:
            joint = exchange  # a consent has its own count, by whatever name its customer calls
        earlier = served.setdefault((*counts.pair(call), call.alias), [])
        if call.follow is None:
            allowed = counts.allowed(call)
            owed = f"no more than {allowed.most} calls {words.with_article}"
            sure, most = counts.at_least(exchange), together.at_most(joint)
            few = AGREES if most < allowed.least else UNCLEAR
            judged = DISAGREES if sure >= allowed.most else few
            done = f"it came after {sure if judged is DISAGREES else most} calls {words.this}"
            beside = earlier[-allowed.most :] if judged is DISAGREES else ()
            yield tpp_evidence(facet, judged, exchange, owed, done, *beside)
        if exchange.accepted and plain(call):
            earlier.append(exchange.n)
        counts.note(exchange)
        together.note(joint)


# -- the limit of the clause -----------------------------------------------------------------
#: What is refused beyond the number of a consent that names fewer calls, or more, than the largest one.
FEWER, MORE = "fewer-named", "more-named"
#: The number that probes take as the largest one where a contract says none.
USUAL = 4
#: More calls than any bank serves.
UNLIMITED = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaLimit:
    """How many calls are served in a period.

    `argument` is what a consent names the number in, empty where the contract says it; `number` is
    the largest one then, and `capped` whether the contract says that there is a largest one.
    """

    number: int
    argument: str = ""
    capped: bool = True

    @property
    def fewer(self) -> int:
        """A smaller number for a consent to name; 0 where there is none."""
        return self.number // 2 if self.argument else 0

    @property
    def more(self) -> int:
        """A number beyond the largest one for a consent to name; 0 where there is no largest one."""
        return self.number + 2 if self.argument and self.capped else 0

    def arguments(self, number: int | None = None) -> Mapping[str, Json]:
        """Return the arguments of a consent that allows a number of calls."""
        return {self.argument: number or self.number} if self.argument else {}

    def allowed(self, consent: MadeConsent | None) -> Allowed:
        """Return how many calls are served under a consent, which may be unknown."""
        if not self.argument:
            return Allowed(least=self.number, most=self.number)
        named = consent.arguments.get(self.argument) if consent is not None else None
        if not isinstance(named, int) or isinstance(named, bool) or named < 1:
            return Allowed(least=0, most=self.number if self.capped else UNLIMITED)
        number = min(named, self.number) if self.capped else named
        facet = (
            FEWER if named < self.number else MORE if self.capped and named > self.number else ""
        )
        return Allowed(least=number, most=number, facet=facet)


def quota_limit() -> Any:
    """Declare the limit of the clause: a whole number, or `argument` with `at-most`."""
    schema: dict[str, Json] = {
        "description": "a whole number of at least 1",
        "type": ["integer", "object"],
        "minimum": 1,
        "maximum": 100000,
        "additionalProperties": False,
        "required": ["argument"],
        "properties": {"argument": parameters.ref("word"), "at-most": parameters.ref("whole")},
    }
    return parameters.parameter(schema, _limit, key="limit", references=_check)


def _limit(value: Any, _: Contract) -> QuotaLimit:
    if not isinstance(value, Mapping):
        return QuotaLimit(number=as_number(value))
    named: Raw = value  # pyright: ignore[reportUnknownVariableType]
    number = named.get("at-most")
    return QuotaLimit(number=number or USUAL, argument=named["argument"], capped=number is not None)


def _check(at: Pointer, value: Any, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find a number that no consent of the clause names."""
    if not isinstance(value, Mapping):
        return
    if clause.get("counted-for") != "consent":
        hint = "add `counted-for: consent`"
        yield at, "a number that a consent names, for a count of each customer", hint
    made = raw["operations"].get(clause.get("grant"), {})
    if made:
        yield from known(
            (*at, "argument"), value["argument"], made.get("arguments", ()), "argument"
        )


def counted_for() -> Any:
    """Declare who has a count of its own; the value is whether it is each consent."""

    def check(at: Pointer, value: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
        made = raw["operations"].get(clause.get("grant"), {})
        if value == "consent" and "makes" not in made:
            hint = "name the operation that makes the consents in `grant`"
            yield at, "a count of each consent, and no operation that makes consents", hint

    return parameters.parameter(
        {
            "description": "customer or consent",
            "x-hint": "has each customer a count, or each of a customer's consents?",
            "enum": ["customer", "consent"],
        },
        lambda value, _: value == "consent",
        key="counted-for",
        references=check,
        required=False,
        default=False,
    )
