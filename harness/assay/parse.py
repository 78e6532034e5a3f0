"""Text -> `Contract`, or every error in it with file, line and hint.

After the shape (`schema`) comes what names refer to: an operation, a resource, a
field or a trait that is named must exist, an id stands for one thing only. What a
rule's parameters mean is left to the rule of its kind.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias, cast
from zoneinfo import ZoneInfo, available_timezones

from assay._resources import contract_dir
from assay.errors import InputError, did_you_mean
from assay.load import Document, Pointer, load
from assay.model import Clause, Contract, Level, OpenPoint, Operation, Resource, Source
from assay.schema import check, found, kinds, problem

__all__ = ["find_contract", "parse_contract", "parse_document", "read_zone"]

_OPEN: Final = "unspecified"
_COMMON: Final = frozenset({"id", "kind", "says", "source", "level"})
_PLACEHOLDER: Final = re.compile(r"\{([^}]*)\}")
_PART: Final = re.compile(r"<([a-z_]+)>")

_Raw: TypeAlias = Mapping[str, Any]
#: Where, what, and a hint.
_Finding: TypeAlias = tuple[Pointer, str, str]


def find_contract(name_or_path: str | Path) -> Path:
    """Return the file of a shipped contract (`aisp`), or the path as it was given."""
    given = str(name_or_path)
    path = Path(given)
    if path.suffix or os.sep in given or path.exists():
        return path
    shipped = sorted(one.stem for one in contract_dir().glob("*.yaml"))
    if given in shipped:
        return _near(contract_dir() / f"{given}.yaml")
    raise InputError.one(
        given or "''", "there is no such contract", hint=did_you_mean(given, shipped)
    )


def parse_contract(path: str | Path) -> Contract:
    """Read a contract file; an `InputError` says everything that is wrong in it."""
    return parse_document(load(path))


def parse_document(document: Document) -> Contract:
    """Read a loaded contract."""
    problems = check(document, "contract")
    if not problems:
        raw = cast("_Raw", document.data)
        problems = [problem(document, *one) for one in _findings(raw)]
        problems.sort(key=lambda one: one.line)
    if problems:
        raise InputError(problems)
    return _contract(document)


def read_zone(name: str) -> ZoneInfo | str:
    """Return the time zone of that name, or a hint if there is none."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return did_you_mean(name, available_timezones()) or "an IANA name, as in Europe/Paris"


def _near(path: Path) -> Path:
    """Shorten a path below the working directory, so that messages are short."""
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path


# -- values -----------------------------------------------------------------------


def _contract(document: Document) -> Contract:
    raw = cast("_Raw", document.data)
    zone = None if raw["zone"] == _OPEN else ZoneInfo(raw["zone"])
    return Contract(
        id=raw["contract"],
        title=raw["title"],
        version=raw["version"],
        interface=raw["interface"],
        document=raw["document"],
        zone=zone,
        operations={id_: _operation(id_, one) for id_, one in raw["operations"].items()},
        resources={id_: _resource(id_, one) for id_, one in raw["resources"].items()},
        clauses=tuple(
            _clause(one, document.line(("rules", n))) for n, one in enumerate(raw["rules"])
        ),
        open_points=_statements(document, "unspecified"),
        scope=_statements(document, "scope"),
        hosts=raw.get("hosts", {}),
        path=document.path,
        digest=document.digest,
    )


def _operation(id_: str, raw: _Raw) -> Operation:
    names = ("aliases", "lists", "disclosures", "modes", "arguments")
    return Operation(
        id=id_,
        method=raw["method"],
        path=raw["path"],
        about=raw.get("about"),
        grants=raw.get("grants"),
        since=raw.get("since"),
        available=raw.get("available", True),
        **{name: tuple(raw.get(name, ())) for name in names},
    )


def _resource(id_: str, raw: _Raw) -> Resource:
    return Resource(
        id=id_,
        says=raw["says"],
        key=raw.get("key"),
        of=raw.get("of"),
        fields=tuple(raw["fields"]),
        traits=raw.get("traits", {}),
    )


def _clause(raw: _Raw, line: int) -> Clause:
    return Clause(
        id=raw["id"],
        kind=raw["kind"],
        says=raw["says"],
        sources=_sources(raw["source"]),
        level=Level(raw.get("level", Level.MUST.value)),
        params={name: value for name, value in raw.items() if name not in _COMMON},
        line=line,
    )


def _statements(document: Document, section: str) -> tuple[OpenPoint, ...]:
    raws = cast("list[_Raw]", document.data.get(section, []))
    return tuple(
        OpenPoint(
            id=raw["id"],
            says=raw["says"],
            sources=_sources(raw["source"]),
            line=document.line((section, n)),
        )
        for n, raw in enumerate(raws)
    )


