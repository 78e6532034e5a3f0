"""Whole trials in front of a bank that demands OAuth: earned verdicts, and whose fault it is."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from assay.binding.model.target import (
    Auth,
    AuthKind,
    ClientAuth,
    FixtureKind,
    Fixtures,
    OAuth,
    Role,
    RoleHolding,
    Signature,
    SignatureKind,
    Target,
)
from assay.contexts.context import Depth
from assay.contract.model import Capability
from assay.errors import Exit, TargetError
from assay.journal.writer import Journal
from assay.planning.plan import Disposition
from assay.preparation.prepare import Prepared, prepare
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.running.session import RunResult, Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.guard import guarded
from assay.sandbox.guard.certificates import CertificateFolder
from assay.sandbox.policies import SOUND
from assay.sandbox.world import DEMO, Registry, open_demo

BASE = "https://www.30001.live.sandbox.example"
CODE = OAuth(
    token_url=f"{BASE}/oauth/token",
    authorize_url=f"{BASE}/oauth/authorize",
    redirect_uri="https://tpp.example/cb",
    scope="aisp",
    pkce=True,
)
OWN = OAuth(token_url=f"{BASE}/oauth/token", scope="pisp")
AUTH = Auth(kind=AuthKind.CODE, oauth=CODE, tpp=Auth(kind=AuthKind.CLIENT, oauth=OWN))


@dataclass
class Bank:
    """A guarded bank that notes every call to the authorization server, and all it hands out."""

    around: Callable[[Any], Any] = lambda app: guarded(app, oauth=True)
    grants: list[dict[str, str]] = field(default_factory=list)
    given: set[str] = field(default_factory=set)
    other: Callable[[dict[str, Any]], tuple[str, list[tuple[str, str]]] | None] = lambda _: None

    def open(self, base_url: str) -> Any:
        app = self.around(make_app(base_url=base_url))

        def listen(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
            if answer := self.other(environ):
                start(*answer)
                return [b"{}"]
            path = environ["PATH_INFO"]
            if path.endswith("/token"):
                body = environ["wsgi.input"].read()
                environ["wsgi.input"] = BytesIO(body)
                form = dict(parse_qsl(body.decode()))
                self.grants.append(form)
                secret = {"code", "code_verifier", "client_secret", "refresh_token"}
                self.given |= {one for name, one in form.items() if name in secret}
            told = b"".join(app(environ, start))
            if path.endswith("/token") or "tpps" in path or "customers" in path:
                known = json.loads(told) if told else {}
                names = ("access_token", "refresh_token", "client_secret", "token", "password")
                self.given |= {known[name] for name in names if name in known}
            return [told]

        return listen


class Page(StringIO):
    """A journal that is still there when it is closed."""

    def close(self) -> None:
        """Stay open."""


@dataclass
class Held:
    """What came of a run, and what was recorded of it."""

    result: RunResult | None
    journal: str
    error: str = ""


def hold(prepared: Prepared, auth: Auth, bank: Bank, **more: Any) -> Held:
    """Hold what is prepared, with a journal, and return what came of it."""
    target: Target = replace(prepared.target, auth=auth, **more)
    environment, out = set_up(target, bank=bank.open), Page()
    session = Session(plan=prepared.plan, environment=environment, journal=Journal(out=out))
    try:
        return Held(run_session(session), out.getvalue())
    except TargetError as error:
        return Held(None, out.getvalue(), str(error))
    finally:
        environment.close()


def some(keywords: str) -> Prepared:
    return prepare(("aisp", "pis"), None, keywords=keywords)


def test_the_same_verdicts() -> None:
    """With codes and clients' own tokens every obligation tried conforms, as it does without."""
    prepared, bank = some("quota or consent-scope or redirect-only"), Bank()
    held = hold(prepared, AUTH, bank)
    assert held.result
    assert (Exit.OK, (), len(prepared.plan.trials) > 10) == (
        held.result.exit,
        held.result.faults,
        True,
    )
    plain = hold(prepared, prepared.target.auth, Bank(around=lambda app: app))
    assert plain.result
    assert [(one.obligation, one.standing) for one in plain.result.verdicts] == [
        (one.obligation, one.standing) for one in held.result.verdicts
    ]
    assert plain.result.exchanges == held.result.exchanges
    kinds = {form["grant_type"] for form in bank.grants}
    assert {"authorization_code", "client_credentials", "refresh_token"} == kinds


