"""Authentication of calls, from the security requirements of a document's operations.

Calls made for the customer and calls made as the TPP are looked at apart, since many documents
require an authorization code for one and client credentials for the other. Scopes are those that
the operations require, without those that the contract treats as a mode of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urljoin

from assay.binding.checks import bad_url
from assay.contract.model import Contract, Json
from assay.onboarding.init.foreign_document import ForeignDocument, mapping, text
from assay.onboarding.init.openapi_operations import (
    EACH,
    OpenApiOperation,
    base_url,
    is_plain_name,
    schemes,
)
from assay.onboarding.init.operation_matching import OperationMatch

__all__ = ["GuessedAuth", "guessed_auth", "token_endpoint"]

#: The kind of the target file for each OAuth flow, the preferred one first.
_FLOWS: Final = {
    "authorizationCode": "authorization-code",
    "clientCredentials": "client-credentials",
}
#: The words of members that are the token of a call, and not one that is asked for or replaced.
_TOKEN_NAMES: Final = frozenset(
    [("token",), ("access", "token"), ("authorization", "token"), ("authorisation", "token")]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessedAuth:
    """How calls are authenticated: the kind of the target file, and its settings.

    `member` is the pointer at the member of every body that is the token, too. `tpp` is how calls
    made as the TPP are, if that differs. `others` are operations that the document authenticates
    in another way.
    """

    kind: str
    why: str = ""
    given: Mapping[str, Json] = field(default_factory=dict[str, Json])
    member: str = ""
    tpp: GuessedAuth | None = None
    others: tuple[str, ...] = ()

    def of(self, *, by_tpp: bool) -> GuessedAuth:
        """Return how a customer's calls, or the TPP's own, are authenticated."""
        return self.tpp if by_tpp and self.tpp else self


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Way:
    """One way of a security scheme; `scopes` are all that it defines."""

    scheme: str
    auth: GuessedAuth
    scopes: tuple[str, ...] = ()


def guessed_auth(
    document: ForeignDocument,
    contracts: Iterable[Contract],
    found: Mapping[str, Mapping[str, OperationMatch]],
) -> GuessedAuth:
    """Return how a document authenticates the operations that match those of contracts."""
    customers: list[OpenApiOperation] = []
    tpps: list[OpenApiOperation] = []
    modes: set[str] = set()
    for contract in contracts:
        modes |= {mode for operation in contract.operations.values() for mode in operation.modes}
        for name, match in found[contract.id].items():
            operation = contract.operations[name]
            if operation.available:
                (tpps if operation.by_tpp else customers).append(match.offered)
    ways = tuple(_ways(document))
    by_customer = _chosen(ways, customers, modes) if customers else None
    by_tpp = _chosen(_for_tpps(ways), tpps, modes) if tpps else None
    if by_customer is None or by_tpp is None or by_customer == by_tpp:
        common = by_customer or by_tpp or _chosen(ways, tpps, modes) or GuessedAuth(kind="bearer")
        others = map(str, tpps if by_customer is not None and by_tpp is None else ())
        common = replace(common, others=(*common.others, *others))
        return _with_member(common, [*customers, *tpps])
    return replace(_with_member(by_customer, customers), tpp=_with_member(by_tpp, tpps))


def _with_member(auth: GuessedAuth, offers: Sequence[OpenApiOperation]) -> GuessedAuth:
    """Return an authentication with the place of the token in bodies, if every body has one."""
    pointers = [_token_members(offer) for offer in offers if offer.request[1:]]
    if not pointers:
        return auth
    everywhere = [pointer for pointer in pointers[0] if all(pointer in each for each in pointers)]
    needed = [each for each in everywhere if any(pointer[each] for pointer in pointers)]
    return replace(auth, member=needed[0]) if len(needed) == 1 else auth


def _token_members(offer: OpenApiOperation) -> Mapping[str, bool]:
    """Return the members of a body that are the token of the call, and whether each is required."""
    return {
        leaf.pointer: leaf.required
        for leaf in offer.request
        if leaf.words in _TOKEN_NAMES and leaf.kind in {"string", ""} and EACH not in leaf.steps
    }


def _for_tpps(ways: Sequence[_Way]) -> tuple[_Way, ...]:
    """Return the ways without a customer who logs in, as there is none in calls as the TPP."""
    return tuple(way for way in ways if way.auth.kind != "authorization-code")


def _chosen(
    ways: Sequence[_Way], offers: Sequence[OpenApiOperation], modes: Collection[str]
) -> GuessedAuth | None:
    """Return the way that most operations accept, with the scopes that they require."""
    accepted = {way: [offer for offer in offers if _scopes(way, offer) is not None] for way in ways}
    way = max(ways, key=lambda way: len(accepted[way]), default=None)
    if way is None or not accepted[way]:
        return None
    scopes = dict.fromkeys(
        scope
        for offer in accepted[way]
        for scope in _scopes(way, offer) or ()
        if scope not in modes
    )
    given: dict[str, Json] = {**way.auth.given}
    if scopes and way.auth.kind in _FLOWS.values():
        given["scope"] = " ".join(scopes)
    others = tuple(str(offer) for offer in offers if offer not in accepted[way])
    besides = ", ".join(_besides(way, accepted[way]))
    why = f"{way.auth.why}, which requires {besides}, too" if besides else way.auth.why
    return replace(way.auth, given=given, others=others, why=why)


def _besides(way: _Way, offers: Sequence[OpenApiOperation]) -> frozenset[str]:
    """Return the other schemes that each operation requires together with a way."""
    together = (
        frozenset.intersection(
            *(frozenset(each) - {way.scheme} for each in offer.security or () if way.scheme in each)
        )
        for offer in offers
        if offer.security
    )
    return frozenset.intersection(*rows) if (rows := [*together]) else frozenset()


def _scopes(way: _Way, offer: OpenApiOperation) -> tuple[str, ...] | None:
    """Return the scopes that an operation requires of a way; None if it does not accept it."""
    if offer.security is None:
        return way.scopes
    alternatives = (each[way.scheme] for each in offer.security if way.scheme in each)
    return next(alternatives, None)


def _ways(document: ForeignDocument) -> Iterator[_Way]:
    """Yield the ways of all schemes, OAuth before tokens and keys."""
    defined = schemes(document)
    for flow in _FLOWS:
        for name, scheme in defined.items():
            yield from _oauth(document, name, scheme, flow)
    for known in (_bearer, _api_key):
        for name, scheme in defined.items():
            if auth := known(scheme):
                yield _Way(scheme=name, auth=auth)


def token_endpoint(document: ForeignDocument, offers: Sequence[OpenApiOperation]) -> str:
    """Return the URL at which a document issues tokens, by any OAuth flow; empty if it has none.

    A call at `…/token` that takes a `grant_type` is one, too.
    """
    flows = [
        mapping(flow)
        for scheme in schemes(document).values()
        for flow in mapping(scheme.get("flows")).values()
    ]
    paths = [
        f".{offer.path}"
        for offer in offers
        if offer.path.endswith("/token")
        and any(leaf.name == "grant_type" for leaf in offer.request)
    ]
    urls = (_absolute(document, url) for url in (*(text(f.get("tokenUrl")) for f in flows), *paths))
    return next(filter(_is_url, urls), "")


def _absolute(document: ForeignDocument, url: str) -> str:
    """Return a URL that may be relative to the first server of a document."""
    return urljoin(f"{base_url(document)}/", url) if url else ""


def _oauth(
    document: ForeignDocument, name: str, scheme: Mapping[str, Any], flow_name: str
) -> Iterator[_Way]:
    """Yield an OAuth flow of a scheme, if it has the URLs that it needs."""
    flow = mapping(mapping(scheme.get("flows")).get(flow_name))
    token, authorize = (
        _absolute(document, text(flow.get(key))) for key in ("tokenUrl", "authorizationUrl")
    )
    kind = _FLOWS[flow_name]
    if not _is_url(token) or (kind == "authorization-code" and not _is_url(authorize)):
        return
    given: dict[str, Json] = {"token_url": token}
    if kind == "authorization-code":
        given = {"authorize_url": authorize, **given}
    scopes = tuple(scope for scope in mapping(flow.get("scopes")) if is_plain_name(scope))
    why = f"the OAuth flow {flow_name} in the document"
    yield _Way(scheme=name, auth=GuessedAuth(kind=kind, why=why, given=given), scopes=scopes)


def _bearer(scheme: Mapping[str, Any]) -> GuessedAuth | None:
    if text(scheme.get("type")) == "http" and text(scheme.get("scheme")).lower() == "bearer":
        return GuessedAuth(kind="bearer", why="the bearer scheme in the document")
    return None


def _api_key(scheme: Mapping[str, Any]) -> GuessedAuth | None:
    name, place = text(scheme.get("name")), (text(scheme.get("type")), text(scheme.get("in")))
    if place != ("apiKey", "header") or not is_plain_name(name):
        return None
    if name.lower() == "authorization":
        return GuessedAuth(kind="bearer", why="the Authorization header")
    return GuessedAuth(kind="key", why=f"the header {name} in the document", given={"header": name})


def _is_url(url: str) -> bool:
    return is_plain_name(url) and not bad_url(url)
