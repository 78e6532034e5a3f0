"""Where the tokens of OAuth come from: asked for when needed, kept, renewed in time.

A token belongs to a customer, or to a third party for itself, and is renewed by the
target's clock before it expires: by its refresh token, and if that is not taken by the
customer once more. Nothing is asked twice: what the endpoint said of a client stays said.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from assay.binding.encode import Access
from assay.binding.target import AuthKind, OAuth, Target
from assay.errors import CannotArrange, TargetError
from assay.transport.auth.authorization_code import AuthorizationCode, SignIn, request_code
from assay.transport.auth.diagnostics import AuthenticationError, place, problem, refusal
from assay.transport.auth.token_endpoint import Grant, OAuthClient, TokenRefused, ask, renewable
from assay.transport.protocol import Transport

__all__ = ["TokenRequest", "TokenStore"]

#: So many tokens are kept: worlds are left behind, and their customers with them.
MOST = 1000
ISSUING = frozenset({AuthKind.CLIENT, AuthKind.CODE})

_Key: TypeAlias = tuple[bool, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """For whom a token is needed, and what it takes.

    `who` is the customer, `provider` gives the third party that calls, as the world made
    it. `now` is the target's clock; `sign_in` takes the customer through the screens.
    `named` says that it is a certain one of several third parties.
    """

    by_provider: bool
    who: Access
    provider: Callable[[], Access]
    now: datetime
    sign_in: SignIn
    named: bool = False


@dataclass(slots=True, kw_only=True)
class TokenStore:
    """The tokens of a run. `carrier` reaches the endpoints."""

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
        """Whether the tokens of a party come from here."""
        return self.target.auth.of(by_provider=by_provider).kind in ISSUING

    def token(self, asked: TokenRequest) -> str:
        """Return a token that is good now.

        Raises:
            CannotArrange: nobody can go through the screens, or the profile says nothing
                of this party.
            NoAccess: the endpoint, or the customer's bank, refuses.

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
        """Return what the profile says of a party, and as whom it asks."""
        auth = self.target.auth.of(by_provider=asked.by_provider)
        said = auth.oauth
        if said is None or (asked.by_provider and auth.kind is AuthKind.CODE):
            # No customer agrees to what a third party does for itself.
            what = "how the TPP's own calls are authenticated (auth.provider)"
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
                raise CannotArrange("clients of the world's making (world: control)")
        if id_:
            secret = self.secrets[said.client_secret_env] if said.client_secret_env else None
            return OAuthClient(id=id_, secret=secret)
        section = place(self.target, by_provider=asked.by_provider)
        what = "client_id is missing: neither the file nor the world gives one"
        hint = "add client_id, or client_id_env"
        found = problem(self.target, *section, what=what, hint=hint)
        raise AuthenticationError(found, hopeless=asked.by_provider)

    def _renewed(
        self, said: OAuth, client: OAuthClient, held: Grant | None, asked: TokenRequest
    ) -> Grant | None:
        """Ask without the customer, where there was a token before."""
        refresh = renewable(held, asked.now)
        if refresh is None:
            return None
        told = self._ask(said, client, "refresh_token", asked, refresh_token=refresh)
        if isinstance(told, Grant):
            # An endpoint that names no other means that the old one stays good.
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
