"""Presentation of items and their failures in the reports of pytest, JUnit, pytest-html and Allure.

pytest shows the card of a violation instead of source code, and JUnit has it from there. Allure and
pytest-html get what they have a place for, if they are installed and in use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from assay.contract.model import Contract, Level
from assay.rules.obligation import Obligation

if TYPE_CHECKING:
    from assay.pytest_plugin.cards import Failure

#: The names under which the plugins of Allure and pytest-html are registered while in use.
ALLURE, HTML = "allure_listener", "html"
#: The title of an item in Allure: the name of its parameter is replaced.
_TITLE = "{obligation}"
_URL = re.compile(r"https?://[^\s,;]+")


@dataclass(frozen=True, slots=True)
class FailureLine:
    """Place and line of a failure, with the names that pytest reads."""

    path: str
    lineno: int
    message: str


@dataclass(frozen=True, slots=True)
class FailureText:
    """The text of a failure that no item raised, and its line."""

    text: str
    reprcrash: FailureLine

    def __str__(self) -> str:
        """Return the text."""
        return self.text


# -- items ---------------------------------------------------------------------------
def allure_marks(
    config: pytest.Config, function: Callable[..., object], contract: Contract
) -> Callable[[Obligation], Sequence[pytest.MarkDecorator]]:
    """Return a function to the marks from which Allure takes title, groups and links of an item."""
    if not config.pluginmanager.has_plugin(ALLURE):
        return lambda _: ()
    allure: Any = import_module("allure")
    allure.title(_TITLE)(function)
    levels = allure.severity_level

    def marks(obligation: Obligation) -> Sequence[pytest.MarkDecorator]:
        must = obligation.level is Level.MUST
        urls = _URL.findall(contract.document)
        return [
            allure.feature(contract.title or contract.id),
            allure.story(obligation.clause),
            allure.severity(levels.CRITICAL if must else levels.MINOR),
            allure.description(_description(obligation, contract)),
            *(allure.link(url, name=contract.document) for url in urls),
        ]

    return marks


def _description(obligation: Obligation, contract: Contract) -> str:
    """Return what an obligation says, and where the document says it."""
    quotes = [
        f"{source}: “{source.text}”" if source.text else str(source)
        for source in obligation.sources
    ]
    lines = [obligation.statement, obligation.description, contract.document, *quotes]
    return "\n\n".join(filter(None, lines))


# -- failures ------------------------------------------------------------------------
def attach(config: pytest.Config, failure: Failure) -> None:
    """Attach the card of a failure and its exchanges to the item that runs, if Allure is in use."""
    if not config.pluginmanager.has_plugin(ALLURE):
        return
    allure: Any = import_module("allure")
    text = allure.attachment_type.TEXT
    allure.attach(failure.text, name="card", attachment_type=text)
    for title, exchange in failure.exchanges():
        allure.attach(exchange, name=title, attachment_type=text)


def present(
    config: pytest.Config,
    report: pytest.TestReport,
    call: pytest.CallInfo[None],
    failure: Failure,
) -> None:
    """Give the report of a failed item the line of its failure, and pytest-html the exchanges."""
    if call.excinfo is not None and isinstance(call.excinfo.value, pytest.fail.Exception):
        call.excinfo.value.msg = failure.summary  # the text is in the report; Allure wants both
    line: Any = getattr(report.longrepr, "reprcrash", None)
    if line is not None:
        line.path, line.lineno, line.message = (
            failure.path,
            failure.card.planned.line,
            failure.summary,
        )
    if config.pluginmanager.has_plugin(HTML) or hasattr(config, "workerinput"):
        extras: list[dict[str, object]] = [
            {
                "name": title,
                "format_type": "text",
                "content": text,
                "mime_type": "text/plain",
                "extension": "txt",
            }
            for title, text in failure.exchanges()
        ]
        vars(report)["extras"] = [*getattr(report, "extras", []), *extras]


def summary_of(report: pytest.TestReport) -> str:
    """Return the line of a failed report that says what is wrong."""
    return str(getattr(getattr(report.longrepr, "reprcrash", None), "message", ""))
