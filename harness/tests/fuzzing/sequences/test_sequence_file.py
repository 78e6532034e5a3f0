"""Recorded sequences: read as they were written, rejected with the wrong line, and saved."""

import json
import re
from dataclasses import replace
from datetime import time, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import for_each
from shipped import prepared

from assay._resources import contract_dir
from assay.errors import InputError
from assay.files.load import load
from assay.fuzzing.sequences.abstract_step import (
    AbstractStep,
    After,
    At,
    On,
    OwnedRef,
    RelativeDay,
    RequestRef,
)
from assay.fuzzing.sequences.actions import gather_actions
from assay.fuzzing.sequences.sequence_file import (
    RecordedSequence,
    open_examples,
    read,
    read_text,
    write,
)
from assay.fuzzing.sequences.step_codec import decode_value, encode_value
from assay.history import Advance, Authorise, Call, Code, Inquire, Lack, Register, Submit

RECORDED = RecordedSequence(
    name="a", contract="pis", breaks=("pis/cash/x",), steps=(AbstractStep(step=Inquire()),)
)


def reread(recorded):
    """Return a sequence that was written and read."""
    return replace(read_text(write(recorded), "sequence.json"), path="")


@pytest.mark.parametrize("contract", ["aisp", "pis"])
def test_every_action_can_be_written(contract):
    """Whatever a probe may ask for is read as it was written."""
    plan = prepared().plan
    actions = gather_actions(plan, plan.contracts[contract])
    every = (*actions.households, *actions.plain, *actions.varied, *actions.asides)
    first = AbstractStep(step=Call(operation="x", subject="self"))
    recorded = replace(RECORDED, steps=(first, *every, *actions.signatures))
    assert reread(recorded) == recorded


@for_each(
    "steps",
    [
        (AbstractStep(step=Advance(), moment=After(timedelta(seconds=239.5))),),
        (AbstractStep(step=Advance(), moment=At(1, time(0, 0, 30))),),
        (AbstractStep(step=Advance(), moment=On(6, time(2))),),
        (AbstractStep(step=Lack(mode="instant")),),
        (
            AbstractStep(step=Call(operation="o", subject="psu")),
            AbstractStep(step=Submit(subject="psu", request=""), request=0),
        ),
        (
            AbstractStep(
                step=Register(
                    subject="psu", operation="o", argument="a", age=timedelta(hours=72), value="FR"
                )
            ),
        ),
        (
            AbstractStep(
                step=Register(
                    subject="psu", operation="o", argument="a", age=timedelta(0), value={"own": [1]}
                )
            ),
        ),
        (
            AbstractStep(step=Call(operation="o", subject="psu")),
            AbstractStep(
                step=Authorise(
                    subject="psu",
                    request="",
                    approval=None,
                    code=Code.HALF,
                    pace=timedelta(seconds=2),
                    linger=(timedelta(0), timedelta(minutes=3)),
                    linger_on="code",
                ),
                request=0,
            ),
        ),
    ],
)
def test_other_steps_can_be_written(steps):
    """Steps that are no actions are read as they were written."""
    recorded = replace(RECORDED, steps=steps)
    assert reread(recorded) == recorded


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(),
    st.builds(OwnedRef, st.text(min_size=1), st.integers(0, 9)),
    st.builds(RequestRef, st.integers(0, 9)),
    st.builds(RelativeDay, st.integers(-999, 999)),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False),
)
VALUES = st.recursive(
    LEAVES, lambda below: st.lists(below) | st.dictionaries(st.text(), below), max_leaves=8
)


@given(VALUES)
def test_values_are_read_as_written(value):
    """References, numbers, and objects that only look like references are read as written."""
    assert decode_value(json.loads(json.dumps(encode_value(value)))) == value


@for_each("value", [{"own": 1}, {"made": 0}, {"number": "x"}, {"literal": 1}, {"what": 1}, {}])
def test_an_object_that_stands_for_nothing_is_rejected(value):
    """An object that is no reference is never read as another value."""
    with pytest.raises(ValueError, match=r"an object with own|a number"):
        decode_value(value)


def test_numbers_keep_their_type():
    """A float is sent as it is, an exact number as the target spells it."""
    assert isinstance(decode_value(encode_value(1.5)), float)
    assert isinstance(decode_value(encode_value(Decimal("1.5"))), Decimal)


HEAD = (
    '{"assay": 1, "sequence": "a", "contract": "pis", "breaks": ["pis/cash/x"], "steps": [\n%s\n]}'
)


