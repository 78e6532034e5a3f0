"""Literal histories for the kinds about consents that are signed: what is judged, and what is not."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from rows import for_each

from assay.history import (
    Authorise,
    Call,
    Code,
    Decision,
    Ending,
    Item,
    Owned,
    State,
    Subject,
)
from assay.parsing.parse import parse_contract
from assay.rules.consents import Consents, without_unconsented
from assay.testing import accepted, evidence, exchange, history, kind_in, refused, signature

CONTRACT = Path(__file__).parents[1] / "consents" / "quay.yaml"
QUAY = parse_contract(CONTRACT)
LISBON = ZoneInfo("Europe/Lisbon")
AT = datetime(2026, 9, 16, 9, 0, tzinfo=LISBON)
NO, YES = refused(), accepted("e")


def owner(name="psu", key="A", *, fresh=True):
    """A customer with one account."""
    return Subject(name=name, now=AT, owns=(Owned(key=key, resource="account"),), fresh=fresh)


def ask(operation, answer, at=AT, subject="psu", **call):
    """Write an exchange down."""
    return exchange(Call(operation=operation, subject=subject, **call), answer, at=at)


def made(key="c", *, until="2027-01-01", keys=("A",), subject="psu", state=State.OPEN):
    """A consent was made."""
    arguments = {"accounts": list(keys), "until": until}
    return ask("permit", accepted(Item(key=key, state=state)), arguments=arguments, subject=subject)


def signed(key="c", ending=Ending.CONFIRMED, **how):
    """Its customer went through the screens."""
    decision = Decision.REFUSE if ending is Ending.REFUSED else Decision.CONFIRM
    step = Authorise(subject="psu", request=key, approval=None, decision=decision, **how)
    return signature(step, ending=ending, at=AT)


def read(answer=YES, **call):
    """The entries of the account were asked for."""
    return ask("entries", answer, arguments={"number": "A"}, **call)


def unauthorised(**call):
    """The entries of the account were refused with 401."""
    return read(refused(status=401), **call)


def shown(state, key="c", at=AT):
    """The consent was read."""
    return ask("permission", accepted(Item(key=key, state=state)), at, arguments={"id": key})


def ended(key="c", answer=None):
    """The consent was ended."""
    return ask("revoke", answer or accepted(), arguments={"id": key})


def said(clause, *events):
    """Return what a clause's check says of a history, but for links: facet and agreement."""
    lines = evidence(kind_in(CONTRACT, clause), history(*events))
    return [line.rpartition(" ")[0] for line in lines if not line.startswith("link ")]


DECLINED = signed(ending=Ending.REFUSED)
SERVED = (made("z"), signed("z"), read(), ended("z"))


@for_each(
    ("events", "expected"),
    [
        ((*SERVED, made(), read(NO)), ["signed-served agrees", "unsigned-refused agrees"]),
        ((*SERVED, made(), read()), ["signed-served agrees", "unsigned-refused disagrees"]),
        (
            (*SERVED, made(), DECLINED, read(NO)),
            ["signed-served agrees", "declined-refused agrees"],
        ),
        (
            (*SERVED, made(), DECLINED, read()),
            ["signed-served agrees", "declined-refused disagrees"],
        ),
        ((made(), signed(), read(NO)), ["signed-served disagrees"]),
        ((made(), signed(code=Code.WRONG), signed(), read(NO)), ["signed-served disagrees"]),
        # A bank may end it when somebody enters something wrong, or another customer logs in.
        ((made(), signed(), signed(ending=Ending.STOPPED, typed=Code.WRONG), read(NO)), []),
        ((made(), signed(), signed(ending=Ending.STOPPED, by="other"), shown(State.ENDED)), []),
        # Without a control, the bank may serve nothing at all.
        ((made(), read(NO)), []),
        # Another consent may have opened it.
        ((made("z"), signed("z"), made(), read()), []),
        # What the customer did in the end is unknown.
        ((*SERVED, made(), signed(ending=Ending.STOPPED), read()), ["signed-served agrees"]),
        ((*SERVED, made(), signed(code=Code.WRONG), read()), ["signed-served agrees"]),
        ((*SERVED, made(), signed(by="other"), read()), ["signed-served agrees"]),
        # It is over, or ended, or may be replaced.
        ((made(until="2026-09-15"), signed(), read(NO)), []),
        ((made(), signed(), ended(), read(NO)), []),
        ((made(), signed(), made("d"), signed("d"), shown(State.ENDED)), []),
        ((made("d"), made(), signed(), signed("d"), shown(State.ENDED)), []),
        # A call without the customer can be refused for its number.
        ((made(), signed(), read(NO, present=False)), []),
        ((made(), shown(State.OPEN)), ["unsigned-shown agrees"]),
        ((made(), shown(State.VALID)), ["unsigned-shown disagrees"]),
        ((made(), DECLINED, shown(State.REJECTED)), ["declined-shown agrees"]),
        ((made(), DECLINED, shown(State.VALID)), ["declined-shown disagrees"]),
        ((made(), signed(), shown(State.VALID)), ["signed-shown agrees"]),
        ((made(), signed(), shown(State.OPEN)), ["signed-shown disagrees"]),
        # A word that the target file does not map says nothing.
        ((made(), signed(), shown(None)), []),
    ],
)
def test_authorisation(events, expected):
    """A consent opens what it names once it is certainly signed, and is shown so."""
    assert expected == said("signed", owner(), *events)


