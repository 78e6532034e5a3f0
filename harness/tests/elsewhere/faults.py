"""The laboratory with one sentence of the guide broken, or only read in another way.

Each fault is a class that overrides what stands for the sentence, with the obligations
that it breaks, and no others. A fair reading breaks nothing.
"""

from datetime import UTC, datetime, time, timedelta

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


class FiveTubesAPage(Laboratory):
    """A page of specimens is one short."""

    tubes_a_page = 5
    breaks = ("specimens.page/first-page", "specimens.page/full-pages")


class SmallSecondPage(Laboratory):
    """Only the first page of findings is full."""

    breaks = ("findings.page/full-pages",)

    def page(self, every, start, size):
        return super().page(every, start, size - (start > 0 and size == self.findings_a_page))


class PagesOverlap(Laboratory):
    """Each page begins with the last item of the one before."""

    breaks = ("specimens.page/no-repeats", "findings.page/no-repeats")

    def page(self, every, start, size):
        rows, more = super().page(every, start, size)
        return rows, more and more - 1


class LastPageIsLost(Laboratory):
    """There are two pages at the most."""

    breaks = ("specimens.page/complete", "findings.page/complete")

    def page(self, every, start, size):
        rows, more = super().page(every, start, size)
        return rows, None if start else more


class PagesGoRound(Laboratory):
    """After the last page comes the first."""

    breaks = ("specimens.page/ends", "findings.page/ends")

    def page(self, every, start, size):
        rows, more = super().page(every, start, size)
        return rows, 0 if more is None and start else more


class LastTubeIsForgotten(Laboratory):
    """One specimen of several is missing."""

    breaks = ("specimens.listing/all-without-consent", "specimens.page/complete")

    def listed(self, patient):
        return patient.tubes if len(patient.tubes) == 1 else patient.tubes[:-1]


class NothingIsListed(Laboratory):
    """No specimen is listed."""

    breaks = ("specimens.listing/all-without-consent",)

    def listed(self, patient):
        return []


class AnotherUnit(Laboratory):
    """A unit is spelt in capitals."""

    units = ("mg", "ml", "MG")
    breaks = ("unit/finding",)


# -- so many an hour -----------------------------------------------------------------


class TenAnHour(Laboratory):
    """One call more is served."""

    an_hour = 10
    breaks = ("hourly/specimens-refused", "hourly/findings-refused")


class EightAnHour(Laboratory):
    """One call less is served."""

    an_hour = 8
    breaks = ("hourly/specimens-served", "hourly/findings-served")


class NeverAgain(Laboratory):
    """What was used up stays so."""

    breaks = ("hourly/specimens-next-hour", "hourly/findings-next-hour")

    def of_this_hour(self, at, now):
        return True


class HoursOfTwoMinutes(Laboratory):
    """An hour is over too early."""

    breaks = ("hourly/before-end",)

    def of_this_hour(self, at, now):
        return now - at < timedelta(minutes=2)


class OneCountForBothMethods(Laboratory):
    """Both methods use up the same count."""

    breaks = ("hourly/per-method",)

    def counted(self, patient, method):
        return patient.id


class OneCountForAllPatients(Laboratory):
    """All patients use up the same count."""

    breaks = ("hourly/per-customer",)

    def counted(self, patient, method):
        return method


# -- orders ----------------------------------------------------------------------------


class OlderForms(Laboratory):
    """An older form is accepted, too."""

    breaks = ("orders.form/other-value",)

    def right_form(self, form):
        return form in ("L4", "L3")


class FormInSmallLetters(Laboratory):
    """Another spelling of the form is accepted, too."""

    breaks = ("orders.form/lower-case",)

    def right_form(self, form):
        return form in ("L4", "l4")


class FormWithBlanks(Laboratory):
    """Blanks around the form are cut off."""

    breaks = ("orders.form/padded",)

    def right_form(self, form):
        return isinstance(form, str) and form.strip(" \n") == "L4"


class AmountsInLists(Laboratory):
    """An amount may be in a list."""

    breaks = ("orders.whole/millilitres-type",)

    def accepts(self, wanted):
        amount = wanted["ml"]
        number = amount[0] if isinstance(amount, list) and amount else amount
        return super().accepts({**wanted, "ml": number})


class NoPhysicianNeeded(Laboratory):
    """The physician may be left out."""

    breaks = ("orders.whole/physician-missing", "orders.whole/physician-null")

    def accepts(self, wanted):
        doctor = "D-1" if wanted["doctor"] is None else wanted["doctor"]
        return super().accepts({**wanted, "doctor": doctor})


class EmptyPanel(Laboratory):
    """The panel may be empty."""

    breaks = ("orders.whole/panel-empty",)

    def accepts(self, wanted):
        panel = "LIPID" if wanted["panel"] == "" else wanted["panel"]
        return super().accepts({**wanted, "panel": panel})


