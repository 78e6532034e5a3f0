"""The strict loader: what it reads, and what it refuses with a line and a hint."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rows import for_each

from assay._resources import contract_dir
from assay.errors import InputError
from assay.files.load import MAX_BYTES, MAX_DEPTH, Document, load, loads

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)

PARSERS = [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)]


@pytest.fixture(params=PARSERS, ids=["python", "libyaml"])
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[load.__module__], "_Loader", request.param)


both = pytest.mark.usefixtures("_parser")


def refusal(text: str) -> str:
    """Return the one line with which a text is refused."""
    with pytest.raises(InputError) as caught:
        loads(text, "f.yaml")
    assert len(caught.value.problems) == 1
    assert caught.value.problems[0].hint
    return str(caught.value)


@both
@pytest.mark.parametrize(
    "word",
    [
        "22:00",
        "NO",
        "no",
        "yes",
        "On",
        "012",
        "1_000",
        ".5",
        "5.",
        "+1",
        "0x1F",
        "0o7",
        "2026-01-01",
        "2026-01-01T10:00:00Z",
        "~",
        "Null",
        "TRUE",
        ".inf",
        ".nan",
        "1e",
        "=",
        "-",
    ],
)
def test_what_json_does_not_know_stays_text(word: str) -> None:
    """A plain word that YAML would turn into something is the text that it is."""
    expected = word if word != "-" else [None]
    assert {"a": expected} == loads(f"a: {word}" if word != "-" else "a:\n-").data


@both
@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("null", None),
        ("", None),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-7", -7),
        ("1.50", Decimal("1.50")),
        ("1e3", Decimal("1E+3")),
        ("'1'", "1"),
        ('"true"', "true"),
        ("'null'", "null"),
        ("''", ""),
        ("|\n  1\n", "1\n"),
    ],
)
def test_json_words(word: str, value: object) -> None:
    """Plain words are JSON's null, booleans and numbers; what is quoted is text."""
    found = loads(f"a: {word}").data["a"]
    assert (value, type(value)) == (found, type(found))


def test_decimals_are_exact() -> None:
    """A number with a point keeps every digit that was written."""
    assert str(loads("amount: 0.10").data["amount"]) == "0.10"


@both
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "a: 1\nb: 2\na: 3",
            "f.yaml:3: duplicate key 'a' (the first is in line 1; remove one)",
        ),
        (
            "a:\n  - {b: 1, b: 2}",
            "f.yaml:2: duplicate key 'b' (the first is in line 2; remove one)",
        ),
        ("a: 1\n404: x", 'f.yaml:2: the key 404 is not text (quote it: "404")'),
        ("true: x", 'f.yaml:1: the key true is not text (quote it: "true")'),
        ("? [a]\n: b", "f.yaml:1: a key is a list or a mapping (expected text as the key)"),
        ("? {a: 1}\n: b", "f.yaml:1: a key is a list or a mapping (expected text as the key)"),
        ("a: &x b\n*x : c", "f.yaml:2: a key is an alias (write the key out)"),
        ("a: !x 1", "f.yaml:1: the tag !x is not supported (values are JSON types; remove it)"),
        (
            "a: &x {b: 1}\nc:\n  <<: *x",
            "f.yaml:3: merge keys (<<) are not supported (write the keys out)",
        ),
        ("a: 1\n---\nb: 2", "f.yaml:2: a second document begins (keep one document in a file)"),
        ("a: &a [1, *a]", "f.yaml:1: the alias *a refers to itself (write it out)"),
        ("a: 1\nb: *c", "f.yaml:2: the alias *c has no anchor (write &c)"),
        (BOMB, "f.yaml:4: aliases stand for more than 10,000 values (write it out)"),
        ("a: " + "[" * 100_000, "f.yaml:1: nested more than 32 deep (reduce the nesting)"),
        ("a: " + "9" * 65, "f.yaml:1: the number is too large (quote it to make it text)"),
        ("a: 1e9999", "f.yaml:1: the number is too large (quote it to make it text)"),
        (
            "a: b\nc: \0",
            "f.yaml:2: the file contains the control character U+0000 (delete it; is this a text file?)",
        ),
        (
            "a: \x1b[31m",
            "f.yaml:1: the file contains the control character U+001B (delete it; is this a text file?)",
        ),
        ('a: "\\e[31m"', "f.yaml:1: the text contains the control character U+001B (remove it)"),
        ("", "f.yaml: the file is empty (begin with `assay: 1`)"),
        ("# nothing\n", "f.yaml: the file is empty (begin with `assay: 1`)"),
        ("- 1", "f.yaml:1: expected a mapping of names to values (begin with `assay: 1`)"),
        (
            "\n\nword",
            "f.yaml:3: expected a mapping of names to values (begin with `assay: 1`)",
        ),
    ],
)
def test_refusals(text: str, said: str) -> None:
    """Each thing that is not taken is named, with its line and a way out."""
    assert said == refusal(text)


