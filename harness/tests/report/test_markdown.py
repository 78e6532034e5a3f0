"""The Markdown says what matters first, and always fits."""

import re

import pytest

MEBIBYTE = 1024 * 1024


@pytest.mark.parametrize(
    ("verdict", "noun"), [("violates", "violations"), ("indeterminate", "causes")]
)
def test_markdown_size(journal, verdict, noun, written):
    """Two thousand findings stay under 1 MiB, and what is left out is said."""
    text = written(journal.findings(2_000, verdict), "markdown")
    assert len(text.encode()) < MEBIBYTE
    assert re.search(rf"\*[\d,]+ more {noun} are left out here", text)
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
    assert text.startswith("# The gateway violates 1 of its 5 obligations.\n")
    titles = re.findall(r"(?m)^## (.*)", text)
    assert titles == [
        "Violations",
        "Inconclusive",
        "Not verified",
        "Open points of the source document",
        "Known non-conformities, waived",
        "Not applicable",
        "Harness faults",
        "All clauses",
    ]
    assert text.index("| Verdict |") < text.index("## Violations")


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        (
            "needs 4 more calls; 0 of 4 left (budget.calls)",
            "or run again when the budget is renewed",
        ),
        (
            "needs a person who signs (it could not be done)",
            "run again with a person present to sign",
        ),
    ],
)
def test_advice(journal, written, reason, advice):
    """A reason that names no key of the target file comes with what to do about it."""
    report = journal.plan().verdict(verdict="unverified", reason=reason).footer().read()
    for name in ("html", "markdown", "text"):
        assert advice in written(report, name)


def test_no_advice(journal, written):
    """A reason that names the key to set needs no other advice."""
    reason = "needs a clock that can be moved (add clock to fixtures.offers in the target file)"
    report = journal.plan().verdict(verdict="unverified", reason=reason).footer().read()
    for name in ("html", "markdown", "text"):
        assert "add clock to fixtures.offers in the target file" in written(report, name)
        assert "what to do" not in written(report, name).lower()


def test_markdown_is_cut_at_the_end(journal, written):
    """Where every section and the head are as large as can be, the end is cut, and it is said."""
    text = "@\U00020000" * 300
    contracts = [{"id": f"{text}{n}", "title": text, "version": text} for n in range(10)]
    target = {"name": text, "base_url": text}
    journal.lines[0] = journal.lines[0] | {
        "contracts": [*journal.lines[0]["contracts"], *contracts],
        "target": target,
        "tool": text,
        "version": text,
    }
    verdicts = ("unverified", "unspecified", "waived", "not-applicable", "indeterminate")
    for n in range(500):
        verdict = (*verdicts, *["violates"] * 5)[n % 10]
        name = f"aisp/clause-{n}/facet"
        journal.lines.insert(1, journal.plan(name, says="<" * 900).lines.pop())
        evidence = {"agreement": "unclear", "expected": text, "seen": text, "exchanges": []}
        asked = verdict in {"violates", "indeterminate"}
        journal.verdict(name, verdict, f"{n} {text}", evidence=[evidence] * 3 if asked else [])
        journal.add(type="fault", where=text, what=text)
    for n in range(3):
        journal.add(type="unfinished", trial=f"t{n}", reason=f"{n}{text}")
    journal.search(*(f"{n}{text}" for n in range(100)))
    page = written(journal.footer().read(), "markdown")
    assert len(page.encode()) < MEBIBYTE
    assert page.endswith(
        "*The end of this page is left out to keep it under 1 MiB; the JSON report has it.*\n"
    )
