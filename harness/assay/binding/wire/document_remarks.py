"""Answers held against the bank's own OpenAPI document, while they are as the bank sent them.

What differs is kept with the exchange, because a record hides private texts: there, a format or
a pattern can be judged no more. A text that is hidden already, in a recording, decides nothing.

The document is as hostile as an answer. Its patterns take bounded time, its references a bounded
number of steps, and a schema that cannot be used leaves the body open. The library is imported
with this module, which is only where a target file names a document.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import islice
from typing import Any, Final, cast
from urllib.parse import parse_qsl, quote, urlsplit

import openapi_schema_validator as oas
from jsonschema import Draft202012Validator, ValidationError, validators
from jsonschema.exceptions import FormatError, best_match
from referencing import Registry, Resource

from assay.binding.model.bank_document import (
    OWN_PLACE,
    BankDocument,
    DocumentPart,
    Node,
    is_json,
    mapping,
    plain,
    sequence,
)
from assay.binding.model.pointer import MISSING, is_too_deep, read_json
from assay.contract.model import Json
from assay.files.document import Pointer
from assay.history import Aspect, DocumentRemark, Wire
from assay.history.outcomes import HIDDEN
from assay.rules.formats import FORMATS
from assay.rules.text_shape import is_hidden, matches

#: How many differences of one body are named, how many are looked at, and the longest value of a keyword.
MOST_NAMED, MOST_ERRORS, LONGEST = 3, 100, 60
#: How many references are followed for one value.
MOST_STEPS: Final = 100_000
#: The name of the document for its own references.
_URI: Final = "urn:bank-document"
#: Keywords about a whole value, whatever in it may be hidden.
_WHOLE: Final = frozenset({"anyOf", "oneOf", "not", "if", "enum", "const", "contains"})
#: Those that differ where something inside them was left open.
_NEGATIVE: Final = frozenset({"oneOf", "not", "if", "contains", "unevaluatedProperties"})
#: Those whose message names members, and no value.
_NAMING: Final = frozenset({"required", "additionalProperties", "unevaluatedProperties"})


def remarks(document: BankDocument, wire: Wire, body: Json) -> Iterator[DocumentRemark]:
    """Yield what a document says of an answer, one remark for each aspect that it describes."""
    operation = document.operation(wire.method, urlsplit(wire.url).path) if wire.status else None
    if operation is None:
        return
    response = document.response(operation, wire.status)
    if response is None:
        says = f"status {wire.status} is not documented"
        outside = next(request_faults(document, operation, wire), "")
        says += f", and neither is our request: {outside}" if outside else ""
        yield DocumentRemark(aspect=Aspect.STATUS, fits=None if outside else False, says=says)
        return
    yield DocumentRemark(aspect=Aspect.STATUS, fits=True)
    content = document.below(response, "content")
    # A status may have no content, and a refusal need not have the one that is documented.
    owed = wire.body or wire.truncated or wire.status in {200, 201, 202, 203}
    if content.node and owed:
        yield from _of_content(document, content, wire, body)
    if names := [*required_headers(document, response)]:
        missing = ", ".join(name for name in names if wire.header(name) is None)
        says = f"the answer ({wire.status}) lacks the header {missing}" if missing else ""
        yield DocumentRemark(aspect=Aspect.HEADERS, fits=not missing, says=says)


def required_headers(document: BankDocument, response: DocumentPart) -> Iterator[str]:
    """Yield the names of the headers that a response must have."""
    for name in mapping(response.node.get("headers")):
        header = document.below(response, "headers", name).node
        if header.get("required") is True and name.lower() not in OWN_PLACE:
            yield name


def _of_content(
    document: BankDocument, content: DocumentPart, wire: Wire, body: Json
) -> Iterator[DocumentRemark]:
    key, named = document.media_key(content.node, wire.media_type), wire.media_type or "no type"
    says = "" if key else f"the body ({wire.status}) is {named}, not {', '.join(content.node)}"
    yield DocumentRemark(aspect=Aspect.MEDIA_TYPE, fits=bool(key), says=says)
    media = document.below(content, key) if key else content
    if key and is_json(wire.media_type) and "schema" in media.node:
        if body is MISSING:
            open_ = wire.truncated or is_too_deep(wire.body)
            fits, says = None if open_ else False, "it is too large" if open_ else "it is not JSON"
        else:
            fits, says = differences(document, media, body)
        says = f"the body ({wire.status}, {wire.media_type}): {says}" if says else ""
        yield DocumentRemark(aspect=Aspect.STRUCTURE, fits=fits, says=says)


# -- our own requests ------------------------------------------------------------------------
def request_faults(document: BankDocument, operation: DocumentPart, wire: Wire) -> Iterator[str]:
    """Yield why a request is none that the document describes, as far as can be told."""
    query = dict(parse_qsl(urlsplit(wire.url).query, keep_blank_values=True))
    for parameter in document.parameters(operation):
        name, place = str(parameter.node.get("name")), parameter.node.get("in")
        value = query.get(name) if place == "query" else wire.request_header(name)
        if value is None:
            if parameter.node.get("required") is True:
                yield f"the {place} parameter {name} is missing"
        elif value != HIDDEN and "schema" in parameter.node:
            read = read_json(value.encode("utf-8", "replace"))
            readings = [value, value.split(","), *([] if read is MISSING else [read])]
            fit = [differences(document, parameter, each, sent=True)[0] for each in readings]
            if all(each is False for each in fit):
                yield f"the {place} parameter {name} has another value than documented"
    yield from _body_faults(document, document.below(operation, "requestBody"), wire)


def _body_faults(document: BankDocument, body: DocumentPart, wire: Wire) -> Iterator[str]:
    content = document.below(body, "content")
    if not wire.request_body:
        if body.node.get("required") is True:
            yield "the body is missing"
    elif content.node:
        sent_as = (wire.request_header("content-type") or "").partition(";")[0].strip().lower()
        key = document.media_key(content.node, sent_as)
        media = document.below(content, key)
        if not key:
            yield f"the body is {sent_as or 'of no media type'}"
        elif is_json(sent_as) and "schema" in media.node:
            fits, says = differences(document, media, read_json(wire.request_body), sent=True)
            if fits is False:
                yield f"the body: {says}"


# -- values and schemas ----------------------------------------------------------------------
class _TooManySteps(Exception):  # noqa: N818 -- no error: the value is left open
    """A schema takes more steps than one value is worth."""


@dataclass(slots=True)
class _Validation:
    """What is known while a value is validated: the steps so far, and whether something is open."""

    steps: int = 0
    open: bool = False


_CURRENT: ContextVar[_Validation] = ContextVar("validation")


def errors(
    document: BankDocument, holder: DocumentPart, value: Json, *, sent: bool = False
) -> list[ValidationError]:
    """Return where a value that was received, or `sent`, does not fit, as far as that is certain.

    The schema is that of a media type or a parameter. One that is none fails in any way.
    """
    current = _Validation()
    token = _CURRENT.set(current)
    try:
        found = _validator(document, f"{holder.pointer}/schema", sent).iter_errors(plain(value))
        return [each for each in islice(found, MOST_ERRORS) if not _is_open(each, current)]
    finally:
        _CURRENT.reset(token)


def differences(
    document: BankDocument, holder: DocumentPart, value: Json, *, sent: bool = False
) -> tuple[bool | None, str]:
    """Return whether a value fits, None if that is open, and what differs, without any value."""
    try:
        found = errors(document, holder, value, sent=sent)
    except Exception as error:  # noqa: BLE001 -- a faulty schema fails in any way
        return None, f"the document's schema cannot be used ({type(error).__name__.strip('_')})"
    named = dict.fromkeys(_said(best_match([each]) or each) for each in found)
    more = f"; {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return not found, "; ".join([*named][:MOST_NAMED]) + more


def _is_open(error: ValidationError, current: _Validation) -> bool:
    """Whether a difference may be that of a text that a record hides, or of what was left open."""
    value, keyword = error.instance, error.validator
    if keyword in _WHOLE or not isinstance(value, dict | list):
        hidden = _hides(value)
    else:
        hidden = any(map(is_hidden, cast("list[Any]", value)))
    return hidden or (current.open and keyword in _NEGATIVE)


def _hides(value: Any) -> bool:
    parts = [*value, *mapping(value).values()] if isinstance(value, dict) else sequence(value)
    return is_hidden(value) or any(map(_hides, parts))


def _said(error: ValidationError) -> str:
    """Describe a difference without the value, which may be private."""
    where = "".join(f"/{step}" for step in error.absolute_path) or "the top"
    if error.validator in _NAMING:
        return f"{where}: {error.message}"
    wanted = str(error.validator_value)
    plainly = isinstance(error.validator_value, str | int | float) and len(wanted) <= LONGEST
    return f"{where} fails {error.validator}{f' {wanted}' if plainly else ''}"


@cache
def _validator(document: BankDocument, pointer: str, sent: bool) -> Any:
    """Return the validator of a schema; references are into the whole document."""
    own = oas.OAS30WriteValidator if sent else oas.OAS30ReadValidator
    base: Any = own if document.is_3_0 else oas.OAS31Validator
    known: Any = Draft202012Validator.VALIDATORS
    keywords = {"$ref": _counted(base.VALIDATORS["$ref"]), "pattern": _pattern, "format": _format}
    keywords |= {"multipleOf": _multiple_of}
    # The library follows discriminators whose names are no references.
    keywords |= {name: known[name] for name in ("anyOf", "oneOf", "allOf")}
    root: Any = Resource.opaque(_without_patterns(document.data))
    registry: Any = Registry().with_resource(_URI, root)
    made: Any = cast("Any", validators).extend(base, keywords)
    where = f"{_URI}#{quote(pointer, safe='/~')}"
    return made({"$ref": where}, registry=registry, format_checker=made.FORMAT_CHECKER)


def _without_patterns(node: Any) -> Any:
    """Leave objects open that have members by patterns, which the library reads without a bound."""
    if isinstance(node, list):
        return [*map(_without_patterns, sequence(node))]
    if not isinstance(node, dict):
        return node
    out = {name: _without_patterns(each) for name, each in mapping(node).items()}
    if isinstance(out.pop("patternProperties", None), dict):
        out["additionalProperties"] = True
    return out


def schema_fault(document: BankDocument, node: Node) -> tuple[Pointer, str] | None:
    """Return what is wrong with a schema itself, and where; None if nothing is."""
    made: Any = oas.OAS30Validator if document.is_3_0 else oas.OAS31Validator
    try:
        made.check_schema(node)
    except Exception as error:  # noqa: BLE001 -- as above
        path: Any = getattr(error, "absolute_path", ())
        return tuple(path), f"{_said(error) if isinstance(error, ValidationError) else error}"[:200]
    return None


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
        if isinstance(value, str) and not matches(pattern, value):
            yield ValidationError(f"{value!r} does not match {pattern!r}")
    except (ValueError, TypeError):
        _CURRENT.get().open = True


def _format(validator: Any, name: Any, value: Any, _s: Node) -> Iterator[ValidationError]:
    """Validate a format that JSON Schema, OpenAPI or Assay define; others say nothing."""
    fits = True
    try:
        validator.format_checker.check(value, name)
        fits = name not in FORMATS or not isinstance(value, str) or FORMATS[name](value)
    except FormatError:
        fits = False
    except (ValueError, TypeError):
        _CURRENT.get().open = True
    if not fits:
        yield ValidationError(f"{value!r} is not a {name!r}")


def _multiple_of(_v: Any, factor: Any, value: Any, _s: Node) -> Iterator[ValidationError]:
    """Validate `multipleOf` in decimals, in which 19.99 is a multiple of 0.01."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and Decimal(repr(value)) % Decimal(repr(factor)):
        yield ValidationError("multipleOf")
