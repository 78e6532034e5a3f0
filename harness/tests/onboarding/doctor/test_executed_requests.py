"""Mistakes in `effects()` of a fixture provider in Python, which the run would blame on the bank."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay.history import Call, Effects, Item, State
from assay.onboarding.doctor import examination
from assay.onboarding.doctor.fixtures import _asked_when_done
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving
from assay.testing import accepted, exchange

pytestmark = pytest.mark.slow

ADAPTER = Path(__file__).parents[2] / "fixtures" / "whole_adapter.py"
#: A class whose fixtures report `change(effect)` of each executed request.
CLASS = """\
from dataclasses import replace
from datetime import timedelta
from whole_adapter import WholeFixtures

class Reports(WholeFixtures):
    def open(self):
        fixture = super().open()
        return Reporting(fixture)

class Reporting:
    def __init__(self, fixture):
        self.fixture = fixture

    def __getattr__(self, name):
        return getattr(self.fixture, name)

    def effects(self):
        reported = self.fixture.effects()
        return {reported}
"""
FILE = """\
assay: 1
target: bank
extends: sandbox
transport: http
base_url: {url}
hosts: null
fixtures:
  kind: python
  adapter: reports:Reports
  options:
    segments: {{large-professional: LARGE_PRO, corporate: CORPORATE, association: ASSOCIATION, legal-guardian: GUARDIAN}}
    effects: {{amount: /amount, creditorAccount: /creditor, debtorAccount: /debtor}}
  customers: created
"""
FIELDS = "tuple(replace(each, fields={{**each.fields, {0}}}) for each in reported)"


@pytest.fixture
def examined(tmp_path, monkeypatch):
    """Return a function that examines a file whose class reports what an expression says."""
    monkeypatch.setattr(sys, "path", [*sys.path])

    def examined(expression):
        (tmp_path / "whole_adapter.py").write_text(ADAPTER.read_text("utf-8"), "utf-8")
        text = CLASS.replace("{reported}", expression)
        (tmp_path / "reports.py").write_text(text, "utf-8")
        with serving(make_app()) as url:
            (tmp_path / "bank.yaml").write_text(FILE.format(url=url), "utf-8")
            return examination.examine(str(tmp_path / "bank.yaml"), ("pis",)).findings

    yield examined
    for name in ("reports", "whole_adapter"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("reported", []),
        ("None", ["not seen: no executed request"]),
        ("()", ["doubt: none in effects() of reports:Reports"]),
        (
            "tuple(replace(each, request='row-7') for each in reported)",
            ["doubt: ids of no request in effects() of reports:Reports"],
        ),
        (
            "tuple(replace(each, on=each.on - timedelta(days=1)) for each in reported)",
            ["doubt: a day before the request was made"],
        ),
        (
            FIELDS.format("'amount': int(float(each.fields['amount']) * 100)"),
            ["doubt: the amount in another unit in effects() of reports:Reports"],
        ),
        (
            FIELDS.format("'creditorAccount': each.fields['debtorAccount']"),
            ["doubt: the value of debtorAccount in effects() of reports:Reports"],
        ),
        (
            FIELDS.format("'creditor': 1"),
            ["fault: a field 'creditor' in effects() of reports:Reports"],
        ),
    ],
    ids=["right", "unknown", "nothing", "ids", "day", "cents", "debtor", "name"],
)
def test_what_a_class_reports_is_examined(examined, expression, found):
    """A report that cannot be right is found at the line of the class, before a run blames the bank."""
    findings = examined(expression)
    assert found == [f"{each.weight.value}: {each.found}" for each in findings]
    assert {"fixtures.adapter"} >= {each.key for each in findings}


READ = Call(operation="read-payment", subject="psu")
SHOWN_DONE, SHOWN_OPEN = (
    exchange(READ, accepted(Item(key="K1", state=state))) for state in (State.DONE, State.OPEN)
)
NOON = datetime(2026, 9, 16, 12, tzinfo=UTC)
NOTHING, UNKNOWN = Effects(now=NOON, done=()), Effects(now=NOON, done=None)


@pytest.mark.parametrize(
    ("events", "late"),
    [
        ([SHOWN_DONE, NOTHING], True),
        ([NOTHING, SHOWN_DONE], False),
        ([SHOWN_OPEN, NOTHING, SHOWN_DONE], False),
        ([SHOWN_DONE, UNKNOWN], False),
        ([], False),
    ],
)
def test_only_what_was_done_before_must_be_reported(events, late):
    """A bank that executes some minutes later has nothing to report when it is asked before."""
    assert late is _asked_when_done(events)
