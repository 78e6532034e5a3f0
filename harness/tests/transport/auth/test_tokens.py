"""Tokens: asked for once, renewed in time, and every refusal put down to its line."""

from __future__ import annotations

import json
import threading
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from assay.binding.model.target import Target
from assay.binding.wire.encode import Access, HttpRequest
from assay.errors import CannotArrange, TargetError
from assay.history import Ending, Wire
from assay.sca.protocol import ScreenFlowResult
from assay.transport.auth.diagnostics import AuthenticationError
from assay.transport.auth.tokens import TokenRequest, TokenStore
from assay.transport.protocol import Delivery, answered, unanswered

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
BACK = "https://tpp.example/cb"
TEXT = """\
assay: 1
target: t
transport: http
base_url: https://bank.example
auth:
  kind: authorization-code
  token_url: https://login.example/token
  authorize_url: https://login.example/authorize
  redirect_uri: https://tpp.example/cb
  client_id: our id
  client_secret_env: T_SECRET
  scope: aisp more
  pkce: true
  tpp:
    kind: client-credentials
    token_url: https://login.example/token
    client_id: our-own
    client_secret_env: T_OTHER
    client_auth: post
    scope: pisp
sca: {kind: forms, screens: [{login: login}]}
"""
SECRETS = {"T_SECRET": "hush&hush", "T_OTHER": "hushed"}
ALICE, BOB = Access(login="alice", password="hidden", id="c1"), Access(login="bob", password="b")


def token(name: str, **fields: Any) -> tuple[int, dict[str, Any]]:
    return 200, {"access_token": name, "token_type": "Bearer", "expires_in": 900, **fields}


def refused(error: str, status: int = 400) -> tuple[int, dict[str, Any]]:
    return status, {"error": error, "error_description": "hush&hush is wrong for alice"}


@dataclass
class Endpoint:
    """A token endpoint that gives its answers one after the other."""

    answers: list[Any]
    base_url: str = "https://bank.example"
    reached: bool = False
    asked: list[HttpRequest] = field(default_factory=list)

    def send(self, request: HttpRequest) -> Delivery:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            return unanswered(request, answer)
        status, body = answer
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return answered(request, status, (), raw, truncated=False)

    def control(self, method: str, path: str, body: object) -> tuple[int, Any]:
        raise AssertionError

    def close(self) -> None:
        raise AssertionError

    def forms(self) -> list[dict[str, str]]:
        return [dict(parse_qsl(one.body.decode())) for one in self.asked]


@dataclass
class Screens:
    """A customer who goes through the screens, and comes back with what `says` has of the link."""

    says: Callable[[dict[str, str]], str | None] = lambda asked: (
        f"{BACK}?code=c%20{asked['client_id'][:3]}&state={asked['state']}"
    )
    links: list[str] = field(default_factory=list)
    screens: tuple[str, ...] = ("login", "password")
    status: int = 303
    why: str = ""

    def __call__(self, link: str) -> ScreenFlowResult:
        self.links.append(link)
        asked = {name: one for name, (one,) in parse_qs(urlsplit(link).query).items()}
        return ScreenFlowResult(
            ending=Ending.CONFIRMED,
            wire=Wire(method="GET", url="", status=self.status),
            screens=list(self.screens),
            redirected=self.says(asked),
            why=self.why,
        )


@pytest.fixture
def token_store(read: Callable[[str], Target]) -> Callable[..., tuple[TokenStore, Endpoint]]:
    """Open a desk of a profile, in front of an endpoint with these answers."""

    def make(*answers: Any, text: str = TEXT) -> tuple[TokenStore, Endpoint]:
        endpoint = Endpoint(list(answers))
        return TokenStore(target=read(text), transport=endpoint, secrets=SECRETS), endpoint

    return make


def customer(
    who: Access = ALICE, now: datetime = NOW, sign_in: Any = None, **fields: Any
) -> TokenRequest:
    return TokenRequest(
        by_tpp=False,
        customer=who,
        tpp=fields.pop("tpp", Access),
        now=now,
        sign_in=sign_in or Screens(),
        **fields,
    )


def third_party(now: datetime = NOW, made: Access | None = None, **fields: Any) -> TokenRequest:
    return TokenRequest(
        by_tpp=True,
        customer=ALICE,
        tpp=lambda: made or Access(),
        now=now,
        sign_in=Screens(lambda _: pytest.fail("no customer is asked")),
        **fields,
    )


