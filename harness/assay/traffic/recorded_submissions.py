"""Submissions in a recording: the second calls with which banks execute what was signed.

A submission names the consent that it is about, by a value of the answer to the first call. Both calls
are about one request, and so is what reads, changes or ends it since then, under the bank's new key.
What names a consent from before the recording is not judged, and neither is the consent itself once
it was submitted: the bank shows the request elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, cast

from assay.binding.model.pointer import MISSING, find
from assay.binding.model.spelling import SLOT, OperationBinding, SubmissionBinding
from assay.binding.model.target import Place, Target
from assay.binding.wire.encode import BARE
from assay.contract.model import Json, Operation
from assay.history import Accepted, Call, Exchange, Indeterminate, Outcome, State, Submitted
from assay.running.trial_state import Submissions
from assay.traffic.parse_request import ParsedRequest, leaves

#: How many requests are remembered at most.
_MOST = 100_000


class Part(Enum):
    """The part of an operation's binding that a request matches."""

    OPERATION = "the call itself"
    SUBMISSION = "the submission of the request that the call made"
    SUBMITTED = "the call since the submission"


class Fit(Enum):
    """Whether a request can be what it matches, the best first."""

    NAMED = 0
    UNKNOWN = 1
    FITS = 2
    IMPOSSIBLE = 3


#: Whether a request that fits so can be judged.
JUDGED: Final = frozenset({Fit.NAMED, Fit.FITS})


@dataclass(slots=True, kw_only=True)
class RecordedSubmissions:
    """What was made and submitted so far; `known` are the bank's keys of requests since."""

    target: Target
    known: Submissions = field(default_factory=Submissions)
    _calls: dict[str, Call] = field(default_factory=dict[str, Call])
    _values: dict[str, str] = field(default_factory=dict[str, str])
    _sent: set[str] = field(default_factory=set[str])

    def caller(self, operation: Operation, binding: OperationBinding) -> Operation:
        """Return an operation as it is called: a submission may have another party's token."""
        if isinstance(binding, SubmissionBinding) and binding.by is not None:
            return replace(operation, by_tpp=binding.by == "tpp")
        return operation

    def request(
        self,
        request: ParsedRequest,
        in_path: Mapping[str, str],
        binding: OperationBinding,
        target: Target,
    ) -> str | None:
        """Return the key of the request that a submission names.

        It is "" for one that is not known, and None where nothing is named.
        """
        values = [*_named(request, in_path, binding, target)]
        found = (self._values[value] for value in values if value in self._values)
        return next(found, "") if values else None

    def fit(self, part: Part, operation: Operation, call: Call, submits: str | None) -> Fit:
        """Return whether a call can be of a part; `submits` is the request that it would submit."""
        key = str(call.arguments.get(operation.about or ""))
        match part:
            case Part.SUBMISSION:
                if submits is None:
                    return Fit.IMPOSSIBLE
                return Fit.NAMED if submits else Fit.UNKNOWN
            case Part.SUBMITTED:
                return Fit.NAMED if self._has(key) else Fit.IMPOSSIBLE
            case Part.OPERATION:
                binding = self.target.operations.get(operation.id, BARE)
                moved = binding.submitted is not None and key in self._sent
                return Fit.IMPOSSIBLE if moved else Fit.FITS

    def _has(self, bank_key: str) -> bool:
        return self.known.key(bank_key) in self.known.keys

    def about(self, call: Call, operation: Operation) -> Call:
        """Return a call with the key that its request has in the history."""
        name = operation.about or ""
        bank_key = call.arguments.get(name)
        if not self.known.keys or not isinstance(bank_key, str):
            return call
        return replace(call, arguments={**call.arguments, name: self.known.key(bank_key)})

    def outcome(self, outcome: Outcome) -> Outcome:
        """Return an outcome under the keys of the history.

        A request whose submission was refused may be shown as open, and is not executed any more:
        its state is not known.
        """
        outcome = self.known.outcome(outcome, None)
        if not self.known.refused or not isinstance(outcome, Accepted) or not outcome.items:
            return outcome
        items = tuple(
            replace(item, state=None)
            if item.key in self.known.refused and item.state is State.OPEN
            else item
            for item in outcome.items
        )
        return replace(outcome, items=items)

    def learn(self, exchange: Exchange) -> None:
        """Remember the request that a call made, and what its submission can name."""
        binding = self.target.operations.get(exchange.call.operation, BARE)
        item, outcome = exchange.item, exchange.outcome
        if binding.submission is None or item is None or item.key is None:
            return
        if len(self._calls) >= _MOST:
            self._calls.clear()
            self._values.clear()
        self._calls[item.key] = exchange.call
        values = outcome.outputs.values() if isinstance(outcome, Accepted) else ()
        self._values |= dict.fromkeys((item.key, *values), item.key)

    def submitted(self, exchange: Exchange, request: str) -> Submitted:
        """Return the submission of a request: the call that made it, with what it says itself."""
        outcome, item = exchange.outcome, exchange.item
        if isinstance(outcome, Accepted | Indeterminate):
            self._sent.add(request)
            self.known.refused.discard(request)
        elif request not in self._sent:
            self.known.refused.add(request)
        if isinstance(outcome, Accepted):
            self.known.accept(request, (item.key if item else None) or request)
        made = self._calls[request]
        sent = exchange.call.arguments
        said = {name: sent.get(name, value) for name, value in made.arguments.items()}
        return Submitted(
            n=exchange.n,
            at=exchange.at,
            call=replace(made, arguments=said),
            outcome=self.known.outcome(outcome, None),
            wire=exchange.wire,
            ms=exchange.ms,
            documented=exchange.documented,
            request=request,
        )


def parts_of(binding: OperationBinding) -> Iterator[tuple[Part, OperationBinding]]:
    """Yield the parts of a binding of which each describes calls of its own."""
    yield Part.OPERATION, binding
    if binding.submission is not None:
        yield Part.SUBMISSION, binding.submission
    if binding.submitted is not None:
        yield Part.SUBMITTED, binding.submitted


def _named(
    request: ParsedRequest, in_path: Mapping[str, str], binding: OperationBinding, target: Target
) -> Iterator[str]:
    """Yield the values in a request that stand in places of a value of an earlier answer."""
    for name, text in {**target.headers, **binding.headers}.items():
        yield from _content(text, request.headers.get(name.lower(), MISSING))
    for name, text in {**target.queries, **binding.queries}.items():
        yield from _content(text, dict(request.query).get(name, MISSING))
    template = cast("Json", binding.template)
    for pointer in leaves(template) if binding.template else ():
        yield from _content(find(template, pointer), find(request.body, pointer))
    spellings = (*binding.arguments.values(), *binding.modes.values())
    others = {each.name for each in spellings if each.place is Place.PATH}
    yield from (value for name, value in in_path.items() if name not in others)


def _content(text: Json, value: Json) -> Iterator[str]:
    """Yield what a value has in place of the one name in braces of a text."""
    if not isinstance(text, str) or not isinstance(value, str):
        return
    before, *after = SLOT.split(text)[::2]
    if len(after) != 1 or len(value) <= len(before) + len(after[0]):
        return
    if value.startswith(before) and value.endswith(after[0]):
        yield value[len(before) : len(value) - len(after[0])]
