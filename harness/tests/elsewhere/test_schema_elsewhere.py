"""The search by schemas knows no bank: a laboratory is examined like any other target.

Skipped without Schemathesis; see `test_schema_search`.
"""

import os
from pathlib import Path

import pytest
from laboratory import Laboratory
from service import Service

from assay.binding.read.join import bind
from assay.fuzzing.limits import SearchLimits
from assay.fuzzing.schema.generator import Generator
from assay.fuzzing.schema.search import SchemaSearch
from assay.fuzzing.search import Search
from assay.openapi import document
from assay.parsing.parse import parse_contract
from assay.planning.plan import plan
from assay.preparation.target_file import read_target
from assay.running.environment import set_up

HERE = Path(__file__).parent
LAB = parse_contract(HERE / "lab.yaml")
PROFILE = read_target(HERE / "target.yaml")


def test_a_sound_laboratory_passes():
    """Every operation is asked in many ways, and nothing is found."""
    if os.environ.get("ASSAY_SCHEMA") != "required":
        pytest.importorskip("schemathesis")
    bound = bind([LAB], PROFILE)
    spelt, planned = document(bound, PROFILE), plan(bound, PROFILE)
    search = Search(
        plan=planned,
        contract=planned.contracts["lab"],
        environment=set_up(PROFILE, bank=lambda _: Service(Laboratory())),
        limits=SearchLimits(sequences=5),
    )
    schema = SchemaSearch(search=search, document=spelt, generator=Generator(spelt))
    for operation in search.contract.operations.values():
        before = schema.cases
        done = schema.run([operation], lambda _: None)
        found = (done.findings, done.documented, done.notes)
        assert (operation.id, ((), (), ())) == (operation.id, found)
        assert done.sequences > before + 5
