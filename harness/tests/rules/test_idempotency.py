"""A key with which a request is made once: literal histories."""

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

from assay.history import Call, Effect, Effects, Item, Malformed, Owned, Subject
from assay.rules.lifecycle.tracker import instances, lifecycle_of_request
from assay.testing import (
    START,
    accepted,
    evidence,
    exchange,
    failed,
    history,
    kind_in,
    lost,
    refused,
)

DESK = Path(__file__).parents[1] / "general_kinds" / "desk.yaml"
KIND = kind_in(DESK, "key")
FIRST = accepted("O-1", status=201)


def ordered(answer, key="k", amount="10.00", *, hours=0.0, body=b"", **changes):
    """Write down an order, some hours after the start."""
    arguments = {"number": "A", "Order-Key": key, "amount": amount}
    call = Call(operation="order", subject="psu", arguments=arguments, mode="now")
    at = START + timedelta(hours=hours) if hours else None
    made = exchange(replace(call, **changes), answer, at=at)
    return replace(made, wire=replace(made.wire, request_body=body))


def executed(*keys):
    """Write down what the fixtures say was executed."""
    day = date(2026, 9, 16)
    return Effects(now=START, done=tuple(Effect(request=key, on=day) for key in keys))


def says(*events):
    """Return what the clause says of a history."""
    return evidence(KIND, history(*events))


def test_a_repeated_key_gives_the_same_resource():
    """Another resource disagrees, and so does a refusal; without its key nothing is clear."""
    assert ["repeated agrees 1,2"] == says(ordered(FIRST), ordered(accepted("O-1")))
    assert ["repeated disagrees 1,2"] == says(ordered(FIRST), ordered(accepted("O-2")))
    assert ["repeated disagrees 1,2"] == says(ordered(FIRST), ordered(refused(status=409)))
    assert ["repeated unclear 1,2"] == says(ordered(FIRST), ordered(refused(status=401)))
    assert ["repeated unclear 1,2"] == says(ordered(FIRST), ordered(accepted(Item())))
    assert ["repeated unclear 1,2"] == says(ordered(FIRST), ordered(lost()))


def test_how_long_a_key_is_remembered():
    """In the last half hour the facet is another one; from the end of the hours on, nothing is said."""
    other = accepted("O-2")

    assert ["repeated disagrees 1,2"] == says(ordered(FIRST), ordered(other, hours=23.4))
    assert ["late disagrees 1,2"] == says(ordered(FIRST), ordered(other, hours=23.9))
    assert [] == says(ordered(FIRST), ordered(other, hours=24.1))


def test_another_request_is_refused_beside_its_control():
    """A refusal counts if the same request was accepted with another key."""
    control = ordered(accepted("O-2"), key="other", amount="12.00")
    refusal = ordered(refused(), amount="12.00")

    assert [] == says(ordered(FIRST), refusal)
    assert ["conflict agrees 1,2,3"] == says(ordered(FIRST), control, refusal)
    assert ["conflict unclear 1,2,3"] == says(
        ordered(FIRST), control, ordered(refused(status=401), amount="12.00")
    )
    assert ["conflict disagrees 1,2"] == says(
        ordered(FIRST), ordered(accepted("O-2"), amount="12.00")
    )
    for status in (500, 503):
        assert ["conflict unclear 1,2,3"] == says(
            ordered(FIRST), control, ordered(failed(status=status), amount="12.00")
        )


def test_a_value_that_the_target_file_made_up_is_compared():
    """It is sent again with a repeated request, where it is no longer made up."""
    known = ordered(FIRST, generated=("amount",))

    assert ["repeated agrees 1,2"] == says(known, ordered(accepted("O-1")))


def test_what_is_open_before_stays_open():
    """A first call that failed or was refused, or is another customer's, binds no key."""
    assert [] == says(ordered(lost()), ordered(accepted("O-2")))
    assert [] == says(ordered(refused()), ordered(accepted("O-2")))
    assert [] == says(ordered(FIRST), ordered(accepted("O-2"), subject="other"))
    assert [] == says(ordered(FIRST), ordered(accepted("O-2"), by="other"))
    assert [] == says(ordered(FIRST), ordered(accepted("O-2"), malformed=Malformed.EMPTY))


