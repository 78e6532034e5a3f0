"""Schemas of answers: what the exported document forbids in the body of one.

Not left to Schemathesis, because it cannot read `prefixItems` in a response, and because it
names a schema behind a reference by a name of its own, under which no clause is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, cast

from assay.binding.decode import body_of
from assay.binding.json_parser import is_too_deep
from assay.binding.pointer import MISSING
from assay.contract.model import Json
from assay.fuzzing.findings import Remark
from assay.history import Wire
from assay.rules.text_shape import matches

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

#: Remarks of this module, by the names that Schemathesis has for them.
NOT_JSON: Final = "MalformedJson"
WRONG: Final = "JsonSchemaError"
#: A longer message quotes a whole answer, and is replaced.
LONGEST: Final = 200
#: The most remarks on one answer.
MOST: Final = 5


@dataclass(slots=True)
class AnswerSchemas:
    """Validates bodies of answers against a document; one validator for each schema."""

    document: Mapping[str, Any]
    _validators: dict[tuple[str, str, str, str], Validator] = field(
        default_factory=dict[tuple[str, str, str, str], "Validator"]
    )

    def remarks(self, method: str, path: str, wire: Wire) -> Iterator[Remark]:
        """Yield the remarks on the body of an answer; one that is too large to read gets none."""
        key = self._documented(method, path, wire)
        if key is None or wire.truncated or is_too_deep(wire.body):
            return
        body = body_of(wire)
        if body is MISSING:
            yield Remark(check=NOT_JSON, says="JSON deserialization error: the body is not JSON")
            return
        errors = self._validator(key).iter_errors(_plain(body))
        for error, _ in zip(errors, range(MOST), strict=False):
            where = "".join(f"/{step}" for step in error.absolute_path)
            says = error.message
            if len(says) > LONGEST:
                says = f"the value at {where or 'the top'} fails {error.validator}"
            yield Remark(
                check=WRONG,
                says="Response violates schema: " + ", ".join(says.splitlines()),
                at=tuple(map(str, error.absolute_schema_path)),
            )

    def _documented(self, method: str, path: str, wire: Wire) -> tuple[str, str, str, str] | None:
        """Return where the document has the schema of an answer, if it has one for JSON."""
        responses: Mapping[str, Any] = self.document["paths"][path][method]["responses"]
        statuses = (str(wire.status), f"{wire.status // 100}XX", "default")
        status = next((key for key in statuses if key in responses), "")
        content: Mapping[str, Any] = responses.get(status, {}).get("content", {})
        media_type = wire.media_type
        ranges = (media_type, media_type.partition("/")[0] + "/*", "*/*")
        media = next((key for key in ranges if key in content), "")
        is_json = media_type == "application/json" or media_type.endswith("+json")
        return (path, method, status, media) if media and is_json else None

    def _validator(self, key: tuple[str, str, str, str]) -> Validator:
        """Return the validator of a schema; references are into the whole document."""
        from jsonschema import Draft202012Validator, validators  # noqa: PLC0415 -- slow

        if key not in self._validators:
            path, method, status, media = key
            responses = self.document["paths"][path][method]["responses"]
            schema = responses[status]["content"][media]["schema"]
            rooted = {**schema, "components": self.document.get("components", {})}
            checker = Draft202012Validator.FORMAT_CHECKER
            bounded = cast("Any", validators).extend(Draft202012Validator, {"pattern": _pattern})
            made = bounded(rooted, format_checker=checker)
            self._validators[key] = made
        return self._validators[key]


def _pattern(_: object, pattern: str, value: object, _schema: object) -> Iterator[ValidationError]:
    """Validate `pattern` in bounded time."""
    from jsonschema import ValidationError  # noqa: PLC0415 -- as above

    if isinstance(value, str) and not matches(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _plain(value: Json) -> Any:
    """Return a value with numbers as a JSON Schema compares them; a huge one is infinite."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Json]", value)
        return {name: _plain(member) for name, member in members.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in cast("list[Json]", value)]
    return value
