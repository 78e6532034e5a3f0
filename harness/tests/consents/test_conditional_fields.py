"""The doctor examines a field that only a consent in a mode shows, by the probe of its rule."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from foreign.dialects import QUAY

from assay.cli.main import group
from assay.sandbox.serve import serving

HERE = Path(__file__).parent
TARGET = (HERE / "target.yaml").read_text("utf-8")
HOLDER = "operations.accounts.item.fields.holder"
PAYER = "operations.entries.item.fields.payer"
ELSEWHERE = "under a consent in the mode"


class OffersNoMode(QUAY):
    """A bank that refuses a consent with names."""

    def check(self, call, mode, body, request=None):
        if "names" in body:
            raise ValueError
        super().check(call, mode, body)


class NamesHolders(QUAY):
    """A bank that names the holders of accounts whether the consent asks for them or not."""

    def names_holder(self, consent, number):
        return True


def found(bank, folder, right="", wrong=""):
    """Return what the doctor reports of these fields and modes."""
    assert right in TARGET
    text = TARGET.replace(right, wrong) if right else TARGET
    with serving(bank()) as address:
        path = folder / "target.yaml"
        path.write_text(
            text.replace("transport: embedded", "transport: http").replace(
                "https://quay.example", address
            )
        )
        words = ["doctor", "--contract", str(HERE / "quay.yaml"), "--target", str(path)]
        said = CliRunner().invoke(group, words).output
    named = ("fields.holder", "fields.payer", "modes.")
    return [
        line
        for line in said.splitlines()
        if ": expected" in line and any(each in line for each in named)
    ]


def test_a_sound_bank_has_every_field(tmp_path):
    """What only a consent in a mode shows is not missing."""
    assert [] == found(QUAY, tmp_path)


@pytest.mark.parametrize(
    ("right", "wrong", "parts"),
    [
        ("holder: /holder", "holder: /holders", ("doubt", HOLDER, f"/holders {ELSEWHERE}", "did you mean /holder?")),
        ("holder: /holder", "holder: /owner", ("doubt", HOLDER, "did you mean /holder?")),
        ("holder: /holder", "holder: /number", ("doubt", HOLDER, "in other answers, too", "did you mean /holder?")),
        ("payer: /from/name", "payer: /from/names", ("doubt", PAYER, "did you mean /from/name?")),
        # The bank reads the mode at another place, and ignores it here.
        ("body: /payers,", "body: /payer,", ("doubt", PAYER, "does the bank read operations.permit.modes.with-payers?")),
        # Without the mode, nothing shows the field.
        ("      with-payers: {body: /payers, value: true}\n", "", ("not seen", PAYER, "no answer under")),
    ],
)  # fmt: skip
def test_a_wrong_key_is_reported(right, wrong, parts, tmp_path):
    """The pointer that only the answers in the mode have is suggested; the bank is not blamed."""
    (said,) = found(QUAY, tmp_path, right, wrong)
    assert [] == [part for part in parts if part not in said], said


def test_a_refused_mode_is_a_question(tmp_path):
    """It stands at the mode, and not at the field."""
    (said,) = found(OffersNoMode, tmp_path)
    assert "operations.permit.modes.with-holders: expected a request in the mode" in said
    assert "doubt" in said


def test_a_field_that_is_always_there_is_a_question(tmp_path):
    """Either the file is wrong, or the bank is."""
    (said,) = found(NamesHolders, tmp_path)
    assert "doubt" in said
    assert f"{HOLDER}: expected the field holder, {ELSEWHERE} with-holders only" in said
