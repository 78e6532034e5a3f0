"""`assay doctor` as a person and a machine read it."""

import json

import pytest
from command_line import assay
from examined_banks import BANK

from assay.sandbox.app import make_app
from assay.sandbox.serve import serving


def doctor(*args, cwd):
    """Run the command in a folder; return code, output and errors."""
    return assay("doctor", *args, cwd=cwd)


def test_the_bank_that_comes_along_is_sound(tmp_path):
    """Without arguments, the embedded sandbox is examined: no problems, and no file is written."""
    code, out, err = doctor(cwd=tmp_path)
    assert (0, "") == (code, err)
    first, *steps, last = out.splitlines()
    assert first.startswith("doctor: about 81 calls (accounts 18, ")
    assert "; including 10 without the customer, 1 that transmit a consent, " in first
    assert first.endswith("27 that create a request; 13 signatures")
    nothing = [one.split(":")[0].split()[-1] for one in steps if one.startswith("  none ")]
    assert ["host", "port", "answers", "clocks", "arguments"] == nothing
    assert len(steps) == len(nothing) + sum(one.startswith("  ok ") for one in steps)
    assert "No problems found. Next: assay run" == last
    assert [] == list(tmp_path.iterdir())


def test_a_mistake_ends_with_what_to_do_next(tmp_path):
    """The output has file and line for an editor, and the next command."""
    with serving(make_app()) as url:
        path = tmp_path / "bank.yaml"
        text = BANK.replace("URL", url).replace("list: /accounts", "list: /account")
        path.write_text(text, encoding="utf-8")
        code, out, err = doctor("--target", path, cwd=tmp_path)
        machine = doctor("--target", path, "--json", cwd=tmp_path)
    assert (2, "") == (code, err)
    line = (
        f"  doubt    pointers: {path}:62: operations.accounts.list: expected the list of items, "
        "found no list at /account; is this intended? (did you mean /accounts?)"
    )
    assert line in out.splitlines()
    last = f"1 problem to fix ({path}:62). Then run: assay doctor --target {path}"
    assert last == out.splitlines()[-1]
    result = json.loads(machine[1])
    assert (2, "") == (machine[0], machine[2])
    assert {"assay-doctor": 1, "exit": 2, "target": str(path)}.items() <= result.items()
    findings = [one for step in result["steps"] for one in step["findings"]]
    (finding,) = [one for one in findings if one["weight"] != "not seen"]
    assert ("doubt", 62, "did you mean /accounts?") == (
        finding["weight"],
        finding["line"],
        finding["hint"],
    )


def test_a_file_that_does_not_read(tmp_path):
    """Errors in the file itself come first, and every other check is skipped."""
    path = tmp_path / "bank.yaml"
    path.write_text("assay: 1\ntarget: mine\nextends: sandbx\n", encoding="utf-8")
    code, out, err = doctor("--target", path, cwd=tmp_path)
    assert (2, "") == (code, err)
    assert f"target: {path}:3: " in out
    assert "did you mean 'sandbox'?" in out
    assert "skipped  calls (requires: fixtures)" in out


def test_a_quick_examination(tmp_path):
    """Three calls are made; what they do not show is named as not seen, and nothing is ok by silence."""
    code, out, err = doctor("--quick", "--json", cwd=tmp_path)
    result = json.loads(out)
    assert (3, "", 3) == (code, err, result["calls"])
    words = {step["name"]: step["result"] for step in result["steps"]}
    unseen = ("static", "pointers", "pages", "dates", "presence", "screens", "effects", "states")
    assert {"not seen"} == {words[name] for name in (*unseen, "values")}
    (operations,) = [
        finding["found"]
        for step in result["steps"]
        for finding in step["findings"]
        if finding["expected"] == "a successful answer of each operation"
    ]
    assert "none of balances, transactions, modify-payment, cancel-payment" == operations


@pytest.mark.parametrize("pointer", ["/holder/ibn", "/identity"])
def test_a_value_that_no_consent_has_disclosed_yet(tmp_path, pointer):
    """Before a consent a value need not be there, so no other value is taken for what was meant."""
    text = (
        "assay: 1\ntarget: mine\nextends: sandbox\n"
        f"operations: {{accounts: {{values: {{PsuIdentity: {pointer}}}}}}}\n"
    )
    (tmp_path / "bank.yaml").write_text(text, encoding="utf-8")
    _, out, _ = doctor("--quick", "--json", "-c", "aisp", "--target", "bank.yaml", cwd=tmp_path)
    findings = [
        (finding["weight"], finding["key"])
        for step in json.loads(out)["steps"]
        for finding in step["findings"]
        if finding["key"].startswith("operations.accounts.values")
    ]
    assert [("not seen", "operations.accounts.values.PsuIdentity")] == findings


def test_the_next_command_has_the_options_given(tmp_path):
    """The closing line names contracts and target as they were given, quoted for a shell."""
    (tmp_path / "my bank.yaml").write_text(
        "assay: 1\ntarget: mine\nextends: sandbox\n", encoding="utf-8"
    )
    code, out, _ = doctor("-c", "aisp", "--target", "my bank.yaml", cwd=tmp_path)
    assert 0 == code
    assert "No problems found. Next: assay run -c aisp --target 'my bank.yaml'" in out


def test_guesses_are_summed_up_after_the_faults(tmp_path):
    """Lines that `assay init` marked are one line at the end, and listed with --verbose."""
    marked = "".join(f"# guessed: line {n}\n" for n in range(30))
    text = f"assay: 1\ntarget: mine\nextends: sandbox\n{marked}presence: {{header: PSU-IP, value: x}}\n"
    (tmp_path / "bank.yaml").write_text(text, encoding="utf-8")
    code, out, _ = doctor("-c", "aisp", "--target", "bank.yaml", cwd=tmp_path)
    lines = out.splitlines()
    assert 2 == code
    assert (
        "  note     guessed: 30 lines are marked guessed (first: bank.yaml:4; all: --verbose)"
        == lines[-5]
    )
    fault = next(n for n, line in enumerate(lines) if line.startswith("  doubt    presence"))
    assert fault < len(lines) - 5
    verbose = doctor("-v", "-c", "aisp", "--target", "bank.yaml", cwd=tmp_path)[1]
    assert 30 == sum("guessed: line" in line for line in verbose.splitlines())
