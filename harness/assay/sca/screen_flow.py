"""The customer's way through the signing screens that the target file describes.

A screen is recognised by the names of its form's fields. The flow ends where the
customer is redirected elsewhere, or at a page that no described screen matches. `forms`
shows the pages over plain HTTP, `browser` in a real browser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol, TypeAlias
from urllib.parse import urljoin, urlsplit

from assay.binding.encode import Access
from assay.binding.target import Sca
from assay.errors import CannotArrange
from assay.history import Authorise, Decision, Ending, Wire
from assay.sca.html_forms import Form, stuck
from assay.sca.protocol import NOW, SPOOFED, ScreenFlowResult, Wait, typed, word_of

#: The most screens in one flow.
MOST_SCREENS = 12
REFUSALS = range(400, 600)


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

    def send(self, form: Form, filled: Mapping[str, str]) -> Wire:
        """Send a form of the page with these values, even where the form has no such field."""
        ...


def way_in(step: Authorise, access: Access) -> str:
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
        whole = urljoin(base, link)
        urlsplit(whole)
    except ValueError:
        return None
    return whole


#: A recognised screen: the values for its fields, and its form.
Screen: TypeAlias = tuple[Mapping[str, str], Form]


@dataclass(slots=True, kw_only=True)
class ScreenFlow:
    """One customer going through the screens of one signature."""

    sca: Sca
    step: Authorise
    access: Access
    wait: Wait
    sight: ScreenDriver
    walked: ScreenFlowResult = field(
        default_factory=lambda: ScreenFlowResult(
            ending=Ending.STOPPED, wire=Wire(method="GET", url="")
        )
    )
    factor: str = ""
    last: Mapping[str, str] | None = None
    decided: bool = False

    def go(self, link: str) -> ScreenFlowResult:
        """Follow the screens from the link to the end of the flow."""
        self.walked.wire = self.sight.open(link)
        self._note(NOW)
        for _ in range(MOST_SCREENS):
            screen = self._screen()
            if screen and screen[0] == self.last:
                return self._stop("the same screen was shown again")
            asks_decision = screen is not None and "decision" in screen[0].values()
            if asks_decision:
                screen = self._linger(screen)
            if screen is None:
                return self._end()
            fills, form = screen
            filled = self._fill(fills, form)
            if filled is None:
                return self._stop(self.walked.why)
            self._note(self.step.pace)
            self.walked.screens.extend(dict.fromkeys(fills.values()))
            self.last, self.decided = fills, self.decided or asks_decision
            self.walked.wire = self.sight.send(form, filled)
        return self._stop("the flow did not end within the allowed number of screens")

    def _linger(self, screen: Screen | None) -> Screen | None:
        """Wait before the decision, and reload the screen between two waits.

        The decision follows the last wait immediately: no request is made in between.
        """
        for span in self.step.linger[:-1]:
            self._note(span)
            self.walked.wire = self.sight.open(self.walked.wire.url)
            screen = self._screen()
            if screen is None:
                return None
        for span in self.step.linger[-1:]:
            self.wait(span)
        return screen

    def _note(self, span: timedelta) -> None:
        self.walked.moments.append(self.wait(span))

    def _screen(self) -> Screen | None:
        """Return the screen that matches the page; of several, the one with most fields."""
        found = [
            (fills, form)
            for form in self.sight.forms()
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
        """Return the factor that the step asks for, or the first that is offered."""
        walked = self.walked
        walked.offered = tuple(word_of(self.sca, one) for one in choices)
        spelt = self.sca.factors.values()
        walked.unspelt = tuple(one for one in choices if one not in spelt)
        wanted = self.step.factor or next(iter(walked.offered), None)
        if wanted not in walked.offered:
            walked.why = f"the factor {wanted} is not offered" if wanted else "no factor is offered"
            return None
        self.factor = wanted
        walked.coded = bool(self.access.codes.get(wanted))
        return choices[walked.offered.index(wanted)]

    def _end(self) -> ScreenFlowResult:
        """Return how the flow ended, from the last page and what was done before it."""
        status, sight = self.walked.wire.status, self.sight
        if status in REFUSALS or (sight.redirected and not self.decided):
            return self._leave(Ending.DISCONNECTED)
        if self.decided and status:
            confirmed = self.step.decision is Decision.CONFIRM
            return self._leave(Ending.CONFIRMED if confirmed else Ending.REFUSED)
        return self._stop(sight.trouble or f"the page matches no screen in sca.screens ({status})")

    def _stop(self, why: str) -> ScreenFlowResult:
        self.walked.why = why
        return self._leave(Ending.STOPPED)

    def _leave(self, ending: Ending) -> ScreenFlowResult:
        self.walked.ending, self.walked.redirected = ending, self.sight.redirected
        self.walked.stuck = stuck(self.walked.wire)
        self.walked.why = self.walked.why or self.sight.trouble
        return self.walked
