"""Signing by forms: the way through a stranger's screens, over plain HTTP, page by page."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import pytest
from rows import for_each

from assay.binding.model.target import Sca, ScaKind
from assay.binding.wire.encode import Access, HttpRequest
from assay.errors import CannotArrange
from assay.history import Authorise, Code, Decision, Ending, Staying, Wire
from assay.sca import html_forms as pages
from assay.sca.protocol import (
    SPOOFED,
    ControlSigner,
    ScreenFlowResult,
    codes_by_factor,
    factor_name,
    text_to_enter,
)
from assay.sca.screen_flow import FormsSigner
from assay.transport.http import HttpClient
from assay.transport.protocol import OTHER_HOST, Delivery, Transport, answered, unanswered

BASE = "https://bank.example"
LINK = f"{BASE}/sign/P1"
BACK = "https://tpp.example/back?state=4711"
AT = datetime(2026, 9, 16, 10, tzinfo=UTC)
SCA = Sca(
    kind=ScaKind.FORMS,
    screens=(
        {"login": "login", "password": "password"},
        {"factor": "factor"},
        {"code": "code"},
        {"decision": "decision"},
    ),
)
ACCESS = Access(login="ada", password="s3cret &+", codes={"sms": "123456", "cap": "777777"})
STEP = Authorise(subject="psu", request="P1", approval=LINK)
MINUTE = timedelta(minutes=1)

# -- what a bank shows ------------------------------------------------------------
Answer = tuple[int, str, str] | None


def form(inside: str, action: str = "/next", method: str = "post") -> str:
    """Write a page with one form."""
    return f"<html><form action='{action}' method='{method}'>{inside}</form></html>"


def shows(body: str, status: int = 200, **headers: str) -> tuple[int, dict[str, str], str]:
    """Answer with a page."""
    return status, headers, body


def sends(where: str, status: int = 303, **headers: str) -> tuple[int, dict[str, str], str]:
    """Send the browser elsewhere."""
    return status, {"Location": where, **headers}, ""


LOGIN = shows(form("<input name=login><input name=password type=password>"))
FACTOR = shows(
    form(
        "<input type=radio name=factor value=sms> By SMS <input type=radio name=factor value=cap>",
        action="?step=2",
    )
)
CODE = shows(form("<input name=code inputmode=numeric>"))
CONFIRM = shows(
    form(
        "<button name=decision value=confirm>Yes</button><button name=decision value=refuse>No"
        "</button>"
    )
)
THANKS = shows("<h1>Thank you</h1>")
GONE = shows("<h1>You were disconnected</h1>", 410)
HOME = sends(BACK)
ALL = (LOGIN, FACTOR, CODE, CONFIRM)
#: A single screen for the login and the factor.
AT_ONCE = shows(
    form("<input name=login><input name=password><select name=factor><option>sms</select>")
)


@dataclass
class Bank:
    """A carrier to a bank that shows these pages in turn; None is no answer at all."""

    script: list[Any]
    asked: list[HttpRequest] = field(default_factory=list)
    base_url: str = BASE
    reached: bool = True

    def send(self, request: HttpRequest) -> Delivery:
        self.asked.append(request)
        if not request.url.startswith(f"{BASE}/"):
            return unanswered(request, OTHER_HOST)
        came = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if came is None:
            return unanswered(request, "no answer within 10 s")
        status, headers, body = came
        raw = body if isinstance(body, bytes) else body.encode()
        return answered(request, status, tuple(headers.items()), raw, truncated=False)

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        raise AssertionError("nobody asks the control API")

    def close(self) -> None:
        pass


@dataclass
class Clock:
    """A clock that moves only when somebody waits."""

    now: datetime = AT
    waits: list[timedelta] = field(default_factory=list)

    def __call__(self, span: timedelta) -> datetime:
        self.waits.append(span)
        self.now += span
        return self.now


@dataclass
class Way:
    """What became of a way through the screens, and all that was sent on it."""

    walked: ScreenFlowResult
    asked: list[HttpRequest]
    clock: Clock

    @property
    def lines(self) -> list[str]:
        return [f"{one.method} {one.url.removeprefix(BASE)}" for one in self.asked]

    @property
    def filled(self) -> list[dict[str, str]]:
        return [
            dict(parse_qsl(one.body.decode(), keep_blank_values=True))
            for one in self.asked
            if one.method == "POST"
        ]


def walk(*script: Any, sca: Sca = SCA, access: Access = ACCESS, **step: Any) -> Way:
    """Let a customer sign at a bank that shows these pages."""
    bank, clock = Bank(list(script)), Clock()
    signer = FormsSigner(sca=sca, transport=bank)
    walked = signer.sign(replace(STEP, **step), access, clock)
    return Way(walked, bank.asked, clock)


def ended(way: Way) -> tuple[Ending, str | None]:
    """Say how a way ended, and where the browser was sent."""
    return way.walked.ending, way.walked.redirected


# -- the plain way ----------------------------------------------------------------


def test_a_signature() -> None:
    """One screen after the other is filled in, and then the browser is sent away."""
    way = walk(*ALL, HOME)

    assert (Ending.CONFIRMED, BACK) == ended(way)
    assert ["login", "password", "factor", "code", "decision"] == way.walked.screens
    assert ("sms", "cap") == way.walked.offered
    assert [
        "GET /sign/P1",
        "POST /next",
        "POST /next?step=2",
        "POST /next",
        "POST /next",
    ] == way.lines
    assert [
        {"login": "ada", "password": "s3cret &+"},
        {"factor": "sms"},
        {"code": "123456"},
        {"decision": "confirm"},
    ] == way.filled
    assert "" == way.walked.why
    assert 303 == way.walked.wire.status


def test_who_is_sent_away_is_not_followed() -> None:
    """Nobody calls the third party's address."""
    assert all(one.url.startswith(BASE) for one in walk(*ALL, HOME).asked)


def test_a_refusal() -> None:
    """The other button is pressed, whatever comes then."""
    way = walk(*ALL, THANKS, decision=Decision.REFUSE)

    assert (Ending.REFUSED, None) == ended(way)
    assert {"decision": "refuse"} == way.filled[-1]
    assert Ending.REFUSED is walk(*ALL, HOME, decision=Decision.REFUSE).walked.ending


def test_the_target_spells_the_decision() -> None:
    """In words of its own."""
    sca = replace(SCA, decisions={"confirm": "ja", "refuse": "nein"})

    assert {"decision": "ja"} == walk(*ALL, HOME, sca=sca).filled[-1]
    assert {"decision": "nein"} == walk(*ALL, HOME, sca=sca, decision=Decision.REFUSE).filled[-1]