def test_authorisation_is_doubted_where_there_was_a_past():
    """A customer who was there before may have another consent; a recording shows no signature."""
    events = *SERVED, made(), read()
    past = said("signed", owner(fresh=False), *events)

    assert ["signed-served agrees", "unsigned-refused unclear"] == past
    assert [] == said("signed", *events)


@for_each(("outcome", "agreement"), [(NO, "agrees"), (YES, "disagrees")])
def test_the_consent_of_another(outcome, agreement):
    """It opens nothing that its customer does not own."""
    theirs = made("o", keys=("B",), subject="other")
    start = owner(), owner("other", "B"), made(), signed(), theirs, signed("o"), read()
    assert ["signed-served agrees", f"others-refused {agreement}"] == said(
        "signed", *start, read(outcome, consent="o")
    )


def test_a_consent_has_a_link_to_be_signed():
    """It is judged in each plain answer that makes one, unless the consent is signed at once."""
    plain, valid = made(), made(state=State.VALID)
    linked = replace(plain, outcome=replace(plain.outcome, approval="https://quay.example/sign"))
    odd = replace(plain, call=replace(plain.call, variation="in a form of its own"))
    events = history(owner(), linked, plain, valid, odd)

    assert ["link agrees 1", "link disagrees 2"] == evidence(kind_in(CONTRACT, "signed"), events)


LAST = datetime(2026, 9, 17, 23, 50, tzinfo=LISBON)
NEXT = LAST + timedelta(minutes=20)
HOUR = timedelta(hours=1)


@for_each(
    ("events", "expected"),
    [
        (
            (read(YES, at=LAST), read(NO, at=NEXT)),
            ["last-day-served agrees", "next-day-refused agrees"],
        ),
        (
            (read(YES, at=LAST), read(YES, at=NEXT)),
            ["last-day-served agrees", "next-day-refused disagrees"],
        ),
        ((read(NO, at=LAST),), ["last-day-served disagrees"]),
        # The refusal may be for the token, unless that is good under a later consent.
        ((unauthorised(at=LAST),), ["last-day-served unclear"]),
        (
            (unauthorised(at=LAST), made("d"), signed("d"), read(YES, at=LAST)),
            ["last-day-served disagrees"],
        ),
        (
            (unauthorised(at=LAST), made("d"), signed("d"), read(YES, at=LAST + HOUR)),
            ["last-day-served unclear"],
        ),
        ((read(NO, at=NEXT),), []),
        ((shown(State.ENDED, at=NEXT),), ["expired-shown agrees"]),
        ((shown(State.VALID, at=NEXT),), ["expired-shown disagrees"]),
        ((shown(State.VALID, at=LAST),), []),
        ((ended(), read(NO, at=LAST)), []),
        ((made("d"), signed("d"), read(YES, at=NEXT)), []),
    ],
)
def test_validity(events, expected):
    """Around the last midnight of a consent, of one that is in force otherwise."""
    assert expected == said("until", owner(), made(until="2026-09-17"), signed(), *events)


