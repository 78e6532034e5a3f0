"""Schema validation of contract and target files, with errors in plain words.

The schemas in `contract/schema` are JSON Schema 2020-12 and usable by any tool; only the end
of a pattern is stricter here. Each keyword has an error message of its own, built from the
`description`, `x-hint` and `x-renamed` (old spelling to new) of the schema. A rule is validated
against the schema of its kind. `references` and `binding` check the names.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from assay._resources import contract_dir
from assay.contract.model import Json
from assay.errors import SOUGHT_PROBLEMS, Problem, closest, did_you_mean
from assay.files.document import Document, Finding, Pointer, found, problem
from assay.files.load import load

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator
    from referencing import Registry


#: Any URI that relative references can be resolved against.
_BASE: Final = "file:///"
#: The schema that all others refer to.
_COMMON: Final = "common.yaml"
#: The other schemas that a schema refers to.
_REFERRED: Final[Mapping[str, tuple[str, ...]]] = {
    "target.yaml": ("contract.yaml",),
    "waivers.yaml": ("target.yaml", "contract.yaml"),
}


#: Returns the schema of the rule kind with a name; None if there is no such kind.
RuleSchema: TypeAlias = Callable[[str], Mapping[str, Json] | None]


@cache
def validator(name: str) -> Validator:
    """Return the validator of a schema file, or of a part of one (`x.yaml#/…`)."""
    registry = _registry(name.partition("#")[0])
    return cast("Validator", _strict()({"$ref": _BASE + name}, registry=registry))


@cache
def _strict() -> Any:
    """Return the validator class of all schemas; cached, because it is slow to make."""
    from jsonschema import Draft202012Validator, validators  # noqa: PLC0415 -- slow

    return cast("Any", validators).extend(
        Draft202012Validator, {"pattern": _whole_text, "uniqueItems": _unique}
    )


def described(schema: Mapping[str, Any]) -> str:
    """Return the description of a schema, or of the schema that it refers to."""
    if "description" in schema:
        return str(schema["description"])
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    for file in ("common.yaml", "contract.yaml", "target.yaml", "banks.yaml") if name else ():
        shapes = cast("dict[str, dict[str, Any]]", _schema(file).get("$defs", {}))
        if name in shapes:
            return str(shapes[name].get("description", ""))
    return ""


@cache
def _registry(name: str) -> Registry[Any]:
    """Return a registry of a schema and those it refers to; cached, because it is slow."""
    from referencing import Registry  # noqa: PLC0415
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415

    # The common schema is crawled once for all.
    below: Registry[Any] = Registry() if name == _COMMON else _registry(_COMMON)
    names = {name, *_REFERRED.get(name, ())}
    resources = [(_BASE + file, DRAFT202012.create_resource(_schema(file))) for file in names]
    return below.with_resources(cast("Any", resources)).crawl()


@cache
def schema(name: str) -> Mapping[str, Json]:
    """Return the schema of a file in `contract/schema`, from its prebuilt form if there is one."""
    made = prebuilt().schemas.get(name)
    return load(contract_dir() / "schema" / name).data if made is None else made


@cache
def _schema(name: str) -> Mapping[str, Json]:
    """Return a schema without `$schema`, which would select the standard validator."""
    data = schema(name)
    return {key: value for key, value in data.items() if key != "$schema"}


def _whole_text(
    _validator: object, pattern: str, value: object, _schema: object
) -> Iterator[ValidationError]:
    """Validate `pattern`, with a `$` that does not match before a final line break."""
    from jsonschema import ValidationError  # noqa: PLC0415

    if isinstance(value, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), value):
        yield ValidationError("pattern")


def _unique(
    _validator: object, unique: bool, value: object, _schema: object
) -> Iterator[ValidationError]:
    """Validate `uniqueItems`, also of long lists, whose items are not compared with each other."""
    from jsonschema import ValidationError  # noqa: PLC0415

    if unique and isinstance(value, list) and any(_repeated(cast("list[Json]", value))):
        yield ValidationError("uniqueItems")


def _repeated(items: list[Json]) -> Iterator[Pointer]:
    """Yield the places of items that stand in a list before, too."""
    seen: set[str] = set()
    for index, item in enumerate(items):
        spelt = json.dumps(item, sort_keys=True, default=str)
        if spelt in seen:
            yield (index,)
        seen.add(spelt)


#: Why the rest of a text is read as a key.
_COMMA: Final = "in braces, a comma ends it"
#: A name of what is a secret.
SECRET_WORD: Final = re.compile(
    r"token|password|passwd|secret|credential|(api|private).?key", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedKeyword:
    """A failed keyword of a schema, and the value that fails it.

    `is_key` is true if the value is a key of a mapping.
    """

    keyword: str
    asked: Any
    value: Any
    schema: Mapping[str, Any]
    is_key: bool = False


_Message: TypeAlias = Callable[[FailedKeyword], Iterator[Finding]]


def words(failed: FailedKeyword) -> Iterator[Finding]:
    """Yield the error messages; pointers are relative to the value."""
    write = _key if failed.is_key else _MESSAGES.get(failed.keyword, _expected)
    return write(failed)


def _expected(failed: FailedKeyword) -> Iterator[Finding]:
    schema, value = failed.schema, failed.value
    if not schema:  # the key may not be there at all
        yield (), f"expected nothing here, found {found(value)}", ""
        return
    secret = schema.get("writeOnly") and isinstance(value, str) and value
    seen = "something else, not shown here" if secret else found(value)
    wanted = schema.get("description") or f"{failed.keyword} {failed.asked}"
    hint = schema.get("x-hint", "") or _renamed(schema, value)
    if not hint and failed.keyword == "enum" and isinstance(value, str):
        close = did_you_mean(value, [str(value) for value in failed.asked])
        hint = close if close.startswith("did") else ""
    if not hint and schema.get("type") == "string" and _quotable(value):
        hint = f'write it in quotes: "{found(value)}"'
    hint = pointer_hint(value) if hint == POINTER_HINT else hint
    yield (), f"expected {wanted}, found {seen}", hint


def _quotable(value: Json) -> bool:
    """Whether the value may be text that needs quotes."""
    return isinstance(value, bool | int | Decimal)


def _const(failed: FailedKeyword) -> Iterator[Finding]:
    wanted = failed.schema.get("description") or found(failed.asked)
    yield (), f"expected {wanted}, found {found(failed.value)}", ""


def _unknown_keys(failed: FailedKeyword) -> Iterator[Finding]:
    known = set(failed.schema.get("properties", {}))
    for key, value in failed.value.items():
        if key in known:
            continue
        if SECRET_WORD.search(key) and not isinstance(value, dict | list):
            names = sorted(name for name in known if name.endswith("_env"))
            likely = (f"{key}_env", "token_env", *names)
            name = next((each for each in likely if each in names), "token_env")
            hint = f"name an environment variable instead: `{name}: BANK_TOKEN`"
            yield (key,), "a file must not contain a secret", hint
        else:
            hint = _renamed(failed.schema, key) or failed.schema.get("x-known", "")
            hint = hint or did_you_mean(key, known)
            if value is None and not hint.startswith("did"):
                hint = f"if it belongs to the text before it, quote that text: {_COMMA}"
            yield (key,), f"unknown key {found(key)}", hint


def _renamed(schema: Mapping[str, Any], word: Json) -> str:
    """Return a hint with the present spelling of a word that was renamed (`x-renamed`)."""
    names = cast("Mapping[str, str]", schema.get("x-renamed", {}))
    return f"renamed: write {names[word]!r}" if isinstance(word, str) and word in names else ""


def _one_of(failed: FailedKeyword) -> Iterator[Finding]:
    """Yield which keys are too many or missing, where each alternative is a set of keys."""
    alternatives = [_keys_of(each) for each in failed.asked]
    if not isinstance(failed.value, dict) or not all(alternatives):
        yield from _expected(failed)
        return
    known = {key for keys in alternatives for key in keys}
    present = [key for key in failed.value if key in known]
    if failed.value.keys() - failed.schema.get("properties", known):
        return  # the unknown key is an error of its own, and likely the cause
    phrase = failed.schema.get("description", "")
    hint = failed.schema.get("x-hint", "") or ("keep one" if present else "")
    seen = f"found {' and '.join(present)}" if present else "found none of them"
    yield (), f"expected {phrase}, {seen}", hint


def _keys_of(alternative: Json) -> list[str]:
    """Return the keys of an alternative that is nothing but the keys that it requires."""
    keywords = cast("dict[str, Any]", alternative) if isinstance(alternative, dict) else {}
    alone = keywords.keys() <= {"required", "maxProperties"}
    return keywords.get("required", []) if alone else []


def _missing(failed: FailedKeyword) -> Iterator[Finding]:
    """Yield the keys that are missing; a misspelt one is an error of its own already."""
    known = set(failed.schema.get("properties", {}))
    closed = failed.schema.get("additionalProperties") is False
    unknown = (key for key in failed.value if closed and key not in known)
    misspelt = {closest(key, known) for key in islice(unknown, SOUGHT_PROBLEMS)}
    for key in failed.asked:
        if key not in failed.value and key not in misspelt:
            wanted = described(failed.schema.get("properties", {}).get(key, {}))
            yield (), f"{key!r} is missing", f"expected {wanted}" if wanted else ""


def _needed(failed: FailedKeyword) -> Iterator[Finding]:
    for key, others in failed.asked.items():
        for other in others:
            if key in failed.value and other not in failed.value:
                yield (key,), f"{key} needs {other} beside it", f"add `{other}`, or remove `{key}`"


def _twice(failed: FailedKeyword) -> Iterator[Finding]:
    for at in _repeated(failed.value):
        yield at, f"duplicate item {found(failed.value[at[0]])}", "remove one"


def _too_long(failed: FailedKeyword) -> Iterator[Finding]:
    size = len(failed.value)
    yield (), f"expected at most {failed.asked} characters, found {size}", "shorten it"


def _too_much(failed: FailedKeyword) -> Iterator[Finding]:
    yield (), f"expected at most {failed.asked}, found {found(failed.value)}", ""


def _key(failed: FailedKeyword) -> Iterator[Finding]:
    wanted = failed.schema.get("description", "another name")
    what = f"expected {wanted} as the key, found {found(failed.value)}"
    hint = failed.schema.get("x-hint", "")
    if " " in failed.value.strip():
        hint = f"is it the end of the text before it? quote text with a comma: {_COMMA}"
    yield (failed.value,), what, hint


_MESSAGES: Final[Mapping[str, _Message]] = {
    "additionalProperties": _unknown_keys,
    "anyOf": _one_of,
    "const": _const,
    "dependentRequired": _needed,
    "maxLength": _too_long,
    "maximum": _too_much,
    "oneOf": _one_of,
    "required": _missing,
    "uniqueItems": _twice,
}


def check(
    document: Document,
    schema_name: str,
    *,
    rule_schema: RuleSchema | None = None,
    kinds: Callable[[], Collection[str]] = tuple,
) -> list[Problem]:
    """Validate a document against the schema `contract`, `target`, `waivers` or `banks`; return all problems.

    In a contract, each rule is validated against the schema of its kind, which `rule_schema`
    returns; `kinds` returns the names to suggest for an unknown kind. A shipped file was
    validated when its digest was recorded, and is not validated again.
    """
    if prebuilt().conforms(schema_name, document.digest):
        return []
    return validate(document, schema_name, rule_schema=rule_schema, kinds=kinds)


def validate(
    document: Document,
    schema_name: str,
    *,
    rule_schema: RuleSchema | None = None,
    kinds: Callable[[], Collection[str]] = tuple,
) -> list[Problem]:
    """Validate a document as `check` does, even if it is a shipped one."""
    if other := of_another_kind(document.data, schema_name):
        return [problem(document, (), *other)]
    known = cast("dict[str, Json]", schema(f"{schema_name}.yaml")["properties"])
    if not document.data.keys() & known.keys():
        what = f"this is no {named(schema_name)}: none of its keys is known"
        return [problem(document, (), what, "begin with `assay: 1`")]
    findings = _compare(validator(f"{schema_name}.yaml"), document.data, ())
    present = _with_present_names(_schema(f"{schema_name}.yaml"), document.data)
    if present.keys() != document.data.keys():
        # What stands below a renamed key is wrong at the same time.
        former: dict[str | int, str] = dict(zip(present, document.data, strict=True))
        below = _compare(validator(f"{schema_name}.yaml"), present, ())
        renamed = (((former[at[0]], *at[1:]), what, hint) for at, what, hint in below if at[1:])
        findings = chain(findings, renamed)
    if rule_schema is not None:
        findings = chain(findings, _rules(document.data.get("rules"), rule_schema, kinds))
    problems = _once(document, islice(findings, SOUGHT_PROBLEMS))
    return sorted(problems, key=lambda each: (each.path != document.path, each.line))


def _with_present_names(schema: Mapping[str, Any], data: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a document in which renamed keys at the top have their present names."""
    names = cast("Mapping[str, str]", schema.get("x-renamed", {}))
    if any(names[key] in data for key in names.keys() & data.keys()):
        return data
    return {names.get(key, key): value for key, value in data.items()}


