"""Matching of a recorded request with a call of the contract: the inverse of encoding.

Every operation with the method and path of the request is tried, and the one that explains most of
it is taken. What the target file does not describe becomes an argument under a name that no
contract has, so that no check takes the call for a plain one. A value that the target file would
write differently stays as it is. This module does not judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any, TypeAlias, cast
from zoneinfo import ZoneInfo

from assay.binding.model.origin import origin as origin_of
from assay.binding.model.pointer import MISSING, find
from assay.binding.model.security import without_parameters
from assay.binding.model.spelling import repeated_slots
from assay.binding.model.target import OperationBinding, Place, Spelling, Target
from assay.binding.wire.date_formats import day_if_midnight, read
from assay.binding.wire.encode import BARE, Access
from assay.binding.wire.links import page_link
from assay.binding.wire.values import OFFSET, empty_shape, from_units, has_placeholder, is_unique
from assay.contract.model import Json, Operation
from assay.contract.scalars import same, word_of
from assay.history import Call
from assay.rules.state.calendar import dates
from assay.traffic import parse_request
from assay.traffic.callers import Callers
from assay.traffic.parse_request import ExplainedParts, ParsedRequest, path_values
from assay.traffic.recorded_submissions import JUDGED, Fit, Part, RecordedSubmissions, parts_of


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedRequest:
    """A request read as a call; `unexplained` are its parts that the target file does not describe.

    `target` is the target as the operation is called here, and `submits` the key of the request that
    the call submits, if it is a submission.
    `inconsistent` says that an argument with several places has different values in them.
    """

    call: Call
    operation: Operation
    access: Access
    target: Target
    fit: Fit = Fit.FITS
    submits: str | None = None
    unexplained: tuple[str, ...] = ()
    inconsistent: bool = False


@dataclass(slots=True, kw_only=True)
class KnownIds:
    """What earlier responses showed: the key of each of the target's own ids, and its kind."""

    keys: dict[str, str] = field(default_factory=dict[str, str])
    resources: dict[str, str] = field(default_factory=dict[str, str])


#: An operation, a part of its binding, the target with that, and its paths by the number of the name.
_Offered: TypeAlias = tuple[Operation, Part, Target, Sequence[tuple[int | None, str]]]


