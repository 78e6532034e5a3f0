"""Values of answers that later calls send in a header, such as the id of a consent.

Guessed where a contract has an operation that makes a resource: its answer has an identifier,
and other operations take a header of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.contract.model import Contract
from assay.onboarding.init.openapi_schemas import words
from assay.onboarding.init.operation_matching import OperationMatch

__all__ = ["SentOutputs", "sent_outputs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentOutputs:
    """The outputs of operations, and the headers in which others send them, by operation."""

    outputs: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    @property
    def names(self) -> frozenset[str]:
        """The headers that carry an output, in lower case."""
        return frozenset(name.lower() for sent in self.headers.values() for name in sent)


def sent_outputs(contract: Contract, found: Mapping[str, OperationMatch]) -> SentOutputs:
    """Return the identifiers of what operations make that others take in a header."""
    outputs: dict[str, dict[str, str]] = {}
    headers: dict[str, dict[str, str]] = {}
    for name, match in found.items():
        if not contract.operations[name].makes:
            continue
        members = [leaf for leaf in match.offered.answer if len(leaf.steps) == 1]
        for leaf in members:
            taking = {
                other: header
                for other, each in found.items()
                for header, parameter in each.offered.named("header").items()
                if (parameter.required or contract.operations[other].lists)
                and other != name
                and words(header) == leaf.words
                and leaf.words[-1:] == ("id",)
            }
            output = "-".join(leaf.words)
            for other, header in taking.items():
                outputs.setdefault(name, {})[output] = leaf.pointer
                headers.setdefault(other, {})[header] = f"{{{output}}}"
    return SentOutputs(outputs=outputs, headers=headers)
