"""`submission` compares what is submitted with what was signed, and counts executions."""

import json
from dataclasses import replace

import pytest
from account_information import LOST, NO, ask
from payment_initiation import (
    DONE,
    ENDED,
    KEY,
    OPEN,
    PIS,
    REJECTED,
    cancel,
    effects,
    make,
    modify,
    payer,
    read,
    shown,
    sign,
)
from rows import for_each

from assay.contract.model import Clause, Level
from assay.history import Ending, Submitted
from assay.parsing.parse import find_contract
from assay.rules.kinds import KINDS
from assay.testing import evidence, failed, history, problems, refused

CONSENT = replace(PIS.operations["read-payment"], id="read-consent")
CONTRACT = replace(PIS, operations={**PIS.operations, "read-consent": CONSENT})
PARAMS = {"request": "payment", "repeats": ["amount", "creditorAccount"], "consent": "read-consent"}
KIND = KINDS["submission"]
CLAUSE = Clause(id="s", rule=KIND, statement="", sources=(), level=Level.MUST, params=PARAMS)
RULE = KIND.parse(CLAUSE, CONTRACT)
AMOUNT, UNDONE, ONCE, AFTER = (
    "amount-changed-refused",
    "changed-undone",
    "once",
    "consent-afterwards",
)


def says(*events):
    """Return what the check says of a history, each with its exchanges."""
    flat = [one for many in events for one in (many if isinstance(many, tuple) else [many])]
    return evidence(RULE, history(payer("psu", "A1", "A2"), *flat), alone=True)


def submit(came=None, *, key="P1", debtorAccount="A1", confounded="", **said):  # noqa: N803
    """Write down a submission of a request; in `said` stands what it says otherwise."""
    made = make(key=key, debtorAccount=debtorAccount, **said)
    exchange = replace(ask("create-payment", came or shown(key, DONE)), call=made.call)
    given = {name: getattr(exchange, name) for name in ("n", "at", "call", "outcome", "wire")}
    return Submitted(**given, request=key, confounded=confounded)


def control(came=None):
    """Write down an equal request, about another account, that was submitted."""
    mine = {"key": "P2", "debtorAccount": "A2"}
    return make(shown("P2"), **mine), sign(key="P2"), submit(came, **mine)


SIGNED = (make(), sign())


# -- what must be refused ------------------------------------------------------------
def test_another_value_is_refused_and_not_executed():
    """Beside an equal request whose submission is accepted, and executed."""
    found = says(control(), SIGNED, submit(NO, amount="99.00"), effects("P2"))
    assert [f"{AMOUNT} agrees 3,4,5,6", f"{UNDONE} agrees 3,4,5,6"] == found


def test_the_same_request_may_be_the_control():
    """It is accepted, once the submission says what was signed."""
    found = says(SIGNED, submit(NO, amount="99.00"), submit())
    assert [f"{AMOUNT} agrees 1,2,3,4"] == found


@for_each(
    "seen",
    [
        (read(shown(state=DONE)),),
        (effects("P1"),),
    ],
)
def test_another_value_that_is_executed_is_wrong(seen):
    """It needs no control."""
    assert [f"{AMOUNT} disagrees 1,2,3"] == says(
        SIGNED, submit(shown(state=OPEN), amount="99.00"), *seen
    )


@for_each(
    ("came", "seen"),
    [
        (shown(state=OPEN), ()),
        (shown(state=None), ()),
        (shown(state=OPEN), (effects(),)),
        (LOST, ()),
        (failed(status=500), ()),
        (refused(status=401), ()),
        (refused(status=429), ()),
    ],
)
def test_what_may_be_rejected_yet_is_unclear(came, seen):
    """So is what was not answered, or was refused for another reason."""
    found = says(control(), SIGNED, submit(came, amount="99.00"), *seen)
    assert [f"{AMOUNT} unclear 3,4,5,6"] == found


def test_a_rejection_afterwards_is_a_refusal():
    """A bank may take the call, and decide then."""
    rejected = submit(shown(state=OPEN), amount="99.00"), read(shown(state=REJECTED))
    assert [f"{AMOUNT} agrees 3,4,5,6"] == says(control(), SIGNED, *rejected)
    assert [f"{AMOUNT} unclear 1,2,3"] == says(SIGNED, *rejected)


@for_each(
    "other",
    [
        (),
        (make(shown("P2"), key="P2", debtorAccount="A2"),),
        control(NO),
        control(shown("P2", REJECTED)),
        (
            make(shown("P2"), key="P2", amount="5.00"),
            sign(key="P2"),
            submit(key="P2", amount="5.00"),
        ),
    ],
)
def test_a_refusal_without_a_control_shows_nothing(other):
    """A bank that refuses every submission is not praised."""
    found = says(*other, SIGNED, submit(NO, amount="99.00"), effects())
    assert all(" unclear " in each for each in found)


