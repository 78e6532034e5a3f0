"""The table of kinds, and what holds for every rule."""

import pytest
from account_information import AISP, facets
from rows import for_each

from assay.contract.model import Capability
from assay.rules.kinds import KINDS, installed, kind_of
from assay.rules.rule import BindingRequirement


def test_every_kind_stands_under_its_own_name():
    """A rule's kind is the word that contracts use."""
    assert {name: name for name in KINDS} == {name: kind.name for name, kind in KINDS.items()}


def test_a_shipped_kind_cannot_be_replaced_from_outside(monkeypatch):
    """Packages may add kinds, and only add."""

    class Point:
        def __init__(self, name):
            self.name = name

        def load(self):
            return f"theirs: {self.name}"

    points = [Point("quota"), Point("new")]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points)
    installed.cache_clear()
    try:
        assert KINDS["quota"] is kind_of("quota")
        assert "theirs: new" == kind_of("new")
        with pytest.raises(KeyError):
            kind_of("none")
    finally:
        installed.cache_clear()


@for_each("clause", [clause.id for clause in AISP.clauses])
def test_facets_have_names_of_their_own(clause):
    """An obligation's id is unique."""
    ids = [one.facet for one, _ in facets() if one.clause == clause]

    assert len(ids) == len(set(ids)) > 0


def test_every_facet_needs_a_customer():
    """Nothing can be asked for nobody."""
    assert [] == [one.id for one, _ in facets() if Capability.PSU not in one.needs]


def test_a_want_says_where_in_the_profile():
    """With a name where there is one."""
    assert "operations.accounts.key" == str(BindingRequirement(operation="accounts", feature="key"))
    assert "operations.a.mode.m" == str(BindingRequirement(operation="a", feature="mode", name="m"))