@for_each(
    ("events", "expected"),
    [
        ((read(), ended(), read(NO)), ["end-accepted agrees", "ended-refused agrees"]),
        ((read(), ended(), read()), ["end-accepted agrees", "ended-refused disagrees"]),
        ((ended(), read(NO)), ["end-accepted agrees"]),
        ((ended(), shown(State.ENDED)), ["end-accepted agrees", "ended-shown agrees"]),
        ((ended(), shown(State.VALID)), ["end-accepted agrees", "ended-shown disagrees"]),
        ((ended(answer=NO), shown(State.VALID)), ["end-accepted disagrees"]),
    ],
)
def test_revocation(events, expected):
    """A consent in force can be ended, and opens nothing from then on."""
    assert expected == said("revoked", owner(), made(), signed(), *events)


@for_each(
    ("events", "expected"),
    [
        ((made("d"), read(consent="c")), ["former-kept agrees"]),
        ((made("d"), read(NO, consent="c")), ["former-kept disagrees"]),
        ((made("d"), signed("d"), read()), ["new-served agrees"]),
        ((made("d"), signed("d"), read(NO)), ["new-served disagrees"]),
        ((read(), made("d"), signed("d"), read(NO, consent="c")), ["former-refused agrees"]),
        ((read(), made("d"), signed("d"), read(consent="c")), ["former-refused disagrees"]),
        ((made("d"), signed("d"), read(NO, consent="c")), []),
        ((made("d"), signed("d"), shown(State.ENDED)), ["replaced-shown agrees"]),
        ((made("d"), signed("d"), shown(State.VALID)), ["replaced-shown disagrees"]),
        ((made("d"), signed("d", Ending.STOPPED), shown(State.VALID)), []),
        ((made("d"), signed("d", Ending.REFUSED), read(consent="c")), []),
    ],
)
def test_replacement(events, expected):
    """The former consent is in force until the new one is certainly signed."""
    assert expected == said("one", owner(), made(), signed(), *events)


# -- the state of consents ----------------------------------------------------------
def certain(*events):
    """Return what is certainly, and what is perhaps, covered after some events."""
    consents = Consents(grant=QUAY.operations["permit"], contract=QUAY)
    for event in history(*events).events:
        consents.note(event)
    return set(consents.certain("psu")), set(consents.possible("psu"))


@for_each(
    ("events", "sure", "perhaps"),
    [
        ((made(),), set(), set()),
        ((made(), signed()), {"A"}, {"A"}),
        ((made(), DECLINED), set(), set()),
        ((made(), signed(ending=Ending.STOPPED)), set(), {"A"}),
        ((made(), shown(State.VALID)), {"A"}, {"A"}),
        ((made(), signed(), signed(ending=Ending.STOPPED, code=Code.WRONG)), set(), {"A"}),
        ((made(), signed(), ended()), set(), set()),
        ((made(), signed(), shown(State.ENDED)), set(), {"A"}),
        # Calls name the last one that was made.
        ((made(), signed(), made("d", keys=("B",))), set(), {"A"}),
        ((made(), signed(), made("d", keys=("B",)), signed("d")), {"B"}, {"A", "B"}),
        ((made(), made("d", keys=("B",)), signed("d"), signed()), set(), {"A", "B"}),
        ((made(until="2026-09-15"), signed(), read(NO)), set(), {"A"}),
    ],
)
def test_what_is_in_force(events, sure, perhaps):
    """A consent is in force from its signature; what ends it, or may, makes it uncertain."""
    assert (sure, perhaps) == certain(owner(), *events)


def test_a_recording_shows_no_signature():
    """What is made there is perhaps signed."""
    assert (set(), {"A"}) == certain(made())


def test_a_refusal_without_a_consent_shows_other_kinds_nothing():
    """It is left out for them, as is one under a consent that is not signed; others stay."""
    events = history(owner(), read(NO), made(), read(NO), signed(), read(NO), read())
    kept = without_unconsented(QUAY, events)

    assert [2, 5, 6] == [exchange.n for exchange in kept.exchanges]
    assert [] == said("there", owner(), ask("accounts", NO))