def test_who_signed_may_stay() -> None:
    """A last page without a redirection is an end, too."""
    assert (Ending.CONFIRMED, None) == ended(walk(*ALL, THANKS))


def test_screens_may_be_put_together_otherwise() -> None:
    """Everything on one screen, under other names."""
    names = {"user": "login", "pin": "password", "tan": "code", "how": "factor", "ok": "decision"}
    fields = "".join(f"<input name={name} value=old>" for name in ("user", "pin", "tan"))
    fields += "<select name=how><option value=app>App</select><button name=ok value=go>Go</button>"
    sca = replace(SCA, screens=(names,), factors={"cap": "app"}, decisions={"confirm": "go"})
    way = walk(shows(form(fields)), HOME, sca=sca)

    assert [{"user": "ada", "pin": "s3cret &+", "tan": "", "how": "app", "ok": "go"}] == [
        {**one, "tan": ""} for one in way.filled
    ]
    assert (Ending.CONFIRMED, BACK) == ended(way)
    assert ("cap",) == way.walked.offered


def test_the_screen_with_the_most_fields_is_the_one() -> None:
    """A login that asks for a code as well is not taken for the screen of the code."""
    sca = replace(SCA, screens=(*SCA.screens, {"login": "login", "code": "code"}))
    search = "<form action=/search><input name=q></form>"
    both = form("<input name=login><input name=code>")
    way = walk(shows(search + form("<input name=code>", "/no") + both), HOME, sca=sca)

    assert ["GET /sign/P1", "POST /next"] == way.lines
    assert ["login", "code"] == way.walked.screens


# -- how it ends otherwise --------------------------------------------------------


@for_each("so_far", range(4))
@for_each("status", [404, 409, 410, 503])
def test_a_page_that_refuses_before_the_decision_is_a_disconnection(
    so_far: int, status: int
) -> None:
    """The page itself tells who minds whether the target failed."""
    way = walk(*ALL[:so_far], shows("<h1>Over</h1>", status))

    assert (Ending.DISCONNECTED, None) == ended(way)
    assert status == way.walked.wire.status


@for_each(
    ("status", "step", "ending"),
    [
        (403, {}, Ending.CONFIRMED),
        (410, {"decision": Decision.REFUSE}, Ending.REFUSED),
        (503, {}, Ending.DISCONNECTED),
        (403, {"linger": (MINUTE,)}, Ending.DISCONNECTED),
        (403, {"pace": MINUTE}, Ending.DISCONNECTED),
        (403, {"code": Code.WRONG}, Ending.DISCONNECTED),
        (403, {"by": "other"}, Ending.DISCONNECTED),
    ],
)
def test_what_refuses_the_decision_of_one_who_was_quick_ends_no_visit(
    status: int, step: dict[str, Any], ending: Ending
) -> None:
    """The decision was made; who paused, typed something wrong or is another was sent away."""
    way = walk(*ALL, shows("<h1>Over</h1>", status), **step)

    assert (ending, status) == (way.walked.ending, way.walked.wire.status)


@pytest.mark.parametrize("so_far", range(4))
def test_who_is_sent_away_before_the_decision_is_disconnected(so_far: int) -> None:
    """And where to is told."""
    assert (Ending.DISCONNECTED, BACK) == ended(walk(*ALL[:so_far], HOME))


@pytest.mark.parametrize("so_far", range(4))
def test_a_page_that_nobody_knows_stops_the_way(so_far: int) -> None:
    """The profile may spell a screen less than there are."""
    way = walk(*ALL[:so_far], shows("<form><input name=captcha></form>"))

    assert (Ending.STOPPED, None) == ended(way)
    assert "the page matches no screen in sca.screens (200)" == way.walked.why


@pytest.mark.parametrize("so_far", range(5))
def test_no_answer_stops_the_way(so_far: int) -> None:
    """Also after the decision: nobody knows whether it arrived."""
    way = walk(*ALL[:so_far], None)

    assert (Ending.STOPPED, None) == ended(way)
    assert "no answer within 10 s" == way.walked.why


def test_the_same_screen_again_stops_the_way() -> None:
    """A wrong code, for one: it is not tried again."""
    way = walk(*ALL[:3], CODE, code=Code.WRONG)

    assert Ending.STOPPED is way.walked.ending
    assert "the same screen was shown again, which asks for" in way.walked.why
    assert 4 == len(way.asked)


def test_screens_that_never_end_are_left() -> None:
    """Two screens that send to each other for ever."""
    way = walk(*[LOGIN, CODE] * 50)

    assert Ending.STOPPED is way.walked.ending
    assert way.walked.why.endswith("; the flow did not end within the allowed number of screens")
    assert len(way.asked) <= 13


def test_the_decision_may_come_before_the_code() -> None:
    """Then the way ends with the last screen, and not with the decision."""
    way = walk(LOGIN, FACTOR, CONFIRM, CODE, HOME)

    assert (Ending.CONFIRMED, BACK) == ended(way)
    assert ["login", "password", "factor", "decision", "code"] == way.walked.screens
    assert Ending.CONFIRMED is walk(LOGIN, CONFIRM, CODE, GONE).walked.ending
    assert Ending.STOPPED is walk(LOGIN, CONFIRM, CODE, CODE).walked.ending


# -- what cannot be done ----------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "access", "why"),
    [
        ({"approval": None}, ACCESS, "a link to the signing screens"),
        ({"approval": ""}, ACCESS, "a link to the signing screens"),
        ({}, replace(ACCESS, login=None), "a customer with credentials"),
        ({}, replace(ACCESS, password=None), "a customer with credentials"),
    ],
)
def test_what_is_lacking_is_said(step: dict[str, Any], access: Access, why: str) -> None:
    """Before anything is sent."""
    with pytest.raises(CannotArrange, match=why):
        walk(LOGIN, access=access, **step)


# -- factors and codes ------------------------------------------------------------


def factors(*values: str) -> tuple[int, dict[str, str], str]:
    """Show a screen that offers these factors."""
    return shows(form("".join(f"<input type=radio name=factor value={one}>" for one in values)))


def test_the_factor_that_was_asked_for_is_picked() -> None:
    """And its code typed in."""
    way = walk(LOGIN, FACTOR, CODE, CONFIRM, HOME, factor="cap")
    assert ({"factor": "cap"}, {"code": "777777"}) == (way.filled[1], way.filled[2])


def test_a_factor_that_is_not_offered() -> None:
    """Nothing else is picked; what is offered is told, and nobody waits or sends any more."""
    way = walk(LOGIN, FACTOR, CODE, factor="soft-token")

    assert (Ending.STOPPED, "the factor soft-token is not offered") == (
        way.walked.ending,
        way.walked.why,
    )
    assert ("sms", "cap") == way.walked.offered
    assert ["login", "password"] == way.walked.screens
    assert 2 == len(way.asked)


