"""Contracts: what a name refers to has to be there, and everything arrives as values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from rows import for_each

from assay.contract.model import Contract, Level, Operation, Source
from assay.errors import InputError
from assay.files.load import loads
from assay.files.shape_check import check
from assay.parsing import parse
from assay.parsing.parse import find_contract, parse_contract, parse_document
from assay.rules import parameters
from assay.rules.rule import Facet, Kind

TEXT = """\
assay: 1
contract: loans
title: Library loans
version: "2"
interface: loans
document: Library Guide
zone: Europe/Vienna
hosts:
  live: www.<code>.library.example
  code: "[0-9]{3}"
resources:
  loan:
    says: a book on loan
    key: number
    fields: [number, state]
    traits: {overdue: it is late, renewed: the date of its renewal}
  note:
    says: a note on a loan
    of: loan
    fields: [text]
operations:
  loans: {method: GET, path: /loans, lists: [loan], disclosures: [reader]}
  consents: {method: PUT, path: /consents, grants: loans}
  notes:
    method: GET
    path: /loans/{number}/notes
    aliases: [/notes]
    lists: [note]
    about: number
    since: from
    modes: [all]
  fines: {method: GET, path: /fines, available: false}
rules:
  - {id: a, kind: unavailable, says: x, source: {section: s, line: 1}, operation: fines, control: loans}
  - {id: b, kind: eligibility, says: x, source: {section: s, line: 1}, operation: loans, resource: loan, hides: [overdue]}
  - {id: c, kind: field, says: x, source: {section: s, line: 1}, field: state, resources: [loan], format: {loan: iban}}
  - {id: d, kind: unsupported-mode, says: x, source: {section: s, line: 1}, operation: notes, mode: all, days: 9}
  - {id: e, kind: disclosed-when, says: x, source: {section: s, line: 1}, operation: loans, value: reader, grant: consents}
  - {id: f, kind: consent-scope, says: x, source: {section: s, line: 1}, operations: [notes], grant: consents, replaces: unspecified}
  - {id: g, kind: maintenance-window, says: x, source: {section: s, line: 1}, operation: loans, weekday: sunday, from: "02:00", to: "06:00"}
  - id: h
    kind: eligibility
    says: x
    level: may
    source:
      - {section: s, line: 1, text: words}
      - {section: t, line: 2}
    operation: loans
    resource: loan
    recent: {trait: renewed, months: 2, edge: unspecified}
scope:
  - {id: i, says: Only adults., source: {section: s, line: 3}}
unspecified:
  - {id: j, says: What an error is., source: {section: s, line: 4}}
