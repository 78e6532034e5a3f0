"""The screens, used by a browser without scripts and cookies."""

import re

import pytest

from assay.sandbox.mutants import PIS_NEUTRAL
from assay.sandbox.policies import SOUND

BACK = "https://tpp.example/back/yes?flow=17&x=%C3%A9#done"
REFUSED = "https://tpp.example/back/no?flow=17"


@pytest.fixture
def tpp(world):
    return world.tpp()


@pytest.fixture
def payer(world):
    return world.payer()


def at(minutes, seconds=0):
    """Return a moment after ten in the morning, when the world starts."""
    return f"2026-09-16T10:{minutes:02d}:{seconds:02d}+02:00"


@pytest.mark.parametrize("factor", ["sms", "cap", "soft-token"])
def test_signing(tpp, payer, factor):
    """Password, factor, code and the payment itself; then back to the TPP."""
    payment = tpp.pay(payer)
    browser = payment.screens()
    seen = []
    while browser.screen:
        seen.append(browser.screen)
        assert browser.answer.status_code == 200
        browser.submit(**browser.fill(factor))
    assert ["password", "factor", "code", "confirm"] == seen
    assert (303, BACK) == (browser.answer.status_code, browser.location)
    assert payment.status() == "executed"


def test_parameters_of_the_bank_stand_before_the_fragment(open_bank):
    """What a neutral variant adds to the address is no part of its fragment."""
    change = next(each for each in PIS_NEUTRAL if each.id == "pis.returns-with-parameters").change
    world = open_bank(policies=change(SOUND)).world()
    browser = world.tpp().pay(world.payer()).screens().walk()
    added = BACK.replace("?", "?state=confirm&").replace("#", "&id=4711#")
    assert added == browser.location


def test_refusing(tpp, payer):
    """A refusal ends at the other URL, and the payment is refused."""
    payment = tpp.pay(payer)
    browser = payment.screens().walk(decision="refuse")
    assert (303, REFUSED) == (browser.answer.status_code, browser.location)
    assert payment.status() == "refused"


def test_refusing_with_nowhere_to_go(tpp, payer):
    """Without the other URL, a refusal ends at a page of the bank."""
    payment = tpp.pay(payer, unsuccessfulReportUrl=...)
    browser = payment.screens().walk(decision="refuse")
    assert (200, None, "refused") == (
        browser.answer.status_code,
        browser.location,
        browser.page.name,
    )


@pytest.mark.parametrize("url", ["http://localhost:9000/", "https://tpp.example", BACK])
def test_the_way_back_is_exact(tpp, payer, url):
    """The customer is redirected to exactly the given URL."""
    browser = tpp.pay(payer, successfulReportUrl=url).screens().walk()
    assert url == browser.location


def test_rejected_after_signing(tpp, payer):
    """A payment rejected by a rule redirects the customer as after signing."""
    payment = tpp.pay(payer, categoryPurpose="CASH")
    assert payment.screens().walk().location == BACK
    assert payment.status() == "rejected"


@pytest.mark.parametrize(
    ("segment", "factors"), [("PART", ["sms", "cap", "soft-token"]), ("PRO", ["sms", "cap"])]
)
def test_factors(world, tpp, segment, factors):
    """Small professionals are not offered the soft token, and cannot submit it."""
    payer = world.payer(segment)
    browser = tpp.pay(payer).screens().walk("factor")
    assert factors == browser.page.fields["factor"]
    taken = browser.submit(factor="soft-token").screen
    assert taken == ("code" if "soft-token" in factors else "factor")


@pytest.mark.parametrize("segment", ["PART", "PRO"])
def test_a_factor_that_is_offered_to_nobody(world, tpp, segment):
    """The bank does not offer codes by e-mail, and they cannot be submitted."""
    payer = world.payer(segment)
    browser = tpp.pay(payer).screens().walk("factor")
    assert browser.submit(factor="email").screen == "factor"
    assert "email" in payer.factors


