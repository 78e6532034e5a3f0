"""What a bank shows to a customer whom it disconnected, in the words of the target file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from rows import for_each

from assay._resources import contract_dir
from assay.binding.model.target import PageMatcher
from assay.history import Wire
from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.preparation.target_file import read_target
from assay.running.environment import set_up
from assay.running.session import Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.mutants.payments import PIS_MUTANTS
from assay.sandbox.policies import SOUND, Policies
from assay.sca.screen_flow import matches

#: The words of the sandbox.
WORDS = PageMatcher(text="you were  DISCONNECTED")


def that_always_answers_200(app: Any) -> Any:
    """Return a bank whose final pages have the status of a success."""

    def polite(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        def begin(status: str, headers: Any, *more: Any) -> Any:
            return start("200 OK" if status.startswith("410") else status, headers, *more)

        return app(environ, begin)

    return polite


def verdicts(bank: Policies, *words: PageMatcher) -> dict[str, str]:
    """Return what a run says of the time limits of a bank, with these words in the target file."""
    prepared = prepare(["pis"], keywords="redirect.idle or redirect.overall")
    target = replace(prepared.target, sca=replace(prepared.target.sca, disconnected=words))
    environment = set_up(
        target, bank=lambda url: that_always_answers_200(make_app(bank, base_url=url))
    )
    session = Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
    return {each.obligation: each.standing.value for each in run_session(session).verdicts}


def test_with_words_a_sound_bank_conforms() -> None:
    """Each time limit is decided, and none against the bank."""
    assert {"conforms"} == {*verdicts(SOUND, WORDS).values()}


@pytest.mark.parametrize("fault", ["idle-three-minutes", "idle-not-renewed"])
def test_only_with_words_a_fault_is_found(fault: str) -> None:
    """Without them a page with the status 200 after the decision is taken for a confirmation."""
    mutant = next(each for each in PIS_MUTANTS if each.id == f"pis.redirect.{fault}")
    bank = mutant.change(SOUND)
    assert "violates" not in verdicts(bank).values()
    found = verdicts(bank, WORDS)
    broken = {name for name, standing in found.items() if standing == "violates"}
    assert mutant.breaks == broken


PAGE = Wire(
    method="GET",
    url="https://bank.example/sign/end?why=timeout",
    status=200,
    body=b"<title>Bank</title><style>x{}</style><p>Your  <b>session</b> has\nended</p><script>no()</script>",
)


@for_each(
    ("matcher", "found"),
    [
        (PageMatcher(text="your session has ended"), True),
        (PageMatcher(text="session"), True),
        (PageMatcher(text="no()"), False),
        (PageMatcher(text="x{}"), False),
        (PageMatcher(text="<b>"), False),
        (PageMatcher(url="/end?why=timeout"), True),
        (PageMatcher(url="/home"), False),
        (PageMatcher(statuses=("2xx",)), True),
        (PageMatcher(statuses=("410", "4xx")), False),
        (PageMatcher(statuses=("200",), text="session", url="/sign/"), True),
        (PageMatcher(statuses=("200",), text="payment", url="/sign/"), False),
    ],
)
def test_every_part_must_match(matcher: PageMatcher, found: bool) -> None:
    """Texts are those that are shown, in any case; an address may be one that is only named."""
    assert found is matches([PageMatcher(text="another page"), matcher], PAGE, None)
    elsewhere = replace(PAGE, url="https://bank.example/other")
    assert (bool(matcher.url) and found) is (
        not matches([matcher], elsewhere, None) and matches([matcher], elsewhere, PAGE.url)
    )


def test_the_words_stand_in_the_target_file(tmp_path: Any) -> None:
    """They are read as they are written; without any there is none."""
    path = tmp_path / "bank.yaml"
    words = "[{text: Session ended}, {statuses: [408, 4xx], url: /timeout}]"
    path.write_text(f"assay: 1\ntarget: b\nextends: sandbox\nsca: {{disconnected: {words}}}\n")
    assert read_target(path).sca.disconnected == (
        PageMatcher(text="Session ended"),
        PageMatcher(statuses=("408", "4xx"), url="/timeout"),
    )
    assert () == read_target(contract_dir() / "targets/sandbox.yaml").sca.disconnected
