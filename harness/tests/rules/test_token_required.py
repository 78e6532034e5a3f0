"""`token-required` judges calls without a token, or with an invented one."""

from account_information import (
    BROKEN,
    DONE,
    FAILED,
    LOST,
    NO,
    NONE,
    UNKNOWN,
    Obliging,
    ask,
    check,
    owner,
    ruled,
)
from rows import for_each

from assay.history import Token
from assay.testing import listed, refused

DATA = listed("x")
WORDS = {
    Token.NONE: "without-token",
    Token.INVENTED: "invented-token",
    Token.ENDING: "invented-token",
    Token.CONTENT: "invented-token",
}


def says(*events):
    return check("token-required", owner(), *events)


def bare(came, token, operation="accounts", **how):
    return ask(operation, came, bearer=token, **how)


@for_each("token", Token)
@for_each(
    ("came", "agreement"),
    [
        (UNKNOWN, "agrees"),
        (NO, "agrees"),
        (DATA, "disagrees"),
        (DONE, "disagrees"),
        (refused("x"), "disagrees"),
        (NONE, "unclear"),
        (FAILED, "unclear"),
        (BROKEN, "unclear"),
        (LOST, "unclear"),
    ],
)
def test_nobody_is_served_without_a_token(token, came, agreement):
    """A rejected token is just what is asked; a failure is no answer to it."""
    told = says(ask("accounts", DATA), bare(came, token))
    assert [f"accounts-{WORDS[token]} {agreement} 2"] == told


@for_each(
    "control",
    [[], [ask("accounts", NO)], [ask("balances", DATA, "A1")], [ask("accounts", DATA, by="other")]],
)
def test_without_the_control_nothing_is_said(control):
    """The same call with its own token must have been served."""
    for came in (NO, DATA):
        assert [] == says(*control, bare(came, Token.NONE))


def test_no_other_clause_takes_such_a_call_for_an_ordinary_one():
    """A refusal is no refusal of the customer's call."""
    refused = bare(UNKNOWN, Token.NONE)

    assert [] == check("accounts.available", owner(), refused)
    assert [] == check("batch-quota", owner(), bare(NO, Token.INVENTED, present=False))


def test_the_probe_makes_the_same_call_with_each_token():
    """With its own token first."""
    clause = ruled("token-required")
    calls = Obliging().play(clause, "balances").calls

    assert [None, None, *Token] == [call.bearer for call in calls]


@for_each("token", Token)
def test_the_next_page_of_a_list_needs_a_token_too(token):
    """The control is the same page, read with the token of the list."""
    first = ask("accounts", listed("A1", next="2"))
    page = ask("accounts", listed("A2"), follow="2")

    def judged(*events):
        return check("token-required", owner(), first, *events)

    assert [f"accounts-{WORDS[token]} disagrees 3"] == judged(page, bare(DATA, token, follow="2"))
    assert [f"accounts-{WORDS[token]} agrees 3"] == judged(page, bare(UNKNOWN, token, follow="2"))
    assert [] == judged(bare(DATA, token, follow="2"))
    assert [] == judged(page, bare(DATA, token, follow="3"))
