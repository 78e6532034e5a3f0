"""The OAuth tokens of a run: requested when needed, kept, and renewed in time.

A token belongs to a customer, or to a TPP itself. It is renewed before it expires by
the target's clock: with its refresh token, and if that is refused by asking the
customer again. No refused request is repeated: the endpoint's answer about a client is
final. A refusal is explained by the line of the target file that it is about.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from threading import RLock
from typing import TypeAlias
from urllib.parse import quote_plus, urlsplit, urlunsplit

from assay.binding.model.security import ISSUING
from assay.binding.model.target import AuthKind, OAuth, Target
from assay.binding.wire.encode import Access
from assay.contract.model import Json
from assay.errors import CannotArrange, TargetError
from assay.sca.protocol import ScreenFlowResult
from assay.transport.auth.diagnostics import AuthenticationError, place, problem
from assay.transport.auth.oauth import (
    CLIENT_ERRORS,
    AuthorizationCode,
    Grant,
    OAuthClient,
    Parameters,
    SignIn,
    TokenRefused,
    push_request,
    redirect_parameters,
    request_code,
    request_token,
)
from assay.transport.protocol import Transport
from assay.transport.secrets import KnownSecrets

__all__ = ["TokenRequest", "TokenStore", "refusal"]

#: The most tokens that are kept: fixtures end, and their customers with them.
MOST = 1000
#: The fields of a token request that are secrets, by the kind of secret.
SECRET_FIELDS = {"refresh_token": "token", "code": "code", "code_verifier": "secret"}
#: The parameters of a redirect that are secrets, by the kind of secret.
REDIRECTED = {"code": "code", "id_token": "token", "access_token": "token"}

_Key: TypeAlias = tuple[bool, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """Who needs a token, and what it takes to get one.

    `tpp` returns the TPP's credentials as the fixture created them. `now` is the
    target's clock; `sign_in` takes the customer through the screens. `named` says that
    the call is made by a particular one of several TPPs. `scope` takes the place of the target
    file's own; a token with it is another token. `trial` is that of which the token is, if the bank
    may begin anew with each. `base` is the base URL of the bank of the group that issues it, empty for the
    usual one.
    """

    by_tpp: bool
    customer: Access
    tpp: Callable[[], Access]
    now: datetime
    sign_in: SignIn
    named: bool = False
    scope: str | None = None
    trial: str = ""
    base: str = ""


@dataclass(slots=True, kw_only=True)
class TokenStore:
    """The tokens of a run. `transport` leads to the endpoints; `known` learns what is secret."""

    target: Target
    transport: Transport
    secrets: Mapping[str, str]
    granted: OrderedDict[_Key, Grant] = field(default_factory=OrderedDict[_Key, Grant])
    refused: dict[tuple[bool, str], AuthenticationError] = field(
        default_factory=dict[tuple[bool, str], AuthenticationError]
    )
    known: KnownSecrets = field(default_factory=KnownSecrets)
    #: Signs the parameters of a client's authorization requests, at a moment.
    sign_request: Callable[[str, datetime, Mapping[str, Json]], str] | None = None
    #: The parties to whom a token was ever issued.
    served: set[bool] = field(default_factory=set[bool])
    _locks: dict[_Key, RLock] = field(default_factory=dict["_Key", RLock])

    def issues(self, *, by_tpp: bool) -> bool:
        """Whether the tokens of a party are requested by this store."""
        return self.target.auth.of(by_tpp=by_tpp).kind in ISSUING

    def token(self, request: TokenRequest) -> str:
        """Return a token that is valid now.

        Raises:
            CannotArrange: there is no signer for the screens, or the target file does not say
                how this party authenticates.
            AuthenticationError: the endpoint, or the customer's bank, refuses.

        """
        oauth, client = self._settings(request)
        # Of two threads that need the same token, one requests it.
        with self._locks.setdefault(_key(request, client), RLock()):
            return self._valid(oauth, client, request)

    def _valid(self, oauth: OAuth, client: OAuthClient, request: TokenRequest) -> str:
        party = request.by_tpp
        identity, key = (party, f"{client.id} {request.scope or ''}"), _key(request, client)
        kept = self.granted.get(key)
        if kept and kept.valid(request.now):
            self.granted.move_to_end(key)
            return kept.token
        if identity in self.refused:
            raise self.refused[identity]
        try:
            grant = self._refreshed(oauth, client, kept, request) or self._new(
                oauth, client, request
            )
        except AuthenticationError as error:
            if error.party_lost is not None and party not in self.served:
                if request.scope is not None:  # other calls need another token
                    error = AuthenticationError(error.problem)
                self.refused[identity] = error
                raise error from None
            raise AuthenticationError(error.problem) from None
        self.served.add(party)
        self._keep(key, grant)
        return grant.token

    def renewed(self, request: TokenRequest) -> str | None:
        """Return a new token in place of a valid one; None if nothing renews it.

        A customer is not asked again: only a refresh token renews what she permitted.

        Raises:
            CannotArrange: as `token` does.
            AuthenticationError: as `token` does.

        """
        self.token(request)
        oauth, client = self._settings(request)
        key = _key(request, client)
        with self._locks[key]:
            grant = self._refreshed(oauth, client, self.granted[key], request)
            auth = self.target.auth.of(by_tpp=request.by_tpp)
            if grant is None and auth.kind is AuthKind.CLIENT:
                grant = self._new(oauth, client, request)
            if grant is None:
                return None
            self._keep(key, grant)
            return grant.token

    def forget(self, token: str | None) -> None:
        """Forget a token that the bank no longer takes, so that the next call has a new one."""
        for key in [key for key, grant in self.granted.items() if grant.token == token]:
            del self.granted[key]

    def authorised(self, request: TokenRequest, parameters: Parameters) -> Grant:
        """Have the customer authorise one consent or request, and return the token of that alone.

        `parameters` of the authorization request say which one it is. Nothing is kept.

        Raises:
            CannotArrange: as `token` does.
            AuthenticationError: as `token` does.

        """
        oauth, client = self._settings(request)
        try:
            grant = self._for_code(oauth, client, request, parameters)
        except AuthenticationError as error:
            if request.by_tpp not in self.served:
                raise
            raise AuthenticationError(error.problem) from None
        self.served.add(request.by_tpp)
        return grant

    def refreshed(self, grant: Grant, request: TokenRequest) -> Grant | None:
        """Return what a refresh token gives in place of a grant; None where it is refused.

        Raises:
            AuthenticationError: the token endpoint cannot be reached.

        """
        oauth, client = self._settings(request)
        return self._refreshed(oauth, client, grant, request)

    def for_password(self, request: TokenRequest) -> str | None:
        """Return the token that is issued for the customer's password; None where it is refused.

        Raises:
            CannotArrange: the customer has no password.
            AuthenticationError: the token endpoint fails.

        """
        login, password = request.customer.login, request.customer.password
        if login is None or password is None:
            raise CannotArrange(
                "customer credentials (`credentials` in `fixtures.offers`)", key=("fixtures",)
            )
        oauth, client = self._settings(request)
        form = {"username": login, "password": password}
        scope = {"scope": oauth.scope} if oauth.scope else {}
        answer = self._request(oauth, client, "password", request, **form, **scope)
        if isinstance(answer, Grant):
            return answer.token
        if answer.failed:
            raise refusal(self.target, oauth, client, answer, by_tpp=request.by_tpp)
        return None

    def _keep(self, key: _Key, grant: Grant) -> None:
        self.granted[key] = grant
        while len(self.granted) > MOST:
            oldest, _ = self.granted.popitem(last=False)
            self._locks.pop(oldest, None)

    def _settings(self, request: TokenRequest) -> tuple[OAuth, OAuthClient]:
        """Return the target file's settings of a party, and its client credentials."""
        auth = self.target.auth.of(by_tpp=request.by_tpp)
        oauth = auth.oauth
        if oauth is None or (request.by_tpp and auth.kind is AuthKind.CODE):
            # No customer consents to what a TPP does for itself.
            what = "authentication of the TPP's own calls (set `auth.tpp` in the target file)"
            raise CannotArrange(what, key=("auth", "tpp"))
        client = self._client(oauth, request)
        if request.base:
            oauth = _at_bank(oauth, self.target.base_url, request.base)
        return replace(oauth, scope=request.scope or oauth.scope), client

    def _client(self, oauth: OAuth, request: TokenRequest) -> OAuthClient:
        client_id = oauth.client_id
        if oauth.client_id_env:
            client_id = self.secrets[oauth.client_id_env]
        if request.by_tpp or request.named or not client_id:
            access = request.tpp()
            if access.client_id:
                return OAuthClient(id=access.client_id, secret=access.client_secret, made=True)
            if request.named and client_id:
                raise CannotArrange(
                    "OAuth clients created by a control API"
                    " (set `fixtures.kind` to `control` in the target file)"
                )
        if client_id:
            secret = self.secrets[oauth.client_secret_env] if oauth.client_secret_env else None
            return OAuthClient(id=client_id, secret=secret)
        section = place(self.target, by_tpp=request.by_tpp)
        what = "client_id is missing: neither the target file nor the fixture provider has one"
        hint = "add client_id, or client_id_env; or `tpps` to fixtures.offers if it makes clients"
        cause = problem(self.target, *section, what=what, hint=hint)
        raise AuthenticationError(cause, party_lost=request.by_tpp)

    def _refreshed(
        self, oauth: OAuth, client: OAuthClient, old: Grant | None, request: TokenRequest
    ) -> Grant | None:
        """Request a token with the refresh token of the old one, if it has one."""
        refresh = old.refresh if old and request.now >= old.issued else None
        if refresh is None:
            return None
        answer = self._request(oauth, client, "refresh_token", request, refresh_token=refresh)
        if isinstance(answer, TokenRefused):
            return None
        # An endpoint that returns no other refresh token leaves the old one valid.
        return answer if answer.refresh else replace(answer, refresh=refresh)

    def _new(self, oauth: OAuth, client: OAuthClient, request: TokenRequest) -> Grant:
        kind = self.target.auth.of(by_tpp=request.by_tpp).kind
        if kind is not AuthKind.CLIENT:
            return self._for_code(oauth, client, request, Parameters())
        form = {"scope": oauth.scope} if oauth.scope else {}
        return self._granted(oauth, client, "client_credentials", request, **form)

    def _for_code(
        self,
        oauth: OAuth,
        client: OAuthClient,
        request: TokenRequest,
        parameters: Parameters,
    ) -> Grant:
        """Have the customer authorise what the parameters say, and exchange the code."""
        consented = self._consented(oauth, client, request, parameters)
        form = {"code": consented.code, "redirect_uri": oauth.redirect_uri}
        if consented.verifier:
            form["code_verifier"] = consented.verifier
        return self._granted(oauth, client, "authorization_code", request, **form)

    def _granted(
        self, oauth: OAuth, client: OAuthClient, grant: str, request: TokenRequest, **form: str
    ) -> Grant:
        """Return the answer to a token request; `AuthenticationError` where it is refused."""
        answer = self._request(oauth, client, grant, request, **form)
        if isinstance(answer, TokenRefused):
            raise refusal(self.target, oauth, client, answer, by_tpp=request.by_tpp)
        return answer

    def _consented(
        self,
        oauth: OAuth,
        client: OAuthClient,
        request: TokenRequest,
        parameters: Parameters,
    ) -> AuthorizationCode:
        """Have the customer consent on the bank's screens."""
        section = place(self.target, by_tpp=request.by_tpp)

        def sign_in(link: str) -> ScreenFlowResult:
            flow = request.sign_in(link)
            for name, values in redirect_parameters(flow.redirected or "").items():
                for value in values if name in REDIRECTED else ():
                    self.known.add(value, REDIRECTED[name])
            return flow

        signer = self.sign_request
        sign = partial(signer, client.id, request.now) if signer else None

        def push(sent: Mapping[str, str]) -> str:
            self._learn(client, {})
            answer = push_request(self.transport, oauth, client, sent)
            if isinstance(answer, TokenRefused):
                raise refusal(self.target, oauth, client, answer, by_tpp=request.by_tpp)
            self.known.add(answer, "code")
            return answer

        try:
            return request_code(
                self.target, section, oauth, client, sign_in, more=parameters, sign=sign, push=push
            )
        except AuthenticationError as error:
            lost = request.by_tpp if error.unconnected else error.party_lost
            raise AuthenticationError(error.problem, party_lost=lost) from None
        except TargetError as error:
            what = f"the screens cannot be reached: {error}"
            raise self._unreachable(request, "authorize_url", what) from None

    def _request(
        self, oauth: OAuth, client: OAuthClient, grant: str, request: TokenRequest, **form: str
    ) -> Grant | TokenRefused:
        self._learn(client, form)
        try:
            sent = {**oauth.parameters, **form}
            answer = request_token(self.transport, oauth, client, grant, request.now, **sent)
        except AuthenticationError as error:
            raise AuthenticationError(error.problem, party_lost=request.by_tpp) from None
        except TargetError as error:
            what = f"the token endpoint cannot be reached: {error}"
            raise self._unreachable(request, "token_url", what) from None

        if isinstance(answer, Grant):
            self.known.add(answer.token, "token")
            self.known.add(answer.refresh, "token")
            lasts = self.target.auth.of(by_tpp=request.by_tpp).expires_in
            if answer.expires is None and lasts:
                return replace(answer, expires=answer.issued + timedelta(seconds=lasts))
        return answer

    def _learn(self, client: OAuthClient, form: Mapping[str, str]) -> None:
        """Learn the secrets that a request to a token endpoint contains."""
        self.known.add(client.secret, "secret")
        if client.secret:
            pair = f"{quote_plus(client.id)}:{quote_plus(client.secret)}"
            self.known.add(pair, "credentials")
        for name, kind in SECRET_FIELDS.items():
            self.known.add(form.get(name), kind)

    def _unreachable(self, request: TokenRequest, key: str, what: str) -> AuthenticationError:
        section = place(self.target, by_tpp=request.by_tpp)
        cause = problem(self.target, *section, key, what=what)
        return AuthenticationError(cause, party_lost=request.by_tpp)


