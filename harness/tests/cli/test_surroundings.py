"""Odd surroundings: streams, disks, folders, terminals, locales and time zones.

In each of them a command ends without a traceback, and its exit code is right: that of the verdict
where the result is kept, 2 where the user has to change something, 141 for a closed pipe. Most run
in this process, with streams of the operating system in place of the standard ones.
"""

import io
import json
import os
import pty
import re
import resource
import subprocess
import sys
import threading
import time
from contextlib import chdir, contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from command_line import COMMAND, assay

from assay.cli import main as command_line
from assay.cli import run as run_command
from assay.fixtures import control

RUN = ("run", "-k", "aisp/accounts.available", "--out", "out")
IBAN = "FR7630006000011234567890189"
FULL = "assay: standard output cannot be written: No space left on device\n"


# -- streams ---------------------------------------------------------------------------------
def full():
    """Return the descriptor of a full disk."""
    return os.open("/dev/full", os.O_WRONLY)


def broken_pipe():
    """Return the descriptor of a pipe that has no reader any more."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def closed():
    """Return no descriptor: Python has None in place of a stream that was closed."""


def text(descriptor, encoding="utf-8"):
    """Return a stream as Python opens it at its start."""
    if descriptor is None:
        return None
    raw = io.FileIO(descriptor, "w")
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, line_buffering=raw.isatty())


@contextmanager
def streams(folder, out=None, err=None, encoding="utf-8"):
    """Give the process other standard streams; by default they are files in a folder."""

    def opened(make, name):
        if make is None:
            return text(os.open(folder / name, os.O_WRONLY | os.O_CREAT), encoding)
        return text(make(), encoding)

    stdout, stderr = opened(out, "stdout"), opened(err, "stderr")
    with (
        patch.object(sys, "stdin", None),
        patch.object(sys, "stdout", stdout),
        patch.object(sys, "stderr", stderr),
    ):
        yield
    for stream in filter(None, (stdout, stderr)):
        stream.detach().detach().close()


def ended(folder, *args, **given):
    """Run a command with other streams; return its exit code, output and errors."""
    with (
        chdir(folder),
        patch.object(sys, "argv", ["assay", *args]),
        streams(folder, **given),
        pytest.raises(SystemExit) as end,
    ):
        command_line.main()
    return end.value.code, written(folder / "stdout"), written(folder / "stderr")


def written(path):
    """Return what was written to a file, if there is one."""
    return path.read_text("utf-8", errors="replace") if path.exists() else ""


NO_TERMINAL = (
    "assay: init: no terminal to ask questions on "
    "(use --yes to accept the defaults, or give every answer as an option)\n"
)
#: The command, the streams, the exit code, and all that stands on standard error.
STREAMS = {
    "full output, run": (RUN, {"out": full}, 2, FULL),
    "full output, plan": (("plan", "-m", "quota"), {"out": full}, 2, FULL),
    "full output, export": (("export", "openapi"), {"out": full}, 2, FULL),
    "full output, help": (("--help",), {"out": full}, 2, FULL),
    "full errors, wrong usage": (("run", "--nothing"), {"err": full}, 2, ""),
    "full errors, sound run": (RUN, {"err": full}, 0, ""),
    "both full, wrong usage": (("check", "x.yaml"), {"out": full, "err": full}, 2, ""),
    "closed output, run": (RUN, {"out": closed}, 0, ""),
    "closed output, check": (("check", "aisp"), {"out": closed}, 0, ""),
    "closed errors, wrong usage": (("run", "--nothing"), {"err": closed}, 2, ""),
    "closed streams, run": (RUN, {"out": closed, "err": closed}, 0, ""),
    "broken pipe, check": (("check", "aisp"), {"out": broken_pipe}, 141, ""),
    "broken pipe, plan": (("plan", "--verbose", "-m", "quota"), {"out": broken_pipe}, 141, ""),
    "broken pipe, help": (("run", "--help"), {"out": broken_pipe}, 141, ""),
    "broken pipe, run": (RUN, {"out": broken_pipe}, 141, ""),
    "broken pipe, wrong usage": (("check", "x.yaml"), {"err": broken_pipe}, 2, ""),
    "ASCII, run": (RUN, {"encoding": "ascii"}, 0, ""),
    "Latin-1, run": (RUN, {"encoding": "latin-1"}, 0, ""),
    "no terminal, no input, init": (
        ("init",),
        {},
        2,
        NO_TERMINAL,
    ),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_cannot_be_written_loses_no_verdict(name, tmp_path):
    """Lost output is an error or a closed pipe, lost errors change nothing, the run is complete."""
    args, given, code, err = STREAMS[name]
    assert (code, err) == ended(tmp_path, *args, **given)[::2]
    if args is RUN:
        assert {"junit.xml", "report.html"} <= {path.name for path in (tmp_path / "out").iterdir()}


def test_a_pipe_that_does_not_block_gets_everything(tmp_path):
    """Another program may have made the pipe so; a slow reader of it loses nothing."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    chunks = []

    def read():
        with os.fdopen(reader, "rb") as stream:
            chunks.append(stream.read())

    thread = threading.Thread(target=read)
    thread.start()
    assert ended(tmp_path, "export", "openapi", out=lambda: writer)[0] == 0
    thread.join(30)
    (document,) = chunks
    assert len(document) > 65_536
    assert "3.1.0" == json.loads(document)["openapi"]


