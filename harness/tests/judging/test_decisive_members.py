"""The member that decides evidence, as one bank spells it in one answer."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from embedded import run_plan
from shipped import VARIANTS, bank_of

from assay.binding.model.pointer import ElementPointer
from assay.binding.model.spelling import (
    ErrorAt,
    FieldAt,
    ItemBinding,
    NextPage,
    OperationBinding,
    StateAt,
    Turn,
)
from assay.binding.model.target import Target, TransportKind
from assay.history import ERROR_CODE, Call, Item, Member
from assay.judging.corrections import located
from assay.preparation.prepare import prepare
from assay.rules.checks import evidence_of
from assay.rules.verdict import Agreement, Evidence
from assay.testing import accepted, errors, exchange, history, kind_in, listed, refused

DESK = Path(__file__).parents[1] / "general_kinds" / "desk.yaml"
ITEM = ItemBinding(
    key=("/id",),
    on=("/booked", "/value"),
    state=StateAt(at=("/state/code", "/state/reason"), values={}),
    fields={
        "currency": FieldAt(at=("/amount/cur", "/cur")),
        "name": FieldAt(at=(ElementPointer("/names", {"/lang": "en"}, "/text"),)),
    },
)
LISTED = OperationBinding(
    list=("/groups/*/items", "/others"),
    next=NextPage(turn=Turn.LINK, at="/_links/next"),
    links=("/_links/self",),
    values={"owner": "/meta/owner"},
    item=ITEM,
)
BODY = {
    "groups": [{"items": [{"id": "1", "cur": "EUR"}]}, {"items": []}, {"items": [{"id": "1"}]}],
    "others": [{"id": "1", "cur": "EUR", "amount": {"cur": "EUR"}, "value": "2026-01-01"}],
    "_links": {"self": "https://bank.example/1"},
}
ERRORS = ErrorAt(list=("/errors",), code=("/code",), fields={"text": FieldAt(at=("/message",))})


def target(binding=LISTED, error=ERRORS):
    """Return a bank with an operation that lists accounts."""
    return Target(
        name="t",
        transport=TransportKind.HTTP,
        base_url="https://bank.example",
        operations={"accounts": binding},
        error=error,
    )


def located_in(body, member, bank=None, agreement=Agreement.DISAGREES):
    """Return the evidence on a member of the second of two exchanges."""
    call = Call(operation="accounts", subject="psu")
    answered = exchange(call, accepted())
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    answered = replace(answered, n=2, wire=replace(answered.wire, body=raw))
    evidence = Evidence(
        facet="f",
        agreement=agreement,
        expected="a",
        seen="b",
        exchanges=(2, 3),
        decisive=2,
        member=member,
    )
    other = replace(answered, n=3, wire=replace(answered.wire, body=b"{}"))
    return located(evidence, {2: answered, 3: other}, bank or target())


@pytest.mark.parametrize(
    ("member", "pointer"),
    [
        (Member(feature="field", name="currency", place=0), "/groups/0/items/0/cur"),
        (Member(feature="field", name="currency", place=1), "/groups/2/items/0/amount/cur"),
        (Member(feature="field", name="currency", place=2), "/others/0/amount/cur"),
        (Member(feature="key", place=1), "/groups/2/items/0/id"),
        (Member(feature="on", place=2), "/others/0/value"),
        (Member(feature="state", place=2), "/others/0/state/code"),
        (Member(feature="value", name="owner"), "/meta/owner"),
        (Member(feature="next"), "/_links/next"),
        (Member(feature="links", name="https://bank.example/1"), "/_links/self"),
        (Member(feature="links", name="https://bank.example/2"), ""),
        (Member(feature="field", name="iban", place=0), ""),
    ],
    ids=lambda each: each if isinstance(each, str) else f"{each.feature} {each.place}",
)
def test_in_items_of_several_lists(member, pointer):
    """An item is found by its place, a field by the first pointer that finds it, or else the first."""
    found = located_in(BODY, member)
    assert (pointer, None) == (found.pointer, found.member)


def test_condition_of_an_element():
    """A pointer with a condition leads to the element that meets it; without one, to the list."""
    name = Member(feature="field", name="name")
    names = [{"lang": "de", "text": "x"}, {"lang": "en", "text": "x"}]
    one = target(OperationBinding(one="", item=ITEM))
    assert "/names/1/text" == located_in({"names": names}, name, one).pointer
    assert "/names" == located_in({"names": names[:1]}, name, one).pointer


def test_single_item():
    """A single item is where the target file says, and its whole list is a member as well."""
    one = target(OperationBinding(one="/data", item=ITEM))
    assert "/data/id" == located_in({"data": {"id": "1"}}, Member(feature="key"), one).pointer
    accounts = target(OperationBinding(list=("/a", "/b")))
    assert "/b" == located_in({"b": []}, Member(feature="list"), accounts).pointer


def test_errors():
    """An error is found by its place; where there is none, the first one should be there."""
    body = {"errors": [{"code": "A", "message": "m"}, {"code": "A"}]}
    text = Member(feature="error", name="text", place=1)
    assert "/errors/1/message" == located_in(body, text).pointer
    code = Member(feature="error", name=ERROR_CODE, place=1)
    assert "/errors/1/code" == located_in(body, code).pointer
    assert "/errors/0/code" == located_in({}, Member(feature="error", name=ERROR_CODE)).pointer
    one = target(error=ErrorAt(one="/error", code=("/code",)))
    assert "/error/code" == located_in({}, Member(feature="error", name=ERROR_CODE), one).pointer


def test_header():
    """A header is named, also where a body is no JSON; the name of one is no pointer."""
    found = located_in(b"oops", Member(feature="header", name="X-Request-ID"))
    assert ("", "X-Request-ID") == (found.pointer, found.header)
    paged = target(OperationBinding(next=NextPage(turn=Turn.HEADER, at="Link")))
    assert "" == located_in({}, Member(feature="next"), paged).pointer


@pytest.mark.parametrize("body", [b"oops", b"", b"{"], ids=["text", "empty", "cut"])
def test_no_json(body):
    """What is no JSON has no pointer, missing members included."""
    assert "" == located_in(body, Member(feature="value", name="owner")).pointer


def test_what_agrees():
    """Evidence that agrees rests on no single member, nor does a check without one name any."""
    member = Member(feature="key")
    agreeing = located_in(BODY, member, agreement=Agreement.AGREES)
    assert ("", None) == (agreeing.pointer, agreeing.member)
    assert "" == located_in(BODY, None).pointer


def test_equal_items():
    """Of items that are equal, a check names the one that it means, and no error in its place."""
    items = [Item(key="1"), Item(key="1"), Item(key="1")]
    answered = exchange(Call(operation="accounts", subject="psu"), listed(*items))
    assert Member(feature="key", place=2) == answered.member_of(items[2], "key")
    assert answered.member_of(None, "key") is None
    error = errors("A", "A")
    answered = exchange(Call(operation="accounts", subject="psu"), refused(error=error))
    second = Member(feature="error", name="code", place=1)
    assert second == answered.member_of(error.errors[1], "error", "code")


#: The pointers of the sandbox and of STET in the violations of a fault.
POINTERS = {
    "paging.accounts-stays": ("/links/next", "/_links/next/href"),
    "paging.accounts-last-repeats-first": ("/accounts/3/iban", "/accounts/3/accountId/iban"),
    "euro.transaction-last-in-francs": (
        "/transactions/2/currency",
        "/transactions/2/transactionAmount/currency",
    ),
    "balance-type.balance-first-untyped": ("/balances/0/balanceType", "/balances/0/balanceType"),
    "identity.always": ("/PsuIdentity", "/connectedPsu"),
    "own.account-of-another-customer": ("/accounts/2/iban", "/accounts/2/accountId/iban"),
    "depth.asked-one-day-more": ("/transactions/6/bookingDate", "/transactions/6/bookingDate"),
    "links.accounts-self-elsewhere": ("/links/self", "/_links/self/href"),
    "eligible.inactive-listed": ("/accounts/0/iban", "/accounts/0/accountId/iban"),
    "pis.modify.keeps-amount": (
        "/amount",
        "/paymentRequest/creditTransferTransaction/0/instructedAmount/amount",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", POINTERS)
def test_of_two_banks(fault):
    """A fault is found in the same member of two banks, where each of them spells it."""
    interface = "pis" if fault.startswith("pis.") else "aisp"
    words = {violated.partition("/")[2].partition("/")[0] for violated in VARIANTS[fault].breaks}
    for target_name, pointer in zip((None, "stet-1.4.0"), POINTERS[fault], strict=True):
        prepared = prepare((interface,), target_name=target_name, keywords=" or ".join(words))
        result = run_plan(prepared.plan, prepared.target, bank_of(fault))
        found = {each.pointer for verdict in result.verdicts for each in verdict.evidence}
        assert pointer in found


def members(kind, *events):
    """Return the members that decide violations of a literal history, with their exchanges."""
    return [
        (each.shown_by, each.member)
        for each in evidence_of(kind, history(*events))
        if each.agreement is Agreement.DISAGREES
    ]


def test_filtered_item():
    """Of what a filter should have left out, the first item decides, on the page that shows it."""
    kind, good = kind_in(DESK, "selected"), Item(key="A", fields={"status": "booked"})
    wrong = Item(key="A", fields={"status": "pending"})
    sent = {"number": "N", "status": "booked"}
    call = Call(operation="entries", subject="psu", arguments=sent)
    first = exchange(call, listed(good, good, next="2"))
    second = exchange(replace(call, follow="2"), listed(good, good, wrong))
    third = Member(feature="field", name="status", place=2)
    assert [(2, third)] == members(kind, first, second)


def test_word_of_an_item():
    """A wrong word decides in the item that has it."""
    words = [Item(key=str(n), fields={"status": word}) for n, word in enumerate(("received", "no"))]
    call = Call(operation="order", subject="psu")
    found = members(kind_in(DESK, "order-status"), exchange(call, accepted(words[1])))
    assert {(1, Member(feature="field", name="status"))} == set(found)


def test_error_among_several():
    """The first error decides that has a wrong value, or lacks one; without any, a first one."""
    kind, call = (
        kind_in(DESK.with_name("errors.yaml"), "errors"),
        Call(operation="accounts", subject="psu"),
    )

    def found(error):
        return [
            member for _, member in members(kind, exchange(call, refused(status=400, error=error)))
        ]

    code = Member(feature="error", name=ERROR_CODE, place=1)
    assert [code] == found(errors("A", "", fields={"class": "limit"}))
    assert Member(feature="error", name=ERROR_CODE) in found(errors())
    assert Member(feature="error", name="class") in found(errors("A", fields={"class": "other"}))


def test_repeated_header():
    """A header that is not repeated decides."""
    sent = {"number": "A", "X-Request-ID": "r-1"}
    call = Call(operation="entries", subject="psu", arguments=sent)
    ((_, member),) = members(kind_in(DESK, "echo"), exchange(call, accepted()))
    assert ("header", "x-request-id") == (member.feature, member.name.lower())
