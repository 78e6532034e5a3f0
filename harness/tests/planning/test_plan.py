"""The plan: every obligation's disposition and the price of all, before the first call."""

from dataclasses import replace
from zoneinfo import ZoneInfo

from rows import for_each

from assay.binding.model.features import BINDING_FEATURES
from assay.binding.model.target import FixtureKind
from assay.binding.read.join import bind
from assay.contract.model import Capability
from assay.history import Advance
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.plan import Disposition, plan, restrict, script_of
from assay.preparation.target_file import find_target, read_target
from assay.rules.verdict import Standing

AISP = parse_contract(find_contract("aisp"))
SANDBOX = read_target(find_target("sandbox"))


def planned(target=SANDBOX, select=lambda _: True):
    return plan(bind([AISP], target), target, select)


def items_by_id(plan_):
    return {item.obligation.id.removeprefix("aisp/"): item for item in plan_.items}


def without(*capabilities):
    offers = SANDBOX.fixtures.offers - set(capabilities)
    return replace(SANDBOX, fixtures=replace(SANDBOX.fixtures, offers=offers))


def test_the_sandbox_is_tested_except_for_open_points():
    """On the sandbox, 153 obligations are tested, and 22 points are open."""
    plan = planned()

    assert {Disposition.ASK: 153, Disposition.UNSPECIFIED: 22} == {
        disposition: sum(item.disposition is disposition for item in plan.items)
        for disposition in (Disposition.ASK, Disposition.UNSPECIFIED)
    }
    assert 176 == len(plan.items)


def test_every_tested_obligation_has_exactly_one_trial():
    """No obligation drops out of a run, and none is tested twice."""
    plan = planned()
    settled = [one.id for trial in plan.trials for one in trial.settles]

    assert sorted(settled) == sorted(
        item.obligation.id for item in plan.items if item.disposition is Disposition.ASK
    )
    assert len(plan.trials) == len({trial.id for trial in plan.trials})


def test_facets_of_one_trial_share_its_price():
    """The price of a plan is that of its trials, not of their facets."""
    plan = planned()

    assert 769 == plan.calls == sum(trial.calls for trial in plan.trials)
    assert plan.calls < sum(item.calls for item in plan.items)
    assert [7, 7] == [
        items_by_id(plan)[f"batch-quota/balances-{word}"].calls for word in ("served", "refused")
    ]


@for_each(
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
def test_a_missing_capability_is_unverified_and_its_remedy_is_named(capability, obligation, why):
    """The reason names what is missing and the key of the target file to set."""
    item = items_by_id(planned(without(capability)))[obligation]

    assert (Disposition.UNVERIFIED, 0, Standing.UNVERIFIED) == (
        item.disposition,
        item.calls,
        item.standing,
    )
    assert item.reason.startswith(why)


def test_all_missing_capabilities_are_named():
    """Missing capabilities are named in a fixed order, so that reports can be compared."""
    item = items_by_id(planned(without(Capability.CLOCK, Capability.PSU)))["batch-quota/long-day"]

    assert (
        "needs a clock that can be moved and a test customer (in the target file: set `fixtures.kind`"
        " to `control` or `python`, with `clock` and `psu` in `fixtures.offers`)"
    ) == item.reason


def test_without_a_presence_header_nothing_is_tested_unattended():
    """Without `presence`, obligations about calls without the customer are unverified."""
    items = items_by_id(planned(replace(SANDBOX, presence=None)))

    assert Disposition.UNVERIFIED is items["batch-quota/accounts-refused"].disposition
    assert Disposition.ASK is items["online-unlimited/accounts-unlimited"].disposition


def test_without_a_zone_calendar_days_are_not_tested():
    """Without `zone`, obligations about midnight, the history window and months are unverified."""
    items = items_by_id(planned(replace(SANDBOX, zone=None)))

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
            items[name].disposition,
            items[name].reason,
        )
    assert Disposition.ASK is items["cards.eligible/lists-recent"].disposition
    assert Disposition.ASK is items["batch-quota/accounts-refused"].disposition


def test_a_contract_s_own_zone_comes_before_the_target_s():
    """The time zone of the contract outweighs that of the target file."""
    contract = replace(AISP, zone=ZoneInfo("Asia/Tokyo"))
    found = plan(bind([contract], SANDBOX), SANDBOX)

    assert "Asia/Tokyo" == found.contracts["aisp"].zone.key
    assert "Europe/Paris" == planned().contracts["aisp"].zone.key


def operation(name, **changed):
    binding = replace(SANDBOX.operations[name], **changed)
    return replace(SANDBOX, operations={**SANDBOX.operations, name: binding})