@dataclass(slots=True, kw_only=True)
class RequestMatcher:
    """Reads requests one after the other, with what earlier responses showed.

    `links` are the calls for the next pages that responses named, by customer and target of the
    request; `payers` are the customers of requested resources, by key, and
    `made_slots` the arguments and slots of the requests that made them.
    """

    operations: Mapping[str, Operation]
    target: Target
    callers: Callers
    ids: KnownIds = field(default_factory=KnownIds)
    links: dict[tuple[str, str], Call] = field(default_factory=dict[tuple[str, str], Call])
    payers: dict[str, str] = field(default_factory=dict[str, str])
    made_slots: dict[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    accounts: dict[str, str] = field(default_factory=dict[str, str])
    submissions: RecordedSubmissions = field(init=False)
    _at_origin: tuple[str, Sequence[tuple[int | None, str]]] = ("", ())
    _offered: dict[str, list[_Offered]] = field(default_factory=dict[str, "list[_Offered]"])

    def __post_init__(self) -> None:
        """Begin without any submission."""
        self.submissions = RecordedSubmissions(target=self.target)

    def read(self, request: ParsedRequest, at: datetime) -> MatchedRequest | None:
        """Return the call that a request at an instant is; None if it is none."""
        for host, base in self._bases(request.origin):
            prefix = base.partition("://")[2].partition("/")[2].rstrip("/")
            root = f"/{prefix}/" if prefix else "/"
            if not f"{request.path}/".startswith(root):
                continue
            path = request.path[len(root) - 1 :]
            if candidates := [*self._candidates(request, path, at)]:
                best = min(
                    candidates,
                    key=lambda each: (
                        len(each.unexplained),
                        len(each.call.without),
                        each.fit.value,
                    ),
                )
                return self._attributed(request, best, host) if best.fit in JUDGED else None
        return None

    def _bases(self, origin: str) -> Sequence[tuple[int | None, str]]:
        """Return the base URLs of an origin: the first, or one of the target's other hosts."""
        if self._at_origin[0] != origin:
            bases: list[tuple[int | None, str]] = [(None, self.target.base_url)]
            bases += enumerate(self.target.hosts)
            known = {base for _, base in bases}
            bases += [(None, base) for base in self.target.base_urls if base not in known]
            wanted = origin_of(origin)
            self._at_origin = origin, [each for each in bases if origin_of(each[1]) == wanted]
        return self._at_origin[1]

    def _candidates(
        self, request: ParsedRequest, path: str, at: datetime
    ) -> Iterator[MatchedRequest]:
        for operation, part, target, paths in self._by_method().get(request.method, ()):
            for alias, template in paths:
                values = path_values(template, path)
                if values is not None:
                    binding = target.operations.get(operation.id, BARE)
                    own = {**target.operations, operation.id: binding.under(alias)}
                    named = replace(target, operations=own) if binding.named else target
                    read = self._candidate(request, operation, named, values, alias, at=at)
                    yield self._fitted(request, read, part, values)
                    break

    def _fitted(
        self, request: ParsedRequest, read: MatchedRequest, part: Part, values: Mapping[str, str]
    ) -> MatchedRequest:
        """Return a call with how well it fits, and the request that it submits if it does."""
        submissions, operation = self.submissions, read.operation
        submits = None
        if part is Part.SUBMISSION:
            binding = read.target.operations[operation.id]
            submits = submissions.request(request, values, binding, read.target)
        fit = submissions.fit(part, operation, read.call, submits)
        call = submissions.about(read.call, operation)
        return replace(read, call=call, fit=fit, submits=submits)

    def _by_method(self) -> Mapping[str, Sequence[_Offered]]:
        """Return operations with their bindings and paths, those without slots first, by method."""
        if not self._offered:
            offered = (
                (self.submissions.caller(operation, binding), part, binding)
                for operation in self.operations.values()
                for part, binding in parts_of(self.target.operations.get(operation.id, BARE))
            )
            for operation, part, binding in offered:
                paths = [
                    (None, binding.path or operation.path),
                    *enumerate(binding.names(operation) if part is Part.OPERATION else ()),
                ]
                paths.sort(key=lambda named: named[1].count("{"))
                method = (binding.method or operation.method).upper()
                target = self.target
                if part is not Part.OPERATION:
                    operations = {**target.operations, operation.id: binding}
                    target = replace(target, operations=operations)
                self._offered.setdefault(method, []).append((operation, part, target, paths))
        return self._offered

    def _candidate(
        self,
        request: ParsedRequest,
        operation: Operation,
        target: Target,
        values: Mapping[str, str],
        alias: int | None,
        *,
        at: datetime,
    ) -> MatchedRequest:
        explained, binding = ExplainedParts(), target.operations.get(operation.id, BARE)
        arguments, inconsistent = self._arguments(request, operation, binding, values, explained)
        due = operation.due
        future = due is not None and _is_future(arguments.get(due.argument), at, self.target.zone)
        mode = parse_request.find_mode(
            request, operation, binding, values, explained, future=future
        )
        access = parse_request.find_credentials(request, binding, explained)
        unexplained = tuple(
            parse_request.unexplained_parts(
                request, binding, explained, self.target, by_tpp=operation.by_tpp
            )
        )
        arguments |= {
            f"?{name}": parse_request.unexplained_value(request, name) for name in unexplained
        }
        made = self.made_slots.get(str(arguments.get(operation.about or "")), values)
        for name in repeated_slots(operation, binding):
            if name in values and made.get(name, values[name]) != values[name]:
                unexplained = (*unexplained, name)
                arguments[f"?{name}"] = values[name]
        fixed = (name for name, own in binding.arguments.items() if own.value is not None)
        absent = (name for name in fixed if name not in arguments and name in operation.arguments)
        mark = self.target.presence
        call = Call(
            operation=operation.id,
            subject="",
            arguments=arguments,
            present=mark is None or mark.shows(request.value_at(mark)),
            alias=alias,
            mode=mode,
            credentials=access is not None,
            without=() if operation.changes else tuple(absent),
            generated=tuple(
                name
                for name, own in binding.arguments.items()
                if name in arguments and is_unique(own.value)
            ),
        )
        standing = {at.name for at in self.target.standing_places(by_tpp=operation.by_tpp)}
        malformed = parse_request.find_malformation(request, operation, call, standing)
        return MatchedRequest(
            call=call if malformed is None else replace(call, malformed=malformed),
            operation=operation,
            access=access or Access(),
            target=target,
            unexplained=unexplained,
            inconsistent=inconsistent,
        )

    def _arguments(
        self,
        request: ParsedRequest,
        operation: Operation,
        binding: OperationBinding,
        values: Mapping[str, str],
        explained: ExplainedParts,
    ) -> tuple[dict[str, Json], bool]:
        """Return the arguments of a request, and whether one of them is inconsistent."""
        arguments: dict[str, Json] = {}
        inconsistent = False
        for name in binding.taken(operation):
            in_path = Spelling(place=Place.PATH, name=name) if name in values else None
            own = binding.arguments.get(name)
            spelling = in_path or own
            value = request.value_at(spelling, values) if spelling else MISSING
            if spelling is None or value is MISSING or _is_other_change(operation, own, value):
                continue
            explained.note(spelling)
            if operation.changes and is_part_of_shape(name, value, binding.arguments):
                continue
            if own is None:
                arguments[name] = value
                continue
            value = with_own_members(value, name, binding.arguments)
            candidates = [value, *_differing(request, own, value)]
            inconsistent |= len(candidates) > 1
            arguments[name] = _united(
                [decode_value(each, own, self.ids.keys, self.target.zone) for each in candidates]
            )
        return arguments, inconsistent

    def _attributed(
        self, request: ParsedRequest, matched: MatchedRequest, host: int | None
    ) -> MatchedRequest:
        """Return a call with its customer, and as the next page of a list if it is one."""
        operation, call = matched.operation, matched.call
        token = self.callers.token(request, by_tpp=operation.by_tpp)
        access = replace(matched.access, token=token)
        if operation.by_tpp:
            caller = self.callers.tpp(token)
            call = replace(call, host=host, by=caller, subject=self._payer(operation, call))
        else:
            call = replace(call, host=host, subject=self.callers.customer(token))
        next_page = self.target.operations.get(operation.id, BARE).next
        link = page_link(request.target, request.body, call, next_page) or request.target
        page = self.links.get((call.subject, self.without_token(link, operation)))
        if page is not None and page.operation == call.operation:
            call = replace(_turned(page, matched, self.target), present=call.present, host=host)
            return replace(matched, call=call, access=access, unexplained=())
        return replace(matched, call=call, access=access)

    def without_token(self, url: str, operation: Operation) -> str:
        """Return a URL, or the end of one, without the token in its query."""
        places = self.target.auth.of(by_tpp=operation.by_tpp).credential_places
        return without_parameters(url, (at.name for at in places if at.place is Place.QUERY))

    def _payer(self, operation: Operation, call: Call) -> str:
        """Return the customer of a requested resource, as far as the traffic shows it."""
        if operation.makes:
            owned = repr(call.arguments.get(operation.owned or ""))
            return self.accounts.setdefault(owned, f"payer-{len(self.accounts) + 1}")
        return self.payers.get(str(call.arguments.get(operation.about or "")), "payer")


def _turned(page: Call, matched: MatchedRequest, target: Target) -> Call:
    """Return the call for the next page, with the arguments in headers that this request has.

    A link has no headers: what identifies a call is another for each page.
    """
    spellings = target.operations.get(matched.operation.id, BARE).arguments
    headers = {name for name, own in spellings.items() if own.place is Place.HEADER}
    linked = {name: value for name, value in page.arguments.items() if name not in headers}
    sent = {name: value for name, value in matched.call.arguments.items() if name in headers}
    return replace(page, arguments={**linked, **sent})


def _is_other_change(operation: Operation, own: Spelling | None, value: Json) -> bool:
    """Whether what would end a request has another value in the body than the fixed one.

    A value that is made for each call is never the same.
    """
    if operation.ends is None or own is None or own.place is not Place.BODY:
        return False
    return own.value is not None and not has_placeholder(own.value) and not same(own.value, value)


def _differing(request: ParsedRequest, own: Spelling, value: Json) -> Iterator[Json]:
    """Yield the values at an argument's other places, where they differ."""
    for pointer in own.also:
        second = find(request.body, pointer)
        if second is not MISSING and second != value:
            yield second


def _united(values: Sequence[Json]) -> Json:
    """Return the first value, or everything that is in any of several lists."""
    first = values[0]
    if len(values) == 1 or not all(isinstance(value, list) for value in values):
        return first
    united: list[Json] = []
    for value in values:
        united += [item for item in cast("list[Json]", value) if item not in united]
    return united


def _is_future(value: Json, at: datetime, zone: ZoneInfo | None) -> bool:
    """Whether a value is a date after that of the request."""
    try:
        return isinstance(value, str) and date.fromisoformat(value[:10]) > dates(at, zone)[0]
    except ValueError:
        return False


# -- Values of requests in the words of the contract: the reverse of `binding.values` -------------
#: Any offset from UTC.
_OFFSETS = "(?:Z|[+-][0-9]{2}:[0-9]{2})"


def decode_value(
    value: Json, spelling: Spelling, keys: Mapping[str, str], zone: ZoneInfo | None = None
) -> Json:
    """Return a value, or a list of them, in the contract's words.

    `keys` are those of the target's own ids, and `zone` is that of its days.
    """
    if spelling.each and value is not None and value == empty_shape(spelling):
        return ""
    if isinstance(value, list):
        return [_decode_single(item, spelling, keys, zone) for item in cast("list[Json]", value)]
    return _decode_single(value, spelling, keys, zone)


def _decode_single(
    value: Json, spelling: Spelling, keys: Mapping[str, str], zone: ZoneInfo | None
) -> Json:
    if spelling.text != "{}":
        value = _strip_text(value, spelling.text)
    if spelling.each:
        contents = (_content_of(shape, value) for shape in spelling.each.values())
        value = next((content for content in contents if content is not MISSING), value)
    if spelling.format:
        value = day_if_midnight(read(value, spelling.format, zone), zone)
    if spelling.unit is not None:
        value = from_units(value, spelling.unit)
    if spelling.exclusive:
        value = _day_before(value)
    value = next(
        (word_of(key) for key, bound in spelling.words.items() if same(bound, value)), value
    )
    if spelling.found is not None and isinstance(value, str):
        value = keys.get(value, value)
    return value


def _strip_text(value: Json, text: str) -> Json:
    """Return what a value has at the "{}" of a text; the whole value if the text does not match."""
    before, _, after = map(re.escape, text.partition("{}"))
    pattern = f"{before}(.*){after.replace(re.escape(OFFSET), _OFFSETS)}"
    found = re.fullmatch(pattern, value, re.DOTALL) if isinstance(value, str) else None
    return found[1] if found else value


def _day_before(value: Json) -> Json:
    try:
        return (date.fromisoformat(str(value)) - timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return value


def _content_of(shape: Any, value: Any) -> Json:
    """Return what a value has where its shape has "{}"; `MISSING` for another shape."""
    if shape == "{}":
        return cast("Json", value)
    if isinstance(shape, Mapping) and isinstance(value, Mapping):
        shapes = cast("Mapping[str, Any]", shape)
        members = cast("Mapping[str, Any]", value)
        if shapes.keys() != members.keys():
            return MISSING
        return _single_content([(inner, members[name]) for name, inner in shapes.items()])
    if isinstance(shape, list) and isinstance(value, list):
        items: list[Any] = value
        expected: list[Any] = shape
        same_length = len(expected) == len(items)
        return _single_content([*zip(expected, items, strict=True)]) if same_length else MISSING
    return MISSING


def _single_content(pairs: list[tuple[Any, Any]]) -> Json:
    """Return the one content of several shapes, if all else is as the shapes have it."""
    content: Json = MISSING
    for shape, value in pairs:
        inner = _content_of(shape, value)
        if inner is not MISSING:
            content = inner
        elif not same(shape, value):
            return MISSING
    return content


def is_part_of_shape(name: str, value: Json, spellings: Mapping[str, Spelling]) -> bool:
    """Whether the value of an argument stands in the shape of another one, which always has it."""
    own = spellings.get(name)
    if own is None or own.place is not Place.BODY:
        return False
    return any(
        other.place is Place.BODY
        and own.name.startswith(f"{other.name}/")
        and any(
            same(find(shape, own.name[len(other.name) :]), value) for shape in other.each.values()
        )
        for other in spellings.values()
    )


def with_own_members(value: Json, name: str, spellings: Mapping[str, Spelling]) -> Json:
    """Return the value of an argument with what its shape has in place of other arguments in it."""
    own = spellings[name]
    if not isinstance(value, Mapping) or own.place is not Place.BODY:
        return value
    members = dict(cast("Mapping[str, Json]", value))
    for shape in own.each.values():
        for other in spellings.values():
            member = other.name.removeprefix(f"{own.name}/")
            inside = other.place is Place.BODY and member != other.name and member in members
            constant = find(shape, f"/{member}") if inside else MISSING
            if constant is not MISSING:
                members[member] = constant
    return members