def test_what_was_refused_and_executed_all_the_same_is_wrong():
    """The bank's key of it is known to nobody, but it is of the account of that request alone."""
    wrong = control(), SIGNED, submit(NO, amount="99.00")
    amount, undone = says(*wrong, effects("X9", debtorAccount="A1", amount="99.00"))
    assert (f"{AMOUNT} agrees 3,4,5,6", f"{UNDONE} disagrees 3,4,5,6") == (amount, undone)
    for fields in ({"debtorAccount": "A1", "amount": "5.00"}, {"amount": "99.00"}, {}):
        assert f"{UNDONE} unclear 3,4,5,6" == says(*wrong, effects("X9", **fields))[1]


def test_what_is_not_of_the_clause_is_not_judged():
    """Another argument, two at once, nothing signed, a change in between, or the same in other form."""
    for said in ({"currency": "USD"}, {"amount": "1.00", "creditorAccount": "C2"}):
        assert [] == says(control(), SIGNED, submit(NO, **said))
    assert [] == says(control(), make(), submit(NO, amount="99.00"))
    assert [] == says(control(), make(), sign(Ending.REFUSED), submit(NO, amount="99.00"))
    assert [] == says(SIGNED, modify(amount="99.00"), submit(amount="99.00"))
    assert [] == says(control(), SIGNED, submit(amount="12.3"))


def test_a_cancelled_request_may_be_refused_for_that():
    """A refusal has another cause then."""
    found = says(control(), SIGNED, cancel(), submit(NO, amount="99.00"))
    assert f"{AMOUNT} unclear 3,4,5,7" in found


# -- once ----------------------------------------------------------------------------
@for_each("again", [NO, shown(state=DONE), shown(state=OPEN)])
def test_a_second_submission_changes_nothing(again):
    """Whether it is refused or answered as the first."""
    first = SIGNED, submit(), effects("P1")
    assert [f"{ONCE} agrees 1,2,3,4"] == says(*first, submit(again), effects("P1"))
    assert [f"{ONCE} disagrees 1,2,3,4"] == says(*first, submit(again), effects("P1", "P1"))
    assert [f"{ONCE} unclear 1,2,3,4"] == says(*first, submit(again))
    assert [f"{ONCE} unclear 1,2,3,4"] == says(*first, submit(again), effects("P1", "X9"))


def test_what_was_executed_twice_before_is_no_matter_of_the_second():
    """Another rule is about that."""
    first = SIGNED, submit(), effects("P1", "P1")
    assert [f"{ONCE} unclear 1,2,3,4"] == says(*first, submit(NO), effects("P1", "P1"))


# -- the consent ---------------------------------------------------------------------
def consent(state):
    """Write down that a consent was read."""
    return ask("read-consent", shown(state=state), arguments={KEY: "P1"})


def test_the_consent_is_used_up():
    """It is judged once a submission was accepted, and nothing else can have ended it."""
    assert [f"{AFTER} agrees 1,3,4"] == says(SIGNED, submit(), consent(ENDED))
    assert [f"{AFTER} disagrees 1,3,4"] == says(SIGNED, submit(), consent(OPEN))
    assert [f"{AFTER} unclear 1,3,4"] == says(SIGNED, submit(), consent(None))
    for events in ((), (submit(NO),), (submit(amount="1.00"),), (submit(), cancel())):
        assert not any(AFTER in each for each in says(SIGNED, *events, consent(OPEN)))


# -- mistakes ------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("own", "what"),
    [
        ({"repeats": ["amont"]}, "amont"),
        ({"consent": "modify-payment"}, "shows no 'payment'"),
        ({"consent": "nothing"}, "nothing"),
        ({"afterwards": "ended"}, "nothing shows the consent"),
        ({"afterwards": "used", "consent": "read-payment"}, "afterwards"),
    ],
)
def test_a_wrong_parameter_is_an_error(own, what, tmp_path):
    """It names what is wrong."""
    rule = json.dumps({
        "id": "s", "kind": "submission", "says": "x", "request": "payment",
        "source": [{"section": "x", "line": 0}], **own,
    })  # fmt: skip
    text = find_contract("pis").read_text().replace("rules:\n", f"rules:\n  - {rule}\n", 1)
    (tmp_path / "c.yaml").write_text(text)
    assert any(what in each for each in problems(tmp_path / "c.yaml"))
