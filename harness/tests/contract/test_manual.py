"""The manual: every example on its pages works, every link leads somewhere, no key is left out."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from rows import for_each

import assay
from assay import pytest_plugin
from assay._resources import contract_dir
from assay.binding.model.target import Outcomes, Target
from assay.binding.read.join import bind
from assay.cli.main import COMMANDS, find_command
from assay.contract.model import Capability, Contract
from assay.errors import Exit, InputError
from assay.files.load import load, loads
from assay.fixtures import spi
from assay.onboarding.init.foreign_document import read as read_foreign
from assay.onboarding.init.openapi_operations import openapi_operations
from assay.parsing.parse import parse_document, shape_problems
from assay.preparation.banks import read_banks
from assay.preparation.target_file import read_document
from assay.rules.kinds import KINDS
from assay.rules.obligation import obligations
from assay.rules.verdict import Standing

ROOT = Path(__file__).parents[3]
PAGES = {page.name: page.read_text("utf-8") for page in sorted((ROOT / "contract").glob("*.md"))}
TEXT = "\n".join(PAGES.values())
SCHEMA = contract_dir() / "schema"
#: Pages outside of the manual whose links are checked with it.
OTHERS = (
    "README.md",
    "CHANGELOG.md",
    "reports/README.md",
    "harness/ARCHITECTURE.md",
    ".github/CONTRIBUTING.md",
    ".github/SECURITY.md",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block: its page, its language, its first comment, its text."""

    page: str
    line: int
    language: str
    sort: str
    text: str


def blocks() -> Iterator[Block]:
    """Find every fenced block of the manual."""
    for page, text in PAGES.items():
        for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            first = match[2].partition("\n")[0]
            yield Block(
                page=page,
                line=text.count("\n", 0, match.start()) + 1,
                language=match[1],
                sort=first.removeprefix("# ") if first.startswith("# ") else "",
                text=match[2],
            )


BLOCKS = tuple(blocks())
EXAMPLES = "\n".join(block.text for block in BLOCKS)


def of(sort: str) -> tuple[Block, ...]:
    """Return the blocks of a sort, in the order of the pages."""
    return tuple(block for block in BLOCKS if block.sort == sort)


def on(page: str, language: str) -> tuple[Block, ...]:
    """Return the blocks of a language on a page, in order."""
    return tuple(block for block in BLOCKS if (block.page, block.language) == (page, language))


