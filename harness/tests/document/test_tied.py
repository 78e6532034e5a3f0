"""Every sentence of the document is tied to the contract, and the other way round.

`service.md` beside this file is a copy, word for word, of the document that the shipped
contracts were written from. Each of its sentences and table cells must be covered by the
words of a `source` in `contract/aisp.yaml` and in `contract/pis.yaml` (of a rule, a scope
statement or an open point), or stand in the tables below with the reason why it is set
aside for one of them: it is about the other interface, or about none. What is true of a
rule is not tested here, only that nobody forgot it and that nothing was invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from rows import for_each

from assay.contract.model import Contract, Source
from assay.parsing.parse import find_contract, parse_contract

LINES = Path(__file__).with_name("service.md").read_text("utf-8").splitlines()
CONTRACTS = {name: parse_contract(find_contract(name)) for name in ("aisp", "pis")}

#: Sentences and cells that no contract need cover, by line: the heads of tables, and what announces a list.
NOTHING = """\
31 | Field | Used in | Meaning / allowed values
56 | Method | Path shape | Purpose | Availability
67 | Method | Path shape | Purpose | Availability
102 | Condition | Result
114 | Limit | Value
3 | Both are covered here, in the nine parts below.
9 | Scope of the account information interface:
16 | Scope of the payment initiation interface:
22 | Environments:
29 | Fields and values that the interface names:
"""
#: What is about payment initiation alone, which the account information leaves out.
PAYMENTS = """\
8 | The payment initiation interface lets a TPP initiate, read, and (for deferred payments) modify or cancel a single euro payment on behalf of the PSU.
17 | It applies to authorised and eligible payment accounts (accounts from which daily payment transactions can be made) that are accessible online.
18 | Customer segments served: retail customers (code PART) and small professionals (code PRO).
19 | Excluded segments: large professionals, corporates and associations (they use a separate direct-access interface), and legal guardians (they use another separate direct-access interface).
20 | Only single payment initiation requests in euro are managed, as either an SCT CORE credit transfer (immediate or deferred) or an instant payment.
21 | Instant payment is unavailable at two of the banks of the group.
37 | chargeBearer | payment request (POST) | Mandatory. | Must be "SLEV"
38 | categoryPurpose | payment request (POST) | Mandatory. | Value "CASH" is named and has a special rule (see Errors)
39 | creditorAccount | payment request (POST) | Mandatory
40 | successfulReportUrl | payment request (POST) | Mandatory
41 | paymentRequestResourceId | payment request | Identifier of a payment request resource, used as a path segment
52 | The payment initiation interface also offers a second host form `www.<bankcode>.live.<bank_domain>`, aligned with the bank's direct-access domain.
69 | POST | /payment-requests | Create a single payment initiation request. | Mandatory fields: chargeBearer (must be "SLEV"), categoryPurpose, creditorAccount, successfulReportUrl. | Available
70 | GET | /payment-requests (a request is addressed by paymentRequestResourceId) | Read a payment request. | Available
71 | PUT | /payment-requests (a request is addressed by paymentRequestResourceId) | Modify a payment request; only for deferred payments. | Available
72 | POST | /payment-requests/{paymentRequestResourceId}/confirmation | Confirm a payment request. | Not available
74 | Cancellation of a payment initiation can be done through the API or by the PSU through the bank's direct access.
84 | SCA factors for payment initiation:
85 | Retail PSU: password plus one or more of: SMS one-time password, CAP reader, soft token.
86 | Small professional PSU: password plus one or more of: SMS one-time password, CAP reader.
87 | No SCA exemptions apply.
104 | Payment request identical to one already executed (same date, same debtor and creditor IBAN, same amount, and the other parameters) | Rejected, as in direct access
105 | categoryPurpose is "CASH", and the PSU did not perform SCA with the soft token, and the creditor IBAN was not registered by the PSU through direct access more than 72 hours earlier | Rejected
106 | POST on payment requests without chargeBearer, categoryPurpose, creditorAccount or successfulReportUrl, or with chargeBearer other than "SLEV" | Request does not meet the contract and is not accepted
107 | PSU idle 4 minutes on a redirect screen, or 30 minutes overall | PSU is treated as disconnected; no redirection back to the TPP is made
123 | Redirect-screen idle time, payment initiation | 4 minutes; 30 minutes overall
124 | Age of a registered creditor IBAN for the CASH rule | More than 72 hours
125 | Payment types | Single payments in euro only (SCT CORE immediate or deferred; instant payment where offered)
127 | Scheduled maintenance, payment initiation interface | Every Monday 02:00 to 06:00; disturbances possible
"""
#: What is about account information alone, which payment initiation leaves out.
ACCOUNTS = """\
7 | The account information interface lets a third-party provider (TPP) read, with the consent of the bank customer (PSU), the list of accounts and delayed debit cards, their balances (or card outstandings), and their transactions (or card slips).
10 | It can be used for all banks of its group except one bank of that group.
11 | It applies only to active payment accounts that are accessible online. | Only current accounts are returned.
12 | Delayed debit cards are returned only if they are active and have been used at least once in the past two months.
13 | The consent mode is mixed, not full (see Authentication).
14 | The "aisp extended_transaction_history" mode is unsupported.
15 | The list of trusted beneficiaries is unavailable, because the bank has no such feature.
33 | currency | balances, transactions | Euro only
34 | iban | accounts, balances, transactions | IBAN of an account, or encrypted PAN for a delayed debit card
35 | balanceType | balances | "CLBD" = accounting balance; "VALU" = value date balance; "OTHR" = instant balance
36 | PsuIdentity | consent flow | Value transmitted by retrieving the list of consented accounts, when the customer has given consent
58 | GET | /accounts | List accounts and delayed debit cards. | Paginated (see Limits). | With no consent transmitted, all accounts are listed. | Available
59 | PUT | /consents | Transmit the PSU's consent for a set of accounts. | Available
60 | GET | /accounts/balances (also named /balances) | Balances report of an account and outstandings report of a delayed debit card. | Filter/identifier: iban. | Returns balances typed by balanceType (CLBD, VALU, OTHR) in euro. | Available. | Data only for consented accounts
61 | GET | /accounts/transactions (also named /accounts/{}/transactions and /transactions) | Transactions of an account and slips of a delayed debit card. | Identifier: iban. | Up to 90 days. | Paginated (see Limits). | Available. | Data only for consented accounts
62 | GET | /trustedBeneficiaries | List of trusted beneficiaries | Not available
63 | GET | /endUserIdentity | Identity of the end user | Not available in the first step; announced for a later step
78 | Names of the query parameters that set the page size: not shown.
88 | Account information consent is mixed:
89 | With no consent transmitted, all accounts are listed.
90 | Balances and transactions of accounts, and outstandings and slips of cards, are available only for the accounts for which consent was given.
91 | PsuIdentity is transmitted by retrieving the list of consented accounts when the customer has given consent.
116 | Batch accesses (TPP access without the customer present), account information | Up to 4 per calendar day, for every method
117 | Accesses when the customer asks directly online | No limit
118 | Transaction history depth | Up to 90 days
120 | Accounts/cards per page, GET /accounts | Default 5
121 | Transactions per page, GET transactions of an account | Default 15
122 | Card eligibility | Active delayed debit cards used at least once in the past two months
126 | Scheduled maintenance, account information interface | Every Sunday 02:00 to 06:00; disturbances possible
132 | The first step of the account information interface offers only GET /accounts, PUT /consents, GET balances and GET transactions. | GET /trustedBeneficiaries and GET /endUserIdentity are announced for later.
"""


def in_table(table: str) -> frozenset[tuple[int, str]]:
    """Return the sentences and cells of a table, each with its line."""
    rows = (row.split(" | ") for row in table.splitlines())
    return frozenset((int(line), text) for line, *texts in rows for text in texts)


#: What each contract may leave out, and what it may not.
ASIDE = {
    "aisp": in_table(NOTHING) | in_table(PAYMENTS),
    "pis": in_table(NOTHING) | in_table(ACCOUNTS),
}

#: Open points that ask about the words of a rule or statement. They tie nothing by
#: themselves: a question is no substitute for the rule.
DOUBTS = {
    "aisp": {
        "whose-midnight",
        "what-counts",
        "presence-signal",
        "consent-replacement",
        "listed-after-consent",
        "shorter-history",
        "card-edge",
        "all-balances",
        "typed-outstandings",
        "entries-of-payments",
        "go-live-of-a-tpp",
        "which-banks",
    },
    "pis": {
        "whose-midnight",
        "which-banks",
        "who-cancels-what",
        "all-factors",
        "timer-edge",
        "after-refusal",
        "end-of-a-state",
        "dated-instant",
        "go-live-of-a-tpp",
        "when-rejected",
    },
}


class Sentence(NamedTuple):
    """A sentence or table cell, and where it stands in its line."""

    line: int
    begin: int
    end: int

    @property
    def text(self) -> str:
        return LINES[self.line - 1][self.begin : self.end]


def sentences() -> Iterator[Sentence]:
    """Split every line that is no heading into sentences or table cells."""
    for number, line in enumerate(LINES, 1):
        if line.startswith("#") or not line.strip(" |-"):
            continue
        if line.startswith("|"):
            blocks = [
                (m.start(1), m.end(1)) for m in re.finditer(r"\| *([^|]*[^|\s]) *(?=\|)", line)
            ]
        else:
            marker = re.match(r"\s*(?:\d+\.|-)?\s*", line)
            blocks = [(marker.end() if marker else 0, len(line))]
        for begin, end in blocks:
            breaks = [m.span() for m in re.finditer(r"(?<=\.)\s+(?=[A-Z{])", line[begin:end])]
            starts = [begin, *(begin + after for _, after in breaks)]
            ends = [*(begin + before for before, _ in breaks), end]
            yield from (Sentence(number, *span) for span in zip(starts, ends, strict=True))


SENTENCES = tuple(sentences())


def sources(contract: Contract) -> list[tuple[str, Source]]:
    """List every source with the id of what names it."""
    owners = (*contract.clauses, *contract.scope, *contract.open_points)
    return [(one.id, source) for one in owners for source in one.sources]


#: Of each contract: whose words are quoted, and which of these tie anything.
QUOTES = {
    name: [(id_, source) for id_, source in sources(one) if source.line]
    for name, one in CONTRACTS.items()
}
TIES = {
    name: [(id_, source) for id_, source in quotes if id_ not in DOUBTS[name]]
    for name, quotes in QUOTES.items()
}


def covers(source: Source, sentence: Sentence) -> bool:
    """Whether the words of a source and a sentence share a stretch of a line."""
    if source.line != sentence.line or not source.text:
        return False
    spots = re.finditer(re.escape(source.text), LINES[source.line - 1])
    return any(m.start() < sentence.end and sentence.begin < m.end() for m in spots)


def words(source: Source) -> set[tuple[int, int]]:
    """Return the letters of the document that a source quotes, by line and place."""
    spots = re.finditer(re.escape(source.text), LINES[source.line - 1])
    return {(source.line, n) for m in spots for n in range(*m.span())}


def untied(contract: str) -> list[str]:
    """List the sentences that no source covers."""
    left = [source for _, source in TIES[contract]]
    return [
        f"{sentence.line}: {sentence.text}"
        for sentence in SENTENCES
        if (sentence.line, sentence.text) not in ASIDE[contract]
        and not any(covers(source, sentence) for source in left)
    ]


def headings(number: int) -> set[str]:
    """Return the headings that a line stands under, the nearest of each level."""
    nearest: dict[int, str] = {}
    for line in LINES[:number]:
        if line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            nearest = {key: text for key, text in nearest.items() if key < level}
            nearest[level] = line.lstrip("# ")
    return set(nearest.values())


@for_each("contract", CONTRACTS)
def test_every_sentence_is_tied(contract: str) -> None:
    """No sentence on an interface is left without a place in its contract."""
    assert untied(contract) == []


def test_nothing_is_about_neither() -> None:
    """What one contract leaves out to the other, the other does not leave out."""
    assert set() == in_table(ACCOUNTS) & in_table(PAYMENTS)


def test_the_document_is_read_whole() -> None:
    """The splitter loses no word: sentences together are the lines without their marks."""
    for number, line in enumerate(LINES, 1):
        if line.startswith("#") or not line.strip(" |-"):
            continue
        words = " ".join(one.text for one in SENTENCES if one.line == number)
        plain = re.sub(r"^\s*(\d+\.|-)\s+", "", line).replace("|", " ")
        assert plain.split() == words.split()


@for_each("contract", CONTRACTS)
def test_what_is_set_aside_is_there_and_needed(contract: str) -> None:
    """Nothing is set aside that the document does not say or that a source covers."""
    there = {(one.line, one.text): one for one in SENTENCES}
    aside = ASIDE[contract]
    assert set() == aside - there.keys()
    ties = [source for _, source in TIES[contract]]
    assert set() == {key for key in aside if any(covers(one, there[key]) for one in ties)}


@for_each("contract", CONTRACTS)
def test_sources_quote_the_document(contract: str) -> None:
    """The words of a source stand in its line, and its section is a heading above it."""
    for id_, source in QUOTES[contract]:
        assert source.line <= len(LINES), id_
        assert source.text, f"{id_} quotes nothing"
        assert source.text in LINES[source.line - 1], id_
        assert source.section in headings(source.line), id_


@for_each("contract", CONTRACTS)
def test_everything_has_a_source(contract: str) -> None:
    """What is not from the document says so: only line 0 has no words."""
    outside = [id_ for id_, source in sources(CONTRACTS[contract]) if not source.line]
    assert (
        outside
        == {"aisp": ["well-formed", "consistent"], "pis": ["well-formed", "values"]}[contract]
    )


@for_each("contract", CONTRACTS)
def test_dropping_anything_is_noticed(contract: str) -> None:
    """Without any one rule, statement or open point, some words come loose."""
    tied = [(id_, words(source)) for id_, source in TIES[contract]]
    for dropped in dict(tied):
        others = {spot for id_, spots in tied if id_ != dropped for spot in spots}
        own = {spot for id_, spots in tied if id_ == dropped for spot in spots}
        assert own - others, dropped


@for_each("contract", CONTRACTS)
def test_doubts_are_open_points(contract: str) -> None:
    """What ties nothing by itself is only ever an open point, and exists."""
    assert {one.id for one in CONTRACTS[contract].open_points} >= DOUBTS[contract]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_new_sentence_is_noticed(contract: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence that is added to the document is not tied to anything."""
    monkeypatch.setitem(globals(), "LINES", [*LINES, "Cards are returned in colour."])
    monkeypatch.setitem(globals(), "SENTENCES", tuple(sentences()))
    assert untied(contract) == ["134: Cards are returned in colour."]
