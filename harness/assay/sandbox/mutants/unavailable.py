"""Faults of the methods that are not offered: they answer."""

from dataclasses import replace

from assay.sandbox.mutants.mutant import Change, breaking
from assay.sandbox.policies import put
from assay.sandbox.wire import Answer, Json, Missing, error

__all__ = ["UNAVAILABLE"]

_CLAUSES: tuple[tuple[str, Missing, Json, Json], ...] = (
    (
        "trusted-beneficiaries",
        "trustedBeneficiaries",
        {"beneficiaries": []},
        {"beneficiaries": [{"name": "Zoé Exemple"}]},
    ),
    ("end-user-identity", "endUserIdentity", {}, {"name": "Zoé Exemple"}),
)


def _answers(method: Missing, when: bool, body: Json) -> Change:
    def answer(consented: bool) -> Answer:
        if consented is when:
            return Answer(status=200, body=body)
        return error(405, "this method is not available", ("Allow", ""))

    return lambda bank: replace(bank, unavailable=put(bank.unavailable, **{method: answer}))


UNAVAILABLE = tuple(
    breaking(
        f"unavailable.{clause}-{what}-{state}-consent",
        f"{clause}/refused-{state}-consent",
        f"{method} answers 200 {what}, {state} a consent",
        _answers(method, state == "with", body),
    )
    for clause, method, empty, full in _CLAUSES
    for state in ("with", "without")
    for what, body in (("empty", empty), ("full", full))
)
