"""Checks that a fixture provider does what it offers: customers, TPPs, tokens, registrations, a clock.

Each ability is tried once, in a world of its own, without a call to the bank. What the offers do at
the bank (executed requests, cancellations, segments, screens) other checks see in the calls of the
probes. Existing customers are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias, cast

from assay.binding.wire.encode import BARE, Access
from assay.contract.model import Capability
from assay.errors import CannotArrange, TargetError
from assay.files.document import Pointer
from assay.files.edits import Edit
from assay.fixtures.protocol import CLOCK_TOLERANCE, Fixture
from assay.fixtures.providers import Customers, customers_of
from assay.history import Arrange, Holding, Lack, Register, Subject
from assay.onboarding.doctor.record import Examined, Finding, Weight, one_line
from assay.rules import steps
from assay.running.parallel_trials import lanes_for

#: What was expected, what was found, and a hint.
_Doubt: TypeAlias = tuple[str, str, str]
_DAY, _SECOND = timedelta(days=1), timedelta(seconds=1)
#: How long ago a creditor is registered.
_AGE: Final = timedelta(hours=73)
#: Times in the answers of a bank: with a fraction of a second, and without one.
_FRACTION = re.compile(rb'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d')
_WHOLE = re.compile(rb'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:?\d\d)"')


@dataclass(slots=True)
class OfferTrial:
    """One world in which the offers are tried: its customers so far, by name."""

    record: Examined
    fixture: Fixture
    customers: dict[str, tuple[Subject, Access]] = field(
        default_factory=dict[str, tuple[Subject, Access]]
    )

    def customer(self, name: str) -> tuple[Subject, Access]:
        """Return the customer of this name, created when it is asked for first."""
        if name not in self.customers:
            contracts = self.record.contracts_bound
            owned = [each.id for contract in contracts for each in steps.roots(contract)][:1]
            holdings = tuple(Holding(resource=resource) for resource in owned)
            made = self.fixture.arrange(Arrange(subject=name, holdings=holdings))
            self.record.redactor.learn(*made)
            self.customers[name] = made
        return self.customers[name]


def begin(record: Examined) -> None:
    """Open a world before the calls, in which nothing moves the clock, if trials run side by side."""
    clock = Capability.CLOCK in record.target.fixtures.offers
    lanes = lanes_for(record.target, record.concurrency)
    if clock and _is_tried(record) and lanes > 1 and record.environment:
        with suppress(TargetError, CannotArrange):  # an ordinary call says why
            record.untouched = record.environment.fixtures.open()
            record.untouched_at = OfferTrial(record, record.untouched).customer("first")[0].now


def examine(record: Examined) -> Iterator[Finding]:
    """Try each offer of the fixture provider."""
    yield from _created(record)
    if record.environment is None or not _is_tried(record):
        return
    if running := tuple(_untouched(record)):
        yield from running
        return
    with suppress(TargetError), closing(record.environment.fixtures.open()) as fixture:
        tried = OfferTrial(record, fixture)
        for offer in [each for each in ABILITIES if each in record.target.fixtures.offers]:
            place = place_of(record, offer)
            try:
                for doubt in ABILITIES[offer](tried):
                    yield record.finding(place, *doubt)
            except (CannotArrange, TargetError) as error:
                what = one_line(record.redactor.text(str(error)))
                found = f"it needs {what}" if isinstance(error, CannotArrange) else what
                hint = "remove the offer, or provide it"
                yield record.finding(place, f"`{offer.value}`, as offered", found, hint)


def _created(record: Examined) -> Iterator[Finding]:
    """Note that a class makes new customers, where the file does not say so."""
    subjects, key = record.subjects.values(), ("fixtures", "customers")
    said = "customers" in (_section(record, "fixtures") or {})
    chosen = customers_of(record.target) is Customers.CHOSEN
    if chosen and not said and subjects and all(subject.fresh for subject in subjects):
        hint = (
            "say `customers: created`: then a run tests all contexts, and several trials at a time"
        )
        what = "every customer of the class is new (`fresh`), and `customers` does not say so"
        edit = Edit(at=key, old=None, new="created")
        yield record.finding(key, "", what, hint, weight=Weight.NOTE, edit=edit)


def _is_tried(record: Examined) -> bool:
    """Whether customers may be created for a trial, and registered with."""
    writes = record.target.environment != "live" or record.target.safety.allow_writes
    return record.makes_customers and writes and not record.quick


def place_of(record: Examined, offer: Capability) -> Pointer:
    """Return the key of an offer in the target file."""
    listed = (_section(record, "fixtures") or {}).get("offers", ())
    at = [n for n, each in enumerate(listed) if each == offer.value]
    return ("fixtures", "offers", *at[:1])


def _section(record: Examined, name: str) -> Mapping[str, Any] | None:
    """Return a section of the target file as it was read, None if the file has none."""
    document = record.target.document
    section = document.data.get(name) if document else None
    return cast("Mapping[str, Any]", section) if isinstance(section, Mapping) else None


def _one_at_a_time(record: Examined) -> Edit:
    """Return the change of the target file by which trials run one after another."""
    safety = _section(record, "safety")
    if safety is None:
        return Edit(at=("safety",), old=None, new={"concurrency": 1}, certain=True)
    old = str(record.target.safety.concurrency) if "concurrency" in safety else None
    return Edit(at=("safety", "concurrency"), old=old, new=1, certain=True)


def _untouched(record: Examined) -> Iterator[Finding]:
    """Compare the clock of the untouched world before and after all calls."""
    fixture, before = record.untouched, record.untouched_at
    if fixture is None or before is None:
        return
    with suppress(TargetError, CannotArrange):
        moved = abs(OfferTrial(record, fixture).customer("second")[0].now - before)
        if moved > _DAY / 2 or _moves_with_another(record, fixture):
            found = "a trial that moves the clock also moves it for the other trials"
            hint = "set `safety: {concurrency: 1}`, or run with `--concurrency 1`"
            what = "a clock for each trial"
            place = ("fixtures", "adapter" if record.target.fixtures.adapter else "kind")
            edit = _one_at_a_time(record)
            yield record.finding(place, what, found, hint, weight=Weight.FAULT, edit=edit)
        elif moved:
            found = f"one that ran {moved.total_seconds():g} s while calls were made"
            where = place_of(record, Capability.CLOCK)
            yield record.finding(where, "a clock that stands still until it is moved", found)


def _moves_with_another(record: Examined, fixture: Fixture) -> bool:
    """Whether the clock of a trial moves with that of another one.

    What a class says of its customers may be its own memory, and to open a fixture may set the clock
    back, so it is read when another one is open, before that one moves it and after.
    """
    if record.environment is None:
        return False
    with closing(record.environment.fixtures.open()) as other:
        now, before = other.clock(None), fixture.clock(None)
        other.clock(now + 2 * _DAY)
        return fixture.clock(None) - before > _DAY


# -- The abilities ------------------------------------------------------------------------------
def _two_customers(tried: OfferTrial) -> Iterator[_Doubt]:
    (one, access), (two, other) = tried.customer("one"), tried.customer("two")
    if {owned.key for owned in one.owns} & {owned.key for owned in two.owns}:
        yield "two customers who own different items", "one item that both own", ""
    elif access.token and access.token == other.token:
        yield "a token for each customer", "the same token for both", ""


def _credentials(tried: OfferTrial) -> Iterator[_Doubt]:
    _, access = tried.customer("one")
    if not access.login or not access.password:
        yield "a customer with a login and a password", "a customer without", ""


def _tpps(tried: OfferTrial) -> Iterator[_Doubt]:
    tried.customer("one")  # as in a run, where a customer is there before the second TPP
    one, two = tried.fixture.tpp(), tried.fixture.tpp()
    for access in (one, two):
        tried.record.redactor.learn_access(access)
    if (one.token, one.client_id) == (two.token, two.client_id):
        yield "another TPP at each call", "the same credentials for both", ""
    tokens = tried.customer("one")[1].tokens
    if Capability.TPP_TOKENS in tried.record.target.fixtures.offers and two.id not in tokens:
        named = "that of no TPP" if not tokens else "tokens, but none under its id"
        yield (
            "a token of the customer for the second TPP",
            named,
            "key `tokens` by the TPP's `Access.id` (`tpp` in the control API)",
        )


def _renewal(tried: OfferTrial) -> Iterator[_Doubt]:
    _, access = tried.customer("one")
    renewed = tried.fixture.renew(access, by_tpp=False)
    tried.record.redactor.learn_access(renewed)
    if access.token and renewed.token == access.token:
        yield "another token", "the same token again", ""


def _registrations(tried: OfferTrial) -> Iterator[_Doubt]:
    contracts, targets = tried.record.contracts_bound, tried.record.target.operations
    operations = (each for contract in contracts for each in contract.operations.values())
    for operation in (each for each in operations if each.makes and each.payee):
        payee = operation.payee or ""
        spelling = targets.get(operation.id, BARE).arguments.get(payee)
        if spelling is not None:
            _, access = tried.customer("one")
            step = Register(subject="one", operation=operation.id, argument=payee, age=_AGE)
            since = tried.fixture.register(step, access, spelling.value)
            # A test system that registers only now has had its clock moved on.
            wanted = tried.fixture.clock(None) - _AGE
            if abs(since - wanted) > CLOCK_TOLERANCE:
                expected = f"a registration of {wanted.isoformat()}"
                yield expected, f"one of {since.isoformat()}", "count back from the bank's clock"
            return


def _clock(tried: OfferTrial) -> Iterator[_Doubt]:
    (one, _), (two, _) = tried.customer("one"), tried.customer("two")
    if one.now != two.now:
        apart = abs(two.now - one.now).total_seconds()
        yield "a clock that stands still until it is moved", f"one that ran {apart:g} s", ""
        return
    bodies = [answer.wire.body for answer in tried.record.answers]
    whole = any(map(_WHOLE.search, bodies)) and not any(map(_FRACTION.search, bodies))
    if one.now.microsecond and whole:
        found = "a time with a fraction of a second, and answers in whole seconds"
        yield "times as precise as the bank's", found, "round the clock to seconds"
    to = datetime.fromtimestamp((one.now + _DAY).timestamp() // 1, UTC)
    tried.fixture.clock(to)
    later = tried.customer("later")[0].now
    if abs(later - to) > _SECOND:
        found = f"a new customer at {later.isoformat()}"
        yield f"the time to which the clock was moved, {to.isoformat()}", found, ""


def _banks(tried: OfferTrial) -> Iterator[_Doubt]:
    for bank in [bank for bank in tried.record.target.banks if bank.lacks][:1]:
        tried.fixture.lack(Lack(mode=bank.lacks[0], bank=bank.name))
    yield from ()


#: How each offer is tried; the last ones change the world for those that follow.
ABILITIES: Final[Mapping[Capability, Callable[[OfferTrial], Iterator[_Doubt]]]] = {
    Capability.TWO_PSU: _two_customers,
    Capability.CREDENTIALS: _credentials,
    Capability.TPPS: _tpps,
    Capability.RENEWAL: _renewal,
    Capability.CLOCK: _clock,
    Capability.REGISTRATIONS: _registrations,
    Capability.BANKS: _banks,
}
