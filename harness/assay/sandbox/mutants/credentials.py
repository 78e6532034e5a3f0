"""Faults of the redirect approach: the bank honours customers' own credentials."""

from dataclasses import replace

from assay.sandbox.mutants.mutant import Change, breaking
from assay.sandbox.policies import Approach, put
from assay.sandbox.wire import Operation

__all__ = ["CREDENTIALS"]


def _honours(operation: Operation, *approaches: Approach) -> Change:
    return lambda bank: replace(
        bank,
        honours=put(bank.honours, **{operation: frozenset({"token", *approaches})}),
    )


CREDENTIALS = (
    breaking(
        "credentials.basic-for-accounts",
        "redirect-only/accounts",
        "login and password open the list of accounts",
        _honours("accounts", "basic"),
    ),
    breaking(
        "credentials.body-for-consents",
        "redirect-only/consents",
        "login and password in the body give a consent",
        _honours("consents", "body"),
    ),
)
