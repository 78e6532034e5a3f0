"""The examination of a target before any verdict: what of its profile is wrong.

Most of what a user meets at first is a mistake in the target file, not in the bank.
`steps` is the visible table of what is looked at, in the order in which one would mend
things; each finding names the line of the file. The bank is never blamed here: what may
be either way is asked as a question.
"""

from assay.doctor.examination import Examination, examine
from assay.doctor.finding import Finding, Weight

__all__ = ["Examination", "Finding", "Weight", "examine"]
