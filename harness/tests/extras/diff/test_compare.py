"""Changes between two contracts: each scalar of the shipped ones, each section, renamings."""

from dataclasses import dataclass, replace
from decimal import Decimal

import pytest
from rows import for_each

from assay._resources import contract_dir
from assay.extras.diff import (
    ABSENT,
    ADDED,
    GATES,
    NAMING,
    REMOVED,
    UNDECIDED,
    WORDING,
    canonical,
    compare,
)
from assay.files.load import load, loads
from assay.kinds import Kind, parameters
from assay.testing import use_kind

#: The line by which the new version of a file is longer at its head.
SHIFT = 3
#: What a change back means for a change there.
OPPOSITES = {
    frozenset((there, back)) for there, back in zip(ADDED.values(), REMOVED.values(), strict=True)
} | {frozenset((each,)) for each in (UNDECIDED, WORDING, NAMING)}


def shipped(name):
    """Return a shipped contract, and the same with other lines."""
    old = load(contract_dir() / f"{name}.yaml")
    text = (contract_dir() / f"{name}.yaml").read_text(encoding="utf-8")
    new = loads("#\n" * SHIFT + text, "new.yaml")
    # The data are shared, so that only what is changed has to be compared.
    return old, replace(new, data=old.data)


CONTRACTS = {name: shipped(name) for name in ("aisp", "pis")}


def scalars(value, at=()):
    """Yield the pointer of each scalar."""
    if isinstance(value, dict | list):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from scalars(below, (*at, key))
    else:
        yield at


def changed(value, at, change):
    """Return a copy of a value in which one place is changed; all else is shared."""
    if not at:
        return change(value)
    copy = value.copy()
    copy[at[0]] = changed(value[at[0]], at[1:], change)
    return copy


def other(value):
    """Return another value of the same type; the level of a rule is one of two words."""
    if value == "may":
        return "must"
    if isinstance(value, bool):
        return not value
    return f"{value}-x" if isinstance(value, str) else value + 1


def opposite(there, back):
    """Whether two consequences are those of a change and of the change back."""
    return frozenset((there.consequence, back.consequence)) in OPPOSITES


@pytest.mark.parametrize("name", CONTRACTS)
def test_each_scalar_that_changes_is_one_change(name):
    """It is reported alone, with its lines in both files; the change back is its opposite."""
    old, new = CONTRACTS[name]
    pointers = list(scalars(old.data))
    assert len(pointers) > 500
    fingerprints = []
    for at in pointers:
        edited = replace(new, data=changed(old.data, at, other))
        there, back = compare(old, edited).changes, compare(edited, old).changes
        events = sorted(change.id.rpartition("-")[2] for change in there)
        assert events in (["changed"], ["renamed"], ["added", "removed"]), (at, there)
        assert len(there) == len(back)
        for change in there:
            section = str(at[0])
            assert section == change.path[0], at
            if section in {"rules", "unspecified", "scope"}:
                assert edited.data[section][at[1]]["id"] == change.path[1]
            whole = change.id.endswith("-renamed") or "all" in at or at[2:] == ("kind",)
            if change.old is not ABSENT and not whole:
                assert old.line(at) == change.old_line, (at, change)
            if change.new is not ABSENT and not whole:
                assert old.line(at) + SHIFT == change.new_line, (at, change)
            mirrored = [
                each
                for each in back
                if (each.old, each.new) == (change.new, change.old) and opposite(change, each)
            ]
            assert len(mirrored) == 1, (at, change, back)
            fingerprints.append(change.fingerprint)
    assert len(set(fingerprints)) == len(fingerprints)