def test_tokens_are_renewed_in_the_midst_of_trials() -> None:
    """In the context of a renewed token, refresh tokens and clients renew what they have."""
    prepared = prepare(
        ("aisp", "pis"), None, keywords="batch-quota or redirect-only", contexts=Depth.EACH
    )
    renewed = tuple(
        replace(trial, context=context)
        for trial in prepared.plan.contextual
        if (context := tuple(value for value in trial.context if value.id == "token=renewed"))
    )
    bank = Bank()
    held = hold(replace(prepared, plan=replace(prepared.plan, contextual=renewed)), AUTH, bank)
    assert held.result
    assert (Exit.OK, ()) == (held.result.exit, held.result.faults)
    kinds = Counter(form["grant_type"] for form in bank.grants)
    assert kinds["refresh_token"] > kinds["authorization_code"] / 2
    assert kinds["client_credentials"] > len(prepared.plan.trials) / 2
    assert '"done": true' in held.journal or '"done":true' in held.journal
    assert [] == [secret for secret in bank.given if secret in held.journal]


def test_signed_as_well(folder: CertificateFolder) -> None:
    """Signatures and tokens are demanded together, and both are there."""

    def around(app: Any) -> Any:
        return guarded(app, signatures="cavage", keys=folder.signers(), oauth=True)

    said = Signature(
        kind=SignatureKind.CAVAGE,
        key_file=folder.key("seal-rsa"),
        key_id="https://tpp.example/seal-rsa.pem",
        algorithm="rsa-sha256",
        covers=("(request-target)", "digest", "x-request-id"),
    )
    prepared = some("redirect-only")
    held = hold(prepared, AUTH, Bank(around=around), signature=said)
    assert held.result
    assert (Exit.OK, len(prepared.plan.trials)) == (
        held.result.exit,
        held.result.counts["conforms"],
    )
    unsigned = hold(prepared, AUTH, Bank(around=around))
    assert unsigned.result
    assert 0 == unsigned.result.counts["conforms"] == unsigned.result.counts["violates"]


TARGET = f"""
assay: 1
target: guarded
extends: sandbox
auth:
  kind: authorization-code
  token_url: {BASE}/oauth/token
  authorize_url: {BASE}/oauth/authorize
  redirect_uri: https://tpp.example/cb
  tpp: {{kind: client-credentials, token_url: {BASE}/oauth/token}}
"""


