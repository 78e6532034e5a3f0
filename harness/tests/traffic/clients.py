"""A TPP's client of the sandbox bank, whose traffic is recorded as HAR.

It uses httpx and nothing of the harness, as a TPP would. Times are those of the bank's own
clock, so that a recording of many days takes no time.
"""

import json
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import harfile
import httpx

from assay.sandbox.app import make_app

BASE = "https://www.30001.live.sandbox.example"
SECOND = "https://www.30001.live.bank.example"
CONTROL = "/assay-control/1"
PRESENT = {"PSU-IP-Address": "203.0.113.7"}
VALID = {
    "paymentType": "immediate",
    "creditorAccount": "FR7630006000011234567890189",
    "amount": "12.30",
    "currency": "EUR",
    "chargeBearer": "SLEV",
    "categoryPurpose": "DVPM",
    "reference": "Invoice 17",
    "successfulReportUrl": "https://tpp.example/return?state=4711",
}


class Client:
    """A client with a TPP's token, which keeps every call."""

    base = BASE

    def __init__(self, offers=None, now="2026-09-16T10:00:00+02:00", app=None, url=None):
        self.entries = []
        inside = None if url else httpx.WSGITransport(app=app or make_app(base_url=BASE))
        self.http = httpx.Client(transport=inside, trust_env=False)
        self.bank = url or BASE
        world = self.control(
            "POST", "/worlds", {"now": now, **({"offers": offers} if offers else {})}
        )
        self.world, self.now = world["world"], datetime.fromisoformat(world["now"])
        self.tpp = self.control("POST", f"/worlds/{self.world}/tpps", {})["token"]

    def control(self, method, path, body=None):
        """Call the control API, which is not recorded."""
        answer = self.http.request(method, self.bank + CONTROL + path, json=body)
        return answer.json() if answer.content else {}

    def customer(self, *holdings):
        """Create a customer who owns accounts."""
        holdings = holdings or ({"resource": "account", "count": 2},)
        return self.control("POST", f"/worlds/{self.world}/customers", {"holdings": list(holdings)})

    def wait(self, **span):
        """Let time pass at the bank."""
        to = self.now + timedelta(**span)
        clock = self.control("POST", f"/worlds/{self.world}/clock", {"to": to.isoformat()})
        self.now = datetime.fromisoformat(clock["now"])

    def sign(self, key, psu):
        """Let the customer sign a payment."""
        path = f"/worlds/{self.world}/payments/{key}/sign"
        signature = {"customer": psu["customer"], "factor": "sms", "decision": "confirm"}
        return self.control("POST", path, signature)

    def call(self, method, path, token, *, present=True, base=None, headers=None, **options):
        """Call the bank, and keep the exchange."""
        url = path if path.startswith("http") else (base or self.base) + path
        sent = {
            "Authorization": f"Bearer {token}",
            **(PRESENT if present else {}),
            **(headers or {}),
        }
        request = self.http.build_request(method, url, headers=sent, **options)
        answer = self.http.send(request)
        self.now += timedelta(seconds=1)
        self.entries.append((self.now, request, answer))
        return answer

    def get(self, path, psu, **options):
        """Read something that a customer owns."""
        return self.call("GET", path, psu["token"], **options)

    def consent(self, psu, *keys, **options):
        """Transmit a consent."""
        return self.call("PUT", "/consents", psu["token"], json={"accounts": list(keys)}, **options)

    def pay(self, psu, base=None, without=(), **changed):
        """Request a payment, and return the response of the bank."""
        body = {**VALID, "debtorAccount": psu["holdings"][0]["key"], **changed}
        body = {name: value for name, value in body.items() if name not in without}
        return self.call("POST", "/payment-requests", self.tpp, base=base, json=body).json()

    def payment(self, method, payment, base=None, **options):
        """Read, change or confirm a requested payment."""
        key = payment if isinstance(payment, str) else payment["paymentRequestResourceId"]
        return self.call(method, f"/payment-requests/{key}", self.tpp, base=base, **options)

    def har(self, path):
        """Write the recording, as a proxy would."""
        with harfile.HarFile.open(path) as har:
            for at, request, answer in self.entries:
                har.add_entry(
                    startedDateTime=at,
                    time=1.5,
                    request=harfile.Request(
                        method=request.method,
                        url=str(request.url),
                        httpVersion="HTTP/1.1",
                        headers=_headers(request),
                        queryString=[],
                        postData=harfile.PostData(
                            mimeType="application/json", text=request.content.decode()
                        )
                        if request.content
                        else None,
                    ),
                    response=harfile.Response(
                        status=answer.status_code,
                        statusText=answer.reason_phrase,
                        httpVersion="HTTP/1.1",
                        headers=_headers(answer),
                        content=harfile.Content(
                            mimeType=answer.headers.get("content-type", ""),
                            size=len(answer.content),
                            text=answer.text,
                        ),
                        redirectURL="",
                    ),
                    timings=harfile.Timings(send=0, wait=1, receive=0),
                )
        return Path(path)


def _headers(message):
    return [harfile.Record(name=name, value=value) for name, value in message.headers.items()]


def days_ago(client, days):
    """Return the date this number of days before the bank's own."""
    return (client.now.date() - timedelta(days=days)).isoformat()


