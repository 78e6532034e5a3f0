"""Who has consented to what, as far as a history tells: surely, or perhaps.

A consent that was answered by a failure may have been taken all the same, and
where the document is silent a later one may have replaced it or not. A check
convicts only on what is sure in the bank's disfavour.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from assay.contract.model import Operation
from assay.history import Call, Exchange
from assay.rules.queries import plain

NONE: frozenset[str] = frozenset()
#: Why a subject that is not fresh can hardly be said to have consented to nothing.
EARLIER = "but a consent from before this history may still hold"


def transmitted(call: Call, grant: Operation) -> frozenset[str]:
    """Return the keys of the things that a call consents to."""
    listed = call.arguments.get(grant.grants or "")
    return frozenset(map(str, listed)) if isinstance(listed, list | tuple) else NONE


@dataclass(slots=True, kw_only=True)
class Consents:
    """The state of all consents at a point of a history; `note` takes it further.

    Only what the last one names is sure: it may have replaced those before it.
    """

    grant: Operation | None
    _sure: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    _perhaps: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def note(self, exchange: Exchange) -> bool:
        """Take an exchange in, and tell whether it may have changed a consent."""
        call = exchange.call
        if self.grant is None or call.operation != self.grant.id or exchange.refused:
            return False
        keys, name = transmitted(call, self.grant), call.subject
        sure = self.sure(name)
        taken = exchange.accepted and plain(call)
        self._sure[name] = keys if taken else keys & sure
        self._perhaps.setdefault(name, set()).update(keys)
        return True

    def sure(self, subject: str) -> frozenset[str]:
        """Return what a subject's consent covers beyond doubt."""
        return self._sure.get(subject, NONE)

    def cover(self, operation: Operation, call: Call) -> bool:
        """Whether the caller surely consented to what a call is about, if it takes a consent."""
        key = str(call.arguments.get(operation.about or ""))
        return not operation.about or not self.grant or key in self.sure(call.subject)

    def perhaps(self, subject: str) -> AbstractSet[str]:
        """Return all that a subject's consent may cover by now."""
        return self._perhaps.get(subject, NONE)
