"""Every mutant is visible in the STET dialect as in the bank's own interface.

One long script runs against a sound bank and a mutant, in the bank's own interface and in
the dialect, and the answers are compared, without the rules of the harness. A mutant that
differs from the sound bank in one interface must differ in the other.
"""

import base64
import json
import re
from io import BytesIO

import pytest

from assay.sandbox.app import make_app
from assay.sandbox.dialects import DIALECTS
from assay.sandbox.mutants import MUTANTS, NEUTRAL, PIS_MUTANTS, PIS_NEUTRAL
from assay.sandbox.policies import SOUND

pytestmark = pytest.mark.slow

HOST, ROOT = "bank.test", "/stet/psd2/v1"
FEW = ["2026-09-14"]
ACCOUNTS = {"resource": "account", "count": 2, "entries": FEW}
CARDS = {"resource": "card", "count": 2, "entries": FEW}
HIDDEN = ("savings", "inactive", "offline")
DAYS = [
    *(f"2026-06-{day}" for day in range(16, 21)),
    *(f"2026-0{month}-{day:02d}" for month in (7, 8, 9) for day in range(1, 31, 3)),
]
BODIES = (b"", b"<no/>", b'{"a": ', b"42", b'{"a":' * 100 + b"1" + b"}" * 100, b" " * 70_000 + b"{")
CREDITOR, OTHER = "FR7630006000011234567890189", "DE89370400440532013000"
PERIODS = (
    ("2026-08-04",),
    (None, "2026-08-10"),
    ("2026-08-04", "2026-08-10"),
    ("2025-01-01",),
    (None, "2026-06-25"),
    (None, "2026-06-17"),
    ("2025-01-01", "2026-06-25"),
)
#: Last uses of cards, around two months ago.
USES = ("06-01", "07-15", "07-16", "07-17", "07-18", "07-20", "09-15")
#: Moments of a night, with the number of calls.
NIGHT = (("16T22:50", 3), ("16T23:20", 4), ("16T23:50", 1), ("17T00:01", 5), ("17T02:30", 1))
SUNDAYS = (
    "2026-09-18T00:30:00+02:00",
    "2026-09-20T01:59:30+02:00",
    "2026-09-20T06:00:30+02:00",
    "2026-09-20T06:30:00+02:00",
    "2026-09-22T03:05:00+02:00",
    "2027-03-28T05:30:00+02:00",
    "2027-03-28T06:30:00+02:00",
)
MONDAYS = (
    "2026-09-20T03:00:00+02:00",
    "2026-09-21T01:59:30+02:00",
    "2026-09-21T03:00:00+02:00",
    "2026-09-21T06:00:30+02:00",
    "2026-09-21T06:30:00+02:00",
)
MISSING = (..., None, "", 17, [], [CREDITOR])
WRONG = {
    "chargeBearer": (*MISSING, "SHAR", "DEBT", "CRED", "slev", " SLEV ", "SLEV\n", "SLEVX", "QQQQ"),
    "categoryPurpose": MISSING,
    "creditorAccount": MISSING,
    "successfulReportUrl": MISSING,
    "currency": ("USD", "GBP", "XQQ", "eur", " EUR"),
}
CHANGES = (
    {"amount": "47.11"},
    {"creditorAccount": OTHER},
    {"requestedExecutionDate": "2026-09-19"},
)
REPEATS = (
    {},
    {"creditorAccount": OTHER},
    {"amount": "8.01"},
    {"categoryPurpose": "SUPP"},
    {"paymentType": "instant"},
)


