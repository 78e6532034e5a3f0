"""Recordings as the proxy and a real browser make them, of a clean client and of a bad one."""

import json
import os
from datetime import datetime
from importlib.util import find_spec
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import httpx
import pytest
from clients import BREAKS, Client, clean

from assay.contract.model import Party
from assay.judging.verdict import Standing
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving
from assay.sca import chromium as driver
from assay.traffic.proxy.recorder import HarRecorder
from assay.traffic.proxy.server import Proxy
from assay.traffic.proxy.upstream import Upstream, parse_upstream
from assay.traffic.session import open_recording

#: What takes another host, or the bank's own clock; a recorder has but one and its own.
ELSEWHERE = {
    "aisp/live-host/stays-on-host",
    "pis/host/stays-on-host",
    "pis/cancel/before-carried-out",
}


def bad(client, psu):
    """Break every duty that can be broken at one host on one day."""
    for duty in BREAKS.keys() - ELSEWHERE:
        BREAKS[duty](client, psu)


def cancel_what_was_done(client, psu):
    """Cancel a payment that was carried out at once."""
    made = client.pay(psu, amount="21.00")
    client.sign(made["paymentRequestResourceId"], psu)
    client.payment("GET", made)
    client.payment("PUT", made, json={"status": "cancelled"})


def found(har, url, tmp_path):
    """Return what is violated, and what is kept, in a recording."""
    case = open_recording(har, target_name=url, party=Party.TPP)
    verdicts = case.close(tmp_path / "journal.jsonl").verdicts
    assert case.exchanges > 10
    return tuple(
        {one.obligation for one in verdicts if one.standing is standing}
        for standing in (Standing.VIOLATES, Standing.CONFORMS)
    )


def now():
    """Return noon of the day on which a recorder says that something happened.

    At other times the bank may be in maintenance.
    """
    return datetime.now(ZoneInfo("Europe/Paris")).replace(hour=12).isoformat()


@pytest.fixture
def bank():
    """Serve the sandbox."""
    with serving(make_app()) as url:
        yield url


# -- the proxy ---------------------------------------------------------------------
@pytest.fixture
def through(bank, tmp_path):
    """Give a client that goes through the proxy, and what ends the record."""
    har = tmp_path / "proxy.har"
    way = Upstream(origin=parse_upstream(bank)[0], timeout=10)
    with Proxy(upstream=way, record=HarRecorder(har)) as proxy:
        client = Client(url=bank, now=now())
        yield client, proxy, har
        client.http.close()


def test_a_clean_client_through_the_proxy(bank, through, tmp_path):
    """Nothing is found in what the proxy recorded of a clean client, and all it did is kept."""
    client, proxy, har = through
    clean(client, base=proxy.url, today=True)
    proxy.close()
    broken, kept = found(har, bank, tmp_path)
    assert set() == broken
    assert set(BREAKS) == kept | ELSEWHERE - {"pis/cancel/before-carried-out"}


def test_a_bad_client_through_the_proxy(bank, through, tmp_path):
    """Everything that a bad client did is found in what the proxy recorded, though redacted."""
    client, proxy, har = through
    psu = clean(client, base=proxy.url, today=True)
    bad(client, psu)
    cancel_what_was_done(client, psu)
    proxy.close()
    broken, _ = found(har, bank, tmp_path)
    assert set(BREAKS) - ELSEWHERE | {"pis/cancel/before-carried-out"} == broken
    assert psu["token"] not in har.read_text()


# -- Chromium ----------------------------------------------------------------------
FETCH = """
async ({method, url, headers, body}) => {
  const answer = await fetch(url, {method, headers, body});
  return {status: answer.status, headers: [...answer.headers], text: await answer.text()};
}
"""


class Browsing(Client):
    """A client whose calls a page in a browser makes."""

    page = None

    def call(self, method, path, token, *, present=True, base=None, headers=None, **more):
        """Fetch from within the page."""
        asked = {"Authorization": f"Bearer {token}", **(headers or {})}
        asked |= {"PSU-IP-Address": "203.0.113.7"} if present else {}
        url = path if path.startswith("http") else self.bank + path
        if "params" in more:
            url += "?" + urlencode(more["params"])
        body = json.dumps(more["json"]) if "json" in more else None
        asked |= {"Content-Type": "application/json"} if body else {}
        said = {"method": method, "url": url, "headers": asked, "body": body}
        told = self.page.evaluate(FETCH, said)
        return httpx.Response(told["status"], headers=told["headers"], text=told["text"])


@pytest.fixture
def browsing(bank, tmp_path):
    """Give a client in a browser that records, and what ends the record; or skip."""
    lacking = not find_spec("playwright") or not any(map(driver.which, driver.NAMES))
    if lacking and os.environ.get("ASSAY_BROWSER") == "required":
        pytest.fail("ASSAY_BROWSER=required, and there is no Playwright or no Chromium")
    if lacking:
        pytest.skip("there is no Playwright or no Chromium")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 -- an extra

    har = tmp_path / "browser.har"
    path = next(filter(None, map(driver.which, driver.NAMES)))
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        context = browser.new_context(record_har_path=har)
        client = Browsing(url=bank, now=now())
        client.page = context.new_page()
        client.page.goto(f"{bank}/nothing-of-the-contract")
        yield client, context, har
        client.http.close()
        browser.close()


def test_a_clean_client_in_chromium(bank, browsing, tmp_path):
    """Nothing is found in what Chromium recorded of a clean client, and all it did is kept."""
    client, context, har = browsing
    clean(client, base=bank, today=True)
    context.close()
    broken, kept = found(har, bank, tmp_path)
    assert set() == broken
    assert set(BREAKS) == kept | ELSEWHERE - {"pis/cancel/before-carried-out"}


def test_a_bad_client_in_chromium(bank, browsing, tmp_path):
    """Everything that a bad client did is found in what Chromium recorded."""
    client, context, har = browsing
    psu = clean(client, base=bank, today=True)
    bad(client, psu)
    cancel_what_was_done(client, psu)
    context.close()
    broken, _ = found(har, bank, tmp_path)
    assert set(BREAKS) - ELSEWHERE | {"pis/cancel/before-carried-out"} == broken
