"""Fixture providers that do not do what they offer: each offer has a check that notices."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from embedded import Gate
from examined_banks import bank

from assay.files.edits import Edit
from assay.history import Item, Owned
from assay.onboarding.doctor import examination, items
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving

pytestmark = pytest.mark.slow

ADAPTER = Path(__file__).parents[2] / "fixtures" / "whole_adapter.py"
#: A class whose fixtures are those of the sandbox but for one method.
CLASS = """\
from dataclasses import replace
from datetime import timedelta
from assay.fixtures.spi import CannotArrange, Holding, ReadOnlyFixture
from whole_adapter import WholeFixtures

class Faulty(WholeFixtures):
    def open(self):
        return Changed(super().open())

class Changed:
    def __init__(self, fixture):
        self.fixture = fixture
        self.first = None
        self.made = 0

    def __getattr__(self, name):
        return getattr(self.fixture, name)

    def arrange(self, step):
        self.made += 1
        return self.fixture.arrange(step)

"""
FILE = """\
assay: 1
target: bank
extends: sandbox
contracts: [{contracts}]
transport: http
base_url: {url}
hosts: null
banks:
  second: {{base_url: "{other}", lacks: [instant]}}
fixtures:
  kind: python
  adapter: faulty:Faulty
  options:
    segments: {{large-professional: LARGE_PRO, corporate: CORPORATE, association: ASSOCIATION, legal-guardian: GUARDIAN}}
    effects: {{amount: /amount, creditorAccount: /creditor, debtorAccount: /debtor}}
  customers: created
"""


def method(signature, *lines):
    """Return a method that stands in place of the sandbox's."""
    return "".join([f"    def {signature}:\n", *(f"        {line}\n" for line in lines)])


def arranged(*lines):
    """Return an `arrange` that changes the customer."""
    called = ("self.made += 1", "subject, access = self.fixture.arrange(step)")
    return method("arrange(self, step)", *called, *lines, "return subject, access")


#: What is wrong with the class, its method, and what is found of it at which offer.
FAULTS = {
    "sound": ("", "", ""),
    "one customer": (
        arranged(
            "self.first = self.first or (subject, access)",
            "owns = self.first[0].owns",
            "subject = replace(subject, owns=owns if len(subject.owns) == len(owns) else subject.owns)",
        ),
        "two-psu",
        "one item that both own",
    ),
    "one token": (
        arranged(
            "self.first = self.first or access.token", "access = replace(access, token=self.first)"
        ),
        "two-psu",
        "the same token for both",
    ),
    "no password": (
        arranged("access = replace(access, password=None) if step.subject == 'one' else access"),
        "credentials",
        "a customer without",
    ),
    "one TPP": (
        method("tpp(self)", "self.first = self.first or self.fixture.tpp()", "return self.first"),
        "tpps",
        "Faulty.tpp: expected another TPP at each call, found the token or client of an earlier one",
    ),
    "no tokens for TPPs": (
        arranged("access = replace(access, tokens={})"),
        "tpps",
        "that of no TPP",
    ),
    "no new token": (
        method("renew(self, access, *, by_tpp)", "return access"),
        "renewal",
        "the same token again",
    ),
    "cannot renew": (
        method("renew(self, access, *, by_tpp)", "raise CannotArrange('another token')"),
        "renewal",
        "it needs another token",
    ),
    "registered later": (
        method(
            "register(self, step, access, value)",
            "since = self.fixture.register(step, access, value)",
            "return since + timedelta(hours=1) if step.subject == 'one' else since",
        ),
        "registrations",
        "one of 2026-09-14T10:00:00+02:00",
    ),
    "registered now": (
        method(
            "register(self, step, access, value)",
            "since = self.fixture.now",
            "self.fixture.register(replace(step, age=timedelta(0)), access, value)",
            "self.fixture.clock(since + step.age)",
            "return since",
        ),
        "",
        "",
    ),
    "a clock that runs": (
        arranged("subject = replace(subject, now=subject.now + timedelta(seconds=self.made))"),
        "clock",
        "one that ran 1 s while calls were made",
    ),
    "a clock that customers do not see": (
        arranged("subject = replace(subject, now=self.begun)").replace(
            "self.made += 1", "self.begun = getattr(self, 'begun', self.fixture.now)"
        ),
        "clock",
        "a new customer at 2026-09-16T10:00:00+02:00",
    ),
    "days that a clock skips": (
        method(
            "effects(self)",
            "today = self.fixture.now.date()",
            "return tuple(replace(each, on=today) for each in self.fixture.effects())",
        ),
        "clock",
        "one that is executed on 2026-09-29",
    ),
    "a clock that the bank does not have": (
        method(
            "clock(self, to)",
            "if to is None or (to - self.fixture.now).days < 5:",
            "    return self.fixture.clock(to)",
            "return to",
        ),
        "clock",
        "one that is not executed",
    ),
    "no other bank": (
        method("lack(self, step)", "raise CannotArrange('a bank without instant payments')"),
        "banks",
        "it needs a bank without instant payments",
    ),
    "a cancellation that is refused": (
        method("withdraw(self, step)", "return False"),
        "direct-access",
        "one that is refused",
    ),
}


