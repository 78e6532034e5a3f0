"""The terminal summary is bounded and reads the same with and without colour."""

import re
from io import StringIO

from rich.console import Console

from assay.report import terminal as text_view
from assay.report.wording import closing


def test_text_bounded(journal, written):
    """A terminal gets twenty cards and the number of the others."""
    text = written(journal.findings(25), "text")
    assert text.count("✗ aisp/") == 20
    assert "and 5 more violates" in text


def test_text_last_line(mixed, written):
    """The account of all that was planned is the last line."""
    assert closing(mixed) == written(mixed, "text").splitlines()[-1]


def test_text_on_console(mixed, written):
    """A Rich console gets the same words, coloured, in lines of its width."""
    out = StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard", width=80)
    text_view.show(mixed, console)
    assert "\x1b[1;31m" in out.getvalue()
    shown = re.sub(r"\x1b\[[\d;]*m", "", out.getvalue())
    assert written(mixed, "text").split() == shown.split()
    long = [line for line in shown.splitlines() if len(line) > 80]
    assert all(line.lstrip().startswith(text_view.COPIED) for line in long)


def test_text_is_broken_between_words():
    """With the indentation of its text; never a command to copy, nor a word."""
    line = text_view.Styled("    seen       " + "word " * 20 + "x" * 90, "", text_view.LABEL)
    first, *others = text_view.wrapped(line, 80)
    assert first == "    seen       " + " ".join(["word"] * 13)
    assert all(each.startswith(" " * text_view.LABEL) for each in others)
    assert others[-1].strip() == "x" * 90
    command = text_view.Styled("    reproduce  " + "word " * 40, "", None)
    assert [command.text] == text_view.wrapped(command, 80)


def test_text_markup(journal):
    """Text of a target is never read as Rich markup."""
    out = StringIO()
    journal.plan().verdict(verdict="unverified", reason="[bold]needs[/bold] [/]")
    text_view.show(journal.footer().read(), Console(file=out, width=200))
    assert "[bold]needs[/bold] [/]" in out.getvalue()
