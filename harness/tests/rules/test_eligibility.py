"""`eligibility` judges who is listed by what is known of each, and no more."""

import time
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from account_information import (
    AISP,
    AT,
    DONE,
    FAILED,
    NO,
    PARIS,
    Obliging,
    account,
    ask,
    card,
    check,
    consent,
    item,
    owner,
    ruled,
)
from rows import for_each

from assay.history import Advance, Advanced
from assay.rules.rule import facts_of
from assay.rules.state.calendar import months_before
from assay.testing import listed

RECENT = {"last-used": "2026-09-15"}


def accounts(came, *things, **how):
    return check("accounts.eligible", owner("psu", *things), ask("accounts", came), **how)


def cards(used, came, *, at=None, edge="unspecified", zone=PARIS):
    return check(
        "cards.eligible",
        owner("psu", card("C1", **RECENT), card("C2", **{"last-used": used})),
        ask("accounts", came, at=at),
        zone=zone,
        recent={"trait": "last-used", "months": 2, "edge": edge},
    )[1:]


@for_each("trait", ["savings", "inactive", "offline"])
def test_what_is_in_a_hidden_state_is_never_listed(trait):
    """Each state is a facet; the control is a plain account in the same list."""
    things = account("A1"), account("A2", **{trait: True})

    assert [f"hides-{trait} agrees 1"] == accounts(listed("A1"), *things)
    assert [f"hides-{trait} disagrees 1"] == accounts(listed("A1", "A2"), *things)
    assert [f"hides-{trait} unclear 1"] == accounts(listed("A1", item()), *things)


SAVINGS = account("A2", savings=True)


@for_each("fresh", [True, False])
def test_a_list_of_what_is_consented_to_hides_the_rest_for_another_reason(fresh):
    """What must not be listed and is, is found out all the same."""
    psu = owner("psu", account("A1"), SAVINGS, account("A3"), fresh=fresh)
    doubt = [] if fresh else ["hides-savings unclear 2"]
    for shown, said in (
        (("A1",), doubt),
        (("A1", "A3"), ["hides-savings agrees 2"]),
        (("A1", "A2"), ["hides-savings disagrees 2"]),
    ):
        assert said == check(
            "accounts.eligible", psu, consent("A1"), ask("accounts", listed(*shown))
        )


def test_what_was_consented_to_is_listed_if_it_was_used_recently():
    """What was not consented to may be left out, also by a consent from before this history."""
    things = card("C1", **RECENT), card("C2", **RECENT)
    for psu, events, said in (
        (owner("psu", *things), [consent("C1")], ["lists-recent agrees 2"]),
        (
            owner("psu", *things),
            [consent("C1", "C2")],
            ["lists-recent agrees 2", "lists-recent disagrees 2"],
        ),
        (owner("psu", *things, fresh=False), [], ["lists-recent agrees 1"]),
    ):
        assert said == check("cards.eligible", psu, *events, ask("accounts", listed("C1")))


def test_pages_of_two_days_are_no_one_list():
    """A card may have been left out at midnight, and the list was read before and after."""
    pages = (
        ask("accounts", listed("A1", next="2"), at=AT.replace(hour=23, minute=59)),
        ask("accounts", listed("A2"), follow="2", at=AT.replace(day=17, hour=0)),
    )
    assert [] == check("accounts.eligible", owner("psu", account("A1"), SAVINGS), *pages)


@for_each("came", [listed(), listed("A2"), NO, FAILED, listed("A1", next="2")])
def test_without_the_control_in_a_whole_list_nothing_is_said(came):
    """A bank that lists nothing hides nothing on purpose."""
    assert [] == accounts(came, account("A1"), account("A2", savings=True))


def test_a_narrowed_list_and_a_stranger_are_not_judged():
    """Who is left out of a part of the list may stand on the rest of it."""
    psu = owner("psu", account("A1"), account("A2", savings=True))

    assert [] == check(
        "accounts.eligible", psu, ask("accounts", listed("A1"), arguments={"limit": 1})
    )
    assert [] == check("accounts.eligible", ask("accounts", listed("A1")))


def test_two_reasons_at_once_explain_neither():
    """Left out for one reason, it does not show that the other would have done."""
    both = account("A2", savings=True, inactive=True)

    assert [] == accounts(listed("A1"), account("A1"), both)
    assert (
        []
        == check(
            "cards.eligible",
            owner(
                "psu",
                card("C1", **RECENT),
                card("C2", inactive=True, **{"last-used": "2026-01-01"}),
            ),
            ask("accounts", listed("C1")),
        )[1:]
    )


