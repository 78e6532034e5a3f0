"""The screens in a real browser: the sandbox bank's, and those of a bank that means ill.

Skipped where there is no browser, unless the environment says that there has to be one:
the gate sets `ASSAY_BROWSER=required`. Leaves a picture of each screen in
`reports/local/screens`.
"""

import os
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qsl

import httpx
import pytest

from assay.binding.model.target import Sca, ScaKind, Target, TransportKind
from assay.binding.wire.encode import Access
from assay.errors import CannotArrange, InputError
from assay.history import Authorise, Code, Decision, Ending
from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.running.session import Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving
from assay.sca import browser as driver
from assay.sca.browser import BrowserSigner, Chromium, find_chromium, origin
from assay.sca.screen_flow import FormsSigner
from assay.transport.http import HttpClient

pytestmark = pytest.mark.slow

PICTURES = Path(__file__).parents[3] / "reports" / "local" / "screens"
PROFILE = Target(
    name="t",
    transport=TransportKind.HTTP,
    base_url="http://127.0.0.1:1",
    sca=Sca(kind=ScaKind.BROWSER),
    timeout=5,
    path="t.yaml",
    lines={"sca": 7},
)


@pytest.fixture(scope="session")
def required():
    """Have a browser, or none and skip; or be told that there has to be one."""
    lacking = [] if find_spec("playwright") else ["Playwright (pip install 'assay[browser]')"]
    if not any(map(driver.which, driver.NAMES)):
        lacking.append("Chromium (apt install chromium)")
    if lacking and os.environ.get("ASSAY_BROWSER") == "required":
        pytest.fail(f"ASSAY_BROWSER=required, and there is no {' and no '.join(lacking)}")
    if lacking:
        pytest.skip(f"there is no {' and no '.join(lacking)}")


# -- the sandbox bank's screens ------------------------------------------------


@pytest.fixture(scope="module")
def sandbox():
    """Serve the sandbox bank."""
    with serving(make_app()) as url:
        yield url


@pytest.fixture(scope="module")
def chromium(required, sandbox):
    """Start a browser that finds the sandbox bank, and nobody else."""
    one = find_chromium(replace(PROFILE, base_url=sandbox))
    yield one
    one.close()


@dataclass
class Payer:
    """A customer of the sandbox in a world of their own."""

    bank: httpx.Client
    world: str
    told: dict

    def pay(self, **changes):
        """Have a payment asked for, and return the link to sign it."""
        path = f"/assay-control/1/worlds/{self.world}/tpps"
        token = self.bank.post(path, json={}).json()["token"]
        wanted = {
            "paymentType": "immediate",
            "debtorAccount": self.told["holdings"][0]["key"],
            "creditorAccount": "FR7630006000011234567890189",
            "amount": "12.30",
            "currency": "EUR",
            "chargeBearer": "SLEV",
            "categoryPurpose": "DVPM",
            "reference": "Invoice 17",
            "successfulReportUrl": "https://tpp.example/back?flow=17",
        }
        headers = {"Authorization": f"Bearer {token}"}
        made = self.bank.post("/payment-requests", json=wanted | changes, headers=headers).json()
        return made["links"]["consentApproval"]

    def wait(self, **span):
        """Let time pass at the bank."""
        to = datetime.fromisoformat(self.told["now"]) + timedelta(**span)
        path = f"/assay-control/1/worlds/{self.world}/clock"
        assert self.bank.post(path, json={"to": to.isoformat()}).status_code == 200


@pytest.fixture
def payer(sandbox):
    """Make a customer with one account."""
    with httpx.Client(base_url=sandbox, trust_env=False) as bank:
        world = bank.post("/assay-control/1/worlds", json={"seed": 0}).json()["world"]
        wanted = {"holdings": [{"resource": "account", "entries": []}]}
        told = bank.post(f"/assay-control/1/worlds/{world}/customers", json=wanted).json()
        yield Payer(bank, world, told)


