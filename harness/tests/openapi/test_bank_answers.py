"""A bank's own document beside the contract: what sound banks do fits, and each mutation is found."""

import json
import os
from dataclasses import replace
from functools import cache

import pytest
from documented import LAB, QUAY, SHIPPED, STET, XS2A, joined, made
from embedded import run_plan, standings
from foreign import dialects
from mutated_answers import MUTATIONS, Mutant
from nordhafen.application import Bank as Nordhafen
from service import Service

from assay.binding.model.bank_document import BankDocument
from assay.binding.model.target import TransportKind
from assay.binding.read.documented import document_of
from assay.binding.read.join import bind
from assay.files.load import load_openapi
from assay.fuzzing.limits import SearchLimits
from assay.fuzzing.schema.generator import Generator
from assay.fuzzing.schema.search import SchemaSearch
from assay.fuzzing.search import Search
from assay.planning.plan import plan
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND

pytestmark = pytest.mark.slow

#: What the search by schemas does not find: it turns no pages.
UNSEEN = {"second-page"}


def sandbox(base_url):
    """Return the sound sandbox."""
    return make_app(SOUND, base_url=base_url)


SOUND_BANKS = {
    SHIPPED: sandbox,
    LAB: lambda _: Service(),
    STET: sandbox,
    XS2A: lambda _: Nordhafen(),
    QUAY: lambda _: dialects.QUAY(),
}


@cache
def with_own_document(contracts, target, folder):
    """Return contracts bound to a target that names its exported document, and the target."""
    bound, spelt = joined(contracts, target)
    path = folder / "bank-openapi.json"
    path.write_text(json.dumps(made(contracts, target)))
    document = document_of(load_openapi(path), spelt)
    assert isinstance(document, BankDocument)
    spelt = replace(spelt, document_of_bank=document, transport=TransportKind.EMBEDDED)
    return bind([each.contract for each in bound], spelt), spelt


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Return a folder for documents."""
    return tmp_path_factory.mktemp("documents")


def documented(standings):
    """Return the standings of what follows from the document."""
    return {name: each for name, each in standings.items() if "/openapi." in name}


@pytest.mark.parametrize("name", SOUND_BANKS, ids=["shipped", "laboratory", "stet", "xs2a", "quay"])
def test_a_sound_bank_keeps_its_own_document(name, folder):
    """Of all answers of all trials none differs, and each operation is shown to conform."""
    bound, target = with_own_document(*name, folder)
    found = documented(standings(run_plan(plan(bound, target), target, SOUND_BANKS[name])))
    assert len(found) >= 4
    assert set(found.values()) == {Standing.CONFORMS}, found


def ours(mutation, folder):
    """Run the trials that decide; return whether the facet is violated, what else is, and the calls."""
    bound, target = with_own_document(*SHIPPED, folder)
    banks = []

    def bank(base_url):
        banks.append(Mutant(sandbox(base_url), mutation))
        return banks[-1]

    clause = f"{mutation.contract}/openapi.{mutation.operation}"

    def chosen(obligation):
        return obligation.contract == mutation.contract and (
            mutation.ambient or obligation.clause == clause.partition("/")[2]
        )

    planned = plan(bound, target, chosen)
    result = run_plan(planned, target, bank)
    broken = {
        name.removeprefix(f"{clause}/")
        for name, each in standings(result).items()
        if each is Standing.VIOLATES and name.startswith(f"{clause}/")
    }
    return broken, 0 if mutation.ambient else planned.calls


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.id)
def test_a_mutation_is_found_by_its_facet_alone(mutation, folder, record_property):
    """In the one call of the operation, or by the trials of other rules."""
    broken, calls = ours(mutation, folder)
    record_property("calls", calls)
    assert {mutation.facet} == broken


def by_schemathesis(mutation):
    """Search with Schemathesis through the mutated operation; return whether it found it, and the calls.

    The target file names no document: what Schemathesis alone says is in the findings.
    """
    bound, target = joined(*SHIPPED)
    planned, written = plan(bound, target), made(*SHIPPED)
    search = Search(
        plan=planned,
        contract=planned.contracts[mutation.contract],
        environment=set_up(target, bank=lambda url: Mutant(sandbox(url), mutation)),
        limits=SearchLimits(sequences=2, tries=0),
    )
    schema = SchemaSearch(search=search, document=written, generator=Generator(written))
    done = schema.run([search.contract.operations[mutation.operation]], lambda _: None)
    return bool(done.documented or done.findings), search.exchanges


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.id)
def test_what_schemathesis_finds(mutation, record_property):
    """It finds what the search by schemas can reach, with many more calls."""
    if os.environ.get("ASSAY_SCHEMA") != "required":
        pytest.importorskip("schemathesis")
    found, calls = by_schemathesis(mutation)
    record_property("calls", calls)
    assert (mutation.id not in UNSEEN) is found