def test_a_state_of_which_the_clause_knows_nothing_is_let_pass():
    """Other traits may have reasons of their own; false ones are none."""
    things = account("A1", savings=False), account("A2", frozen=True), account("A3", savings=True)

    assert ["hides-savings agrees 1"] == accounts(listed("A1"), *things)
    assert ["lists-recent agrees 1"] == check(
        "cards.eligible",
        owner("psu", card("C1", **RECENT), card("C2", frozen=True, **RECENT)),
        ask("accounts", listed("C1")),
    )


def test_a_recent_card_must_be_listed_with_no_control():
    """It is its own control."""
    psu = owner("psu", card("C1", **RECENT), card("C2", inactive=True))

    assert ["lists-recent disagrees 1"] == check(
        "cards.eligible", psu, ask("accounts", listed("A1"))
    )


def test_a_recent_but_inactive_card_is_hidden():
    """Recent use does not make up for being inactive."""
    psu = owner("psu", card("C1", **RECENT), card("C2", inactive=True, **RECENT))

    assert ["lists-recent agrees 1", "hides-inactive disagrees 1"] == check(
        "cards.eligible", psu, ask("accounts", listed("C1", "C2"))
    )


@for_each(
    ("used", "named", "seen", "says"),
    [
        ("2026-07-18", ("C1", "C2"), True, "hides-outdated disagrees"),
        ("2026-07-18", ("C1", "C2"), False, "hides-outdated agrees"),
        # No consent names it, or it was outside before.
        ("2026-07-18", ("C1",), True, "hides-just-outside disagrees"),
        ("2026-07-01", ("C1", "C2"), True, "hides-just-outside disagrees"),
    ],
)
def test_what_a_consent_names_is_hidden_once_it_is_outside(used, named, seen, says):
    """Whether it was listed when the consent was given."""
    later = AT + timedelta(days=5)
    shown = listed("C1", "C2") if seen else listed("C1")
    found = check(
        "cards.eligible",
        owner("psu", card("C1", **RECENT), card("C2", **{"last-used": used})),
        consent(*named),
        ask("accounts", shown, at=later),
        zone=PARIS,
    )
    assert says in [line.rpartition(" ")[0] for line in found]


def test_what_is_outdated_is_listed_before_and_after():
    """A consent names it while it is inside; the plain one is the control."""
    params = ruled("cards.eligible", zone=PARIS)
    played = Obliging().play(params, "outdated")
    (moved,) = (step.to for step in played.steps if isinstance(step, Advance) and step.to)
    assert ["accounts", "consents", "accounts"] == [call.operation for call in played.calls]
    assert AT + timedelta(days=5) == moved


@for_each(
    ("used", "edge", "seen", "says"),
    [
        ("2026-07-17", "unspecified", True, ["lists-just-inside agrees 1"]),
        ("2026-07-17", "unspecified", False, ["lists-just-inside disagrees 1"]),
        ("2026-07-15", "unspecified", False, ["hides-just-outside agrees 1"]),
        ("2026-07-15", "unspecified", True, ["hides-just-outside disagrees 1"]),
        ("2026-07-16", "unspecified", True, []),
        ("2026-07-16", "unspecified", False, []),
        ("2026-07-16", "included", False, ["lists-on-the-edge disagrees 1"]),
        ("2026-07-16", "excluded", True, ["hides-on-the-edge disagrees 1"]),
    ],
)
def test_the_edge_is_two_calendar_months_ago(used, edge, seen, says):
    """The day itself counts only where the contract says which way."""
    assert says == cards(used, listed("C1", *(["C2"] if seen else [])), edge=edge)


@for_each(
    ("used", "seen", "says"),
    [
        ("2026-02-27", False, ["hides-just-outside agrees"]),
        ("2026-02-28", False, []),
        ("2026-03-01", True, []),
        ("2026-03-01", False, []),
        ("2026-03-02", False, []),
        ("2026-03-03", False, ["lists-just-inside disagrees"]),
        ("2026-03-03", True, ["lists-just-inside agrees"]),
    ],
)
def test_where_a_month_is_too_short_its_end_is_open(used, seen, says):
    """Two months before the 30th of April: the last of February, or two days later."""
    at = datetime(2026, 4, 30, 10, tzinfo=UTC)
    things = owner(
        "psu", card("C1", **{"last-used": "2026-04-29"}), card("C2", **{"last-used": used})
    )
    came = listed("C1", "C2") if seen else listed("C1")
    found = check("cards.eligible", things, ask("accounts", came, at=at), zone=PARIS)
    assert says == [line.rpartition(" ")[0] for line in found if "recent" not in line]


