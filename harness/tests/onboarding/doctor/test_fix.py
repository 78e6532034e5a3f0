"""`assay doctor --fix`: what the answers show is changed in the file, and nothing else in it."""

from textwrap import dedent
from types import SimpleNamespace

import pytest
import yaml
from command_line import assay
from rows import for_each

from assay.files.edits import Edit, apply
from assay.onboarding.doctor.record import Finding, Weight
from assay.onboarding.doctor.repair import proposed, repair
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
        (("operations", "accounts", "item", "on"), None, "/day", "      on: /day"),
        (("operations", "accounts", "links"), None, ["/a", "/b c"], '    links: [/a, "/b c"]'),
        (
            ("sca", "wait"),
            None,
            {"on": "/x", "first": 10, "no": True},
            'sca: {wait: {on: /x, first: 10, "no": true}}',
        ),
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
        (("operations", "accounts", "list"), None),
    ],
)
def test_what_is_not_there_is_not_changed(at, old):
    """Another value, a place that is missing, and a mapping that is none."""
    assert apply(FILE, Edit(at=at, old=old, new="/x")) is None


def test_keys_above_an_added_one_are_added_too():
    """Each on a line of its own, so that the next one finds its place."""
    added = FILE
    for name in ("path", "method"):
        added = apply(added, Edit(at=("operations", "consents", "x", name), old=None, new="/c"))
    assert added == FILE.replace(
        "  accounts:", "  consents:\n    x:\n      method: /c\n      path: /c\n  accounts:"
    )


DRAFT = dedent(
    """\
    target: bank
    # operations:
      # accounts:
        # TODO: the list of items, for example `list: /accounts`
        # item:
          # TODO: the key of an item, for example `key: /id`
          # TODO: the date, for example `on: /date`
      # balances:
        # TODO: the list of items, for example `list: /balances`
    # TODO: the time zone, for example `zone: Europe/Paris`
    """
)


def test_in_a_draft_a_value_takes_the_place_of_its_comment():
    """With the keys above it, which were comments because nothing was below them."""
    at = ("operations", "accounts", "item", "key")
    first = apply(DRAFT, Edit(at=at, old=None, new="/iban"))
    assert first.splitlines()[1:6] == [
        "operations:",
        "  accounts:",
        "    # TODO: the list of items, for example `list: /accounts`",
        "    item:",
        "      key: /iban",
    ]
    second = apply(first, Edit(at=("operations", "balances", "list"), old=None, new="/b"))
    third = apply(second, Edit(at=("zone",), old=None, new="Europe/Paris"))
    assert yaml.safe_load(third) == {
        "target": "bank",
        "operations": {"accounts": {"item": {"key": "/iban"}}, "balances": {"list": "/b"}},
        "zone": "Europe/Paris",
    }


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


@pytest.mark.parametrize(
    ("answers", "changes", "line"),
    [
        (["y"], 1, "    next: /links/next"),
        (["n"], 0, "    next: /links/nxt"),
        (["edit", "a: [", "/links/self"], 1, "    next: /links/self"),
    ],
)
def test_a_person_is_asked(tmp_path, monkeypatch, answers, changes, line):
    """Each change is shown as a diff before; what is refused is not asked for again."""
    path = wrong_file(tmp_path, ("next: /links/next", "next: /links/nxt"))
    given = iter([*answers, *["n"] * (answers[0] == "edit")])  # another link may be proposed then
    monkeypatch.setattr("assay.cli.doctor.click.prompt", lambda *_, **__: next(given))
    monkeypatch.setattr("assay.cli.doctor.asks", lambda: True)
    err = fixed(tmp_path)
    assert f"bank.yaml: {changes} change" in err
    assert line in path.read_text("utf-8").splitlines()
    assert ("YAML" in err) == (answers[0] == "edit")


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
    read = (proposed(finding, path, "a: old\n") for finding in findings)
    assert [each.after for each in read if each] == ["a: fine\n"]


def test_a_change_is_decided_once(tmp_path):
    """In the file as it is by then, so that what was just added is not added again."""
    path = tmp_path / "bank.yaml"
    path.write_text("target: x\n")
    edits = [Edit(at=("operations", "a", name), old=None, new="/x") for name in ("list", "next")]
    findings = [
        Finding(
            weight=Weight.NOTE, path=str(path), line=1, key="", expected="", found="", edit=each
        )
        for each in edits
    ]
    examined, seen = SimpleNamespace(findings=findings), []

    def decide(proposal):
        seen.append(proposal.finding.edit)
        return proposal.finding.edit

    assert repair(path, lambda: examined, decide) == (examined, 2)
    assert seen == edits
    assert path.read_text() == "target: x\noperations:\n  a:\n    next: /x\n    list: /x\n"


def test_what_is_missing_in_an_inherited_file_is_added_to_the_own_one(tmp_path):
    """The file that it extends stays as it is."""
    draft = wrong_file(tmp_path, (_item_key(), "      # no key"))
    draft = draft.rename(tmp_path / "draft.yaml")
    before = draft.read_text("utf-8")
    own = tmp_path / "bank.yaml"
    own.write_text("assay: 1\ntarget: own\nextends: ./draft.yaml")
    fixed(tmp_path, "--yes")
    assert own.read_text("utf-8") == (
        "assay: 1\ntarget: own\nextends: ./draft.yaml\n"
        "operations:\n  accounts:\n    item:\n      key: /iban\n"
    )
    assert draft.read_text("utf-8") == before
