"""The assembly of verdicts: a refusal proves nothing where an acceptance was never seen."""

from __future__ import annotations

from rows import for_each

from assay.judging.assembly import VerdictAssembly
from assay.preparation.prepare import prepare
from assay.rules.verdict import Standing, Verdict

OFFERED, NOT_OFFERED = (
    f"pis/payment-types/instant-{which}" for which in ("offered", "not-offered")
)


@for_each(
    ("offered", "final"),
    [
        (None, Standing.CONFORMS),
        (Standing.CONFORMS, Standing.CONFORMS),
        (Standing.VIOLATES, Standing.INDETERMINATE),
        (Standing.INDETERMINATE, Standing.INDETERMINATE),
        (Standing.UNVERIFIED, Standing.INDETERMINATE),
        (Standing.NOT_APPLICABLE, Standing.CONFORMS),
    ],
)
def test_what_was_never_accepted(offered: Standing | None, final: Standing) -> None:
    """That a bank refuses what it does not offer shows only where another bank accepts it.

    The target file of a bank that does not offer it says so, and then there is no other bank.
    """
    prepared = prepare(keywords="payment-types")
    assembly = VerdictAssembly(plan=prepared.plan, target=prepared.target)
    assembly.record([Verdict(obligation=NOT_OFFERED, standing=Standing.CONFORMS)])
    if offered is not None:
        assembly.record([Verdict(obligation=OFFERED, standing=offered)])
    verdict = assembly.final_on(NOT_OFFERED)
    assert final is verdict.standing
    reason = f"the refusal proves nothing: {OFFERED} does not conform"
    assert (reason if final is Standing.INDETERMINATE else "") == verdict.reason


def test_a_violation_stays() -> None:
    """That it was accepted where it is not offered is a violation all the same."""
    prepared = prepare(keywords="payment-types")
    assembly = VerdictAssembly(plan=prepared.plan, target=prepared.target)
    assembly.record(
        [
            Verdict(obligation=OFFERED, standing=Standing.VIOLATES),
            Verdict(obligation=NOT_OFFERED, standing=Standing.VIOLATES),
        ]
    )
    assert Standing.VIOLATES is assembly.final_on(NOT_OFFERED).standing