"""


def parsed(text: str = TEXT) -> Contract:
    """Parse a text as if it were a file."""
    return parse_document(loads(text, "f.yaml"))


def problems(*changes: tuple[str, str]) -> list[str]:
    """List the errors of the contract above with some things changed."""
    text = TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    with pytest.raises(InputError) as caught:
        parsed(text)
    return [str(one) for one in caught.value.problems]


def test_a_contract_as_values() -> None:
    """Every section arrives, with the lines on which things stand."""
    contract = parsed()
    assert ("loans", "2", ZoneInfo("Europe/Vienna")) == (
        contract.id,
        contract.version,
        contract.zone,
    )
    assert ("number", "from", ("all",), ("/notes",)) == (
        contract.operations["notes"].about,
        contract.operations["notes"].since,
        contract.operations["notes"].modes,
        contract.operations["notes"].aliases,
    )
    assert not contract.operations["fines"].available
    assert ("loan", None) == (contract.resources["note"].of, contract.resources["note"].key)
    assert {"live": "www.<code>.library.example", "code": "[0-9]{3}"} == contract.hosts
    assert [("i", 52)] == [(one.id, one.line) for one in contract.scope]
    assert [("j", 54)] == [(one.id, one.line) for one in contract.open_points]
    assert "f.yaml" == contract.path


def test_the_other_end_of_a_range() -> None:
    """An argument that asks up to a date may stand in a path, and may be left out."""
    assert parsed().operations["notes"].until is None
    text = TEXT.replace("    since: from\n", "    since: from\n    until: to\n")
    text = text.replace("[/notes]", "[/notes, '/notes/{to}']")
    assert "to" == parsed(text).operations["notes"].until


def test_a_clause_as_a_value() -> None:
    """A clause holds its sentence and sources, and all else as parameters."""
    clause = parsed().clauses[-1]
    assert (Level.MAY, 41) == (clause.level, clause.line)
    assert (
        Source(section="s", line=1, text="words"),
        Source(section="t", line=2),
    ) == clause.sources
    assert {"operation", "resource", "recent"} == clause.params.keys()


def test_level_and_sources_have_a_short_form() -> None:
    """A rule is a must if nothing is said, and one source needs no list."""
    clause = parsed().clauses[0]
    assert (Level.MUST, (Source(section="s", line=1),)) == (clause.level, clause.sources)


def test_a_document_that_names_no_fields() -> None:
    """Fields can be left out, but then no key and no rule can name one."""
    assert () == parsed(TEXT.replace("    fields: [text]\n", "")).resources["note"].fields
    with pytest.raises(InputError) as caught:
        parsed(TEXT.replace("    fields: [number, state]\n", ""))
    assert [
        "f.yaml:14: resources.loan.key: there is no field 'number' (add it to resources.loan.fields)",
        "f.yaml:35: rules[2].resources[0]: 'loan' has no field 'state' (resources.loan.fields is empty)",
    ] == str(caught.value).splitlines()


def test_an_open_zone() -> None:
    """A document that names no zone leaves it open."""
    assert parsed(TEXT.replace("Europe/Vienna", "unspecified")).zone is None


@for_each(
    ("old", "new", "said"),
    [
        ("zone: Europe/Vienna", "zone: Europe/Viena", "f.yaml:7: zone: there is no time zone 'Europe/Viena' (did you mean 'Europe/Vienna'?)"),
        ("zone: Europe/Vienna", "zone: ../../etc/passwd", "f.yaml:7: zone: there is no time zone '../../etc/passwd' (an IANA name, as in Europe/Paris)"),
        ("  code:", "  kode:", "f.yaml:10: hosts.kode: no host has a part <kode> (write a host (www.<bankcode>.bank.example), or a pattern for one of its parts)"),
        ('"[0-9]{3}"', '"[0-9"', 'f.yaml:10: hosts.code: this is not a regular expression: missing ]: [0-9 (for example "[0-9]{5}"; as in JSON Schema, without look-arounds (?=…) and back-references, of at most 1000 repetitions)'),
        ('"[0-9]{3}"', '"(?i)a{1,99999}"', 'f.yaml:10: hosts.code: this is not a regular expression: invalid repetition size: {1,99999} (for example "[0-9]{5}"; as in JSON Schema, without look-arounds (?=…) and back-references, of at most 1000 repetitions)'),
        ('"[0-9]{3}"', f'"{"a{0,9}" * 67}"', "f.yaml:10: hosts.code: expected at most 400 characters, found 402 (shorten it)"),
        ("www.<code>", "www.<Code>.<code>", "f.yaml:9: hosts.live: a part of the host is not valid (use lower-case letters and _, as in <bankcode>)"),
        ("key: number", "key: nummber", "f.yaml:14: resources.loan.key: there is no field 'nummber' (did you mean 'number'?)"),
        ("of: loan", "of: laon", "f.yaml:19: resources.note.of: there is no resource 'laon' (did you mean 'loan'?)"),
        ("of: loan", "of: note", "f.yaml:19: resources.note.of: 'note' itself belongs to another resource (name the top-level resource)"),
        ("    of: loan\n", "", "f.yaml:28: operations.notes.about: 'note' belongs to no resource (add `of` to resources.note)"),
        ("    key: number\n", "", "f.yaml:28: operations.notes.about: 'loan' has no key (add `key` to resources.loan)"),
        ("lists: [note]", "lists: []", "f.yaml:29: operations.notes.about: an operation with `about` must list a resource (add `lists`)"),
        ("lists: [note]", "lists: [nota]", "f.yaml:28: operations.notes.lists[0]: there is no resource 'nota' (did you mean 'note'?)"),
        ("{number}", "{numer}", "f.yaml:26: operations.notes.path: there is no argument 'numer' (did you mean 'number'?)"),
        ("operation: fines", "operation: fine", "f.yaml:34: rules[0].operation: there is no operation 'fine' (did you mean 'fines'?)"),
        ("operation: fines", "operation: loans", "f.yaml:34: rules[0].operation: the operation 'loans' is available (add `available: false` to operations.loans)"),
        ("control: loans", "control: lones", "f.yaml:34: rules[0].control: there is no operation 'lones' (did you mean 'loans'?)"),
        ("operation: loans, resource: loan", "operation: fines, resource: loan", "f.yaml:35: rules[1].operation: the operation 'fines' is not available (only a rule of kind unavailable can be about it)"),
        ("resource: loan,", "resource: lone,", "f.yaml:35: rules[1].resource: there is no resource 'lone' (did you mean 'loan'?)"),
        ("resource: loan,", "resource: note,", "f.yaml:35: rules[1].resource: 'loans' does not list 'note' (known: loan)"),
        ("hides: [overdue]", "hides: [overdew]", "f.yaml:35: rules[1].hides[0]: there is no trait 'overdew' (did you mean 'overdue'?)"),
        ("trait: renewed", "trait: new", "f.yaml:50: rules[7].recent.trait: there is no trait 'new' (did you mean 'renewed'?)"),
        ("field: state", "field: stat", "f.yaml:36: rules[2].resources[0]: 'loan' has no field 'stat' (did you mean 'state'?)"),
        ("lists: [loan], ", "", "f.yaml:36: rules[2].resources[0]: no operation lists 'loan' (add it to `lists` of one)"),
        ("format: {loan: iban}", "format: {lone: iban}", "f.yaml:36: rules[2].format.lone: there is no resource 'lone' (did you mean 'loan'?)"),
        ("format: {loan: iban}", "format: {lone: iban}", "f.yaml:36: rules[2].format: there is no format for 'loan' (add `loan: ...`)"),
        ("mode: all", "mode: al", "f.yaml:37: rules[3].mode: there is no mode 'al' (did you mean 'all'?)"),
        ("value: reader", "value: readr", "f.yaml:38: rules[4].value: there is no disclosure 'readr' (did you mean 'reader'?)"),
        ("grant: consents", "grant: notes", "f.yaml:38: rules[4].grant: the operation 'notes' transmits no consent (add `grants`, the argument with the consented items, to operations.notes)"),
        ("operations: [notes]", "operations: [noted]", "f.yaml:39: rules[5].operations[0]: there is no operation 'noted' (did you mean 'notes'?)"),
        ("operations: [notes]", "operations: [loans]", "f.yaml:39: rules[5].operations[0]: 'loans' is not about a single item (add `about` to operations.loans, or leave it out here)"),
        ("operations: [notes]", "operations: [fines]", "f.yaml:39: rules[5].operations[0]: the operation 'fines' is not available (only a rule of kind unavailable can be about it)"),
        ('to: "06:00"', 'to: "01:00"', "f.yaml:40: rules[6].to: the window ends at 01:00, before it begins (split it into two clauses at midnight)"),
        ("id: b", "id: a", "f.yaml:35: rules[1].id: duplicate id 'a' (rules[0] has the same id; rename one of them)"),
        ("id: i", "id: a", "f.yaml:52: scope[0].id: duplicate id 'a' (rules[0] has the same id; rename one of them)"),
        ("id: j", "id: i", "f.yaml:54: unspecified[0].id: duplicate id 'i' (scope[0] has the same id; rename one of them)"),
    ],
)  # fmt: skip
def test_references(old: str, new: str, said: str) -> None:
    """What is named and not there is said where it is named, with what may be meant."""
    assert said in problems((old, new))


OUTLINE = """\
outline:
  sections:
    s: [1-4, 7]
    t: [2]
  not-requirements:
    - {section: s, lines: [2, 7], reason: a heading}
