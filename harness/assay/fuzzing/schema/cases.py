"""Cases of the schema search: the generated part of a request, and what of it varies.

The generator fills in whole requests; only the part that is meant to vary is taken over, and
everything else stays as it was accepted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast
from urllib.parse import parse_qsl, urlsplit

from assay.binding.model.pointer import MISSING
from assay.binding.model.target import Place
from assay.binding.wire.encode import HttpRequest
from assay.contract.model import Json
from assay.history import Resend

#: The most characters of a description.
MOST_SAID = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaCase:
    """A generated part of a request, and which of it is the variation.

    `name` is the one member that varies, "" where there are several: those that differ
    from `usual`, the generator's own unvaried value. `valid` says that the document
    allows it, `says` describes it. A `random` case is not one that the document always has.
    """

    says: str
    valid: bool
    place: Place
    name: str = ""
    made: Json = MISSING
    usual: Mapping[str, Json] = field(default_factory=dict[str, Json])
    random: bool = False

    def step(self, known: HttpRequest, subject: str, names: Mapping[str, str]) -> Resend:
        """Return the step that sends the accepted request of a subject with this variation.

        `names` are the path parameters of the document, with their names in the target file.
        """
        values, removed = self._change(known, names)
        return Resend(
            subject=subject,
            exchange=0,
            place=self.place.value,
            values=values,
            removed=removed,
            forbidden=not self.valid,
            variation=self.says[:MOST_SAID],
        )

    def _change(
        self, known: HttpRequest, names: Mapping[str, str]
    ) -> tuple[dict[str, Json], tuple[str, ...]]:
        """Return the members that are set, and those that are left out."""
        match self.place:
            case Place.PATH:
                made = cast("Mapping[str, Json]", self.made)
                return {names[name]: made[name] for name in (self.name,) if name in made}, ()
            case Place.QUERY:
                query = parse_qsl(urlsplit(known.url).query, keep_blank_values=True)
                return _varied(self, dict(query))
            case Place.HEADER:
                lowered = replace(
                    self,
                    name=self.name.lower(),
                    made=_lower(cast("Mapping[str, Json]", self.made)),
                    usual=_lower(self.usual),
                )
                return _varied(lowered, _lower(dict(known.headers)))
            case Place.BODY:
                return self._body(known.body)
            case Place.SCOPE | Place.BASE:
                return {}, ()  # no part of a request

    def _body(self, known: bytes) -> tuple[dict[str, Json], tuple[str, ...]]:
        """Return the change of a body; the name "" stands for the whole of it."""
        if self.made is MISSING:
            return {}, ("",)
        body: Json = json.loads(known) if known else MISSING
        if isinstance(body, dict) and isinstance(self.made, Mapping):
            return _varied(self, cast("dict[str, Json]", body))
        return {"": self.made}, ()


def _lower(headers: Mapping[str, Json]) -> dict[str, Json]:
    return {name.lower(): value for name, value in headers.items()}


def _varied(case: SchemaCase, known: Mapping[str, Json]) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Return the members of a case that vary, and the accepted ones that it lacks."""
    made, usual = cast("Mapping[str, Json]", case.made), case.usual
    if case.name:
        varied, removed = {case.name}, {case.name} - made.keys()
    elif not case.valid:
        # The members that an invalid case lacks, or adds; its other values do not matter.
        varied, removed = made.keys() - usual.keys(), usual.keys() - made.keys()
    else:
        varied = {name for name in made if name in usual and made[name] != usual[name]}
        removed = set[str]() if varied else known.keys() - made.keys()
        varied = varied or made.keys() - known.keys()
    return {name: made[name] for name in made if name in varied}, tuple(sorted(removed))
