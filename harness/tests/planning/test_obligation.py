"""The obligations of a contract: one for each facet, one for each open point."""

from assay.contract.model import Level
from assay.parsing.parse import find_contract, parse_contract
from assay.rules.kinds import KINDS, kind_of
from assay.rules.obligation import UNSPECIFIED, bound_clauses, obligations, tpp_obligations

AISP = parse_contract(find_contract("aisp"))
ALL = obligations(AISP)


def test_an_id_is_contract_clause_and_facet_and_is_unique():
    """An id has contract, clause and facet, and names one obligation."""
    assert len(ALL) == len({one.id for one in ALL})
    assert [] == [one.id for one in ALL if one.id != f"aisp/{one.clause}/{one.facet}"]


def test_every_facet_and_every_open_point_is_an_obligation():
    """All facets of all clauses and all open points are there, in the order of the contract."""
    expected = [
        f"aisp/{clause.id}/{facet.id}"
        for clause in AISP.clauses
        for facet in KINDS[clause.kind].parse(clause, AISP).facets()
    ]
    expected += [f"aisp/unspecified/{point.id}" for point in AISP.open_points]

    assert expected == [one.id for one in ALL]


def test_each_obligation_has_the_data_of_its_clause():
    """An obligation has the statement, sources, level and line of its clause."""
    (clause,) = [one for one in AISP.clauses if one.id == "batch-quota"]
    chosen = [one for one in ALL if one.clause == "batch-quota"]

    assert {(clause.statement, clause.sources, clause.level, clause.line, "quota")} == {
        (one.statement, one.sources, one.level, one.line, one.kind) for one in chosen
    }


def test_facets_of_one_scenario_share_a_trial():
    """The obligations that one probe can settle share a trial."""
    trials = {one.facet: one.trial for one in ALL if one.clause == "batch-quota"}

    assert (
        "aisp/batch-quota#accounts:limit" == trials["accounts-served"] == trials["accounts-refused"]
    )
    assert "aisp/batch-quota#long-day" == trials["long-day"]


def test_an_open_point_requires_nothing():
    """An open point is counted, and needs no capability."""
    chosen = [one for one in ALL if one.kind == UNSPECIFIED]

    assert len(AISP.open_points) == len(chosen)
    assert {(Level.MAY, "the source document leaves this open", frozenset(), ())} == {
        (one.level, one.description, one.needs, one.requires) for one in chosen
    }


def test_obligations_of_a_tpp_are_in_no_plan_of_a_run():
    """The TPP's side of a clause is an obligation of its own, and in no plan of a run."""
    owed = {one.id for one in tpp_obligations(AISP)}

    assert "aisp/batch-quota/not-exceeded" in owed
    assert set() == owed & {one.id for one in obligations(AISP)}
    assert {None} == {one.scenario for one in tpp_obligations(AISP)}


def test_every_clause_is_an_instance_of_its_kind():
    """Probe and check of a clause have the same parameters."""
    applied = bound_clauses(AISP)

    assert [one.id for one in AISP.clauses] == [*applied]
    assert [] == [
        one.clause.id for one in applied.values() if type(one.kind) is not kind_of(one.clause.kind)
    ]
    assert 4 == applied["batch-quota"].kind.limit.number
