"""The dimensions of a contract at a target, and the coverage of a plan."""

from dataclasses import replace
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from rows import for_each

from assay.binding.model.security import Auth, AuthKind
from assay.binding.model.target import Role
from assay.contexts.context import Depth
from assay.contexts.dimensions import DIMENSIONS, dimensions
from assay.contexts.past import LIVED
from assay.contract.model import Capability
from assay.history import Arrange, Call, Holding, Lack, Malformed
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.contextual import with_contexts
from assay.planning.plan import restrict
from assay.preparation.prepare import prepare
from assay.preparation.target_file import find_target, read_target
from assay.sandbox.mutants.contextual import SITUATIONS

OAUTH = Auth(kind=AuthKind.CODE, tpp=Auth(kind=AuthKind.CLIENT))


@pytest.fixture(scope="module")
def target():
    return read_target(find_target("sandbox"))


@pytest.fixture(scope="module")
def prepared():
    return prepare()


def values(contract, target):
    both = [parse_contract(find_contract(name)) for name in ("aisp", "pis")]
    found = dimensions(both[contract == "pis"], target, both)
    return {dimension.name: [value.name for value in dimension.values] for dimension in found}


def test_the_dimensions_of_account_information(target):
    """Everything but payments; the segments are those of payment initiation.

    Of the other banks, the one that the document excludes is none.
    """
    assert {
        "bank": ["second", "third"],
        "segment": ["PRO"],
        "item": ["card"],
        "page": ["later", "entries"],
        "owned": ["more", "full-pages"],
        "order": ["reversed"],
        "since": ["week"],
        "presence": ["absent"],
        "tpp": ["other"],
        "name": ["alias-1", "alias-2"],
        "season": ["other"],
        "weekday": ["saturday", "sunday"],
        "arguments": ["all", "one"],
        "spelling": ["lower-case", "groups"],
        "token": ["renewed"],
        "past": ["lived"],
        "turn": ["second", "third"],
    } == values("aisp", target)


def test_a_bank_has_the_names_that_its_target_file_gives(target):
    """Names of the contract that the bank does not have are neither tried nor counted."""
    own = {name: replace(each, aliases=()) for name, each in target.operations.items()}
    assert "name" not in values("aisp", replace(target, operations=own))
    more = {**own, "balances": replace(own["balances"], aliases=("/a", "/b", "/c"))}
    found = values("aisp", replace(target, operations=more))
    assert ["alias-1", "alias-2", "alias-3"] == found["name"]


def test_a_trial_takes_place_at_a_bank_that_offers_what_it_is_about(target):
    """A bank is chosen before anything else, in place of any other that lacks a mode."""
    contract = parse_contract(find_contract("pis"))
    (dimension,) = [each for each in dimensions(contract, target) if each.name == "bank"]
    second, _, fourth = dimension.values
    plain = Call(operation="create-payment", subject="psu", mode="immediate")
    instant, lacking = replace(plain, mode="instant"), Lack(mode="instant")
    assert "" == second.reason([plain]) == fourth.reason([plain])
    assert "" == second.reason([lacking, instant]) == fourth.reason([instant])
    assert second.reason([instant]) == "the bank does not offer the mode of the trial"
    assert fourth.reason([lacking, plain])
    assert second.reason([Lack(bank="x"), plain])
    assert second.reason([replace(plain, host=0)])
    assert second.reason([])
    at_second = second.mapper()
    assert [Lack(mode="instant", bank="second")] == list(at_second.before(plain))
    assert [] == list(at_second.before(plain))
    mapped = second.mapper()
    assert ([], Lack(mode="instant", bank="second")) == (
        list(mapped.before(lacking)),
        mapped.map(lacking),
    )
    assert [Lack(bank="fourth")] == list(fourth.mapper().before(plain))
    unoffered = replace(target.fixtures, offers=target.fixtures.offers - {Capability.BANKS})
    assert "bank" in values("pis", target)
    assert [] == values("pis", replace(target, fixtures=unoffered))["bank"]
    assert "bank" not in values("pis", replace(target, banks=()))


