"""What comes in and what goes out: the request and the answer, as plain values.

Everything after :mod:`assay.sandbox.edge` sees these two and no HTTP library. Not a
general HTTP model: only what this bank looks at.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

__all__ = [
    "KINDS",
    "OPERATIONS",
    "Answer",
    "Json",
    "Kind",
    "Missing",
    "Operation",
    "Request",
    "Resource",
    "Route",
    "Table",
    "error",
]

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

#: The four methods which the bank offers; each has its own quota.
Operation: TypeAlias = Literal["accounts", "consents", "balances", "transactions"]
#: The two methods which it does not offer.
Missing: TypeAlias = Literal["trustedBeneficiaries", "endUserIdentity"]
#: What a customer holds: a current account, or a delayed debit card.
Resource: TypeAlias = Literal["account", "card"]
#: What is read: balances and transactions of accounts, outstandings and slips of cards.
Kind: TypeAlias = Literal["balance", "outstanding", "transaction", "slip"]
#: Which of a method's paths was used: under /accounts, short, or with the IBAN in it.
Route: TypeAlias = Literal["main", "short", "path"]

OPERATIONS: tuple[Operation, ...] = (
    "accounts",
    "consents",
    "balances",
    "transactions",
)

KINDS: Mapping[tuple[Operation, Resource], Kind] = {
    ("balances", "account"): "balance",
    ("balances", "card"): "outstanding",
    ("transactions", "account"): "transaction",
    ("transactions", "card"): "slip",
}

_K = TypeVar("_K", bound=str)
_V = TypeVar("_V")

#: One decision for each of a few names; replaced whole, never written to.
Table: TypeAlias = Mapping[_K, _V]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A third party's call, after routing."""

    method: str
    path: str
    #: None when no method of the bank has this path and verb.
    operation: Operation | Missing | None
    route: Route = "main"
    #: The identifier, when it stands in the path.
    identifier: str | None = None
    query: Mapping[str, str]
    authorization: str
    #: Is the customer there? Absent means a batch access.
    attended: bool
    body: bytes = b""
    #: Scheme and host that links start with, without a slash at the end.
    base: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the bank says; bytes are sent as they are, anything else as JSON."""

    status: int
    body: "Json | bytes"
    media: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


def error(status: int, message: str, *headers: tuple[str, str]) -> Answer:
    """Say no in the bank's one shape of error."""
    body: dict[str, Json] = {"status": status, "message": message}
    return Answer(status=status, body=body, headers=headers)
