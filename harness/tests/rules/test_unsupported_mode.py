"""`unsupported-mode` wants a refusal, or nothing older than without the mode."""

from datetime import UTC, datetime, timedelta

from account_information import FAILED, LOST, NO, NONE, TODAY, account, ask, check, item, owner
from rows import for_each

from assay.testing import listed, refused

MODE = {"mode": "extended_transaction_history"}
PSU = owner("psu", account("A1", 1, 91), account("A2", 1))
NEW, LAST, OLD = (item(str(n), on=TODAY - timedelta(days=n)) for n in (1, 90, 91))
CONTROL = ask("transactions", listed(NEW), "A1")


def says(*events, **how):
    return check("no-extended-history", *events, **how)


@for_each(
    ("came", "agreement"),
    [
        (NO, "agrees"),
        (listed(NEW, LAST), "agrees"),
        (NONE, "agrees"),
        (listed(NEW, OLD), "disagrees"),
        (refused(OLD), "disagrees"),
        (listed(NEW, item("x")), "unclear"),
        (listed(NEW, next="more"), "unclear"),
        (FAILED, "unclear"),
        (LOST, "unclear"),
    ],
)
def test_the_mode_gives_a_refusal_or_no_more(came, agreement):
    """Older items are a violation, also inside a refusal; what has no date leaves it open."""
    assert [f"gives-no-more {agreement} 2"] == says(
        PSU, CONTROL, ask("transactions", came, "A1", **MODE)
    )


def test_the_old_one_may_be_on_the_second_page():
    """All pages of a walk are judged, each by the question that began it."""
    assert ["gives-no-more disagrees 2,3"] == says(
        PSU,
        CONTROL,
        ask("transactions", listed(NEW, next="p2"), "A1", **MODE),
        ask("transactions", listed(OLD), "A1", follow="p2", **MODE),
    )


@for_each(
    "control",
    [
        [],
        [ask("transactions", NO, "A1")],
        [ask("transactions", NONE, "A1")],
        [ask("transactions", listed(NEW), "A2")],
        [ask("transactions", listed(NEW), "A1", by="other")],
        [ask("transactions", listed(NEW, next="never turned"), "A1")],
    ],
)
def test_without_the_plain_answer_nothing_is_said(control):
    """The control is the same question without the mode, with something in the answer."""
    for came in (NO, listed(OLD)):
        assert [] == says(PSU, *control, ask("transactions", came, "A1", **MODE))


@for_each("events", [[PSU], []])
def test_no_more_is_no_evidence_where_there_is_nothing_more(events):
    """An account without older entries cannot show any."""
    assert [] == says(
        *events,
        ask("transactions", listed(NEW), "A2"),
        ask("transactions", listed(NEW), "A2", **MODE),
    )


def test_recorded_traffic_shows_violations_without_a_roster():
    """An item that is too old speaks for itself."""
    assert ["gives-no-more disagrees 2"] == says(
        CONTROL, ask("transactions", listed(OLD), "A1", **MODE)
    )


def test_another_mode_is_none_of_its_business():
    """Only the mode that the clause names is judged."""
    assert [] == says(PSU, CONTROL, ask("transactions", listed(OLD), "A1", mode="other"))


def test_with_no_zone_the_day_that_may_be_the_last_is_let_pass():
    """At ten in Paris it is still yesterday somewhere, but never the day before."""
    for day, agreement in ((91, "agrees"), (92, "disagrees")):
        old = item("x", on=TODAY - timedelta(days=day))
        events = [owner("psu", account("A1", 1, 99)), CONTROL]
        events.append(
            ask("transactions", listed(old), "A1", at=CONTROL.at or midnight_in_utc(), **MODE)
        )

        assert [f"gives-no-more {agreement} 2"] == says(*events, zone=None)


def midnight_in_utc():
    return datetime(2026, 9, 16, 0, 30, tzinfo=UTC)
