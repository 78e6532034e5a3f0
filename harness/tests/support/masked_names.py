"""The reference's list of the names that are masked, made from the table that masks them.

    python harness/tests/support/masked_names.py

writes it into `reports/reference/masked-names.md`, below the heading of the list.
"""

from collections.abc import Iterable
from pathlib import Path

from assay.binding.model.secret_names import (
    COOKIE_HEADERS,
    NOT_SECRET,
    PERHAPS_SECRET,
    PERSONAL_NAMES,
    PERSONAL_WORD,
    SECRET_HEADERS,
    SECRET_NAMES,
)

MANUAL = Path(__file__).resolve().parents[3] / "reports" / "reference" / "masked-names.md"
HEAD = "| What | Names |\n|---|---|\n"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def table() -> str:
    """Return the list as a table of Markdown."""
    rows = [(f"`<{kind}-1>`", _names(names)) for kind, names in SECRET_NAMES.items()]
    rows += [
        ("headers", _names((*sorted(COOKIE_HEADERS), *SECRET_HEADERS))),
        (
            "personal data (journals only)",
            _names((*(f"*{name}*" for name in PERSONAL_NAMES), PERSONAL_WORD)),
        ),
        ("`<code-1>`, unless a word or at most 4 digits", _names(PERHAPS_SECRET)),
        ("never masked by name", _names(NOT_SECRET)),
    ]
    return HEAD + "".join(f"| {what} | {names} |\n" for what, names in rows)


def written() -> str:
    """Return the list as the manual has it."""
    text = MANUAL.read_text("utf-8")
    begin = text.index(HEAD)
    return text[begin : text.index("\n\n", begin) + 1]


if __name__ == "__main__":
    MANUAL.write_text(MANUAL.read_text("utf-8").replace(written(), table()), "utf-8")