def test_no_factor_at_all() -> None:
    """A screen of factors without any is an odd one."""
    way = walk(LOGIN, shows(form("<select name=factor></select><input name=factor>")), CODE)

    assert (Ending.STOPPED, "no factor is offered", ()) == (
        way.walked.ending,
        way.walked.why,
        way.walked.offered,
    )


def test_factors_are_told_in_the_contracts_words() -> None:
    """One that the profile does not spell is told as it stands there."""
    sca = replace(SCA, factors={"soft-token": "APP", "sms": "TXT"})
    access = replace(ACCESS, codes={"soft-token": "1", "sms": "2"})
    way = walk(
        LOGIN,
        factors("TXT", "APP", "face"),
        CODE,
        CONFIRM,
        HOME,
        sca=sca,
        access=access,
        factor="soft-token",
    )

    assert ("sms", "soft-token", "face") == way.walked.offered
    assert ({"factor": "APP"}, {"code": "1"}) == (way.filled[1], way.filled[2])
    assert ("TXT", "sms", "APP") == (
        sca.factors["sms"],
        factor_name(sca, "TXT"),
        sca.factors["soft-token"],
    )


#: A form on which each factor has a field of its own, and the customer decides.
EACH_ITS_OWN = shows(
    form("<input name=smsCode><input name=capCode><button name=decision value=confirm>Yes</button>")
)
OWN_FIELDS = replace(
    SCA,
    screens=(
        SCA.screens[0],
        *({f"{name}Code": "code", "decision": "decision"} for name in ("sms", "cap")),
    ),
    factors={"sms": "smsCode", "cap": "capCode", "soft-token": "appCode"},
)


@for_each(
    ("factor", "field", "code"),
    [(None, "smsCode", "123456"), ("sms", "smsCode", "123456"), ("cap", "capCode", "777777")],
)
def test_each_factor_has_a_field_of_its_own(factor: str | None, field: str, code: str) -> None:
    """The code stands in that of the factor, and nothing in the others."""
    way = walk(LOGIN, EACH_ITS_OWN, HOME, sca=OWN_FIELDS, factor=factor)
    filled = {name: text for name, text in way.filled[1].items() if text}
    assert ({field: code, "decision": "confirm"}, Ending.CONFIRMED) == (filled, way.walked.ending)
    assert ("sms", "cap") == way.walked.offered
    assert ["login", "password", "factor", "code", "decision"] == way.walked.screens


def test_who_sends_no_factor_stays_on_a_form_with_a_field_for_each() -> None:
    """None of the fields is sent, and the customer signs when the screen is shown again."""
    spans = (MINUTE, MINUTE)
    way = walk(
        *(LOGIN, EACH_ITS_OWN, EACH_ITS_OWN, HOME),
        sca=OWN_FIELDS,
        linger=spans,
        linger_on="factor",
        stays=Staying.NO_FACTOR,
    )
    assert [{}, {"smsCode": "123456", "capCode": "", "decision": "confirm"}] == way.filled[1:]
    assert Ending.CONFIRMED is way.walked.ending


def test_a_factor_without_a_field_is_not_offered() -> None:
    """Its code is sent only where it is to be tried all the same."""
    way = walk(LOGIN, EACH_ITS_OWN, HOME, sca=OWN_FIELDS, factor="soft-token")
    assert (Ending.STOPPED, "the factor soft-token is not offered") == (
        way.walked.ending,
        way.walked.why,
    )
    access = replace(ACCESS, codes={**ACCESS.codes, "soft-token": "999999"})
    tried = walk(
        LOGIN, EACH_ITS_OWN, HOME, sca=OWN_FIELDS, access=access, factor="soft-token", forced=True
    )
    assert "999999" == tried.filled[1]["appCode"]


@for_each(
    ("codes", "factor", "asked", "code"),
    [
        ({}, "cap", ["cap"], "code of cap"),
        ({"cap": "777777"}, "cap", [], "777777"),
        ({"cap": "777777"}, "sms", ["sms"], "code of sms"),
    ],
)
def test_a_code_that_is_sent_is_asked_for(
    codes: dict[str, str], factor: str, asked: list[str], code: str
) -> None:
    """Once the screen asks for it: before, the bank has sent none."""
    bank, fixture = Bank([LOGIN, FACTOR, CODE, CONFIRM, HOME]), []

    def sent(_step: Authorise, _access: Access, word: str) -> str:
        fixture.append((word, len(bank.asked)))
        return f"code of {word}"

    signer = FormsSigner(sca=SCA, transport=bank, sent_code=sent)
    walked = signer.sign(replace(STEP, factor=factor), replace(ACCESS, codes=codes), Clock())
    assert ([(word, 3) for word in asked], True) == (fixture, walked.coded)
    assert {"code": [code]} == parse_qs(bank.asked[3].body.decode())
    assert Ending.CONFIRMED is walked.ending


@pytest.mark.parametrize(
    ("script", "anonymous"),
    [
        ((LOGIN, FACTOR, CODE), False),
        ((FACTOR, LOGIN, CODE), True),
        ((AT_ONCE, CODE), True),
        ((FACTOR, CODE), True),
    ],
)
def test_factors_that_are_offered_before_the_login(
    script: tuple[tuple[int, dict[str, str], str], ...], anonymous: bool
) -> None:
    """On the screen of the login, or before it, a bank need not know to whom it offers them."""
    everything = {"login": "login", "password": "password", "factor": "factor"}
    sca = replace(SCA, screens=(*SCA.screens, everything))
    assert anonymous is walk(*script, sca=sca).walked.anonymous


def test_without_a_login_the_payment_says_who_signs() -> None:
    """No screen of the target file asks for one: the bank knows its customer."""
    sca = replace(SCA, screens=tuple(each for each in SCA.screens if "login" not in each))
    assert not walk(FACTOR, CODE, sca=sca).walked.anonymous


@pytest.mark.parametrize(
    ("spelt", "unspelt"),
    [
        ({}, ("TXT", "face")),
        ({"sms": "TXT"}, ("face",)),
        ({"sms": "TXT", "other": "face", "soft-token": "APP"}, ()),
    ],
)
def test_factors_that_the_profile_does_not_spell_are_told(
    spelt: Mapping[str, str], unspelt: tuple[str, ...]
) -> None:
    """As they stand on the screens."""
    way = walk(LOGIN, factors("TXT", "face"), CODE, sca=replace(SCA, factors=spelt))
    assert unspelt == way.walked.unspelt


