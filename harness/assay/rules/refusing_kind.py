"""The base of the kinds by which calls are refused.

A clause of such a kind can say with `code` which code an answer that refuses has, with
`refusal-status` which status, and with `rejection` whether a request is rejected by the call that makes
it, or after its signature; `checks` derives the facets and the judgement.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.contract.model import Contract, Json
from assay.contract.scalars import text_of
from assay.history import ERROR_CODE
from assay.rules import parameters
from assay.rules.rule import Kind, S

#: The name of the parameter with the codes of a refusal.
CODE = ERROR_CODE
#: The name of the parameter with the statuses of a refusal.
STATUS = "refusal-status"
#: The name of the parameter with the moment of a rejection, and its values.
REJECTION, AT_ONCE, AFTER_SIGNING = "rejection", "at-once", "after-signing"

_CODE: Mapping[str, Json] = {
    "description": "the code of the refusal, or a list of codes",
    "x-hint": "for example CONSENT_EXPIRED",
    "type": ["string", "integer", "array"],
    "minLength": 1,
    "minItems": 1,
    "uniqueItems": True,
    "items": {"description": "a code", "type": ["string", "integer"], "minLength": 1},
}
_STATUS: Mapping[str, Json] = {
    "description": "the status of the refusal, or a list of statuses",
    "x-hint": "for example 429, or [403, 404]",
    "type": ["integer", "array"],
    "minimum": 200,
    "maximum": 599,
    "minItems": 1,
    "uniqueItems": True,
    "items": {
        "description": "a status from 200 to 599",
        "type": "integer",
        "minimum": 200,
        "maximum": 599,
    },
}


def _listed(value: Json) -> tuple[str, ...]:
    return tuple(map(text_of, value if isinstance(value, list | tuple) else (value,)))


def _read(value: Json, _contract: Contract) -> tuple[str, ...]:
    return _listed(value)


def _said(schema: Mapping[str, Json], key: str) -> Any:
    return parameters.parameter(schema, _read, key=key, required=False, default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusingKind(Kind[S]):
    """The base of kinds by which calls are refused: the codes and statuses that a refusal may have."""

    codes: tuple[str, ...] = _said(_CODE, CODE)
    refusal_statuses: tuple[str, ...] = _said(_STATUS, STATUS)
    rejection: str = parameters.choice(
        AT_ONCE,
        AFTER_SIGNING,
        "unspecified",
        key=REJECTION,
        description="at-once, after-signing or unspecified",
        hint="is a request rejected by the call that makes it, or after its signature?",
        required=False,
        default="unspecified",
    )

    #: The facets that expect a refusal, where they are the same in every clause; empty for all.
    refusing_facets: ClassVar[tuple[str, ...]] = ()

    @property
    def says_more(self) -> bool:
        """Whether the clause says more of a refusal than that there is one."""
        return bool(self.codes or self.refusal_statuses or self.moment)

    @property
    def moment(self) -> str:
        """When a request is rejected; empty where that is not said."""
        return self.rejection if self.rejection in (AT_ONCE, AFTER_SIGNING) else ""

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return self.refusing_facets or [facet.id for facet in self.own_facets]
