"""Table of the binding features: every key with which a target file binds an operation.

A row is all that is said of a feature: its key, what a rule kind that requires it asks
(`rules.rule.BindingRequirement`), what the OpenAPI export calls what its pointers find, and why
`assay init` does not guess it, `assay doctor` does not examine it, or the export does not show it.
Without a reason, `init` writes a gap where a rule requires the feature, and each room may have a
function for more under the same name (`init.operation_bindings.GUESSES`,
`doctor.examination.EXAMINED_BY`, `openapi.responses.AROUND` and `ITEM`).
What a feature is called in comments and messages is the `title` of its key in
`contract/schema/target.yaml`, and its value is the field of that name in `OperationBinding`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from assay.binding.model.pointer import element_pointers, find, place_of
from assay.binding.model.security import ISSUING, AuthKind
from assay.binding.model.spelling import ErrorAt, OperationBinding, Turn
from assay.binding.model.target import ScaKind, Target
from assay.contract.model import Capability, Contract, Json, Operation
from assay.files.shape_check import schema
from assay.history import ERROR_CODE, Member
from assay.rules.rule import LINK, NO_BANKS, RETURN, BindingRequirement
from assay.rules.verdict import Standing

#: Whether a binding has a feature, by the name that a requirement has (may be empty).
_IsBound: TypeAlias = Callable[[OperationBinding, Operation, str], bool]

#: A binding in which no key is set.
_UNSET: Final = OperationBinding()
#: What stands in a key for the name of the requirement.
_NAME: Final = "<name>"


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingFeature:
    """One feature: the key that binds it, below the operation.

    `bound_if` says whether a binding has it, where that is not that the key is set. `lacking` is
    why an obligation does not apply, if that is not that nothing has this key. `role` is the word
    of the OpenAPI export for what a pointer of the feature finds, or for each of `several`; it is a
    link if it `leads` somewhere. `not_guessed`,
    `not_examined` and `not_exported` are the reasons why a draft, an examination and an OpenAPI
    document do not have it; empty if they do.
    """

    key: tuple[str, ...]
    bound_if: _IsBound | None = None
    lacking: str = ""
    role: str = ""
    several: bool = False
    leads: bool = False
    not_guessed: str = ""
    not_examined: str = ""
    not_exported: str = ""

    @property
    def section(self) -> tuple[str, ...]:
        """The keys between the operation and that of the feature."""
        return self.key[:-1]

    def is_bound(self, binding: OperationBinding, operation: Operation, name: str) -> bool:
        """Whether a binding has it, by the name that a requirement has (may be empty)."""
        if self.bound_if is not None:
            return self.bound_if(binding, operation, name)
        *above, last = self.key
        if last == _NAME:
            return name in _value(binding, above)
        return bool(_value(binding, self.key) != _value(_UNSET, self.key))

    def pointers(self, binding: OperationBinding, name: str = "") -> tuple[str, ...]:
        """Return the pointers of a feature in answers: the first that finds it, or each."""
        value = _value(binding, self.key, name)
        value = getattr(value, "at", value)
        return (value,) if isinstance(value, str) else tuple(value or ())

    @property
    def title(self) -> str:
        """The noun phrase for what the key binds."""
        return describe(*self.place("")).title

    def place(self, operation: str, name: str = "") -> tuple[str, ...]:
        """Return the whole key for an operation, with the name of what is bound there."""
        below = (name if step == _NAME else step for step in self.key)
        return ("operations", operation, *below)


def _value(value: Any, key: Sequence[str], name: str = "") -> Any:
    for step in key:
        value = value.get(name) if step == _NAME else getattr(value, step)
    return value


def _is_argument_bound(binding: OperationBinding, operation: Operation, name: str) -> bool:
    placed = name in binding.arguments or f"{{{name}}}" in (binding.path or operation.path)
    return placed or binding.unsaid(operation, name)


def _takes_any_key(binding: OperationBinding, operation: Operation, name: str) -> bool:
    spelling = binding.arguments.get(name)
    return _is_argument_bound(binding, operation, name) and not (spelling and spelling.found)


#: Every feature, in the order in which a target file is written.
BINDING_FEATURES: Final[Mapping[str, BindingFeature]] = {
    "method": BindingFeature(key=("method",)),
    "path": BindingFeature(key=("path",)),
    "aliases": BindingFeature(
        key=("aliases",), bound_if=lambda binding, _, __: binding.aliases != ()
    ),
    "headers": BindingFeature(
        key=("headers",),
        not_guessed="guessed for all operations together (`target_file`)",
        not_exported="sent with every call, whatever the contract says",
    ),
    "argument": BindingFeature(key=("arguments", _NAME), bound_if=_is_argument_bound),
    "other": BindingFeature(
        key=("arguments", _NAME, "other"),
        bound_if=lambda binding, _, name: (
            name in binding.arguments and binding.arguments[name].other is not None
        ),
        not_guessed="written with its argument",
    ),
    "unlisted": BindingFeature(
        key=("arguments", _NAME),
        bound_if=_takes_any_key,
        lacking="an item that is not listed has no id of the target, so no call can name it",
        not_guessed="follows from the argument",
        not_examined="an ordinary call names an item that is listed",
    ),
    "mode": BindingFeature(key=("modes", _NAME)),
    "queries": BindingFeature(
        key=("queries",),
        not_examined="a refusal names arguments, which look like values that are always sent",
        not_exported="sent with every call, whatever the contract says",
    ),
    "template": BindingFeature(
        key=("template",),
        not_examined="a refusal names arguments, which look like values that are always sent",
        not_exported="sent with every call, whatever the contract says",
    ),
    "credentials": BindingFeature(
        key=("credentials",),
        not_examined="an ordinary call carries no customer credentials, because banks must refuse those",
        not_exported="no bank may accept them",
    ),
    "outcomes": BindingFeature(
        key=("outcomes",),
        not_guessed="guessed for all operations together, at the top level (`outcomes`)",
    ),
    "list": BindingFeature(
        key=("list",),
        bound_if=lambda binding, _, name: (
            len(binding.list) == 1 and "*" not in binding.list[0] if name else binding.list != ()
        ),
        lacking="several lists of an answer form one, which is in no order (`list`)",
    ),
    "one": BindingFeature(key=("one",)),
    "next": BindingFeature(key=("next",)),
    "approval": BindingFeature(
        key=("approval",),
        bound_if=lambda binding, _, __: bool(
            binding.approval is not None or binding.approval_header
        ),
        lacking="the target's answers have no link to the screens (`approval` in the target file)",
        role="approval",
        leads=True,
    ),
    "given": BindingFeature(
        key=("given",), not_guessed="documents describe the scope of tokens only in prose"
    ),
    "output": BindingFeature(
        key=("outputs", _NAME),
        bound_if=lambda binding, _, name: (
            name in binding.outputs or (bool(binding.outputs) > bool(name))
        ),
        lacking="calls do not identify the consent that they use (no output of the operation that makes it)",
        not_guessed="documents seldom specify which value a later call needs",
        not_exported="used by the harness alone, to fill in requests",
    ),
    "whole": BindingFeature(
        key=("whole",),
        not_examined="a bank may refuse a change for other reasons than its form",
        not_exported="a change that repeats the request has the members of the request",
    ),
    "submission": BindingFeature(
        key=("submission",),
        not_guessed="documents describe only in prose which call customers sign (the draft names both)",
    ),
    "submitted": BindingFeature(key=("submitted",), not_guessed="follows from the submission"),
    "links": BindingFeature(
        key=("links",),
        bound_if=lambda binding, _, __: bool(
            binding.links
            or binding.link_headers
            # A cursor or a page number is no link.
            or (binding.next and binding.next.turn in {Turn.LINK, Turn.HEADER})
        ),
        role="link",
        several=True,
        leads=True,
    ),
    "key": BindingFeature(
        key=("item", "key"), bound_if=lambda binding, _, __: binding.item.keyed, role="key"
    ),
    "id": BindingFeature(
        key=("item", "id"), not_exported="used by the harness alone, to fill in arguments"
    ),
    "on": BindingFeature(key=("item", "on"), role="on"),
    "resource": BindingFeature(key=("item", "resource")),
    "state": BindingFeature(key=("item", "state")),
    "field": BindingFeature(key=("item", "fields", _NAME)),
    "volatile": BindingFeature(key=("item", "volatile"), role="volatile", several=True),
    "value": BindingFeature(key=("values", _NAME)),
}


def is_bound(requirement: BindingRequirement, contract: Contract, target: Target) -> bool:
    """Whether a target binds what a facet requires."""
    if requirement.feature == "approval" and requirement.name == RETURN:
        return not _is_authorized(requirement, target)
    unlinked = requirement.feature == "approval" and _needs_no_link(requirement, target)
    if unlinked or (requirement.feature == "path" and not _has_own_paths(contract, target)):
        return True
    if requirement.feature in {"token", "token-endpoint"}:
        made_by = contract.operations[requirement.operation].by_tpp
        auth = target.auth.of(by_tpp=made_by)
        issued = auth.oauth is not None
        return issued if requirement.feature == "token-endpoint" else auth.kind is not AuthKind.NONE
    if requirement.feature == "error":
        return target.error is not None and requirement.name in target.error.located
    if requirement.feature == "banks":
        return any(requirement.name in {"", *bank.outside} for bank in target.banks)
    binding = target.operations.get(requirement.operation, OperationBinding())
    operation = contract.operations[requirement.operation]
    return BINDING_FEATURES[requirement.feature].is_bound(binding, operation, requirement.name)


def pointer_to(member: Member, body: Json, operation: str, target: Target) -> str:
    """Return the pointer to a member in a body, or to where it should be; "" if nothing says where."""
    binding, error = target.operations.get(operation, OperationBinding()), target.error or ErrorAt()
    base, feature = "", BINDING_FEATURES.get(member.feature)
    if feature is None:
        base = _element(body, error.list, error.one, member.place)
        code = member.name == ERROR_CODE
        pointers = error.code if code else error.fields[member.name].at
    elif member.feature == "links":
        every = *feature.pointers(binding), *BINDING_FEATURES["next"].pointers(binding)
        pointers = tuple(each for each in every if find(body, each) == member.name)
    else:
        pointers = feature.pointers(binding, member.name)
        if feature.section[:1] == ("item",):
            base = _element(body, binding.list, binding.one, member.place)
    # The name of a header is no pointer.
    place = place_of(find(body, base), [each for each in pointers if each[:1] in {"", "/"}])
    return "" if place is None else base + place


def _element(body: Json, every: Sequence[str], one: str | None, place: int) -> str:
    """Return the pointer to an item or an error, in the order of decoding; of none, to a first one."""
    places = [each for pointer in every for each in element_pointers(body, pointer)]
    none = f"{every[0]}/0".replace("/*", "/0") if every else one or ""
    return places[place] if place < len(places) else none


def place_of_items(requirement: BindingRequirement, contract: Contract, target: Target) -> str:
    """Return the key that says where the items are about which something is required, if it lacks."""
    feature = BINDING_FEATURES.get(requirement.feature)
    binding = target.operations.get(requirement.operation)
    if binding is None or feature is None or feature.section[:1] != ("item",):
        return ""
    if binding.list or binding.one is not None:
        return ""
    where = "list" if contract.operations[requirement.operation].lists else "one"
    return f"operations.{requirement.operation}.{where}"


def _needs_no_link(requirement: BindingRequirement, target: Target) -> bool:
    """Whether requests are signed without a link: by a control API, or at an authorization server."""
    unseen = target.sca.kind is ScaKind.CONTROL or _is_authorized(requirement, target)
    return unseen and requirement.name != LINK


def _is_authorized(requirement: BindingRequirement, target: Target) -> bool:
    """Whether the customer authorises what an operation makes at the authorization server."""
    binding = target.operations.get(requirement.operation)
    return binding is not None and binding.authorize is not None


def _has_own_paths(contract: Contract, target: Target) -> bool:
    """Whether a target has paths of its own, so that those of the contract are none of its."""
    bindings = (target.operations.get(name) for name in contract.operations)
    return any(binding is not None and binding.path is not None for binding in bindings)


def without_tpp_token(contract: Contract, target: Target) -> tuple[str, ...]:
    """Return the operations that the TPP calls with a token that nothing in the file provides."""
    auth = target.auth.of(by_tpp=True)
    if auth.kind is AuthKind.NONE or auth.kind in ISSUING or auth.token_env:
        return ()
    if Capability.TPPS in target.fixtures.offers and not target.fixtures.tpps:
        return ()
    return tuple(
        each.id
        for each in contract.operations.values()
        if each.by_tpp and each.available and each.id not in target.absent.operations
    )


#: What a target file says once for all operations, and the reason where it does not.
_OF_THE_FILE: Final[Mapping[str, str]] = {
    "token": "the target file says that calls need no token (`auth`)",
    "token-endpoint": "the target file names no token endpoint (`auth`)",
    "banks": NO_BANKS,
}


def missing_reason(requirement: BindingRequirement) -> str:
    """Return why an obligation is not tested on a target that does not bind a requirement."""
    if requirement.feature in _OF_THE_FILE:
        return _OF_THE_FILE[requirement.feature]
    if requirement.feature == "error":
        name = requirement.name
        return f"needs {'error.code' if name == ERROR_CODE else f'error.fields.{name}'} in the target file"
    if requirement.feature == "approval" and requirement.name == RETURN:
        return "the customer returns from the authorization server to auth.redirect_uri"
    feature = BINDING_FEATURES[requirement.feature]
    key = ".".join(feature.place(requirement.operation, requirement.name))
    if requirement.if_missing is Standing.NOT_APPLICABLE:
        return feature.lacking or f"the target file does not bind {key}"
    return f"needs {key} in the target file"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyDescription:
    """The noun phrase and the example that the schema of target files has for a key."""

    title: str
    example: Json


def describe(*key: str) -> KeyDescription:
    """Return the description of a key of the target file, in the words of its schema."""
    part = whole = cast("dict[str, Any]", schema("target.yaml"))
    for step in key:
        while "$ref" in part:
            part = whole["$defs"][part["$ref"].rpartition("/")[2]]
        named = part.get("properties", {})
        part = named[step] if step in named else part["additionalProperties"]
    return KeyDescription(title=part["title"], example=part["examples"][0])
