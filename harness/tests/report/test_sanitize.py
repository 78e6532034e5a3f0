"""Cleaning shows what would act and cuts what would flood."""

import pytest
from rows import for_each

from assay.report import sanitize


@for_each(
    ("text", "expected"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb", "a\nb"),
        ("a\rb", r"a\rb"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x00\x7f\x9b", r"\x00\x7f\x9b"),
        ("\u202eabc\u2066", r"\u202eabc\u2066"),
        ("\ud800", r"\ud800"),
        ("\uffff\ufeff", r"\uffff\ufeff"),
        ("\U000e0041", r"\U000e0041"),
        ("é 漢 😀", "é 漢 😀"),
    ],
)
def test_visible(text, expected):
    """Characters that act are spelled out and all others stay."""
    assert expected == sanitize.visible(text)


def test_bounded():
    """A long text is cut and says by how much."""
    assert sanitize.bounded("aaaaa", 2) == "aa… (3 more characters left out)"
    assert sanitize.bounded("aa", 2) == "aa"


def test_clean_is_bounded():
    """Spelling out five million control characters does not make a long text."""
    assert len(sanitize.clean("\x1b" * 5_000_000, 100)) < 300


@for_each(
    ("text", "expected"),
    [
        ("a|b", r"a\|b"),
        ("`x` *y* _z_", r"\`x\` \*y\* \_z\_"),
        ("[a](b)", r"\[a\](b)"),
        ("<b>&", "&lt;b&gt;&amp;"),
        ("one\n# two", "one # two"),
        ("@team #12", "@<!-- -->team #<!-- -->12"),
        ("https://evil", "https:<!-- -->//evil"),
        ("www.evil", "www<!-- -->.evil"),
        ("\x00", r"\\x00"),
    ],
)
def test_markdown(text, expected):
    """Text becomes one line of Markdown that is nothing but text."""
    assert expected == sanitize.markdown(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("a|b", "`a¦b`"), ("", "")],
)
def test_code(text, expected):
    """A code span's fence is longer than anything in it."""
    assert expected == sanitize.code(text)


def test_fenced():
    """A code block's fence is longer than anything in it."""
    assert sanitize.fenced("```") == "````text\n```\n````"


def test_xml():
    """XML text holds neither markup nor an illegal character."""
    assert sanitize.xml('<a b="&">]]>\x00') == r"&lt;a b=&quot;&amp;&quot;&gt;]]&gt;\x00"
    assert sanitize.xml_attribute("a\nb") == '"a&#10;b"'
