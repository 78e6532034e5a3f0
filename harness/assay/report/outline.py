"""Outline of a contract's document in a report: its lines by section, as the journal has them.

The header line of a journal has it where the contract file does. It is read here, cleaned like
every other text of a report; the matrix of source lines (`source_matrix`) is computed from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from assay.contract.model import NotRequirement, OpenPoint, Source
from assay.journal.lines import Line
from assay.report.sanitize import shown_text

#: The title of a section of the document, and numbers of its lines.
SectionLines: TypeAlias = tuple[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractOutline:
    """What a contract says of the lines of its document besides its rules and open points.

    `sections` are the title and the lines of each section, `cited` those lines that a clause or an
    open point of the contract names, whether or not it was part of the run. The statements of
    `scope` say who is covered; they are not tested.
    """

    contract: str
    document: str = ""
    sections: tuple[SectionLines, ...]
    cited: tuple[SectionLines, ...] = ()
    not_requirements: tuple[NotRequirement, ...] = ()
    scope: tuple[OpenPoint, ...] = ()


def contract_outlines(header: Line) -> tuple[ContractOutline, ...]:
    """Read the outlines of the contracts in the header line."""
    contracts = (each for each in header.objects("contracts") if "outline" in each.values)
    return tuple(map(_contract_outline, contracts))


def read_sources(line: Line) -> tuple[Source, ...]:
    """Read the places in the document that a line names."""
    return tuple(
        Source(
            section=shown_text(source, "section"),
            line=source.number_of("line", 0),
            text=shown_text(source, "text"),
        )
        for source in line.objects("sources")
    )


def _contract_outline(contract: Line) -> ContractOutline:
    outline = contract.inner("outline")
    return ContractOutline(
        contract=shown_text(contract, "id"),
        document=shown_text(contract, "document"),
        sections=_section_lines(outline, "sections"),
        cited=_section_lines(outline, "cited"),
        not_requirements=tuple(
            NotRequirement(
                section=shown_text(each, "section"),
                lines=tuple(each.list_of("lines", int)),
                reason=shown_text(each, "reason"),
            )
            for each in outline.objects("not_requirements")
        ),
        scope=tuple(
            OpenPoint(
                id=shown_text(each, "id"),
                statement=shown_text(each, "statement"),
                sources=read_sources(each),
            )
            for each in outline.objects("scope")
        ),
    )


def _section_lines(outline: Line, key: str) -> tuple[SectionLines, ...]:
    return tuple(
        (shown_text(section, "title"), tuple(section.list_of("lines", int)))
        for section in outline.objects(key)
    )
