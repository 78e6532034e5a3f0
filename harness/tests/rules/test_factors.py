"""`factors` judges what is offered, what is asked for, and what is made of it."""

from functools import partial

from account_information import AT, LOST
from payment_initiation import (
    ALL,
    CONFIRMED,
    DISCONNECTED,
    DONE,
    ENDED,
    FACTORS,
    OPEN,
    REFUSED,
    REJECTED,
    STOPPED,
    Signing,
    cancel,
    check,
    make,
    payer,
    ruled,
    shown,
    story,
)
from rows import for_each

from assay.history import Code, Decision, Item
from assay.planning.plan import count_calls
from assay.testing import accepted, history

ONLY_PASSWORD = ("login", "password", "decision")
NO_CODE = ("login", "password", "factor", "decision")
NO_PASSWORD = ("factor", "code", "decision")
RIGHT = story("P1")
BAD = [Code.WRONG, Code.HALF, Code.EMPTY]


def says(*events, segment=None):
    return check("sca.factors", payer(segment=segment), *events)


def about(facet, *events, segment=None):
    """Return what is said of one facet."""
    found = (line.split() for line in says(*events, segment=segment))
    return [f"{word} {numbers}" for name, word, numbers in found if name == facet]


# -- what is offered ------------------------------------------------------------------
@for_each(
    ("segment", "offered", "word"),
    [
        ("PART", ("sms", "cap", "soft-token"), "agrees"),
        ("PART", ("soft-token",), "agrees"),
        ("PRO", ("cap", "sms"), "agrees"),
        ("PRO", ("sms", "cap", "soft-token"), "disagrees"),
        ("PRO", ("soft-token",), "disagrees"),
        ("PART", ("sms", "email"), "disagrees"),
        ("PART", (), "unclear"),
    ],
)
@for_each("ending", [CONFIRMED, REFUSED, DISCONNECTED, STOPPED])
def test_what_is_offered_is_some_of_what_may_be(segment, offered, word, ending):
    """Not everything has to be, nothing more may be, however the way ended."""
    events = story("P1", ending, OPEN, offered=offered)
    assert [f"{word} 1,2,3"] == about(f"{segment}-offered", *events, segment=segment)


@for_each(
    ("offered", "word"),
    [(("sms", "soft-token"), "unclear"), (("sms", "cap"), "agrees"), ((), "unclear")],
)
def test_what_is_offered_before_a_login_is_offered_to_nobody(offered, word):
    """The bank does not know yet who signs: another factor among them is no violation."""
    events = story("P1", offered=offered, anonymous=True)
    assert [f"{word} 1,2,3"] == about("PRO-offered", *events, segment="PRO")


@for_each(
    ("segment", "offered", "unspelt", "word"),
    [
        ("PART", ("sms", "APP"), ("APP",), "unclear"),
        ("PART", ("APP",), ("APP",), "unclear"),
        ("PART", ("sms", "cap"), ("sms", "cap"), "agrees"),
        ("PRO", ("sms", "soft-token"), ("soft-token",), "disagrees"),
        ("PRO", ("APP", "email"), ("APP",), "disagrees"),
    ],
)
def test_a_word_that_nobody_spelt_may_mean_anything(segment, offered, unspelt, word):
    """It may be the target's own for a factor that may be offered; the document's word is not."""
    events = story("P1", offered=offered, unspelt=unspelt)
    assert [f"{word} 1,2,3"] == about(f"{segment}-offered", *events, segment=segment)


@for_each("segment", [None, "corporate", ""])
def test_of_other_customers_nothing_is_said(segment):
    """Nor of those of whom nobody knows what kind they are."""
    found = says(*story("P1", offered=("email",)), segment=segment)
    assert not [one for one in found if "offered" in one]


@for_each("seen", [{"offered": None}, {"step": {"by": "other"}}])
def test_what_nobody_saw_is_not_judged(seen):
    """There was no such screen, or it was shown to somebody else."""
    found = says(*story("P1", **{"offered": ("email",), **seen}), segment="PART")
    assert not [one for one in found if "offered" in one]


@for_each(
    ("offered", "description"),
    [
        (("sms", "APP"), "it offers sms, APP (APP: not bound in the target file)"),
        (("sms", "APP", "email"), "it offers sms, APP, email"),
        (("sms",), "it offers sms"),
        ((), "it offers nothing"),
    ],
)
def test_what_is_offered_is_told(offered, description):
    """The evidence names the words, and those that decide nothing since nobody spelt them."""
    p = ruled("sca.factors")
    way = story("P1", offered=offered, unspelt=("APP",))
    found = p.check(history(payer(segment="PART"), *way))
    assert description == next(one.seen for one in found if one.facet == "PART-offered")


