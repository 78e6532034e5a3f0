"""The evidence helpers of checks: answers described, calls that must be served or refused."""

from datetime import date, timedelta
from types import SimpleNamespace

from account_information import DONE, GONE, LOST, NO, NONE, ask
from rows import for_each

from assay.rules import checks, verdict
from assay.testing import history, listed, refused


@for_each(
    ("came", "text"),
    [
        (DONE, "it was accepted (200)"),
        (NONE, "it was accepted (200) with 0 items"),
        (listed("A1"), "it was accepted (200) with 1 item"),
        (NO, "it was refused (403)"),
        (GONE, "it was refused (404)"),
        (refused("x", "y"), "it was refused (403), but the answer carries 2 items"),
        (LOST, "no answer within 10 s"),
    ],
)
def test_an_answer_is_described(came, text):
    """Reports quote this description of an answer."""
    assert text == verdict.describe_answer(history(ask("accounts", came)).exchanges[0])


def test_an_empty_list_comes_with_a_hint():
    """The target file can declare an empty list to be a refusal."""
    (event,) = history(ask("accounts", NONE)).exchanges

    assert verdict.must_be_refused("f", event, "it must").seen.endswith(
        "say so under `outcomes` in the target file"
    )


@for_each(
    ("status", "limit", "agreement"),
    [
        (403, False, "agrees"),
        (429, False, "unclear"),
        (425, False, "unclear"),
        (429, True, "agrees"),
    ],
)
def test_a_call_that_comes_too_soon_answers_a_limit_only(status, limit, agreement):
    """A rate limiter refuses whatever is asked, so its refusal shows nothing of another rule."""
    (event,) = history(ask("accounts", refused(status=status))).exchanges

    judged = verdict.must_be_refused("f", event, "it must", limit=limit)
    assert agreement == judged.agreement.value
    (told,) = history(ask("accounts", refused("x", status=status))).exchanges
    assert "disagrees" == verdict.must_be_refused("f", told, "it must").agreement.value


def test_doubt_weakens_a_violation_only():
    """Evidence of conformance stays as it is."""
    good, bad = (
        verdict.must_be_served("f", event, "it must")
        for event in history(ask("accounts", listed()), ask("accounts", NO)).exchanges
    )

    assert good == verdict.doubt(good, "why")
    assert "unclear" == verdict.doubt(bad, "why").agreement.value
    assert verdict.doubt(bad, "why").seen.endswith("; why")


def test_a_date_from_which_no_days_can_be_counted_decides_nothing():
    """A check that leaves the calendar is unclear about each facet, beside what it said before."""
    served = history(ask("accounts", DONE), ask("accounts", DONE))

    def check(whole):
        yield verdict.must_be_served("f", whole.exchanges[0], "it must")
        yield date.max + timedelta(days=1)

    facets = [SimpleNamespace(id="f"), SimpleNamespace(id="g")]
    kind = SimpleNamespace(
        name="k", own_facets=facets, tpp_facet=lambda: None, check=check, own_consents=True
    )
    kind.across_banks = False
    assert [("f", "agrees"), ("f", "unclear"), ("g", "unclear")] == [
        (each.facet, each.agreement.value) for each in checks.evidence_of(kind, served)
    ]
    assert 1 == len([*checks.countable(check(served))])
