"""Mutants and neutral variants of payment initiation."""

from assay.sandbox.mutants.calendar import CLOSING_FAULTS
from assay.sandbox.mutants.mutant import Mutant
from assay.sandbox.mutants.payments.execution import EXECUTION_FAULTS, LIFECYCLE_FAULTS
from assay.sandbox.mutants.payments.fields import AVAILABLE_FAULTS, FIELD_FAULTS
from assay.sandbox.mutants.payments.neutral import PIS_NEUTRAL
from assay.sandbox.mutants.payments.rules import RULE_FAULTS, SCOPE_FAULTS
from assay.sandbox.mutants.payments.screens import SCREEN_FAULTS, SIGNING_FAULTS

__all__ = ["PIS_MUTANTS", "PIS_NEUTRAL"]

#: Every mutant of payment initiation, by kind of fault.
PIS_MUTANTS: tuple[Mutant, ...] = (
    *AVAILABLE_FAULTS,
    *FIELD_FAULTS,
    *SCOPE_FAULTS,
    *LIFECYCLE_FAULTS,
    *SIGNING_FAULTS,
    *RULE_FAULTS,
    *SCREEN_FAULTS,
    *EXECUTION_FAULTS,
    *CLOSING_FAULTS,
)
