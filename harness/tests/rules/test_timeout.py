"""`timeout` lays a disconnection to the time that is up, and to nothing else."""

import itertools
from dataclasses import replace
from datetime import timedelta
from functools import partial

from account_information import AT, LOST, UNKNOWN
from payment_initiation import (
    ALL,
    BACK,
    CONFIRMED,
    DISCONNECTED,
    DONE,
    ENDED,
    OPEN,
    PIS,
    REJECTED,
    STOPPED,
    Signing,
    cancel,
    check,
    effects,
    make,
    modify,
    payer,
    read,
    ruled,
    shown,
    sign,
    story,
    withdrawn,
)
from rows import for_each

from assay.history import Advance, Authorised, Code, Decision, Item, Staying
from assay.planning.plan import count_calls
from assay.rules.kinds.requests.timeout import CLEAR, NEAR
from assay.testing import accepted, history

#: Four and thirty minutes, and a second less and more.
LESS, LIMIT, MORE = 3 + 59 / 60, 4, 4 + 1 / 60
SHORT, WHOLE, LONG = 29 + 59 / 60, 30, 30 + 1 / 60
#: Doing something every three minutes.
NOW_AND_THEN = (0, 3, 6, 9, 12, 15, 18, 21, 24, 27)
QUICK = story("P1")
#: A day on which nothing of these histories is put off to any more.
LATER = AT + timedelta(days=9)


def idle(*events, **changed):
    return check("redirect.idle", payer(), *events, **changed)


def overall(*events):
    return check("redirect.overall", payer(), *events)


def minutes(*since):
    """Return the moments that are these minutes after ten."""
    return tuple(AT + timedelta(minutes=n) for n in since)


def way(*at, key="P2", ending=CONFIRMED, state=DONE, **seen):
    """Write down a way whose moments are so many minutes after its beginning."""
    return story(key, ending, state, moments=minutes(*at), **seen)


# -- just in time -------------------------------------------------------------------
def test_who_is_idle_for_just_less_can_sign():
    """A pause that is nearly too long was survived, and a short one says nothing."""
    assert ["alive-before agrees 1,2,3,4,5,6"] == idle(*QUICK, *way(0, 0, LESS))
    assert [] == idle(*QUICK, *way(0, 0, 3))


def test_who_takes_just_less_in_all_can_sign():
    """Doing something now and then, for nearly all the time that there is."""
    assert ["alive-before agrees 1,2,3,4,5,6"] == overall(*QUICK, *way(*NOW_AND_THEN, SHORT))
    assert [] == overall(*QUICK, *way(*NOW_AND_THEN[:4]))


def test_it_agrees_without_a_quick_one():
    """Having survived needs no comparison."""
    assert ["alive-before agrees 1,2,3"] == idle(*way(0, 0, LESS))


@for_each("pause", [LESS, 2.5])
def test_who_is_disconnected_too_early_by_idleness(pause):
    """Somebody who was quick could sign: it was the pause."""
    late = way(0, 0, pause, ending=DISCONNECTED, state=ENDED)
    assert ["alive-before disagrees 1,2,3,4,5,6"] == idle(*QUICK, *late)


@for_each("last", [SHORT, 20.9])
def test_who_is_disconnected_too_early_in_all(last):
    """It was seen that activity begins the idle time anew: it was the whole time."""
    at = [one for one in NOW_AND_THEN if one < last]
    late = way(*at, last, ending=DISCONNECTED, state=ENDED)
    assert ["alive-before disagrees 1,2,3,4,5,6"] == overall(*QUICK, *late)


def test_the_pauses_of_several_who_sign_at_one_moment_are_nobodys_own():
    """One loads a page while the clock moves for another: it was idle for less than between two forms."""
    for group, found in ((0, ["dead-after disagrees 1,2,3,4,5,6"]), (1, [])):
        late = way(0, 0, 6, step={"linger": (timedelta(minutes=6),), "together": group})
        assert found == [line for line in idle(*QUICK, *late) if "dead-after" in line]


