"""The guesses by binding feature: each has one or a reason, and what is guessed is bound."""

import json
from pathlib import Path

import pytest
from rows import for_each

from assay.binding.model.features import BINDING_FEATURES
from assay.binding.read.join import bind
from assay.cli.main import group
from assay.onboarding.init.operation_bindings import GUESSES
from assay.openapi import document
from assay.parsing.parse import find_contract, parse_contract
from assay.preparation.prepare import load_target
from assay.preparation.target_file import read_target

CONTRACTS = tuple(parse_contract(find_contract(name)) for name in ("aisp", "pis"))
#: What no document can tell: nothing is ever guessed, only reported as missing.
ONLY_MISSING = {"queries", "volatile"}
#: What none of these documents has.
ELSEWHERE = {"whole"}


@pytest.fixture(scope="module")
def drafts(tmp_path_factory):
    """Return target files drafted from the documents of other banks and from our own."""
    folder = tmp_path_factory.mktemp("drafts")
    target = load_target(None)
    own = folder / "own.json"
    own.write_text(json.dumps(document(bind(CONTRACTS, target), target)))
    here = Path(__file__).parent
    for source in (own, here / "berlin.yaml", here / "stet.json"):
        out = folder / f"{source.stem}.yaml"
        args = ["init", "--yes", "--auth", "bearer", "--openapi", str(source), "--out", str(out)]
        group.main(args, standalone_mode=False)
    return [folder / f"{name}.yaml" for name in ("own", "berlin", "stet")]


def test_every_feature_has_a_guess_or_a_reason():
    """Guesses are of features of the binding, in the same order; none has both."""
    guessed = [name for name, row in BINDING_FEATURES.items() if not row.not_guessed]
    assert [name for name in guessed if name in GUESSES] == [*GUESSES]


@for_each("feature", sorted(GUESSES.keys() - ONLY_MISSING - ELSEWHERE))
def test_what_is_guessed_is_bound(feature, drafts):
    """Some draft binds the feature at the very key that the table says."""
    is_bound = BINDING_FEATURES[feature].is_bound
    targets = [read_target(path) for path in drafts]
    operations = {name: one for each in CONTRACTS for name, one in each.operations.items()}
    names = {field for each in CONTRACTS for one in each.resources.values() for field in one.fields}
    names |= {name for one in operations.values() for name in one.arguments}
    names |= {name for one in operations.values() for name in (*one.modes, *one.disclosures)}
    assert any(
        is_bound(binding, operations[operation], name)
        for target in targets
        for operation, binding in target.operations.items()
        for name in ("", *names)
    )


@pytest.mark.parametrize("feature", sorted(ONLY_MISSING))
def test_a_gap_is_in_the_words_of_the_schema(feature, drafts):
    """Where nothing is known, the comment has the title of the key."""
    title = "a value for bookingStatus" if feature == "queries" else BINDING_FEATURES[feature].title
    assert any(f"# TODO: {title}" in path.read_text(encoding="utf-8") for path in drafts)


def test_what_has_no_guess_is_a_gap_where_a_rule_requires_it(tmp_path, monkeypatch):
    """A row of the table is enough for a comment in the draft."""
    out, source = tmp_path / "draft.yaml", Path(__file__).parent / "berlin.yaml"
    monkeypatch.delitem(GUESSES, "on")
    args = ["init", "--yes", "--openapi", str(source), "--out", str(out)]
    group.main(args, standalone_mode=False)
    text = out.read_text(encoding="utf-8")
    assert "      on:" not in text
    assert f"      # TODO: {BINDING_FEATURES['on'].title}" in text
