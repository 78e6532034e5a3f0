"""`assay judge`: its output, its files and its exit codes."""

import json
import re
import shlex

import pytest
from clients import VIOLATIONS, Client, clean, write
from command_line import assay

from assay.preparation.target_file import find_target


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Return the recording of a clean client."""
    client = Client()
    psu = clean(client)
    client.call("POST", "/oauth/token", psu["token"])
    return client.har(tmp_path_factory.mktemp("har") / "clean.har")


def judge(*arguments, cwd):
    """Run the command; return the exit code and what it printed."""
    return assay("judge", *arguments, cwd=cwd)


def test_a_clean_client(recording, tmp_path):
    """A client that meets every obligation is exit 0; requests that were not judged are named."""
    code, out, _ = judge(recording, "--party", "tpp", "--out", tmp_path / "r", cwd=tmp_path)
    assert 0 == code
    assert "against the obligations of the TPP" in out
    assert "1 request not judged because they match no operation of these contracts" in out
    assert {"journal.jsonl", "report.html", "report.json", "junit.xml", "report.md"} == {
        one.name for one in (tmp_path / "r").iterdir()
    }


def test_a_violation(tmp_path):
    """A violated obligation is exit 1, and counted in the JSON report."""
    client = Client()
    psu = clean(client)
    VIOLATIONS["pis/charge-bearer/value-kept"](client, psu)
    har = client.har(tmp_path / "x.har")
    code, out, _ = judge(har, "--party", "tpp", "--json", cwd=tmp_path)
    assert 1 == code
    assert 1 == json.loads(out)["counts"]["violates"]


def test_selection_and_incompleteness(recording, tmp_path):
    """What traffic does not show is exit 3; --allow-incomplete accepts it beside what it shows."""
    some, nothing = (recording, "-k", "iban or listing"), (recording, "-k", "listing")
    assert 3 == judge(*some, "--out", "a", cwd=tmp_path)[0]
    assert 0 == judge(*some, "--out", "b", "--allow-incomplete", cwd=tmp_path)[0]
    code, out, _ = judge(*nothing, "--out", "c", "--allow-incomplete", cwd=tmp_path)
    assert (3, True) == (code, "exit code 3: nothing was verified" in out)


def test_what_would_make_a_recording_certain_is_said(tmp_path):
    """A call without a consent is open as long as one may be missing, and the output names the options."""
    client = Client()
    VIOLATIONS["aisp/consent.scope/only-consented"](client, clean(client))
    select = client.har(tmp_path / "x.har"), "--party", "tpp", "-k", "consent.scope"
    code, out, _ = judge(*select, "--out", "a", cwd=tmp_path)
    assert (3, True, True) == (code, "`--complete`" in out, "`--bank-clock`" in out)
    code, out, _ = judge(*select, "--complete", "--bank-clock", "--out", "b", cwd=tmp_path)
    assert (False, False) == ("pass `--complete`" in out, "pass `--bank-clock`" in out)


@pytest.mark.parametrize(
    ("text", "said"), [("{", "is the file complete?"), ("[]", "no 'log' in this file")]
)
def test_a_broken_file(text, said, tmp_path):
    """A file that cannot be read is one clear line, and exit 2."""
    path = tmp_path / "x.har"
    path.write_text(text)
    code, _, err = judge(path, cwd=tmp_path)
    assert (2, True) == (code, said in err)


def test_a_file_that_only_begins_like_a_journal(tmp_path):
    """A file that only begins like a journal is refused as a damaged journal."""
    path = tmp_path / "journal.jsonl"
    path.write_text('{"type": "header"}\n')
    code, _, err = judge(path, cwd=tmp_path)
    assert 2 == code
    assert "journal.jsonl" in err


def test_unmatched_requests_are_shown_without_secrets(tmp_path):
    """A request that matches no call is shown without its query and account numbers."""
    entry = {
        "startedDateTime": "2026-09-16T08:00:00Z",
        "request": {
            "method": "GET",
            "url": "https://u:geheim@x.example/FR7630001007941234567890185?code=geheim",
            "headers": [],
        },
        "response": {"status": 200, "headers": [], "content": {}},
    }
    har = write(tmp_path / "x.har", {"log": {"entries": [entry]}})
    _, out, err = judge(har, cwd=tmp_path)
    assert "GET https://x.example/<number-1>" in out
    assert "geheim" not in out + err
    assert "FR7630001007941234567890185" not in out + err


def test_a_waiver_that_is_not_needed(tmp_path):
    """A run asks to remove a superfluous waiver, and so does the judging of its own journal."""
    obligation = "aisp/psu-identity/disclosed-after"
    entry = {
        "obligation": obligation,
        "owner": "gateway team",
        "reason": "ticket GW-1",
        "expires": "2999-12-31",
    }
    target = tmp_path / "waived.yaml"
    shipped = find_target("sandbox").read_text(encoding="utf-8")
    target.write_text(f"{shipped}\nwaivers: [{json.dumps(entry)}]\n", encoding="utf-8")
    options = ("--target", target, "-k", "psu-identity", "--allow-incomplete")
    ran, *_ = assay("run", *options, "--out", "ran", cwd=tmp_path)
    judged, *_ = judge("ran/journal.jsonl", *options, "--out", "judged", cwd=tmp_path)
    assert (2, 2) == (ran, judged)
    for folder in ("ran", "judged"):
        report = json.loads((tmp_path / folder / "report.json").read_text(encoding="utf-8"))
        (row,) = (one for one in report["obligations"] if one["id"] == obligation)
        assert 0 == report["counts"]["violates"]
        assert "conforms" == row["verdict"]
        assert [(obligation, "superfluous")] == [
            (each["name"], each["state"]) for each in report["waivers"]
        ]


def test_the_printed_command_can_be_run_as_it_stands(tmp_path):
    """It names no folder that exists, and quotes what the shell would split."""
    client = Client()
    psu = clean(client)
    VIOLATIONS["pis/charge-bearer/value-kept"](client, psu)
    har = client.har(tmp_path / "x.har")
    options = ("--party", "tpp", "-k", "value-kept or iban")
    for place in (("--out", "a"), ("--out=b",)):
        _, out, _ = judge(har, *options, *place, cwd=tmp_path)
        (command,) = re.findall(r"reproduce +assay judge (.*)", out)
        code, again, _ = judge(*shlex.split(command), cwd=tmp_path)
        assert 1 == code, again
        assert "pis/charge-bearer/value-kept" in again


def test_traffic_below_another_url_says_what_to_set(recording, tmp_path):
    """Nothing is judged, and the option that says where the calls went is named."""
    moved = recording.read_text().replace("https://www.30001", "https://elsewhere.30001")
    (tmp_path / "moved.har").write_text(moved)
    code, out, _ = judge(tmp_path / "moved.har", cwd=tmp_path)
    assert 3 == code
    assert "if they were recorded under another base URL, pass it with `--base URL`" in out
