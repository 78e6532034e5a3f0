"""The Markdown says what matters first, and always fits."""

import re

import pytest

MEBIBYTE = 1024 * 1024


@pytest.mark.parametrize("verdict", ["violates", "indeterminate"])
def test_markdown_size(journal, verdict, written):
    """Five thousand findings stay under 1 MiB, and what is left out is said."""
    text = written(journal.findings(5_000, verdict), "markdown")
    assert len(text.encode()) < MEBIBYTE
    assert re.search(r"\*[\d,]+ more (violations|obligations) are left out here", text)
    assert re.search(r"\*[\d,]+ more clauses are left out here", text)


def test_markdown_all_reasons(journal, written):
    """Hundreds of reasons, questions and waivers stay under 1 MiB too."""
    for n in range(1_500):
        verdict = ("unverified", "unspecified", "waived", "not-applicable")[n % 4]
        name = f"aisp/clause-{n}/facet"
        journal.lines.insert(1, journal.plan(name, says="|" * 900).lines.pop())
        journal.verdict(name, verdict, f"{n} " + "<" * 900)
        journal.add(type="fault", where="x" * 900, what="@" * 900)
    text = written(journal.footer().read(), "markdown")
    assert len(text.encode()) < MEBIBYTE
    assert text.count("are left out here to keep this page under 1 MiB") == 6


def test_markdown_order(mixed, written):
    """The headline comes first, then counts, findings, gaps and the clauses."""
    text = written(mixed, "markdown")
    assert text.startswith("# The gateway breaks 1 of 5 obligations.\n")
    titles = re.findall(r"(?m)^## (.*)", text)
    assert titles == [
        "What is broken",
        "What the answers do not tell",
        "What could not be checked",
        "Open questions of the document",
        "Known variations, waived",
        "What does not apply",
        "Harness faults",
        "Every clause",
    ]
    assert text.index("| Verdict |") < text.index("## What is broken")


def test_unblock(mixed, written):
    """What could not be checked comes with what would unblock it."""
    for name in ("html", "markdown", "text"):
        words = "give the target a clock that the harness can move"
        assert words in written(mixed, name)
