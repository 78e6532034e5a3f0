"""The signing screens over plain HTTP, form by form.

Links and redirects are followed on the target's hosts and those in `sca.hosts` only, and cookies
last for one flow. `screen_flow` decides what is filled in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode, urljoin

from assay.binding.encode import Access, HttpRequest
from assay.binding.origin import Origin, origin
from assay.binding.target import Sca
from assay.history import Authorise, Wire
from assay.sca.html_forms import Form, forms, link
from assay.sca.protocol import AnyReturnAddress, ScreenFlowResult, Wait
from assay.sca.screen_flow import ScreenFlow, first_link, joined
from assay.transport.protocol import Transport

#: The most redirects between two screens.
MAX_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: Redirect statuses after which the same request is sent again instead of a GET.
REPEATED = frozenset({307, 308})


@dataclass(frozen=True, slots=True, kw_only=True)
class FormsSigner(AnyReturnAddress):
    """Operates the screens of one target, on its `hosts` and on those that have only screens."""

    sca: Sca
    transport: Transport
    hosts: frozenset[Origin] = frozenset()

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Open the link and fill in one screen after the other."""
        link = first_link(step, access)
        hosts = frozenset(map(origin, self.sca.hosts))
        driver = _Pages(
            transport=self.transport, hosts=hosts | self.hosts if hosts else frozenset()
        )
        return ScreenFlow(sca=self.sca, step=step, access=access, wait=wait, driver=driver).go(link)


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
        """Follow a link, unless it leaves the screens."""
        href = link(self.page.body, text)
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
            location = _header(wire, "location")
            if wire.status not in REDIRECTS or not location:
                break
            target = joined(url, location)
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


def _header(wire: Wire, name: str) -> str:
    return next((value for key, value in wire.headers if key.lower() == name), "")
