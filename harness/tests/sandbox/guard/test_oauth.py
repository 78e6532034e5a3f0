"""OAuth2: how a TPP gets a token, what it grants, and which requests are refused."""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import for_each

from assay.sandbox.app import make_app
from assay.sandbox.dialects import DIALECTS
from assay.sandbox.guard import guarded
from assay.sandbox.guard.oauth import demo_accounts, learn_from_control, register_demo
from assay.sandbox.guard.oauth.requests import is_allowed_redirect, with_parameters
from assay.sandbox.guard.oauth.state import AuthorizationRequest, LoginSession, OAuthStore

CONTROL = "/assay-control/1"
BACK = "https://tpp.example/back?flow=17&x=%C3%A9"
DEMO = {"client_id": "demo-tpp", "client_secret": "demo-tpp-secret"}
VERIFIER = "v" * 50
CHALLENGE = urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


class Page(HTMLParser):
    """The form of a page, the names of its fields, and its text."""

    def __init__(self, text):
        super().__init__()
        self.screen = self.action = self.name = None
        self.fields, self.text = {}, ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "main":
            self.name = given["data-page"]
        elif tag == "form":
            self.screen, self.action = given["data-screen"], given["action"]
        elif tag in ("input", "button") and "name" in given:
            self.fields.setdefault(given["name"], []).append(given.get("value", ""))

    def handle_data(self, data):
        self.text += data


@dataclass(kw_only=True)
class Flow:
    """A world with one customer and one TPP, and the flows to tokens for both."""

    http: httpx.Client
    world: dict = field(init=False)
    guest: dict = field(init=False)
    tpp: dict = field(init=False)

    def __post_init__(self):
        self.world = self.http.post(f"{CONTROL}/worlds").json()
        self.guest = self.control(
            "customers", holdings=[{"resource": "account", "count": 7, "entries": []}]
        )
        self.tpp = self.control("tpps")

    def control(self, path, **content):
        url = f"{CONTROL}/worlds/{self.world['world']}/{path}"
        return self.http.post(url, json=content).json()

    @property
    def client(self):
        return {name: self.tpp[name] for name in ("client_id", "client_secret")}

    def ask(self, **changes):
        """Send an authorization request; parameters that are None are omitted."""
        asked = {
            "response_type": "code",
            "client_id": self.tpp["client_id"],
            "redirect_uri": BACK,
            "scope": "aisp",
            "state": "a b&c=ü",
            **changes,
        }
        given = {name: value for name, value in asked.items() if value is not None}
        return self.http.get("/oauth/authorize", params=given)

    def fill(self, screen, factor="sms", decision="confirm"):
        return {
            "password": {"login": self.guest["login"], "password": self.guest["password"]},
            "factor": {"factor": factor},
            "code": {"code": self.guest["factors"][factor]},
            "confirm": {"decision": decision},
        }[screen]

    def walk(self, answer, to=None, **how):
        """Fill in one screen after the other, up to a given one or to the end."""
        while answer.status_code == 200 and Page(answer.text).screen != to:
            page = Page(answer.text)
            answer = self.http.post(page.action, data=self.fill(page.screen, **how))
        return answer

    def code(self, **changes):
        answer = self.walk(self.ask(**changes))
        return sent_back(answer)["code"]

    def token(self, **form):
        given = {name: value for name, value in (self.client | form).items() if value is not None}
        return self.http.post("/oauth/token", data=given)

    def exchange(self, code, **form):
        given = {"redirect_uri": BACK, **form}
        return self.token(grant_type="authorization_code", code=code, **given)

    def accounts(self, token, path="/accounts"):
        headers = {"Authorization": f"Bearer {token}", "PSU-IP-Address": "192.0.2.7"}
        return self.http.get(path, headers=headers)

    def at(self, moment):
        return self.control("clock", to=f"2026-09-{moment}+02:00")


def sent_back(answer):
    """Return the parameters of a redirection; each occurs once."""
    assert answer.status_code == 303, answer.text
    assert answer.headers["Location"].startswith(f"{BACK}&")
    brought = parse_qsl(answer.headers["Location"].removeprefix(f"{BACK}&"))
    assert len(dict(brought)) == len(brought)
    return dict(brought)


@pytest.fixture
def flow(demand):
    return Flow(http=demand(oauth=True))


def refused(answer, status, why):
    assert (status, why) == (answer.status_code, answer.json()["error"])
    assert "no-store" == answer.headers["Cache-Control"]