def test_the_payment_is_shown(tpp, payer):
    """The screen shows the requested payment."""
    browser = tpp.pay(payer, paymentType="deferred").screens().walk("confirm")
    for text in ("250.00 EUR", "FR7630006000011234567890189", "2026-09-18", "Invoice 17"):
        assert text in browser.page.text
    assert ["confirm", "refuse"] == browser.page.fields["decision"]


def test_wrong_passwords(tpp, payer):
    """A wrong password can be corrected twice; the third locks the signing."""
    payment = tpp.pay(payer)
    browser = payment.screens()
    for login, password in ((payer.login, "wrong"), ("nobody", payer.password)):
        browser.submit(login=login, password=password)
        assert (200, "password") == (browser.answer.status_code, browser.screen)
        assert "do not go with" in browser.page.text
    assert browser.submit(login=payer.login, password="").page.name == "locked"
    assert (410, None) == (browser.answer.status_code, browser.location)
    assert payment.status() == "expired"
    assert payment.screens().page.name == "locked"


def test_wrong_codes(tpp, payer):
    """Wrong codes and passwords count together, and another factor's code is wrong."""
    payment = tpp.pay(payer)
    browser = payment.screens().submit(login=payer.login, password="wrong").walk("code")
    assert browser.submit(code=payer.factors["cap"]).screen == "code"
    assert "not right" in browser.page.text
    assert browser.submit(code="").page.name == "locked"
    assert payment.executed() == []


def test_one_mistake_is_forgiven(tpp, payer):
    """One mistake on each screen is allowed."""
    browser = tpp.pay(payer).screens()
    browser.submit(login=payer.login, password="wrong").walk("factor")
    browser.submit(factor="fax").submit().walk("code")
    browser.submit(code="000000").walk("confirm")
    assert browser.submit(decision="perhaps").submit().screen == "confirm"
    assert browser.walk().location == BACK


def test_another_customer_cannot_sign(world, tpp, payer):
    """Only the account's owner can log in."""
    payment = tpp.pay(payer)
    browser = payment.screens()
    other = world.payer()
    assert browser.submit(login=other.login, password=other.password).screen == "password"
    assert payment.status() == "received"


def test_no_step_is_skipped(tpp, payer):
    """Only the field of the current screen counts."""
    browser = tpp.pay(payer).screens()
    everything = {
        "factor": "sms",
        "code": payer.factors["sms"],
        "decision": "confirm",
        "screen": "confirm",
    }
    browser.submit(**everything)
    assert browser.screen == "password"
    login = {"login": payer.login, "password": payer.password}
    for screen in ("factor", "code", "confirm"):
        assert browser.submit(**login, **everything).screen == screen


def test_looking_again(tpp, payer):
    """A page that is loaded again is the same page."""
    browser = tpp.pay(payer).screens()
    for screen in ("password", "factor", "code", "confirm"):
        browser.walk(screen)
        assert browser.open(browser.page.action).screen == screen


@pytest.mark.parametrize(("moment", "alive"), [(at(3, 59), True), (at(4), False), (at(5), False)])
@pytest.mark.parametrize("screen", ["password", "factor", "code", "confirm"])
def test_idle(world, tpp, payer, *, moment, alive, screen):
    """Four minutes after the last request the signing expires, on every screen."""
    payment = tpp.pay(payer)
    browser = payment.screens().walk(screen)
    world.at(moment)
    assert payment.status() == ("received" if alive else "expired")
    browser.submit(**browser.fill())
    if alive:
        assert browser.page.name != "disconnected"
        return
    assert (410, "disconnected", None) == (
        browser.answer.status_code,
        browser.page.name,
        browser.location,
    )
    assert payment.status() == "expired"
    assert [] == world.executions()


def test_activity_renews(world, tpp, payer):
    """Every request counts as activity, even loading a screen or a wrong entry."""
    browser = tpp.pay(payer).screens()
    world.at(at(3, 59))
    browser.open(browser.page.action)
    world.at(at(7, 58))
    browser.submit(login="x", password="x")
    world.at(at(11, 57))
    browser.walk("confirm")
    world.at(at(15, 56))
    assert browser.submit(decision="confirm").location == BACK