# -- a client that meets every obligation ------------------------------------------------
def clean(client, *, base=BASE, today=False):
    """Do everything that a TPP may do: read what the consent covers, pay, change and cancel.

    All of it `today`, for recorders that use their own clock and not the bank's.
    """
    client.base = base
    psu = client.customer()
    first = psu["holdings"][0]["key"]
    page = client.get("/accounts", psu).json()
    client.consent(psu, first)
    page = client.get("/accounts", psu).json()
    with suppress(KeyError, TypeError):
        client.get(page["links"]["next"], psu)
    client.get("/accounts/balances", psu, params={"iban": first})
    since = days_ago(client, 30)
    answer = client.get(
        "/accounts/transactions", psu, params={"iban": first, "dateFrom": since}
    ).json()
    if answer["links"].get("next"):
        client.get(answer["links"]["next"], psu)
    for _ in range(4):
        client.get("/accounts/balances", psu, params={"iban": first}, present=False)
    if not today:
        client.wait(days=1)
        client.get("/accounts/balances", psu, params={"iban": first}, present=False)
    pays(client, psu, today=today)
    return psu


def pays(client, psu, *, today):
    """Pay at once; defer a payment, change and cancel it; and pay again the next day."""
    made = client.pay(psu)
    client.payment("GET", made)
    client.sign(made["paymentRequestResourceId"], psu)
    client.payment("GET", made)
    client.pay(psu, amount="99.00")
    day = (client.now.date() + timedelta(days=5)).isoformat()
    later = client.pay(psu, paymentType="deferred", requestedExecutionDate=day)
    client.payment("PUT", later, json={"amount": "13.00"})
    client.payment("PUT", later, json={"status": "cancelled"})
    client.payment("GET", later)
    if not today:
        client.wait(days=1)
        client.pay(psu)


# -- each obligation violated, after everything else was done correctly -----------------
def _other_host(client, psu):
    made = client.pay(psu, amount="5.00")
    client.payment("GET", made, base=SECOND)


def _credentials(client, psu):
    client.consent(psu, psu["holdings"][0]["key"])
    client.call(
        "PUT",
        "/consents",
        psu["token"],
        json={
            "accounts": [psu["holdings"][0]["key"]],
            "login": psu["login"],
            "password": psu["password"],
        },
    )


def _many(client, psu):
    for _ in range(5):
        client.get("/accounts", psu, present=False)


def _again(client, psu):
    made = client.pay(psu, amount="7.00")
    client.sign(made["paymentRequestResourceId"], psu)
    client.payment("GET", made)
    client.pay(psu, amount="7.00")


def _done(client, psu, body):
    day = (client.now.date() + timedelta(days=2)).isoformat()
    made = client.pay(psu, paymentType="deferred", requestedExecutionDate=day)
    client.sign(made["paymentRequestResourceId"], psu)
    client.wait(days=4)
    assert client.payment("GET", made).json()["status"] == "executed"
    client.payment("PUT", made, json=body)


def _unconsented(client, psu):
    client.get("/accounts/balances", psu, params={"iban": psu["holdings"][1]["key"]})


def _deep(client, psu):
    first = psu["holdings"][0]["key"]
    asked = {"iban": first, "dateFrom": days_ago(client, 120)}
    client.get("/accounts/transactions", psu, params=asked)


def _extended(client, psu):
    asked = {
        "iban": psu["holdings"][0]["key"],
        "scope": "aisp extended_transaction_history",
    }
    client.get("/accounts/transactions", psu, params=asked)


VIOLATIONS = {
    "aisp/trusted-beneficiaries/never-called": lambda c, psu: c.get("/trustedBeneficiaries", psu),
    "aisp/end-user-identity/never-called": lambda c, psu: c.get("/endUserIdentity", psu),
    "aisp/no-extended-history/mode-not-asked": _extended,
    "aisp/transactions.depth/nothing-older-asked": _deep,
    "aisp/consent.scope/only-consented": _unconsented,
    "aisp/redirect-only/none-sent": _credentials,
    "aisp/batch-quota/not-exceeded": _many,
    "aisp/live-host/stays-on-host": lambda c, psu: c.get("/accounts", psu, base=SECOND),
    "pis/payments.addressed/own-requests-only": lambda c, psu: c.payment("GET", "PAY-2026-4711"),
    "pis/payments.confirmation/never-called": lambda c, psu: c.payment(
        "POST", c.pay(psu, amount="8.00")["paymentRequestResourceId"] + "/confirmation"
    ),
    "pis/payment-types/served-modes-only": lambda c, psu: c.pay(psu, paymentType="standing-order"),
    "pis/single/served-modes-only": lambda c, psu: c.pay(
        psu, transfers=[{"amount": "1.00"}, {"amount": "2.50"}, {"amount": "3.00"}]
    ),
    "pis/mandatory-fields/fields-there": lambda c, psu: c.pay(psu, without=("creditorAccount",)),
    "pis/charge-bearer/value-kept": lambda c, psu: c.pay(psu, chargeBearer="SHAR"),
    "pis/euro/value-kept": lambda c, psu: c.pay(psu, currency="USD"),
    "pis/modify.deferred-only/changeable-only": lambda c, psu: c.payment(
        "PUT", c.pay(psu, amount="9.00"), json={"amount": "10.00"}
    ),
    "pis/cancel/before-carried-out": lambda c, psu: _done(c, psu, {"status": "cancelled"}),
    "pis/redirect-only/none-sent": lambda c, psu: c.call(
        "POST",
        "/payment-requests",
        "",
        json={**VALID, "debtorAccount": psu["holdings"][0]["key"]},
        headers={"Authorization": httpx.BasicAuth(psu["login"], psu["password"])._auth_header},
    ),
    "pis/duplicate/not-repeated": _again,
    "pis/host/stays-on-host": _other_host,
}


def write(path, text):
    """Write any document as a recording."""
    path.write_text(json.dumps(text), encoding="utf-8")
    return path
