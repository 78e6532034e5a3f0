"""Banks that keep, and banks that break, an answer to a point that the document leaves open.

A bank may do either, so each question has two banks: the sandbox as it is, and a neutral variant
that does the other thing. At a bank that does as its answer says nothing may be found; at the other
one exactly the obligations that follow from the answer are violated.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An open point of a contract, and two answers to it.

    The sandbox does what `done` says, and the neutral variant `variant` does what `other` says;
    one of the two answers may be missing.
    """

    contract: str
    point: str
    done: str = ""
    other: str = ""
    variant: str = ""


# fmt: off
#: The questions that a bank can answer with a word.
QUESTIONS: tuple[Question, ...] = (
    Question(contract="aisp", point="card-edge", done="included", other="excluded",
        variant="neutral.edge-day-excluded"),
    Question(contract="aisp", point="shorter-history", done="day-90-included",
        other="day-90-excluded", variant="neutral.89-days"),
    Question(contract="aisp", point="shorter-history", done="all-90-days",
        variant="neutral.45-days"),
    Question(contract="aisp", point="consent-replacement", done="replaces", other="adds",
        variant="neutral.consents-add-up"),
    Question(contract="aisp", point="listed-after-consent", done="listed", other="not-listed",
        variant="neutral.consented-listed"),
    Question(contract="aisp", point="all-balances", done="each-type",
        variant="neutral.no-instant-balance"),
    Question(contract="aisp", point="typed-outstandings", done="typed",
        variant="neutral.untyped-outstandings"),
    Question(contract="aisp", point="what-counts", done="refused-calls-free",
        other="refused-calls-count", variant="neutral.refused-calls-count"),
    Question(contract="aisp", point="what-counts", done="page-turns-free",
        other="page-turns-count", variant="neutral.page-turns-count"),
    Question(contract="aisp", point="what-counts", done="names-share",
        other="names-apart", variant="neutral.names-apart"),
    Question(contract="aisp", point="what-counts", done="names-share",
        variant="neutral.names-of-transactions-apart"),
    Question(contract="pis", point="full-field-lists", done="exact-values",
        variant="pis.euro-any-spelling"),
    Question(contract="pis", point="all-factors", done="every-customer",
        variant="pis.factors-not-all"),
    Question(contract="pis", point="timer-edge", done="at-the-limit", other="just-after",
        variant="pis.timers-just-after"),
    Question(contract="pis", point="end-of-a-state", done="refused-is-over",
        variant="pis.refused-stays-open"),
    Question(contract="pis", point="end-of-a-state", done="too-late-is-over",
        variant="pis.too-late-stays-open"),
    Question(contract="pis", point="after-refusal", done="nowhere", other="same-address",
        variant="pis.refused-goes-back"),
    Question(contract="pis", point="dated-instant", done="instant-refused",
        other="instant-accepted", variant="pis.days-of-any-type"),
    Question(contract="pis", point="dated-instant", done="immediate-refused",
        other="immediate-accepted", variant="pis.days-of-any-type"),
    Question(contract="pis", point="when-rejected", done="scope-at-once",
        other="scope-after-signing", variant="pis.barred-late"),
)
# fmt: on