def _once(document: Document, findings: Iterable[Finding]) -> list[Problem]:
    """Return one problem for what was written once: an alias repeats what stands at its anchor."""
    problems: dict[object, Problem] = {}
    for at, what, hint in findings:
        where = (*document.place(at), *at[-1:], what)
        problems.setdefault(where, problem(document, at, what, hint))
    return list(problems.values())


def _rules(
    rules: Json, rule_schema: RuleSchema, kinds: Callable[[], Collection[str]]
) -> Iterator[Finding]:
    if not isinstance(rules, list):
        return
    for index, rule in enumerate(cast("list[Json]", rules)):
        if not isinstance(rule, dict):
            continue
        raw = cast("dict[str, Json]", rule)
        kind = raw.get("kind")
        if not isinstance(kind, str):
            continue
        schema = rule_schema(kind)
        if schema is None:
            names = kinds()
            close = did_you_mean(kind, names)
            listed = f"known: {', '.join(sorted(names))}; is the package of another kind installed?"
            hint = close if close.startswith("did") else listed
            yield ("rules", index, "kind"), f"there is no rule kind {found(kind)}", hint
        else:
            yield from _compare(_of_kind(schema), raw, ("rules", index))


def rule_findings(
    rule: Mapping[str, Json], rule_schema: RuleSchema, at: Pointer
) -> Iterator[Finding]:
    """Yield what the schema of its kind finds wrong with a rule that stands at a pointer."""
    schema = rule_schema(str(rule["kind"]))
    if schema is None:
        yield (*at, "kind"), f"there is no rule kind {found(rule['kind'])}", ""
    else:
        yield from _compare(_of_kind(schema), rule, at)