def _key(request: TokenRequest, client: OAuthClient) -> _Key:
    """Return whose token it is: the party, its client, and the customer."""
    customer = request.customer
    owner = "" if request.by_tpp else "\n".join((customer.id or "", customer.login or ""))
    rest = f"{request.scope or ''}\n{request.trial}\n{request.base}"
    return request.by_tpp, client.id, f"{owner}\n\n{rest}"


def _at_bank(oauth: OAuth, base: str, bank: str) -> OAuth:
    """Return settings for another bank of the group: its host takes the place of the first one's.

    An endpoint elsewhere is that of all banks.
    """

    def there(url: str) -> str:
        parts, own = urlsplit(url), urlsplit(bank)
        same = (parts.scheme, parts.netloc) == urlsplit(base)[:2]
        return urlunsplit(parts._replace(scheme=own.scheme, netloc=own.netloc)) if same else url

    return replace(
        oauth,
        token_url=there(oauth.token_url),
        authorize_url=there(oauth.authorize_url),
        par_url=there(oauth.par_url),
    )


# -- Refusals of a token endpoint, explained by the line of the target file that they are about --
UNAUTHORIZED = 401
#: The endpoints, by the keys with their URLs.
ENDPOINTS = {"token_url": "token endpoint", "par_url": "PAR endpoint"}
#: For each error code of RFC 6749, the keys it may be about (the first that the file has
#: is named), and a hint.
ABOUT: Mapping[str, tuple[tuple[str, ...], str]] = {
    "invalid_client": (
        ("client_secret_env", "client_id_env", "client_id", "client_auth"),
        "check that the secret is this client's, for this environment, and that client_auth fits",
    ),
    "unauthorized_client": (
        ("client_id_env", "client_id", "kind"),
        "check that the client is registered for this grant type",
    ),
    "invalid_scope": (("scope",), "compare with the scopes in the bank's documentation"),
    "unsupported_grant_type": (
        ("kind",),
        "compare with the grant types in the bank's documentation",
    ),
    "unsupported_response_type": (
        ("kind",),
        "compare with the grant types in the bank's documentation",
    ),
    "invalid_grant": (
        ("redirect_uri", "kind"),
        "check that redirect_uri is as registered, and whether the bank requires pkce",
    ),
    "invalid_request": (
        ("client_auth", "pkce", "kind"),
        "check whether the bank requires pkce, or client_auth: post",
    ),
    "access_denied": (("scope", "kind"), "check that this customer may give the consent"),
}


