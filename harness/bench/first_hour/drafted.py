"""How many lines of a target file `assay init` drafts: right, wrong, and missing.

    python drafted.py

For each bank, `right.yaml` is what a target file must say, written from its manual; `calls.txt` has
the example calls of the manual, where there is no OpenAPI document. A line is one key of the file, as
`init` writes them: an argument, a mode, a field. The second value of an argument, and its first one,
count as lines of their own, because somebody has to find them.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

HERE = Path(__file__).parent
#: Each bank, with the address that the manual gives, and what its draft is made from.
BANKS = {
    "littoral": ("http://127.0.0.1:8201", "calls.txt", ""),
    "nordval": ("http://127.0.0.1:8202", "openapi.json", "MANUAL.md"),
    "sarrebank": ("http://127.0.0.1:8203", "calls.txt", ""),
}
#: How deep below the top the lines of each section are.
DEPTHS = {"operations": 2, "auth": 1, "sca": 1, "outcomes": 0}
#: The keys of an operation whose members are lines.
OPEN = frozenset({"arguments", "modes", "item", "fields", "values", "tpp"})
#: Lines in the place of a gap that is marked above them: the file can be checked before it is complete.
PLACEHOLDERS = (
    "https://bank.example/unknown",
    [{"login": "login", "password": "password"}, {"decision": "decision"}],
)
#: Any value will do.
ANY = "any"
#: Not of the bank, or the same for all of them.
GENERAL = frozenset(
    {
        "assay",
        "target",
        "contracts",
        "transport",
        "base_url",
        "environment",
        "fixtures",
        "error",
        "outcomes",
    }
)


def lines(
    value: Any, depth: int, at: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the lines of a part of a target file: each key, with its value."""
    below = depth > 0 or (at and at[-1] in OPEN)
    if isinstance(value, dict) and below and "at" not in value and "in" not in value:
        for name, inside in value.items():
            yield from lines(inside, depth - 1, (*at, str(name)))
    elif len(at) > 1 and at[-2] == "arguments" and isinstance(value, dict):
        yield at, {key: each for key, each in value.items() if key not in {"value", "other"}}
        yield from (((*at, key), value[key]) for key in ("value", "other") if key in value)
    else:
        yield at, value


def of_file(path: Path) -> dict[tuple[str, ...], Any]:
    """Return the lines of a target file about its bank."""
    data = yaml.safe_load(path.read_text("utf-8"))
    return {
        at: value
        for key, inside in data.items()
        if key not in GENERAL
        for at, value in lines(inside, DEPTHS.get(key, 0), (key,))
    }


def is_right(wanted: Any, drafted: Any) -> bool:
    """Whether a line is what it must be; links may be optional, and words of states more."""
    if isinstance(wanted, dict) and isinstance(drafted, dict) and wanted.keys() == drafted.keys():
        return all(is_right(each, drafted[key]) for key, each in wanted.items())
    if isinstance(wanted, list) and isinstance(drafted, list):
        plain = [
            each["at"] if isinstance(each, dict) and "at" in each else each for each in drafted
        ]
        return sorted(map(str, wanted)) == sorted(map(str, plain))
    return wanted == ANY or str(wanted) == str(drafted)


def main() -> None:
    """Draft a file for each bank, and print the table."""
    print(f"{'bank':10} {'right':>6} {'wrong':>6} {'missing':>8}")
    for bank, (url, document, manual) in BANKS.items():
        folder = HERE / f"bank_{bank}"
        with TemporaryDirectory() as scratch:
            out = Path(scratch) / "draft.yaml"
            command = [
                str(Path(sys.executable).with_name("assay")),
                "init",
                "--yes",
                "--fixtures",
                "python",
                "--name",
                bank,
            ]
            command += ["--base-url", url, "--openapi", str(folder / document), "--out", str(out)]
            command += ["--manual", str(folder / manual)] if manual else []
            subprocess.run(command, check=True, capture_output=True, cwd=scratch)  # noqa: S603 -- no foreign input
            if "--show" in sys.argv:
                print(out.read_text("utf-8"))
            drafted, wanted = of_file(out), of_file(folder / "right.yaml")
        drafted = {at: value for at, value in drafted.items() if value not in PLACEHOLDERS}
        right = {
            at for at, value in wanted.items() if at in drafted and is_right(value, drafted[at])
        }
        # Credentials may stand anywhere: they are sent to be refused.
        free = {at for at in drafted if at[-1] == "credentials"}
        wrong, missing = {*drafted} - right - free, {*wanted} - {*drafted}
        print(f"{bank:10} {len(right):6} {len(wrong):6} {len(missing):8}")
        if "--lines" in sys.argv:
            for at in sorted(wrong):
                print(f"  wrong    {'.'.join(at)}: {drafted[at]}   (right: {wanted.get(at)})")
            for at in sorted(missing):
                print(f"  missing  {'.'.join(at)}: {wanted[at]}")


if __name__ == "__main__":
    main()
