"""Calls that the TPP makes in its own name, where nothing provides its token."""

import pytest
from embedded import run_plan

from assay.cli.start import main
from assay.planning.plan import Disposition
from assay.preparation.prepare import prepare
from assay.rules.verdict import Standing
from assay.sandbox.app import make_app

#: The sandbox, which gives no token to a TPP any more.
TEXT = """\
assay: 1
target: mute
extends: sandbox
auth:
  kind: bearer
fixtures:
  offers: [psu, two-psu, roster, clock, credentials, entries, write, effects, segments]
"""
#: What a run leaves unverified for want of it.
REASON = "needs a token of the TPP (`auth.tpp`"


@pytest.fixture
def target(tmp_path):
    """Give the path of the target file."""
    path = tmp_path / "mute.yaml"
    path.write_text(TEXT)
    return path


def test_nothing_is_asked_without_the_token(target):
    """The plan leaves unverified what needs it, the run agrees, and no call goes out without it."""
    prepared = prepare(["pis"], str(target), keywords="payments or mandatory or euro")
    planned = {item.obligation.id: item for item in prepared.plan.items}
    assert {Disposition.UNVERIFIED} == {item.disposition for item in planned.values()}
    assert any(item.reason.startswith(REASON) for item in planned.values())
    calls = []

    def bank(base_url):
        app = make_app(base_url=base_url)

        def watched(environ, start_response):
            calls.append(environ["PATH_INFO"])
            return app(environ, start_response)

        return watched

    result = run_plan(prepared.plan, prepared.target, bank)
    assert {Standing.UNVERIFIED} == {each.standing for each in result.verdicts}
    assert [] == [path for path in calls if "payment" in path]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TEXT, 4),
        (TEXT.replace("bearer\n", "bearer\n  tpp: {kind: bearer}\n"), 6),
        (TEXT.replace("bearer\n", "bearer\n  tpp: {kind: none}\n"), None),
        (TEXT.replace("bearer\n", "bearer\n  token_env: ONE_FOR_ALL\n"), None),
        (TEXT.replace("[psu", "[tpps, psu"), None),
    ],
    ids=["none", "no-token", "not-needed", "shared", "offered"],
)
def test_check_says_that_it_is_missing(target, capsys, monkeypatch, text, line):
    """The note has the line, the operations that stay unverified, and what to add."""
    target.write_text(text)
    monkeypatch.setattr("sys.argv", ["assay", "check", "pis", str(target)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert 0 == ended.value.code
    notes = [each for each in capsys.readouterr().out.splitlines() if "note: auth" in each]
    assert ([] if line is None else [f"{target}:{line}"]) == [
        note.partition(": note")[0] for note in notes
    ]
    for note in notes:
        assert (
            "obligations that call create-payment, read-payment, modify-payment or cancel-payment"
            in note
        )
        assert "(add auth.tpp, with `kind: client-credentials` or a token_env" in note