def test_who_could_not_stay_on_a_screen_is_said():
    """It is the clause about that time which says so, and the facets that were to be shown."""
    why = "the screen did not load again"

    def stopped(*pauses):
        step = {"linger": tuple(timedelta(minutes=pause) for pause in pauses)}
        return way(0, 3, ending=STOPPED, state=OPEN, step=step, why=why)

    early, late, brief = stopped(*[3] * 9, 2.9), stopped(*[3] * 10, 0.1), stopped(3, 1)
    assert [] == overall(*QUICK, *brief) == idle(*QUICK, *late)
    assert ["alive-before unclear 4,5,6"] == overall(*QUICK, *early)
    facets = ("dead-after", "nothing-done", "no-redirection")
    assert [f"{facet} unclear 4,5,6" for facet in facets] == overall(*QUICK, *late)


def staying(stays, *at, key="P2", ending=CONFIRMED, state=DONE, pauses=10):
    """Write down a way on which one stayed by doing something else than looking again."""
    step = {"linger": (timedelta(minutes=3),) * pauses, "stays": stays}
    return way(*at, key=key, ending=ending, state=state, step=step)


@for_each("stays", [Staying.NO_FACTOR, Staying.LINK])
def test_who_stays_by_doing_something_is_compared_with_who_did_so_as_often(stays):
    """A quick one shows nothing: what was sent again and again may be why a flow ended."""
    stayed = partial(staying, stays, *NOW_AND_THEN)
    late = stayed(LONG, key="P3", ending=DISCONNECTED, state=ENDED)
    assert "dead-after agrees 4,5,6,7,8,9" in overall(*QUICK, *stayed(SHORT), *late)
    alone = stayed(LONG, ending=DISCONNECTED, state=ENDED)
    assert "dead-after unclear 4,5,6" in overall(*QUICK, *alone)
    seldom = stayed(SHORT, pauses=9)
    assert "dead-after unclear 7,8,9" in overall(*QUICK, *seldom, *late)
    early = stayed(20.9, ending=DISCONNECTED, state=ENDED)
    assert {"alive-before unclear"} >= {line.rpartition(" ")[0] for line in overall(*QUICK, *early)}


def test_an_opened_link_may_begin_a_new_flow():
    """So it shows that there is a limit, but neither that there is none nor that it is kept."""
    stayed = partial(staying, Staying.LINK, *NOW_AND_THEN)
    alive, late = stayed(SHORT), stayed(LONG, key="P3")
    unclear = ["alive-before unclear 4,5,6", "dead-after unclear 4,5,6,7,8,9"]
    assert unclear == overall(*QUICK, *alive, *late)
    loaded = partial(staying, Staying.RELOAD, *NOW_AND_THEN)
    again = [
        replace(event, reopened=True) if isinstance(event, Authorised) else event
        for event in (*loaded(SHORT), *loaded(LONG, key="P3"))
    ]
    assert unclear == overall(*QUICK, *again)
    entering = partial(staying, Staying.NO_FACTOR, *NOW_AND_THEN)
    assert ["alive-before agrees 4,5,6", "dead-after disagrees 4,5,6,7,8,9"] == overall(
        *QUICK, *entering(SHORT), *entering(LONG, key="P3")
    )


def test_a_way_that_did_not_go_on_is_no_doubt_where_another_did():
    """What the second way shows counts."""
    step = {"linger": (timedelta(minutes=3),) * 10}
    stopped = way(0, 3, key="P9", ending=STOPPED, state=OPEN, step=step, why="not again")
    alive = staying(Staying.NO_FACTOR, *NOW_AND_THEN, SHORT)
    assert ["alive-before agrees 7,8,9"] == [
        line for line in overall(*QUICK, *stopped, *alive) if line.startswith("alive")
    ]


def test_an_early_disconnection_after_a_short_pause_has_another_reason():
    """Nobody is disconnected for half a minute."""
    assert [] == idle(*QUICK, *way(0, 0, 0.5, ending=DISCONNECTED, state=ENDED))