# -- every factor, where the bank says so -----------------------------------------------
def every(*events, segment="PRO", fresh=True):
    """Say what is said of the factors that each customer is offered, where the bank answers so."""
    whose = payer(segment=segment, fresh=fresh)
    found = check("sca.factors", whose, *events, **{"offered-to": "everyone"})
    return [line for line in found if "all-offered" in line]


@for_each(
    ("segment", "offered", "word"),
    [
        ("PART", ("sms", "cap", "soft-token"), "agrees"),
        ("PART", ("soft-token", "sms", "cap"), "agrees"),
        ("PART", ("cap", "soft-token"), "disagrees"),
        ("PRO", ("sms", "cap"), "agrees"),
        ("PRO", ("sms", "cap", "soft-token"), "agrees"),
        ("PRO", ("sms",), "disagrees"),
        ("PRO", (), "unclear"),
    ],
)
def test_each_factor_is_offered_to_everyone(segment, offered, word):
    """More than that is the matter of another facet."""
    events = story("P1", REFUSED, ENDED, offered=offered)
    assert [f"{segment}-all-offered {word} 1,2,3"] == every(*events, segment=segment)


def test_it_is_judged_only_where_it_is_said():
    """Without an answer a bank may offer what it likes of them."""
    assert [] == about("PRO-all-offered", *story("P1", offered=("sms",)), segment="PRO")
    assert "PRO-all-offered" not in [facet.id for facet in ruled("sca.factors").facets()]


@for_each(
    "events",
    [
        # A word that the target file does not spell may be the factor.
        story("P1", offered=("sms", "reader"), unspelt=("reader",)),
        # A factor with which the request would be rejected is not worth offering.
        story("P1", offered=("sms",), arguments={"categoryPurpose": "CASH"}),
    ],
)
def test_another_reason_for_a_factor_that_is_missing(events):
    """What may have another reason is no violation."""
    assert ["PRO-all-offered unclear 1,2,3"] == every(*events)


def test_a_factor_may_be_locked():
    """After a wrong code, in this trial or in one before it."""
    wrong = story("P1", STOPPED, OPEN, step={"code": Code.WRONG})
    right, few = story("P2"), story("P3", offered=("sms",))
    assert "PRO-all-offered unclear 7,8,9" in every(*wrong, *right, *few)
    assert ["PRO-all-offered unclear 1,2,3"] == every(*story("P1", offered=("sms",)), fresh=False)


@for_each("seen", [{"offered": None}, {"step": {"by": "other"}}])
def test_nothing_is_missing_where_nothing_was_seen(seen):
    """There was no such screen, or it was shown to somebody else."""
    assert [] == every(*story("P1", **{"offered": ("sms",), **seen}))


# -- what is asked for ----------------------------------------------------------------
def test_password_and_code_are_asked_for():
    """All three conform on a way on which everything is."""
    assert ["password-alone agrees 1,2,3", "factor-alone agrees 1,2,3"] == says(*RIGHT)


def test_the_password_alone():
    """Carried out, though nothing else was shown."""
    for coded in (True, False):
        way = story("P1", screens=ONLY_PASSWORD, offered=None, coded=coded)
        assert ["password-alone disagrees 1,2,3"] == says(*way)


def test_a_factor_is_chosen_and_its_code_never_asked_for():
    """The customer knows the code that the factor shows, and was not asked for it."""
    assert ["password-alone disagrees 1,2,3"] == says(*story("P1", screens=NO_CODE))


def test_a_factor_that_may_be_shown_elsewhere():
    """Nobody knows a code of it: an app may have been asked."""
    way = story("P1", screens=NO_CODE, coded=False)
    assert ["unclear 1,2,3"] == about("password-alone", *way)


@for_each(
    ("first", "second", "word"),
    [("sms", "sms", "disagrees"), ("sms", "cap", "unclear"), (None, "sms", "disagrees")],
)
def test_a_factor_whose_code_was_asked_for_before(first, second, word):
    """One time it is asked for and the other time not, of the same factor."""
    before = story("P1", step={"factor": first})
    way = story("P2", screens=NO_CODE, coded=False, step={"factor": second})
    assert ["agrees 1,2,3", f"{word} 4,5,6"] == about("password-alone", *before, *way)


