"""Doubts that a target file confirms: each is a note, and nothing else is."""

import pytest
from command_line import assay
from examined_banks import BANK, embed

from assay.onboarding.doctor import examination
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS
from assay.sandbox.policies import SOUND
from assay.sandbox.serve import serving

pytestmark = pytest.mark.slow

FILE = """\
assay: 1
target: ours
extends: sandbox
"""
#: A bank of which only its user can say whether it has one page, and how its user says so.
ONE_PAGE = next(each.change for each in MUTANTS if each.id == "paging.accounts-stops-early")
DOUBT = "pages/operations.accounts.next"
WHY = "the bank shows one page, ticket GW-1240"


@pytest.fixture
def examined(monkeypatch, tmp_path):
    """Return a function that examines a file against a bank with this change."""

    def examined(confirmed, change=lambda policy: policy):
        embed(monkeypatch, change)
        path = tmp_path / "ours.yaml"
        path.write_text(f"{FILE}confirmed: {{{confirmed}}}\n", encoding="utf-8")
        result = examination.examine(str(path))
        return [(one.weight.value, one.key, one.hint) for one in result.findings]

    return examined


def test_a_confirmed_doubt_is_a_note(examined):
    """It says why, and does not end the examination with an error."""
    assert [("doubt", "operations.accounts.next", "")] == [
        (weight, key, "") for weight, key, _ in examined("", ONE_PAGE)
    ]
    confirmed = examined(f"{DOUBT}: '{WHY}'", ONE_PAGE)
    assert [("note", "operations.accounts.next", f"confirmed: {WHY}")] == confirmed


def test_what_is_in_doubt_no_longer_is_noted(examined):
    """The line can be removed; another check's doubt at the same key is not meant by it."""
    assert [("note", f"confirmed.{DOUBT}", "")] == examined(f"{DOUBT}: '{WHY}'")
    other = examined(f"pointers/operations.accounts.next: '{WHY}'", ONE_PAGE)
    assert ["note", "doubt"] == [weight for weight, _, _ in other]


def test_a_check_that_there_is_not_is_a_fault(examined):
    """A misspelt check would confirm nothing."""
    (finding,) = [one for one in examined(f"page/operations.accounts.next: '{WHY}'") if one[2]]
    assert ("fault", "did you mean 'pages'?") == (finding[0], finding[2])


def test_the_command_says_how_to_confirm(tmp_path):
    """The lines to add to the file stand before the last line."""
    with serving(make_app(ONE_PAGE(SOUND))) as url:
        (tmp_path / "ours.yaml").write_text(BANK.replace("URL", url), encoding="utf-8")
        code, out, _ = assay("doctor", "--target", "ours.yaml", cwd=tmp_path)
    assert 2 == code
    assert ["confirmed:", f"  {DOUBT}: REASON"] == out.splitlines()[-3:-1]