def headings(text: str) -> list[tuple[int, str]]:
    """Return the headings of a page with their levels, those in blocks left out."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return [(len(marks), name) for marks, name in re.findall(r"^(#+) (.*)$", prose, re.MULTILINE)]


def anchor(heading: str) -> str:
    """Return the anchor that a heading gets."""
    return re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")


def smallest() -> str:
    """Return the smallest contract of the manual."""
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
    for name in ("hosts", "resources", "operations", "scope", "unspecified", "outline"):
        (part,) = of(f"part: {name}")
        text += f"{name}:\n{indented(part.text, 2)}"
    text += "rules:\n"
    for block in rules:
        head, *rest = [row for row in block.text.splitlines() if not row.startswith("#")]
        if not any(row.startswith("source:") for row in rest):  # most examples leave it out
            rest.append("source: {section: Methods, line: 14}")
        text += f"  - {head}\n{indented(chr(10).join(rest), 4)}"
    return text


def contract() -> Contract:
    """Parse the whole contract that the manual describes in pieces."""
    return parse_document(loads(whole(), "contract-reference.md"))


def target(block: Block) -> Target:
    """Read a target file of the manual."""
    return read_document(loads(block.text, str(ROOT / "contract" / block.page)))


def full() -> Block:
    """Return the complete target file of the manual."""
    return next(block for block in of("target") if "target: acme-sandbox\n" in block.text)


def ids(block: Block) -> str:
    """Name a block by its sort and line."""
    return f"{block.sort}-{block.line}"


def test_every_block_says_what_it_is() -> None:
    """There is no example that no test reads."""
    sorts = {block.sort.partition(":")[0] for block in BLOCKS if block.language == "yaml"}
    assert {"contract", "target", "rule", "part", "file", "workflow", "integration"} == sorts
    # The recorded sequence, which is JSON, is read in harness/tests/fuzzing/sequences.
    languages = {"yaml", "text", "json", "python", "sh", "groovy", "http"}
    assert languages == {one.language for one in BLOCKS}
    known = {"hosts", "resources", "operations", "scope", "unspecified", "outline"}
    known |= {"outcomes", "error", "waivers", "openapi"}
    assert {f"part: {name}" for name in known} == {
        block.sort for block in BLOCKS if block.sort.startswith("part")
    }


def test_the_smallest_contract() -> None:
    """The smallest contract is whole, has twelve lines, and nothing can be left out."""
    rows = smallest().splitlines()[1:]
    parsed = parse_document(loads(smallest()))
    assert ("psd2", 1) == (parsed.id, len(parsed.clauses))
    assert 12 == len(rows)
    raw: Any = loads(smallest()).data
    for key in raw:
        rest = {name: value for name, value in raw.items() if name != key}
        with pytest.raises(InputError, match=f"'{key}' is missing"):
            parse_document(loads(yaml.safe_dump(rest)))


@for_each("block", of("rule"))
def test_a_rule(block: Block) -> None:
    """Each rule can be put into a contract and gives obligations."""
    parsed = parse_document(loads(whole((block,)), "contract-reference.md"))
    (clause,) = parsed.clauses
    assert any(one.clause == clause.id for one in obligations(parsed))


@for_each("block", of("target"))
def test_a_target(block: Block) -> None:
    """Each target file can be read."""
    assert target(block).name


def test_the_examples_belong_together() -> None:
    """All rules make one contract, and the full target file fits it."""
    (bound,) = bind([contract()], target(full()))
    assert bound.obligations


def test_the_waivers(tmp_path: Path) -> None:
    """The waivers of the manual fit its contract, in a target file and in a file of their own."""
    (part,) = of("part: waivers")
    (tmp_path / "waivers.yaml").write_text(f"assay: 1\nwaivers:\n{indented(part.text, 2)}", "utf-8")
    text = full().text.partition("\nwaivers:")[0]
    document = loads(text, str(tmp_path / "target.yaml"))
    waived = read_document(document, waivers=tmp_path / "waivers.yaml")
    assert [False, True] == [waiver.intermittent for waiver in waived.waivers]
    assert bind([contract()], waived)


def test_the_facets_are_those_of_the_rules() -> None:
    """A facet that the reference names exists, and none of the examples' is left out."""
    facets: dict[str, set[str]] = {}
    for obligation in obligations(contract()):
        if obligation.kind in KINDS:
            facets.setdefault(obligation.kind, set()).add(obligation.facet)
    for kind in KINDS:
        listed = (
            sections()[kind].partition("\nFacets")[2].partition(":\n\n")[2].partition("\n\n")[0]
        )
        named = {
            facet
            for heads in re.findall(r"^\* ([^:]+):", listed, re.MULTILINE)
            for facet in re.findall(r"`([A-Za-z0-9-]+)`", heads)
        }
        assert named, kind
        assert named <= facets[kind], kind
        assert {generic(one) for one in facets[kind]} <= {generic(one) for one in named}, kind


#: What the examples name: operations, resources, arguments, modes, kinds of customers.
NAMES = (
    "X-Request-ID|bookingStatus|booked|pending|both|limit|validUntil|accounts?|transactions?|consents"
    "|create-payment|read-payment|change-payment|cancel-payment|payment|debtorAccount|creditorAccount"
    "|purpose|chargeBearer|amount|executionDate|returnUrl|immediate|deferred|instant|bulk"
    "|retail|professional|corporate|association|sms|app|savings"
)


def generic(facet: str) -> str:
    """Take the names of the examples out of a facet's."""
    return re.sub(rf"(?<![A-Za-z])({NAMES})(?![A-Za-z])", "*", facet)


