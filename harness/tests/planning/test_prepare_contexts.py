"""Which contexts are planned where nobody asks for any, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.contexts.context import Depth
from assay.preparation.prepare import prepare

CREATED = "{kind: control, offers: [psu, roster, consent, clock]}"
LISTED = "{kind: roles, offers: [psu], roles: {alice: {token_env: T, owns: [{resource: account, key: A1}]}}}"
CHOSEN = "{kind: python, adapter: ours:Ours, offers: [psu, roster, consent, clock]}"


@pytest.mark.parametrize(
    ("fixtures", "more", "reason"),
    [
        (CREATED, "", ""),
        (CREATED, "budget: {calls: 500}\n", "the target file limits what a run may do"),
        (LISTED, "", "the customers of fixtures.roles are real"),
        (CHOSEN, "", "the customers of fixtures.adapter may be real"),
    ],
)
def test_the_default(tmp_path: Path, fixtures: str, more: str, reason: str) -> None:
    """Further contexts are the default where customers are created; elsewhere the reason is kept."""
    path = tmp_path / "own.yaml"
    hosts = "" if fixtures == CREATED else "hosts: null\n"
    path.write_text(
        f"assay: 1\ntarget: own\nextends: sandbox\n{hosts}fixtures: {fixtures}\n{more}",
        encoding="utf-8",
    )
    default = prepare(target_name=str(path), contexts=None, keywords="aisp")
    assert reason == default.base_only
    assert bool(reason) is (default.contexts is None)
    each = prepare(target_name=str(path), contexts=Depth.EACH, keywords="aisp")
    assert each.contexts is not None
    assert not each.base_only
    if fixtures == CHOSEN:
        assert each.contexts.plan.contextual
