"""What is sure of a TPP, and what is not: literal histories with nothing else in them."""

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from account_information import (
    AISP,
    AT,
    DONE,
    FAILED,
    GONE,
    NO,
    NONE,
    PARIS,
    TODAY,
    account,
    ask,
    consent,
    item,
    owner,
    ruled,
)
from payment_initiation import PIS, make, shown
from rows import for_each

from assay.contract.model import Capability
from assay.history import History, Lacking, State
from assay.history.steps import SEVERAL_MODES, UNBOUND_MODE, UNSEEN_MODE
from assay.parsing.parse import parse_contract
from assay.rules.checks import checked
from assay.rules.kinds import KINDS
from assay.rules.obligation import bound_clauses
from assay.rules.rule import Kind
from assay.rules.verdict import DISAGREES, UNCLEAR, must_be_served, tpp_evidence
from assay.testing import evidence, history, listed, refused

RULED = {**bound_clauses(AISP), **bound_clauses(PIS)}
#: Clauses whose id both contracts have.
OF_PIS = bound_clauses(PIS)
#: Clauses of kinds that no shipped contract has.
DESK = parse_contract(Path(__file__).parents[1] / "general_kinds" / "desk.yaml")
OF_DESK = bound_clauses(DESK)
A, B = "FR7630006000011234567890189", "DE89370400440532013000"
pay = partial(make, by="payer")


def say(clause, *events, zone=PARIS, of=RULED):
    """Return what a clause's duty says of a history: ``agreement call`` each."""
    found = of[clause]
    contract = AISP if found.clause in AISP.clauses else PIS
    params = KINDS[found.clause.kind].parse(found.clause, replace(contract, zone=zone))
    return [
        f"{evidence.agreement.value} {max(evidence.exchanges)}"
        for evidence in params.check_tpp(history(*events))
    ]


def about(operation, key, came, *, tpp="", **changed):
    """Write down a call about a request."""
    return ask(
        operation, came, by="payer", tpp=tpp, arguments={"paymentRequestResourceId": key, **changed}
    )


def test_every_duty_is_of_a_kind_and_a_clause():
    """A duty goes by the name of a kind that there is, and some clause has it."""
    bound = (*RULED.values(), *OF_PIS.values(), *OF_DESK.values())
    kinds = {one.clause.kind for one in bound if one.kind.tpp_facet() is not None}
    judging = {name for name, kind in KINDS.items() if kind.check_tpp is not Kind.check_tpp}
    assert judging == kinds


@for_each("clause", [n for n, r in RULED.items() if r.kind.tpp_facet() is not None])
def test_nothing_is_said_of_nothing(clause):
    """A history without calls shows no duty kept."""
    assert [] == say(clause)


# -- how often ----------------------------------------------------------------------
def alone(came=DONE, **changes):
    """Write an access without the customer down."""
    return ask("accounts", came, present=False, **changes)


def test_the_fifth_access():
    """The fifth access of a day is one too many, also if it is refused."""
    assert ["agrees 1", "agrees 2", "agrees 3", "agrees 4", "disagrees 5"] == say(
        "batch-quota", *[alone()] * 4, alone(NO)
    )


def test_what_counts_is_open():
    """Refused accesses and page turns may count or not, so a fifth one after them is open."""
    turned = alone(follow="https://bank.example/2")
    for odd in (alone(NO), turned, replace(alone(), call=replace(alone().call, alias=0))):
        assert "unclear 5" == say("batch-quota", odd, *[alone()] * 4)[-1], odd


def test_attended_accesses_are_not_counted():
    """With the customer there no access counts, and none shows that the duty is kept."""
    assert [] == say("batch-quota", *[ask("accounts", DONE)] * 9)


def test_the_day_is_the_banks():
    """A fifth access belongs to the next day as soon as the bank's own day is over."""
    midnight = AT.replace(hour=23, minute=59)
    four = [alone(at=midnight)] * 4
    assert "agrees 5" == say("batch-quota", *four, alone(at=midnight + timedelta(minutes=2)))[-1]
    late = say("batch-quota", *four, alone(at=midnight + timedelta(minutes=2)), zone=None)
    assert "unclear 5" == late[-1]


