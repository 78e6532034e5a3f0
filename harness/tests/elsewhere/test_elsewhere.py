"""A service that has nothing to do with a bank: its contract is asked, and every fault found.

No Python of the harness knows a laboratory. `lab.yaml` says what `guide.md` says,
`target.yaml` how `service.py` spells it, and `faults.py` breaks one sentence at a time.
"""

import ast
import json
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from embedded import run_plan
from embedded import standing as of
from faults import FAULTS, READINGS
from laboratory import Laboratory
from service import Service

from assay.binding.model.target import Place
from assay.binding.read.join import bind, capabilities
from assay.cli.main import group
from assay.contract.model import Capability
from assay.history import Call
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.plan import Disposition, plan
from assay.preparation.target_file import read_target
from assay.rules.checks import evidence_of
from assay.rules.obligation import bound_clauses
from assay.rules.verdict import Standing
from assay.sandbox.serve import serving
from assay.testing import accepted, exchange, history

HERE = Path(__file__).parent
LAB = parse_contract(HERE / "lab.yaml")
PROFILE = read_target(HERE / "target.yaml")


OVER_HTTP = """\
assay: 1
target: hill-over-http
extends: {0}
transport: http
base_url: {1}/tray
fixtures: {{url: "{1}"}}
"""


@cache
def planned():
    return plan(bind([LAB], PROFILE), PROFILE)


def asked(laboratory=Laboratory, seed=0):
    """Ask everything that the contract asks of a laboratory."""
    return run_plan(planned(), PROFILE, lambda _: Service(laboratory()), seed=seed)


def test_all_that_is_asked_conforms_and_costs_what_was_planned():
    """Nothing is red, nothing that was asked is left open, and the price is right."""
    result = asked()

    assert of(result, Standing.CONFORMS) == {
        one.obligation.id.removeprefix("lab/")
        for one in planned().items
        if one.disposition is Disposition.ASK
    }
    assert planned().calls == result.exchanges


def test_only_what_takes_screens_is_left_open():
    """Approval by the control API shows nothing of screens, and the target promises none."""
    open_ = [one.obligation for one in planned().items if one.disposition is Disposition.UNVERIFIED]

    assert Capability.SCREENS not in capabilities(LAB, PROFILE)
    assert all(Capability.SCREENS in one.needs for one in open_)
    assert {"lab/approval", "lab/approval.how"} == {f"lab/{one.clause}" for one in open_}
    assert {Disposition.ASK, Disposition.UNVERIFIED, Disposition.UNSPECIFIED} == {
        one.disposition for one in planned().items
    }


@pytest.mark.parametrize("seed", [1, 11, 29])
def test_it_conforms_whenever_it_is_asked(seed):
    """At any hour, by day and by night."""
    result = asked(seed=seed)

    assert set() == of(result, Standing.VIOLATES, Standing.INDETERMINATE)
    assert planned().calls == result.exchanges


def test_by_command_over_http_no_python_is_needed_at_all(tmp_path):
    """A contract, a target file and an address: the report says the same, and holds no key."""
    with serving(Service()) as address:
        (tmp_path / "target.yaml").write_text(OVER_HTTP.format(HERE / "target.yaml", address))
        words = ["--contract", HERE / "lab.yaml", "--target", tmp_path / "target.yaml"]
        ended = CliRunner().invoke(
            group, ["run", *map(str, words), "--allow-incomplete", "--out", str(tmp_path / "run")]
        )

    assert 0 == ended.exit_code, ended.output
    report = json.loads((tmp_path / "run" / "report.json").read_text("utf-8"))
    assert len(of(asked(), Standing.CONFORMS)) == report["counts"]["conforms"]
    written = "".join(one.read_text("utf-8") for one in (tmp_path / "run").rglob("*.json*"))
    assert "key-0" not in written


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.name)
def test_a_fault_is_found_by_what_it_breaks_and_by_nothing_else(fault):
    """Every obligation that turns red is one that the fault breaks, and all of those do."""
    assert fault.is_all_of(of(asked(fault.of(Laboratory)), Standing.VIOLATES))


@pytest.mark.parametrize("reading", READINGS, ids=lambda one: one.name)
def test_what_the_guide_leaves_open_is_right_either_way(reading):
    """Nothing turns red, and nothing more stays open, but for what was decided too early to tell."""
    result = asked(reading.of(Laboratory))

    assert set() == of(result, Standing.VIOLATES)
    assert of(asked(), Standing.CONFORMS) <= of(result, Standing.CONFORMS) | reading.leaves_open


def test_the_guide_says_what_the_contract_cites():
    """Each place is in the guide, in its own words."""
    lines = ["", *(HERE / "guide.md").read_text("utf-8").splitlines()]
    points = [*LAB.clauses, *LAB.open_points]
    for source in (source for one in points for source in one.sources if source.line):
        assert source.text in lines[source.line]
        above = [one for one in lines[: source.line] if one.startswith("## ")]
        assert f"## {source.section}" == above[-1]


def test_it_shares_nothing_with_the_shipped_contracts():
    """No operation, resource, field or argument has a name of theirs."""
    theirs, ours = (
        {
            *(name for one in contracts for name in (*one.operations, *one.resources)),
            *(
                field
                for one in contracts
                for kind in one.resources.values()
                for field in kind.fields
            ),
            *(
                name
                for one in contracts
                for method in one.operations.values()
                for name in method.arguments
            ),
        }
        for contracts in ([parse_contract(find_contract(name)) for name in ("aisp", "pis")], [LAB])
    )

    assert set() == theirs & ours


def test_the_service_knows_nothing_of_the_harness():
    """Neither it nor its faults import anything of that, so they cannot share its mistakes."""
    for name in ("laboratory.py", "service.py", "faults.py"):
        tree = ast.parse((HERE / name).read_text("utf-8"))
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        named = {getattr(node, "module", None) or node.names[0].name for node in nodes}
        assert not [one for one in named if one.startswith("assay")]


def test_its_dialect_is_another():
    """Nobody is present, keys have a header, no path holds a number, and nothing leads to screens."""
    bindings = PROFILE.operations.values()

    assert PROFILE.presence is None
    assert ("key", "Hill-Key") == (PROFILE.auth.kind.value, PROFILE.auth.header)
    assert all(one.approval is None and "{" not in (one.path or "") for one in bindings)
    places = {spelt.place for one in bindings for spelt in one.arguments.values()}
    assert {Place.QUERY, Place.HEADER, Place.BODY} == places


def test_a_list_names_nothing_that_is_not_to_be_served():
    """A call that a quota may forbid is no call about what is not to be served."""
    kind = bound_clauses(LAB)["specimens.available"].kind
    call = Call(operation="specimens", subject="patient")
    calls = [exchange(call, accepted()) for _ in range(10)]
    shown = {each.facet for each in evidence_of(kind, history(*calls))}
    assert shown <= {facet.id for facet in kind.facets()}
