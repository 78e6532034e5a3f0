"""The signing screens in a real browser, operated with Playwright.

An installed Chromium is started once per run and confined to the target's hosts; `screen_flow` decides what is filled in.
This module reads a page and fills in and submits its forms through their own fields and
buttons.
"""

# Playwright is an extra, and its types are only there where it is installed.
# pyright: reportMissingImports=false, reportUnknownParameterType=false
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from shutil import which
from typing import TYPE_CHECKING

from assay.binding.model.origin import Origin, origin
from assay.binding.model.target import Target
from assay.binding.wire.encode import Access
from assay.errors import CannotArrange, InputError, Problem
from assay.history import Authorise, Wire
from assay.sca.html_forms import CARRIED, MOST, PICKED, Form
from assay.sca.protocol import ScreenFlowResult, Wait
from assay.sca.screen_flow import REFUSALS, ScreenSigner, first_link, joined
from assay.transport.protocol import MAX_BODY, OTHER_HOST

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Playwright, Request, Response


# -- The browser ---------------------------------------------------------------------------------
# Requests and redirects to any other host can be observed, but their names are never resolved.
# Pages run no script, and signatures share nothing with one another.
#: Names of the executable on the PATH; nothing is ever downloaded.
NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass(slots=True, kw_only=True)
class _Driver:
    """Playwright itself: one instance per process, for any number of browsers."""

    running: Playwright | None = None
    browsers: int = 0

    def start(self, launch: Callable[[Playwright], Browser]) -> Browser:
        """Start a browser, and Playwright before the first one."""
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 -- an extra

        self.running = self.running or sync_playwright().start()
        self.browsers += 1
        try:
            return launch(self.running)
        except BaseException:
            self.end()
            raise

    def end(self, browser: Browser | None = None) -> None:
        """Close a browser, and Playwright after the last one."""
        with suppress(Exception):  # it may be gone already
            if browser is not None:
                browser.close()
        self.browsers -= 1
        if self.running is not None and not self.browsers:
            with suppress(Exception):
                self.running.stop()
            self.running = None


DRIVER = _Driver()


@dataclass(slots=True, kw_only=True)
class Chromium:
    """One browser for a whole run; it starts when it is first needed.

    `hosts` maps each of the target's hosts to the one at whose address it is reached;
    `timeout` is in seconds.
    """

    path: str
    hosts: Mapping[Origin, Origin]
    timeout: float
    _running: Browser | None = None

    def page(self) -> Page:
        """Open a window that shares no state with any other.

        Raises:
            CannotArrange: the browser does not start.

        """
        from playwright.sync_api import Error  # noqa: PLC0415 -- an extra

        if self._running is not None and not self._running.is_connected():
            self.close()
        try:
            running = self._running
            if running is None:
                running = self._running = DRIVER.start(self._launch)
            context = running.new_context(
                java_script_enabled=False, accept_downloads=False, service_workers="block"
            )
            context.set_default_timeout(self.timeout * 1000)
            return context.new_page()
        except (Error, OSError) as error:
            self.close()
            raise CannotArrange(f"a Chromium that starts ({first_line(error)})") from None

    def _launch(self, playwright: Playwright) -> Browser:
        from playwright.sync_api import Error  # noqa: PLC0415 -- an extra

        try:
            return self._launched(playwright, sandbox=True)
        except Error:  # root and some containers have no sandbox
            return self._launched(playwright, sandbox=False)

    def _launched(self, playwright: Playwright, *, sandbox: bool) -> Browser:
        mapped = [f"MAP {_address(host)} {_address(at)}" for host, at in self.hosts.items()]
        rules = ",".join([*mapped, "MAP * ~NOTFOUND"])
        return playwright.chromium.launch(
            executable_path=self.path,
            chromium_sandbox=sandbox,
            # No proxy, as elsewhere: it would resolve names by itself.
            args=[f"--host-resolver-rules={rules}", "--no-proxy-server"],
        )

    def close(self) -> None:
        """Close the browser if it runs."""
        running, self._running = self._running, None
        if running is not None:
            DRIVER.end(running)


