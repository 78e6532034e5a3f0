"""Mutants, which are banks with one fault each, and neutral variants without a fault.

The harness is tested by breaking the bank: each mutant must turn exactly its own
obligations red, and each neutral variant must leave all green. The tables are written
out; nothing registers itself. A mutant is a value, and the bank knows of none.

A row is an id, the facets that it breaks, its sentence and its policies. The formatter is off in
the tables, because it would give each of these a line of its own.
"""

from assay.sandbox.mutants.accounts import FIELDS, LISTING, PAGING
from assay.sandbox.mutants.calendar import ATTENDED, DEPTH, MAINTENANCE, QUOTA
from assay.sandbox.mutants.consent import (
    CONSENT,
    CREDENTIALS,
    EFFECT,
    MIXED,
    NEUTRAL_READING,
    READING,
)
from assay.sandbox.mutants.methods import AVAILABLE, CONSISTENT, FORM, LINKS, UNAVAILABLE
from assay.sandbox.mutants.mutant import Mutant, Neutral
from assay.sandbox.mutants.neutral import NEUTRAL_ANSWERS
from assay.sandbox.mutants.payments import PIS_MUTANTS, PIS_NEUTRAL

__all__ = ["MUTANTS", "NEUTRAL", "PIS_MUTANTS", "PIS_NEUTRAL", "Mutant", "Neutral"]

#: Every mutant, by rule kind.
MUTANTS: tuple[Mutant, ...] = (
    *AVAILABLE,
    *READING,
    *UNAVAILABLE,
    *LISTING,
    *PAGING,
    *DEPTH,
    *FIELDS,
    *CONSENT,
    *EFFECT,
    *MIXED,
    *QUOTA,
    *ATTENDED,
    *CREDENTIALS,
    *LINKS,
    *MAINTENANCE,
    *FORM,
    *CONSISTENT,
)
#: Every neutral variant of account information.
NEUTRAL: tuple[Neutral, ...] = (*NEUTRAL_ANSWERS, *NEUTRAL_READING)
