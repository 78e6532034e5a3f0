"""Skeleton of a package with one rule kind, as `assay init --kind NAME` writes it.

Three Python files and a pyproject.toml, whose test passes as it stands. The skeleton judges
something simple (that an operation answers), so that every part can be seen working before
it is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Template
from typing import Final

from assay.errors import InputError
from assay.rules.kinds import find_kind

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LONGEST: Final = 40


def kind_files(name: str) -> Mapping[str, str]:
    """Return the text of each file of the skeleton by its name.

    Raises:
        InputError: a kind cannot have this name, or one has it already.

    """
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise InputError.one(
            "--kind",
            "expected a name of lower-case letters, digits and hyphens",
            hint="for example content-language",
        )
    if find_kind(name) is not None:
        raise InputError.one(
            "--kind", f"there is a rule kind {name!r} already", hint="name another"
        )
    module = f"assay_{name.replace('-', '_')}"
    values = {
        "name": name,
        "module": module,
        "kind_class": "".join(part.capitalize() for part in name.split("-")),
    }
    return {
        "pyproject.toml": _PYPROJECT.substitute(values),
        f"{module}.py": _KIND.substitute(values),
        f"{module}_mutants.py": _MUTANTS.substitute(values),
        f"test_{module}.py": _TEST.substitute(values),
    }


_PYPROJECT: Final = Template("""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "assay-$name"
version = "0.1.0"
description = "The rule kind $name for Assay."
requires-python = ">=3.11"
dependencies = ["assay"]

# The name on the left is the word after `kind:` in a contract.
[project.entry-points."assay.rules"]
$name = "$module:$kind_class"

[tool.hatch.build.targets.wheel]
only-include = ["$module.py"]

[tool.ruff]
line-length = 100
lint.ignore = ["RUF009"] # a parameter is declared by a call, as `field()` is
""")

_KIND: Final = Template('''\
"""`$name`: what a clause of this kind says, in one sentence.

When a call is judged, when it is not, and why: what the document leaves open must not turn
an obligation red.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.kinds import (
    Call,
    Capability,
    Evidence,
    Facet,
    History,
    Holding,
    Kind,
    Operation,
    Purpose,
    Scenario,
    Script,
    needs,
    operation_parameters,
    parameters,
    must_be_served,
    queries,
    steps,
)

ANSWERED = "answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class $kind_class(Kind):
    """The parameters of a clause, each declared by a function of `parameters`."""

    name = "$name"
    # What a new or a removed clause means for TPPs and the bank, for `assay diff`.
    purpose = Purpose.PROMISE

    operation: Operation = parameters.operation()
    owner: str = operation_parameters.owner()

    def facets(self) -> tuple[Facet, ...]:
        """Return the ways in which a clause can hold or be broken; each gets one verdict."""
        return (
            Facet(
                id=ANSWERED,
                description=f"{self.operation.id} answers",
                scenario=Scenario(id=ANSWERED),
                needs=needs(Capability.PSU),
            ),
        )

    def probe(self, scenario: Scenario) -> Script:
        """Yield the steps that show the facets of a scenario; judge nothing here."""
        psu = yield from steps.arrange("psu", Holding(resource=self.owner))
        yield from steps.send(
            Call(
                operation=self.operation.id,
                subject="psu",
                arguments=steps.arguments(self.operation, psu.owns[0].key),
            )
        )

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge any history, of this probe or of another one, or recorded."""
        for exchange in history.exchanges:
            if exchange.call.operation == self.operation.id and queries.plain(exchange.call):
                yield must_be_served(ANSWERED, exchange, "the operation is offered")
''')

_MUTANTS: Final = Template('''\
"""Scripted banks: a sound one, and mutants with one fault each.

`BREAKS` says which facets each mutant violates. Every facet needs a mutant: a check that has
never been seen to fail proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.kinds import Call
from assay.testing import Answer, Bank, accepted, refused


