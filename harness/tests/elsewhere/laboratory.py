"""What the laboratory of guide.md holds, and what it does: a method for every sentence.

A test breaks one sentence at a time by overriding one method. Nothing here knows of HTTP,
or of the harness.
"""

from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

ZONE = ZoneInfo("Asia/Kathmandu")
HOUR = timedelta(hours=1)
#: Where a slip stands: to be approved, waiting for its day, analysed, or not any more.
ASKED, QUEUED, ANALYSED, TURNED_DOWN, VOID, DECLINED = 10, 20, 30, 44, 90, 91
STANDARD, BOOKED, EXPRESS = "S", "B", "X"


class RefusedError(Exception):
    """Something is not done; the status and why."""


@dataclass(kw_only=True)
class Tube:
    """A specimen, with what was found in it: references and days."""

    code: str
    spoilt: bool
    found: list


@dataclass(kw_only=True)
class Patient:
    """Somebody with tubes, and with physicians on file since some moment."""

    id: str
    minor: bool
    tubes: list = field(default_factory=list)
    physicians: dict = field(default_factory=dict)


@dataclass(kw_only=True)
class Slip:
    """An order."""

    no: str
    practice: str
    patient: Patient
    track: str
    wanted: dict
    stage: int = ASKED
    card: bool = False


@dataclass(kw_only=True)
class World:
    """One laboratory at one time; `keys` open it to patients and to practices."""

    now: datetime
    express: bool
    keys: dict = field(default_factory=dict)
    slips: dict = field(default_factory=dict)
    calls: list = field(default_factory=list)
    analysed: list = field(default_factory=list)

    @property
    def today(self):
        return self.now.astimezone(ZONE).date()

    @property
    def patients(self):
        return [one for one in self.keys.values() if isinstance(one, Patient)]


class Laboratory:
    """What the guide says."""

    tubes_a_page, findings_a_page, an_hour, units = 6, 8, 9, ("mg", "ml", "none")
    form, largest_night, on_file = "L4", 40, timedelta(hours=48)

    # -- specimens and findings --------------------------------------------------------
    def listed(self, patient):
        return patient.tubes

    def page(self, every, start, size):
        """Return a page and where the next one starts, if there is one."""
        return every[start : start + size], start + size if start + size < len(every) else None

    def findings(self, tube, today):
        """Return what was found until today, the latest first."""
        known = [one for one in tube.found if one[1] <= today]
        return sorted(known, key=lambda one: one[1], reverse=True)

    def counted(self, patient, method):
        """Return what has a count of its own."""
        return patient.id, method

    def of_this_hour(self, at, now):
        return now - at < HOUR

    # -- orders ------------------------------------------------------------------------
    def accepts(self, wanted):
        """Whether a slip is filled in as it must be."""
        texts = all(isinstance(wanted[one], str) and wanted[one] for one in ("panel", "doctor"))
        amount = wanted["ml"]
        number = isinstance(amount, int) and not isinstance(amount, bool) and amount > 0
        return texts and number and self.right_form(wanted["form"])

    def right_form(self, form):
        return form == self.form

    def offered(self, track, world):
        return track in (STANDARD, BOOKED) or (track == EXPRESS and world.express)

    def usable(self, tube):
        return not tube.spoilt

    def served(self, patient):
        return not patient.minor

    def collective(self, body):
        return "also" in body

    def placed(self, slip, world):
        """Do nothing yet: it has to be approved."""

    def sees(self, practice, slip):
        return slip.practice == practice

    def unknown(self):
        """Say what becomes of an order that is nobody's here."""
        raise RefusedError(410, "no such slip")

    def amendable(self, slip, today):
        open_ = slip.stage in (ASKED, QUEUED)
        return open_ and slip.track == BOOKED and slip.wanted["day"] > today

    def amended(self, slip, changes):
        slip.wanted.update(changes)

    def voidable(self, slip):
        return slip.stage in (ASKED, QUEUED)

    def voided(self, slip):
        slip.stage = VOID

    def withdrawn(self, slip):
        slip.stage = VOID

    # -- approval ----------------------------------------------------------------------
    def approved(self, slip, world):
        if self.turned_down(slip, world):
            slip.stage = TURNED_DOWN
        elif slip.track == BOOKED:
            slip.stage = QUEUED
        else:
            self.analyse(slip, world, world.today)

    def declined(self, slip, world):
        slip.stage = DECLINED

    def turned_down(self, slip, world):
        return self.genome(slip, world) or self.too_large(slip)

    def genome(self, slip, world):
        known = self.long_on_file(self.since(slip, world), world.now)
        return slip.wanted["panel"] == "GENOME" and not self.by_card(slip) and not known

    def too_large(self, slip):
        return slip.wanted["shift"] == "NIGHT" and slip.wanted["ml"] > self.largest_night

    def by_card(self, slip):
        return slip.card

    def since(self, slip, world):
        """Return since when the physician is on file with the patient."""
        return slip.patient.physicians.get(slip.wanted["doctor"])

    def long_on_file(self, since, now):
        return since is not None and now - since > self.on_file

    def due(self, slip, today):
        return slip.stage == QUEUED and slip.wanted["day"] <= today

    def hour_of(self, day):
        """Return when a day's booked orders are analysed."""
        return datetime.combine(day, time(7), ZONE)

    def morning(self, world):
        """Do what has become due by now, day after day."""
        waiting = [one for one in world.slips.values() if one.wanted["day"]]
        for slip in sorted(waiting, key=lambda one: one.wanted["day"]):
            day = slip.wanted["day"]
            if self.due(slip, world.today) and world.now >= self.hour_of(day):
                self.analyse(slip, world, day)

    def analyse(self, slip, world, day):
        slip.stage = ANALYSED
        world.analysed.append((slip.no, day, dict(slip.wanted)))

    # -- answers -----------------------------------------------------------------------
    def shown(self, slip):
        """Return how a slip is shown."""
        wanted = slip.wanted
        return {
            "no": slip.no,
            "stage": slip.stage,
            "tube": {"tag": {"code": wanted["tube"]}},
            "wanted": {"panel": wanted["panel"], "ml": wanted["ml"]},
            "doctor": {"no": wanted["doctor"]},
            "shift": wanted["shift"],
            "form": wanted["form"],
            **({"collect": {"on": wanted["day"].isoformat()}} if wanted["day"] else {}),
        }

    def media_type(self):
        return "application/vnd.hill+json"

    def unreadable(self, why):
        """Say what becomes of a body that is not JSON."""
        raise RefusedError(400, why)
