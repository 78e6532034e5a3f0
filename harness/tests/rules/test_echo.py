"""A header that every answer repeats: literal histories."""

from dataclasses import replace
from pathlib import Path

from rows import for_each

from assay.history import Call, Malformed
from assay.history.outcomes import HIDDEN
from assay.testing import (
    accepted,
    evidence,
    exchange,
    failed,
    history,
    kind_in,
    lost,
    play,
    refused,
    unavailable,
)

DESK = Path(__file__).parents[1] / "general_kinds" / "desk.yaml"
BACK = {"x-request-id": "r-1"}


#: A refusal of a server in front of the bank.
EARLY = replace(refused(), outcome=replace(refused().outcome, early=True))


def called(answer, sent="r-1", operation="entries", **changes):
    """Write down a call with a request id."""
    arguments = {"number": "A", "X-Request-ID": sent}
    call = Call(operation=operation, subject="psu", arguments=arguments)
    return exchange(replace(call, **changes), answer)


def says(*events):
    """Return what the clause says of a history."""
    return evidence(kind_in(DESK, "echo"), history(*events))


def test_an_answer_with_the_value_agrees():
    """The name of a header is compared in any case, its value exactly."""
    assert ["entries-returned agrees 1"] == says(called(accepted(headers=BACK)))
    assert ["entries-returned disagrees 1"] == says(called(accepted(headers=BACK), "R-1"))
    assert ["entries-returned disagrees 1"] == says(called(accepted()))


def test_a_header_that_a_journal_hides_is_open():
    """What stood there is unknown."""
    hidden = {"X-Request-ID": HIDDEN}

    assert ["entries-returned unclear 1"] == says(called(accepted(headers=hidden)))


def test_a_refusal_is_judged_beside_a_control_of_its_operation():
    """Without a control whose value came back, a refusal says nothing, before or after it."""
    control, bare = called(accepted(headers=BACK)), called(refused())
    invalid = called(unavailable(headers=BACK), malformed=Malformed.BAD_IDENTIFIER)

    assert [] == says(bare)
    assert ["entries-returned agrees 2"] == says(
        called(refused(), operation="show"), called(accepted(headers=BACK))
    )
    assert ["entries-in-refusals disagrees 1,2", "entries-returned agrees 2"] == says(bare, control)
    assert ["entries-returned agrees 1", "entries-in-refusals agrees 1,2"] == says(control, invalid)


@for_each("answer", [failed(), lost(), refused(status=401), EARLY])
def test_an_answer_that_is_not_the_banks_is_not_judged(answer):
    """A failure, silence, and a gateway that does not know the caller leave it open."""
    assert ["entries-returned agrees 1"] == says(called(accepted(headers=BACK)), called(answer))


@for_each("sent", ["", None, 5, "two\r\nlines"])
def test_a_call_without_a_value_is_not_judged(sent):
    """What was not sent, or cannot stand in a header, is not repeated."""
    assert [] == says(called(accepted(), sent))
    assert [] == says(called(accepted(), operation="other"))


def test_a_probe_sends_two_values():
    """So a bank that always says the same is noticed; a request is ended only once."""
    kind = kind_in(DESK, "echo")
    scenarios = {facet.id: facet.scenario.id for facet in kind.facets()}

    def values(facet, operation):
        calls = play(kind, scenarios[facet], lambda call: accepted("O-1")).calls
        return [each.arguments["X-Request-ID"] for each in calls if each.operation == operation]

    assert 2 == len({*values("accounts-returned", "accounts")})
    assert 2 == len({*values("order-in-refusals", "order")})
    assert 1 == len(values("call-off-returned", "call-off"))
