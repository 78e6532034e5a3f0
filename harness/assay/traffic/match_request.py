"""Matching of a recorded request with a call of the contract: the inverse of encoding.

Every operation with the method and path of the request is tried, and the one that explains most of
it is taken. What the target file does not describe becomes an argument under a name that no
contract has, so that no check takes the call for a plain one. No judgement here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import cast
from zoneinfo import ZoneInfo

from assay.binding.decode import same
from assay.binding.encode import BARE, Access
from assay.binding.pointer import MISSING, find
from assay.binding.target import OperationBinding, Place, Spelling, Target
from assay.contract.model import Json, Operation
from assay.history import Call
from assay.rules.state.calendar import dates
from assay.traffic import variations
from assay.traffic.callers import Callers
from assay.traffic.parse_request import KnownIds, ParsedRequest, meant, slots


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedRequest:
    """A request read as a call; `strange` is what in it the target file does not describe.

    `torn` says that one argument, which stands in several places, is not the same in all.
    """

    call: Call
    operation: Operation
    access: Access
    strange: tuple[str, ...] = ()
    torn: bool = False


@dataclass(slots=True, kw_only=True)
class RequestMatcher:
    """Reads requests one after the other; what answers told of them is in `known`.

    `links` are the next pages that answers named, by who was told and where; `payers`
    whose a request is, by its key.
    """

    operations: Mapping[str, Operation]
    target: Target
    people: Callers
    known: KnownIds = field(default_factory=KnownIds)
    links: dict[tuple[str, str], Call] = field(default_factory=dict[tuple[str, str], Call])
    payers: dict[str, str] = field(default_factory=dict[str, str])
    accounts: dict[str, str] = field(default_factory=dict[str, str])

    def read(self, taken: ParsedRequest, at: datetime) -> MatchedRequest | None:
        """Return the call that a request of this moment is; None where it is none."""
        for host, base in self._bases(taken.origin):
            prefix = base.partition("://")[2].partition("/")[2].rstrip("/")
            below = f"/{prefix}/" if prefix else "/"
            if not f"{taken.path}/".startswith(below):
                continue
            path = taken.path[len(below) - 1 :]
            found = [*self._candidates(taken, path, at)]
            if found:
                best = min(found, key=lambda one: (len(one.strange), len(one.call.without)))
                return self._placed(taken, replace(best, call=replace(best.call, host=host)))
        return None

    def _bases(self, origin: str) -> Iterator[tuple[int | None, str]]:
        """Yield the base URLs of an origin: the first, or one of the target's other hosts."""
        every = [(None, self.target.base_url), *enumerate(self.target.hosts)]
        for host, base in every:
            scheme, _, rest = base.partition("://")
            if plain(f"{scheme}://{rest.partition('/')[0]}") == plain(origin):
                yield host, base

    def _candidates(
        self, taken: ParsedRequest, path: str, at: datetime
    ) -> Iterator[MatchedRequest]:
        for operation in self.operations.values():
            binding = self.target.operations.get(operation.id, BARE)
            if taken.method != (binding.method or operation.method).upper():
                continue
            names = binding.names(operation)
            paths = [(None, binding.path or operation.path), *enumerate(names)]
            for alias, template in sorted(paths, key=lambda one: one[1].count("{")):
                found = slots(template, path)
                if found is not None:
                    yield self._reading(taken, operation, binding, found, alias, at=at)
                    break

    def _reading(
        self,
        taken: ParsedRequest,
        operation: Operation,
        binding: OperationBinding,
        found: Mapping[str, str],
        alias: int | None,
        *,
        at: datetime,
    ) -> MatchedRequest:
        given: dict[str, Json] = {}
        said, torn = variations.ExplainedParts(), False
        for name in binding.taken(operation):
            where = Spelling(place=Place.PATH, name=name) if name in found else None
            own = binding.arguments.get(name)
            where = where or own
            value = taken.at(where, found) if where else MISSING
            if where is None or value is MISSING or _other_end(operation, own, value):
                continue
            said.note(where)
            if own is None:
                given[name] = value
                continue
            every = [value, *_elsewhere(taken, own, value)]
            torn |= len(every) > 1
            given[name] = _united([meant(one, own, self.known) for one in every])
        due = operation.due
        ahead = due is not None and _ahead(given.get(due.argument), at, self.target.zone)
        mode = variations.mode(taken, operation, binding, found, said, ahead=ahead)
        access = variations.credentials(taken, binding, said)
        strange = tuple(variations.strange(taken, binding, said))
        given |= {f"?{name}": variations.strange_value(taken, name) for name in strange}
        fixed = (name for name, one in binding.arguments.items() if one.value is not None)
        absent = (name for name in fixed if name not in given and name in operation.arguments)
        presence = self.target.presence
        there = presence is not None and presence.header.lower() in taken.headers
        call = Call(
            operation=operation.id,
            subject="",
            arguments=given,
            present=presence is None or there is not presence.absent,
            alias=alias,
            mode=mode,
            credentials=access is not None,
            without=() if operation.changes else tuple(absent),
        )
        malformed = variations.malformed(taken, operation, call)
        call = replace(call, malformed=malformed)
        return MatchedRequest(
            call=call, operation=operation, access=access or Access(), strange=strange, torn=torn
        )

    def _placed(self, taken: ParsedRequest, read: MatchedRequest) -> MatchedRequest:
        """Say whose call it is, and whether it turns a page that was named before."""
        operation, call = read.operation, read.call
        token = self.people.token(taken, by_provider=operation.by_provider)
        access = replace(read.access, token=token)
        if operation.by_provider:
            by = self.people.provider(token)
            call = replace(call, by=by, subject=self._payer(operation, call))
        else:
            call = replace(call, subject=self.people.customer(token))
        before = self.links.get((call.subject, taken.asked))
        if before is not None and before.operation == call.operation:
            call = replace(before, present=call.present, host=call.host)
            return replace(read, call=call, access=access, strange=())
        return replace(read, call=call, access=access)

    def _payer(self, operation: Operation, call: Call) -> str:
        """Name the customer of a request by the thing that it is about, as far as it tells."""
        if operation.makes:
            owned = repr(call.arguments.get(operation.owned or ""))
            return self.accounts.setdefault(owned, f"payer-{len(self.accounts) + 1}")
        return self.payers.get(str(call.arguments.get(operation.about or "")), "payer")


