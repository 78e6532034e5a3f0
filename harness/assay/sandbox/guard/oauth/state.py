"""What the authorization server remembers: clients, customers, codes and tokens.

State and nothing else. Time is that of worlds: a customer's token lives by the clock of
the customer's world, a provider's by its own's. What a token stands for is the token
that the bank behind gave, and knows.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from secrets import token_urlsafe
from threading import RLock
from typing import Literal, TypeAlias, TypeVar

from assay.sandbox.guard.middleware import ApiScope
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

#: Where a customer stands at the screens.
Step: TypeAlias = Literal["password", "factor", "code", "confirm"]

#: How long what is issued lives; providers' tokens are those of `pisp`.
LIFETIMES: Mapping[ApiScope, timedelta] = {
    "aisp": timedelta(seconds=900),
    "pisp": timedelta(seconds=3600),
}
#: How long the customer's permission lasts, and a code until it is exchanged.
_REFRESHES = timedelta(days=180)
_CODE = timedelta(minutes=10)
_WORLDS, _SESSIONS, _ISSUED = 10_000, 1_000, 100_000

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginCustomer:
    """A customer, as far as logging in needs them."""

    world: str
    #: The bank's own token, never shown to third parties here.
    token: str
    login: str
    password: str
    segment: Segment
    factors: Mapping[Factor, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A third party, by what it is known to the authorization server."""

    id: str
    secret: str
    world: str
    #: The bank's own token of this provider.
    token: str

    def may_ask(self, customer: LoginCustomer) -> bool:
        """Ask customers of its own world; those of the demo world, customers of any."""
        return self.world in (DEMO, customer.world)


@dataclass(slots=True, kw_only=True)
class KnownWorld:
    """A world, as far as it is known here."""

    now: datetime
    logins: list[str] = field(default_factory=list[str])
    clients: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRequest:
    """What a third party asks of a customer."""

    client: Client
    redirect: str
    state: str | None
    #: The digest of a secret that only the asking party knows (PKCE).
    challenge: str | None


@dataclass(slots=True, kw_only=True)
class LoginSession:
    """A customer in front of the screens."""

    #: The unguessable part of the URL; another one after the password.
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
    #: What it was exchanged for; set once.
    refresh: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What an access token or a refresh token stands for."""

    client: str
    world: str
    #: The token of the bank behind.
    token: str
    scope: ApiScope
    expires: datetime
    #: The refresh token that it belongs to, and ends with.
    refresh: str | None = None


@dataclass(slots=True)
class OAuthStore:
    """Everything; hold `lock` while working on it."""

    lock: RLock = field(default_factory=RLock)
    worlds: OrderedDict[str, KnownWorld] = field(default_factory=OrderedDict[str, KnownWorld])
    customers: dict[str, LoginCustomer] = field(default_factory=dict[str, LoginCustomer])
    clients: dict[str, Client] = field(default_factory=dict[str, Client])
    sessions: OrderedDict[str, LoginSession] = field(default_factory=OrderedDict[str, LoginSession])
    codes: OrderedDict[str, Code] = field(default_factory=OrderedDict[str, Code])
    tokens: OrderedDict[str, Access] = field(default_factory=OrderedDict[str, Access])
    refreshes: OrderedDict[str, Access] = field(default_factory=OrderedDict[str, Access])

    def open(self, world: str, now: datetime) -> None:
        """Get to know a world; the oldest make room."""
        self.worlds[world] = KnownWorld(now=now)
        while len(self.worlds) > _WORLDS:
            self.close(next(old for old in self.worlds if old != DEMO))

    def close(self, world: str) -> None:
        """Forget a world; its tokens are worth nothing any more."""
        known = self.worlds.pop(world, None)
        if known is not None:
            for login in known.logins:
                self.customers.pop(login, None)
            for client in known.clients:
                self.clients.pop(client, None)

    def welcome(self, customer: LoginCustomer) -> None:
        """Get to know a customer of a known world."""
        self.customers[customer.login] = customer
        self.worlds[customer.world].logins.append(customer.login)

    def register(self, client: Client) -> None:
        """Get to know a third party of a known world."""
        self.clients[client.id] = client
        self.worlds[client.world].clients.append(client.id)

    def now(self, world: str) -> datetime | None:
        """Tell the time of a world; None when there is none of this name."""
        known = self.worlds.get(world)
        return known.now if known else None

    def renew_key(self, session: LoginSession) -> None:
        """Give a sitting a new key; the former one opens nothing any more."""
        self.sessions.pop(session.key, None)
        session.key = _keep(self.sessions, session, _SESSIONS)

    def permit(self, request: AuthorizationRequest, customer: LoginCustomer, now: datetime) -> str:
        """Issue a code."""
        return _keep(
            self.codes, Code(request=request, customer=customer, expires=now + _CODE), _ISSUED
        )

    def keep_permission(self, client: Client, customer: LoginCustomer, now: datetime) -> str:
        """Issue a refresh token."""
        lasting = Access(
            client=client.id,
            world=customer.world,
            token=customer.token,
            scope="aisp",
            expires=now + _REFRESHES,
        )
        return _keep(self.refreshes, lasting, _ISSUED)

    def issue(self, access: Access) -> str:
        """Issue an access token."""
        return _keep(self.tokens, access, _ISSUED)

    def is_valid(self, access: Access | None) -> bool:
        """Whether a token is good now, and belongs to a permission that was not withdrawn."""
        now = self.now(access.world) if access else None
        if access is None or now is None or now >= access.expires:
            return False
        return access.refresh is None or access.refresh in self.refreshes

    def withdraw(self, refresh: str) -> None:
        """End a permission, and all tokens with it."""
        self.refreshes.pop(refresh, None)


def _keep(where: OrderedDict[str, _T], what: _T, most: int) -> str:
    """Keep something under a new key; the oldest make room."""
    key = token_urlsafe(24)
    where[key] = what
    while len(where) > most:
        where.popitem(last=False)
    return key