class SpoiltTubes(Laboratory):
    """A spoilt specimen is taken."""

    breaks = ("orders.specimen/refuses-spoilt",)

    def usable(self, tube):
        return True


class Minors(Laboratory):
    """Minors are served."""

    breaks = ("orders.patient/minor",)

    def served(self, patient):
        return True


class ExpressNowhere(Laboratory):
    """Express is offered, and refused."""

    breaks = ("orders.track/express-offered",)

    def offered(self, track, world):
        return track in (STANDARD, BOOKED)


class ExpressEverywhere(Laboratory):
    """Express is not offered, and served."""

    breaks = ("orders.track/express-not-offered",)

    def offered(self, track, world):
        return track in (STANDARD, BOOKED, EXPRESS)


class NoBookings(Laboratory):
    """Nothing can be booked; then nothing is known of what only booked orders show."""

    breaks = ("orders.track/booked",)

    def offered(self, track, world):
        return track != BOOKED and super().offered(track, world)


class CollectiveOrders(Laboratory):
    """What else a slip asks for is passed over."""

    breaks = ("orders.single/collective-refused",)

    def collective(self, body):
        return False


class OrdersOfOtherPractices(Laboratory):
    """Every practice sees all orders."""

    breaks = ("orders.addressed/look-foreign", "orders.addressed/amend-foreign")

    def sees(self, practice, slip):
        return True


class OtherShiftShown(Laboratory):
    """The shift is shown as another word."""

    breaks = ("orders.content/shift",)

    def shown(self, slip):
        return {**super().shown(slip), "shift": slip.wanted["shift"][::-1]}


class AllCanBeAmended(Laboratory):
    """Standard and express orders can be amended, too."""

    breaks = ("orders.amended/standard-refused", "orders.amended/express-refused")

    def amendable(self, slip, today):
        return slip.stage in (ASKED, QUEUED)


class NoneCanBeAmended(Laboratory):
    """Nothing can be amended."""

    breaks = ("orders.amended/booked-accepted",)

    def amendable(self, slip, today):
        return False


class AmendedWhenAnalysed(Laboratory):
    """An order can be amended when it is analysed already."""

    breaks = ("orders.amended/done-refused",)

    def amendable(self, slip, today):
        return slip.track == BOOKED


class AmendedOnlyInWords(Laboratory):
    """A change is accepted and forgotten."""

    breaks = ("orders.amended/persists", "orders.amended/carried-out-as-changed")

    def amended(self, slip, changes):
        pass


class AnalysedAsOrderedFirst(Laboratory):
    """A change is shown, and not heeded."""

    breaks = ("orders.amended/carried-out-as-changed",)

    def amended(self, slip, changes):
        slip.__dict__.setdefault("first", dict(slip.wanted))
        super().amended(slip, changes)

    def analyse(self, slip, world, day):
        super().analyse(slip, world, day)
        first = slip.__dict__.get("first", slip.wanted)
        world.analysed[-1] = (slip.no, day, first)


class RevokedOnlyInWords(Laboratory):
    """A revocation is accepted and forgotten."""

    breaks = ("orders.revoked/by-tpp-shown", "orders.revoked/by-tpp-never-done")

    def voided(self, slip):
        pass


class NothingCanBeRevoked(Laboratory):
    """Nothing can be revoked."""

    breaks = ("orders.revoked/accepted",)

    def voidable(self, slip):
        return False


class WithdrawnOnlyInWords(Laboratory):
    """A withdrawal is accepted and forgotten."""

    breaks = ("orders.revoked/by-customer-shown", "orders.revoked/by-customer-never-done")

    def withdrawn(self, slip):
        pass


class VoidOrdersAreAnalysed(Laboratory):
    """What was revoked or withdrawn is shown so, and analysed."""

    breaks = ("orders.revoked/by-tpp-never-done", "orders.revoked/by-customer-never-done")

    def due(self, slip, today):
        return slip.stage in (QUEUED, VOID) and slip.wanted["day"] <= today

    def analyse(self, slip, world, day):
        void = slip.stage == VOID
        super().analyse(slip, world, day)
        slip.stage = VOID if void else ANALYSED


# -- approval ----------------------------------------------------------------------------


class AnalysedUnapproved(Laboratory):
    """A booked order need not be approved."""

    breaks = ("approval/nothing-before-signing",)

    def due(self, slip, today):
        return slip.stage in (ASKED, QUEUED) and slip.wanted["day"] <= today


class AnalysedAllTheSame(Laboratory):
    """What the patient declined is analysed."""

    breaks = ("approval/nothing-after-refusal",)

    def declined(self, slip, world):
        self.approved(slip, world)


class SmallOnesAreExempt(Laboratory):
    """An order of one millilitre need not be approved."""

    breaks = ("approval/even-millilitres",)

    def placed(self, slip, world):
        if slip.wanted["ml"] <= 1:
            self.approved(slip, world)


