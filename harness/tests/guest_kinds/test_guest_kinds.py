"""Two kinds of another package: found by entry point, checked, probed and judged like ours."""

import ast
import json
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from foreign.dialects import LOCKERS

from assay._resources import suites_dir
from assay.cli.main import group
from assay.kinds import Call, Item, Malformed, Standing
from assay.sandbox.serve import serving
from assay.testing import (
    accepted,
    count_calls,
    evidence,
    exchange,
    failed,
    history,
    judge,
    kind_in,
    lost,
    play,
    problems,
    refused,
    unavailable,
    violated,
)

HERE = Path(__file__).parent
CONTRACT, TARGET = HERE / "parcels.yaml", HERE / "parcels-target.yaml"
ALL = {"trace/returned", "trace/in-refusals", "once/repeated", "once/conflict"}
#: The only modules of Assay that a package with kinds may know.
PUBLIC = {"assay.kinds", "assay.kinds.requests", "assay.testing"}

pytestmark = pytest.mark.usefixtures("guests")


# -- whole runs by command --------------------------------------------------------------
OVER_HTTP = """\
assay: 1
target: lockers-over-http
extends: {0}
transport: http
base_url: {1}
fixtures: {{url: "{1}"}}
"""


def test_by_command_a_run_and_its_journal_say_the_same(tmp_path):
    """A journal hides unknown headers: judged again, a trace is open and nothing is violated."""
    with serving(LOCKERS()) as address:
        (tmp_path / "target.yaml").write_text(OVER_HTTP.format(TARGET, address))
        options = ["--contract", str(CONTRACT), "--target", str(tmp_path / "target.yaml")]
        ran = CliRunner().invoke(group, ["run", *options, "--out", str(tmp_path / "run")])
    journal = str(tmp_path / "run" / "journal.jsonl")
    again = CliRunner().invoke(
        group, ["judge", journal, *options, "--out", str(tmp_path / "again")]
    )

    assert 0 == ran.exit_code, ran.output
    counts = [
        json.loads((tmp_path / name / "report.json").read_text("utf-8"))["counts"]
        for name in ("run", "again")
    ]
    assert [(4, 0, 0), (2, 1, 0)] == [
        (each["conforms"], each["indeterminate"], each["violates"]) for each in counts
    ], again.output


def test_the_suites_have_the_kinds_of_packages(tmp_path):
    """The shipped suites run a contract with a package's kinds: each obligation is an item."""
    with serving(LOCKERS()) as address:
        (tmp_path / "target.yaml").write_text(OVER_HTTP.format(TARGET, address))
        report = tmp_path / "report.xml"
        code = pytest.main(
            [
                *(str(suites_dir()), "-q", "-p", "no:cacheprovider", "--junitxml", str(report)),
                *("--contract", str(CONTRACT), "--target", str(tmp_path / "target.yaml")),
            ]
        )
    items = ET.parse(report).getroot().iter("testcase")
    names = {item.get("name").partition("[parcels/")[2].removesuffix("]") for item in items}
    assert (0, ALL) == (code, names)


# -- literal histories: mirror --------------------------------------------------------
def traced(answer, *, trace="t-1", **changes):
    """Write down a call with a trace."""
    arguments = {"number": "psu-1", "trace": trace}
    call = Call(operation="parcels", subject="psu", arguments=arguments)
    return exchange(replace(call, **changes), answer)


def echoed(*events):
    """Return what the clause about traces says of a history."""
    return evidence(kind_in(CONTRACT, "trace"), history(*events))


BACK = {"parcel-trace": "t-1"}


def test_an_answer_with_the_trace_agrees():
    """The name of a header is compared in any case, its value exactly."""
    assert ["returned agrees 1"] == echoed(traced(accepted(headers=BACK)))
    assert ["returned disagrees 1"] == echoed(traced(accepted(headers=BACK), trace="T-1"))
    assert ["returned disagrees 1"] == echoed(traced(accepted()))


def test_a_refusal_is_judged_beside_an_accepted_control():
    """Without a control whose trace came back, a refusal says nothing."""
    control, bare = traced(accepted(headers=BACK)), traced(refused())

    assert [] == echoed(bare)
    assert ["returned agrees 1", "in-refusals disagrees 1,2"] == echoed(control, bare)
    assert ["returned agrees 1", "in-refusals agrees 1,2"] == echoed(
        control, traced(unavailable(headers=BACK), malformed=Malformed.BAD_IDENTIFIER)
    )


@pytest.mark.parametrize("answer", [failed(), lost(), refused(status=401)])
def test_an_answer_of_somebody_else_is_not_judged(answer):
    """A failure, silence, and a gateway that knows nobody leave the trace open."""
    assert ["returned agrees 1"] == echoed(traced(accepted(headers=BACK)), traced(answer))


def test_a_call_without_a_trace_is_not_judged():
    """Nothing can be repeated that was not sent."""
    assert [] == echoed(traced(accepted(), arguments={}), traced(accepted(), operation="book"))


# -- literal histories: once ----------------------------------------------------------
def booked(answer, key="k", size="small", **changes):
    """Write down a booking."""
    arguments = {"number": "psu-1", "booking-key": key, "size": size}
    return exchange(
        replace(Call(operation="book", subject="psu", arguments=arguments), **changes), answer
    )


def judged(*events):
    """Return what the clause about booking keys says of a history."""
    return evidence(kind_in(CONTRACT, "once"), history(*events))


FIRST = accepted("B-1", status=201)


