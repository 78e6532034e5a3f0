"""A build server gets annotations, a step summary and its formats, and no command of a target."""

import hashlib
import json
import re
from pathlib import Path

import pytest
from command_line import assay
from consumers import workflow_commands

from assay.cli import publication
from assay.report import FORMATS

FEW = ("-k", "accounts.available", "--contexts", "base")
GITHUB = {"GITHUB_ACTIONS": "true"}


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    """Return the journal of a small run."""
    folder = tmp_path_factory.mktemp("run")
    assert 0 == assay("run", *FEW, "--out", "out", "-q", cwd=folder)[0]
    return folder / "out" / "journal.jsonl"


@pytest.fixture
def violated(journal, tmp_path):
    """Return the journal of a run with a violation, in whose texts a target wrote commands."""
    text = journal.read_text("utf-8")
    forged = "##[add-mask]e ::error::forged"
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        if line["type"] == "verdict" and line["verdict"] == "conforms":
            line |= {"verdict": "violates", "reason": forged}
            for item in line["evidence"]:
                item |= {"agreement": "disagrees", "seen": forged}
    verdicts = [line["verdict"] for line in lines if line["type"] == "verdict"]
    counts = {name: verdicts.count(name) for name in lines[-1]["counts"]}
    path = tmp_path / "violated.jsonl"
    path.write_text("\n".join(map(json.dumps, lines[:-1])) + "\n", "utf-8")
    digest = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    footer = lines[-1] | {"counts": counts, "digest": digest, "exit": 1}
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(footer) + "\n")
    return path


def commands_executed(text):
    """Return the lines that GitHub executes: those that are not between stop and its token."""
    token, executed = "", []
    for line in text.splitlines():
        if token:
            token = "" if line == f"::{token}::" else token
        elif match := re.fullmatch("::stop-commands::([0-9a-f]{32})", line):
            token = match[1]
        elif line.lstrip().startswith("::") or "##[" in line:
            executed.append(line)
    assert not token
    return executed


def executed_in(text):
    """Return the commands that GitHub executes in a text, one on each line."""
    return "".join(f"{line}\n" for line in commands_executed(text))


def test_a_run_on_github(tmp_path):
    """The run annotates itself, appends to the step summary, and says where its folder is."""
    (tmp_path / "summary.md").write_text("before\n", "utf-8")
    code, out, _ = assay(
        *("run", *FEW, "--out", "runs/{started}/bank", "-f", "sarif", "-f", "ctrf"),
        cwd=tmp_path,
        **GITHUB,
        GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"),
    )
    assert 0 == code
    ((name, properties, message),) = workflow_commands(executed_in(out))
    assert ("notice", {"title": "Assay"}) == (name, properties)
    assert " 0 violate, " in message
    summary = (tmp_path / "summary.md").read_text("utf-8")
    assert summary.startswith("before\n# The gateway meets ")
    folder = tmp_path / re.search("(?m)^folder: (.*)$", out)[1]
    assert {"assay.sarif", "ctrf-report.json", "report.html"} < {
        path.name for path in folder.iterdir()
    }
    assert folder.samefile(tmp_path / "runs" / "latest" / "bank")


def test_a_run_elsewhere(tmp_path):
    """Without a build server, or with --annotations none, nothing of it is written."""
    for options, environment in (((), {}), (("--annotations", "none"), GITHUB)):
        name = f"out-{len(options)}"
        code, out, err = assay("run", *FEW, *options, "--out", name, cwd=tmp_path, **environment)
        assert (0, "") == (code, err)
        assert "::" not in out
        assert 5 == len([*(tmp_path / name).iterdir()])


def test_a_target_gives_no_commands(violated, tmp_path):
    """What a target wrote is printed, and executed by no runner, in a run or a report."""
    code, out, _ = assay("report", violated, cwd=tmp_path, **GITHUB)
    assert "##[add-mask]e" in out
    assert (0, []) == (code, commands_executed(out))
    _, out, _ = assay("report", violated, cwd=tmp_path)
    assert commands_executed(out)  # this is what a runner would do