@for_each("name", CONTRACTS)
@for_each("section", ["rules", "unspecified", "scope", "operations", "resources"])
def test_each_entry_that_is_missing_is_one_change(name, section):
    """A clause, operation, resource or point that only one version has is one change in both directions."""
    old, new = CONTRACTS[name]
    entries = old.data[section]
    for key in entries if isinstance(entries, dict) else range(len(entries)):

        def without(entries, key=key):
            if isinstance(entries, dict):
                return {name: entry for name, entry in entries.items() if name != key}
            return [entry for index, entry in enumerate(entries) if index != key]

        less = replace(new, data=changed(old.data, (section,), without))
        id_ = key if isinstance(key, str) else entries[key]["id"]
        (gone,), (come,) = compare(old, less).changes, compare(less, old).changes
        assert (section, id_) == gone.path == come.path
        assert gone.new is ABSENT is come.old
        assert (entries[key], entries[key]) == (gone.old, come.new)
        assert old.line((section, key)) == gone.old_line == come.new_line
        assert old.line((section,)) + SHIFT == gone.new_line == come.old_line
        assert opposite(gone, come)


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_contract_does_not_differ_from_itself(name):
    """Whatever the lines, the file and the order of its entries are."""
    old, new = CONTRACTS[name]
    text = (contract_dir() / f"{name}.yaml").read_text(encoding="utf-8")
    assert () == compare(old, new).changes == compare(old, loads(text)).changes
    turned = {
        key: value[::-1]
        if isinstance(value, list)
        else dict(reversed(value.items()))
        if isinstance(value, dict)
        else value
        for key, value in old.data.items()
    }
    assert () == compare(old, replace(new, data=turned)).changes


CONTRACT = """\
assay: 1
contract: meters
title: Meter readings
version: "2.1"
interface: meters
document: Metering Interface Guide
zone: Europe/Vienna
hosts:
  live: "<region>.meters.example"
  region: "[a-z]{2}"
resources:
  meter: {says: a meter, key: number, fields: [number, medium], traits: {removed: it is gone}}
  reading: {says: a reading, of: meter, fields: [value]}
operations:
  meters: {method: GET, path: /meters, lists: [meter]}
  tariffs: {method: GET, path: /tariffs, available: false}
  readings:
    method: GET
    path: /readings
    lists: [reading]
    about: number
    modes: [hourly]
    arguments: [trace]
rules:
  - {id: meters.available, kind: available, says: The meters can be read., operation: meters,
     source: {section: Methods, line: 12}}
  - id: daily
    kind: quota
    says: Ten calls a day.
    source: {section: Limits, line: 42}
    operations: [meters, readings]
    limit: 10
    per: calendar-day
    refused-calls: unspecified
    page-turns: unspecified
  - {id: unit, kind: field, says: In kWh., source: {section: Fields, line: 3}, field: value,
     resources: [reading], const: kWh}
unspecified:
  - {id: tokens, says: Whether a token is needed., source: {section: Security, line: 9}}
"""
TOKENS = """\
  - {id: tokens, kind: token-required, says: A call needs a token., operations: [meters],
     source: {section: Security, line: 9}}
"""