def test_one_customer_with_two_names():
    """Where two tokens see the same account, it is not sure that each has four of its own."""
    seen = listed(A)
    events = [alone(seen, by="customer-1")] * 4 + [alone(seen, by="customer-2")]
    assert "unclear 5" == say("batch-quota", *events)[-1]
    apart = [alone(listed(A), by="customer-1")] * 4 + [alone(listed(B), by="customer-2")]
    assert "agrees 5" == say("batch-quota", *apart)[-1]


# -- how far back -------------------------------------------------------------------
@for_each(("days", "said"), [(91, "disagrees"), (90, "unclear"), (89, "agrees"), (0, "agrees")])
def test_the_edge_of_the_history(days, said):
    """Whether the ninetieth day may be asked for is open; the day before it may not be."""
    since = str(TODAY - timedelta(days=days))
    assert [f"{said} 1"] == say(
        "transactions.depth", ask("transactions", DONE, A, arguments={"since": since})
    )


def test_nobody_knows_whose_day_it_is():
    """Without a zone a day more or less decides nothing."""
    late = AT.replace(hour=13)
    for days, said in ((92, "disagrees"), (91, "unclear"), (90, "unclear"), (88, "agrees")):
        since = str(TODAY - timedelta(days=days))
        asked = ask("transactions", DONE, A, at=late, arguments={"since": since})
        assert [f"{said} 1"] == say("transactions.depth", asked, zone=None), days


def test_questions_that_name_no_first_day():
    """Who asks for all there is, or up to a late day, asks for nothing that is too old."""
    plain = ask("transactions", DONE, A)
    until = ask("transactions", DONE, A, arguments={"until": str(TODAY)})
    odd = ask("transactions", DONE, A, arguments={"since": "soon"})
    assert [] == say("transactions.depth", plain, until, odd)
    old = ask("transactions", DONE, A, arguments={"until": str(TODAY - timedelta(days=200))})
    assert ["disagrees 1"] == say("transactions.depth", old)


# -- what was consented to ----------------------------------------------------------
def test_a_consent_from_before():
    """Without a word of any consent nobody knows, whatever the bank says."""
    for came in (NO, listed("b")):
        assert ["unclear 1"] == say("consent.scope", ask("balances", came, A))


def test_a_customer_without_consent():
    """Who is new, or is seen to have given none, has given none."""
    asked = ask("balances", NO, A)
    assert ["disagrees 1"] == say("consent.scope", owner("psu"), asked)
    assert ["unclear 1"] == say("consent.scope", owner("psu", fresh=False), asked)
    assert ["disagrees 2"] == say("consent.scope", ask("accounts", listed(A)), asked)
    given = listed(A, values={"PsuIdentity": "J"})
    assert ["unclear 2"] == say("consent.scope", ask("accounts", given), asked)
    assert ["unclear 2"] == say("consent.scope", ask("accounts", NONE), asked)


def test_beside_a_consent():
    """What a bank refuses beside what it serves under a consent was not consented to."""
    served = [consent(A), ask("balances", listed("b"), A)]
    assert ["agrees 2", "disagrees 3"] == say("consent.scope", *served, ask("balances", NO, B))
    assert ["agrees 2", "unclear 3"] == say("consent.scope", *served, ask("balances", DONE, B))
    alone_ = ask("balances", NO, B, present=False)
    assert ["agrees 2", "unclear 3"] == say("consent.scope", *served, alone_)


def test_a_former_consent_may_hold():
    """A consent that was replaced, perhaps, covers what it covered."""
    events = [owner("psu"), consent(A), consent(B), ask("balances", NO, A)]
    assert ["agrees 3"] == say("consent.scope", *events)


# -- requests -----------------------------------------------------------------------
def test_fields_that_are_not_there():
    """Missing, null and empty are not there; zero and false are."""
    for value, said in ((None, "disagrees"), ("", "disagrees"), ([], "disagrees"), (0, "agrees")):
        assert [f"{said} 1"] == say("mandatory-fields", pay(NO, creditorAccount=value)), value


def test_spelling_of_a_fixed_value():
    """Another spelling is another value where the contract says so, and open elsewhere."""
    assert ["disagrees 1"] == say("charge-bearer", pay(NO, chargeBearer="slev"))
    assert ["unclear 1"] == say("euro", pay(NO, currency="eur"), of=OF_PIS)
    assert ["disagrees 1"] == say("euro", pay(NO, currency="USD"), of=OF_PIS)
    assert [] == say("euro", pay(NO, currency=""), of=OF_PIS)