@both
@pytest.mark.parametrize(
    "tag", ["!!python/object/apply:os.system [x]", "!!int '1'", "!<x> y", "! z"]
)
def test_no_tag_is_taken(tag: str) -> None:
    """Neither foreign tags nor YAML's own are honoured."""
    assert "is not supported" in refusal(f"a: {tag}")


@both
@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("a:\n\tb: 1", 2, "indent with spaces, not with tabs"),
        ("a: 1\nb: c: d", 2, "quote text that contains ': '"),
        ("a: [1,\n2", 1, "is a bracket, brace or quote left open?"),
        ("a: @x", 1, "quote text"),
    ],
)
def test_syntax_errors(text: str, line: int, hint: str) -> None:
    """What the parser cannot read has its line, and a hint at the usual cause."""
    said = refusal(text)
    assert said.startswith(f"f.yaml:{line}: YAML cannot be read: ")
    assert hint in said


def test_depth_counts_what_aliases_stand_for() -> None:
    """Nesting through aliases is nesting: each line alone is shallow."""
    rows = ["a0: &a0 x", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 40))]
    assert f"nested more than {MAX_DEPTH} deep" in refusal("\n".join(rows))


def test_aliases_within_bounds_are_taken() -> None:
    """An alias stands for the same value, and has a line of its own."""
    document = loads("a: &x\n  b: [1]\nc: *x\nd: &t text\ne: *t")
    assert document.data == {"a": {"b": [1]}, "c": {"b": [1]}, "d": "text", "e": "text"}
    assert (document.line(("c",)), document.line(("c", "b"))) == (3, 2)


def test_lines() -> None:
    """Every key and item has its line; what is not there, that of its nearest parent."""
    document = loads("# c\na:\n  - b\n  - c: 1\n    d: 2\n")
    assert [
        document.line(one)
        for one in (
            (),
            ("a",),
            ("a", 0),
            ("a", 1),
            ("a", 1, "d"),
            ("a", 1, "x"),
            ("a", 9),
            ("a", "b"),
        )
    ] == [2, 2, 3, 4, 5, 4, 2, 2]


def test_a_byte_order_mark_is_not_content(tmp_path: Path) -> None:
    """A file that begins with a byte order mark reads as without."""
    path = tmp_path / "f.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1")
    assert load(path).data == {"a": 1}
    assert loads("\ufeffa: 1").data == {"a": 1}


def test_the_digest_is_that_of_the_bytes(tmp_path: Path) -> None:
    """The digest tells two files apart that hold the same data."""
    path = tmp_path / "f.yaml"
    path.write_text("a: 1")
    assert f"sha256:{hashlib.sha256(b'a: 1').hexdigest()}" == load(path).digest
    assert load(path).digest == loads("a: 1").digest != loads("a: 1 ").digest


def test_a_huge_file_is_refused_at_once(tmp_path: Path) -> None:
    """Of a file of 50 MB no more is read than it takes to see that it is too large."""
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        os.truncate(file.fileno(), 50_000_000)
    begun = time.perf_counter()
    with pytest.raises(InputError, match="larger than 16 MiB"):
        load(path)
    assert time.perf_counter() - begun < 1
    with pytest.raises(InputError, match="larger than 16 MiB"):
        loads("a: " + "x" * MAX_BYTES)


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    """What is not UTF-8 is refused with the line of the first foreign byte."""
    path = tmp_path / "f.yaml"
    path.write_bytes("a: 1\nb: é".encode("latin-1"))
    with pytest.raises(InputError, match=r"f\.yaml:2: this is not UTF-8 text \(save"):
        load(path)


def test_a_directory_is_refused(tmp_path: Path) -> None:
    """A directory is no file, and said to be one."""
    with pytest.raises(InputError, match=r"this is a directory \(name a file in it\)"):
        load(tmp_path)


