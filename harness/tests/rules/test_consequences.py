"""What a change of each parameter means for TPP and bank, for every kind, in both directions."""

import re
import sys
from decimal import Decimal
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from assay._resources import contract_dir
from assay.rules.comparisons import ABSENT, Versions, same
from assay.rules.consequences import UNSTATED
from assay.rules.kinds import KINDS
from assay.rules.refusing_kind import RefusingKind


def guest(name):
    """Return a kind of the guests' package, which declares what ours declare."""
    path = Path(__file__).parents[1] / "guest_kinds" / "assay_guest_kinds" / f"{name}.py"
    spec = spec_from_file_location(f"guest_{name}", path)
    sys.modules[spec.name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name.capitalize())


EVERY = {**KINDS, **{name: guest(name) for name in ("mirror", "once")}}

#: Short forms of impacts, the TPP's first.
LETTERS = {"breaking": "B", "adjust": "a", "review": "?", "easier": "e", "none": "-"}

#: What a new and a removed clause of each kind mean for the TPP and the bank.
PURPOSES = {
    "available": "eB Be",
    "unavailable": "Ba ee",
    "unsupported-mode": "Ba ee",
    "listing": "eB Be",
    "eligibility": "Ba ee",
    "pagination": "eB Be",
    "history-depth": "Ba ee",
    "field": "eB Be",
    "consent-scope": "Ba ee",
    "consent-effect": "eB Be",
    "consent-authorisation": "Ba ee",
    "consent-validity": "Ba ee",
    "consent-revocation": "eB Be",
    "consent-replacement": "Ba ee",
    "consent-history": "Ba ee",
    "consent-mode": "Ba ee",
    "consent-field": "Ba ee",
    "own-data": "-B -e",
    "disclosed-when": "eB Be",
    "no-credentials": "Ba ee",
    "token-required": "Ba ee",
    "quota": "Ba ee",
    "unmetered": "eB Be",
    "host-affinity": "eB Be",
    "maintenance-window": "Be eB",
    "gives-back": "eB Be",
    "addressed": "-B -e",
    "modes": "eB Be",
    "segments": "eB Be",
    "eligible-for": "Ba ee",
    "mandatory": "Ba ee",
    "fixed": "Ba ee",
    "modification": "eB Be",
    "cancellation": "eB Be",
    "notice": "-B -e",
    "factors": "Ba ee",
    "timeout": "Ba ee",
    "return-address": "eB Be",
    "duplicate": "Ba ee",
    "decision": "Ba ee",
    "well-formed": "eB Be",
    "withstands": "-B -e",
    "consistent": "eB Be",
    "execution": "eB Be",
    "required": "Ba ee",
    "echo": "eB Be",
    "idempotency": "eB Be",
    "states": "eB Be",
    "request-field": "Ba ee",
    "filter": "eB Be",
    "error-body": "eB Be",
    "mirror": "eB Be",
    "once": "eB Be",
}

CASH = {"field": "purpose", "is": "CASH"}


def over(hours):
    """Return the atom of a registration."""
    return {"registered": "payee", "more-than-hours": hours}


