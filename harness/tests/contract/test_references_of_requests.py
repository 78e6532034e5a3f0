"""What rules about requests refer to has to be there, and has to be of the right sort."""

from __future__ import annotations

import pytest
from rows import for_each

from assay.errors import InputError
from assay.files.load import loads
from assay.parsing.parse import parse_document

TEXT = """\
assay: 1
contract: loans
title: Library loans
version: "2"
interface: loans
document: Library Guide
zone: Europe/Vienna
resources:
  order:
    says: an order of a book
    key: id
    fields: [id, card]
  card:
    says: a card of the reader
    key: number
    fields: [number]
    traits: {lost: it was lost, stolen: it was stolen}
  note: {says: a note on a card, of: card, traits: {long: it is long}}
operations:
  order:
    method: POST
    path: /orders
    makes: order
    owned: card
    modes: [now, later]
    arguments: [card]
  show: {method: GET, path: "/orders/{id}", shows: order, about: id}
  cards: {method: GET, path: /cards, lists: [card]}
  notes: {method: GET, path: "/cards/{number}/notes", lists: [note], about: number}
rules:
  - {id: a, kind: addressed, says: x, source: {section: s, line: 1}, request: order, operations: [show]}
  - {id: b, kind: modes, says: x, source: {section: s, line: 1}, request: order, served: [now], refused: [later]}
  - {id: c, kind: eligible-for, says: x, source: {section: s, line: 1}, request: order, refuses: [lost]}
  - {id: d, kind: segments, says: x, source: {section: s, line: 1}, request: order, served: [adult], refused: [child]}
"""


def problems(old: str, new: str) -> list[str]:
    """List the errors of the contract above with something changed."""
    assert old in TEXT
    with pytest.raises(InputError) as caught:
        parse_document(loads(TEXT.replace(old, new, 1), "f.yaml"))
    return [str(one) for one in caught.value.problems]


def test_the_contract_itself_is_sound() -> None:
    """So that each change below is what is wrong."""
    assert "loans" == parse_document(loads(TEXT, "f.yaml")).id


@for_each(
    ("old", "new", "said"),
    [
        ("operations: [show]", "operations: [shew]", "f.yaml:31: rules[0].operations[0]: there is no operation 'shew' (did you mean 'show'?)"),
        ("operations: [show]", "operations: [order]", "f.yaml:31: rules[0].operations[0]: 'order' is not about a single item (add `about` to operations.order, or leave it out here)"),
        ("operations: [show]", "operations: [notes]", "f.yaml:31: rules[0].operations[0]: 'notes' is about no 'order' (add `shows`, `changes` or `ends` to operations.notes, or leave it out here)"),
        ("request: order, served: [now]", "request: card, served: [now]", "f.yaml:32: rules[1].request: no operation makes 'card' (add `makes: card` to one)"),
        ("served: [now]", "served: [nou]", "f.yaml:32: rules[1].served[0]: there is no mode 'nou' (did you mean 'now'?)"),
        ("refused: [later]", "refused: [latter]", "f.yaml:32: rules[1].refused[0]: there is no mode 'latter' (did you mean 'later'?)"),
        ("refused: [later]", "where-offered: [latter]", "f.yaml:32: rules[1].where-offered[0]: there is no mode 'latter' (did you mean 'later'?)"),
        (", served: [now], refused: [later]", "", "f.yaml:32: rules[1]: expected at least one of served, where-offered and refused, found none of them"),
        ("served: [now]", "served: []", "f.yaml:32: rules[1].served: expected a list of at least one name, found an empty list"),
        ("refuses: [lost]", "refuses: [lsot]", "f.yaml:33: rules[2].refuses[0]: there is no trait 'lsot' (did you mean 'lost'?)"),
        ("refuses: [lost]", "refuses: [long]", "f.yaml:33: rules[2].refuses[0]: there is no trait 'long' (known: lost, stolen)"),
        ("    owned: card\n", "", "f.yaml:32: rules[2].refuses: 'order' names no resource that the customer owns (add `owned`, the argument that names the resource, to the operation that makes it)"),
        ("served: [adult]", "served: []", "f.yaml:34: rules[3].served: expected a list of at least one name, found an empty list"),
        ("refused: [child]", "refused: [child, child]", "f.yaml:34: rules[3].refused[1]: duplicate item 'child' (remove one)"),
    ],
)  # fmt: skip
def test_references(old: str, new: str, said: str) -> None:
    """What is named and not there is said where it is named, with what may be meant."""
    assert [said] == problems(old, new)


def test_segments_are_no_names_of_the_contract() -> None:
    """What a world calls its customers stands in the target file."""
    changed = TEXT.replace("served: [adult]", "served: [now]")
    assert "loans" == parse_document(loads(changed, "f.yaml")).id
