"""Answers to the questions of `assay init` that an OpenAPI document gives, and the draft of a file.

A document answers how calls are authenticated, which header marks the customer's presence, and
which contracts its operations match.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias
from urllib.parse import unquote, urljoin
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from assay.binding.read.checks import bad_url
from assay.contract.model import Contract, Json, Operation
from assay.errors import InputError, did_you_mean
from assay.onboarding.init.foreign_document import ForeignDocument, mapping, read, text
from assay.onboarding.init.inherited import InheritedTarget
from assay.onboarding.init.openapi_operations import (
    OpenApiOperation,
    base_url,
    is_plain_name,
    openapi_operations,
    schemes,
    words,
)
from assay.onboarding.init.operation_matching import (
    Found,
    OperationMatch,
    has_evidence,
    matches,
    plain_path,
)

#: Words in the name of the header that marks a call as made with the customer present.
_PRESENCE: Final = tuple(
    {party, *mark}
    for mark in (("ip", "address"), ("present",), ("presence",))
    for party in ("psu", "customer", "user")
)
#: The name of a time zone, and of the proof key for codes (RFC 7636).
_ZONE: Final = re.compile(
    r"\b(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Z][A-Za-z_]+\b"
)
_REDIRECT: Final = re.compile(r"""\bredirect_uri=([^&\s"'`]+)""")
_PKCE: Final = re.compile(r"\bPKCE\b|\bcode_challenge\b")
#: How a document says of a header that the customer is there.
_PRESENT: Final = re.compile(
    r"\b(psu|customer|user)\b.*\b(presen(t|ce)|ask(s|ed|ing)?)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InitDefaults:
    """Default answers, each with the reason for it, and the operations of the document.

    `files` has the path of each contract that is not a shipped one, relative to the target file.
    """

    contracts: tuple[Contract, ...]
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    defaults: Mapping[str, str] = field(default_factory=dict[str, str])
    whys: Mapping[str, str] = field(default_factory=dict[str, str])
    auth: GuessedAuth = field(default_factory=lambda: GuessedAuth(kind="bearer"))
    document: ForeignDocument | None = None
    offers: tuple[OpenApiOperation, ...] = ()
    found: Found = field(default_factory=dict[str, Mapping[str, OperationMatch]])
    inherited: InheritedTarget = field(default_factory=InheritedTarget)

    def draft(self, answers: Mapping[str, str], whys: Mapping[str, str]) -> TargetDraft:
        """Return the draft of a target file, given the answers to all questions."""
        base_url = answers["base_url"].rstrip("/")
        extends = "" if answers["extends"] == "none" else answers["extends"]
        texts = {**answers, "base_url": base_url, "extends": extends}
        return TargetDraft(start=self, whys=whys, **texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetDraft:
    """Everything that a target file is written from: the answers to all questions, and `start`.

    `whys` gives the reason for each answer that the user did not give.
    """

    start: InitDefaults
    whys: Mapping[str, str]
    name: str
    base_url: str
    environment: str
    zone: str
    auth: str
    presence: str
    fixtures: str
    extends: str

    @property
    def contracts(self) -> tuple[Contract, ...]:
        """The contracts whose operations the file binds."""
        return self.start.contracts

    @property
    def prefix(self) -> str:
        """The prefix of this target's environment variables."""
        return "".join(letter if letter.isalnum() else "_" for letter in self.name.upper())


#: Returns the call that the user says an operation to be, of those that are left.
Choose: TypeAlias = Callable[[Operation, Sequence[OpenApiOperation]], OpenApiOperation | None]


def init_defaults(
    contracts: tuple[Contract, ...],
    path: Path | None,
    *,
    named: bool,
    inherited: InheritedTarget | None = None,
    base: str = "",
    manual: Path | None = None,
    told: Mapping[str, str] = MappingProxyType({}),
    choose: Choose | None = None,
) -> InitDefaults:
    """Read the document, if there is one, and match its operations to the contracts.

    `inherited` is the target file that the draft extends, and `base` the address to which paths are
    appended, in place of that of the document. The calls of a `manual` say more about its bodies. `told` are the calls that the user says to be operations of the
    contracts; of those without a match, `choose` asks. Unless the contracts were `named` by the user,
    those without a match are dropped.

    Raises:
        InputError: the document cannot be read, lacks a call that was told, or matches no contract.

    """
    zones = dict.fromkeys(str(contract.zone) for contract in contracts if contract.zone)
    zone = {"zone": next(iter(zones))} if len(zones) == 1 else {}
    # What the contract says is no guess.
    known = {"zone": ""} if zone else {}
    if path is None:
        return InitDefaults(contracts=contracts, defaults=zone, whys=known)
    inherited = inherited or InheritedTarget()
    document = read(path, manual)
    if not zone and (named_zone := _zone(document)):
        zone, known = {"zone": named_zone}, {"zone": "the text names it"}
    if base:
        document.root["servers"] = [{"url": base}]
    offers = openapi_operations(document)
    said = _said(contracts, offers, told, str(path))
    find = partial(_found, contracts, offers, inherited, named=named)
    found = _asked(contracts, offers, said, find, choose) if choose else find(said)
    if not found:
        what = f"none of the {len(offers)} operations in the document matches an operation of the contracts"
        hint = (
            "is this the right document? if so, say which it is: --operation accounts='GET /path'"
        )
        raise InputError.one(str(path), what, hint=hint)
    kept = tuple(contract for contract in contracts if named or contract.id in found)
    found = {contract.id: found.get(contract.id, {}) for contract in kept}
    used = tuple(match.offered for matches in found.values() for match in matches.values())
    auth = guessed_auth(document, kept, found)
    present, url = _presence(used), base_url(document)
    defaults = {**zone, "auth": auth.kind}
    whys = {**known, "auth": auth.why or "the document does not define it"}
    for key, value, why in (
        ("base_url", url, "the first server of the document"),
        ("presence", present, "a header parameter of the document"),
    ):
        if value:
            defaults[key], whys[key] = value, why
    if len(kept) < len(contracts):
        whys["contracts"] = "the document has operations of these contracts"
    return InitDefaults(
        contracts=kept,
        defaults=defaults,
        whys=whys,
        auth=auth,
        document=document,
        offers=offers,
        found=found,
        inherited=inherited,
    )


def _said(
    contracts: Sequence[Contract],
    offers: Sequence[OpenApiOperation],
    told: Mapping[str, str],
    path: str,
) -> dict[str, OpenApiOperation]:
    """Return the calls that a user, or a text of calls, says to be operations of the contracts."""
    said = {name: offer for offer in offers for name in map(text, offer.said)}
    for name, line in told.items():
        same = [each for each in offers if plain_path(str(each)) == plain_path(line)]
        if not same:
            what = f"{line!r} is no call of the document"
            raise InputError.one(path, what, hint=did_you_mean(line, map(str, offers)))
        said[name] = same[0]
    known = {name for contract in contracts for name in contract.operations}
    for name in said:
        if name not in known:
            what = f"{name!r} is no operation of the contracts"
            raise InputError.one(path, what, hint=did_you_mean(name, known))
    return said


def _asked(
    contracts: Sequence[Contract],
    offers: Sequence[OpenApiOperation],
    said: dict[str, OpenApiOperation],
    find: Callable[[Mapping[str, OpenApiOperation]], Found],
    choose: Choose,
) -> Found:
    """Return the matches, with those that the user chooses; what is chosen shows others."""
    found = find(said)
    for contract in [each for each in contracts if each.id in found] or contracts:
        for name, operation in contract.operations.items():
            known = found.get(contract.id, {})
            used = {str(match.offered) for match in known.values()}
            left = [each for each in offers if str(each) not in used]
            if operation.available and name not in known and (chosen := choose(operation, left)):
                said[name] = chosen
                found = find(said)
    return found


def _found(
    contracts: Sequence[Contract],
    offers: Sequence[OpenApiOperation],
    inherited: InheritedTarget,
    said: Mapping[str, OpenApiOperation],
    *,
    named: bool,
) -> Found:
    """Return the matches of the contracts of which the document has enough."""
    every = {
        each.id: matches(each, offers, {**inherited.matches(each, offers), **_of(each, said)})
        for each in contracts
    }
    return {
        contract.id: every[contract.id]
        for contract in contracts
        if any(contract.operations[name].available for name in every[contract.id])
        and (named or _of(contract, said) or has_evidence(contract, every[contract.id]))
    }


def _of(contract: Contract, said: Mapping[str, OpenApiOperation]) -> dict[str, OperationMatch]:
    return {
        name: OperationMatch(offered=offer)
        for name, offer in said.items()
        if name in contract.operations
    }


def _zone(document: ForeignDocument) -> str:
    """Return the time zone that a document names most often; empty if it names none."""
    for name, _ in Counter(_ZONE.findall(document.content)).most_common():
        with suppress(ValueError, ZoneInfoNotFoundError):
            return ZoneInfo(name).key
    return ""


def _presence(offers: Sequence[OpenApiOperation]) -> str:
    """Return the header that marks a call as made with the customer present, if any, and its value."""
    every = [each for offered in offers for each in offered.named("header").values()]
    named = (each for mark in _PRESENCE for each in every if mark <= {*words(each.name)})
    said = (each for each in every if not each.required and _PRESENT.search(each.description))
    header = next(named, None) or next(said, None)
    if header is None:
        return ""
    leaf = header.leaf
    value = "true" if leaf.kind == "boolean" else next(iter(leaf.values), "")
    return f"{header.name}={value}" if value else header.name


# -- Authentication of calls, from the security requirements of a document's operations
# Calls made for the customer and calls made as the TPP are looked at apart, since many documents
# require an authorization code for one and client credentials for the other. Scopes are those that
# the operations require, without those that the contract treats as a mode of its own.
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
    # In calls as the TPP, there is no customer who logs in.
    without_login = [way for way in ways if way.auth.kind != "authorization-code"]
    by_tpp = _chosen(without_login, tpps, modes) if tpps else None
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
        if leaf.words in _TOKEN_NAMES and leaf.is_text and not leaf.is_listed
    }


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
        given |= {"pkce": True} if _PKCE.search(document.content) else {}
        shown = (unquote(each) for each in _REDIRECT.findall(document.content))
        returns = next((each for each in shown if _is_url(each)), "")
        given |= {"redirect_uri": returns} if returns else {}
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
