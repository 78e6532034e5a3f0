"""`addressed` judges calls about a key that is not the caller's own."""

from dataclasses import replace

from account_information import AT, BROKEN, FAILED, GONE, LOST, NO, NONE, UNKNOWN
from payment_initiation import (
    DONE,
    KEY,
    OPEN,
    cancel,
    check,
    make,
    modify,
    payer,
    price,
    probed,
    read,
    ruled,
    shown,
    sign,
    withdrawn,
)
from rows import for_each

from assay.contract.model import Capability
from assay.history import Advanced, Item, Lacking, Malformed
from assay.rules.lifecycle.request_queries import similar_key
from assay.testing import accepted, refused

MINE, THEIRS = "3f9a0c11d2", "77b0c4e8aa"
ODD = similar_key(MINE)
#: The caller's own, so that it is known that he is answered at all.
OWN = make(shown(THEIRS), tpp="other"), read(key=THEIRS, tpp="other")


def wrong(lines):
    """Leave out that answers have the key of their request."""
    return [line for line in lines if not line.startswith("same-key agrees")]


def says(*events, who=None):
    return wrong(check("payments.addressed", who or payer(), make(shown(MINE)), *events))


def by(tpp, event):
    return replace(event, call=replace(event.call, by=tpp))


def refusal(*items, status=403):
    return refused(*items, status=status)


@for_each(
    ("came", "says_"),
    [
        (shown(MINE), ["agrees"]),
        (shown(THEIRS), ["disagrees"]),
        (shown(MINE.upper()), ["agrees"]),
        (shown(None), []),
        (accepted(), []),
        (refused(THEIRS), []),
    ],
)
@for_each("call", [read, modify])
def test_an_answer_to_the_maker_has_the_key_that_was_asked_about(call, came, says_):
    """One without a key, and a refusal, is for other rules to judge."""
    said = check("payments.addressed", payer(), make(shown(MINE)), call(came, key=MINE))
    assert [f"same-key {each} 2" for each in says_] == said


# -- a key that there never was --------------------------------------------------------
@for_each(
    ("key", "other"),
    [
        ("P1", "Q8"),
        ("1001", "8998"),
        ("Zz_-.Gg9", "Gg_-.Zz0"),
        ("PR-2026-000123", "PR-2023-999876"),
        ("3f9a0c11d2", "3f0f9d88c7"),
        ("0b1e6a52-93c4-4d07-8f21-5a6b7c8d9e0f", "0b1e6a52-93c4-4d07-8f21-4f3e2d1c0b9a"),
    ],
)
def test_a_stray_key_looks_like_a_real_one(key, other):
    """It has the same letters and digits in the same places, and is another one."""
    assert (other, key) == (similar_key(key), similar_key(other))


def test_a_key_with_nothing_to_change_has_no_stray():
    """Then there is nothing to ask, and nothing is asked."""

    def bank(call, key):
        return shown("----")

    played, said = probed("payments.addressed", "read-payment:unknown", bank)
    said = wrong(said)
    assert 1 == len(played.calls)
    assert [] == said


@for_each("came", [NO, GONE])
def test_a_key_that_there_never_was_must_be_refused(came):
    """Its maker is answered about his own, before or after."""
    assert ["read-payment-unknown agrees 2"] == says(read(came, key=ODD), read(key=MINE))
    assert ["read-payment-unknown agrees 3"] == says(read(key=MINE), read(came, key=ODD))
    assert ["modify-payment-unknown agrees 2"] == says(
        modify(came, key=ODD, amount="1.00"), modify(key=MINE, amount="1.00")
    )


def test_an_answer_to_it_is_a_violation():
    """Whatever it shows, and with no control."""
    assert ["read-payment-unknown disagrees 2"] == says(read(shown(ODD), key=ODD))
    assert ["read-payment-unknown disagrees 2"] == says(read(shown(None, OPEN), key=ODD))
    assert ["modify-payment-unknown disagrees 2"] == says(modify(shown(ODD), key=ODD))
    nothing = accepted(Item())
    assert ["modify-payment-unknown disagrees 2"] == says(modify(nothing, key=ODD))


@for_each(
    "came",
    [
        accepted(Item()),
        accepted(Item(fields={"amount": None})),
        NONE,
    ],
)
def test_an_answer_that_shows_nothing_may_be_a_refusal(came):
    """The target file can say so."""
    assert ["read-payment-unknown unclear 2"] == says(read(came, key=ODD), read(key=MINE))
    assert [] == says(read(came, key=ODD))


@for_each("came", [FAILED, LOST])
def test_no_answer_tells_nothing(came):
    """With the control or without."""
    assert ["read-payment-unknown unclear 2"] == says(read(came, key=ODD), read(key=MINE))
    assert [] == says(read(came, key=ODD), read(came, key=MINE))


