"""The OAuth tokens of a run: requested when needed, kept, and renewed in time.

A token belongs to a customer, or to a TPP itself. It is renewed before it expires by
the target's clock: with its refresh token, and if that is refused by asking the
customer again. No refused request is repeated: the endpoint's answer about a client is
final.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from assay.binding.encode import Access
from assay.binding.security import ISSUING
from assay.binding.target import AuthKind, OAuth, Target
from assay.errors import CannotArrange, TargetError
from assay.transport.auth.authorization_code import AuthorizationCode, SignIn, request_code
from assay.transport.auth.diagnostics import AuthenticationError, place, problem, refusal
from assay.transport.auth.token_endpoint import Grant, OAuthClient, TokenRefused, ask, renewable
from assay.transport.protocol import Transport

__all__ = ["TokenRequest", "TokenStore"]

#: The most tokens that are kept: fixtures end, and their customers with them.
MOST = 1000

_Key: TypeAlias = tuple[bool, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """Who needs a token, and what it takes to get one.

    `who` is the customer, `provider` the TPP's credentials as the fixture created them.
    `now` is the target's clock; `sign_in` takes the customer through the screens.
    `named` says that it is a certain one of several TPPs.
    """

    by_provider: bool
    who: Access
    provider: Callable[[], Access]
    now: datetime
    sign_in: SignIn
    named: bool = False


@dataclass(slots=True, kw_only=True)
class TokenStore:
    """The tokens of a run. `carrier` is the transport to the endpoints."""

    target: Target
    transport: Transport
    secrets: Mapping[str, str]
    granted: OrderedDict[_Key, Grant] = field(default_factory=OrderedDict[_Key, Grant])
    refused: dict[tuple[bool, str], AuthenticationError] = field(
        default_factory=dict[tuple[bool, str], AuthenticationError]
    )
    #: The parties to whom a token was ever issued.
    served: set[bool] = field(default_factory=set[bool])

    def issues(self, *, by_provider: bool) -> bool:
        """Whether the tokens of a party are requested by this store."""
        return self.target.auth.of(by_provider=by_provider).kind in ISSUING

    def token(self, asked: TokenRequest) -> str:
        """Return a token that is valid now.

        Raises:
            CannotArrange: there is no signer for the screens, or the target file does not say
                how this party authenticates.
            AuthenticationError: the endpoint, or the customer's bank, refuses.

        """
        party = asked.by_provider
        said, client = self._said(asked)
        about = (party, client.id)
        who = "" if party else "\n".join((asked.who.id or "", asked.who.login or ""))
        key = (*about, who)
        held = self.granted.get(key)
        if held and held.good(asked.now):
            self.granted.move_to_end(key)
            return held.token
        if about in self.refused:
            raise self.refused[about]
        try:
            grant = self._renewed(said, client, held, asked) or self._new(said, client, asked)
        except AuthenticationError as error:
            if error.hopeless is not None and party not in self.served:
                self.refused[about] = error
                raise
            raise AuthenticationError(error.problem) from None
        self.served.add(party)
        self.granted[key] = grant
        while len(self.granted) > MOST:
            self.granted.popitem(last=False)
        return grant.token

    def _said(self, asked: TokenRequest) -> tuple[OAuth, OAuthClient]:
        """Return the target file's settings of a party, and its client credentials."""
        auth = self.target.auth.of(by_provider=asked.by_provider)
        said = auth.oauth
        if said is None or (asked.by_provider and auth.kind is AuthKind.CODE):
            # No customer consents to what a TPP does for itself.
            what = "authentication of the TPP's own calls (set `auth.provider` in the target file)"
            raise CannotArrange(what, key=("auth", "provider"))
        return said, self._client(said, asked)

    def _client(self, said: OAuth, asked: TokenRequest) -> OAuthClient:
        id_ = said.client_id
        if said.client_id_env:
            id_ = self.secrets[said.client_id_env]
        if asked.by_provider or asked.named or not id_:
            made = asked.provider()
            if made.client_id:
                return OAuthClient(id=made.client_id, secret=made.client_secret, made=True)
            if asked.named and id_:
                raise CannotArrange(
                    "OAuth clients created by a control API"
                    " (set `fixtures.kind` to `control` in the target file)"
                )
        if id_:
            secret = self.secrets[said.client_secret_env] if said.client_secret_env else None
            return OAuthClient(id=id_, secret=secret)
        section = place(self.target, by_provider=asked.by_provider)
        what = "client_id is missing: neither the target file nor the fixture provider has one"
        hint = "add client_id, or client_id_env"
        found = problem(self.target, *section, what=what, hint=hint)
        raise AuthenticationError(found, hopeless=asked.by_provider)

    def _renewed(
        self, said: OAuth, client: OAuthClient, held: Grant | None, asked: TokenRequest
    ) -> Grant | None:
        """Request a token without the customer, where there was one before."""
        refresh = renewable(held, asked.now)
        if refresh is None:
            return None
        told = self._ask(said, client, "refresh_token", asked, refresh_token=refresh)
        if isinstance(told, Grant):
            # An endpoint that returns no other refresh token leaves the old one valid.
            return told if told.refresh else replace(told, refresh=refresh)
        return None

    def _new(self, said: OAuth, client: OAuthClient, asked: TokenRequest) -> Grant:
        kind = self.target.auth.of(by_provider=asked.by_provider).kind
        if kind is AuthKind.CLIENT:
            form = {"scope": said.scope} if said.scope else {}
            told = self._ask(said, client, "client_credentials", asked, **form)
        else:
            section = place(self.target, by_provider=asked.by_provider)
            agreed = self._agreed(section, said, client, asked)
            form = {"code": agreed.code, "redirect_uri": said.redirect_uri}
            if agreed.verifier:
                form["code_verifier"] = agreed.verifier
            told = self._ask(said, client, "authorization_code", asked, **form)
        if isinstance(told, TokenRefused):
            raise refusal(self.target, said, client, told, by_provider=asked.by_provider)
        return told

    def _agreed(
        self, section: tuple[str, ...], said: OAuth, client: OAuthClient, asked: TokenRequest
    ) -> AuthorizationCode:
        try:
            return request_code(self.target, section, said, client, asked.sign_in)
        except AuthenticationError as error:
            lost = asked.by_provider if error.nowhere else error.hopeless
            raise AuthenticationError(error.problem, hopeless=lost) from None
        except TargetError as error:
            what = f"the screens cannot be reached: {error}"
            found = problem(self.target, *section, "authorize_url", what=what)
            raise AuthenticationError(found, hopeless=asked.by_provider) from None

    def _ask(
        self, said: OAuth, client: OAuthClient, grant: str, asked: TokenRequest, **form: str
    ) -> Grant | TokenRefused:
        try:
            return ask(self.transport, said, client, grant, asked.now, **form)
        except AuthenticationError as error:
            raise AuthenticationError(error.problem, hopeless=asked.by_provider) from None
        except TargetError as error:
            section = place(self.target, by_provider=asked.by_provider)
            what = f"the token endpoint cannot be reached: {error}"
            found = problem(self.target, *section, "token_url", what=what)
            raise AuthenticationError(found, hopeless=asked.by_provider) from None
