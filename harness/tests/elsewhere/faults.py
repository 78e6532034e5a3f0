"""The laboratory with one sentence of the guide broken, or only read in another way.

Each fault is a row: the obligations that it breaks, and no others, and what it replaces of what
stands for the sentence. A fair reading breaks nothing.
"""

from datetime import UTC, datetime, time, timedelta

from faulty import always, row
from laboratory import (
    ANALYSED,
    ASKED,
    BOOKED,
    EXPRESS,
    QUEUED,
    STANDARD,
    TURNED_DOWN,
    VOID,
    ZONE,
    Laboratory,
    RefusedError,
)


# -- specimens and findings ----------------------------------------------------------
def small_second_page(lab, every, start, size):
    return Laboratory.page(lab, every, start, size - (start > 0 and size == lab.findings_a_page))


def paged(change):
    """Return what shows a page, and says in another way where the next one begins."""

    def page(lab, every, start, size):
        rows, more = Laboratory.page(lab, every, start, size)
        return rows, change(start, more)

    return page


def last_forgotten(lab, patient):
    return patient.tubes if len(patient.tubes) == 1 else patient.tubes[:-1]


LISTS = (
    row("five tubes a page",
        "specimens.page/first-page", "specimens.page/full-pages", tubes_a_page=5),
    row("a small second page", "findings.page/full-pages", page=small_second_page),
    row("pages overlap", "specimens.page/no-repeats", "findings.page/no-repeats",
        page=paged(lambda start, more: more and more - 1)),
    row("two pages at most", "specimens.page/complete", "findings.page/complete",
        shows=["specimens.listing/all-without-consent"],
        page=paged(lambda start, more: None if start else more)),
    row("pages go round", "specimens.page/ends", "findings.page/ends",
        page=paged(lambda start, more: 0 if more is None and start else more)),
    row("the last tube is forgotten", "specimens.listing/all-without-consent",
        "specimens.page/complete", listed=last_forgotten),
    row("nothing is listed", "specimens.listing/all-without-consent",
        listed=lambda lab, patient: []),
    row("a unit in capitals", "unit/finding", units=("mg", "ml", "MG")),
)  # fmt: skip

# -- so many an hour -----------------------------------------------------------------
HOURLY = (
    row("ten an hour", "hourly/specimens-refused", "hourly/findings-refused", "hourly/at-once", an_hour=10),
    row("eight an hour", "hourly/specimens-served", "hourly/findings-served",
        shows=["specimens.available/answers", "findings.available/answers"], an_hour=8),
    row("never again", "hourly/specimens-next-hour", "hourly/findings-next-hour",
        shows=["hourly/specimens-served", "hourly/findings-served"], of_this_hour=always(True)),
    row("hours of two minutes", "hourly/before-end",
        of_this_hour=lambda lab, at, now: now - at < timedelta(minutes=2)),
    row("one count for both methods", "hourly/per-method",
        shows=["hourly/findings-served", "findings.available/answers"], counted=lambda lab, patient, method: patient.id),
    row("one count for all patients", "hourly/per-customer",
        shows=["specimens.available/answers", "findings.available/answers"], counted=lambda lab, patient, method: method),
)  # fmt: skip


# -- orders ----------------------------------------------------------------------------
def accepting(name, change):
    """Return what accepts a slip after it has changed a value."""
    return lambda lab, wanted: Laboratory.accepts(lab, {**wanted, name: change(wanted[name])})


def offering(*tracks):
    return lambda lab, track, world: track in tracks


def shift_backwards(lab, slip):
    return {**Laboratory.shown(lab, slip), "shift": slip.wanted["shift"][::-1]}


def amended_in_vain(lab, slip, changes):
    slip.__dict__.setdefault("first", dict(slip.wanted))
    Laboratory.amended(lab, slip, changes)


def analysed_as_first(lab, slip, world, day):
    Laboratory.analyse(lab, slip, world, day)
    world.analysed[-1] = (slip.no, day, slip.__dict__.get("first", slip.wanted))


