"""Formats: is this an IBAN, is this a card number in clear."""

import pytest

from assay.rules.formats import FORMATS, is_iban, is_no_clear_pan


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        ("FR7630006000011234567890189", True),
        ("DE89370400440532013000", True),
        ("FR76 3000 6000 0112 3456 7890 189", True),
        ("FR7630006000011234567890188", False),
        ("FR763000600001123456789018", False),
        ("XX7630006000011234567890189", False),
        ("4111111111111111", False),
        ("", False),
        (None, False),
        (7, False),
        (["FR7630006000011234567890189"], False),
        ("\u0660" * 27, False),
        ("FR76\x00", False),
    ],
)
def test_an_iban_has_a_country_a_length_and_a_checksum(value, valid):
    """One wrong digit is enough."""
    assert valid is is_iban(value)


@pytest.mark.parametrize(
    ("value", "hidden"),
    [
        ("4111111111111111", False),
        ("4111 1111 1111 1111", False),
        ("4111-1111-1111-1111", False),
        ("378282246310005", False),
        ("4111111111111112", True),
        ("411111XXXXXX1111", True),
        ("c2VjcmV0IHRva2Vu", True),
        ("0" * 11, True),
        ("0" * 12, True),
        ("0" * 19, True),
        ("9999999999999995", True),
        ("2221000000000009", False),
        ("0" * 20, True),
        ("", False),
        (None, False),
        (4111111111111111, False),
        ("\u0664" * 16, True),
    ],
)
def test_a_card_number_in_clear_is_one_of_a_network_that_passes_luhn(value, hidden):
    """Anything else that is text may be an encrypted one, also digits that no network has."""
    assert hidden is is_no_clear_pan(value)


def test_the_table_names_both():
    """A contract's words are looked up there."""
    assert {"iban": is_iban, "no-clear-pan": is_no_clear_pan} == FORMATS