def told(token_store: TokenStore, asked: TokenRequest) -> AuthenticationError:
    """Ask in vain, and return what is said, in which nothing secret may stand."""
    with pytest.raises(AuthenticationError) as caught:
        token_store.token(asked)
    for secret in ("hush", "hidden", "alice", "c our", "c%20our"):
        assert secret not in str(caught.value)
    return caught.value


def test_a_code(token_store: Callable[..., tuple[TokenStore, Endpoint]]) -> None:
    """The customer agrees to what the profile asks; the code becomes a token, which is kept."""
    one, endpoint = token_store(token("t1"))
    screens = Screens()
    assert "t1" == one.token(customer(sign_in=screens))
    assert "t1" == one.token(customer(sign_in=screens, now=NOW + timedelta(minutes=14)))
    (link,) = screens.links
    assert link.startswith("https://login.example/authorize?response_type=code&")
    asked = {name: value for name, (value,) in parse_qs(urlsplit(link).query).items()}
    assert {"client_id": "our id", "redirect_uri": BACK, "scope": "aisp more"}.items() <= (
        asked.items()
    )
    assert "S256" == asked["code_challenge_method"]
    (form,) = endpoint.forms()
    assert ("authorization_code", "c our", BACK) == (
        form["grant_type"],
        form["code"],
        form["redirect_uri"],
    )
    from base64 import urlsafe_b64encode  # noqa: PLC0415
    from hashlib import sha256  # noqa: PLC0415

    digest = urlsafe_b64encode(sha256(form["code_verifier"].encode()).digest())
    assert asked["code_challenge"] == digest.rstrip(b"=").decode()
    assert "scope" not in form
    pair = b64encode(b"our+id:hush%26hush").decode()
    assert ("Authorization", f"Basic {pair}") in endpoint.asked[0].headers
    assert ("POST", "https://login.example/token") == (
        endpoint.asked[0].method,
        endpoint.asked[0].url,
    )


