"""What other tools start Assay with: read as they read it, and run by bash in a folder of its own.

Installing is left out: `python`, `git` and `assay` in the path note how they are called. What
`assay` was called with is then run in this process.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from support.command_line import assay

ROOT = Path(__file__).parents[3]
ACTION = yaml.safe_load((ROOT / ".github/actions/assay/action.yml").read_text(encoding="utf-8"))
TARGET = "assay: 1\ntarget: bank\nextends: sandbox\n"
#: A few obligations, for a short run.
FEW = ("-m", "pagination")


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a target file, and programs that note their arguments."""
    (tmp_path / "bank.yaml").write_text(TARGET, encoding="utf-8")
    for program in ("assay", "python", "python3", "git"):
        path = tmp_path / "bin" / program
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            f'#!/bin/bash\nprintf "%s\\0" {program} "$@" >> "$CALLS"; echo >> "$CALLS"\n',
            encoding="utf-8",
        )
        path.chmod(0o755)
    return tmp_path


def calls_of(script, folder, **env):
    """Run a script by bash; return the calls of the programs, in order."""
    log = folder / "calls"
    log.unlink(missing_ok=True)
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "CALLS": str(log), **env},
        check=True,
        timeout=30,
    )
    return [line.split("\0")[:-1] for line in log.read_text(encoding="utf-8").splitlines()]


def perform(calls, folder):
    """Run what `assay` was called with, for a few obligations; return the exit codes."""
    codes = {}
    for program, command, *arguments in calls:
        if program == "assay":
            few = FEW if command == "run" else ()
            codes[command], _, err = assay(command, *arguments, *few, cwd=folder)
            assert "there is no option" not in err
    return codes


# -- GitHub ----------------------------------------------------------------------------
def test_the_action_is_a_composite_action():
    """It has what GitHub requires, and every input and output is described and used."""
    assert {"name", "description", "inputs", "outputs", "runs"} <= ACTION.keys()
    assert ACTION["runs"]["using"] == "composite"
    text = json.dumps(ACTION["runs"])
    for name, item in ACTION["inputs"].items():
        assert item["description"]
        assert isinstance(item["default"], str)
        assert f"inputs.{name}" in text
    assert set(re.findall(r"inputs\.([a-z-]+)", text)) == {*ACTION["inputs"]}
    for step in ACTION["runs"]["steps"]:
        assert ("uses" in step) != ("run" in step)
        assert "run" not in step or step["shell"] == "bash"


def test_no_input_of_the_action_becomes_a_command():
    """GitHub replaces an expression before bash reads the script: values go in by variables."""
    assert not [step for step in ACTION["runs"]["steps"] if "${{" in step.get("run", "")]


def action_calls(folder, **inputs):
    """Run the scripts of the action with these inputs."""
    values = {name: item["default"] for name, item in ACTION["inputs"].items()} | inputs
    calls = []
    for step in (step for step in ACTION["runs"]["steps"] if "run" in step):
        env = {"GITHUB_OUTPUT": str(folder / "output")}
        for name, text in step.get("env", {}).items():
            expression = re.fullmatch(r"\$\{\{ (\S+) \}\}", text)[1]
            room, _, key = expression.partition(".")
            env[name] = values[key] if room == "inputs" else str(ROOT / ".github/actions/assay")
        calls += calls_of(step["run"], folder, **env)
    return calls


def test_the_action_installs_checks_and_runs(folder):
    """Its own version is installed; options and contracts are passed word by word."""
    install, check, run = action_calls(
        folder, target="bank.yaml", contracts="aisp\n", arguments="--seed\n7\n", out="my report"
    )
    assert install[:4] == ["python", "-m", "pip", "install"]
    assert (Path(install[-1]) / "pyproject.toml").is_file()
    assert ["assay", "check", "bank.yaml", "aisp"] == check
    assert {"check": 0, "run": 0} == perform([check, run], folder)
    report = json.loads((folder / "my report" / "report.json").read_text(encoding="utf-8"))
    assert report["run"]["seed"] == 7
    assert (folder / "output").read_text(encoding="utf-8") == "report=my report\n"


def test_the_action_takes_a_url(folder):
    """A served sandbox has no file to check."""
    _, run = action_calls(folder, target="http://127.0.0.1:8080")
    assert run[1:4] == ["run", "--target", "http://127.0.0.1:8080"]


def test_hostile_inputs_of_the_action_stay_words(folder):
    """No input is executed."""
    evil = "$(touch evil)`touch evil`; touch evil"
    calls = action_calls(folder, target=evil, contracts=evil, arguments=evil, out="r")
    assert calls[-1] == ["assay", "run", "--target", evil, "--out", "r", "--contract", evil, evil]
    assert not (folder / "evil").exists()