def find_chromium(target: Target) -> Chromium:
    """Find the browser for a target file that asks for one; nothing is started.

    Raises:
        InputError: Playwright or Chromium is not installed; both are reported.

    """
    path = next(filter(None, map(which, NAMES)), None)
    missing: list[tuple[str, str]] = []
    if find_spec("playwright") is None:
        missing.append(("Playwright is not installed", "pip install 'assay[browser]'"))
    if path is None:
        missing.append((f"there is no {', '.join(NAMES)} on the PATH", "apt install chromium"))
    if path is None or missing:
        line = target.lines.get("sca", 0)
        raise InputError(
            Problem(path=target.path, line=line, what=f"sca: browser: {what}", hint=hint)
            for what, hint in missing
        )
    base = origin(target.base_url)
    origins = map(origin, (*target.hosts, *target.sca.hosts))
    hosts = {base: base} | {host: base if target.nearby else host for host in origins}
    return Chromium(path=path, hosts=hosts, timeout=target.timeout)


def _address(host_origin: Origin) -> str:
    _, host, port = host_origin
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def first_line(error: Exception) -> str:
    """Return the message of a Playwright error, without its prefix and the log below it."""
    first, *_ = [*str(error).strip().splitlines(), type(error).__name__]
    return re.sub(r"^\w+\.\w+: ", "", first)[:300]