@for_each(
    "control",
    [
        [],
        [read(NO, key=MINE)],
        [read(LOST, key=MINE)],
        [read(key=THEIRS)],
        [by("other", read(key=MINE))],
        [replace(read(key=MINE), call=replace(read(key=MINE).call, credentials=True))],
        [modify(key=MINE)],
        [read(key=MINE, mode="another")],
    ],
)
def test_who_refuses_everything_does_not_pass(control):
    """A refusal counts beside an answer to the same call about the request itself."""
    said = says(read(NO, key=ODD), *control)
    assert [] == [line for line in said if "unknown" in line]


def test_a_change_is_refused_for_its_key_only_if_the_same_change_is_taken():
    """Another amount may have been why."""
    refused = modify(NO, key=ODD, amount="1.00")
    assert [] == says(refused, modify(key=MINE, amount="2.00"))
    assert [] == says(refused, modify(NO, key=MINE, amount="1.00"))


@for_each(("generated", "judged"), [(("amount",), True), ((), False)])
def test_a_value_that_each_call_makes_anew_is_no_difference_from_the_control(generated, judged):
    """An argument with `{unique}` differs between any two calls, so the control counts."""
    events = modify(NO, key=ODD, amount="u1"), modify(key=MINE, amount="u2")
    events = (replace(e, call=replace(e.call, varied=(), generated=generated)) for e in events)
    assert judged is any("unknown agrees" in line for line in says(*events))


def test_only_a_key_made_from_a_real_one_is_known_to_be_nobodys():
    """Others may have been made before the history began."""
    assert [] == says(read(shown("77"), key="77"), read(NO, key="78"), read(key=MINE))
    assert [] == says(by("other", read(shown(ODD), key=ODD)), read(key=MINE))


def test_a_stray_key_that_is_real_after_all_is_its_makers():
    """Somebody may be given it by chance."""
    assert [] == says(make(shown(ODD)), read(shown(ODD), key=ODD))
    foreign = make(shown(ODD), tpp="other"), read(shown(ODD), key=ODD)
    assert ["read-payment-foreign disagrees 3"] == says(*foreign)


def test_a_short_key_may_have_been_used_by_one_who_has_a_past():
    """Of long ones there are too many for that."""
    old = payer(fresh=False)
    assert ["read-payment-unknown unclear 2"] == says(read(shown(ODD), key=ODD), who=old)
    assert ["read-payment-unknown agrees 2"] == says(read(NO, key=ODD), read(key=MINE), who=old)
    long = "3f9a0c11d2e4"
    events = old, make(shown(long)), read(shown(similar_key(long)), key=similar_key(long))
    assert ["read-payment-unknown disagrees 2"] == check("payments.addressed", *events)


# -- another TPP's -----------------------------------------------------------------
def foreign(came, key=MINE):
    return read(came, key=key, tpp="other")


def test_another_tpps_must_be_refused():
    """The maker is answered about it, and the caller about his own."""
    assert ["read-payment-foreign agrees 2"] == says(foreign(NO), read(key=MINE), *OWN)
    assert ["read-payment-foreign agrees 5"] == says(read(key=MINE), *OWN, foreign(NO))
    theirs = by("other", modify(key=THEIRS, amount="1.00"))
    assert ["modify-payment-foreign agrees 2"] == says(
        by("other", modify(NO, key=MINE, amount="1.00")),
        modify(key=MINE, amount="1.00"),
        OWN[0],
        theirs,
    )


def test_showing_it_is_a_violation():
    """Needing no control, whatever was before the history, and also in a refusal."""
    assert ["read-payment-foreign disagrees 2"] == says(foreign(shown(MINE)))
    assert ["read-payment-foreign disagrees 2"] == says(
        foreign(shown(MINE)), who=payer(fresh=False)
    )
    assert ["modify-payment-foreign disagrees 2"] == says(by("other", modify(key=MINE)))
    for item in (Item(state=DONE), Item(key=MINE, fields={"amount": "12.30"}), Item(key=THEIRS)):
        assert ["read-payment-foreign disagrees 2"] == says(foreign(refusal(item)))


def test_a_refusal_may_repeat_what_was_asked():
    """The caller has said that himself; but nothing else of it, and no other value."""
    events = foreign(refusal(Item(key=MINE))), read(key=MINE), *OWN
    assert ["read-payment-foreign agrees 2"] == says(*events)
    sent, other = Item(fields={"amount": "1.00"}), Item(fields={"amount": "12.30"})
    theirs = OWN[0], by("other", modify(key=THEIRS, amount="1.00"))
    for item, agreement in ((sent, "agrees"), (other, "disagrees")):
        refused = by("other", modify(refusal(item), key=MINE, amount="1.00"))
        said = says(refused, modify(key=MINE, amount="1.00"), *theirs)
        assert [f"modify-payment-foreign {agreement} 2"] == said


