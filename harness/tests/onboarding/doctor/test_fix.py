"""`assay doctor --fix`: what the answers show is changed in the file, and nothing else in it."""

from textwrap import dedent
from types import SimpleNamespace

import pytest
import yaml
from command_line import assay
from rows import for_each

from assay.files.edits import Edit, apply
from assay.onboarding.doctor.record import Finding, Weight
from assay.onboarding.doctor.repair import proposals
from assay.preparation.target_file import shipped_file

FILE = dedent(
    """\
    # the whole file
    target: bank
    operations:
      accounts:   # with cards
        list: [/accounts, /cards]
        next: {at: /next, turn: link}   # a link
        item:
          key: '/id'
    opertions: {}
    sca: {}
    """
)


# -- changes of a text -------------------------------------------------------------
@for_each(
    ("at", "old", "new", "line"),
    [
        (("operations", "accounts", "item", "key"), "/id", "/iban", "      key: /iban"),
        (("operations", "accounts", "list", 1), "/cards", "/a b", '    list: [/accounts, "/a b"]'),
        (("operations", "accounts", "list"), "/cards", "/c", "    list: [/accounts, /c]"),
        (
            ("operations", "accounts", "next"),
            "/next",
            "/links/next",
            "    next: {at: /links/next, turn: link}   # a link",
        ),
        (("opertions",), "opertions", "operation", "operation: {}"),
        (("operations", "accounts", "one"), None, "/data", "    one: /data"),
        (("operations", "accounts", "item", "unit"), None, "0.01", '      unit: "0.01"'),
        (("sca", "kind"), None, "forms", "sca: {kind: forms}"),
        (("zone",), None, "no", 'zone: "no"'),
        (("operations", "consents", "path"), None, "/c", "  consents: {path: /c}"),
    ],
)
def test_one_place_is_changed(at, old, new, line):
    """A value, one of a list, one below a key, a key, or a key that is added: all else stays."""
    changed = apply(FILE, Edit(at=at, old=old, new=new))
    before, after = FILE.splitlines(), changed.splitlines()
    assert line in after
    added = old is None and "sca" not in at  # which has a flow in one line
    assert len([each for each in before if each not in after]) == (not added)
    assert len(after) == len(before) + added


@for_each(
    ("at", "old"),
    [
        (("operations", "accounts", "item", "key"), "/other"),
        (("operations", "consents"), "/id"),
        (("operations", "accounts", "list", 5), "/cards"),
        (("operations", "accounts", "item", "key", "deep"), None),
        ((), "never"),
    ],
)
def test_what_is_not_there_is_not_changed(at, old):
    """Another value, a place that is missing, and a mapping that is none."""
    assert apply(FILE, Edit(at=at, old=old, new="/x")) is None


def test_a_value_that_is_there_twice_is_not_changed():
    """It is not known which one is meant."""
    assert apply("a: {b: x, c: x}\n", Edit(at=("a",), old="x", new="y")) is None


@for_each("value", ["true", "1", "", "a: b", "#x", "ä", "- x", "'", "{x}", "a,b"])
def test_a_written_value_is_read_as_itself(value):
    """Whatever a bank calls a thing."""
    changed = apply("a: [old, {b: c}]\n", Edit(at=("a", 0), old="old", new=value))
    assert yaml.safe_load(changed) == {"a": [value, {"b": "c"}]}


# -- the command -------------------------------------------------------------------
SOUND = shipped_file("sandbox").read_text("utf-8")


def wrong_file(folder, *mistakes):
    """Write the file of the sandbox with mistakes, each a text and what stands in its place."""
    text = SOUND
    for right, wrong in mistakes:
        assert right in text, right
        text = text.replace(right, wrong, 1)
    path = folder / "bank.yaml"
    path.write_text(text, "utf-8")
    return path


def fixed(folder, *options):
    """Run the command on the file; return what it printed on standard error."""
    arguments = ("doctor", "--target", "bank.yaml", "-c", "aisp", "-c", "pis", "--fix", *options)
    return assay(*arguments, cwd=folder)[2]


def test_what_is_certain_is_mended_and_comments_stay(tmp_path):
    """With --yes nothing is asked; the file is then the sound one, character by character."""
    item = _item_key()
    path = wrong_file(
        tmp_path, ("zone: Europe", "zoen: Europe"), (item, item.replace("/", "/x", 1))
    )
    err = fixed(tmp_path, "--yes")
    assert path.read_text("utf-8") == SOUND
    assert "bank.yaml: 2 changes made" in err
    assert "-zoen: Europe/Paris" in err
    assert "+zone: Europe/Paris" in err


def _item_key():
    """Return the line of the file with the key of an account."""
    lines = SOUND.splitlines()
    start = lines.index("  accounts:")
    return next(line for line in lines[start:] if line.strip().startswith("key:"))


def test_what_is_only_similar_is_left(tmp_path):
    """A link of another name may be the one that was meant: --yes does not decide that."""
    path = wrong_file(tmp_path, ("next: /links/next", "next: /links/nxt"))
    before = path.read_text("utf-8")
    err = fixed(tmp_path, "--yes")
    assert "+    next: /links/next" in err
    assert "left: it is not certain" in err
    assert "bank.yaml: 0 changes made" in err
    assert path.read_text("utf-8") == before


@pytest.mark.parametrize(("answer", "changes"), [("y", 1), ("n", 0)])
def test_a_person_is_asked(tmp_path, monkeypatch, answer, changes):
    """Each change is shown as a diff before; what is refused is not asked for again."""
    path = wrong_file(tmp_path, ("next: /links/next", "next: /links/nxt"))
    asked = []

    def confirm(text, **_):
        asked.append(text)
        return answer == "y"

    monkeypatch.setattr("assay.cli.doctor.click.confirm", confirm)
    monkeypatch.setattr("assay.cli.doctor.asks", lambda: True)
    err = fixed(tmp_path)
    assert f"bank.yaml: {changes} change" in err
    assert (path.read_text("utf-8") == SOUND) == bool(changes)
    assert len(asked) == 1


def test_a_sound_file_is_left_alone(tmp_path):
    """Nothing is proposed."""
    path = wrong_file(tmp_path)
    assert "bank.yaml: 0 changes made" in fixed(tmp_path, "--yes")
    assert path.read_text("utf-8") == SOUND


@pytest.mark.parametrize(
    "options", [(), ("--target", "sandbox"), ("--target", "http://127.0.0.1:9")]
)
def test_only_a_file_of_the_user_is_changed(tmp_path, options):
    """A shipped name and a URL are no file here."""
    code, _, err = assay("doctor", "--fix", *options, cwd=tmp_path)
    assert code == 2
    assert err.startswith("assay: --fix: ")


def test_what_an_answer_says_cannot_break_the_file(tmp_path):
    """A value that is too long or has control characters is not written."""
    path = tmp_path / "bank.yaml"
    path.write_text("a: old\n")
    values = ("\x1b[2J", "x" * 1000, "a\nb: c", "fine")
    findings = tuple(
        Finding(
            weight=Weight.DOUBT,
            path=str(path),
            line=1,
            key="a",
            expected="",
            found="",
            edit=Edit(at=("a",), old="old", new=value),
        )
        for value in values
    )
    examined = SimpleNamespace(findings=findings)
    assert [each.after for each in proposals(examined, path, "a: old\n")] == ["a: fine\n"]
