"""What the manual says of masking: the list is that of the table, and each row is true."""

import pytest
from rows import for_each
from support.masked_names import table, written

from assay.binding.model.secret_names import (
    PERHAPS_SECRET,
    SECRET_HEADERS,
    SECRET_NAMES,
    secret_header,
    secret_kind,
)
from assay.journal.redact import Redactor


def test_the_list_in_the_manual_is_the_table():
    """The manual lists exactly the names that are masked (support/masked_names.py writes it)."""
    assert table() == written()


@for_each("kind", SECRET_NAMES)
def test_each_name_masks(kind):
    """Each name of the table masks a member, a parameter and a nested name of any spelling."""
    for name in SECRET_NAMES[kind]:
        plain = name.replace("*", "x").replace("?", "x")
        for name_form in (
            plain,
            plain.upper(),
            f"{plain[:1]}_{plain[1:]}",
            f"a[{plain}]",
            f"b.{plain}",
        ):
            assert kind == secret_kind(name_form)
        body, _ = Redactor().body(f'{{"{plain}": "s3cret-value-1"}}'.encode())
        assert f'{{"{plain}": "<{kind}-1>"}}' == body
        link = Redactor().link(f"https://bank.example/?{plain}=s3cret-value-1&x=1")
        assert f"https://bank.example/?{plain}=<{kind}-1>&x=1" == link


@for_each("header", SECRET_HEADERS)
def test_each_header_masks(header):
    """Each header of the table counts as a secret one."""
    assert secret_header(header.replace("*", "x"))


@pytest.mark.parametrize("name", PERHAPS_SECRET)
def test_a_value_decides_where_a_name_is_unsure(name):
    """A word or a short number under such a name is no secret; anything else is one."""
    plain = name.replace("*", "x")
    masked, _ = Redactor().body(f'{{"{plain}": "84-0123"}}'.encode())
    assert f'{{"{plain}": "<code-1>"}}' == masked
    for value in ("BOOKED", "not found", "1234"):
        assert (
            f'{{"{plain}": "{value}"}}' == Redactor().body(f'{{"{plain}": "{value}"}}'.encode())[0]
        )


@for_each(
    "name",
    [
        *("postcode", "bankcode", "currencyCode", "countryCode", "categoryPurpose", "keyId"),
        *("balanceType", "statusCode", "reasonCode", "bankTransactionCode", "idempotencyKey"),
        "token_type",
        "expires_in",
        "statusCode",
        "otpMaxLength",
        "shipping",
        "pageToken",
        "key",
    ],
)
def test_names_that_only_sound_alike(name):
    """A name that only contains one of the table is no secret's."""
    assert secret_kind(name) is None
