"""What a call shows of who makes it, at the moment when it is made.

A token that a world or a profile has is shown as it is; one of OAuth comes from the desk,
for which its customer may have to go through the bank's screens.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.binding.encode import Access
from assay.contract.model import Operation
from assay.history import Authorise, Call
from assay.sca.protocol import ScreenFlowResult
from assay.transport.auth.tokens import TokenRequest

if TYPE_CHECKING:
    from assay.execution.executor import Executor

__all__ = ["credentials_for"]


def credentials_for(play: Executor, call: Call, operation: Operation) -> Access:
    """Return what authorises a call, with a token that is good now.

    Raises:
        CannotArrange: nobody can get a token like this.
        NoAccess: none is given.

    """
    access = play.access.get(call.subject, play.environment.common)
    party, token_store = operation.by_provider, play.environment.token_store
    if party:
        # The customer's credentials may be sent; the customer's token never is.
        access = replace(access, token=play.provider(call.by).token)
    if token_store is None or call.credentials or not token_store.issues(by_provider=party):
        return access
    customer = access
    token = token_store.token(
        TokenRequest(
            by_provider=party,
            who=customer,
            provider=lambda: play.provider(call.by),
            named=bool(call.by),
            now=play.look(),
            sign_in=lambda link: _sign_in(play, link, call.subject, customer),
        )
    )
    # Kept where it belongs, for what is recorded must not tell it.
    if party:
        play.providers[call.by] = replace(play.provider(call.by), token=token)
    elif call.subject in play.access:
        play.access[call.subject] = replace(access, token=token)
    return replace(access, token=token)


def _sign_in(play: Executor, link: str, subject: str, access: Access) -> ScreenFlowResult:
    """Take a customer through the screens on which a token is agreed to."""
    # Of a real customer's factors it may be only one whose code is known.
    factor = next(iter(access.codes)) if len(access.codes) == 1 else None
    step = Authorise(subject=subject, request="", approval=link, factor=factor)
    return play.signer.sign(step, access, play.wait)
