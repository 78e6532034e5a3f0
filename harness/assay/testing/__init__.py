"""Public names for testing a rule kind in a package of your own.

Three ways to show that a kind is right, from the fastest to the most complete:

- A literal history: write each `exchange` and `signature` down, put them into a `history`, and
  compare what `evidence` returns.
- A scripted bank, which is a function from a `Call` to an `Answer`: `play` runs one probe
  against it, `judge` all of them. A mutant is a bank with one fault, and `violated` must
  return exactly the facets that it breaks.
- A real run: `verdicts` runs contract and target file against a WSGI application.

`problems` returns the findings in a contract file, `kind_in` one of its clauses; `use_kind`
makes a kind known to both where its package is not installed. `count_calls` returns how many
calls a plan announces for a scenario.

`Bank` is the type of a scripted bank, and `START` the moment at which literal histories and
scripted banks begin.
"""

from __future__ import annotations

from assay.planning.plan import count_calls
from assay.testing.banks import Played, judge, kind_in, play, problems, use_kind, verdicts, violated
from assay.testing.histories import (
    START,
    Answer,
    Bank,
    accepted,
    errors,
    evidence,
    exchange,
    failed,
    history,
    listed,
    lost,
    refused,
    signature,
    unavailable,
)

__all__ = [
    "START",
    "Answer",
    "Bank",
    "Played",
    "accepted",
    "count_calls",
    "errors",
    "evidence",
    "exchange",
    "failed",
    "history",
    "judge",
    "kind_in",
    "listed",
    "lost",
    "play",
    "problems",
    "refused",
    "signature",
    "unavailable",
    "use_kind",
    "verdicts",
    "violated",
]