def test_no_password_is_asked_for():
    """A factor without a password is not enough, either."""
    found = says(*story("P1", screens=NO_PASSWORD))
    assert ["factor-alone disagrees 1,2,3"] == found


def test_a_password_that_confirms_is_alone_where_no_screen_asks_for_a_decision():
    """The target file says that its form confirms."""
    found = says(*story("P1", screens=("login", "password")))
    assert ["password-alone disagrees 1,2,3"] == found


def test_who_is_sent_back_before_a_screen_asks_for_more_has_signed_with_the_password():
    """Where others are asked for a code; where nobody is, the target file may know no decision."""
    early = {"screens": ("login", "password"), "redirected": "https://tpp.example/ok"}
    executed, open_ = (story("P2", DISCONNECTED, state, **early) for state in (DONE, OPEN))
    assert ["agrees 1,2,3", "disagrees 4,5,6"] == about("password-alone", *RIGHT, *executed)
    assert ["agrees 1,2,3"] == about("password-alone", *RIGHT, *open_)
    assert [] == about("password-alone", *story("P1", screens=NO_PASSWORD), *open_)
    assert ["unclear 1,2,3"] == about("password-alone", *story("P1", DISCONNECTED, DONE, **early))
    early["redirected"] = None
    stayed = story("P2", DISCONNECTED, DONE, **early)
    assert ["agrees 1,2,3"] == about("password-alone", *RIGHT, *stayed)


@for_each("screens", [ONLY_PASSWORD, NO_CODE, NO_PASSWORD])
@for_each(
    ("ending", "state"),
    [
        (CONFIRMED, OPEN),
        (CONFIRMED, REJECTED),
        (CONFIRMED, ENDED),
        (DISCONNECTED, DONE),
        (STOPPED, DONE),
        (REFUSED, DONE),
    ],
)
def test_only_what_was_confirmed_and_carried_out_counts(screens, ending, state):
    """What was not enough may have been found out in the end."""
    assert [] == says(*story("P1", ending, state, screens=screens))


@for_each(
    "seen",
    [
        {"screens": ()},
        {"made": shown("P1", DONE)},
        {"status": 503},
        {"step": {"decision": Decision.REFUSE}},
        {"looked": LOST},
    ],
)
def test_ways_that_tell_nothing(seen):
    """Nobody saw the screens, it was executed before, or nobody knows whether it was."""
    assert [] == says(*story("P1", **{"screens": ONLY_PASSWORD, **seen}))


def test_what_was_touched_otherwise_is_not_judged():
    """Cancelled and yet executed, it has another story."""
    assert [] == says(*story("P1", screens=ONLY_PASSWORD), cancel(key="P1"))


# -- what is made of it ----------------------------------------------------------------
def wrong(code=Code.WRONG, ending=STOPPED, state=OPEN, *, key="P2", factor=None, **seen):
    """Write down that a code was typed in that is none."""
    screens = ALL if ending is CONFIRMED else ALL[:-1]
    step = {"code": code, "factor": factor}
    return story(key, ending, state, **{"screens": screens, "step": step, **seen})


def locked_out(password=Code.WRONG, ending=STOPPED, state=OPEN, **seen):
    """Write down that a password was typed in that is none."""
    screens = ALL if ending is CONFIRMED else ALL[:2]
    return story("P2", ending, state, **{"screens": screens, "step": {"typed": password}, **seen})


TAKEN = {"factor": "soft-token", "forced": True}


def sent(ending=STOPPED, state=OPEN, **seen):
    """Write down that a factor was sent that the screen did not offer."""
    screens = ALL if ending is CONFIRMED else ALL[:3]
    return story("P2", ending, state, **{"screens": screens, "step": TAKEN, **seen})


#: What must sign nothing, by facet.
BENT = [
    *(("code-checked", partial(wrong, code)) for code in BAD),
    *(("password-checked", partial(locked_out, password)) for password in BAD),
    ("PRO-not-with-soft-token", sent),
]


def test_a_factor_that_is_offered_before_the_login_is_still_sent_in_vain():
    """It is offered to whoever comes, and must sign nothing for a customer who does not have it."""
    way = sent(STOPPED, OPEN, offered=("sms", "soft-token"), anonymous=True)
    assert ["agrees 1,2,3,4,5,6"] == about("PRO-not-with-soft-token", *RIGHT, *way, segment="PRO")
    known = sent(STOPPED, OPEN, offered=("sms", "soft-token"))
    assert [] == about("PRO-not-with-soft-token", *RIGHT, *known, segment="PRO")