@pytest.mark.parametrize("factor", ["sms", "cap", "soft-token"])
def test_a_customer_permits(flow, factor):
    """Password, factor, code and decision; then a code, a token, and the accounts."""
    answer, seen = flow.ask(), []
    while answer.status_code == 200:
        page = Page(answer.text)
        seen.append((page.screen, page.name, sorted(page.fields)))
        answer = flow.http.post(page.action, data=flow.fill(page.screen, factor))
    assert [
        ("password", "password", ["login", "password"]),
        ("factor", "factor", ["factor"]),
        ("code", "code", ["code"]),
        ("confirm", "confirm", ["decision"]),
    ] == seen
    back = sent_back(answer)
    assert ["code", "state"] == list(back)
    assert "a b&c=ü" == back["state"]
    answer = flow.exchange(back["code"])
    assert "no-store" == answer.headers["Cache-Control"]
    token = answer.json()
    assert ("Bearer", 900, "aisp") == (token["token_type"], token["expires_in"], token["scope"])
    assert 5 == len(flow.accounts(token["access_token"]).json()["accounts"])


def test_a_customer_refuses(flow):
    """A refusal is reported to the TPP, with the state and without a code."""
    back = sent_back(flow.walk(flow.ask(), decision="refuse"))
    assert {"error": "access_denied", "state": "a b&c=ü"} == back
    back = sent_back(flow.walk(flow.ask(state=None), decision="refuse"))
    assert {"error": "access_denied"} == back


def test_wrong_entries(flow):
    """Three wrong entries end the session; a wrong choice shows the screen again."""
    page = Page(flow.ask().text)
    for _ in range(2):
        again = flow.http.post(page.action, data={"login": flow.guest["login"], "password": "x"})
        assert ("password", 200) == (Page(again.text).screen, again.status_code)
    assert "access_denied" == sent_back(flow.http.post(page.action, data={}))["error"]
    assert 404 == flow.http.get(page.action).status_code
    page = Page(flow.walk(flow.ask(), to="factor").text)
    again = Page(flow.http.post(page.action, data={"factor": "email"}).text)
    assert ("factor", True) == (again.screen, "Please choose" in again.text)
    page = Page(flow.walk(flow.ask(), to="code").text)
    assert "code" == Page(flow.http.post(page.action, data={"code": "000"}).text).screen
    page = Page(flow.walk(flow.ask(), to="confirm").text)
    assert "confirm" == Page(flow.http.post(page.action, data={"decision": "?"}).text).screen


def test_the_key_changes_with_the_password(flow):
    """The key of the first screen does not work after the login."""
    first = Page(flow.ask().text)
    second = Page(flow.http.post(first.action, data=flow.fill("password")).text)
    assert first.action != second.action
    assert 404 == flow.http.get(first.action).status_code
    assert "factor" == Page(flow.http.get(second.action).text).screen


def test_customers_of_other_worlds(flow):
    """A world's TPP can ask its customers; a demo TPP, those of every world."""
    stranger = Flow(http=flow.http)
    page = Page(flow.ask().text)
    assert (
        "password" == Page(flow.http.post(page.action, data=stranger.fill("password")).text).screen
    )
    code = stranger.code(client_id="demo-tpp")
    token = stranger.exchange(code, **DEMO).json()["access_token"]
    wanted = {holding["key"] for holding in stranger.guest["holdings"]}
    ibans = set(re.findall(r"FR\d{25}", stranger.accounts(token).text))
    assert ibans
    assert ibans <= wanted


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"scope": "pisp"}, "invalid_scope"),
        ({"scope": "aisp pisp"}, "invalid_scope"),
        ({"code_challenge": CHALLENGE}, "invalid_request"),
        ({"code_challenge": CHALLENGE, "code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": "short", "code_challenge_method": "S256"}, "invalid_request"),
        ({"code_challenge_method": "S256"}, "invalid_request"),
    ],
)
def test_questions_that_cannot_be_asked(flow, changes, why):
    """An invalid request is reported to the TPP before any login."""
    assert {"error": why, "state": "a b&c=ü"} == sent_back(flow.ask(**changes))


def test_a_state_too_long_is_not_echoed(flow):
    """A state that is too long is not returned."""
    assert {"error": "invalid_request"} == sent_back(flow.ask(state="x" * 2001))


