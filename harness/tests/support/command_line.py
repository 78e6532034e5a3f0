"""The command line: `assay` runs it in this process, `started` as a process of its own.

A process costs each start half a second, so it is for what only a process can show:
start-up, the exit code, signals, and how its output is encoded.
"""

import io
import os
import re
import resource
import subprocess
import sys
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from unittest.mock import patch

import pytest

from assay.cli.main import main

#: A line of `assay.cli.progress`.
_HEARTBEAT = re.compile(r"^run: .* calls, elapsed .*\n", re.MULTILINE)
COMMAND = (sys.executable, "-c", "from assay.cli.main import main; main()")


def assay(*args, cwd, **env):
    """Run the command in a folder; return its exit code, output and errors.

    `env` adds to the environment of this process, for this command only.
    """
    out, err = _stream(), _stream()
    with (
        chdir(cwd),
        patch.dict(os.environ, env),
        patch.object(sys, "argv", ["assay", *map(str, args)]),
        patch.object(sys, "stdin", _stream()),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    return _result(ended.value.code, out.buffer.getvalue(), err.buffer.getvalue())


def started(*args, cwd, **env):
    """Run the command as a process of its own; return its exit code, output and errors."""
    done = subprocess.run(
        [*COMMAND, *map(str, args)],
        cwd=cwd,
        capture_output=True,
        env={**os.environ, **env},
        timeout=60,
        check=False,
    )
    return _result(done.returncode, done.stdout, done.stderr)


def _stream():
    """Return an empty stream of text that is no terminal, as a pipe is."""
    return io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)


def _result(code, out, err):
    """Return what a command printed, without the lines of a run that lasts, as on a slow machine."""
    assert b"Traceback" not in err + out
    return code, out.decode(), _HEARTBEAT.sub("", err.decode())


@contextmanager
def files_up_to(size):
    """Let every file be as full as a disk can be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
