"""What a search reaches: contexts of its sequences, pairs of values, states, and an early stop."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import command_line
import pytest
from shipped import prepared

from assay.contexts.context import Dimension, DimensionValue, StepMapper
from assay.contexts.dimensions import dimensions
from assay.fuzzing.search_coverage import PATIENCE, Reach, WatchedContext, value_named
from assay.fuzzing.sequences.abstract_step import AbstractStep
from assay.fuzzing.sequences.sequence_file import RecordedSequence, read_text, write
from assay.fuzzing.sequences.shrink import needed
from assay.history import Accepted, Arrange, Call, Exchange, Item, Rejected, State, Subject, Wire

PIS = prepared().plan.contracts["pis"]
NOW = datetime(2024, 5, 15, 12, tzinfo=UTC)


class Absent(StepMapper):
    """Changes calls, and nothing else."""

    def map(self, step):
        return replace(step, present=False) if isinstance(step, Call) else step


class Twice(StepMapper):
    """Makes each call once before."""

    def before(self, step):
        if isinstance(step, Call):
            yield step


def value(dimension, name, mapper=Absent):
    return DimensionValue(
        dimension=dimension, name=name, description=f"{name}!", reason=lambda _: "", mapper=mapper
    )


ONE, OTHER, LAST = value("a", "1"), value("b", "1", Twice), value("b", "2", StepMapper)
DIMENSIONS = (
    Dimension(name="a", description="", values=(ONE,)),
    Dimension(name="b", description="", values=(OTHER, LAST)),
)


def exchange(outcome, operation="create-payment", **call):
    sent = Call(operation=operation, subject="psu", **call)
    return Exchange(n=1, at=NOW, call=sent, outcome=outcome, wire=Wire(method="GET", url="x:"))


def watched(*context):
    """Return a context after a call was made in it."""
    found = WatchedContext(context=context)
    call = Call(operation="x", subject="psu")
    for mapper in found.mappers:
        mapper.map(call)
        [*mapper.before(call)]
    return found


def test_a_value_has_acted_once_it_changed_or_added_a_step():
    """A value that finds nothing to change has not been reached."""
    assert ["a=1", "b=1"] == watched(ONE, OTHER).acted
    assert [] == watched(LAST).acted
    quiet = WatchedContext(context=(ONE,))
    quiet.mappers[0].map(Arrange(subject="psu", holdings=()))
    assert [] == quiet.acted
    (same,) = quiet.values
    same.mapper().map(Call(operation="x", subject="psu"))
    assert ["a=1"] == quiet.acted


def test_pairs_are_reached_with_an_accepted_operation():
    """A pair counts where a call was accepted in it."""
    reach = Reach(contract=PIS, dimensions=DIMENSIONS)
    assert 2 == reach.possible
    reach.see(watched(ONE, OTHER), [exchange(Rejected())])
    assert set() == reach.pairs
    reach.see(watched(ONE, OTHER), [exchange(Accepted())])
    assert {("a=1", "b=1")} == reach.pairs


def test_states_are_those_of_the_tracker():
    """A state of an operation is its answer, with what is known of the request then."""
    reach = Reach(contract=PIS)
    made = Accepted(items=(Item(key="p", state=State.OPEN),))
    done = Accepted(items=(Item(key="p", state=State.DONE),))
    about = {"paymentRequestResourceId": "p"}
    read = exchange(done, "read-payment", arguments=about)
    reach.see(WatchedContext(), [Subject(name="psu", now=NOW, owns=()), exchange(made), read])
    reach.see(WatchedContext(), [exchange(Rejected())])
    assert reach.states == {
        ("create-payment", "accepted still open"),
        ("read-payment", "accepted executed"),
        ("create-payment", "rejected refused at once"),
    }


def test_quiet_counts_sequences_without_anything_new():
    """Anything new begins the count again; patience grows with the size of the search."""
    reach = Reach(contract=PIS, dimensions=DIMENSIONS)
    for context in (watched(ONE), watched(ONE), watched(ONE)):
        reach.see(context, [exchange(Accepted())])
    assert 2 == reach.quiet
    reach.see(watched(OTHER), [exchange(Accepted())])
    assert 0 == reach.quiet
    assert (PATIENCE, 250) == (reach.patience(20), reach.patience(1_000))


def test_contexts_come_from_the_covering_arrays():
    """Every third sequence has no context; all values and pairs come in turn, for each seed."""
    found = dimensions(PIS, prepared().target)
    reach = Reach(contract=PIS, dimensions=found)
    contexts = [reach.next_context() for _ in range(600)]
    assert {()} == set(contexts[::3])
    every = {each.id for dimension in found for each in dimension.values}
    assert every == {each.id for context in contexts for each in context}
    again = Reach(contract=PIS, dimensions=found)
    assert contexts[:9] == [again.next_context() for _ in range(9)]
    other = Reach(contract=PIS, dimensions=found, seed=1)
    assert contexts[:9] != [other.next_context() for _ in range(9)]


def test_a_violation_is_told_in_the_fewest_values_that_it_takes():
    """None if it takes none, one alone if it takes one, and otherwise as few as possible."""
    context = (ONE, OTHER, LAST)
    assert () == needed(context, lambda _: True)
    assert (OTHER,) == needed(context, lambda some: OTHER in some)
    assert (ONE, LAST) == needed(context, lambda some: {ONE.id, LAST.id} <= {v.id for v in some})
    assert () == needed((), lambda _: False)


# -- recorded sequences ----------------------------------------------------------

RECORDED = RecordedSequence(
    name="x",
    contract="pis",
    breaks=("pis/payments.read/answers",),
    steps=(AbstractStep(step=Arrange(subject="psu", holdings=())),),
    context=("mode=instant", "weekday=sunday"),
)


def test_a_recorded_sequence_keeps_its_context():
    """The file has the values by their ids, which a target knows."""
    assert RECORDED == replace(read_text(write(RECORDED), "x"), path="")
    found = dimensions(PIS, prepared().target)
    assert ["mode=instant", "weekday=sunday"] == [
        value_named(name, found).id for name in RECORDED.context
    ]
    assert value_named("mode=strange", found) is None


def test_a_context_that_the_target_does_not_have(tmp_path):
    """A replay names the value that the target cannot show, and sends nothing."""
    path = tmp_path / "x.json"
    path.write_text(write(replace(RECORDED, context=("mode=instnt",))))
    code, out, err = command_line.assay("run", "--replay", path, cwd=tmp_path)
    assert (2, "") == (code, out)
    assert "this target has no value mode=instnt of a dimension" in err
    assert "mode=instant" in err


# -- a search --------------------------------------------------------------------


@pytest.mark.slow
def test_a_search_stops_early_where_nothing_new_is_reached(searching, monkeypatch):
    """It stops after its patience, and says so; a small search is never cut short."""
    with monkeypatch.context() as patch:
        patch.setattr(Reach, "see", lambda reach, *_: setattr(reach, "quiet", reach.quiet + 50))
        result = searching("aisp", sequences=400).run_actions()
    assert (2, 400, 100) == (result.sequences, result.reached.asked, result.reached.quiet)
    result = searching("aisp", sequences=9).run_actions()
    assert (9, 0) == (result.sequences, result.reached.quiet)
    assert result.reached.pairs
    assert result.reached.states


@pytest.mark.slow
def test_a_search_of_a_run_says_what_it_reached(tmp_path):
    """Terminal, journal and report have the pairs and the states."""
    args = ("-c", "pis", "-k", "payments.read", "--journeys", 9, "--out", "a", "--examples", "none")
    code, out, _ = command_line.assay("run", *args, cwd=tmp_path, COLUMNS="200")
    assert 0 == code, out
    (search,) = json.loads((tmp_path / "a" / "report.json").read_text())["searches"]
    reached = search["reached"]
    assert 9 == reached["asked"]
    assert f"reached {reached['pairs']} of {reached['possible_pairs']} pairs" in out
    assert f"{reached['states']} states" in out
