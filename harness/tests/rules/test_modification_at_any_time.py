"""`modification` of something that can be changed at any time: literal histories."""

from dataclasses import replace
from pathlib import Path

from rows import for_each

from assay.history import Call, Item, Subject
from assay.testing import (
    START,
    accepted,
    evidence,
    exchange,
    history,
    kind_in,
    lost,
    problems,
    refused,
)

CONTRACT = Path(__file__).parents[1] / "general_kinds" / "register.yaml"
ADA = Subject(name="ada", now=START, owns=())
KIND = kind_in(CONTRACT, "changes")
#: The same where a change is a PUT.
PUT = replace(
    KIND, lifecycle=replace(KIND.lifecycle, change=replace(KIND.lifecycle.change, method="PUT"))
)
MADE = {"name": "Ada", "account": "1", "note": "n"}


def call(operation, answer=None, varied=(), **sent):
    asked = Call(operation=operation, subject="ada", arguments=sent, varied=varied)
    return exchange(asked, answer or accepted(status=200))


def add():
    return call("add", accepted(Item(key="B1")), **MADE)


def read(answer=None, **fields):
    return call("show", answer or accepted(Item(key="B1", fields={**MADE, **fields})), id="B1")


def change(answer=None, **sent):
    return call("change", answer, tuple(sent), id="B1", **sent)


def says(*events, kind=KIND, known=True):
    return evidence(kind, history(*([ADA] if known else []), add(), *events))


def test_a_change_is_shown_and_the_rest_stays():
    """The first read shows what there was, the second what it is now."""
    lines = says(read(), change(name="Eve"), read(name="Eve"))
    assert {
        "accepted agrees 1,3",
        "persists agrees 1,3,4",
        "others-unchanged agrees 1,2,3,4",
    } == {*lines}


@for_each(
    ("fields", "persists", "others"),
    [
        ({}, "disagrees", "agrees"),
        ({"name": "Eve", "account": "2"}, "agrees", "disagrees"),
        ({"name": "Eve", "account": None}, "agrees", "disagrees"),
        ({"name": "Eve", "note": " N"}, "agrees", "unclear"),
        ({"name": "EVE"}, "unclear", "agrees"),
    ],
)
def test_each_facet_is_about_its_own_fields(fields, persists, others):
    """A field may be spelt in another way."""
    lines = says(read(), change(name="Eve"), read(**fields))
    assert {f"persists {persists} 1,3,4", f"others-unchanged {others} 1,2,3,4"} <= {*lines}


@for_each(
    ("events", "line"),
    [
        # Refused beside a change that was accepted, or without an effect.
        ((change(name="Eve"), change(refused(), account="2")), "agrees 1,2,3"),
        ((change(account="2"), read()), "agrees 1,2,3"),
        ((change(account="2"), read(account="2")), "disagrees 1,2,3"),
        ((change(name="Eve", account="2"), read(name="Eve", account="2")), "disagrees 1,2,3"),
        # Neither the one nor the other, and a value that is left out.
        ((change(account="2"), read(account="3")), "unclear 1,2,3"),
        ((change(account="2"), read(account="")), "unclear 1,2,3"),
        # Without a control, without a reading, and read only after another change.
        ((change(refused(), account="2"),), ""),
        ((change(account="2"),), ""),
        ((change(account="2"), read(lost()), change(name="Eve"), read(account="2")), ""),
        ((change(lost(), account="2"), read(account="2")), ""),
        # The value that it has is no other one.
        ((change(account="1"), read()), ""),
    ],
)
def test_what_cannot_be_changed_stays(events, line):
    """A refusal counts beside an accepted change, and an acceptance for what is shown then."""
    kind = kind_in(CONTRACT, "account")
    lines = [each for each in says(*events, kind=kind) if each.startswith("account-kept")]
    assert ([f"account-kept {line}"] if line else []) == lines


@for_each(
    "events",
    [
        # What was there before is unknown, or the answer was lost, or nothing was accepted.
        (change(name="Eve"), read(name="Eve", account="2")),
        (read(), change(lost(), name="Eve"), read(name="Eve", account="2")),
        (read(), change(refused(), name="Eve"), read(account="2")),
        (read(), change(name="Eve"), read(refused())),
        (read(), change(name="Eve", account="2"), read(name="Eve", account="2")),
    ],
)
def test_what_a_history_does_not_show_is_no_violation(events):
    """The rest may have been so before."""
    assert [] == [line for line in says(*events) if "disagrees" in line]


def test_what_a_put_does_not_send_may_be_reset():
    """What it sends again has to stay."""
    reset = read(), change(name="Eve"), read(name="Eve", account=None)
    assert "others-unchanged unclear 1,2,3,4" in says(*reset, kind=PUT)
    assert "others-unchanged disagrees 1,2,3,4" in says(*reset)


def test_a_history_that_does_not_begin_with_the_customer_is_uncertain():
    """Somebody else may have changed it."""
    lines = says(read(), change(name="Eve"), read(account="2"), known=False)
    assert {"persists unclear 1,3,4", "others-unchanged unclear 1,2,3,4"} <= {*lines}


def test_all_changes_refused_is_a_violation_of_what_is_there():
    """Each field was to be changed to a value of the target file, and a later read shows the thing."""
    no = refused(status=403)
    both = change(no, name="Eve"), change(no, note="m")
    assert ["accepted disagrees 1,2,3"] == says(*both, read())
    assert ["accepted unclear 1,2,3"] == says(*both)
    assert ["accepted unclear 1,2,3"] == says(*both, read(refused(status=404)))
    assert ["accepted unclear 1,2"] == says(both[0], read())


def test_never_needs_only(tmp_path):
    """What can never be changed is an exception from what can."""
    wrong = tmp_path / "wrong.yaml"
    text = CONTRACT.read_text("utf-8")
    wrong.write_text(
        text.replace("    fields: [name, note]\n", "    fields: [name]\n    never: []\n"), "utf-8"
    )
    (problem,) = problems(wrong)
    assert "`never` without `only`" in problem
    assert [] == problems(CONTRACT)