def test_a_disconnection_before_activity_was_seen_to_renew():
    """It may be the idle time, which runs from the beginning: nothing is said of the whole."""
    late = way(0, 3, 6, ending=DISCONNECTED, state=ENDED)
    assert [] == overall(*QUICK, *late)


def test_who_was_disconnected_where_nobody_could_sign():
    """Without anybody who was quick and could sign, it may be anything."""
    late = way(0, 0, LESS, ending=DISCONNECTED, state=ENDED)
    assert ["alive-before unclear 1,2,3"] == idle(*late)
    other = (payer("other"), *story("P1", by="other"))
    assert ["alive-before unclear 4,5,6"] == idle(*other, *late)


@for_each(
    "late",
    [
        way(0, 0, LESS, ending=STOPPED, state=OPEN),
        way(0, 0, LESS, state=OPEN),
        way(0, 0, LESS, state=REJECTED),
        way(0, 0, LESS, looked=LOST),
        way(0, 0, LESS, ending=DISCONNECTED, state=DONE),
    ],
)
def test_what_did_not_end_well_for_whatever_reason_is_unclear(late):
    """A rule may have rejected it, or the profile may not know a screen."""
    assert ["alive-before unclear 1,2,3,4,5,6"] == idle(*QUICK, *late)


@for_each(("ending", "state"), [(CONFIRMED, DONE), (DISCONNECTED, ENDED)])
def test_the_edge_itself_is_left_alone(ending, state):
    """The document does not say on which side it is, and a timer may know whole seconds only."""
    for edge in (LIMIT - 0.9 / 60, LIMIT, LIMIT + 0.9 / 60):
        assert [] == idle(*QUICK, *way(0, 0, edge, ending=ending, state=state))
    for edge in (WHOLE - 0.9 / 60, WHOLE, WHOLE + 0.9 / 60):
        late = way(*NOW_AND_THEN, edge, ending=ending, state=state)
        assert [] == overall(*QUICK, *late)


# -- the edge itself, where the bank says on which side it is ---------------------------------
#: A whole flow at one moment between two seconds, as only a clock that stands shows it.
STOOD = AT - timedelta(minutes=1) + timedelta(milliseconds=123)
STANDING = story("P1", moments=(STOOD,) * 5)
EXACTLY = {"idle": (0, 0, LIMIT), "overall": (*NOW_AND_THEN, WHOLE)}
MEASURE = for_each("measure", [*EXACTLY])


def exactly(measure, *events, edge="included", before=STANDING, at=None, made=AT, **seen):
    """Judge one who took exactly as long as the limit, on a clock that was seen to stand."""
    took = at or EXACTLY[measure]
    pauses = tuple(timedelta(minutes=b - a) for a, b in itertools.pairwise(took))
    flow = way(*took, **{"step": {"linger": pauses}, **seen})
    flow = (replace(flow[0], at=made), *flow[1:])
    clause = f"redirect.{measure}"
    return [
        line.removesuffix(" 1,2,3,4,5,6")
        for line in check(clause, payer(), *before, *flow, *events, edge=edge)
        if "at-limit" in line
    ]


DEAD = {"ending": DISCONNECTED, "state": ENDED}


@MEASURE
@for_each(
    ("edge", "alive", "dead"),
    [
        ("included", ["alive-at-limit agrees"], ["alive-at-limit disagrees"]),
        ("excluded", ["dead-at-limit disagrees"], ["dead-at-limit agrees"]),
        ("unspecified", [], []),
    ],
)
def test_the_edge_is_judged_where_it_is_said(measure, edge, alive, dead):
    """On a clock that stands it is met exactly; without an answer nothing is said."""
    assert alive == exactly(measure, edge=edge)
    assert dead == exactly(measure, edge=edge, **DEAD)


@MEASURE
@for_each("seen", [{}, DEAD])
@for_each(
    "before",
    [
        # A clock of whole seconds may run, as may one on which signing took a moment.
        QUICK,
        story("P1", moments=(AT,) * 5),
        story("P1", moments=(STOOD,) * 4 + (STOOD + timedelta(milliseconds=1),)),
        story("P1", moments=(STOOD,) * 2),
    ],
)
def test_a_clock_that_may_run_shows_nothing(measure, seen, before):
    """A part of a second more may have passed than it shows."""
    assert ["alive-at-limit unclear"] == exactly(measure, before=before, **seen)


