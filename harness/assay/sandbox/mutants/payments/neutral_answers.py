"""Neutral variants of how payments are read and shown: types, spellings and limits.

Types, formats, limits of amounts and the states of a payment are not in the document, nor
is for how long a payment that has ended can be read.
"""

from collections.abc import Callable
from dataclasses import replace

from assay.sandbox.messages import Answer, Json, error
from assay.sandbox.mutants.mutant import Neutral, neutral_pis
from assay.sandbox.payments.policies import PaymentOperation
from assay.sandbox.payments.terms import FIELDS, FieldError, ReadField
from assay.sandbox.policies import put

__all__ = ["ANSWERS_NEUTRAL"]

_Respond = Callable[[PaymentOperation | None, Answer], Answer]


def _showing(spell: Callable[[str], str], *fields: str) -> _Respond:
    """Spell some fields of a payment in another way."""

    def respond(operation: PaymentOperation | None, answer: Answer) -> Answer:
        if operation not in ("read", "modify") or not isinstance(answer.body, dict):
            return answer
        body: dict[str, Json] = {
            name: spell(value) if name in fields and isinstance(value, str) else value
            for name, value in answer.body.items()
        }
        return replace(answer, body=body)

    return respond


def _in_groups(text: str) -> str:
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


def _hidden(text: str) -> str:
    return f"{text[:4]}{'*' * (len(text) - 7)}{text[-3:]}"


def _at_midnight(day: str) -> str:
    return f"{day}T00:00:00+02:00"


def _with_port(url: str) -> str:
    return url.replace("https://tpp.example/", "https://TPP.example:443/")


def _no_content(operation: PaymentOperation | None, answer: Answer) -> Answer:
    changed = operation == "modify" and answer.status == 200  # noqa: PLR2004
    return replace(answer, status=204, body=b"") if changed else answer


def _forgotten(operation: PaymentOperation | None, answer: Answer) -> Answer:
    body = answer.body
    ended = isinstance(body, dict) and body.get("status") in ("cancelled", "refused", "expired")
    return error(404, "no such payment request") if operation == "read" and ended else answer


def _lenient(read: ReadField) -> ReadField:
    """Read a number or a truth value as a text, as many libraries do."""

    def reads(value: object) -> str | None:
        if isinstance(value, bool):
            return read(str(value).lower())
        return read(str(value) if isinstance(value, int | float) else value)

    return reads


def _any_purpose(value: object) -> str | None:
    return value if isinstance(value, str) and value else FIELDS["categoryPurpose"](value)


def _limited(value: object) -> str | None:
    amount = FIELDS["amount"](value)
    if amount and not 1 <= float(amount) <= 5_000:  # noqa: PLR2004
        raise FieldError("amount", "value")
    return amount


ANSWERS_NEUTRAL: tuple[Neutral, ...] = (
    neutral_pis(
        "ibans-in-groups",
        "IBANs are shown in groups of four.",
        leaves="payments.content/creditorAccount payments.content/debtorAccount"
        " modify.deferred-only/persists",
        respond=_showing(_in_groups, "creditorAccount", "debtorAccount"),
    ),
    neutral_pis(
        "debtor-hidden",
        "The middle of the debtor's IBAN is hidden.",
        leaves="payments.content/debtorAccount",
        respond=_showing(_hidden, "debtorAccount"),
    ),
    neutral_pis(
        "days-as-moments",
        "The day of a payment is shown as its first moment.",
        respond=_showing(_at_midnight, "requestedExecutionDate"),
    ),
    neutral_pis(
        "addresses-with-port",
        "The return address is shown with its port, and its host in another case.",
        respond=_showing(_with_port, "successfulReportUrl"),
    ),
    neutral_pis(
        "changes-204",
        "A modification or cancellation is answered with 204 and no body.",
        leaves="host/modify-payment-links",
        respond=_no_content,
    ),
    neutral_pis(
        "ended-is-forgotten",
        "A payment that was cancelled, refused or not signed in time cannot be read any more.",
        leaves="cancel/by-customer-shown cancel/by-tpp-shown"
        " redirect.idle/nothing-done redirect.overall/nothing-done",
        respond=_forgotten,
    ),
    neutral_pis(
        "scalars-are-texts",
        "Numbers and truth values are read as texts, and any purpose is known.",
        fields=put(FIELDS, categoryPurpose=_lenient(_any_purpose)),
    ),
    neutral_pis(
        "amounts-limited",
        "Payments of less than 1 and more than 5,000 euros are refused.",
        leaves="sca.required/even-amount",
        fields=put(FIELDS, amount=_limited),
    ),
)
