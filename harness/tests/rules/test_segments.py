"""`segments` judges for whom a request may be made, by a customer who is served."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

from account_information import AT, LOST, NO
from payment_initiation import (
    DISCONNECTED,
    DONE,
    OPEN,
    PIS,
    REJECTED,
    carrying_out,
    check,
    flow,
    make,
    payer,
    price,
    probed,
    read,
    registered,
    ruled,
    shown,
    sign,
)
from rows import for_each

from assay.history import Arrange, Authorise, Call, Owned
from assay.rules.checks import facets_of
from assay.testing import evidence, history

PART, PRO = payer("part", "A1", segment="PART"), payer("pro", "B1", segment="PRO")
CORPORATE = payer("corp", "C1", segment="corporate")
PEOPLE = (PART, PRO, CORPORATE)
ASKED = (("part", shown()), ("corp", NO))


def part(came=None, **changes):
    return make(came, by="part", debtorAccount="A1", **changes)


def pro(came=None, **changes):
    return make(came or shown("P2"), by="pro", debtorAccount="B1", **changes)


def corporate(came=None, **changes):
    return make(came or shown("P3"), by="corp", debtorAccount="C1", **changes)


def says(*events):
    return check("segments", *PEOPLE, *events)


def test_who_is_served_is_accepted_and_who_is_not_is_refused():
    """A refusal counts beside the same request for a customer who is served."""
    assert ["PART agrees 1", "PRO agrees 2", "corporate agrees 2,3"] == says(
        part(), pro(), corporate(NO)
    )


def test_a_served_customer_who_is_refused_is_a_violation_beside_another():
    """It is the customer who was refused, and nothing else."""
    assert ["PART agrees 1", "PRO disagrees 1,2"] == says(part(), pro(NO))
    assert ["PART disagrees 1,2", "PRO agrees 2"] == says(part(NO), pro())


def test_who_refuses_everybody_does_not_pass():
    """Nor does he violate anything here."""
    assert [] == says(part(NO), pro(NO), corporate(NO))
    assert ["PART unclear 1", "PRO unclear 2", "corporate unclear 3"] == says(
        part(LOST), pro(LOST), corporate(LOST)
    )


def test_what_is_not_ordinary_is_another_rules_matter():
    """A thing that cannot be used is refused for everybody."""
    savings = (Owned(key="B1", resource="account", traits={"savings": True}),)
    said = check("segments", PART, replace(PRO, owns=savings), part(), pro(NO))
    assert ["PART agrees 1"] == said
    assert ["PART agrees 1"] == check("segments", PART, replace(PRO, owns=()), part(), pro(NO))


def test_a_request_may_be_about_nothing():
    """Then it does not matter what a customer owns."""
    create = replace(PIS.operations["create-payment"], owned=None)
    clauses = tuple(each for each in PIS.clauses if each.kind != "eligible-for")
    operations = {**PIS.operations, "create-payment": create}
    contract = replace(PIS, operations=operations, clauses=clauses)
    params = ruled("segments", contract=contract)
    people = (replace(one, owns=()) for one in PEOPLE)
    events = (make(by=who, debtorAccount="X", came=came) for who, came in ASKED)
    said = params.check(history(*people, *events))
    assert [("PART", "agrees"), ("corporate", "agrees")] == [
        (line.facet, line.agreement.value) for line in said
    ]


def test_nobody_knows_the_segment_of_some():
    """They are not judged, but whoever served them accepts such requests."""
    somebody = payer("psu")
    said = check("segments", somebody, CORPORATE, make(), corporate(NO))
    assert ["corporate agrees 1,2"] == said
    assert [] == check("segments", somebody, make(NO))
    assert [] == check("segments", payer("psu", segment="unheard-of"), make(NO))


def test_an_excluded_customer_is_no_control():
    """That one of them was served by mistake does not show that others must be."""
    other = payer("assoc", "D1", segment="association")
    events = corporate(), make(NO, by="assoc", debtorAccount="D1"), part(NO)
    assert ["corporate unclear 1"] == check("segments", *PEOPLE, other, *events)


def test_a_past_and_a_registration_leave_doubt():
    """A customer who is not new may repeat something; one who knows the other may be favoured."""
    said = check("segments", PART, replace(PRO, fresh=False), part(), pro(NO))
    assert ["PART agrees 1", "PRO unclear 1,2"] == said
    assert ["PRO agrees 2"] == says(registered(80, by="part"), part(NO), pro())


def test_everybody_is_there_before_anybody_asks():
    """Six customers, one call for each; who is served signs, and then all that was signed is read."""

    def bank(call, key):
        return carrying_out(call, key) if call.subject in {"PART", "PRO"} else NO

    played, said = probed("segments", "each", bank)
    signed = [Authorise] * 2 + [Call] * 2
    assert [Arrange] * 6 + [Call] * 6 + signed == [type(step) for step in played.steps]
    assert ["PART", "PRO", "large-professional", "corporate", "association", "legal-guardian"] == [
        step.segment for step in played.steps[:6]
    ]
    assert [False, False, True, True, True, True] == [
        bool(step.variation) for step in played.calls[:6]
    ]
    assert price("segments", "each") == played.spent
    assert 6 == len(said)
    assert all(line.endswith("agrees") for line in said)


def test_a_lenient_bank_is_pressed():
    """Each customer signs, and what was executed for an excluded one disagrees."""
    played, said = probed("segments", "each", carrying_out)
    assert 6 == len(played.signatures)
    assert ["agrees"] * 2 + ["disagrees"] * 4 == [line.partition(" ")[2] for line in said]


def test_a_bank_that_accepts_and_rejects_later_passes():
    """Where the control goes on, a late rejection is as good as one at once."""
    mine = {"R100-0001-4711", "R200-0001-4711"}

    def bank(call, key):
        asked = call.arguments.get("paymentRequestResourceId")
        if asked is None:
            return shown(key)
        return shown(asked, DONE if asked in mine else REJECTED)

    played, said = probed("segments", "each", bank)
    assert 6 == len(played.signatures)
    assert ["agrees"] * 6 == [line.partition(" ")[2] for line in said]


@for_each(
    ("part_ends", "pro", "says_"),
    [
        (DONE, PRO, ["PRO disagrees 1,2,3,4,5,6"]),
        (OPEN, PRO, ["PRO disagrees 1,2,3,4,5,6"]),
        (DONE, replace(PRO, fresh=False), ["PRO unclear 4,5,6"]),
        (REJECTED, PRO, ["PART unclear 1,2,3", "PRO unclear 4,5,6"]),
    ],
)
def test_a_served_customer_whose_payment_is_rejected_after_the_signature_is_not_served(
    part_ends, pro, says_
):
    """The same payment of a customer of another segment, which went on, shows that it is no other rule."""
    first = flow(part_ends, by="part", debtorAccount="A1")
    second = flow(REJECTED, key="P2", by="pro", debtorAccount="B1")
    said = check("segments", PART, pro, *first, *second)

    assert says_ == [line for line in said if "agrees 1,2,3" not in line or "dis" in line]


@for_each(
    ("state", "says_"), [(DONE, "disagrees 4,5,6"), (OPEN, "unclear 4,5,6"), (None, "unclear 4,5")]
)
def test_an_accepted_request_of_an_excluded_customer_is_judged_by_what_becomes_of_it(state, says_):
    """That it was accepted (201) breaks nothing yet; that it was executed does, and nothing else."""
    mine = flow(DONE, by="part", debtorAccount="A1")
    other = flow(state or OPEN, key="P3", by="corp", debtorAccount="C1")
    assert f"corporate {says_}" in says(*mine, *(other if state else other[:2]))


@for_each(
    ("redirected", "late", "says_"),
    [
        ("https://tpp.example/no", False, "agrees 1,2,3,4,5,6"),
        ("https://tpp.example/no", True, "unclear 4,5,6"),
        (None, False, "unclear 4,5,6"),
    ],
)
def test_an_excluded_customer_who_is_sent_away_from_the_screens_is_rejected(
    redirected, late, says_
):
    """By the bank, if at once: half an hour later, when it is read, it had not been signed in time."""
    mine = flow(DONE, by="part", debtorAccount="A1")
    made, _, _ = flow(REJECTED, key="P3", by="corp", debtorAccount="C1")
    after = AT + timedelta(minutes=30)
    left = sign(DISCONNECTED, key="P3", by="corp", at=after if late else AT, redirected=redirected)
    seen = read(shown("P3", REJECTED), key="P3", by="corp", at=after)
    assert f"corporate {says_}" in says(*mine, made, left, seen)


# -- when a request is rejected, where the bank says so --------------------------------------
FOR_ANOTHER = "for a customer of the segment corporate"


def timed(moment, *events, own=True):
    """Return what is said of when a request was rejected, where the bank says it."""
    variation = FOR_ANOTHER if own else ""
    events = [each(variation=variation) if callable(each) else each for each in events]
    flat = [one for many in events for one in (many if isinstance(many, list) else [many])]
    kind = ruled("segments", rejection=moment)
    lines = evidence(kind, history(*PEOPLE, *flat))
    return [line.removeprefix(f"corporate-{moment} ") for line in lines if f"-{moment}" in line]


def signed_late(state=REJECTED):
    """Write down that a customer who is served signed, and then one who is not; return the events."""
    served = flow(DONE, by="part", debtorAccount="A1")

    def made(variation):
        return flow(state, key="P3", by="corp", debtorAccount="C1", variation=variation)

    return served, made


def test_a_rejection_comes_at_once_or_after_the_signature():
    """Each is the contrary of the other."""
    refused = partial(corporate, NO)
    assert ["agrees 1,2"] == timed("at-once", part(), refused)
    assert ["disagrees 1,2"] == timed("after-signing", part(), refused)
    assert ["disagrees 1,2,3,4,5,6"] == timed("at-once", *signed_late())
    assert ["agrees 1,2,3,4,5,6"] == timed("after-signing", *signed_late())


@for_each("moment", ["at-once", "after-signing"])
def test_without_a_rejection_nothing_is_known_of_its_moment(moment):
    """Nor where it is a violation that there is none."""
    assert ["unclear 4,5,6"] == timed(moment, *signed_late(DONE))
    assert ["unclear 2"] == timed(moment, part(), corporate)


def test_a_request_that_is_answered_as_rejected_is_rejected_at_once():
    """With a key and a status of success, as a bank may number what it rejects."""
    rejected = partial(corporate, shown("P3", REJECTED))
    assert ["agrees 1,2"] == timed("at-once", part(), rejected)
    assert ["disagrees 1,2"] == timed("after-signing", part(), rejected)


def test_a_rejection_before_the_signature_is_not_at_once():
    """Whether one would have come after a signature is not known."""
    looked = read(shown("P3", REJECTED), key="P3", by="corp")
    assert ["disagrees 1,2,3"] == timed("at-once", part(), corporate, looked)
    assert ["unclear 1,2,3"] == timed("after-signing", part(), corporate, looked)


def test_only_a_variation_shows_what_a_request_was_refused_for():
    """In other recordings it may have been for anything."""
    refused = partial(corporate, NO)
    assert ["unclear 1,2"] == timed("after-signing", part(), refused, own=False)
    assert ["unclear 1,2,3,4,5,6"] == timed("at-once", *signed_late(), own=False)


def test_the_moment_is_judged_only_where_it_is_said():
    """The document does not say it, and the facets that expect a rejection have no other."""
    assert [] == timed("unspecified", part(), partial(corporate, NO))
    said = {facet.id for facet in facets_of(ruled("segments", rejection="at-once"))}
    silent = {facet.id for facet in facets_of(ruled("segments", rejection="unspecified"))}
    refused = ruled("segments").refused
    assert {f"{segment}-at-once" for segment in refused} == said - silent