@dataclass
class Visit:
    """A window on the sandbox, and everything that it asked for."""

    page: object
    payer: Payer
    asked: list = field(default_factory=list)

    def press(self, name):
        """Press a button and wait for what it leads to."""
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=name, exact=True).click()

    def log_in(self):
        """Pass the first screen."""
        self.page.get_by_label("Login").fill(self.payer.told["login"])
        self.page.get_by_label("Password").fill(self.payer.told["password"])
        self.press("Continue")

    def choose(self, label="A code by SMS"):
        """Pass the second screen."""
        self.page.get_by_label(label).check()
        self.press("Continue")

    def type_code(self, factor="sms"):
        """Pass the third screen."""
        self.page.get_by_label("Code from").fill(self.payer.told["factors"][factor])
        self.press("Continue")

    def look(self, name, picture=""):
        """Take a picture of a page, and hold against it all that a page owes a customer."""
        page = self.page
        page.screenshot(path=PICTURES / f"{picture or name}.png", full_page=True)
        assert name == page.locator("main").get_attribute("data-page")
        assert page.title().endswith(" – Sandbox bank")
        assert page.locator("html").get_attribute("lang") == "en"
        assert page.get_by_role("heading", level=1).inner_text().strip()
        assert page.locator("script, iframe, object, embed, link").count() == 0
        fields = page.locator("input:not([type=hidden]), select, textarea")
        for n in range(fields.count()):
            labels = fields.nth(n).evaluate("one => Array.from(one.labels, each => each.innerText)")
            assert "".join(labels).strip(), f"{name}: a field has no label"
        for n in range(page.locator("button").count()):
            assert page.locator("button").nth(n).inner_text().strip()
        home = origin(str(self.payer.bank.base_url))
        assert {home} == {origin(url) for url in self.asked}


@pytest.fixture
def visit(chromium, payer):
    """Open a window in which no script runs, at the first screen of a payment."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    page = chromium.page()
    page.set_viewport_size({"width": 800, "height": 720})
    visited = Visit(page, payer)
    page.on("request", lambda request: visited.asked.append(request.url))
    page.goto(payer.pay())
    yield visited
    page.context.close()


def test_every_screen_of_a_signature(visit):
    """Each screen works without script, is labelled, and asks nobody else for anything."""
    visit.look("password")
    visit.log_in()
    visit.look("factor")
    visit.choose()
    visit.look("code")
    visit.type_code()
    visit.look("confirm")
    for text in ("12.30 EUR", "FR7630006000011234567890189", "Invoice 17"):
        assert text in visit.page.inner_text("main")
    with pytest.raises(driver_error(), match="NAME_NOT_RESOLVED"):
        visit.press("Confirm")
    assert "https://tpp.example/back?flow=17" == visit.asked[-1]


def driver_error():
    """Return what Playwright raises where a way leads nowhere."""
    from playwright.sync_api import Error  # noqa: PLC0415 -- not everywhere

    return Error


@pytest.mark.parametrize("factor", ["cap", "soft-token"])
def test_every_factor(visit, factor):
    """Each factor has a label by which it can be chosen, and a screen for its code."""
    labels = {"cap": "A code from the card reader", "soft-token": "The app on your phone"}
    visit.log_in()
    visit.choose(labels[factor])
    visit.look("code", f"code-{factor}")
    visit.type_code(factor)
    visit.look("confirm", f"confirm-{factor}")


def test_refusing(visit):
    """A refusal ends at a page of the bank when there is nowhere else to go."""
    visit.log_in()
    visit.choose()
    visit.type_code()
    visit.press("Refuse")
    visit.look("refused")


def test_mistakes(visit):
    """A wrong entry is said on the screen itself; too many of them end it all."""
    for n in range(3):
        visit.page.get_by_label("Login").fill("nobody")
        visit.page.get_by_label("Password").fill("wrong")
        visit.press("Continue")
        if n == 0:
            assert "do not go with" in visit.page.get_by_role("alert").inner_text()
            visit.look("password", "password-wrong")
    visit.look("locked")


def test_being_idle(visit):
    """Who takes too long is told so, on a page that leads nowhere."""
    visit.log_in()
    visit.payer.wait(minutes=4)
    visit.page.get_by_label("A code by SMS").check()
    visit.press("Continue")
    visit.look("disconnected")
    assert visit.page.locator("a, form").count() == 0


# -- signing, with the real profile --------------------------------------------


def lay(folder, url, kind):
    """Lay a way of signing over the sandbox's own target file."""
    path = folder / f"{kind}.yaml"
    path.write_text(
        f"assay: 1\ntarget: {kind}\nextends: sandbox\ntransport: http\nbase_url: {url}\n"
        f"hosts: []\nsca: {{kind: {kind}}}\n",
        encoding="utf-8",
    )
    return str(path)