@MEASURE
@for_each(
    "seen",
    [
        {"ending": STOPPED, "state": OPEN},
        {"state": REJECTED},
        {"ending": DISCONNECTED, "state": DONE},
        {"ending": DISCONNECTED, "looked": LOST},
        {"step": {"linger": (timedelta(minutes=3),), "stays": Staying.NO_FACTOR}, **DEAD},
    ],
)
def test_what_ended_otherwise_at_the_edge_is_unclear(measure, seen):
    """A rule may have rejected it, nobody looked, or what was sent again may be why it ended."""
    unclear = {"alive-at-limit unclear"}
    assert unclear >= set(exactly(measure, **seen))


@MEASURE
@for_each("seen", [{"state": REJECTED}, DEAD, {}])
def test_nothing_is_met_exactly_between_two_seconds(measure, seen):
    """A timer of whole seconds rounds each moment."""
    off = 0.5 / 60
    assert [] == exactly(measure, at=tuple(n + off for n in EXACTLY[measure]), **seen)


def test_the_whole_time_is_met_exactly_only_from_every_beginning():
    """It may be measured from when the request was made; and idleness, from the first page."""
    assert [] == exactly("overall", made=AT - timedelta(seconds=30), **DEAD)
    assert [] == exactly("idle", at=(0, 1, 5), **DEAD)


@MEASURE
def test_who_could_not_stay_until_the_edge_is_said(measure):
    """The facet that was to be shown is unclear."""
    step = {
        "linger": (timedelta(minutes=3),) * 10 if measure == "overall" else (timedelta(minutes=4),)
    }
    stopped = way(0, 3, ending=STOPPED, state=OPEN, step=step)
    clause = f"redirect.{measure}"
    found = check(clause, payer(), *STANDING, *stopped, edge="excluded")
    assert "dead-at-limit unclear 4,5,6" in found
    assert "alive-before unclear 4,5,6" not in found


@for_each("id_", ["redirect.idle", "redirect.overall"])
def test_the_probe_of_the_edge(id_):
    """It shows that the clock stands, and then takes exactly as long; on one that runs it stops."""
    clause = ruled(id_, edge="included")
    played = Signing().play(clause, "edge")
    assert count_calls(clause, clause.scenario("edge")) == played.spent
    quick, exact = (each.linger for each in played.signatures)
    assert () == quick
    assert clause.time_limits.limit == sum(exact, timedelta(0))
    said = [(each.facet, each.agreement.value) for each in clause.check(played.history)]
    assert ("alive-at-limit", "agrees") in said
    running = Signing(ticks=timedelta(milliseconds=30)).play(clause, "edge")
    assert [()] == [each.linger for each in running.signatures]


# -- activity -------------------------------------------------------------------------

NEARLY = way(0, 0, LESS)


def test_activity_begins_the_time_anew():
    """More than the limit in all, and never idle for as long."""
    found = idle(*QUICK, *way(0, 3, 6, 9, 12))
    assert ["activity-renews agrees 1,2,3,4,5,6"] == found


def test_activity_does_not_renew():
    """Such a pause was survived, but not the second of them."""
    dead = way(0, 3, 6, key="P3", ending=DISCONNECTED, state=ENDED)
    assert ["activity-renews disagrees 1,2,3,7,8,9"] == [
        one for one in idle(*QUICK, *NEARLY, *dead) if "alive" not in one
    ]


def test_the_very_pause_was_survived():
    """Once, though not twice."""
    dead = way(0, 3, 6, key="P3", ending=DISCONNECTED, state=ENDED)
    found = idle(*QUICK, *way(0, 0, 3), *dead)
    assert ["activity-renews disagrees 1,2,3,7,8,9"] == found