@pytest.mark.parametrize(
    ("codes", "factor", "coded"),
    [({"sms": "1"}, None, True), ({"sms": "1"}, "cap", False), ({"cap": ""}, "cap", False)],
)
def test_it_is_told_whether_the_code_of_the_factor_is_known(
    codes: Mapping[str, str], factor: str | None, coded: bool
) -> None:
    """Whether or not it is asked for."""
    access = replace(ACCESS, codes=codes)
    for script in ((*ALL, HOME), (LOGIN, FACTOR, CONFIRM, HOME)):
        assert coded is walk(*script, access=access, factor=factor).walked.coded
    # Where no screen offers a choice, only a single code can be the right one.
    single = walk(LOGIN, CODE, CONFIRM, HOME, access=access, factor=factor)
    assert single.walked.coded is coded
    assert {"code": codes.get("sms", "") if coded else ""} == single.filled[1]
    two = replace(ACCESS, codes={"sms": "1", "cap": "2"})
    several = walk(LOGIN, CODE, CONFIRM, HOME, access=two).walked
    assert "no screen says for which of several factors of the customer it is" in several.why
    assert (None, False) == (several.offered, several.coded)
    if factor is None:
        assert ("sms",) == single.walked.offered
    elif codes.get("sms"):
        assert "a code is asked for, but the factor cap is not offered" in single.walked.why


@for_each(
    ("right", "code", "given"),
    [
        ("123456", Code.RIGHT, "123456"),
        ("123456", Code.HALF, "123"),
        ("12345", Code.HALF, "12"),
        ("123456", Code.EMPTY, ""),
        ("123456", Code.WRONG, "000000"),
        ("000000", Code.WRONG, "111111"),
        ("111111", Code.WRONG, "000000"),
    ],
)
def test_what_is_typed_in(right: str, code: Code, given: str) -> None:
    """A wrong code is wrong for sure."""
    way = walk(*ALL, HOME, access=replace(ACCESS, codes={"sms": right}), code=code)

    assert {"code": given} == way.filled[2]
    assert given == text_to_enter(code, right)


@pytest.mark.parametrize(
    ("codes", "known"),
    [
        ({"TXT": "1"}, {"sms": "1"}),
        # It is the contract's name of a factor for which the target has another word.
        ({"sms": "1"}, {}),
        ({"sms": "1", "TXT": "2"}, {"sms": "2"}),
        # Each factor is called like another one on the screens.
        ({"app": "1", "cap": "2"}, {"cap": "1", "app": "2"}),
        ({"eye": "1"}, {"eye": "1"}),
    ],
)
def test_codes_by_the_word_of_the_target(
    codes: Mapping[str, str], known: Mapping[str, str]
) -> None:
    """A code is found by the target's word of its factor, and by no other."""
    factors = {"sms": "TXT", "cap": "app", "app": "cap"}
    assert known == codes_by_factor(factors, codes)


def test_a_code_that_nobody_knows() -> None:
    """Nothing is typed in for a factor whose code the world did not tell, and the reason says so."""
    unknown = walk(*ALL, HOME, access=replace(ACCESS, codes={}))
    assert {"code": ""} == unknown.filled[2]
    missing = "a code is asked for, but the fixture provider has no code of the customer"
    assert unknown.walked.why.startswith(f"{missing} for the factor ")
    assert "000000" == text_to_enter(Code.WRONG, "")


# -- forms ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        "<select name=factor><option value=sms>By SMS<option value=cap>By card</select>",
        "<input type=RADIO name=factor value=sms><input type=radio name=factor value=cap checked>",
        "<button name=factor value=sms>SMS</button><button type=submit name=factor value=cap>C",
        "<INPUT TYPE=submit NAME=factor VALUE=sms><input type=submit name=factor value='cap'/>",
        (
            "<select name=o></select><option value=no><select name=factor><option value=sms></select>"
            "<input type=checkbox name=factor value=cap>"
        ),
    ],
)
def test_choices_are_found_whatever_they_look_like(fields: str) -> None:
    """Options, radio buttons, boxes and buttons offer values."""
    way = walk(LOGIN, shows(form(fields)), CODE, CONFIRM, HOME, factor="cap")

    assert ("sms", "cap") == way.walked.offered
    assert "cap" == way.filled[1]["factor"]


def test_what_a_form_carries_is_sent_back() -> None:
    """Hidden fields and what is filled in beforehand go along, and nothing else does."""
    fields = (
        "<input type=hidden name=csrf value='a&amp;b=c'><input name=login value=you>"
        "<input name=password><textarea name=note></textarea><input name=csrf value=second>"
        "<button name=cancel value=1>Cancel</button><input type=file name=photo>"
        "<input value=nameless><input type=checkbox name=news value=1>"
    )
    outside = "<input name=outside value=1><button name=decision value=confirm></button>"
    way = walk(shows(outside + form(fields) + outside), FACTOR)

    assert {"csrf": "a&b=c", "login": "ada", "password": "s3cret &+", "note": ""} == way.filled[0]


@for_each(
    ("action", "goes"),
    [
        ("", "POST /sign/P1"),
        ("go", "POST /sign/go"),
        ("../go", "POST /go"),
        ("/a?b=c&amp;d", "POST /a?b=c&d"),
        ("?x=1", "POST /sign/P1?x=1"),
        (f"{BASE}/far", "POST /far"),
        ("//bank.example/far", "POST https:///far"),
    ],
)
def test_where_a_form_goes(action: str, goes: str) -> None:
    """As a browser would resolve it."""
    way = walk(shows(form("<input name=login><input name=password>", action)), THANKS)
    assert goes.replace("https://", "") == way.lines[1]


def test_a_form_without_a_method_is_a_question() -> None:
    """Its fields take the place of the address' own, and there is no body."""
    get = form(
        "<input name=login><input name=password><input type=hidden name=k value=v>", "/q?a=1", "GET"
    )
    way = walk(shows(get), THANKS)
    sent = way.asked[1]

    assert ("GET", "/q", b"") == (sent.method, urlsplit(sent.url).path, sent.body)
    assert {"login": "ada", "password": "s3cret &+", "k": "v"} == dict(
        parse_qsl(urlsplit(sent.url).query)
    )
    assert "Content-Type" not in dict(sent.headers)


def test_a_posted_form_says_what_it_is() -> None:
    """As browsers do; and pages are asked for, not JSON."""
    opened, posted = walk(LOGIN, THANKS).asked

    assert {"Accept": "text/html"} == dict(opened.headers)
    assert "application/x-www-form-urlencoded" == dict(posted.headers)["Content-Type"]