def due_in(*stages):
    return lambda lab, slip, today: slip.stage in stages and slip.wanted["day"] <= today


def analysed_and_void(lab, slip, world, day):
    void = slip.stage == VOID
    Laboratory.analyse(lab, slip, world, day)
    slip.stage = VOID if void else ANALYSED


NEVER_DONE = ("orders.revoked/by-tpp-never-done", "orders.revoked/by-customer-never-done")
ORDERS = (
    row("older forms", "orders.form/other-value", right_form=lambda lab, form: form in ("L4", "L3")),
    row("a form in small letters", "orders.form/lower-case",
        right_form=lambda lab, form: form in ("L4", "l4")),
    row("a form with blanks", "orders.form/padded",
        right_form=lambda lab, form: isinstance(form, str) and form.strip(" \n") == "L4"),
    row("amounts in lists", "orders.whole/millilitres-type",
        accepts=accepting("ml", lambda ml: ml[0] if isinstance(ml, list) and ml else ml)),
    row("no physician needed", "orders.whole/physician-missing", "orders.whole/physician-null",
        accepts=accepting("doctor", lambda doctor: "D-1" if doctor is None else doctor)),
    row("an empty panel", "orders.whole/panel-empty",
        accepts=accepting("panel", lambda panel: "LIPID" if panel == "" else panel)),
    row("spoilt tubes", "orders.specimen/refuses-spoilt", usable=always(True)),
    row("minors", "orders.patient/minor", served=always(True)),
    row("express is offered, and refused", "orders.track/express-offered",
        offered=offering(STANDARD, BOOKED)),
    row("express is not offered, and served", "orders.track/express-not-offered",
        offered=offering(STANDARD, BOOKED, EXPRESS)),
    # Then nothing is known of what only booked orders show.
    row("no bookings", "orders.track/booked", offered=lambda lab, track, world: (
        track != BOOKED and Laboratory.offered(lab, track, world))),
    row("collective orders", "orders.single/collective-refused", collective=always(False)),
    row("orders of other practices", "orders.addressed/look-foreign",
        "orders.addressed/amend-foreign", sees=always(True)),
    row("another shift is shown", "orders.content/shift", shown=shift_backwards),
    row("all can be amended", "orders.amended/standard-refused", "orders.amended/express-refused",
        amendable=lambda lab, slip, today: slip.stage in (ASKED, QUEUED)),
    row("none can be amended", "orders.amended/booked-accepted", amendable=always(False)),
    row("amended when analysed", "orders.amended/done-refused",
        amendable=lambda lab, slip, today: slip.track == BOOKED),
    row("amended only in words", "orders.amended/persists",
        "orders.amended/carried-out-as-changed",
        shows=[f"orders.content/{name}" for name in ("physician", "day", "millilitres")],
        amended=always(None)),
    row("analysed as ordered first", "orders.amended/carried-out-as-changed",
        amended=amended_in_vain, analyse=analysed_as_first),
    row("revoked only in words", "orders.revoked/by-tpp-shown", NEVER_DONE[0], voided=always(None)),
    row("nothing can be revoked", "orders.revoked/accepted", voidable=always(False)),
    row("withdrawn only in words", "orders.revoked/by-customer-shown", NEVER_DONE[1],
        withdrawn=always(None)),
    row("void orders are analysed", *NEVER_DONE,
        due=due_in(QUEUED, VOID), analyse=analysed_and_void),
)  # fmt: skip


# -- approval ----------------------------------------------------------------------------
def small_approved(lab, slip, world):
    if slip.wanted["ml"] <= 1:
        lab.approved(slip, world)


def earliest_on_file(lab, slip, world):
    every = [one.physicians.get(slip.wanted["doctor"]) for one in world.patients]
    return min((one for one in every if one is not None), default=None)