def sections() -> dict[str, str]:
    """Return the text of each rule kind's section."""
    page = PAGES["contract-reference.md"]
    pieces = re.split(r"^#{2,3} `?([^`\n]+)`?$", page, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def test_every_kind_has_a_section_with_an_example() -> None:
    """A rule kind is explained under its name, by an example of it, with its needs."""
    for kind in KINDS:
        section = sections()[kind]
        assert f"kind: {kind}\n" in section
        assert "\nFacets" in section
        assert "Needs:" in section


def test_the_kinds_are_in_their_order() -> None:
    """The reference has one section for each rule kind, in the order of the table of kinds."""
    assert list(KINDS) == [name for name in sections() if name in KINDS]


def test_the_needs_are_those_of_the_rules() -> None:
    """What a section says that its kind needs is what the facets need."""
    needed: dict[str, set[str]] = {}
    for one in obligations(contract()):
        needed.setdefault(one.kind, set()).update(need.value for need in one.needs)
    for kind in KINDS:
        said = sections()[kind].rpartition("Needs:")[2].partition("\n\n")[0]
        assert needed[kind] == set(re.findall(r"`([a-z-]+)`", said)) - {"about"}, kind


@for_each("name", ["contract.yaml", "target.yaml", *(f"rules/{one}.yaml" for one in KINDS)])
def test_every_key_is_explained(name: str) -> None:
    """No key of the language is missing in the manual, neither in the text nor as an example."""
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
    """The outcomes that the manual gives as the default are the default."""
    (part,) = of("part: outcomes")
    block = of("target")[-1]
    text = block.text + f"outcomes:\n{indented(part.text, 2)}"
    assert Outcomes() == target(dataclasses.replace(block, text=text)).outcomes


def test_where_errors_are() -> None:
    """The example of errors locates the code and the field of the rule about error bodies."""
    (part,) = of("part: error")
    block = of("target")[-1]
    text = block.text + f"error:\n{indented(part.text, 2)}"
    error = target(dataclasses.replace(block, text=text)).error
    assert error is not None
    assert ("code", "class") == error.located
    assert ("consent.expired", "consent.ended") == error.codes["CONSENT_EXPIRED"]


def test_the_document_of_the_bank(tmp_path: Path) -> None:
    """The example names a document next to the target file, which adds rules."""
    (part,) = of("part: openapi")
    response = '{"200": {"description": "It is."}}'
    paths = f'{{"/accounts": {{"get": {{"responses": {response}}}}}}}'
    (tmp_path / "bank-openapi.yaml").write_text(
        f'{{"openapi": "3.1.0", "paths": {paths}}}', "utf-8"
    )
    document = loads(full().text + part.text, str(tmp_path / "target.yaml"))
    (bound,) = bind([contract()], read_document(document))
    added = [each.id for each in bound.obligations if "/openapi." in each.id]
    assert [f"{bound.contract.id}/openapi.accounts/status"] == added


def test_the_errors_are_the_real_ones() -> None:
    """The example of errors shows exactly what such a rule gives."""
    (wrong,) = of("rule: wrong")
    (shown,) = (block.text for block in on(wrong.page, "text"))
    text = whole((wrong,))
    problems = shape_problems(loads(text, "psd2.yaml"))
    above = text[: text.index("\nrules:\n")].count("\n") + 2
    lines = [str(one).replace(f":{one.line}:", f":{one.line - above + 1}:") for one in problems]
    assert shown.splitlines() == lines


@for_each("name", [*(f"contract/{name}" for name in PAGES), *OTHERS])
def test_links(name: str) -> None:
    """A link leads to a file of the repository, and to a section that it has."""
    path = ROOT / name
    text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)]*)\)", text):
        if link.startswith("http"):
            continue
        file, _, section = link.partition("#")
        aim = (path.parent / file).resolve() if file else path
        assert aim.exists(), link
        if section:
            assert section in {anchor(each) for _, each in headings(aim.read_text("utf-8"))}, link
    for file in re.findall(r"`(targets/[a-z]+\.yaml|schema/|targets/)`", text):
        assert (contract_dir() / file).exists(), file


@for_each("name", [name for name in PAGES if name != "README.md"])
def test_each_page_begins_with_its_contents(name: str) -> None:
    """A page has a title, a sentence, and a list of its sections; the index links it."""
    title, *below = headings(PAGES[name])
    assert title[0] == 1
    assert {2} <= {level for level, _ in below} <= {2, 3}
    opening = PAGES[name].partition("\n## ")[0]
    listed = re.findall(r"^\* \[(.*)\]\(#(.*)\)$", opening, re.MULTILINE)
    sections = [text for level, text in below if level == 2]
    assert sections == [text for text, _ in listed]
    assert [anchor(text) for text in sections] == [link for _, link in listed]
    assert f"]({name})" in PAGES["README.md"]


