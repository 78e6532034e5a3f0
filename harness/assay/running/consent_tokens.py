"""Tokens of consents: each belongs to what one customer authorised, and to nothing else.

Where a target file has parameters of an authorization request (`approval`), the customer authorises
what an operation made at the authorization server, and the code is exchanged at once. A customer's call
has the token of the consent that it uses: the one that it names, or the last that was made. Until
a consent is authorised, the TPP has no token but its own, and calls with that.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta, timezone
from typing import TYPE_CHECKING, Final

from assay.binding.authorization import AUTHORIZE, authorizes
from assay.binding.encode import BARE, Access
from assay.binding.token_places import shown_token
from assay.binding.values import filled
from assay.contract.model import Operation
from assay.errors import CannotArrange
from assay.history import (
    Authorise,
    Authorised,
    Call,
    Decision,
    Ending,
    Exchange,
    Outcome,
    Rejected,
    Renew,
    Wire,
)
from assay.judging.corrections import UNAUTHORIZED, rejected_token
from assay.rules.consents import consented_keys, last_day
from assay.rules.state.calendar import local_day
from assay.running.call_values import making, values_for
from assay.running.token_requests import token_request, tpp_token
from assay.sca.protocol import ScreenFlowResult
from assay.transport.auth.authorization_code import Parameters, redirect_parameters
from assay.transport.auth.diagnostics import AuthenticationError
from assay.transport.auth.oauth import Grant

if TYPE_CHECKING:
    from assay.running.executor import Executor

__all__ = [
    "ConsentTokens",
    "authorised_flow",
    "consent_token",
    "has_consent_tokens",
    "lacks_token",
    "renewed_token",
    "with_token",
]

#: How long after a request was made its authorization cannot be late.
_PROMPT: Final = timedelta(minutes=1)
#: The error with which a bank rejects a request by a rule, as it does a refusal of the customer.
_REJECTED: Final = "access_denied"
#: The zone in which a day ends last, for a bank whose zone is not known.
_LATEST: Final = timezone(timedelta(hours=-12))


@dataclass(slots=True)
class ConsentTokens:
    """The tokens of one trial, by the key of the consent or request.

    `issued` are all of them, and `outlived` those that expired, and were sent all the same.
    """

    grants: dict[str, Grant] = field(default_factory=dict[str, Grant])
    issued: set[str] = field(default_factory=set[str])
    outlived: set[str] = field(default_factory=set[str])

    def keep(self, key: str, grant: Grant) -> None:
        """Keep the token of a consent in place of its former one."""
        self.grants[key] = grant
        self.issued.add(grant.token)


def has_consent_tokens(executor: Executor, operation: Operation) -> bool:
    """Whether calls of an operation have the token of a consent."""
    environment = executor.environment
    issued = environment.token_store is not None and environment.token_store.issues(by_tpp=False)
    return issued and not operation.by_tpp and authorizes(environment.target.operations)


# -- the authorization ---------------------------------------------------------------
def authorised_flow(executor: Executor, step: Authorise, access: Access) -> ScreenFlowResult | None:
    """Have the customer authorise what a step names; None where that is signed under a link.

    A refusal leaves it without a token. So does an authorization that the bank may stop: one that is
    late, repeated, or not the customer's plain consent.

    Raises:
        CannotArrange: there is no signer for the screens.
        AuthenticationError: a plain consent led to no token.

    """
    made, store = making(executor, step.request), executor.environment.token_store
    target = executor.environment.target
    binding = target.operations.get(made.call.operation, BARE) if made else BARE
    if made is None or store is None or binding.authorize is None:
        return None
    flows: list[ScreenFlowResult] = []

    def sign_in(link: str) -> ScreenFlowResult:
        flows.append(executor.signer.sign(replace(step, approval=link), access, executor.wait))
        return flows[-1]

    call = replace(made.call, consent=step.request)
    written = replace(binding, template=binding.authorize)
    values = values_for(executor, call, replace(target, operations={call.operation: written}))
    parameters = {name: filled(value, values) for name, value in binding.authorize.items()}
    try:
        request = replace(token_request(executor, call, access, by_tpp=False), sign_in=sign_in)
        at = ("operations", call.operation, *AUTHORIZE)
        grant = store.authorised(request, Parameters(at=at, values=parameters))
    except AuthenticationError:
        grants = bool(executor.operations[made.call.operation].grants)
        error = _error(flows[-1]) if flows else ""
        rejected = error == _REJECTED and not grants
        if not flows or (_is_due(executor, step, made) and not rejected):
            raise
        if grants and error:
            flows[-1].ending = Ending.REFUSED
    else:
        executor.tokens.keep(step.request, grant)
    return _without_answer(flows[-1])


def _is_due(executor: Executor, step: Authorise, made: Exchange) -> bool:
    """Whether a sound bank cannot but issue a code."""
    plain = (
        step.right
        and step.decision is Decision.CONFIRM
        and not (step.by or step.linger or step.pace)
    )
    first = not any(
        isinstance(event, Authorised) and event.step.request == step.request
        for event in executor.events
    )
    prompt = executor.look() - made.at < _PROMPT
    keys = consented_keys(made.call, executor.operations[made.call.operation])
    own = all(executor.owners.get(key) == step.subject for key in keys)
    return plain and first and prompt and own and not _is_over(executor, step.request, made)


def _error(flow: ScreenFlowResult) -> str:
    """Return the error with which the bank answers what the customer confirmed; empty if none."""
    if flow.ending is not Ending.CONFIRMED:
        return ""
    return redirect_parameters(flow.redirected or "").get("error", [""])[0]


def _without_answer(flow: ScreenFlowResult) -> ScreenFlowResult:
    """Return a flow without the answer in its redirect, which has the code or an error."""
    if flow.redirected:
        flow.redirected = flow.redirected.partition("?")[0].partition("#")[0]
    return flow


def _is_over(executor: Executor, key: str, made: Exchange) -> bool:
    """Whether the TPP ended a consent, or its last day is over."""
    maker = executor.operations[made.call.operation]
    for event in executor.events:
        if isinstance(event, Exchange) and event.accepted:
            operation = executor.operations[event.call.operation]
            about = str(event.call.arguments.get(operation.about or ""))
            if operation.ends == maker.makes and about == key:
                return True
    until, environment = last_day(made.call, maker), executor.environment
    zone = environment.guard.zones.get(maker.id) or environment.target.zone or _LATEST
    return until is not None and local_day(executor.look(), zone) > until


# -- the token of a call ---------------------------------------------------------------
def consent_token(
    executor: Executor, call: Call, operation: Operation, access: Access
) -> str | None:
    """Return the token of the consent that a call uses, or the TPP's own where that has none.

    Without any consent, only a call is made that the bank is to refuse for that.

    Raises:
        CannotArrange: no consent was made, or its token has expired.
        AuthenticationError: the token endpoint does not issue one.

    """
    key = _used(executor, call, operation)
    if key is None and not (operation.consent and call.variation):
        at = _authorize_key(executor, operation)
        what = f"the token of a consent, and no consent was made ({'.'.join(at)})"
        raise CannotArrange(what, key=at)
    grant = executor.tokens.grants.get(key or "")
    if key is None or grant is None:
        return tpp_token(executor, call, access)
    if not grant.valid(executor.look()):
        grant = _renewed(executor, call, access, key) or _outlived(executor, key, grant)
    return grant.token


def renewed_token(executor: Executor, step: Renew, operation: Operation) -> str | None:
    """Return a new token of the consent that a customer's calls use; None if nothing renews it."""
    access = executor.access.get(step.subject, Access())
    call = Call(operation=operation.id, subject=step.subject, by=step.by)
    key = _used(executor, call, operation)
    grant = _renewed(executor, call, access, key) if key in executor.tokens.grants else None
    return grant.token if grant else None