def test_a_pause_that_nobody_survived_is_too_long_itself():
    """Then it is not activity that is at fault."""
    dead = way(0, 3, 6, key="P3", ending=DISCONNECTED, state=ENDED)
    assert ["activity-renews unclear 1,2,3,4,5,6"] == idle(*QUICK, *dead)


def test_once_activity_was_seen_to_renew_it_is_not_at_fault():
    """Alive after six minutes, the customer is disconnected after nine: by the other timer."""
    dead = way(0, 3, 6, 9, key="P3", ending=DISCONNECTED, state=ENDED)
    assert ["activity-renews unclear 1,2,3,7,8,9"] == [
        one for one in idle(*QUICK, *NEARLY, *dead) if "alive" not in one
    ]


def test_the_whole_time_is_the_other_clauses():
    """Of one who took too long in all, nothing is said about idleness, and the other way round."""
    for ending, state in ((CONFIRMED, DONE), (DISCONNECTED, ENDED)):
        assert [] == idle(*QUICK, *way(*NOW_AND_THEN, LONG, ending=ending, state=state))
        assert [] == overall(*QUICK, *way(0, 0, MORE, ending=ending, state=state))


# -- too late -------------------------------------------------------------------------

TOO_LATE = {"idle": (0, 0, MORE), "overall": (*NOW_AND_THEN, LONG)}
CLAUSES = for_each("measure", [*TOO_LATE])
WHOSE = "1,2,3,4,5,6"


def late(measure, *events, quick=QUICK, **seen):
    """Judge one who was too late, beside one who was quick."""
    events = (*quick, *way(*TOO_LATE[measure], **seen), *events)
    return check(f"redirect.{measure}", payer(), *events)


AGREES = ["dead-after agrees", "no-redirection agrees", "nothing-done agrees"]


@CLAUSES
@for_each(
    ("seen", "said"),
    [
        # It was confirmed, and executed; that is all that is wrong.
        ({}, ["dead-after disagrees"]),
        ({"ending": DISCONNECTED, "state": ENDED}, AGREES),
        ({"ending": STOPPED, "state": ENDED}, AGREES),
        # Nobody says where a request has to stand then.
        ({"ending": DISCONNECTED, "state": OPEN}, AGREES),
        # The browser goes home as if all were well, but nothing was signed.
        ({"state": ENDED}, [AGREES[0], "no-redirection disagrees", AGREES[2]]),
        # That it was executed is what is wrong then, and nothing besides.
        ({"ending": DISCONNECTED, "redirected": BACK}, ["nothing-done disagrees"]),
    ],
)
def test_who_is_too_late_signs_nothing(measure, seen, said):
    """He is neither sent back, nor is anything executed."""
    assert [f"{one} {WHOSE}" for one in said] == late(measure, **seen)


@CLAUSES
@for_each(
    ("where", "word"),
    [
        (BACK, "disagrees"),
        ("https://tpp.example/", "disagrees"),
        ("https://TPP.example:8443/gone", "disagrees"),
        ("https://www.bank.example/", "unclear"),
        ("https://tpp.example.bank.example/", "unclear"),
        ("http://[", "unclear"),
        ("tpp-app:home", "unclear"),
        ("", "unclear"),
    ],
)
def test_only_the_way_back_is_forbidden(measure, where, word):
    """Nobody knows whose another host is: the target may have a page there."""
    found = late(measure, ending=DISCONNECTED, state=ENDED, redirected=where)
    assert f"no-redirection {word} {WHOSE}" in found


def test_an_address_without_a_host_is_known_by_itself():
    """An app of the third party's, or no address at all."""
    app = {"arguments": {"successfulReportUrl": "tpp-app:home"}}
    for redirected, word in (("tpp-app:home", "disagrees"), ("other-app:home", "unclear")):
        found = late("idle", ending=DISCONNECTED, state=ENDED, redirected=redirected, **app)
        assert f"no-redirection {word} {WHOSE}" in found


@CLAUSES
def test_without_a_redirection_that_was_seen_none_is_missed(measure):
    """Who is never sent anywhere, is not sent anywhere now."""
    quick = story("P1", redirected=None)
    found = late(measure, quick=quick, ending=DISCONNECTED, state=ENDED)
    assert f"no-redirection unclear {WHOSE}" in found


