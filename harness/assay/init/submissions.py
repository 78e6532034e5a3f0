"""A call that executes what another call announced, such as a payment after its consent.

Whether customers sign the first one, a document says in prose only: the draft names both calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from assay.binding.submission import SUBMISSION
from assay.contract.model import Operation
from assay.init.openapi_operations import OpenApiOperation
from assay.init.openapi_schemas import SchemaLeaf
from assay.init.yaml_writer import YamlEntry, flow, gap

__all__ = ["submission"]

#: The least share of the parts of a body that its announcement has, too.
_SHARED = 0.6


def submission(
    operation: Operation, offered: OpenApiOperation, offers: Sequence[OpenApiOperation]
) -> Iterator[YamlEntry]:
    """Yield a comment that names the call whose answer has an id that a new request requires."""
    if not operation.makes or offered.method != "POST":
        return
    for leaf in offered.request:
        if not leaf.required or leaf.words[-1:] != ("id",) or len(leaf.words) == 1:
            continue
        alike = sorted(
            ((_likeness(offer, offered, leaf), offer) for offer in offers), key=itemgetter(0)
        )
        share, first = alike[-1]
        if share >= _SHARED and [each for each, _ in alike].count(share) == 1:
            yield _comment(operation, first, offered, leaf)
            return


def _likeness(first: OpenApiOperation, second: OpenApiOperation, leaf: SchemaLeaf) -> float:
    """Return how much of a body a call has that answers the id in it; 0 for any other call."""
    own = {each.steps for each in first.request}
    theirs = {each.steps for each in second.request}
    answered = any(each.steps == leaf.steps for each in first.answer)
    announces = first.method == "POST" and answered and leaf.steps not in own
    return len(own & theirs) / len(theirs) if announces else 0.0


def _comment(
    operation: Operation, first: OpenApiOperation, second: OpenApiOperation, leaf: SchemaLeaf
) -> YamlEntry:
    output = "-".join(leaf.words)
    body: Mapping[str, Any] | str = f"{{{output}}}"
    for step in reversed(leaf.steps):
        body = {step: body}
    what = (
        f"POST {second.path} requires {'.'.join(leaf.steps)}, which POST {first.path} returns. If"
        f" customers sign that one, write `path: {first.path}` and `outputs: {{{output}:"
        f" {leaf.pointer}}}`, and submit it"
    )
    example = flow({"path": second.path, "template": body})
    return gap("operations", operation.id, SUBMISSION, what=what, example=example)