@for_each(
    ("step", "message"),
    [
        ('{"do": "cal"}', "'call'"),
        ('{"do": "call", "subject": "psu"}', "needs operation"),
        ('{"do": "call", "operation": "o", "subject": "p", "factor": "sms"}', "has no factor"),
        ('{"do": "call", "operation": "o", "subject": "p", "page": 1}', "earlier step"),
        ('{"do": "authorise", "subject": "p"}', "needs request"),
        ('{"do": "call", "operation": "o", "subject": "p", "malformed": "not-jsn"}', "not-json"),
        ('{"do": "advance"}', "needs after, or at"),
        ('{"do": "advance", "at": "25:00:00"}', "a time such as"),
        ('{"do": "call", "operation": "o", "subject": "p", "arguments": {"a": {"b": 1}}}', "own"),
        (
            '{"do": "call", "operation": "o", "subject": "p", "arguments": {"a": {"float": "x"}}}',
            "a number, not 'x'",
        ),
        (
            '{"do": "call", "operation": "o", "subject": "p", "arguments": {"a": {"made": 1}}}',
            "earlier ones",
        ),
        ('{"do": "inquire", "more": 1}', "more"),
        ('"inquire"', "a step"),
    ],
)
def test_an_invalid_step_is_reported_with_its_line(step, message):
    """An error has file, line, what was expected, and what may have been meant."""
    with pytest.raises(InputError) as error:
        read_text(HEAD % step, "sequence.json")
    assert str(error.value).startswith("sequence.json:2: steps[0]")
    assert message in str(error.value)


def test_a_file_is_read_with_its_path(tmp_path):
    """A recorded sequence knows its file; a file that does not exist is an error."""
    with pytest.raises(InputError):
        read(tmp_path / "nothing.json")
    path = tmp_path / "sequence.json"
    path.write_text(write(RECORDED))
    assert read(path) == replace(RECORDED, path=str(path))


def test_the_sequence_of_the_manual():
    """The example of the manual is valid, and each key of the format is explained beside it."""
    page = (contract_dir() / "recordings.md").read_text(encoding="utf-8")
    section = page[page.index("## Recorded sequences") :]
    example = re.search(r"```json\n(.*?)```", section, re.DOTALL)[1]
    recorded = read_text(example, "recordings.md")
    assert recorded.breaks[0] in {item.obligation.id for item in prepared().plan.items}
    schema = load(contract_dir() / "schema" / "sequence.yaml").data["$defs"]["step"]["properties"]
    keys = {*schema["do"]["enum"], *(schema.keys() - {"do"}), "own", "made", "day", "literal"}
    assert [] == sorted(key for key in keys if not re.search(rf"[`\"]{key}[`\"]", section))


# -- saved sequences -----------------------------------------------------------


def example(name="one", contract="pis"):
    """Return a sequence to be saved."""
    step = AbstractStep(step=Call(operation="read-payment", subject="psu"))
    breaks = (f"{contract}/a/b",)
    return RecordedSequence(name=name, contract=contract, breaks=breaks, steps=(step,))


def names(examples, contract="pis"):
    """Return the names of the sequences saved of a contract."""
    return sorted(recorded.name for recorded in examples.sequences(contract))


@pytest.fixture(params=["directory", "redis"])
def where(request, tmp_path, monkeypatch):
    """Return where a database is."""
    if request.param == "directory":
        return str(tmp_path / "examples")
    fakeredis = pytest.importorskip("fakeredis")
    server = fakeredis.FakeServer()
    monkeypatch.setattr(
        "redis.Redis.from_url", lambda _url, **_: fakeredis.FakeRedis(server=server)
    )
    return "redis://team.example/0"


def test_sequences_are_kept_between_runs(where):
    """Another run sees the sequences of a contract, until they are deleted."""
    first = open_examples(where)
    first.save(example())
    first.save(example("two"))
    first.save(example("other", contract="aisp"))
    second = open_examples(where)
    assert names(second) == ["one", "two"]
    assert names(second, "aisp") == ["other"]
    second.drop(example("one"))
    assert names(open_examples(where)) == ["two"]


def test_unreadable_sequences_are_deleted(where):
    """A sequence of another version, or an entry that is no sequence, stops no run."""
    examples = open_examples(where)
    examples.save(example())
    examples.database.save(b"assay/sequences/1/pis", b"\xff not a sequence")
    examples.database.save(b"assay/sequences/1/pis", b'{"assay": 1}')
    assert names(examples) == ["one"]
    assert len([*examples.database.fetch(b"assay/sequences/1/pis")]) == 1


def test_no_database():
    """The word `none` opens no database."""
    assert open_examples("none") is None


def test_a_database_that_does_not_answer_is_reported(monkeypatch):
    """The error is one line, without the password that the URL may hold."""
    pytest.importorskip("redis")
    with pytest.raises(InputError, match="redis cannot be used") as error:
        open_examples("redis://:secret@127.0.0.1:1/0")
    assert "secret" not in str(error.value)