@pytest.mark.parametrize(
    "uri",
    [
        "https://evil.example/",
        "//evil.example/",
        "https://tpp.example.evil.example/",
        "https://tpp.example@evil.example/",
        "https://evil.example\\@tpp.example/",
        "https://evil.example#@tpp.example/",
        "https://tpp.example/#fragment",
        "https://tpp.example/\r\nSet-Cookie: a=b",
        "javascript:alert(1)",
        "data:text/html,x",
        "http://127.0.0.1.evil.example/",
        "http://[::1/",
        "http://localhost:99999/",
        "https://[1.2.3.4]/",
        "/back",
        "",
        None,
    ],
)
@pytest.mark.parametrize("changes", [{}, {"scope": "wrong"}])
def test_nobody_is_led_astray(flow, uri, changes):
    """Customers are never redirected to an unregistered place, not even with an error."""
    answer = flow.ask(redirect_uri=uri, **changes)
    assert (400, "unfit") == (answer.status_code, Page(answer.text).name)
    assert "Location" not in answer.headers


def test_who_asks_must_be_known(flow):
    """A request of an unknown client, or with repeated parameters, is not redirected."""
    assert 400 == flow.ask(client_id="nobody").status_code
    assert 400 == flow.ask(client_id=None).status_code
    twice = (
        "/oauth/authorize?client_id=demo-tpp&client_id=demo-tpp&redirect_uri=https://tpp.example/"
    )
    assert 400 == flow.http.get(twice).status_code


@for_each(
    "uri",
    [
        "https://tpp.example/",
        "http://tpp.example:8080/back",
        "http://127.0.0.1:1/x?y",
        "http://[::1]/",
        "https://localhost",
    ],
)
def test_places_to_return_to(uri):
    """The TPP of the examples and this machine are always registered."""
    assert is_allowed_redirect(uri, ())
    assert (
        with_parameters(uri, {"code": "1", "state": None})
        == uri + ("&" if "?" in uri else "?") + "code=1"
    )


def test_registered_places(demand):
    """Another place is allowed if the whole URI is registered."""
    flow = Flow(http=demand(oauth=True, redirects=["https://other.example/back"]))
    assert 200 == flow.ask(redirect_uri="https://other.example/back").status_code
    assert 400 == flow.ask(redirect_uri="https://other.example/back/2").status_code


def test_a_code_is_good_once(flow):
    """A code used twice is refused, and its tokens are withdrawn."""
    code = flow.code()
    token = flow.exchange(code).json()
    assert 200 == flow.accounts(token["access_token"]).status_code
    refused(flow.exchange(code), 400, "invalid_grant")
    assert 401 == flow.accounts(token["access_token"]).status_code
    again = flow.token(grant_type="refresh_token", refresh_token=token["refresh_token"])
    refused(again, 400, "invalid_grant")


def test_codes_that_open_nothing(flow):
    """A code is bound to its client and redirect URI, and valid for ten minutes."""
    refused(flow.exchange("unknown"), 400, "invalid_grant")
    refused(flow.exchange(None), 400, "invalid_grant")
    code = flow.code()
    refused(flow.exchange(code, redirect_uri="https://tpp.example/"), 400, "invalid_grant")
    refused(flow.exchange(code, redirect_uri=None), 400, "invalid_grant")
    refused(flow.exchange(code, **DEMO), 400, "invalid_grant")
    refused(flow.exchange(code, scope="pisp"), 400, "invalid_scope")
    refused(flow.exchange(code, code_verifier=VERIFIER), 400, "invalid_grant")
    flow.at("16T10:10:00")
    refused(flow.exchange(code), 400, "invalid_grant")


def test_proof_of_the_code(flow):
    """With PKCE, only the right verifier exchanges the code."""
    code = flow.code(code_challenge=CHALLENGE, code_challenge_method="S256")
    refused(flow.exchange(code), 400, "invalid_grant")
    refused(flow.exchange(code, code_verifier="w" * 50), 400, "invalid_grant")
    assert 200 == flow.exchange(code, code_verifier=VERIFIER).status_code


def test_tokens_live_by_the_worlds_clock(flow):
    """A customer's token expires after 900 s and can be refreshed."""
    token = flow.exchange(flow.code()).json()
    flow.at("16T10:14:59")
    assert 200 == flow.accounts(token["access_token"]).status_code
    flow.at("16T10:15:00")
    over = flow.accounts(token["access_token"])
    assert 401 == over.status_code
    assert 'Bearer error="invalid_token"' == over.headers["WWW-Authenticate"]
    refresh = {"grant_type": "refresh_token", "refresh_token": token["refresh_token"]}
    new = flow.token(**refresh).json()
    assert token["refresh_token"] == new["refresh_token"]
    assert 200 == flow.accounts(new["access_token"]).status_code
    refused(flow.token(**refresh, scope="pisp"), 400, "invalid_scope")
    refused(flow.token(**refresh, **DEMO), 400, "invalid_grant")
    flow.control("clock", to="2027-03-15T10:15:00+01:00")
    refused(flow.token(**refresh), 400, "invalid_grant")