def _of_kind(schema: Mapping[str, Json]) -> Validator:
    """Return the validator of a rule kind, whose schema refers to common.yaml."""
    based = {"$id": f"{_BASE}rule", **schema}
    return cast("Validator", _strict()(based, registry=_registry(_COMMON)))


def _compare(compared: Validator, value: Json, at: Pointer) -> Iterator[Finding]:
    unexpected: set[Pointer] = set()
    for error in compared.iter_errors(cast("Any", value)):
        # One error is enough for a value that is not what was expected at all.
        if str(error.validator) not in _MESSAGES:
            where = tuple(error.absolute_path)
            if where in unexpected:
                continue
            unexpected.add(where)
        failed = FailedKeyword(
            keyword=str(error.validator),
            asked=error.validator_value,
            value=error.instance,
            schema=cast("Mapping[str, Any]", error.schema or {}),  # False allows nothing
            is_key="propertyNames" in error.absolute_schema_path,
        )
        for below, what, hint in words(failed):
            yield (*at, *error.absolute_path, *below), what, hint


# -- Detection of mix-ups: a file of another kind, or a JSONPath instead of a pointer ------------
#: Of each kind, by its schema: the key with a file's name, what it is called, where it is given.
_KINDS: Final[Mapping[str, tuple[str, str, str]]] = {
    "contract": ("contract", "contract", "with --contract"),
    "target": ("target", "target file", "with --target"),
    "banks": ("fleet", "file of banks", "to `assay fleet`, or as FILE#BANK with --target"),
}


