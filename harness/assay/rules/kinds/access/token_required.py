"""`token-required`: a call without its token, or with an invented or altered one, is refused.

How calls are authenticated is for the target file to say: the same call with its own token is the
control. A call for the next page of a list needs its token, too. Where the target file says that calls need no token, there is nothing to leave out. That
another customer's token opens nothing is the business of `consent-scope`, and that another TPP's
does not, of `addressed`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.contract.model import Operation
from assay.history import Accepted, Call, Exchange, History, Token
from assay.rules import parameters, steps
from assay.rules.lifecycle import request_steps
from assay.rules.queries import ordinary
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import (
    Calls,
    CallScenario,
    Facet,
    Purpose,
    Scope,
    Script,
    bound,
    call_needs,
    facts_of,
)
from assay.rules.verdict import Evidence, Standing, must_be_refused

#: The last part of a facet id, and what is asked of a call.
FACETS = {**dict.fromkeys(Token, "invented-token"), Token.NONE: "without-token"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequired(RefusingKind[CallScenario]):
    """Operations that refuse a call without its token."""

    name = "token-required"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.LIMIT

    operations: tuple[Operation, ...] = parameters.operations()
    grant: Operation | None = parameters.grant()

    def facets(self) -> tuple[Facet, ...]:
        """Return two facets for each operation."""
        return tuple(
            Facet(
                id=f"{operation.id}-{id_}",
                description=f"{operation.id} refuses a call with {token.value}",
                scenario=CallScenario(id=operation.id, operation=operation),
                needs=call_needs(operation, self.grant),
                requires=bound(operation, "token", if_missing=Standing.NOT_APPLICABLE),
            )
            for operation in self.operations
            for token, id_ in ((each, FACETS[each]) for each in (Token.NONE, Token.INVENTED))
        )

    def probe(self, scenario: CallScenario) -> Script:
        """Make a call as it should be, then without a token, with an invented one, and altered ones.

        A bank that looks at the prefix of a token, or at claims whose signature it does not verify,
        refuses what is invented and serves what is altered.
        """
        operation = scenario.operation
        # More than a page, for the next page may be served in another way.
        most = 1 + (facts_of(self.contract).page_sizes.get(operation.id) or 0)
        days, count = ((1,) * most, 1) if operation.about else ((1,), most)
        call = yield from request_steps.plain_call(
            self.contract, operation, self.grant, days=days, count=count
        )
        if call is not None:
            first = yield from _with_tokens(call, *FACETS)
            link = first.outcome.next if isinstance(first.outcome, Accepted) else None
            if link is not None:
                # Where no token is looked at, an invented one is served, too.
                yield from _with_tokens(replace(call, follow=link), Token.INVENTED)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every call with another token than its own whose control was accepted."""
        named = {operation.id for operation in self.operations}
        known = {
            (exchange.call.subject, exchange.call.operation, exchange.call.follow)
            for exchange in history.exchanges
            if exchange.accepted and ordinary(replace(exchange.call, follow=None))
        }
        for exchange in history.exchanges:
            call = exchange.call
            controlled = (call.subject, call.operation, call.follow) in known
            if call.bearer is not None and controlled and call.operation in named:
                facet = f"{call.operation}-{FACETS[call.bearer]}"
                yield must_be_refused(facet, exchange, f"it has {call.bearer.value}")


def _with_tokens(call: Call, *others: Token) -> steps.Part[Exchange]:
    """Make a call with its own token, and with others in place of it."""
    own = yield from steps.send(call)
    for token in others:
        yield from steps.send(replace(call, bearer=token, variation=token.value))
    return own