def test_a_trial_about_an_account_is_also_one_about_a_card(target):
    """What a trial says of states or of both resources stays, and so does a trial of payments."""
    contract = parse_contract(find_contract("aisp"))
    (dimension,) = [each for each in dimensions(contract, target) if each.name == "item"]
    (card,) = dimension.values
    account = Arrange(subject="psu", holdings=(Holding(resource="account", count=2),))
    mapped = card.mapper().map(account)
    assert (Holding(resource="card", count=2),) == mapped.holdings
    call = Call(operation="balances", subject="psu")
    assert "" == card.reason([account, call])
    savings = replace(account, holdings=(Holding(resource="account", traits={"savings": True}),))
    assert card.reason([savings, call]) == card.reason([mapped, call]) != ""
    assert "the trial uses no item of the customer" == card.reason([call])
    assert "item" not in values("pis", target)


def test_only_what_must_not_be_shown_is_asked_for_in_another_spelling(target):
    """The control stays as it is, so that a bank may refuse what it is not used to."""
    contract = parse_contract(find_contract("aisp"))
    (dimension,) = [each for each in dimensions(contract, target) if each.name == "spelling"]
    lower, groups = dimension.values
    account = Arrange(subject="psu", holdings=(Holding(resource="account"),))
    card = Arrange(subject="psu", holdings=(Holding(resource="card"),))
    control = Call(operation="balances", subject="psu", arguments={"iban": "FR1"})
    hidden = replace(control, variation="before any consent")
    consents = replace(hidden, operation="consents", arguments={"accounts": ["FR1"]})
    assert "" == lower.reason([account, control, hidden]) == groups.reason([account, hidden])
    assert "nothing in the trial is identified by an IBAN" == lower.reason([card, control, hidden])
    assert lower.reason([account, control, consents])
    for value, malformed in (
        (lower, Malformed.LOWER_CASE_IDENTIFIER),
        (groups, Malformed.GROUPED_IDENTIFIER),
    ):
        change = value.mapper().map
        assert (control, consents) == (change(control), change(consents))
        words = f"before any consent, with {malformed.value}"
        assert replace(hidden, malformed=malformed, variation=words) == change(hidden)


def test_segments_are_those_that_any_contract_of_the_target_serves(target):
    """A contract alone that names no segment has none; excluded segments are never tried."""
    aisp, pis = (parse_contract(find_contract(name)) for name in ("aisp", "pis"))
    assert "segment" not in {each.name for each in dimensions(aisp, target)}
    (segment,) = [each for each in dimensions(aisp, target, (aisp, pis)) if each.name == "segment"]
    assert ["PRO"] == [value.name for value in segment.values]


@for_each(
    ("zone", "expected"),
    [("Europe/Paris", True), ("Africa/Abidjan", False), (None, False)],
)
def test_only_where_clocks_change_does_the_year_have_two_halves(target, zone, expected):
    """A zone with one offset has no summer time, and of an unknown zone nothing is known."""
    moved = replace(target, zone=zone and ZoneInfo(zone))
    assert expected == ("season" in values("pis", moved))


def test_another_registered_payee_is_the_other_value_of_the_target_file(target):
    """Without another value, there is no payee to register."""
    create = target.operations["create-payment"]
    spelling = replace(create.arguments["creditorAccount"], other=None)
    bound = replace(create, arguments={**create.arguments, "creditorAccount": spelling})
    poorer = replace(target, operations={**target.operations, "create-payment": bound})
    found = dimensions(parse_contract(find_contract("pis")), poorer)
    (registered,) = [each for each in found if each.name == "registered"]
    where = "`operations.create-payment.arguments.creditorAccount.other` in the target file"
    assert (("another", where),) == registered.unavailable


