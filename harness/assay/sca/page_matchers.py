"""Recognition of a page of the signing screens by what the target file says of it.

A bank shows a customer whom it disconnected a page of its own, often with the status 200. Only the
target file can say how to recognise it: by its status, a text that it shows, or its address.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.binding.target import PageMatcher
from assay.history import Wire
from assay.sca.html_forms import read_page, same_words

__all__ = ["matches"]


def matches(matchers: Iterable[PageMatcher], page: Wire, redirected: str | None) -> bool:
    """Whether a page is one of those; its address may be one to which it only redirects."""
    return any(_matches(matcher, page, redirected) for matcher in matchers)


def _matches(matcher: PageMatcher, page: Wire, redirected: str | None) -> bool:
    status = str(page.status)
    if matcher.statuses and not any(
        status == code or (code.endswith("xx") and status[0] == code[0])
        for code in matcher.statuses
    ):
        return False
    if matcher.url and not any(matcher.url in url for url in (page.url, redirected or "")):
        return False
    return same_words(matcher.text) in same_words(read_page(page.body).text if matcher.text else "")
