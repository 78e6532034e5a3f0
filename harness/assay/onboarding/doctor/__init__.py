"""Preflight examination of a target file: `assay doctor`.

Most first problems of a user are mistakes in the target file, not in the bank.
`examination.STEPS` lists the checks in the order in which problems should be fixed; each
finding names the line of the file. The examination never blames the bank: where either
the file or the bank may be wrong, the finding asks a question.
"""

from assay.onboarding.doctor.examination import Examination, examine
from assay.onboarding.doctor.record import Finding, Weight

__all__ = ["Examination", "Finding", "Weight", "examine"]
