"""Changes of a YAML file at single values: all else in it, comments included, stays as it is.

A change replaces the characters of one key or value, or inserts a line. So nothing is written anew
that nobody asked to change. Anchors and merged keys are left alone: a value that stands elsewhere is
not found here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from assay.files.document import Pointer

#: A text that YAML reads as it stands, in a flow as well.
_PLAIN = re.compile(r"[A-Za-z/_][\w./~-]*")
#: How deep below a key a value is sought.
_DEEP = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change of a file: at or below a key, a value takes the place of another one.

    A key that is the old value itself is renamed. Where `old` is None, the key is added. The change is
    `certain` if more is known than a similar name.
    """

    at: Pointer
    old: str | None
    new: str
    certain: bool = False


def apply(text: str, edit: Edit) -> str | None:
    """Return a file with a change; None where what should change is not there exactly once."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is None:
        return None
    span = _insertion(text, root, edit) if edit.old is None else _replacement(root, edit)
    if span is None:
        return None
    begin, end, new = span
    changed = text[:begin] + new + text[end:]
    try:
        yaml.safe_load(changed)
    except yaml.YAMLError:
        return None
    return changed


def _replacement(root: yaml.Node, edit: Edit) -> tuple[int, int, str] | None:
    """Return the characters of the key or value that is replaced, and what takes their place."""
    found = _at(root, edit.at)
    if found is None:
        return None
    key, node = found
    if key is not None and key.value == edit.old and not [*_scalars(node, edit.old, 0)]:
        return _span(key, edit.new)
    same = [*_scalars(node, edit.old, _DEEP)]
    return _span(same[0], edit.new) if len(same) == 1 else None


def _span(node: yaml.Node, new: str) -> tuple[int, int, str]:
    return node.start_mark.index, node.end_mark.index, _written(new)


def _insertion(text: str, root: yaml.Node, edit: Edit) -> tuple[int, int, str] | None:
    """Return where a key is added: to the nearest mapping above it that is there."""
    for depth in range(len(edit.at) - 1, -1, -1):
        found = _at(root, edit.at[:depth])
        if found is None:
            continue
        node, names = found[1], edit.at[depth:]
        if not isinstance(node, yaml.MappingNode) or not all(isinstance(n, str) for n in names):
            return None
        first, *inner = map(_written, map(str, names))
        value = _written(edit.new)
        for name in reversed(inner):
            value = f"{{{name}: {value}}}"
        if node.flow_style or not node.value:
            comma = ", " if node.value else ""
            begin = node.start_mark.index + 1
            return (begin, begin, f"{first}: {value}{comma}") if node.flow_style else None
        begin = node.value[0][0].start_mark.index
        line = text.rfind("\n", 0, begin) + 1
        return line, line, f"{' ' * (begin - line)}{first}: {value}\n"
    return None


def _at(root: yaml.Node, at: Pointer) -> tuple[yaml.ScalarNode | None, yaml.Node] | None:
    """Return the key and the value at a pointer; None where there is none."""
    key: yaml.ScalarNode | None = None
    node = root
    for step in at:
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            if not 0 <= step < len(node.value):
                return None
            key, node = None, node.value[step]
            continue
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        same = [(name, value) for name, value in pairs if name.value == str(step)]
        if len(same) != 1:
            return None
        key, node = same[0]
    return key, node


def _scalars(node: yaml.Node, wanted: str | None, deep: int) -> Iterator[yaml.Node]:
    """Yield the values at or below a node that are a text."""
    if isinstance(node, yaml.ScalarNode):
        if node.value == wanted:
            yield node
    elif deep:
        values = node.value if isinstance(node, yaml.SequenceNode) else [v for _, v in node.value]
        for value in values:
            yield from _scalars(value, wanted, deep - 1)


def _written(value: str) -> str:
    """Return a text as YAML, in quotes where it would not be read as itself."""
    plain = _PLAIN.fullmatch(value) and yaml.safe_load(value) == value
    return value if plain else json.dumps(value, ensure_ascii=False)
