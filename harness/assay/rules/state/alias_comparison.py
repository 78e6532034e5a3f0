"""Comparison of like answers: under the aliases of an operation, or at one moment, with one before.

What the target file binds must be the same. All else of an item is compared, too, if two answers
under the main name, before and after, are the same: then nothing in it changes by itself. Texts
that may be links are left out, for a link may have the name that was called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from zoneinfo import ZoneInfo

from assay.history import Exchange, Item
from assay.rules.queries import is_part, question, target_failed
from assay.rules.state.calendar import within_a_day
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Evidence, describe_answer

#: The facet under which the evidence is reported.
ALIASES_AGREE = "aliases-agree"
AT_ONCE = "at-once"
#: The data may have changed between two calls further apart than this.
RECENT = timedelta(minutes=5)


@dataclass(slots=True, kw_only=True)
class NamedAnswers:
    """The last answer under the main name to each question, and those under other names since."""

    zone: ZoneInfo | None
    _main: dict[tuple[str, str, str], Exchange] = field(
        default_factory=dict[tuple[str, str, str], Exchange]
    )
    _others: dict[tuple[str, str, str], list[Exchange]] = field(
        default_factory=dict[tuple[str, str, str], list[Exchange]]
    )

    def clear(self) -> None:
        """Forget all answers: what follows may differ from them."""
        self._main.clear()
        self._others.clear()

    def compares(self, exchange: Exchange) -> bool:
        """Whether a call is under another name, or one of several, with an answer to compare with."""
        apart = exchange.call.alias is not None or exchange.call.together
        return bool(apart) and question(exchange.call) in self._main

    def other(self, exchange: Exchange) -> Iterator[Evidence]:
        """Compare an answer under another name with the last one under the main name."""
        asked = question(exchange.call)
        main = self._main[asked]
        if not main.accepted or not self._recent(main, exchange):
            return
        same = exchange.accepted and _bound(exchange) == _bound(main)
        # Other data at one moment are judged once the next answer shows that nothing has changed.
        later = bool(exchange.call.together) and exchange.accepted and not same
        if same or (later and not is_part(exchange)):
            self._others.setdefault(asked, []).append(exchange)
        telling = not same or any(_telling(item) for item in main.items)
        if telling and not later:
            yield _agree(exchange, main, same=same)

    def main(self, exchange: Exchange) -> Iterator[Evidence]:
        """Note an answer under the main name; compare all parts of those since the last one."""
        asked = question(exchange.call)
        former, others = self._main.get(asked), self._others.pop(asked, [])
        self._main[asked] = exchange
        if former is None or not others or not self._recent(former, exchange):
            return
        if exchange.accepted and _contents(former) == _contents(exchange):
            for other in others:
                if _contents(other) != _contents(former):
                    yield Evidence(
                        facet=_facet(other),
                        agreement=DISAGREES,
                        expected=f"the same {len(former.items)} items as {_compared(other)}",
                        seen=f"other values: {describe_answer(other)}",
                        exchanges=(former.n, other.n, exchange.n),
                        decisive=other.n,
                        controls=(former.n, exchange.n),
                        variation=other.call.variation,
                    )

    def _recent(self, first: Exchange, last: Exchange) -> bool:
        """Whether nothing can have changed between two answers by itself."""
        days = {within_a_day(exchange.at, self.zone) for exchange in (first, last)}
        return last.at - first.at <= RECENT and len(days) == 1


def _agree(other: Exchange, main: Exchange, *, same: bool) -> Evidence:
    # The order of a list is open, and so is what its first page has.
    unclear = is_part(other) if other.accepted else not (other.refused or target_failed(other))
    # A bank may limit the calls of a moment.
    unclear = unclear or bool(other.call.together and other.refused)
    return Evidence(
        facet=_facet(other),
        agreement=AGREES if same else UNCLEAR if unclear else DISAGREES,
        expected=f"the same {len(main.items)} items as {_compared(other)}",
        seen="the same items" if same else f"other data: {describe_answer(other)}",
        exchanges=(main.n, other.n),
        controls=(main.n,),
        variation=other.call.variation,
    )


def _facet(other: Exchange) -> str:
    return AT_ONCE if other.call.together else ALIASES_AGREE


def _compared(other: Exchange) -> str:
    return "just before" if other.call.together else "under the main name"


def _telling(item: Item) -> bool:
    """Whether the target file binds anything that identifies an item."""
    return item.key is not None or item.on is not None or bool(item.fields)


def _bound(exchange: Exchange) -> list[str]:
    """Return the items, in any order, by what the target file binds."""
    return sorted(f"{item.key}|{item.on}|{sorted(item.fields.items())}" for item in exchange.items)


def _contents(exchange: Exchange) -> list[str]:
    """Return the items, in any order, by everything in them that is no link."""
    return sorted(item.content or item.digest for item in exchange.items)
