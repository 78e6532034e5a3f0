"""The README, tried as a new user would: in a clean clone, with nothing installed.

Makes a virtual environment and installs from PyPI, so it is run with the kill
matrix and not with every test (see tox.ini).
"""

import os
import re
import subprocess
from pathlib import Path

import httpx
import pytest

from assay.parsing.parse import parse_contract
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS, NEUTRAL, PIS_MUTANTS, PIS_NEUTRAL
from assay.sandbox.policies import SOUND
from assay.sandbox.serve import serving

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = dict.fromkeys(re.findall(r"```sh\n(.*?)```", README, re.DOTALL))
#: What is not a command of the shell block but of a sentence.
WORDS = re.findall(r"`((?:assay|pytest) [^`]+)`", README)


def shell(command, cwd, **env):
    """Run a shell line as the README has it."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        ["bash", "-euc", command],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=600,
        env={**clean, **env},
        check=False,
    )


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """Clone the repository as it stands, with what is not committed yet."""
    folder = tmp_path_factory.mktemp("clone") / "assay"
    subprocess.run(["git", "clone", "-q", ROOT, folder], check=True)
    listed = ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    return folder


@pytest.fixture(scope="module")
def installed(clone):
    """Run the first command of the README; `tox -e wheel` runs it in all contexts."""
    first, *_ = BLOCKS
    done = shell(first.replace("python3 ", "python3.11 "), clone, ASSAY_CONTEXTS="base")
    assert done.returncode == 0, done.stderr
    return done


def test_the_first_command_does_the_main_job(installed, clone):
    """One command makes the environment and runs the main job."""
    assert "The gateway meets all 315 obligations." in installed.stdout
    assert list((clone / "reports" / "local").glob("*/report.html"))


def test_the_second_command_is_what_the_gate_runs():
    """The gate runs the very test command of the README."""
    _, second, *_ = BLOCKS
    assert second.strip() in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_the_commands_for_one_s_own_bank(installed, clone):
    """The file that is begun is sound and can be planned; the doctor and a run say what it lacks."""
    (block,) = (one for one in BLOCKS if "assay init" in one)
    init, check, doctor, plan, run = (line.partition("#")[0].strip() for line in block.splitlines())
    path = f"{clone}/.venv/bin:{os.environ['PATH']}"
    for line in (f"{init} --yes", check, plan):
        assert shell(line, clone, PATH=path).returncode == 0, line
    examined = shell(doctor, clone, PATH=path)
    assert examined.returncode == 2
    assert "bank.yaml:13: base_url: cannot resolve host name" in examined.stdout
    done = shell(run, clone, PATH=path)
    assert done.returncode == 2
    assert "is not set" in done.stderr


def test_the_commands_on_every_release(installed, clone):
    """A second run is compared with the first, signed, and judged again."""
    (block,) = (one for one in BLOCKS if "assay attest" in one)
    path = f"{clone}/.venv/bin:{os.environ['PATH']}"
    first = "assay run --contexts base --out reports/last -k quota"
    key = "assay attest --new-key assay-key.pem"
    lines = [line.partition("#")[0].strip() for line in block.splitlines()]
    run = lines[0].replace("bank.yaml", "sandbox") + " --contexts base -k quota"
    for line in (first, key, run, *lines[1:]):
        done = shell(line, clone, PATH=path)
        assert done.returncode == 0, line + done.stdout + done.stderr
    assert "Verified" in done.stdout


def test_the_commands_for_one_s_own_traffic(installed, clone):
    """A client's calls go through the proxy into a recording, which is judged for its side."""
    (block,) = (one for one in BLOCKS if "assay proxy" in one)
    proxy, judge = (line.partition("#")[0].strip() for line in block.splitlines())
    path = f"{clone}/.venv/bin:{os.environ['PATH']}"
    with serving(make_app()) as url:
        proxy = proxy.replace("https://sandbox.bank.example/v1", url) + " --listen 127.0.0.1:0"
        with subprocess.Popen(
            ["bash", "-euc", f"exec {proxy}"],
            cwd=clone,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1", "PYTHONPATH": ""},
        ) as recording:
            (here,) = re.findall(r"http://127\S+", recording.stdout.readline())[:1]
            headers = {"Authorization": "Bearer demo-alice", "PSU-IP-Address": "192.0.2.10"}
            assert httpx.get(f"{here}/accounts", headers=headers).status_code == 200
            assert httpx.get(f"{here}/trustedBeneficiaries", headers=headers).status_code >= 400
            recording.terminate()
            assert recording.wait(20) == 0
        done = shell(judge.replace("bank.yaml", url), clone, PATH=path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "aisp/trusted-beneficiaries/" in done.stdout


def test_the_command_that_searches(installed, clone):
    """It finds nothing at the sandbox, and says how much it tried."""
    (block,) = (one for one in BLOCKS if "--journeys" in one)
    done = shell(block, clone, PATH=f"{clone}/.venv/bin:{os.environ['PATH']}")
    assert done.returncode == 0, done.stdout + done.stderr
    for told in ("aisp: 50 random sequences", "pis: 50 field variations", "no violation found"):
        assert told in done.stdout


@pytest.mark.slow
def test_the_commands_in_the_text_exist(installed, clone):
    """Every command that a sentence names is one, with these options."""
    (clone / "listing.yaml").write_text(_contract(), encoding="utf-8")
    path = f"{clone}/.venv/bin:{os.environ['PATH']}"
    assert len(WORDS) >= 6
    for command_line in WORDS:
        command = command_line.split()[1] if command_line.startswith("assay") else ""
        if command in {"check", "plan"}:
            assert shell(command_line, clone, PATH=path).returncode == 0, command_line
        elif command:
            known = shell(f"assay {command} --help", clone, PATH=path)
            assert known.returncode == 0, command_line
            for option in re.findall(r"--[a-z-]+", command_line):
                assert option in known.stdout, command_line
        else:
            done = shell(
                f"{command_line} --collect-only -q".replace("bank.yaml", "sandbox"),
                clone,
                PATH=path,
            )
            assert done.returncode == 0, done.stdout + done.stderr


def _contract():
    return re.search(r"```yaml\n(.*?)```", README, re.DOTALL)[1]


def test_the_contract_is_twelve_lines_and_sound(tmp_path):
    """The example in the README is a whole contract."""
    path = tmp_path / "listing.yaml"
    path.write_text(_contract(), encoding="utf-8")
    assert len(_contract().splitlines()) <= 12
    assert ["available", "pages"] == [one.id for one in parse_contract(path).clauses]


def test_the_links_lead_somewhere():
    """Every relative link of the README names a file of the repository."""
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert link.startswith("http") or (ROOT / link).exists(), link


@pytest.mark.slow
def test_what_it_looks_like_is_what_it_looks_like(installed, clone):
    """The run at the top of the README prints what it shows, line by line."""
    (fault,) = (one for one in MUTANTS if one.id == "quota.accounts-utc-day")
    block = re.search(r"```console\n(.*?)```", README, re.DOTALL)[1]
    command, *shown = block.splitlines()
    path = f"{clone}/.venv/bin:{os.environ['PATH']}"
    with serving(make_app(fault.change(SOUND))) as url:
        done = shell(command[2:].replace("http://127.0.0.1:8080", url), clone, PATH=path)
    printed = done.stdout.replace(url, "http://127.0.0.1:8080").splitlines()
    assert done.returncode == 1
    assert [] == [line for line in shown if line.strip() != "…" and line not in printed]


def test_the_figures_are_those_of_the_proof():
    """The README counts the mutants and neutral variants that there are."""
    words = " ".join(README.split())
    assert f"against {len(MUTANTS) + len(PIS_MUTANTS)} banks with one fault each" in words
    assert f"At {len(NEUTRAL) + len(PIS_NEUTRAL)} banks that only look different" in words