GENOME = (
    "turned-down/panel-GENOME",
    "turned-down/physician-by-another",
    "turned-down/physician-just-under-48h",
    "turned-down/physician-at-48h",
)
NIGHT = ("turned-down/shift-NIGHT",)


class NothingIsTurnedDown(Laboratory):
    """Nobody looks at panel, card, physician or amount."""

    breaks = (*GENOME, *NIGHT)

    def turned_down(self, slip, world):
        return False


class NightsWithoutLimit(Laboratory):
    """A night order may be of any amount."""

    largest_night = 10_000
    breaks = NIGHT


class NightsOfForty(Laboratory):
    """The night has its limit one millilitre below: that breaks all that is said of 40."""

    largest_night = 39
    breaks = (
        "turned-down/panel-not-GENOME",
        "turned-down/panel-not-GENOME-other",
        "turned-down/factor-card",
        "turned-down/physician-just-over-48h",
        "turned-down/physician-long",
    )


class DaysWithALimit(Laboratory):
    """The limit of the night is that of the day, too."""

    breaks = ("turned-down/shift-not-NIGHT", "turned-down/shift-not-NIGHT-other")

    def too_large(self, slip):
        return slip.wanted["ml"] > self.largest_night


class CardOrNot(Laboratory):
    """The card makes no difference."""

    breaks = ("turned-down/factor-card",)

    def by_card(self, slip):
        return False


class OnFileForJust48Hours(Laboratory):
    """Exactly 48 hours are enough."""

    breaks = ("turned-down/physician-at-48h",)

    def long_on_file(self, since, now):
        return since is not None and now - since >= self.on_file


class OnFileForThreeDays(Laboratory):
    """Three days are asked for: that breaks all that is said of just over two."""

    on_file = timedelta(hours=72)
    breaks = (
        "turned-down/physician-just-over-48h",
        "turned-down/shift-not-NIGHT",
        "turned-down/shift-not-NIGHT-other",
        "turned-down/millilitres-just-below-40",
    )


class OnFileWithAnybody(Laboratory):
    """Another patient's physician will do."""

    breaks = ("turned-down/physician-by-another",)

    def since(self, slip, world):
        every = [one.physicians.get(slip.wanted["doctor"]) for one in world.patients]
        return min((one for one in every if one is not None), default=None)


class OtherPanelsToo(Laboratory):
    """Another panel is taken for GENOME."""

    breaks = ("turned-down/panel-not-GENOME-other",)

    def genome(self, slip, world):
        panel = slip.wanted["panel"]
        slip.wanted["panel"] = "GENOME" if panel == "HEPAR" else panel
        try:
            return super().genome(slip, world)
        finally:
            slip.wanted["panel"] = panel


# -- answers -------------------------------------------------------------------------------


class PlainText(Laboratory):
    """JSON is declared as text."""

    breaks = ("answers/media-type",)

    def media_type(self):
        return "text/plain"


class StumblesOverBodies(Laboratory):
    """A body that is not JSON is too much for it."""

    breaks = ("orders.place/survives-malformed", "orders.amend/survives-malformed")

    def unreadable(self, why):
        raise ValueError(why)


FAULTS = [one for one in Laboratory.__subclasses__() if hasattr(one, "breaks")]


# -- fair readings -------------------------------------------------------------------------


class ClockHours(Laboratory):
    """An hour begins at full hours by the wall."""

    def of_this_hour(self, at, now):
        return hour(at, ZONE) == hour(now, ZONE)


class HoursOfTheWorld(Laboratory):
    """An hour begins at full hours by UTC."""

    def of_this_hour(self, at, now):
        return hour(at, UTC) == hour(now, UTC)


class TurnedDownAtOnce(Laboratory):
    """A night order that is too large need not be approved first."""

    leaves_open = NIGHT

    def placed(self, slip, world):
        if self.too_large(slip):
            slip.stage = TURNED_DOWN


class RefusedAtOnce(Laboratory):
    """It is not even accepted."""

    leaves_open = NIGHT

    def accepts(self, wanted):
        night = wanted["shift"] == "NIGHT"
        return super().accepts(wanted) and not (night and wanted["ml"] > self.largest_night)


class RefusedAsAnythingElse(Laboratory):
    """An order that nobody knows is refused in the words of any refusal."""

    def unknown(self):
        raise RefusedError(409, "no such slip")


class OldestFirst(Laboratory):
    """Findings come in another order."""

    def findings(self, tube, today):
        return super().findings(tube, today)[::-1]


class AnalysedAtNight(Laboratory):
    """Booked orders are analysed as their day begins."""

    def hour_of(self, day):
        return datetime.combine(day, time(0), ZONE)


def hour(moment, zone):
    return moment.astimezone(zone).replace(minute=0, second=0, microsecond=0)


READINGS = [one for one in Laboratory.__subclasses__() if not hasattr(one, "breaks")]