#: What is edited, and the changes: id, path, and the impacts on TPP and bank.
EDITS = [
    ("GET, path: /meters", "PUT, path: /meters", "operation.method-changed operations/meters/method review review"),
    ("path: /meters,", "path: /v2/meters,", "operation.path-changed operations/meters/path review review"),
    ("path: /meters,", "path: /meters, aliases: [/m],", "operation.aliases-added operations/meters/aliases review review"),
    ("lists: [meter]", "lists: [meter, reading]", "operation.lists-added operations/meters/lists review review"),
    ("modes: [hourly]", "modes: []", "operation.modes-removed operations/readings/modes review review"),
    ("arguments: [trace]", "arguments: [who]", "operation.arguments-removed operations/readings/arguments review review\noperation.arguments-added operations/readings/arguments review review"),
    (", available: false", "", "operation.available-removed operations/tariffs/available review review"),
    ("  meters: {method", "  meter-list: {method", "operation-renamed operations/meter-list none none"),
    ("  tariffs: {method: GET, path: /tariffs, available: false}\n", "", "operation-removed operations/tariffs review review"),
    ("fields: [value]", "fields: [value, day]", "resource.fields-added resources/reading/fields review review"),
    ("says: a meter,", "says: one meter,", "resource.says-changed resources/meter/says none none"),
    ("it is gone", "it was taken out", "resource.traits-changed resources/meter/traits/removed review review"),
    ("zone: Europe/Vienna", "zone: unspecified", "contract.zone-changed zone review review"),
    ("<region>.meters.", "<region>.m.", "contract.hosts-changed hosts/live review review"),
    ('"2.1"', '"2.2"', "contract.version-changed version none none"),
    ("contract: meters", "contract: metering", "contract.contract-changed contract none none"),
    ("Ten calls", "10 calls", "rule.says-changed rules/daily/says none none"),
    ("line: 42", "line: 43", "rule.source-changed rules/daily/source/line none none"),
    ("limit: 10", "limit: 9", "quota.limit-changed rules/daily/limit review review"),
    ("says: Ten", "level: may\n    says: Ten", "rule.level-changed rules/daily/level easier easier"),
    ("id: daily", "id: per-day", "rule-renamed rules/per-day none none"),
    ("const: kWh", "enum: [kWh]", "field.const-removed rules/unit/const review review\nfield.enum-added rules/unit/enum review review"),
    ("unspecified:\n", TOKENS.replace("tokens", "token") + "unspecified:\n", "rule-added rules/token breaking adjust"),
    (CONTRACT[CONTRACT.index("  - {id: unit") : CONTRACT.index("unspecified:\n")], "", "rule-removed rules/unit breaking easier"),
]  # fmt: skip


def lines(diff):
    """Return each change as its id, path and impacts."""
    return "\n".join(
        f"{change.id} {change.name} {change.consequence.tpp.value} {change.consequence.bank.value}"
        for change in diff.changes
    )


@for_each(("before", "after", "expected"), EDITS)
def test_an_edit_is_the_change_that_a_reader_expects(before, after, expected):
    """Everything but the rules, and what all rules have, with the impact on each party."""
    assert before in CONTRACT
    assert expected == lines(compare(loads(CONTRACT), loads(CONTRACT.replace(before, after, 1))))


def test_an_open_point_that_is_settled_is_one_change():
    """A rule with the id of an open point settles it, and the other way round."""
    point = CONTRACT[CONTRACT.index("unspecified:") :]
    old, new = loads(CONTRACT), loads(CONTRACT.replace(point, TOKENS))

    assert "rule-settled-added rules/tokens breaking adjust" == lines(compare(old, new))
    assert "rule-opened-removed rules/tokens easier easier" == lines(compare(new, old))


def test_rules_about_a_renamed_operation_are_to_be_reviewed():
    """Each place that names it has another value."""
    renamed = CONTRACT.replace("meters: {method", "list: {method")
    renamed = renamed.replace("operation: meters", "operation: list")
    assert (
        "operation-renamed operations/list none none\n"
        "available.operation-changed rules/meters.available/operation review review"
        == lines(compare(loads(CONTRACT), loads(renamed)))
    )


def test_a_renamed_rule_with_another_sentence_is_renamed():
    """Content is what a rule asks; its sentence and source are wording."""
    edited = CONTRACT.replace("id: daily", "id: per-day").replace("Ten calls", "10 calls")
    assert (
        "rule-renamed rules/per-day none none\nrule.says-changed rules/per-day/says none none"
        == lines(compare(loads(CONTRACT), loads(edited)))
    )


def test_another_kind_is_a_rule_that_goes_and_one_that_comes():
    """Its parameters are not compared."""
    edited = CONTRACT.replace(
        "kind: available, says: The meters can be read., operation: meters",
        "kind: unavailable, says: The meters can be read., operation: meters, control: readings",
    )
    assert (
        "rule-removed rules/meters.available breaking easier\n"
        "rule-added rules/meters.available breaking adjust"
        == lines(compare(loads(CONTRACT), loads(edited)))
    )