#: Kind, parameter, a value, another value, and the impacts of the change there and back.
PARAMETERS = [
    ("available", "operation", "a", "b", "?? ??"),
    ("available", "grant", "a", "b", "?? ??"),
    ("available", "grant", ABSENT, "b", "?? ??"),
    ("unavailable", "operation", "a", "b", "?? ??"),
    ("unavailable", "control", "a", "b", "-- --"),
    ("unavailable", "grant", "a", "b", "?? ??"),
    ("unavailable", "request", ABSENT, "b", "?? ??"),
    ("unsupported-mode", "operation", "a", "b", "?? ??"),
    ("unsupported-mode", "mode", "a", "b", "?? ??"),
    ("unsupported-mode", "days", 90, 60, "Ba ee"),
    ("unsupported-mode", "grant", "a", "b", "?? ??"),
    ("listing", "operation", "a", "b", "?? ??"),
    ("listing", "grant", "a", "b", "?? ??"),
    ("listing", "only-consented", ABSENT, True, "Ba ee"),
    ("eligibility", "operation", "a", "b", "?? ??"),
    ("eligibility", "resource", "a", "b", "?? ??"),
    ("eligibility", "hides", ["a"], ["a", "b"], "Ba ee"),
    ("eligibility", "recent", ABSENT, {"trait": "a", "months": 2, "edge": "included"}, "Ba ee"),
    ("eligibility", "recent", {"months": 2}, {"months": 3}, "eB Ba"),
    ("eligibility", "recent", {"trait": "a"}, {"trait": "b"}, "?? ??"),
    ("eligibility", "recent", {"edge": "unspecified"}, {"edge": "included"}, "eB Be"),
    ("eligibility", "recent", {"edge": "unspecified"}, {"edge": "excluded"}, "Ba ee"),
    ("eligibility", "recent", {"edge": "included"}, {"edge": "excluded"}, "Ba eB"),
    ("eligibility", "withholds", ["a"], ["a", "b"], "Ba ee"),
    ("eligibility", "grant", "a", "b", "?? ??"),
    ("pagination", "operation", "a", "b", "?? ??"),
    ("pagination", "size", 5, 10, "?a ?a"),
    ("pagination", "grant", "a", "b", "?? ??"),
    ("history-depth", "operation", "a", "b", "?? ??"),
    ("history-depth", "days", 90, 60, "Ba ee"),
    ("history-depth", "edge", "unspecified", "excluded", "Ba ee"),
    ("history-depth", "edge", "unspecified", "included", "-- --"),
    ("history-depth", "grant", "a", "b", "?? ??"),
    ("field", "field", "a", "b", "?? ??"),
    ("field", "resources", ["a"], ["a", "b"], "eB Be"),
    ("field", "const", "EUR", "CHF", "BB BB"),
    ("field", "enum", ["a"], ["a", "b"], "Be eB"),
    ("field", "format", {"a": "iban"}, {"a": "iban", "b": "iban"}, "eB Be"),
    ("field", "format", {"a": "iban"}, {"a": "no-clear-pan"}, "BB BB"),
    ("field", "pattern", "a", "b", "BB BB"),
    ("field", "mandatory", False, True, "eB Be"),
    ("field", "mandatory", ABSENT, True, "eB Be"),
    ("field", "grant", "a", "b", "?? ??"),
    ("consent-scope", "operations", ["a"], ["a", "b"], "Ba ee"),
    ("consent-scope", "grant", "a", "b", "?? ??"),
    ("consent-scope", "replaces", "unspecified", "b", "?? ??"),
    ("consent-mode", "mode", "a", "b", "?? ??"),
    ("consent-field", "request", "a", "b", "?? ??"),
    ("consent-field", "operation", "a", "b", "?? ??"),
    ("consent-field", "mode", "a", "b", "?? ??"),
    ("consent-field", "field", "a", "b", "?? ??"),
    ("consent-history", "days", 90, 60, "?? ??"),
    ("consent-history", "minutes", 15, 10, "Ba eB"),
    ("consent-history", "edge", "included", "excluded", "?? ??"),
    ("consent-effect", "operations", ["a"], ["a", "b"], "eB Be"),
    ("consent-effect", "grant", "a", "b", "?? ??"),
    ("consent-effect", "quota", 4, 3, "-- --"),
    ("consent-effect", "quota", ABSENT, 3, "-- --"),
    *(
        (f"consent-{kind}", *row)
        for kind in ("authorisation", "validity", "revocation", "replacement", "history", "mode")
        for row in (
            ("request", "a", "b", "?? ??"),
            ("operation", "a", "b", "?? ??"),
            ("status", ABSENT, "b", "-- --"),
        )
    ),
    ("own-data", "operations", ["a"], ["a", "b"], "-B -e"),
    ("own-data", "field", "a", "b", "?? ??"),
    ("own-data", "others", ABSENT, "refused", "-B -e"),
    ("own-data", "grant", "a", "b", "?? ??"),
    ("disclosed-when", "operation", "a", "b", "?? ??"),
    ("disclosed-when", "value", "a", "b", "?? ??"),
    ("disclosed-when", "grant", "a", "b", "?? ??"),
    ("no-credentials", "operations", ["a"], ["a", "b"], "Ba ee"),
    ("no-credentials", "grant", "a", "b", "?? ??"),
    ("token-required", "operations", ["a"], ["a", "b"], "Ba ee"),
    ("token-required", "grant", "a", "b", "?? ??"),
    ("quota", "operations", ["a"], ["a", "b"], "Ba ee"),
    ("quota", "limit", 4, 3, "Ba eB"),
    ("quota", "per", "hour", "calendar-day", "?? ??"),
    ("quota", "counts", "absent", "all", "Ba eB"),
    ("quota", "counts", ABSENT, "all", "Ba eB"),
    ("quota", "counted-by", "operation", "shared", "?? ??"),
    ("quota", "counted-for", ABSENT, "consent", "?? ??"),
    ("quota", "limit", 4, {"argument": "a"}, "?? ??"),
    ("quota", "refused-calls", "unspecified", "b", "?? ??"),
    ("quota", "page-turns", "unspecified", "b", "?? ??"),
    ("quota", "grant", "a", "b", "?? ??"),
    ("unmetered", "operations", ["a"], ["a", "b"], "eB Be"),
    ("unmetered", "quota", 4, 3, "-- --"),
    ("unmetered", "grant", "a", "b", "?? ??"),
    ("host-affinity", "operations", ["a"], ["a", "b"], "eB Be"),
    ("host-affinity", "grant", "a", "b", "?? ??"),
    ("host-affinity", "every-host", ABSENT, True, "eB Be"),
    ("maintenance-window", "operation", "a", "b", "?? ??"),
    ("maintenance-window", "weekday", "sunday", "monday", "BB BB"),
    ("maintenance-window", "from", "02:00", "03:00", "eB Be"),
    ("maintenance-window", "to", "06:00", "07:00", "Be eB"),
    ("gives-back", "request", "a", "b", "?? ??"),
    ("gives-back", "fields", ["a"], ["a", "b"], "eB Be"),
    ("addressed", "request", "a", "b", "?? ??"),
    ("addressed", "operations", ["a"], ["a", "b"], "-B -e"),
    ("modes", "request", "a", "b", "?? ??"),
    ("modes", "served", ["a"], ["a", "b"], "eB Be"),
    ("modes", "where-offered", ["a"], ["a", "b"], "eB Be"),
    ("modes", "refused", ["a"], ["a", "b"], "Ba ee"),
    ("segments", "request", "a", "b", "?? ??"),
    ("segments", "served", ["a"], ["a", "b"], "eB Be"),
    ("segments", "refused", ["a"], ["a", "b"], "Ba ee"),
    ("eligible-for", "request", "a", "b", "?? ??"),
    ("eligible-for", "refuses", ["a"], ["a", "b"], "Ba ee"),
    ("mandatory", "request", "a", "b", "?? ??"),
    ("mandatory", "fields", ["a"], ["a", "b"], "Ba ee"),
    ("fixed", "request", "a", "b", "?? ??"),
    ("fixed", "field", "a", "b", "?? ??"),
    ("fixed", "const", "SLEV", "SHAR", "BB BB"),
    ("fixed", "others", ["a"], ["a", "b"], "-- --"),
    ("fixed", "spelling", "unspecified", "exact", "Ba ee"),
    ("modification", "request", "a", "b", "?? ??"),
    ("modification", "only", ["a"], ["a", "b"], "eB Be"),
    ("modification", "never", ["a"], ["a", "b"], "Ba ee"),
    ("modification", "fields", ["a"], ["a", "b"], "eB Be"),
    ("cancellation", "request", "a", "b", "?? ??"),
    ("cancellation", "mode", "a", "b", "?? ??"),
    ("notice", "request", "a", "b", "?? ??"),
    ("notice", "modes", ["a"], ["a", "b"], "-B -e"),
    ("notice", "even", {"a": "1"}, {"a": "2"}, "-- --"),
    ("factors", "request", "a", "b", "?? ??"),
    ("factors", "offered", {"A": ["sms"]}, {"A": ["sms", "app"]}, "ee Ba"),
    ("factors", "offered", {"A": ["sms"]}, {"A": ["sms"], "B": ["app"]}, "?? ??"),
    ("timeout", "request", "a", "b", "?? ??"),
    ("timeout", "measure", "idle", "overall", "?? ??"),
    ("timeout", "minutes", 4, 3, "Ba eB"),
    ("timeout", "edge", "unspecified", "b", "?? ??"),
    ("return-address", "request", "a", "b", "?? ??"),
    ("duplicate", "request", "a", "b", "?? ??"),
    ("duplicate", "parameters", ["a"], ["a", "b"], "eB Ba"),
    ("duplicate", "modes", ["a"], ["a", "b"], "-- --"),
    ("decision", "request", "a", "b", "?? ??"),
    ("decision", "result", "rejected", "b", "?? ??"),
    ("decision", "when", {"all": [CASH, over(72)]}, {"all": [CASH, over(24)]}, "Ba eB"),
    ("decision", "when", {"not": over(72)}, {"not": over(24)}, "eB Ba"),
    ("decision", "when", {"not": {"not": over(72)}}, {"not": {"not": over(24)}}, "Ba eB"),
    (
        "decision",
        "when",
        {"field": "price", "above": 100},
        {"field": "price", "above": Decimal("99.5")},
        "Ba eB",
    ),
    (
        "decision",
        "when",
        {"all": [CASH, over(72)]},
        {"all": [CASH, over(72), {"factor": "a"}]},
        "eB Ba",
    ),
    (
        "decision",
        "when",
        {"any": [CASH, over(72)]},
        {"any": [CASH, over(72), {"factor": "a"}]},
        "Ba eB",
    ),
    ("decision", "when", CASH, {**CASH, "is": "DVPM"}, "?? ??"),
    ("decision", "when", {"factor": "a"}, {"factor": "b"}, "?? ??"),
    ("well-formed", "operations", ["a"], ["a", "b"], "eB Be"),
    ("well-formed", "grant", "a", "b", "?? ??"),
    ("withstands", "operations", ["a"], ["a", "b"], "-B -e"),
    ("consistent", "operations", ["a"], ["a", "b"], "eB Be"),
    ("consistent", "grant", "a", "b", "?? ??"),
    ("execution", "request", "a", "b", "?? ??"),
    ("execution", "served", ["a"], ["a", "b"], "eB Be"),
    ("execution", "where-offered", ["a"], ["a", "b"], "eB Be"),
    ("execution", "unmet", {"a": "1"}, {"a": "2"}, "-- --"),
    ("execution", "minutes", 4, 3, "-- --"),
    ("required", "operations", ["a"], ["a", "b"], "Ba ee"),
    ("required", "argument", "a", "b", "?? ??"),
    ("required", "format", "uuid", "date", "BB BB"),
    ("required", "pattern", "a", "b", "BB BB"),
    ("required", "enum", ["a"], ["a", "b"], "ee Ba"),
    ("required", "limit", 100, 200, "ee Ba"),
    ("required", "optional", ABSENT, True, "ee Ba"),
    ("required", "grant", "a", "b", "?? ??"),
    ("echo", "operations", ["a"], ["a", "b"], "eB Be"),
    ("echo", "argument", "a", "b", "?? ??"),
    ("echo", "header", "A", "B", "BB BB"),
    ("echo", "grant", "a", "b", "?? ??"),
    ("idempotency", "request", "a", "b", "?? ??"),
    ("idempotency", "key", "a", "b", "BB BB"),
    ("idempotency", "hours", 24, 48, "eB Be"),
    ("idempotency", "varies", ABSENT, "b", "Ba ee"),
    ("states", "resource", "a", "b", "?? ??"),
    ("states", "field", "a", "b", "?? ??"),
    ("states", "first", ["a"], ["a", "b"], "Be eB"),
    ("states", "transitions", {"a": ["b"]}, {"a": ["b", "c"]}, "Be eB"),
    ("states", "final", ["a"], ["a", "b"], "eB Be"),
    ("states", "words", ["a"], ["a", "b"], "Be eB"),
    ("states", "signed", ["a"], ["a", "b"], "Be eB"),
    ("states", "ended", ["a"], ["a", "b"], "Be eB"),
    ("states", "operation", "a", "b", "-- --"),
    ("request-field", "request", "a", "b", "?? ??"),
    ("request-field", "field", "a", "b", "?? ??"),
    ("request-field", "decimals", 2, 3, "ee Ba"),
    ("request-field", "max-length", 35, 70, "ee Ba"),
    ("request-field", "format", "uuid", "date", "BB BB"),
    ("request-field", "pattern", "a", "b", "BB BB"),
    ("request-field", "enum", ["a"], ["a", "b"], "ee Ba"),
    ("request-field", "not-past", ABSENT, True, "Ba ee"),
    ("request-field", "at-most-days", 90, 180, "ee Ba"),
    ("filter", "operation", "a", "b", "?? ??"),
    ("filter", "argument", "a", "b", "?? ??"),
    ("filter", "field", "a", "b", "?? ??"),
    ("filter", "values", {"a": ["x"]}, {"a": ["x"], "b": ["y"]}, "eB Be"),
    ("filter", "values", {"a": ["x"]}, {"a": ["y"]}, "BB BB"),
    ("filter", "edges", {"since": "included"}, {"since": "included", "until": "included"}, "eB Be"),
    ("filter", "edges", {"since": "included"}, {"since": "excluded"}, "BB BB"),
    ("filter", "grant", "a", "b", "?? ??"),
    ("error-body", "operations", ["a"], ["a", "b"], "eB Be"),
    ("error-body", "statuses", [400], [400, 403], "eB Be"),
    ("error-body", "media-type", ABSENT, "a/b", "eB Be"),
    ("error-body", "media-type", "a/b", "a/c", "BB BB"),
    ("error-body", "fields", ["a"], ["a", "b"], "eB Be"),
    ("error-body", "values", {"a": ["x"]}, {"a": ["x", "y"]}, "Be eB"),
    ("error-body", "values", {"a": ["x"]}, {"a": ["x"], "b": ["y"]}, "eB Be"),
    ("mirror", "operation", "a", "b", "?? ??"),
    ("mirror", "argument", "a", "b", "?? ??"),
    ("mirror", "header", "A", "B", "BB BB"),
    ("once", "request", "a", "b", "?? ??"),
    ("once", "key", "a", "b", "BB BB"),
    ("once", "varies", "a", "b", "-- --"),
]

