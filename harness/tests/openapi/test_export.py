"""`assay export openapi` as a person uses it."""

import json

import pytest
import yaml
from command_line import assay, started
from documented import ELSEWHERE, LAB, made


def export(*args, cwd, **env):
    """Export a document; return code, output and errors."""
    return assay("export", "openapi", *args, cwd=cwd, PATH="", **env)


def test_it_prints_json(tmp_path):
    """Without arguments, the shipped contracts for the sandbox are printed, and no file is written."""
    code, out, err = export(cwd=tmp_path)
    assert (0, "") == (code, err)
    assert made() == json.loads(out)
    assert [] == list(tmp_path.iterdir())


def test_a_terminal_of_few_letters_gets_it_too(tmp_path):
    """Characters that the terminal cannot show are written as UTF-8."""
    (tmp_path / "mine.yaml").write_text(
        "assay: 1\ntarget: mine\nextends: sandbox\n"
        "operations: {create-payment: {modes: {instant: {body: /type, value: \u00e9t\u00e9}}}}\n",
        encoding="utf-8",
    )
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    wanted = ("export", "openapi", "--target", "mine.yaml")
    code, out, err = started(*wanted, cwd=tmp_path, **env)
    assert (0, "") == (code, err)
    assert "\u00e9t\u00e9" in out
    assert "mine" == json.loads(out)["x-assay-target"]["target"]


def test_a_file_is_written_whole(tmp_path):
    """The YAML output has the content of the JSON output; no other file is left."""
    (contract,), target = LAB
    args = ("-c", contract, "-t", target, "--format", "yaml", "--out", "lab.yaml")
    assert (0, "", "") == export(*args, cwd=tmp_path)
    text = (tmp_path / "lab.yaml").read_text("utf-8")
    assert made(*LAB) == yaml.safe_load(text)
    assert ["lab.yaml"] == [one.name for one in tmp_path.iterdir()]
    assert text.startswith("openapi: 3.1.0\n")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--target", "sandbx"), "did you mean 'sandbox'"),
        (("--contract", "aips"), "did you mean 'aisp'"),
        (("--target", ELSEWHERE / "target.yaml"), "there is no such contract"),
        (("--out", "nowhere/it.json"), "cannot be written"),
        (("--format", "toml"), "expected one of 'json', 'yaml', found 'toml'"),
    ],
)
def test_a_mistake_is_told(tmp_path, args, said):
    """Exit 2, a hint, no traceback, and no file."""
    code, out, err = export(*args, cwd=tmp_path)
    assert (2, "") == (code, out)
    assert said in err
    assert [] == list(tmp_path.iterdir())