@for_each(("facet", "bent"), BENT)
@for_each(
    ("ending", "state", "word"),
    [
        (STOPPED, OPEN, "agrees"),
        (STOPPED, ENDED, "agrees"),
        (DISCONNECTED, ENDED, "agrees"),
        (DISCONNECTED, REJECTED, "agrees"),
        (CONFIRMED, ENDED, "agrees"),
        (CONFIRMED, REJECTED, "agrees"),
        (CONFIRMED, OPEN, "unclear"),
        (CONFIRMED, DONE, "disagrees"),
        (STOPPED, DONE, "disagrees"),
        (DISCONNECTED, DONE, "disagrees"),
    ],
)
def test_what_is_wrong_signs_nothing(facet, bent, ending, state, word):
    """The right way does, and without it a refusal is no merit; what is executed needs no control."""
    way = bent(ending, state)
    assert [f"{word} 1,2,3,4,5,6"] == about(facet, *RIGHT, *way, segment="PRO")
    alone = ["disagrees 1,2,3"] if word == "disagrees" else []
    assert alone == about(facet, *way, segment="PRO")


def test_what_was_confirmed_and_carried_out_was_signed():
    """Wherever it stood before: the screens accepted the confirmation."""
    nameless = accepted(Item(key="P2"), status=201)
    way = wrong(ending=CONFIRMED, state=DONE, made=nameless)
    assert ["disagrees 1,2,3"] == about("code-checked", *way)


@for_each(
    "way",
    [
        wrong(ending=CONFIRMED, state=OPEN),
        wrong(looked=LOST),
        wrong(coded=False),
        wrong(state=DONE, coded=False),
        wrong(state=DONE, made=accepted(Item(key="P2"), status=201)),
    ],
)
def test_what_may_have_been_taken_or_not(way):
    """It is not known to be wrong, or what became of it is not."""
    assert ["unclear 1,2,3,4,5,6"] == about("code-checked", *RIGHT, *way)


@for_each(
    "control",
    [
        (),
        story("P1", DISCONNECTED, ENDED),
        story("P1", CONFIRMED, REJECTED),
        story("P1", DISCONNECTED, DONE),
        story("P1", step={"spoof": "https://evil.example/"}),
        story("P1", screens=NO_CODE),
        story("P1", step={"factor": "cap"}),
        (payer("other"), *story("P1", by="other")),
    ],
)
def test_a_refusal_without_the_right_code_is_no_merit(control):
    """Where nobody can sign, nobody can sign with a wrong code."""
    assert [] == about("code-checked", *control, *wrong(factor="sms"))


@for_each("seen", [{"screens": ALL[:3]}, {"status": 503}])
def test_a_code_that_was_never_typed_in_is_not_judged(seen):
    """The way ended before, or the target failed."""
    assert [] == about("code-checked", *RIGHT, *wrong(**seen))


def test_each_factor_has_its_control():
    """Judged by the code of the same factor: the one asked for, or the first."""
    cap = story("P3", step={"factor": "cap"})
    found = about("code-checked", *RIGHT, *cap, *wrong(factor="cap"), *wrong(key="P4"))
    assert ["agrees 4,5,6,7,8,9", "agrees 1,2,3,10,11,12"] == found


def test_nothing_came_of_anything():
    """Where nothing is answered there is nothing to say."""
    assert [] == says(make(LOST), *wrong(made=LOST, looked=LOST))


# -- the password, and factors that are not offered ---------------------------------------
@for_each(
    "way",
    [
        locked_out(step={"typed": Code.WRONG, "code": Code.WRONG}),
        locked_out(step={"typed": Code.WRONG, "by": "other"}),
        locked_out(screens=()),
        locked_out(screens=("factor", "code")),
        locked_out(status=503),
        wrong(),
        RIGHT,
    ],
)
def test_what_shows_nothing_of_the_password(way):
    """It was not typed in, or more than the password was wrong."""
    assert [] == about("password-checked", *story("P3"), *way)


def test_a_wrong_password_is_no_evidence_of_the_code():
    """Both were asked for; which of them was found wrong, nobody knows."""
    assert [] == about(
        "code-checked",
        *RIGHT,
        *locked_out(CONFIRMED, step={"code": Code.WRONG, "typed": Code.WRONG}),
    )


