"""STET account information: lists of accounts, balances and transactions, and consents.

Accounts in the list have no links to balances and transactions: STET allows these for
consented accounts only, and the bank's list does not say which those are. Cards do not
name the account they are debited from, because the bank does not either.
"""

import json
from collections.abc import Callable, Mapping

from assay.sandbox.dialects.stet.responses import (
    StetAnswer,
    hal,
    renamed,
    unknown_members,
    with_page_links,
    with_related_links,
)
from assay.sandbox.dialects.stet.values import UNFIT, Content, OpaqueIds, find, listed, members
from assay.sandbox.messages import Malformed, read_object
from assay.sandbox.payments.terms import ABSENT

__all__ = [
    "show_accounts",
    "show_as_it_is",
    "show_balances",
    "show_transactions",
    "to_bank_consent",
]

_TYPES: Mapping[object, str] = {"account": "CACC", "card": "CARD"}
_SCHEME, _ISSUER = "CPAN", "30001"
_BALANCES: Mapping[object, str] = {
    "CLBD": "Accounting balance",
    "VALU": "Value date balance",
    "OTHR": "Instant balance",
}
#: Member names of the lists, which are the same in both interfaces.
_ACCOUNTS, _REPORT, _HISTORY = "accounts", "balances", "transactions"
_FLAGS = ("trustedBeneficiaries", "psuIdentity")


def show_accounts(content: Content, ids: OpaqueIds) -> StetAnswer:
    """Translate the list of accounts and cards; an empty first page becomes 204.

    Unless it names the customer, which an answer without a body cannot do.
    """
    links = with_page_links(hal(members(content.get("links")), ids))
    body = {
        **renamed(content, connectedPsu="PsuIdentity"),
        **_rows(content, _ACCOUNTS, lambda row: _account(row, ids)),
        **unknown_members(content, ("PsuIdentity", _ACCOUNTS, "links")),
        "_links": links,
    }
    empty = body.get(_ACCOUNTS) == [] and "connectedPsu" not in body
    return StetAnswer(body=None if empty and links.keys() <= {"self"} else body)


def show_balances(content: Content, ids: OpaqueIds) -> StetAnswer:
    """Translate the balances of an account, or the outstandings of a card."""
    links = hal(members(content.get("links")), ids)
    body = {
        **_rows(content, _REPORT, _balance),
        **unknown_members(content, (_REPORT, "links")),
        "_links": with_related_links(links, parent_list="", transactions=_HISTORY),
    }
    return StetAnswer(body=body)


def show_transactions(content: Content, ids: OpaqueIds) -> StetAnswer:
    """Translate a page of transactions or slips."""
    links = with_page_links(hal(members(content.get("links")), ids))
    body = {
        **_rows(content, _HISTORY, _transaction),
        **unknown_members(content, (_HISTORY, "links")),
        "_links": with_related_links(links, parent_list="", balances=_REPORT),
    }
    return StetAnswer(body=body)


def show_as_it_is(content: Content) -> StetAnswer:
    """Return the bank's body unchanged."""
    return StetAnswer(body=content)


def _rows(content: Content, name: str, row: Callable[[Content], Content]) -> Content:
    """Translate a list of objects; anything else is returned unchanged."""
    if name not in content:
        return {}
    rows = content[name]
    if not isinstance(rows, list):
        return {name: rows}
    return {name: [row(members(item)) if isinstance(item, dict) else item for item in listed(rows)]}


def _account(row: Content, ids: OpaqueIds) -> Content:
    kind, key = row.get("kind"), row.get("iban")
    known: Content = {}
    if "iban" in row:
        identification = {"identification": key, "schemeName": _SCHEME, "issuer": _ISSUER}
        known["accountId"] = {"other": identification} if kind == "card" else {"iban": key}
    if isinstance(key, str):
        known = {"resourceId": ids.issue(key), **known}
    if isinstance(kind, str):
        known["cashAccountType"] = _TYPES.get(kind, kind)
    return {
        **known,
        **renamed(row, name="name", currency="currency"),
        "psuStatus": "Account Holder",
        "_links": {},
        **unknown_members(row, ("kind", "iban", "name", "currency")),
    }


def _money(row: Content, amount: object) -> Content:
    known = renamed(row, currency="currency")
    return {**known, "amount": amount} if "amount" in row else known


def _balance(row: Content) -> Content:
    kind = row.get("balanceType")
    return {
        "name": _BALANCES.get(kind, "Balance") if isinstance(kind, str) else "Balance",
        "balanceAmount": _money(row, row.get("amount")),
        **renamed(row, balanceType="balanceType"),
        **unknown_members(row, ("iban", "balanceType", "amount", "currency")),
    }


def _transaction(row: Content) -> Content:
    amount, label = row.get("amount"), row.get("label")
    debit = isinstance(amount, str) and amount.startswith("-")
    positive = amount.removeprefix("-") if isinstance(amount, str) else amount
    return {
        **renamed(row, entryReference="id"),
        "transactionAmount": _money(row, positive),
        "creditDebitIndicator": "DBIT" if debit else "CRDT",
        "status": "BOOK",
        **renamed(row, bookingDate="bookingDate"),
        "remittanceInformation": [label] if "label" in row else [],
        **unknown_members(row, ("id", "iban", "bookingDate", "amount", "currency", "label")),
    }


def to_bank_consent(body: bytes) -> bytes:
    """Translate a consent; the bank has one list where STET has two.

    An account is consented to if both lists contain it. A malformed body is passed on, and
    an invalid consent becomes an invalid consent of the bank, for the bank to refuse. The
    same holds for empty lists, because the bank cannot revoke a consent.
    """
    try:
        content = read_object(body)
    except Malformed:
        return body
    consent: Content = {"accounts": _consented(content)}
    credentials = {name: content[name] for name in ("login", "password") if name in content}
    return json.dumps({**consent, **credentials}).encode()


def _consented(content: Content) -> object:
    balances, transactions = (_keys(content.get(name)) for name in (_REPORT, _HISTORY))
    flags = all(isinstance(content.get(name), bool) for name in _FLAGS)
    if balances is None or transactions is None or not flags:
        return UNFIT
    both = set(transactions)
    return [key for key in dict.fromkeys(balances) if key in both]


def _keys(accounts: object) -> list[str] | None:
    """Parse a list of accounts; None if it is none, or an account has no identifier."""
    if not isinstance(accounts, list):
        return None
    keys: list[str] = []
    for account in listed(accounts):
        key = find(account, ("iban",))
        if key is ABSENT:
            key = find(account, ("other", "identification"))
        if not isinstance(key, str):
            return None
        keys.append(key)
    return keys
