"""Loading of a file or text into a `Document`, and dumping of data as YAML.

`load` reports errors of the file itself: it is missing, unreadable, too large, not UTF-8, or
empty. `strict_yaml` reads its text. `dump` writes data in block style, with keys in order and
without aliases, and quotes text that looks like a number. `read_zone` returns the time zone
with an IANA name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NoReturn, cast
from zoneinfo import ZoneInfo, available_timezones

import yaml
from yaml import events as ev

from assay._resources import contract_dir
from assay.contract.model import Json
from assay.errors import InputError, did_you_mean
from assay.files.document import Document, Spot

#: A contract of a thousand operations has 4 MiB. More is another kind of file, which is not read to its end.
MAX_BYTES: Final = 16 * 1024 * 1024
_BEGIN: Final = "begin with `assay: 1`"
_OWN_KEY: Final = re.compile(rb"(?m)^[{\s\"']*assay[\"']?\s*:")


def load(path: str | Path) -> Document:
    """Read the file at `path`; its problems raise an `InputError`."""
    return load_content(read_bytes(path), str(path))


def load_content(raw: bytes, path: str) -> Document:
    """Read the content of the file at `path`; its problems raise an `InputError`."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError.one(
            path,
            "this is not UTF-8 text",
            line=raw.count(b"\n", 0, error.start) + 1,
            hint="save the file as UTF-8",
        ) from None
    return _document(text, path, raw)


def load_named(path: str | Path) -> Document:
    """Read a file that another file names; of one without `assay: 1`, nothing is quoted.

    It may be any file of the machine, and who wrote the other one may read the error.
    """
    try:
        document = load(path)
    except InputError as error:
        # Without a line, the error is about the file as a whole.
        if not error.problems[0].line or _OWN_KEY.search(read_bytes(path)):
            raise
        document = None
    if document is None or "assay" not in document.data:
        what = "this is no file of Assay (it has no key `assay`)"
        raise InputError.one(str(path), what, hint=_BEGIN)
    return document


def load_openapi(path: Path) -> Document:
    """Read an OpenAPI document, in JSON or YAML; its problems raise an `InputError`.

    It is not written for this reader: a key may be a number, which is its text. Of a file that has
    no key `openapi` nothing is quoted, for it may be any file of the machine.
    """
    raw = read_bytes(path)
    if not re.search(rb"(?m)^[{\s\"']*openapi[\"']?\s*:", raw):
        what = "this is not an OpenAPI document (it has no key `openapi`)"
        raise InputError.one(str(path), what, hint="OpenAPI 3.0 or 3.1, in JSON or YAML")
    try:
        text = _HALVES.sub(_whole, raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError.one(str(path), "this is not UTF-8 text", hint="save it as UTF-8") from None
    return _document(text, str(path), raw, foreign=True)


#: A character that JSON writes as two halves, which YAML does not know.
_HALVES: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


def _whole(halves: re.Match[str]) -> str:
    return str(json.loads(f'"{halves[0]}"'))


def loads(text: str, path: str = "<text>") -> Document:
    """Read `text` as if it were the content of the file `path`."""
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) > MAX_BYTES:
        raise _too_big(path)
    return _document(text.removeprefix("\ufeff"), path, raw)


def _document(text: str, path: str, raw: bytes, *, foreign: bool = False) -> Document:
    root = read(text, path, foreign=foreign)
    if root is None:
        raise InputError.one(path, "the file is empty", hint=_BEGIN)
    if not isinstance(root.value, dict):
        what = "expected a mapping of names to values"
        raise InputError.one(path, what, line=root.spot.line, hint=_BEGIN)
    digest = "sha256:" + hashlib.sha256(raw).hexdigest()
    data = cast("dict[str, Json]", root.value)
    return Document(data=data, path=path, digest=digest, spots=root.spot)


def read_bytes(path: str | Path) -> bytes:
    """Return what stands in a file that is not too big; an `InputError` says why it cannot be read."""
    path = Path(path)
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
            str(path), f"the file cannot be read: {why}", hint="check the path"
        ) from None
    if len(raw) > MAX_BYTES:
        raise _too_big(str(path))
    return raw


