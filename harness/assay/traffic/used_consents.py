"""Consents that the requests of a recording name, by the values of earlier answers.

A call uses the last consent that was made for its customer, unless its request has the value of
another one: then the call says which, or that it is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.binding.encode import BARE
from assay.binding.target import Target
from assay.history import Accepted, Call, Exchange
from assay.traffic.parse_request import ParsedRequest

#: How many values are remembered at most.
_MOST = 100_000
#: What stands for the key of a consent from before the recording.
UNKNOWN = "unknown"


@dataclass(slots=True, kw_only=True)
class UsedConsents:
    """The values of outputs so far: the key of the consent of each, and the last of each caller."""

    target: Target
    _keys: dict[str, str] = field(default_factory=dict[str, str])
    _names: set[str] = field(default_factory=set[str])
    _last: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def learn(self, exchange: Exchange) -> Iterator[tuple[str, str]]:
        """Remember the outputs of an answer; yield each with its name."""
        outcome, call, item = exchange.outcome, exchange.call, exchange.item
        if not isinstance(outcome, Accepted) or not outcome.outputs:
            return
        yield from outcome.outputs.items()
        if item is not None and item.key is not None:
            if len(self._keys) >= _MOST:
                self._keys.clear()
            self._keys |= dict.fromkeys(outcome.outputs.values(), item.key)
            self._names |= outcome.outputs.keys()
            self._last[call.subject, call.by] = item.key

    def named(self, call: Call, request: ParsedRequest) -> str | None:
        """Return the key of the consent that a request names, if it is not its caller's last.

        One from before the recording is `UNKNOWN`, where its caller also made one in it.
        """
        for value in self._values(call, request):
            key, last = self._keys.get(value), self._last.get((call.subject, call.by))
            if key is not None and key != last:
                return key
            if key is None and last is not None:
                return UNKNOWN
        return None

    def _values(self, call: Call, request: ParsedRequest) -> Iterator[str]:
        """Yield the values in the places of a request that have nothing but an output."""
        binding = self.target.operations.get(call.operation, BARE)
        outputs = {f"{{{name}}}" for name in self._names}
        for name, text in (*self.target.headers.items(), *binding.headers.items()):
            if text in outputs and (value := request.headers.get(name.lower())):
                yield value
        named = {name for name, text in binding.queries.items() if text in outputs}
        yield from (value for name, value in request.query if name in named)
