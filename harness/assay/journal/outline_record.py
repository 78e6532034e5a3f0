"""Outline of a contract's document as the header of a journal has it.

It says which lines the document has and which of them the contract names, so that a report of any
part of the contract can tell a line that nothing covers from one that was not part of the run.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.contract.model import Contract, Source


def outline_record(contract: Contract) -> dict[str, object]:
    """Return what a contract says of the lines of its document; empty if it has no outline."""
    outline = contract.outline
    if not outline.sections:
        return {}
    return {
        "sections": [
            {"title": title, "lines": list(lines)} for title, lines in outline.sections.items()
        ],
        "not_requirements": [
            {"section": each.section, "lines": list(each.lines), "reason": each.reason}
            for each in outline.not_requirements
        ],
        "scope": [
            {"id": each.id, "statement": each.statement, "sources": source_records(each.sources)}
            for each in contract.scope
        ],
        "cited": _cited(contract),
    }


def source_records(sources: Iterable[Source]) -> list[dict[str, object]]:
    """Return places in the document as a journal has them."""
    return [
        {"section": source.section, "line": source.line, "text": source.text} for source in sources
    ]


def _cited(contract: Contract) -> list[dict[str, object]]:
    """Return the lines that rules and open points name, whatever part of them is tested."""
    lines: dict[str, set[int]] = {}
    clauses = (*contract.clauses, *contract.not_applicable)
    sources = [source for clause in clauses for source in clause.sources]
    sources += [source for point in contract.open_points for source in point.sources]
    for source in sources:
        if source.line:
            lines.setdefault(source.section, set()).add(source.line)
    return [{"title": title, "lines": sorted(each)} for title, each in lines.items()]