def test_a_repeated_key_gives_the_same_resource():
    """Another resource disagrees, and so does a refusal; without its key nothing is clear."""
    assert ["repeated agrees 1,2"] == judged(booked(FIRST), booked(accepted("B-1")))
    assert ["repeated disagrees 1,2"] == judged(booked(FIRST), booked(accepted("B-2")))
    assert ["repeated disagrees 1,2"] == judged(booked(FIRST), booked(refused(status=409)))
    assert ["repeated unclear 1,2"] == judged(booked(FIRST), booked(accepted(Item())))
    assert ["repeated unclear 1,2"] == judged(booked(FIRST), booked(lost()))


def test_another_body_is_refused_beside_its_control():
    """A refusal counts if the same body was accepted with another key."""
    control = booked(accepted("B-2"), key="other", size="large")

    assert [] == judged(booked(FIRST), booked(refused(), size="large"))
    assert ["conflict agrees 1,2,3"] == judged(
        booked(FIRST), control, booked(refused(), size="large")
    )
    assert ["conflict disagrees 1,2"] == judged(
        booked(FIRST), booked(accepted("B-2"), size="large")
    )
    assert ["conflict unclear 1,2,3"] == judged(
        booked(FIRST), control, booked(failed(), size="large")
    )


def test_what_is_open_before_stays_open():
    """A first call that failed or was refused, or is somebody else's, binds no key."""
    assert [] == judged(booked(lost()), booked(accepted("B-2")))
    assert [] == judged(booked(refused()), booked(accepted("B-2")))
    assert [] == judged(booked(FIRST), booked(accepted("B-2"), subject="other"))
    assert [] == judged(booked(FIRST), booked(accepted("B-2"), malformed=Malformed.EMPTY))


# -- probes against scripted banks ----------------------------------------------------
def echoing(change=lambda trace, first: trace):
    """Return a scripted bank that repeats a trace, or something else."""
    traces = []

    def bank(call):
        traces.append(call.arguments["trace"])
        headers = {"Parcel-Trace": change(traces[-1], traces[0])}
        return unavailable(headers=headers) if call.malformed else accepted(headers=headers)

    return bank


def test_a_probe_sends_two_traces():
    """So a bank that always says the same is found out, in answers and in refusals."""
    kind = kind_in(CONTRACT, "trace")
    calls = play(kind, "returned", echoing()).calls

    assert ["assay-mirror-1", "assay-mirror-2"] == [call.arguments["trace"] for call in calls]
    assert {"returned": Standing.CONFORMS, "in-refusals": Standing.CONFORMS} == judge(kind, echoing)
    assert {"returned", "in-refusals"} == violated(
        kind, lambda: echoing(lambda trace, first: first)
    )


@pytest.mark.parametrize("clause", ["trace", "once"])
def test_a_scenario_costs_what_it_says(clause):
    """The price of each scenario is the number of calls that its probe makes."""
    kind = kind_in(CONTRACT, clause)
    for facet in kind.facets():
        played = play(kind, facet.scenario.id, lambda call: accepted("B-1"))
        assert count_calls(kind, facet.scenario) == len(played.calls)


# -- files ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("right", "wrong", "line", "problem"),
    [
        ("argument: trace", "argument: trac", 43, "there is no argument 'trac' (did you mean 'trace'?)"),
        ("key: booking-key", "key: bookingkey", 50, "there is no argument 'bookingkey' (did you mean 'booking-key'?)"),
        ("varies: size", "varies: seize", 51, "there is no argument 'seize' (did you mean 'size'?)"),
        ("request: booking", "request: boking", 49, "there is no resource 'boking' (did you mean 'booking'?)"),
        ("operation: parcels", "operation: parcel", 42, "there is no operation 'parcel' (did you mean 'parcels'?)"),
        ("kind: mirror", "kind: miror", 39, "there is no rule kind 'miror' (did you mean 'mirror'?)"),
        ("header: Parcel-Trace", "header: Parcel Trace", 44, "expected the name of a header, found 'Parcel Trace' (for example X-Request-ID)"),
        ("    varies: size\n", "", 45, "'varies' is missing (expected a name)"),
        ("varies: size", "varies: size\n    heather: x", 52, "unknown key 'heather'"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_contract_is_a_finding(tmp_path, right, wrong, line, problem):
    """A wrong name or shape in a clause of a guest has a line and a hint, as with our kinds."""
    text = CONTRACT.read_text("utf-8")
    assert text.count(right) == 1
    path = tmp_path / "wrong.yaml"
    path.write_text(text.replace(right, wrong))

    (message,) = problems(path)

    assert message.startswith(f"{path}:{line}: ")
    assert problem in message


def test_without_the_package_its_kinds_are_unknown(monkeypatch):
    """A contract says which kind is missing, and where."""
    from assay.rules import kinds  # noqa: PLC0415

    monkeypatch.setattr(kinds, "installed", cache(dict))
    assert [
        f"{CONTRACT}:39: rules[0].kind: there is no rule kind 'mirror'",
        f"{CONTRACT}:46: rules[1].kind: there is no rule kind 'once'",
    ] == [each.partition(" (")[0] for each in problems(CONTRACT)]


def test_the_package_knows_the_public_modules_only():
    """The kinds import nothing else of Assay."""
    for path in (HERE / "assay_guest_kinds").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            else:
                continue
            room = {name for name in names if name.partition(".")[0] == "assay"}
            assert room <= PUBLIC, path.name
            others = {name.partition(".")[0] for name in names} - {"assay"}
            assert others <= sys.stdlib_module_names
