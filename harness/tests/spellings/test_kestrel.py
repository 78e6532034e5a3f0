"""Recorded traffic of a bank that needs most keys of the target language, and faults in it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from embedded import Gate
from foreign.dialects import KESTREL
from foreign.faults import KESTREL_FAULTS
from literal_har import entry, write

from assay.cli.main import group
from assay.testing import verdicts

HERE = Path(__file__).parent
CONTRACT, TARGET = HERE / "kestrel.yaml", HERE / "kestrel-target.yaml"


class Recorder(Gate):
    """The bank behind a recorder: `entries` are those of a HAR file."""

    def __init__(self, bank):
        super().__init__(bank)
        self.entries, self.sent = [], b""

    def before(self, environ, body):
        """Remember what is sent."""
        self.sent = body

    def after(self, environ, status, headers, body):
        """Record an exchange."""
        second, path = len(self.entries), environ["PATH_INFO"]
        if not path.startswith("/assay-control"):
            recorded = entry(
                f"2026-09-16T23:{30 + second // 60}:{second % 60:02d}.000Z",
                environ["REQUEST_METHOD"],
                f"https://kestrel.example{path}?{environ['QUERY_STRING']}",
                int(status.split()[0]),
                json.loads(body),
                token=environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer "),
                answered=headers,
            )
            if self.sent:
                text = {"mimeType": "application/json", "text": self.sent.decode()}
                recorded["request"]["postData"] = text
            self.entries.append(recorded)
        return status, headers, body


def judged(bank, tmp_path, change=lambda entries: entries):
    """Record a run, judge the recording, and return its report."""
    recorder = Recorder(bank())
    verdicts(CONTRACT, TARGET, recorder)
    har = write(tmp_path / "traffic.har", change(recorder.entries))
    command = ["judge", str(har), "-c", str(CONTRACT), "--target", str(TARGET), "--out"]
    result = CliRunner().invoke(group, [*command, str(tmp_path / "judged")])
    report = json.loads((tmp_path / "judged" / "report.json").read_text("utf-8"))
    return result, {each["id"].partition("/")[2]: each for each in report["obligations"]}


def test_recorded_traffic_is_read_by_the_same_file(tmp_path):
    """Pages by POST, products in paths and days from today are recognised in a recording."""
    _, obligations = judged(KESTREL, tmp_path)
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


RECORDED = ("truth as text", "pages go round", "shows ordinary payments only")


@pytest.mark.parametrize(
    "fault", [each for each in KESTREL_FAULTS if each.name in RECORDED], ids=lambda each: each.name
)
def test_a_recorded_fault_is_found(fault, tmp_path):
    """A recording of a faulty bank shows what a run shows."""
    _, obligations = judged(fault.of(KESTREL), tmp_path)
    found = {name for name, each in obligations.items() if each["verdict"] == "violates"}
    assert fault.breaks == found


def test_a_payment_read_below_another_product_shows_nothing(tmp_path):
    """It is another request than the payment's own, so that its refusal is right."""

    def elsewhere(entries):
        for each in entries:
            if "GET" == each["request"]["method"]:
                url = each["request"]["url"].replace("/instant/", "/ordinary/")
                each["request"]["url"] = url
                each["response"]["status"] = 404
                each["response"]["content"]["text"] = "{}"
        return entries

    _, obligations = judged(KESTREL, tmp_path, elsewhere)
    assert "unverified" == obligations["shown/answers"]["verdict"]
    assert "violates" not in {each["verdict"] for each in obligations.values()}
