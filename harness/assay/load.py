"""Text -> JSON data that knows its lines: a strict reader of a small part of YAML.

YAML reads `22:00` as 1320, `NO` as false and `012` as 10, and lets the second
of two equal keys win in silence. Here a plain word is null, true, false or a
number exactly as JSON spells them, with a point as `Decimal`, and everything
else stays text. What is not JSON (tags, merge keys, several documents) and what
is there to exhaust a reader (alias bombs, endless nesting, huge files) is
refused with its line. What the data means is not known here: see `schema`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias, cast

import yaml
from yaml import events as ev

from assay.errors import InputError, did_you_mean
from assay.model import Json

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_EXPANDED",
    "Document",
    "Spot",
    "load",
    "loads",
]

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 32
#: How many nodes all aliases of a file may stand for, together.
MAX_EXPANDED: Final = 10_000
_MAX_NUMBER: Final = 64
_MAX_EXPONENT: Final = 3

Pointer: TypeAlias = tuple[str | int, ...]

_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONSTANTS: Final[Mapping[str, Json]] = {
    "": None,
    "null": None,
    "true": True,
    "false": False,
}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?(?:[eE][+-]?([0-9]+))?")
# What YAML calls not printable, and the line break that only YAML knows.
_ODD: Final = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a value stands (file and line), and where the values below it stand."""

    path: str
    line: int
    below: Mapping[str, Spot] | Sequence[Spot] = ()

    def at(self, step: str | int) -> Spot | None:
        """Return the place of a key or item, or None if there is no such thing."""
        if isinstance(self.below, Mapping):
            return self.below.get(step) if isinstance(step, str) else None
        if isinstance(step, int) and 0 <= step < len(self.below):
            return self.below[step]
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A loaded file: JSON data, and the line of everything in it."""

    data: Mapping[str, Json]
    path: str
    digest: str
    spots: Spot = field(repr=False, compare=False)

    def line(self, pointer: Sequence[str | int] = ()) -> int:
        """Return the line of the key or item at `pointer`, or of its nearest parent."""
        return self.place(pointer)[1]

    def place(self, pointer: Sequence[str | int] = ()) -> tuple[str, int]:
        """Return the file and line of `pointer`: files can be laid over each other."""
        spot = self.spots
        for step in pointer:
            found = spot.at(step)
            if found is None:
                break
            spot = found
        return spot.path, spot.line


def load(path: str | Path) -> Document:
    """Read the file at `path`; anything wrong with it is an `InputError`."""
    raw = _read(Path(path))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError.one(
            str(path),
            "this is not UTF-8 text",
            line=raw.count(b"\n", 0, error.start) + 1,
            hint="save the file as UTF-8",
        ) from None
    return _document(text, str(path), raw)


def loads(text: str, path: str = "<text>") -> Document:
    """Read `text` as if it were the content of the file `path`."""
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) > MAX_BYTES:
        raise _too_big(path)
    return _document(text.removeprefix("\ufeff"), path, raw)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError.one(str(path), "there is no such file", hint=_neighbour(path)) from None
    except IsADirectoryError:
        raise InputError.one(str(path), "this is a directory", hint="name a file in it") from None
    except (OSError, ValueError) as error:
        why = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError.one(
            str(path), f"the file cannot be read: {why}", hint="is the path right?"
        ) from None
    if len(raw) > MAX_BYTES:
        raise _too_big(str(path))
    return raw


def _too_big(path: str) -> InputError:
    return InputError.one(
        path, "the file is larger than 1 MiB", hint="is it a contract or target file?"
    )


def _neighbour(path: Path) -> str:
    try:
        names = [one.name for one in path.parent.iterdir() if one.is_file()]
    except (OSError, ValueError):
        return f"there is no folder {str(path.parent)!r} either"
    hint = did_you_mean(path.name, names)
    return hint if hint.startswith("did you") else "look at the spelling"


def _document(text: str, path: str, raw: bytes) -> Document:
    odd = _ODD.search(text)
    if odd:
        raise InputError.one(
            path,
            f"there is a control character, U+{ord(odd[0]):04X}",
            line=text.count("\n", 0, odd.start()) + 1,
            hint="delete it; is this a text file?",
        )
    builder = _Builder(path)
    try:
        for event in _events(text):
            builder.take(event)
    except yaml.YAMLError as error:
        raise _syntax(error, text, path) from None
    except (ValueError, OverflowError):  # the parser's own number and code reading
        raise InputError.one(
            path, "this is not YAML", line=builder.line, hint="look at its escapes"
        ) from None
    root = builder.root
    if root is None:
        raise InputError.one(path, "the file is empty", hint="begin with `assay: 1`")
    value = root.value
    if not isinstance(value, dict):
        raise InputError.one(
            path,
            "the file holds no mapping of names to values",
            line=root.spot.line,
            hint="begin with `assay: 1`",
        )
    digest = "sha256:" + hashlib.sha256(raw).hexdigest()
    data = cast("dict[str, Json]", value)
    return Document(data=data, path=path, digest=digest, spots=root.spot)


def _events(text: str) -> Iterator[ev.Event]:
    yield from yaml.parse(text, Loader=_Loader)


def _syntax(error: yaml.YAMLError, text: str, path: str) -> InputError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    rows = text.splitlines()
    line = min(mark.line + 1, max(len(rows), 1)) if mark else 0
    what = getattr(error, "problem", None) or "this is not YAML"
    row = rows[line - 1] if 0 < line <= len(rows) else ""
    hint = "quote texts that hold YAML's own signs"
    if "\t" in row[: len(row) - len(row.lstrip())]:
        hint = "indent with spaces, not with tabs"
    elif "mapping values" in what:
        hint = "quote a text that holds ': ', or look at the indentation"
    elif "expected ':'" in what or "block end" in what or "<block" in what:
        hint = "look at the indentation here and just above"
    elif "flow" in what or "stream end" in what or "',' or" in what:
        hint = "is a bracket, brace or quote left open?"
    elif "alias" in what:
        hint = "name an anchor (&name) that stands above"
    return InputError.one(path, f"YAML cannot be read: {what}", line=line, hint=hint)


@dataclass(frozen=True, slots=True)
class _Node:
    """A finished value; `nodes` and `height` count what its aliases stand for."""

    value: Json
    spot: Spot
    nodes: int = 1
    height: int = 0


@dataclass(slots=True)
class _Open:
    """A mapping or list whose end has not come yet."""

    line: int
    anchor: str | None
    value: dict[str, Json] | list[Json]
    spots: dict[str, Spot] | list[Spot]
    key: tuple[str, int] | None = None
    nodes: int = 1
    height: int = 0


class _Builder:
    """Takes events one by one, and keeps a stack of what is open: no recursion."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.line = 0
        self.root: _Node | None = None
        self._stack: list[_Open] = []
        self._anchors: dict[str, _Node | None] = {}
        self._expanded = 0
        self._documents = 0

    def take(self, event: ev.Event) -> None:
        mark: Any = event.start_mark
        self.line = mark.line + 1
        take = _TAKES.get(type(event))
        if take:
            take(self, event)

    def refuse(self, what: str, hint: str) -> NoReturn:
        raise InputError.one(self.path, what, line=self.line, hint=hint)

    def document(self, _event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            self.refuse("a second document begins", "keep one document in a file")

    def begin(self, event: Any) -> None:
        self._plainly(event)
        if len(self._stack) >= MAX_DEPTH:
            self.refuse(f"nested more than {MAX_DEPTH} deep", "write it flatter")
        top = self._stack[-1] if self._stack else None
        if top and isinstance(top.value, dict) and top.key is None:
            self.refuse("a key is a list or a mapping", "a key is a text")
        new = (
            _Open(self.line, event.anchor, {}, {})
            if isinstance(event, ev.MappingStartEvent)
            else _Open(self.line, event.anchor, [], [])
        )
        if event.anchor:
            self._anchors[event.anchor] = None
        self._stack.append(new)

    def end(self, _event: Any) -> None:
        done = self._stack.pop()
        spot = Spot(self.path, done.line, done.spots)
        node = _Node(done.value, spot, done.nodes, done.height)
        if done.anchor:
            self._anchors[done.anchor] = node
        self._place(node)

    def scalar(self, event: Any) -> None:
        self._plainly(event)
        plain = event.implicit[0]
        top = self._stack[-1] if self._stack else None
        if top and isinstance(top.value, dict) and top.key is None:
            self._key(top, event.value, plain=plain)
            if event.anchor:
                self._anchors[event.anchor] = _Node(event.value, Spot(self.path, self.line))
            return
        value = self._resolve(event.value) if plain else self._text(event.value)
        node = _Node(value, Spot(self.path, self.line))
        if event.anchor:
            self._anchors[event.anchor] = node
        self._place(node)

    def alias(self, event: Any) -> None:
        name = event.anchor
        if name not in self._anchors:
            known = did_you_mean(name, self._anchors)
            self.refuse(f"the alias *{name} has no anchor", known or f"write &{name}")
        node = self._anchors[name]
        if node is None:
            self.refuse(f"the alias *{name} stands inside of itself", "write it out")
        self._expanded += node.nodes
        if self._expanded > MAX_EXPANDED:
            self.refuse(f"aliases stand for more than {MAX_EXPANDED:,} values", "write it out")
        if len(self._stack) + node.height > MAX_DEPTH:
            self.refuse(f"nested more than {MAX_DEPTH} deep", "write it flatter")
        top = self._stack[-1]
        if isinstance(top.value, dict) and top.key is None:
            self.refuse("a key is an alias", "write the key out")
        spot = Spot(self.path, self.line, node.spot.below)
        self._place(_Node(node.value, spot, node.nodes, node.height))

    def _place(self, node: _Node) -> None:
        if not self._stack:
            self.root = node
            return
        top = self._stack[-1]
        top.nodes += node.nodes
        top.height = max(top.height, node.height + 1)
        if isinstance(top.value, list) and isinstance(top.spots, list):
            top.value.append(node.value)
            top.spots.append(node.spot)
        elif isinstance(top.value, dict) and isinstance(top.spots, dict) and top.key:
            key, line = top.key
            top.value[key] = node.value
            top.spots[key] = Spot(self.path, line, node.spot.below)
            top.key = None

    def _key(self, top: _Open, key: str, *, plain: bool) -> None:
        if plain and key == "<<":
            self.refuse("merge keys (<<) are not taken", "write the keys out")
        if plain and not isinstance(self._resolve(key), str):
            shown = key or "(nothing)"
            self.refuse(f"the key {shown} is not a text", f'quote it: "{key}"')
        if key in top.value and isinstance(top.spots, dict):
            first = top.spots[key].line
            self.refuse(
                f"the key {self._text(key)!r} stands here twice",
                f"the first is in line {first}; keep one",
            )
        top.key = (self._text(key), self.line)

    def _resolve(self, word: str) -> Json:
        """Read a plain word as JSON would; what JSON does not know is text."""
        if word in _CONSTANTS:
            return _CONSTANTS[word]
        number = _NUMBER.fullmatch(word)
        if number is None:
            return self._text(word)
        fraction, exponent = number.groups()
        if len(word) > _MAX_NUMBER or len(exponent or "") > _MAX_EXPONENT:
            self.refuse("a number is too large to be meant", "quote it to have a text")
        return Decimal(word) if fraction or exponent else int(word)

    def _text(self, text: str) -> str:
        odd = _ODD.search(text)
        if odd:
            self.refuse(
                f"a text holds the control character U+{ord(odd[0]):04X}",
                "leave it out",
            )
        return text

    def _plainly(self, event: Any) -> None:
        if event.tag is not None:
            self.refuse(f"the tag {event.tag} is not taken", "values are JSON types; drop it")


_TAKES: Final[Mapping[type[ev.Event], Callable[[_Builder, Any], None]]] = {
    ev.DocumentStartEvent: _Builder.document,
    ev.MappingStartEvent: _Builder.begin,
    ev.SequenceStartEvent: _Builder.begin,
    ev.MappingEndEvent: _Builder.end,
    ev.SequenceEndEvent: _Builder.end,
    ev.ScalarEvent: _Builder.scalar,
    ev.AliasEvent: _Builder.alias,
}