def test_the_same_verdicts_as_by_forms(required, sandbox, tmp_path):
    """A run in a browser finds what a run over plain HTTP does, with as many exchanges."""
    by_kind = {}
    for kind in ("forms", "browser"):
        prepared = prepare(["pis"], lay(tmp_path, sandbox, kind), keywords="pis/report-url")
        environment = set_up(prepared.target)
        session = Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
        result = run_session(session)
        environment.close()
        verdicts = [(one.obligation, one.standing) for one in result.verdicts]
        by_kind[kind] = verdicts, result.exchanges, result.faults
        assert (kind == "browser") == (environment.chromium is not None)
        assert prepared.plan.signed
    assert by_kind["forms"] == by_kind["browser"]
    assert {Standing.CONFORMS} == {standing for _, standing in by_kind["browser"][0]}


# -- banks of all kinds --------------------------------------------------------

NOW = datetime(2026, 9, 16, 10, tzinfo=UTC)
#: What the fields of these banks are called, and what a customer of theirs knows.
SCREENS = (
    {"user": "login", "secret": "password"},
    {"way": "factor"},
    {"otp": "code"},
    {"say": "decision"},
)
SCA = Sca(
    kind=ScaKind.BROWSER,
    screens=SCREENS,
    factors={"text": "SMS", "box": "B&X"},
    decisions={"confirm": "Y", "refuse": "N"},
)
JULES = Access(login="jules", password='päss "word"&=', codes={"text": "123456", "box": "777777"})
LOGIN = "<form method=post action=/way><input name=user><input type=password name=secret>{}</form>"
GO, SEND = "<button>Go</button>", "<input type=submit>"
RADIO = '<input type=radio name=way value="B&amp;X"><input type=radio name=way value=SMS checked>'
OPTIONS = '<option> SMS\n</option><option value="B&amp;X">Box</option>'
SAY = "<button name=say value=Y>Yes</button><button name=say value=N>No</button>"


@dataclass
class Site:
    """A bank of pages; keeps what came. A page is its HTML, or where it leads."""

    pages: dict = field(default_factory=dict)
    headers: dict = field(default_factory=dict)
    came: list = field(default_factory=list)

    def __call__(self, environ, start):
        """Answer, whatever the method."""
        path = environ["PATH_INFO"]
        body = environ["wsgi.input"].read().decode()
        if path != "/favicon.ico":
            cookie = environ.get("HTTP_COOKIE", "")
            self.came.append((path, dict(parse_qsl(body, keep_blank_values=True)), cookie))
        page = self.pages.get(path, "gone")
        headers = list(self.headers.items())
        if page == "gone":
            start("410 Gone", headers)
        elif page.startswith("<"):
            start("200 OK", [("Content-Type", "text/html; charset=utf-8"), *headers])
        else:
            start("303 See Other", [("Location", page), *headers])
        return [page.encode()] if page.startswith("<") else [b""]

    def forms(self):
        """Return what was sent to each page that is no first one."""
        return [(path, form) for path, form, _ in self.came if path != "/link"]


@pytest.fixture(scope="module")
def grounds():
    """Serve two sites: that of the bank, and another."""
    bank, other = Site(), Site()
    with serving(bank) as bank.url, serving(other) as other.url:
        yield bank, other


@pytest.fixture(scope="module")
def shut_in(required, grounds):
    """Start a browser that finds the bank alone, also by its other name."""
    bank, _ = grounds
    target = replace(
        PROFILE, base_url=bank.url, timeout=3, hosts=("http://other.bank.example",), nearby=True
    )
    one = find_chromium(target)
    yield one
    one.close()


@pytest.fixture
def bank(grounds):
    """Have the bank as a customer finds it who just needs to confirm."""
    for site in grounds:
        site.pages, site.headers = {}, {}
        site.came.clear()
    bank, elsewhere = grounds
    elsewhere.pages["/back"] = "<p>back"
    bank.pages |= {
        "/link": LOGIN.format("<input type=hidden name=csrf value=c1>" + GO),
        "/way": f"<form method=post action=/otp>{RADIO}{GO}</form>",
        "/otp": f"<form method=post action=/say><input name=otp required>{GO}</form>",
        "/say": f"<form method=post action=/done>{SAY}</form>",
        "/done": f"{elsewhere.url}/back?x=1",
    }
    return bank


