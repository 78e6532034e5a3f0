"""`quota`, the provider's side: no more is asked for in a day, or an hour, than is allowed.

A call is one too many if as many were surely served before it, whatever the bank makes
of it. What counts besides, documents leave open, and so does this. Two names may be one
customer whose token was renewed: where they ask about the same thing, less is sure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay.contract.model import Capability
from assay.history import Exchange, History
from assay.judging.verdict import Evidence
from assay.rules.client.evidence import BROKEN, KEPT, OPEN, say
from assay.rules.kinds.quota import Params
from assay.rules.rule import Duty, needs
from assay.rules.state.counts import Counts

ID = "not-exceeded"


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every first question that counts."""
    counts = Counts(limit=p.limit, period=p.period)
    together = Counts(limit=p.limit, period=p.period)
    named = {one.id for one in p.operations}
    groups = _groups([one for one in history.exchanges if one.call.operation in named])
    words = p.period.words
    owed = f"no more than {p.limit} calls {words.a}"
    for one in history.exchanges:
        call = one.call
        if call.operation not in named or (call.present and not p.attended):
            continue
        joint = replace(one, call=replace(call, subject=groups[call.subject]))
        if call.follow is None:
            sure, most = counts.least(one), together.most(joint)
            judged = BROKEN if sure >= p.limit else KEPT if most < p.limit else OPEN
            done = f"it was asked after {sure if judged is BROKEN else most} calls {words.this}"
            yield say(ID, judged, one, owed, done)
        counts.note(one)
        together.note(joint)


def _groups(exchanges: Sequence[Exchange]) -> Mapping[str, str]:
    """Return one name for all who asked about, or were shown, the same thing."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = name = parent[parent[name]]
        return name

    for one in exchanges:
        for key in _things(one):
            parent[root(f"thing {key}")] = root(f"name {one.call.subject}")
    subjects = {one.call.subject for one in exchanges}
    return {name: root(f"name {name}") for name in subjects}


def _things(exchange: Exchange) -> Iterator[str]:
    """Yield the texts by which things are named in a call and its answer."""
    for value in exchange.call.arguments.values():
        for one in value if isinstance(value, list | tuple) else (value,):
            # A day, or a word, is no name of a thing.
            if isinstance(one, str) and len(one) > len("2026-01-01"):
                yield one
    yield from (item.key for item in exchange.items if item.key is not None)


DUTY = Duty(
    kind="quota",
    id=ID,
    description=lambda p: f"no more than {p.limit} calls {p.period.words.a} are made",
    check=check,
    needs=needs(Capability.BATCH),
)