def test_a_missing_binding_is_unverified_and_its_key_is_named():
    """The reason names the key of the target file to set."""
    item = items_by_id(planned(operation("transactions", modes={})))[
        "no-extended-history/gives-no-more"
    ]

    assert Disposition.UNVERIFIED is item.disposition
    assert (
        "needs operations.transactions.modes.extended_transaction_history in the target file"
        == item.reason
    )


def test_a_target_without_links_is_exempt_from_rules_on_them():
    """Rules on links are not applicable to a target whose responses have none."""
    item = items_by_id(planned(operation("balances", links=(), next=None)))[
        "live-host/balances-links"
    ]

    assert (Disposition.NOT_APPLICABLE, Standing.NOT_APPLICABLE) == (
        item.disposition,
        item.standing,
    )
    assert "the target file does not bind operations.balances.links" == item.reason


def test_a_clause_that_is_not_offered_is_not_applicable():
    """The reason in the target file comes before anything else."""
    target = replace(without(*Capability), not_offered={"batch-quota": "no batch here"})
    items = items_by_id(planned(target))

    assert (Disposition.NOT_APPLICABLE, "no batch here") == (
        items["batch-quota/long-day"].disposition,
        items["batch-quota/long-day"].reason,
    )


def test_open_points_are_unspecified_on_any_target():
    """Open points are unspecified even on a target that offers nothing."""
    empty = replace(SANDBOX.fixtures, kind=FixtureKind.NONE, offers=frozenset())
    plan = planned(replace(SANDBOX, fixtures=empty, presence=None))

    assert (0, ()) == (plan.calls, plan.trials)
    assert {Disposition.UNVERIFIED, Disposition.UNSPECIFIED} == {
        item.disposition for item in plan.items if item.obligation.facet != "password-grant"
    }
    assert 22 == sum(item.disposition is Disposition.UNSPECIFIED for item in plan.items)


def test_a_selection_is_all_that_is_planned():
    """A trial settles only the selected obligations."""
    plan = planned(select=lambda one: one.id == "aisp/batch-quota/accounts-refused")

    assert ["aisp/batch-quota/accounts-refused"] == [item.obligation.id for item in plan.items]
    assert [("aisp/batch-quota#accounts:limit", 1)] == [
        (trial.id, len(trial.settles)) for trial in plan.trials
    ]


def test_a_plan_can_be_restricted_afterwards():
    """The trials and the price of a restricted plan are those of its obligations."""
    whole = planned()
    part = restrict(whole, {"aisp/euro/balance", "aisp/euro/slip", "aisp/unspecified/states"})

    assert 3 == len(part.items)
    assert ["aisp/euro#everything"] == [trial.id for trial in part.trials]
    assert part.calls == part.trials[0].calls < whole.calls


def test_a_trial_has_a_fresh_probe_each_time():
    """Each call returns a new generator for a trial."""
    plan = planned()
    trial = next(one for one in plan.trials if one.id == "aisp/euro#everything")
    applied, script = script_of(plan, trial)
    _, again = script_of(plan, trial)

    assert "field" == applied.kind.name
    assert Advance() == next(script) == next(again)


def test_every_feature_has_a_key():
    """Every feature that a facet can require of a binding has a key of the target file."""
    requirements = [one for item in planned().items for one in item.obligation.requires]
    assert {one.feature for one in requirements} <= {
        *BINDING_FEATURES,
        "token",
        "token-endpoint",
        "banks",
    }


@for_each(
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
    """A facet that no day in a time zone can show is not applicable, with the reason."""
    found = items_by_id(planned(replace(SANDBOX, zone=ZoneInfo(zone))))
    said = {
        id_: item for id_, item in found.items() if item.disposition is Disposition.NOT_APPLICABLE
    }

    assert {*void, "redirect-only/password-grant"} == set(said)
    assert all(item.reason.startswith("the ") for item in said.values())


def test_what_signs_or_reads_a_request_needs_its_key():
    """Without `item.key`, no trial can know which request it is about, and the plan says so."""
    pis = parse_contract(find_contract("pis"))
    create = SANDBOX.operations["create-payment"]
    keyless = replace(create, item=replace(create.item, key=(), key_header=None))
    target = replace(SANDBOX, operations={**SANDBOX.operations, "create-payment": keyless})
    items = plan(bind([pis], target), target, lambda _: True).items
    asked = [item.obligation for item in items if item.disposition is Disposition.ASK]
    lost = [item.reason for item in items if "create-payment.item.key" in item.reason]
    signed = {Capability.SCA, Capability.SCREENS}
    assert [] == [one.id for one in asked if one.needs & signed]
    assert [] == [one.id for one in asked if one.id.startswith("pis/payments.content/")]
    assert 60 < len(lost)