def test_a_tpps_token(flow):
    """A client's own token allows payments for an hour, in the world of its TPP."""
    granted = flow.token(grant_type="client_credentials", scope="pisp").json()
    assert "refresh_token" not in granted
    assert ("Bearer", 3600, "pisp") == (
        granted["token_type"],
        granted["expires_in"],
        granted["scope"],
    )
    headers = {"Authorization": f"Bearer {granted['access_token']}"}
    body = {
        "paymentType": "immediate",
        "debtorAccount": flow.guest["holdings"][0]["key"],
        "creditorAccount": "FR7630006000011234567890189",
        "amount": "12.30",
        "currency": "EUR",
        "chargeBearer": "SLEV",
        "categoryPurpose": "DVPM",
        "successfulReportUrl": "https://tpp.example/yes",
    }
    made = flow.http.post("/payment-requests", json=body, headers=headers)
    assert 201 == made.status_code, made.text
    signed = f"payments/{made.json()['paymentRequestResourceId']}/sign"
    payment = flow.control(
        signed, customer=flow.guest["customer"], factor="sms", decision="confirm"
    )
    assert "executed" == payment["status"]
    flow.at("16T10:59:59")
    assert 400 == flow.http.post("/payment-requests", json={}, headers=headers).status_code
    flow.at("16T11:00:00")
    assert 401 == flow.http.post("/payment-requests", json={}, headers=headers).status_code


@for_each("dialect", ["own", "stet"])
def test_each_half_has_its_scope(dialect):
    """Customers' tokens allow no payments, and TPPs' tokens no accounts, in each dialect."""
    app, base = make_app(), ""
    if dialect == "stet":
        app, base = DIALECTS["stet"](app), "/stet/psd2/v1"
    transport = httpx.WSGITransport(app=guarded(app, oauth=True))
    flow = Flow(http=httpx.Client(transport=transport, base_url="http://bank.test"))
    customers = flow.exchange(flow.code()).json()["access_token"]
    tpps = flow.token(grant_type="client_credentials").json()["access_token"]
    assert 200 == flow.accounts(customers, f"{base}/accounts").status_code
    assert 404 == flow.accounts(tpps, f"{base}/payment-requests/x").status_code
    for token, path, scope in (
        (customers, "/payment-requests/x", "pisp"),
        (tpps, "/accounts", "aisp"),
        (tpps, "/nowhere", "aisp"),
    ):
        answer = flow.accounts(token, base + path)
        assert 403 == answer.status_code
        says = f'Bearer error="insufficient_scope", scope="{scope}"'
        assert says == answer.headers["WWW-Authenticate"]


def test_the_banks_own_tokens_open_nothing(flow):
    """Tokens from the control API are refused, of customers and of TPPs."""
    for token in (flow.guest["token"], flow.tpp["token"], "demo-alice", "", "x"):
        for path in ("/accounts", "/payment-requests/x"):
            answer = flow.accounts(token, path)
            assert 401 == answer.status_code
            assert 'Bearer error="invalid_token"' == answer.headers["WWW-Authenticate"]


def test_no_token_is_the_banks_affair(flow):
    """Calls without a bearer token reach the bank, which refuses them itself."""
    answer = flow.http.get("/accounts")
    assert (401, "Bearer") == (answer.status_code, answer.headers["WWW-Authenticate"])
    assert "a customer's access token is required" == answer.json()["message"]
    own = (flow.guest["login"], flow.guest["password"])
    assert 401 == flow.http.get("/accounts", auth=own).status_code


def test_a_mutant_stays_what_it_is():
    """A bank that honours customers' credentials still does behind the middleware."""
    from assay.sandbox.mutants import MUTANTS  # noqa: PLC0415 -- the only one
    from assay.sandbox.policies import SOUND  # noqa: PLC0415

    change = next(
        mutant.change for mutant in MUTANTS if mutant.id == "credentials.basic-for-accounts"
    )
    transport = httpx.WSGITransport(app=guarded(make_app(change(SOUND)), oauth=True))
    flow = Flow(http=httpx.Client(transport=transport, base_url="http://bank.test"))
    own = (flow.guest["login"], flow.guest["password"])
    assert 200 == flow.http.get("/accounts", auth=own).status_code