#: A class that opens one world for all trials.
ONE_WORLD = """\
    def close(self):
        pass

WORLDS = []

def opened(self):
    if not WORLDS:
        WORLDS.append(Changed(WholeFixtures.open(self)))
    return WORLDS[0]

Faulty.open = opened
"""
#: The same, where each fixture tells the time that it remembers, and not the bank's.
ONE_WORLD_REMEMBERED = """\
    def arrange(self, step):
        subject, access = self.fixture.arrange(step)
        BEGUN.append(subject.now)
        return replace(subject, now=BEGUN[0]), access

    def close(self):
        pass

BEGUN, WORLDS = [], []

def opened(self):
    if not WORLDS:
        WORLDS.append(WholeFixtures.open(self))
    return Changed(WORLDS[0])

Faulty.open = opened
"""
#: The same for the data of customers.
DATA_FAULTS = {
    "sound": ("", []),
    "more than is told": (
        arranged("subject = replace(subject, owns=subject.owns[:-1])").replace(
            "arrange(step)\n",
            "arrange(replace(step, holdings=(*step.holdings, Holding(resource='account'))))\n",
        ),
        [("doubt", "fixtures.offers[3]", "further items in the list")],
    ),
    "entries of other days": (
        method(
            "arrange(self, step)",
            "def shifted(days, by):",
            "    return days and tuple(day + timedelta(days=by) for day in days)",
            "asked = tuple(replace(each, entries=shifted(each.entries, -1)) for each in step.holdings)",
            "subject, access = self.fixture.arrange(replace(step, holdings=asked))",
            "owns = tuple(",
            "    replace(each, entries=tuple(",
            "        replace(entry, on=entry.on + timedelta(days=1)) for entry in each.entries",
            "    )) for each in subject.owns",
            ")",
            "return replace(subject, owns=owns), access",
        ),
        [("doubt", "operations.transactions.item.on", "another day for each")],
    ),
    "entries that are no entries": (
        arranged(
            "subject = replace(subject, owns=tuple(replace(each, entries=tuple("
            "replace(entry, key='X' + entry.key) for entry in each.entries"
            ")) for each in subject.owns))"
        ),
        [("doubt", "operations.transactions.item.key", "a text at /id")],
    ),
}


@pytest.mark.parametrize("name", DATA_FAULTS)
def test_data_that_is_not_as_told_is_found(name, examined):
    """What a class says of a customer's data, and the bank's lists do not show, is a doubt."""
    text, found = DATA_FAULTS[name]
    assert found == findings(examined(text, "aisp"))


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("each.key", []),
        ("f'7{each.key}'", [("doubt", "operations.accounts.item.id", "another id of an item")]),
    ],
)
def test_ids_that_are_not_those_of_the_list(told, found, examined, monkeypatch):
    """A consent that names another id is refused for that reason, whatever the rule says."""
    ids = "operations: {{accounts: {{item: {{id: /iban}}}}}}\n"
    monkeypatch.setattr(sys.modules[__name__], "FILE", f"{FILE}{ids}")
    owns = (
        f"subject = replace(subject, owns=tuple(replace(each, id={told}) for each in subject.owns))"
    )
    doubts = [each for each in findings(examined(arranged(owns), "aisp")) if each[0] == "doubt"]
    assert found == doubts


