"""The language page: every example in it is read, and nothing in the language is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay._resources import contract_dir
from assay.binding.join import bind
from assay.binding.read import read_document
from assay.binding.target import Outcomes, Target
from assay.contract.files.load import load, loads
from assay.contract.model import Contract
from assay.contract.parse import parse_document, shape_problems
from assay.errors import InputError
from assay.planning.obligation import obligations
from assay.rules.kinds import KINDS

PAGE = contract_dir() / "README.md"
TEXT = PAGE.read_text("utf-8")
SCHEMA = contract_dir() / "schema"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block of the page: its language, its first comment, its words."""

    line: int
    language: str
    sort: str
    text: str


def blocks() -> Iterator[Block]:
    """Find every fenced block of the page."""
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL):
        first = found[2].partition("\n")[0]
        yield Block(
            line=TEXT.count("\n", 0, found.start()) + 1,
            language=found[1],
            sort=first.removeprefix("# ") if first.startswith("# ") else "",
            text=found[2],
        )


BLOCKS = tuple(blocks())
EXAMPLES = "\n".join(one.text for one in BLOCKS)


def of(sort: str) -> tuple[Block, ...]:
    """Return the blocks of a sort, in the order of the page."""
    return tuple(one for one in BLOCKS if one.sort == sort)


def smallest() -> str:
    """Return the smallest contract of the page."""
    (block,) = of("contract")
    return block.text


def indented(text: str, by: int) -> str:
    """Indent every line."""
    return "".join(f"{' ' * by}{row}\n" for row in text.splitlines())


def whole(rules: tuple[Block, ...] = of("rule")) -> str:
    """Put the smallest contract, all parts and the rules together into one contract."""
    text = re.sub(
        r"^(resources|operations|rules):.*\n(  .*\n)*", "", smallest(), flags=re.MULTILINE
    )
    for name in ("hosts", "resources", "operations", "scope", "unspecified"):
        (part,) = of(f"part: {name}")
        text += f"{name}:\n{indented(part.text, 2)}"
    text += "rules:\n"
    for block in rules:
        head, *rest = [row for row in block.text.splitlines() if not row.startswith("#")]
        text += f"  - {head}\n{indented(chr(10).join(rest), 4)}"
    return text


def contract() -> Contract:
    """Parse the whole contract that the page describes in pieces."""
    return parse_document(loads(whole(), "README.md"))


def target(block: Block) -> Target:
    """Read a target file of the page."""
    return read_document(loads(block.text, str(PAGE)))


def ids(block: Block) -> str:
    """Name a block by its sort and line."""
    return f"{block.sort}-{block.line}"


def test_every_block_says_what_it_is() -> None:
    """There is no example that no test reads."""
    sorts = {one.sort.partition(":")[0] for one in BLOCKS if one.language == "yaml"}
    assert {"contract", "target", "rule", "part"} == sorts
    # The story, which is JSON, is told in harness/tests/journeys.
    assert {"yaml", "text", "json", "python"} == {one.language for one in BLOCKS}
    known = {"hosts", "resources", "operations", "scope", "unspecified", "outcomes"}
    assert {f"part: {one}" for one in known} == {
        one.sort for one in BLOCKS if one.sort.startswith("part")
    }


def test_the_smallest_contract() -> None:
    """The smallest contract is whole, has twelve lines, and nothing can be left out."""
    rows = smallest().splitlines()[1:]
    parsed = parse_document(loads(smallest()))
    assert ("meters", 1) == (parsed.id, len(parsed.clauses))
    assert 12 == len(rows)
    raw: Any = loads(smallest()).data
    for key in raw:
        rest = {name: value for name, value in raw.items() if name != key}
        with pytest.raises(InputError, match=f"'{key}' is missing"):
            parse_document(loads(yaml.safe_dump(rest)))


@pytest.mark.parametrize("block", of("rule"), ids=ids)
def test_a_rule(block: Block) -> None:
    """Each rule can be put into a contract and gives obligations."""
    parsed = parse_document(loads(whole((block,)), "README.md"))
    (clause,) = parsed.clauses
    assert any(one.clause == clause.id for one in obligations(parsed))


@pytest.mark.parametrize("block", of("target"), ids=ids)
def test_a_target(block: Block) -> None:
    """Each target file can be read."""
    assert target(block).name


def test_the_examples_belong_together() -> None:
    """All rules make one contract, and the full target file fits it."""
    full, *_ = of("target")
    (bound,) = bind([contract()], target(full))
    assert bound.obligations