#: The keys with which every rule by which calls are refused says how.
REFUSAL = ("code", "refusal-status")
PARAMETERS += [
    (name, key, old, new, expected)
    for name, kind in KINDS.items()
    if issubclass(kind, RefusingKind)
    for key, value, other in (("code", "A", "B"), ("refusal-status", 403, 404))
    for old, new, expected in (
        (ABSENT, value, "eB Be"),
        (value, other, "BB BB"),
        (value, [other, value], "Be eB"),
    )
]

#: Kind, the list an item is in, the list it is in afterwards, and the impacts there and back.
MOVES = [
    ("modes", "where-offered", "served", "eB Be"),
    ("modes", "refused", "served", "eB Ba"),
    ("modes", "refused", "where-offered", "eB Ba"),
    ("segments", "refused", "served", "eB Ba"),
    ("modification", "never", "only", "eB Ba"),
    ("execution", "where-offered", "served", "eB Be"),
]


def written(consequence):
    """Return the impacts of a consequence, the TPP's first."""
    return LETTERS[consequence.tpp.value] + LETTERS[consequence.bank.value]


def versions(kind, key, value):
    """Return a clause with one parameter."""
    return {} if value is ABSENT else {key: value}


def differences(name, key, old, new, **others):
    """Return how a parameter differs in two clauses that have others besides."""
    kind = EVERY[name]
    clauses = ({**others, **versions(kind, key, value)} for value in (old, new))
    old, new = clauses
    (parameter,) = (each for each in kind.declared().values() if each.key == key)
    return list(parameter.compare(key, Versions(old=old, new=new, purpose=kind.purpose)))