def _too_big(path: str) -> InputError:
    return InputError.one(
        path,
        f"the file is larger than {MAX_BYTES >> 20} MiB",
        hint="is it a contract or target file?",
    )


def _neighbour(path: Path) -> str:
    try:
        names = [file.name for file in path.parent.iterdir() if file.is_file()]
    except (OSError, ValueError):
        return f"there is no folder {str(path.parent)!r} either"
    folders = () if path.parent.name else (contract_dir(), contract_dir() / "targets")
    shipped = [each.stem for folder in folders for each in folder.glob("*.yaml")]
    hint = did_you_mean(path.name, [*names, *shipped])
    folder = path.parent.resolve()
    return hint if hint.startswith("did you") else f"there is none in {folder}"


class _NoAliasDumper(yaml.SafeDumper):
    """A dumper that writes repeated values in full."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def dump(data: dict[str, Any]) -> str:
    """Return JSON data as a YAML document."""
    text: str = yaml.dump(
        data, Dumper=_NoAliasDumper, sort_keys=False, allow_unicode=True, width=100
    )
    return text


#: A time zone written as its distance from UTC.
_OFFSET: Final = re.compile(r"(UTC|GMT)?(?P<sign>[+-])(?P<hours>0?[0-9]|1[0-4])(:?00)?")


def read_zone(name: str) -> ZoneInfo | str:
    """Return the time zone with this name, or a hint if there is none."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        if offset := _OFFSET.fullmatch(name):
            # In Etc/GMT-2 the sign is that of POSIX: west of Greenwich is positive.
            sign = "-" if offset["sign"] == "+" else "+"
            fixed = f"Etc/GMT{sign}{int(offset['hours'])}"
            return f"an IANA name such as Europe/Paris; {fixed} if it has no summer time"
        return did_you_mean(name, available_timezones()) or "an IANA name, as in Europe/Paris"


# -- A strict reader for a subset of YAML that keeps line numbers --------------------------------
# YAML silently uses the second of two equal keys, and guesses types: `22:00` is 1320, `NO` is
# false, `012` is 10. Here an unquoted word is a number only if it is one in JSON, a `Decimal`
# if it has a point; all others are text. Features that JSON does not have (tags, merge keys,
# several documents) and input that exhausts a reader (alias bombs, endless nesting) are
# rejected with their line. `load` opens files.
MAX_DEPTH: Final = 32
#: The same for an OpenAPI document, whose schemas stand in one another.
MAX_FOREIGN_DEPTH: Final = 100
#: The maximum number of nodes that all aliases of a file expand to.
MAX_EXPANDED: Final = 10_000

#: What is wrong with a value that is nested too deeply, and what to do.
_TOO_DEEP: Final = (f"nested more than {MAX_DEPTH} deep", "reduce the nesting")

_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Node:
    """A complete value; `nodes` and `height` include its expanded aliases."""

    value: Json
    spot: Spot
    nodes: int = 1
    height: int = 0


def read(text: str, path: str, *, foreign: bool = False) -> Node | None:
    """Parse a text; return None if it is empty. `path` is used in errors and places.

    A `foreign` text was not written for this reader: keys may be numbers, and it may be deeper.
    """
    strange = odd(text)
    if strange:
        raise InputError.one(
            path,
            f"the file contains the control character U+{ord(strange[0]):04X}",
            line=text.count("\n", 0, strange.start()) + 1,
            hint="delete it; is this a text file?",
        )
    builder = _Builder(path, foreign=foreign)
    try:
        for event in yaml.parse(text, Loader=_Loader):
            builder.take(event)
    except yaml.YAMLError as error:
        raise _syntax(error, text, path) from None
    except (ValueError, OverflowError):  # the parser's own number and code reading
        raise InputError.one(
            path, "this is not YAML", line=builder.line, hint="check its escape sequences"
        ) from None
    return builder.root


