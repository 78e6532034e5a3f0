"""The sentences of a report never claim more than was observed."""

from assay.report.wording import caveats, closing, headline, shared_reasons


def test_headline_of_all_kept(journal):
    """A run in which everything conforms says so, and counts."""
    journal.plan().plan("aisp/b/two").verdict().verdict("aisp/b/two")
    assert headline(journal.footer().read()) == "The gateway meets all 2 obligations."


def test_headline_of_broken(mixed):
    """A violated obligation comes first."""
    assert headline(mixed) == "The gateway violates 1 of its 5 obligations."


def test_headline_of_incomplete(journal):
    """What was not tested is never counted as met."""
    journal.plan().plan("aisp/b/two").verdict()
    journal.verdict("aisp/b/two", "unverified", "needs clock")
    report = journal.footer().read()
    assert headline(report) == "The gateway meets 1 of 2 obligations; no violation was found."
    assert caveats(report) == ("1 obligation could not be verified.",)


def test_headline_of_unfinished(journal):
    """An unfinished run never claims that all obligations are met."""
    journal.plan().verdict()
    report = journal.footer(aborted="interrupted").read(partial=True)
    assert "no violation was found" in headline(report)
    assert "(interrupted): this report is incomplete." in caveats(report)[0]


def test_selection(journal):
    """A run of a selection says that it was one."""
    journal.lines[0] = {**journal.lines[0], "selection": {"k": "quota", "m": ""}}
    report = journal.plan().verdict().footer().read()
    assert "Only selected obligations were tested." in caveats(report)


def test_closing(mixed):
    """The closing line accounts for everything planned."""
    assert closing(mixed) == (
        "7 planned: 1 conform, 1 violate, 1 indeterminate, 1 unverified,"
        " 1 unspecified, 1 not applicable, 1 waived in 2.1 s, 2 exchanges,"
        " 1 harness fault"
    )


def test_reasons_that_differ_in_the_time_to_wait_are_one() -> None:
    """A single one keeps its time; other reasons, and other differences, stay apart."""
    short, long = (
        f"needs a clock, or waiting: --wait {time} (this trial)" for time in ("4h", "9d")
    )
    other = "needs a zone, or waiting: --wait 4h (this trial)"
    both = "needs a clock, or waiting: --wait (`assay plan` shows how long)"
    assert {short: both, long: both, other: other} == shared_reasons([short, long, other, short])
    assert {short: short} == shared_reasons([short, short])