def labelled(row):
    """Return the name of a row of the table."""
    return f"{row[0]}-{row[1]}"


@pytest.mark.parametrize("name", EVERY)
def test_a_kind_says_what_it_is_for(name):
    """A new and a removed clause of a kind have the consequences of the table."""
    purpose = EVERY[name].purpose
    assert purpose is not UNSTATED
    assert PURPOSES[name] == f"{written(purpose.added)} {written(purpose.removed)}"


@pytest.mark.parametrize("row", PARAMETERS, ids=labelled)
def test_another_value_has_the_consequence_of_the_table(row):
    """One difference in each direction, with the impacts that a reader of the contract expects."""
    name, key, old, new, expected = row
    (there,) = differences(name, key, old, new)
    (back,) = differences(name, key, new, old)

    assert expected == f"{written(there.consequence)} {written(back.consequence)}"
    assert key == there.path[0]
    assert (there.path, there.old, there.new) == (back.path, back.new, back.old)
    assert [] == differences(name, key, old, old) == differences(name, key, new, new)


@pytest.mark.parametrize("row", MOVES, ids=labelled)
def test_an_item_that_moves_between_lists_is_one_difference(row):
    """A mode that was offered by some banks and is served by all is neither new nor gone."""
    name, before, after, expected = row
    lists = ({before: ["a", "b"], after: ["c"]}, {before: ["a"], after: ["b", "c"]})
    seen = []
    for old, new in (lists, lists[::-1]):
        reported = [
            difference
            for each in EVERY[name].declared().values()
            if each.key in {before, after}
            for difference in each.compare(each.key, Versions(old=old, new=new))
        ]
        (moved,) = reported
        assert ("b", "b") == (moved.old, moved.new)
        assert {before, after} == {moved.moved_from, moved.path[0]}
        seen.append(written(moved.consequence))
    assert expected == " ".join(seen)