def hepar_as_genome(lab, slip, world):
    panel = slip.wanted["panel"]
    slip.wanted["panel"] = "GENOME" if panel == "HEPAR" else panel
    try:
        return Laboratory.genome(lab, slip, world)
    finally:
        slip.wanted["panel"] = panel


def unreadable(lab, why):
    raise ValueError(why)


GENOME = (
    "turned-down/panel-GENOME",
    "turned-down/physician-by-another",
    "turned-down/physician-just-under-48h",
    "turned-down/physician-at-48h",
)
NIGHT = "turned-down/shift-NIGHT"
DAY = ("turned-down/shift-not-NIGHT", "turned-down/shift-not-NIGHT-other")
APPROVAL = (
    row("analysed unapproved", "approval/nothing-before-signing", due=due_in(ASKED, QUEUED)),
    row("analysed although declined", "approval/nothing-after-refusal",
        declined=lambda lab, slip, world: lab.approved(slip, world)),
    row("small ones are exempt", "approval/even-millilitres", placed=small_approved),
    row("nothing is turned down", *GENOME, NIGHT, turned_down=always(False)),
    row("nights without limit", NIGHT, largest_night=10_000),
    # One millilitre below: that breaks all that is said of 40.
    row("nights of forty", "turned-down/panel-not-GENOME", "turned-down/panel-not-GENOME-other",
        "turned-down/factor-card", "turned-down/physician-just-over-48h",
        "turned-down/physician-long", largest_night=39),
    row("days with a limit", *DAY,
        too_large=lambda lab, slip: slip.wanted["ml"] > lab.largest_night),
    row("card or not", "turned-down/factor-card", by_card=always(False)),
    row("on file for just 48 hours", "turned-down/physician-at-48h",
        long_on_file=lambda lab, since, now: since is not None and now - since >= lab.on_file),
    # Three days: that breaks all that is said of just over two.
    row("on file for three days", "turned-down/physician-just-over-48h", *DAY,
        "turned-down/millilitres-just-below-40", on_file=timedelta(hours=72)),
    row("on file with anybody", "turned-down/physician-by-another", since=earliest_on_file),
    row("other panels too", "turned-down/panel-not-GENOME-other", genome=hepar_as_genome),
    row("JSON is declared as text", "answers/media-type", media_type=always("text/plain")),
    row("stumbles over bodies", "orders.place/survives-malformed", "orders.amend/survives-malformed",
        unreadable=unreadable),
)  # fmt: skip
FAULTS = (*LISTS, *HOURLY, *ORDERS, *APPROVAL)


# -- fair readings -------------------------------------------------------------------------
def full_hours(zone):
    """Return whether a call counts for the full hour of a clock."""

    def hour(moment):
        return moment.astimezone(zone).replace(minute=0, second=0, microsecond=0)

    return lambda lab, at, now: hour(at) == hour(now)


def turned_down_at_once(lab, slip, world):
    if lab.too_large(slip):
        slip.stage = TURNED_DOWN


def refused_at_once(lab, wanted):
    night = wanted["shift"] == "NIGHT"
    return Laboratory.accepts(lab, wanted) and not (night and wanted["ml"] > lab.largest_night)


def unknown(lab):
    raise RefusedError(409, "no such slip")


READINGS = (
    row("hours by the wall", of_this_hour=full_hours(ZONE)),
    row("hours by UTC", of_this_hour=full_hours(UTC)),
    # A night order that is too large need not be approved first, or is not even accepted.
    row("turned down at once", leaves_open=[NIGHT], placed=turned_down_at_once),
    row("refused at once", leaves_open=[NIGHT], accepts=refused_at_once),
    row("unknown orders are refused as anything else", unknown=unknown),
    row("oldest first", findings=lambda lab, tube, today: (
        Laboratory.findings(lab, tube, today)[::-1])),
    row("analysed at night", hour_of=lambda lab, day: datetime.combine(day, time(0), ZONE)),
)  # fmt: skip
