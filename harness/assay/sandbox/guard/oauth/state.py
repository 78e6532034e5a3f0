"""State of the authorization server: clients, customers, sessions, codes and tokens.

Tokens expire by the clock of a world: a customer's token by the customer's world, a
TPP's token by the TPP's own. Each token issued here stands for a token of the bank.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from secrets import token_urlsafe
from threading import RLock
from typing import Literal, TypeAlias, TypeVar

from assay.sandbox.guard.calls import ApiScope
from assay.sandbox.payments.terms import Factor, Segment
from assay.sandbox.world import DEMO

__all__ = [
    "LIFETIMES",
    "Access",
    "AuthorizationRequest",
    "Client",
    "Code",
    "KnownWorld",
    "LoginCustomer",
    "LoginSession",
    "OAuthStore",
    "Step",
]

#: Current screen of a session.
Step: TypeAlias = Literal["password", "factor", "code", "confirm"]

#: Lifetimes of access tokens: of customers (`aisp`) and of TPPs (`pisp`).
LIFETIMES: Mapping[ApiScope, timedelta] = {
    "aisp": timedelta(seconds=900),
    "pisp": timedelta(seconds=3600),
}
#: Lifetimes of a refresh token and of a code.
_REFRESHES = timedelta(days=180)
_CODE = timedelta(minutes=10)
_WORLDS, _SESSIONS, _ISSUED = 10_000, 1_000, 100_000

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginCustomer:
    """A customer, as far as logging in requires."""

    world: str
    #: The bank's own token, never disclosed to TPPs.
    token: str
    login: str
    password: str
    segment: Segment
    factors: Mapping[Factor, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A TPP as a client of the authorization server."""

    id: str
    secret: str
    world: str
    #: The bank's own token of this TPP.
    token: str

    def may_ask(self, customer: LoginCustomer) -> bool:
        """Return whether the client may ask this customer: one of its world, or any for demo."""
        return self.world in (DEMO, customer.world)


@dataclass(slots=True, kw_only=True)
class KnownWorld:
    """A world, as far as the authorization server knows it."""

    now: datetime
    logins: list[str] = field(default_factory=list[str])
    clients: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRequest:
    """A TPP's request for a customer's permission."""

    client: Client
    redirect: str
    state: str | None
    #: The PKCE code challenge.
    challenge: str | None


@dataclass(slots=True, kw_only=True)
class LoginSession:
    """The progress of a customer through the screens."""

    #: The unguessable part of the URL; replaced after the password.
    key: str = ""
    request: AuthorizationRequest
    step: Step = "password"
    wrong: int = 0
    customer: LoginCustomer | None = None
    factor: Factor | None = None


@dataclass(slots=True, kw_only=True)
class Code:
    """A customer's permission, to be exchanged for tokens once."""

    request: AuthorizationRequest
    customer: LoginCustomer
    expires: datetime
    #: The refresh token issued for it; set once.
    refresh: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What an access token or a refresh token stands for."""

    client: str
    world: str
    #: The bank's own token.
    token: str
    scope: ApiScope
    expires: datetime
    #: The refresh token with which it was issued, and is withdrawn.
    refresh: str | None = None


@dataclass(slots=True)
class OAuthStore:
    """All state; hold `lock` while using it."""

    lock: RLock = field(default_factory=RLock)
    worlds: OrderedDict[str, KnownWorld] = field(default_factory=OrderedDict[str, KnownWorld])
    customers: dict[str, LoginCustomer] = field(default_factory=dict[str, LoginCustomer])
    clients: dict[str, Client] = field(default_factory=dict[str, Client])
    sessions: OrderedDict[str, LoginSession] = field(default_factory=OrderedDict[str, LoginSession])
    codes: OrderedDict[str, Code] = field(default_factory=OrderedDict[str, Code])
    tokens: OrderedDict[str, Access] = field(default_factory=OrderedDict[str, Access])
    refreshes: OrderedDict[str, Access] = field(default_factory=OrderedDict[str, Access])

    def open(self, world: str, now: datetime) -> None:
        """Register a world; the oldest is removed when there are too many."""
        self.worlds[world] = KnownWorld(now=now)
        while len(self.worlds) > _WORLDS:
            self.close(next(old for old in self.worlds if old != DEMO))

    def close(self, world: str) -> None:
        """Remove a world, which invalidates its tokens."""
        known = self.worlds.pop(world, None)
        if known is not None:
            for login in known.logins:
                self.customers.pop(login, None)
            for client in known.clients:
                self.clients.pop(client, None)

    def add_customer(self, customer: LoginCustomer) -> None:
        """Register a customer of a known world."""
        self.customers[customer.login] = customer
        self.worlds[customer.world].logins.append(customer.login)

    def add_client(self, client: Client) -> None:
        """Register a TPP of a known world."""
        self.clients[client.id] = client
        self.worlds[client.world].clients.append(client.id)

    def now(self, world: str) -> datetime | None:
        """Return the time of a world; None if it is unknown."""
        known = self.worlds.get(world)
        return known.now if known else None

    def renew_key(self, session: LoginSession) -> None:
        """Give a session a new key; the former one becomes invalid."""
        self.sessions.pop(session.key, None)
        session.key = _keep(self.sessions, session, _SESSIONS)

    def issue_code(
        self, request: AuthorizationRequest, customer: LoginCustomer, now: datetime
    ) -> str:
        """Issue a code."""
        return _keep(
            self.codes, Code(request=request, customer=customer, expires=now + _CODE), _ISSUED
        )

    def issue_refresh_token(self, client: Client, customer: LoginCustomer, now: datetime) -> str:
        """Issue a refresh token."""
        lasting = Access(
            client=client.id,
            world=customer.world,
            token=customer.token,
            scope="aisp",
            expires=now + _REFRESHES,
        )
        return _keep(self.refreshes, lasting, _ISSUED)

    def issue_access_token(self, access: Access) -> str:
        """Issue an access token."""
        return _keep(self.tokens, access, _ISSUED)

    def is_valid(self, access: Access | None) -> bool:
        """Return whether a token has not expired and was not withdrawn."""
        now = self.now(access.world) if access else None
        if access is None or now is None or now >= access.expires:
            return False
        return access.refresh is None or access.refresh in self.refreshes

    def withdraw(self, refresh: str) -> None:
        """Withdraw a permission with all its tokens."""
        self.refreshes.pop(refresh, None)


def _keep(where: OrderedDict[str, _T], what: _T, most: int) -> str:
    """Store an entry under a new key; the oldest is removed when there are too many."""
    key = token_urlsafe(24)
    where[key] = what
    while len(where) > most:
        where.popitem(last=False)
    return key
