"""Table of the binding features that a facet can require: is it bound, and at which key.

A rule kind names a feature and an operation (`rules.rule.BindingRequirement`), and knows no
target file. This table says whether a target binds the feature, and which key of the target
file would bind it: for planning, for reasons in reports, and for `assay doctor`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from assay.binding.spelling import OperationBinding
from assay.binding.target import ScaKind, Target
from assay.contract.model import Contract, Operation
from assay.judging.verdict import Standing
from assay.rules.rule import BindingRequirement

#: Whether a binding has a feature, by the name that a requirement has (may be empty).
_IsBound: TypeAlias = Callable[[OperationBinding, Operation, str], bool]

#: What stands in a key for the name of the requirement.
_NAME: Final = "<name>"


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingFeature:
    """One feature: the key that binds it, below the operation, and whether a binding has it."""

    key: tuple[str, ...]
    is_bound: _IsBound

    def place(self, operation: str, name: str = "") -> tuple[str, ...]:
        """Return the whole key for an operation, with the name of what is bound there."""
        below = (name if step == _NAME else step for step in self.key)
        return ("operations", operation, *below)


def _is_argument_bound(binding: OperationBinding, operation: Operation, name: str) -> bool:
    return name in binding.arguments or f"{{{name}}}" in (binding.path or operation.path)


def _has_second_value(binding: OperationBinding, _: Operation, name: str) -> bool:
    return name in binding.arguments and binding.arguments[name].other is not None


#: Every feature that a requirement can name.
BINDING_FEATURES: Final[Mapping[str, BindingFeature]] = {
    "key": BindingFeature(
        key=("item", "key"),
        is_bound=lambda binding, _, __: binding.item.keyed,
    ),
    "on": BindingFeature(
        key=("item", "on"),
        is_bound=lambda binding, _, __: bool(binding.item.on),
    ),
    "field": BindingFeature(
        key=("item", "fields", _NAME),
        is_bound=lambda binding, _, name: name in binding.item.fields,
    ),
    "state": BindingFeature(
        key=("item", "state"),
        is_bound=lambda binding, _, __: binding.item.state is not None,
    ),
    "links": BindingFeature(
        key=("links",),
        is_bound=lambda binding, _, __: bool(binding.links or binding.next),
    ),
    "approval": BindingFeature(
        key=("approval",),
        is_bound=lambda binding, _, __: binding.approval is not None,
    ),
    "value": BindingFeature(
        key=("values", _NAME),
        is_bound=lambda binding, _, name: name in binding.values,
    ),
    "argument": BindingFeature(key=("arguments", _NAME), is_bound=_is_argument_bound),
    "other": BindingFeature(key=("arguments", _NAME, "other"), is_bound=_has_second_value),
    "mode": BindingFeature(
        key=("modes", _NAME),
        is_bound=lambda binding, _, name: name in binding.modes,
    ),
    "credentials": BindingFeature(
        key=("credentials",),
        is_bound=lambda binding, _, __: binding.credentials is not None,
    ),
    "aliases": BindingFeature(
        key=("aliases",),
        is_bound=lambda binding, _, __: binding.aliases != (),
    ),
}


def is_bound(requirement: BindingRequirement, contract: Contract, target: Target) -> bool:
    """Whether a target binds what a facet requires."""
    if requirement.feature == "approval" and target.sca.kind is ScaKind.CONTROL:
        return True  # a signer without screens needs no link to them
    binding = target.operations.get(requirement.operation, OperationBinding())
    operation = contract.operations[requirement.operation]
    return BINDING_FEATURES[requirement.feature].is_bound(binding, operation, requirement.name)


def missing_reason(requirement: BindingRequirement) -> str:
    """Return why an obligation is not tested on a target that does not bind a requirement."""
    feature = BINDING_FEATURES[requirement.feature]
    key = ".".join(feature.place(requirement.operation, requirement.name))
    if requirement.if_missing is Standing.NOT_APPLICABLE:
        return f"the target has none (no {key} in the target file)"
    return f"needs {key} in the target file"
