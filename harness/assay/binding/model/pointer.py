"""JSON values of targets: parsed, walked, pointed into (RFC 6901), and compared in full by digests.

Hostile documents are expected. Two values have the same digest if they hold the same JSON:
the order of members and the notation of numbers do not matter, and members that the target
file calls volatile are left out. A digest protects no secrets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, Self, cast
from urllib.parse import unquote, urlsplit

from assay.contract.model import Json
from assay.contract.scalars import same, text_of
from assay.files.document import Finding, Pointer, found


class _Missing:
    """The type of `MISSING`, which no JSON value equals."""


#: What a pointer finds where there is nothing.
MISSING: Final = _Missing()


class ElementPointer(str):
    """A pointer into the first element of a list in which other pointers show given values.

    Its text names it in messages. Where only steps count, it leads into the first element.
    """

    __slots__ = ("element", "inner", "where")

    element: str
    where: Mapping[str, Json]
    inner: str

    def __new__(cls, element: str, where: Mapping[str, Json], inner: str) -> Self:
        """Return the pointer at `inner` in an element of the list at `element`."""
        shown = ", ".join(f"{at}={text_of(value)}" for at, value in where.items())
        made = super().__new__(cls, f"{element}[{shown}]{inner}")
        made.element, made.where, made.inner = element, where, inner
        return made

    def look_up(self, document: Json) -> Json:
        """Return what stands there; `MISSING` without such a list or element."""
        place = self.resolve(document)
        return MISSING if place is None else find(document, place)

    def resolve(self, document: Json) -> str | None:
        """Return the plain pointer to what stands there; None without such a list or element."""
        listed = find(document, self.element)
        for n, element in enumerate(cast("list[Json]", listed) if isinstance(listed, list) else ()):
            if all(same(find(element, at), value) for at, value in self.where.items()):
                return f"{self.element}/{n}{self.inner}"
        return None


class ItemInBody(dict[str, Any]):
    """An item of an answer, with the `body` in which it stands."""

    __slots__ = ("body",)

    body: Json

    def __init__(self, item: Mapping[str, Any], body: Json) -> None:
        """Keep the members of an item, and its body."""
        super().__init__(item)
        self.body = body


def in_body_of(body: Json, shown: Json) -> Json:
    """Return what stands in a body, with this body if it is an object."""
    return ItemInBody(cast("dict[str, Any]", shown), body) if isinstance(shown, dict) else shown


class DerivedPointer(str):
    """A pointer with a rule for what it finds; its text is how a target file writes it.

    `inner` is the pointer in it. Where only steps count, it has those of `inner`.
    """

    __slots__ = ("inner",)

    #: The key of the rule.
    key = ""
    inner: str

    def __new__(cls, inner: str) -> Self:
        """Return the pointer with the rule of the class."""
        made = super().__new__(cls, f"{{{cls.key}: {inner}}}")
        made.inner = inner
        return made

    @property
    def written(self) -> Json:
        """The pointer as a value of a target file."""
        inner = self.inner
        return {self.key: inner.written if isinstance(inner, DerivedPointer) else str(inner)}

    def look_up(self, document: Json) -> Json:
        """Return what it finds, or `MISSING`."""
        raise NotImplementedError


class BodyPointer(DerivedPointer):
    """A pointer that starts at the body of the answer, also from one item of a list in it."""

    __slots__ = ()
    key = "body"

    def look_up(self, document: Json) -> Json:
        """Return what stands there in the body of an item, or in a whole body."""
        body = document.body if isinstance(document, ItemInBody) else document
        return find(body, self.inner)


class UrlEndPointer(DerivedPointer):
    """A pointer at a URL, of which it finds the last segment of the path."""

    __slots__ = ()
    key = "end_of"

    def look_up(self, document: Json) -> Json:
        """Return the segment; `MISSING` without a text, or without a path in it."""
        url = find(document, self.inner)
        return last_segment(url) if isinstance(url, str) else MISSING


def last_segment(url: str) -> Json:
    """Return the last segment of the path of a URL, or `MISSING`."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return MISSING
    return unquote(path.rstrip("/").rpartition("/")[2]) or MISSING


def own_conditions(value: object, at: Pointer) -> Iterator[Finding]:
    """Find pointers that lead to a condition of their own element, which is always the same."""
    for name, member in cast("dict[str, Any]", value).items() if isinstance(value, dict) else ():
        yield from own_conditions(member, (*at, name))
        if name == "where" and (inner := cast("dict[str, Any]", value)["at"]) in member:
            hint = "point at what stands beside it in the element"
            yield (*at, "at"), f"always {found(member[inner])}, as `where` says", hint


