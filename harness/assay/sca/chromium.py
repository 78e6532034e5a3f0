"""An installed Chromium, started once per run and confined to the target's hosts.

Requests and redirects to any other host can be observed, but their names are never
resolved. Pages run no script, and signatures share nothing with one another.
"""

# Playwright is an extra, and its types are only there where it is installed.
# pyright: reportMissingImports=false, reportUnknownParameterType=false

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from shutil import which
from typing import TYPE_CHECKING

from assay.binding.origin import Origin, origin
from assay.binding.target import Target
from assay.errors import CannotArrange, InputError, Problem

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

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