def step(bank, path="/link", **how):
    """Ask for a signature."""
    return Authorise(subject="psu", request="R1", approval=bank.url + path, **how)


def sign(bank, chromium, **how):
    """Sign in a browser."""
    browser = BrowserSigner(sca=SCA, chromium=chromium)
    return browser.sign(step(bank, **how), JULES, lambda _: NOW)


#: Ways to sign, on the plain bank.
HOW = {
    "plain": {},
    "refuse": {"factor": "box", "decision": Decision.REFUSE},
    "empty": {"code": Code.EMPTY},
    "spoof": {"code": Code.WRONG, "spoof": "http://thief.example/?a=1&b=2"},
    "unknown": {"factor": "carrier pigeon"},
    "linger": {"linger": (timedelta(1), timedelta(1))},
}
#: Banks of which one page is another.
OTHER = {
    "list": (
        "/way",
        f"<form method=post action=/otp><select name=way>{OPTIONS}</select>{GO}</form>",
    ),
    "buttons": (
        "/way",
        f"<form method=post action=/otp>{RADIO.replace('input type=radio', 'button')}</form>",
    ),
    "no-button": ("/otp", "<form method=post action=/say><input type=tel name=otp></form>"),
    "radio-decision": (
        "/say",
        f"<form method=post action=/done>{SAY.replace('button', 'input type=radio')}{SEND}</form>",
    ),
    "no-such-screen": ("/otp", "<form method=post action=/x><input name=other></form>"),
    "on-the-same-host": ("/otp", "/say"),
    "an-ending": ("/done", "<h1>Thank you"),
    "too-late": ("/done", "gone"),
    "away-at-once": ("/link", "http://elsewhere.example/"),
}


@pytest.mark.parametrize(
    ("how", "other"),
    [(how, None) for how in HOW.values()] + [({"factor": "text"}, one) for one in OTHER.values()],
    ids=[*HOW, *OTHER],
)
def test_both_ways_are_the_same(bank, shut_in, how, other):
    """What is sent, and what is told of it, is the same by forms and in a browser."""
    bank.pages |= dict([other] if other else [])
    with closing(HttpClient(base_url=bank.url)) as client:
        signer = FormsSigner(sca=SCA, transport=client)
        forms = signer.sign(step(bank, **how), JULES, lambda _: NOW)
    sent = bank.forms()
    bank.came.clear()
    browser = sign(bank, shut_in, **how)
    assert sent == bank.forms()
    for name in ("ending", "moments", "offered", "screens", "redirected", "stuck"):
        assert getattr(forms, name) == getattr(browser, name), name
    pages = [(one.wire.method, one.wire.url, one.wire.status) for one in (forms, browser)]
    assert pages[0] == pages[1]
    assert bool(forms.why) == bool(browser.why)


#: The text of a link, of which the page has several.
CANCEL = "<a href=/help>Help</a> <a href={}>Cancel <b>payment</b></a>"


@pytest.mark.parametrize("link", [None, "", "cancel payment", "no such link"])
@pytest.mark.parametrize("href", ["/stop", "/stop?back", "http://elsewhere.example/back"])
def test_both_ways_are_the_same_where_no_screen_asks_for_a_decision(
    bank, shut_in, grounds, link, href
):
    """The code confirms; who refuses leaves, or presses a link, which may lead back to the TPP."""
    back = f"{grounds[1].url}/back?x=1"
    bank.pages |= {
        "/otp": f"<form method=post action=/say><input name=otp>{GO}</form>{CANCEL.format(href)}",
        "/say": back,
        "/stop": back if "?" in href else "<h1>You left",
    }
    sca = replace(SCA, screens=SCREENS[:3], confirmed_by="code", refuse_link=link or "")
    decision = Decision.CONFIRM if link is None else Decision.REFUSE
    with closing(HttpClient(base_url=bank.url)) as client:
        signer = FormsSigner(sca=sca, transport=client)
        forms = signer.sign(step(bank, decision=decision), JULES, lambda _: NOW)
    sent = list(bank.came)
    bank.came.clear()
    signer = BrowserSigner(sca=sca, chromium=shut_in)
    browser = signer.sign(step(bank, decision=decision), JULES, lambda _: NOW)
    assert [each[:2] for each in sent] == [each[:2] for each in bank.came]
    for name in ("ending", "moments", "offered", "screens", "redirected", "why"):
        assert getattr(forms, name) == getattr(browser, name), name


