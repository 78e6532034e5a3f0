"""Parser for the forms of an HTML page: fields, choices and buttons.

Pages come from an untrusted source and may contain anything; nothing in them is
executed or followed. A page is parsed once, and only as far as the limits allow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from html.parser import HTMLParser
from typing import TypeAlias

from assay.history import Wire

#: Inputs that are sent with their own value, whatever is filled in.
CARRIED = frozenset({"hidden", "text", "password", "tel", "number", "email", "search", ""})
#: What the browser completes in a field for a code.
ONE_TIME = "one-time-code"
#: Inputs of which one value is chosen.
PICKED = frozenset({"radio", "checkbox", "submit", "button"})
#: Elements through which a browser may leave the page, by itself or by a click.
LEADING_ON = frozenset(
    {"a", "area", "form", "button", "script", "iframe", "frame", "object", "embed"}
)
#: Elements whose text is not shown.
HIDDEN = frozenset({"script", "style", "template", "noscript"})
#: The most fields read of a form, values of a field, and forms of a page.
MOST = 200
#: The most that is read of a page, in bytes, and its tags and texts, by number.
LARGEST_PAGE, MOST_PARTS = 1024 * 1024, 50_000
#: The longest tag, in characters, in which each long value counts as a short mark.
LONGEST_TAG, USUAL_TAG = 64 * 1024, 1024
LONG_VALUE = re.compile(r"""(["'])([^"'<>]{4096,})\1""")
MARK = re.compile("\0([0-9]{1,6})\0")

#: The address of a link, or what a button sends, and the texts that it shows.
Link: TypeAlias = tuple[str, list[str]]
Button: TypeAlias = tuple["Form", Mapping[str, str], list[str]]

#: What a page, or a header, says of the page that follows within a second.
_REFRESH = re.compile(r"\s*[01](?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?(\S+)\s*", re.IGNORECASE)


@dataclass(slots=True, kw_only=True)
class Form:
    """One form: its target, the values it sends, and the values that can be chosen.

    `kinds` are the types of the fields that have a value of their own.
    """

    action: str = ""
    method: str = "get"
    carried: dict[str, str] = field(default_factory=dict[str, str])
    choices: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    kinds: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def names(self) -> frozenset[str]:
        """The names of all fields."""
        return frozenset(self.carried) | frozenset(self.choices)


class _TooMuchError(Exception):
    """The page has more parts than are read."""


class _Reader(HTMLParser):
    """Collects forms, and whether anything leads on; a field outside any form is ignored."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.leads_on = False
        self.refresh = ""
        self.texts: list[str] = []
        self.links: list[Link] = []
        self.buttons: list[Button] = []
        self._link: list[str] = []
        self._hidden = ""
        self._parts = 0
        self._long_values: list[str] = []
        self._form: Form | None = None
        self._select = ""
        self._textual: list[str] | None = None

    def feed(self, data: str) -> None:
        """Read a page."""
        super().feed(LONG_VALUE.sub(self._marked, data))

    def _marked(self, value: re.Match[str]) -> str:
        """Return a mark in place of a long value, such as an image or the state of a page."""
        self._long_values.append(value[2])
        return f'"\0{len(self._long_values) - 1}\0"'

    def _whole(self, value: str | None) -> str:
        """Return the value of an attribute, long or not."""
        mark = MARK.fullmatch(value or "")
        if mark and int(mark[1]) < len(self._long_values):
            return unescape(self._long_values[int(mark[1])])
        return value or ""

    def updatepos(self, i: int, j: int) -> int:
        """Count parts instead of lines: positions are not used."""
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise _TooMuchError
        return j

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Treat unknown declarations as comments, as browsers do."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i)

    def parse_starttag(self, i: int) -> int:
        """Parse a tag up to the longest length: the parser needs 300 bytes for each character."""
        page, end = self.rawdata, -1
        for length in (USUAL_TAG, LONGEST_TAG):
            self.rawdata = page[i : i + length]
            try:
                end = super().parse_starttag(0)
            finally:
                self.rawdata = page
            if end >= 0:
                return i + end
        return end

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: self._whole(value) for name, value in attrs}
        self._textual, self._hidden = None, tag if tag in HIDDEN else ""
        refreshes = tag == "meta" and given.get("http-equiv", "").lower() == "refresh"
        if refreshes:
            self.refresh = self.refresh or at_once(given.get("content", ""))
        acts = any(name.startswith("on") for name in given)
        self.leads_on = self.leads_on or tag in LEADING_ON or refreshes or acts
        if tag == "a" and "href" in given and len(self.links) < MOST:
            self._link = []
            self.links.append((given["href"], self._link))
        if tag == "form" and len(self.forms) < MOST:
            self._form = Form(
                action=given.get("action", ""), method=given.get("method", "get").lower()
            )
            self.forms.append(self._form)
        elif self._form is not None and len(self._form.names) < MOST:
            self._field(self._form, tag, given)
            if tag == "button" and len(self.buttons) < MOST:
                self._link = []
                sent = {given["name"]: given.get("value", "")} if given.get("name") else {}
                self.buttons.append((self._form, sent, self._link))

    def _field(self, form: Form, tag: str, given: Mapping[str, str]) -> None:
        name, value = given.get("name", ""), given.get("value", "")
        kind = given.get("type", "submit" if tag == "button" else "").lower()
        if tag == "select":
            self._select = name
        elif tag == "option" and self._select:
            values = _add_choice(form, self._select, value)
            self._textual = values if "value" not in given else None
        elif not name or tag not in {"input", "button", "textarea"}:
            return
        elif kind in PICKED:
            _add_choice(form, name, value or "on")
        elif kind in CARRIED or tag == "textarea":
            form.carried.setdefault(name, value)
            form.kinds.setdefault(name, ONE_TIME if given.get("autocomplete") == ONE_TIME else kind)

    def handle_data(self, data: str) -> None:
        """Keep what is shown; the text of an option is its value where it has no other."""
        if not self._hidden:
            self.texts.append(data)
            self._link.append(data)
        if self._textual:
            self._textual[-1] = " ".join(f"{self._textual[-1]}{data[:MOST]}".split())[:MOST]

    def page(self, *, complete: bool) -> HtmlPage:
        """Return what was read; texts that follow each other are one, as a browser shows them."""
        return HtmlPage(
            forms=self.forms,
            links=self.links,
            buttons=self.buttons,
            leads_on=self.leads_on,
            refresh=self.refresh,
            complete=complete,
            text=" ".join(self.texts),
        )

    def handle_endtag(self, tag: str) -> None:
        self._textual, self._hidden = None, ""
        if tag in {"a", "button"}:
            self._link = []
        elif tag == "form":
            self._form = None
        elif tag == "select":
            self._select = ""


def _add_choice(form: Form, name: str, value: str) -> list[str] | None:
    """Add a value that can be chosen and return all of them; None when the limit is reached."""
    values = form.choices.setdefault(name, [])
    if len(values) >= MOST:
        return None
    values.append(value)
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlPage:
    """What a page shows; `complete` says that all of it was read.

    `refresh` is the address that a browser opens at once in its place.
    """

    forms: list[Form]
    links: list[Link]
    buttons: list[Button]
    leads_on: bool
    complete: bool
    refresh: str = ""
    text: str = ""


@lru_cache(maxsize=1)
def read_page(body: bytes) -> HtmlPage:
    """Read a page; any content is accepted."""
    reader = _Reader()
    with suppress(_TooMuchError):
        reader.feed(body[:LARGEST_PAGE].decode("utf-8", "replace"))
        complete = len(body) <= LARGEST_PAGE and len(reader.rawdata) < LONGEST_TAG
        return reader.page(complete=complete)
    return reader.page(complete=False)


def forms(body: bytes) -> list[Form]:
    """Return the forms of a page."""
    return read_page(body).forms


def at_once(refresh: str) -> str:
    """Return the address to which a page leads on by itself within a second; empty for another."""
    found = _REFRESH.fullmatch(refresh)
    return found[1].strip("'\"") if found else ""


def same_words(text: str) -> str:
    """Return a text without regard to case and spaces."""
    return " ".join(text.casefold().split())


def link(body: bytes, text: str) -> str | None:
    """Return the address of the first link of a page that shows a text."""
    links, words = read_page(body).links, same_words(text)
    return next((href for href, shown in links if words in same_words(" ".join(shown))), None)


def pressed(body: bytes, text: str) -> tuple[Form, Mapping[str, str]] | None:
    """Return the form of the first button of a page that shows a text, and what it then sends."""
    words = same_words(text)
    for form, sent, shown in read_page(body).buttons:
        if words in same_words(" ".join(shown)):
            return form, {**form.carried, **sent}
    return None


def stuck(page: Wire) -> bool:
    """Whether a page was shown from which, judged by its content alone, nothing leads on."""
    if (
        not page.body
        or page.truncated
        or any(name.lower() == "refresh" for name, _ in page.headers)
    ):
        return False
    content = read_page(page.body)
    return content.complete and not content.leads_on
