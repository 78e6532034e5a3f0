"""Nordval Bank: the messages of the gateway."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Iban = Annotated[str, Field(pattern=r"^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$")]
AnyIban = Annotated[str, Field(description="IBAN of an account or encrypted PAN of a card")]
Minor = Annotated[int, Field(description="Amount in cents; money going out is negative")]
Url = Annotated[str, Field(pattern=r"^https?://\S+$", max_length=500)]
Right = Literal["balances", "transactions"]
Status = Literal[
    "awaiting_authorisation",
    "scheduled",
    "processing",
    "executed",
    "rejected",
    "cancelled",
    "expired",
]
IBAN_A, IBAN_B = "BE68539007547034", "DE89370400440532013000"
MOMENT = "2025-01-06T09:00:00Z"


class Message(BaseModel):
    """A message with camel case names and without unknown members."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class Problem(BaseModel):
    """A refused request (application/problem+json)."""

    type: str = Field("about:blank", examples=["about:blank"])
    title: str = Field(examples=["Forbidden"])
    status: int = Field(examples=[403])
    code: str = Field(examples=["no-consent"])
    detail: str = Field(examples=["No consent was given for the balances of this account"])
    violations: list[dict[str, str]] = Field(
        [], examples=[[{"field": "body.chargeBearer", "message": "Input should be 'SLEV'"}]]
    )


class TokenRequest(Message):
    """The credentials of a TPP."""

    client_id: str = Field(examples=["tpp-a"])
    client_secret: str = Field(examples=["alpha-key"])
    scopes: list[Literal["accounts", "payments"]] = ["accounts", "payments"]


class Token(Message):
    """An access token of a TPP; it names no customer."""

    access_token: str = Field(examples=["nv_7mKq"])
    token_type: Literal["Bearer"] = Field("Bearer", description="Always Bearer")
    expires_in: int = Field(description="Seconds", examples=[86400])


class LinkRequest(Message):
    """Where the customer is sent after the decision about the link."""

    return_url: Url = Field(examples=["https://tpp.example/back"])


class Link(Message):
    """A link between the TPP and a customer, the base of account information."""

    link_id: str = Field(examples=["lnk_4f2a"])
    status: Literal["pending", "active", "refused", "expired"]
    redirect_url: str | None = Field(None, examples=["http://127.0.0.1:8000/sign/Zk3"])


class Account(Message):
    """A current account or a delayed debit card."""

    iban: AnyIban = Field(examples=[IBAN_A])
    kind: Literal["CURRENT_ACCOUNT", "DELAYED_DEBIT_CARD"]
    label: str = Field(examples=["Main account"])
    currency: Literal["EUR"] = "EUR"
    rights: list[Right] = Field([], description="What the customer consented to")


class Paging(Message):
    """How to ask for the next page."""

    next_page_token: str | None = Field(description="Null on the last page", examples=["pg_x1"])


class AccountList(Message):
    """A page of accounts and cards."""

    data: list[Account]
    psu_identity: str | None = Field(None, examples=["Jan Peeters"])
    paging: Paging


class ConsentAccount(Message):
    """What the customer consents to for one account or card."""

    iban: AnyIban = Field(examples=[IBAN_A])
    rights: list[Right] = Field(min_length=1)


class Consent(Message):
    """The consent of the customer; it replaces the former one."""

    accounts: list[ConsentAccount] = Field(description="An empty list withdraws the consent")
    share_identity: bool = False


class ConsentAnswer(Message):
    """The consent as it was kept."""

    data: Consent


class Balance(Message):
    """A balance of an account, or the outstandings of a card (OTHR)."""

    balance_type: Literal["CLBD", "VALU", "OTHR"]
    amount_minor: Minor = Field(examples=[250000])
    currency: Literal["EUR"] = "EUR"
    as_of: datetime = Field(examples=[MOMENT])


class BalanceList(Message):
    """The balances report of an account."""

    data: list[Balance]


class Transaction(Message):
    """A transaction of an account or a slip of a card."""

    transaction_id: str = Field(examples=["tx_000123"])
    amount_minor: Minor = Field(examples=[-2350])
    currency: Literal["EUR"] = "EUR"
    booked_on: date = Field(examples=["2025-01-03"])
    value_on: date = Field(examples=["2025-01-03"])
    text: str = Field(examples=["Bakery"])


class TransactionList(Message):
    """A page of transactions, newest first."""

    data: list[Transaction]
    paging: Paging


class Creditor(Message):
    """The account that receives the money."""

    iban: Iban = Field(examples=[IBAN_B])
    holder: str = Field("", max_length=70, examples=["Shop"])


class PaymentRequest(Message):
    """A single payment in euro; with an execution date it is a deferred one."""

    transfer_type: Literal["SCT", "SCT_INST"] = "SCT"
    amount_minor: int = Field(gt=0, le=99_999_999_999, strict=True, examples=[1230])
    currency: Literal["EUR"] = Field(examples=["EUR"])
    execution_date: date | None = Field(None, examples=["2025-01-20"])
    debtor_iban: Iban | None = Field(None, examples=[IBAN_A])
    creditor_account: Creditor
    charge_bearer: Literal["SLEV"] = Field(examples=["SLEV"])
    category_purpose: str = Field(pattern=r"^[A-Z]{4}$", examples=["SUPP"])
    remittance_text: str = Field("", max_length=140, examples=["Invoice 77"])
    client_reference: str = Field("", max_length=35, examples=["REF-77"])
    successful_report_url: Url = Field(examples=["https://tpp.example/ok"])
    unsuccessful_report_url: Url | None = Field(None, examples=["https://tpp.example/ko"])


class PaymentChange(Message):
    """New values of a deferred payment; a missing member stays as it is."""

    amount_minor: int | None = Field(None, gt=0, le=99_999_999_999, strict=True, examples=[2000])
    execution_date: date | None = Field(None, examples=["2025-01-22"])
    remittance_text: str | None = Field(None, max_length=140, examples=["Invoice 78"])


class Payment(PaymentRequest):
    """A payment and where it stands."""

    payment_id: str = Field(examples=["pay_9c41"])
    status: Status
    status_reason: str | None = Field(None, examples=["refused_by_customer"])
    created_at: datetime = Field(examples=[MOMENT])
    executed_at: datetime | None = None
    redirect_url: str | None = Field(None, description="Where the customer signs")


class PaymentAnswer(Message):
    """A payment."""

    data: Payment


class NewAccount(Message):
    """An account or card of a test customer."""

    kind: Literal["current", "savings", "card"] = "current"
    label: str = "Main account"
    active: bool = True
    online: bool = True
    payments_allowed: bool = True
    balance_minor: int = 500_000
    transaction_count: int = Field(0, ge=0, le=2000)
    every_n_days: int = Field(1, ge=0, description="Days between two transactions")
    last_used_days_ago: int | None = Field(0, description="Cards only; null means never used")


class NewCustomer(Message):
    """A test customer."""

    name: str = "Jan Peeters"
    password: str = Field("winter", examples=["winter"])
    segment: str = Field("PART", description="PART, PRO; others cannot make payments")
    accounts: list[NewAccount] = [NewAccount()]


class Forward(Message):
    """By how much the clock moves forward."""

    seconds: int = Field(ge=0, examples=[3600])


class Payee(Message):
    """An IBAN that the customer registers through direct access, at the bank's time."""

    iban: Iban = Field(examples=[IBAN_B])


class TestLink(Message):
    """A link made without the customer's screen."""

    customer_number: str
    client_id: str = "tpp-a"