def test_a_form_of_the_page_that_a_redirection_led_to() -> None:
    """Its address is relative to where it stands."""
    here = shows(form("<input name=login><input name=password>", "in"))
    way = walk(sends("/deep/er/login"), here, THANKS)
    assert ["GET /sign/P1", "GET /deep/er/login", "POST /deep/er/in"] == way.lines


# -- hosts and redirections -------------------------------------------------------


@for_each("status", [301, 302, 303, 307, 308])
@for_each("where", ["/login", "../login", f"{BASE}/login", "//bank.example/login"])
def test_a_redirection_on_the_host_is_followed(status: int, where: str) -> None:
    """As a question, unless the status says that the same is to be sent again."""
    way = walk(sends(where, status), LOGIN, sends(where, status), FACTOR, CODE, CONFIRM, HOME)

    assert Ending.CONFIRMED is way.walked.ending
    again = "POST" if status in (307, 308) else "GET"
    assert ["GET /sign/P1", "GET /login", "POST /next", f"{again} /login"] == way.lines[:4]
    assert (way.asked[2].body if again == "POST" else b"") == way.asked[3].body


@for_each(
    "where",
    [
        "https://tpp.example/back",
        "http://bank.example/back",
        "https://bank.example:8443/back",
        "https://bank.example.evil.example/back",
        "https://bank.example@evil.example/back",
        "//evil.example/back",
        "tpp-app://signed",
        "javascript:alert(1)",
        "data:text/html,<form>",
    ],
)
def test_a_redirection_off_the_host_is_told_and_not_followed(where: str) -> None:
    """Another scheme, port or host is elsewhere."""
    way = walk(*ALL, sends(where))

    assert Ending.CONFIRMED is way.walked.ending
    assert way.walked.redirected in (where, f"https:{where}")
    assert 5 == len(way.asked)


def test_redirections_without_an_end_are_left() -> None:
    """A host that sends to itself for ever."""
    way = walk(LOGIN, sends("/round"))

    assert Ending.STOPPED is way.walked.ending
    assert len(way.asked) <= 8


def test_a_redirection_to_nowhere_is_no_redirection() -> None:
    """Without an address there is nowhere to go."""
    way = walk(LOGIN, (303, {}, ""))
    assert (Ending.STOPPED, None) == ended(way)


def test_a_form_that_goes_to_another_host_gets_nothing() -> None:
    """What carries requests refuses; the customer's password stays at home."""
    elsewhere = form("<input name=login><input name=password>", "https://evil.example/take")
    sent: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, stream=httpx.ByteStream(elsewhere.encode()))

    client: Transport = HttpClient(base_url=BASE, transport=httpx.MockTransport(respond))
    walked = FormsSigner(sca=SCA, transport=client).sign(STEP, ACCESS, Clock())

    assert (Ending.STOPPED, OTHER_HOST) == (walked.ending, walked.why)
    assert ["bank.example"] == [one.url.host for one in sent]


def test_a_link_to_another_host_is_not_opened() -> None:
    """An answer may name anything as its link."""
    way = walk(LOGIN, approval="https://evil.example/sign")
    assert (Ending.STOPPED, OTHER_HOST) == (way.walked.ending, way.walked.why)


# -- cookies ----------------------------------------------------------------------


def cookies(way: Way) -> list[str]:
    """Return the cookies of each request."""
    return [dict(one.headers).get("Cookie", "") for one in way.asked]


def test_cookies_are_kept_on_the_way() -> None:
    """Of each page and of each redirection; the last of a name counts."""
    way = walk(
        sends("/login", **{"Set-Cookie": "a=1; Path=/; HttpOnly"}),
        shows(LOGIN[2], **{"set-cookie": " b = x=y ;Secure"}),
        shows(CODE[2], **{"SET-COOKIE": "a=2"}),
        THANKS,
    )
    assert ["", "a=1", "a=1; b=x=y", "a=2; b=x=y"] == cookies(way)


def test_several_cookies_of_one_page() -> None:
    """Each has a header of its own."""

    class Two(Bank):
        def send(self, request: HttpRequest) -> Delivery:
            sent = super().send(request)
            headers = (("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Set-Cookie", ""))
            return replace(sent, wire=replace(sent.wire, headers=headers))

    bank = Two([LOGIN, THANKS])
    FormsSigner(sca=SCA, transport=bank).sign(STEP, ACCESS, Clock())
    assert "a=1; b=2" in dict(bank.asked[1].headers)["Cookie"]


def test_cookies_live_as_long_as_one_way() -> None:
    """The next customer of the same signer brings none along."""
    bank = Bank([shows(LOGIN[2], **{"Set-Cookie": "a=1"}), THANKS, LOGIN, THANKS])
    signer = FormsSigner(sca=SCA, transport=bank)
    for _ in range(2):
        signer.sign(STEP, ACCESS, Clock())

    assert ["", "a=1", "", ""] == [dict(one.headers).get("Cookie", "") for one in bank.asked]


# -- time -------------------------------------------------------------------------


def test_nobody_waits_without_being_asked() -> None:
    """Every moment is that at which it began."""
    way = walk(*ALL, HOME)
    assert {AT} == set(way.walked.moments)
    assert {timedelta(0)} == set(way.clock.waits)


def test_a_pace_is_waited_before_each_screen() -> None:
    """Not before the link, which begins the way."""
    way = walk(*ALL, HOME, pace=3 * MINUTE)

    assert [AT + n * 3 * MINUTE for n in range(5)] == way.walked.moments
    assert AT + 12 * MINUTE == way.clock.now


def test_lingering_looks_at_the_screen_of_the_decision() -> None:
    """After all waits but the last, which ends with the decision."""
    way = walk(*ALL, CONFIRM, CONFIRM, HOME, linger=(MINUTE, 2 * MINUTE, 3 * MINUTE))

    assert [
        "GET /sign/P1",
        *["POST /next", "POST /next?step=2", "POST /next"],
        *["GET /next"] * 2,
        "POST /next",
    ] == way.lines
    assert AT + 6 * MINUTE == way.walked.moments[-1] == way.clock.now
    assert {AT, AT + MINUTE, AT + 3 * MINUTE} <= set(way.walked.moments)
    assert (Ending.CONFIRMED, False) == (way.walked.ending, way.walked.reopened)


@pytest.mark.parametrize("over", [GONE, HOME])
def test_an_idle_customer_is_disconnected(over: Any) -> None:
    """The screen loaded again before: then there is nothing more to decide."""
    way = walk(*ALL, CONFIRM, over, linger=(MINUTE, 5 * MINUTE, MINUTE))

    assert Ending.DISCONNECTED is way.walked.ending
    assert "decision" not in way.walked.screens
    assert AT + 6 * MINUTE == way.clock.now