@lru_cache(maxsize=1024)
def steps(pointer: str) -> tuple[str, ...]:
    """Split a pointer into its unescaped steps; "" is the whole document."""
    if not pointer:
        return ()
    if isinstance(pointer, ElementPointer):
        return (*steps(pointer.element), "0", *steps(pointer.inner))
    if isinstance(pointer, DerivedPointer):
        return steps(pointer.inner)
    parts = pointer.split("/")[1:]
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def find(document: Json, pointer: str) -> Json:
    """Return what stands at a pointer, or `MISSING`."""
    if isinstance(pointer, ElementPointer | DerivedPointer):
        return pointer.look_up(document)
    here: Any = document
    for step in steps(pointer):
        if isinstance(here, dict):
            here = cast("dict[str, Any]", here).get(step, MISSING)
        elif isinstance(here, list) and step.isdecimal():
            here = here[int(step)] if int(step) < len(here) else MISSING
        else:
            return MISSING
        if here is MISSING:
            return MISSING
    result: Json = here
    return result


def lists(document: Json, pointer: str) -> list[Json] | None:
    """Return the items of the list at a pointer, or of all lists where it has steps `*`.

    None where there is no list.
    """
    before, star, after = pointer.partition("/*")
    here = find(document, before)
    if not isinstance(here, list):
        return None
    elements = cast("list[Json]", here)
    if not star:
        return elements
    return [item for element in elements for item in lists(element, after) or ()]


def element_pointers(document: Json, pointer: str) -> list[str]:
    """Return the pointers to the items that `lists` finds, in the same order."""
    before, star, after = pointer.partition("/*")
    here = find(document, before)
    elements = cast("list[Json]", here) if isinstance(here, list) else ()
    places = ((f"{before}/{n}", element) for n, element in enumerate(elements))
    return [
        at + inner
        for at, each in places
        for inner in (element_pointers(each, after) if star else [""])
    ]


def place_of(document: Json, pointers: Sequence[str]) -> str | None:
    """Return the first of some pointers that finds something, or else the first; None without any."""
    plain = [
        (each.resolve(document) or each.element) if isinstance(each, ElementPointer) else each
        for each in pointers
    ]
    there = (each for each in plain if find(document, each) is not MISSING)
    return next(there, plain[0] if plain else None)


def put(document: dict[str, Any], pointer: str, value: Json) -> None:
    """Set what stands at a pointer, making mappings on the way; lists only if they are there.

    At "", the whole document, the members of a mapping are laid over what is there, at any depth.
    """
    if not pointer:
        _lay(document, cast("dict[str, Any]", value))
        return
    *way, last = steps(pointer)
    here: Any = document
    for step in way:
        here = here[int(step)] if _indexed(here, step) else _room(here).setdefault(step, {})
    if _indexed(here, last):
        here[int(last)] = value
    else:
        _room(here)[last] = value


def remove(document: dict[str, Any], pointer: str) -> None:
    """Remove what stands at a pointer, if anything does, and the mappings that are empty without it."""
    *way, last = steps(pointer)
    found: list[tuple[Any, str]] = []
    here: Any = document
    for step in (*way, last):
        found.append((here, step))
        here = here[int(step)] if _indexed(here, step) else _room(here).get(step)
    for inside, step in reversed(found):
        if not isinstance(inside, dict) or step not in inside:
            return
        del inside[step]
        if inside:
            return


def _lay(document: dict[str, Any], over: dict[str, Any]) -> None:
    for name, value in over.items():
        below = document.get(name)
        if isinstance(value, dict) and isinstance(below, dict):
            _lay(cast("dict[str, Any]", below), cast("dict[str, Any]", value))
        else:
            document[name] = value


def _indexed(here: list[Any] | dict[str, Any], step: str) -> bool:
    return isinstance(here, list) and step.isdecimal() and int(step) < len(here)


def _room(here: Any) -> dict[str, Any]:
    """Return where a member can be put; what is in the way has no members."""
    return cast("dict[str, Any]", here) if isinstance(here, dict) else {}


