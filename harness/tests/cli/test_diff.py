"""`assay diff`: exit codes, formats, files, and what cannot be compared."""

import json
import re

import pytest
from command_line import assay

from assay._resources import contract_dir

AISP = (contract_dir() / "aisp.yaml").read_text("utf-8")


@pytest.fixture
def files(tmp_path):
    """Write two contracts: the new one has one more quota and longer pages, but no type of balances."""
    (tmp_path / "old.yaml").write_text(AISP, encoding="utf-8")
    quota, balance_type = (
        re.search(rf"(?ms)^  - id: {name}\n.*?(?=^  (?:- id:|#))", AISP)[0]
        for name in ("batch-quota", "balance-type")
    )
    changed = AISP.replace(quota, quota + quota.replace("batch-quota", "other-quota"))
    changed = changed.replace(balance_type, "").replace("size: 5", "size: 6")
    # The answer that rests on the rule goes with it.
    changed = re.sub(r"    answers:\n      each-type:\n(?: {8}.*\n)+", "", changed)
    (tmp_path / "new.yaml").write_text(changed, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("names", "gate", "expected"),
    [
        (("old.yaml", "new.yaml"), "breaking-tpp", 1),
        (("old.yaml", "new.yaml"), "breaking-bank", 0),
        (("old.yaml", "new.yaml"), "breaking", 1),
        (("new.yaml", "old.yaml"), "breaking-tpp", 0),
        (("new.yaml", "old.yaml"), "breaking-bank", 1),
        (("old.yaml", "new.yaml"), "review", 1),
        (("old.yaml", "new.yaml"), "any", 1),
        (("old.yaml", "aisp"), "any", 0),
        (("old.yaml", "new.yaml"), None, 0),
    ],
)
def test_the_exit_code_is_that_of_the_gate(files, names, gate, expected):
    """A new limit and a promise that is gone break TPPs, the reverse banks; without a gate it is 0."""
    code, _, err = assay("diff", *names, *(["--fail-on", gate] if gate else []), cwd=files)
    assert expected == code
    assert bool(err) is bool(expected)


def test_several_gates_each_say_how_many(files):
    """Gates are separated by commas, and standard error has a line for each gate that fails."""
    gates = "breaking-bank, breaking-tpp,review,none"
    code, out, err = assay("diff", "old.yaml", "new.yaml", "--fail-on", gates, cwd=files)
    assert 1 == code
    assert err == ("assay: --fail-on breaking-tpp: 2 changes\nassay: --fail-on review: 4 changes\n")
    assert "rules/accounts.page-size/size: 5 → 6" in out


def test_a_gate_that_does_not_exist(files):
    """The nearest is named, before anything is read."""
    code, _, err = assay("diff", "old.yaml", "nope.yaml", "--fail-on", "braking", cwd=files)
    assert 2 == code
    assert "there is no gate 'braking' (did you mean 'breaking'?)" in err


def test_output_goes_to_a_file(files):
    """In any format, completely; nothing is printed."""
    code, out, _ = assay("diff", "old.yaml", "new.yaml", "-f", "json", "-o", "d.json", cwd=files)
    assert (0, "") == (code, out)
    assert 4 == len(json.loads((files / "d.json").read_text("utf-8"))["changes"])


def test_problems_of_both_contracts_are_the_problems_of_check(files):
    """Both files are read before anything is compared, with the lines and hints of `assay check`."""
    (files / "old.yaml").write_text(AISP.replace("kind: quota", "kind: qouta"), "utf-8")
    (files / "new.yaml").write_text(
        AISP.replace("operation: accounts", "operation: acounts"), "utf-8"
    )
    code, out, err = assay("diff", "old.yaml", "new.yaml", cwd=files)
    checked = assay("check", "old.yaml", "new.yaml", cwd=files)

    assert (2, "", checked[2]) == (code, out, err)
    assert "did you mean 'quota'?" in err
    assert "did you mean 'accounts'?" in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", "this is not UTF-8 text"),
        (b"", "the file is empty"),
        (b"a: &a [*a]", "new.yaml:1"),
        (b"[" * 50_000, "new.yaml:1"),
        (b"# " + b"x" * (17 << 20), "larger than 16 MiB"),
        (AISP.replace("limit: 4", "limit: " + "9" * 5_000).encode(), "new.yaml:380"),
        (AISP.replace("const: EUR", "const: " + "9" * 5_000).encode(), "new.yaml"),
        (None, "there is no such file"),
    ],
    ids=["bytes", "empty", "loop", "deep", "large", "long number", "any number", "missing"],
)
def test_a_hostile_file_is_refused(files, content, message):
    """As `assay check` does, with a line and without a traceback."""
    (files / "new.yaml").unlink()
    if content is not None:
        (files / "new.yaml").write_bytes(content)
    code, _, err = assay("diff", "old.yaml", "new.yaml", cwd=files)
    assert 2 == code
    assert message in err


def test_a_target_file_is_no_contract(files):
    """It is refused by what is missing in it."""
    (files / "new.yaml").write_text("assay: 1\ntarget: mine\nextends: sandbox\n", "utf-8")
    code, _, err = assay("diff", "old.yaml", "new.yaml", cwd=files)
    assert 2 == code
    assert "new.yaml" in err


def test_a_long_contract_is_compared_in_time(files):
    """Two hundred rules that are all renamed are matched by their content, none by trial and error."""
    rules = [
        f"  - {{id: X{n}, kind: pagination, operation: accounts, size: {n + 1}, says: A., "
        "source: {section: Limits, line: 116}}\n"
        for n in range(200)
    ]
    head, tail = AISP.split("rules:\n")
    for name, letter in (("old.yaml", "a"), ("new.yaml", "b")):
        text = f"{head}rules:\n{''.join(rules).replace('X', letter)}{tail}"
        (files / name).write_text(text, "utf-8")
    code, out, _ = assay("diff", "old.yaml", "new.yaml", "--fail-on", "review", cwd=files)
    assert 0 == code
    assert "aisp 1.0 → aisp 1.0: 200 changes" in out