def test_today_is_the_banks():
    """22:30 in UTC is the next day in Paris, and the edge moves with it."""
    late = datetime(2026, 9, 16, 22, 30, tzinfo=UTC)

    assert ["hides-just-outside agrees 1"] == cards("2026-07-16", listed("C1"), at=late)


@for_each(
    ("used", "hour"),
    [("2026-07-15", 0), ("2026-07-16", 0), ("2026-07-16", 23), ("2026-07-17", 23)],
)
def test_with_no_zone_the_days_around_the_edge_are_left_open(used, hour):
    """Somewhere it is yesterday, or already tomorrow, and the edge with it."""
    at = datetime(2026, 9, 16, hour, 0, tzinfo=UTC)

    assert [] == cards(used, listed("C1", "C2"), at=at, zone=None)


def test_with_no_zone_what_is_far_from_the_edge_is_judged():
    """Two days off, no zone can make a difference."""
    assert ["hides-just-outside disagrees 1"] == cards("2026-07-13", listed("C1", "C2"), zone=None)
    assert ["lists-just-inside disagrees 1"] == cards("2026-07-19", listed("C1"), zone=None)


@for_each("used", ["long ago", None, 7, ""])
def test_a_date_that_is_none_is_let_pass(used):
    """What the operator wrote into a roster cannot stop a check."""
    assert [] == cards(used, listed("C1"))


@for_each(
    ("day", "months", "before"),
    [
        (date(2026, 4, 30), 2, date(2026, 2, 28)),
        (date(2028, 4, 30), 2, date(2028, 2, 29)),
        (date(2026, 1, 31), 2, date(2025, 11, 30)),
        (date(2026, 3, 31), 1, date(2026, 2, 28)),
        (date(2026, 12, 31), 12, date(2025, 12, 31)),
        (date(2026, 2, 1), 14, date(2024, 12, 1)),
    ],
)
def test_months_are_calendar_months(day, months, before):
    """A day that the earlier month lacks becomes its last one."""
    assert before == months_before(day, months)


@for_each(
    ("one", "sure"),
    [
        (account("A1"), True),
        (account("A1", savings=False), True),
        (account("A1", savings=True), False),
        (account("A1", anything=True), False),
        (card("C1"), True),
        (card("C1", **RECENT), True),
        (card("C1", **{"last-used": "2026-07-17"}), True),
        (card("C1", **{"last-used": "2026-07-16"}), False),
        (card("C1", **{"last-used": "2026-07-15"}), False),
        (card("C1", **{"last-used": "some day"}), False),
        (card("C1", inactive=True), False),
    ],
)
def test_surely_listed_is_what_nothing_speaks_against(one, sure):
    """An edge that is open, a date that is none and an unknown state all speak."""
    assert sure is facts_of(AISP).surely_listed(one, AT, AT)


def test_a_kind_without_recent_use_owns_a_plain_one_too():
    """The probe's control is an account without any state."""
    params = ruled("accounts.eligible")
    script = params.probe(params.scenario("states"))
    next(script)
    arranged = script.send(Advanced(now=AT))

    assert [{"savings": True}, {"inactive": True}, {"offline": True}, {}] == [
        holding.traits for holding in arranged.holdings
    ]


def test_the_facets_at_the_edge_need_the_zone():
    """A plan without one says so, and does not leave it to chance."""
    params = ruled("cards.eligible")

    assert {"lists-just-inside", "hides-just-outside", "hides-outdated"} == {
        facet.id for facet in params.facets() if "zone" in {need.value for need in facet.needs}
    }