# -- every value in a value ------------------------------------------------------
def texts(value: object, at: Pointer = ()) -> Iterator[tuple[Pointer, str]]:
    """Yield every text in a value, each with its place."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, Mapping):
        for name, member in cast("Mapping[str, object]", value).items():
            yield from texts(member, (*at, name))
    elif isinstance(value, list | tuple):
        for index, element in enumerate(cast("Sequence[object]", value)):
            yield from texts(element, (*at, index))


def rebuilt(value: Json, change: Callable[[Json], Json]) -> Any:
    """Return a copy of a value in which everything but objects and lists is changed.

    What becomes `MISSING` is left out of what it is in.
    """
    if isinstance(value, Mapping):
        named = cast("Mapping[str, Json]", value)
        members = {name: rebuilt(each, change) for name, each in named.items()}
        return {name: each for name, each in members.items() if each is not MISSING}
    if isinstance(value, list | tuple):
        elements = (rebuilt(each, change) for each in cast("Sequence[Json]", value))
        return [each for each in elements if each is not MISSING]
    return change(value)


# -- digests ---------------------------------------------------------------------
#: Longer numbers are compared as they are written.
LONGEST_NUMBER = 18


def digests(item: Json, volatile: Sequence[str] = ()) -> tuple[str, str]:
    """Return 16 letters for an item, and for the item without what may be a link.

    The second text is empty where there is no link; both are for an item that is nested too deep.
    """
    try:
        for pointer in volatile:
            item = _without(item, steps(pointer))
        text = _canonical(item)
        linked = '"/' in text or "://" in text
        rest = _canonical(rebuilt(item, _unlinked)) if linked else ""
    except RecursionError:
        return "", ""
    return _digest(text), _digest(rest) if rest else ""


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _unlinked(value: Json) -> Json:
    """Return nothing in place of a text that may be a link."""
    linked = isinstance(value, str) and (value.startswith("/") or "://" in value)
    return None if linked else value


def _without(value: Any, way: Sequence[str]) -> Any:
    """Return a copy in which nothing stands at the end of the way."""
    if not way:
        return None
    step, *rest = way
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if step not in members:
            return members
        others = {name: member for name, member in members.items() if name != step}
        return {**others, step: _without(members[step], rest)} if rest else others
    if isinstance(value, list) and step.isdecimal():
        return [
            _without(member, rest) if n == int(step) else member for n, member in enumerate(value)
        ]
    return value


def _number(number: Decimal) -> Json:
    """Write a number in one way only: 12 for 12.0, and apart from the text "12.5"."""
    text = str(number)
    if "." in text and "E" not in text:
        text = text.rstrip("0").rstrip(".")
    whole = text.lstrip("-").isdigit() and len(text) <= LONGEST_NUMBER
    return int(text) if whole else {"": text}


#: Built once: nearly all the cost of a digest would be in building it.
_canonical = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_number
).encode


# -- Parser of JSON from a target: whatever it returns can be compared, sent and recorded
# Numbers stay exact. What no number or no text can hold is kept as the text that it is in the
# body: `NaN` and the infinities, which are no JSON but understood by most parsers, numbers
# whose exponent has four digits, and lone surrogates. The rule that says a body is JSON
# judges its bytes, so nothing is excused here.
#: The most digits of a whole number that every Python converts (`-X int_max_str_digits`).
MOST_DIGITS = 640
#: The deepest nesting that is read: a check and the journal go down every level.
MOST_DEPTH = 128
#: An exponent of four digits: such a number is no amount, and written out, it would be endless.
_FAR = re.compile(r"[eE][+-]?0*[1-9][0-9]{3}")
#: Half of a character of UTF-16 without the other, and what may spell one.
_LONE = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")
#: A lone surrogate as it is kept.
SPELLED_OUT = re.compile(r"\\ud[89a-f][0-9a-f]{2}")


def parse_json(body: bytes) -> Json:
    """Return a body as JSON with exact numbers.

    Raises:
        ValueError: it is not JSON.
        RecursionError: it is nested too deeply to be read.

    """
    text = body.decode(json.detect_encoding(body), "surrogatepass")
    try:
        if _FAR.search(text):
            raise ValueError  # noqa: TRY301 -- perhaps a number that is kept as its text
        value = json.loads(text, parse_float=Decimal, parse_constant=str)
    except ValueError:  # no JSON, or a number beyond all limits
        value = json.loads(text, parse_float=_decimal, parse_int=_whole, parse_constant=str)
    if text.count("[") + text.count("{") > MOST_DEPTH:
        _check_depth(value)
    return _spelled_out(value) if _may_have_surrogates(text) else value


def read_json(body: bytes) -> Json:
    """Return a body as JSON with exact numbers, or `MISSING` if it cannot be read."""
    try:
        return parse_json(body)
    except (ValueError, RecursionError):
        return MISSING


def is_too_deep(body: bytes) -> bool:
    """Whether a body cannot be read only because it is nested too deeply."""
    try:
        parse_json(body)
    except (ValueError, RecursionError) as error:
        return isinstance(error, RecursionError)
    return False


def _may_have_surrogates(text: str) -> bool:
    lone = not text.isascii() and _LONE.search(text)
    return bool(lone or ("\\u" in text and _ESCAPED.search(text)))


def _check_depth(value: Json) -> None:
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [member for container in level for member in _members(container)]
    if any(isinstance(member, list | dict) for member in level):
        raise RecursionError


def _members(value: Json) -> Iterable[Json]:
    match value:
        case list():
            return cast("list[Json]", value)
        case dict():
            return cast("dict[str, Json]", value).values()
        case _:
            return ()


def _decimal(text: str) -> Decimal | str:
    return text if _FAR.search(text) else Decimal(text)


def _whole(text: str) -> int | Decimal:
    return int(text) if len(text) <= MOST_DIGITS else Decimal(text)


def _spelled_out(value: Json) -> Json:
    r"""Return a value with every lone surrogate as its escape, such as `\ud800`."""
    match value:
        case str():
            return _LONE.sub(lambda match: f"\\u{ord(match[0]):04x}", value)
        case list():
            return [_spelled_out(member) for member in cast("list[Json]", value)]
        case dict():
            members = cast("dict[str, Json]", value)
            return {str(_spelled_out(name)): _spelled_out(each) for name, each in members.items()}
        case _:
            return value
