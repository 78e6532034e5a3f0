"""`quota` by the hour, and on all calls: what surely counts, and what may, hour by hour."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from account_information import (
    AT,
    LOST,
    NO,
    PARIS,
    Obliging,
    account,
    ask,
    check,
    consent,
    owner,
    ruled,
)
from rows import for_each

from assay.contract.model import Capability
from assay.history import Advance
from assay.planning.plan import count_calls
from assay.rules.state.periods import period
from assay.testing import accepted, listed, refused

PSU = owner("psu", account("A1"))
DATA = listed("x")
HOURS = ["clock-hour", "rolling-hour", "hour"]
#: Twenty past ten: a clock hour ends in 40 minutes, one of these calls in 60.
NOW = AT.replace(minute=20)
ATTENDED = ask("balances", DATA, "A1", at=NOW)
OURS = [PSU, consent("A1", at=NOW)]
INDIA = ZoneInfo("Asia/Kolkata")


def batch(came=DATA, at=NOW, about="A1", **how):
    return ask("balances", came, about, present=False, at=at, **how)


def four(at=NOW, **how):
    return [batch(at=at, **how) for _ in range(4)]


def after(minutes, seconds=0, now=NOW):
    return now + timedelta(minutes=minutes, seconds=seconds)


def says(per, *events, **how):
    return check("batch-quota", *OURS, *events, per=per, **how)


def last(per, *events, **how):
    """Return what is said of the last call before the attended control."""
    found = says(per, *events, ATTENDED, **how)
    return [one for one in found if one.endswith(f" {1 + len(events)}")]


# -- which hour ---------------------------------------------------------------------
@for_each(
    ("per", "came", "said"),
    [
        ("clock-hour", DATA, ["balances-served agrees 6"]),
        ("clock-hour", NO, ["balances-served disagrees 6"]),
        ("rolling-hour", DATA, ["balances-refused disagrees 6"]),
        ("rolling-hour", NO, ["balances-refused agrees 6"]),
        ("hour", DATA, []),
        ("hour", NO, []),
    ],
)
def test_past_the_full_hour_readings_differ(per, came, said):
    """Fifty minutes after four calls a clock hour is over, and a rolling one is not."""
    assert said == last(per, *four(), batch(came, after(50)))


@for_each("per", HOURS)
@for_each(("came", "agreement"), [(DATA, "agrees"), (NO, "disagrees")])
def test_an_hour_later_it_is_another_hour(per, came, agreement):
    """After a refusal, the first call that is in no reading of the same hour is served."""
    assert [f"balances-next-hour {agreement} 7"] == last(
        per, *four(), batch(NO), batch(came, after(60, 30))
    )


@for_each("came", [DATA, NO])
def test_whether_an_hour_is_over_at_its_last_moment_is_open(came):
    """To the microsecond: one of sixty minutes ago may count, or not."""
    assert [] == last("rolling-hour", *four(), batch(came, after(60)))
    assert [] != last("rolling-hour", *four(), batch(came, after(60) + timedelta(microseconds=1)))


@for_each("came", [DATA, NO])
def test_a_refused_call_may_count_in_the_hour_after_it(came):
    """Where calls count for an hour each, a refused one of half an hour ago perhaps does."""
    lost = [
        batch(NO, after(40)),
        batch(LOST, after(41)),
        batch(NO, after(42)),
        batch(NO, after(43)),
    ]

    assert [] == last("rolling-hour", *four(), *lost, batch(came, after(70)))


def test_calls_leave_a_rolling_hour_one_by_one():
    """Two of an hour ago have made room for two."""
    calls = [batch(), batch(), batch(at=after(30)), batch(at=after(31))]

    assert ["balances-refused agrees 6"] == last("rolling-hour", *calls, batch(NO, after(59)))
    assert ["balances-served disagrees 6"] == last("rolling-hour", *calls, batch(NO, after(61)))


# -- its end ------------------------------------------------------------------------
ENDS = {"clock-hour": after(39, 40), "rolling-hour": after(59, 40), "hour": after(39, 40)}


@for_each("per", HOURS)
@for_each(("came", "agreement"), [(NO, "agrees"), (DATA, "disagrees")])
def test_just_before_the_end_it_is_still_refused(per, came, agreement):
    """After a refusal in the same hour; of two readings the earlier end is asked."""
    assert [f"before-end {agreement} 7"] == last(per, *four(), batch(NO), batch(came, ENDS[per]))


@for_each("per", HOURS)
def test_a_late_call_without_a_refusal_before_bears_on_nothing(per):
    """What enforces nothing has no end."""
    assert [] == last(per, *four(), batch(at=ENDS[per]))


def test_an_hour_that_begins_late_has_no_late_calls():
    """All of them in the last half minute are simply five calls."""
    late = AT.replace(minute=59, second=40)

    assert ["balances-refused disagrees 6"] == last("clock-hour", *four(late), batch(at=late))


@for_each(("came", "agreement"), [(NO, "agrees"), (DATA, "disagrees")])
def test_an_hour_has_its_first_moment_and_not_its_last(came, agreement):
    """Calls of exactly ten count until, and not at, exactly eleven."""
    ten = AT
    used = four(ten)
    late = ten + timedelta(minutes=59, seconds=30)

    assert [f"before-end {agreement} 7"] == last(
        "clock-hour", *used, batch(NO, ten), batch(came, late)
    )
    assert ["balances-next-hour disagrees 7"] == last(
        "clock-hour", *used, batch(NO, ten), batch(NO, ten + timedelta(hours=1))
    )


# -- whose hour ---------------------------------------------------------------------
def test_a_zone_off_by_half_an_hour_has_full_hours_of_two_kinds():
    """Half past is full in Kolkata and not in UTC: what lies between is not judged."""
    then = datetime(2026, 9, 16, 10, 20, tzinfo=UTC)
    used, control = four(then), ask("balances", DATA, "A1", at=then)
    between, both = then + timedelta(minutes=15), then + timedelta(minutes=45)
    for came in (NO, DATA):
        lines = check(
            "batch-quota", *OURS, *used, batch(came, between), control, per="clock-hour", zone=INDIA
        )
        assert not [one for one in lines if one.endswith(" 6")]

    lines = check(
        "batch-quota", *OURS, *used, batch(NO, both), control, per="clock-hour", zone=INDIA
    )
    assert "balances-served disagrees 6" == lines[-1]


def test_full_hours_east_of_utc_come_before_its_own():
    """In Kathmandu it is a full hour a quarter of an hour after one of UTC."""
    hour = period("clock-hour", ZoneInfo("Asia/Kathmandu"))
    then = datetime(2026, 9, 16, 10, 20, tzinfo=UTC)

    assert [then.replace(minute=15), then.replace(minute=0)] == [
        hour.latest_begin(then),
        hour.earliest_begin(then),
    ]
    assert [then.replace(hour=11, minute=one) for one in (0, 15)] == [
        hour.earliest_end(then),
        hour.latest_end(then),
    ]


@for_each("per", ["clock-hour", "hour"])
def test_with_no_zone_every_quarter_may_be_a_full_hour(per):
    """Only within one do calls surely belong together, and never with those of an hour ago."""
    now = AT.replace(minute=16)
    control = ask("balances", DATA, "A1", at=now)

    def found(came, minutes):
        return [
            line
            for line in check(
                "batch-quota",
                *OURS,
                *four(now),
                batch(came, after(minutes, now=now)),
                control,
                per=per,
                zone=None,
            )
            if line.endswith(" 6")
        ]

    assert ["balances-refused disagrees 6"] == found(DATA, 10)
    assert [] == found(DATA, 15) == found(NO, 15)
    assert ["balances-served disagrees 6"] == found(NO, 61)


def test_with_no_zone_a_rolling_hour_is_as_sure_as_ever():
    """It has nothing to do with any clock."""
    assert ["balances-refused disagrees 6"] == last(
        "rolling-hour", *four(), batch(at=after(59)), zone=None
    )


def test_an_hour_that_comes_twice_is_two_hours():
    """When clocks are put back, two calls of 02:30 by the wall are an hour apart."""
    first = datetime(2026, 10, 25, 2, 30, tzinfo=PARIS)
    again = first.replace(fold=1)
    used, control = four(first), ask("balances", DATA, "A1", at=first)
    found = check("batch-quota", *OURS, *used, batch(NO, again), control, per="clock-hour")

    assert "balances-served disagrees 6" == found[-1]


# -- whose count --------------------------------------------------------------------
@for_each("per", HOURS)
def test_what_was_used_up_an_hour_ago_bears_on_nobody_else(per):
    """Then a first call is a first call."""
    lists = [
        ask("transactions", DATA, "A1", present=False, at=after(61)),
        ask("transactions", DATA, "A1", at=after(61)),
    ]

    assert ["transactions-served agrees 6"] == says(per, *four(), *lists, ATTENDED)[4:]


# -- all calls count ----------------------------------------------------------------
TWO = ["balances", "transactions"]
ALL = {"counts": "all", "operations": TWO}


def every(came=DATA, at=NOW, about="A1", **how):
    return ask("balances", came, about, at=at, **how)


def test_where_all_count_no_attended_call_is_needed():
    """The four that were served show that the method answers."""
    calls = [every() for _ in range(4)]

    assert [
        *(f"balances-served agrees {n}" for n in (2, 3, 4, 5)),
        "balances-refused agrees 6",
    ] == says("hour", *calls, every(NO), **ALL)
    assert "balances-refused disagrees 6" == says("hour", *calls, every(), **ALL)[-1]


def test_where_all_count_calls_of_both_kinds_make_one_count():
    """Two with the customer and two without are four."""
    calls = [every(), every(), batch(), batch()]

    assert "balances-refused disagrees 6" == says("hour", *calls, every(), **ALL)[-1]
    assert "balances-refused disagrees 6" == says("hour", *calls, batch(), **ALL)[-1]
    assert [] == [line for line in says("hour", *calls, every()) if "refused" in line]


def test_where_all_count_a_method_that_never_answers_has_no_quota():
    """A refusal from the first call on is another matter."""
    assert [] == says("hour", *[every(NO)] * 6, **ALL)


@for_each(("came", "agreement"), [(DATA, "agrees"), (NO, "disagrees")])
def test_where_all_count_another_method_is_controlled_in_a_later_hour(came, agreement):
    """Refused while another is used up, and served an hour later: one count for both."""
    calls = [every() for _ in range(4)]
    lists = [ask("transactions", came, "A1", at=NOW)]
    later = [ask("transactions", DATA, "A1", at=after(61))]

    assert f"per-method {agreement} 6" in says("hour", *calls, *lists, *later, **ALL)
    if came is NO:
        assert not [line for line in says("hour", *calls, *lists, **ALL) if line[-1] == "6"]


# -- facets and probes --------------------------------------------------------------
def facets(**changed):
    params = ruled("batch-quota", **changed)
    return {facet.id: facet for facet in params.facets()}


@for_each("per", HOURS)
def test_hours_have_the_facets_of_days_but_for_the_long_one(per):
    """What means the same has the same name."""
    days = {facet.replace("next-day", "next-hour") for facet in facets()} - {"long-day"}

    assert {"before-end" if one == "before-midnight" else one for one in days} == set(
        facets(per=per)
    )


@for_each("counts", ["absent", "all"])
def test_only_where_all_calls_count_another_count_takes_a_clock(counts):
    """The control of what is asked for the first time comes in a later period."""
    found = facets(per="hour", counts=counts)
    clock = {name for name, one in found.items() if Capability.CLOCK in one.needs}
    apart = {"per-method", "per-customer"} if counts == "all" else set()

    assert {"before-end", *apart} == {one for one in clock if not one.endswith("-next-hour")}


def test_an_hour_needs_no_zone_and_a_quota_on_all_calls_no_marks():
    """They are asked of whoever has a clock."""
    needed = set().union(*(one.needs for one in facets(per="hour", counts="all").values()))

    assert {
        Capability.PSU,
        Capability.CONSENT,
        Capability.CLOCK,
        Capability.TWO_PSU,
        Capability.TOGETHER,
    } == needed
    assert {Capability.BATCH} == set().union(
        *(one.needs for one in facets(per="hour").values())
    ) - needed


def hour(moment):
    return moment.astimezone(UTC).replace(minute=0, second=0)


class Counting(Obliging):
    """A bank that keeps a count of every method for every customer, by some hour."""

    same = staticmethod(lambda one, now: hour(one) == hour(now))
    limit = 4
    counted = staticmethod(lambda call: True)

    def page(self, call):
        made = self.__dict__.setdefault("made", [])
        slot = self.slot(call)
        used = sum(one == slot and self.same(at, self.now) for one, at in made)
        if not self.counted(call):
            return accepted()
        if used >= self.limit and call.operation != "consents":
            return refused()
        made.append((slot, self.now))
        return super().page(call)

    def slot(self, call):
        return call.subject, call.operation


class Rolling(Counting):
    """An hour of each call's own."""

    same = staticmethod(lambda one, now: now - one < timedelta(hours=1))


