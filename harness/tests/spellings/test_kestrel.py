"""Recorded traffic of a bank that needs most keys of the target language, and faults in it."""

import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from foreign.dialects import KESTREL
from foreign.faults import KESTREL_FAULTS

from assay.cli.main import group
from assay.testing import verdicts

HERE = Path(__file__).parent
CONTRACT, TARGET = HERE / "kestrel.yaml", HERE / "kestrel-target.yaml"


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
        for entry in entries:
            if "GET" == entry["request"]["method"]:
                url = entry["request"]["url"].replace("/instant/", "/ordinary/")
                entry["request"]["url"] = url
                entry["response"]["status"] = 404
                entry["response"]["content"]["text"] = "{}"
        return entries

    _, obligations = judged(KESTREL, tmp_path, elsewhere)
    assert "unverified" == obligations["shown/answers"]["verdict"]
    assert "violates" not in {each["verdict"] for each in obligations.values()}
