"""A facet of several operations conforms only if each of them was exercised."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from rows import for_each

from assay.contract.model import Operation
from assay.history import Call
from assay.history.events import ProbeRun
from assay.judging.judge import judge
from assay.parsing.parse import find_contract, parse_contract
from assay.rules.checks import evidence_of
from assay.rules.consent_probes import probe_of
from assay.rules.dry_run import ConformingTarget, play
from assay.rules.obligation import bound_clauses, obligations
from assay.rules.verdict import Standing
from assay.testing.histories import accepted, evidence, exchange, history

TESTS = Path(__file__).parents[1]
CONTRACTS = [
    *("aisp", "pis"),
    *sorted(
        path.relative_to(TESTS).as_posix()
        for path in TESTS.rglob("*.yaml")
        if "\noperations:" in (text := path.read_text()) and "\nrules:" in text
        if path.name != "parcels.yaml"  # its kinds are in a package that is not installed
    ),
]
#: What a facet is about although its trial calls other operations of the clause, too.
ABOUT_LESS = {
    ("consent-effect", "survives-lists"),  # the operation that transmits the consent
    ("consistent", "smaller-consent"),  # the operations whose items have keys
    ("host-affinity", "every-host"),  # the hosts
    ("no-credentials", "beside-token"),  # what the customer has signed or consented to
}


def several(contract):
    """Yield each clause of a contract that names several operations, and their ids."""
    for bound in bound_clauses(contract).values():
        declared = (getattr(bound.kind, name) for name in bound.kind.declared())
        named = [
            operation.id
            for value in declared
            if isinstance(value, tuple)
            for operation in value
            if isinstance(operation, Operation)
        ]
        if len(named) > 1:
            yield bound, set(named)


def called(contract, kind, scenario):
    """Return the operations that a probe calls at a bank that keeps the contract."""
    accepts = kind.accepts_variation(scenario)
    target = ConformingTarget(contract=contract, accepts_variation=accepts)
    return {
        step.operation for step in play(probe_of(kind, scenario), target) if isinstance(step, Call)
    }


@for_each("name", CONTRACTS)
def test_a_clause_of_several_operations_calls_each_of_them(name):
    """No operation is named without being called, nor does a facet conform without its operations."""
    path = find_contract(name) if "/" not in name else TESTS / name
    contract = parse_contract(path)
    for bound, named in several(contract):
        kind, whole = bound.kind, set()
        for facet in kind.facets():
            if facet.not_applicable_because:
                continue
            reached = called(contract, kind, facet.scenario) & named
            whole |= reached
            if not reached:  # on a day that no dry run comes to
                continue
            assert reached >= set(facet.exercises), (bound.clause.id, facet.id)
            apart = getattr(facet.scenario, "operation", None) is not None
            if reached == named and not apart and (kind.name, facet.id) not in ABOUT_LESS:
                assert facet.exercises, (bound.clause.id, facet.id)
        assert named == whole, bound.clause.id


DESK = TESTS / "general_kinds" / "desk.yaml"


def answers(tmp_path):
    """Return a clause about operations on requests and others."""
    path = tmp_path / "desk.yaml"
    extra = """
  - id: json
    kind: well-formed
    says: Answers are JSON.
    source: {section: S, line: 1}
    operations: [accounts, order]
"""
    path.write_text(DESK.read_text("utf-8") + extra)
    return bound_clauses(parse_contract(path))["json"].kind


def answer(operation, media_type):
    """Return an accepted call of an operation, with a body of a media type."""
    made = exchange(Call(operation=operation, subject="psu"), accepted("K-1"))
    headers = (("Content-Type", media_type),)
    return replace(made, wire=replace(made.wire, body=b"{}", headers=headers))


def test_answers_about_requests_do_not_stand_for_others(tmp_path):
    """A list in text/plain violates its own facet, whatever the media type of a new request is."""
    found = evidence(
        answers(tmp_path),
        history(answer("accounts", "text/plain"), answer("order", "application/json")),
    )

    assert ["read-media-type disagrees 1", "json agrees 2", "media-type agrees 2"] == found


def test_what_was_not_exercised_does_not_conform(tmp_path):
    """The verdict on a facet of several operations names the one that was never served."""
    kind = answers(tmp_path)
    both = {
        each.facet: replace(each, exercises=("order", "show"))
        for each in obligations(kind.contract)
        if each.clause == "json"
    }
    run = ProbeRun(history=history(answer("order", "application/json")))

    def verdict(run):
        (judged,) = judge(partial(evidence_of, kind), [both["media-type"]], run, kind, kind.facts())
        return judged.standing, judged.reason

    assert (Standing.INDETERMINATE, "not judged: no call of show was accepted") == verdict(run)
    stopped = replace(run, stopped="needs another customer")
    assert (Standing.UNVERIFIED, "needs another customer") == verdict(stopped)
    whole = replace(
        run,
        history=history(answer("order", "application/json"), answer("show", "application/json")),
    )
    assert (Standing.CONFORMS, "") == verdict(whole)
