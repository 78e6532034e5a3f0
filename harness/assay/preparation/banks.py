"""Reader of a file of banks: one target file as a template, and what is each bank's own.

A template is a target file with `${name}` in its texts. For each bank the variables are filled in,
the environment variables that it names are exchanged for the bank's own, and its overrides are
laid over it, as a target file is laid over the one that it extends. The target of one bank has a
name that is used like the path of a target file: `banks.yaml#first-bank`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from assay.binding.model.target import Target
from assay.contract.model import Json
from assay.errors import InputError, Problem, did_you_mean
from assay.files.document import Document, Finding, Pointer, Spot, found, problem
from assay.files.load import load, load_named
from assay.files.shape_check import SECRET_WORD, check
from assay.preparation.target_file import SUFFIXES, extended, laid_over, read_merged

_Raw: TypeAlias = Mapping[str, Any]

#: The name of an environment variable.
_ENV: Final = re.compile(r"[A-Z][A-Z0-9_]*")
#: Where a variable is filled in.
_PLACE: Final = re.compile(r"\$\{([^{}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BankEntry:
    """What a file of banks says about one bank; `raw` has its keys as they are written."""

    name: str
    contracts: tuple[str, ...]
    shards: int
    raw: _Raw = field(repr=False)

    @property
    def pointer(self) -> Pointer:
        """The place of the bank in its file."""
        return ("banks", self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class BanksFile:
    """A file of banks; `contracts` of a bank are the names of shipped contracts, or paths."""

    name: str
    path: str
    digest: str
    banks: tuple[BankEntry, ...]
    document: Document = field(repr=False)
    template: Document = field(repr=False)

    def targets(self) -> tuple[Target, ...]:
        """Return the targets of all banks.

        Raises:
            InputError: it has the problems of all banks.

        """
        targets: list[Target] = []
        problems: dict[Problem, None] = {}
        for bank in self.banks:
            try:
                targets.append(self.target(bank))
            except InputError as error:
                problems |= dict.fromkeys(error.problems)
        if problems:
            raise InputError(problems)
        return tuple(targets)

    def target(self, bank: BankEntry, waivers: Path | None = None) -> Target:
        """Return the target of a bank, with more `waivers` from a file.

        Raises:
            InputError: template and bank do not make a target file; it has all problems.

        """
        filled = _Filled(
            variables=bank.raw.get("variables", {}), secrets=bank.raw.get("secrets", {})
        )
        template = replace(self.template, data=filled.mapping(self.template.data, ()))
        problems = [problem(self.template, *finding) for finding in filled.findings]
        problems += [problem(self.document, *finding) for finding in filled.unused(bank.pointer)]
        if problems:
            raise InputError(_of_bank(bank, each) for each in problems)
        own = self._own(bank)
        try:
            return read_merged(laid_over(template, own), own, waivers=waivers)
        except InputError as error:
            raise InputError(_of_bank(bank, each) for each in error.problems) from None

    def _own(self, bank: BankEntry) -> Document:
        """Return what a bank lays over the template, as a document in the file of banks."""
        overrides = cast("dict[str, Json]", bank.raw.get("overrides", {}))
        spot = _spot(self.document.spots, bank.pointer)
        below = _spot(self.document.spots, (*bank.pointer, "overrides")).below
        below = below if isinstance(below, Mapping) else {}
        raw = json.dumps(bank.raw, sort_keys=True, default=str).encode()
        return Document(
            data={**overrides, "target": bank.name},
            path=self.path,
            digest=f"sha256:{hashlib.sha256(raw).hexdigest()}",
            spots=Spot(spot.path, spot.line, {**below, "target": spot}),
        )

    def bank(self, name: str) -> BankEntry:
        """Return the bank of a name.

        Raises:
            InputError: there is no such bank.

        """
        for bank in self.banks:
            if bank.name == name:
                return bank
        hint = did_you_mean(name, [bank.name for bank in self.banks])
        line = self.document.line(("banks",))
        raise InputError.one(self.path, f"no such bank {found(name)}", line=line, hint=hint)


def read_banks(path: str | Path) -> BanksFile:
    """Read a file of banks, and the template that it names.

    Raises:
        InputError: one of them cannot be read, or has problems.

    """
    document = load(path)
    problems = check(document, "banks")
    if not problems:
        problems = [problem(document, *finding) for finding in _secrets(document.data)]
    if problems:
        raise InputError(problems)
    raw = cast("_Raw", document.data)
    folder = Path(path).parent
    try:
        template = extended(load_named(folder / raw["template"]))
    except InputError as error:
        first = error.problems[0]
        if first.line:
            raise
        what = f"template: {found(raw['template'])}: {first.what}"
        line = document.line(("template",))
        raise InputError.one(str(path), what, line=line, hint=first.hint) from None
    return BanksFile(
        name=raw["fleet"],
        path=str(path),
        digest=document.digest,
        banks=tuple(
            BankEntry(
                name=name,
                contracts=_contracts(folder, entry.get("contracts", raw.get("contracts", ()))),
                shards=entry.get("shards", raw.get("shards", 1)),
                raw=entry,
            )
            for name, entry in raw["banks"].items()
        ),
        document=document,
        template=template,
    )


def read_bank_target(name: str, waivers: Path | None = None) -> Target | None:
    """Return the target of a bank by its name, such as `banks.yaml#first-bank`; None for another."""
    path, _, bank = name.rpartition("#")
    if not path.endswith(SUFFIXES):
        return None
    banks = read_banks(path)
    return banks.target(banks.bank(bank), waivers)


def _secrets(raw: _Raw) -> Iterator[Finding]:
    """Yield variables that seem to be secrets: a file names the variables that have them."""
    for bank, entry in raw["banks"].items():
        for name, value in entry.get("variables", {}).items():
            if SECRET_WORD.search(name) and not _ENV.fullmatch(str(value)):
                hint = "name an environment variable instead: `secrets: {BANK_TOKEN: OUR_TOKEN}`"
                what = "a file must not contain a secret"
                yield ("banks", bank, "variables", name), what, hint


def _contracts(folder: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Return contracts with paths from the working directory; a shipped name stays."""
    return tuple(
        str(folder / name) if name.endswith(SUFFIXES) or "/" in name else name for name in names
    )


