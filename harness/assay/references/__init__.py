"""Whether everything that a contract names exists, and an id stands for one thing only.

It has the right shape already (see `schema`), and is still plain data: the values are
made in `parse`, from data in which nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.files.document import Pointer
from assay.files.finding import Finding
from assay.files.shapes import kinds
from assay.references import sections
from assay.references.names import Raw
from assay.references.parameters import PARAMETERS
from assay.references.sections import OPEN

__all__ = ["OPEN", "findings"]


def findings(raw: Raw) -> Iterator[Finding]:
    """Find every name that refers to nothing, or to the wrong thing."""
    for section in (sections.zone, sections.hosts, sections.resources, sections.operations):
        yield from section(raw)
    yield from sections.ids(raw)
    for index, rule in enumerate(raw["rules"]):
        for name, value in rule.items() if rule["kind"] in kinds() else ():
            if name in PARAMETERS:
                at: Pointer = ("rules", index, name)
                yield from PARAMETERS[name](at, value, rule, raw)
