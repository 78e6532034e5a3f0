"""Mutants of payment operations and of the fields of a new payment.

An operation that fails answers 500 or 503 and never refuses, since a refusal could have
other reasons. Each fault of a field is lenient with it in one way, and fills in a value where needed.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

from assay.sandbox.messages import Answer, Json, Table, error
from assay.sandbox.mutants.methods import as_text, cut_off, down
from assay.sandbox.mutants.mutant import Operator, breaking_pis, never, one_more, only_when
from assay.sandbox.payments.policies import (
    SOUND_PAYMENTS,
    CredentialPlace,
    PaymentOperation,
)
from assay.sandbox.payments.records import Payment
from assay.sandbox.payments.terms import (
    AT_MOST_ONE,
    FIELDS,
    MODIFIABLE,
    Field,
    FieldError,
    ReadField,
    Terms,
    TransferCount,
)
from assay.sandbox.policies import put

__all__ = ["AVAILABLE_FAULTS", "FIELD_FAULTS"]

_SOUND = SOUND_PAYMENTS
_OPERATIONS: tuple[PaymentOperation, ...] = ("create", "read", "modify")
_BODY_FAULTS = ("text", "truncated", "empty", "type", "deep")


def _answers(
    status: int, on: PaymentOperation, field: str, defect: str
) -> Callable[[PaymentOperation, str, str], int]:
    """Answer with another status to one defect of one field."""
    wrong = (on, field, defect)
    return lambda operation, at, found: status if (operation, at, found) == wrong else 400


def _is_long(id: str) -> bool:
    return len(id) > 1_000  # noqa: PLR2004


def _stumbles(over: Callable[[str], bool]) -> Callable[[str], Answer]:
    return only_when(over, lambda _: error(500, "out of order"), _SOUND.absent["read"])


def _accepted(
    on: PaymentOperation, altered: Callable[[Answer], Answer]
) -> Callable[[PaymentOperation | None, Answer], Answer]:
    """Alter the accepted answers of one operation."""

    def respond(operation: PaymentOperation | None, answer: Answer) -> Answer:
        return altered(answer) if operation == on and answer.status < 300 else answer  # noqa: PLR2004

    return respond


def _empty(id: str) -> Answer:
    body: dict[str, Json] = {"paymentRequestResourceId": id, "status": "received"}
    return Answer(status=200, body=body)


def _everybody(_own: bool) -> bool:
    return True


def _shows_as(alter: Callable[[Terms], Terms]) -> Callable[[Payment], Terms]:
    """Show a new payment with altered terms; a signed or modified one is shown correctly."""
    return only_when(
        lambda payment: payment.status == "received" and payment.terms == payment.original,
        lambda payment: alter(payment.terms),
        _SOUND.shows,
    )


# fmt: off
#: Field, description and alteration of what is shown in its place.
_SHOWN: tuple[tuple[str, str, Callable[[Terms], Terms]], ...] = (
    ("creditorAccount", "the debtor", lambda terms: replace(terms, creditor=terms.debtor)),
    ("debtorAccount", "the creditor", lambda terms: replace(terms, debtor=terms.creditor)),
    ("amount", "no cents", lambda terms: replace(terms, amount=f"{terms.cents // 100}.00")),
    ("currency", "francs", lambda terms: replace(terms, currency="FRF")),
    ("categoryPurpose", "CASH", lambda terms: replace(terms, purpose="CASH")),
    ("chargeBearer", "SHAR", lambda terms: replace(terms, charge_bearer="SHAR")),
    ("successfulReportUrl", "no query",
     lambda terms: replace(terms, success_url=terms.success_url.partition("?")[0])),
    ("date", "the day after",
     lambda terms: replace(terms, day=terms.day + timedelta(days=1)) if terms.day else terms),
)
# fmt: on


def _confirms(when: bool, status: int) -> Callable[[bool], Answer]:
    accepted = Answer(status=status, body={"status": "accepted"})
    return only_when(lambda signed: signed is when, lambda _: accepted, _SOUND.confirmation)


# fmt: off
#: Field, defect and the facets that a failure over it breaks.
_FAILURES: tuple[tuple[str, str, str], ...] = (
    ("successfulReportUrl", "missing", "mandatory-fields/successfulReportUrl-missing"),
    ("categoryPurpose", "null",
     "mandatory-fields/categoryPurpose-null values/create-payment-categoryPurpose"),
    ("creditorAccount", "type",
     "mandatory-fields/creditorAccount-type values/create-payment-creditorAccount"),
    ("chargeBearer", "value",
     ("charge-bearer/other-value charge-bearer/lower-case charge-bearer/padded"
      " values/create-payment-chargeBearer")),
    ("currency", "value", "euro/other-value values/create-payment-currency"),
)
# fmt: on
#: Operation, field and defect over which only strange values stumble, and the argument.
_STUMBLES: tuple[tuple[PaymentOperation, str, str, str], ...] = (
    ("create", "debtorAccount", "type", "debtorAccount"),
    ("create", "amount", "type", "amount"),
    ("create", "amount", "value", "amount"),
    ("create", "requestedExecutionDate", "type", "date"),
    ("create", "successfulReportUrl", "value", "successfulReportUrl"),
    ("modify", "amount", "value", "amount"),
    ("modify", "creditorAccount", "type", "creditorAccount"),
    ("modify", "requestedExecutionDate", "type", "date"),
)
# fmt: off
#: Reason of a refusal and the facets that a failure in its place breaks.
_FAILED_REFUSALS: tuple[tuple[str, str], ...] = (
    ("debtor",
     ("eligible-accounts/refuses-savings eligible-accounts/refuses-inactive"
      " eligible-accounts/refuses-offline values/create-payment-debtorAccount"
      " eligible-accounts/refuses-unknown")),
    ("segment",
     ("segments/large-professional segments/corporate segments/association"
      " segments/legal-guardian")),
    ("state",
     ("modify.deferred-only/immediate-refused modify.deferred-only/instant-refused"
      " modify.deferred-only/done-refused")),
    ("foreign",
     "payments.addressed/read-payment-foreign payments.addressed/modify-payment-foreign"),
)
# fmt: on


_CREDENTIAL_PLACES: tuple[CredentialPlace, ...] = ("basic", "body", "query")
#: A cancellation is a modification that fails.
_ALSO = {("modify", 500): " cancel/accepted"}
_EMBEDDED: tuple[tuple[PaymentOperation, CredentialPlace], ...] = (
    ("create", "body"),
    ("read", "query"),
    ("modify", "body"),
)


def _anybody(
    operation: PaymentOperation, *, token: bool
) -> Callable[[PaymentOperation | None, bool], bool]:
    return lambda called, given: called == operation and given is token


def _with_another_key(answer: Answer) -> Answer:
    body = cast("Mapping[str, Json]", answer.body)
    key = str(body["paymentRequestResourceId"])
    return replace(answer, body={**body, "paymentRequestResourceId": key[::-1]})


# fmt: off
AVAILABLE_FAULTS = (
    *(breaking_pis(f"failing.{field}-{defect}", facets,
          f"the bank answers 500 where it should refuse: {field}, {defect}",
          malformed=_answers(500, "create", field, defect))
      for field, defect, facets in _FAILURES),
    *(breaking_pis(f"withstands.{operation}-{field}-{defect}",
          f"values/{operation}-payment-{argument}",
          f"{operation} answers 500: {field}, {defect}",
          malformed=_answers(500, operation, field, defect))
      for operation, field, defect, argument in _STUMBLES),
    *(breaking_pis(f"failing.{reason}", facets,
          f"the bank answers 500 where it should refuse: {reason}",
          refusals=put(_SOUND.refusals, **{reason: 500}))
      for reason, facets in _FAILED_REFUSALS),
    *(breaking_pis(f"available.{operation}-{status}",
          f"payments.{operation}/answers{_ALSO.get((operation, status), '')}",
          f"{operation} answers {status} to every valid call",
          respond=_accepted(operation, down(status)))
      for operation in _OPERATIONS for status in (500, 503)),
    *(breaking_pis(f"available.{operation}-500-on-body-{fault}",
          f"payments.{operation}/survives-malformed",
          f"{operation} answers 500 to a malformed body ({fault})",
          malformed=_answers(500, operation, "body", fault))
      for operation in ("create", "modify") for fault in _BODY_FAULTS),
    breaking_pis("available.create-500-on-a-huge-body", "payments.create/survives-malformed",
        "create answers 500 to a huge body", malformed=_answers(500, "create", "body", "size")),
    *(breaking_pis(f"available.{operation}-takes-{name}", f"payments.{operation}/refuses-malformed",
          f"{operation} accepts a body that is {says}, without effect",
          malformed=_answers(201, operation, "body", fault))
      for operation in ("create", "modify")
      for name, fault, says in (
          ("text", "text", "plain text"),
          ("half", "truncated", "truncated"),
      )),
    breaking_pis("available.read-500-on-a-long-id", "payments.read/survives-malformed",
        "read answers 500 if the identifier is very long",
        absent=put(_SOUND.absent, read=_stumbles(_is_long))),
    breaking_pis("available.read-500-on-control-characters", "payments.read/survives-malformed",
        "read answers 500 if the identifier has control characters",
        absent=put(_SOUND.absent, read=_stumbles(lambda name: not name.isprintable()))),
    *(breaking_pis(f"form.{operation}-{name}", f"well-formed/{facet}",
          f"{operation}: the answer {says}", respond=_accepted(operation, altered))
      for operation in _OPERATIONS
      for name, facet, says, altered in (
          ("cut-off", "json", "lacks its last brace", cut_off),
          ("as-text", "media-type", "is JSON but declared as text/plain", as_text),
      )),
    *(breaking_pis(f"credentials.{place}-for-{operation}", f"redirect-only/{operation}-payment",
          f"login and password suffice for {operation} ({place})",
          honours_credentials=frozenset({(operation, place)}))
      for operation in _OPERATIONS
      for place in _CREDENTIAL_PLACES if (operation, place) != ("read", "body")),
    *(breaking_pis(f"embedded.{place}-in-{operation}", "redirect-only/beside-token",
          f"login and password beside the TPP's token ({place}) sign a payment in {operation}",
          embedded=frozenset({(operation, place)}))
      for operation, place in _EMBEDDED),
    *(breaking_pis(f"token.{operation}-{facet}", f"token-required/{operation}-payment-{facet}",
          f"{operation} serves a call with {says} as the TPP that came last",
          honours_anybody=_anybody(operation, token=token))
      for operation in _OPERATIONS
      for facet, says, token in (
          ("without-token", "no token", False),
          ("invented-token", "a token that was never issued", True),
      )),
    *(breaking_pis(f"content.{field}", f"payments.content/{field}",
          f"{field}: a new payment is shown with {what}", shows=_shows_as(alter))
      for field, what, alter in _SHOWN),
    *(breaking_pis(f"{operation}.unknown-answered",
          f"payments.addressed/{operation}-payment-unknown host/{operation}-payment-elsewhere{more}",
          f"{operation} answers 200 for a payment that does not exist",
          absent=put(_SOUND.absent, **{operation: _empty}))
      for operation, more in (("read", ""), ("modify", " host/cancel-payment-elsewhere"))),
    *(breaking_pis(f"{operation}.foreign-found", f"payments.addressed/{operation}-payment-foreign",
          f"{operation} finds another TPP's payment",
          visible=put(_SOUND.visible, **{operation: _everybody}))
      for operation in ("read", "modify")),
    *(breaking_pis(f"{operation}.another-key", "payments.addressed/same-key",
          f"the answer of {operation} has the identifier of another payment",
          respond=_accepted(operation, _with_another_key))
      for operation in ("read", "modify")),
    *(breaking_pis(f"confirmation.{status}-{when}-signing",
          f"payments.confirmation/refused-{when}-signing",
          f"the confirmation answers {status} {when} signing",
          confirmation=_confirms(when == "after", status))
      for when in ("before", "after") for status in (200, 201)),
)
# fmt: on


#: Values filled in for mandatory fields.
_MADE_UP: Mapping[Field, str] = {
    "chargeBearer": "SLEV",
    "categoryPurpose": "DVPM",
    "creditorAccount": "FR7630006000011234567890189",
    "successfulReportUrl": "https://provider.example/made-up",
}
#: The defect of an address over which a bank stumbles.
_ADDRESS = "address"
_DEFECTS = {
    "missing": "is missing",
    "null": "is null",
    "empty": "is empty",
    "type": "is not a string",
}


def _lenient(name: Field, defect: str) -> Table[Field, ReadField]:
    right = FIELDS[name]

    def read(value: object) -> str | None:
        try:
            return right(value)
        except FieldError as exc:
            if exc.defect != defect:
                raise
            return _MADE_UP[name]

    return put(FIELDS, **{name: read})


def _also(name: Field, *texts: str) -> Table[Field, ReadField]:
    """Accept some wrong values."""
    right = FIELDS[name]

    def read(value: object) -> str | None:
        return value if isinstance(value, str) and value in texts else right(value)

    return put(FIELDS, **{name: read})


def _reads(name: Field, instead: Callable[[object], object]) -> Table[Field, ReadField]:
    """Read something else in place of a value."""
    right = FIELDS[name]

    def read(value: object) -> str | None:
        return right(instead(value))

    return put(FIELDS, **{name: read})


def _reads_text(name: Field, instead: Callable[[str], str]) -> Table[Field, ReadField]:
    """Read another text in place of a text."""
    return _reads(name, lambda value: instead(value) if isinstance(value, str) else value)


def _strange_code(name: Field, known: frozenset[str], usual: str) -> Table[Field, ReadField]:
    """Treat unknown codes like the usual one."""
    return _reads_text(
        name,
        lambda text: usual if text.isalpha() and text.isupper() and text not in known else text,
    )


def _first(value: object) -> object:
    """Return the first item of a list of texts."""
    match value:
        case [str() as first, *_]:
            return first
        case _:
            return value


def _changes_currency(*currencies: str) -> dict[str, Any]:
    """Let a modification name the currency, also one of these."""
    return {
        "changeable": (*MODIFIABLE, "currency"),
        "changes": _also("currency", *currencies),
    }


def _transfers(operator: Operator[int]) -> TransferCount:
    return replace(AT_MOST_ONE, too_many=operator(AT_MOST_ONE.too_many))


def _stumbling_at(part: str) -> ReadField:
    """Stumble at an address that contains something."""

    def read(value: object) -> str | None:
        if isinstance(value, str) and value.startswith("https://") and part in value:
            raise FieldError("successfulReportUrl", _ADDRESS)
        return FIELDS["successfulReportUrl"](value)

    return read


def _fails_on_addresses(_operation: PaymentOperation, _field: str, defect: str) -> int:
    return 500 if defect == _ADDRESS else 400


# fmt: off
FIELD_FAULTS = (
    *(breaking_pis(f"withstands.create-address-with-{name}",
          "values/create-payment-successfulReportUrl",
          f"create answers 500 to a return address with {name}",
          fields=put(FIELDS, successfulReportUrl=_stumbling_at(part)),
          malformed=_fails_on_addresses)
      for name, part in (("port", ":65536"), ("user", "@"))),
    *(breaking_pis(f"mandatory.{name}-{defect}", f"mandatory-fields/{name}-{defect}",
          f"a payment is accepted although {name} {says}", fields=_lenient(name, defect))
      for name in _MADE_UP for defect, says in _DEFECTS.items()),
    breaking_pis("mandatory.categoryPurpose-falsy", "mandatory-fields/categoryPurpose-type",
        "a categoryPurpose of 0, false or an empty list is replaced by a default",
        fields=_reads("categoryPurpose", lambda value:
                      value or (value if value in (None, "") else _MADE_UP["categoryPurpose"]))),
    breaking_pis("mandatory.creditorAccount-list", "mandatory-fields/creditorAccount-type",
        "creditorAccount may be a list, whose first item counts",
        fields=_reads("creditorAccount", _first)),
    breaking_pis("charge-bearer.shared", "charge-bearer/other-value",
        "chargeBearer may be SHAR as well", fields=_also("chargeBearer", "SHAR")),
    breaking_pis("charge-bearer.any-code", "charge-bearer/other-value",
        "chargeBearer may be any code of its list",
        fields=_also("chargeBearer", "SHAR", "DEBT", "CRED")),
    breaking_pis("charge-bearer.strange-code", "charge-bearer/other-value",
        "an unknown chargeBearer is treated as SLEV",
        fields=_strange_code("chargeBearer", frozenset({"SHAR", "DEBT", "CRED"}), "SLEV")),
    breaking_pis("charge-bearer.beginning", "charge-bearer/other-value charge-bearer/padded",
        "chargeBearer only has to start with SLEV",
        fields=_reads_text("chargeBearer",
            lambda text: "SLEV" if text.startswith("SLEV") else text)),
    breaking_pis("charge-bearer.line-end", "charge-bearer/padded",
        "chargeBearer may end with a line end",
        fields=_reads_text("chargeBearer", lambda text: text.removesuffix("\n"))),
    breaking_pis("charge-bearer.any-case", "charge-bearer/lower-case",
        "chargeBearer may be slev", fields=_reads_text("chargeBearer", str.upper)),
    breaking_pis("charge-bearer.stripped", "charge-bearer/padded",
        "chargeBearer may have blanks around it",
        fields=_reads_text("chargeBearer", lambda text: text.strip() or text)),
    breaking_pis("euro.dollars-too", "euro/other-value",
        "payments may be in dollars", fields=_also("currency", "USD")),
    breaking_pis("euro.strange-code", "euro/other-value",
        "an unknown currency is treated as EUR",
        fields=_strange_code("currency", frozenset({"USD", "GBP", "CHF", "JPY"}), "EUR")),
    breaking_pis("euro.any-code-is-euro", "euro/other-value",
        "any currency is accepted and treated as EUR", fields=_reads_text("currency",
            lambda text: "EUR" if len(text) == len("EUR") and text.isupper() else text)),
    breaking_pis("euro.changed-to-dollars", "euro/stays-when-changed",
        "a modification can change the currency to dollars", **_changes_currency("USD")),
    breaking_pis("euro.changed-to-anything", "euro/stays-when-changed",
        "a modification can change the currency to any",
        **_changes_currency("USD", "GBP", "CHF", "JPY")),
    breaking_pis("euro.fails-when-changed",
        "euro/stays-when-changed values/modify-payment-currency",
        "a modification of the currency makes the bank fail",
        malformed=_answers(500, "modify", "body", "value")),
    breaking_pis("single.any-number", "single/several-refused",
        "a request may contain any number of transfers", single=_transfers(never)),
    breaking_pis("single.two-at-most", "single/several-refused",
        "a request may contain two transfers", single=_transfers(one_more)),
)
# fmt: on
