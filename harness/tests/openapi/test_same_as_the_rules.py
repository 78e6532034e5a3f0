"""The exported schema and the rule never differ on what an answer may hold."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from documented import LAB, SHIPPED, Documented, joined
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.binding.wire.decode import body_of, decode
from assay.history import Call, Exchange, History, Owned, Subject, Wire
from assay.openapi import document
from assay.rules.obligation import bound_clauses
from assay.rules.verdict import Agreement

NOW = datetime(2026, 3, 4, tzinfo=UTC)
#: What may stand in any field: right, wrong, nothing, of another type.
WORDS = st.sampled_from(
    [
        "EUR", "eur", "USD", "CLBD", "clbd", "ITAV", "", " ", None, 0, 1, True, [], {}, ["EUR"],
        "FR7630001007941234567890185", "FR7730001007941234567890185", "fr76 3000 1007 9412 3456 7890 185",
        "4970101234567890", "4970100000000007", "bm90LWEtY2FyZC1udW1iZXI", "mg", "MG", "none",
    ]
)  # fmt: skip
LACKING = object()


def item(*pointers):
    """Return a strategy for items with any value, or none, at each of some pointers."""
    each = {one: WORDS | st.just(LACKING) for one in pointers}
    return st.fixed_dictionaries(each).map(nested)


def nested(values):
    out = {}
    for pointer, value in values.items():
        *way, last = pointer.split("/")
        here = out
        for step in way:
            here = here.setdefault(step, {})
        if value is not LACKING:
            here[last] = value
    return out


#: Contracts and target, a call, where its answer is documented, what is listed, and clauses.
CASES = {
    "accounts": (
        SHIPPED,
        Call(operation="accounts", subject="psu"),
        ("get", "/accounts"),
        lambda rows: {"accounts": rows},
        st.builds(
            lambda kind, one: {**one, "kind": kind},
            st.sampled_from(["account", "card", "safe", None, 1]),
            item("iban"),
        ),
        ("iban",),
    ),
    "accounts that may lack it": (
        SHIPPED,
        Call(operation="accounts", subject="psu"),
        ("get", "/accounts"),
        lambda rows: {"accounts": rows},
        st.builds(lambda one: {**one, "kind": "account"}, item("iban")),
        ("iban",),
    ),
    # An account's balance has a type, a card's outstanding may lack it, and one list shows both.
    "balances that may lack it": (
        SHIPPED,
        Call(operation="balances", subject="psu", arguments={"iban": "K"}),
        ("get", "/accounts/balances"),
        lambda rows: {"balances": rows},
        item("currency", "balanceType"),
        ("euro", "balance-type"),
    ),
    "findings": (
        LAB,
        Call(operation="findings", subject="psu", arguments={"barcode": "K"}),
        ("post", "/tubes/search"),
        lambda rows: {"verdict": "done", "found": rows},
        item("measured/in"),
        ("unit",),
    ),
}
OWNER = {"findings": "specimen"}


def lenient(bound):
    """Return a contract whose fields are optional."""
    clauses = tuple(
        replace(one, params={k: v for k, v in one.params.items() if k != "mandatory"})
        for one in bound.contract.clauses
    )
    return replace(bound, contract=replace(bound.contract, clauses=clauses))


@pytest.mark.parametrize("name", CASES)
def test_what_the_rule_finds_the_schema_finds_and_nothing_more(name):
    """An answer fits the document if, and only if, no check of a field disagrees with it."""
    where, call, (method, path), whole, row, clauses = CASES[name]
    bound, target = joined(*where)
    if "lack" in name:
        bound = tuple(lenient(each) for each in bound)
    known = Documented(document(bound, target))
    contract = next(each.contract for each in bound if call.operation in each.contract.operations)
    ruled = [bound_clauses(contract)[one] for one in clauses]
    owner = Subject(
        name="psu", now=NOW, owns=(Owned(key="K", resource=OWNER.get(name, "account")),)
    )
    seen = set()

    @settings(max_examples=200, database=None, derandomize=True)
    @given(st.lists(row, max_size=3))
    def same(rows):
        wire = Wire(
            method=method.upper(),
            url=target.base_url + path,
            status=200,
            headers=(("content-type", "application/json"),),
            body=json.dumps(whole(rows)).encode(),
        )
        outcome = decode(wire, body_of(wire), contract.operations[call.operation], target)
        exchange = Exchange(n=1, at=NOW, call=call, outcome=outcome, wire=wire)
        history = History(events=(owner, exchange))
        found = [one for each in ruled for one in each.kind.check(history)]
        wrong = any(one.agreement is Agreement.DISAGREES for one in found)
        assert exchange.accepted
        assert wrong == bool(known.response(wire))
        seen.add(wrong)

    same()
    assert {True, False} == seen
