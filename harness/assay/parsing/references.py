"""Checks that every name in a contract refers to something, and that ids are unique.

The contract is plain data that conforms to the schema; `parse` makes values of it if there
are no errors. References in the parameters of rules are checked in `rules.parameters`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from assay.errors import did_you_mean
from assay.files.document import Finding, Pointer, found
from assay.files.load import read_zone
from assay.rules.kinds import find_kind
from assay.rules.parameters import Raw, all_known, known
from assay.rules.text_shape import PATTERN_HINT, compile_pattern

#: The value of a contract key that the source document leaves open.
OPEN: Final = "unspecified"
#: The keys of an operation that name the resource of a request.
REQUEST: Final = ("makes", "shows", "changes", "ends")
#: The sections whose entries have an id and a source.
SECTIONS: Final = ("rules", "scope", "unspecified")
_PLACEHOLDER: Final = re.compile(r"\{([^}]*)\}")
_PART: Final = re.compile(r"<([a-z_]+)>")
_ANY_HOST: Final = r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*"


def zone(raw: Raw) -> Iterator[Finding]:
    """Yield a finding if the time zone is unknown."""
    name = raw["zone"]
    if name != OPEN and isinstance(hint := read_zone(name), str):
        yield ("zone",), f"there is no time zone {found(name)}", hint


def hosts(raw: Raw) -> Iterator[Finding]:
    """Yield invalid hosts: a host has parts (`www.<bankcode>.example`), each with a pattern."""
    forms = raw.get("hosts", {})
    parts = {part for form in forms.values() for part in _PART.findall(form)}
    # A whole host can be too large although each of its parts is not.
    broken = {name for name in parts & forms.keys() if _pattern_fault(forms[name])}
    for name, form in forms.items():
        at: Pointer = ("hosts", name)
        pattern = form if name in parts else "" if broken else host_pattern(forms, name)
        fault = _pattern_fault(pattern)
        if name not in parts and "<" not in form:
            hint = "write a host (www.<bankcode>.bank.example), or a pattern for one of its parts"
            yield at, f"no host has a part <{name}>", hint
        elif name not in parts and re.search(r"[<>]", _PART.sub("", form)):
            yield (
                at,
                "a part of the host is not valid",
                "use lower-case letters and _, as in <bankcode>",
            )
        elif fault:
            what = f"this is not a regular expression: {fault}"
            yield at, what, f'for example "[0-9]{{5}}"; {PATTERN_HINT}'


def _pattern_fault(pattern: str) -> str:
    try:
        compile_pattern(pattern)
    except ValueError as error:
        return str(error)
    return ""


def host_pattern(forms: Mapping[str, str], name: str) -> str:
    """Return the pattern of a form of host; a part without a pattern matches any host name."""
    pieces = re.split(r"(<[a-z_]+>)", forms[name])
    pieces[::2] = map(re.escape, pieces[::2])
    parts = (forms.get(part.strip("<>"), _ANY_HOST) for part in pieces[1::2])
    pieces[1::2] = (f"(?:{part})" for part in parts)
    return rf"\A(?:{''.join(pieces)})\z"


def ids(raw: Raw) -> Iterator[Finding]:
    """Yield duplicate ids, in all sections."""
    first: dict[str, str] = {}
    for section in SECTIONS:
        for index, entry in enumerate(raw.get(section, ())):
            id_, where = entry["id"], f"{section}[{index}]"
            if id_ in first:
                hint = f"{first[id_]} has the same id; rename one of them"
                yield (section, index, "id"), f"duplicate id {id_!r}", hint
            first.setdefault(id_, where)


def resources(raw: Raw) -> Iterator[Finding]:
    """Yield resources whose key or owner does not exist."""
    defined = raw["resources"]
    for id_, resource in defined.items():
        at: Pointer = ("resources", id_)
        fields = resource.get("fields", ())
        if "key" in resource and resource["key"] not in fields:
            hint = did_you_mean(resource["key"], fields) or f"add it to resources.{id_}.fields"
            yield (*at, "key"), f"there is no field {found(resource['key'])}", hint
        if "of" in resource:
            yield from known((*at, "of"), resource["of"], defined, "resource")
            if "of" in defined.get(resource["of"], ()):
                hint = "name the top-level resource"
                yield (*at, "of"), f"{resource['of']!r} itself belongs to another resource", hint


def operations(raw: Raw) -> Iterator[Finding]:
    """Yield operations whose resources or path arguments do not exist."""
    for id_, operation in raw["operations"].items():
        at: Pointer = ("operations", id_)
        lists = operation.get("lists", ())
        yield from all_known((*at, "lists"), lists, raw["resources"], "resource")
        named = [
            operation[name] for name in ("about", "since", "until", "grants") if name in operation
        ]
        arguments = [*named, *operation.get("arguments", ())]
        if "about" in operation:
            misnamed = list(_about(at, operation, raw["resources"]))
            yield from misnamed
            if misnamed:
                continue  # what follows from it would only repeat it
        for where, path in (
            ((*at, "path"), operation["path"]),
            *(((*at, "aliases", n), path) for n, path in enumerate(operation.get("aliases", ()))),
        ):
            for part in _PLACEHOLDER.findall(path):
                yield from known(where, part, arguments, "argument")
        yield from _request(at, operation, arguments, raw["resources"])
        yield from _consent(at, operation, raw["operations"])
        # Operations that are unavailable or concern a request need not list a resource.
        if (
            "about" in operation
            and operation.get("available", True)
            and not any(n in operation for n in REQUEST)
        ):
            yield from _askable((*at, "about"), lists, raw["resources"])


def _about(at: Pointer, operation: Raw, defined: Raw) -> Iterator[Finding]:
    """Yield an `about` that is no key of a resource, where its path has a slot for another name."""
    keys = {resource["key"] for resource in defined.values() if "key" in resource}
    slots = _PLACEHOLDER.findall(operation["path"])
    name = operation["about"]
    others = [slot for slot in slots if slot not in operation.get("arguments", ())]
    if name not in keys and name not in slots and others:
        hint = f"did you mean {others[0]!r}?" if others[0] in keys else did_you_mean(name, keys)
        yield (*at, "about"), f"no resource has the key {found(name)}", hint


def _request(
    at: Pointer, operation: Raw, arguments: Sequence[str], defined: Raw
) -> Iterator[Finding]:
    """Yield invalid references of an operation that makes, shows, changes or ends a request."""
    keys = [name for name in REQUEST if name in operation]
    for name in keys:
        yield from known((*at, name), operation[name], defined, "resource")
        if "key" not in defined.get(operation[name], {"key": ""}):
            yield (
                (*at, name),
                f"{operation[name]!r} has no key",
                f"add `key` to resources.{operation[name]}",
            )
        if name != "makes" and "about" not in operation:
            yield (
                (*at, name),
                "`about` is missing",
                "add `about`, the argument with the key of the request",
            )
    for name in keys[1:]:
        yield (
            (*at, name),
            f"an operation cannot have both `{keys[0]}` and `{name}`",
            "split it into two operations with the same path",
        )
    yield from _unsigned(at, operation)
    for name in ("owned", "returns", "amount", "payee"):
        if name in operation:
            yield from known((*at, name), operation[name], arguments, "argument")
    if "due" in operation:
        where: Pointer = (*at, "due")
        yield from known((*where, "argument"), operation["due"]["argument"], arguments, "argument")
        modes = operation["due"].get("modes", ())
        yield from all_known((*where, "modes"), modes, operation.get("modes", ()), "mode")


def _unsigned(at: Pointer, operation: Raw) -> Iterator[Finding]:
    """Yield keys about the signature of a request that has none."""
    if "signed" in operation and "makes" not in operation:
        what = "only an operation that makes a request says whether it is signed"
        yield (*at, "signed"), what, "remove it, or add `makes`"
    elif not operation.get("signed", True) and "returns" in operation:
        what = "the request is not signed, so no customer returns from its screens"
        yield (*at, "returns"), what, "remove it, or `signed: false`"


def _consent(at: Pointer, operation: Raw, defined: Raw) -> Iterator[Finding]:
    """Yield a consent that no operation makes."""
    name = operation.get("consent")
    if name is None:
        return
    yield from known((*at, "consent"), name, defined, "operation")
    made = defined.get(name, {"grants": "", "makes": ""})
    for key in ("grants", "makes"):
        if key not in made:
            hint = f"add `{key}` to operations.{name}, or remove `consent` here"
            yield (*at, "consent"), f"the operation {name!r} makes no consent", hint
            return


def _askable(at: Pointer, lists: Sequence[str], defined: Raw) -> Iterator[Finding]:
    """Yield listed resources without an owner that `about` can name by its key."""
    if not lists:
        yield at, "an operation with `about` must list a resource", "add `lists`"
    for name in lists:
        resource = defined.get(name, {})
        if resource and "of" not in resource:
            yield at, f"{name!r} belongs to no resource", f"add `of` to resources.{name}"
        elif "key" not in defined.get(resource.get("of"), {"key": ""}):
            owner = resource["of"]
            yield at, f"{owner!r} has no key", f"add `key` to resources.{owner}"


def outline(raw: Raw) -> Iterator[Finding]:
    """Yield lines that the outline does not have, and lines with a rule that it excludes."""
    if "outline" not in raw:
        return
    titles = raw["outline"]["sections"]
    sections = {title: line_numbers(ranges) for title, ranges in titles.items()}
    for title, ranges in titles.items():
        yield from _backward(("outline", "sections", title), ranges)
    cited: dict[tuple[str, int], str] = {}
    for where, source in _places(raw):
        title, line = source["section"], source["line"]
        cited.setdefault((title, line), f"{where[0]}[{where[1]}]")
        if line and line not in sections.get(title, ()):
            hint = did_you_mean(title, sections) if title not in sections else ""
            hint = hint or "correct it, or add it to outline.sections"
            yield where, f"the outline has no line {line} in {found(title)}", hint
    for index, each in enumerate(raw["outline"].get("not-requirements", ())):
        at: Pointer = ("outline", "not-requirements", index)
        title = each["section"]
        yield from known((*at, "section"), title, sections, "section")
        yield from _backward((*at, "lines"), each["lines"])
        for line in line_numbers(each["lines"]):
            if (title, line) in cited:
                what = f"line {line} is the source of {cited[title, line]}"
                yield (*at, "lines"), what, "remove the line here"
            elif line not in sections.get(title, (line,)):
                what = f"the outline has no line {line} in {found(title)}"
                yield (*at, "lines"), what, "correct it, or add it to outline.sections"


def _backward(at: Pointer, ranges: Sequence[int | str]) -> Iterator[Finding]:
    for each in ranges:
        if not line_numbers([each]):
            yield at, f"{found(each)} has no line", "write the smaller number first"


def _places(raw: Raw) -> Iterator[tuple[Pointer, Raw]]:
    """Yield each place in the document that an entry names as a source, with its pointer."""
    for section in SECTIONS:
        for index, entry in enumerate(raw.get(section, ())):
            source = entry["source"]
            for place in source if isinstance(source, list) else [source]:
                yield (section, index, "source"), place


def line_numbers(ranges: Sequence[int | str]) -> tuple[int, ...]:
    """Return the lines of a list such as `[7, 10-15]`."""
    numbers: list[int] = []
    for each in ranges:
        first, _, last = str(each).partition("-")
        numbers.extend(range(int(first), int(last or first) + 1))
    return tuple(numbers)


def findings(raw: Raw) -> Iterator[Finding]:
    """Yield every name that refers to nothing, or to the wrong thing."""
    for section in (zone, hosts, resources, operations, outline):
        yield from section(raw)
    yield from ids(raw)
    for index, rule in enumerate(raw["rules"]):
        kind = find_kind(rule["kind"])
        if kind is not None:
            yield from kind.references(("rules", index), rule, raw)
