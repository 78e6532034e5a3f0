"""A bank that needs most keys of the target language: all is tested, and every fault is found."""

import io
import json
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from kestrel_bank import Kestrel

from assay.cli.main import group
from assay.rules.verdict import Standing
from assay.testing import verdicts

HERE = Path(__file__).parent
CONTRACT, TARGET = HERE / "kestrel.yaml", HERE / "kestrel-target.yaml"


@cache
def standings(bank):
    """Run the contract against a bank."""
    return verdicts(CONTRACT, TARGET, bank())


def violated(bank):
    """Return the obligations that a bank violates."""
    standing = standings(bank)
    return {name for name in standing if standing[name] is Standing.VIOLATES}


# -- faults ----------------------------------------------------------------------------
class WrongIban(Kestrel):
    """The IBAN has a wrong check digit; another identification has the right one."""

    breaks = frozenset({"accounts.iban/account"})

    def identifications(self, number):
        """Return wrong identifications."""
        wrong = f"{number[:2]}{99 - int(number[2:4]):02d}{number[4:]}"
        return [{"scheme": "KEY", "value": number}, {"scheme": "IBAN", "value": wrong}]


class NoIban(Kestrel):
    """An account has no IBAN among its identifications."""

    breaks = frozenset({"accounts.iban/account-present"})

    def identifications(self, number):
        """Return too few identifications."""
        return [{"scheme": "KEY", "value": number}]


class TruthAsText(Kestrel):
    """A truth value is shown as a text."""

    breaks = frozenset({"accounts.active/account"})

    def is_active(self):
        """Return a text."""
        return "true"


class TruthAsNumber(Kestrel):
    """A truth value is shown as a number."""

    breaks = frozenset({"accounts.active/account"})

    def is_active(self):
        """Return a number."""
        return 1


class Overlap(Kestrel):
    """A page begins with the last entry of the one before."""

    breaks = frozenset({"entries.page/no-repeats"})

    def page_after(self, place):
        """Return a place that is too low."""
        return place + 1


class Circle(Kestrel):
    """The second page names itself as the next one."""

    breaks = frozenset({"entries.page/ends"})

    def page_after(self, place):
        """Return the second page, always."""
        return 2


class AnyRecurring(Kestrel):
    """A recurring payment is accepted."""

    breaks = frozenset({"recurring/other-value"})

    def check_recurring(self, value):
        """Whether it is a truth value."""
        return isinstance(value, bool)


class OtherPriority(Kestrel):
    """A payment is shown with another number."""

    breaks = frozenset({"content/priority"})

    def shown_priority(self, priority):
        """Return another number."""
        return priority + 1


class NoInstant(Kestrel):
    """Only ordinary payments are found below their product."""

    breaks = frozenset({"shown/answers"})

    def is_at(self, product, made):
        """Whether the product is ordinary."""
        return product == "ordinary"


FAULTS = [
    WrongIban,
    NoIban,
    TruthAsText,
    TruthAsNumber,
    Overlap,
    Circle,
    AnyRecurring,
    OtherPriority,
    NoInstant,
]


def test_the_sound_bank_conforms():
    """Every obligation is tested: nothing in the bank's ways is out of reach."""
    assert {Standing.CONFORMS} == set(standings(Kestrel).values())


@pytest.mark.parametrize("bank", FAULTS, ids=lambda bank: bank.__name__)
def test_a_fault_violates_what_it_breaks(bank):
    """A fault turns its own obligation red and no other."""
    assert bank.breaks == violated(bank)


# -- recorded traffic --------------------------------------------------------------------
class Recorder:
    """The bank behind a recorder: `entries` are those of a HAR file."""

    def __init__(self, bank):
        self.bank, self.entries = bank, []

    def __call__(self, environ, start_response):
        """Answer a request, and record it."""
        content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        lines = []
        environ["wsgi.input"] = io.BytesIO(content)
        (body,) = self.bank(environ, lambda *line: lines.append(line))
        start_response(*lines[0])
        if environ["PATH_INFO"].startswith("/assay-control"):
            return [body]
        token = {"name": "Authorization", "value": environ.get("HTTP_AUTHORIZATION", "")}
        status, headers = lines[0]
        url = f"https://kestrel.example{environ['PATH_INFO']}?{environ['QUERY_STRING']}"
        second = len(self.entries)
        at = f"2026-09-16T23:{30 + second // 60}:{second % 60:02d}.000Z"
        posted = {"mimeType": "application/json", "text": content.decode()}
        request = {"method": environ["REQUEST_METHOD"], "url": url, "headers": [token]}
        text = {"mimeType": "application/json", "text": body.decode()}
        response = {
            "status": int(status.split()[0]),
            "headers": [{"name": name, "value": value} for name, value in headers],
            "content": text,
        }
        if content:
            request["postData"] = posted
        entry = {"startedDateTime": at, "time": 1, "request": request, "response": response}
        self.entries.append(entry)
        return [body]


def judged(bank, tmp_path, change=lambda entries: entries):
    """Record a run, judge the recording, and return its report."""
    recorder = Recorder(bank())
    verdicts(CONTRACT, TARGET, recorder)
    har = tmp_path / "traffic.har"
    har.write_text(json.dumps({"log": {"entries": change(recorder.entries)}}))
    command = ["judge", str(har), "-c", str(CONTRACT), "--target", str(TARGET), "--out"]
    result = CliRunner().invoke(group, [*command, str(tmp_path / "judged")])
    report = json.loads((tmp_path / "judged" / "report.json").read_text("utf-8"))
    return result, {each["id"].partition("/")[2]: each for each in report["obligations"]}


def test_recorded_traffic_is_read_by_the_same_file(tmp_path):
    """Pages by POST, products in paths and days from today are recognised in a recording."""
    _, obligations = judged(Kestrel, tmp_path)
    conforming = {name for name, each in obligations.items() if each["verdict"] == "conforms"}
    assert {each["verdict"] for each in obligations.values()} == {"conforms", "unverified"}
    assert {
        "entries.page/no-repeats",
        "entries.page/ends",
        "accounts.active/account",
        "recurring/other-value",
        "content/until",
        "shown/answers",
    } <= conforming


@pytest.mark.parametrize("bank", [TruthAsText, Circle, NoInstant], ids=lambda bank: bank.__name__)
def test_a_recorded_fault_is_found(bank, tmp_path):
    """A recording of a faulty bank shows what a run shows."""
    _, obligations = judged(bank, tmp_path)
    found = {name for name, each in obligations.items() if each["verdict"] == "violates"}
    assert bank.breaks == found


def test_a_payment_read_below_another_product_shows_nothing(tmp_path):
    """It is another request than the payment's own, so that its refusal is right."""

    def elsewhere(entries):
        for entry in entries:
            if "GET" == entry["request"]["method"]:
                url = entry["request"]["url"].replace("/instant/", "/ordinary/")
                entry["request"]["url"] = url
                entry["response"]["status"] = 404
                entry["response"]["content"]["text"] = "{}"
        return entries

    _, obligations = judged(Kestrel, tmp_path, elsewhere)
    assert "unverified" == obligations["shown/answers"]["verdict"]
    assert "violates" not in {each["verdict"] for each in obligations.values()}
