"""Stories in files: read as they were written, and refused with the line that is wrong."""

import json
import re
from dataclasses import replace
from datetime import time, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay._resources import contract_dir
from assay.contract.files.load import load
from assay.errors import InputError
from assay.fuzzing.sequences.abstract_step import (
    AbstractStep,
    After,
    At,
    On,
    OwnedRef,
    RelativeDay,
    RequestRef,
)
from assay.fuzzing.sequences.actions import actions
from assay.fuzzing.sequences.sequence_file import RecordedSequence, read, read_text, write
from assay.fuzzing.sequences.step_codec import decoded, encoded
from assay.history import Advance, Call, Inquire, Lack, Register

from .conftest import prepared

STORY = RecordedSequence(
    name="a", contract="pis", breaks=("pis/cash/x",), story=(AbstractStep(step=Inquire()),)
)


def again(kept):
    return replace(read_text(write(kept), "story.json"), path="")


@pytest.mark.parametrize("contract", ["aisp", "pis"])
def test_every_word_can_be_kept(contract):
    """Whatever a probe may ask for comes back as it was."""
    plan = prepared().plan
    spoken = actions(plan, plan.contracts[contract])
    every = (*spoken.households, *spoken.plain, *spoken.bent, *spoken.asides)
    first = AbstractStep(step=Call(operation="x", subject="self"))
    kept = replace(STORY, story=(first, *every, *spoken.signatures))
    assert again(kept) == kept


@pytest.mark.parametrize(
    "told",
    [
        AbstractStep(step=Advance(), moment=After(timedelta(seconds=239.5))),
        AbstractStep(step=Advance(), moment=At(1, time(0, 0, 30))),
        AbstractStep(step=Advance(), moment=On(6, time(2))),
        AbstractStep(step=Lack(mode="instant")),
        AbstractStep(
            step=Register(
                subject="psu", operation="o", argument="a", age=timedelta(hours=72), value="FR"
            )
        ),
    ],
    ids=repr,
)
def test_other_steps_can_be_kept(told):
    """Those that are no words of their own."""
    kept = replace(STORY, story=(told,))
    assert again(kept) == kept


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
def test_values_come_back(value):
    """References, numbers, and objects that only look like references."""
    assert decoded(json.loads(json.dumps(encoded(value)))) == value


@pytest.mark.parametrize(
    "value", [{"own": 1}, {"made": 0}, {"number": "x"}, {"literal": 1}, {"what": 1}, {}]
)
def test_what_stands_for_nothing_is_refused(value):
    """Never taken for something else."""
    with pytest.raises(ValueError, match=r"an object with own|a number"):
        decoded(value)


def test_numbers_keep_their_kind():
    """A float is sent as it is, an exact number as the target spells it."""
    assert isinstance(decoded(encoded(1.5)), float)
    assert isinstance(decoded(encoded(Decimal("1.5"))), Decimal)


HEAD = '{"assay": 1, "story": "a", "contract": "pis", "breaks": ["pis/cash/x"], "steps": [\n%s\n]}'


@pytest.mark.parametrize(
    ("step", "said"),
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
            '{"do": "call", "operation": "o", "subject": "p", "arguments": {"a": {"made": 1}}}',
            "earlier ones",
        ),
        ('{"do": "inquire", "more": 1}', "more"),
        ('"inquire"', "a step"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_with_its_line(step, said):
    """File, line, what was expected, and what may have been meant."""
    with pytest.raises(InputError) as error:
        read_text(HEAD % step, "story.json")
    assert str(error.value).startswith("story.json:2: steps[0]")
    assert said in str(error.value)


def test_a_file_that_is_none(tmp_path):
    """Or that is not there."""
    with pytest.raises(InputError):
        read(tmp_path / "nothing.json")
    path = tmp_path / "story.json"
    path.write_text(write(STORY))
    assert read(path) == replace(STORY, path=str(path))


def test_the_story_of_the_manual():
    """It is a story, and every step and reference of the language is explained beside it."""
    page = (contract_dir() / "recordings.md").read_text(encoding="utf-8")
    section = page[page.index("## Recorded sequences") :]
    story = read_text(re.search(r"```json\n(.*?)```", section, re.DOTALL)[1], "recordings.md")
    assert story.breaks[0] in {one.obligation.id for one in prepared().plan.items}
    schema = load(contract_dir() / "schema" / "story.yaml").data["$defs"]["step"]["properties"]
    words = {*schema["do"]["enum"], *(schema.keys() - {"do"}), "own", "made", "day", "literal"}
    assert [] == sorted(one for one in words if not re.search(rf"[`\"]{one}[`\"]", section))