@pytest.mark.parametrize(
    ("seconds", "alive"), [(29 * 60 + 59, True), (30 * 60, False), (30 * 60 + 1, False)]
)
def test_overall(world, tpp, payer, seconds, alive):
    """Thirty minutes after the first screen the signing expires, despite all activity."""
    payment = tpp.pay(payer)
    browser = payment.screens().walk("confirm")
    for minutes in range(3, 30, 3):
        world.at(at(minutes))
        assert browser.submit().screen == "confirm"
    minutes, rest = divmod(seconds, 60)
    world.at(at(minutes, rest))
    browser.submit(decision="confirm")
    assert (BACK if alive else None) == browser.location
    assert payment.status() == ("executed" if alive else "expired")


def test_the_timers_start_with_the_first_screen(world, tpp, payer):
    """The timers start with the first screen, not with the link."""
    payment = tpp.pay(payer)
    world.at("2026-09-19T10:00:00+02:00")
    assert payment.screens().walk().location == BACK


def test_disconnected_for_good(world, tpp, payer):
    """After the expiry neither the link nor any page works."""
    payment = tpp.pay(payer)
    browser = payment.screens().walk("confirm")
    action = browser.page.action
    world.at(at(4))
    for again in (
        browser.http.get(payment.approval),
        browser.http.get(action),
        browser.http.post(action, data={"decision": "confirm"}),
    ):
        assert again.status_code == 410
        assert "Location" not in again.headers
        assert "tpp.example" not in again.text
    world.at("2026-10-16T10:00:00+02:00")
    assert payment.status() == "expired"
    assert [] == world.executions()


def test_a_deferred_payment_expires_too(world, tpp, payer):
    """An expired deferred payment is not executed on its day."""
    payment = tpp.pay(payer, paymentType="deferred")
    payment.screens().walk("confirm")
    world.at("2026-09-30T10:00:00+02:00")
    assert payment.status() == "expired"
    assert [] == world.executions()


def test_signed_payments_do_not_expire(world, tpp, payer):
    """The timers end with the signing."""
    payment = tpp.pay(payer, paymentType="deferred")
    payment.screens().walk()
    world.at("2026-09-17T10:00:00+02:00")
    assert payment.status() == "pending"


@pytest.mark.parametrize("decision", ["confirm", "refuse"])
def test_signing_ends(world, tpp, payer, decision):
    """Submitting a form a second time has no effect."""
    payment = tpp.pay(payer)
    browser = payment.screens().walk("confirm")
    action = browser.page.action
    browser.submit(decision=decision)
    again = browser.http.post(action, data={"decision": "confirm"})
    assert (410, None) == (again.status_code, again.headers.get("Location"))
    assert payment.screens().page.name == "closed"
    assert (decision == "confirm") is (len(world.executions()) == 1)


def test_cancelled_meanwhile(tpp, payer):
    """A payment cancelled during signing cannot be signed."""
    payment = tpp.pay(payer, paymentType="deferred")
    browser = payment.screens().walk("confirm")
    payment.modify(status="cancelled")
    assert browser.submit(decision="confirm").page.name == "closed"
    assert payment.status() == "cancelled"


def test_modified_meanwhile(tpp, payer):
    """A payment modified during signing is shown again before it can be confirmed."""
    payment = tpp.pay(payer, paymentType="deferred")
    browser = payment.screens().walk("confirm")
    payment.modify(amount="9000.00")
    browser.submit(decision="confirm")
    assert browser.screen == "confirm"
    assert "9000.00 EUR" in browser.page.text
    assert payment.status() == "received"
    assert browser.submit(decision="confirm").location == BACK