def test_modes():
    """A mode that is not spelt is none that is served, unless the bank takes it."""
    assert ["disagrees 1"] == say("payment-types", pay(NO, mode=UNBOUND_MODE))
    assert ["unclear 1"] == say("payment-types", pay(shown("k"), mode=UNBOUND_MODE))
    for mode in (UNSEEN_MODE, SEVERAL_MODES):
        assert ["unclear 1"] == say("payment-types", pay(NO, mode=mode))
    assert ["agrees 1"] == say("payment-types", pay(NO, mode="instant"))
    lacking = Lacking(mode="instant", now=AT)
    assert ["disagrees 1"] == say("payment-types", lacking, pay(NO, mode="instant"))
    assert [] == say("payment-types", pay(NO, mode=None))
    assert [] == say("payment-types", pay(NO, mode="several"))
    assert ["disagrees 1"] == say("single", pay(NO, mode="several"))


def test_changes():
    """Only a request that was made here, deferred and not done may be changed."""
    change = about("modify-payment", "k", NO, amount="2.00")
    day = {"date": str(TODAY + timedelta(days=5))}
    assert [] == say("modify.deferred-only", change)
    assert ["agrees 2"] == say(
        "modify.deferred-only", pay(shown("k"), mode="deferred", **day), change
    )
    assert ["disagrees 2"] == say("modify.deferred-only", pay(shown("k")), change)
    read = about("read-payment", "k", shown("k", State.DONE))
    done = [pay(shown("k"), mode="deferred", **day), read, change]
    assert ["disagrees 3"] == say("modify.deferred-only", *done)
    ended = [done[0], about("read-payment", "k", shown("k", State.ENDED)), change]
    assert [] == say("modify.deferred-only", *ended)


def test_cancellations():
    """What was shown as done is not cancelled; of what else may be, the mode decides."""
    cancel = about("cancel-payment", "k", NO, cancellation="cancelled")
    assert ["unclear 2"] == say("cancel", pay(shown("k")), cancel)
    assert ["agrees 2"] == say("cancel", pay(shown("k"), mode="deferred"), cancel)
    read = about("read-payment", "k", shown("k", State.DONE))
    assert ["disagrees 3"] == say("cancel", pay(shown("k")), read, cancel)
    assert [] == say("cancel", cancel)


def test_repeats():
    """The same is a repeat if it is known to be done, on one day, and equal in everything."""
    read = about("read-payment", "k", shown("k", State.DONE))
    first = pay(shown("k"))
    assert [] == say("duplicate", first, pay(NO))
    assert ["disagrees 3"] == say("duplicate", first, read, pay(NO))
    assert ["agrees 3"] == say("duplicate", first, read, pay(NO, amount="2.00"))
    back = pay(NO, successfulReportUrl="https://tpp.example/?2")
    assert ["unclear 3"] == say("duplicate", first, read, back)
    later = replace(pay(NO), at=AT + timedelta(days=1))
    assert ["agrees 3"] == say("duplicate", first, read, later)


KEY, OTHER = "d195d25f7806456ff2bdd0e3", "be1ea193f0df57e40c50f973"


def test_keys():
    """A key from nowhere is wrong if it looks like none that was given, and is refused."""
    made = pay(shown(KEY))
    for key, came, said in (
        (KEY, GONE, "agrees"),
        (OTHER, GONE, "unclear"),
        (OTHER, shown(OTHER), "agrees"),
        ("PAY-2026-4711", GONE, "disagrees"),
        ("PAY-2026-4711", FAILED, "unclear"),
    ):
        asked = about("read-payment", key, came)
        assert [f"{said} 2"] == say("payments.addressed", made, asked), (key, came)
    assert ["unclear 1"] == say("payments.addressed", about("read-payment", "PAY-1", GONE))


def test_another_tpps_key():
    """A key that another TPP was given is not one's own."""
    asked = about("read-payment", KEY, GONE, tpp="tpp-2")
    assert ["disagrees 2"] == say("payments.addressed", pay(shown(KEY)), asked)


