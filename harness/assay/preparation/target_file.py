"""Reader of target files: text to `Target`, or every problem in it with file, line and hint.

A target file is laid over the file that it extends, and that over the next: mappings are
merged key by key, lists and other values replace, and `null` removes an inherited key. Every
value keeps the file and line where it stands. The merged document is then checked by schema
by `binding.read.checks` and by its fixture provider, and converted by `binding.read.convert`. What the operations mean is known only
with a contract: see `binding.read.join`. A name is that of a shipped target, or a path.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias, cast
from urllib.parse import urlsplit

from assay._resources import contract_dir
from assay.binding.model.bank_document import BankDocument
from assay.binding.model.submission import without_removals
from assay.binding.model.target import Target, TransportKind
from assay.binding.read.checks import bad_url, findings, waiver_findings
from assay.binding.read.convert import convert
from assay.binding.read.document_clauses import document_of
from assay.contract.model import OPENAPI, Json
from assay.errors import SOUGHT_PROBLEMS, InputError, Problem, did_you_mean
from assay.files.document import Document, Spot, found, problem
from assay.files.load import load, load_named, load_openapi
from assay.files.shape_check import check
from assay.fixtures.providers import fixture_findings

_Raw: TypeAlias = Mapping[str, Any]


def read_target(
    path: str | Path, *, base_url: str | None = None, waivers: Path | None = None
) -> Target:
    """Read a target file; an `InputError` reports all problems in it.

    `base_url` takes the place of the file's own, and then calls go over HTTP. `waivers` is a file
    of more waivers.
    """
    return read_document(load(path), base_url=base_url, waivers=waivers)


def read_document(
    document: Document, *, base_url: str | None = None, waivers: Path | None = None
) -> Target:
    """Read a loaded target file, with the files that it extends."""
    if base_url is not None and (wrong := bad_url(base_url)):
        raise InputError.one("--target", wrong[0], hint=wrong[1])
    return read_merged(extended(document), document, base_url=base_url, waivers=waivers)


def read_merged(
    merged: Document,
    document: Document,
    *,
    base_url: str | None = None,
    waivers: Path | None = None,
) -> Target:
    """Read a target file that is laid over others already; `document` is the file itself."""
    problems: list[Problem] = []
    try:
        merged = with_waivers(merged, waivers)
    except InputError as error:
        problems += error.problems
    problems += check(replace(merged, data=without_removals(merged.data)), "target")
    if not problems:
        raw = cast("_Raw", merged.data)
        problems = [problem(merged, *finding) for finding in islice(findings(raw), SOUGHT_PROBLEMS)]
        problems += [problem(merged, *finding) for finding in fixture_findings(raw)]
    if problems:
        problems.sort(key=lambda each: (each.path != document.path, each.line))
        raise InputError(problems)
    contracts = named_contracts(merged)
    target = replace(
        convert(merged, _lines(document, merged)),
        contracts=frozenset(contracts),
        contract_files={contract: path for contract, path in contracts.items() if path},
    )
    # Those that are inherited from below the file with the base URL are another bank's group.
    layers, at = (document.path, *merged.below), merged.place(("base_url",))[0]
    own = layers[: layers.index(at) + 1 if at in layers else None]
    ours = tuple(bank for bank in target.banks if merged.place(("banks", bank.name))[0] in own)
    target = replace(target, banks=ours)
    if target.openapi is not None:
        found = _document_of_bank(target)
        both = hashlib.sha256(f"{target.digest} {found.document.digest}".encode()).hexdigest()
        target = replace(target, document_of_bank=found, digest=f"sha256:{both}")
    if base_url is None:
        return target
    # Another address for the same bank: it answers there under its other host names, too.
    scheme = urlsplit(base_url).scheme

    def nearby(url: str) -> str:
        return urlsplit(url)._replace(scheme=scheme).geturl()

    return replace(
        target,
        base_url=base_url.rstrip("/"),
        transport=TransportKind.HTTP,
        hosts=tuple(map(nearby, target.hosts)),
        banks=tuple(replace(bank, base_url=nearby(bank.base_url)) for bank in target.banks),
        nearby=True,
    )


def _document_of_bank(target: Target) -> BankDocument:
    """Read the OpenAPI document that a target file names."""
    path, line = target.place(OPENAPI)
    try:
        return document_of(load_openapi(cast("Path", target.openapi)), target)
    except InputError as error:
        first = error.problems[0]
        if first.line:  # the document exists and has a problem: its own line says more
            raise
        what = f"{OPENAPI}: {target.openapi}: {first.what}"
        raise InputError.one(path, what, line=line, hint=first.hint) from None


def _lines(document: Document, merged: Document) -> Mapping[str, int]:
    """Give the line of each part in the file; what is inherited stands at `extends`."""
    pointers: list[tuple[str, ...]] = [(name,) for name in merged.data]
    for name in ("operations", "not_offered", "outcomes", "auth", "fixtures"):
        below = cast("_Raw", merged.data.get(name) or {})
        pointers += [(name, key) for key in below]
    roles = cast("_Raw", merged.data.get("fixtures") or {}).get("roles", {})
    pointers += [("fixtures", "roles", key) for key in roles]
    inherited = document.line(("extends",))
    lines: dict[str, int] = {}
    for pointer in pointers:
        path, line = merged.place(pointer)
        lines[".".join(pointer)] = line if path == document.path else inherited
    return lines


#: How many files may extend each other in a row.
_MOST: Final = 8


def extended(top: Document) -> Document:
    """Merge a file with the one that it extends, if any; errors name the wrong `extends`."""
    return _extended(top, ())


def _extended(top: Document, above: tuple[Path, ...]) -> Document:
    name = top.data.get("extends")
    if not isinstance(name, str) or not name:
        return top
    here = Path(top.path).resolve()
    base = _base(name, top)
    if base.resolve() in (*above, here):
        what = f"extends: {found(name)} extends this file, directly or indirectly"
        raise _at_extends(top, what, "remove one of the two extends")
    if len(above) >= _MOST:
        raise _at_extends(
            top, f"extends: more than {_MOST} files extend each other", "extend fewer files"
        )
    try:
        loaded = load_named(base)
    except InputError as error:
        first = error.problems[0]
        if first.line:  # the other file exists and has a problem: its own line says more
            raise
        raise _at_extends(top, f"extends: {found(name)}: {first.what}", first.hint) from None
    return laid_over(_extended(loaded, (*above, here)), top)


def _base(name: str, top: Document) -> Path:
    if name.endswith(SUFFIXES) or "/" in name:
        return Path(top.path).parent / name
    if name not in shipped():
        hint = did_you_mean(name, shipped())
        raise _at_extends(top, f"extends: no shipped target {found(name)}", hint)
    return shipped_file(name)


def _at_extends(top: Document, what: str, hint: str) -> InputError:
    return InputError.one(top.path, what, line=top.line(("extends",)), hint=hint)


def laid_over(base: Document, top: Document) -> Document:
    """Return a document laid over another one."""
    data, spots = _merge((base.data, base.spots), (top.data, top.spots))
    both = hashlib.sha256(f"{top.digest} {base.digest}".encode()).hexdigest()
    return Document(
        data=cast("dict[str, Json]", data),
        path=top.path,
        digest=f"sha256:{both}",
        spots=spots,
        below=(*top.below, base.path, *base.below),
    )


def _merge(base: tuple[Any, Spot], top: tuple[Any, Spot]) -> tuple[Any, Spot]:
    below, above = base[0], top[0]
    if not isinstance(below, dict) or not isinstance(above, dict):
        return top
    data: dict[str, Any] = dict(cast("dict[str, Any]", below))
    if "value" in above:
        data.pop("others", None)  # they are as good as the value that is replaced
    spots: dict[str, Spot] = {key: _below(base[1], key) for key in data}
    for key, value in cast("dict[str, Any]", above).items():
        if value is None and key in data:
            del data[key]
            spots[key] = _below(top[1], key)  # where it was removed
            continue
        pair = value, _below(top[1], key)
        data[key], spots[key] = _merge((data[key], spots[key]), pair) if key in data else pair
    return data, Spot(top[1].path, top[1].line, spots)


def _below(spot: Spot, key: str) -> Spot:
    return spot.at(key) or spot


#: How the names of target files and contracts end.
SUFFIXES: Final = (".yaml", ".yml")


def find_target(name_or_path: str | Path) -> Path:
    """Return the file of a shipped target (`sandbox`), or the path as it was given."""
    given = str(name_or_path)
    path = Path(given)
    # A folder of this name is no target file: `assay run` works in every folder.
    if given in shipped() and not path.is_file():
        return shipped_file(given)
    if path.suffix in SUFFIXES or os.sep in given or path.exists():
        return path
    hint = did_you_mean(given, shipped())
    raise InputError.one(given or "''", "no such target", hint=hint)


def shipped() -> list[str]:
    """Return the names of the shipped targets."""
    return sorted(path.stem for path in _folder().glob("*.yaml"))


def shipped_file(name: str) -> Path:
    """Return the file of a shipped target."""
    return _folder() / f"{name}.yaml"


def _folder() -> Path:
    return contract_dir() / "targets"


# -- Contracts that a target file names: by the id of a contract, or by the path of its file -----
#: The key of the list.
KEY: Final = "contracts"


def is_file(name: str) -> bool:
    """Whether a name is the path of a file, and not the id of a contract."""
    return "/" in name or name.endswith(SUFFIXES)


def named_contracts(document: Document) -> Mapping[str, str]:
    """Return the contracts of a target file by their ids: the path of each, or "" for an id alone.

    A path is relative to the file where it stands.

    Raises:
        InputError: a file cannot be read, or is no contract.

    """
    contracts: dict[str, str] = {}
    problems: list[Problem] = []
    for index, name in enumerate(cast("list[str]", document.data.get(KEY, ()))):
        if not is_file(name):
            contracts.setdefault(name, "")
            continue
        stands, line = document.place((KEY, index))
        path = str(Path(stands).parent / name)
        try:
            contract = load_named(path).data.get("contract")
            what = "this is not a contract file (it has no key `contract`)"
        except InputError as error:
            if Path(path).is_file():
                problems += error.problems  # of the contract file, at its own lines
                continue
            contract, what = None, error.problems[0].what
        if isinstance(contract, str):
            contracts[contract] = path
        else:
            hint = "write the id of a shipped contract, or the path of a contract file"
            what = f"{KEY}.{index}: {found(name)}: {what}"
            problems.append(Problem(path=stands, line=line, what=what, hint=hint, key=KEY))
    if problems:
        raise InputError(problems)
    return contracts


# -- Files of waivers: read, checked, and laid into the target file that names them --------------
# `waivers` of a target file is a list, or the path of such a file, relative to the file that names
# it. A run can name one more (`--waivers`). Each waiver keeps the file and line where it stands.
#: The key of the list, in a target file and in a file of waivers.
WAIVERS = "waivers"


def with_waivers(target: Document, extra: Path | None = None) -> Document:
    """Return a target file with the waivers of the file that it names, and of an `extra` one.

    Raises:
        InputError: a file cannot be read, or has problems.

    """
    named = target.data.get(WAIVERS)
    if isinstance(named, str):
        target = _with(target, _named(target, named), [], ())
    if extra is None:
        return target
    listed = target.data.get(WAIVERS, [])
    if not isinstance(listed, list):
        return target  # the check of the target file reports it
    own = target.spots.at(WAIVERS)
    return _with(target, read_waivers(extra), listed, own.below if own else ())


def read_waivers(path: str | Path) -> Document:
    """Read and check a file of waivers.

    Raises:
        InputError: it cannot be read, or has problems.

    """
    document = load_named(path)
    problems = check(document, WAIVERS)
    if not problems:
        waivers = cast("list[Mapping[str, Any]]", document.data[WAIVERS])
        problems = [problem(document, *each) for each in waiver_findings(waivers)]
    if problems:
        raise InputError(problems)
    return document


def _named(target: Document, name: str) -> Document:
    """Read the file that a target file names."""
    stands, line = target.place((WAIVERS,))
    try:
        return read_waivers(Path(stands).parent / name)
    except InputError as error:
        first = error.problems[0]
        if first.line:  # the file exists and has a problem: its own line says more
            raise
        what = f"{WAIVERS}: {found(name)}: {first.what}"
        hint = "write a list of waivers, or the path of a file of waivers"
        raise InputError.one(stands, what, line=line, hint=hint) from None


def _with(
    target: Document, file: Document, before: object, places: Sequence[Spot] | Mapping[str, Spot]
) -> Document:
    """Return a target file with the waivers of a file, after those that it has already."""
    listed = [*cast("list[object]", before or []), *cast("list[object]", file.data[WAIVERS])]
    of_file = file.spots.at(WAIVERS) or file.spots
    below = [*cast("Sequence[Spot]", places), *cast("Sequence[Spot]", of_file.below)]
    spots = dict(cast("Mapping[str, Spot]", target.spots.below))
    spots[WAIVERS] = Spot(of_file.path, of_file.line, below)
    both = hashlib.sha256(f"{target.digest} {file.digest}".encode()).hexdigest()
    return Document(
        data={**target.data, WAIVERS: listed},
        path=target.path,
        digest=f"sha256:{both}",
        spots=Spot(target.spots.path, target.spots.line, spots),
    )