def _sources(raw: _Raw | list[_Raw]) -> tuple[Source, ...]:
    places = raw if isinstance(raw, list) else [raw]
    return tuple(Source(**place) for place in places)


# -- references -------------------------------------------------------------------


def _findings(raw: _Raw) -> Iterator[_Finding]:
    yield from _zone(raw)
    yield from _hosts(raw.get("hosts", {}))
    for id_, one in raw["resources"].items():
        yield from _in_resource(("resources", id_), one, raw)
    for id_, one in raw["operations"].items():
        yield from _in_operation(("operations", id_), one, raw)
    yield from _ids(raw)
    for index, rule in enumerate(raw["rules"]):
        for name, value in rule.items() if rule["kind"] in kinds() else ():
            if name in _REFERENCES:
                at: Pointer = ("rules", index, name)
                yield from _REFERENCES[name](at, value, rule, raw)


def _zone(raw: _Raw) -> Iterator[_Finding]:
    zone = raw["zone"]
    if zone != _OPEN and isinstance(hint := read_zone(zone), str):
        yield ("zone",), f"there is no time zone {found(zone)}", hint


def _hosts(hosts: Mapping[str, str]) -> Iterator[_Finding]:
    """A form has parts, `www.<bankcode>.example`; a part may have a pattern."""
    parts = {part for form in hosts.values() for part in _PART.findall(form)}
    for name, form in hosts.items():
        at: Pointer = ("hosts", name)
        if name in parts:
            try:
                re.compile(form)
            except re.error as error:
                what = f"this is no regular expression: {error}"
                yield at, what, 'for example "[0-9]{5}"'
        elif "<" not in form:
            hint = "a form (www.<bankcode>.bank.example), or a pattern for its part"
            yield at, f"no host form has a part <{name}>", hint
        elif re.search(r"[<>]", _PART.sub("", form)):
            yield at, "a part is not readable", "small letters and _, as in <bankcode>"


def _ids(raw: _Raw) -> Iterator[_Finding]:
    first: dict[str, str] = {}
    for section in ("rules", "scope", "unspecified"):
        for index, one in enumerate(raw.get(section, ())):
            id_, where = one["id"], f"{section}[{index}]"
            if id_ in first:
                hint = f"{first[id_]} has it; an id names one thing only"
                yield (section, index, "id"), f"the id {id_!r} stands here twice", hint
            first.setdefault(id_, where)


def _in_resource(at: Pointer, one: _Raw, raw: _Raw) -> Iterator[_Finding]:
    if "key" in one:
        yield from _known((*at, "key"), one["key"], one["fields"], "field")
    if "of" not in one:
        return
    owner = one["of"]
    yield from _known((*at, "of"), owner, raw["resources"], "resource")
    if owner in raw["resources"] and "of" in raw["resources"][owner]:
        hint = "name the resource that stands above both"
        yield (*at, "of"), f"{owner!r} itself belongs to another resource", hint


def _in_operation(at: Pointer, one: _Raw, raw: _Raw) -> Iterator[_Finding]:
    resources = raw["resources"]
    lists = one.get("lists", ())
    yield from _all_known((*at, "lists"), lists, resources, "resource")
    named = [one[name] for name in ("about", "since", "grants") if name in one]
    arguments = [*named, *one.get("arguments", ())]
    for where, path in (
        ((*at, "path"), one["path"]),
        *(((*at, "aliases", n), path) for n, path in enumerate(one.get("aliases", ()))),
    ):
        for part in _PLACEHOLDER.findall(path):
            yield from _known(where, part, arguments, "argument")
    if "about" in one:
        yield from _askable((*at, "about"), lists, resources)


def _askable(at: Pointer, lists: list[str], resources: _Raw) -> Iterator[_Finding]:
    """`about` names an owner by its key: what is listed must have such an owner."""
    if not lists:
        yield at, "it lists nothing, so it is about nothing", "add lists"
    for name in lists:
        one = resources.get(name, {})
        if one and "of" not in one:
            yield (
                at,
                f"{name!r} belongs to no resource",
                f"add `of` to resources.{name}",
            )
        elif "key" not in resources.get(one.get("of"), {"key": ""}):
            owner = one["of"]
            yield (
                at,
                f"{owner!r} has no key to ask by",
                f"add `key` to resources.{owner}",
            )


def _known(at: Pointer, name: str, known: Any, noun: str) -> Iterator[_Finding]:
    if name not in known:
        hint = did_you_mean(name, known) or f"the contract names no {noun}"
        yield at, f"there is no {noun} {found(name)}", hint


def _all_known(at: Pointer, names: list[str], known: Any, noun: str) -> Iterator[_Finding]:
    for index, name in enumerate(names):
        yield from _known((*at, index), name, known, noun)


# -- what the parameters of rules refer to, by name ---------------------------------