def test_sources_are_compared_as_places():
    """A place that is added or removed is one change, wherever it stands in the list."""
    place = "{section: Limits, line: 42}"
    listed = CONTRACT.replace(place, f"[{place}, {{section: A, line: 1}}]")
    longer = CONTRACT.replace(place, f"[{{section: B, line: 2}}, {place}, {{section: A, line: 1}}]")

    assert "rule.source-added rules/daily/source none none" == lines(
        compare(loads(listed), loads(longer))
    )
    assert "rule.source-changed rules/daily/source none none" == lines(
        compare(loads(CONTRACT), loads(listed))
    )


def test_a_fingerprint_depends_on_the_change_alone():
    """Not on lines, names of files, wording of the clause or other changes."""
    old, new = loads(CONTRACT), loads(CONTRACT.replace("limit: 10", "limit: 9"))
    (change,) = compare(old, new).changes
    moved = loads("\n\n" + CONTRACT, "else.yaml")
    edited = CONTRACT.replace("limit: 10", "limit: 9").replace("Ten calls", "9 calls")
    same = [
        each for each in compare(moved, loads(edited, "b.yaml")).changes if each.id == change.id
    ]

    assert ["a8f5284ca37f5ddabcfd0c2fa94d44a1"] == [change.fingerprint]
    assert [change.fingerprint] == [each.fingerprint for each in same]
    assert change.fingerprint != compare(new, old).changes[0].fingerprint


@pytest.mark.parametrize(
    ("value", "lookalike"),
    [(1, True), (0, False), (1, Decimal(1)), (Decimal("0.10"), Decimal("0.1")), ("1", 1)],
)
def test_values_that_python_takes_for_equal_differ(value, lookalike):
    """A contract says true or 1, 0.10 or 0.1, and means it."""
    assert canonical([value]) != canonical([lookalike])


def test_gates_choose_by_party():
    """Each gate, and which of four changes it stops at."""
    unit = CONTRACT[CONTRACT.index("  - {id: unit") : CONTRACT.index("unspecified:\n")]
    served = unit.replace("id: unit", "id: medium").replace("field: value", "field: number")
    served = served.replace("reading", "meter")
    edited = CONTRACT.replace(unit, served + TOKENS.replace("tokens", "token"))
    edited = edited.replace("limit: 10", "limit: 9").replace("Ten", "10")
    diff = compare(loads(CONTRACT), loads(edited))
    stopped = {
        gate: sorted(change.name for change in diff.changes if stops(change))
        for gate, stops in GATES.items()
    }
    come, token, gone = "rules/medium", "rules/token", "rules/unit"
    quota, says = "rules/daily/limit", "rules/daily/says"

    assert {
        "breaking-tpp": [token, gone],
        "breaking-bank": [come],
        "breaking": [come, token, gone],
        "review": [quota, come, token, gone],
        "any": [quota, says, come, token, gone],
    } == stopped
    assert [token, gone, come, quota, says] == [change.name for change in diff.by_severity]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undeclared(Kind):
    """A kind of another package that says nothing of what its changes mean."""

    name = "undeclared"

    colour: str = parameters.word(key="colour")


def test_a_kind_that_declares_nothing_is_to_be_judged():
    """Neither party is given an answer that the kind does not give: both must judge each change."""
    old, new, none = (
        CONTRACT.replace("kind: quota", f"kind: undeclared\n    colour: {colour}")
        for colour in ("red", "blue", "red")
    )
    gone = none[: none.index("  - id: daily")] + none[none.index("  - {id: unit") :]
    with use_kind(Undeclared):
        assert "undeclared.colour-changed rules/daily/colour review review" == lines(
            compare(loads(old), loads(new))
        )
        assert "rule-removed rules/daily review review" == lines(compare(loads(old), loads(gone)))
