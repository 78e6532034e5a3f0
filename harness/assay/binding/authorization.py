"""Authorization requests for a single consent or payment that has its own token.

A target file has the parameters of the request below `approval`, at the operation that makes what the
customer authorises at `auth.authorize_url`. A token that is issued for the code belongs to that alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

from assay.binding.security import AuthKind
from assay.binding.spelling import OperationBinding
from assay.contract.model import Operation
from assay.files.document import Finding, Pointer, found

_Raw: TypeAlias = Mapping[str, Any]

#: Where the parameters stand, below an operation.
AUTHORIZE: Final = ("approval", "authorize")
#: Parameters that are the same in every authorization request, or made for each, by what sets them.
_OWN: Final[Mapping[str, str]] = {
    "client_id": "auth.client_id",
    "redirect_uri": "auth.redirect_uri",
    "state": "every request has its own",
    "code_challenge": "auth.pkce",
    "code_challenge_method": "auth.pkce",
}


def authorizes(bindings: Mapping[str, OperationBinding]) -> bool:
    """Whether a customer's token belongs to what the customer authorised, and not to the customer."""
    return any(binding.authorize is not None for binding in bindings.values())


def parameters_of(binding: _Raw) -> _Raw | None:
    """Return the parameters of the authorization request in the raw binding of an operation."""
    approval = binding.get("approval")
    return cast("_Raw", approval).get("authorize") if isinstance(approval, Mapping) else None


def findings(raw: _Raw) -> Iterator[Finding]:
    """Find authorization requests that cannot be made, or that do not say what is authorised."""
    operations: Mapping[str, _Raw | None] = raw.get("operations", {})
    for name, binding in operations.items():
        parameters = parameters_of(binding or {})
        if parameters is None or binding is None:
            continue
        at: Pointer = ("operations", name, *AUTHORIZE)
        if raw.get("auth", {}).get("kind") != AuthKind.CODE.value:
            hint = "set auth.kind to authorization-code, with authorize_url and redirect_uri"
            yield at, "there is no authorization server at which customers log in", hint
        for parameter in sorted(_OWN.keys() & parameters.keys()):
            what = f"the parameter {found(parameter)} is set by Assay"
            yield (*at, parameter), what, f"remove it ({_OWN[parameter]})"
        own: list[str] = [*binding.get("outputs", {})]
        if not any(f"{{{output}}}" in str(parameters) for output in own):
            example = own[0] if own else "consent-id"
            hint = f'for example consent_id: "{{{example}}}"'
            hint += "" if own else f", with `outputs: {{{example}: /id}}` at the operation"
            yield (
                at,
                "no parameter identifies what is authorised: none uses an output of the operation",
                hint,
            )


def misfits(binding: _Raw, operation: Operation, at: Pointer) -> Iterator[Finding]:
    """Yield what does not fit an operation whose result the customer authorises."""
    if parameters_of(binding) is None:
        return
    if not operation.makes:
        hint = "move it to the operation that makes the consent or the request"
        yield (*at, *AUTHORIZE), "the operation makes nothing that needs an authorization", hint
    elif not operation.by_tpp:
        what = "the operation is called with a customer's token, which is issued only after it"
        hint = f"write `by: tpp` at operations.{operation.id} of the contract"
        yield (*at, *AUTHORIZE), what, hint
