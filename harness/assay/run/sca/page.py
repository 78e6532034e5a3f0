"""The forms of an HTML page, read as a browser would send them.

Only what signing takes: fields, choices, buttons. The page is a stranger's and may be
anything; nothing in it is executed or followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

#: Inputs that are sent with the value they have, whoever fills in the form.
CARRIED = frozenset({"hidden", "text", "password", "tel", "number", "email", "search", ""})
#: Inputs of which one value is picked.
PICKED = frozenset({"radio", "checkbox", "submit", "button"})
#: So many fields of a form are read, and so many forms of a page.
MOST = 200


@dataclass(slots=True, kw_only=True)
class Form:
    """One form: where it goes, what it carries, and the values that can be picked."""

    action: str = ""
    method: str = "get"
    carried: dict[str, str] = field(default_factory=dict[str, str])
    choices: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @property
    def names(self) -> frozenset[str]:
        """The names of all its fields."""
        return frozenset(self.carried) | frozenset(self.choices)


class _Reader(HTMLParser):
    """Collects forms; what stands outside of any form is no field."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._form: Form | None = None
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
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
            form.choices.setdefault(self._select, []).append(value)
        elif not name or tag not in {"input", "button", "textarea"}:
            return
        elif kind in PICKED:
            form.choices.setdefault(name, []).append(value or "on")
        elif kind in CARRIED or tag == "textarea":
            form.carried.setdefault(name, value)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        elif tag == "select":
            self._select = ""


def forms(body: bytes) -> list[Form]:
    """Return the forms of a page, whatever it is."""
    reader = _Reader()
    reader.feed(body.decode("utf-8", "replace"))
    return reader.forms
