"""Credentials and generated values that one call carries.

A token of a fixture or of the target file is sent as it is. An OAuth token comes from the
token store; to get it, the customer may have to go through the bank's screens.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date
from typing import TYPE_CHECKING, Final
from uuid import uuid5

from assay.binding.encode import BARE, Access
from assay.binding.security import AuthKind
from assay.binding.spelling import Place
from assay.binding.target import Target
from assay.binding.values import RequestValues, has_day
from assay.contract.model import Capability, Operation
from assay.errors import CannotArrange
from assay.execution.repeated_values import repeated_values
from assay.history import (
    Authorise,
    Call,
    CredentialPlace,
    Exchange,
    Renew,
    Renewed,
)
from assay.planning.remedies import REMEDIES
from assay.sca.protocol import ScreenFlowResult
from assay.transport.auth.tokens import TokenRequest

if TYPE_CHECKING:
    from assay.execution.executor import Executor

__all__ = [
    "added_parameters",
    "credentials_for",
    "renew_token",
    "sendable_access",
    "third_party",
    "values_for",
]

#: The length of the text that is unique to a trial: it must fit into a reference or label.
TRIAL_LENGTH = 12
#: The longest token that is sent, in characters: HTTP servers refuse larger headers, whoever calls.
MAX_TOKEN = 8192
#: What a call of the TPP needs where nothing provides its token.
UNAUTHENTICATED_TPP: Final = (
    "a token of the TPP (`auth.tpp` in the target file; `kind: none` if it needs none)"
)


def credentials_for(executor: Executor, call: Call, operation: Operation) -> Access:
    """Return the credentials of a call, with a valid token.

    Raises:
        CannotArrange: there is no way to get such a token.
        AuthenticationError: the token endpoint does not issue one.

    """
    access = sendable_access(_credentials_for(executor, call, operation))
    auth = executor.environment.target.auth.of(by_tpp=operation.by_tpp)
    if auth.kind is AuthKind.NONE or access.token or call.credentials:
        return access
    # Without it, the bank's refusal would say nothing of any rule.
    if operation.by_tpp:
        raise CannotArrange(UNAUTHENTICATED_TPP, key=("auth", "tpp"))
    what = f"a token of the customer {call.subject} (`auth` and `fixtures` in the target file)"
    raise CannotArrange(what, key=("auth",))


def sendable_access(access: Access) -> Access:
    """Return credentials whose token fits into a header.

    Raises:
        CannotArrange: it is too long.

    """
    if access.token and len(access.token) > MAX_TOKEN:
        what = f"a token of at most {MAX_TOKEN} characters, not one of {len(access.token)}"
        raise CannotArrange(f"{what}: servers refuse such a header", key=("auth",))
    return access


def _credentials_for(executor: Executor, call: Call, operation: Operation) -> Access:
    access = executor.access.get(call.subject, executor.environment.common)
    party, token_store = operation.by_tpp, executor.environment.token_store
    if party:
        # The customer's credentials may be sent; the customer's token never is.
        access = replace(access, token=third_party(executor, call.by).token)
    issued = token_store is not None and token_store.issues(by_tpp=party)
    if call.by and not (party or issued):
        access = replace(access, token=_token_for(executor, call, access))
    if call.credentials_in is CredentialPlace.GRANT:
        if token_store is None or not issued:
            raise CannotArrange("a token endpoint (`auth` in the target file)", key=("auth",))
        request = _token_request(executor, call, access, by_tpp=party)
        return replace(access, token=token_store.for_password(request))
    if _scope_of(executor, call) is not None and not issued:
        key = ("operations", operation.id, "modes", call.mode or "")
        raise CannotArrange(f"a token endpoint for {'.'.join(key)} (`auth`)", key=key)
    if token_store is None or call.credentials or not issued:
        return access
    token = token_store.token(_token_request(executor, call, access, by_tpp=party))
    _keep_token(executor, call, token, by_tpp=party)
    return replace(access, token=token)


def _token_for(executor: Executor, call: Call, access: Access) -> str:
    """Return a customer's token for the further TPP that makes a call.

    With the usual token, the bank would take the call for one of the usual TPP.

    Raises:
        CannotArrange: there is no such token.

    """
    tpp = third_party(executor, call.by).id or call.by
    if tpp not in access.tokens:
        role = access.id or "…"
        where = f"fixtures.roles.{role}.token_envs.{tpp}, or `tokens` of an Access in Python"
        raise CannotArrange(f"a token of the customer {call.subject} for the TPP {tpp} ({where})")
    return access.tokens[tpp]


def renew_token(executor: Executor, step: Renew, operation: Operation) -> Renewed:
    """Renew the token with which an operation is called.

    Raises:
        CannotArrange: neither the target's authentication nor its fixtures renew tokens.
        AuthenticationError: the token endpoint does not issue one.

    """
    party, token_store = operation.by_tpp, executor.environment.token_store
    access = executor.access.get(step.subject, executor.environment.common)
    if token_store is not None and token_store.issues(by_tpp=party):
        request = _token_request(executor, step, access, by_tpp=party)
        token = token_store.renewed(request)
    else:
        former = third_party(executor, step.by) if party else access
        renewed = executor.fixture.renew(former, by_tpp=party)
        token = sendable_access(renewed).token
    if token is not None:
        _keep_token(executor, step, token, by_tpp=party)
    return Renewed(
        subject=step.subject,
        operation=operation.id,
        by=step.by,
        done=token is not None,
        now=executor.look(),
    )


def _token_request(
    executor: Executor, step: Call | Renew, access: Access, *, by_tpp: bool
) -> TokenRequest:
    return TokenRequest(
        by_tpp=by_tpp,
        customer=access,
        tpp=lambda: third_party(executor, step.by),
        named=bool(step.by),
        now=executor.look(),
        sign_in=lambda link: _sign_in(executor, link, step.subject, access),
        scope=_scope_of(executor, step) if isinstance(step, Call) else None,
    )


def _scope_of(executor: Executor, call: Call) -> str | None:
    """Return the scope of the token for a call, where its mode says so."""
    binding = executor.environment.target.operations.get(call.operation, BARE)
    mode = binding.modes.get(call.mode or "")
    return str(mode.value) if mode is not None and mode.place is Place.SCOPE else None


def _keep_token(executor: Executor, step: Call | Renew, token: str, *, by_tpp: bool) -> None:
    """Keep a token with its party, so that it is redacted in the journal."""
    if by_tpp:
        executor.tpps[step.by] = replace(third_party(executor, step.by), token=token)
    elif step.subject in executor.access:
        executor.access[step.subject] = replace(executor.access[step.subject], token=token)


def _sign_in(executor: Executor, link: str, subject: str, access: Access) -> ScreenFlowResult:
    """Take a customer through the screens on which access is granted."""
    # Of a real customer, the code of only one factor may be known.
    factor = next(iter(access.codes)) if len(access.codes) == 1 else None
    step = Authorise(subject=subject, request="", approval=link, factor=factor)
    return executor.signer.sign(step, access, executor.wait)


def third_party(executor: Executor, name: str) -> Access:
    """Return the credentials of a TPP, which is created when it is first needed."""
    environment = executor.environment
    if name not in executor.tpps:
        offered = Capability.TPPS in environment.target.fixtures.offers
        if name and not offered:
            raise CannotArrange(str(REMEDIES[Capability.TPPS]))
        if name:
            # The second TPP is second at the bank too, whoever calls first.
            third_party(executor, "")
        common = environment.party or environment.common
        # Listed customers have a usual TPP, and the file lists the further ones.
        given = offered and (bool(name) or not environment.target.fixtures.tpps)
        executor.tpps[name] = sendable_access(executor.fixture.tpp()) if given else common
    return executor.tpps[name]


def values_for(executor: Executor, call: Call, target: Target) -> RequestValues:
    """Return the generated values of one request, as far as the target file uses them.

    Two equal calls have the same `alike`, and all calls of a trial the same `trial`; `unique` is
    different in every call.
    """
    binding, operation = (
        target.operations.get(call.operation, BARE),
        executor.operations[call.operation],
    )
    spellings = (*binding.arguments.values(), *binding.modes.values())
    values = any("{" in f"{spelling.value}{spelling.other}" for spelling in spellings)
    standing = target.headers or target.queries or binding.headers or binding.queries
    plain = RequestValues(
        ids=executor.ids,
        resources=executor.resources,
        outputs=executor.kept.values_for(
            call,
            executor.environment.target.outputs,
            by_tpp=operation.by_tpp,
            request=executor.submissions.key(str(call.arguments.get(operation.about or "", ""))),
        ),
    )
    slots = repeated_values(executor, call, target, plain)
    if not (standing or binding.template or values):
        return replace(plain, slots=slots)
    executor.generated += 1
    texts = (target.headers, target.queries, binding.headers, binding.queries, binding.template)
    dated = has_day((*texts, *(each.value for each in spellings), *(s.other for s in spellings)))
    equal = repr(replace(call, by="", variation="", present=True, alias=None, host=None))
    return replace(
        plain,
        slots=slots,
        now=(executor.now or executor.look()).isoformat(),
        today=_today(executor, call) if dated else None,
        unique=str(uuid5(executor.name, str(executor.generated))),
        alike=uuid5(executor.name, equal).hex[:30],
        trial=executor.name.hex[:TRIAL_LENGTH],
    )


def _today(executor: Executor, call: Call) -> date:
    """Return the calendar day at the bank, by its clock and its time zone."""
    environment = executor.environment
    zone = environment.guard.zones.get(call.operation) or environment.target.zone or UTC
    return executor.look().astimezone(zone).date()


def added_parameters(executor: Executor, request: str) -> tuple[str, ...] | None:
    """Return the query parameters that the target adds to the return address of a request."""
    for event in executor.events:
        if isinstance(event, Exchange) and event.item is not None and event.item.key == request:
            operation = executor.operations[event.call.operation]
            binding = executor.environment.target.operations.get(operation.id, BARE)
            spelling = binding.arguments.get(operation.returns or "")
            if operation.makes and spelling is not None:
                return spelling.adds
    return None
