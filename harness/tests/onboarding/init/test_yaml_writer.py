"""The YAML writer: what it writes is read back equal, and comments stay comments."""

from rows import for_each

from assay.files.edits import Edit
from assay.files.load import loads
from assay.onboarding.init.yaml_writer import YamlEntry, gap, render

TEXTS = [
    *("plain", "/a/b", "/a/{b}", "/a: b", "{a}", "[a", "]", "a, b", "a: b", "a #b", "# a", "- a"),
    *("? a", "&a", "*a", "!a", "|", ">", "%a", "@a", "`a", "'a'", '"a"', "\\n", " a ", "", "~"),
    *("on", "yes", "No", "true", "null", "NaN", "12", "012", "1.0", "1e3", "0x1f", "2026-12-31"),
    *("22:00", "https://x.example/a?b=c#d", "été", "\U0001f600", "=", "<<", ".inf"),
]


@for_each("text", TEXTS)
def test_a_text_is_read_as_it_was(text):
    """A text is read back equal as a value, in brackets and as a key."""
    value = {"a": text, "b": [text, {"c": text}]}
    entries = [
        YamlEntry(key="whole", value=text, why="because"),
        YamlEntry(key="flow", value=value, why="because"),
        YamlEntry(key="below", below=(YamlEntry(key="k", value=text),)),
    ]
    read = loads("\n".join(render(entries))).data
    assert {"whole": text, "flow": value, "below": {"k": text}} == read


@for_each("text", TEXTS)
def test_a_change_writes_as_a_draft_does(text):
    """What the doctor writes into a file is quoted as what `init` has written there."""
    edit = Edit(at=("a",), old=None, new=[text, {text: text}])
    assert [*render([YamlEntry(key="a", value=edit.new)])] == [f"a: {edit.text}"]


def test_a_reason_cannot_leave_its_comment():
    """A foreign text in a comment stays in one line, printable and short."""
    why = "a\nb: c\r\x85\u2028d\x00" + "e" * 500
    (line,) = render([YamlEntry(key="a", value=1, why=why)])
    assert line.startswith("a: 1  # guessed: a b: c d ee")
    assert line.isprintable()
    assert len(line) < 130


def test_what_is_missing_is_a_comment_with_an_example():
    """A key with only gaps below it is a comment, too."""
    entries = [
        YamlEntry(key="a", below=(gap("b", what="where it is", example="/b"),)),
        YamlEntry(
            key="c", below=(gap("d", what="where it is", example="/d"), YamlEntry(key="e", value=1))
        ),
    ]
    assert [
        "# a:",
        "  # TODO: where it is, for example `b: /b`",
        "c:",
        "  # TODO: where it is, for example `d: /d`",
        "  e: 1",
    ] == list(render(entries))