def test_what_a_customer_does(bank, shut_in, grounds):
    """The way goes by all screens to the very address, which nobody visits."""
    _, elsewhere = grounds
    walked = sign(bank, shut_in)
    assert (Ending.CONFIRMED, "") == (walked.ending, walked.why)
    assert ["login", "password", "factor", "code", "decision"] == walked.screens
    assert ("box", "text") == walked.offered
    assert f"{elsewhere.url}/back?x=1" == walked.redirected
    assert [] == elsewhere.came
    assert [
        ("/way", {"user": "jules", "secret": JULES.password, "csrf": "c1"}),
        ("/otp", {"way": "B&X"}),
        ("/say", {"otp": "777777"}),
        ("/done", {"say": "Y"}),
    ] == bank.forms()


@pytest.mark.parametrize(
    "where",
    ["{other}/back", "http://TPP.example", "https://tpp.example/x?y=1#z", "tppapp://back?x=1"],
)
def test_elsewhere_is_never_reached(bank, shut_in, grounds, where):
    """Wherever a redirection leads, also to another port here, it is told and not followed."""
    _, elsewhere = grounds
    bank.pages["/done"] = where.format(other=elsewhere.url)
    walked = sign(bank, shut_in)
    assert bank.pages["/done"] == walked.redirected
    assert Ending.CONFIRMED is walked.ending
    assert [] == elsewhere.came


@pytest.mark.parametrize(
    "link", ["{other}/link", "https://bank.example/", "file:///etc/hosts", "x"]
)
def test_links_to_elsewhere_are_not_opened(bank, shut_in, grounds, link):
    """A link to the screens that leads off the target is not followed."""
    _, elsewhere = grounds
    asked = replace(step(bank), approval=link.format(other=elsewhere.url))
    walked = BrowserSigner(sca=SCA, chromium=shut_in).sign(asked, JULES, lambda _: NOW)
    assert (Ending.STOPPED, None, 0) == (walked.ending, walked.redirected, walked.wire.status)
    assert walked.why == "links to other hosts are not followed"
    assert [] == elsewhere.came == bank.came


def test_the_other_hosts_of_the_target_are_no_elsewhere(bank, shut_in):
    """A further host is found at the address of the first, as everywhere else."""
    link = replace(step(bank), approval="http://other.bank.example/link")
    walked = BrowserSigner(sca=SCA, chromium=shut_in).sign(link, JULES, lambda _: NOW)
    assert Ending.CONFIRMED is walked.ending


HOSTILE = """<script>document.title = "ran"; document.cookie = "ran=1"</script>
<img src="{other}/img"><link rel=stylesheet href="{other}/css"><link rel=prefetch href="{other}/p">
<iframe src="{other}/frame"></iframe><body onload="location='{other}/js'">
<form method=post action=/way><input name=user onfocus="this.value='x'"><input name=secret>
<input name=elements><input name=submit><input name=action><input name=id><input name=name>
<input name=setAttribute><input name=appendChild><input name=noValidate>{more}<button>Go</form>"""


def test_a_page_that_means_ill(bank, shut_in, grounds):
    """It runs nothing, reaches nobody, and no name of a field gets in our way."""
    _, elsewhere = grounds
    bank.pages["/link"] = HOSTILE.format(other=elsewhere.url, more="")
    walked = sign(bank, shut_in, spoof=f"{elsewhere.url}/thief")
    assert (Ending.CONFIRMED, f"{elsewhere.url}/back?x=1") == (walked.ending, walked.redirected)
    assert [] == elsewhere.came
    _, form = bank.forms()[0]
    assert ("jules", JULES.password) == (form["user"], form["secret"])
    assert not any("ran" in cookie for _, _, cookie in bank.came)