# -- GitLab and Jenkins ------------------------------------------------------------------
def test_the_gitlab_template(folder):
    """Its job clones, installs, checks and runs, and keeps what the run writes."""
    template = yaml.safe_load((ROOT / ".ci/gitlab.yml").read_text(encoding="utf-8"))
    job = template[".assay"]
    calls = calls_of(
        "\n".join(job["script"]),
        folder,
        **job["variables"] | {"ASSAY_TARGET": "bank.yaml", "ASSAY_ARGUMENTS": "--seed 7"},
    )
    assert ["git", "git", "python", "assay", "assay"] == [program for program, *_ in calls]
    assert {"check": 0, "run": 0} == perform(calls, folder)
    assert (folder / job["artifacts"]["reports"]["junit"]).is_file()
    assert (folder / job["artifacts"]["paths"][0] / "report.html").is_file()


def test_the_jenkins_pipeline(folder):
    """Its shell steps install, check and run; its braces are closed."""
    text = (ROOT / ".ci/Jenkinsfile").read_text(encoding="utf-8")
    assert text.count("{") == text.count("}")
    (folder / "venv" / "bin").mkdir(parents=True)
    for program in ("assay", "python"):
        shutil.copy(folder / "bin" / program, folder / "venv" / "bin" / program)
    steps = re.findall(r"sh '([^']*)'", text)
    calls = calls_of("\n".join(steps), folder, TARGET="bank.yaml")
    assert {"check": 0, "run": 0} == perform(calls, folder)
    assert (folder / re.search(r"junit '([^']*)'", text)[1]).is_file()


# -- the manual ------------------------------------------------------------------------
MANUAL = {
    name: yaml.safe_load(text)
    for name, text in re.findall(
        r"```yaml\n# integration: (\S+)\n(.*?)```",
        (ROOT / "contract/ci.md").read_text(encoding="utf-8"),
        re.DOTALL,
    )
}


def test_the_manual_uses_what_is_there():
    """Its examples name files, inputs, variables and hooks that exist."""
    _, step = MANUAL["github"]["steps"]
    assert (ROOT / step["uses"].partition("assay/")[2].partition("@")[0] / "action.yml").is_file()
    assert step["with"].keys() <= ACTION["inputs"].keys()
    template = yaml.safe_load((ROOT / MANUAL["gitlab"]["include"]["file"]).read_text("utf-8"))
    job = MANUAL["gitlab"]["conformance"]
    assert job["variables"].keys() <= template[job["extends"]]["variables"].keys()
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (repository,) = MANUAL["pre-commit"]["repos"]
    assert {hook["id"] for hook in repository["hooks"]} <= {hook["id"] for hook in hooks}


# -- pre-commit and containers -----------------------------------------------------------
def test_the_hook_checks_the_files_that_it_is_given(folder):
    """The entry of the hook passes for files that are sound, and fails for others."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {"id", "name", "entry", "language", "types"} <= hook.keys()
    program, *arguments = shlex.split(hook["entry"])
    assert program == "assay"
    assert assay(*arguments, "bank.yaml", cwd=folder)[0] == 0
    (folder / "wrong.yaml").write_text(TARGET + "zone: Europe/Pariss\n", encoding="utf-8")
    code, _, err = assay(*arguments, "bank.yaml", "wrong.yaml", cwd=folder)
    assert code == 2
    assert "wrong.yaml:4" in err


def instructions():
    """Yield the instructions of the container file."""
    text = (ROOT / ".ci/Containerfile").read_text(encoding="utf-8")
    for line in text.replace("\\\n", "").splitlines():
        if line and not line.startswith("#"):
            word, _, rest = line.partition(" ")
            yield word, rest


def test_the_container_has_what_the_package_is_built_of():
    """What it copies is there, and is all that the build of the wheel reads; it runs as no root."""
    listed = [*instructions()]
    copied = {name for word, rest in listed if word == "COPY" for name in rest.split()[:-1]}
    assert all((ROOT / name).exists() for name in copied)
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needed = {"contract", "suites", "harness/assay", "pyproject.toml", "README.md", "LICENSE"}
    assert needed == copied
    assert all(name in project for name in needed - {"pyproject.toml"})
    assert ("USER", "1000") in listed
    assert ("ENTRYPOINT", '["assay"]') in listed


def builder():
    """Return the first builder of containers that works here, or None."""
    for name in ("podman", "docker", "buildah"):
        if shutil.which(name):
            known = subprocess.run([name, "info"], capture_output=True, timeout=30, check=False)
            if known.returncode == 0:
                return name
    return None


@pytest.mark.slow
def test_the_container_is_built_and_runs():
    """Where there is a builder: the image is built, and checks the shipped contracts."""
    name = builder()
    if name is None:
        pytest.skip("no podman, docker or buildah works here")
    build = [name, "build", "-q", "-f", ROOT / ".ci/Containerfile", "-t", "assay-test", ROOT]
    subprocess.run(build, check=True, timeout=600)
    if name != "buildah":
        subprocess.run([name, "run", "--rm", "assay-test", "check", "aisp"], check=True, timeout=60)