def basic(name, secret):
    return {"Authorization": "Basic " + b64encode(f"{name}:{secret}".encode()).decode()}


def test_clients_prove_themselves(flow):
    """A secret works in the body or as HTTP Basic; a wrong one, or both at once, is refused."""
    form = {"grant_type": "client_credentials"}

    def ask(headers=None, **fields):
        return flow.http.post("/oauth/token", data={**form, **fields}, headers=headers)

    assert 200 == ask(**DEMO).status_code
    assert 200 == ask(basic("demo-tpp", "demo-tpp-secret")).status_code
    assert 200 == ask(basic("demo%2Dtpp", "demo-tpp-secret"), client_id="demo-tpp").status_code
    for wrong in (
        ask(),
        ask(client_id="demo-tpp"),
        ask(client_id="demo-tpp", client_secret="é"),
        ask(client_id="nobody", client_secret="demo-tpp-secret"),
        ask(basic("demo-tpp", "wrong")),
        ask({"Authorization": "Basic %%%"}),
        ask({"Authorization": "Bearer demo-tpp"}),
    ):
        refused(wrong, 401, "invalid_client")
        assert 'Basic realm="oauth"' == wrong.headers["WWW-Authenticate"]
    good = basic("demo-tpp", "demo-tpp-secret")
    refused(ask(good, client_secret="demo-tpp-secret"), 400, "invalid_request")
    refused(ask(good, client_id="demo-tpp-2"), 400, "invalid_request")


@pytest.mark.parametrize(
    ("name", "status"), [("client", 200), ("server", 401), ("seal-ec", 200), (None, 401)]
)
def test_a_certificate_proves_a_client(folder, name, status):
    """With the TPP's certificate in the connection, no secret is required."""
    app = guarded(make_app(), oauth=True)

    def connected(environ, start_response):
        shown = {"SSL_CLIENT_CERT": folder.certificate(name).read_text()} if name else {}
        return app(environ | shown, start_response)

    http = httpx.Client(transport=httpx.WSGITransport(app=connected), base_url="http://bank.test")
    form = {"grant_type": "client_credentials", "client_id": "PSDFR-ACPR-12345"}
    answer = http.post("/oauth/token", data=form, headers={"SSL-Client-Cert": "x"})
    assert status == answer.status_code
    wrong = http.post("/oauth/token", data={**form, "client_secret": "wrong"})
    assert 401 == wrong.status_code


def test_requests_for_tokens_that_do_not_read(flow):
    """A body that is no form, or an unknown grant, is refused with a reason."""
    refused(flow.token(), 400, "invalid_request")
    refused(flow.token(grant_type="password"), 400, "unsupported_grant_type")
    refused(flow.token(grant_type="client_credentials", scope="x"), 400, "invalid_scope")
    refused(flow.token(grant_type="client_credentials", scope="aisp"), 400, "invalid_scope")
    refused(flow.http.post("/oauth/token", json=DEMO), 400, "invalid_request")
    refused(flow.http.post("/oauth/token", data={"x": "y" * 70_000}), 400, "invalid_request")
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    many = {f"x{number}": "y" for number in range(60)}
    refused(flow.http.post("/oauth/token", data=many), 400, "invalid_request")
    twice = flow.http.post("/oauth/token", content=b"grant_type=x&grant_type=x", headers=form)
    refused(twice, 400, "invalid_request")
    assert 405 == flow.http.get("/oauth/token").status_code
    assert 405 == flow.http.head("/oauth/authorize").status_code
    assert 405 == flow.http.put("/oauth/screens/x").status_code
    assert 404 == flow.http.get("/oauth/").status_code


def test_what_the_control_api_tells(flow):
    """The control API offers clients and the server's paths; a closed world's tokens are void."""
    about = flow.http.get(f"{CONTROL}/").json()
    assert "clients" in about["capabilities"]
    assert {"authorize": "/oauth/authorize", "token": "/oauth/token"} == about["oauth"]
    assert ["tpp", "token", "client_id", "client_secret"] == list(flow.tpp)
    token = flow.exchange(flow.code()).json()["access_token"]
    assert 204 == flow.http.delete(f"{CONTROL}/worlds/{flow.world['world']}").status_code
    assert 401 == flow.accounts(token).status_code
    refused(flow.token(grant_type="client_credentials"), 401, "invalid_client")
    assert 404 == flow.http.post(f"{CONTROL}/worlds/w9/tpps").status_code