def test_a_document_is_the_same_on_every_terminal(tmp_path):
    """The encoding of the terminal changes no byte of a report that is no plain text."""
    assert ended(tmp_path, *RUN)[0] == 0
    (tmp_path / "stdout").unlink()
    html = ("report", "-f", "html", "out/journal.jsonl")
    assert ended(tmp_path, *html, encoding="ascii")[0] == 0
    assert (tmp_path / "out" / "report.html").read_bytes() == (tmp_path / "stdout").read_bytes()


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"TERM": "", "COLUMNS": "0"}, {"NO_COLOR": "1"}])
def test_a_terminal_of_any_kind_shows_the_result(tmp_path, monkeypatch, env):
    """A terminal without colours, or without a width, has the same words."""
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    control, terminal = pty.openpty()
    code, *_ = ended(tmp_path, *RUN, out=lambda: terminal)
    shown = os.read(control, 100_000).decode()
    os.close(control)
    assert code == 0
    assert "The gateway meets all 4 obligations." in " ".join(shown.split())


def test_a_process_of_its_own_ends_as_this_one_does(tmp_path):
    """The interpreter adds nothing at its end: no message, and no exit code of its own."""
    for streams_, code in (("> /dev/full", 2), (">&-", 0), ("<&- >&- 2>&-", 0), ("| true", 141)):
        shell = f'set -o pipefail; "$@" {streams_}'
        done = subprocess.run(
            ["bash", "-c", shell, "bash", *COMMAND, "check", "aisp"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            timeout=60,
            check=False,
        )
        assert (code, FULL if code == 2 else "") == (done.returncode, done.stderr)


# -- folders and disks -----------------------------------------------------------------------
def test_a_working_directory_that_was_deleted_is_named(tmp_path):
    """A run has nowhere to write, and says so in a line."""
    gone = tmp_path / "gone"
    gone.mkdir()
    with chdir(tmp_path), chdir(gone):
        gone.rmdir()
        argv = patch.object(sys, "argv", ["assay", "run", "-k", "aisp/accounts.available"])
        with argv, streams(tmp_path), pytest.raises(SystemExit) as end:
            command_line.main()
    assert 2 == end.value.code
    assert "assay: the working directory does not exist any more\n" == written(tmp_path / "stderr")


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/assay", "/dev/null", "/dev/full/x"])
def test_an_output_folder_that_cannot_be_written_is_named(tmp_path, place):
    """A file, a folder below a file, or one that the system refuses is a usage error."""
    (tmp_path / "file").write_text("")
    code, out, err = assay(*RUN[:-1], place, cwd=tmp_path)
    assert (2, "") == (code, out)
    assert place in err.splitlines()[-1]


def test_a_full_disk_is_no_verdict(tmp_path):
    """A journal that cannot be written to its end is a usage error, in one line."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        code, _, err = assay(*RUN, cwd=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert 2 == code
    assert "journal" in err


@pytest.mark.parametrize("state", ["/proc/assay", "/dev/null", "relative", ""])
def test_a_state_folder_that_cannot_be_used_stops_no_sandbox_run(tmp_path, monkeypatch, state):
    """Only real customers need the ledger; for them, the message says what to set."""
    monkeypatch.delenv("ASSAY_LEDGER")
    env = {"XDG_STATE_HOME": state, "HOME": "/proc"}
    assert 0 == assay(*RUN, cwd=tmp_path, **env)[0]
    tokens = {"REMOTE_ALICE_TOKEN": "a", "REMOTE_BOB_TOKEN": "b"}
    args = ("run", "--no-doctor", "-t", "remote", "-k", "aisp/accounts.available")
    code, _, err = assay(*args, cwd=tmp_path, **env, **tokens)
    assert 2 == code
    assert "--ledger" in err


def test_a_user_without_a_home_can_run(tmp_path, monkeypatch):
    """In a container the user may be unknown: `--ledger` or a variable replaces the home."""
    for name in ("ASSAY_LEDGER", "XDG_STATE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert 0 == assay(*RUN, cwd=tmp_path)[0]
    tokens = {"REMOTE_ALICE_TOKEN": "a", "REMOTE_BOB_TOKEN": "b"}
    code, _, err = assay("plan", "-t", "remote", cwd=tmp_path, **tokens)
    assert 2 == code
    assert "no home directory (pass --ledger FILE, or set ASSAY_LEDGER or XDG_STATE_HOME)" in err


def test_a_name_that_is_no_text_can_be_used(tmp_path):
    """A path may have bytes that are no UTF-8, or act on a terminal; a message shows them escaped."""
    odd = os.fsdecode(b"out-\xff\x1b[2J\n")
    assert 0 == assay(*RUN[:-1], odd, cwd=tmp_path)[0]
    code, _, err = assay("check", odd, cwd=tmp_path)
    assert 2 == code
    assert "assay: out-\\udcff\\x1b[2J\\n: this is a directory (name a file in it)\n" == err


# -- time zones ------------------------------------------------------------------------------
@pytest.mark.parametrize("zone", ["", "Nowhere/Nothing", "<+99>-99:99", "Pacific/Kiritimati", ":x"])
def test_the_time_zone_of_the_machine_changes_nothing(tmp_path, monkeypatch, zone):
    """Days are those of the bank, whatever the machine takes for its own zone."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert 0 == assay("run", "-m", "quota", "--out", "out", cwd=tmp_path)[0]
    finally:
        monkeypatch.undo()
        time.tzset()


# -- errors of Assay and of the target ---------------------------------------------------------
def failing(*_, **__):
    """Fail as no command should, with a text that may be a customer's."""
    raise ZeroDivisionError(IBAN)


def test_an_error_of_assay_is_no_violation(tmp_path, monkeypatch):
    """It is exit code 4 and one line, which names the file with the traceback."""
    monkeypatch.setattr(run_command, "run_session", failing)
    code, out, err = assay(*RUN, cwd=tmp_path)
    assert (4, "") == (code, out)
    line = r"assay: an error in Assay itself: ZeroDivisionError at test_surroundings.py:"
    assert err.startswith(line)
    assert err.endswith("; details are in out/error.txt\n")
    details = (tmp_path / "out" / "error.txt").read_text("utf-8")
    assert "builtins.ZeroDivisionError" in details
    assert "in failing" in details
    assert IBAN not in details


@pytest.mark.parametrize("state", ["", "/proc/assay"])
def test_without_a_run_details_are_kept_in_the_state_folder(tmp_path, monkeypatch, state):
    """They are kept in the folder of temporary files if there is no such folder."""
    home = tmp_path / "home"
    monkeypatch.setenv("XDG_STATE_HOME", state or str(home))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("assay.cli.check._check", failing)
    code, _, err = assay("check", "aisp", cwd=tmp_path)
    assert 4 == code
    path = Path(err.strip().partition("details are in ")[2])
    assert path.parent == (tmp_path if state else home / "assay" / "errors")
    assert 0o600 == path.stat().st_mode & 0o777


def test_an_error_of_the_system_is_the_users(tmp_path, monkeypatch):
    """A file that no command names itself is named with the reason of the system."""

    def refused(*_):
        raise PermissionError(13, "Permission denied", "/some/file")

    monkeypatch.setattr("assay.cli.check._check", refused)
    code, _, err = assay("check", "aisp", cwd=tmp_path)
    assert (2, "assay: /some/file: Permission denied\n") == (code, err)


@pytest.mark.parametrize("now", ["0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59+00:00"])
def test_a_control_clock_outside_the_calendar_is_the_targets(tmp_path, monkeypatch, now):
    """A clock in the first or last year is a failure of the target, and nothing is violated."""
    read = control._moment
    monkeypatch.setattr(control, "_moment", lambda answer: read({**answer, "now": now}))
    code, out, _ = assay(*RUN, "--no-doctor", cwd=tmp_path)
    assert 3 == code
    assert "'now' that is not of the years 1000 to 8999" in " ".join(out.split())
    assert re.search(r"✗ +0  violate", out)


# -- signals during the start ----------------------------------------------------------------
INTERRUPTED = """
import os, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from assay.cli.start import main
main()
"""


@pytest.mark.parametrize(
    "name", ["assay.cli.main", "click", "assay.cli.doctor", "assay.onboarding.doctor.examination"]
)
def test_an_interruption_while_modules_are_loaded_is_no_traceback(tmp_path, name):
    """Ctrl-C at the start ends the command with 130, whatever is being imported."""
    code = INTERRUPTED.format(name=name)
    done = subprocess.run(
        [sys.executable, "-c", code, "doctor", "-t", "http://127.0.0.1:9"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert 130 == done.returncode, done.stderr
    assert "Traceback" not in done.stderr
