"""Random tests: sequences of calls, field values and schema cases beyond the planned probes."""

from typing import Final

#: The folder of sequences that showed a violation, unless another is given.
DEFAULT_EXAMPLES: Final = "reports/local/examples"
#: The way of searching that is not random: its sequences are always the same, and not kept.
LIVES = "lives"
