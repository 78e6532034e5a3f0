"""The command line as a person uses it: what it prints, what it exits with, how it helps."""

import json
import os
import re
import subprocess
import sys
import threading
from contextlib import ExitStack
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from command_line import COMMAND, assay, started

from assay._resources import contract_dir
from assay.cli.main import COMMANDS
from assay.contexts.context import Depth
from assay.errors import CannotArrange
from assay.fixtures.control import ControlFixture
from assay.proof import contextual_neutral
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS
from assay.sandbox.policies import SOUND
from assay.sandbox.serve import serving

#: A run of two obligations, for tests that need any run.
SMALL = ("-k", "aisp/accounts.available")

TARGET = """\
assay: 1
target: mine
extends: sandbox
transport: http
base_url: {url}
"""


@pytest.fixture
def served():
    """Serve banks over loopback; return their URLs."""
    with ExitStack() as servers:
        yield lambda app: servers.enter_context(serving(app))


def test_the_package_is_the_command():
    """`python -m assay` is what is tried where the script is not on the path."""
    command = [sys.executable, "-m", "assay", "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "assay" in said.stdout


def test_run_with_no_arguments_is_the_main_job(tmp_path):
    """In an empty folder everything conforms, and the report stands below reports/local."""
    code, out, err = started("run", cwd=tmp_path)
    assert (0, "") == (code, err)
    assert "The gateway meets all 315 obligations." in out
    (folder,) = (tmp_path / "reports" / "local").iterdir()
    assert {"journal.jsonl", "report.html", "report.md", "report.json", "junit.xml"} == {
        path.name for path in folder.iterdir()
    }


def test_a_violation_exits_with_1_and_can_be_reproduced(tmp_path, served):
    """The printed command finds the violation again."""
    (fault,) = (one for one in MUTANTS if one.id == "quota.accounts-utc-day")
    url = served(make_app(fault.change(SOUND)))
    code, out, _ = assay("run", "--target", url, "-k", "next-day", cwd=tmp_path)
    assert code == 1
    assert "✗ aisp/batch-quota/accounts-next-day  violates" in out
    found = re.search(r"reproduce  assay (run .*)", out)
    again, out, _ = assay(*found[1].split(), cwd=tmp_path)
    assert again == 1
    assert "The gateway violates the one obligation." in out


def test_what_cannot_be_asked_exits_with_3(tmp_path):
    """A must that could not be verified is no success, unless the user says so."""
    target = tmp_path / "mine.yaml"
    target.write_text(
        "assay: 1\ntarget: mine\nextends: sandbox\npresence: null\n", encoding="utf-8"
    )
    args = ("run", "--target", target, "-m", "quota or listing")
    code, out, _ = assay(*args, cwd=tmp_path)
    assert code == 3
    assert "set `presence` in the target file" in out
    assert assay(*args, "--allow-incomplete", cwd=tmp_path)[0] == 0
    args = ("run", "--target", target, "-m", "quota", "--allow-incomplete")
    code, out, _ = assay(*args, cwd=tmp_path)
    assert (code, True) == (3, "exit code 3: nothing was verified" in out)


def test_a_target_that_refuses_the_connection_is_blamed_for_nothing(tmp_path):
    """One line, a hint, exit 2; the journal is kept and holds no verdict on the bank."""
    code, out, err = assay(
        "run", "--target", "http://127.0.0.1:9", "--out", tmp_path / "out", cwd=tmp_path
    )
    assert (2, "") == (code, out)
    assert len(err.splitlines()) == 1
    assert "cannot connect" in err
    assert "no obligation is reported as violated" in err
    lines = (tmp_path / "out" / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    footer = json.loads(lines[-1])
    assert "cannot connect" in footer["aborted"]
    words = {json.loads(line)["verdict"] for line in lines if '"type": "verdict"' in line}
    assert {"unspecified", "not-applicable"} == words


def test_an_existing_journal_is_never_written_over(tmp_path):
    """A second run into the same folder is refused, and the first record stays."""
    args = ("run", *SMALL, "--out", tmp_path / "out")
    assert assay(*args, cwd=tmp_path)[0] == 0
    before = (tmp_path / "out" / "journal.jsonl").read_bytes()
    code, _, err = assay(*args, cwd=tmp_path)
    assert code == 2
    assert "a journal already exists" in err
    assert before == (tmp_path / "out" / "journal.jsonl").read_bytes()


def bad_inputs(folder):
    """Yield what users get wrong: the arguments, and what the one line must say."""
    aisp = (contract_dir() / "aisp.yaml").read_text(encoding="utf-8")

    def file(name, text):
        (folder / name).write_text(text, encoding="utf-8")
        return folder / name

    bomb = "a: &a [x]\n" + "".join(
        f"{new}: &{new} [*{old},*{old},*{old},*{old},*{old},*{old},*{old},*{old},*{old}]\n"
        for old, new in zip("abcdef", "bcdefg", strict=True)
    )
    with (folder / "huge.yaml").open("wb") as out:
        out.truncate(50 * 1024 * 1024)
    wrong = {
        "unknown key": (
            aisp.replace("limit: 4", "limit: 4\n    limmit: 4"),
            "did you mean 'limit'",
        ),
        "wrong type": (aisp.replace("limit: 4", "limit: four"), "found 'four'"),
        "duplicate id": (aisp.replace("id: euro", "id: iban"), "iban"),
        "no such operation": (
            aisp.replace(
                "operation: accounts\n    resource: card",
                "operation: acounts\n    resource: card",
                1,
            ),
            "did you mean 'accounts'",
        ),
        "duplicate key": (aisp + "zone: Europe/Paris\n", "zone"),
        "bomb": (bomb, "alias"),
    }
    for name, (text, said) in wrong.items():
        yield name, ("--contract", file(f"{name}.yaml", text)), said
    yield "huge", ("--contract", folder / "huge.yaml"), "16 MiB"
    yield "folder", ("--contract", folder), "this is a directory"
    yield "missing", ("--contract", folder / "bombb.yaml"), "did you mean"
    yield "no such contract", ("--contract", "aips"), "did you mean 'aisp'"
    yield "no such target", ("--target", "sandbx"), "did you mean 'sandbox'"
    yield "no selection", ("-k", "nowhere"), "nothing is selected"
    yield "no expression", ("-k", "quota and ("), "cannot read"
    yield "bad url", ("--target", "http://"), "http"


NAMES = (
    "unknown key", "wrong type", "duplicate id", "no such operation", "duplicate key", "bomb",
    "huge", "folder", "missing", "no such contract", "no such target",
    "no selection", "no expression", "bad url",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_bad_input_is_one_clear_line(tmp_path, name):
    """A mistake of the user is a line with place and hint, exit 2, and no traceback."""
    (found,) = ((args, said) for known, args, said in bad_inputs(tmp_path) if known == name)
    args, said = found
    empty = tmp_path / "empty"
    empty.mkdir()
    code, out, err = assay("run", *args, cwd=empty)
    assert (2, "") == (code, out)
    assert 1 == len(err.splitlines()), err
    assert said in err
    assert [] == list(empty.iterdir())


def test_every_secret_that_is_not_set_is_named(tmp_path):
    """All of them come at once, a line each with the place of the name, before any call."""
    code, out, err = assay("run", "--target", "remote", cwd=tmp_path)
    assert (2, "") == (code, out)
    alice, bob = err.splitlines()
    hint = "export REMOTE_ALICE_TOKEN=… before the run; secrets are never written in the file"
    assert re.search(r"remote\.yaml:\d+: fixtures\.roles\.alice: ", alice)
    assert alice.endswith(f"the environment variable REMOTE_ALICE_TOKEN is not set ({hint})")
    assert re.search(r"remote\.yaml:\d+: fixtures\.roles\.bob: ", bob)
    assert "the environment variable REMOTE_BOB_TOKEN is not set" in bob
    assert [] == list(tmp_path.iterdir())


def test_check_says_everything_at_once(tmp_path):
    """Problems of several files come together, each with its file and line."""
    (tmp_path / "a.yaml").write_text("assay: 2\ncontract: a\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text(
        "assay: 1\ntarget: b\ntransport: http\nbase_url: ftp://x\n", encoding="utf-8"
    )
    code, _, err = assay("check", "a.yaml", "b.yaml", "aisp", cwd=tmp_path)
    assert code == 2
    assert "a.yaml:1:" in err
    assert "b.yaml:4:" in err


def test_check_describes_what_is_sound(tmp_path):
    """A sound file is summed up in a line."""
    code, out, _ = assay("check", "aisp", "sandbox", cwd=tmp_path)
    assert code == 0
    assert "154 obligations, 22 open points" in out
    assert "target sandbox" in out


@pytest.mark.parametrize(
    ("amount", "noted"), [("1234", True), ('"1000.01"', True), ('"0.99"', True), ("876", False)]
)
def test_check_announces_an_unusual_amount(tmp_path, amount, *, noted):
    """An account need not cover any amount, so beyond the usual ones the execution is not judged."""
    create = f"create-payment: {{arguments: {{amount: {{body: /amount, value: {amount}}}}}}}"
    (tmp_path / "own.yaml").write_text(
        f"assay: 1\ntarget: own\nextends: sandbox\noperations: {{{create}}}\n"
    )
    _, out, _ = assay("check", "pis", "own.yaml", cwd=tmp_path)
    key = "operations.create-payment.arguments.amount.value"
    assert noted is (
        f":4: note: {key}: a customer may not have more than the usual 1 to 1000" in out
    )


def test_check_announces_what_has_no_value(tmp_path):
    """An argument without a value is no mistake, but what needs it stays unverified: `check` says so."""
    lacking = "{body: /amount, value: null, other: null}"
    create = f"create-payment: {{arguments: {{amount: {lacking}}}}}"
    (tmp_path / "own.yaml").write_text(
        f"assay: 1\ntarget: own\nextends: sandbox\noperations: {{{create}}}\n"
    )
    code, out, _ = assay("check", "pis", "own.yaml", cwd=tmp_path)
    assert code == 0
    key = "operations.create-payment.arguments.amount.value"
    assert (
        f":4: note: {key}: no value, so obligations that call create-payment stay unverified" in out
    )
    assert "note" not in assay("check", "aisp", "pis", "sandbox", "stet-1.4.0", cwd=tmp_path)[1]


def test_check_finds_shipped_targets_with_a_dot_in_their_name(tmp_path):
    """`stet-1.4.0` is a shipped target and not a file with the suffix `.0`."""
    code, out, _ = assay("check", "stet-1.4.0", cwd=tmp_path)
    assert code == 0
    assert "stet-1.4.0: target stet-1.4.0" in out


def test_help_of_run_has_sections(tmp_path):
    """The sixteen options of `run` are listed by what they are for, each once."""
    _, out, _ = assay("run", "--help", cwd=tmp_path)
    titles = re.findall(r"(?m)^([A-Z].*):$", out)
    assert titles == [
        *("What is tested", "Searches", "Safety and cost", "While it runs", "Result", "Options")
    ]
    for option in ("--contract", "--replay", "--no-doctor", "--quiet", "--help"):
        assert 1 == len(re.findall(rf"(?m)^  (?:-\w, )?{option}\b", out))


def test_plan_shows_costs_and_sends_nothing(tmp_path):
    """Without presence or clock the plan says what stays open, and what would unblock it."""
    (tmp_path / "t.yaml").write_text(
        TARGET.format(url="http://127.0.0.1:9") + "presence: null\nfixtures: {offers: [psu]}\n",
        encoding="utf-8",
    )
    code, out, _ = assay("plan", "--target", "t.yaml", cwd=tmp_path)
    assert code == 0
    assert "unverified: needs" in out
    assert re.search(r"\d+ obligations: \d+ tested in \d+ trials with \d+ calls", out)


def test_plan_for_machines(tmp_path):
    """Every obligation is one JSON object, with its id, disposition and price."""
    code, out, _ = assay("plan", "--json", "-m", "quota", cwd=tmp_path)
    items = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert {"ask"} == {one["disposition"] for one in items}
    assert all(one["calls"] > 0 and one["kind"] == "quota" for one in items)


def test_report_renders_a_journal_again(tmp_path):
    """Any format can be made from the journal alone, and is the same as the run made."""
    assay("run", *SMALL, "--out", "out", cwd=tmp_path)
    code, _, _ = assay(
        "report", "out/journal.jsonl", "--format", "html", "--out", "again.html", cwd=tmp_path
    )
    assert code == 0
    first = (tmp_path / "out" / "report.html").read_bytes()
    assert first == (tmp_path / "again.html").read_bytes()


def test_report_refuses_an_unfinished_journal(tmp_path):
    """A journal without its footer is no evidence, unless one asks for what there is."""
    assay("run", *SMALL, "--out", "out", cwd=tmp_path)
    lines = (tmp_path / "out" / "journal.jsonl").read_text(encoding="utf-8").splitlines(True)
    (tmp_path / "cut.jsonl").write_text("".join(lines[:-1]), encoding="utf-8")
    assert assay("report", "cut.jsonl", cwd=tmp_path)[0] == 2
    assert assay("report", "cut.jsonl", "--partial", cwd=tmp_path)[0] == 0


def test_prove_finds_a_fault(tmp_path):
    """A part of the matrix can be printed by name."""
    code, out, _ = started("prove", "-k", "quota.helsinki or neutral.more-headers", cwd=tmp_path)
    assert code == 0
    assert "aisp/batch-quota/before-midnight" in out
    (variant,) = [row.split() for row in out.splitlines() if "neutral.more-headers" in row]
    assert ["ok", "neutral.more-headers", "no", "violation"] == variant


def test_prove_finds_a_fault_in_one_situation(tmp_path, monkeypatch):
    """Rows have their number; the share, the reasons and the neutral variants come at the end."""
    plan, target = contextual_neutral.planned(Depth.EACH)
    share = replace(plan, trials=(), contextual=plan.contextual[::20])
    monkeypatch.setattr(contextual_neutral, "planned", lambda _: (share, target))
    words = "(listing.last-item and later) or neutral.more-headers"
    code, out, _ = assay("prove", "--contexts", "all", "-n", 1, "-k", words, cwd=tmp_path)
    assert code == 0, out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert any(line.startswith(("1/", "2/", "3/")) for line in lines)
    assert "2 of 2 page" in lines
    assert any(line.startswith("ok neutral (") for line in lines)
    assert "1 of 1 neutral variants without a violation in every context" in lines


def test_serve_serves_the_bank(tmp_path):
    """The served sandbox says where it is, and answers the demo customer."""
    with subprocess.Popen(
        [*COMMAND, "serve", "--port", "0"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        try:
            url = re.search(r"http://[\d.]+:\d+", process.stdout.readline())[0]
            code, out, _ = assay("run", "--target", url, *SMALL, cwd=tmp_path)
        finally:
            process.terminate()
    assert code == 0
    assert "The gateway meets all 4 obligations." in out


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_has_examples(tmp_path, name):
    """Every command explains itself, with examples, without touching anything."""
    code, out, _ = assay(*([name] if name else []), "--help", cwd=tmp_path)
    assert code == 0
    assert "Examples:" in out
    assert [] == list(tmp_path.iterdir())


def test_a_command_that_does_not_exist(tmp_path):
    """The closest command is named."""
    code, _, err = assay("rnu", cwd=tmp_path)
    assert code == 2
    assert "did you mean 'run'" in err


class Silly(BaseHTTPRequestHandler):
    """A server that speaks something, but no control API."""

    def do_POST(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>hello</html>")

    def log_message(self, *_):
        pass


def test_a_target_that_is_no_bank(tmp_path):
    """Whatever else listens there is told from a bank, in one line."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Silly)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    code, _, err = assay("run", "--target", f"http://127.0.0.1:{server.server_port}", cwd=tmp_path)
    server.shutdown()
    server.server_close()
    thread.join(5)
    assert code == 2
    assert "is this an assay-control/1 API?" in err


def test_journals_name_no_folder_of_this_machine_by_default(tmp_path):
    """The default report folder is below the working folder, one for each run."""
    for _ in range(2):
        assay("run", *SMALL, "-q", cwd=tmp_path)
    assert 2 == len(list(Path(tmp_path, "reports", "local").iterdir()))


def test_a_context_that_was_not_tested_whole_is_told(tmp_path, monkeypatch):
    """A trial that ends early in a context leaves no gap: the run and every report say so."""

    def renew(_fixture, _access, *, by_tpp):
        raise CannotArrange("a renewed token")

    monkeypatch.setattr(ControlFixture, "renew", renew)
    code, out, _ = assay(
        *("run", "-k", "aisp/batch-quota/balances", "--contexts", "each", "--out", "out"),
        cwd=tmp_path,
    )
    assert code == 0
    assert re.search(r"In further contexts, \d+ trials? ended early: needs a renewed token\.", out)
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert report["unfinished"][0]["reason"] == "needs a renewed token"
    assert "token=renewed" in report["unfinished"][0]["trial"]
    assert report["caveats"][0] in out
    code, _, _ = assay("judge", "out/journal.jsonl", cwd=tmp_path)
    assert code in {0, 3}