@for_each(
    ("way", "segment"),
    [
        (sent(CONFIRMED, DONE), "PART"),
        (sent(CONFIRMED, DONE), None),
        (sent(CONFIRMED, DONE, offered=("sms", "soft-token")), "PRO"),
        (sent(CONFIRMED, DONE, coded=False), "PRO"),
        (sent(CONFIRMED, DONE, step={"factor": "cap", "forced": True}), "PRO"),
        (sent(CONFIRMED, DONE, step={"factor": "soft-token"}), "PRO"),
        (sent(step={**TAKEN, "typed": Code.WRONG}), "PRO"),
        (sent(screens=ALL[:2]), "PRO"),
    ],
)
def test_what_shows_nothing_of_factors_that_are_not_offered(way, segment):
    """It may sign, or is offered all the same, or the bank may have taken another code."""
    assert [] == about("PRO-not-with-soft-token", *RIGHT, *way, segment=segment)


# -- the probe ----------------------------------------------------------------------------
@for_each("scenario", ["PART:offered", "PRO:offered", "PRO:soft-token", "codes", "passwords"])
def test_the_price(scenario):
    """What the plan says is what it costs."""
    p = ruled("sca.factors")
    assert count_calls(p, p.scenario(scenario)) == Signing().play(p, scenario).spent


def test_the_facets():
    """One for each kind of customer, four for everybody, and one for what PRO must not have."""
    p = ruled("sca.factors")
    facets = {one.id: one for one in p.facets()}
    assert [
        "PART-offered",
        "PRO-offered",
        "password-alone",
        "factor-alone",
        "code-checked",
        "password-checked",
        "PRO-not-with-soft-token",
    ] == [*facets]
    assert {"segments"} == {
        one.value for one in facets["PRO-offered"].needs - facets["code-checked"].needs
    }


@for_each("segment", ["PART", "PRO"])
def test_a_look_at_what_is_offered_carries_nothing_out(segment):
    """The customer is of that kind, and refuses in the end."""
    p = ruled("sca.factors")
    played = Signing(offered=FACTORS).play(p, f"{segment}:offered")
    assert segment == played.history.events[0].segment
    assert [(Decision.REFUSE, None)] == [(one.decision, one.factor) for one in played.signatures]
    assert [(f"{segment}-offered", "agrees")] == [
        (one.facet, one.agreement.value) for one in p.check(played.history)
    ]


def test_passwords_that_are_none_are_typed_in():
    """The right one first; the code is right each time."""
    p = ruled("sca.factors")
    played = Signing().play(p, "passwords")
    assert [Code.RIGHT, Code.EMPTY, Code.HALF, Code.WRONG] == [
        one.typed for one in played.signatures
    ]
    assert {Code.RIGHT} == {one.code for one in played.signatures}


def test_a_factor_that_is_not_offered_is_sent():
    """Once, by a small professional, after a plain signature."""
    p = ruled("sca.factors")
    played = Signing().play(p, "PRO:soft-token")
    assert "PRO" == played.history.events[0].segment
    assert [(None, False), ("soft-token", True)] == [
        (one.factor, one.forced) for one in played.signatures
    ]


def test_every_factor_that_is_offered_is_tried():
    """The right codes first, for wrong ones may lock a customer out."""
    p = ruled("sca.factors")
    bank = Signing(offered=("cap", "email", "sms"))
    played = bank.play(p, "codes")
    assert [
        (None, Code.RIGHT),
        ("sms", Code.RIGHT),
        ("cap", Code.EMPTY),
        ("cap", Code.HALF),
        ("cap", Code.WRONG),
        ("sms", Code.WRONG),
    ] == [(one.factor, one.code) for one in played.signatures]
    about_ = [one["debtorAccount"] for one in bank.asked.values()]
    assert len(set(about_)) == len(about_)


def test_where_nothing_can_be_made_or_seen_nothing_is_tried():
    """Neither a refusal nor a way without factors makes the probe stumble."""
    p = ruled("sca.factors")
    refusing, blind = Signing(refuses=True), Signing(offered=None)
    assert () == refusing.play(p, "codes").signatures
    assert 1 == len(blind.play(p, "codes").signatures)


def test_a_target_that_takes_any_code_is_found_out():
    """The probe's own history, of a bank that lets everybody sign."""
    p = ruled("sca.factors")
    bank = Signing()
    played = bank.play(p, "codes")
    said = {(one.facet, one.agreement.value) for one in p.check(played.history)}
    assert {
        ("password-alone", "agrees"),
        ("factor-alone", "agrees"),
        ("code-checked", "disagrees"),
    } == said
    assert AT == bank.now