"""


def test_an_outline() -> None:
    """The lines of the document arrive as numbers, by section; a contract may have none."""
    assert {} == parsed().outline.sections
    outline = parsed(TEXT + OUTLINE).outline
    assert {"s": (1, 2, 3, 4, 7), "t": (2,)} == outline.sections
    (excluded,) = outline.not_requirements
    assert ("s", (2, 7), "a heading") == (excluded.section, excluded.lines, excluded.reason)


@for_each(
    ("old", "new", "said"),
    [
        ("t: [2]", "u: [2]", "f.yaml:45: rules[7].source: the outline has no line 2 in 't' (known: s, u)"),
        ("[1-4, 7]", "[1-3, 7]", "f.yaml:54: unspecified[0].source: the outline has no line 4 in 's' (correct it, or add it to outline.sections)"),
        ("[1-4, 7]", "[1-4, 9-7]", "f.yaml:57: outline.sections.s: '9-7' has no line (write the smaller number first)"),
        ("[1-4, 7]", "[1-4, 7-]", "f.yaml:57: outline.sections.s[1]: expected a line, or the first and the last of several, found '7-' (for example 7 or 10-15)"),
        ("[2, 7]", "[2, 8]", "f.yaml:60: outline.not-requirements[0].lines: the outline has no line 8 in 's' (correct it, or add it to outline.sections)"),
        ("[2, 7]", "[3]", "f.yaml:60: outline.not-requirements[0].lines: line 3 is the source of scope[0] (remove the line here)"),
        ("section: s, lines", "section: sss, lines", "f.yaml:60: outline.not-requirements[0].section: there is no section 'sss' (known: s, t)"),
    ],
)  # fmt: skip
def test_an_outline_that_does_not_fit(old: str, new: str, said: str) -> None:
    """An outline and the sources of the contract must agree."""
    text = TEXT + OUTLINE
    assert text.count(old) == 1
    with pytest.raises(InputError) as caught:
        parsed(text.replace(old, new))
    assert said in str(caught.value).splitlines()


@for_each("rule", ["kind: pagination, size: 2", "kind: listing"])
def test_a_rule_about_lists_needs_a_list(rule: str) -> None:
    """Nothing can be listed by an operation whose `lists` are left out."""
    own = f"{rule}, id: z, says: x, source: {{section: s, line: 1}}"
    add = ("scope:\n", f"  - {{{own}, operation: consents}}\nscope:\n")
    where = "f.yaml:51: rules[8].operation: the operation 'consents' lists nothing"
    assert f"{where} (add `lists` to operations.consents)" in problems(add)
    assert "z" == parsed(TEXT.replace(add[0], add[1].replace("consents", "loans"))).clauses[-1].id


def test_all_errors_come_at_once() -> None:
    """Nothing hides behind the first error, and they stand in the order of the file."""
    found = problems(("control: loans", "control: x"), ("id: j", "id: i"), ("Vienna", "Wien"))
    assert [7, 34, 54] == [int(one.split(":")[1]) for one in found]


def test_the_shipped_contract_is_found_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A shipped name is a contract wherever one stands; near by, its path is short."""
    monkeypatch.chdir(tmp_path)
    path = find_contract("aisp")
    assert ("aisp", path.is_absolute()) == (parse_contract(path).id, True)
    monkeypatch.chdir(path.parent)
    assert Path("aisp.yaml") == find_contract("aisp")


