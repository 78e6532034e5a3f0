"""The tests before a push: those of the rooms that a change touches.

    python harness/tests/support/touched.py [BASE] [-- PYTEST OPTIONS]

Since BASE (default: what was pushed last, or else the last commit), these are the tests that
changed, the tests of each room with a changed module, and those of the rooms that import one.
"""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TESTS, PACKAGE = ROOT / "harness" / "tests", ROOT / "harness" / "assay"


def changed(base: str) -> list[Path]:
    """Return the files that differ from a commit, also those that git does not know yet."""
    names = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    return [ROOT / name for name in names]


def git(*args: str) -> list[str]:
    """Return the lines that a git command prints; none if it fails."""
    done = subprocess.run(["git", *args], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def imports(path: Path) -> Iterator[str]:
    """Yield the modules of Assay that a module imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("assay"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            yield node.module or ""


def folder(path: Path, root: Path) -> Path:
    """Return the folder of tests for a file; of a room whose tests are all in folders, the inner one."""
    room, *below = path.relative_to(root).with_suffix("").parts
    inner = TESTS.joinpath(room, *below[:1])
    return inner if inner.is_dir() and not [*(TESTS / room).glob("test_*.py")] else TESTS / room


def folders(files: Iterable[Path]) -> list[Path]:
    """Return the folders, and the files directly in `tests`, that test changed files."""
    files = [file for file in files if file.suffix == ".py" and file.exists()]
    tests = {file for file in files if file.is_relative_to(TESTS)}
    modules = {file for file in files if file.is_relative_to(PACKAGE)}
    names = {".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts) for file in modules}
    users = [path for path in PACKAGE.rglob("*.py") if names.intersection(imports(path))]
    found = {folder(path, PACKAGE) for path in (*modules, *users)}
    found |= {folder(file, TESTS) for file in tests} - {TESTS / "support"}
    return sorted({TESTS / "test_layers.py", *filter(Path.exists, found)})


if __name__ == "__main__":
    own, _, options = " ".join(sys.argv[1:]).partition("--")
    start = own.strip() or next(iter(git("rev-parse", "@{upstream}")), "HEAD")
    selected = [str(path.relative_to(ROOT)) for path in folders(changed(start))]
    sys.stdout.write(f"tests of {', '.join(selected)}\n")
    command = [sys.executable, "-m", "pytest", *selected, *options.split()]
    sys.exit(subprocess.run(command, cwd=ROOT, check=False).returncode)
