"""Parser for the forms of an HTML page: fields, choices and buttons.

Pages come from an untrusted source and may contain anything; nothing in them is
executed or followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

from assay.history import Wire

#: Inputs that are sent with their own value, whatever is filled in.
CARRIED = frozenset({"hidden", "text", "password", "tel", "number", "email", "search", ""})
#: Inputs of which one value is chosen.
PICKED = frozenset({"radio", "checkbox", "submit", "button"})
#: Elements through which a browser may leave the page, by itself or by a click.
LEADING_ON = frozenset(
    {"a", "area", "form", "button", "script", "iframe", "frame", "object", "embed"}
)
#: The most fields read of a form, values of a field, and forms of a page.
MOST = 200


@dataclass(slots=True, kw_only=True)
class Form:
    """One form: its target, the values it sends, and the values that can be chosen."""

    action: str = ""
    method: str = "get"
    carried: dict[str, str] = field(default_factory=dict[str, str])
    choices: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @property
    def names(self) -> frozenset[str]:
        """The names of all fields."""
        return frozenset(self.carried) | frozenset(self.choices)


class _Lenient(HTMLParser):
    """Treats unknown declarations as comments, as browsers do."""

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i)


class _Reader(_Lenient):
    """Collects forms; a field outside any form is ignored."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._form: Form | None = None
        self._select = ""
        self._textual: list[str] | None = None

    def updatepos(self, i: int, j: int) -> int:
        """Skip counting lines: positions are not used."""
        return j

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._textual = None
        if tag == "form" and len(self.forms) < MOST:
            self._form = Form(
                action=given.get("action", ""), method=given.get("method", "get").lower()
            )
            self.forms.append(self._form)
        elif self._form is not None and len(self._form.names) < MOST:
            self._field(self._form, tag, given)

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

    def handle_data(self, data: str) -> None:
        """Use the text of an option as its value where it has no other."""
        if self._textual:
            self._textual[-1] = " ".join(f"{self._textual[-1]}{data[:MOST]}".split())[:MOST]

    def handle_endtag(self, tag: str) -> None:
        self._textual = None
        if tag == "form":
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


def forms(body: bytes) -> list[Form]:
    """Return the forms of a page; any content is accepted."""
    reader = _Reader()
    reader.feed(body.decode("utf-8", "replace"))
    return reader.forms


class _ExitFinder(_Lenient):
    """Looks for any element that can lead to another page."""

    found = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        refreshes = tag == "meta" and given.get("http-equiv", "").lower() == "refresh"
        acts = any(name.startswith("on") for name in given)
        self.found = self.found or tag in LEADING_ON or refreshes or acts


def stuck(page: Wire) -> bool:
    """Whether a page was shown from which, judged by its content alone, nothing leads on."""
    if (
        not page.body
        or page.truncated
        or any(name.lower() == "refresh" for name, _ in page.headers)
    ):
        return False
    reader = _ExitFinder()
    reader.feed(page.body.decode("utf-8", "replace"))
    return not reader.found