def test_the_dimensions_of_payment_initiation(target):
    """Everything that the document lets vary around a payment."""
    assert {
        "bank": ["second", "third", "fourth"],
        "mode": ["deferred", "instant"],
        "segment": ["PRO"],
        "owned": ["more"],
        "host": ["host-2"],
        "tpp": ["other"],
        "factor": ["soft-token", "sms", "cap"],
        "amount": ["small", "large"],
        "payee": ["registered", "own"],
        "registered": ["another"],
        "season": ["other"],
        "weekday": ["saturday", "sunday"],
        "change": ["changed"],
        "pause": ["login", "screens"],
        "screen": ["password", "factor", "code"],
        "token": ["renewed"],
        "past": ["lived"],
        "turn": ["second", "third"],
    } == values("pis", target)


def test_the_bank_of_the_proof_knows_every_situation(target):
    """Each value of a dimension has its situation in the sandbox, and the other way round."""
    known = {
        f"{name}={value}"
        for contract in ("aisp", "pis")
        for name, every in values(contract, target).items()
        for value in every
    }
    # A past has no situation of its own: the bank is wrong from something in it on.
    assert known == {*SITUATIONS, LIVED}


@for_each(
    ("capability", "dimension"),
    [
        (Capability.CLOCK, "weekday"),
        (Capability.TPPS, "tpp"),
        (Capability.SEGMENTS, "segment"),
        (Capability.REGISTRATIONS, "payee"),
        (Capability.REGISTRATIONS, "registered"),
        (Capability.ROSTER, "owned"),
        (Capability.CLOCK, "season"),
        (Capability.RENEWAL, "token"),
        (Capability.CLOCK, "pause"),
        (Capability.CLOCK, "screen"),
    ],
)
def test_what_the_target_lacks_stays_in_the_table_with_its_key(target, capability, dimension):
    """A value that cannot be shown is told, with what to set in the target file."""
    offers = target.fixtures.offers - {capability}
    poorer = replace(target, fixtures=replace(target.fixtures, offers=offers))
    found = dimensions(parse_contract(find_contract("pis")), poorer)
    (lost,) = [each for each in found if each.name == dimension]
    assert {name for name, _ in lost.unavailable}.isdisjoint(value.name for value in lost.values)
    assert lost.unavailable
    assert all(f"`{capability.value}`" in missing for _, missing in lost.unavailable)


@pytest.mark.parametrize("contract", ["aisp", "pis"])
def test_requested_tokens_can_be_renewed_without_the_fixtures(target, contract):
    """What an authorization server issues needs no offer of the fixtures."""
    offers = target.fixtures.offers - {Capability.RENEWAL}
    oauth = replace(target, fixtures=replace(target.fixtures, offers=offers), auth=OAUTH)
    found = dimensions(parse_contract(find_contract(contract)), oauth)
    (token,) = [each for each in found if each.name == "token"]
    assert ["renewed"] == [value.name for value in token.values]


def tpp_of(target):
    """Return the dimension of the TPP in account information."""
    found = dimensions(parse_contract(find_contract("aisp")), target)
    return next((each for each in found if each.name == "tpp"), None)


def offering(target, *offers, without=(), **fixtures):
    """Return a target with other offers."""
    offered = target.fixtures.offers - {*without} | {*offers}
    return replace(target, fixtures=replace(target.fixtures, offers=offered, **fixtures))


def test_a_customer_who_has_a_token_for_each_tpp_is_also_read_by_another(target):
    """With a code, every TPP has its own token of a customer; a given token may be the only one."""
    alone = offering(target, without=[Capability.TPP_TOKENS])
    for able in (target, replace(alone, auth=OAUTH)):
        (other,) = tpp_of(able).values
        call = Call(operation="balances", subject="psu")
        assert "other" == other.mapper().map(call).by
        assert "" == other.reason([call])
    assert () == tpp_of(alone).values
    assert (("other", "`tpp-tokens` in `fixtures.offers` in the target file"),) == (
        tpp_of(alone).unavailable
    )
    assert None is tpp_of(replace(alone, auth=Auth(kind=AuthKind.KEY, header="X-Key")))


