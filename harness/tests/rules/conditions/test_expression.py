"""Condition trees: parsed, evaluated and described."""

from rows import for_each

from assay.rules.conditions import may_hold
from assay.rules.conditions.table import All, Any, AtomRef, Not, describe, holds, parse_expression

A, B, C = AtomRef(0), AtomRef(1), AtomRef(2)


def test_a_condition_is_read_as_it_is_nested():
    """Atoms are numbered by whoever knows them."""
    seen = []

    def number(node):
        seen.append(node["factor"])
        return len(seen) - 1

    raw = {"any": [{"all": [{"factor": "a"}, {"not": {"factor": "b"}}]}, {"factor": "c"}]}

    assert Any((All((A, Not(B))), C)) == parse_expression(raw, number)
    assert ["a", "b", "c"] == seen


@for_each(
    ("expression", "truths", "result"),
    [
        (A, [True], True),
        (Not(A), [True], False),
        (Not(A), [None], None),
        (All((A, B)), [True, True], True),
        (All((A, B)), [True, False], False),
        (All((A, B)), [None, True], None),
        (All((A, B)), [None, False], False),
        (Any((A, B)), [False, False], False),
        (Any((A, B)), [None, True], True),
        (Any((A, B)), [None, False], None),
        (Not(All((A, Any((B, C))))), [True, None, None], None),
        (Not(All((A, Any((B, C))))), [False, None, None], True),
    ],
)
def test_a_condition_holds_or_not_or_nobody_knows(expression, truths, result):
    """An unknown atom leaves open only what depends on it."""
    assert result is holds(expression, truths)


def test_a_condition_is_written_down():
    """With brackets where they are needed."""
    labels = ["a", "b", "c"]

    assert "a and not b and not c" == describe(All((A, Not(B), Not(C))), labels)
    assert "a or (b and not (a or c))" == describe(Any((A, All((B, Not(Any((A, C))))))), labels)


LARGE_BY_SMS = {"all": [{"field": "amount", "above": 15000}, {"not": {"factor": "photo"}}]}


@for_each(
    ("condition", "arguments", "possible"),
    [
        (LARGE_BY_SMS, {"amount": "83.50"}, False),
        (LARGE_BY_SMS, {"amount": "15000.00"}, False),
        (LARGE_BY_SMS, {"amount": "15000.01"}, True),
        (LARGE_BY_SMS, {"amount": "1.6E4"}, True),
        (LARGE_BY_SMS, {}, False),
        ({"not": {"field": "amount", "above": 100}}, {"amount": "5"}, True),
        ({"not": {"field": "amount", "above": 100}}, {"amount": "500"}, False),
        ({"any": [{"field": "purpose", "is": "CASH"}, {"factor": "sms"}]}, {}, True),
        ({"all": [{"field": "purpose", "is": "CASH"}]}, {"purpose": "SUPP"}, False),
        ({"field": "instant", "is": True}, {"instant": True}, True),
        ({"field": "instant", "is": True}, {"instant": 1}, False),
    ],
)
def test_what_the_arguments_alone_exclude(condition, arguments, possible):
    """A small amount is never rejected by a rule about large ones, whoever signs it."""
    assert possible is may_hold(condition, arguments)