def test_a_missing_file_has_neighbours(tmp_path: Path) -> None:
    """A file that is not there is looked for among those that are."""
    (tmp_path / "contract.yaml").write_text("a: 1")
    with pytest.raises(InputError, match=r"no such file \(did you mean 'contract.yaml'\?\)"):
        load(tmp_path / "contarct.yaml")
    with pytest.raises(InputError, match=r"no such file \(there is no folder '.*nowhere' either"):
        load(tmp_path / "nowhere" / "f.yaml")


@for_each("path", ["a\0b", "x" * 5_000])
def test_a_path_that_cannot_be_one(path: str) -> None:
    """What the system refuses to open is an error like any other."""
    with pytest.raises(InputError, match="the file cannot be read"):
        load(path)


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without permission is refused with the system's reason."""

    def closed(*_args: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", closed)
    with pytest.raises(InputError, match="the file cannot be read: permission denied"):
        load(tmp_path / "f.yaml")


def test_the_contract_loads_fast() -> None:
    """The shipped contract loads in a few milliseconds, and 30 at the most."""
    if not yaml.__with_libyaml__:
        pytest.skip("only promised with libyaml")
    path = contract_dir() / "aisp.yaml"
    best = min(_seconds(path) for _ in range(5))
    assert best < 0.030


def _seconds(path: Path) -> float:
    begun = time.process_time()
    load(path)
    return time.process_time() - begun


SIGNS = st.sampled_from(list("ab1:-?[]{}&*!|>'\"%@`#,<. \n\t\\~"))
TEXTS = st.one_of(st.text(max_size=200), st.text(SIGNS, max_size=60))


@settings(max_examples=400)
@given(text=TEXTS, parser=st.sampled_from(PARSERS))
@example(text='a: "\\U00110000"', parser=yaml.SafeLoader)
@example(text="%YAML " + "9" * 5_000 + ".1\n---\na: 1", parser=yaml.SafeLoader)
@example(text='a: "\\ud800"', parser=yaml.SafeLoader)
@example(text="a: \ud800", parser=PARSERS[1])
@example(text="!%ff a", parser=PARSERS[1])
@example(text="*a", parser=PARSERS[1])
def test_any_text_gives_a_document_or_an_input_error(text: str, parser: type) -> None:
    """Whatever the text, nothing else comes out, by either parser."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[load.__module__], "_Loader", parser)
        try:
            assert isinstance(loads(text), Document)
        except InputError as error:
            assert error.problems


@settings(max_examples=200)
@given(raw=st.binary(max_size=200))
def test_any_bytes_give_a_document_or_an_input_error(
    raw: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever the bytes of a file, nothing else comes out."""
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(raw)
    try:
        assert isinstance(load(path), Document)
    except InputError as error:
        assert error.problems


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), max_size=20)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**60), 10**60)
    | st.decimals(
        allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9
    )
    | WORDS
)
DATA = st.dictionaries(
    WORDS,
    st.recursive(
        SCALARS, lambda one: st.lists(one, max_size=4) | st.dictionaries(WORDS, one, max_size=4)
    ),
    max_size=5,
)


def block(value: object, indent: str = "") -> str:
    """Write data in YAML's block style, texts as JSON's in ASCII."""
    if isinstance(value, dict) and value:
        rows = (
            f"{indent}? {quoted(key)}\n{indent}: {block(one, indent + '  ').lstrip()}"
            for key, one in value.items()
        )
        return "\n".join(rows)
    if isinstance(value, list) and value:
        return "\n".join(f"{indent}- {block(one, indent + '  ').lstrip()}" for one in value)
    return indent + (quoted(value) if isinstance(value, str) else flow(value))


def quoted(text: str) -> str:
    """Write a text as both JSON and YAML read it."""
    return (
        '"' + "".join(c if c.isalnum() and c.isascii() else f"\\U{ord(c):08x}" for c in text) + '"'
    )


def flow(value: object) -> str:
    """Write a value in one line, as JSON does."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)}: {flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(one) for one in value) + "]"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return quoted(value) if isinstance(value, str) else json.dumps(value)


@settings(max_examples=200)
@given(data=DATA)
def test_json_data_comes_back_equal(data: dict[str, object]) -> None:
    """Data written in flow style or in block style loads back as it was."""
    assert data == loads(flow(data)).data
    assert data == loads(block(data)).data