def plain(origin: str) -> str:
    """Return an origin in small letters and without a port that goes without saying."""
    scheme, _, host = origin.lower().partition("://")
    usual = {"http": ":80", "https": ":443"}.get(scheme, "")
    return f"{scheme}://{host.removesuffix(usual) if usual else host}"


def _other_end(operation: Operation, own: Spelling | None, value: Json) -> bool:
    """Whether what would end a request says something else than the profile has it say."""
    fixed = operation.ends is not None and own is not None and own.value is not None
    return fixed and own is not None and not same(own.value, value)


def _elsewhere(taken: ParsedRequest, own: Spelling, value: Json) -> Iterator[Json]:
    """Yield what stands in an argument's other places, where it is another thing."""
    for pointer in own.also:
        other = find(taken.body, pointer)
        if other is not MISSING and other != value:
            yield other


def _united(values: Sequence[Json]) -> Json:
    """Return the first value, or all that is in any of several lists."""
    first = values[0]
    if len(values) == 1 or not all(isinstance(one, list) for one in values):
        return first
    united: list[Json] = []
    for one in values:
        united += [each for each in cast("list[Json]", one) if each not in united]
    return united


def _ahead(value: Json, at: datetime, zone: ZoneInfo | None) -> bool:
    """Whether a request is for a day to come."""
    try:
        return isinstance(value, str) and date.fromisoformat(value[:10]) > dates(at, zone)[0]
    except ValueError:
        return False
