"""Screens on a host of their own: followed there, while the host is never called as the bank's."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from assay.binding.model.security import Auth, AuthKind, OAuth
from assay.binding.model.target import Sca, ScaKind, Target, TransportKind
from assay.binding.wire.encode import Access
from assay.errors import InputError
from assay.fixtures.providers import MissingFixtures
from assay.history import Authorise
from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.preparation.target_file import read_target
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.running.session import Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND, put

#: The host of the API, and the one of the screens.
API = ("www.30001.live.sandbox.example", "www.30001.live.sandbox.example:8443")
LOGIN = f"https://{API[1]}"


class TwoPorts:
    """The sandbox, whose screens are on another port; the API's own host redirects there."""

    def __init__(self, base_url, policies):
        self.app = make_app(policies, base_url=base_url)
        self.seen = set()

    def __call__(self, environ, start_response):
        host, path = environ["HTTP_HOST"], environ["PATH_INFO"]
        screen = path.startswith(("/consent-approval/", "/signing/"))
        if host in API:
            self.seen.add((host, screen))
        if screen and host == API[0]:
            headers = [("Location", LOGIN + environ["REQUEST_URI"]), ("Set-Cookie", "api=secret")]
            start_response("302 Found", headers)
            return [b""]
        if host == API[1]:
            assert "api=secret" in environ.get("HTTP_COOKIE", "api=secret")
        if not screen and host == API[1]:
            start_response("404 Not Found", [("Content-Type", "application/json")])
            return [b"{}"]
        return self.app({**environ, "HTTP_HOST": API[0]}, start_response)


def there(_):
    """Return the host of the screens, for links to them."""
    return LOGIN


LINKED = replace(
    SOUND,
    payments=replace(SOUND.payments, links=put(SOUND.payments.links, **{"create-approval": there})),
)
KEYWORDS = "payments.create or payment-types or sca or report-url or host"


def run(tmp_path, text, policies):
    """Return the standing of each obligation, the bank, and the plan."""
    path = tmp_path / "bank.yaml"
    path.write_text(f"assay: 1\ntarget: bank\nextends: sandbox\nhosts: null\nbanks: null\n{text}")
    prepared = prepare(["pis"], str(path), keywords=KEYWORDS)
    banks = []

    def bank(base_url):
        banks.append(TwoPorts(base_url, policies))
        return banks[-1]

    environment = set_up(prepared.target, bank=bank)
    result = run_session(
        Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
    )
    assert () == result.faults
    return {each.obligation: each.standing for each in result.verdicts}, banks[0], prepared


@pytest.mark.parametrize("policies", [SOUND, LINKED], ids=["redirect", "link"])
def test_screens_on_another_port(tmp_path, policies):
    """They are followed there; the host is never called as the bank's, and counts for no rule."""
    found, bank, prepared = run(tmp_path, f"sca: {{hosts: [{LOGIN}]}}\n", policies)
    others = {name for name, each in found.items() if each is Standing.NOT_APPLICABLE}
    assert {f"pis/host/{one}-payment-elsewhere" for one in ("read", "modify", "cancel")} == others
    assert {Standing.CONFORMS, Standing.UNVERIFIED, Standing.NOT_APPLICABLE} == {*found.values()}
    assert {"pis/host/every-host"} == {
        name for name, each in found.items() if each is Standing.UNVERIFIED
    }
    assert (API[1], True) in bank.seen
    assert (API[1], False) not in bank.seen
    assert () == prepared.target.hosts


@pytest.mark.parametrize("policies", [SOUND, LINKED], ids=["redirect", "link"])
def test_a_host_that_is_not_named(tmp_path, policies):
    """A host whose port differs is another host: without the key nothing there is asked or judged."""
    found, bank, _ = run(tmp_path, "", policies)
    assert Standing.VIOLATES not in found.values()
    assert API[1] not in {host for host, _ in bank.seen}
    assert Standing.CONFORMS is not found["pis/sca.required/nothing-before-signing"]


def login(environ, start_response):
    """Show the login of an authorization server that is on two hosts."""
    host, path = environ["HTTP_HOST"], environ["PATH_INFO"]
    locations = {
        ("auth.bank.example", "/authorize"): "https://login.bank.example/login",
        ("login.bank.example", "/done"): "https://auth.bank.example/granted",
        ("auth.bank.example", "/granted"): "https://tpp.example/back?code=4711",
    }
    if location := locations.get((host, path)):
        start_response("302 Found", [("Location", location)])
        return [b""]
    assert ("login.bank.example", "/login") == (host, path)
    start_response("200 OK", [("Content-Type", "text/html")])
    return [b'<form action="/done"><input name="who"><input name="word" type="password"></form>']


@pytest.mark.parametrize("hosts", [(), ("https://login.bank.example",)], ids=["unnamed", "named"])
def test_the_login_of_an_authorization_server(hosts):
    """The customer logs in on the other host, and comes back to the address of the TPP."""
    base, authorize = "https://api.bank.example", "https://auth.bank.example/authorize"
    sca = Sca(kind=ScaKind.FORMS, screens=({"who": "login", "word": "password"},), hosts=hosts)
    oauth = OAuth(token_url="https://auth.bank.example/token", authorize_url=authorize)
    target = Target(
        name="t",
        transport=TransportKind.EMBEDDED,
        base_url=base,
        sca=sca,
        auth=Auth(kind=AuthKind.CODE, oauth=oauth),
    )
    environment = set_up(target, bank=lambda _: login)
    signer = environment.signer(MissingFixtures().open())
    step = Authorise(subject="psu", request="", approval=authorize)
    access = Access(login="anna", password="secret")
    signed = signer.sign(step, access, lambda _: datetime.now(UTC))
    assert (
        "https://tpp.example/back?code=4711" if hosts else "https://login.bank.example/login"
    ) == (signed.redirected)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("sca: {hosts: [login.bank.example]}", "expected an http or https URL"),
        ("sca: {hosts: ['https://a:b@login.bank.example']}", "the URL contains credentials"),
        ("sca: {hosts: ['https://login.bank.example/screens']}", "a host has no path"),
        (f"sca: {{hosts: ['https://{API[0]}:443']}}", "followed already (base_url)"),
        (
            "hosts: ['https://two.bank.example/v1']\nsca: {hosts: ['https://two.bank.example']}",
            "followed already (hosts)",
        ),
        ("sca: {kind: control, hosts: ['https://a.example']}", "`kind: control` follows no links"),
        ("hosts: [two.bank.example]", "hosts[0]: expected an http or https URL"),
    ],
    ids=["no-url", "credentials", "path", "base", "second", "kind", "other-hosts"],
)
def test_what_is_no_such_host(tmp_path, text, problem):
    """A file that names one wrongly is refused."""
    path = tmp_path / "bank.yaml"
    path.write_text(f"assay: 1\ntarget: bank\nextends: sandbox\n{text}\n")
    with pytest.raises(InputError) as caught:
        read_target(path)
    assert [True] == [problem in str(each) for each in caught.value.problems]