@for_each(
    "control",
    [
        [read(key=MINE)],
        [*OWN],
        [read(key=MINE), OWN[0]],
        [read(key=MINE), OWN[0], read(NO, key=THEIRS, tpp="other")],
        [read(key=MINE), make(shown(THEIRS), tpp="third"), by("third", OWN[1])],
        [read(NO, key=MINE), *OWN],
    ],
)
def test_who_is_refused_everything_shows_nothing(control):
    """He may be unknown to the target, or the request may be."""
    assert [] == says(foreign(UNKNOWN), *control)


@for_each(
    "between",
    [
        sign(key=MINE),
        withdrawn(key=MINE),
        cancel(key=MINE),
        cancel(LOST, key=MINE),
        Advanced(now=AT),
        Lacking(mode="instant", now=AT),
    ],
)
def test_a_control_from_before_something_happened_shows_nothing(between):
    """What has happened may be why it is refused."""
    refused = by("other", modify(NO, key=MINE, amount="1.00"))
    theirs = OWN[0], by("other", modify(key=THEIRS, amount="1.00"))
    assert [] == says(modify(key=MINE, amount="1.00"), between, refused, *theirs)
    mine = modify(key=MINE, amount="1.00")
    assert ["modify-payment-foreign agrees 5"] == says(mine, *theirs, refused)


def test_what_happens_to_another_request_does_not_matter():
    """Nor does a cancellation that was refused."""
    events = OWN[1], sign(key=THEIRS), cancel(NO, key=MINE), foreign(NO)
    assert ["read-payment-foreign agrees 7"] == says(OWN[0], read(key=MINE), *events)


def test_keys_may_be_given_out_by_each_tpp_anew():
    """Then both are makers of it, and nobody is a stranger."""
    theirs = make(shown(MINE), tpp="other")
    assert [] == says(theirs, foreign(shown(MINE)), read(key=MINE))


def test_what_was_not_made_here_is_nobodys():
    """A request that was refused, or lost, has no key; and one that was bent is none."""
    assert [] == check("payments.addressed", payer(), make(NO), read(shown(MINE), key=MINE))
    bent = make(shown(MINE))
    bent = replace(bent, call=replace(bent.call, malformed=Malformed.DEEP))
    assert [] == check("payments.addressed", payer(), bent, foreign(shown(MINE)))


# -- the probes -----------------------------------------------------------------------
def strict(call, key):
    """Answer makers only, each about his own."""
    asked = call.arguments.get(KEY)
    if asked is None:
        MADE[key] = call.by
        return shown(key)
    return shown(asked) if MADE.get(asked) == call.by else GONE


MADE = {}


@for_each("operation", ["read-payment", "modify-payment"])
@for_each(("word", "callers"), [("unknown", ["", "", ""]), ("foreign", None)])
def test_a_strict_bank_costs_what_was_planned(operation, word, callers):
    """One is made, asked for wrongly, and then rightly."""
    MADE.clear()
    scenario = f"{operation}:{word}"
    played, said = probed("payments.addressed", scenario, strict)
    said = wrong(said)
    asked = played.calls
    assert [f"{operation}-{word} agrees"] == said
    assert price("payments.addressed", scenario) == played.spent
    again = ["", ""] if operation == "modify-payment" else [""]
    assert (callers or ["", "other", "other", *again, "other"]) == [one.by for one in asked]
    assert 1 == sum(bool(one.variation) for one in asked)
    plain, changes = ("immediate", ()), ("deferred", ("amount",))
    mode, varied = plain if operation == "read-payment" else changes
    assert mode == asked[0].mode
    about = [one for one in asked if one.operation == operation]
    assert {varied} == {one.varied for one in about if KEY in one.arguments}


@for_each(
    ("scenario", "facet"),
    [
        ("read-payment:unknown", "read-payment-unknown"),
        ("modify-payment:foreign", "modify-payment-foreign"),
    ],
)
def test_a_bank_that_answers_everybody_violates(scenario, facet):
    """Who answers everybody answers strangers."""
    _, said = probed("payments.addressed", scenario)
    said = wrong(said)
    assert [f"{facet} disagrees"] == said


@for_each("scenario", ["read-payment:unknown", "read-payment:foreign"])
def test_a_probe_stops_where_no_request_is_made(scenario):
    """There is nothing to ask about then."""
    played, said = probed("payments.addressed", scenario, lambda call, key: NO)
    said = wrong(said)
    assert (1, []) == (len(played.calls), said)


def test_only_the_foreign_needs_a_second_tpp():
    """The rest can be asked of any bank."""
    params = ruled("payments.addressed")
    needing = [facet.id for facet in params.facets() if Capability.TPPS in facet.needs]
    assert ["read-payment-foreign", "modify-payment-foreign"] == needing


def test_a_failure_is_no_refusal():
    """Beside the maker who is answered the target fails; without him nobody knows why."""
    assert ["read-payment-unknown disagrees 2"] == says(read(BROKEN, key=ODD), read(key=MINE))
    assert [] == says(read(BROKEN, key=ODD))
