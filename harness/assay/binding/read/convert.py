"""Converter of the valid data of a target file into a `Target`.

A key of the file is a field of a class, and its name, type and default stand only there:
`_Converter` follows the types. `SHAPES` has the classes whose form in the file differs from
their fields. What the operations mean is not known here, for that needs a contract
(`binding.join`); names of secrets stay names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date, datetime
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

from assay.binding.model.pointer import BodyPointer, ElementPointer, UrlEndPointer
from assay.binding.model.security import (
    ALGORITHMS,
    BEARER,
    COVERS,
    ISSUING,
    Auth,
    FurtherCredential,
    OAuth,
    Signature,
    SignatureKind,
    TokenPlace,
)
from assay.binding.model.spelling import (
    MODES_ONLY,
    ErrorAt,
    FieldAt,
    ItemBinding,
    NextPage,
    OperationBinding,
    Place,
    ResourceAt,
    Spelling,
    StateAt,
    SubmissionBinding,
    Turn,
)
from assay.binding.model.submission import (
    SUBMISSION,
    SUBMITTED,
    whole_alias,
    whole_submission,
    whole_submitted,
)
from assay.binding.model.target import OutputAt, Presence, Target
from assay.files.document import Document, Pointer

T = TypeVar("T")
_Raw: TypeAlias = Mapping[str, Any]


def convert(document: Document, lines: Mapping[str, int]) -> Target:
    """Return the target; `lines` are those of its parts, by their dotted names."""
    converter = _Converter(document=document, extends=lines.get("extends", 0))
    return replace(
        converter.record(Target, document.data, ()),
        path=document.path,
        digest=document.digest,
        lines=lines,
        document=document,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Converter:
    """Converts the parts of a document; what is inherited stands at the line `extends`."""

    document: Document
    extends: int

    def record(self, kind: type[T], raw: Any, at: Pointer) -> T:
        """Return a value of a class from its keys; a field `line` is that of the part."""
        types = _types(cast("Any", kind))
        shaped = SHAPES[kind](raw) if kind in SHAPES else raw
        values = {
            name: self.value(types[name], content, (*at, name)) for name, content in shaped.items()
        }
        if "line" in types:
            path, line = self.document.place(at)
            values["line"] = line if path == self.document.path else self.extends
        return kind(**values)

    def value(self, hint: Any, raw: Any, at: Pointer) -> Any:
        """Return a value of a type.

        A single value will do for a tuple. Of a mapping in place of a tuple, each member
        has its key as its `name`. A file is relative to the file that names it.
        """
        inner, origin = get_args(hint), get_origin(hint)
        if NoneType in inner:
            (hint,) = (member for member in inner if member is not NoneType)
            return None if raw is None else self.value(hint, raw, at)
        if origin is Mapping:
            key, each = inner
            return {key(name): self.value(each, raw[name], (*at, name)) for name in raw}
        if origin in {tuple, frozenset}:
            return origin(self.value(inner[0], *member) for member in _members(raw, at))
        if is_dataclass(hint):
            return self.record(cast("type[Any]", hint), raw, at)
        if hint is Path:
            return Path(self.document.place(at)[0]).parent / raw
        return raw if hint is object else READERS.get(hint, hint)(raw)


def _members(raw: Any, at: Pointer) -> Iterator[tuple[Any, Pointer]]:
    """Yield what stands in place of a tuple, each with its pointer."""
    if isinstance(raw, dict):
        for name, part in cast("dict[str, _Raw]", raw).items():
            yield {"name": name, **part}, (*at, name)
        return
    listed: list[Any] = list(raw) if isinstance(raw, list | tuple) else [raw]
    for index, part in enumerate(listed):
        yield part, (*at, index)


@cache
def _types(kind: Any) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


#: The types that are read by something else than their constructor.
READERS: Mapping[Any, Callable[[Any], Any]] = {
    date: date.fromisoformat,
    datetime: datetime.fromisoformat,
    str: lambda raw: raw if isinstance(raw, str) else str(raw),
}


def _pointers(raw: Any) -> list[str]:
    """Return one or more pointers."""
    listed: list[Any] = raw if isinstance(raw, list) else [raw]
    return [_pointer(each) for each in listed]


def _pointer(raw: Any) -> str:
    """Return a pointer that is a text, or a mapping with what it does."""
    if isinstance(raw, str):
        return raw
    for kind in DERIVED:
        if kind.key in raw:
            return kind(_pointer(raw[kind.key]))
    return ElementPointer(raw["in"], raw["where"], raw["at"])


def _without(raw: _Raw, *names: str) -> dict[str, Any]:
    return {name: content for name, content in raw.items() if name not in names}


def _target(raw: _Raw) -> _Raw:
    """Return the keys of a target; the outcomes of an operation are laid over the common ones."""
    common = raw.get("outcomes", {})
    operations = {
        name: _with_outcomes(binding, common) for name, binding in raw.get("operations", {}).items()
    }
    return {
        **_without(raw, "assay", "extends", "target"),
        "name": raw["target"],
        "base_url": raw["base_url"].rstrip("/"),
        "hosts": [host.rstrip("/") for host in raw.get("hosts", ())],
        "banks": {
            name: {**bank, "base_url": bank["base_url"].rstrip("/")}
            for name, bank in raw.get("banks", {}).items()
        },
        "operations": operations,
    }


def _with_outcomes(binding: _Raw, common: _Raw) -> _Raw:
    """Return a binding whose own outcomes, if any, are laid over the common ones."""
    shaped = dict(binding)
    own = shaped.get("outcomes", {})
    if own:
        shaped["outcomes"] = {**common, **own}
    for part in (SUBMISSION, SUBMITTED):
        if "outcomes" in shaped.get(part, {}):
            outcomes = {**common, **own, **shaped[part]["outcomes"]}
            shaped[part] = {**shaped[part], "outcomes": outcomes}
    return shaped


def _auth(raw: _Raw) -> _Raw:
    names = _types(OAuth).keys()
    places: Any = raw.get("token_in", ())
    shaped = {**raw, "token_in": [places] if isinstance(places, dict) else places}
    if raw.get("kind") not in {kind.value for kind in ISSUING}:
        return shaped
    return {**_without(shaped, *names), "oauth": {name: raw[name] for name in names & raw.keys()}}


def _token_place(raw: _Raw) -> _Raw:
    """Return the keys of a place of the token; in `Authorization` it has its scheme."""
    place = next(place for place in Place if place.value in raw)
    name = raw[place.value]
    is_usual = place is BEARER.place and name.lower() == BEARER.name.lower()
    return {"text": BEARER.text if is_usual else "{}", **_without(raw, place.value)} | {
        "place": place,
        "name": name,
    }


def _presence(raw: _Raw) -> _Raw:
    place = next(place for place in Place if place.value in raw)
    absent = raw.get("when") == "absent"
    return {"place": place, "name": raw[place.value], "value": raw["value"], "absent": absent}


def _signature(raw: _Raw) -> _Raw:
    kind = SignatureKind(raw["kind"])
    return {"algorithm": ALGORITHMS[kind], "covers": COVERS[kind], **raw}


def _spelling(raw: _Raw) -> _Raw:
    """Return the keys of a spelling; of several pointers, the first is its name."""
    place = next(place for place in Place if place.value in raw)
    if place in MODES_ONLY:
        return {"place": place, "name": "", "value": raw[place.value].rstrip("/")}
    names = raw[place.value]
    name, *also = names if isinstance(names, list) else [names]
    shaped = {**_without(raw, place.value), "place": place, "name": name, "also": also}
    if "each" in raw:
        # The shapes of named items: one for each resource, or one for any ("").
        shaped["each"] = raw["each"]["by"] if list(raw["each"]) == ["by"] else {"": raw["each"]}
    return shaped


def _operation(raw: _Raw) -> _Raw:
    """Return the keys of a binding, with the links in headers and what is optional apart."""
    shaped = dict(raw)
    listed = raw.get("list")
    if isinstance(listed, dict):
        shaped |= {"list": [listed["at"]], "optional_list": listed.get("optional", False)}
    approval = raw.get("approval")
    if isinstance(approval, dict):
        del shaped["approval"]
        shaped |= {APPROVALS[name]: value for name, value in cast("_Raw", approval).items()}
    entries = [{"at": link} if isinstance(link, str) else link for link in raw.get("links", ())]
    shaped["links"] = [link["at"] for link in entries if "at" in link]
    shaped["optional_links"] = [link["at"] for link in entries if link.get("optional")]
    shaped["link_headers"] = [link["header"] for link in entries if "header" in link]
    if "aliases" in raw:
        names = [{"path": name} if isinstance(name, str) else name for name in raw["aliases"]]
        shaped["aliases"] = [name["path"] for name in names]
        shaped["named"] = {
            number: whole_alias(raw, name)
            for number, name in enumerate(names)
            if "arguments" in name
        }
    for part, whole in ((SUBMISSION, whole_submission), (SUBMITTED, whole_submitted)):
        if part in raw:
            shaped[part] = whole(raw)
    return shaped


def _item(raw: _Raw) -> _Raw:
    """Return the keys of an item; a key in a header has a field of its own."""
    shaped = dict(raw)
    key = raw.get("key")
    if isinstance(key, dict) and "header" in key:
        shaped["key_header"] = shaped.pop("key")["header"]
    on = raw.get("on")
    if isinstance(on, dict) and "format" in on:
        shaped |= {"on": on["at"], "on_format": on["format"]}
    for name in ("key", "on"):
        if name in shaped:
            shaped[name] = _pointers(shaped[name])
    if "id" in shaped:
        (shaped["id"],) = _pointers(shaped["id"])
    return shaped


def _field(raw: Any) -> _Raw:
    """Return the keys of a field: pointers alone, an element with its words, or all keys."""
    if not isinstance(raw, dict):
        return {"at": _pointers(raw)}
    given = cast("_Raw", raw)
    if any(kind.key in given for kind in DERIVED):
        return {"at": _pointers(given)}
    if "in" in given:
        return {**_without(given, "in", "where", "at"), "at": _pointers([given])}
    return {**given, "at": _pointers(given["at"])}


def _state(raw: _Raw) -> _Raw:
    """Return the keys of a state; a list among its values has one value for each pointer.

    What is accepted is open, too.
    """
    values: dict[str, list[Any]] = {
        name: [tuple(value) if isinstance(value, list) else value for value in known]
        for name, known in raw["values"].items()
    }
    accepted = values.pop("accepted", [])
    if accepted:
        values["open"] = [*values.get("open", ()), *accepted]
    return {**raw, "values": values, "accepted": accepted}


def _next_page(raw: Any) -> _Raw:
    """Return the keys of a next page; a pointer alone, or several, are those to a link."""
    if isinstance(raw, str | list):
        links = [raw] if isinstance(raw, str) else cast("list[str]", raw)
        return {"turn": Turn.LINK, "at": links[0], "also": links[1:]}
    given = cast("_Raw", raw)
    turn = next(turn for turn in Turn if turn.value in given)
    counted = turn in {Turn.PAGE, Turn.OFFSET, Turn.LAST}
    place, where = "query" if counted else "at", given[turn.value]
    if isinstance(where, dict):
        place, where = "body", cast("_Raw", where)["body"]
    first = {"first": 0} if turn is Turn.OFFSET else {}
    return {**first, **_without(given, turn.value), "turn": turn, place: where}


#: The kinds of pointers that are written as a mapping with their key.
DERIVED = (BodyPointer, UrlEndPointer)

#: The fields of a binding for the forms of `approval` that are no pointer.
APPROVALS: Mapping[str, str] = {"header": "approval_header", "authorize": "authorize"}

#: Returns the fields of a class from its form in the file.
SHAPES: Mapping[Any, Callable[[Any], _Raw]] = {
    Auth: _auth,
    # The code as pointers.
    ErrorAt: lambda raw: {**raw, "code": _pointers(raw["code"])} if "code" in raw else raw,
    FieldAt: _field,
    ItemBinding: _item,
    NextPage: _next_page,
    OperationBinding: _operation,
    SubmissionBinding: _operation,
    ResourceAt: lambda raw: {**raw, "at": _pointers(raw["at"])[0]},
    OutputAt: lambda raw: cast("_Raw", raw) if "header" in raw else {"at": _pointers(raw)},
    Presence: _presence,
    Signature: _signature,
    Spelling: _spelling,
    StateAt: _state,
    Target: _target,
    TokenPlace: _token_place,
    FurtherCredential: _token_place,
}