class Absent(Counting):
    """Counts calls without the customer."""

    counted = staticmethod(lambda call: not call.present)


SCENARIOS = [
    "balances:limit",
    "balances:next-hour",
    "transactions:limit",
    "transactions:next-hour",
    "before-end",
    "per-method",
    "per-customer",
]


def tried(bank, scenario, **changed):
    """Play a scenario, and return what is said of it: facets by agreement, and what was played."""
    params = ruled("batch-quota", **{"operations": TWO, **changed})
    played = bank.play(params, scenario)
    found = params.check(played.history)
    assert count_calls(params, params.scenario(scenario)) == len(played.calls)
    return {(one.facet, one.agreement.value) for one in found}, played


@for_each("minute", [0, 20, 45, 59])
@for_each("scenario", SCENARIOS)
@for_each(
    ("per", "bank"),
    [
        ("clock-hour", Counting),
        ("hour", Counting),
        ("rolling-hour", Rolling),
        ("hour", Rolling),
    ],
)
@for_each("zone", [PARIS, None])
def test_a_sound_bank_conforms_whenever_it_is_asked(per, bank, scenario, minute, zone):
    """Each scenario settles its facets, also with the clock about to strike; both hours will do."""
    now = AT.replace(minute=minute, second=45)
    said, played = tried(bank(now=now), scenario, per=per, zone=zone, **ALL)
    params = ruled("batch-quota", **{"operations": TWO, "per": per, **ALL})
    wanted = {facet.id for facet in params.facets() if facet.scenario.id == scenario}

    assert {"agrees"} == {agreement for _, agreement in said}
    assert set() < wanted <= {facet for facet, _ in said}
    assert all(call.present for call in played.calls)


