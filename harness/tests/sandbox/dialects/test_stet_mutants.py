"""Whatever is wrong with the bank shows in the dialect of STET as in the bank's own words.

One long script is played to a sound bank and to one with a fault, in the bank's own words
and in the dialect's, and the answers of both are compared. No rule of the harness is
asked: a fault that shows in the bank's own words must show in the other's, and where the
bank's own words are the same, so are the other's.
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

HOST, ROOT = "bank.test", "/stet/psd2/v1"
ACCOUNTS = {"resource": "account", "count": 2}
CARDS = {"resource": "card", "count": 2}
DAYS = [f"2026-0{month}-{day:02d}" for month in (6, 7, 8, 9) for day in range(1, 31, 3)]
BODIES = (b"", b"<no/>", b'{"a": ', b"42", b'{"a":' * 100 + b"1" + b"}" * 100, b" " * 70_000 + b"{")
CREDITOR, OTHER = "FR7630006000011234567890189", "DE89370400440532013000"


class Own:
    """The bank's own words."""

    def __init__(self, policies):
        self.app = self.wrap(make_app(policies))
        self.told = []

    @staticmethod
    def wrap(app):
        return app

    def send(self, method, url, body=b"", token=None, *, there=True, host=HOST, basic=None):
        """Call the application, and give status, headers and body."""
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
        """Use the control API; what it answers is none of the script's."""
        _, _, body = self.send("POST", f"/assay-control/1{path}", json.dumps(content).encode())
        return json.loads(body) if body else {}

    def call(self, method, path, content=None, token=None, **how):
        """Call as a third party; the answer goes on record."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        said = self.send(method, path, b"" if content is None else body, token, **how)
        self.told.append(said)
        return said

    def read(self, *args, **how):
        """Call, and read what is answered; nothing when that is no object."""
        try:
            found = json.loads(self.call(*args, **how)[2])
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def next(self, found):
        return found.get("links", {}).get("next")

    def learn(self, found):
        """Learn what is needed to go on from a list of accounts."""

    def accounts(self, guest, query="", **how):
        found = self.read("GET", f"/accounts{query}", token=guest["token"], **how)
        self.learn(found)
        return found

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
        """Ask for a period; the last day is in it."""
        ends = ((first, "dateFrom"), (last and f"{last[:8]}{int(last[8:]) + self.until:02d}", "dateTo"))
        return "".join(f"&{name}={day}" for day, name in ends if day)

    def create(self, terms, token, **how):
        found = self.read("POST", "/payment-requests", terms, token, **how)
        return found.get("paymentRequestResourceId", "none")

    def modify(self, id, change, token):
        return self.call("PUT", f"/payment-requests/{id}", change, token)

    def cancel(self, id, token):
        return self.modify(id, {"status": "cancelled"}, token)

    def payment(self, id, token, **how):
        return self.call("GET", f"/payment-requests/{id}", token=token, **how)

    def confirm(self, id, token):
        return self.call("POST", f"/payment-requests/{id}/confirmation", {}, token)


class Stet(Own):
    """STET's words for the same."""

    def __init__(self, policies):
        super().__init__(policies)
        self.ids = {}

    wrap = staticmethod(DIALECTS["stet"])
    until = 1

    def call(self, method, path, content=None, token=None, **how):
        path = path if ROOT in path or path.startswith("http") else ROOT + path
        return super().call(method, path, content, token, **how)

    def next(self, found):
        return found.get("_links", {}).get("next", {}).get("href")

    def learn(self, found):
        for row in found.get("accounts", ()):
            named = row.get("accountId", {})
            key = named.get("iban") or named.get("other", {}).get("identification")
            self.ids[key] = row.get("resourceId")

    def about(self, what, guest, key, query="", **how):
        id = self.ids.get(key, key)
        path = f"/accounts/{id}/{what}" + (f"?{query[1:]}" if query else "")
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
        found = {name: terms[name] for name in ("chargeBearer", "requestedExecutionDate") if name in terms}
        nested = {
            "categoryPurpose": ("paymentTypeInformation", "categoryPurpose"),
            "debtorAccount": ("debtorAccount", "iban"),
            "successfulReportUrl": ("supplementaryData", "successfulReportUrl"),
        }
        if kind:
            found["paymentTypeInformation"] = kind
        for name, (outer, inner) in nested.items():
            if name in terms:
                found[outer] = {**found.get(outer, {}), inner: terms[name]}
        if "creditorAccount" in terms:
            found["beneficiary"] = {"creditorAccount": {"iban": terms["creditorAccount"]}}
        money = {name: terms[name] for name in ("amount", "currency") if name in terms}
        transfer = {"instructedAmount": money} if money else {}
        if "reference" in terms:
            transfer["remittanceInformation"] = [terms["reference"]]
        if transfer:
            found["creditTransferTransaction"] = [transfer] * (len(terms.get("transfers", "x")))
        return found

    def create(self, terms, token, **how):
        _, headers, _ = self.call("POST", "/payment-requests", self.spelt(terms), token, **how)
        return dict(headers).get("Location", "/none").rpartition("/")[2]

    def modify(self, id, change, token):
        return super().modify(id, self.spelt(change), token)

    def cancel(self, id, token):
        content = {"paymentInformationStatus": "RJCT", "statusReasonInformation": "DS02"}
        return self.call("PUT", f"/payment-requests/{id}", content, token)


