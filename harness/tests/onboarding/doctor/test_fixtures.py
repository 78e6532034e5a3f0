"""What the doctor says of the test data, from what its probes saw."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from rows import for_each

from assay.binding.model.target import FixtureKind, ScaKind
from assay.contract.model import Capability
from assay.errors import CannotArrange, TargetError
from assay.history import Authorise, Authorised, Ending, Subject, Wire
from assay.onboarding.doctor.fixtures import screens, zone
from assay.onboarding.doctor.probes import DoctorProbe
from assay.onboarding.doctor.probing import _unfinished
from assay.onboarding.doctor.record import Examined, Weight
from assay.preparation.prepare import prepare

NOW = datetime(2026, 9, 16, tzinfo=UTC)
PAGE = Wire(method="SIGN", url="https://bank.example/sign", status=403)


def weights(event: Authorised, kind: ScaKind = ScaKind.FORMS) -> list[Weight]:
    """Return the weights of what is said of the codes after a signature."""
    prepared = prepare()
    sca = replace(prepared.target.sca, kind=kind, factors={"sms": "TXT"})
    bound = replace(prepared, target=replace(prepared.target, sca=sca))
    record = Examined(target_name=None, prepared=bound)
    record.signed.append((event, PAGE))
    return [
        finding.weight
        for finding in screens(record)
        if finding.expected == "a code of the customer for the factor 'TXT'"
    ]


SIGNED = Authorised(
    n=1,
    step=Authorise(subject="psu", request="P1", approval=None),
    ending=Ending.STOPPED,
    moments=(NOW,),
    offered=("sms",),
    screens=("login", "password", "factor", "code"),
    wire=PAGE,
)


@pytest.mark.parametrize(
    ("event", "found"),
    [
        (SIGNED, [Weight.DOUBT]),
        (replace(SIGNED, ending=Ending.CONFIRMED), [Weight.UNSEEN]),
        (replace(SIGNED, coded=True), []),
        (replace(SIGNED, screens=("login", "password")), []),
    ],
)
def test_a_code_that_is_not_known(event: Authorised, found: list[Weight]) -> None:
    """A screen that asks for a code which the test data does not have is reported, by its factor."""
    assert found == weights(event)
    assert not weights(event, ScaKind.MANUAL)


def test_a_redirect_before_a_decision_is_doubted() -> None:
    """The form before it may be the one that confirms, which the target file can say."""
    event = replace(
        SIGNED, ending=Ending.DISCONNECTED, redirected="https://tpp.example/", coded=True
    )
    record = Examined(target_name=None, prepared=prepare())
    record.signed.append((event, PAGE))
    (doubt,) = screens(record)
    assert (Weight.DOUBT, "a screen that asks for the decision") == (doubt.weight, doubt.expected)
    assert "confirmed_by" in doubt.hint
    assert doubt.line


@for_each(
    ("kind", "offers", "hours", "found"),
    [
        (FixtureKind.CONTROL, frozenset(), -5, [Weight.DOUBT]),
        (FixtureKind.PYTHON, frozenset({Capability.CLOCK}), -5, [Weight.DOUBT]),
        (FixtureKind.PYTHON, frozenset({Capability.CLOCK}), 2, []),
        (FixtureKind.PYTHON, frozenset({Capability.CLOCK}), 0, []),
        (FixtureKind.PYTHON, frozenset(), -5, []),
        (FixtureKind.ROLES, frozenset(), -5, []),
    ],
)
def test_the_clock_of_another_zone(
    kind: FixtureKind, offers: frozenset[Capability], hours: int, found: list[Weight]
) -> None:
    """A bank's clock shows its zone; a clock in UTC, or of the machine, shows none."""
    prepared = prepare()
    fixtures = replace(prepared.target.fixtures, kind=kind, offers=offers)
    target = replace(prepared.target, fixtures=fixtures, zone=ZoneInfo("Europe/Paris"))
    record = Examined(target_name=None, prepared=replace(prepared, target=target))
    now = NOW.astimezone(timezone(timedelta(hours=hours)))
    record.subjects["psu"] = Subject(name="psu", now=now, owns=())
    assert found == [finding.weight for finding in zone(record)]


@pytest.mark.parametrize(
    ("error", "weight", "found"),
    [
        (CannotArrange("a card with slips"), Weight.UNSEEN, "it needs a card with slips"),
        (TargetError("the fixture provider failed"), Weight.FAULT, "the fixture provider failed"),
        (CannotArrange("a path", key=("operations", "accounts", "path")), Weight.UNSEEN, "a path"),
    ],
)
def test_what_the_fixtures_cannot_prepare_is_not_seen(error, weight, found):
    """They may lack a part, which costs what needs it; a provider that fails is a fault."""
    record = Examined(target_name=None, prepared=prepare())
    probe = DoctorProbe(name="reads", start=lambda: iter(()))
    finding = _unfinished(record, record.contracts_bound[0], probe, error)
    assert (weight, True) == (finding.weight, found in finding.found)