def by_password(app: Any) -> Any:
    """Return a bank that also issues tokens for a customer's password."""
    inner, issued = guarded(app, oauth=True), list[bytes]()

    def lenient(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if not environ["PATH_INFO"].endswith("/token"):
            return cast("Iterable[bytes]", inner(environ, start))
        body = environ["wsgi.input"].read()
        environ["wsgi.input"] = BytesIO(body)
        if dict(parse_qsl(body.decode())).get("grant_type") == "password":
            start("200 OK", [("Content-Type", "application/json")])
            return [issued[-1]]
        issued.append(b"".join(inner(environ, start)))
        return [issued[-1]]

    return lenient


@pytest.mark.parametrize(("around", "standing"), [(None, "conforms"), (by_password, "violates")])
def test_no_token_is_issued_for_a_password(tmp_path: Path, around: Any, standing: str) -> None:
    """Where the target file names a token endpoint, a password grant is tried there."""
    file = tmp_path / "bank.yaml"
    file.write_text(TARGET, encoding="utf-8")
    prepared = prepare(("aisp", "pis"), str(file), keywords="redirect-only and password-grant")
    bank = Bank(around=around) if around else Bank()
    held = hold(prepared, AUTH, bank)
    assert held.result
    assert {standing} == {verdict.standing.value for verdict in held.result.verdicts}
    assert 2 == sum(form["grant_type"] == "password" for form in bank.grants)
    assert [] == [secret for secret in bank.given if secret in held.journal]


def test_a_token_is_renewed_when_the_banks_clock_moves() -> None:
    """A trial that lets days pass renews by the bank's clock, and the customer signs in once."""
    bank = Bank()
    held = hold(some("quota and next-day"), AUTH, bank)
    kinds = [form["grant_type"] for form in bank.grants]
    assert held.result
    assert 0 == held.result.counts["violates"] == held.result.counts["indeterminate"]
    assert "refresh_token" in kinds
    codes = [form["code"] for form in bank.grants if "code" in form]
    assert len(codes) == len(set(codes)) == kinds.count("authorization_code")


def test_nothing_secret_is_recorded() -> None:
    """No token, code, verifier, secret or password stands in a journal."""
    bank = Bank()
    held = hold(some("redirect-only or quota"), AUTH, bank)
    assert len(bank.given) > 20
    assert held.journal
    assert [] == [one for one in bank.given if one in held.journal]


def test_a_token_that_is_echoed_is_masked() -> None:
    """What a bank repeats of our token, customer's or third party's, is not written down."""
    seen: set[str] = set()

    def around(app: Any) -> Any:
        inner = guarded(app, oauth=True)

        def loud(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
            shown = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
            if not shown or "oauth" in environ["PATH_INFO"]:
                return inner(environ, start)  # type: ignore[no-any-return]
            seen.add(shown)
            start("400 Bad Request", [("Content-Type", "application/json")])
            return [json.dumps({"message": f"what is {shown}?"}).encode()]

        return loud

    held = hold(some("duplicate or quota"), AUTH, Bank(around=around))
    assert len(seen) > 4
    assert "what is <token-" in held.journal
    assert [] == [one for one in seen if one in held.journal]


@pytest.mark.parametrize(
    ("auth", "said"),
    [
        (
            replace(
                AUTH,
                oauth=replace(CODE, client_id="demo-tpp", client_secret_env="T_SECRET"),
                tpp=Auth(
                    kind=AuthKind.CLIENT,
                    oauth=replace(OWN, client_id="demo-tpp", client_secret_env="T_SECRET"),
                ),
            ),
            "auth.client_secret_env: the token endpoint refuses (invalid_client)",
        ),
        (
            replace(AUTH, oauth=replace(CODE, scope="pisp"), tpp=None),
            "auth.scope: the bank refused the authorization (invalid_scope)",
        ),
        (
            replace(
                AUTH,
                oauth=replace(CODE, token_url=f"{BASE}/oauth/tokens"),
                tpp=Auth(kind=AuthKind.CLIENT, oauth=replace(OWN, token_url=f"{BASE}/no")),
            ),
            "auth.token_url: this is not a token endpoint: it answers 404",
        ),
        (
            replace(AUTH, oauth=replace(CODE, redirect_uri="https://elsewhere.example/cb")),
            "auth.authorize_url: the bank shows no screens (400)",
        ),
    ],
)
def test_mistakes_of_the_profile(monkeypatch: pytest.MonkeyPatch, auth: Auth, said: str) -> None:
    """A wrong secret, scope, endpoint or address is told by its key, and blames no obligation."""
    monkeypatch.setenv("T_SECRET", "wrong")
    prepared = prepare(("aisp",), None, keywords="quota or redirect-only")
    held = hold(prepared, auth, Bank())
    if held.result:
        assert {Standing.INDETERMINATE} == {one.standing for one in held.result.verdicts}
        assert all(said in one.reason for one in held.result.verdicts)
    else:
        assert said in held.error
    assert '"standing": "violates"' not in held.journal
    assert '"standing": "conforms"' not in held.journal


def test_a_run_that_can_ask_nothing_is_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no customer can ever have a token, the run ends with the line, after one try."""
    monkeypatch.setenv("T_SECRET", "wrong")
    own = replace(CODE, client_id="demo-tpp", client_secret_env="T_SECRET")
    bank = Bank()
    held = hold(prepare(("aisp",), None), replace(AUTH, oauth=own), bank)
    assert held.result is None
    assert "auth.client_secret_env: the token endpoint refuses (invalid_client)" in held.error
    assert 1 == len(bank.grants)
    assert f'"exit": {Exit.USAGE.value}' in held.journal or f'"exit":{Exit.USAGE.value}' in (
        held.journal
    )


def test_half_a_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only the third party has no token, what customers are asked for is still judged."""
    monkeypatch.setenv("T_SECRET", "wrong")
    bad = replace(OWN, token_url=f"{BASE}/oauth/nothing")
    auth = replace(AUTH, tpp=Auth(kind=AuthKind.CLIENT, oauth=bad))
    held = hold(some("redirect-only"), auth, Bank())
    assert held.result
    found = {one.obligation: (one.standing, one.reason) for one in held.result.verdicts}
    for name, (standing, reason) in found.items():
        if standing is Standing.NOT_APPLICABLE:
            assert name.endswith("/password-grant")
        elif name.startswith("aisp/"):
            assert (Standing.CONFORMS, "") == (standing, reason)
        else:
            assert standing is Standing.INDETERMINATE
            assert "auth.tpp.token_url: this is not a token endpoint" in reason


def test_tokens_of_another_kind_are_not_taken() -> None:
    """A bank that says `invalid_token` of every call has broken nothing, and kept nothing."""
    prepared = some("quota or consent-scope")
    held = hold(prepared, Auth(kind=AuthKind.BEARER), Bank())
    assert held.result
    assert 0 == held.result.counts["conforms"] == held.result.counts["violates"]
    reasons = " ".join(one.reason for one in held.result.verdicts)
    assert "the target rejects the credentials (401 invalid_token" in reasons


def test_a_scope_that_is_not_enough() -> None:
    """Calls of one half with the scope of the other are the profile's fault, on its line."""
    auth = Auth(kind=AuthKind.CLIENT, oauth=OWN)
    held = hold(prepare(("aisp",), None, keywords="quota"), auth, Bank())
    assert held.result
    assert 0 == held.result.counts["conforms"] == held.result.counts["violates"]
    assert any(
        "403 insufficient_scope: the scope of the token" in one.reason
        for one in held.result.verdicts
    )
    assert any("auth.scope" in one.reason for one in held.result.verdicts)


def test_a_client_by_certificate_shows_no_secret() -> None:
    """With `client_auth: none` only its name is told."""
    auth = replace(AUTH, oauth=replace(CODE, client_auth=ClientAuth.NONE))
    bank = Bank()
    hold(prepare(("aisp",), None, keywords="redirect-only"), auth, bank)
    assert bank.grants
    for form in bank.grants:
        assert "client_id" in form
        assert "client_secret" not in form


def test_states_are_never_the_same() -> None:
    """Every customer is sent with a state and a proof of their own."""
    links: list[dict[str, list[str]]] = []

    def other(environ: dict[str, Any]) -> None:
        if environ["PATH_INFO"] == "/oauth/authorize":
            links.append(parse_qs(environ["QUERY_STRING"]))

    hold(some("quota"), AUTH, Bank(other=other))
    assert len(links) > 2
    for name in ("state", "code_challenge"):
        values = [one[name][0] for one in links]
        assert len(set(values)) == len(values)
        assert all(re.fullmatch(r"[\w-]{32,}", one) for one in values)
    assert urlsplit(BASE).netloc


def test_customers_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """With roles alone, a customer signs in once with what the environment has, for all trials."""
    registry = Registry()
    open_demo(registry, SOUND)
    world = registry.world(DEMO)
    assert world
    roles = []
    for number, customer in enumerate(world.customers.values()):
        (factor, code) = next(iter(customer.factors.items()))
        known = {"LOGIN": customer.login, "PASSWORD": customer.password, "CODE": code}
        for name, value in known.items():
            monkeypatch.setenv(f"T_{name}_{number}", value)
        owned = next(iter(customer.items))
        roles.append(
            Role(
                name=f"r{number}",
                token_env=None,
                owns=(RoleHolding(resource="account", key=owned, traits={}),),
                login_env=f"T_LOGIN_{number}",
                password_env=f"T_PASSWORD_{number}",
                code_envs={factor: f"T_CODE_{number}"},
            )
        )
    monkeypatch.setenv("T_SECRET", "demo-tpp-secret")
    own = replace(CODE, client_id="demo-tpp", client_secret_env="T_SECRET")
    offers = frozenset({Capability.PSU, Capability.CREDENTIALS})
    bank = Bank()
    prepared = prepare(("aisp",), None, keywords="")
    held = hold(
        prepared,
        Auth(kind=AuthKind.CODE, oauth=own),
        bank,
        fixtures=Fixtures(kind=FixtureKind.ROLES, roles=tuple(roles), offers=offers),
    )
    assert held.result
    assert 0 == held.result.counts["violates"]
    assert 2 < held.result.counts["conforms"]
    # Far more trials than customers: each has agreed once.
    codes = [form["grant_type"] for form in bank.grants].count("authorization_code")
    assert 1 <= codes <= len(roles)


@pytest.mark.parametrize(
    ("auth", "planned"),
    [
        (
            "{kind: client-credentials, token_url: https://bank.example/t, client_id_env: A, client_secret_env: B}",
            True,
        ),
        ("{kind: bearer}", False),
    ],
)
def test_the_password_of_a_listed_customer_is_tried_where_tokens_are_requested(
    auth: str, planned: bool, tmp_path: Path
) -> None:
    """Before the run, too, nothing is missing; with tokens of the fixtures there is no endpoint."""
    file = tmp_path / "bank.yaml"
    file.write_text(
        f"""\
assay: 1
target: bank
extends: sandbox
transport: http
base_url: https://bank.example
hosts: null
auth: {auth}
fixtures:
  kind: roles
  offers: [psu, consent, write, credentials]
  roles: {{ann: {{token_env: T, login_env: L, password_env: P, owns: [{{resource: account, key: A1}}]}}}}
"""
    )
    prepared = prepare(("aisp",), str(file), keywords="password-grant")
    (item,) = prepared.plan.items
    assert planned is (item.disposition is Disposition.ASK), item.reason