@CLAUSES
def test_what_was_not_signed_is_carried_out(measure):
    """Disconnected, and done all the same."""
    assert f"nothing-done disagrees {WHOSE}" in late(measure, ending=DISCONNECTED)
    assert f"nothing-done disagrees {WHOSE}" in late(
        measure, effects("P1", "P2"), ending=DISCONNECTED, state=ENDED
    )


@CLAUSES
@for_each(
    "seen",
    [
        {"ending": STOPPED},
        {"ending": DISCONNECTED, "made": accepted(Item(key="P2"), status=201)},
    ],
)
def test_what_may_have_been_done_otherwise(measure, seen):
    """The way stopped somewhere, or nobody knows where the request stood before."""
    assert f"nothing-done unclear {WHOSE}" in late(measure, **seen)


@CLAUSES
def test_nobody_could_sign_at_all(measure):
    """Where everybody is disconnected, being disconnected is no merit."""
    quick = story("P1", DISCONNECTED, ENDED)
    assert {"unclear"} == {
        one.split()[1] for one in late(measure, quick=quick, ending=DISCONNECTED, state=ENDED)
    }


@CLAUSES
@for_each("came", [LOST, UNKNOWN, accepted(Item(key="P2"))])
def test_nobody_looked(measure, came):
    """What became of it is not known, so only where the browser went is."""
    found = late(measure, ending=DISCONNECTED, looked=came)
    assert ["no-redirection agrees", "nothing-done unclear"] == [
        " ".join(one.split()[:2]) for one in found
    ]
    # The screens took the confirmation and sent the customer back, as if it were in time.
    assert [f"no-redirection disagrees {WHOSE}"] == late(measure, looked=came)
    assert [] == late(measure, looked=came, redirected=None)


@CLAUSES
@for_each("state", [OPEN, REJECTED])
def test_a_confirmation_that_may_have_been_taken(measure, state):
    """Still open, it may be executed yet; rejected, it may have been signed before."""
    lines = late(measure, state=state)
    assert f"dead-after unclear {WHOSE}" == lines[0]
    rest = ["nothing-done agrees"] if state is REJECTED else []
    assert ["no-redirection disagrees", *rest] == [" ".join(one.split()[:2]) for one in lines[1:]]


def deferred(day, looked, state=OPEN):
    """Write down that somebody was too late to sign what is put off to a day."""
    due = {"mode": "deferred", "date": day}
    made, way_, _ = way(0, 0, MORE, ending=DISCONNECTED, arguments=due)
    return made, way_, read(shown("P2", state), key="P2", at=looked)


@for_each(
    ("day", "looked", "state", "word"),
    [
        ("2026-09-19", AT, OPEN, "unclear"),
        ("2026-09-16", AT, OPEN, "unclear"),
        ("2026-09-15", AT, OPEN, "agrees"),
        ("soon", LATER, OPEN, "unclear"),
        ("2026-09-19", LATER, OPEN, "agrees"),
        ("2026-09-19", AT, ENDED, "agrees"),
        ("2026-09-19", LATER, DONE, "disagrees"),
    ],
)
def test_what_is_put_off_is_looked_at_on_its_day(day, looked, state, word):
    """Before that nothing could be seen of it, unless it has ended for good."""
    found = idle(*QUICK, *deferred(day, looked, state))
    assert word == next(one.split()[1] for one in found if one.startswith("nothing-done"))


def test_what_is_put_off_and_shown_nowhere():
    """The world knows nothing of it yet, and nobody knows when it was asked."""
    due = {"mode": "deferred", "date": "2026-09-19"}
    nameless = accepted(Item(key="P2"), status=201)
    made, gone, _ = way(0, 0, MORE, ending=DISCONNECTED, made=nameless, arguments=due)
    found = idle(*QUICK, made, gone, effects("P1"))
    assert "nothing-done unclear" in " ".join(found)


