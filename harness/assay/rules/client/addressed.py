"""`addressed`, the provider's side: a request is addressed by a key that it was given.

A key that no answer of the history gave may be one from before it. It surely is not if
the bank refuses it and it does not even look like those that were given, or if it is
another provider's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.history import Exchange, History
from assay.judging.verdict import Agreement, Evidence
from assay.rules.client.evidence import BROKEN, KEPT, OPEN, say
from assay.rules.kinds.addressed import EARLIER, Params
from assay.rules.lifecycle.request_queries import said_no
from assay.rules.lifecycle.tracker import Tracker
from assay.rules.rule import BindingRequirement, Duty

ID = "own-requests-only"
OWED = "that only requests are addressed whose key was given to the provider"
#: Keys of one make may differ so much in their length: numbers grow.
GROWTH = 3


def like(key: str, given: str) -> bool:
    """Whether a key may be of the same make as another: as long, and divided in the same way."""
    signs = ("".join(one for one in each if not one.isalnum()) for each in (key, given))
    return len(set(signs)) == 1 and abs(len(key) - len(given)) <= GROWTH


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every call about a request."""
    book = Tracker(lifecycle=p.lifecycle)
    makers: dict[str, set[str]] = {}
    about = {
        one.id: one.about or ""
        for one in (p.lifecycle.read, p.lifecycle.change, p.lifecycle.end)
        if one
    }
    for event in history.events:
        found = book.note(event)
        if not isinstance(event, Exchange):
            continue
        if found is not None and found.made is event and found.key is not None:
            makers.setdefault(found.key, set()).add(event.call.by)
        key = event.call.arguments.get(about.get(event.call.operation, ""))
        if event.call.operation in about and isinstance(key, str):
            yield from _judge(event, key, makers)


def _judge(exchange: Exchange, key: str, makers: Mapping[str, set[str]]) -> Iterator[Evidence]:
    if exchange.call.by in makers.get(key, ()):
        yield say(ID, KEPT, exchange, OWED, "it was given in this history")
        return
    refused = said_no(exchange)
    judged: Agreement = OPEN
    why = "no answer of this history gave it"
    if key in makers:
        judged, why = BROKEN, "it was given to another provider"
    elif refused and makers and not any(like(key, one) for one in makers):
        judged, why = BROKEN, f"{why}, and it looks like none that was given"
    elif exchange.accepted:
        judged, why = KEPT, "the bank knows it as the provider's"
    yield say(ID, judged, exchange, OWED, f"{why}; {EARLIER}" if judged is OPEN else why)


DUTY = Duty(
    kind="addressed",
    id=ID,
    description=lambda p: "only requests are addressed whose key was given to the provider",
    check=check,
    requires=lambda p: (BindingRequirement(operation=p.lifecycle.create.id, feature="key"),),
)
