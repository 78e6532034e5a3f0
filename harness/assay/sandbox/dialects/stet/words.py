"""Where a payment stands: the bank's words, and STET's pairs of a status and a reason.

Every word of the bank has a pair of its own. What was rejected has one of several
reasons, none of which is that of a refusal, a time-out or a cancellation. A word that is
not known here is passed on as it is, and is no word of STET's.
"""

from collections.abc import Mapping

from assay.sandbox.dialects.stet.trees import Content

__all__ = ["CANCELLED", "standing"]

_PAIRS: Mapping[str, tuple[str, str | None]] = {
    "received": ("ACTC", None),
    "pending": ("ACSP", None),
    "executed": ("ACSC", None),
    "rejected": ("RJCT", "FF01"),
    "refused": ("RJCT", "CUST"),
    "expired": ("RJCT", "NOAS"),
    "cancelled": ("RJCT", "DS02"),
}
#: Why the bank rejects what was signed: a repeat, the rule about CASH, who is not served.
_REASONS: Mapping[str, str] = {"duplicate": "MS03", "cash": "FRAD", "scope": "AG01"}

#: What a provider writes to cancel.
CANCELLED = _PAIRS["cancelled"]


def standing(content: Content) -> Content:
    """Say in STET's words where a payment stands, as far as the bank says it."""
    status, why = content.get("status"), content.get("reason")
    if not isinstance(status, str):
        return {}
    word, reason = _PAIRS.get(status, (status, None))
    if status == "rejected" and isinstance(why, str):
        reason = _REASONS.get(why, why)
    shown: Content = {"paymentInformationStatus": word}
    return {**shown, "statusReasonInformation": reason} if reason else shown
