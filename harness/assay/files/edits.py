"""Changes of a YAML file at single values: all else in it, comments included, stays as it is.

A change replaces the characters of one key or value, or inserts a line. So nothing is written anew
that nobody asked to change. Anchors and merged keys are left alone: a value that stands elsewhere is
not found here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import yaml

from assay.contract.model import Json
from assay.files.document import Pointer

#: A text that YAML reads as it stands, in brackets as well, and a word that it may not read as text.
_PLAIN = re.compile(r"…|[A-Za-z/][A-Za-z0-9/_.+*-]*(:[^\s:,\[\]{}#\"']+)?")
_WORDS = re.compile(r"y|n|yes|no|on|off|true|false|null|none|inf|nan", re.IGNORECASE)
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
    new: Json
    certain: bool = False

    @property
    def text(self) -> str:
        """The new value as it is written."""
        return flow(self.new)

    @property
    def printable(self) -> bool:
        """Whether every text in the new value is."""
        return all(map(str.isprintable, _texts(self.new)))


def apply(text: str, edit: Edit) -> str | None:
    """Return a file with a change; None where what should change is not there exactly once."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is None:
        return None
    if edit.old is None and (drafted := _in_draft(text, root, edit)):
        return drafted
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
        return _span(key, edit)
    same = [*_scalars(node, edit.old, _DEEP)]
    return _span(same[0], edit) if len(same) == 1 else None


def _span(node: yaml.Node, edit: Edit) -> tuple[int, int, str]:
    return node.start_mark.index, node.end_mark.index, edit.text


def _insertion(text: str, root: yaml.Node, edit: Edit) -> tuple[int, int, str] | None:
    """Return where a key is added: to the nearest mapping above it; none if it is there already."""
    if _at(root, edit.at) is not None:
        return None
    for depth in range(len(edit.at) - 1, -1, -1):
        found = _at(root, edit.at[:depth])
        if found is None:
            continue
        node, names = found[1], edit.at[depth:]
        if not isinstance(node, yaml.MappingNode) or not all(isinstance(n, str) for n in names):
            return None
        keys = [flow_key(str(name)) for name in names]
        if node.flow_style or not node.value:
            value = edit.text
            for name in reversed(keys[1:]):
                value = f"{{{name}: {value}}}"
            comma = ", " if node.value else ""
            begin = node.start_mark.index + 1
            return (begin, begin, f"{keys[0]}: {value}{comma}") if node.flow_style else None
        begin = node.value[0][0].start_mark.index
        line = text.rfind("\n", 0, begin) + 1
        rows = [f"{' ' * (begin - line + 2 * n)}{key}:" for n, key in enumerate(keys)]
        added = "\n".join(rows) + f" {edit.text}\n"
        if depth:
            return line, line, added
        # What is new at the top stands at the end.
        return len(text), len(text), added if text.endswith("\n") else f"\n{added}"
    return None


def _in_draft(text: str, root: yaml.Node, edit: Edit) -> str | None:
    """Return a drafted file in which a key takes the place of the comment that it is missing.

    The keys above it may be comments as well, for there was nothing below them.
    """
    if _at(root, edit.at) is not None:
        return None
    lines = text.split("\n")
    first, end = 0, len(lines)
    for depth, name in enumerate(map(str, edit.at)):
        pad, key = "  " * depth, flow_key(name)
        if depth == len(edit.at) - 1:
            begins, new = f"{pad}# TODO: ", f"{pad}{key}: {edit.text}"
            fits = (n for n in range(first, end) if lines[n].startswith(begins))
            at = next((n for n in fits if f" for example `{name}: " in lines[n]), None)
        else:
            headings = {f"{pad}{key}:", f"{pad}# {key}:"}
            at, new = (
                next((n for n in range(first, end) if lines[n] in headings), None),
                f"{pad}{key}:",
            )
        if at is None:
            return None
        lines[at], first = new, at + 1
        inner = (n for n in range(first, end) if lines[n] and not lines[n].startswith(f"{pad} "))
        end = next(inner, end)
    return "\n".join(lines)


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


def flow(value: Json) -> str:
    """Return a value as YAML in one line, a text in quotes where it would not be read as itself."""
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and not _WORDS.fullmatch(value)
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, Json]", value).items()
        return "{" + ", ".join(f"{flow_key(key)}: {flow(each)}" for key, each in pairs) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow, cast('Sequence[Json]', value)))}]"
    return json.dumps(value)


def flow_key(name: str) -> str:
    """Return a key as it is written: as everywhere in these files, `on` is a name."""
    return name if name == "on" else flow(name)


def _texts(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from (text for pair in value.items() for part in pair for text in _texts(part))
        case list():
            yield from (text for each in value for text in _texts(each))
        case _:
            pass