# -- what is not judged -----------------------------------------------------------------
@for_each(
    "seen",
    [
        {"step": {"code": Code.WRONG}},
        {"step": {"by": "other"}},
        {"step": {"decision": Decision.REFUSE}},
        {"step": {"spoof": "https://evil.example/"}},
        {"status": 503},
        {"screens": ()},
        {"screens": ("login", "password", *ALL)},
        {"made": shown("P2", DONE)},
    ],
)
@for_each("ending", [CONFIRMED, DISCONNECTED])
def test_what_may_have_another_reason_is_not_judged(seen, ending):
    """Who types in a wrong code, logs in twice, or meets a failing target, shows nothing."""
    for measure in TOO_LATE:
        assert [] == late(measure, ending=ending, **seen)
    assert [] == idle(*QUICK, *way(0, 0, LESS, ending=ending, **seen))


@for_each(
    "meanwhile",
    [
        cancel(key="P2"),
        withdrawn(key="P2"),
        modify(shown("P2"), key="P2", amount="1.00"),
        sign(key="P2"),
    ],
)
def test_what_was_touched_otherwise_is_not_judged(meanwhile):
    """Cancelled, changed or signed once more, it may stand where it stands for that."""
    assert [] == late("idle", meanwhile)


def test_a_signature_at_one_moment_says_nothing_of_time():
    """There were no screens, or nobody saw them."""
    control = sign(key="P2", screens=(), moments=(AT,))
    assert [] == idle(*QUICK, make(shown("P2"), key="P2"), control, read(key="P2"))
    assert [] == idle(*QUICK, *way(0))


def test_a_request_of_nobody_knows_whom_is_not_judged():
    """It was never made in this history, or two have one key."""
    assert [] == idle(sign(key="P7", moments=minutes(0, MORE)))
    assert [] == idle(*QUICK, make(key="P2"), *way(0, 0, MORE))


def test_nothing_came_of_anything():
    """Where nothing is answered there is nothing to say."""
    assert [] == idle(make(LOST), read(LOST), sign(moments=minutes(0, MORE)))


# -- a contract with one limit ------------------------------------------------------------
def without(clause):
    """Return the contract without one of its clauses."""
    return replace(PIS, clauses=tuple(one for one in PIS.clauses if one.id != clause))


def test_a_limit_on_the_whole_alone():
    """Nothing is known of idleness, so one long pause may be judged, and is waited."""
    p = ruled("redirect.overall", contract=without("redirect.idle"))
    quick, dead = QUICK, way(0, 0, 20, ending=DISCONNECTED, state=ENDED)
    assert ["alive-before"] == [one.facet for one in p.check(history(payer(), *quick, *dead))]
    played = Signing().play(p, "patience")
    assert [timedelta(minutes=29, seconds=59)] == list(played.signatures[1].linger)


def test_a_request_that_brings_nobody_back():
    """Where no address is named, nobody can be sent there."""
    operations = dict(PIS.operations)
    operations["create-payment"] = replace(operations["create-payment"], returns=None)
    clauses = tuple(each for each in PIS.clauses if each.kind != "return-address")
    contract = replace(PIS, operations=operations, clauses=clauses)
    p = ruled("redirect.idle", contract=contract)
    assert "no-redirection" not in [facet.id for facet in p.facets()]
    dead = way(0, 0, MORE, ending=DISCONNECTED, state=ENDED)
    found = [one.facet for one in p.check(history(payer(), *QUICK, *dead))]
    assert ["dead-after", "nothing-done"] == found


# -- the probe ----------------------------------------------------------------------------
@for_each("clause", ["redirect.idle", "redirect.overall"])
def test_the_price(clause):
    """What the plan says is what it costs."""
    p = ruled(clause)
    (scenario,) = {facet.scenario for facet in p.facets()}
    assert count_calls(p, scenario) == Signing().play(p, scenario.id).spent


def test_without_days_or_reading_it_costs_less():
    """What is not there is neither made nor looked at."""
    p = ruled("redirect.overall")
    create = replace(p.lifecycle.create, due=None)
    for lifecycle in (replace(p.lifecycle, create=create), replace(p.lifecycle, read=None)):
        bare = replace(p, lifecycle=lifecycle)
        assert (
            count_calls(bare, bare.scenario("patience")) == Signing().play(bare, "patience").spent
        )