def test_the_document_tells_what_is_told(flow):
    """CONTROL.md shows the answer for a TPP in the second world that is opened."""
    text = files("assay.sandbox").joinpath("CONTROL.md").read_text(encoding="utf-8")
    shown = json.loads(re.search(r'\{"tpp":"p1",[^}]*"client_id"[^}]*\}', text)[0])
    assert {**shown, "client_id": f"{flow.world['world']}-p1"} == {
        **flow.tpp,
        "token": shown["token"],
        "client_secret": shown["client_secret"],
    }
    second = Flow(http=flow.http)
    assert "w2" == flow.world["world"] != second.world["world"]
    assert shown == flow.tpp


def test_the_demo_world_is_known(flow):
    """The customers and clients of the demo world are listed for people."""
    text = "\n".join(demo_accounts())
    flow.guest = {
        "login": "demo-c1",
        "password": re.search(r"demo-c1, password (\w+)", text)[1],
        "factors": {"sms": re.search(r"sms (\d+)", text)[1]},
    }
    assert "client_id demo-tpp, client_secret demo-tpp-secret" in text
    token = flow.exchange(flow.code(client_id="demo-tpp"), **DEMO).json()["access_token"]
    assert 200 == flow.accounts(token).status_code


def test_screens_keep_to_themselves(flow):
    """No screen can be framed, cached or submitted to another site."""
    answer = flow.ask(client_id="demo-tpp")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "form-action 'self' https://tpp.example;" in policy
    assert "frame-ancestors 'none'" in policy
    assert ("no-store", "no-referrer") == (
        answer.headers["Cache-Control"],
        answer.headers["Referrer-Policy"],
    )
    assert parse_qs(urlsplit(str(answer.request.url)).query)["state"][0] not in answer.text


def test_the_store_is_bounded():
    """The oldest worlds, sessions and tokens are removed; the demo world stays."""
    store = OAuthStore()
    register_demo(store)
    now = store.now("demo")
    client = store.clients["demo-tpp"]
    for number in range(10_001):
        store.open(f"w{number}", now)
    assert (10_000, None, now) == (len(store.worlds), store.now("w0"), store.now("demo"))
    assert store.now("w10000") == now
    request = AuthorizationRequest(client=client, redirect=BACK, state=None, challenge=None)
    first = LoginSession(request=request)
    store.renew_key(first)
    for _ in range(1_000):
        store.renew_key(LoginSession(request=request))
    assert 1_000 == len(store.sessions)
    assert first.key not in store.sessions
    store.close("nowhere")


def test_worlds_that_are_forgotten_here():
    """Answers about a removed world are ignored."""
    store = OAuthStore()
    environ = {"REQUEST_METHOD": "POST", "PATH_INFO": f"{CONTROL}/worlds/w1/tpps"}
    body = b'{"tpp":"p1","token":"x"}'
    assert body == learn_from_control(environ, 201, body, store)
    assert not store.clients


HTTP = httpx.Client(
    transport=httpx.WSGITransport(app=guarded(make_app(), oauth=True), raise_app_exceptions=True),
    base_url="http://bank.test",
)
junk = st.text(max_size=30) | st.sampled_from(
    ["demo-tpp", "demo-tpp-secret", "authorization_code", "client_credentials", "refresh_token",
     "code", "aisp", "pisp", BACK, "\x00", "\ud7ff", "%", "'\"<script>"]
)  # fmt: skip
names = st.sampled_from(
    ["client_id", "client_secret", "grant_type", "code", "redirect_uri", "scope", "state",
     "response_type", "code_challenge", "code_challenge_method", "refresh_token", "login", "x"]
)  # fmt: skip
forms = st.dictionaries(names, junk, max_size=8)


@given(forms, st.binary(max_size=40), junk)
def test_anything_is_answered_in_order(form, body, word):
    """Arbitrary requests never fail, and never get a token."""
    shown = {"Authorization": b"Basic " + b64encode(word.encode("utf-8", "replace"))}
    media = {"Content-Type": "application/x-www-form-urlencoded"}
    for answer in (
        HTTP.get("/oauth/authorize", params=form),
        HTTP.post("/oauth/token", data=form),
        HTTP.post("/oauth/token", content=body, headers=media | shown),
        HTTP.post("/oauth/screens/x", data=form),
        HTTP.get("/oauth/screens/" + body.hex() + "%00%ff"),
        HTTP.get("/accounts", headers={"Authorization": b"Bearer " + body.hex().encode()}),
    ):
        assert answer.status_code < 500