def test_a_recording_gives_no_commands(tmp_path):
    """Nor does the list of requests that were not judged, which their caller wrote."""
    request = {"method": "##[add-mask]e", "url": "https://www.30001.live.sandbox.example/x"}
    message = {"httpVersion": "HTTP/1.1", "headers": [], "cookies": [], "headersSize": -1}
    entry = {
        "startedDateTime": "2026-11-21T10:00:00Z",
        "time": 1,
        "request": request | message | {"queryString": [], "bodySize": 0},
        "response": {
            **message,
            "status": 404,
            "statusText": "",
            "redirectURL": "",
            "bodySize": 0,
            "content": {"size": 0, "mimeType": ""},
        },
        "cache": {},
        "timings": {"send": 0, "wait": 1, "receive": 0},
    }
    log = {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": [entry]}
    (tmp_path / "a.har").write_text(json.dumps({"log": log}), "utf-8")
    _, out, _ = assay("judge", "a.har", "--out", "a", cwd=tmp_path, **GITHUB)
    assert "##[add-mask]e" in out
    assert {"notice", "warning", "error"} >= {
        name for name, _, _ in workflow_commands(executed_in(out))
    }


def test_shards_are_published_once(tmp_path):
    """A shard publishes nothing: the merged report has its annotations and its formats."""
    few = ("-k", "accounts.available or accounts.listing", "--contexts", "base")
    for n in ("1", "2"):
        _, out, _ = assay("run", *few, "--shard", f"{n}/2", "--out", n, cwd=tmp_path, **GITHUB)
        assert [] == commands_executed(out)
    merged = ("report", "--merge", "1", "2", "--out", "m", "-f", "all")
    _, out, _ = assay(*merged, cwd=tmp_path, **GITHUB)
    ((name, _, _),) = workflow_commands(executed_in(out))
    assert "notice" == name
    files = {path.name for path in (tmp_path / "m").iterdir()} - {"journal.jsonl"}
    assert {form.file for form in FORMATS.values()} - {"report.txt"} == files


@pytest.mark.parametrize(
    ("summary", "said"),
    [("no/such/folder", "cannot be written"), ("full.md", "no room for "), ("", "")],
)
def test_a_summary_that_cannot_be_written(journal, tmp_path, summary, said):
    """It is said, and costs no verdict."""
    (tmp_path / "full.md").write_bytes(b"x" * 1024 * 1024)
    code, _, err = assay(
        *("judge", journal, "-k", "accounts.available", "-q", "--out", "a"),
        cwd=tmp_path,
        **GITHUB,
        GITHUB_STEP_SUMMARY=summary,
    )
    assert 0 == code
    assert said in err
    assert bool(said) == bool(err)
    assert 1024 * 1024 == (tmp_path / "full.md").stat().st_size


def test_json_stays_json(journal, tmp_path):
    """With --json, annotations go to standard error."""
    judged = ("judge", journal, "-k", "accounts.available", "--json", "--out", "a")
    _, out, err = assay(*judged, cwd=tmp_path, **GITHUB)
    assert "assay-report/1" == json.loads(out)["schema"]
    assert out.startswith("{")
    assert err.startswith("::stop-commands::")
    assert ["notice"] == [name for name, _, _ in workflow_commands(executed_in(err))]


def test_a_report_in_every_format(journal, tmp_path):
    """`-f all` writes each format to a folder, and prints the paths."""
    code, out, _ = assay("report", journal, "-f", "all", "--out", "a/b", cwd=tmp_path)
    assert 0 == code
    names = {Path(line).name for line in out.splitlines()}
    assert names == {path.name for path in (tmp_path / "a" / "b").iterdir()}
    assert {"report.html", "junit.xml", "exchanges.har", "assay.sarif"} < names
    assert 0 == assay("report", journal, "-f", "har", "--out", "a", cwd=tmp_path)[0]
    assert (tmp_path / "a" / "exchanges.har").exists()


def test_a_har_file_of_a_run_is_not_judged(journal, tmp_path):
    """Its customers have no tokens, so it could only be judged wrongly: the journal is named."""
    assert 0 == assay("report", journal, "-f", "har", "--out", "a.har", cwd=tmp_path)[0]
    code, _, err = assay("judge", "a.har", "--out", "out", cwd=tmp_path)
    assert (2, True) == (code, "judge the journal instead: journal.jsonl" in err)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("-f", "sarif", "-f", "ctrf"),
            "several formats need a folder to write to (add --out DIR",
        ),
        (("-f", "serif"), "did you mean 'sarif'?"),
        (("-f", "sarif", "-f", "ctrf", "--out", "file"), "file: cannot be a folder"),
    ],
)
def test_formats_that_cannot_be(journal, tmp_path, options, said):
    """What is wrong is one line, before anything is written."""
    (tmp_path / "file").write_text("", "utf-8")
    code, out, err = assay("report", journal, *options, cwd=tmp_path)
    assert (2, "", 1) == (code, out, err.count("\n"))
    assert said in err


def test_a_format_of_a_run_is_checked_first(tmp_path):
    """A misspelt format is refused before anything is sent."""
    code, _, err = assay("run", "-f", "serif", "--out", "a", cwd=tmp_path)
    assert 2 == code
    assert "did you mean 'sarif'?" in err
    assert not (tmp_path / "a").exists()


def test_latest_is_never_taken_from_the_user(tmp_path):
    """A folder that is called `latest` stays; a link moves on to the newest run."""
    (tmp_path / "latest").mkdir()
    judged = ("run", *FEW, "-q", "--out", "{started}")
    code, _, err = assay(*judged, cwd=tmp_path)
    assert (0, "assay: latest is not a link, so it was not replaced\n") == (code, err)
    (tmp_path / "latest").rmdir()
    for _ in range(2):
        _, out, _ = assay(*judged, cwd=tmp_path)
        folder = re.search("(?m)^folder: (.*)$", out)[1]
        assert folder == str((tmp_path / "latest").readlink())


def test_without_options_nothing_is_published(monkeypatch):
    """Without a command there are no options, and nothing is published."""
    monkeypatch.setenv(publication.ON_GITHUB, "true")
    assert () == publication.chosen_formats()
    with publication.commands_stopped():
        pass
