"""Masking by position of hostile and of odd texts: nothing ends it, and it takes no long time."""

from time import process_time

import pytest

from assay.journal.redact import Redactor, secret_positions

MANY = 50_000


def hide(value, kind):
    """Show what is masked."""
    return f"<{kind}>"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://b.example/?a=https%3A%2F%2Fx.example%2F%3Ftoken%3Dabc", "token=<token>"),
        ("5; url=https://b.example/?token=abc&x=1", "token=<token>&x=1"),
        ("https://b.example/a;jsessionid=abc/b?x=1", ";jsessionid=<session>/b?x=1"),
        ("https://user:abc@b.example/", "https://<credentials>@b.example/"),
        ("#access_token=abc", "#access_token=<token>"),
    ],
)
def test_parameters(text, masked):
    """A parameter is masked in every part of a URL, and in a URL that is the value of another."""
    result = secret_positions.parameters(text, hide)
    assert masked in result
    assert "abc" not in result


@pytest.mark.parametrize(
    "text",
    [
        *("a=" * MANY, "?a" * MANY, ";" * MANY, "a" * MANY, "[" * MANY, '["' * MANY, '\\"' * MANY),
        *("<a " * MANY, "<" * MANY, "&a" * MANY, "%41" * MANY, "x://" * MANY, "1," * MANY),
        *('%2525252525=3D3D&amp;amp;\\"' * (MANY // 10), "a=%26b%3D%2526" * (MANY // 10)),
        *("Bearer " * MANY, "/reset/" * MANY, "a:a@" * MANY, '{"name":' * MANY, "//" * MANY),
        *("-" * MANY, "\\u0041" * MANY, "a:" * MANY, "=" * MANY, '{"token":' * MANY),
    ],
    ids=lambda text: text[:9],
)
def test_hostile_texts(text):
    """No text of 50,000 parts ends the masking, or takes it more than some seconds."""
    began = process_time()
    redactor = Redactor()
    redactor.name("s3cret-value-1", "token")
    for read in (
        lambda: secret_positions.parameters(text, hide),
        lambda: secret_positions.json_members(text, hide),
        lambda: secret_positions.json_strings(text, redactor.text),
        lambda: secret_positions.markup(text, hide),
        lambda: secret_positions.labelled(text, hide),
        lambda: secret_positions.may_have_secrets(text),
        lambda: secret_positions.nested(text, hide),
        lambda: redactor.text(text),
        lambda: redactor.body(text.encode()),
    ):
        read()
    assert process_time() - began < 20


@pytest.mark.parametrize("code", ["UNKNOWN", "403", "AC01", "KRB-3003", "err_1002"])
def test_an_error_s_code_is_shown(code):
    """In an answer; in a request, it may be what the customer typed."""
    text = f'{{"code": "{code}"}}'
    assert text == secret_positions.json_members(text, hide, answer=True)
    assert code not in secret_positions.json_members(text, hide)


@pytest.mark.parametrize("code", ["123456", "A1B2C3", "K-123456", "4/0AX4XfWh", "FB-12345"])
def test_a_code_to_be_typed_is_masked(code):
    """Also in an answer."""
    text = f'{{"code": "{code}"}}'
    assert code not in secret_positions.json_members(text, hide, answer=True)
