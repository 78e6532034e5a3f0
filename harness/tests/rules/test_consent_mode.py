"""Consents in a mode, which do not open everything: literal histories."""

from dataclasses import replace
from functools import cache

from rows import for_each

from assay._resources import contract_dir
from assay.history import (
    Accepted,
    Authorise,
    Authorised,
    Call,
    Code,
    Ending,
    Item,
    Owned,
    State,
    Subject,
    Wire,
)
from assay.testing import START, accepted, evidence, exchange, history, kind_in, problems, refused

XS2A = contract_dir() / "examples" / "xs2a" / "xs2a.yaml"
PSU = Subject(name="psu", now=START, owns=(Owned(key="A", resource="account"),))
NO, DATA = refused(), accepted("x")
NARROW = "without-balances"


@cache
def clause():
    """Return the rule of the example."""
    return kind_in(XS2A, "balances.named")


def made(key, mode=None, **how):
    """A consent was made in a mode, and signed."""
    arguments = {"access": ["A"], "validUntil": "2027-06-01"}
    call = Call(operation="make-consent", subject="psu", arguments=arguments, mode=mode)
    event = exchange(call, accepted(), at=START)
    step = Authorise(subject="psu", request=key, approval=None, **how)
    wire = Wire(method="POST", url="https://bank.example/sign", status=200)
    signed = Authorised(n=0, step=step, ending=Ending.CONFIRMED, moments=(START,), wire=wire)
    return replace(event, outcome=Accepted(items=(Item(key=key, state=State.OPEN),))), signed


def ended(key):
    """A consent was ended."""
    call = Call(operation="end-consent", subject="psu", arguments={"consentId": key})
    return exchange(call, accepted(), at=START)


def read(answer):
    """The balances were read."""
    call = Call(operation="balances", subject="psu", arguments={"iban": "A"})
    return exchange(call, answer, at=START)


PLAIN = (*made("d"), read(DATA))


@for_each(
    ("events", "expected"),
    [
        ((*made("c", NARROW), read(NO), *PLAIN), ["mode-refused agrees 1,2,3"]),
        ((*made("c", NARROW), read(DATA), *PLAIN), ["mode-refused disagrees 1,2,3"]),
        # Without a control, the bank may serve nothing at all.
        ((*made("c", NARROW), read(NO)), []),
        # Nothing is certain of another mode, of a wrong signature, beside another consent, or later.
        ((*made("c", "another"), read(DATA), *PLAIN), []),
        ((*made("c", NARROW, code=Code.WRONG), read(DATA), *PLAIN), []),
        ((made("c", NARROW)[0], read(NO), *PLAIN), []),
        ((*made("b"), *made("c", NARROW), read(DATA), *PLAIN), []),
        ((*made("c", NARROW), ended("c"), read(NO), *PLAIN), []),
    ],
)
def test_data_is_refused_under_a_consent_in_the_mode(events, expected):
    """The control is the same call, served under a consent in no mode."""
    said = evidence(clause(), history(PSU, *events))
    assert expected == [each for each in said if not each.startswith("plain-served agrees")]


@for_each(("answer", "agreement"), [(DATA, "agrees"), (NO, "disagrees")])
def test_data_is_served_under_a_consent_in_no_mode(answer, agreement):
    """Otherwise a refusal in the mode says nothing."""
    assert [f"plain-served {agreement} 1,2,3"] == evidence(
        clause(), history(PSU, *made("c"), read(answer))
    )


def test_an_unknown_mode_is_a_finding(tmp_path):
    """It has a line and a hint."""
    path = tmp_path / "xs2a.yaml"
    text = XS2A.read_text("utf-8")
    path.write_text(text.replace("mode: without-balances", "mode: without-balance"))
    assert any("did you mean 'without-balances'" in each for each in problems(path))