def test_threads_request_a_token_once(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """Of eight threads that need a customer's token at the same time, one requests it."""
    store, endpoint = token_store(token("first"))
    start = threading.Barrier(8)

    def needed(_: int) -> str:
        start.wait(timeout=10)
        return store.token(customer())

    with ThreadPoolExecutor(8) as threads:
        assert ["first"] * 8 == [*threads.map(needed, range(8))]
    assert 1 == len(endpoint.forms())


def test_every_customer_has_a_token_of_their_own(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """No customer's call is made with the token of another."""
    one, endpoint = token_store(token("t1"), token("t2"))
    tokens = [one.token(customer(who)) for who in (ALICE, BOB, ALICE, BOB)]
    assert ["t1", "t2", "t1", "t2"] == tokens
    assert 2 == len(endpoint.asked)


def test_each_bank_of_a_group_issues_its_own_tokens(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """At its own host, if the endpoints are at that of the first bank; all banks may have one elsewhere."""
    other, there = "https://second.example/psd2", TEXT.replace("login.example", "bank.example")
    for text, host in ((there, "second.example"), (TEXT, "login.example")):
        one, endpoint = token_store(*map(token, ("t1", "t2", "t3")), text=text)
        screens = Screens()
        assert "t1" == one.token(customer(sign_in=screens))
        assert "t2" == one.token(customer(sign_in=screens, base=other))
        assert "t3" == one.token(third_party(base=other))
        assert "t1" == one.token(customer(sign_in=screens))
        assert urlsplit(screens.links[1]).netloc == host
        assert [host, host] == [urlsplit(each.url).netloc for each in endpoint.asked[1:]]
        assert "/token" == urlsplit(endpoint.asked[1].url).path


def test_a_token_is_renewed_before_it_expires(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """By the target's clock, with the refresh token, and without the customer."""
    one, endpoint = token_store(token("t1", refresh_token="r1"), token("t2"), token("t3"))
    screens = Screens()
    minutes = (0, 14, 15, 29, 30)
    tokens = [one.token(customer(sign_in=screens, now=NOW + timedelta(minutes=n))) for n in minutes]
    assert ["t1", "t1", "t2", "t2", "t3"] == tokens
    assert 1 == len(screens.links)
    # Whoever gives no other refresh token means that the old one stays good.
    assert [
        {"grant_type": "refresh_token", "refresh_token": "r1"},
        {"grant_type": "refresh_token", "refresh_token": "r1"},
    ] == endpoint.forms()[1:]


def test_a_valid_token_is_renewed_on_request(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """The new token replaces the old one at once, for this customer only."""
    one, endpoint = token_store(token("t1"), token("t2", refresh_token="r1"), token("t3"))
    assert "t1" == one.token(customer(BOB))
    assert "t3" == one.renewed(customer())
    assert ["t3", "t1"] == [one.token(customer(who)) for who in (ALICE, BOB)]
    assert {"grant_type": "refresh_token", "refresh_token": "r1"} == endpoint.forms()[2]


def test_a_tpp_renews_its_token_by_another_request(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """Client credentials need no refresh token."""
    one, _ = token_store(token("t1"), token("t2"))
    assert ["t1", "t2", "t2"] == [
        one.token(third_party()),
        one.renewed(third_party()),
        one.token(third_party()),
    ]


@pytest.mark.parametrize(
    "answers",
    [
        [token("t1")],
        [token("t1", refresh_token="r1"), refused("invalid_grant")],
    ],
)
def test_no_customer_is_asked_again_for_a_renewal(
    token_store: Callable[..., tuple[TokenStore, Endpoint]], answers: list[Any]
) -> None:
    """Without a refresh token that works, the token stays as it is."""
    one, _ = token_store(*answers)
    screens = Screens()
    assert "t1" == one.token(customer(sign_in=screens))
    assert None is one.renewed(customer(sign_in=screens))
    assert "t1" == one.token(customer(sign_in=screens))
    assert 1 == len(screens.links)


def test_a_margin_is_kept(token_store: Callable[..., tuple[TokenStore, Endpoint]]) -> None:
    """Half a minute before its end a token is renewed, so that none expires on its way."""
    one, _ = token_store(token("t1", refresh_token="r1"), token("t2"))
    assert "t1" == one.token(customer())
    assert "t1" == one.token(customer(now=NOW + timedelta(seconds=869)))
    assert "t2" == one.token(customer(now=NOW + timedelta(seconds=870)))


def test_who_cannot_be_renewed_agrees_again(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """A refresh token that is not taken is not tried again: the customer signs in anew."""
    one, endpoint = token_store(
        token("t1", refresh_token="r1"), refused("invalid_grant"), token("t2")
    )
    screens = Screens()
    assert "t1" == one.token(customer(sign_in=screens))
    assert "t2" == one.token(customer(sign_in=screens, now=NOW + timedelta(hours=1)))
    grants = [one["grant_type"] for one in endpoint.forms()]
    assert ["authorization_code", "refresh_token", "authorization_code"] == grants
    assert 2 == len(screens.links)
    assert screens.links[0] != screens.links[1]


def test_a_clock_that_went_back(token_store: Callable[..., tuple[TokenStore, Endpoint]]) -> None:
    """In another world, where it is earlier, a token of later is not shown, nor renewed."""
    one, endpoint = token_store(token("t1", refresh_token="r1"), token("t2"))
    assert "t1" == one.token(customer())
    assert "t2" == one.token(customer(now=NOW - timedelta(days=1)))
    assert "authorization_code" == endpoint.forms()[1]["grant_type"]


@pytest.mark.parametrize("lifecycle", [None, 0, -5, "soon", True, [900], 10**20])
def test_a_life_that_is_none(
    token_store: Callable[..., tuple[TokenStore, Endpoint]], lifecycle: object
) -> None:
    """Where nobody says for how long, a token is shown until somebody refuses it."""
    one, _ = token_store(token("t1", expires_in=lifecycle))
    assert "t1" == one.token(customer())
    assert "t1" == one.token(customer(now=NOW + timedelta(days=400)))


def test_seconds_in_a_text(token_store: Callable[..., tuple[TokenStore, Endpoint]]) -> None:
    """A life that is spelt as a text is a life."""
    one, _ = token_store(token("t1", expires_in="60"), token("t2"))
    assert "t1" == one.token(customer())
    assert "t2" == one.token(customer(now=NOW + timedelta(minutes=1)))


def test_the_third_party_asks_for_itself(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """By client credentials, as `tpp` says, and for all customers alike."""
    one, endpoint = token_store(token("p1"))
    assert "p1" == one.token(third_party())
    assert "p1" == one.token(third_party(now=NOW + timedelta(minutes=5)))
    expected = {
        "grant_type": "client_credentials",
        "scope": "pisp",
        "client_id": "our-own",
        "client_secret": "hushed",
    }
    assert [expected] == endpoint.forms()
    assert "Authorization" not in dict(endpoint.asked[0].headers)


def test_a_bank_that_begins_anew_gives_a_token_for_each_trial(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """What an earlier trial was given is unknown to a bank that was reset since."""
    one, endpoint = token_store(token("p1"), token("p2"))
    given = [one.token(third_party(trial=name)) for name in ("first", "first", "second")]
    assert ["p1", "p1", "p2"] == given
    assert 2 == len(endpoint.asked)


def test_clients_of_the_worlds_making(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """A tpp that the world made asks with what the world gave it, and shares no token."""
    one, endpoint = token_store(token("p1"), token("p2"))
    made = [Access(client_id=f"w-{n}", client_secret=f"s-{n}") for n in (1, 2)]
    assert ["p1", "p2"] == [one.token(third_party(made=each)) for each in made]
    ids = [(form["client_id"], form["client_secret"]) for form in endpoint.forms()]
    assert [("w-1", "s-1"), ("w-2", "s-2")] == ids


def test_several_third_parties_take_several_clients(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """Two third parties are never played with one client."""
    one, _ = token_store()
    with pytest.raises(CannotArrange, match="OAuth clients created by a control API"):
        one.token(third_party(named=True))


def test_a_client_that_nobody_gives(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """With no client_id in the file and none from the world, the profile is told so."""
    lines = (line for line in TEXT.splitlines(keepends=True) if "our id" not in line)
    text = "".join(line for line in lines if "T_SECRET" not in line)
    one, endpoint = token_store(text=text)
    said = told(one, customer())
    assert "bank.yaml:5: auth: client_id is missing: neither the target file nor" in str(said)
    assert said.party_lost is False
    assert [] == endpoint.asked


def test_a_third_party_for_whom_nothing_is_said(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """A code is a customer's; with nothing said of the third party, it has no token."""
    text = TEXT.partition("  tpp:")[0] + TEXT[TEXT.index("sca:") :]
    one, _ = token_store(text=text)
    with pytest.raises(CannotArrange, match=r"auth\.tpp"):
        one.token(third_party())


@pytest.mark.parametrize(
    ("answer", "said", "lost"),
    [
        (
            refused("invalid_client", 401),
            "11: auth.client_secret_env: the token endpoint ref",
            True,
        ),
        ((401, b"hush"), "11: auth.client_secret_env: the token endpoint refuses (401)", True),
        (
            refused("unauthorized_client"),
            "10: auth.client_id: the token endpoint refuses (un",
            True,
        ),
        (refused("invalid_scope"), "12: auth.scope: the token endpoint refuses (invalid_sc", True),
        (refused("unsupported_grant_type"), "6: auth.kind: the token endpoint refuses (uns", True),
        (refused("invalid_grant"), "9: auth.redirect_uri: the token endpoint refuses (inva", False),
        (refused("invalid_request"), "auth.client_auth: the token endpoint refuses (inval", False),
        (refused("hush"), "7: auth.token_url: this is not a token endpoint: it answers 400", True),
        ((404, b"<html>"), "7: auth.token_url: this is not a token endpoint: it answers 404", True),
        (
            (200, b"<html>"),
            "auth.token_url: this is not a token endpoint: its answer has no ac",
            True,
        ),
        (
            (200, ["t"]),
            "auth.token_url: this is not a token endpoint: its answer has no access",
            True,
        ),
        (
            token("two\nlines"),
            "auth.token_url: this is not a token endpoint: its token cannot be s",
            True,
        ),
        (
            token("t" * 8193),
            "auth.token_url: this is not a token endpoint: its token cannot be s",
            True,
        ),
        (
            token("t", token_type="mac"),
            "7: auth.token_url: this is not a token endpoint: its t",
            True,
        ),
        (
            token("t", token_type=7),
            "7: auth.token_url: this is not a token endpoint: its token",
            True,
        ),
        (
            (503, b""),
            "7: auth.token_url: the token endpoint failed (503) (the endpoint may be down)",
            False,
        ),
        (
            "no complete answer within 10 s",
            "auth.token_url: the token endpoint failed (no com",
            False,
        ),
        (TargetError("cannot connect"), "7: auth.token_url: the token endpoint cannot be re", True),
    ],
)
def test_refusals(
    token_store: Callable[..., tuple[TokenStore, Endpoint]], answer: Any, said: str, lost: bool
) -> None:
    """Each refusal names its line; of what the endpoint says nothing is repeated."""
    one, _ = token_store(answer, token("t1"))
    error = told(one, customer())
    assert said in str(error)
    assert (False if lost else None) is error.party_lost


def test_what_was_said_of_a_client_stays_said(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """A client that was refused is not sent again, whoever the customer is."""
    one, endpoint = token_store(refused("invalid_client", 401), token("p1"))
    first = told(one, customer())
    screens = Screens()
    assert str(first) == str(told(one, customer(BOB, sign_in=screens)))
    assert ([], 1) == (screens.links, len(endpoint.asked))
    assert "p1" == one.token(third_party())


def test_nothing_is_lost_once_something_was_given(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """A refusal after tokens were given is no reason to give up, and is asked about again."""
    one, endpoint = token_store(token("t1"), refused("invalid_client", 401), token("t2"))
    assert "t1" == one.token(customer())
    assert told(one, customer(BOB)).party_lost is None
    assert "t2" == one.token(customer(BOB))
    assert 3 == len(endpoint.asked)


def back(query: str) -> Screens:
    return Screens(lambda asked: f"{BACK}?{query.replace('STATE', asked['state'])}")


@pytest.mark.parametrize(
    ("screens", "said"),
    [
        (
            back("code=hush&state=other"),
            "8: auth.authorize_url: the redirect has a different state",
        ),
        (back("code=hush"), "8: auth.authorize_url: the redirect has a different state than"),
        (back("code=hush&state=STATE&state=STATE"), "the redirect has a different state"),
        (
            back("error=access_denied&state=x"),
            "the redirect has a different state than the request",
        ),
        (back("state=STATE"), "8: auth.authorize_url: the redirect has no code"),
        (back("code=&state=STATE"), "8: auth.authorize_url: the redirect has no code"),
        (back("code=hush&code=a&state=STATE"), "auth.authorize_url: the redirect has no"),
        (back("error=invalid_scope&state=STATE"), "12: auth.scope: the bank refused the auth"),
        (back("error=access_denied&state=STATE"), "8: auth.authorize_url: the bank refused the"),
        (back("error=hush&state=STATE"), "authorization (not an error code of RFC 6749)"),
        (Screens(lambda _: "https://evil.example/cb?code=hush"), "9: auth.redirect_uri: the cust"),
        (Screens(lambda _: "https://tpp.example/cbx?code=hush"), "9: auth.redirect_uri: the cust"),
        (
            Screens(lambda _: None, status=400, screens=()),
            "8: auth.authorize_url: the bank shows no screens (400)",
        ),
        (
            Screens(lambda _: None, status=200, screens=(), why="no screen of the profile"),
            "21: sca.screens: no screen matches sca.screens (no screen of the profile)",
        ),
        (
            Screens(lambda _: None, status=200, why="the same screen was shown again"),
            "21: sca.screens: the screens did not lead to redirect_uri: the same screen was shown again (filled",
        ),
    ],
)
def test_screens_that_come_to_nothing(
    token_store: Callable[..., tuple[TokenStore, Endpoint]], screens: Screens, said: str
) -> None:
    """No code is used that did not come back where and as it should, and the line is named."""
    one, endpoint = token_store()
    error = told(one, customer(sign_in=screens))
    assert said in str(error)
    # What no customer was asked about is the same for all of them.
    same = "shows no screens" in said or "auth.scope" in said
    assert (False if same else None) is error.party_lost
    assert [] == endpoint.asked


def test_screens_that_cannot_be_reached(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """A login page with nobody there is told by its line, for all customers."""

    def dry_target(link: str) -> ScreenFlowResult:
        raise TargetError("cannot connect")

    one, _ = token_store()
    error = told(one, customer(sign_in=dry_target))
    assert "8: auth.authorize_url: the screens cannot be reached: cannot connect" in str(error)
    assert error.party_lost is False


def test_tokens_are_not_kept_for_ever(
    token_store: Callable[..., tuple[TokenStore, Endpoint]],
) -> None:
    """Worlds are left behind, and so are the tokens of their customers."""
    one, _ = token_store(*(token(f"t{n}") for n in range(1002)))
    for n in range(1002):
        one.token(customer(Access(login=f"c{n}", password="p")))
    assert 1000 == len(one.granted)