def test_listed_customers_are_read_by_another_tpp_if_each_has_a_token_for_it(target):
    """Any of them may be chosen for a trial."""
    both = Role(name="a", owns=(), token_envs={"other": "T_A"}), Role(name="b", owns=())
    for roles, expected in ((both[:1], True), (both, False)):
        listed = offering(target, without=[Capability.TPP_TOKENS], roles=roles)
        assert expected == bool(tpp_of(listed).values)


def test_a_renewed_token_of_a_customer_is_not_that_of_the_second_tpp(target):
    """Beside the second TPP, a renewal would show nothing."""
    (given,) = tpp_of(target).values
    (asked,) = tpp_of(replace(target, auth=OAUTH)).values
    assert (("token",), ()) == (given.hides, asked.hides)


@pytest.mark.parametrize(
    ("operation", "argument", "contract", "value"),
    [
        ("transactions", "until", "aisp", "arguments=all"),
        ("transactions", "since", "aisp", "arguments=one"),
        ("create-payment", "debtorAccount", "pis", "payee=own"),
        ("modify-payment", "amount", "pis", "change=changed"),
    ],
)
def test_an_argument_that_is_not_spelt_stays_in_the_table(
    target, operation, argument, contract, value
):
    """Where the target file cannot send it, the value says which key is missing."""
    binding = target.operations[operation]
    arguments = {name: each for name, each in binding.arguments.items() if name != argument}
    bound = {**target.operations, operation: replace(binding, arguments=arguments)}
    found = dimensions(parse_contract(find_contract(contract)), replace(target, operations=bound))
    missing = {f"{each.name}={name}": why for each in found for name, why in each.unavailable}
    assert f"`operations.{operation}.arguments.{argument}` in the target file" == missing[value]


def test_a_screen_has_a_name_and_that_of_the_decision_no_value(target):
    """It is named after what it asks for; base trials are idle on the screen of the decision."""
    pages = ({"user": "login"}, {"pin": "password"}, {"otp": "code", "choice": "decision"})
    found = dimensions(
        parse_contract(find_contract("pis")),
        replace(target, sca=replace(target.sca, screens=pages)),
    )
    (screen,) = [each for each in found if each.name == "screen"]
    assert ["login", "password"] == [value.name for value in screen.values]


def test_pauses_are_shorter_than_the_limits_of_the_contract(target):
    """A quarter of the shorter time is left, and all pauses together end before the longer one."""
    found = dimensions(parse_contract(find_contract("pis")), target)
    (pause,) = [each for each in found if each.name == "pause"]
    spans = {value.mapper().pause for value in pause.values}
    assert {timedelta(minutes=3)} == spans
    assert timedelta(minutes=30) > max(spans) * (len(target.sca.screens) + 1)


def test_keys_are_not_renewed(target):
    """A fixed key of an API has no other one to follow it."""
    keyed = replace(target, auth=Auth(kind=AuthKind.KEY, header="X-Key"))
    found = dimensions(parse_contract(find_contract("pis")), keyed)
    (token,) = [each for each in found if each.name == "token"]
    assert () == token.values


def test_every_cell_of_the_coverage_is_tested_or_explained(prepared):
    """No silent gap: clause by value, a number of trials or a reason."""
    planned = with_contexts(prepared.plan, prepared.target, Depth.EACH)
    cells = [
        cell
        for clauses in planned.coverage.values()
        for every in clauses.values()
        for cell in every
    ]
    assert [] == [cell for cell in cells if not cell.trials and not cell.reason]
    assert [] == [cell for cell in cells if cell.trials and cell.reason]
    clauses = {item.obligation.clause for item in prepared.plan.items if item.obligation.scenario}
    assert clauses == {cell.clause for cell in cells}


def test_the_contexts_cost_at_most_four_times_the_base(prepared):
    """A whole run stays within five times the calls of the base context."""
    planned = with_contexts(prepared.plan, prepared.target, Depth.EACH).plan
    assert planned.calls <= 5 * prepared.plan.calls