def _ref_operation(at: Pointer, name: str, rule: _Raw, raw: _Raw) -> Iterator[_Finding]:
    yield from _known(at, name, raw["operations"], "operation")
    offered = raw["operations"].get(name, {}).get("available", True)
    if name in raw["operations"] and at[-1] == "operation":
        if rule["kind"] == "unavailable" and offered:
            hint = f"add `available: false` to operations.{name}"
            yield at, f"the operation {name!r} is available", hint
        elif rule["kind"] != "unavailable" and not offered:
            hint = "only a rule of kind unavailable can be about it"
            yield at, f"the operation {name!r} is not available", hint


def _ref_operations(at: Pointer, names: list[str], rule: _Raw, raw: _Raw) -> Iterator[_Finding]:
    yield from _all_known(at, names, raw["operations"], "operation")
    for index, name in enumerate(names):
        one = raw["operations"].get(name, {"about": ""})
        if not one.get("available", True):
            hint = "only a rule of kind unavailable can be about it"
            yield (*at, index), f"the operation {name!r} is not available", hint
        elif rule["kind"] == "consent-scope" and "about" not in one:
            hint = f"add `about` to operations.{name}, or leave it out here"
            yield (*at, index), f"{name!r} is not asked about one thing", hint


def _ref_grant(at: Pointer, name: str, _rule: _Raw, raw: _Raw) -> Iterator[_Finding]:
    yield from _known(at, name, raw["operations"], "operation")
    if name in raw["operations"] and "grants" not in raw["operations"][name]:
        hint = f"add `grants`, the argument that says for what, to operations.{name}"
        yield at, f"the operation {name!r} transmits no consent", hint


def _ref_resource(at: Pointer, name: str, rule: _Raw, raw: _Raw) -> Iterator[_Finding]:
    yield from _known(at, name, raw["resources"], "resource")
    lists = raw["operations"].get(rule.get("operation"), {}).get("lists", [name])
    if name in raw["resources"] and name not in lists:
        yield (
            at,
            f"{rule['operation']!r} does not list {name!r}",
            did_you_mean(name, lists),
        )


def _ref_resources(at: Pointer, names: list[str], rule: _Raw, raw: _Raw) -> Iterator[_Finding]:
    yield from _all_known(at, names, raw["resources"], "resource")
    wanted = str(rule.get("field"))
    for index, name in enumerate(names):
        fields = raw["resources"].get(name, {"fields": [wanted]})["fields"]
        if wanted not in fields:
            hint = did_you_mean(wanted, fields) or f"resources.{name}.fields is empty"
            yield (*at, index), f"{name!r} has no field {wanted!r}", hint
        elif not any(name in one.get("lists", ()) for one in raw["operations"].values()):
            yield (
                (*at, index),
                f"no operation lists {name!r}",
                "add it to the lists of one",
            )


def _ref_traits(at: Pointer, names: list[str], rule: _Raw, raw: _Raw) -> Iterator[_Finding]:
    one = raw["resources"].get(rule["resource"])
    if one:
        yield from _all_known(at, names, one.get("traits", {}), "trait")


def _ref_recent(at: Pointer, value: _Raw, rule: _Raw, raw: _Raw) -> Iterator[_Finding]:
    one = raw["resources"].get(rule["resource"])
    if one:
        yield from _known((*at, "trait"), value["trait"], one.get("traits", {}), "trait")


def _ref_format(at: Pointer, value: _Raw, rule: _Raw, _raw: _Raw) -> Iterator[_Finding]:
    for name in value:
        yield from _known((*at, name), name, rule["resources"], "resource")
    for name in rule["resources"]:
        if name not in value:
            yield at, f"it names no format for {name!r}", f"add `{name}: ...`"


def _ref_mode(at: Pointer, name: str, rule: _Raw, raw: _Raw) -> Iterator[_Finding]:
    one = raw["operations"].get(rule["operation"])
    if one:
        yield from _known(at, name, one.get("modes", ()), "mode")


def _ref_value(at: Pointer, name: str, rule: _Raw, raw: _Raw) -> Iterator[_Finding]:
    one = raw["operations"].get(rule["operation"])
    if one:
        yield from _known(at, name, one.get("disclosures", ()), "disclosure")


def _ref_to(at: Pointer, value: str, rule: _Raw, _raw: _Raw) -> Iterator[_Finding]:
    if value <= rule["from"]:
        yield at, f"the window ends at {value}, before it begins", "write two windows"


_REFERENCES: Final[Mapping[str, Any]] = {
    "operation": _ref_operation,
    "control": _ref_operation,
    "operations": _ref_operations,
    "grant": _ref_grant,
    "resource": _ref_resource,
    "resources": _ref_resources,
    "hides": _ref_traits,
    "recent": _ref_recent,
    "format": _ref_format,
    "mode": _ref_mode,
    "value": _ref_value,
    "to": _ref_to,
}