@pytest.mark.parametrize("over", [GONE, HOME])
def test_a_screen_that_never_loads_again_disconnects_no_customer(over: Any) -> None:
    """Many banks answer a form with the next screen, and do not serve its address."""
    way = walk(*ALL, over, linger=(3 * MINUTE, MINUTE))

    assert Ending.STOPPED is way.walked.ending
    assert way.walked.why.startswith("the screen did not load again")
    assert "decision" not in way.walked.screens


def test_a_screen_that_turns_into_another_did_not_load_again() -> None:
    """A bank may begin anew with the login."""
    way = walk(*ALL, LOGIN, linger=(3 * MINUTE, MINUTE))

    assert (Ending.STOPPED, 1) == (way.walked.ending, way.walked.screens.count("login"))
    assert way.walked.why.startswith("the screen did not load again")


def test_a_customer_stays_by_sending_no_factor() -> None:
    """The screen of the factors is sent without one, between two pauses, and then with one."""
    pauses = (3 * MINUTE, 3 * MINUTE, MINUTE)
    step = {"linger": pauses, "linger_on": "factor", "stays": Staying.NO_FACTOR}
    way = walk(LOGIN, FACTOR, FACTOR, FACTOR, CODE, CONFIRM, HOME, **step)

    assert Ending.CONFIRMED is way.walked.ending
    assert [{}, {}, {"factor": "sms"}] == way.filled[1:4]
    refused = walk(LOGIN, FACTOR, shows("<h1>No</h1>", 400), **step)
    assert Ending.STOPPED is refused.walked.ending
    assert refused.walked.why.startswith("the screen of the factors was not shown again")


def test_a_customer_stays_by_opening_the_link_again() -> None:
    """Only before the login: nothing is filled in until the last pause is over."""
    step = {"linger": (MINUTE,) * 3, "linger_on": "password", "stays": Staying.LINK}
    way = walk(LOGIN, LOGIN, *ALL, HOME, **step)

    assert Ending.CONFIRMED is way.walked.ending
    assert ["GET /sign/P1"] * 3 == way.lines[:3]
    loaded = walk(LOGIN, LOGIN, *ALL, HOME, **step | {"stays": Staying.RELOAD})
    assert (way.lines[:3], True) == (loaded.lines[:3], loaded.walked.reopened)
    # Where all screens stand at the link, the one of the decision is shown only after the login.
    at_link = [
        shows(re.sub("action='[^']*'", "action=''", body), status) for status, _, body in ALL
    ]
    late = walk(*at_link, at_link[-1], at_link[-1], HOME, linger=(MINUTE,) * 3)
    assert (Ending.CONFIRMED, False) == (late.walked.ending, late.walked.reopened)
    assert {"GET /sign/P1", "POST /sign/P1"} == set(late.lines)
    once = walk(LOGIN, THANKS, **step)
    assert (Ending.STOPPED, True) == (once.walked.ending, "the link" in once.walked.why)


@for_each(("tries", "sent"), [(1, 1), (2, 2), (3, 3), (9, 4)])
def test_something_wrong_is_entered_as_often_as_the_screen_asks(tries: int, sent: int) -> None:
    """And no oftener than it was to be."""
    script = LOGIN, FACTOR, *[CODE] * 4, GONE
    way = walk(*script, code=Code.WRONG, tries=tries)

    assert sent == sum("code" in filled for filled in way.filled)


def test_a_customer_is_idle_on_the_screen_that_is_named() -> None:
    """On each other screen the form is sent at once."""
    way = walk(*ALL, HOME, linger=(5 * MINUTE,), linger_on="code")

    assert [AT + minutes * MINUTE for minutes in (0, 0, 0, 5, 5)] == way.walked.moments


def test_a_moment_is_one_at_which_something_was_done() -> None:
    """Opening the link, sending a form, looking again; nothing is done at the end of a wait."""
    way = walk(*ALL, CONFIRM, HOME, pace=MINUTE, linger=(2 * MINUTE, 3 * MINUTE))
    since = [int((one - AT) / MINUTE) for one in way.walked.moments]

    assert [0, 1, 2, 3, 5, 9] == since
    assert len(way.asked) == len(since)


def test_one_wait_is_no_look() -> None:
    """It is waited, and then decided."""
    way = walk(*ALL, GONE, linger=(5 * MINUTE,))

    assert 5 == len(way.asked)
    assert {"decision": "confirm"} == way.filled[-1]
    assert Ending.DISCONNECTED is way.walked.ending


# -- claims -----------------------------------------------------------------------


def test_a_spoofed_address_goes_along_with_the_decision() -> None:
    """In fields that the screen does not have, and with no other form."""
    way = walk(*ALL, HOME, spoof="https://evil.example/")

    assert all(not set(SPOOFED) & one.keys() for one in way.filled[:-1])
    assert {"decision": "confirm", **dict.fromkeys(SPOOFED, "https://evil.example/")} == way.filled[
        -1
    ]
    assert not set(SPOOFED) & walk(*ALL, HOME).filled[-1].keys()


def test_a_password_that_is_none_is_typed_in() -> None:
    """Not the customer's own, in the field of the password."""
    right = walk(*ALL, HOME).filled[0]
    wrong = walk(*ALL, HOME, typed=Code.WRONG).filled[0]

    assert right.keys() == wrong.keys()
    assert 1 == sum(right[name] != wrong[name] for name in right)


def test_a_factor_that_is_not_offered_is_sent_all_the_same() -> None:
    """In the target's spelling; nobody is stopped for it before the bank answers."""
    way = walk(*ALL, HOME, factor="soft-token", forced=True)

    assert "soft-token" in [value for one in way.filled for value in one.values()]
    assert "soft-token" not in (way.walked.offered or ())


# -- the last page ----------------------------------------------------------------


@for_each(
    ("last", "stuck"),
    [
        (THANKS, True),
        (GONE, True),
        (shows("<p>Thank you.<style>p { color: red }</style>"), True),
        (shows("<meta charset=utf-8><p>Thank you."), True),
        (shows("<p>Thank you. <a href=https://tpp.example/back>Back</a>"), False),
        (shows("<form action=/on><input type=submit></form>"), False),
        (shows("<button>On</button>"), False),
        (shows("<body onload='on()'>"), False),
        (shows("<script>location = '/on'</script>"), False),
        (shows("<meta http-equiv=Refresh content='0;url=/on'>"), False),
        (shows("<iframe src=/on></iframe>"), False),
        (shows("<p>Thank you.", 200, Refresh="0;url=/on"), False),
        (shows(""), False),
        (HOME, False),
        (None, False),
    ],
)
def test_whether_the_last_page_leads_nowhere_is_told(last: Any, stuck: bool) -> None:
    """Of one that was seen; by a link, a form, a script or of itself it may lead on."""
    assert stuck is walk(*ALL, last).walked.stuck


