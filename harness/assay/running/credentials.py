"""Credentials of one call: the token of the TPP, of the customer, or of a consent.

A token of a fixture or of the target file is sent as it is. An OAuth token comes from the
token store, or is that of the consent which the call uses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from assay.binding.encode import Access
from assay.binding.security import AuthKind
from assay.contract.model import Operation
from assay.errors import CannotArrange
from assay.history import Call, CredentialPlace, Renew, Renewed, Token
from assay.running.consent_tokens import consent_token, has_consent_tokens, renewed_token
from assay.running.token_requests import scope_of, sendable_access, third_party, token_request

if TYPE_CHECKING:
    from assay.running.executor import Executor

__all__ = ["credentials_for", "renew_token"]

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
    tokenless = call.credentials or call.bearer is Token.NONE
    if auth.kind is AuthKind.NONE or access.token or tokenless:
        return access
    # Without it, the bank's refusal would say nothing of any rule.
    if operation.by_tpp:
        raise CannotArrange(UNAUTHENTICATED_TPP, key=("auth", "tpp"))
    what = f"a token of the customer {call.subject} (`auth` and `fixtures` in the target file)"
    raise CannotArrange(what, key=("auth",))


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
        request = token_request(executor, call, access, by_tpp=party)
        return replace(access, token=token_store.for_password(request))
    if scope_of(executor, call) is not None and not issued:
        key = ("operations", operation.id, "modes", call.mode or "")
        raise CannotArrange(f"a token endpoint for {'.'.join(key)} (`auth`)", key=key)
    if token_store is None or call.credentials or not issued:
        return access
    if not has_consent_tokens(executor, operation):
        token = token_store.token(token_request(executor, call, access, by_tpp=party))
        _keep_token(executor, call, token, by_tpp=party)
        return replace(access, token=token)
    if scope_of(executor, call) is not None:
        key = ("operations", operation.id, "modes", call.mode or "")
        raise CannotArrange(
            f"a token whose scope {'.'.join(key)} can replace; this one belongs to a consent",
            key=key,
        )
    if call.bearer is Token.NONE:
        return replace(access, token=None)
    return replace(access, token=consent_token(executor, call, operation, access))


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
    if has_consent_tokens(executor, operation):
        token = renewed_token(executor, step, operation)
    elif token_store is not None and token_store.issues(by_tpp=party):
        request = token_request(executor, step, access, by_tpp=party)
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


def _keep_token(executor: Executor, step: Call | Renew, token: str, *, by_tpp: bool) -> None:
    """Keep a token with its party, so that it is redacted in the journal."""
    if by_tpp:
        executor.tpps[step.by] = replace(third_party(executor, step.by), token=token)
    elif step.subject in executor.access:
        executor.access[step.subject] = replace(executor.access[step.subject], token=token)