class Own:
    """The bank's own interface."""

    def __init__(self, policies, expected=None):
        self.app = self.wrap(make_app(policies))
        self.record = Record(expected)

    @staticmethod
    def wrap(app):
        return app

    def send(self, method, url, body=b"", token=None, *, there=True, host=HOST, basic=None):
        """Call the application; return status, headers and body."""
        path, _, query = re.sub(r"^https?://[^/]*", "", url).partition("?")
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_LENGTH": str(len(body)),
            "SERVER_NAME": host,
            "SERVER_PORT": "80",
            "HTTP_HOST": host,
            "wsgi.url_scheme": "http",
            "wsgi.input": BytesIO(body),
        }
        if token:
            environ["HTTP_AUTHORIZATION"] = f"Bearer {token}"
        if basic:
            encoded = base64.b64encode(":".join(basic).encode()).decode()
            environ["HTTP_AUTHORIZATION"] = f"Basic {encoded}"
        if there:
            environ["HTTP_PSU_IP_ADDRESS"] = "192.0.2.7"
        begun = []
        parts = self.app(environ, lambda line, headers, error=None: begun.append((line, headers)))
        line, headers = begun[-1]
        return int(line[:3]), headers, b"".join(parts)

    def control(self, path, **content):
        """Use the control API; the answer is not recorded."""
        _, _, body = self.send("POST", f"/assay-control/1{path}", json.dumps(content).encode())
        return json.loads(body) if body else {}

    def call(self, method, path, content=None, token=None, **how):
        """Call as a TPP; the answer is recorded."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        answer = self.send(method, path, b"" if content is None else body, token, **how)
        self.record.append(answer)
        return answer

    def read(self, *args, **how):
        """Call and parse the answer; empty if it is no object."""
        try:
            content = json.loads(self.call(*args, **how)[2])
        except ValueError:
            return {}
        return content if isinstance(content, dict) else {}

    def next(self, content):
        return content.get("links", {}).get("next")

    def learn(self, content):
        """Extract the identifiers from a list of accounts."""

    def accounts(self, guest, query="", **how):
        content = self.read("GET", f"/accounts{query}", token=guest["token"], **how)
        self.learn(content)
        return content

    def balances(self, guest, key, query="", **how):
        return self.about("balances", guest, key, query, **how)

    def transactions(self, guest, key, query="", **how):
        return self.about("transactions", guest, key, query, **how)

    def about(self, what, guest, key, query="", **how):
        return self.read("GET", f"/accounts/{what}?iban={key}{query}", token=guest["token"], **how)

    def consents(self, guest, keys, more=None, **how):
        content = keys if isinstance(keys, bytes) else {"accounts": keys, **(more or {})}
        how = {"token": guest["token"], **how}
        return self.call("PUT", "/consents", content, **how)

    def missing(self, guest):
        for path in ("/trustedBeneficiaries", "/endUserIdentity"):
            self.call("GET", path, token=guest["token"])

    until = 0

    def period(self, first=None, last=None):
        """Request a period, including its last day."""
        ends = (
            (first, "dateFrom"),
            (last and f"{last[:8]}{int(last[8:]) + self.until:02d}", "dateTo"),
        )
        return "".join(f"&{name}={day}" for day, name in ends if day)

    def create(self, terms, token, **how):
        content = self.read("POST", "/payment-requests", terms, token, **how)
        return content.get("paymentRequestResourceId", "none")

    def modify(self, id, change, token):
        return self.call("PUT", f"/payment-requests/{id}", change, token)

    def cancel(self, id, token):
        return self.modify(id, {"status": "cancelled"}, token)

    def payment(self, id, token, **how):
        return self.call("GET", f"/payment-requests/{id}", token=token, **how)

    def confirm(self, id, token):
        return self.call("POST", f"/payment-requests/{id}/confirmation", {}, token)


class Stet(Own):
    """The STET interface."""

    def __init__(self, policies, expected=None):
        super().__init__(policies, expected)
        self.ids = {}

    wrap = staticmethod(DIALECTS["stet"])
    until = 1

    def call(self, method, path, content=None, token=None, **how):
        path = path if ROOT in path or path.startswith("http") else ROOT + path
        return super().call(method, path, content, token, **how)

    def next(self, content):
        return content.get("_links", {}).get("next", {}).get("href")

    def learn(self, content):
        for row in content.get("accounts", ()):
            named = row.get("accountId", {})
            key = named.get("iban") or named.get("other", {}).get("identification")
            self.ids[key] = row.get("resourceId")

    def about(self, what, guest, key, query="", **how):
        path = f"/accounts/{self.ids.get(key, key)}/{what}" + (f"?{query[1:]}" if query else "")
        return self.read("GET", path, token=guest["token"], **how)

    def consents(self, guest, keys, more=None, **how):
        if not isinstance(keys, bytes):
            named = [{"iban": key} for key in keys] if isinstance(keys, list) else keys
            flags = {"trustedBeneficiaries": False, "psuIdentity": True}
            content = {"balances": named, "transactions": named, **flags, **(more or {})}
            keys = json.dumps(content).encode()
        return super().consents(guest, keys, **how)

    def missing(self, guest):
        for path in ("/trusted-beneficiaries", "/end-user-identity"):
            self.call("GET", path, token=guest["token"])

    def spelt(self, terms):
        if isinstance(terms, bytes):
            return terms
        kind = {"localInstrument": "INST"} if terms.get("paymentType") == "instant" else {}
        body = {
            name: terms[name]
            for name in ("chargeBearer", "requestedExecutionDate")
            if name in terms
        }
        nested = {
            "categoryPurpose": ("paymentTypeInformation", "categoryPurpose"),
            "debtorAccount": ("debtorAccount", "iban"),
            "successfulReportUrl": ("supplementaryData", "successfulReportUrl"),
        }
        if kind:
            body["paymentTypeInformation"] = kind
        for name, (outer, inner) in nested.items():
            if name in terms:
                body[outer] = {**body.get(outer, {}), inner: terms[name]}
        if "creditorAccount" in terms:
            body["beneficiary"] = {"creditorAccount": {"iban": terms["creditorAccount"]}}
        money = {name: terms[name] for name in ("amount", "currency") if name in terms}
        transfer = {"instructedAmount": money} if money else {}
        if "reference" in terms:
            transfer["remittanceInformation"] = [terms["reference"]]
        if transfer:
            body["creditTransferTransaction"] = [transfer] * (len(terms.get("transfers", "x")))
        return body

    def create(self, terms, token, **how):
        _, headers, _ = self.call("POST", "/payment-requests", self.spelt(terms), token, **how)
        return dict(headers).get("Location", "/none").rpartition("/")[2]

    def modify(self, id, change, token):
        return super().modify(id, self.spelt(change), token)

    def cancel(self, id, token):
        content = {"paymentInformationStatus": "RJCT", "statusReasonInformation": "DS02"}
        return self.call("PUT", f"/payment-requests/{id}", content, token)


class Differs(Exception):  # noqa: N818
    """An answer is not the expected one."""


class Record:
    """Comparable answers: random values are replaced by numbers."""

    def __init__(self, expected=None):
        self.answers, self.expected, self.seen = [], expected, {}

    def append(self, answer):
        status, headers, body = answer
        kept = [header for header in headers if header[0] != "Content-Length"]
        text = f"{status} {kept} {body}"
        text = re.sub(r"(?<=consent-approval/)(\w+/)[\w-]+", r"\1KEY", text)
        text = re.sub(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])", self.number, text)
        if self.expected is not None and self.expected[len(self.answers)] != text:
            raise Differs
        self.answers.append(text)

    def number(self, id):
        return self.seen.setdefault(id[0], f"id{len(self.seen)}")


class Half:
    """A world of the bank in which one half of the script runs."""

    def __init__(self, bank):
        self.bank = bank
        self.world = f"/worlds/{bank.control('/worlds', seed=0)['world']}"

    def customer(self, *holdings, **how):
        return self.bank.control(f"{self.world}/customers", holdings=list(holdings), **how)

    def at(self, moment):
        self.bank.control(f"{self.world}/clock", to=moment)

    def walk(self, content, guest, pages=4):
        """Follow the links of a list, up to a limit."""
        url = self.bank.next(content)
        for _ in range(pages):
            if url:
                content = self.bank.read("GET", url, token=guest["token"])
                self.bank.learn(content)
                url = self.bank.next(content)

    def everything(self, guest):
        for key in keys(guest):
            self.bank.balances(guest, key)
            self.walk(self.bank.transactions(guest, key), guest)


def keys(guest):
    return [holding["key"] for holding in guest["holdings"]]


def consents(half):
    """Read before a consent, and with an invalid, a narrow and a wide one."""
    bank = half.bank
    guest = half.customer({**ACCOUNTS, "entries": DAYS}, {**CARDS, "entries": DAYS})
    other = half.customer(ACCOUNTS, CARDS)
    for customer in (guest, other):
        bank.accounts(customer)
    half.everything(guest)
    bank.missing(guest)
    bank.accounts({"token": None}, basic=(guest["login"], guest["password"]))
    credentials = {name: guest[name] for name in ("login", "password")}
    bank.consents(guest, keys(guest)[:1], credentials, token=None)
    bank.consents(other, keys(guest)[:1])
    for body in (*BODIES, 42):
        bank.consents(guest, body)
    hidden = half.customer(ACCOUNTS, *({**ACCOUNTS, "traits": {one: True}} for one in HIDDEN))
    for key in (*keys(hidden)[2::2], keys(guest)[0]):
        bank.consents(hidden, [keys(hidden)[0], key])
    full = half.customer({"resource": "account", "entries": [FEW[0]] * 30})
    bank.accounts(full)
    bank.consents(full, keys(full))
    half.everything(full)
    bank.consents(guest, keys(guest)[::2])
    bank.accounts(guest)
    half.everything(guest)
    bank.consents(guest, keys(guest))
    bank.missing(guest)
    for key in keys(guest):
        bank.balances(other, key)
        bank.transactions(other, key)
    half.everything(guest)
    refused_consents(half)
    return guest


def refused_consents(half):
    """Read after consents that are refused for what they name, for being empty, or for the quota."""
    bank, guest = half.bank, half.customer({**ACCOUNTS, "count": 4})
    first, second, third, last = keys(guest)
    bank.accounts(guest)
    bank.consents(guest, [first])
    for named, key in (([second, "FR1420041010050500013M02606"], second), ([], last)):
        bank.consents(guest, named)
        bank.balances(guest, key)
    for key in (*[first] * 4, third):
        bank.consents(guest, [key], there=False)
    for key in (first, third):
        bank.balances(guest, key)


def reads(half, guest):
    """Read twice, in periods, and with invalid requests."""
    bank, key = half.bank, keys(guest)[0]
    for _ in range(2):
        bank.accounts(guest)
    for what in (bank.balances, bank.transactions) * 2:
        for _ in range(2):
            what(guest, key)
    for key in keys(guest)[::2]:
        for ends in PERIODS:
            half.walk(bank.transactions(guest, key, bank.period(*ends)), guest)
        bank.transactions(guest, key, "&scope=extended_transaction_history")
    for named, more in ((key, "&page=0"), ("9" * 99, ""), ("a\x00", ""), ("a b", "")):
        bank.balances(guest, named, more)
        bank.transactions(guest, named, more)
    bank.transactions(guest, key, "&dateFrom=2026-02-30")
    bank.accounts(guest, "?page=none")


def lists(half):
    """Read long lists, and lists with ineligible items."""
    bank = half.bank
    for many, entries in ((12, 12), (10, 40)):
        holding = {"resource": "account", "count": many, "entries": ["2026-09-01"] * entries}
        rich = half.customer(holding)
        half.walk(bank.accounts(rich), rich)
        bank.consents(rich, keys(rich)[:1])
        half.walk(bank.transactions(rich, keys(rich)[0]), rich)
    odd = [("account", {name: True}) for name in ("savings", "inactive", "offline")]
    odd += [("card", {"last-used": f"2026-{day}"}) for day in USES]
    odd += [("card", {name: True}) for name in ("inactive", "never-used", "immediate-debit")]
    for resource, traits in odd:
        holding = {"resource": resource, "entries": FEW, "traits": traits}
        bank.accounts(half.customer(holding))
        bank.accounts(half.customer(CARDS, holding))
    bank.accounts(half.customer({**CARDS, "count": 1}, {**ACCOUNTS, "count": 1}))


def quotas(half, guest):
    """Exceed the quota, with and without the customer, and on two days."""
    bank = half.bank
    for operation in (bank.accounts, bank.consents, bank.balances, bank.transactions):
        for there, calls in ((True, 21), (False, 6)):
            holder = half.customer(ACCOUNTS)
            bank.accounts(holder)
            bank.consents(holder, keys(holder))
            named = {bank.accounts: (), bank.consents: (keys(holder),)}
            what = named.get(operation, (keys(holder)[0],))
            for _ in range(calls):
                operation(holder, *what, there=there)
            operation(holder, *what, there=not there)
    last = half.customer(ACCOUNTS)
    bank.accounts(last)
    for time, calls in NIGHT:
        half.at(f"2026-09-{time}:00+02:00")
        half.walk(bank.transactions(guest, keys(guest)[0], bank.period(None, "2026-06-25")), guest)
        for _ in range(calls):
            bank.accounts(last, there=False)
            bank.consents(last, keys(last), there=False)
            bank.balances(last, keys(last)[0], there=False)
            bank.transactions(last, keys(last)[0], there=False)
    return last


def information(bank):
    """Run everything about accounts."""
    half = Half(bank)
    guest = consents(half)
    reads(half, guest)
    lists(half)
    last = quotas(half, guest)
    for moment in SUNDAYS:
        half.at(moment)
        bank.accounts(last)
        bank.transactions(guest, keys(guest)[0])


class Paying(Half):
    """A world with a paying customer and two TPPs."""

    def __init__(self, bank):
        super().__init__(bank)
        self.tpp, self.rival = (bank.control(f"{self.world}/tpps")["token"] for _ in range(2))
        self.guest, self.debtor = self.payer()
        self.amounts = iter(range(100, 999))

    def payer(self, segment="PART", **traits):
        holding = {"resource": "account", "entries": [], "traits": traits}
        made = self.customer(holding, segment=segment)
        return made, keys(made)[0]

    def terms(self, **changes):
        """Build a valid request with a unique amount; `...` omits a member."""
        whole = {
            "paymentType": "immediate",
            "debtorAccount": self.debtor,
            "creditorAccount": CREDITOR,
            "amount": f"{next(self.amounts)}.50",
            "currency": "EUR",
            "chargeBearer": "SLEV",
            "categoryPurpose": "DVPM",
            "reference": "Invoice 17",
            "successfulReportUrl": "https://tpp.example/yes?a=b",
            **changes,
        }
        if whole["paymentType"] == "deferred":
            whole.setdefault("requestedExecutionDate", "2026-09-18")
        return {name: value for name, value in whole.items() if value is not ...}

    def made(self, **changes):
        payment = self.bank.create(self.terms(**changes), self.tpp)
        self.bank.payment(payment, self.tpp)
        return payment

    def sign(self, payment, decision="confirm", factor="sms", by=None):
        content = {"factor": factor, "decision": decision}
        content["customer"] = (by or self.guest)["customer"]
        self.bank.control(f"{self.world}/payments/{payment}/sign", **content)
        self.bank.payment(payment, self.tpp)

    def change(self, payment, token=None):
        self.bank.modify(payment, CHANGES[0], token or self.tpp)


def creations(half):
    """Request payments with one fault each, and some valid ones."""
    bank = half.bank
    for field, values in WRONG.items():
        for value in values:
            half.made(**{field: value})
    for count in (2, 3):
        half.made(transfers=[{"amount": "1.00"}] * count)
    for traits in ({"savings": True}, {"inactive": True}, {"offline": True}):
        half.made(debtorAccount=half.payer(**traits)[1])
    for segment in ("PART", "PRO", "LARGE_PRO", "CORPORATE", "ASSOCIATION", "GUARDIAN"):
        half.made(debtorAccount=half.payer(segment)[1])
    half.made()
    basic = (half.guest["login"], half.guest["password"])
    bank.create(half.terms(), None, basic=basic)
    for body in BODIES:
        bank.create(body, half.tpp)
    bank.create(half.terms(), half.tpp, host="www.30001.live.bank.example")
    poor = bank.control("/worlds", seed=1, offers={"instant": False})["world"]
    there = bank.control(f"/worlds/{poor}/customers", holdings=[{"resource": "account"}])
    token = bank.control(f"/worlds/{poor}/tpps")["token"]
    for kind in ("immediate", "instant"):
        bank.create(half.terms(paymentType=kind, debtorAccount=keys(there)[0]), token)


def changed(half):
    """Modify and cancel payments of every type in every status."""
    bank, tpp = half.bank, half.tpp
    every = []
    for kind in ("immediate", "instant", "deferred"):
        new, signed, refused = (half.made(paymentType=kind) for _ in range(3))
        every += [new, signed, refused]
        half.sign(signed)
        half.sign(refused, "refuse")
        for payment in (new, signed):
            for change in CHANGES:
                bank.modify(payment, change, tpp)
                bank.payment(payment, tpp)
            bank.confirm(payment, tpp)
            half.change(payment, half.rival)
            bank.payment(payment, half.rival)
    for body in BODIES:
        bank.modify(every[-3], body, tpp)
    for payment in ("none", "9" * 2_000, "a\x01b"):
        bank.payment(payment, tpp)
        half.change(payment)
    cancelled = [half.made(paymentType="deferred") for _ in range(4)]
    for payment in cancelled[2:]:
        half.sign(payment)
    for payment in cancelled[::2]:
        bank.cancel(payment, tpp)
    for payment in cancelled[1::2]:
        bank.control(f"{half.world}/payments/{payment}/cancel")
    return [*every, *cancelled]


def rules(half):
    """Repeat payments, and pay CASH to creditors of every age."""
    for repeat in (*REPEATS, {"debtorAccount": half.payer()[1]}):
        for changes in ({}, repeat):
            half.sign(half.made(**{"amount": "8.00", **changes}))
    first, second = half.made(amount="9.00"), half.made(amount="9.00")
    half.sign(second)
    half.sign(first, "refuse")
    for hours in (71.9, 72, 72.5, 80, 100, 1_000):
        payee, account = half.payer()
        content = {"iban": OTHER, "registered": {"hours_ago": hours}}
        half.bank.control(f"{half.world}/customers/{payee['customer']}/creditors", **content)
        cash = {"debtorAccount": account, "creditorAccount": OTHER, "categoryPurpose": "CASH"}
        for factor in ("sms", "cap", "soft-token"):
            half.sign(half.made(**cash), factor=factor, by=payee)
    for factor in ("sms", "cap", "soft-token"):
        half.sign(half.made(categoryPurpose="CASH"), factor=factor)


def initiation(bank):
    """Run everything about payments except the screens, which have no dialect."""
    half = Paying(bank)
    creations(half)
    every = changed(half)
    rules(half)
    for day, late in ((18, False), (19, True)):
        half.at(f"2026-09-{day}T12:00:00+02:00")
        for payment in every:
            bank.payment(payment, half.tpp)
            if late:
                half.change(payment)
    for moment in MONDAYS:
        half.at(moment)
        bank.payment(every[0], half.tpp)
    for payment in every:
        bank.payment(payment, half.tpp)


HALVES = {"aisp": information, "pis": initiation}


def played(speaker, half, policies=SOUND, expected=None):
    """Run half of the script; stop at the first unexpected answer."""
    bank = speaker(policies, expected)
    HALVES[half](bank)
    return bank.record.answers


def shows(speaker, half, variant, sound):
    """Return whether a fault is visible."""
    try:
        answers = played(speaker, half, variant.change(SOUND), sound[speaker, half])
    except Differs:
        return True
    return len(answers) != len(sound[speaker, half])


@pytest.fixture(scope="module")
def sound():
    """Run both halves against a sound bank, in both dialects."""
    return {(speaker, half): played(speaker, half) for speaker in (Own, Stet) for half in HALVES}


#: Mutants that this script does not detect: aliases of paths, which STET does not have; HAL,
#: which is STET's own format; the hosts of other banks; credentials and links that it does not send;
#: faults of other nights, of two calls at one moment, or visible in the control API only.
UNSEEN = {
    # Only a call of its own would show it: a page without the customer, a day of an immediate payment.
    "neutral.page-turns-count",
    "neutral.names-apart",
    "neutral.names-of-transactions-apart",
    "eligible.consented-stays",
    "pis.days-of-any-type",
    "available.at-every-bank",
    "pis.host.read-elsewhere",
    "pis.host.modify-elsewhere",
    "pis.host.cancel-elsewhere",
    "neutral.links-with-port",
    "pis.one-wrong-entry",
    "available.balances-alias-lacks-one",
    "available.balances-alias-empty",
    "available.balances-alias-amount",
    "available.transactions-alias-label",
    "available.transactions-alias-lacks-one",
    "available.transactions-path-lacks-one",
    "available.transactions-path-empty",
    "quota.24-hour-day",
    "neutral.hal",
    "credentials.basic-for-consents",
    "available.transactions-path-amount",
    "credentials.basic-for-balances",
    "credentials.basic-for-transactions",
    "own.transaction-on-anyones-page",
    "own.account-on-anyones-page",
    "neutral.unknown-is-forbidden",
    "neutral.consents-add-up",
    "neutral.refused-calls-count",
    "pis.credentials.basic-for-read",
    "pis.credentials.basic-for-modify",
    "pis.debtor.unknown-is-the-first",
    "pis.debtor.until-an-odd-one",
    "pis.euro.changed-to-dollars",
    "pis.euro.changed-to-anything",
    "pis.euro.fails-when-changed",
    "pis.currency-ignored",
    "pis.modify.executes-former-amount",
    "pis.modify.executes-former-creditor",
    "pis.modify.executes-as-signed",
    "pis.cancel.executed-in-silence-tpp",
    "pis.cancel.executed-in-silence-customer",
    "pis.cancel.executed-if-changed-tpp",
    "pis.cancel.executed-if-changed-customer",
    "pis.sca.tiny-unsigned",
    "pis.sca.anybody-signs",
    "neutral.identifiers-as-written",
    "pis.duplicate.for-an-hour",
    "pis.duplicate.any-debtor",
    "pis.duplicate.any-day",
    "pis.duplicate.same-month",
    "pis.duplicate.of-cancelled",
    "available.accounts-500-of-two-at-once",
    "available.accounts-short-of-two-at-once",
    "available.balances-short-of-two-at-once",
    "available.transactions-short-of-two-at-once",
    "pis.duplicate.of-refused",
    "pis.cash.anybodys-registration",
    "cards.immediate-debit-served",
    "quota.races",
    "pis.duplicate.races",
    "neutral.credentials-refused",
    "pis.sca.immediate-forbidden",
    "pis.sca.instant-forbidden",
}
#: Mutants of the screens, which have no dialect.
SCREENS = (
    "pis.redirect.",
    "pis.factors.",
    "pis.report-url.",
    "pis.refused-",
    "pis.returns-",
    "pis.timers-",
    "pis.screens-",
    "pis.too-late-",
)
#: Mutants that fail over values or tokens which this script does not send, or whose effects it
#: does not see.
VALUES = (
    *("pis.withstands.", "pis.execution.", "pis.token.", "token.", "pis.amounts-"),
    *("credentials.query-", "pis.credentials.query-", "pis.credentials.body-"),
    *("credentials.open-", "pis.embedded."),
)
ALL = {
    "aisp": (*MUTANTS, *NEUTRAL),
    "pis": (*PIS_MUTANTS, *PIS_NEUTRAL),
}
BY_HALF = {
    half: [
        variant
        for variant in these
        if not variant.id.startswith((*SCREENS, *VALUES)) and variant.id not in UNSEEN
    ]
    for half, these in ALL.items()
}


@pytest.mark.parametrize("half", HALVES)
def test_playing_twice_is_the_same(sound, half):
    """A sound bank gives the same answers twice, apart from random values."""
    for speaker in (Own, Stet):
        assert sound[speaker, half] == played(speaker, half)


def test_few_are_left_out():
    """Only existing mutants are exempt, and nearly all are checked."""
    every = [variant.id for these in ALL.values() for variant in these]
    assert set(every) >= UNSEEN
    assert len(UNSEEN) < len(every) / 10


@pytest.mark.parametrize(
    ("half", "variant"),
    [(half, variant) for half, these in BY_HALF.items() for variant in these],
    ids=lambda value: value if isinstance(value, str) else value.id,
)
def test_what_shows_shows_in_both(sound, half, variant):
    """A mutant that differs in the bank's own interface differs in STET too."""
    assert [True, True] == [shows(speaker, half, variant, sound) for speaker in (Own, Stet)]