def record(told):
    """Write answers down so that two banks can be compared: what is random gets a number."""
    seen = {}
    text = repr(told)
    text = re.sub(r"(?<=consent-approval/w\d/)[\w-]+|(?<=consent-approval/demo/)[\w-]+", "KEY", text)
    text = re.sub(r"\('Content-Length', '\d+'\)", "", text)
    return re.sub(
        r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])",
        lambda id: seen.setdefault(id[0], f"id{len(seen)}"),
        text,
    )


def information(bank):
    """Play everything that concerns accounts."""
    world = f"/worlds/{bank.control('/worlds', seed=0)['world']}"

    def customer(*holdings):
        return bank.control(f"{world}/customers", holdings=list(holdings))

    def keys(guest):
        return [one["key"] for one in guest["holdings"]]

    def walk(found, guest, pages=4):
        url = bank.next(found)
        for _ in range(pages):
            if url:
                found = bank.read("GET", url, token=guest["token"])
                bank.learn(found)
                url = bank.next(found)

    def everything(guest):
        for key in keys(guest):
            bank.balances(guest, key)
            walk(bank.transactions(guest, key), guest)

    guest = customer({**ACCOUNTS, "entries": DAYS}, {**CARDS, "entries": DAYS})
    other = customer(ACCOUNTS, CARDS)
    for one in (guest, other):
        bank.accounts(one)
    everything(guest)
    bank.missing(guest)
    bank.accounts({"token": None}, basic=(guest["login"], guest["password"]))
    credentials = {name: guest[name] for name in ("login", "password")}
    bank.consents(guest, keys(guest)[:1], credentials, token=None)
    bank.consents(other, keys(guest)[:1])
    for body in BODIES:
        bank.consents(guest, body)
    bank.consents(guest, 42)
    bank.consents(guest, keys(guest)[:2])
    everything(guest)
    bank.consents(guest, keys(guest))
    bank.missing(guest)
    for what in (bank.accounts, *([bank.balances, bank.transactions] * 2)):
        for _ in range(2):
            what(*([guest] if what == bank.accounts else [guest, keys(guest)[0]]))
    for key in keys(guest):
        bank.balances(other, key)
        bank.transactions(other, key)
    everything(guest)
    for key in (keys(guest)[0], keys(guest)[2]):
        for ends in (("2026-08-04",), (None, "2026-08-10"), ("2026-08-04", "2026-08-10"), ("2025-01-01",)):
            walk(bank.transactions(guest, key, bank.period(*ends)), guest)
        bank.transactions(guest, key, "&scope=extended_transaction_history")
        for what in (bank.balances, bank.transactions):
            what(guest, key, "&page=0")
    for id in ("9" * 99, "a\x00", "a b"):
        bank.balances(guest, id)
        bank.transactions(guest, id)
    bank.accounts(guest, "?page=none")
    for many in (12, 40):
        rich = customer({"resource": "account", "count": many % 30, "entries": ["2026-09-01"] * many})
        walk(bank.accounts(rich), rich)
        bank.consents(rich, keys(rich)[:1])
        walk(bank.transactions(rich, keys(rich)[0]), rich)
    for traits in ({"savings": True}, {"inactive": True}, {"offline": True}):
        bank.accounts(customer(ACCOUNTS, {"resource": "account", "traits": traits}))
    for used in ("2026-07-15", "2026-07-16", "2026-07-17", "2026-07-18", "2026-07-20", "2026-06-01"):
        bank.accounts(customer({"resource": "card", "traits": {"last-used": used}}))
    for traits in ({"inactive": True}, {"never-used": True}):
        bank.accounts(customer(CARDS, {"resource": "card", "traits": traits}))
    bank.accounts(customer({"resource": "card"}, {"resource": "account"}))
    for operation in (bank.accounts, bank.consents, bank.balances, bank.transactions):
        for there in (True, False):
            for calls in (6, 21):
                one = customer(ACCOUNTS)
                bank.accounts(one)
                bank.consents(one, keys(one))
                what = {bank.accounts: (), bank.consents: (keys(one),)}.get(operation, (keys(one)[0],))
                for _ in range(calls):
                    operation(one, *what, there=there)
                operation(one, *what, there=not there)
    last = customer(ACCOUNTS)
    for time in ("16T21:59:59", "17T00:30:00", "20T01:59:30", "20T06:00:30", "20T06:30:00", "22T03:05:00"):
        bank.control(f"{world}/clock", to=f"2026-09-{time}+02:00")
        bank.accounts(last)
        bank.transactions(guest, keys(guest)[0])
    for moment in ("2027-03-28T05:30:00+02:00", "2027-03-28T06:30:00+02:00"):
        bank.control(f"{world}/clock", to=moment)
        bank.accounts(last)


