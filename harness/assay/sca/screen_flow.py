"""The customer's way through the signing screens that the target file describes.

A screen is recognised by the names of its form's fields. The flow ends where the
customer is redirected elsewhere, or at a page that no described screen matches.
`FormsSigner` shows the pages over plain HTTP, `browser` in a real browser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import ClassVar, Protocol, TypeAlias
from urllib.parse import urlencode, urljoin, urlsplit

from assay.binding.model.origin import Origin, origin
from assay.binding.model.target import PageMatcher, Sca
from assay.binding.wire.encode import Access, HttpRequest
from assay.errors import CannotArrange
from assay.history import Authorise, Code, Decision, Ending, Staying, Wire
from assay.sca.html_forms import Form, at_once, forms, link, pressed, read_page, same_words, stuck
from assay.sca.protocol import (
    NOW,
    SPOOFED,
    AnyReturnAddress,
    ScreenFlowResult,
    Wait,
    factor_name,
    text_to_enter,
)
from assay.transport.protocol import Transport

#: The most screens in one flow.
MAX_SCREENS = 12
REFUSALS = range(400, 600)
#: Statuses from here on say that the target failed.
FAILED = 500
#: Why nobody can stay on a screen.
_NOT_AGAIN: Mapping[Staying, str] = {
    Staying.RELOAD: "the screen did not load again at its address, so nobody can stay on it",
    Staying.NO_FACTOR: "the screen of the factors was not shown again to one who sent none",
    Staying.LINK: "the link did not show the first screen again",
}


class ScreenDriver(Protocol):
    """Shows the pages of one flow to one customer, and sends their forms.

    `redirected` is the address outside the target's hosts to which the flow was
    redirected (it is not followed); `trouble` says what went wrong on the way to the
    last page.
    """

    redirected: str | None
    trouble: str

    def open(self, url: str) -> Wire:
        """Open a page and return the exchange; status 0 when there was no answer."""
        ...

    def forms(self) -> Sequence[Form]:
        """Return the forms of the page that is shown."""
        ...

    def follow(self, text: str) -> Wire | None:
        """Follow the link, or press the button, that shows a text; None if the page has neither."""
        ...

    def send(self, form: Form, filled: Mapping[str, str]) -> Wire:
        """Send a form of the page with these values, even where the form has no such field."""
        ...


def first_link(step: Authorise, access: Access) -> str:
    """Return the link to the first screen.

    Raises:
        CannotArrange: there is no link, or the customer has no credentials.

    """
    if not step.approval:
        what = "a link to the signing screens (set `operations.….approval` in the target file)"
        raise CannotArrange(what, key=("operations",))
    if access.login is None or access.password is None:
        raise CannotArrange(
            "a customer with credentials"
            " (add `credentials` to `fixtures.offers` in the target file)"
        )
    return step.approval


def joined(base: str, link: str) -> str | None:
    """Resolve a link of a page against its address; None if it is not a valid URL."""
    try:
        url = urljoin(base, link)
        urlsplit(url)
    except ValueError:
        return None
    return url


#: Returns the code that the customer of a step has been sent for a factor, or None.
CodeSource: TypeAlias = Callable[[Authorise, Access, str], str | None]


def no_code(_step: Authorise, _access: Access, _factor: str) -> str | None:
    """Return None: no code is sent."""
    return None


#: A recognised screen: the values for its fields, and its form.
Screen: TypeAlias = tuple[Mapping[str, str], Form]


@dataclass(slots=True, kw_only=True)
class ScreenFlow:
    """One customer going through the screens of one signature."""

    sca: Sca
    step: Authorise
    access: Access
    wait: Wait
    driver: ScreenDriver
    sent_code: CodeSource = no_code
    result: ScreenFlowResult = field(
        default_factory=lambda: ScreenFlowResult(
            ending=Ending.STOPPED, wire=Wire(method="GET", url="")
        )
    )
    factor: str = ""
    last: Mapping[str, str] | None = None
    decided: bool = False
    #: Whether the screen that was to be shown again last had been before.
    reloads: bool = True
    #: How often something wrong was entered on the screen that is shown.
    tried: int = 0

    def go(self, link: str) -> ScreenFlowResult:
        """Follow the screens from the link to the end of the flow."""
        self.result.wire = self.driver.open(link)
        self._note(NOW)
        by_default = self.step.linger_on == "decision"
        lingers_on = self.sca.deciding if by_default else self.step.linger_on
        for _ in range(MAX_SCREENS):
            if self._disconnected():
                return self._leave(Ending.DISCONNECTED)
            screen = self._screen()
            if screen and screen[0] == self.last and not self._tries_again(screen[0]):
                asks = ", ".join(screen[0])
                return self._stop(f"the same screen was shown again, which asks for {asks}")
            if screen is not None and lingers_on in self._asked(screen[0]):
                screen = self._linger(screen)
            if screen is None:
                return self._end()
            ended = self._answer(*screen)
            if ended is not None:
                return ended
        return self._stop("the flow did not end within the allowed number of screens")

    def _asked(self, fills: Mapping[str, str]) -> set[str]:
        """Return what a screen asks for: by a field for each factor, also for the factor."""
        by_field = not self._words.isdisjoint(fills)
        return {*fills.values(), *(("factor",) if by_field else ())}

    @property
    def _words(self) -> frozenset[str]:
        """The screens' words of the factors, which may be the names of fields."""
        return frozenset(self.sca.factors.values())

    def _answer(self, fills: Mapping[str, str], form: Form) -> ScreenFlowResult | None:
        """Send the form of a screen, or refuse there; return the result if the flow ends with that."""
        filled = self._fill(fills, form)
        if filled is None:
            return self._stop(self.result.why)
        self._note(self.step.pace)
        decides = self.sca.deciding in fills.values()
        self.last, self.decided = fills, self.decided or decides
        if decides and self.sca.confirmed_by and self.step.decision is Decision.REFUSE:
            return self._refuse()
        self.result.screens.extend(dict.fromkeys(fills.values()))
        self.result.wire = self.driver.send(form, filled)
        return None

    def _refuse(self) -> ScreenFlowResult | None:
        """Follow the link for that, or leave; return the result if the flow ends with that."""
        text = self.sca.refuse_link
        wire = self.driver.follow(text) if text else self.result.wire
        if wire is None:
            return self._stop(f"the screen has neither a link nor a button {text!r}")
        self.result.wire = wire
        if not text:
            self.result.why = "the target file names no way to refuse (sca.refuse_link)"
            return self._leave(Ending.LEFT)
        return self._leave(Ending.REFUSED) if self.driver.redirected else None

    def _linger(self, screen: Screen) -> Screen | None:
        """Wait before the screen is filled in, and stay on it between two waits.

        The form follows the last wait immediately: no request is made in between. A page that
        answers a form need not load again, so the first time that it is not shown shows nothing.
        """
        for number, span in enumerate(self.step.linger[:-1]):
            self._note(span)
            self.result.wire = self._stay(*screen)
            again = None if self._disconnected() else self._screen()
            self.reloads = number > 0 or (again is not None and again[0] == screen[0])
            if again is None or not self.reloads:
                return None
            screen = again
        for span in self.step.linger[-1:]:
            self.wait(span)
        return screen

    def _stay(self, fills: Mapping[str, str], form: Form) -> Wire:
        """Do what keeps a customer connected, and does not lead on; return the page that follows."""
        match self.step.stays:
            case Staying.RELOAD:
                address = self.result.wire.url
                # After the login, the same screen at this address belongs to the same flow.
                anew = address == self.step.approval and not self.result.screens
                self.result.reopened |= anew
                return self.driver.open(address)
            case Staying.LINK:
                return self.driver.open(self.step.approval or "")
            case Staying.NO_FACTOR:
                left_out = {*fills, *self._words}
                kept = {name: value for name, value in form.carried.items() if name not in left_out}
                return self.driver.send(form, kept)

    def _tries_again(self, fills: Mapping[str, str]) -> bool:
        """Whether the customer enters the same wrong thing once more on a screen."""
        entered = {"code": self.step.code, "password": self.step.typed}
        wrong = any(
            entered.get(meaning, Code.RIGHT) is not Code.RIGHT for meaning in fills.values()
        )
        self.tried += 1
        return wrong and self.tried < self.step.tries

    def _disconnected(self) -> bool:
        """Whether the target file says that this page ends the customer's visit."""
        return matches(self.sca.disconnected, self.result.wire, self.driver.redirected)

    def _note(self, span: timedelta) -> None:
        self.result.moments.append(self.wait(span))

    def _screen(self) -> Screen | None:
        """Return the screen that matches the page; of several, the one with most fields."""
        matching = [
            (fills, form)
            for form in self.driver.forms()
            for fills in self.sca.screens
            if form.names >= fills.keys()
        ]
        return max(matching, key=lambda pair: len(pair[0]), default=None)

    def _fill(self, fills: Mapping[str, str], form: Form) -> dict[str, str] | None:
        filled = dict(form.carried)
        for name, meaning in fills.items():
            match meaning:
                case "login":
                    filled[name] = self.access.login or ""
                case "password":
                    filled[name] = text_to_enter(self.step.typed, self.access.password or "")
                case "factor":
                    picked = self._factor(form.choices.get(name, []))
                    if picked is None:
                        return None
                    filled[name] = picked
                case "code":
                    field = self._field_of_factor(name, form)
                    if field is None:
                        return None
                    filled[field] = text_to_enter(self.step.code, self._code())
                case "continue":
                    filled[name] = next(
                        iter(form.choices.get(name, [])), form.carried.get(name, "")
                    )
                case _:
                    decision = self.step.decision.value
                    filled[name] = self.sca.decisions.get(decision, decision)
        if self.step.spoof and self.sca.deciding in fills.values():
            filled |= dict.fromkeys(SPOOFED, self.step.spoof)
        return filled

    def _field_of_factor(self, name: str, form: Form) -> str | None:
        """Return the field for the code: where each factor has its own on a form, that of the factor."""
        words = [word for word in self.sca.factors.values() if word in form.names]
        if name not in words:
            return name
        field = self._factor(words)
        self.result.screens += ["factor"] if field else []
        return field

    def _factor(self, choices: list[str]) -> str | None:
        """Return the factor that the step asks for, or the first that is offered."""
        result = self.result
        result.offered = tuple(factor_name(self.sca, choice) for choice in choices)
        named = self.sca.factors.values()
        result.unspelt = tuple(choice for choice in choices if choice not in named)
        logs_in = any("login" in fills.values() for fills in self.sca.screens)
        result.anonymous = logs_in and "login" not in result.screens
        wanted = self.step.factor or next(iter(result.offered), None)
        if wanted and self.step.forced:
            code, codes = self.access.codes.get(wanted), [*self.access.codes.values()]
            # A code that others share would not show for which of them it was taken.
            self.factor, result.coded = wanted, bool(code) and codes.count(code or "") == 1
            return self.sca.factors.get(wanted, wanted)
        if wanted not in result.offered:
            result.why = f"the factor {wanted} is not offered" if wanted else "no factor is offered"
            return None
        self.factor = wanted
        result.coded = bool(self.access.codes.get(wanted))
        return choices[result.offered.index(wanted)]

    def _code(self) -> str:
        """Return the right code of the customer; empty, with the reason, if it is not known."""
        result, codes = self.result, self.access.codes
        if self.factor:
            word = self.sca.factors.get(self.factor, self.factor)
            code = codes.get(self.factor) or self.sent_code(self.step, self.access, word) or ""
            result.coded |= bool(code) and not self.step.forced
            missing = f"the fixture provider has no code of the customer for the factor {word!r}"
        elif len(codes) == 1:
            # No screen let the customer choose: the factor of the only code is the only one there is.
            (factor,) = result.offered = (*codes,)
            code, missing = codes[factor], "the fixture provider has no code of the customer"
            if self.step.factor not in (None, factor):
                code, missing = "", f"the factor {self.step.factor} is not offered"
            result.coded = bool(code)
        else:
            code, missing = "", "no screen says for which of several factors of the customer it is"
            if not codes:
                code = self.sent_code(self.step, self.access, "") or ""
                missing = "the fixture provider has no code of the customer"
                result.coded = bool(code)
        if not code:
            result.why = result.why or f"a code is asked for, but {missing}"
        return code

    def _end(self) -> ScreenFlowResult:
        """Return how the flow ended, from the last page and what was done before it."""
        status, driver = self.result.wire.status, self.driver
        if not self.reloads:
            return self._stop(_NOT_AGAIN[self.step.stays])
        if self._disconnected():
            return self._leave(Ending.DISCONNECTED)
        if driver.redirected and not self.decided:
            self.result.why = (
                f"the browser was redirected before a screen asked for the {self.sca.deciding}"
            )
        step = self.step
        # Who went on at once was not idle: what answers the decision is about the request.
        at_once = step.right and not (step.by or step.linger or step.pace)
        answered = self.decided and at_once and status < FAILED
        if (status in REFUSALS and not answered) or (driver.redirected and not self.decided):
            return self._leave(Ending.DISCONNECTED)
        if self.sca.confirmed_by and not replace(self.step, spoof="").right:
            return self._stop("after a wrong entry, no screen asked again")
        if self.decided and status:
            confirmed = self.step.decision is Decision.CONFIRM
            return self._leave(Ending.CONFIRMED if confirmed else Ending.REFUSED)
        return self._stop(driver.trouble or f"the page matches no screen in sca.screens ({status})")

    def _stop(self, why: str) -> ScreenFlowResult:
        self.result.why = "; ".join(dict.fromkeys(filter(None, (self.result.why, why))))
        return self._leave(Ending.STOPPED)

    def _leave(self, ending: Ending) -> ScreenFlowResult:
        self.result.ending, self.result.redirected = ending, self.driver.redirected
        self.result.stuck = stuck(self.result.wire)
        self.result.why = self.result.why or self.driver.trouble
        return self.result


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenSigner(AnyReturnAddress):
    """Goes through the screens of one target; how they are shown is each signer's own."""

    sca: Sca
    sent_code: CodeSource = no_code

    def flow(self, step: Authorise, access: Access, wait: Wait, driver: ScreenDriver) -> ScreenFlow:
        """Return the flow of one signature, through the screens that a driver shows."""
        return ScreenFlow(
            sca=self.sca,
            step=step,
            access=access,
            wait=wait,
            driver=driver,
            sent_code=self.sent_code,
        )


