"""Faults of the fields of a new payment: what must be there is not asked for.

Each is lenient with one field in one way, and makes something up where it needs to.
"""

from collections.abc import Mapping

from assay.sandbox.mutants.payments.change import breaking_pis
from assay.sandbox.payments.policies import SOUND_PAYMENTS
from assay.sandbox.payments.reading import FIELDS, Field, ReadField, Unfit
from assay.sandbox.policies import put
from assay.sandbox.wire import Table

__all__ = ["FIELD_FAULTS"]

#: What a bank takes when it does not get a field that it ought to insist on.
_MADE_UP: Mapping[Field, str] = {
    "chargeBearer": "SLEV",
    "categoryPurpose": "DVPM",
    "creditorAccount": "FR7630006000011234567890189",
    "successfulReportUrl": "https://provider.example/made-up",
}
_WAYS = {
    "missing": "is not there",
    "null": "is null",
    "empty": "is empty",
    "type": "is no text",
}


def _lenient(name: Field, way: str) -> Table[Field, ReadField]:
    right = FIELDS[name]

    def read(value: object) -> str | None:
        try:
            return right(value)
        except Unfit as no:
            if no.way != way:
                raise
            return _MADE_UP[name]

    return put(FIELDS, **{name: read})


def _also(name: Field, *texts: str) -> Table[Field, ReadField]:
    """Take some texts that are wrong."""
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


def _any_number(_transfers: object) -> bool:
    return True


def _two_at_most(transfers: object) -> bool:
    if isinstance(transfers, list) and len(transfers) == 2:  # noqa: PLR2004
        return True
    return SOUND_PAYMENTS.single(transfers)


FIELD_FAULTS = (
    *(
        breaking_pis(
            f"mandatory.{name}-{way}",
            f"mandatory-fields/{name}-{way}",
            f"a payment is accepted though {name} {says}",
            fields=_lenient(name, way),
        )
        for name in _MADE_UP
        for way, says in _WAYS.items()
    ),
    breaking_pis(
        "charge-bearer.shared",
        "charge-bearer/other-code",
        "chargeBearer may be SHAR as well",
        fields=_also("chargeBearer", "SHAR"),
    ),
    breaking_pis(
        "charge-bearer.any-code",
        "charge-bearer/other-code",
        "chargeBearer may be any code of its list",
        fields=_also("chargeBearer", "SHAR", "DEBT", "CRED"),
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
        "euro/other-currency",
        "payments may be in dollars",
        fields=_also("currency", "USD"),
    ),
    breaking_pis(
        "euro.any-code-is-euro",
        "euro/other-currency",
        "any currency is accepted, and taken for euro",
        fields=put(FIELDS, currency=_any_code),
    ),
    breaking_pis(
        "single.any-number",
        "single/two-transfers",
        "a request may have any number of transfers",
        single=_any_number,
    ),
    breaking_pis(
        "single.two-at-most",
        "single/two-transfers",
        "a request may have two transfers",
        single=_two_at_most,
    ),
)
