"""Requests for the tokens of calls: who needs one, and the credentials of the TPP that asks.

A token of a fixture or of the target file is sent as it is. For an OAuth token, the customer may have
to go through the bank's screens.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.binding.encode import BARE, Access
from assay.binding.spelling import Place
from assay.contract.model import Capability
from assay.errors import CannotArrange
from assay.fixtures.providers import Customers, customers_of
from assay.history import Authorise, Call, Renew
from assay.planning.remedies import REMEDIES
from assay.sca.protocol import ScreenFlowResult
from assay.transport.auth.tokens import TokenRequest

if TYPE_CHECKING:
    from assay.running.executor import Executor

__all__ = ["scope_of", "sendable_access", "third_party", "token_request", "tpp_token"]

#: The longest token that is sent, in characters: HTTP servers refuse larger headers, whoever calls.
MAX_TOKEN = 8192


def token_request(
    executor: Executor, step: Call | Renew, access: Access, *, by_tpp: bool
) -> TokenRequest:
    """Return who needs a token, and what it takes to get one.

    A bank that creates customers for each trial may forget its tokens with them.
    """
    created = customers_of(executor.environment.target) is Customers.CREATED
    return TokenRequest(
        by_tpp=by_tpp,
        customer=access,
        tpp=lambda: third_party(executor, step.by),
        named=bool(step.by),
        now=executor.look(),
        sign_in=lambda link: _sign_in(executor, link, step.subject, access),
        scope=scope_of(executor, step) if isinstance(step, Call) else None,
        trial=str(executor.name) if created else "",
    )


def scope_of(executor: Executor, call: Call) -> str | None:
    """Return the scope of the token for a call, where its mode says so."""
    binding = executor.environment.target.operations.get(call.operation, BARE)
    mode = binding.modes.get(call.mode or "")
    return str(mode.value) if mode is not None and mode.place is Place.SCOPE else None


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


def tpp_token(executor: Executor, step: Call | Renew, access: Access) -> str | None:
    """Return the TPP's own token, requested if it is issued; None where nothing provides it."""
    token_store = executor.environment.token_store
    if token_store is None or not token_store.issues(by_tpp=True):
        return third_party(executor, step.by).token
    token = token_store.token(token_request(executor, step, access, by_tpp=True))
    executor.tpps[step.by] = replace(third_party(executor, step.by), token=token)
    return token


def sendable_access(access: Access) -> Access:
    """Return credentials whose token fits into a header.

    Raises:
        CannotArrange: it is too long.

    """
    if access.token and len(access.token) > MAX_TOKEN:
        what = f"a token of at most {MAX_TOKEN} characters, not one of {len(access.token)}"
        raise CannotArrange(f"{what}: servers refuse such a header", key=("auth",))
    return access
