"""The plan: every obligation's disposition and the price of all, before the first call."""

from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from assay.binding.features import BINDING_FEATURES
from assay.binding.join import bind
from assay.binding.read import find_target, read_target
from assay.binding.target import FixtureKind
from assay.contract.model import Capability
from assay.contract.parse import find_contract, parse_contract
from assay.history import Advance
from assay.judging.verdict import Standing
from assay.planning.plan import REMEDIES, Disposition, plan, restrict, script_of

AISP = parse_contract(find_contract("aisp"))
SANDBOX = read_target(find_target("sandbox"))


def planned(target=SANDBOX, select=lambda _: True):
    return plan(bind([AISP], target), target, select)


def items_by_id(plan_):
    return {item.obligation.id.removeprefix("aisp/"): item for item in plan_.items}


def without(*capabilities):
    offers = SANDBOX.fixtures.offers - set(capabilities)
    return replace(SANDBOX, fixtures=replace(SANDBOX.fixtures, offers=offers))


def test_on_the_sandbox_all_is_asked_but_what_the_document_leaves_open():
    """107 obligations are asked, and 17 points are open."""
    found = planned()

    assert {Disposition.ASK: 107, Disposition.UNSPECIFIED: 17} == {
        disposition: sum(item.disposition is disposition for item in found.items)
        for disposition in (Disposition.ASK, Disposition.UNSPECIFIED)
    }
    assert 124 == len(found.items)


def test_every_asked_obligation_is_settled_by_exactly_one_trial():
    """Nothing can drop out of a run, and nothing is asked twice."""
    found = planned()
    settled = [one.id for trial in found.trials for one in trial.settles]

    assert sorted(settled) == sorted(
        item.obligation.id for item in found.items if item.disposition is Disposition.ASK
    )
    assert len(found.trials) == len({trial.id for trial in found.trials})


def test_the_price_is_that_of_the_trials_not_of_their_facets():
    """Facets that share a trial pay once."""
    found = planned()

    assert 519 == found.calls == sum(trial.calls for trial in found.trials)
    assert found.calls < sum(item.calls for item in found.items)
    assert [7, 7] == [
        items_by_id(found)[f"batch-quota/balances-{word}"].calls for word in ("served", "refused")
    ]


@pytest.mark.parametrize(
    ("capability", "obligation", "why"),
    [
        (
            Capability.PSU,
            "accounts.available/answers",
            "needs a test customer (add `psu` to `fixtures.offers` ",
        ),
        (
            Capability.CONSENT,
            "consent.scope/balance-granted",
            "needs permission to transmit consents",
        ),
        (Capability.TWO_PSU, "consent.scope/balance-foreign", "needs a second test customer"),
        (Capability.CLOCK, "batch-quota/long-day", "needs a clock that can be moved"),
        (
            Capability.ROSTER,
            "accounts.listing/all-without-consent",
            "needs a complete list of what",
        ),
        (Capability.CREDENTIALS, "redirect-only/accounts", "needs fictitious customer credentials"),
        (Capability.ENTRIES, "transactions.depth/default", "needs dated entries"),
    ],
)
def test_what_the_fixtures_cannot_do_is_unverified_and_says_what_would_help(
    capability, obligation, why
):
    """It is planned, and not asked."""
    found = items_by_id(planned(without(capability)))[obligation]

    assert (Disposition.UNVERIFIED, 0, Standing.UNVERIFIED) == (
        found.disposition,
        found.calls,
        found.standing,
    )
    assert found.reason.startswith(why)


def test_several_things_that_lack_are_all_named():
    """In a fixed order, so that reports can be compared."""
    found = items_by_id(planned(without(Capability.CLOCK, Capability.PSU)))["batch-quota/long-day"]

    assert f"needs {REMEDIES[Capability.CLOCK]}; {REMEDIES[Capability.PSU]}" == found.reason


def test_without_a_presence_header_nothing_can_be_asked_unattended():
    """The target file does not say how such calls are marked."""
    found = items_by_id(planned(replace(SANDBOX, presence=None)))

    assert Disposition.UNVERIFIED is found["batch-quota/accounts-refused"].disposition
    assert Disposition.ASK is found["online-unlimited/accounts-unlimited"].disposition


def test_without_a_zone_local_days_cannot_be_asked():
    """Neither midnight, nor the window, nor the edge of two months."""
    found = items_by_id(planned(replace(SANDBOX, zone=None)))

    for name in (
        "batch-quota/before-midnight",
        "maintenance/before",
        "transactions.depth/local-day",
        "cards.eligible/hides-just-outside",
    ):
        assert (
            Disposition.UNVERIFIED,
            "needs the time zone of the bank's calendar day (set `zone` in the target file)",
        ) == (
            found[name].disposition,
            found[name].reason,
        )
    assert Disposition.ASK is found["cards.eligible/lists-recent"].disposition
    assert Disposition.ASK is found["batch-quota/accounts-refused"].disposition


