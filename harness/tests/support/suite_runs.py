"""The shipped suites under pytest, as a process of its own.

Only the plugins of Assay and of xdist are loaded: all others of an environment together double
the time that it takes pytest to start. `pytest_plugin/test_plugin.py` shows that pytest finds the
plugin by itself.
"""

import os
import subprocess
import sys

from assay._resources import suites_dir

PLUGINS = ("assay.pytest_plugin", "xdist.plugin")


def run_suites(*args, cwd, env=None, timeout=120):
    """Run the suites in a folder; return the exit code, output and errors."""
    loaded = (word for plugin in PLUGINS for word in ("-p", plugin))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *loaded),
            *(str(suites_dir()), *map(str, args)),
        ],
        cwd=cwd,
        env={**os.environ, **(env or {}), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert "INTERNALERROR" not in done.stdout + done.stderr
    return done.returncode, done.stdout, done.stderr
