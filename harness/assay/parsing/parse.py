"""The parser of contract files: text to `Contract`, or all errors with file, line and hint.

A contract is validated against its schema (`files.shape_check`), its names are resolved
(`references`), and then it becomes a value. The kind of each rule interprets its parameters.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, cast
from zoneinfo import ZoneInfo

from assay._resources import contract_dir, shipped_contracts
from assay.contract.model import (
    Clause,
    Contract,
    Due,
    Level,
    NotRequirement,
    OpenPoint,
    Operation,
    Outline,
    PossibleAnswer,
    Resource,
    Source,
)
from assay.errors import SOUGHT_PROBLEMS, InputError, Problem, did_you_mean
from assay.files.document import Document, Finding, problem
from assay.files.load import load_content, read_bytes, read_zone
from assay.files.shape_check import check, prebuilt, validate
from assay.parsing import answers
from assay.parsing.references import OPEN, findings, line_numbers
from assay.rules.checks import facets_of, without_refusal
from assay.rules.kinds import KINDS, installed, kind_of, schema_of
from assay.rules.rule import FEATURES, clauses_of

__all__ = ["find_contract", "parse_contract", "parse_document", "read_zone", "shape_problems"]

_Raw: TypeAlias = Mapping[str, Any]

#: The contracts that were parsed last, by path, with what stood in their files; and how many are kept.
_PARSED: dict[str, tuple[bytes, Contract]] = {}
MOST_PARSED = 16


def find_contract(name_or_path: str | Path) -> Path:
    """Return the file of a shipped contract (`aisp`), or the given path."""
    given = str(name_or_path)
    path = Path(given)
    shipped = [file.stem for file in shipped_contracts()]
    if given in shipped and not path.is_file():
        return _near(contract_dir() / f"{given}.yaml")
    if path.suffix or os.sep in given or path.exists():
        return path
    file = f"{given}.yaml"
    hint = did_you_mean(given, [*shipped, *([file] if given and Path(file).is_file() else [])])
    if not hint.startswith("did you"):
        hint += "; or give the path of a file"
    raise InputError.one(given or "''", "there is no such contract", hint=hint)


def parse_contract(path: str | Path) -> Contract:
    """Read a contract file; an `InputError` lists all its problems.

    A file with built-in kinds only is parsed once in a process, unless it has changed: a contract is
    never modified. The kinds of packages come and go.
    """
    name, content = str(path), read_bytes(path)
    before, known = _PARSED.get(name, (b"", None))
    if known is not None and before == content:
        return known
    parsed = parse_document(load_content(content, name))
    if all(clause.kind in KINDS for clause in parsed.clauses):
        if len(_PARSED) >= MOST_PARSED:
            _PARSED.clear()
        _PARSED[name] = content, parsed
    return parsed


def parse_contracts(names: Iterable[str | Path]) -> list[Contract]:
    """Read the contracts of these names or paths, each once.

    Raises:
        InputError: one has problems, or two of them have one id.

    """
    paths = {find_contract(name).absolute(): find_contract(name) for name in names}
    parsed: dict[str, Contract] = {}
    for path in paths.values():
        contract = parse_contract(path)
        if contract.id in parsed:
            what = f"a second contract with the id {contract.id!r}"
            raise InputError.one(str(path), what, hint="name one of the two")
        parsed[contract.id] = contract
    return [*parsed.values()]


def parse_document(document: Document) -> Contract:
    """Read a loaded contract file; an `InputError` lists all its problems."""
    problems = shape_problems(document)
    if not problems:
        raw = cast("_Raw", document.data)
        # What is wrong with a rule is wrong with what answers make of it, too.
        found = [*islice(findings(raw), SOUGHT_PROBLEMS)] or _answer_findings(document)
        problems = [problem(document, *finding) for finding in found]
        problems.sort(key=lambda each: each.line)
    if problems:
        raise InputError(problems)
    contract = _contract(document)
    problems = [problem(document, *finding) for finding in _facet_problems(contract)]
    if problems:
        raise InputError(problems)
    return contract


def _answer_findings(document: Document) -> Iterator[Finding]:
    """Yield what is wrong with answers; those of a shipped contract were checked before."""
    if not prebuilt().conforms("contract", document.digest):
        yield from answers.findings(document)


def _facet_problems(contract: Contract) -> Iterator[Finding]:
    """Yield clauses with two obligations of the same id, or with a requirement that no target meets."""
    for index, kind in enumerate(clauses_of(contract)):
        for key in without_refusal(kind):
            what = "no obligation of the rule expects a refusal"
            yield ("rules", index, key), what, "remove the key, or add what must be refused"
        own = kind.tpp_facet()
        facets = (*facets_of(kind), *((own,) if own else ()))
        for id_, times in Counter(facet.id for facet in facets).items():
            if times > 1:
                what = f"{times} of its obligations have the id {id_!r}"
                yield ("rules", index), what, "rename one of the names in the clause"
        for facet in facets:
            for requirement in facet.requires:
                what = f"the facet {facet.id!r} of kind {kind.name!r} requires"
                for noun, name, known in (
                    ("feature", requirement.feature, FEATURES),
                    ("operation", requirement.operation, contract.operations),
                ):
                    if name not in known:
                        hint = did_you_mean(name, known)
                        yield ("rules", index), f"{what} an unknown {noun} {name!r}", hint


def shape_problems(document: Document) -> list[Problem]:
    """Return the schema errors of a contract; each rule is checked by the schema of its kind."""
    return check(document, "contract", rule_schema=schema_of, kinds=_kind_names)


def full_shape_problems(document: Document) -> list[Problem]:
    """Return the schema errors of a contract, even of a shipped one."""
    return validate(document, "contract", rule_schema=schema_of, kinds=_kind_names)


def _kind_names() -> tuple[str, ...]:
    return (*KINDS, *installed())


def _near(path: Path) -> Path:
    """Return a path relative to the working directory, if possible, to keep messages short."""
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path


def _contract(document: Document) -> Contract:
    raw = cast("_Raw", document.data)
    zone = None if raw["zone"] == OPEN else ZoneInfo(raw["zone"])
    return Contract(
        id=raw["contract"],
        title=raw["title"],
        version=raw["version"],
        interface=raw["interface"],
        document=raw["document"],
        zone=zone,
        operations=_operations(raw["operations"]),
        resources={id_: _resource(id_, value) for id_, value in raw["resources"].items()},
        clauses=tuple(
            _clause(rule, document.line(("rules", n))) for n, rule in enumerate(raw["rules"])
        ),
        open_points=_open_points(document),
        scope=_statements(document, "scope"),
        hosts=raw.get("hosts", {}),
        outline=_outline(raw.get("outline", {})),
        path=document.path,
        digest=document.digest,
        data=document.data,
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
        until=raw.get("until"),
        available=raw.get("available", True),
        by_tpp=raw.get("by") == "tpp",
        due=_due(raw["due"]) if "due" in raw else None,
        makes=raw.get("makes"),
        shows=raw.get("shows"),
        changes=raw.get("changes"),
        ends=raw.get("ends"),
        owned=raw.get("owned"),
        amount=raw.get("amount"),
        payee=raw.get("payee"),
        returns=raw.get("returns"),
        signed=raw.get("signed", True),
        consent=raw.get("consent"),
        about_consent=False,
        given=False,
        **{name: tuple(raw.get(name, ())) for name in names},
    )


def _operations(raws: Mapping[str, _Raw]) -> dict[str, Operation]:
    """Return the operations; a request that is made by an operation that grants is a consent."""
    operations = {id_: _operation(id_, raw) for id_, raw in raws.items()}
    consents = {each.makes for each in operations.values() if each.grants and each.makes}
    return {
        id_: replace(each, about_consent=True) if each.request in consents else each
        for id_, each in operations.items()
    }


def _due(raw: _Raw) -> Due:
    return Due(argument=raw["argument"], modes=tuple(raw.get("modes", ())))


def _resource(id_: str, raw: _Raw) -> Resource:
    return Resource(
        id=id_,
        description=raw["says"],
        key=raw.get("key"),
        of=raw.get("of"),
        fields=tuple(raw.get("fields", ())),
        traits=raw.get("traits", {}),
    )


def _clause(raw: _Raw, line: int) -> Clause:
    return Clause(
        id=raw["id"],
        rule=kind_of(raw["kind"]),
        statement=raw["says"],
        sources=_sources(raw["source"]),
        level=Level(raw.get("level", Level.MUST.value)),
        params={name: value for name, value in raw.items() if name not in answers.COMMON},
        line=line,
    )


def _statements(document: Document, section: str) -> tuple[OpenPoint, ...]:
    raws = cast("list[_Raw]", document.data.get(section, []))
    return tuple(
        OpenPoint(
            id=raw["id"],
            statement=raw["says"],
            sources=_sources(raw["source"]),
            line=document.line((section, n)),
        )
        for n, raw in enumerate(raws)
    )


def _open_points(document: Document) -> tuple[OpenPoint, ...]:
    """Return the open points with the answers that a bank can give."""
    raws = cast("list[_Raw]", document.data.get("unspecified", []))
    return tuple(
        replace(
            point,
            answers={name: _answer(name, each, raw, document) for name, each in named.items()},
            opens=tuple(raw.get("opens", ())),
            stands_at=tuple(raw.get("stands-at", ())),
        )
        if (named := raw.get("answers", {})) or "opens" in raw or "stands-at" in raw
        else point
        for point, raw in zip(_statements(document, "unspecified"), raws, strict=True)
    )


def _answer(name: str, raw: _Raw, point: _Raw, document: Document) -> PossibleAnswer:
    rules = [*answers.answered_rules(cast("_Raw", document.data), point, raw)]
    line = document.line(("unspecified",))
    return PossibleAnswer(
        id=name,
        statement=raw["says"],
        parameters={rule: raw["rules"][rule] for rule, _, new in rules if not new},
        clauses=tuple(_clause(rule, line) for _, rule, new in rules if new),
    )


def _outline(raw: _Raw) -> Outline:
    sections = raw.get("sections", {}).items()
    return Outline(
        sections={title: line_numbers(lines) for title, lines in sections},
        not_requirements=tuple(
            NotRequirement(
                section=each["section"], lines=line_numbers(each["lines"]), reason=each["reason"]
            )
            for each in raw.get("not-requirements", ())
        ),
    )


def _sources(raw: _Raw | list[_Raw]) -> tuple[Source, ...]:
    places = raw if isinstance(raw, list) else [raw]
    return tuple(Source(**place) for place in places)