def test_a_path_is_taken_as_it_is(tmp_path: Path) -> None:
    """What looks like a path, or is one, is not looked up."""
    assert Path("aisp.yaml") == find_contract("aisp.yaml")
    assert tmp_path == find_contract(tmp_path)


def test_an_unknown_name_has_a_suggestion() -> None:
    """A name that is not shipped is compared with those that are."""
    with pytest.raises(InputError, match=r"aips: there is no such contract \(did you mean 'aisp'"):
        find_contract("aips")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moon(Kind):
    """A kind that a package adds."""

    name = "moon"

    control: Operation = parameters.operation(key="control")
    operation: Operation = parameters.operation(available=False)

    def facets(self) -> tuple[Facet, ...]:
        """Return none."""
        return ()


def test_kinds_of_other_packages_are_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind that an installed package brings has schema and references as ours have."""
    monkeypatch.setattr("assay.rules.kinds.installed", lambda: {"moon": Moon})
    text = TEXT.replace("kind: unavailable", "kind: moon")
    assert {"operation": "fines", "control": "loans"} == parsed(text).clauses[0].params
    with pytest.raises(InputError, match=r"rules\[0\].control: there is no operation 'lones'"):
        parsed(text.replace("control: loans", "control: lones"))
    with pytest.raises(InputError, match=r"rules\[0\].tide: unknown key 'tide'"):
        parsed(text.replace("kind: moon", "kind: moon, tide: 1"))
    with pytest.raises(InputError, match=r"rules\[0\]: 'says' is missing"):
        parsed(text.replace("kind: moon, says: x", "kind: moon"))


def test_public_names() -> None:
    """What others may use is what is listed."""
    assert set(parse.__all__) == {
        "find_contract",
        "parse_contract",
        "parse_document",
        "read_zone",
        "shape_problems",
    }


def test_a_long_list_is_compared_once() -> None:
    """The second of two equal items is named, however many there are, and whatever they are."""
    places = ", ".join(f"{{header: H{n % 29_999}}}" for n in range(30_000))
    text = f"assay: 1\ntarget: t\nbase_url: https://a.example\ntransport: http\nauth: {{kind: bearer, token_in: [{places}]}}\n"
    (found,) = check(loads(text), "target")
    assert "auth.token_in[29999]: duplicate item" in str(found)