def test_one_signing_for_each_payment(tpp, payer):
    """The link shows the password screen until the login, and then nothing."""
    payment = tpp.pay(payer)
    browser = payment.screens()
    assert payment.screens().page.action == browser.page.action
    browser.walk("factor")
    second = payment.screens()
    assert (409, "elsewhere") == (second.answer.status_code, second.page.name)
    assert browser.page.action not in second.answer.text


def test_the_key_changes_with_the_password(tpp, payer):
    """The key of the first screen does not work after the login."""
    payment = tpp.pay(payer)
    stranger, browser = payment.screens(), payment.screens()
    browser.walk("confirm")
    for answer in (
        stranger.http.get(stranger.page.action),
        stranger.http.post(stranger.page.action, data={"decision": "confirm"}),
    ):
        assert answer.status_code == 404
    assert payment.status() == "received"
    assert browser.walk().location == BACK


def test_keys_of_others(bank, world, tpp, payer):
    """A key works for its own signing in its own world only."""
    payment, two = tpp.pay(payer), tpp.pay(payer, amount="7.00")
    first, second = payment.screens().walk("confirm"), two.screens()
    assert first.page.action != second.page.action
    second.submit(**second.fill())
    assert two.status() == payment.status() == "received"
    key = first.page.action.rpartition("/")[2]
    assert len(key) >= 32
    approval = payment.approval.rpartition("/")[2]
    for path in (
        f"/signing/{bank.world().id}/{key}",
        f"/signing/w99/{key}",
        f"/signing/{world.id}/{approval}",
        f"/signing/{world.id}/{key[:-1]}",
        f"/signing/{world.id}/",
        f"/signing/{world.id}",
        "/signing/",
        f"/consent-approval/{world.id}/{key}",
        f"/consent-approval/{world.id}/{payment.id}",
        "/consent-approval/",
    ):
        assert bank.http.get(path).status_code == 404


def test_verbs(bank, tpp, payer):
    """HEAD does not start a signing, and other methods are refused."""
    payment = tpp.pay(payer)
    for verb in ("HEAD", "OPTIONS", "POST", "DELETE"):
        assert bank.http.request(verb, payment.approval).status_code == 405
    browser = payment.screens()
    assert bank.http.put(browser.page.action).headers["Allow"] == "GET, POST"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "\"><img src=x onerror='alert(1)'>",
        "</dd></dl><form data-screen='code'>",
        "{{ 7 * 7 }}{% include 'x' %}",
        "&amp;lt;",
        "\x00\x1b[31m",
        "\u202eevil",
    ],
)
def test_references_are_escaped(tpp, payer, text):
    """Texts of a TPP are escaped in the pages."""
    browser = tpp.pay(payer, reference=text).screens().walk("confirm")
    assert "49" not in browser.page.text.partition("Reference")[2]
    tags = [name for name, _ in browser.page.tags]
    assert "script" not in tags
    assert "img" not in tags
    assert tags.count("form") == 1
    assert text.replace("\x00", "") in browser.page.text.replace("\x00", "")
    assert browser.walk().location == BACK


def test_unpaired_surrogates(world, tpp, payer):
    """JSON can contain invalid Unicode; pages and lists are still shown."""
    body = tpp.body(payer)
    content = b'{"reference": "\\ud800", ' + tpp.http.build_request(
        "POST", "/", json={name: value for name, value in body.items() if name != "reference"}
    ).content.lstrip(b"{")
    made = tpp.call("POST", "/payment-requests", content=content)
    assert made.status_code == 201
    payment = tpp.pay(payer)
    payment.id = made.json()["paymentRequestResourceId"]
    payment.approval = made.json()["links"]["consentApproval"]
    assert payment.screens().walk().location == BACK
    assert payment.status() == "executed"
    payer.consent(*payer.keys())
    assert payer.get(f"/transactions?iban={payer.keys()[0]}").status_code == 200


