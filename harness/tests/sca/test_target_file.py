"""Who signs, in a target file: what each kind cannot do without is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import for_each

from assay.binding.model.target import Sca, ScaKind, Target
from assay.errors import InputError
from assay.preparation.target_file import read_target

HTTP = "assay: 1\ntarget: t\ntransport: http\nbase_url: https://bank.example\n"
EMBEDDED = HTTP.replace("http\n", "embedded\n")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder, so that paths are short."""
    monkeypatch.chdir(tmp_path)


def read(text: str) -> Target:
    """Write a target file and read it."""
    Path("t.yaml").write_text(text, encoding="utf-8")
    return read_target("t.yaml")


@for_each(
    ("text", "said"),
    [
        ("sca: {kind: forms}", "5: sca.kind: `kind: forms` needs screens (for ex"),
        ("sca:\n  kind: browser\n  screens: []", "6: sca.kind: `kind: browser` needs screens"),
        (
            "sca: {kind: manual}",
            "5: sca.kind: callback is missing: the URL to which the browser returns",
        ),
        ("sca: {kind: manual, callback: 'http://127.0.0.1:0'}", "5: sca.callback: no such port"),
        (
            "sca:\n  kind: manual\n  callback: http://localhost:70000",
            "7: sca.callback: no such port: 'http://localhost:70000'",
        ),
        (
            f"sca: {{kind: manual, callback: 'http://localhost:{'9' * 5000}'}}",
            "5: sca.callback: no such port: 'http://localhost:99999999",
        ),
        (
            "sca: {kind: manual, callback: 'http://192.0.2.1:8765'}",
            "5: sca.callback: expected a loopback URL with a port, found 'http://192.0.2.1:8765'",
        ),
        (
            "sca: {kind: forms, screens: [{a: code}]}\noperations: {pay: {approval: /link}}",
            "5: sca.screens: no screen asks for the decision about a request (add it",
        ),
        (
            "sca: {kind: forms, screens: [{a: code}, {b: decision}], confirmed_by: code}",
            "5: sca.confirmed_by: a screen asks for the decision",
        ),
        (
            "sca: {kind: browser, screens: [{a: login}], confirmed_by: code}",
            "5: sca.confirmed_by: no screen asks for the code",
        ),
        ("sca: {kind: manual, callback: 'https://127.0.0.1:1'}", "5: sca.callback: expected a loo"),
        ("sca: {kind: manual, callback: 'http://127.0.0.1'}", "5: sca.callback: expected a loopb"),
        (
            "sca: {kind: manual, callback: 'http://127.0.0.1:1@bank.example'}",
            "5: sca.callback: expected a loopback URL",
        ),
    ],
)
def test_what_lacks(text: str, said: str) -> None:
    """One line says what is missing or cannot be, where, and what would do."""
    with pytest.raises(InputError) as caught:
        read(HTTP + text)
    (problem,) = caught.value.problems
    assert str(problem).startswith(f"t.yaml:{said}")
    assert problem.hint


@pytest.mark.parametrize(
    "sca",
    ["{kind: browser, screens: [{a: login}]}", "{kind: manual, callback: 'http://127.0.0.1:1'}"],
)
def test_an_embedded_bank_has_no_address(sca: str) -> None:
    """No browser, and nobody, can open a page of a bank within this process."""
    with pytest.raises(
        InputError, match=r"t\.yaml:5: sca\.kind: a browser cannot reach .*assay serve"
    ):
        read(f"{EMBEDDED}sca: {sca}")


def test_laid_over_the_sandbox() -> None:
    """A browser takes the sandbox's screens as they are spelt there."""
    over = "assay: 1\ntarget: t\nextends: sandbox\n{}sca: {{kind: browser}}\n"
    served = read(over.format("transport: http\nbase_url: http://127.0.0.1:8080\n"))
    assert (ScaKind.BROWSER, 4) == (served.sca.kind, len(served.sca.screens))
    assert 6 == served.lines["sca"]
    with pytest.raises(
        InputError, match=r"t\.yaml:4: sca\.kind: a browser cannot reach an embedded bank"
    ):
        read(over.format(""))


@pytest.mark.parametrize("sca", ["", "sca: {kind: none}", "sca: {kind: control}"])
def test_who_needs_nothing(sca: str) -> None:
    """Nobody, and the control API, need neither screens nor a callback."""
    assert () == read(EMBEDDED + sca).sca.screens


def test_a_person() -> None:
    """A person needs where to come back to, and is waited for."""
    made = read(HTTP + "sca: {kind: manual, callback: 'http://localhost:8765', wait: 20}")
    assert Sca(kind=ScaKind.MANUAL, callback="http://localhost:8765", wait=20) == made.sca
