"""Files of banks: a template that is filled in for each bank, and every problem with its line."""

import pytest
from command_line import assay

from assay.binding.model.target import FixtureKind, TransportKind
from assay.errors import InputError
from assay.preparation.banks import read_bank_target, read_banks
from assay.preparation.prepare import load_target, prepare

TEMPLATE = """\
assay: 1
target: gateway
extends: sandbox
transport: http
base_url: https://${host}/v1
auth: {kind: bearer, token_env: BANK_TOKEN}
budget: {calls: "${calls}"}
"""
BANKS = """\
assay: 1
fleet: ours
template: gateway.yaml
contracts: [aisp]
shards: 2
banks:
  first:
    variables: {host: api.first.example, calls: 500}
    secrets: {BANK_TOKEN: FIRST_TOKEN}
  second:
    variables: {host: api.second.example, calls: 9}
    overrides:
      zone: Europe/Rome
      headers: {X-Bank: second}
      fixtures: {kind: none, offers: null}
    contracts: [pis, ./own.yaml]
    shards: 1
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "gateway.yaml").write_text(TEMPLATE)
    (tmp_path / "banks.yaml").write_text(BANKS)
    return tmp_path


def problems(folder, text=BANKS, template=TEMPLATE):
    """Return the problems of a file of banks, without the folder."""
    (folder / "gateway.yaml").write_text(template)
    (folder / "banks.yaml").write_text(text)
    with pytest.raises(InputError) as raised:  # noqa: PT012 -- both raise it
        file = read_banks(folder / "banks.yaml")
        file.targets()
    return str(raised.value).replace(f"{folder}/", "").splitlines()


def test_a_template_is_filled_in(folder):
    """Variables, environment variables and overrides make the target of a bank."""
    file = read_banks(folder / "banks.yaml")
    first, second = file.banks
    target = file.target(first)
    assert ("first", "https://api.first.example/v1") == (target.name, target.base_url)
    assert "FIRST_TOKEN" == target.auth.token_env
    assert 500 == target.budget.calls
    assert (("aisp",), 2) == (first.contracts, first.shards)
    assert ("pis", str(folder / "own.yaml")) == second.contracts
    assert 1 == second.shards


def test_overrides_are_laid_over_the_template(folder):
    """Mappings are merged, and null removes a key, as with `extends`."""
    file = read_banks(folder / "banks.yaml")
    target = file.target(file.bank("second"))
    assert "Europe/Rome" == str(target.zone)
    assert TransportKind.HTTP is target.transport
    assert FixtureKind.NONE is target.fixtures.kind
    assert "second" == target.headers["X-Bank"]
    assert "BANK_TOKEN" == target.auth.token_env
    assert (str(folder / "banks.yaml"), 13) == target.place("zone")
    assert (str(folder / "gateway.yaml"), 5) == target.place("base_url")


def test_a_bank_is_a_target_by_name(folder):
    """`banks.yaml#first` is used like a target file; another name is none."""
    name = f"{folder / 'banks.yaml'}#first"
    assert load_target(name) == read_bank_target(name)
    assert "first" == prepare(["aisp"], name, keywords="listing").target.name
    assert read_bank_target("gateway.yaml") is None
    with pytest.raises(
        InputError, match=r"banks.yaml:6: no such bank 'frist' \(did you mean 'first'"
    ):
        load_target(f"{folder / 'banks.yaml'}#frist")


def test_the_digest_of_a_bank_is_its_own(folder):
    """It changes with the template and the bank's entry, and not with another bank's."""

    def digest(text=BANKS, template=TEMPLATE):
        (folder / "gateway.yaml").write_text(template)
        (folder / "banks.yaml").write_text(text)
        return read_bank_target(f"{folder / 'banks.yaml'}#first").digest

    first = digest()
    assert first == digest(BANKS.replace("api.second", "api.other"))
    assert first != digest(BANKS.replace("api.first", "api.other"))
    assert first != digest(template=TEMPLATE + "timeout: 5\n")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("fleet: ours\n", "", "banks.yaml:1: 'fleet' is missing (expected a name of small"),
        ("shards: 2", "shards: 0", "banks.yaml:5: shards: expected a number of shards from 1"),
        ("  first:", "  First:", "banks.yaml:7: banks.First: expected a name of small letters"),
        ("secrets: {", "secret: {", "banks.yaml:9: banks.first.secret: unknown key"),
        ("FIRST_TOKEN", "s3cr3t", "banks.yaml:9: banks.first.secrets.BANK_TOKEN: expected the"),
        ("{host: api.first.example,", "{", "gateway.yaml:5: base_url: no variable 'host' (bank"),
        ("calls: 500", "calls: 500, x: 1", "banks.yaml:8: banks.first.variables.x: the template"),
        ("calls: 500", "calls: many", "gateway.yaml:7: budget.calls: expected a number of calls"),
        ("{BANK_TOKEN:", "{BANKTOKEN:", "banks.yaml:9: banks.first.secrets.BANKTOKEN: the templ"),
        ("      zone", "      zoen", "banks.yaml:13: zoen: unknown key 'zoen' (bank second) (did"),
        ("Europe/Rome", "Europe/Roma", "banks.yaml:13: zone: unknown time zone 'Europe/Roma'"),
        ("gateway.yaml", "gatway.yaml", "banks.yaml:3: template: 'gatway.yaml': there is no such"),
        ("host: api.f", "token: abc, host: api.f", "banks.yaml:8: banks.first.variables.token: a"),
    ],
)
def test_a_problem_has_its_file_and_line(folder, old, new, expected):
    """Each is at the line that is wrong, in the file of banks or in the template."""
    first = problems(folder, BANKS.replace(old, new, 1))[0]
    assert first.startswith(expected), first


def test_a_secret_is_never_shown(folder):
    """What stands in place of the name of a variable might be the secret itself."""
    lines = problems(folder, BANKS.replace("FIRST_TOKEN", "s3cr3t-value"))
    assert "s3cr3t-value" not in "".join(lines)
    text = BANKS.replace("host: api.f", "password: s3cr3t-value, host: api.f")
    assert "s3cr3t-value" not in "".join(problems(folder, text))


def test_a_file_of_banks_is_checked_by_the_command(folder):
    """`assay check` names the fleet, or has a line for each problem of each bank."""
    code, out, _ = assay("check", "banks.yaml", cwd=folder)
    assert (0, "banks.yaml: fleet ours, 2 banks\n") == (code, out)
    wrong = BANKS.replace("calls: 500", "calls: a").replace("calls: 9", "calls: b")
    (folder / "banks.yaml").write_text(wrong)
    code, _, err = assay("check", "banks.yaml", cwd=folder)
    assert 2 == code
    first, second = err.splitlines()
    assert "(bank first)" in first
    assert "(bank second)" in second


def test_one_bank_is_checked_by_the_command(folder):
    """Its name is that of a target, as in every command; a wrong name has a hint."""
    code, out, err = assay("check", "aisp", "banks.yaml#first", cwd=folder)
    assert (0, "") == (code, err)
    assert "banks.yaml#first: target first, " in out
    code, _, err = assay("check", "banks.yaml#frist", cwd=folder)
    assert 2 == code
    assert "did you mean 'first'?" in err


def test_all_banks_are_checked(folder):
    """Problems of several banks are all found by a fleet."""
    from assay.extras.fleet.task import FleetOptions, divide_fleet  # noqa: PLC0415 -- a room above

    text = BANKS.replace("calls: 500", "calls: a").replace("calls: 9", "calls: b")
    (folder / "banks.yaml").write_text(text.replace("./own.yaml", "oisp"))
    with pytest.raises(InputError) as raised:
        divide_fleet(read_banks(folder / "banks.yaml"), FleetOptions(folder=folder))
    assert 2 == len([each for each in raised.value.problems if "budget.calls" in each.what])