def test_the_same_account_may_be_made_anew_under_another_id(monkeypatch):
    """One seed gives equal keys in every trial; the bank's own ids may be new each time."""
    monkeypatch.setattr(items, "compare", lambda seen, probe: ())
    made = [SimpleNamespace(owns=[Owned(key="A1", resource="account", id=id_)]) for id_ in "xy"]
    shown = [SimpleNamespace(items=[Item(key="A1", id=id_)]) for id_ in "xy"]
    seen = SimpleNamespace(
        binding=SimpleNamespace(item=SimpleNamespace(id=None)),
        record=SimpleNamespace(subjects=dict(enumerate(made))),
        answers=shown,
        doubt=lambda *said: said,
    )
    assert [] == [*items.bank_id(seen)]
    shown[0].items[0] = Item(key="A1", id="z")
    assert ["another id of an item"] == [said[2] for said in items.bank_id(seen)]


@pytest.fixture
def examined(tmp_path, monkeypatch):
    """Return a function that examines a file whose class has a method of its own."""
    monkeypatch.setattr(sys, "path", [*sys.path])

    def examined(text, contracts="pis", **options):
        (tmp_path / "whole_adapter.py").write_text(ADAPTER.read_text("utf-8"), "utf-8")
        (tmp_path / "faulty.py").write_text(CLASS + text, "utf-8")
        with serving(make_app()) as url:
            other = url.replace("127.0.0.1", "localhost")
            file = FILE.format(url=url, other=other, contracts=contracts)
            if contracts == "aisp":
                file = re.sub(r"banks:\n.*\n", "", file)
            (tmp_path / "bank.yaml").write_text(file, "utf-8")
            return examination.examine(str(tmp_path / "bank.yaml"), **options)

    yield examined
    for name in ("faulty", "whole_adapter"):
        sys.modules.pop(name, None)


def findings(result):
    """Return the weight, key and text of each finding."""
    return [(each.weight.value, each.key, each.found) for each in result.findings]


#: The offers of the sandbox's target file, and of the doctor's.
OFFERS = [
    *("psu", "two-psu", "consent", "roster", "clock", "credentials", "entries", "write", "tpps"),
    *("tpp-tokens", "segments", "registrations", "banks", "effects", "direct-access", "renewal"),
]


@pytest.mark.parametrize("fresh", [True, False])
def test_a_class_that_makes_new_customers_should_say_so(fresh, examined, monkeypatch):
    """Otherwise a run takes them for real ones, and tests the base context alone."""
    unsaid = FILE.replace("  customers: created\n", "")
    monkeypatch.setattr(sys.modules[__name__], "FILE", unsaid)
    result = examined(arranged(f"subject = replace(subject, fresh={fresh})"))
    notes = [each for each in result.findings if each.key.startswith("fixtures.customers")]
    assert ["note"] * fresh == [each.weight.value for each in notes]
    edits = [(each.edit.at, each.edit.new) for each in notes]
    assert [(("fixtures", "customers"), "created")] * fresh == edits


@pytest.mark.parametrize("name", FAULTS)
def test_an_offer_that_is_not_kept_is_found(name, examined):
    """What a class offers and does not do is a doubt at the offer, and nothing else is found."""
    text, offer, found = FAULTS[name]
    expected = [("doubt", f"fixtures.offers[{OFFERS.index(offer)}]", found)] if offer else []
    assert expected == findings(examined(text))


@pytest.mark.parametrize(
    "case",
    [
        ("", None, True),
        ("safety: {{concurrency: 1}}\n", None, False),
        ("safety: {{concurrency: 2}}\n", 1, False),
        ("safety: {{concurrency: 1}}\n", 8, False),
    ],
)
@pytest.mark.parametrize("world", [ONE_WORLD, ONE_WORLD_REMEMBERED])
def test_trials_side_by_side_need_a_clock_each(case, world, examined, monkeypatch):
    """A clock that all trials share is a fault, unless file or run lets one run after the other."""
    safety, asked, shared = case
    monkeypatch.setattr(sys.modules[__name__], "FILE", f"{FILE}{safety}")
    found = "a trial that moves the clock also moves it for the other trials"
    weighed = [
        (each.weight.value, each.key, each.edit)
        for each in examined(world, concurrency=asked).findings
        if each.found == found
    ]
    apart = Edit(at=("safety",), old=None, new={"concurrency": 1}, certain=True)
    assert ([("fault", "fixtures.adapter", apart)] if shared else []) == weighed


