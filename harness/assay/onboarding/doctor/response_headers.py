"""Checks of the headers of answers in which the target file finds a key, a link or an output.

Another header with a similar name shows that the name is misspelt. Otherwise it is in doubt
whether the bank leaves the header out; a header with links that the TPP follows is optional.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.binding.features import BINDING_FEATURES
from assay.onboarding.doctor.context import Finding
from assay.onboarding.doctor.pointer_probe import AnsweredOperation, differs_in_spelling

__all__ = ["examine"]


def examine(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine every header that the binding of an operation reads."""
    binding, operation = seen.binding, seen.operation
    if operation.makes and binding.item.key_header:
        yield from _header(seen, "key", binding.item.key_header)
    if operation.makes and binding.approval_header:
        yield from _header(seen, "approval", binding.approval_header)
    for name, output in binding.outputs.items():
        if output.header:
            yield from _header(seen, "output", output.header, name)
    for header in binding.link_headers:
        yield from (finding for finding in _header(seen, "links", header) if finding.hint)


def _header(
    seen: AnsweredOperation, feature: str, header: str, name: str = ""
) -> Iterator[Finding]:
    """Report a header that no answer has."""
    names = [each for answer in seen.answers for each, _ in answer.exchange.wire.headers]
    if any(each.lower() == header.lower() for each in names):
        return
    wanted = f"/{header.lower()}"
    similar = next((each for each in names if differs_in_spelling(f"/{each.lower()}", wanted)), "")
    hint = f"did you mean {similar}?" if similar else ""
    expected = f"{BINDING_FEATURES[feature].title} in a header"
    found = f"no header {header}"
    yield seen.context.finding(seen.place(feature, name), expected, found, hint)
