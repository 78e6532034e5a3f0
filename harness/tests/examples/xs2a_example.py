"""The example as values: its files, and a run of its contract on one of its banks."""

import re
from functools import cache
from pathlib import Path

from embedded import run_plan
from nordhafen.application import Bank

from assay._resources import contract_dir
from assay.binding.read.join import bind
from assay.parsing.parse import parse_contract
from assay.planning.plan import plan
from assay.preparation.target_file import read_target

FOLDER = contract_dir() / "examples" / "xs2a"
CONTRACT, TARGET = FOLDER / "xs2a.yaml", FOLDER / "nordhafen.yaml"
#: The sentences of the document, by line.
SENTENCES = {
    number: line
    for number, line in enumerate((FOLDER / "document.md").read_text("utf-8").splitlines(), 1)
    if not line.startswith("#")
}
EMBEDDED = """\
assay: 1
target: nordhafen
extends: {target}
transport: embedded
"""


@cache
def contract():
    """Return the contract."""
    return parse_contract(CONTRACT)


@cache
def lines_of_clauses():
    """Return the lines of the document that each clause cites."""
    clauses = contract().clauses
    return {clause.id: {source.line for source in clause.sources} for clause in clauses}


def plan_in(folder: Path, more: str = ""):
    """Return the target and the plan of a run in this process; the target file may say more."""
    path = folder / "embedded.yaml"
    path.write_text(EMBEDDED.format(target=TARGET) + more, "utf-8")
    target = read_target(path)
    return target, plan(bind([contract()], target), target)


def run(planned, policy, seed=0):
    """Run everything that is planned on a bank with this policy."""
    target, todo = planned
    return run_plan(todo, target, lambda _: Bank(policy=policy), seed=seed)


def rows(page: str):
    """Yield the cells of the rows of a table that begin with a number."""
    for line in page.splitlines():
        if re.match(r"\| *\d+ *\|", line):
            yield [cell.strip() for cell in line.strip("|").split("|")]
