"""The consents at a point of a history: certain ones and possible ones.

A consent that was answered by a server error may have been accepted all the same, and
where the document is silent a later one may or may not have replaced it. A check
reports only violations that are certain.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from assay.contract.model import Operation
from assay.history import Call, Exchange
from assay.rules.queries import plain

NONE: frozenset[str] = frozenset()
#: Why a subject that is not fresh cannot be said to have given no consent.
EARLIER = "but a consent from before this history may still hold"


def consented_keys(call: Call, grant: Operation) -> frozenset[str]:
    """Return the keys of the things that a call consents to."""
    listed = call.arguments.get(grant.grants or "")
    return frozenset(map(str, listed)) if isinstance(listed, list | tuple) else NONE


@dataclass(slots=True, kw_only=True)
class Consents:
    """The state of all consents at a point of a history; `note` advances it.

    Only what the last consent names is certain: it may have replaced earlier ones.
    """

    grant: Operation | None
    _certain: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    _possible: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def note(self, exchange: Exchange) -> bool:
        """Process an exchange; return whether it may have changed a consent."""
        call = exchange.call
        if self.grant is None or call.operation != self.grant.id or exchange.refused:
            return False
        keys, name = consented_keys(call, self.grant), call.subject
        sure = self.certain(name)
        taken = exchange.accepted and plain(call)
        self._certain[name] = keys if taken else keys & sure
        self._possible.setdefault(name, set()).update(keys)
        return True

    def certain(self, subject: str) -> frozenset[str]:
        """Return what a subject's consent certainly covers."""
        return self._certain.get(subject, NONE)

    def covers(self, operation: Operation, call: Call) -> bool:
        """Whether the caller certainly consented to what a call is about, where needed."""
        key = str(call.arguments.get(operation.about or ""))
        return not operation.about or not self.grant or key in self.certain(call.subject)

    def possible(self, subject: str) -> AbstractSet[str]:
        """Return what a subject's consent may cover."""
        return self._possible.get(subject, NONE)
