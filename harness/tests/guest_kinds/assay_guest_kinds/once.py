"""`once`: a call that repeats a key repeats no effect.

The TPP sends a key with a request. If the key comes again with the same body, the bank
answers with the resource that it made the first time. If it comes with another body, the
bank refuses; a refusal counts only beside an accepted call with that body and another key.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace

from assay.kinds import (
    UNAUTHENTICATED,
    Agreement,
    BindingRequirement,
    Call,
    Capability,
    Evidence,
    Exchange,
    Facet,
    History,
    Kind,
    Purpose,
    Scenario,
    Script,
    describe_answer,
    must_be_refused,
    needs,
    parameters,
    queries,
    steps,
)
from assay.kinds.requests import lifecycle_parameters, request_steps, tracker

REPEATED, CONFLICT = "repeated", "conflict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Once(Kind):
    """The request, the argument that is its key, and one in which two bodies can differ."""

    name = "once"
    purpose = Purpose.PROMISE
    applies_to = ("makes",)

    lifecycle: tracker.Lifecycle = lifecycle_parameters.the_request()
    key: str = parameters.word(
        key="key",
        references=lifecycle_parameters.check_argument,
    )
    varies: str = parameters.word(
        key="varies",
        references=lifecycle_parameters.check_argument,
    )

    def facets(self) -> tuple[Facet, ...]:
        """One facet for the same body, one for another."""
        operation = self.lifecycle.create.id
        keyed = BindingRequirement(operation=operation, feature="argument", name=self.key)
        shown = BindingRequirement(operation=operation, feature="key")
        varied = BindingRequirement(operation=operation, feature="other", name=self.varies)
        return (
            Facet(
                id=REPEATED,
                description=f"a repeated {self.key} gives the same {self.lifecycle.request.id}",
                scenario=Scenario(id=REPEATED),
                needs=needs(Capability.PSU, Capability.WRITE),
                requires=(keyed, shown),
            ),
            Facet(
                id=CONFLICT,
                description=f"a repeated {self.key} with another {self.varies} is refused",
                scenario=Scenario(id=CONFLICT),
                needs=needs(Capability.PSU, Capability.WRITE),
                requires=(keyed, varied),
            ),
        )

    def probe(self, scenario: Scenario) -> Script:
        """Make a request and repeat it; in a conflict beside the other body with its own key."""
        psu = yield from request_steps.customer(self.lifecycle)
        # No bank has seen the key before: the moment of the trial is in it.
        key = f"assay-{scenario.id}-{psu.now:%Y%m%d%H%M%S%f}"
        first = request_steps.request(self.lifecycle, psu, arguments={self.key: key})
        yield from steps.send(first)
        if scenario.id == REPEATED:
            yield from steps.send(replace(first, variation="the same key again"))
            return
        changed = replace(first, varied=(self.varies,))
        control = {**changed.arguments, self.key: f"{key}-2"}
        yield from steps.send(replace(changed, arguments=control))
        yield from steps.send(
            replace(changed, variation=f"the same key with another {self.varies}")
        )

    def accepts_variation(self, scenario: Scenario) -> bool:
        """Whether a bank that conforms accepts the varied call: the same body again, it does."""
        return scenario.id == REPEATED

    def check(self, history: History) -> Iterator[Evidence]:
        """Compare each call with the first of its key."""
        calls = [each for each in history.exchanges if self._is_request(each.call)]
        accepted: dict[Hashable, list[Exchange]] = {}
        for each in calls:
            if each.accepted:
                accepted.setdefault(self._body(each.call), []).append(each)
        first: dict[tuple[str, str, str], Exchange] = {}
        for exchange in calls:
            call = exchange.call
            named = (call.subject, call.by, str(call.arguments[self.key]))
            # What a refused call leaves of its key, documents do not say.
            earlier = first.get(named)
            if earlier is None:
                if not exchange.refused:
                    first[named] = exchange
            elif not earlier.accepted:
                continue
            elif self._body(earlier.call) == self._body(call):
                yield _judge_repeated(earlier, exchange)
            else:
                controls = [
                    each.n
                    for each in accepted.get(self._body(call), ())
                    if each.call.arguments[self.key] != call.arguments[self.key]
                ]
                yield from _judge_conflict(earlier, exchange, controls)

    def _is_request(self, call: Call) -> bool:
        own = call.operation == self.lifecycle.create.id and queries.ordinary(call)
        return own and isinstance(call.arguments.get(self.key), str)

    def _body(self, call: Call) -> Hashable:
        """Return all that a call asks for, without its key."""
        rest = {name: value for name, value in call.arguments.items() if name != self.key}
        return call.subject, call.mode, call.without, call.varied, repr(sorted(rest.items()))


def _judge_repeated(first: Exchange, again: Exchange) -> Evidence:
    before, after = request_steps.key_of(first), request_steps.key_of(again)
    if again.accepted and before is not None and after is not None:
        agreement = Agreement.AGREES if before == after else Agreement.DISAGREES
    elif again.refused and again.wire.status != UNAUTHENTICATED:
        agreement = Agreement.DISAGREES
    else:
        agreement = Agreement.UNCLEAR
    return Evidence(
        facet=REPEATED,
        agreement=agreement,
        expected=f"the resource of the first call: {before}",
        seen=f"{describe_answer(again)}: {after}",
        exchanges=(first.n, again.n),
        variation=again.call.variation,
    )


def _judge_conflict(first: Exchange, again: Exchange, controls: list[int]) -> Iterator[Evidence]:
    if again.refused and not controls:
        return
    judged = must_be_refused(CONFLICT, again, "the key belongs to another body")
    yield replace(judged, exchanges=tuple(sorted({first.n, *controls[:1], again.n})))