def _of_bank(bank: BankEntry, found_problem: Problem) -> Problem:
    return replace(found_problem, what=f"{found_problem.what} (bank {bank.name})")


def _spot(spots: Spot, pointer: Pointer) -> Spot:
    for step in pointer:
        spots = spots.at(step) or spots
    return spots


@dataclass(slots=True, kw_only=True)
class _Filled:
    """A template that is being filled in, what was used of a bank, and what is wrong."""

    variables: Mapping[str, Json]
    secrets: Mapping[str, str]
    used: set[str] = field(default_factory=set[str])
    named: set[str] = field(default_factory=set[str])
    findings: list[Finding] = field(default_factory=list[Finding])

    def mapping(self, raw: Mapping[str, Json], at: Pointer) -> dict[str, Json]:
        """Return a mapping with its values filled in."""
        filled: dict[str, Json] = {}
        for key, value in raw.items():
            content = self._value(value, (*at, key))
            secret = key.endswith("_env") or at[-1:] == ("code_envs",)
            filled[key] = self._secret(content) if secret and isinstance(content, str) else content
        return filled

    def _value(self, value: Json, at: Pointer) -> Json:
        match value:
            case str():
                return self._text(value, at)
            case Mapping():
                return self.mapping(cast("Mapping[str, Json]", value), at)
            case list():
                items = cast("list[Json]", value)
                return [self._value(item, (*at, index)) for index, item in enumerate(items)]
            case _:
                return value

    def _text(self, text: str, at: Pointer) -> Json:
        whole = _PLACE.fullmatch(text)
        if whole:
            return self._variable(whole[1], at)
        return _PLACE.sub(lambda match: str(self._variable(match[1], at)), text)

    def _variable(self, name: str, at: Pointer) -> Json:
        self.used.add(name)
        if name in self.variables:
            return self.variables[name]
        hint = did_you_mean(name, self.variables) or "set it in the bank's variables"
        self.findings.append((at, f"no variable {found(name)}", hint))
        return ""

    def _secret(self, name: str) -> str:
        self.named.add(name)
        return self.secrets.get(name, name)

    def unused(self, bank: Pointer) -> Iterator[Finding]:
        """Yield the variables and secrets of a bank that its template does not use."""
        for name in self.variables:
            if name not in self.used:
                hint = did_you_mean(name, self.used) or f"write ${{{name}}} in the template"
                yield (*bank, "variables", name), "the template uses no such variable", hint
        for name in self.secrets:
            if name not in self.named:
                hint = did_you_mean(name, self.named)
                what = "the template names no such environment variable"
                yield (*bank, "secrets", name), what, hint
