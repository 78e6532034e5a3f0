"""Modes of requests that a document has in a path, as values of a path parameter.

Only values with the very name of a mode count: what another value means, a document does not
say. A request is read, changed and cancelled under the path under which it was made.
"""

from __future__ import annotations

from assay.contract.model import Contract, Operation
from assay.onboarding.init.openapi_operations import OpenApiOperation
from assay.onboarding.init.openapi_schemas import words


def mode_slots(
    contract: Contract, operation: Operation, offered: OpenApiOperation
) -> frozenset[str]:
    """Return the path parameters of an operation with a value that is a mode of its request."""
    requests = {operation.makes, operation.request} - {None}
    modes = {
        words(mode)
        for maker in contract.operations.values()
        if maker.makes in requests
        for mode in maker.modes
    }
    return frozenset(
        name
        for name, parameter in offered.named("path").items()
        if parameter.leaf.fixed and modes & set(map(words, parameter.leaf.values))
    )