def of_another_kind(data: Mapping[str, Json], schema_name: str) -> tuple[str, str] | None:
    """Return an error and a hint for a file of another kind than that of a schema, or None."""
    if schema_name not in _KINDS:
        return None
    key, name, _ = _KINDS[schema_name]
    other = next((kind for kind in _KINDS.values() if kind[0] in data), None)
    if key in data or other is None:
        return None
    return f"this is a {other[1]}, not a {name}", f"give it {other[2]}"


def named(schema_name: str) -> str:
    """Return what a file of a schema is called."""
    return _KINDS[schema_name][1] if schema_name in _KINDS else f"file of {schema_name}"


#: The hint of the schemas at a JSON pointer.
POINTER_HINT: Final = "for example /links/next"
#: A pointer in the words of JSONPath, or without its slash.
_PATH: Final = re.compile(r"(?:\$\.)?(\w+(?:\.\w+)*)")


def pointer_hint(value: Json) -> str:
    """Return the hint for what should be a JSON pointer: the one that was meant, or an example."""
    plain = _PATH.fullmatch(value) if isinstance(value, str) else None
    return f"did you mean '/{plain[1].replace('.', '/')}'?" if plain else POINTER_HINT


# -- Prebuilt schemas: the schemas of `contract/schema` as one JSON file, which loads fast -------
# The file also has the digests of the shipped contracts and targets that were checked against
# these schemas. Every schema stands there with the digest of its YAML file: if one of the files
# has changed since, the prebuilt form is not used at all, so that it can be late but never wrong.
# A test compares it with its sources, and writes it with `--write`.
#: The schemas of the files that a command reads at its start.
SCHEMAS: Final = ("common.yaml", "contract.yaml", "target.yaml")
NAME: Final = "prebuilt.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prebuilt:
    """Schemas by the names of their files, and the digests of files that conform, by schema."""

    schemas: Mapping[str, Mapping[str, Json]] = field(default_factory=dict[str, Any])
    conforming: Mapping[str, Collection[str]] = field(default_factory=dict[str, Any])

    def conforms(self, schema_name: str, digest: str) -> bool:
        """Whether the file with this digest was checked, and conforms to a schema."""
        return digest in self.conforming.get(schema_name, ())


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of each schema in a folder."""
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in SCHEMAS}


def read_prebuilt(folder: Path) -> Prebuilt:
    """Read the prebuilt form of the schemas in a folder; it is empty if it is not up to date."""
    try:
        made: Any = json.loads((folder / NAME).read_bytes(), parse_float=Decimal)
        if made["digests"] != digests(folder):
            return Prebuilt()
        return Prebuilt(schemas=made["schemas"], conforming=made["conforming"])
    except (OSError, ValueError, TypeError, KeyError):
        return Prebuilt()


@cache
def prebuilt() -> Prebuilt:
    """Return the prebuilt form of the shipped schemas."""
    return read_prebuilt(contract_dir() / "schema")