def _renewed(executor: Executor, call: Call, access: Access, key: str) -> Grant | None:
    """Renew the token of a consent by its refresh token, as the TPP that made it."""
    store, made = executor.environment.token_store, making(executor, key)
    by = made.call.by if made else call.by
    request = token_request(executor, replace(call, by=by), access, by_tpp=False)
    grant = store.refreshed(executor.tokens.grants[key], request) if store else None
    if grant is not None:
        executor.tokens.keep(key, grant)
    return grant


def _outlived(executor: Executor, key: str, grant: Grant) -> Grant:
    """Return an expired token of a consent that is over: what must be refused.

    Raises:
        CannotArrange: the consent may be in force, so that a refusal would show nothing.

    """
    made = making(executor, key)
    if made is not None and _is_over(executor, key, made):
        executor.tokens.outlived.add(grant.token)
        return grant
    why = "its refresh token was refused" if grant.refresh else "there is no refresh token"
    raise CannotArrange(f"a valid token of the consent: it expired, and {why}", key=("auth",))


def _used(executor: Executor, call: Call, operation: Operation) -> str | None:
    """Return the key of the consent or request whose token a call has."""
    if call.consent is not None:
        return call.consent
    target, about = executor.environment.target, call.arguments.get(operation.about or "")
    makers = [
        each
        for each in executor.operations.values()
        if target.operations.get(each.id, BARE).authorize is not None
    ]
    if operation.request and any(each.makes == operation.request for each in makers):
        return str(about)
    named = {each.id for each in makers if each.grants}
    if operation.consent:
        named &= {operation.consent}
    return executor.kept.last_made(call, named)


def _authorize_key(executor: Executor, operation: Operation) -> tuple[str, ...]:
    """Return the key of the target file by which a customer would authorise what a call needs."""
    bindings = executor.environment.target.operations
    named = [name for name, binding in bindings.items() if binding.authorize is not None]
    maker = operation.consent if operation.consent in named else named[0]
    return "operations", str(maker), *AUTHORIZE


def lacks_token(executor: Executor, request: str, operation: Operation) -> bool:
    """Whether a submission cannot be sent, since its customer has not authorised the request."""
    return has_consent_tokens(executor, operation) and request not in executor.tokens.grants


# -- refusals ----------------------------------------------------------------------------
def with_token(
    executor: Executor, call: Call, operation: Operation, wire: Wire, outcome: Outcome
) -> Outcome:
    """Return an outcome by what the token of its call says.

    A refusal of our own token shows nothing, but the token of a consent stands for the consent: a bank
    that no longer knows it refuses that. The scope may be a mistake of the target file, unless the
    operation was called with it before. The refusal of another token than that of a consent in force may
    have the code and status of that.
    """
    target, tokens = executor.environment.target, executor.tokens
    why = rejected_token(operation, wire, target) if call.own_token else None
    if not call.own_token or not has_consent_tokens(executor, operation):
        return why or outcome
    token = _token_in(executor, wire)
    other = token not in tokens.issued or token in tokens.outlived
    enough = any(
        event.accepted and event.call.operation == operation.id and event.call.own_token
        for event in executor.events
        if isinstance(event, Exchange)
    )
    if why is not None and not (other or enough or wire.status == UNAUTHORIZED):
        return why
    return replace(outcome, other_token=other) if isinstance(outcome, Rejected) else outcome


def _token_in(executor: Executor, wire: Wire) -> str | None:
    auth = executor.environment.target.auth
    return shown_token(auth, wire.method, wire.url, wire.request_headers, wire.request_body)
