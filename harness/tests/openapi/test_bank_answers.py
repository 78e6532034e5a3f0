"""A bank's own document beside the contract: what sound banks do fits, and each mutation is found."""

import json
import os
from dataclasses import replace
from functools import cache

import pytest
from documented import SHIPPED, joined, made
from embedded import run_plan, standings
from mistaken_banks import BANKS
from mutated_answers import MUTATIONS, Mutant, body, drop, media, one, put, status

from assay.binding.read.document_clauses import document_of
from assay.binding.read.join import bind
from assay.files.load import dump, load_openapi
from assay.fuzzing.limits import SearchLimits
from assay.fuzzing.schema.generator import Generator
from assay.fuzzing.schema.search import SchemaSearch, run_schema
from assay.fuzzing.search import Search
from assay.openapi import document
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.plan import plan
from assay.preparation.target_file import read_target
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND

pytestmark = pytest.mark.slow

CONTRACTS = [parse_contract(find_contract(name)) for name in SHIPPED[0]]
#: What the search by schemas does not find: it turns no pages.
UNSEEN = {"second-page"}


def sandbox(base_url):
    """Return the sound sandbox."""
    return make_app(SOUND, base_url=base_url)


def naming(contracts, target, written, folder):
    """Return contracts bound to a target that names a document, and the target."""
    path = folder / "bank-openapi.json"
    path.write_text(json.dumps(written))
    spelt = replace(target, document_of_bank=document_of(load_openapi(path), target))
    return bind(contracts, spelt), spelt


