"""The command that writes the files of a new built-in kind, in a copy of the project."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
#: What a contributor sees and runs after the command.
TESTS = (
    "harness/tests/rules/test_content_language.py",
    "harness/tests/contract/test_manual.py",
    "harness/tests/contract/test_schema.py",
    "harness/tests/extras/diff/test_impacts.py",
    "harness/tests/rules/test_kinds_table.py",
)


def test_six_files_that_pass_as_they_stand(tmp_path):
    """Each is named by the command; nothing else has to be written before every test passes."""
    for name in ("harness", "contract", "suites", "reports", ".github"):
        leave = shutil.ignore_patterns("__pycache__", "bench", "local")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=leave)
    for name in ("CHANGELOG.md", "README.md", "LICENSE", "pyproject.toml", "tox.ini"):
        shutil.copy(ROOT / name, tmp_path)

    def run(*arguments):
        ended = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": "harness", "ASSAY_TIER": "gate"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    written = run("harness/tests/support/new_kind.py", "content-language", "reading").split()
    assert sorted(written) == [
        "CHANGELOG.md",
        "contract/contract-reference.md",
        "contract/schema/rules/content-language.yaml",
        "harness/assay/rules/kinds/__init__.py",
        "harness/assay/rules/kinds/reading/content_language.py",
        "harness/tests/rules/test_content_language.py",
    ]
    assert " passed" in run("-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS)