def test_a_contract_s_own_zone_comes_before_the_target_s():
    """What the document says, no bank changes."""
    contract = replace(AISP, zone=ZoneInfo("Asia/Tokyo"))
    found = plan(bind([contract], SANDBOX), SANDBOX)

    assert "Asia/Tokyo" == found.contracts["aisp"].zone.key
    assert "Europe/Paris" == planned().contracts["aisp"].zone.key


def operation(name, **changed):
    binding = replace(SANDBOX.operations[name], **changed)
    return replace(SANDBOX, operations={**SANDBOX.operations, name: binding})


def test_what_the_target_file_does_not_bind_is_unverified_and_says_where():
    """The reason names the key of the target file to set."""
    found = items_by_id(planned(operation("transactions", modes={})))[
        "no-extended-history/gives-no-more"
    ]

    assert Disposition.UNVERIFIED is found.disposition
    assert (
        "needs operations.transactions.modes.extended_transaction_history in the target file"
        == found.reason
    )


def test_a_target_without_links_need_not_keep_them_on_its_host():
    """There is nothing that could lead astray."""
    found = items_by_id(planned(operation("balances", links=(), next=None)))[
        "live-host/balances-links"
    ]

    assert (Disposition.NOT_APPLICABLE, Standing.NOT_APPLICABLE) == (
        found.disposition,
        found.standing,
    )
    assert "the target has none (no operations.balances.links in the target file)" == found.reason


def test_what_a_bank_need_not_offer_is_not_asked():
    """With the reason in the target file, before anything else is considered."""
    target = replace(without(*Capability), not_offered={"batch-quota": "no batch here"})
    found = items_by_id(planned(target))

    assert (Disposition.NOT_APPLICABLE, "no batch here") == (
        found["batch-quota/long-day"].disposition,
        found["batch-quota/long-day"].reason,
    )


def test_open_points_are_unspecified_on_any_target():
    """Also on one that offers nothing at all."""
    empty = replace(SANDBOX.fixtures, kind=FixtureKind.NONE, offers=frozenset())
    found = planned(replace(SANDBOX, fixtures=empty, presence=None))

    assert (0, ()) == (found.calls, found.trials)
    assert {Disposition.UNVERIFIED, Disposition.UNSPECIFIED} == {
        item.disposition for item in found.items
    }
    assert 17 == sum(item.disposition is Disposition.UNSPECIFIED for item in found.items)


def test_a_selection_plans_what_is_selected_and_no_more():
    """A trial settles only what was asked for."""
    found = planned(select=lambda one: one.id == "aisp/batch-quota/accounts-refused")

    assert ["aisp/batch-quota/accounts-refused"] == [item.obligation.id for item in found.items]
    assert [("aisp/batch-quota#accounts:limit", 1)] == [
        (trial.id, len(trial.settles)) for trial in found.trials
    ]


def test_a_plan_can_be_restricted_afterwards():
    """Its trials and its price shrink with it."""
    whole = planned()
    part = restrict(whole, {"aisp/euro/balance", "aisp/euro/slip", "aisp/unspecified/states"})

    assert 3 == len(part.items)
    assert ["aisp/euro#everything"] == [trial.id for trial in part.trials]
    assert part.calls == part.trials[0].calls < whole.calls


def test_a_trial_has_a_fresh_probe_each_time():
    """A probe that was played is used up."""
    found = planned()
    trial = next(one for one in found.trials if one.id == "aisp/euro#everything")
    applied, script = script_of(found, trial)
    _, again = script_of(found, trial)

    assert "field" == applied.kind.name
    assert Advance() == next(script) == next(again)


def test_every_capability_has_a_remedy():
    """A reason is never a name alone; it names a key of the target file."""
    assert {*Capability} == {*REMEDIES}
    assert all("in the target file)" in remedy for remedy in REMEDIES.values())


def test_every_feature_has_a_key():
    """What a facet requires of a binding can be named as a key of the target file."""
    requirements = [one for item in planned().items for one in item.obligation.requires]
    assert {one.feature for one in requirements} <= set(BINDING_FEATURES)


@pytest.mark.parametrize(
    ("zone", "void"),
    [
        ("Europe/Paris", set()),
        (
            "UTC",
            {"batch-quota/long-day", "maintenance/short-night", "transactions.depth/local-day"},
        ),
        ("Asia/Tokyo", {"batch-quota/long-day", "maintenance/short-night"}),
        ("America/New_York", {"transactions.depth/local-day"}),
    ],
)
def test_what_a_zone_cannot_show_is_not_applicable(zone, void):
    """A day that never comes leaves no must open, and says why it is not asked."""
    found = items_by_id(planned(replace(SANDBOX, zone=ZoneInfo(zone))))
    said = {
        id_: item for id_, item in found.items() if item.disposition is Disposition.NOT_APPLICABLE
    }

    assert void == set(said)
    assert all(item.reason.startswith("the ") for item in said.values())
