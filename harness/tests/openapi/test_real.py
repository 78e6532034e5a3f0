"""The document against real calls: what a sound target does fits, what a broken one does not."""

from dataclasses import replace
from functools import cache

import pytest
from documented import LAB, QUAY, SHIPPED, STET, XS2A, Documented, joined, made
from foreign import dialects
from nordhafen.application import Bank as Nordhafen
from rows import for_each
from service import Service

from assay.binding.model.target import TransportKind
from assay.journal.redact import Careless
from assay.journal.writer import Journal
from assay.planning.plan import plan
from assay.preparation.prepare import selector
from assay.running.environment import set_up
from assay.running.session import Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.mutants import NEUTRAL, PIS_NEUTRAL
from assay.sandbox.mutants.accounts import FIELDS
from assay.sandbox.mutants.payments.fields import FIELD_FAULTS
from assay.sandbox.policies import SOUND

pytestmark = pytest.mark.slow


class Tapped:
    """A transport that records what it sends."""

    def __init__(self, transport):
        self.transport, self.wires = transport, []

    def __getattr__(self, name):
        return getattr(self.transport, name)

    def send(self, request):
        sent = self.transport.send(request)
        self.wires.append(sent.wire)
        return sent


def asked(contracts, target, bank, keywords=""):
    """Run the plan of contracts against a bank; return every call that the document describes."""
    bound, spelt = joined(contracts, target)
    spelt = replace(spelt, transport=TransportKind.EMBEDDED)
    environment = set_up(spelt, seed=0, bank=bank)
    environment.client = tapped = Tapped(environment.client)
    try:
        planned = plan(bound, spelt, selector(keywords))
        journal = Journal(out=None, redactor=Careless())
        result = run_session(Session(plan=planned, environment=environment, journal=journal))
    finally:
        environment.close()
    assert () == result.faults
    known = documented(contracts, target)
    return [one for one in tapped.wires if one.status and known.found(one)]


@cache
def documented(contracts, target):
    return Documented(made(contracts, target))


def sandbox(policies):
    return lambda base_url: make_app(policies, base_url=base_url)


@cache
def sound(contracts, target):
    """Run every plan against its sound bank."""
    return asked(contracts, target, SOUND_BANKS[contracts, target])


SOUND_BANKS = {
    SHIPPED: sandbox(SOUND),
    LAB: lambda _: Service(),
    STET: sandbox(SOUND),
    XS2A: lambda _: Nordhafen(),
    QUAY: lambda _: dialects.QUAY(),
}
EVERY = pytest.mark.parametrize(
    "name", SOUND_BANKS, ids=["shipped", "laboratory", "stet", "xs2a", "quay"]
)


@EVERY
def test_every_operation_is_really_called(name):
    """The calls cover every operation that can be called."""
    known = documented(*name)
    called = {known.found(one)[1]["operationId"] for one in sound(*name)}
    assert called == {
        one["operationId"] for item in known.doc["paths"].values() for one in item.values()
    }


@EVERY
def test_every_answer_of_a_sound_target_fits(name):
    """Status, media type and body are as documented; disturbances alone are not documented."""
    known = documented(*name)
    wrong = {(one.url, tuple(found)) for one in sound(*name) if (found := known.response(one))}
    assert set() == {one for one in wrong if one[1] != ("status 503",)}


@EVERY
def test_what_a_sound_target_accepts_the_document_allows(name):
    """The document forbids no request that is accepted."""
    known = documented(*name)
    accepted = [one for one in sound(*name) if taken(one)]
    assert len(accepted) > 100
    # The source leaves types open: the sandbox takes a day that is null for one that is absent.
    absent = ["body requestedExecutionDate: None is not of type 'string'"]
    found = [(one.url, known.request(one)) for one in accepted]
    assert [] == [(url, wrong) for url, wrong in found if wrong and wrong != absent]


def taken(wire):
    """Whether a call was accepted; a link that is followed is written by the target."""
    accepted = wire.status in range(200, 300) and b'"verdict": "refused"' not in wire.body
    return accepted and "from=" not in wire.url


def test_what_the_document_forbids_is_really_asked():
    """Each constraint on requests is broken by some call, and each such call is refused."""
    known = documented(*SHIPPED)
    problems = "\n".join(each for one in sound(*SHIPPED) for each in known.request(one))
    for field in ("chargeBearer", "categoryPurpose", "creditorAccount", "successfulReportUrl"):
        assert f"'{field}' is a required property" in problems
        assert f"body {field}: '' should be non-empty" in problems
        assert f"body {field}: None is not of type 'string'" in problems
    assert "body chargeBearer: 'SLEV' was expected" in problems
    assert "body currency: 'EUR' was expected" in problems
    assert "security: no scheme is used" in problems


#: A number beside other characters is invalid if several are alike, which no schema of one value says.
SEEN_IN_SEVERAL = "iban.named-pan"
#: What a balance must have stands in a list that may also show outstandings, which may lack it.
MAY_BE_A_CARD_S = {"balance-type.balance-first-untyped", "balance-type.balance-last-untyped"}


@for_each("fault", FIELDS)
def test_an_answer_with_a_wrong_field_does_not_fit(fault):
    """Every fault in a response field breaks the schema of some response."""
    wires = asked(*SHIPPED, sandbox(fault.change(SOUND)), " or ".join(fault.breaks))
    known = documented(*SHIPPED)
    wrong = [one for one in wires if one.status < 300 and known.response(one)]
    assert bool(wrong) is (fault.id not in {SEEN_IN_SEVERAL, *MAY_BE_A_CARD_S})


#: Faults of a modification, whose fields the document leaves open.
CHANGES = ("pis.euro.changed", "pis.euro.fails")
#: Failures, which accept nothing.
FAILURES = ("pis.withstands",)


@for_each(
    "fault",
    [one for one in FIELD_FAULTS if not one.id.startswith(("pis.single", *CHANGES, *FAILURES))],
)
def test_accepting_a_wrong_field_is_accepting_what_is_forbidden(fault):
    """Every fault in a request field is a request that the document forbids."""
    wires = asked(*SHIPPED, sandbox(fault.change(SOUND)), " or ".join(fault.breaks))
    known = documented(*SHIPPED)
    assert [one for one in wires if one.status < 300 and known.request(one)]


#: A list of nothing is answered with 204, which the exported document has for changes only.
UNDOCUMENTED = {"neutral.empty-204"}


@pytest.mark.parametrize(
    "variant",
    [one for one in (*NEUTRAL, *PIS_NEUTRAL) if one.id not in UNDOCUMENTED],
    ids=lambda one: one.id,
)
def test_a_bank_that_is_only_different_fits(variant):
    """What the source document leaves open is open in the exported one, too."""
    chosen = "accounts.available or aisp/euro or iban or balance-type or payments.content"
    wires = asked(*SHIPPED, sandbox(variant.change(SOUND)), chosen)
    known = documented(*SHIPPED)
    assert len(wires) > 20
    assert set() == {
        (one.url, tuple(found))
        for one in wires
        if one.status < 500 and (found := known.response(one))
    }