# -- Recognition of a page of the signing screens by what the target file says of it -------------
# A bank shows a customer whom it disconnected a page of its own, often with the status 200. Only the
# target file can say how to recognise it: by its status, a text that it shows, or its address.
def matches(matchers: Iterable[PageMatcher], page: Wire, redirected: str | None) -> bool:
    """Whether a page is one of those; its address may be one to which it only redirects."""
    return any(_matches(matcher, page, redirected) for matcher in matchers)


def _matches(matcher: PageMatcher, page: Wire, redirected: str | None) -> bool:
    status = str(page.status)
    if matcher.statuses and not any(
        status == code or (code.endswith("xx") and status[0] == code[0])
        for code in matcher.statuses
    ):
        return False
    if matcher.url and not any(matcher.url in url for url in (page.url, redirected or "")):
        return False
    return same_words(matcher.text) in same_words(read_page(page.body).text if matcher.text else "")


# -- The screens over plain HTTP -----------------------------------------------------------------
# Links and redirects are followed on the target's hosts and those in `sca.hosts` only, and cookies
# last for one flow.
#: The most redirects between two screens.
MAX_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: Redirect statuses after which the same request is sent again instead of a GET.
REPEATED = frozenset({307, 308})


@dataclass(frozen=True, slots=True, kw_only=True)
class FormsSigner(ScreenSigner):
    """Operates the screens of one target, on its `hosts` and on those that have only screens."""

    transport: Transport
    hosts: frozenset[Origin] = frozenset()
    signs_together: ClassVar[bool] = True

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Open the link and fill in one screen after the other."""
        link = first_link(step, access)
        hosts = frozenset(map(origin, self.sca.hosts))
        driver = _Pages(
            transport=self.transport, hosts=hosts | self.hosts if hosts else frozenset()
        )
        return self.flow(step, access, wait, driver).go(link)


@dataclass(slots=True, kw_only=True)
class _Pages:
    """The pages shown to one customer. Redirects stay on one host, or lead to one of `hosts`."""

    transport: Transport
    hosts: frozenset[Origin] = frozenset()
    redirected: str | None = None
    trouble: str = ""
    cookies: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    page: Wire = field(default_factory=lambda: Wire(method="GET", url=""))

    def open(self, url: str) -> Wire:
        """Request a page."""
        return self._open("GET", url)

    def forms(self) -> Sequence[Form]:
        """Return the forms of the last page."""
        return forms(self.page.body)

    def follow(self, text: str) -> Wire | None:
        """Follow a link, unless it leaves the screens, or press a button."""
        href = link(self.page.body, text)
        if href is None and (button := pressed(self.page.body, text)):
            return self.send(*button)
        target = None if href is None else joined(self.page.url, href)
        if target is None:
            return None
        if self._stays(self.page.url, target):
            return self._open("GET", target)
        self.redirected = target
        return self.page

    def send(self, form: Form, filled: Mapping[str, str]) -> Wire:
        """Send a form as a browser would."""
        action = joined(self.page.url, form.action)
        if action is None:
            self.trouble = "the form has no valid target"
            self.page = Wire(method=form.method.upper(), url=self.page.url)
        elif form.method == "post":
            self._open("POST", action, urlencode(filled).encode())
        else:
            self._open("GET", urljoin(action, "?" + urlencode(filled)))
        return self.page

    def _open(self, method: str, url: str, body: bytes = b"") -> Wire:
        """Request a page, following redirects that do not leave the screens."""
        wire = self._request(method, url, body)
        for _ in range(MAX_REDIRECTS):
            location = _location(wire)
            target = joined(url, location)
            if not location or (target == url and wire.status not in REDIRECTS):
                break
            if target is None or not self._stays(url, target):
                self.redirected = target or location
                break
            url = target
            if wire.status not in REPEATED:
                method, body = "GET", b""
            wire = self._request(method, url, body)
        self.page = wire
        return wire

    def _stays(self, url: str, target: str) -> bool:
        """Whether a redirect leads to the host that it is from, or to another with screens."""
        return origin(target) == origin(url) or origin(target) in self.hosts

    def _request(self, method: str, url: str, body: bytes) -> Wire:
        headers = [("Accept", "text/html")]
        # A cookie belongs to a host, whatever its port.
        cookies = self.cookies.setdefault(origin(url)[1], {})
        if cookies:
            pairs = "; ".join(f"{name}={value}" for name, value in cookies.items())
            headers.append(("Cookie", pairs))
        if body:
            headers.append(("Content-Type", "application/x-www-form-urlencoded"))
        request = HttpRequest(method=method, url=url, headers=tuple(headers), body=body)
        delivery = self.transport.send(request)
        self.trouble = delivery.trouble or self.trouble
        for name, value in delivery.wire.headers:
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                cookies[key.strip()] = rest.partition(";")[0].strip()
        return delivery.wire


def _location(wire: Wire) -> str:
    """Return where a browser goes on by itself: by a redirect, or to the page that follows at once."""
    if wire.status in REDIRECTS:
        return _header(wire, "location")
    refreshes = wire.status < FAILED and wire.body
    return at_once(_header(wire, "refresh")) or (read_page(wire.body).refresh if refreshes else "")


def _header(wire: Wire, name: str) -> str:
    return next((value for key, value in wire.headers if key.lower() == name), "")