class Shared(Rolling):
    """One count for all methods."""

    def slot(self, call):
        return call.subject


class Pooled(Rolling):
    """One count for all customers."""

    def slot(self, call):
        return call.operation


class Generous(Rolling):
    """One more than is said."""

    limit = 5


class Forever(Rolling):
    """A count that is never taken back."""

    same = staticmethod(lambda one, now: True)


class Short(Rolling):
    """An hour of fifty minutes."""

    same = staticmethod(lambda one, now: now - one < timedelta(minutes=50))


@for_each(
    ("bank", "per", "scenario", "facet"),
    [
        (Generous, "hour", "balances:limit", "balances-refused"),
        (Forever, "hour", "balances:next-hour", "balances-next-hour"),
        (Short, "rolling-hour", "before-end", "before-end"),
        (Pooled, "hour", "per-customer", "per-customer"),
        (Counting, "rolling-hour", "before-end", "before-end"),
        (Rolling, "clock-hour", "balances:next-hour", "balances-next-hour"),
    ],
)
def test_each_fault_is_found_by_its_scenario(bank, per, scenario, facet):
    """Also the hour that is not the one that the document means."""
    said, _ = tried(bank(now=NOW), scenario, per=per, **ALL)

    assert (facet, "disagrees") in said
    assert (facet, "agrees") not in said