@pytest.mark.parametrize(
    "asked",
    [
        "https://evil.example/",
        "https://tpp.example.evil.example/",
        "https://tpp.example@evil.example/",
        "//evil.example",
        BACK + "/../other",
    ],
)
def test_open_redirects(tpp, payer, asked):
    """Input of the browser does not influence the redirection."""
    payment = tpp.pay(payer)
    browser = payment.screens()
    names = ("returnUrl", "next", "url", "redirect", "successfulReportUrl")
    for _ in range(4):
        browser.page.action += f"?returnUrl={asked}&successfulReportUrl={asked}"
        browser.submit(**browser.fill(**dict.fromkeys(names, asked)))
    assert browser.location == BACK


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe=%ff",
        b"&".join(b"a%d=1" % n for n in range(500)),
        b"login=" + b"a" * 200_000,
        b"%00=%00",
        b'{"login": "x"}',
        b"login=a&login=b&password=%ED%A0%80",
    ],
)
def test_forms_that_do_not_read(tpp, payer, content):
    """Arbitrary forms show the page again."""
    browser = tpp.pay(payer).screens()
    answer = browser.http.post(browser.page.action, content=content)
    assert answer.status_code == 200
    assert 'data-screen="password"' in answer.text


def test_pages_keep_to_themselves(world, tpp, payer):
    """Pages have no scripts, external references or cookies, and are not cached or framed."""
    payment = tpp.pay(payer)
    browser = payment.screens()
    screens = ("password", "factor", "code", "confirm", None)
    pages = [browser.walk(screen).answer for screen in screens]
    pages += [payment.screens().answer, browser.http.get("/signing/x/y")]
    for page in pages:
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert page.headers["Cache-Control"] == "no-store"
        assert page.headers["Referrer-Policy"] == "no-referrer"
        assert "Set-Cookie" not in page.headers
        assert not re.search(r"<script|src=|https?://|url\(", page.text)


def test_the_policy_lets_the_customer_back(tpp, payer):
    """Browsers check redirections against `form-action`, so it has both return URLs."""
    failure = "http://other.example:8080/no"
    browser = tpp.pay(payer, unsuccessfulReportUrl=failure).screens()
    assert "form-action 'self';" in browser.answer.headers["Content-Security-Policy"]
    policy = browser.walk("confirm").answer.headers["Content-Security-Policy"]
    assert "form-action 'self' http://other.example:8080 https://tpp.example;" in policy


def test_the_style_is_the_one_that_is_allowed(tpp, payer):
    """The digest in the policy is that of the page's style."""
    from base64 import b64encode  # noqa: PLC0415 -- only here
    from hashlib import sha256  # noqa: PLC0415

    answer = tpp.pay(payer).screens().answer
    style = re.search(r"<style>(.*?)</style>", answer.text, re.DOTALL)[1]
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in answer.headers["Content-Security-Policy"]


def test_pages_are_accessible(tpp, payer):
    """Each page has a language, a title and a heading, and each field a label."""
    browser = tpp.pay(payer).screens()
    while browser.screen:
        tags = browser.page.tags
        names = [name for name, _ in tags]
        assert names.count("h1") == names.count("title") == names.count("main") == 1
        assert ("html", {"lang": "en"}) in tags
        labels = {given.get("for") for name, given in tags if name == "label"}
        assert {given["id"] for name, given in tags if name == "input"} <= labels
        browser.submit(**browser.fill())


def test_screens_close_for_maintenance(bank):
    """On Monday night a page says that the bank is closed, and the timers continue."""
    world = bank.world(now="2026-09-21T01:58:00+02:00")
    tpp, payer = world.tpp(), world.payer()
    payment = tpp.pay(payer)
    browser = payment.screens().walk("confirm")
    world.at("2026-09-21T02:00:00+02:00")
    action = browser.page.action
    browser.submit(decision="confirm")
    assert (503, "maintenance") == (browser.answer.status_code, browser.page.name)
    world.at("2026-09-21T06:00:00+02:00")
    browser.page.action = action
    assert browser.submit(decision="confirm").page.name == "disconnected"
    assert payment.status() == "expired"
