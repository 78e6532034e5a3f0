"""One variation of a request that is known to be accepted, and that request.

The generator fills in whole requests; only the part that is meant to vary is taken
over, and everything else stays as it was accepted. The accepted request, from which all
cases of an operation start, is prepared here as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from assay.binding.encode import HttpRequest
from assay.binding.pointer import MISSING
from assay.binding.target import Place
from assay.contract.model import Contract, Json, Operation
from assay.errors import CannotArrange
from assay.fuzzing.schema.request_matching import slots
from assay.history import Call, Holding
from assay.rules import steps
from assay.rules.clauses import clauses_of
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.tracker import lifecycle_of_operation
from assay.rules.steps import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaCase:
    """A generated part of a request, and which of it is the variation.

    `name` is the one member that varies, "" where there are several: those that differ
    from `usual`, the generator's own unvaried value. `valid` says that the document
    allows it, `says` describes it.
    """

    says: str
    valid: bool
    place: Place
    name: str = ""
    made: Json = MISSING
    usual: Mapping[str, Json] = field(default_factory=dict[str, Json])

    def applied(self, known: HttpRequest, template: str) -> HttpRequest:
        """Return the accepted request with the variation of this case.

        `template` is the path as the document has it.
        """
        match self.place:
            case Place.PATH:
                return replace(known, url=_path(known.url, template, self._text()))
            case Place.QUERY:
                return replace(known, url=self._query(known.url))
            case Place.HEADER:
                return replace(known, headers=self._headers(known.headers))
            case Place.BODY:
                return self._body(known)

    def _text(self) -> Mapping[str, str]:
        made = cast("Mapping[str, Json]", self.made)
        return {self.name: str(made[self.name])} if self.name in made else {}

    def _query(self, url: str) -> str:
        known: dict[str, Json] = dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
        query = urlencode(list(_merged(self, known).items()), doseq=True)
        return urlunsplit(urlsplit(url)._replace(query=query))

    def _headers(self, headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        """Return headers under their original names; names are case-insensitive."""
        had = {name.lower(): name for name, _ in headers}
        low = replace(
            self,
            name=self.name.lower(),
            made={name.lower(): one for name, one in cast("Mapping[str, Json]", self.made).items()},
            usual={name.lower(): one for name, one in self.usual.items()},
        )
        merged = _merged(low, {name.lower(): value for name, value in headers})
        return tuple((had.get(name, name), str(value)) for name, value in merged.items())

    def _body(self, known: HttpRequest) -> HttpRequest:
        if self.made is MISSING:
            return replace(known, body=b"")
        body: Json = json.loads(known.body) if known.body else MISSING
        made = self.made
        if isinstance(body, dict) and isinstance(made, Mapping):
            made = _merged(self, cast("dict[str, Json]", body))
        return replace(known, body=json.dumps(made).encode())


def _merged(case: SchemaCase, known: Mapping[str, Json]) -> dict[str, Json]:
    """Return the accepted members with those that vary, and no others, replaced."""
    made, usual = cast("Mapping[str, Json]", case.made), case.usual
    if case.name:
        meant, gone = {case.name}, {case.name} - made.keys()
    elif not case.valid:
        # What an invalid case lacks, or adds; its other values do not matter.
        meant, gone = made.keys() - usual.keys(), usual.keys() - made.keys()
    else:
        meant = {name for name in made if name in usual and made[name] != usual[name]}
        gone = set[str]() if meant else known.keys() - made.keys()
        meant = meant or made.keys() - known.keys()
    left = {name: value for name, value in known.items() if name not in gone}
    return left | {name: made[name] for name in made if name in meant}


def _path(url: str, template: str, meant: Mapping[str, str]) -> str:
    """Return a URL with other path parameters."""
    path = urlsplit(url).path
    values = slots(template, path)
    own, filled = template, template
    for name, value in values.items():
        own = own.replace(f"{{{name}}}", value)
        filled = filled.replace(
            f"{{{name}}}", quote(meant[name], safe="") if name in meant else value
        )
    return urlunsplit(urlsplit(url)._replace(path=path.removesuffix(own) + filled))


def ready(contract: Contract, operation: Operation, subject: str, alias: int | None) -> Part[Call]:
    """Set up whatever a plain valid call needs, for a new customer; return the call.

    A method that is not offered has none: its control shows that all else is valid.
    """
    control = _control(contract, operation)
    call = yield from _plain(contract, control, subject)
    if control.id == operation.id:
        return replace(call, alias=alias)
    yield from steps.send(call)
    about = call.arguments.get(control.about or "")
    arguments = {operation.about: about} if operation.about else {}
    return replace(call, operation=operation.id, arguments=arguments, alias=alias)


def _control(contract: Contract, operation: Operation) -> Operation:
    """Return the operation whose answer shows that all else is valid, usually the same one."""
    controls = (clause.control_of(operation.id) for clause in clauses_of(contract))
    control = next((name for name in controls if name is not None), operation.id)
    return contract.operations[control]


def _plain(contract: Contract, operation: Operation, subject: str) -> Part[Call]:
    call: Call | None = None
    if operation.ends:
        # An operation that can change a request can also end it.
        lifecycle = lifecycle_of_operation(contract, operation)
        psu = yield from request_steps.customer(lifecycle, subject)
        made = yield from steps.send(
            request_steps.request(lifecycle, psu, lifecycle.changeable_mode)
        )
        call = request_steps.call_about(operation, made)
    elif operation.request:
        _, call = yield from request_steps.prepare_call(contract, operation, subject)
    if operation.request:
        if call is None:
            raise CannotArrange("a request that is made")
        return call
    owners = steps.owners(contract, operation)
    entries = steps.days_before((yield from steps.clock()).date(), 1, 2)
    psu = yield from steps.arrange(
        subject, *(Holding(resource=one, entries=entries) for one in owners)
    )
    if not psu.owns:
        raise CannotArrange("something that a customer owns")
    if not operation.grants:
        granting = (one for one in contract.operations.values() if one.grants and one.available)
        yield from steps.grant(next(granting, None), subject, *(one.key for one in psu.owns))
    arguments = steps.arguments(operation, psu.owns[0].key)
    return Call(operation=operation.id, subject=subject, arguments=arguments)