@pytest.mark.parametrize("name", EVERY)
def test_every_parameter_is_declared_and_tested(name):
    """Each parameter of each kind has a comparison, even if it is "judge it", and a row above."""
    declared = {each.key: each.compare for each in EVERY[name].declared().values() if each.key}
    assert [] == [key for key, compare in declared.items() if compare is None]
    assert set(declared) == {row[1] for row in PARAMETERS if row[0] == name}


def test_the_tables_name_every_kind():
    """No kind is missing, and none is named that there is not."""
    assert set(EVERY) == set(PURPOSES) == {row[0] for row in PARAMETERS}


def test_renamed_operations_are_the_same_operations():
    """An operation that has another name in the contract changes no rule about it."""
    versions = Versions(
        old={"operation": "a", "operations": ["a", "c"]},
        new={"operation": "b", "operations": ["b", "c"]},
        renamed={"operation": {"a": "b"}},
    )
    for name, key in (("available", "operation"), ("quota", "operations")):
        (parameter,) = (each for each in KINDS[name].declared().values() if each.key == key)
        assert [] == list(parameter.compare(key, versions))


def test_lists_have_no_order():
    """An item in another place, or twice, is no difference."""
    assert [] == differences("mandatory", "fields", ["a", "b"], ["b", "a", "b"])
    assert [] == differences("decision", "when", {"any": [CASH, over(1)]}, {"any": [over(1), CASH]})