def _syntax(error: yaml.YAMLError, text: str, path: str) -> InputError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    what = getattr(error, "problem", None) or "this is not YAML"
    if "nesting depth" in what:  # a version of libyaml that counts, too
        return InputError.one(
            path, _TOO_DEEP[0], line=mark.line + 1 if mark else 0, hint=_TOO_DEEP[1]
        )
    context = getattr(error, "context_mark", None)
    if "expected ':'" in what and context:
        mark = context  # the key that has no colon, not the line after it
    rows = text.splitlines()
    line = min(mark.line + 1, max(len(rows), 1)) if mark else 0
    row = rows[line - 1] if 0 < line <= len(rows) else ""
    tabbed = "\t" in row[: len(row) - len(row.lstrip())]
    hint = "indent with spaces, not with tabs" if tabbed else _hint(what)
    if "',' or" in what and (above := _colon_in_text(rows, line)):
        line, hint = above, "quote text that contains ': '"
    elif "',' or" in what and context and _left_open(rows, context.line, line):
        line = context.line + 1  # not the line in which the parser gave up
    elif (blank := _blank_indent(rows, line)) and not tabbed:
        line, hint = blank, "indent with ordinary spaces: this line begins with no-break spaces"
    return InputError.one(path, f"YAML cannot be read: {what}", line=line, hint=hint)


# PyYAML's errors have no code, only a message. It is matched here only, to choose a hint: if
# a new version of PyYAML rewords a message, the general hint is used and nothing else changes.
_HINTS: Final[tuple[tuple[tuple[str, ...], str], ...]] = (
    (("mapping values",), "quote text that contains ': ', or check the indentation"),
    (
        ("expected ':'",),
        "write a space after the colon of a key; or check the indentation here and above",
    ),
    (
        ("block end", "<block", "'-' indicator"),
        "check the indentation: the keys of one mapping begin in the same column",
    ),
    (("flow", "stream end", "',' or"), "is a bracket, brace or quote left open?"),
    (("escape character",), "write `\\\\` for a backslash, or use single quotes"),
    (("alias",), "name an anchor (&name) defined above"),
)


def _colon_in_text(rows: list[str], line: int) -> int:
    """Return the line of a text in braces or brackets that has a colon in it; 0 if there is none."""
    for number in (line, line - 1):
        row = rows[number - 1] if 0 < number <= len(rows) else ""
        if re.search(r"[\[{][^\"']*: [^,\"'{}\[\]]*[^ ,\"'{}\[\]]: ", row):
            return number
    return 0


def _left_open(rows: list[str], first: int, last: int) -> bool:
    """Whether a list or mapping that begins in a row reaches into rows that begin no further right."""

    def indent(row: str) -> int:
        return len(row) - len(row.lstrip())

    return any(row.strip() and indent(row) <= indent(rows[first]) for row in rows[first + 1 : last])


def _blank_indent(rows: list[str], line: int) -> int:
    """Return the line, this one or one above, that begins with a no-break space; 0 if none does."""
    return next((n for n in range(line, 0, -1) if rows[n - 1].lstrip(" ")[:1] == "\xa0"), 0)


def _hint(message: str) -> str:
    """Return the hint for a message of PyYAML."""
    matching = (hint for parts, hint in _HINTS if any(part in message for part in parts))
    return next(matching, "quote text that contains YAML's special characters")


@dataclass(slots=True)
class _Open:
    """A mapping or list that has not ended yet."""

    line: int
    anchor: str | None
    value: dict[str, Json] | list[Json]
    spots: dict[str, Spot] | list[Spot]
    key: tuple[str, int] | None = None
    nodes: int = 1
    height: int = 0


