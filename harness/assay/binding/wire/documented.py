"""Answers held against the bank's own OpenAPI document, while they are as the bank sent them.

What differs is kept with the exchange, because a record hides private texts: there, a format or
a pattern can be judged no more. A text that is hidden already, in a recording, decides nothing.

The document is as hostile as an answer. Its patterns take bounded time, its references a bounded
number of steps, and a schema that cannot be used leaves the body open.

The library is imported with this module, which is only where a target file names a document.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import islice
from typing import Any, Final, cast
from urllib.parse import parse_qsl, quote, urlsplit

import openapi_schema_validator as oas
from jsonschema import ValidationError, validators
from jsonschema.exceptions import FormatError, best_match
from referencing import Registry, Resource

from assay.binding.model.bank_document import (
    BankDocument,
    Node,
    DocumentPart,
    is_json,
    mapping,
    plain,
    response_key,
    sequence,
)
from assay.binding.model.pointer import MISSING, is_too_deep, read_json
from assay.contract.model import Json
from assay.files.document import Pointer
from assay.history import Aspect, DocumentRemark, Wire
from assay.history.outcomes import HIDDEN
from assay.rules.formats import FORMATS
from assay.rules.text_shape import is_hidden, matches

#: How many differences of one body are named.
MOST_NAMED: Final = 3
#: How many references are followed for one body, and how many differences are looked at.
MOST_STEPS: Final = 100_000
MOST_ERRORS: Final = 100
#: Headers that have a place of their own in a document (OpenAPI, Parameter and Header Objects).
OWN_PLACE: Final = frozenset({"accept", "content-type", "authorization"})
_NO_CONTENT: Final = frozenset({204, 205, 304})
#: Keywords about a whole value, whatever in it may be hidden.
_WHOLE: Final = frozenset(
    {"anyOf", "oneOf", "not", "if", "enum", "const", "contains", "uniqueItems", "dependentSchemas"}
)
#: Those that differ where something inside them was left open.
_NEGATIVE: Final = frozenset({"oneOf", "not", "if", "contains", "unevaluatedProperties"})
#: The name of the document for its own references.
_URI: Final = "urn:bank-document"
#: What a faulty schema says in place of a difference.
UNUSABLE: Final = "the document's schema cannot be used"


def remarks(document: BankDocument, wire: Wire, body: Json) -> Iterator[DocumentRemark]:
    """Yield what a document says of an answer, one remark for each aspect that it documents.

    There is none on an answer to a call that the document does not have.
    """
    operation = document.operation(wire.method, urlsplit(wire.url).path) if wire.status else None
    if operation is None:
        return
    key = response_key(operation, wire.status)
    if not key:
        yield _undocumented(document, operation, wire)
        return
    yield DocumentRemark(aspect=Aspect.STATUS, fits=True)
    response = document.below(operation, "responses", key)
    content = mapping(response.node.get("content"))
    empty = not wire.body and not wire.truncated
    if content and not (empty and (wire.status in _NO_CONTENT or wire.status >= 300)):  # noqa: PLR2004
        yield from _content(document, document.below(response, "content"), wire, body)
    names = [*required_headers(document, response)]
    missing = [name for name in names if wire.header(name) is None]
    if names:
        says = f"the answer ({wire.status}) lacks the header {', '.join(missing)}"
        yield DocumentRemark(aspect=Aspect.HEADERS, fits=not missing, says=says if missing else "")


def _undocumented(document: BankDocument, operation: DocumentPart, wire: Wire) -> DocumentRemark:
    says = f"status {wire.status} is not documented"
    outside = next(request_faults(document, operation, wire), "")
    if outside:
        says += f", and neither is our request: {outside}"
    return DocumentRemark(aspect=Aspect.STATUS, fits=None if outside else False, says=says)


def _content(
    document: BankDocument, content: DocumentPart, wire: Wire, body: Json
) -> Iterator[DocumentRemark]:
    key, named = (
        document.media_key(content.node, wire.media_type),
        wire.media_type or "no media type",
    )
    listed = ", ".join(content.node)
    says = "" if key else f"the answer ({wire.status}) has {named}, documented is {listed}"
    yield DocumentRemark(aspect=Aspect.MEDIA_TYPE, fits=bool(key), says=says)
    media = document.below(content, key) if key else None
    if media is None or not is_json(wire.media_type) or "schema" not in media.node:
        return
    where = f"the body ({wire.status}, {wire.media_type})"
    if body is MISSING:
        open_ = wire.truncated or is_too_deep(wire.body)
        says = f"{where} is not JSON" if not open_ else f"{where} is too large to be judged"
        yield DocumentRemark(aspect=Aspect.STRUCTURE, fits=None if open_ else False, says=says)
        return
    found = differences(document, DocumentPart(at=(*media.at, "schema"), node={}), body)
    says = f"{where}: {found.says}" if found.says else ""
    yield DocumentRemark(aspect=Aspect.STRUCTURE, fits=found.fits, says=says)


def required_headers(document: BankDocument, response: DocumentPart) -> Iterator[str]:
    """Yield the names of the headers that a response must have."""
    for name in mapping(response.node.get("headers")):
        header = document.below(response, "headers", name).node
        if header.get("required") is True and name.lower() not in OWN_PLACE:
            yield name


# -- our own requests ------------------------------------------------------------------------
def request_faults(document: BankDocument, operation: DocumentPart, wire: Wire) -> Iterator[str]:
    """Yield why a request is none that the document describes, as far as can be told."""
    query = dict(parse_qsl(urlsplit(wire.url).query, keep_blank_values=True))
    for parameter in document.parameters(operation):
        name, place = str(parameter.node.get("name")), parameter.node.get("in")
        if place not in {"query", "header"} or name.lower() in OWN_PLACE:
            continue
        value = query.get(name) if place == "query" else wire.request_header(name)
        if value is None:
            if parameter.node.get("required") is True:
                yield f"the {place} parameter {name} is missing"
        elif value != HIDDEN and "schema" in parameter.node:
            at = DocumentPart(at=(*parameter.at, "schema"), node={})
            fits = [differences(document, at, each, sent=True).fits for each in _readings(value)]
            if all(each is False for each in fits):
                yield f"the {place} parameter {name} has another value than documented"
    yield from _body_faults(document, document.below(operation, "requestBody"), wire)


def _readings(value: str) -> Sequence[Json]:
    """Return what the text of a parameter may mean: a text, a JSON value, or a list of texts."""
    read = read_json(value.encode("utf-8", "replace"))
    return [value, value.split(","), *([] if read is MISSING else [read])]


def _body_faults(document: BankDocument, request: DocumentPart, wire: Wire) -> Iterator[str]:
    content = mapping(request.node.get("content"))
    if not wire.request_body:
        if request.node.get("required") is True:
            yield "the body is missing"
        return
    media_type = (wire.request_header("content-type") or "").partition(";")[0].strip().lower()
    key = document.media_key(content, media_type)
    if content and not key:
        yield f"the body is {media_type or 'of no media type'}"
    elif key and is_json(media_type) and "schema" in mapping(content.get(key)):
        at = document.below(request, "content", key)
        body = read_json(wire.request_body)
        found = differences(document, DocumentPart(at=(*at.at, "schema"), node={}), body, sent=True)
        if body is MISSING or found.fits is False:
            yield f"the body: {found.says or 'it is not JSON'}"


# -- values and schemas ----------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """Whether a value fits a schema, None if that is open; and what differs, without any value."""

    fits: bool | None
    says: str = ""


class _TooManySteps(Exception):  # noqa: N818 -- no error: the value is left open
    """A schema takes more steps than one value is worth."""


@dataclass(slots=True)
class _Validation:
    """What is known while a value is validated: the steps so far, and whether something is open."""

    steps: int = 0
    open: bool = False


_CURRENT: ContextVar[_Validation] = ContextVar("validation")


def differences(
    document: BankDocument, schema: DocumentPart, value: Json, *, sent: bool = False
) -> Differences:
    """Compare a value that was received, or `sent`, with a schema of the document."""
    current = _Validation()
    token = _CURRENT.set(current)
    try:
        validator = _validator(_Hashed(document), schema.reference, sent)
        errors = [*islice(validator.iter_errors(plain(value)), MOST_ERRORS)]
        errors = [each for each in errors if not _is_open(each, current)]
        named = [_said(best_match([each]) or each) for each in errors[:MOST_NAMED]]
    except (Exception, RecursionError) as error:  # noqa: BLE001 -- a faulty schema fails in any way
        return Differences(fits=None, says=f"{UNUSABLE} ({type(error).__name__.strip('_')})")
    finally:
        _CURRENT.reset(token)
    if not errors:
        # What is hidden may be anything, and what is not hidden fits.
        return Differences(fits=True)
    more = len(errors) - len(named)
    return Differences(fits=False, says="; ".join(named) + (f"; {more} more" if more else ""))


def _is_open(error: ValidationError, current: _Validation) -> bool:
    """Whether a difference may be that of a text that a record hides, or of what was left open."""
    if is_hidden(error.instance) or (current.open and error.validator in _NEGATIVE):
        return True
    if error.validator in _WHOLE:
        return _hides(error.instance)
    return isinstance(error.instance, dict) and any(map(is_hidden, error.instance))


def _hides(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(is_hidden(name) or _hides(each) for name, each in mapping(value).items())
    return any(map(_hides, value)) if isinstance(value, list) else is_hidden(value)


#: What a value lacks by the keyword that it differs from; others are named themselves.
_SAYS: Final[Mapping[str, str]] = {
    "enum": "is none of the documented values",
    "const": "is not the documented value",
    "pattern": "does not match the documented pattern",
    "anyOf": "fits none of the documented alternatives",
    "oneOf": "does not fit exactly one of the documented alternatives",
}


def _said(error: ValidationError) -> str:
    """Describe a difference without the value, which may be private."""
    where = "".join(f"/{step}" for step in error.absolute_path) or "the top"
    keyword, wanted = str(error.validator), error.validator_value
    instance: Any = error.instance
    if keyword == "required":
        lacking = [name for name in sequence(wanted) if error.message.startswith(repr(name))]
        return f"{where} lacks the member {', '.join(map(str, lacking))}"
    if keyword in {"additionalProperties", "unevaluatedProperties"} and isinstance(instance, dict):
        known = mapping(mapping(error.schema).get("properties"))
        return f"{where} has another member: {', '.join(name for name in instance if name not in known)}"
    if keyword == "type":
        kinds = wanted if isinstance(wanted, list) else [wanted]
        return f"{where} is not {' or '.join(map(str, kinds))}"
    if keyword == "format":
        return f"{where} is no {wanted}"
    return f"{where} {_SAYS.get(keyword) or f'fails {keyword}'}"


@dataclass(frozen=True, slots=True)
class _Hashed:
    """A document as the key of a cache, by its identity."""

    document: BankDocument

    def __hash__(self) -> int:
        return id(self.document)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and self.document is other.document


@cache
def _validator(of: _Hashed, reference: str, sent: bool) -> Any:
    """Return the validator of a schema; references are into the whole document."""
    document = of.document
    root: Any = Resource.opaque(_prepared(document.data, _is_closed(document.data)))
    registry: Any = Registry().with_resource(_URI, root)
    made = _classes()[document.is_3_0, sent]
    where = _URI + "#" + quote(reference[1:], safe="/~")
    return made({"$ref": where}, registry=registry, format_checker=made.FORMAT_CHECKER)


@cache
def _classes() -> Mapping[tuple[bool, bool], Any]:
    """Return the validator of values that are received, and sent, of both versions of OpenAPI."""
    made: dict[tuple[bool, bool], Any] = {}
    for is_3_0, sent, base in (
        (True, False, oas.OAS30ReadValidator),
        (True, True, oas.OAS30WriteValidator),
        (False, False, oas.OAS31Validator),
        (False, True, oas.OAS31Validator),
    ):
        original: Any = cast("Any", base).VALIDATORS["$ref"]
        own = {
            "$ref": _counted(original),
            "pattern": _pattern,
            "format": _format,
            "multipleOf": _multiple_of,
            "uniqueItems": _unique,
        }
        made[is_3_0, sent] = cast("Any", validators).extend(base, own)
    return made


def _prepared(node: Any, closed: bool) -> Any:
    """Return the document as the library can use it.

    It reads `patternProperties` with Python's patterns, which have no bound: such an object is left
    open. The name of a schema in a discriminator becomes a reference.
    """
    if isinstance(node, list):
        return [_prepared(each, closed) for each in sequence(node)]
    if not isinstance(node, dict):
        return node
    out = {name: _prepared(each, closed) for name, each in mapping(node).items()}
    if isinstance(out.get("patternProperties"), dict):
        out = {
            k: v for k, v in out.items() if k not in {"patternProperties", "additionalProperties"}
        }
    if not closed:
        out.pop("unevaluatedProperties", None)
    named: Any = mapping(out.get("discriminator")).get("mapping")
    if isinstance(named, dict):
        words = cast("dict[str, str]", named)
        refs = {w: r if "/" in str(r) else f"#/components/schemas/{r}" for w, r in words.items()}
        out["discriminator"] = {**mapping(out["discriminator"]), "mapping": refs}
    return out


def _is_closed(node: Any) -> bool:
    """Whether no schema has members by patterns, so that what is evaluated is known."""
    if isinstance(node, dict):
        members = mapping(node)
        return "patternProperties" not in members and all(map(_is_closed, members.values()))
    return all(map(_is_closed, sequence(node))) if isinstance(node, list) else True


def schema_faults(document: BankDocument, node: Node) -> Iterator[tuple[Pointer, str]]:
    """Yield what is wrong with a schema itself, and where; also patterns that cannot be compared."""
    made: Any = oas.OAS30Validator if document.is_3_0 else oas.OAS31Validator
    try:
        made.check_schema(node)
    except Exception as error:  # noqa: BLE001 -- as above
        path: Any = getattr(error, "absolute_path", ())
        says = str(getattr(error, "message", type(error).__name__)).partition(chr(10))[0]
        yield tuple(path), f"this is no schema: {says[:200]}"


# -- keywords, as jsonschema calls them ------------------------------------------------------
def _counted(original: Any) -> Any:
    """Return the keyword `$ref` that counts its steps: references alone let a schema grow."""

    def ref(validator: Any, where: str, value: Any, schema: Node) -> Iterator[ValidationError]:
        current = _CURRENT.get()
        current.steps += 1
        if current.steps > MOST_STEPS:
            raise _TooManySteps
        yield from original(validator, where, value, schema)

    return ref


def _pattern(_v: Any, pattern: Any, value: Any, _s: Node) -> Iterator[ValidationError]:
    """Validate `pattern` in bounded time; one that cannot be is left open."""
    try:
        fits = not isinstance(value, str) or is_hidden(value) or matches(pattern, value)
        _CURRENT.get().open |= is_hidden(value)
    except (ValueError, TypeError):
        fits, _CURRENT.get().open = True, True
    if not fits:
        yield ValidationError("pattern")


def _format(validator: Any, name: Any, value: Any, _s: Node) -> Iterator[ValidationError]:
    """Validate a format that JSON Schema, OpenAPI or Assay define; others say nothing."""
    if is_hidden(value):
        _CURRENT.get().open = True
        return
    try:
        validator.format_checker.check(value, name)
        if name in FORMATS and isinstance(value, str) and not FORMATS[name](value):
            yield ValidationError("format")
    except FormatError:
        yield ValidationError("format")
    except (ValueError, TypeError):
        _CURRENT.get().open = True


def _multiple_of(_v: Any, factor: Any, value: Any, _s: Node) -> Iterator[ValidationError]:
    """Validate `multipleOf` in decimals, in which 19.99 is a multiple of 0.01."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and Decimal(repr(value)) % Decimal(repr(factor)):
        yield ValidationError("multipleOf")


def _unique(_v: Any, unique: Any, value: Any, _s: Node) -> Iterator[ValidationError]:
    """Validate `uniqueItems` of long lists, too."""
    if unique is True and isinstance(value, list):
        items = sequence(value)
        if len({json.dumps(each, sort_keys=True) for each in items}) < len(items):
            yield ValidationError("uniqueItems")