def test_a_count_that_methods_share_is_found():
    """The control of the second method comes before the first uses the next hour up."""
    bank = Shared(now=NOW)
    bank.slot = lambda call: call.operation == "consents" or call.subject
    said, _ = tried(bank, "per-method", per="hour", **ALL)

    assert ("per-method", "disagrees") in said


@for_each("per", HOURS)
def test_the_probe_keeps_clear_of_what_is_open(per):
    """It asks half a minute before the first end that there may be, and after the last."""
    moved = {}
    for scenario in ("before-end", "balances:next-hour"):
        bank = Obliging(now=NOW)
        _, played = tried(bank, scenario, per=per)
        (moved[scenario],) = [
            step.to for step in played.steps if isinstance(step, Advance) and step.to
        ]

    assert {
        "clock-hour": {"before-end": after(39, 30), "balances:next-hour": after(40, 30)},
        "rolling-hour": {"before-end": after(59, 30), "balances:next-hour": after(60, 30)},
        "hour": {"before-end": after(39, 30), "balances:next-hour": after(60, 30)},
    }[per] == moved


def test_without_the_customer_every_trial_ends_with_attended_calls():
    """Hours make no difference to the control."""
    for scenario in SCENARIOS:
        said, played = tried(Absent(now=NOW), scenario, per="clock-hour")

        assert played.calls[-1].present
        assert {"agrees"} == {agreement for _, agreement in said}


