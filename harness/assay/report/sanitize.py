"""Sanitizing of hostile text: visible control characters, bounded sizes, escaped syntax.

Every text that a target sent is hostile, and so is every text that quotes it. `visible`
and `bounded` are applied once, where a journal is read; the other functions escape for one
format each. Secrets are redacted earlier, before the journal is written.
"""

from __future__ import annotations

import re

from assay.journal.lines import Line

#: The greatest length of each kind of text in a report, in characters.
SENTENCE = 2_000
BODY = 4_096
HEADER_VALUE = 512
HEADERS = 40

# C0 (except tab and newline), DEL and C1; line separators; direction and zero-width marks,
# which disguise text; lone surrogates; the byte-order mark, noncharacters and invisible tag
# characters.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
_MARKDOWN = re.compile(r"([\\`*_\[\]|~$])")
_SPACE = re.compile(r"\s+")
# What Markdown readers turn into links and mentions without any markup.
_LINKISH = re.compile(r"(?<=[@#])(?=\w)|(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)


def visible(text: str) -> str:
    r"""Show characters that a terminal, browser or parser would act on as `\x1b`."""
    return _CONTROL.sub(_spell, text.replace("\r\n", "\n"))


def _spell(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def bounded(text: str, limit: int) -> str:
    """Cut `text` to `limit` characters, and say how many were left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit:,} more characters left out)"


def clean(text: str, limit: int = SENTENCE) -> str:
    """Return `text` bounded, with control characters made visible.

    It is cut before it is searched, so that a text of many megabytes costs little, and
    once more afterwards, because a visible character is longer.
    """
    return bounded(visible(bounded(text, limit)), 2 * limit)


def header_name(text: str) -> str:
    """Clean a method or header name: short, one word."""
    return one_line(clean(text, 100))


def one_line(text: str) -> str:
    """Return `text` with every run of white space as one space."""
    return _SPACE.sub(" ", text).strip()


def markdown(text: str) -> str:
    """Escape `text` for one line of Markdown, table cells too; no link, no mention."""
    safe = one_line(visible(text)).replace("&", "&amp;")
    safe = _LINKISH.sub("\0", safe).replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", safe).replace("\0", "<!-- -->")


def code(text: str) -> str:
    """Return `text` as a Markdown code span that nothing in it can close.

    In a table a bar would still end the cell, so it is written as a broken bar.
    """
    inner = one_line(visible(text)).replace("|", "¦")
    fence = "`" * (_longest_run(inner) + 1)
    pad = " " if inner.startswith("`") or inner.endswith("`") else ""
    return f"{fence}{pad}{inner}{pad}{fence}" if inner else ""


def fenced(text: str, language: str = "text") -> str:
    """Return `text` as a Markdown code block that nothing in it can close."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def css_string(text: str) -> str:
    """Return `text` as a string of CSS in which every sign but letters and digits is escaped."""
    inner = "".join(
        sign if sign.isascii() and sign.isalnum() else f"\\{ord(sign):06x}"
        for sign in visible(text)
    )
    return f'"{inner}"'


def xml(text: str) -> str:
    """Escape `text` for XML content or an attribute; illegal characters are made visible."""
    safe = visible(text).replace("&", "&amp;").replace("<", "&lt;")
    return safe.replace(">", "&gt;").replace('"', "&quot;")


def xml_attribute(text: str) -> str:
    """Return `text` as a quoted XML attribute that keeps its line breaks."""
    return '"' + xml(text).replace("\n", "&#10;").replace("\t", "&#9;") + '"'


def shown_text(line: Line, key: str, default: str | None = "", *, limit: int = SENTENCE) -> str:
    """Return a text of a journal's line as one clean line; without a default it must be there."""
    return one_line(clean(line.text(key, default), limit))
