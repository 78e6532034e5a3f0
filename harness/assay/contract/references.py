"""Checks that every name in a contract refers to something, and that ids are unique.

The contract has the right shape already, and is still plain data; `parse` makes the
values once there are no errors. References in the parameters of rules are checked in
`rules.parameters`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from assay.contract.files.document import Finding, Pointer, found
from assay.contract.files.load import read_zone
from assay.errors import did_you_mean
from assay.rules.kinds import find_kind
from assay.rules.parameters import Raw, all_known, known

#: What a contract says where the document says nothing.
OPEN: Final = "unspecified"
#: What an operation may do with a request: each names the resource.
REQUEST: Final = ("makes", "shows", "changes", "ends")
_PLACEHOLDER: Final = re.compile(r"\{([^}]*)\}")
_PART: Final = re.compile(r"<([a-z_]+)>")


def zone(raw: Raw) -> Iterator[Finding]:
    """Find fault with the time zone."""
    name = raw["zone"]
    if name != OPEN and isinstance(hint := read_zone(name), str):
        yield ("zone",), f"there is no time zone {found(name)}", hint


def hosts(raw: Raw) -> Iterator[Finding]:
    """Find fault with hosts: a form has parts, `www.<bankcode>.example`, with patterns."""
    forms = raw.get("hosts", {})
    parts = {part for form in forms.values() for part in _PART.findall(form)}
    for name, form in forms.items():
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


def ids(raw: Raw) -> Iterator[Finding]:
    """Find ids that stand twice, in one section or in two."""
    first: dict[str, str] = {}
    for section in ("rules", "scope", "unspecified"):
        for index, one in enumerate(raw.get(section, ())):
            id_, where = one["id"], f"{section}[{index}]"
            if id_ in first:
                hint = f"{first[id_]} has it; an id names one thing only"
                yield (section, index, "id"), f"the id {id_!r} stands here twice", hint
            first.setdefault(id_, where)


def resources(raw: Raw) -> Iterator[Finding]:
    """Find fault with what resources refer to: a field of theirs, and what owns them."""
    every = raw["resources"]
    for id_, one in every.items():
        at: Pointer = ("resources", id_)
        fields = one.get("fields", ())
        if "key" in one and one["key"] not in fields:
            hint = did_you_mean(one["key"], fields) or f"add it to resources.{id_}.fields"
            yield (*at, "key"), f"there is no field {found(one['key'])}", hint
        if "of" in one:
            yield from known((*at, "of"), one["of"], every, "resource")
            if "of" in every.get(one["of"], ()):
                hint = "name the resource that stands above both"
                yield (*at, "of"), f"{one['of']!r} itself belongs to another resource", hint


def operations(raw: Raw) -> Iterator[Finding]:
    """Find fault with what operations refer to: resources, and arguments in paths."""
    for id_, one in raw["operations"].items():
        at: Pointer = ("operations", id_)
        lists = one.get("lists", ())
        yield from all_known((*at, "lists"), lists, raw["resources"], "resource")
        named = [one[name] for name in ("about", "since", "until", "grants") if name in one]
        arguments = [*named, *one.get("arguments", ())]
        for where, path in (
            ((*at, "path"), one["path"]),
            *(((*at, "aliases", n), path) for n, path in enumerate(one.get("aliases", ()))),
        ):
            for part in _PLACEHOLDER.findall(path):
                yield from known(where, part, arguments, "argument")
        yield from _request(at, one, arguments, raw["resources"])
        # What is refused anyway, or names a request, is about nothing that is listed.
        if "about" in one and one.get("available", True) and not any(n in one for n in REQUEST):
            yield from _askable((*at, "about"), lists, raw["resources"])


def _request(at: Pointer, one: Raw, arguments: Sequence[str], every: Raw) -> Iterator[Finding]:
    """What makes, shows, changes or ends a request does one of these, with a known one."""
    does = [name for name in REQUEST if name in one]
    for name in does:
        yield from known((*at, name), one[name], every, "resource")
        if "key" not in every.get(one[name], {"key": ""}):
            yield (*at, name), f"{one[name]!r} has no key", f"add `key` to resources.{one[name]}"
        if name != "makes" and "about" not in one:
            yield (*at, name), "nothing says which one it is about", "add `about`"
    for name in does[1:]:
        yield (*at, name), f"it also {does[0]} one", "write two operations of one path"
    for name in ("owned", "returns", "amount", "payee"):
        if name in one:
            yield from known((*at, name), one[name], arguments, "argument")
    if "due" in one:
        where: Pointer = (*at, "due")
        yield from known((*where, "argument"), one["due"]["argument"], arguments, "argument")
        modes = one["due"].get("modes", ())
        yield from all_known((*where, "modes"), modes, one.get("modes", ()), "mode")


def _askable(at: Pointer, lists: Sequence[str], every: Raw) -> Iterator[Finding]:
    """`about` names an owner by its key: what is listed must have such an owner."""
    if not lists:
        yield at, "it lists nothing, so it is about nothing", "add lists"
    for name in lists:
        one = every.get(name, {})
        if one and "of" not in one:
            yield at, f"{name!r} belongs to no resource", f"add `of` to resources.{name}"
        elif "key" not in every.get(one.get("of"), {"key": ""}):
            owner = one["of"]
            yield at, f"{owner!r} has no key to ask by", f"add `key` to resources.{owner}"


def findings(raw: Raw) -> Iterator[Finding]:
    """Find every name that refers to nothing, or to the wrong thing."""
    for section in (zone, hosts, resources, operations):
        yield from section(raw)
    yield from ids(raw)
    for index, rule in enumerate(raw["rules"]):
        kind = find_kind(rule["kind"])
        if kind is not None:
            yield from kind.references(("rules", index), rule, raw)