class Sound:
    """A bank that does what the clause says; a new one is made for every scenario."""

    def __call__(self, call: Call) -> Answer:
        """Answer a call."""
        return accepted("thing-1")


class RefusesEverything(Sound):
    """No call is answered."""

    def __call__(self, call: Call) -> Answer:
        """Refuse a call."""
        return refused()


#: The facets that each mutant violates.
BREAKS: Mapping[Callable[[], Bank], set[str]] = {
    RefusesEverything: {"answered"},
}
''')

_TEST: Final = Template('''\
"""The kind `$name`: literal histories, mutants, and what is found in a contract."""

import tomllib
from pathlib import Path

import pytest
from assay.kinds import Call, Standing
from assay.testing import (
    accepted,
    count_calls,
    evidence,
    exchange,
    failed,
    history,
    judge,
    kind_in,
    play,
    problems,
    refused,
    use_kind,
    violated,
)

from $module import $kind_class
from ${module}_mutants import BREAKS, Sound

CONTRACT = """\\
assay: 1
contract: example
title: Example
version: "1"
interface: example
document: "The document that the contract is taken from"
zone: UTC
resources:
  account: {says: an account, key: iban, fields: [iban]}
operations:
  accounts: {method: GET, path: /accounts, lists: [account]}
rules:
  - id: clause
    kind: $name
    says: What the document says.
    source: {section: Its heading, line: 1}
    operation: accounts
"""


@pytest.fixture(autouse=True)
def _known():
    """Make the kind known, as the entry point does where the package is installed."""
    with use_kind($kind_class):
        yield


@pytest.fixture
def path(tmp_path):
    """Return the path of the contract."""
    path = tmp_path / "contract.yaml"
    path.write_text(CONTRACT)
    return path


@pytest.fixture
def clause(path):
    """Return the clause of the contract."""
    return kind_in(path, "clause")


def test_literal_histories(clause):
    """Each answer that matters, and what the check says of it."""
    call = Call(operation="accounts", subject="psu")

    assert ["answered agrees 1"] == evidence(clause, history(exchange(call, accepted("A"))))
    assert ["answered disagrees 1"] == evidence(clause, history(exchange(call, refused())))
    assert ["answered unclear 1"] == evidence(clause, history(exchange(call, failed())))


def test_the_sound_bank_conforms(clause):
    """Every facet is probed, and none stays open."""
    assert {Standing.CONFORMS} == set(judge(clause, Sound).values())


@pytest.mark.parametrize("mutant", BREAKS, ids=lambda mutant: mutant.__name__)
def test_a_mutant_violates_exactly_what_it_breaks(clause, mutant):
    """A fault turns its facets red and no other."""
    assert BREAKS[mutant] == violated(clause, mutant)


def test_every_facet_has_a_mutant(clause):
    """No facet is without a bank that violates it."""
    assert {facet.id for facet in clause.facets()} == set().union(*BREAKS.values())


def test_a_scenario_costs_what_it_says(clause):
    """What a plan announces for each scenario is what its probe sends to a sound bank."""
    for scenario in {facet.scenario.id: facet.scenario for facet in clause.facets()}.values():
        assert count_calls(clause, scenario) == len(play(clause, scenario.id, Sound()).calls)


def test_a_wrong_name_is_a_finding(path):
    """A contract with a mistake gets a line and a hint, not a traceback."""
    path.write_text(CONTRACT.replace("operation: accounts", "operation: acounts"))

    (found,) = problems(path)
    assert "there is no operation 'acounts' (did you mean 'accounts'?)" in found


def test_the_entry_point_names_the_class():
    """Where the package is installed, contracts can use the kind."""
    project = tomllib.loads((Path(__file__).parent / "pyproject.toml").read_text())["project"]
    assert {$kind_class.name: "$module:$kind_class"} == project["entry-points"]["assay.rules"]
''')
