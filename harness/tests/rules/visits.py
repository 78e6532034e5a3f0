"""A small contract about visits that are ordered, for conditions that no shipped contract has."""

from assay.files.load import loads
from assay.parsing.parse import parse_document
from assay.rules.kinds.requests import decision

CONTRACT = """
assay: 1
contract: visits
title: Visits
version: "1"
interface: visits
document: Guide to visits
zone: Europe/Vienna
resources:
  meter: {says: a meter of the customer, key: number, fields: [number]}
  visit: {says: a visit, key: visitId, fields: [visitId]}
operations:
  order:
    method: POST
    path: /visits
    makes: visit
    owned: number
    returns: backTo
    modes: [soon, planned]
    due: {argument: day, modes: [planned]}
    arguments: [number, work, price, region, day, backTo]
  show: {method: GET, path: "/visits/{visitId}", shows: visit, about: visitId}
rules:
  - id: signed
    kind: factors
    says: Orders are signed with a code or a card.
    source: {section: Signing, line: 1}
    request: visit
    offered: {household: [code, card], farm: [card, stamp]}
  - id: ruled
    kind: decision
    says: Some orders are rejected.
    source: {section: Rules, line: 2}
    request: visit
    result: rejected
    when: WHEN
"""

#: Five atoms in all, any and not.
FIVE = """
      any:
        - all:
            - {field: work, is: gas}
            - not: {factor: card}
            - {registered: work, more-than-hours: 48}
        - not:
            any:
              - not: {field: price, above: 500.00}
              - {field: region, is: north}
"""


def contract(when, factors=True):
    """Return the contract with this condition; without the rule that names factors, if told."""
    text = CONTRACT.replace("WHEN", when)
    if not factors:
        begin, end = text.index("  - id: signed"), text.index("  - id: ruled")
        text = text[:begin] + text[end:]
    return parse_document(loads(text, "visits.yaml"))


def params(when, factors=True):
    """Return what the rule reads from the condition."""
    one = contract(when, factors)
    return decision.DecisionRule.parse(next(c for c in one.clauses if c.id == "ruled"), one)


def table(when, factors=True):
    """Return the table that is derived from the condition."""
    return params(when, factors).table
