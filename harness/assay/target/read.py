"""Text -> `Profile`, or every error in it with file, line and hint.

A target file is laid over what it extends (`target.extends`), has the right shape
(`schema`), holds what can be meant (`target.checks`), and then becomes a value
(`target.build`). What the operations mean is not known here, for that needs a contract:
see `target.join`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit

from assay.errors import InputError
from assay.files.document import Document
from assay.files.finding import problem
from assay.files.load import load
from assay.files.schema import check
from assay.target.build import build
from assay.target.checks import bad_url, findings
from assay.target.extends import extended
from assay.target.profile import Profile, Transport
from assay.target.shipped import find_target

__all__ = ["find_target", "read_document", "read_profile"]

_Raw: TypeAlias = Mapping[str, Any]


def read_profile(path: str | Path, *, base_url: str | None = None) -> Profile:
    """Read a target file; anything wrong in it is an `InputError` that says it all.

    `base_url` takes the place of the file's own, and then calls go over HTTP.
    """
    return read_document(load(path), base_url=base_url)


def read_document(document: Document, *, base_url: str | None = None) -> Profile:
    """Read a loaded target file, with all that it extends."""
    if base_url is not None and (wrong := bad_url(base_url)):
        raise InputError.one("--target", wrong[0], hint=wrong[1])
    whole = extended(document)
    problems = check(whole, "target")
    if not problems:
        raw = cast("_Raw", whole.data)
        problems = [problem(whole, *one) for one in findings(raw)]
        problems.sort(key=lambda one: (one.path != document.path, one.line))
    if problems:
        raise InputError(problems)
    profile = build(whole, _lines(document, whole))
    if base_url is None:
        return profile
    # Another address for the same bank: its other names are answered there, too.
    scheme = urlsplit(base_url).scheme
    hosts = tuple(urlsplit(one)._replace(scheme=scheme).geturl() for one in profile.hosts)
    return replace(
        profile,
        base_url=base_url.rstrip("/"),
        transport=Transport.HTTP,
        hosts=hosts,
        nearby=True,
    )


def _lines(document: Document, whole: Document) -> Mapping[str, int]:
    """Give the line of each part in the file; what is inherited stands at `extends`."""
    pointers: list[tuple[str, ...]] = [(name,) for name in whole.data]
    for name in ("operations", "not_offered", "outcomes", "auth", "world"):
        below = cast("_Raw", whole.data.get(name) or {})
        pointers += [(name, key) for key in below]
    roles = cast("_Raw", whole.data.get("world") or {}).get("roles", {})
    pointers += [("world", "roles", key) for key in roles]
    inherited = document.line(("extends",))
    lines: dict[str, int] = {}
    for pointer in pointers:
        path, line = whole.place(pointer)
        lines[".".join(pointer)] = line if path == document.path else inherited
    return lines
