"""Random tests: sequences of calls, field values and schema cases beyond the planned probes."""

from typing import Final

#: The folder of sequences that showed a violation, unless another is given.
DEFAULT_EXAMPLES: Final = "reports/local/examples"