class _Builder:
    """Builds values from events, with a stack of open collections instead of recursion."""

    def __init__(self, path: str, *, foreign: bool) -> None:
        self.path = path
        self.foreign = foreign
        self.most = MAX_FOREIGN_DEPTH if foreign else MAX_DEPTH
        self.line = 0
        self.root: Node | None = None
        self._stack: list[_Open] = []
        self._anchors: dict[str, Node | None] = {}
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
        self._untagged(event)
        if len(self._stack) >= self.most:
            self.refuse(f"nested more than {self.most} deep", _TOO_DEEP[1])
        top = self._stack[-1] if self._stack else None
        if top and isinstance(top.value, dict) and top.key is None:
            self.refuse("a key is a list or a mapping", "expected text as the key")
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
        node = Node(done.value, spot, done.nodes, done.height)
        if done.anchor:
            self._anchors[done.anchor] = node
        self._place(node)

    def scalar(self, event: Any) -> None:
        self._untagged(event)
        bare = event.implicit[0]
        top = self._stack[-1] if self._stack else None
        if top and isinstance(top.value, dict) and top.key is None:
            self._key(top, event.value, bare=bare)
            if event.anchor:
                self._anchors[event.anchor] = Node(event.value, Spot(self.path, self.line))
            return
        value = self._plain(event.value) if bare else self._text(event.value)
        node = Node(value, Spot(self.path, self.line))
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
            self.refuse(f"the alias *{name} refers to itself", "write it out")
        self._expanded += node.nodes
        if self._expanded > MAX_EXPANDED:
            self.refuse(f"aliases stand for more than {MAX_EXPANDED:,} values", "write it out")
        if len(self._stack) + node.height > self.most:
            self.refuse(f"nested more than {self.most} deep", _TOO_DEEP[1])
        top = self._stack[-1]
        if isinstance(top.value, dict) and top.key is None:
            self.refuse("a key is an alias", "write the key out")
        spot = Spot(self.path, self.line, node.spot.below)
        self._place(Node(node.value, spot, node.nodes, node.height))

    def _place(self, node: Node) -> None:
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

    def _key(self, top: _Open, key: str, *, bare: bool) -> None:
        if bare and key == "<<":
            self.refuse("merge keys (<<) are not supported", "write the keys out")
        if bare and not self.foreign and not isinstance(self._plain(key), str):
            shown = key or "(nothing)"
            self.refuse(f"the key {shown} is not text", f'quote it: "{key}"')
        if key in top.value and isinstance(top.spots, dict):
            first = top.spots[key].line
            self.refuse(
                f"duplicate key {self._text(key)!r}",
                f"the first is in line {first}; remove one",
            )
        top.key = (self._text(key), self.line)

    def _plain(self, word: str) -> Json:
        try:
            value = plain(word)
        except ValueError:
            self.refuse("the number is too large", "quote it to make it text")
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        strange = odd(text)
        if strange:
            self.refuse(
                f"the text contains the control character U+{ord(strange[0]):04X}",
                "remove it",
            )
        return text

    def _untagged(self, event: Any) -> None:
        if event.tag is not None:
            self.refuse(f"the tag {event.tag} is not supported", "values are JSON types; remove it")


_TAKES: Final[Mapping[type[ev.Event], Callable[[_Builder, Any], None]]] = {
    ev.DocumentStartEvent: _Builder.document,
    ev.MappingStartEvent: _Builder.begin,
    ev.SequenceStartEvent: _Builder.begin,
    ev.MappingEndEvent: _Builder.end,
    ev.SequenceEndEvent: _Builder.end,
    ev.ScalarEvent: _Builder.scalar,
    ev.AliasEvent: _Builder.alias,
}


_MAX_NUMBER: Final = 64
_MAX_EXPONENT: Final = 3
_CONSTANTS: Final[Mapping[str, Json]] = {
    "": None,
    "null": None,
    "true": True,
    "false": False,
}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?(?:[eE][+-]?([0-9]+))?")
# Characters that YAML calls not printable, and the line breaks that only YAML has.
_ODD: Final = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def odd(text: str) -> re.Match[str] | None:
    """Find the first control character."""
    return _ODD.search(text)


def plain(word: str) -> Json:
    """Return an unquoted word as a JSON value, or as text if JSON has no such value.

    Raises:
        ValueError: the number is too large.

    """
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    number = _NUMBER.fullmatch(word)
    if number is None:
        return word
    fraction, exponent = number.groups()
    if len(word) > _MAX_NUMBER or len(exponent or "") > _MAX_EXPONENT:
        raise ValueError(word)
    return Decimal(word) if fraction or exponent else int(word)