def test_the_machine_s_own_zone_is_never_asked(monkeypatch):
    """A verdict is the same wherever the harness runs."""
    for zone in ("Pacific/Kiritimati", "Etc/GMT+12"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        at = datetime(2026, 9, 16, 11, 0, tzinfo=ZoneInfo("UTC"))

        assert ["lists-just-inside agrees 1"] == cards(
            str(date(2026, 7, 16) + timedelta(days=3)), listed("C1", "C2"), at=at, zone=None
        )
    monkeypatch.undo()
    time.tzset()


@for_each("taken", [DONE, NO, FAILED])
@for_each("trait", ["savings", "inactive", "offline"])
@for_each(
    ("came", "agreement"),
    [(NO, "agrees"), (listed("x"), "disagrees"), (listed(), "unclear"), (FAILED, "unclear")],
)
def test_the_data_of_what_is_hidden_are_refused_whatever_the_consent(came, agreement, trait, taken):
    """The controls: a plain one was served, and this one refused before a consent named it."""
    psu = owner("psu", account("A1"), account("A2", **{trait: True}))
    control = consent("A1"), ask("balances", listed("x"), "A1")
    before, named = ask("balances", NO, "A2"), consent("A1", "A2", came=taken)

    asked = ask("balances", came, "A2")
    assert [f"withholds-{trait} {agreement} 5"] == check(
        "accounts.eligible", psu, *control, before, named, asked
    )
    for events in (
        (*control, named, asked),
        (*control, before, asked),
        (before, named, asked),
        (*control, ask("balances", listed("x"), "A2"), named, asked),
        (*control, before, named, ask("balances", came, "A2", present=False)),
    ):
        assert [] == check("accounts.eligible", psu, *events)


def test_the_data_of_what_is_hidden_are_refused_without_the_customer_too():
    """The controls are without her as well, and too many calls may be refused for their number."""
    psu = owner("psu", account("A1"), account("A2", savings=True))

    def absent(came, about):
        return ask("balances", came, about, present=False)

    shown = [consent("A1"), absent(listed("x"), "A1"), absent(NO, "A2"), consent("A1", "A2")]
    for came, agreement in ((NO, "agrees"), (listed("x"), "disagrees")):
        assert [f"withholds-savings {agreement} 5"] == check(
            "accounts.eligible", psu, *shown, absent(came, "A2")
        )
    more = [absent(listed("x"), "A1")] * 2
    assert [] == check("accounts.eligible", psu, *shown, *more, absent(NO, "A2"))


@for_each(("came", "agreement"), [(NO, "agrees"), (listed("x"), "disagrees")])
def test_the_data_of_what_is_hidden_are_refused_for_a_range_of_days_too(came, agreement):
    """Beside a plain one that is served for such a range; a control without days is none."""
    psu = owner("psu", account("A1"), account("A2", savings=True))

    def ranged(came, about):
        days = {"iban": about, "since": "2026-09-01"}
        return ask("transactions", came, about, arguments=days)

    named = consent("A1", "A2")
    shown = [consent("A1"), ranged(listed("x"), "A1"), ranged(NO, "A2"), named]
    assert [f"withholds-savings {agreement} 5"] == check(
        "accounts.eligible", psu, *shown, ranged(came, "A2")
    )
    bare = [consent("A1"), ask("transactions", listed("x"), "A1"), ranged(NO, "A2"), named]
    assert [] == check("accounts.eligible", psu, *bare, ranged(came, "A2"))


def test_what_is_hidden_for_two_reasons_bears_on_neither():
    """It would not be known which state was overlooked."""
    psu = owner("psu", account("A1"), account("A2", savings=True, offline=True))

    assert [] == check(
        "accounts.eligible",
        psu,
        consent("A1"),
        ask("balances", listed("x"), "A1"),
        ask("balances", NO, "A2"),
        consent("A2"),
        ask("balances", listed("x"), "A2"),
    )


AT_ONCE = {"immediate-debit": True}


@for_each(
    ("used", "seen", "says"),
    [
        ({}, True, ["hides-immediate-debit disagrees 1"]),
        ({}, False, ["hides-immediate-debit agrees 1"]),
        (RECENT, True, ["hides-immediate-debit disagrees 1"]),
        (RECENT, False, ["hides-immediate-debit agrees 1"]),
        ({"last-used": "2026-01-01"}, False, []),
        ({"inactive": True}, False, []),
    ],
)
@for_each("plain", [{}, RECENT])
def test_a_date_by_which_another_clause_lists_a_card_is_no_reason_to_hide_it(
    plain, used, seen, says
):
    """A card whose use is recent is listed but for its kind; any other has a second reason."""
    psu = owner("psu", card("C1", **plain), card("C2", **AT_ONCE, **used))
    came = listed("C1", "C2") if seen else listed("C1")

    assert says == check("cards.delayed-debit", psu, ask("accounts", came))


@for_each(("came", "agreement"), [(NO, "agrees"), (listed("x"), "disagrees")])
def test_the_data_of_a_card_that_is_debited_at_once_are_refused(came, agreement):
    """Recently used cards are the controls, and the hidden one may have been used recently."""
    psu = owner("psu", card("C1", **RECENT), card("C2", **AT_ONCE, **RECENT))
    shown = consent("C1"), ask("transactions", listed("x"), "C1"), ask("transactions", NO, "C2")

    assert [f"withholds-immediate-debit {agreement} 5"] == check(
        "cards.delayed-debit", psu, *shown, consent("C1", "C2"), ask("transactions", came, "C2")
    )