@pytest.mark.parametrize(
    ("value", "lookalike"),
    [(1, True), (0, False), (1, Decimal(1)), (Decimal("0.10"), Decimal("0.1")), ("1", 1)],
)
def test_values_that_python_takes_for_equal_differ(value, lookalike):
    """A contract says true or 1, 0.10 or 0.1, and means it."""
    assert not same([value], [lookalike])
    assert same([value], [value])


MANUAL = (contract_dir() / "contract-reference.md").read_text("utf-8")


def manual_rows(columns):
    """Return the rows of the manual's tables of changes that have so many columns."""
    section = MANUAL.partition("\n## What a change means\n")[2]
    rows = re.findall(r"^\| (.*`.*) \|$", section, re.MULTILINE)
    return [cells for row in rows if len(cells := row.split(" | ")) == columns]


def letters(cell):
    """Return the short form of the impacts in a cell."""
    return "".join(LETTERS[word] for word in cell.split(", "))


def test_the_manual_says_what_a_new_and_a_removed_rule_mean():
    """Its table has every kind of Assay, with the impacts that the kind declares."""
    written_there = {
        name: f"{letters(added)} {letters(removed)}"
        for _, names, added, removed in manual_rows(4)
        for name in re.findall(r"`([a-z-]+)`", names)
    }
    assert {name: PURPOSES[name] for name in KINDS} == written_there


def test_the_manual_says_what_each_directed_parameter_means():
    """Its table has every parameter that has a direction, with its impacts both ways."""
    written_there = [
        (kind.strip("`"), key.strip("`"), f"{letters(there)} {letters(back)}")
        for kind, key, _, there, back in manual_rows(5)
    ]
    tested = {
        (kind, key, impacts)
        for kind, key, _, _, impacts in PARAMETERS
        if kind in KINDS
        and key not in {"operations", "resources", *REFUSAL}
        and impacts not in {"?? ??", "-- --"}
    }
    assert tested == set(written_there)
    assert len(tested) == len(written_there)


def test_the_manual_says_which_kinds_can_say_how_a_call_is_refused():
    """Its list has every kind with a `code`, and what a change of it means is one sentence."""
    listed = MANUAL.partition("Rules of these kinds can have them:")[2].partition(". A request")[0]
    refusing = {name for name, kind in KINDS.items() if issubclass(kind, RefusingKind)}
    assert refusing == set(re.findall(r"`([a-z-]+)`", listed))
    assert "A `code` or a `refusal-status`, of any kind" in MANUAL
