"""What a new and a removed rule of each kind mean for TPP and bank: kinds, manual, and a run.

The sandbox keeps to the shipped contracts. Tested by one with a new rule, it violates the rule
exactly where the change is `breaking` or `adjust` for the bank.
"""

import re

import pytest
from command_line import assay

from assay._resources import contract_dir
from assay.extras.diff import ADDED, REMOVED, Impact, compare
from assay.files.load import loads
from assay.rules.kinds import KINDS
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import Purpose

#: Short forms of impacts, the TPP's first.
LETTERS = {"breaking": "B", "adjust": "a", "review": "?", "easier": "e", "none": "-"}

MANUAL = (contract_dir() / "contract-reference.md").read_text("utf-8")
AISP = (contract_dir() / "aisp.yaml").read_text("utf-8")


def written(consequence):
    """Return the short form of a consequence."""
    return LETTERS[consequence.tpp.value] + LETTERS[consequence.bank.value]


def test_the_manual_says_what_a_new_and_a_removed_rule_mean():
    """Its table has every kind of Assay, with the impacts that the kind declares."""
    section = MANUAL.partition("\n## What a change means\n")[2]
    rows = re.findall(r"^\| (.*`.*) \|$", section, re.MULTILINE)
    told = {
        name: " ".join("".join(LETTERS[word] for word in cell.split(", ")) for cell in cells)
        for _, names, *cells in (row.split(" | ") for row in rows)
        for name in re.findall(r"`([a-z-]+)`", names)
    }
    assert Purpose.UNSTATED not in {kind.purpose for kind in KINDS.values()}
    assert told == {
        name: f"{written(ADDED[kind.purpose])} {written(REMOVED[kind.purpose])}"
        for name, kind in KINDS.items()
    }


def test_the_manual_says_which_kinds_can_say_how_a_call_is_refused():
    """Its list has every kind with a `code`."""
    listed = MANUAL.partition("Rules of these kinds can have them:")[2].partition(". A request")[0]
    refusing = {name for name, kind in KINDS.items() if issubclass(kind, RefusingKind)}
    assert refusing == set(re.findall(r"`([a-z-]+)`", listed))


def rule(name):
    """Return the text of a rule of the contract."""
    return re.search(rf"(?ms)^  - id: {name}\n.*?(?=^  (?:- id:|#)|^\w)", AISP)[0]


#: A rule that the contract gets once more, what is other in it, and the obligations that show it.
NEW = [
    ("batch-quota", "limit: 4", "limit: 3", "other/accounts-refused"),
    ("batch-quota", "limit: 4", "limit: 4", "other/accounts-refused"),
    ("balance-type", "[CLBD, VALU, OTHR]", "[CLBD, VALU]", "other/balance"),
]


@pytest.mark.parametrize(("name", "before", "after", "shown"), NEW, ids=range(len(NEW)))
def test_an_unchanged_bank_violates_what_is_new(tmp_path, name, before, after, shown):
    """It may have kept to a new rule before; without the rule it violates nothing."""
    assert before in rule(name)
    new = rule(name).replace(before, after).replace(f"id: {name}", "id: other")
    edited = AISP.replace(rule(name), rule(name) + new)
    (tmp_path / "new.yaml").write_text(edited, "utf-8")
    (come,), (gone,) = (
        compare(loads(old), loads(new)).changes for old, new in ((AISP, edited), (edited, AISP))
    )
    assert come.consequence.bank in {Impact.BREAKING, Impact.ADJUST}
    assert Impact.EASIER is gone.consequence.bank

    select = ("--contract", "new.yaml", "-k", f"aisp/{shown}")
    code, out, _ = assay("run", *select, "--out", "out", cwd=tmp_path)
    assert int(before != after) == code, out