def test_a_page_that_was_cut_short_may_lead_on() -> None:
    """Nobody saw the rest of it."""
    page = Wire(method="GET", url=LINK, body=b"<p>Thank", truncated=True)
    assert not pages.stuck(page)
    assert pages.stuck(replace(page, truncated=False))


# -- pages that are anything ------------------------------------------------------

HOSTILE = [
    b"",
    b"\x00\xff\xfe\x80",
    b"<",
    b"<!",
    b"<![",
    b"<![foo[",
    b"<![CDATA[ <form>",
    b"<!DOCTYPE [<!ENTITY a 'b'>]>",
    b"<!-- <form><input name=login>",
    b"<?php",
    b"</form></form></select>",
    b"<form",
    b"<form action='/x'><form action='/y'><input name=",
    b"<select><option><option></select><option>",
    b"&#xFFFFFFFFFF; &#99999999999999; &" + b"a" * 5000,
    b"<form action='http://['><input name=login><input name=password>",
    b"<form method=dialog action='\x00'><input name=login><input name=password>",
    "<form action='/\u2603'><input name=login><input name=password>".encode(),
    b"<script><form><input name=login><input name=password></form></script>",
    b"<textarea><form><input name=login><input name=password></form>",
    "<form><input name='\ud7ff'><input name=login>".encode("utf-16"),
]


@for_each("body", HOSTILE)
@for_each("so_far", [0, 4])
def test_a_hostile_page_ends_the_way_and_nothing_else(body: bytes, so_far: int) -> None:
    """It may be anything: there is no screen on it, or one that leads nowhere."""
    way = walk(*ALL[:so_far], (200, {}, body), THANKS)

    assert way.walked.ending in (Ending.STOPPED, Ending.CONFIRMED)
    assert len(way.asked) <= so_far + 2


@for_each("body", HOSTILE)
def test_a_hostile_page_is_read(body: bytes) -> None:
    """Reading forms raises nothing and gives forms, whatever it is."""
    for one in pages.forms(body):
        assert isinstance(one, pages.Form)
    page = Wire(method="GET", url=LINK, body=body)
    assert isinstance(pages.stuck(page), bool)


@pytest.mark.parametrize(
    "where", ["http://[", "https://bank.example:x/", "\x00", "//", "http://\u2603/"]
)
def test_a_hostile_address_ends_the_way(where: str) -> None:
    """Neither a redirection nor a form can make it fail."""
    for script in (
        [sends(where)],
        [LOGIN, sends(where)],
        [*ALL, sends(where)],
        [shows(form("<input name=login><input name=password>", where)), THANKS],
        [shows(form("<input name=login><input name=password>", where, "get")), THANKS],
    ):
        way = walk(*script)
        assert isinstance(way.walked.ending, Ending)


def test_more_forms_and_fields_than_anybody_needs() -> None:
    """Both are bounded, and what is in the bounds is read."""
    one = "<input name=n{0}><input type=radio name=r value={0}>"
    fields = "".join(one.format(n) for n in range(5000))
    (form,) = pages.forms(f"<form>{fields}".encode())

    assert pages.MOST == len(form.names)
    (form,) = pages.forms(b"<form><select name=f>" + b"<option value=x>" * 5000)
    assert pages.MOST == len(form.choices["f"])
    many = pages.forms(b"<form><input name=login></form>" * 5000)
    assert pages.MOST == len(many)


@for_each(
    "body",
    [
        b"<" * 300_000,
        b"<a " * 100_000,
        b"<!--" * 100_000,
        b"<form><select name=f>" + b"<option value=x>" * 100_000,
        b"&" * 300_000,
        b"<div>" * 100_000,
    ],
)
def test_a_large_page_takes_no_time(body: bytes) -> None:
    """Reading it is no worse than linear, near enough."""
    began = time.perf_counter()
    pages.forms(body)
    assert time.perf_counter() - began < 10


# -- signing with no screens ------------------------------------------------------


@dataclass
class Scene:
    """A world that signs, if it says so, and keeps what it was asked."""

    taken: bool = True
    asked: list[tuple[Authorise, Access, str]] = field(default_factory=list)

    def sign(self, step: Authorise, access: Access, factor: str) -> bool:
        self.asked.append((step, access, factor))
        return self.taken


def ask_the_world(fixture: Any, sca: Sca = SCA, **step: Any) -> ScreenFlowResult:
    """Let the control API sign."""
    return ControlSigner(sca=sca, fixture=fixture).sign(replace(STEP, **step), ACCESS, Clock())


@pytest.mark.parametrize(
    ("decision", "ending"),
    [(Decision.CONFIRM, Ending.CONFIRMED), (Decision.REFUSE, Ending.REFUSED)],
)
def test_the_control_api_signs(decision: Decision, ending: Ending) -> None:
    """At one moment, on no screens, leading nowhere."""
    fixture = Scene()
    walked = ask_the_world(fixture, decision=decision)

    assert (ending, [AT], [], None, None, "") == (
        walked.ending,
        walked.moments,
        walked.screens,
        walked.offered,
        walked.redirected,
        walked.why,
    )
    assert [(replace(STEP, decision=decision), ACCESS)] == [one[:2] for one in fixture.asked]
    assert ("SIGN", LINK, 0) == (walked.wire.method, walked.wire.url, walked.wire.status)


def test_the_control_api_does_not_sign() -> None:
    """The way stops, and says so."""
    walked = ask_the_world(Scene(taken=False))
    assert (Ending.STOPPED, "the control API did not accept the signature") == (
        walked.ending,
        walked.why,
    )


def test_the_control_api_needs_no_link() -> None:
    """There are no screens to lead to."""
    assert Ending.CONFIRMED is ask_the_world(Scene(), approval=None).ending


@pytest.mark.parametrize(
    ("factors", "factor", "asked"),
    [
        ({}, "cap", "cap"),
        ({"cap": "CARD"}, "cap", "CARD"),
        ({"cap": "CARD"}, "sms", "sms"),
        ({"cap": "CARD", "sms": "TXT"}, None, "CARD"),
    ],
)
def test_the_control_api_is_asked_in_the_targets_words(
    factors: Mapping[str, str], factor: str | None, asked: str
) -> None:
    """The factor that was asked for, or the first that the profile spells."""
    fixture = Scene()
    ask_the_world(fixture, replace(SCA, factors=factors), factor=factor)
    assert [asked] == [one[2] for one in fixture.asked]


