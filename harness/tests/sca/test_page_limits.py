"""How far a page is read: its size, its parts, and the length of its tags."""

from __future__ import annotations

import tracemalloc

import pytest
from rows import for_each

from assay.history import Wire
from assay.sca import html_forms
from assay.sca.html_forms import LARGEST_PAGE, LONGEST_TAG, forms, read_page, stuck

MEGABYTE = 1024 * 1024
FORM = b"<form><input name=login></form>"


def shown(body: bytes) -> Wire:
    return Wire(method="GET", url="https://bank.example/", status=200, body=body)


@pytest.mark.parametrize(
    "body",
    [
        b"<form><input " + b"a " * (3 * MEGABYTE // 2) + b">",
        b"<form><input " + b"a " * (3 * MEGABYTE // 2),
        b"<form><input " + b"b='>' " * (MEGABYTE // 2) + b">",
        b"<input a='" + b"' b='" * (3 * MEGABYTE // 5),
        (b"<input " + b"a " * 8000 + b">") * 10 + b" " * 3 * MEGABYTE,
        (b"<input " + b"a " * 32000 + b">") * 2 + b" " * 3 * MEGABYTE,
        b"<" * 3 * MEGABYTE,
        b"</" * MEGABYTE,
        b"</a " + b"b " * MEGABYTE + b">",
        b"<!--" * MEGABYTE,
        b"<![" * MEGABYTE,
        b"<form>" * 500_000,
        b"<title>" + b"&lt;" * MEGABYTE,
    ],
    ids=range(13),
)
def test_large_pages(body: bytes) -> None:
    """A page of 3 MB costs little memory, and none is called a dead end."""
    tracemalloc.start()
    try:
        read_page.__wrapped__(body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40_000_000
    assert not stuck(shown(body))


def test_a_page_is_parsed_once(monkeypatch) -> None:
    """Its forms and whether it leads on are read together, however often they are asked for."""
    parsed = []
    reader = html_forms._Reader

    def counted() -> html_forms._Reader:
        parsed.append(1)
        return reader()

    monkeypatch.setattr(html_forms, "_Reader", counted)
    body = FORM + b"<!-- parsed once -->"
    assert ["login"] == [*forms(body)[0].names]
    assert (1, False) == (len(forms(body)), stuck(shown(body)))
    assert [1] == parsed


@for_each("mark", ['"', "'"])
@for_each("length", [1, 4095, 4096, 200_000])
def test_long_values_are_kept(mark: str, length: int) -> None:
    """The state of a page in a hidden field is sent back whole, however long it is."""
    value = "s" * (length - 1) + "="
    text = f"<form><input type=hidden name=state value={mark}{value}{mark}><input name=code>"
    (form,) = forms(text.encode())
    assert {"state": value, "code": ""} == form.carried


def test_long_values_are_unescaped() -> None:
    """A long value is text of HTML, as a short one is."""
    value = "&amp;" * 2000
    (form,) = forms(f'<form><input name=state value="{value}">'.encode())
    assert {"state": "&" * 2000} == form.carried


@pytest.mark.parametrize("value", ["\0" + "0" + "\0", "\0" + "99" + "\0", "\0" * 3])
def test_marks_of_the_page_itself(value: str) -> None:
    """A page that contains what stands for a long value has just that."""
    (form,) = forms(f'<form><input name=a value="{value}">'.encode())
    assert {"a": value} == form.carried


def test_a_large_image_does_not_matter() -> None:
    """An embedded image of half a megabyte before the form is passed over."""
    image = b'<img src="data:image/png;base64,' + b"A" * 500_000 + b'">'
    assert ["login"] == [*forms(image + FORM)[0].names]


def test_where_reading_ends() -> None:
    """A form behind the limits is not read, and the page is no dead end."""
    for filling in (
        b" " * (LARGEST_PAGE + 1),
        b"<p>" * 60_000,
        b"<p " + b"a " * LONGEST_TAG + b">",
    ):
        assert [] == forms(filling + FORM)
        assert not stuck(shown(filling))
    assert stuck(shown(b"<p>" * 1000))
    assert stuck(shown(b"<p " + b"a " * 1000 + b">"))