def initiation(bank):
    """Play everything that concerns payments, but for the screens, which have no dialect."""
    world = f"/worlds/{bank.control('/worlds', seed=0)['world']}"
    tpp, rival = (bank.control(f"{world}/providers")["token"] for _ in range(2))

    def customer(segment="PART", **traits):
        holdings = [{"resource": "account", "entries": [], "traits": traits}]
        made = bank.control(f"{world}/customers", holdings=holdings, segment=segment)
        return made, made["holdings"][0]["key"]

    guest, debtor = customer()
    amounts = iter(range(100, 999))

    def terms(**changes):
        whole = {
            "paymentType": "immediate",
            "debtorAccount": debtor,
            "creditorAccount": CREDITOR,
            "amount": f"{next(amounts)}.50",
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

    def made(**changes):
        id = bank.create(terms(**changes), tpp)
        bank.payment(id, tpp)
        return id

    def sign(id, decision="confirm", factor="sms"):
        content = {"customer": guest["customer"], "factor": factor, "decision": decision}
        bank.control(f"{world}/payments/{id}/sign", **content)
        bank.payment(id, tpp)

    for field in ("chargeBearer", "categoryPurpose", "creditorAccount", "successfulReportUrl"):
        for value in (..., None, "", 17, [], [CREDITOR]):
            made(**{field: value})
    for value in ("SHAR", "DEBT", "CRED", "slev", " SLEV ", "SLEV\n", "SLEVX", "QQQQ"):
        made(chargeBearer=value)
    for value in ("USD", "GBP", "XQQ", "eur", " EUR"):
        made(currency=value)
    for count in (2, 3):
        made(transfers=[{"amount": "1.00"}] * count)
    for traits in ({"savings": True}, {"inactive": True}, {"offline": True}):
        made(debtorAccount=customer(**traits)[1])
    for segment in ("PART", "PRO", "LARGE_PRO", "CORPORATE", "ASSOCIATION", "GUARDIAN"):
        made(debtorAccount=customer(segment)[1])
    made()
    basic = (guest["login"], guest["password"])
    bank.create(terms(), None, basic=basic)
    for body in BODIES:
        bank.create(body, tpp)
    bank.create(terms(), tpp, host="www.30001.live.bank.example")
    poor = bank.control("/worlds", seed=1, offers={"instant": False})["world"]
    there = bank.control(f"/worlds/{poor}/customers", holdings=[{"resource": "account"}])
    token = bank.control(f"/worlds/{poor}/providers")["token"]
    for kind in ("immediate", "instant"):
        bank.create(terms(paymentType=kind, debtorAccount=there["holdings"][0]["key"]), token)

    kinds = ("immediate", "instant", "deferred")
    payments = {kind: made(paymentType=kind) for kind in kinds}
    signed = {kind: made(paymentType=kind) for kind in kinds}
    refused = {kind: made(paymentType=kind) for kind in kinds}
    changes = (
        {"amount": "47.11"},
        {"creditorAccount": OTHER},
        {"requestedExecutionDate": "2026-09-19"},
    )
    for kind in kinds:
        sign(signed[kind])
        sign(refused[kind], "refuse")
        for id in (payments[kind], signed[kind]):
            for change in changes:
                bank.modify(id, change, tpp)
                bank.payment(id, tpp)
            bank.confirm(id, tpp)
            bank.modify(id, changes[0], rival)
            bank.payment(id, rival)
    for body in BODIES:
        bank.modify(payments["deferred"], body, tpp)
    for id in ("none", "9" * 2_000, "a\x01b"):
        bank.payment(id, tpp)
        bank.modify(id, changes[0], tpp)
    cancelled = [made(paymentType="deferred") for _ in range(4)]
    for id in cancelled[2:]:
        sign(id)
    for id in cancelled[::2]:
        bank.cancel(id, tpp)
    for id in cancelled[1::2]:
        bank.control(f"{world}/payments/{id}/cancel")
    for changed in (
        {},
        {"creditorAccount": OTHER},
        {"amount": "8.01"},
        {"categoryPurpose": "SUPP"},
        {"debtorAccount": customer()[1]},
        {"paymentType": "instant"},
    ):
        first, again = terms(amount="8.00"), terms(**{"amount": "8.00", **changed})
        for one in (first, again):
            sign(bank.create(one, tpp))
    for decision in (None, "refuse"):
        for _ in range(2):
            id = made(amount=f"9.0{len(decision or '')}")
            if decision:
                sign(id, decision)
        sign(id)
    for hours in (71.9, 72, 72.5, 80, 100, 1_000):
        content = {"iban": OTHER, "registered": {"hours_ago": hours}}
        payee, account = customer()
        bank.control(f"{world}/customers/{payee['customer']}/creditors", **content)
        for factor in ("sms", "cap", "soft-token"):
            id = bank.create(terms(debtorAccount=account, creditorAccount=OTHER, categoryPurpose="CASH"), tpp)
            who = {"customer": payee["customer"], "factor": factor, "decision": "confirm"}
            bank.control(f"{world}/payments/{id}/sign", **who)
            bank.payment(id, tpp)
    for factor in ("sms", "cap", "soft-token"):
        sign(made(categoryPurpose="CASH"), factor=factor)
    lapsed = made()
    _, _, page = bank.told[-2]
    bank.control(f"{world}/clock", to="2026-09-18T12:00:00+02:00")
    every = [*payments.values(), *signed.values(), *refused.values(), *cancelled, lapsed]
    for id in every:
        bank.payment(id, tpp)
        bank.modify(id, changes[0], tpp)
    for time in ("19T03:00:00", "20T03:00:00", "21T01:59:30", "21T03:00:00", "21T06:00:30", "21T06:30:00"):
        bank.control(f"{world}/clock", to=f"2026-09-{time}+02:00")
        bank.payment(signed["immediate"], tpp)
    for id in every:
        bank.payment(id, tpp)


HALVES = {"aisp": information, "pis": initiation}


def played(speaker, half, policies=SOUND):
    bank = speaker(policies)
    HALVES[half](bank)
    return record(bank.told)


@pytest.fixture(scope="module")
def sound():
    """Play both halves to a sound bank, in both dialects."""
    return {
        (speaker, half): played(speaker, half) for speaker in (Own, Stet) for half in HALVES
    }


#: Faults of other names of a method, which STET does not have.
NO_ALIASES = {one.id for one in MUTANTS if "aliases-agree" in str(one.breaks)}
#: What only differs in how the bank spells it: HAL is STET's own, and so is 501.
SPELT_ALIKE = {"neutral.hal", "neutral.relative-links"}
BY_HALF = {"aisp": (*MUTANTS, *NEUTRAL), "pis": (*PIS_MUTANTS, *PIS_NEUTRAL)}


@pytest.mark.parametrize("half", HALVES)
def test_playing_twice_is_the_same(sound, half):
    """A sound bank says the same twice, but for what is random."""
    for speaker in (Own, Stet):
        assert sound[speaker, half] == played(speaker, half)


@pytest.mark.parametrize(
    ("half", "one"),
    [(half, one) for half, these in BY_HALF.items() for one in these],
    ids=lambda value: value if isinstance(value, str) else value.id,
)
def test_what_shows_shows_in_both(sound, half, one):
    """A fault that shows in the bank's own words shows in STET's, and no other does."""
    policies = one.change(SOUND)
    shows = {
        speaker: sound[speaker, half] != played(speaker, half, one.change(SOUND))
        for speaker in (Own, Stet)
    }
    assert policies != SOUND
    if one.id in NO_ALIASES | SPELT_ALIKE:
        return
    assert shows[Own] == shows[Stet]