def test_a_page_that_cannot_be_read(bank, shut_in):
    """A form that hides from the browser's own questions is no screen, and no fault of ours."""
    bank.pages["/link"] = HOSTILE.format(other=bank.url, more="<input name=querySelectorAll>")
    walked = sign(bank, shut_in)
    assert (Ending.STOPPED, 200) == (walked.ending, walked.wire.status)
    assert "querySelectorAll" in walked.why


def test_nothing_is_shared(bank, shut_in):
    """One signature knows nothing of the last, and has the browser of all."""
    bank.headers["Set-Cookie"] = "session=1; Path=/"
    sign(bank, shut_in)
    running = shut_in._running
    sign(bank, shut_in)
    assert running is shut_in._running
    cookies = [cookie for path, _, cookie in bank.came if path == "/link"]
    assert ["", ""] == cookies
    assert bank.came[-1][2] == "session=1"


def test_a_field_that_nobody_sees(bank, shut_in):
    """A customer cannot fill in what is not shown, and the way stops there."""
    shut_in.timeout, timeout = 0.5, shut_in.timeout
    bank.pages["/otp"] = f"<form method=post action=/say><input name=otp hidden>{GO}</form>"
    walked = sign(bank, shut_in)
    shut_in.timeout = timeout
    assert Ending.STOPPED is walked.ending
    assert "Timeout" in walked.why


def test_a_decision_without_an_answer(bank, shut_in):
    """A bank that breaks the connection has confirmed nothing."""
    bank.pages["/done"] = "/loop"
    bank.pages["/loop"] = "/loop"
    walked = sign(bank, shut_in)
    assert (Ending.STOPPED, 0) == (walked.ending, walked.wire.status)
    assert "TOO_MANY_REDIRECTS" in walked.why


def test_a_browser_that_is_gone_starts_again(bank, shut_in):
    """A browser that was ended from outside costs no more than a start."""
    sign(bank, shut_in)
    shut_in._running.close()
    assert Ending.CONFIRMED is sign(bank, shut_in).ending


def test_a_browser_that_does_not_start(required):
    """What does not start is said in one line, again and again."""
    broken = Chromium(path="/bin/false", hosts={}, timeout=5)
    for _ in range(2):
        with pytest.raises(CannotArrange, match="a Chromium that starts") as caught:
            broken.page()
        assert "\n" not in str(caught.value)


def test_closing_the_stage_closes_the_browser(required, sandbox):
    """A run leaves no browser behind."""
    environment = set_up(replace(PROFILE, base_url=sandbox))
    environment.chromium.page()
    assert environment.chromium._running
    environment.close()
    assert environment.chromium._running is None


# -- without any browser -------------------------------------------------------


def test_nothing_installed(monkeypatch):
    """What is lacking is told before anything is sent, all at once, with what helps."""
    monkeypatch.setattr(driver, "which", lambda _: None)
    monkeypatch.setattr(driver, "find_spec", lambda _: None)
    with pytest.raises(InputError) as caught:
        set_up(PROFILE)
    assert [
        "t.yaml:7: sca: browser: Playwright is not installed (pip install 'assay[browser]')",
        (
            "t.yaml:7: sca: browser: there is no chromium, chromium-browser, google-chrome"
            " on the PATH (apt install chromium)"
        ),
    ] == [str(one) for one in caught.value.problems]


@pytest.mark.parametrize(
    ("link", "access"),
    [(None, JULES), ("http://127.0.0.1:1/", Access()), ("http://127.0.0.1:1/", Access(login="x"))],
)
def test_what_no_browser_can_do(link, access):
    """Without a link, or somebody who can log in, no browser is started."""
    dry_target = BrowserSigner(sca=SCA, chromium=Chromium(path="", hosts={}, timeout=1))
    asked = Authorise(subject="psu", request="R1", approval=link)
    with pytest.raises(CannotArrange):
        dry_target.sign(asked, access, lambda _: NOW)


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://Bank.example/a?b", ("http", "bank.example", 80)),
        ("https://bank.example:8443", ("https", "bank.example", 8443)),
        ("http://[::1]:80/", ("http", "::1", 80)),
        ("http://[", ("", "", 0)),
        ("http://bank.example:x/", ("", "", 0)),
        ("tppapp://back", ("tppapp", "back", 0)),
        ("", ("", "", 0)),
    ],
)
def test_origins(url, found):
    """Hosts are the same with and without their usual port, and nonsense is none."""
    assert found == origin(url)