def test_what_is_waited():
    """A second is kept to the limit on both sides, and nobody is idle for long meanwhile."""
    p = ruled("redirect.overall")
    played = Signing().play(p, "patience")
    quick, less, waits, day = [one.linger for one in played.signatures]
    assert () == quick
    assert timedelta(minutes=29, seconds=59) == sum(less, timedelta(0))
    assert timedelta(minutes=30, seconds=1) == sum(waits, timedelta(0))
    assert day == waits
    assert max(waits) < timedelta(minutes=4)
    # No look falls upon the edge.
    assert sum(waits[:-1], timedelta(0)) < timedelta(minutes=29)
    moved = [step.to for step in played.steps if isinstance(step, Advance) and step.to]
    assert [timedelta(days=6)] == [one - AT.replace(hour=12) for one in moved]


def test_what_is_waited_idly():
    """Once at the decision, and once before every screen."""
    p = ruled("redirect.idle")
    played = Signing().play(p, "patience")
    spans = [(one.pace, sum(one.linger, timedelta(0))) for one in played.signatures]
    none, after = timedelta(0), timedelta(minutes=4, seconds=1)
    assert [
        (none, none),
        (none, timedelta(minutes=3, seconds=59)),
        (timedelta(minutes=3), none),
        (none, after),
        (none, after),
    ] == spans


def test_who_cannot_stay_on_one_screen_stays_on_another():
    """Each way is tried once, and the late ones go the first that leads on."""

    class Once(Signing):
        def sign(self, reply):
            stops = len(reply.step.linger) > 1 and reply.step.stays is Staying.RELOAD
            return replace(reply, ending=STOPPED) if stops else super().sign(reply)

    played = Once().play(ruled("redirect.overall"), "patience")
    ways = [(each.stays, each.linger_on) for each in played.signatures if each.linger]
    assert [(Staying.RELOAD, "decision"), *[(Staying.NO_FACTOR, "factor")] * 3] == ways


def test_no_two_requests_are_about_the_same():
    """A repeat of one that was executed might be rejected for being one."""
    for clause in ("redirect.idle", "redirect.overall"):
        p = ruled(clause)
        bank = Signing()
        bank.play(p, "patience")
        about = [one["debtorAccount"] for one in bank.asked.values()]
        assert len(set(about)) == len(about)


def test_a_target_that_lets_everybody_sign_is_found_out():
    """The probe's own history, of a bank that knows no time."""
    p = ruled("redirect.idle")
    bank = Signing()
    played = bank.play(p, "patience")
    said = {(one.facet, one.agreement.value) for one in p.check(played.history)}
    assert {
        ("alive-before", "agrees"),
        ("activity-renews", "agrees"),
        ("dead-after", "disagrees"),
    } == said


def test_the_time_is_told():
    """In all, and idle before the end."""
    p = ruled("redirect.overall")
    dead = way(0, 3, 6, 9, 11.5, ending=DISCONNECTED, state=ENDED)
    (found,) = p.check(history(payer(), *QUICK, *dead))
    assert found.seen.startswith("after 11:30.0 in total, the last 2:30.0 idle, the customer was")


# -- a clock that runs --------------------------------------------------------------------
@for_each("id_", ["redirect.idle", "redirect.overall"])
def test_the_screens_themselves_may_take_seconds(id_):
    """On a clock that runs, who is just in time stays within the limit; who is too late does not."""
    clause = ruled(id_)
    played = Signing(ticks=timedelta(milliseconds=30)).play(clause, "patience")
    waits = [one.linger for one in played.signatures if one.linger]
    spans = [each[-1] if clause.time_limits.idle else sum(each, timedelta(0)) for each in waits]

    limit = clause.time_limits.limit
    assert limit * NEAR <= spans[0] <= limit - CLEAR - timedelta(seconds=4)
    assert {limit + CLEAR} == set(spans[1:])
