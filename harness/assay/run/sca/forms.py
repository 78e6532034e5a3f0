"""Signing by walking the screens over plain HTTP, form by form, as the profile knows them.

A screen is recognised by the names of its form's fields. The way ends where the browser
is sent elsewhere, or where no screen is known. Links and redirections are followed on
the hosts of the target only, and cookies live as long as one way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlencode, urljoin, urlsplit

from assay.errors import CannotArrange
from assay.history import Authorise, Decision, Ending, Wire
from assay.run.carrier import Carrier
from assay.run.sca.page import Form, forms
from assay.run.sca.signer import NOW, SPOOFED, Wait, Walked, typed, word_of
from assay.target.encode import Access, Request
from assay.target.profile import Sca

#: Screens that a way may have, and redirections between two of them.
MOST_SCREENS, MOST_TURNS = 12, 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
REFUSALS = range(400, 600)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormsSigner:
    """Walks the screens of one target."""

    sca: Sca
    carrier: Carrier

    def sign(self, step: Authorise, access: Access, wait: Wait) -> Walked:
        """Open the link and fill in one screen after the other."""
        if not step.approval:
            raise CannotArrange("a link to the screens (operations.….approval in the profile)")
        if access.login is None or access.password is None:
            raise CannotArrange("a customer who can log in (world.offers: credentials)")
        walk = _Walk(sca=self.sca, carrier=self.carrier, step=step, access=access, wait=wait)
        return walk.go(step.approval)


@dataclass(slots=True, kw_only=True)
class _Walk:
    """One customer on the way."""

    sca: Sca
    carrier: Carrier
    step: Authorise
    access: Access
    wait: Wait
    cookies: dict[str, str] = field(default_factory=dict[str, str])
    walked: Walked = field(
        default_factory=lambda: Walked(ending=Ending.STOPPED, wire=Wire(method="GET", url=""))
    )
    factor: str = ""
    last: Mapping[str, str] | None = None
    decided: bool = False

    def go(self, link: str) -> Walked:
        """Go as far as the screens lead."""
        page = self._open("GET", link)
        self._note(NOW)
        for _ in range(MOST_SCREENS):
            found = self._screen(page)
            if found is None:
                self._end(page)
                return self.walked
            fills, form = found
            if fills == self.last:
                return self._stop("the same screen came again")
            self.last = fills
            asks_decision = "decision" in fills.values()
            if asks_decision and not self._linger(page):
                return self.walked
            filled = self._fill(fills, form)
            if filled is None:
                return self.walked
            self._note(self.step.pace)
            self.walked.screens.extend(dict.fromkeys(fills.values()))
            self.decided = asks_decision
            page = self._send(page, form, filled)
        return self._stop("the screens do not end")

    def _linger(self, page: Wire) -> bool:
        """Wait before the decision, looking at the screen between one wait and the next."""
        waits = self.step.linger
        for n, span in enumerate(waits):
            self._note(span)
            if n < len(waits) - 1:
                again = self._open("GET", page.url)
                if self._screen(again) is None:
                    self._end(again)
                    return False
        return True

    def _note(self, span: timedelta) -> None:
        self.walked.moments.append(self.wait(span))

    def _screen(self, page: Wire) -> tuple[Mapping[str, str], Form] | None:
        """Find the screen that a page shows: the spelt one with the most fields."""
        found = [
            (fills, form)
            for form in forms(page.body)
            for fills in self.sca.screens
            if form.names >= fills.keys()
        ]
        return max(found, key=lambda pair: len(pair[0]), default=None)

    def _fill(self, fills: Mapping[str, str], form: Form) -> dict[str, str] | None:
        filled = dict(form.carried)
        for name, what in fills.items():
            match what:
                case "login":
                    filled[name] = self.access.login or ""
                case "password":
                    filled[name] = self.access.password or ""
                case "factor":
                    picked = self._factor(form.choices.get(name, []))
                    if picked is None:
                        return None
                    filled[name] = picked
                case "code":
                    filled[name] = typed(self.step.code, self.factor, self.access.codes)
                case _:
                    word = self.step.decision.value
                    filled[name] = self.sca.decisions.get(word, word)
                    if self.step.spoof:
                        filled |= dict.fromkeys(SPOOFED, self.step.spoof)
        return filled

    def _factor(self, choices: list[str]) -> str | None:
        """Pick the factor that was asked for, or the first that is offered."""
        self.walked.offered = tuple(word_of(self.sca, one) for one in choices)
        wanted = self.step.factor or next(iter(self.walked.offered), None)
        if wanted not in self.walked.offered:
            self._stop(f"the factor {wanted} is not offered" if wanted else "no factor is offered")
            return None
        self.factor = wanted
        return choices[self.walked.offered.index(wanted)]

    def _send(self, page: Wire, form: Form, filled: Mapping[str, str]) -> Wire:
        action = urljoin(page.url, form.action)
        if form.method == "post":
            return self._open("POST", action, urlencode(filled).encode())
        return self._open("GET", urljoin(action, "?" + urlencode(filled)))

    def _open(self, method: str, url: str, body: bytes = b"") -> Wire:
        """Request a page, following redirections that stay on its host."""
        wire = self._request(method, url, body)
        for _ in range(MOST_TURNS):
            where = _header(wire, "location")
            if wire.status not in REDIRECTS or not where:
                break
            target = urljoin(url, where)
            if urlsplit(target)[:2] != urlsplit(url)[:2]:
                self.walked.redirected = target
                break
            url = target
            wire = self._request("GET", url, b"")
        self.walked.wire = wire
        return wire

    def _request(self, method: str, url: str, body: bytes) -> Wire:
        headers = [("Accept", "text/html")]
        if self.cookies:
            pairs = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            headers.append(("Cookie", pairs))
        if body:
            headers.append(("Content-Type", "application/x-www-form-urlencoded"))
        request = Request(method=method, url=url, headers=tuple(headers), body=body)
        sent = self.carrier.send(request)
        if sent.trouble:
            self.walked.why = sent.trouble
        for name, value in sent.wire.headers:
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key.strip()] = rest.partition(";")[0].strip()
        return sent.wire

    def _end(self, page: Wire) -> None:
        """Say how the way ended, from the last page and what was done before it."""
        walked = self.walked
        refused = page.status in REFUSALS
        if refused or (walked.redirected and not self.decided):
            walked.ending = Ending.DISCONNECTED
        elif self.decided and page.status:
            confirmed = self.step.decision is Decision.CONFIRM
            walked.ending = Ending.CONFIRMED if confirmed else Ending.REFUSED
        else:
            self._stop(walked.why or f"no screen of the profile is on this page ({page.status})")

    def _stop(self, why: str) -> Walked:
        self.walked.ending, self.walked.why = Ending.STOPPED, why
        return self.walked


def _header(wire: Wire, name: str) -> str:
    return next((value for key, value in wire.headers if key.lower() == name), "")
