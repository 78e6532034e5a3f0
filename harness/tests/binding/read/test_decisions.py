"""A bank's answers to open points: what can be answered, and which obligations follow."""

from __future__ import annotations

import pytest

from assay.binding.read.join import bind
from assay.errors import InputError
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.plan import plan
from assay.preparation.target_file import read_target

SMALL = "assay: 1\ntarget: t\nextends: sandbox\ndecided:\n"
EDGE = "aisp/cards.eligible/lists-on-the-edge"
CONTRACTS = [parse_contract(find_contract(name)) for name in ("aisp", "pis")]


@pytest.fixture
def decided(tmp_path):
    """Give a function from `decided` of a target file to the obligations with a decision."""

    def planned(text: str, contracts=CONTRACTS):
        path = tmp_path / "t.yaml"
        path.write_text(SMALL + text)
        target = read_target(path)
        items = plan(bind(contracts, target), target).items
        return {each.obligation.id: each for each in items if each.obligation.decision}

    return planned


def test_an_answer_adds_the_obligations_that_follow_from_it(decided):
    """Those that the document has anyway are none of the bank's."""
    items = decided("  card-edge: {value: included, source: 'manual, page 12'}\n")
    mine = [id_ for id_, each in items.items() if each.obligation.decision.point == "card-edge"]
    assert [EDGE, "aisp/unspecified/card-edge"] == mine
    decision = items[EDGE].obligation.decision
    assert "manual, page 12" == decision.source
    assert decision.says in items["aisp/unspecified/card-edge"].reason


def test_the_other_answer_adds_others(decided):
    """Nothing of the first one is left."""
    items = decided("  card-edge: {value: excluded, source: manual}\n")
    assert "aisp/cards.eligible/hides-on-the-edge" in items
    assert EDGE not in items


def test_an_answer_in_words_adds_nothing(decided):
    """It is told, and no rule judges it."""
    items = decided("  aisp/events: {says: None are sent., source: manual}\n")
    assert "this bank answers: None are sent." == items["aisp/unspecified/events"].reason
    assert "pis/unspecified/events" not in items, "it names one contract"


def test_a_point_may_open_parameters_of_rules(decided):
    """The bank states its own status for a rule; the other rules keep what they had."""
    text = (
        "  aisp/status-codes:\n    rules: {token-required: {refusal-status: 401}}\n    source: m\n"
    )
    rules = {each.obligation.clause for each in decided(text).values()}
    assert {"token-required"} == rules - {"unspecified"}


def test_what_the_target_file_says_elsewhere_answers_a_point(decided):
    """The zone of the bank is one of its keys."""
    items = decided("  card-edge: {value: included, source: manual}\n")
    assert "zone" in items["aisp/unspecified/whose-midnight"].reason


def test_a_point_of_a_contract_that_is_no_part_of_the_run_is_left_alone(decided):
    """A target file is read for one contract, too."""
    text = "  pis/events: {says: None., source: m}\n  card-edge: {value: included, source: m}\n"
    assert EDGE in decided(text, CONTRACTS[:1])
    assert EDGE not in decided(text, CONTRACTS[1:])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("card-egde: {value: included, source: m}", "did you mean 'card-edge'"),
        ("card-edge: {value: include, source: m}", "did you mean 'included'"),
        ("card-edge: {value: [included, excluded], source: m}", "answer the same question"),
        ("events: {value: none, source: m}", "say it in words"),
        ("card-edge: {rules: {euro: {const: USD}}, source: m}", "does not open 'const'"),
        (
            "status-codes: {rules: {token-requird: {refusal-status: 401}}, source: m}",
            "did you mean 'token-required'",
        ),
        (
            "status-codes: {rules: {token-required: {refusal-status: many}}, source: m}",
            "refusal-status",
        ),
        ("card-edge: {value: included}", "'source' is missing"),
        ("card-edge: {source: m}", "value, rules or says"),
    ],
)
def test_what_is_no_answer_is_named_with_its_line(decided, text, what):
    """Bad input is told with the line of the answer, and what was meant."""
    with pytest.raises(InputError) as caught:
        decided(f"  {text}\n")
    told = [f"{one.line}: {one.what} {one.hint}" for one in caught.value.problems]
    assert all(each.startswith("5: ") for each in told), told
    assert any(what in each for each in told), told


def test_answers_of_a_contract_are_checked_as_rules(tmp_path):
    """A contract cannot offer an answer of which no rule can be made."""
    text = find_contract("aisp").read_text().replace("{edge: included}", "{edge: maybe}")
    text = text.replace("cards.eligible: {recent: {edge: excluded}}", "cards.eligibel: {edge: no}")
    path = tmp_path / "aisp.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        parse_contract(path)
    told = [f"{one.what} {one.hint}" for one in caught.value.problems]
    assert 3 == len(told), told
    assert any("did you mean 'cards.eligible'" in each for each in told)
