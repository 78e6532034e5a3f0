"""Mutants of the fields of a new payment: missing or wrong values are accepted.

Each is lenient with one field in one way, and fills in a value where needed.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from assay.sandbox.messages import Table
from assay.sandbox.mutants.mutant import Operator, breaking_pis, never, one_more
from assay.sandbox.payments.policies import PaymentOperation
from assay.sandbox.payments.terms import (
    AT_MOST_ONE,
    FIELDS,
    MODIFIABLE,
    Field,
    FieldError,
    ReadField,
    TransferCount,
)
from assay.sandbox.policies import put

__all__ = ["FIELD_FAULTS"]

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


def _any_case(value: object) -> str | None:
    return FIELDS["chargeBearer"](value.upper() if isinstance(value, str) else value)


def _stripped(value: object) -> str | None:
    if isinstance(value, str) and value.strip():
        return FIELDS["chargeBearer"](value.strip())
    return FIELDS["chargeBearer"](value)


def _any_code(value: object) -> str | None:
    is_code = isinstance(value, str) and len(value) == 3 and value.isupper()  # noqa: PLR2004
    return FIELDS["currency"]("EUR" if is_code else value)


def _strange_code(name: Field, known: frozenset[str], taken_for: str) -> Table[Field, ReadField]:
    """Treat unknown codes like the usual one."""
    right = FIELDS[name]

    def read(value: object) -> str | None:
        code = isinstance(value, str) and value.isalpha() and value.isupper()
        return right(taken_for if code and value not in known else value)

    return put(FIELDS, **{name: read})


def _beginning(value: object) -> str | None:
    begins = isinstance(value, str) and value.startswith("SLEV")
    return FIELDS["chargeBearer"]("SLEV" if begins else value)


def _whole_line(value: object) -> str | None:
    """Accept a trailing line end, as `$` does in a regular expression."""
    return FIELDS["chargeBearer"](value.removesuffix("\n") if isinstance(value, str) else value)


def _falsy(name: Field) -> Table[Field, ReadField]:
    """Fill in a field whose value is falsy."""
    right = FIELDS[name]

    def read(value: object) -> str | None:
        falsy = not value and value is not None and value != ""
        return right(_MADE_UP[name] if falsy else value)

    return put(FIELDS, **{name: read})


def _fails_to_modify(name: str, fault: str) -> Callable[[PaymentOperation, str, str], int]:
    def malformed(operation: PaymentOperation, field: str, defect: str) -> int:
        return 500 if (operation, field, defect) == ("modify", name, fault) else 400

    return malformed


def _unpacked(name: Field) -> Table[Field, ReadField]:
    """Use the first item of a list."""
    right = FIELDS[name]

    def read(value: object) -> str | None:
        match value:
            case [str() as first, *_]:
                return right(first)
            case _:
                return right(value)

    return put(FIELDS, **{name: read})


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


FIELD_FAULTS = (
    *(
        breaking_pis(
            f"withstands.create-address-with-{name}",
            "values/create-payment-successfulReportUrl",
            f"create answers 500 to a return address with {name}",
            fields=put(FIELDS, successfulReportUrl=_stumbling_at(part)),
            malformed=_fails_on_addresses,
        )
        for name, part in (("port", ":65536"), ("user", "@"))
    ),
    *(
        breaking_pis(
            f"mandatory.{name}-{defect}",
            f"mandatory-fields/{name}-{defect}",
            f"a payment is accepted although {name} {says}",
            fields=_lenient(name, defect),
        )
        for name in _MADE_UP
        for defect, says in _DEFECTS.items()
    ),
    breaking_pis(
        "mandatory.categoryPurpose-falsy",
        "mandatory-fields/categoryPurpose-type",
        "a categoryPurpose of 0, false or an empty list is replaced by a default",
        fields=_falsy("categoryPurpose"),
    ),
    breaking_pis(
        "mandatory.creditorAccount-list",
        "mandatory-fields/creditorAccount-type",
        "creditorAccount may be a list, whose first item counts",
        fields=_unpacked("creditorAccount"),
    ),
    breaking_pis(
        "charge-bearer.shared",
        "charge-bearer/other-value",
        "chargeBearer may be SHAR as well",
        fields=_also("chargeBearer", "SHAR"),
    ),
    breaking_pis(
        "charge-bearer.any-code",
        "charge-bearer/other-value",
        "chargeBearer may be any code of its list",
        fields=_also("chargeBearer", "SHAR", "DEBT", "CRED"),
    ),
    breaking_pis(
        "charge-bearer.strange-code",
        "charge-bearer/other-value",
        "an unknown chargeBearer is treated as SLEV",
        fields=_strange_code("chargeBearer", frozenset({"SHAR", "DEBT", "CRED"}), "SLEV"),
    ),
    breaking_pis(
        "charge-bearer.beginning",
        "charge-bearer/other-value charge-bearer/padded",
        "chargeBearer only has to start with SLEV",
        fields=put(FIELDS, chargeBearer=_beginning),
    ),
    breaking_pis(
        "charge-bearer.line-end",
        "charge-bearer/padded",
        "chargeBearer may end with a line end",
        fields=put(FIELDS, chargeBearer=_whole_line),
    ),
    breaking_pis(
        "charge-bearer.any-case",
        "charge-bearer/lower-case",
        "chargeBearer may be slev",
        fields=put(FIELDS, chargeBearer=_any_case),
    ),
    breaking_pis(
        "charge-bearer.stripped",
        "charge-bearer/padded",
        "chargeBearer may have blanks around it",
        fields=put(FIELDS, chargeBearer=_stripped),
    ),
    breaking_pis(
        "euro.dollars-too",
        "euro/other-value",
        "payments may be in dollars",
        fields=_also("currency", "USD"),
    ),
    breaking_pis(
        "euro.strange-code",
        "euro/other-value",
        "an unknown currency is treated as EUR",
        fields=_strange_code("currency", frozenset({"USD", "GBP", "CHF", "JPY"}), "EUR"),
    ),
    breaking_pis(
        "euro.any-code-is-euro",
        "euro/other-value",
        "any currency is accepted and treated as EUR",
        fields=put(FIELDS, currency=_any_code),
    ),
    breaking_pis(
        "euro.changed-to-dollars",
        "euro/stays-when-changed",
        "a modification can change the currency to dollars",
        **_changes_currency("USD"),
    ),
    breaking_pis(
        "euro.changed-to-anything",
        "euro/stays-when-changed",
        "a modification can change the currency to any",
        **_changes_currency("USD", "GBP", "CHF", "JPY"),
    ),
    breaking_pis(
        "euro.fails-when-changed",
        "euro/stays-when-changed values/modify-payment-currency",
        "a modification of the currency makes the bank fail",
        malformed=_fails_to_modify("body", "value"),
    ),
    breaking_pis(
        "single.any-number",
        "single/several-refused",
        "a request may contain any number of transfers",
        single=_transfers(never),
    ),
    breaking_pis(
        "single.two-at-most",
        "single/several-refused",
        "a request may contain two transfers",
        single=_transfers(one_more),
    ),
)