class Side(Gate):
    """A sandbox whose control API has one fault; it knows the payments that were made, by what they ask."""

    def __init__(self, app):
        super().__init__(app)
        self.made, self.worlds = {}, []

    def before(self, environ, body):
        self.asked = body
        return self.control(environ, body)

    def after(self, environ, status, headers, body):
        path = environ["PATH_INFO"]
        if (
            environ["REQUEST_METHOD"] == "POST"
            and path == "/payment-requests"
            and status[:1] == "2"
        ):
            key = json.loads(body)["paymentRequestResourceId"]
            self.made.setdefault((environ["HTTP_AUTHORIZATION"], self.asked), []).append(key)
        if path.startswith("/assay-control/1") and body.startswith(b"{"):
            body = json.dumps(self.answered(path, json.loads(body))).encode()
        return status, headers, body

    def control(self, environ, body):
        """Change a call."""
        return body

    def answered(self, path, content):
        """Change an answer."""
        return content

    def equals(self, key):
        """Return the payments that are equal to one, in the order in which they were made."""
        return next((keys for keys in self.made.values() if key in keys), [key])


class ReportsTheFirst(Side):
    """Of two equal payments, it reports the first one as executed."""

    def answered(self, path, content):
        for row in content.get("executions", ()):
            row["payment"] = self.equals(row["payment"])[0]
        return content


class ReportsTheLast(Side):
    """Of two equal payments, it reports the last one as executed."""

    def answered(self, path, content):
        for row in content.get("executions", ()):
            row["payment"] = self.equals(row["payment"])[-1]
        return content


class CancelsTheLast(Side):
    """Of two equal payments, it cancels the last one."""

    def control(self, environ, body):
        *path, key, action = environ["PATH_INFO"].split("/")
        if action == "cancel":
            environ["PATH_INFO"] = "/".join([*path, self.equals(key)[-1], action])
        return body


class OneWorld(Side):
    """It has one world for all trials, with one clock."""

    def control(self, environ, body):
        if environ["REQUEST_METHOD"] == "DELETE":
            return "204 No Content", [], b""
        if environ["PATH_INFO"].endswith("/worlds") and self.worlds:
            return "201 Created", [("Content-Type", "application/json")], self.worlds[0]
        return body

    def answered(self, path, content):
        if path.endswith("/worlds"):
            self.worlds.append(json.dumps(content).encode())
        return content


class Fractions(Side):
    """Its clock shows microseconds, and its answers whole seconds."""

    def answered(self, path, content):
        if "now" in content:
            content["now"] = content["now"].replace("+02:00", ".250000+02:00")
        return content

    def after(self, environ, status, headers, body):
        status, headers, body = super().after(environ, status, headers, body)
        if environ["PATH_INFO"] == "/accounts" and body.startswith(b"{"):
            body = json.dumps({**json.loads(body), "at": "2026-09-16T10:00:00+02:00"}).encode()
        return status, headers, body


class SameTpp(Side):
    """All TPPs of a world have one token."""

    def answered(self, path, content):
        if path.endswith("/tpps"):
            content["token"] = self.made.setdefault(path, content["token"])
        return content


SIDES = {
    Side: [],
    ReportsTheFirst: [("doubt", "fixtures.effects", "an equal one, which was not signed")],
    ReportsTheLast: [("doubt", "fixtures.effects", "an equal one, which was not signed")],
    CancelsTheLast: [("doubt", "fixtures.offers[13]", "an equal one")],
    OneWorld: [
        (
            "fault",
            "fixtures.kind",
            "a trial that moves the clock also moves it for the other trials",
        )
    ],
    Fractions: [
        (
            "doubt",
            "fixtures.offers[4]",
            "a time with a fraction of a second, and answers in whole seconds",
        )
    ],
    SameTpp: [("doubt", "fixtures.offers[8]", "the same credentials for both")],
}


@pytest.mark.parametrize("side", SIDES)
def test_a_control_api_with_a_fault_is_found(side, tmp_path):
    """What a control API gets wrong is a doubt where it is offered, before a run blames the bank."""
    with bank(tmp_path, side) as (path, _):
        assert SIDES[side] == findings(examination.examine(path))
