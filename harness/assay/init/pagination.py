"""How one comes from a page to the next, and where links are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.contract.model import Json
from assay.init.name_matching import words
from assay.init.openapi_operations import EACH, SchemaLeaf
from assay.init.operation_match import MatchedOperation
from assay.init.yaml_writer import YamlEntry, gap

__all__ = ["LINKS", "all_links", "links", "next_page"]

LINKS = frozenset({"link", "href"})
MOST_LINKS = 12


def links(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield where links are, if there are any."""
    found = [one.pointer for one in all_links(shape)][:MOST_LINKS]
    if found:
        yield YamlEntry(key="links", value=found, why="these are called links")


def all_links(shape: MatchedOperation) -> list[SchemaLeaf]:
    """Return what is called a link outside of a list's items."""
    return [
        one
        for one in shape.offered.answer
        if one.kind in {"string", ""} and EACH not in one.steps and one.path & LINKS and one.steps
    ]


def next_page(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield how the next page is named, by a link before anything else."""
    leaves = [one for one in shape.offered.answer if EACH not in one.steps and one.steps]
    query = shape.offered.named("query")
    for one in leaves:
        is_text = one.kind in {"string", ""}
        if is_text and "next" in one.path and (one.path & (LINKS | {"url", "uri"})):
            yield YamlEntry(
                key="next", value=one.pointer, why=f"{one.pointer} is called a link to what is next"
            )
            return
    if "link" in {one.lower() for one in shape.offered.headers}:
        yield YamlEntry(key="next", value={"header": "Link"}, why="the answer has a header Link")
        return
    cursors = [
        one for one in leaves if {"cursor", "token"} & set(one.words) or one.words == ("next",)
    ]
    takers = [one for one in query if {"cursor", "token", "after"} & set(words(one))]
    if cursors and takers:
        value: dict[str, Json] = {"cursor": cursors[0].pointer, "query": takers[0]}
        yield YamlEntry(
            key="next", value=value, why=f"{takers[0]} takes what {cursors[0].name} gives"
        )
        return
    yield from _counted(shape, leaves)


def _counted(shape: MatchedOperation, leaves: Sequence[SchemaLeaf]) -> Iterator[YamlEntry]:
    """Yield how pages are counted, if they are; or that it is missing, if it is needed."""
    for name, one in shape.offered.named("query").items():
        for turn in ("page", "offset"):
            if turn not in words(name) or "size" in words(name) or "limit" in words(name):
                continue
            value: dict[str, Json] = {turn: name}
            first = next(
                (each for each in one.leaf.values if each.isascii() and each.isdigit()), ""
            )
            if first in {"0", "1"}:
                value["first"] = int(first)
            more = next(
                (each for each in leaves if "more" in each.words or each.words == ("has", "next")),
                None,
            )
            total = next((each for each in leaves if "total" in each.words), None)
            if more:
                value["more"] = more.pointer
            elif total:
                value["total"] = total.pointer
            yield YamlEntry(key="next", value=value, why=f"the parameter {name} counts")
            return
    every = shape.contract.clauses
    paged = {one.params.get("operation") for one in every if one.kind == "pagination"}
    if shape.operation.id in paged:
        yield gap("next", "where the link to the next page is", "/links/next")
