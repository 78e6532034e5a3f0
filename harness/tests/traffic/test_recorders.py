"""Recordings made by the proxy and by a real browser, of a clean client and of a bad one."""

import json
import os
from datetime import datetime
from importlib.util import find_spec
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import httpx
import pytest
from clients import VIOLATIONS, Client, clean

from assay.contract.model import Party
from assay.rules.verdict import Standing
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving
from assay.sca import browser as driver
from assay.traffic.proxy.recorder import HarMasker, HarRecorder
from assay.traffic.proxy.server import Proxy
from assay.traffic.proxy.upstream import Upstream, parse_upstream
from assay.traffic.session import open_recording

#: Obligations whose violation needs a second host or the bank's own clock.
ELSEWHERE = {
    "aisp/live-host/stays-on-host",
    "pis/host/stays-on-host",
    "pis/cancel/before-carried-out",
}


def bad(client, psu):
    """Violate every obligation that can be violated at one host on one day."""
    for obligation in VIOLATIONS.keys() - ELSEWHERE:
        VIOLATIONS[obligation](client, psu)


def cancel_what_was_done(client, psu):
    """Cancel a payment that was executed at once."""
    made = client.pay(psu, amount="21.00")
    client.sign(made["paymentRequestResourceId"], psu)
    client.payment("GET", made)
    client.payment("PUT", made, json={"status": "cancelled"})


#: What only the lack of a call shows: a recording may lack one, if nobody says that it is complete.
BY_ABSENCE = {"aisp/consent.scope/only-consented"}


def found(har, url, tmp_path, *, complete=False):
    """Return the obligations that a recording violates, and those that it meets."""
    session = open_recording(
        har, target_name=url, party=Party.TPP, complete=complete, bank_clock=True
    )
    verdicts = session.close(tmp_path / f"journal-{complete}.jsonl").verdicts
    assert session.exchanges > 10
    return tuple(
        {one.obligation for one in verdicts if one.standing is standing}
        for standing in (Standing.VIOLATES, Standing.CONFORMS)
    )


def now():
    """Return noon of the day that a recorder notes.

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
    """Return a client that calls through the proxy, the proxy, and its record."""
    har = tmp_path / "proxy.har"
    way = Upstream(origin=parse_upstream(bank)[0], timeout=10)
    with Proxy(upstream=way, record=HarRecorder(har)) as proxy:
        client = Client(url=bank, now=now())
        yield client, proxy, har
        client.http.close()


def test_a_clean_client_through_the_proxy(bank, through, tmp_path):
    """In the proxy's recording, a clean client violates nothing and meets every obligation."""
    client, proxy, har = through
    clean(client, base=proxy.url, today=True)
    proxy.close()
    broken, kept = found(har, bank, tmp_path)
    assert set() == broken
    assert set(VIOLATIONS) == kept | ELSEWHERE - {"pis/cancel/before-carried-out"}


def test_a_bad_client_through_the_proxy(bank, through, tmp_path):
    """The proxy's recording shows every violation of a bad client, although it is redacted."""
    client, proxy, har = through
    psu = clean(client, base=proxy.url, today=True)
    bad(client, psu)
    cancel_what_was_done(client, psu)
    proxy.close()
    expected = set(VIOLATIONS) - ELSEWHERE | {"pis/cancel/before-carried-out"}
    assert expected == found(har, bank, tmp_path, complete=True)[0]
    assert expected - BY_ABSENCE == found(har, bank, tmp_path)[0]
    assert psu["token"] not in har.read_text()


class Unmasked(HarMasker):
    """Leaves every secret where it is."""

    def pseudonym(self, value, kind):
        """Return the value itself."""
        return value


class TwoRecorders:
    """Record each exchange as the proxy does, and without masking."""

    exchanges = 0

    def __init__(self, masked, plain):
        self.both = HarRecorder(masked), HarRecorder(plain)
        self.both[1]._masker = Unmasked()

    def add(self, exchange):
        """Write an exchange to both files."""
        for each in self.both:
            each.add(exchange)

    def close(self):
        """End both files."""
        for each in self.both:
            each.close()


@pytest.mark.parametrize("party", [Party.BANK, Party.TPP])
def test_masking_changes_no_verdict(bank, tmp_path, party):
    """A recording is judged as it would be with every secret in it, for either party."""
    files = tmp_path / "masked.har", tmp_path / "plain.har"
    way = Upstream(origin=parse_upstream(bank)[0], timeout=10)
    with Proxy(upstream=way, record=TwoRecorders(*files)) as proxy:
        client = Client(url=bank, now=now())
        bad(client, clean(client, base=proxy.url, today=True))
        client.http.close()
    masked, plain = (
        open_recording(har, target_name=bank, party=party, complete=True, bank_clock=True)
        .close(tmp_path / f"{har.stem}.jsonl")
        .verdicts
        for har in files
    )
    assert len({each.standing for each in plain}) >= 2
    assert {each.obligation: each.standing for each in plain} == {
        each.obligation: each.standing for each in masked
    }


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

    def call(self, method, path, token, *, present=True, base=None, headers=None, **options):
        """Fetch from within the page."""
        sent = {"Authorization": f"Bearer {token}", **(headers or {})}
        sent |= {"PSU-IP-Address": "203.0.113.7"} if present else {}
        url = path if path.startswith("http") else self.bank + path
        if "params" in options:
            url += "?" + urlencode(options["params"])
        body = json.dumps(options["json"]) if "json" in options else None
        sent |= {"Content-Type": "application/json"} if body else {}
        request = {"method": method, "url": url, "headers": sent, "body": body}
        response = self.page.evaluate(FETCH, request)
        return httpx.Response(
            response["status"], headers=response["headers"], text=response["text"]
        )


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
    """In Chromium's recording, a clean client violates nothing and meets every obligation."""
    client, context, har = browsing
    clean(client, base=bank, today=True)
    context.close()
    broken, kept = found(har, bank, tmp_path)
    assert set() == broken
    assert set(VIOLATIONS) == kept | ELSEWHERE - {"pis/cancel/before-carried-out"}


def test_a_bad_client_in_chromium(bank, browsing, tmp_path):
    """Chromium's recording shows every violation of a bad client."""
    client, context, har = browsing
    psu = clean(client, base=bank, today=True)
    bad(client, psu)
    cancel_what_was_done(client, psu)
    context.close()
    expected = set(VIOLATIONS) - ELSEWHERE | {"pis/cancel/before-carried-out"}
    assert expected == found(har, bank, tmp_path, complete=True)[0]
    assert expected - BY_ABSENCE == found(har, bank, tmp_path)[0]