# -- hosts, methods, credentials ------------------------------------------------------
def test_a_flow_is_what_is_one_for_sure():
    """Two requests are two flows, and so are two customers; the calls about each are one."""
    first = pay(shown("k"))
    elsewhere = replace(first, wire=replace(first.wire, url="https://second.example/x"))
    assert [] == say("host", first, replace(elsewhere, outcome=shown("l").outcome))
    read = about("read-payment", "k", DONE)
    away = replace(read, wire=replace(read.wire, url="https://second.example/x"))
    port = replace(read, wire=replace(read.wire, url="https://BANK.example:443/x"))
    assert ["agrees 2", "disagrees 3"] == say("host", first, port, away)
    assert [] == say("host", away)


def test_credentials_and_methods():
    """Only what the clause names shows that a duty is kept; a breach is one anywhere."""
    assert ["agrees 1"] == say("redirect-only", ask("accounts", DONE), of=bound_clauses(AISP))
    sent = ask("balances", NO, A, credentials=True)
    assert ["disagrees 1"] == say("redirect-only", sent, of=bound_clauses(AISP))
    assert [] == say("redirect-only", ask("end-user-identity", NO), of=bound_clauses(AISP))
    gone = ask("trusted-beneficiaries", GONE)
    assert ["agrees 1", "disagrees 2"] == say(
        "trusted-beneficiaries", ask("accounts", listed(item("x"))), gone
    )


def test_a_quota_of_all_calls_needs_no_mark_for_calls_without_the_customer():
    """Where every call counts, the duty is judged at a target that marks none."""
    for counts, needed in (("all", set()), ("absent", {Capability.BATCH})):
        clause = ruled("batch-quota", counts=counts)
        assert needed == set(clause.tpp_facet().needs)


# -- whose fault a refusal is ----------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Serves(Kind):
    """A rule by which every call must be served."""

    name = "serves"

    def check(self, history):
        """Judge every call."""
        for exchange in history.exchanges:
            yield must_be_served("served", exchange, "it is valid")


class Shapes(Serves):
    """A rule about the form of answers, which blames every refusal all the same."""

    accepts_refusals = True


EVERY = {
    **{("aisp", name): one for name, one in bound_clauses(AISP).items()},
    **{("pis", name): one for name, one in OF_PIS.items()},
    **{("desk", name): one for name, one in OF_DESK.items()},
}


@pytest.mark.parametrize(
    "clause", [key for key, one in EVERY.items() if one.kind.tpp_facet() is not None], ids="/".join
)
def test_what_breaches_a_duty_is_no_violation_of_the_bank(clause, monkeypatch):
    """The refusal of a call that breaches any clause's duty is never the bank's violation of another."""
    kind = EVERY[clause].kind

    def breach(_self, events):
        for exchange in events.exchanges[1:]:
            yield tpp_evidence(kind.tpp_facet().id, DISAGREES, exchange, "the duty", "breached")

    monkeypatch.setattr(type(kind), "check_tpp", breach)
    calls = [ask("accounts", came) for came in (NO, NO, refused("x"), DONE, FAILED)]
    serves = Serves(contract=kind.contract)
    found = [evidence.agreement.value for evidence in checked(serves, history(*calls))]
    assert ["disagrees", "unclear", "disagrees", "agrees", "unclear"] == found
    # A part of a history is judged by the breaches in the whole one.
    whole = history(*calls)
    part = History(events=whole.events[1:2])
    assert [UNCLEAR] == [each.agreement for each in checked(serves, part, whole=whole)]
    shapes = checked(Shapes(contract=kind.contract), part, whole=whole)
    assert [DISAGREES] == [each.agreement for each in shapes]


def test_a_read_at_another_host_is_the_tpps_breach():
    """The 404 is no violation of the clause by which requests can be read."""
    read = OF_PIS["payments.read"].kind
    made = pay(shown("P1"))
    elsewhere = about("read-payment", "P1", GONE)
    elsewhere = replace(elsewhere, wire=replace(elsewhere.wire, url="https://other.example/x"))
    for event, word in ((elsewhere, "unclear"), (about("read-payment", "P1", GONE), "disagrees")):
        said = evidence(read, history(owner("payer", account()), made, event))
        assert f"answers {word} 2" in said
