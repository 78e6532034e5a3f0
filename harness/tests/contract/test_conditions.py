"""What is wrong in the condition of a decision, and in the modes of `duplicate`, is told."""

import pytest
import yaml
from rows import for_each

from assay.errors import InputError
from assay.files.load import loads
from assay.parsing.parse import find_contract, parse_document

PIS = find_contract("pis").read_text("utf-8")


def problems(clause, **changed):
    """Return what is wrong with the shipped contract after some words are changed."""
    raw = yaml.safe_load(PIS)
    next(one for one in raw["rules"] if one["id"] == clause).update(changed)
    with pytest.raises(InputError) as caught:
        parse_document(loads(yaml.safe_dump(raw, sort_keys=False), "pis.yaml"))
    return [f"{one.what} ({one.hint})" for one in caught.value.problems]


@for_each(
    ("when", "what"),
    [
        ({"field": "amonut", "is": "7"}, "there is no argument 'amonut' (did you mean 'amount'?)"),
        (
            {"all": [{"factor": "cap"}, {"not": {"field": "amonut", "above": 7}}]},
            "there is no argument 'amonut' (did you mean 'amount'?)",
        ),
        (
            {"any": [{"factor": "cap"}, {"registered": "creditor", "more-than-hours": 7}]},
            "there is no argument 'creditor' (did you mean 'creditorAccount'?)",
        ),
        ({"factor": "soft-tokn"}, "there is no factor 'soft-tokn' (did you mean 'soft-token'?)"),
    ],
)
def test_a_name_that_refers_to_nothing(when, what):
    """However deep it stands."""
    (said,) = problems("cash", when=when)

    assert said.endswith(what)


@for_each(
    "when",
    [
        {},
        {"field": "amount"},
        {"is": "7"},
        {"registered": "creditorAccount"},
        {"field": "amount", "is": "7", "above": 7},
        {"factor": "cap", "more-than-hours": 7},
        {"all": [{"factor": "cap"}, {"factor": "sms"}], "not": {"factor": "sms"}},
        {"all": [{"factor": "cap"}, {"factor": "sms"}], "is": "7"},
        {"all": [{"factor": "cap"}]},
        {"any": []},
        {"not": []},
        {"field": "amount", "above": "7"},
        {"field": "amount", "is": ""},
        {"registered": "creditorAccount", "more-than-hours": 0},
        "cash",
    ],
)
def test_what_is_no_condition(when):
    """One key, or one and what belongs to it."""
    assert problems("cash", when=when)


def test_a_condition_of_too_many_atoms():
    """The table doubles with each; the same twice is one."""
    eight = [{"field": "amount", "above": n} for n in range(1, 9)]

    assert (
        "there are more than 8 atoms (write several rules)"
        in problems("cash", when={"any": [*eight, {"factor": "sms"}]})[0]
    )
    raw = yaml.safe_load(PIS)
    cash = next(one for one in raw["rules"] if one["id"] == "cash")
    cash["when"] = {"any": [*eight, eight[0]]}
    assert parse_document(loads(yaml.safe_dump(raw, sort_keys=False)))


def test_what_is_put_off_cannot_be_repeated_at_once():
    """`duplicate` is asked in modes that are executed when they are signed."""
    (said,) = problems("duplicate", modes=["immediate", "deferred"])

    assert "requests in the mode 'deferred' are deferred to a day" in said
    (said,) = problems("duplicate", parameters=["amonut"])
    assert "there is no argument 'amonut'" in said
