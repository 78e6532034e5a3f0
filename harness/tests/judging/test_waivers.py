"""Waivers: what each excuses, the state it is in, and that no verdict is made worse by one."""

from datetime import date

import pytest
from rows import for_each

from assay.binding.model.target import Waiver
from assay.judging.waivers import WaiverState, apply_waivers, state_on, waiver_results
from assay.rules.verdict import Standing, Verdict

TODAY = date(2026, 9, 16)
NAME = "aisp/quota/next-day"
#: The facets of the clause of a waiver.
FACETS = (NAME, "aisp/quota/refused")


def waiver(expires="2026-12-31", **other):
    """Return a waiver of one obligation."""
    named = other if "clause" in other else {"obligation": NAME, **other}
    return Waiver(owner="team", reason="ticket", expires=expires, **named)


def verdict(standing):
    """Return a verdict on the obligation."""
    return Verdict(obligation=NAME, standing=standing, reason="as seen")


def state(of, **standings):
    """Return the state of a waiver, given verdicts on its facets."""
    verdicts = {f"aisp/quota/{name.replace('_', '-')}": each for name, each in standings.items()}
    covers = {of.name: FACETS if of.clause else (NAME,)}
    (result,) = waiver_results([of], covers, verdicts, TODAY)
    return result


@for_each("standing", [each for each in Standing if each is not Standing.VIOLATES])
@for_each("expires", ["2020-01-01", "2026-12-31"])
def test_only_a_violation_is_changed(standing, expires):
    """Whatever is not violated keeps its verdict and its reason, also if a waiver has expired."""
    assert verdict(standing) == apply_waivers(verdict(standing), [waiver(expires)], TODAY)


@for_each(
    ("waivers", "standing", "reason"),
    [
        ((), "violates", "as seen"),
        ((waiver(),), "waived", "ticket (team, until 2026-12-31)"),
        ((waiver("2026-09-16"),), "waived", "ticket (team, until 2026-09-16)"),
        (
            (waiver("2026-09-15"),),
            "violates",
            "the waiver of team expired on 2026-09-15: as seen",
        ),
        ((waiver(clause="aisp/quota"),), "waived", "ticket (team, until 2026-12-31)"),
        ((waiver(clause="aisp/quo"),), "violates", "as seen"),
        (
            (waiver("2026-09-15"), waiver("2027-01-01", clause="aisp/quota")),
            "waived",
            "ticket (team, until 2027-01-01)",
        ),
        (
            (waiver("2027-01-01", clause="aisp/quota"), waiver("2026-10-01")),
            "waived",
            "ticket (team, until 2026-10-01)",
        ),
    ],
)
def test_a_violation(waivers, standing, reason):
    """A waiver in force excuses it, that of the facet before that of the clause."""
    found = apply_waivers(verdict(Standing.VIOLATES), waivers, TODAY)
    assert (standing, reason) == (found.standing.value, found.reason)


@pytest.mark.parametrize(
    ("expires", "expected"),
    [
        ("2026-09-15", "expired"),
        ("2026-09-16", "expires-soon"),
        ("2026-09-30", "expires-soon"),
        ("2026-10-01", "in-force"),
    ],
)
def test_the_day_decides(expires, expected):
    """A waiver is in force through its last day, and expires soon 14 days before."""
    assert expected == state_on(waiver(expires), TODAY).value


C, V, W, U, N = (
    Standing.CONFORMS,
    Standing.VIOLATES,
    Standing.WAIVED,
    Standing.UNVERIFIED,
    Standing.NOT_APPLICABLE,
)
CLAUSE = waiver(clause="aisp/quota")


@for_each(
    ("of", "verdicts", "expected"),
    [
        (waiver(), {"next_day": C}, "superfluous"),
        (waiver("2020-01-01"), {"next_day": C}, "superfluous"),
        (waiver(intermittent=True), {"next_day": C}, "in-force"),
        (waiver(), {"next_day": W}, "in-force"),
        (waiver(), {"next_day": U}, "in-force"),
        (waiver(), {"next_day": N}, "in-force"),
        (waiver(), {"refused": C}, "in-force"),
        (waiver("2020-01-01"), {"next_day": V}, "expired"),
        (waiver("2020-01-01"), {"next_day": U}, "expired"),
        (CLAUSE, {"next_day": C, "refused": C}, "superfluous"),
        (CLAUSE, {"next_day": C, "refused": N}, "superfluous"),
        (CLAUSE, {"next_day": C, "refused": W}, "in-force"),
        (CLAUSE, {"next_day": C, "refused": U}, "in-force"),
        (CLAUSE, {"next_day": C}, "in-force"),
    ],
)
def test_what_was_seen_decides(of, verdicts, expected):
    """A waiver is superfluous only if everything that it names was tested, and conforms."""
    assert expected == state(of, **verdicts).state.value


def test_a_recording_proves_no_waiver_superfluous():
    """A sample of the traffic may lack what a waiver is about."""
    covers = {NAME: (NAME,)}
    (result,) = waiver_results([waiver()], covers, {NAME: C}, TODAY, sample=True)
    assert WaiverState.IN_FORCE is result.state


def test_a_result_names_what_it_is_about():
    """A waiver lists what it excuses; one that has expired, what it no longer excuses."""
    assert (NAME,) == state(CLAUSE, next_day=W, refused=C).waived
    lapsed = state(waiver("2020-01-01"), next_day=V)
    assert ((), (NAME,), True) == (lapsed.waived, lapsed.violated, lapsed.invalid)
    unselected = state(waiver("2020-01-01"), refused=V)
    assert (False, False) == (unselected.tested, unselected.invalid)