@for_each(
    "step",
    [
        {"code": Code.WRONG},
        {"code": Code.EMPTY},
        {"typed": Code.WRONG},
        {"factor": "cap", "forced": True},
        {"spoof": "https://evil.example/"},
        {"linger": (MINUTE,)},
        {"pace": MINUTE},
    ],
)
def test_what_takes_screens_the_control_api_cannot_do(step: dict[str, Any]) -> None:
    """It is said, and nothing is asked of the world."""
    fixture = Scene()
    with pytest.raises(CannotArrange, match="an SCA signer that fills in"):
        ask_the_world(fixture, **step)
    assert [] == fixture.asked


# -- no screen asks for a decision -------------------------------------------------
#: A bank whose code confirms, by what its screens ask for, and their pages.
BY_CODE = replace(SCA, screens=SCA.screens[:3], confirmed_by="code")
ASKED = (LOGIN, FACTOR)


def test_the_form_that_asks_for_the_code_confirms() -> None:
    """The redirect after it is no disconnection."""
    assert (Ending.CONFIRMED, BACK) == ended(walk(*ASKED, CODE, HOME, sca=BY_CODE))
    assert Ending.CONFIRMED is walk(*ASKED, CODE, THANKS, sca=BY_CODE).walked.ending
    assert Ending.DISCONNECTED is walk(*ASKED, HOME, sca=BY_CODE).walked.ending
    assert Ending.CONFIRMED is walk(*ASKED, CODE, GONE, sca=BY_CODE).walked.ending


def test_who_cannot_refuse_leaves_the_screen_that_confirms() -> None:
    """No code is sent, and nothing is expected of a bank that cannot know of it."""
    way = walk(*ASKED, CODE, HOME, sca=BY_CODE, decision=Decision.REFUSE)
    assert (Ending.LEFT, None) == ended(way)
    assert "sca.refuse_link" in way.walked.why
    assert [{"login", "password"}, {"factor"}] == [set(sent) for sent in way.filled]


CANCELS = "<p><a href=/help>Help</a> <a href='{}'>Cancel\n <b>Payment</b></a></p>"


@pytest.mark.parametrize(
    ("href", "after", "line", "redirected"),
    [
        ("/stop?a=1", THANKS, "GET /stop?a=1", None),
        ("/stop", HOME, "GET /stop", BACK),
        (
            "https://tpp.example/back?no=1",
            THANKS,
            "POST /next?step=2",
            "https://tpp.example/back?no=1",
        ),
    ],
)
def test_who_refuses_follows_the_link_for_that(
    href: str, after: Any, line: str, redirected: str | None
) -> None:
    """Upper or lower case and spaces do not matter, and a link that leaves the bank is not followed."""
    sca = replace(BY_CODE, refuse_link="cancel payment")
    code = shows(CODE[2] + CANCELS.format(href))
    way = walk(*ASKED, code, after, sca=sca, decision=Decision.REFUSE)
    assert (Ending.REFUSED, redirected) == ended(way)
    assert line == way.lines[-1]


def test_who_refuses_presses_the_button_for_that() -> None:
    """In a form of its own, with what the button and the hidden fields send."""
    sca = replace(BY_CODE, refuse_link="Abort")
    form = '<form method=post action="/stop"><input type=hidden name=k value=7>'
    code = shows(CODE[2] + form + "<button name=abort value=1>\n <b>abort</b> it</button></form>")
    way = walk(*ASKED, code, THANKS, sca=sca, decision=Decision.REFUSE)
    assert (Ending.REFUSED, None) == ended(way)
    assert ("POST /stop", {"k": "7", "abort": "1"}) == (way.lines[-1], way.filled[-1])
    assert "" == way.walked.why


def test_a_link_that_is_not_there_is_said() -> None:
    """Nobody has refused then."""
    sca = replace(BY_CODE, refuse_link="Stop")
    walked = walk(*ASKED, CODE, sca=sca, decision=Decision.REFUSE).walked
    assert (Ending.STOPPED, "the screen has neither a link nor a button 'Stop'") == (
        walked.ending,
        walked.why,
    )


@pytest.mark.parametrize("end", [HOME, THANKS])
@pytest.mark.parametrize("wrong", [{"code": Code.WRONG}, {"typed": Code.HALF}])
def test_a_wrong_entry_confirms_nothing(wrong: dict[str, Any], end: Any) -> None:
    """Where the bank leads the customer on after it, nothing shows that it was taken for right."""
    assert Ending.STOPPED is walk(*ASKED, CODE, end, sca=BY_CODE, **wrong).walked.ending


def test_a_customer_is_idle_on_the_screen_that_confirms() -> None:
    """Where the trial says nothing else."""
    way = walk(*ASKED, CODE, HOME, sca=BY_CODE, linger=(timedelta(minutes=3),))
    assert way.clock.waits[-2:] == [timedelta(minutes=3), timedelta(0)]


@pytest.mark.parametrize(
    ("page", "followed"),
    [
        (shows(f"<h1>Thanks</h1><meta http-equiv=Refresh content='0;url={BACK}'>"), True),
        (shows(f'<meta http-equiv="refresh" content="1; URL=\'{BACK}\'">'), True),
        (shows("Thanks", Refresh=f"0; url={BACK}"), True),
        # A page that is read first, or that waits, is a page.
        (shows(f"<meta http-equiv=refresh content='5;url={BACK}'>"), False),
        (shows("<meta http-equiv=refresh content='0'>"), False),
        (shows("<meta http-equiv=refresh content='0;url=/next'>"), False),
    ],
)
def test_a_page_that_leads_on_at_once_is_followed(page: Any, followed: bool) -> None:
    """As a browser does; one that only loads again is not, by a program that does not wait."""
    way = walk(*ALL, page)
    assert (Ending.CONFIRMED, BACK if followed else None) == ended(way)


def test_a_page_that_is_only_read_is_sent_as_it_is() -> None:
    """With the value of its button, or of its hidden field."""
    read_first = [*SCA.screens, {"seen": "continue"}, {"step": "continue"}]
    news = shows(form("<p>News</p><button name=seen value=yes>Go on</button>"))
    terms = shows(form("<input type=hidden name=step value=4><button>Go on</button>"))
    way = walk(
        LOGIN, news, terms, FACTOR, CODE, CONFIRM, HOME, sca=replace(SCA, screens=read_first)
    )
    assert (Ending.CONFIRMED, BACK) == ended(way)
    assert [{"seen": "yes"}, {"step": "4"}] == way.filled[1:3]


def test_a_page_between_two_screens_leads_on() -> None:
    """The next screen is requested by GET."""
    between = shows("<meta http-equiv=refresh content='0;url=/later'>")
    way = walk(LOGIN, FACTOR, between, CODE, CONFIRM, HOME)
    assert Ending.CONFIRMED is way.walked.ending
    assert "GET /later" in way.lines
