"""Readings of a word that shows how far something has come, in the order of a history.

A list shows it of each of its items; an answer about a request shows it of that request, whose key
may stand in the call alone. With the declarations of parameters that have such words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from assay.contract.model import Contract, Json, Operation
from assay.files.document import Finding, Pointer
from assay.history import Exchange, History, Item
from assay.history.events import Masked
from assay.rules import parameters
from assay.rules.lifecycle import request_queries
from assay.rules.lifecycle.tracker import Lifecycle, instances
from assay.rules.parameters import Raw, known
from assay.rules.queries import ordinary

#: What happened to a request, after which it shows other words.
SIGNED, ENDED = "signed", "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class WordReading:
    """A word that an answer shows of a thing, which was `made` in this history or not.

    `first` is the first of the readings in a row that show this word.
    """

    exchange: Exchange
    key: str
    word: str
    made: bool
    item: Item
    first: Exchange | None = None

    @property
    def since(self) -> datetime:
        """When the word was first read."""
        return (self.first or self.exchange).at

    def after(self, before: WordReading | None) -> WordReading:
        """Return this reading, with the first one that shows the same word."""
        if before is None or before.word != self.word:
            return self
        return replace(self, first=before.first or before.exchange)

    def overlaps(self, later: WordReading) -> bool:
        """Whether a later call was made before the answer to this one came."""
        begun, ended = self.exchange.at, self.exchange.at + timedelta(milliseconds=self.exchange.ms)
        return begun < later.exchange.at < ended


def readings(
    history: History, contract: Contract, resource: str, field: str
) -> Iterator[WordReading]:
    """Yield every reading of a field of a resource."""
    made: set[str] = set()
    for exchange in history.exchanges:
        operation = contract.operations.get(exchange.call.operation)
        if operation is None or not exchange.accepted:
            continue
        if not ordinary(replace(exchange.call, follow=None)):
            continue
        for item in _items(operation, exchange, resource):
            key, word = _key(operation, exchange, item), item.fields.get(field)
            if operation.makes == resource and key is not None:
                if key in made:
                    continue  # the answer to a repeated call may say what it said the first time
                made.add(key)
            text = word if isinstance(word, str) and not isinstance(word, Masked) else ""
            if key is not None and text:
                given = key in made
                yield WordReading(exchange=exchange, item=item, key=key, word=text, made=given)


def _items(operation: Operation, exchange: Exchange, resource: str) -> Iterator[Item]:
    """Yield the items of an answer that are of a resource."""
    if operation.request == resource:
        yield from exchange.items
    elif resource in operation.lists:
        listed = operation.lists[0] if len(operation.lists) == 1 else None
        yield from (item for item in exchange.items if (item.resource or listed) == resource)


def _key(operation: Operation, exchange: Exchange, item: Item) -> str | None:
    """Return the key of an item: the one that was asked about, where a request was."""
    asked = exchange.call.arguments.get(operation.about or "")
    return asked if operation.request and isinstance(asked, str) else item.key


def plain_signatures(history: History, lifecycle: Lifecycle) -> Mapping[str, int]:
    """Return the number of the signature of each request that was signed once, without a pause."""
    signed: dict[str, int] = {}
    for request in instances(history, lifecycle):
        signing = request_queries.signature(request)
        if signing is None or len(request.signings) > 1 or request.key is None:
            continue
        if signing.step.right and not (signing.step.linger or signing.step.pace):
            signed[request.key] = signing.n
    return signed


def sole_ends(history: History, lifecycle: Lifecycle) -> Mapping[str, int]:
    """Return the number of the call that ended each request, the only one that was to end it."""
    return {
        request.key: request.ends[0].n
        for request in instances(history, lifecycle)
        if request.key is not None and len(request.ends) == 1 and request.ends[0].accepted
    }


def turning_points(
    history: History, lifecycle: Lifecycle | None, words: Mapping[str, Sequence[str]]
) -> Mapping[str, tuple[int, str]]:
    """Return when each request was surely signed or ended, where words are named for that."""
    turns: dict[str, tuple[int, str]] = {}
    if lifecycle is not None and words[SIGNED]:
        signatures = plain_signatures(history, lifecycle)
        turns |= {key: (n, SIGNED) for key, n in signatures.items()}
    if lifecycle is not None and words[ENDED]:
        turns |= {key: (n, ENDED) for key, n in sole_ends(history, lifecycle).items()}
    return turns


# -- parameters with words -------------------------------------------------------------------
_WORDS: Mapping[str, Json] = {
    "description": "a list of at least one word",
    "type": "array",
    "minItems": 1,
    "uniqueItems": True,
    "items": parameters.ref("word"),
}
TRANSITIONS: Mapping[str, Json] = {
    "description": "for each word the words that may follow it",
    "x-hint": "for example {received: [accepted, rejected], accepted: [done]}",
    "type": "object",
    "minProperties": 1,
    "additionalProperties": _WORDS,
}


def check_words(at: Pointer, wanted: Any, clause: Raw, _: Raw) -> Iterator[Finding]:
    """Find words that are not among those that may be shown."""
    shown: list[str] = clause.get("words", [])
    named: dict[str, tuple[str | int, ...]] = (
        {name: (index,) for index, name in enumerate(wanted)}
        if isinstance(wanted, list)
        else {name: (key,) for key, names in wanted.items() for name in (key, *names)}
    )
    for name, place in named.items() if shown else ():
        yield from known((*at, *place), name, shown, "word")


def status_words(key: str) -> Any:
    """Declare a list of words; empty where it is left out."""
    return parameters.names(_WORDS, key=key, references=check_words, required=False)