def test_the_fleet_of_the_manual(tmp_path: Path) -> None:
    """The template and the file of banks make the targets of both banks; every key has a row."""
    for block in on("fleet.md", "yaml"):
        (tmp_path / block.sort.removeprefix("file: ")).write_text(block.text, encoding="utf-8")
    file = read_banks(tmp_path / "banks.yaml")
    first, second = map(file.target, file.banks)
    assert "https://api.first.example/stet/psd2/v1" == first.base_url
    assert ("FIRST_BANK_TOKEN", "Europe/Rome") == (first.auth.token_env, str(second.zone))
    schema = yaml.safe_load((SCHEMA / "banks.yaml").read_text("utf-8"))
    keys = {*schema["properties"], *schema["$defs"]["bank"]["properties"]} - {"assay"}
    rows = set(re.findall(r"^\| `([a-z]+)` \|", PAGES["fleet.md"], re.MULTILINE))
    assert keys <= rows


def test_the_index_is_one_screen() -> None:
    """The index of the manual fits on one screen and names the files that are there."""
    page = PAGES["README.md"]
    assert len(page.splitlines()) <= 40
    for name in re.findall(r"`([a-z]+\.yaml)`", page.partition("The path from")[0]):
        assert (contract_dir() / name).exists(), name
    for path in (contract_dir() / "targets").glob("*.yaml"):
        assert f"`{path.stem}`" in page, path


def test_every_method_of_a_fixture_is_explained() -> None:
    """The page on fixtures in Python has each method, each name of the interface, each field."""
    page = PAGES["fixtures-in-python.md"]
    methods = {name for name in vars(spi.Fixture) if not name.startswith("_")} | {"open"}
    written = dict(re.findall(r"^\| `([a-z]+)\((.*?)\)` \|", page, re.MULTILINE))
    assert methods == {*written}
    for name in methods - {"open"}:
        _, *parameters = inspect.signature(getattr(spi.Fixture, name)).parameters
        assert parameters == re.findall(r"([a-z_]+)(?:: [^,]+)?(?:, |$)", written[name]), name
    assert [] == [name for name in spi.__all__ if not re.search(rf"`{name}\b|\b{name}\b", page)]
    for name in ("Arrange", "Holding", "Subject", "Owned", "Entry", "Access", "Effect"):
        (row,) = re.findall(rf"^\| `{name}` \|(.*)$", page, re.MULTILINE)
        for field in dataclasses.fields(getattr(spi, name)):
            assert f"`{field.name}`" in row, field.name


def test_the_tables_of_words_are_complete() -> None:
    """Every offer, verdict and exit code is explained."""
    rows = {
        name: set(re.findall(r"^\| (.*?) \|", text, re.MULTILINE)) for name, text in PAGES.items()
    }
    listed = PAGES["target-reference.md"].partition("\n### Offers\n")[2].partition("\n### ")[0]
    offers = set(re.findall(r"`([a-z-]+)`", listed))
    assert {capability.value for capability in Capability} <= offers
    assert {f"`{standing.value}`" for standing in Standing} <= rows["glossary.md"]
    assert {str(code.value) for code in Exit} <= rows["ci.md"]


def test_the_architecture_names_every_room() -> None:
    """Each room of the package has its place on the page of the architecture, and no others do."""
    page = (ROOT / "harness" / "ARCHITECTURE.md").read_text("utf-8").partition("## Rooms")[2]
    table = page.partition("\n## ")[0]
    named = {
        name.partition(".")[0]
        for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for name in re.findall(r"`([a-z_.]+)`", row)
    }
    package = Path(assay.__file__).parent
    rooms = {init.parent.name for init in package.glob("*/__init__.py")} - {"data", "suites"}
    assert rooms | {"errors", "kinds"} == named