@cache
def with_own_document(folder):
    """Return the shipped contracts bound to the sandbox with its exported document."""
    return naming(CONTRACTS, joined(*SHIPPED)[1], made(*SHIPPED), folder)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Return a folder for documents."""
    return tmp_path_factory.mktemp("documents")


def documented(standings):
    """Return the standings of what follows from the document."""
    return {name: each for name, each in standings.items() if "/openapi." in name}


@pytest.mark.parametrize("bank", BANKS, ids=lambda bank: bank.name)
def test_a_sound_bank_keeps_its_own_document(bank, tmp_path, monkeypatch):
    """Of all answers of all trials none differs, and each operation is shown to conform."""
    bank.install(monkeypatch)
    path = tmp_path / "target.yaml"
    path.write_text(dump({**bank.data(), "transport": "embedded"}))
    target = read_target(path)
    bound = bind(bank.parsed, target)
    bound, target = naming(bank.parsed, target, document(bound, target), tmp_path)
    result = run_plan(plan(bound, target), target, bank.bank)
    found = documented(standings(result))
    assert found
    assert set() == {name for name, each in found.items() if each is Standing.VIOLATES}
    left = {each.obligation: each.reason for each in result.verdicts if each.obligation in found}
    open_ = {name for name, each in found.items() if each is not Standing.CONFORMS}
    assert set() == {
        name for name in open_ if not left[name].startswith(("needs", "not judged: the control"))
    }


def ours(mutation, folder):
    """Run the trials that decide; return whether the facet is violated, what else is, and the calls."""
    bound, target = with_own_document(folder)
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


#: A document that says more than the exported one: a closed object, a header, and each status.
STRICT = {
    "openapi": "3.0.3",
    "info": {"title": "Bank", "version": "1"},
    "paths": {
        "/accounts": {
            "get": {
                "responses": {
                    "200": {
                        "description": "The accounts.",
                        "headers": {
                            "Content-Length": {"required": True, "schema": {"type": "integer"}}
                        },
                        "content": {
                            "application/json": {
                                "schema": {"$ref": "#/components/schemas/Accounts"}
                            }
                        },
                    },
                    **{
                        status: {"description": "Refused."}
                        for status in ("401", "403", "4XX", "503")
                    },
                }
            }
        }
    },
    "components": {
        "schemas": {
            "Accounts": {
                "type": "object",
                "required": ["accounts"],
                "properties": {
                    "accounts": {
                        "type": "array",
                        "items": {"$ref": "#/components/schemas/Account"},
                    },
                    "links": {"type": "object", "nullable": True},
                    "PsuIdentity": {},
                },
                "additionalProperties": False,
            },
            "Account": {
                "type": "object",
                "required": ["iban", "kind"],
                "properties": {"iban": {"type": "string"}, "kind": {"type": "string"}},
            },
        }
    },
}
#: One mutant for each facet, and one that changes nothing.
OF_FACETS = [
    one("sound", "accounts", "", put("links", value={})),
    one("status", "accounts", "status", status("206 Partial Content")),
    one("media-type", "accounts", "media-type", media("application/hal+json")),
    one("structure", "accounts", "structure", put("more", value=1)),
    one("missing", "accounts", "structure", drop("accounts", "*", "kind")),
    one("nothing", "accounts", "structure", body(b"")),
    one(
        "headers",
        "accounts",
        "headers",
        lambda status, headers, content: (status, headers, content),
    ),
]


class Headless(Mutant):
    """A bank that leaves a header out."""

    def __call__(self, environ, start_response):
        def started(status, headers, *more):
            kept = [each for each in headers if each[0] != "Content-Length"]
            return start_response(status, kept, *more)

        mine = environ["PATH_INFO"] == "/accounts" and self.mutation.facet == "headers"
        return super().__call__(environ, started if mine else start_response)


@pytest.mark.parametrize("mutation", OF_FACETS, ids=lambda each: each.id)
def test_each_facet_has_a_mutant(mutation, tmp_path):
    """It turns its own facet red, and no other."""
    bound, target = naming(CONTRACTS, joined(*SHIPPED)[1], STRICT, tmp_path)
    planned = plan(bound, target, lambda each: each.clause == "openapi.accounts")
    assert 4 == len(planned.asked)
    result = run_plan(planned, target, lambda url: Headless(sandbox(url), mutation))
    found = {name.rpartition("/")[2]: each for name, each in standings(result).items()}
    violated = {name for name, each in found.items() if each is Standing.VIOLATES}
    assert ({mutation.facet} - {""}) == violated
    assert mutation.facet or {Standing.CONFORMS} == {*found.values()}


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


def test_cases_are_made_from_the_document_of_the_bank(tmp_path):
    """Of a parameter that only this document has, and of no operation that it lacks."""
    if os.environ.get("ASSAY_SCHEMA") != "required":
        pytest.importorskip("schemathesis")
    only = {"name": "colour", "in": "query", "schema": {"type": "string", "enum": ["red"]}}
    accounts = STRICT["paths"]["/accounts"]["get"]
    own = {**STRICT, "paths": {"/accounts": {"get": {**accounts, "parameters": [only]}}}}
    bound, target = naming(CONTRACTS, joined(*SHIPPED)[1], own, tmp_path)
    planned, heard = plan(bound, target), []

    def bank(url):
        sound = sandbox(url)

        def listening(environ, start):
            heard.append((environ["PATH_INFO"], environ["QUERY_STRING"]))
            return sound(environ, start)

        return listening

    search = Search(
        plan=planned,
        contract=planned.contracts["aisp"],
        environment=set_up(target, bank=bank),
        limits=SearchLimits(sequences=1, tries=0),
    )
    result = run_schema(search, lambda _: None)
    assert result.sequences
    assert any(path.endswith("/accounts") and "colour=" in query for path, query in heard)
    assert "balances: the bank's document does not have it" in result.notes


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.id)
def test_what_schemathesis_finds(mutation, record_property):
    """It finds what the search by schemas can reach, with many more calls."""
    if os.environ.get("ASSAY_SCHEMA") != "required":
        pytest.importorskip("schemathesis")
    found, calls = by_schemathesis(mutation)
    record_property("calls", calls)
    assert (mutation.id not in UNSEEN) is found