def test_a_body_of_its_own_is_another_request():
    """What a target file makes up for each body is in no argument: nothing is judged."""
    first, second = ordered(FIRST, body=b"1"), ordered(accepted("O-2"), body=b"2")

    assert [] == says(first, second)
    assert ["repeated disagrees 1,2"] == says(first, replace(second, wire=first.wire))


def test_it_is_carried_out_once():
    """Twice under one key, or once under each, is a violation; other executions do not count."""
    repeated = [ordered(FIRST), ordered(accepted("O-1"))]

    assert ["repeated agrees 1,2", "once agrees 1,2"] == says(*repeated, executed("O-1", "O-9"))
    assert ["repeated agrees 1,2", "once disagrees 1,2"] == says(
        *repeated, executed("O-1"), executed("O-1", "O-1")
    )
    assert ["repeated disagrees 1,2", "once disagrees 1,2"] == says(
        ordered(FIRST), ordered(accepted("O-2")), executed("O-1", "O-2")
    )
    assert ["repeated agrees 1,2"] == says(*repeated, executed("O-9"))


def test_a_key_makes_no_two_requests_different():
    """To other clauses, two orders with different keys are the same order."""
    lifecycle = lifecycle_of_request(KIND.contract, "order")
    made = history(ordered(FIRST), ordered(accepted("O-2"), key="other"))
    first, second = instances(made, lifecycle)

    assert {"number": "A", "amount": "10.00"} == first.arguments == second.arguments


def test_the_tpp_sends_no_key_again_with_another_request():
    """A new key and a repeated request agree, from the second request on; so does a forgotten key."""
    first, again = ordered(FIRST), ordered(accepted("O-1"))
    other = ordered(refused(), amount="12.00")
    new = ordered(accepted("O-2"), key="other", amount="12.00")
    late = ordered(accepted("O-3"), amount="12.00", hours=25)

    def owed(*events):
        return evidence(KIND, history(*events), tpp=True)

    assert [] == owed(first)
    assert ["key-not-reused agrees 1,2"] == owed(first, again)
    assert ["key-not-reused disagrees 1,2"] == owed(first, other)
    assert ["key-not-reused agrees 2"] == owed(first, new)
    assert ["key-not-reused agrees 1,2"] == owed(first, late)
    assert None is replace(KIND, varies="").tpp_facet()


# -- other rules ----------------------------------------------------------------------
XS2A = Path(__file__).parents[3] / "contract" / "examples" / "xs2a" / "xs2a.yaml"


def paid(answer, request_id, account):
    """Write down a payment from an account."""
    create = kind_in(XS2A, "payments.made").operation
    usual = dict.fromkeys(create.arguments, "10.00")
    usual.pop(create.due.argument)
    usual |= {"currency": "EUR", "creditorAccount": "DE02120300000000202051"}
    arguments = {**usual, "debtorAccount": account, "X-Request-ID": request_id}
    mode = "sepa-credit-transfers"
    call = Call(operation="make-payment", subject="psu", arguments=arguments, mode=mode)
    return exchange(call, answer)


def test_a_refusal_for_a_reused_key_is_no_missing_answer():
    """That a valid payment is accepted is not judged by one that may be taken for another."""
    made = kind_in(XS2A, "payments.made")
    owns = tuple(Owned(resource="account", key=key) for key in ("A1", "A2"))
    owner = Subject(name="psu", now=START, owns=owns)
    ids = [f"8f0f4dc0-4c7b-4a4e-9f3a-0000000000{n}1" for n in range(2)]
    first, refusal = paid(FIRST, ids[0], "A1"), refused(status=409)
    assert ["answers agrees 1"] == evidence(
        made, history(owner, first, paid(refusal, ids[0], "A2"))
    )
    assert ["answers agrees 1", "answers disagrees 2"] == evidence(
        made, history(owner, first, paid(refusal, ids[1], "A2"))
    )