def refusal(
    target: Target, oauth: OAuth, client: OAuthClient, refused: TokenRefused, *, by_tpp: bool
) -> AuthenticationError:
    """Explain a refusal of an endpoint by a line of the target file."""
    section, noun = place(target, by_tpp=by_tpp), ENDPOINTS[refused.key]
    error = refused.error
    if not error and refused.status == UNAUTHORIZED:
        error = "invalid_client"
    if error in ABOUT:
        keys, hint = ABOUT[error]
        at = (*section, next((each for each in keys if _has(oauth, client, each)), "kind"))
        what = f"the {noun} refuses ({refused.error or refused.status})"
        party_lost = by_tpp if error in CLIENT_ERRORS else None
        return AuthenticationError(
            problem(target, *at, what=what, hint=hint), party_lost=party_lost
        )
    at = (*section, refused.key)
    if refused.failed:
        what = f"the {noun} failed ({refused.why or refused.status})"
        return AuthenticationError(problem(target, *at, what=what, hint="the endpoint may be down"))
    what = f"this is not a {noun}: {refused.why or f'it answers {refused.status}'}"
    hint = "check the whole URL"
    return AuthenticationError(problem(target, *at, what=what, hint=hint), party_lost=by_tpp)


def _has(oauth: OAuth, client: OAuthClient, key: str) -> bool:
    """Whether a key is in the target file, and its value was sent."""
    if client.made and key.startswith(("client_id", "client_secret")):
        return False
    return key == "kind" or bool(getattr(oauth, key))