def test_the_facets_are_those_of_the_rules() -> None:
    """A facet that the page names exists, and none of the examples' is left out."""
    facets: dict[str, set[str]] = {}
    for one in obligations(contract()):
        if one.kind in KINDS:
            facets.setdefault(one.kind, set()).add(one.facet)
    for kind in KINDS:
        words = set(
            re.findall(r"\((?:named after the \w+: )?`([A-Za-z0-9-]+)`[,)]", sections()[kind])
        )
        assert words, kind
        assert words <= facets[kind], kind
        assert {generic(one) for one in facets[kind]} <= {generic(one) for one in words}, kind


#: What the examples name: operations, resources, arguments, modes, kinds of customers.
NAMES = (
    "meters?|readings?|permissions|order|show|move|call-off|number|work|price|day|backTo"
    "|soon|planned|urgent|several|household|business|farm|industry|public"
)


def generic(facet: str) -> str:
    """Take the names of the examples out of a facet's."""
    return re.sub(rf"(?<![A-Za-z])({NAMES})(?![A-Za-z])", "*", facet)


def sections() -> dict[str, str]:
    """Return the text of each rule kind's section."""
    found = re.split(r"^#{2,3} `?([^`\n]+)`?$", TEXT, flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def test_every_kind_has_a_section_with_an_example() -> None:
    """A rule kind is explained under its name, by an example of it, with its needs."""
    for kind in KINDS:
        section = sections()[kind]
        assert f"kind: {kind}\n" in section
        assert "Asks" in section
        assert "Needs:" in section


def test_the_needs_are_those_of_the_rules() -> None:
    """What a section says that its kind needs is what the facets need."""
    needed: dict[str, set[str]] = {}
    for one in obligations(contract()):
        needed.setdefault(one.kind, set()).update(need.value for need in one.needs)
    for kind in KINDS:
        said = sections()[kind].rpartition("Needs:")[2].partition("\n\n")[0]
        assert needed[kind] == set(re.findall(r"`([a-z-]+)`", said)) - {"about"}, kind


@pytest.mark.parametrize(
    "name", ["contract.yaml", "target.yaml", *(f"rules/{one}.yaml" for one in KINDS)]
)
def test_every_key_is_explained(name: str) -> None:
    """No key of the language is missing on the page, neither in the words nor as an example."""
    for key in keys(load(SCHEMA / name).data):
        assert re.search(rf"`{key}(`|: )", TEXT), key
        shown = re.search(rf"(^|[\s{{,])(part: )?{key}(:|$)", EXAMPLES, re.MULTILINE)
        assert shown or key == "level", key


def keys(schema: Any) -> Iterator[str]:
    """Find the names of all properties in a schema."""
    if isinstance(schema, dict):
        for name, below in schema.items():
            if name == "properties":
                yield from below
            yield from keys(below)


def test_the_default_outcomes() -> None:
    """The outcomes that the page gives as the default are the default."""
    (part,) = of("part: outcomes")
    text = of("target")[-1].text + f"outcomes:\n{indented(part.text, 2)}"
    assert Outcomes() == read_document(loads(text, str(PAGE))).outcomes


def test_the_errors_are_the_real_ones() -> None:
    """The example of errors shows exactly what such a rule gives."""
    (wrong,) = of("rule: wrong")
    *_, shown = (one.text for one in BLOCKS if one.language == "text")
    text = whole((wrong,))
    problems = shape_problems(loads(text, "meters.yaml"))
    above = text[: text.index("rules:\n")].count("\n") + 1
    lines = [str(one).replace(f":{one.line}:", f":{one.line - above + 1}:") for one in problems]
    assert shown.splitlines() == lines


def test_links_within_the_page() -> None:
    """A link to a section leads to one, and a file that is named is there."""
    anchors = {
        re.sub(r"[^a-z0-9 -]", "", head.lower()).replace(" ", "-")
        for head in re.findall(r"^#+ (.*)$", TEXT, re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([^)]*)\)", TEXT)) <= anchors
    for name in re.findall(r"`(targets/[a-z]+\.yaml|[a-z]+\.yaml|schema/|targets/)`", TEXT):
        assert Path(contract_dir() / name).exists(), name


def test_the_world_of_the_page() -> None:
    """The example of a world written in Python is the file that a test plays with."""
    (block,) = (one for one in BLOCKS if one.language == "python")
    file = Path(__file__).parents[1] / "fixtures" / "our_bank" / "worlds.py"
    assert file.read_text(encoding="utf-8").strip() == block.text.strip()