def commands() -> list[str]:
    """Return every use of Assay in a block or a sentence of the manual and the other pages."""
    text = "\n".join([TEXT, *((ROOT / name).read_text("utf-8") for name in OTHERS)])
    code = re.findall(
        r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    )
    for block in re.findall(r"^```(?!python)\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        code += [line for line in block.splitlines() if not line.startswith("#")]
    return [
        use
        for text in code
        for use in re.findall(r"(?<![/\w.])assay [a-z]+\b(?! *:)[^'|&#`]*", text)
    ]


def options(arguments: list[str]) -> set[str]:
    """Return the options of a command and its subcommand."""
    command = find_command(arguments[1])
    if isinstance(command, click.Group) and len(arguments) > 2:  # `assay export openapi`
        command = command.commands.get(arguments[2], command)
    return {name for each in command.params for name in (*each.opts, *each.secondary_opts)}


@for_each("use", sorted(set(commands())))
def test_commands_exist(use: str) -> None:
    """A command that a page names exists, with the options that it is given."""
    arguments = use.split()
    assert arguments[1] in COMMANDS
    named = {word.partition("=")[0] for word in arguments if re.match(r"--?[a-z]", word)}
    assert named <= options(arguments)


def test_pytest_options_exist() -> None:
    """An option of pytest that the manual names is one of the plugin's."""
    added: set[str] = set()

    class Group:
        def addoption(self, name: str, **_: object) -> None:
            added.add(name)

    class Parser:
        def getgroup(self, *_: object) -> Group:
            return Group()

    parser: Any = Parser()
    pytest_plugin.pytest_addoption(parser)
    assert set(re.findall(r"--assay-[a-z]+", TEXT)) <= added
    assert {"--contract", "--target", "--allow-incomplete"} <= added


@for_each("block", [block for block in BLOCKS if block.sort.startswith("workflow")])
def test_a_workflow(block: Block) -> None:
    """A workflow is YAML, installs Assay, checks the file and keeps the report of its run."""
    assert isinstance(yaml.safe_load(block.text), Mapping)
    installed, checked, ran = (
        block.text.index(command)
        for command in ("pip install ./assay", "assay check bank.yaml", "assay run --target")
    )
    assert installed < checked < ran
    assert "report" in block.text[ran:].partition("--out")[2]


def port() -> int:
    """Return a port that is free."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def test_calls_of_a_manual(tmp_path: Path) -> None:
    """They are read as `assay init --openapi` reads them."""
    (block,) = (each for each in BLOCKS if each.language == "http")
    (tmp_path / "calls.txt").write_text(block.text, "utf-8")
    found = openapi_operations(read_foreign(tmp_path / "calls.txt"))
    assert ["PUT /consents", "GET /accounts/balances"] == [*map(str, found)]
    assert all(each.request[1:] or each.answer for each in found)


def test_your_bank(tmp_path: Path) -> None:
    """Every file and command of the page works in its order, with the exit code it has."""
    here = str(port())
    tools = str(Path(sys.executable).parent)
    environment = {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "ASSAY_LEDGER": str(tmp_path / "ledger.sqlite"),
        "ASSAY_CONTEXTS": "base",  # only to be quick
    }
    said = ""
    with ExitStack() as stack:
        servers: list[subprocess.Popen[str]] = []

        def stop() -> None:
            for server in servers:
                server.terminate()
                server.communicate(timeout=20)
            servers.clear()

        stack.callback(stop)
        for block in (block for block in BLOCKS if block.page == "your-bank.md"):
            text = block.text.replace("8700", here)
            if block.sort.startswith("file: "):
                (tmp_path / block.sort.removeprefix("file: ")).write_text(text, "utf-8")
            for line in text.splitlines() if block.language == "sh" else ():
                command, _, code = line.partition("  # exit code ")
                if command.startswith("assay serve "):
                    stop()
                    server = subprocess.Popen(
                        ["bash", "-euc", f"exec {command}"],
                        cwd=tmp_path,
                        env={**environment, "PYTHONUNBUFFERED": "1"},
                        stdout=subprocess.PIPE,
                        text=True,
                    )
                    servers.append(server)
                    assert server.stdout
                    assert "serving" in server.stdout.readline()
                    continue
                done = subprocess.run(
                    ["bash", "-euc", command],
                    cwd=tmp_path,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=120,
                    check=False,
                )
                assert int(code or 0) == done.returncode, line + done.stdout + done.stderr
                said += done.stdout + done.stderr
    for line in "\n".join(block.text for block in on("your-bank.md", "text")).splitlines():
        assert line in said or "unverified: needs" in line, line
    assert "aisp/batch-quota/accounts-next-day" in (tmp_path / "summary.md").read_text("utf-8")
    assert (tmp_path / "complete" / "report.html").exists()


def test_the_classes_of_the_manual_are_python() -> None:
    """The fixture class of the manual compiles, and imports only what the interface has."""
    (block,) = on("your-bank.md", "python")
    compile(block.text, "your-bank.md", "exec")
    (imported,) = re.findall(r"from assay.fixtures.spi import \((.*?)\)", block.text, re.DOTALL)
    assert {name.strip() for name in imported.split(",") if name.strip()} <= {*spi.__all__}
