"""Old entries that a consent opens for some minutes: literal histories."""

from datetime import timedelta

from rows import for_each
from xs2a_consents import clause, consent, made, read, signed

from assay.history import (
    Code,
    Entry,
    Item,
    Owned,
    Subject,
)
from assay.testing import START, evidence, history, listed, refused

TODAY = START.date()
MINUTE = timedelta(minutes=1)
#: What is older than 90 days, and what is not.
AGES = (120, 91, 90, 1)
PSU = Subject(
    name="psu",
    now=START,
    owns=(
        Owned(
            key="A",
            resource="account",
            entries=tuple(Entry(key=str(age), on=TODAY - timedelta(days=age)) for age in AGES),
        ),
    ),
)
WHOLE, RECENT = 190, 90
NO = refused()


def shows(*ages):
    """Say that entries of these ages came back."""
    items = (Item(key=str(age), on=TODAY - timedelta(days=age)) for age in ages)
    return listed(*items)


def transactions(answer, minutes, since=None):
    """The transactions were read, from a day on or without one."""
    day = {} if since is None else {"dateFrom": str(TODAY - timedelta(days=since))}
    return read(answer, "transactions", at=START + minutes * MINUTE, arguments=day)


def says(*events):
    """Return what the clause says of a history."""
    return evidence(clause("transactions.recent"), history(PSU, *events))


@for_each(
    ("answer", "minutes", "since", "expected"),
    [
        (shows(*AGES), 14, WHOLE, ["old-inside agrees 1,2,3"]),
        (shows(90, 1), 14, WHOLE, ["old-inside disagrees 1,2,3"]),
        (NO, 14, WHOLE, ["old-inside disagrees 1,2,3"]),
        (shows(1), 14, RECENT, []),
        # Without a day the bank may choose one.
        (shows(1), 14, None, []),
        (shows(90, 1), 16, WHOLE, ["old-after agrees 1,2,3", "recent-after agrees 1,2,3"]),
        (shows(91, 90, 1), 16, WHOLE, ["old-after disagrees 1,2,3", "recent-after agrees 1,2,3"]),
        (shows(1), 16, WHOLE, ["old-after agrees 1,2,3", "recent-after disagrees 1,2,3"]),
        (NO, 16, WHOLE, ["old-after agrees 1,2,3"]),
        (shows(120), 16, None, ["old-after disagrees 1,2,3"]),
        (shows(1), 16, None, ["old-after agrees 1,2,3"]),
        (shows(90, 1), 16, RECENT, ["recent-after agrees 1,2,3"]),
        (shows(1), 16, RECENT, ["recent-after agrees 1,2,3"]),
        (shows(90), 16, RECENT, ["recent-after disagrees 1,2,3"]),
        (NO, 16, RECENT, ["recent-after disagrees 1,2,3"]),
        (refused(status=401), 16, RECENT, ["recent-after unclear 1,2,3"]),
        # Too close to the end of the minutes.
        (shows(120), 15, WHOLE, []),
    ],
)
def test_a_call_is_judged_by_the_time_since_the_signature(answer, minutes, since, expected):
    """Old entries are due before the end of the minutes, and withheld after it."""
    assert expected == says(*consent(), transactions(answer, minutes, since))


def test_a_new_consent_opens_the_history_again():
    """The minutes are those of the consent that the call uses."""
    assert ["old-inside agrees 3,4,5"] == says(
        *consent(), *consent("d"), transactions(shows(*AGES), 10, WHOLE)
    )


@for_each("how", [{"code": Code.WRONG}, {"by": "other"}])
def test_without_a_certain_signature_nothing_is_said(how):
    """The minutes may not have begun."""
    assert [] == says(made(), signed(**how), transactions(NO, 10, WHOLE))
    assert [] == says(made(), transactions(NO, 10, WHOLE))


def test_entries_without_a_day_show_nothing():
    """Their age is unknown."""
    undated = listed(Item(key="1"))
    assert ["old-inside unclear 1,2,3"] == says(*consent(), transactions(undated, 10, WHOLE))
    after = says(*consent(), transactions(undated, 20, WHOLE))
    assert ["old-after unclear 1,2,3", "recent-after unclear 1,2,3"] == after