def test_pairs_hold_more_trials_than_each(prepared):
    """Where every two values meet, there are more rows."""
    ids = [item.obligation.id for item in prepared.plan.items]
    some = restrict(prepared.plan, [id_ for id_ in ids if "/payments.create/" in id_])
    each = with_contexts(some, prepared.target, Depth.EACH).plan
    pairs = with_contexts(some, prepared.target, Depth.PAIRS).plan
    assert len(pairs.contextual) > len(each.contextual)


def test_kinds_name_known_dimensions_only(prepared):
    """What cannot matter to a clause is a dimension, or a value of one."""
    named = {
        key.partition("=")[0]
        for clauses in prepared.plan.clauses.values()
        for clause in clauses.values()
        for key in clause.kind.unaffected_by()
    }
    assert named <= set(DIMENSIONS)


def test_what_hides_something_stands_alone(prepared):
    """But where every two values meet; each scenario and dimension that a kind names exists."""
    planned = with_contexts(prepared.plan, prepared.target, Depth.EACH).plan
    sizes = {}
    for trial in planned.contextual:
        kind = planned.clauses[trial.contract][trial.clause].kind
        for scenario, dimension in kind.hiding:
            if scenario in {"", trial.scenario.id}:
                named = [value for value in trial.context if value.dimension == dimension]
                known = sizes.setdefault((kind.name, scenario, dimension), set())
                known |= {len(trial.context)} if named else set()
    hiding = {
        (clause.kind.name, *each)
        for clauses in prepared.plan.clauses.values()
        for clause in clauses.values()
        for each in clause.kind.hiding
    }
    assert {key: {1} for key in hiding} == sizes

    ids = [item.obligation.id for item in prepared.plan.items]
    some = restrict(prepared.plan, [id_ for id_ in ids if "/execution/main-flow" in id_])
    pairs = with_contexts(some, prepared.target, Depth.PAIRS).plan.contextual
    met = [
        trial.context for trial in pairs if any(one.dimension == "amount" for one in trial.context)
    ]
    assert max(map(len, met)) > 1


def test_the_day_of_a_request_matters_to_the_age_of_a_registration_only(prepared):
    """A creditor who was never registered is not registered on the day of a deferred request either."""
    planned = with_contexts(prepared.plan, prepared.target, Depth.EACH)
    rows = {
        trial.partition("#")[2]: "mode=deferred" not in every
        for trial, every in planned.excluded.items()
        if trial.startswith("pis/cash#")
    }
    tested = {row for row, deferred in rows.items() if deferred}
    assert {row for row in rows if "h" not in row.partition("creditorAccount-")[2]} >= tested
    assert {"categoryPurpose-CASH", "factor-soft-token"} <= tested
    assert "creditorAccount-just-under-72h" not in tested


def test_a_trial_with_modes_of_its_own_is_tested_with_changed_requests(prepared):
    """Its own deferred requests are changed; the clause need not allow another mode."""
    planned = with_contexts(prepared.plan, prepared.target, Depth.EACH)
    why = {trial: every.get("change=changed", "") for trial, every in planned.excluded.items()}
    assert "the clause itself is about each mode" == why["pis/execution#instant"]
    assert "" == why["pis/execution#deferred"] == why["pis/cancel#by-tpp"]
    implied = {
        trial.settles[0].trial: value.implies
        for trial in planned.plan.contextual
        for value in trial.context
        if value.dimension == "change"
    }
    assert ("", "mode=deferred") == (
        implied["pis/execution#deferred"],
        implied["pis/payments.read#answers"],
    )


@pytest.mark.parametrize(
    ("clause", "value", "reason"),
    [
        ("payments.create", "mode=instant", "which modes are accepted is for other clauses"),
        ("sca.required", "mode=instant", "the clause names the modes that it is about"),
    ],
)
def test_a_mode_of_which_a_clause_says_nothing_is_excluded(prepared, target, clause, value, reason):
    """It would be tested in vain, and hide what the values beside it show."""
    planned = with_contexts(prepared.plan, target, Depth.EACH)
    cells = {f"{cell.dimension}={cell.value}": cell for cell in planned.coverage["pis"][clause]}
    assert (0, reason) == (cells[value].trials, cells[value].reason)
