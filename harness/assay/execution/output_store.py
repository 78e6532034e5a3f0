"""Store of output values of one trial, for later calls of the same customer and TPP."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from assay.binding.outputs import OutputValues
from assay.binding.spelling import OperationBinding
from assay.history import Accepted, Call, Exchange

#: Outputs of answers by name; None is one that cannot be sent.
_Outputs: TypeAlias = dict[str, str | None]


@dataclass(slots=True)
class KeptOutputs:
    """The outputs of the last accepted answers, by customer and TPP; and of each consent, by key.

    `latest` are the numbers of the answers that had them, and `made` the keys of what was made. `looked_up` are the customers and TPPs for
    whom a consent was made to read a list. `of_submissions` are those of each request's submission.
    """

    last: dict[tuple[str, str], _Outputs] = field(default_factory=dict[tuple[str, str], _Outputs])
    latest: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    made: dict[tuple[str, str], dict[str, tuple[int, str]]] = field(
        default_factory=dict[tuple[str, str], "dict[str, tuple[int, str]]"]
    )
    of_consents: dict[str, _Outputs] = field(default_factory=dict[str, _Outputs])
    of_submissions: dict[str, _Outputs] = field(default_factory=dict[str, _Outputs])
    looked_up: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def keep(self, exchange: Exchange, binding: OperationBinding | None) -> None:
        """Keep the outputs of an accepted answer."""
        call, outcome = exchange.call, exchange.outcome
        if binding is None or not binding.outputs or not isinstance(outcome, Accepted):
            return
        had = {name: outcome.outputs.get(name) for name in binding.outputs}
        self.last.setdefault((call.subject, call.by), {}).update(had)
        self.latest[call.subject, call.by] = exchange.n
        if exchange.item and exchange.item.key:
            self.of_consents[exchange.item.key] = had
            made = self.made.setdefault((call.subject, call.by), {})
            made[call.operation] = exchange.n, exchange.item.key

    def keep_submission(self, request: str, outcome: Accepted, binding: OperationBinding) -> None:
        """Keep the outputs of an accepted submission, for later calls about the request."""
        self.of_submissions[request] = {name: outcome.outputs.get(name) for name in binding.outputs}

    def last_made(self, call: Call, operations: Collection[str]) -> str | None:
        """Return the key of what one of these operations made last for the customer of a call.

        Of several TPPs it is the one that calls; any, if the call does not say which.
        """
        made = [
            last
            for (customer, tpp), each in self.made.items()
            if customer == call.subject and (tpp == call.by or not call.by)
            for operation, last in each.items()
            if operation in operations
        ]
        return max(made)[1] if made else None

    def values_for(
        self, call: Call, sources: Mapping[str, str], *, by_tpp: bool = True, request: str = ""
    ) -> OutputValues:
        """Return the outputs that a call can use; `sources` are all that the target file names.

        A call in the customer's name can use what any TPP was answered last, and one about a
        `request` what its submission was answered.
        """
        known = self.last.get((call.subject, call.by), {})
        if not by_tpp and not call.by:
            theirs = [each for each, had in self.last.items() if each[0] == call.subject and had]
            newest = max(theirs, key=lambda each: self.latest.get(each, 0), default=None)
            known = self.last[newest] if newest is not None else known
        if call.consent is not None:
            known = {**known, **self.of_consents.get(call.consent, {})}
        known = {**known, **self.of_submissions.get(request, {})}
        return OutputValues(
            sources=sources,
            values={name: value for name, value in known.items() if value is not None},
            unusable=frozenset(name for name, value in known.items() if value is None),
        )

    def without_later(self, customer: str, tpp: str) -> Callable[[], None]:
        """Return what restores the outputs of a customer and a TPP as they are now."""
        key = customer, tpp
        had, number = dict(self.last.get(key, {})), self.latest.get(key, 0)
        made = dict(self.made.get(key, {}))

        def restore() -> None:
            self.last[key], self.latest[key], self.made[key] = had, number, made

        return restore