def test_an_hour_that_is_about_to_end_is_left_first():
    """There is no time to use it up, and the clock is never turned back."""
    bank = Obliging(now=AT.replace(minute=59, second=10))
    _, played = tried(bank, "before-end", per="clock-hour")
    moved = [step.to for step in played.steps if isinstance(step, Advance) and step.to]

    assert [AT.replace(hour=11, second=30), AT.replace(hour=11, minute=59, second=30)] == moved


@for_each("zone", [PARIS, INDIA, ZoneInfo("Asia/Kathmandu"), None])
@for_each("minute", [14, 29, 44, 59])
def test_what_is_left_is_left_for_where_no_other_end_is_near(zone, minute):
    """A minute before some full hour, whosever it is, the probe finds time all the same."""
    now = AT.replace(minute=minute)
    said, _ = tried(Rolling(now=now), "before-end", per="hour", zone=zone, **ALL)

    assert ("before-end", "agrees") in said


def test_a_period_tells_itself_by_the_zone():
    """A day by its date, an hour by its minute."""
    late = datetime(2026, 9, 16, 22, 30, tzinfo=UTC)

    assert "2026-09-17" == period("calendar-day", PARIS).label(late)
    assert ["00:30", "22:30"] == [period("hour", zone).label(late) for zone in (PARIS, None)]


def test_a_day_without_a_zone_has_no_edges_that_anybody_knows():
    """It surely began before this quarter of an hour, and is surely over in two days."""
    day, noon = period("calendar-day", None), datetime(2026, 9, 16, 12, 7, tzinfo=UTC)

    assert not day.has_known_end
    assert (noon.replace(minute=0), noon - timedelta(days=2, minutes=7)) == (
        day.latest_begin(noon),
        day.earliest_begin(noon),
    )
    assert noon + timedelta(days=2) == day.earliest_end(noon) == day.latest_end(noon)