# -- The signer ----------------------------------------------------------------------------------
# Scripts of our own; the ban on a page's scripts does not apply to them. A form's
# members are never read by plain name: a field of that name would shadow them.
READ_FIELDS = """(fields, most) => fields.slice(0, most).map(one => ({
    name: one.getAttribute("name"), value: one.value || "",
    kind: one.disabled ? "disabled" : one.options ? "select" : one.type || "other",
    options: Array.from(one.options || [], option => option.value),
}))"""
#: Whether an empty field is an error is for the target to decide, not for the browser.
NO_VALIDATION = 'form => Element.prototype.setAttribute.call(form, "novalidate", "")'
ADD_FIELD = """(form, [name, value]) => {
    const field = document.createElement("input");
    Object.assign(field, {type: "hidden", name, value});
    Node.prototype.appendChild.call(form, field);
}"""
SET_VALUE = "(field, value) => { field.value = value; }"
SUBMITS = "button:not([type=button]):not([type=reset]), input[type=submit], input[type=image]"
#: Fields into which text is typed.
TYPED = CARRIED - {"hidden"} | {"textarea"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSigner(ScreenSigner):
    """Operates the screens of one target; each signature has a browser window of its own."""

    chromium: Chromium

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Open the link and fill in one screen after the other."""
        link = first_link(step, access)
        page = self.chromium.page()
        driver = Window(page=page, hosts=frozenset(self.chromium.hosts))
        try:
            # No bound methods: Playwright would set an attribute on their object.
            page.on("request", lambda request: driver.on_request(request))  # noqa: PLW0108
            page.on("response", lambda response: driver.on_response(response))  # noqa: PLW0108
            return self.flow(step, access, wait, driver).go(link)
        finally:
            with suppress(Exception):  # a closed browser has nothing to return
                page.context.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserField:
    """A field of the shown page and its element; `options` are the values of a select list."""

    name: str
    kind: str
    value: str
    options: Sequence[str]
    at: Locator


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserForm:
    """A form of the page that is shown."""

    form: Form
    fields: Sequence[BrowserField]
    at: Locator


@dataclass(slots=True, kw_only=True)
class Window:
    """The window of one customer. Only our own actions lead from page to page."""

    page: Page
    hosts: frozenset[Origin]
    redirected: str | None = None
    trouble: str = ""
    _navigating: bool = False
    _response: Response | None = None
    _shown: list[BrowserForm] = field(default_factory=list[BrowserForm])

    def on_request(self, request: Request) -> None:
        """Note a navigation of the window, and whether it leaves the target's hosts."""
        if not self._navigates(request):
            return
        if origin(request.url) in self.hosts:
            self._response = None
        elif self.redirected is None:
            # The URL as it was written: a browser normalises the address that it opens.
            location = self._response and joined(
                self._response.url, self._response.headers.get("location", request.url)
            )
            self.redirected = location or request.url

    def on_response(self, response: Response) -> None:
        """Note the response to a navigation."""
        if self._navigates(response.request):
            self._response = response

    def _navigates(self, request: Request) -> bool:
        """Whether the window itself navigates, and not a frame in it."""
        navigates = self._navigating and request.is_navigation_request()
        return navigates and request.frame == self.page.main_frame

    def open(self, url: str) -> Wire:
        """Open a page."""
        if origin(url) not in self.hosts:
            self.trouble, self._shown = OTHER_HOST, []
            return Wire(method="GET", url=url)
        return self._go(url, lambda: self.page.goto(url, wait_until="domcontentloaded"))

    def forms(self) -> Sequence[Form]:
        """Return the forms of the page."""
        return [shown.form for shown in self._shown]

    def follow(self, text: str) -> Wire | None:
        """Press a link of the page, or a button."""
        shown = self.page.locator("a[href]").filter(has_text=text)
        if not shown.count():
            shown = self.page.get_by_role("button", name=text)
        if not shown.count():
            return None

        def press() -> None:
            with self.page.expect_navigation(wait_until="domcontentloaded"):
                shown.first.click()

        return self._go(self.page.url, press)

    def send(self, form: Form, filled: Mapping[str, str]) -> Wire:
        """Fill in a form of the page and submit it."""
        shown = next(shown for shown in self._shown if shown.form is form)

        def submit() -> None:
            press = fill(shown, filled)
            with self.page.expect_navigation(wait_until="domcontentloaded"):
                press()

        return self._go(self.page.url, submit)

    def _go(self, url: str, act: Callable[[], object]) -> Wire:
        """Perform an action that leads to another page, and return the exchange."""
        from playwright.sync_api import Error  # noqa: PLC0415 -- an extra

        self._shown, self._response, self._navigating, body = [], None, True, b""
        try:
            act()
            self._shown = read(self.page)
            body = self.page.content().encode("utf-8", "replace")[:MAX_BODY]
        except Error as error:
            # An aborted navigation is no error: it leads elsewhere, or to nothing that
            # can be shown.
            ends = self.redirected or (self._response and self._response.status in REFUSALS)
            self.trouble = "" if ends else first_line(error)
        finally:
            self._navigating = False
        response = self._response
        if response is None:
            return Wire(method="GET", url=url)
        return Wire(
            method=response.request.method,
            url=response.url,
            status=response.status,
            headers=tuple(response.headers.items()),
            body=body,
        )


def read(page: Page) -> list[BrowserForm]:
    """Return the forms of a page, as `html_forms.forms` does for the text of one."""
    forms = page.locator("form")
    return [_form(forms.nth(n)) for n in range(min(forms.count(), MOST))]


def _form(at: Locator) -> BrowserForm:
    named, form = at.locator("[name]"), Form()
    values = named.evaluate_all(READ_FIELDS, MOST)
    inputs = [BrowserField(**value, at=named.nth(n)) for n, value in enumerate(values)]
    for entry in inputs:
        if entry.kind == "select":
            form.choices.setdefault(entry.name, []).extend(entry.options)
        elif entry.kind in PICKED:
            form.choices.setdefault(entry.name, []).append(entry.value or "on")
        elif entry.kind in CARRIED or entry.kind == "textarea":
            form.carried.setdefault(entry.name, entry.value)
    return BrowserForm(form=form, fields=inputs, at=at)


def fill(shown: BrowserForm, filled: Mapping[str, str]) -> Callable[[], object]:
    """Fill in a form where it differs, and return the action that submits it."""
    shown.at.evaluate(NO_VALIDATION)
    for name, value in filled.items():
        choices = shown.form.choices.get(name)
        if name not in shown.form.names or (choices is not None and value not in choices):
            shown.at.evaluate(ADD_FIELD, [name, value])
    buttons = shown.at.locator(SUBMITS)
    typed = [entry for entry in shown.fields if entry.kind in TYPED]
    submit: Callable[[], object] = buttons.first.click
    if typed and not buttons.count():
        submit = partial(typed[-1].at.press, "Enter")
    for entry in shown.fields:
        if entry.name in filled and _put(entry, filled[entry.name]):
            submit = entry.at.click
    return submit


def _put(entry: BrowserField, value: str) -> bool:
    """Put a value into a field; return whether the field is the button with this value."""
    picked = value == (entry.value or "on")
    match entry.kind:
        case "radio" | "checkbox":
            if picked:
                entry.at.check()
        case "select" if value in entry.options:
            entry.at.select_option(value=value)
        case "hidden":
            entry.at.evaluate(SET_VALUE, value)
        case kind if kind in PICKED:
            return picked
        case kind if kind in TYPED and value != entry.value:  # an invisible field may stay as it is
            entry.at.fill(value)
        case _:
            pass
    return False
