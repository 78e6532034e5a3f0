"""How a target spells operations, as values: where things stand, what answers mean.

Plain data of the `operations` and `outcomes` of a target file, by which `encode` writes
requests and `decode` reads answers. `sent` gives a value the target's own ids, words, shapes
and formats; `filled` fills in the placeholders of headers and templates. No I/O here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum
from urllib.parse import unquote

from assay.contract.model import Json, Operation
from assay.files.document import Pointer, spell
from assay.history import ERROR_CODE, State

#: What stands in a path for an argument.
SLOT = re.compile(r"\{([^{}]*)\}")


class Place(Enum):
    """Where an argument stands in a request.

    A mode may also stand in the request for the token, or be a bank with a base URL of its own.
    """

    QUERY = "query"
    HEADER = "header"
    BODY = "body"
    PATH = "path"
    SCOPE = "scope"
    BASE = "base_url"


#: The places that only a mode has, which is then the value itself.
MODES_ONLY = frozenset({Place.SCOPE, Place.BASE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """Where an abstract argument goes: a place and its name or body pointer there.

    `value` is fixed for things that are only there or not (a mode), and for an
    argument what stands there when a probe has no wish of its own; `other` is another
    value that is as good. `also` are further pointers in the body where the same stands.
    `adds` are the query parameters that the target adds to a return address, None for any.

    What is sent is made of the value in this order: `found` takes the item's `id` that an
    answer of that operation gave for it; `words` spells it in the target's word;
    `exclusive` takes the day after it; `unit` sends how many of these units an amount is; `format`
    writes a date or time (`wire.date_formats`), as a `number` if that says so; `each` puts it, or
    each of a list, into the shape for the thing that it names, by resource ("" for any); `text`
    puts it into a text at "{}".
    """

    place: Place
    name: str
    value: Json = None
    other: Json = None
    others: tuple[Json, ...] = ()
    also: tuple[str, ...] = ()
    adds: tuple[str, ...] | None = None
    found: str | None = None
    words: Mapping[str, Json] = field(default_factory=dict[str, Json])
    exclusive: bool = False
    unit: Decimal | None = None
    format: str = ""
    number: bool = False
    each: Mapping[str, Json] = field(default_factory=dict[str, Json])
    text: str = "{}"

    @property
    def is_literal(self) -> bool:
        """Whether what is sent is the contract's value."""
        made = self.words or self.exclusive or self.unit or self.format or self.each
        return self.found is None and not made and self.text == "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldAt:
    """Where a field stands in an item: the first of the pointers that finds something.

    `words` maps the contract's words to the target's, and is read backwards; `first` cuts
    a text after this number of characters; `unit` is what an amount is counted in, `format` how a
    date or time is written (`wire.date_formats`).
    """

    at: tuple[str, ...]
    words: Mapping[str, Json] = field(default_factory=dict[str, Json])
    first: int | None = None
    unit: Decimal | None = None
    format: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceAt:
    """How an item says which resource it is: a pointer, and the value of each resource."""

    at: str
    values: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class StateAt:
    """How an item says which state it has: pointers, and the values of each state.

    A value is for the first pointer; a tuple has one for each, and is tried before
    single values. `accepted` are those of the open ones that the bank no longer rejects.
    """

    at: tuple[str, ...]
    values: Mapping[State, tuple[Json, ...]]
    accepted: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemBinding:
    """Pointers into one item; empty where the target has no such thing.

    `key` and `on` take the first of their pointers that finds something; `on_format` is how the date
    is written, empty for ISO. `key_header` is
    the header of the answer whose URL ends with the key. `id` is the target's own name
    for it, where calls do not name it by its key. `volatile` points at what changes by
    itself from one answer to the next; where it is given, even empty, all else in an item
    may be compared.
    """

    key: tuple[str, ...] = ()
    key_header: str | None = None
    on: tuple[str, ...] = ()
    on_format: str = ""
    id: str | None = None
    state: StateAt | None = None
    resource: ResourceAt | None = None
    fields: Mapping[str, FieldAt] = field(default_factory=dict[str, FieldAt])
    volatile: tuple[str, ...] | None = None

    @property
    def keyed(self) -> bool:
        """Whether an item is identified by a key."""
        return bool(self.key or self.key_header)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorAt:
    """Where the errors stand in the body of a refusal: in lists, or a single one (`one`).

    `fields` and `code` are pointers into one error. `codes` maps the contract's codes to the
    target's; a code that it does not name is the same in both.
    """

    list: tuple[str, ...] = ()
    one: str = ""
    code: tuple[str, ...] = ()
    codes: Mapping[str, tuple[Json, ...]] = field(default_factory=dict[str, tuple[Json, ...]])
    fields: Mapping[str, FieldAt] = field(default_factory=dict[str, FieldAt])

    @property
    def located(self) -> tuple[str, ...]:
        """The names of the fields that have a pointer, the code among them."""
        return tuple(dict.fromkeys((*([ERROR_CODE] if self.code else []), *self.fields)))


class Turn(Enum):
    """How the next page is named."""

    LINK = "link"
    HEADER = "header"
    CURSOR = "cursor"
    PAGE = "page"
    OFFSET = "offset"
    LAST = "last"


@dataclass(frozen=True, slots=True, kw_only=True)
class NextPage:
    """How the next page is found.

    `at` is a pointer at a link or a cursor, or the name of the header with links (RFC 8288);
    `also` are pointers at the link in answers with other lists. `query` is the parameter that takes
    the cursor, the id of the last item before it (or its key, without an id), the number of the page
    or the offset, which begins with `first`; or `body` points at its place in the body. `more` points
    at what is true, or at anything, while there is more; `total` at how many items there are in all.
    With neither, pages are turned until one is empty.
    """

    turn: Turn
    at: str = ""
    also: tuple[str, ...] = ()
    query: str = ""
    body: str = ""
    first: int = 1
    more: str | None = None
    total: str | None = None

    @property
    def pointers(self) -> tuple[str, ...]:
        """The pointers at the link to the next page, or at the cursor, of which one finds it."""
        return (self.at, *self.also) if self.turn in {Turn.LINK, Turn.CURSOR} else ()

    @property
    def links(self) -> tuple[str, ...]:
        """The pointers at the link to the next page."""
        return self.pointers if self.turn is Turn.LINK else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialSpelling:
    """Where customer credentials would be sent, if the target accepted them (it must not).

    `body` has pointers, `query` and `headers` names, each for `login` and `password`.
    """

    basic: bool = False
    body: Mapping[str, str] = field(default_factory=dict[str, str])
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Matcher:
    """One way to recognise an outcome; every part that is given must match.

    `statuses` are exact codes or classes like "4xx"; `empty` asks for a list
    without items; `body` maps pointers to values that must stand there; `states` are
    those in which the one thing that the answer shows may be.
    """

    statuses: tuple[str, ...] = ()
    empty: bool | None = None
    media_type: str | None = None
    body: Mapping[str, Json] = field(default_factory=dict[str, Json])
    states: frozenset[State] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Matchers by outcome, tried in the order unavailable, rejected, accepted.

    The defaults are the loosest honest reading of HTTP.
    """

    unavailable: tuple[Matcher, ...] = (Matcher(statuses=("404", "405", "501")),)
    rejected: tuple[Matcher, ...] = (Matcher(statuses=("4xx",)),)
    accepted: tuple[Matcher, ...] = (Matcher(statuses=("2xx",)),)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputAt:
    """Where an answer has an output: the first of these pointers that finds one, or a header.

    Of the URL in a header, the last segment of the path is the value.
    """

    at: tuple[str, ...] = ()
    header: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationBinding:
    """The binding of one operation; None keeps what the contract says.

    `named` has the whole binding under each alias that has arguments of its own, by its number.

    `list` points at the lists of items of an answer, which count as one; a step `*` goes
    into every element; with `optional_list`, an answer without one shows none. `one` points at
    the single thing that it shows, `approval` (or
    `approval_header`) at the link to the screens where the customer signs. `links` point at
    those that the TPP follows, of which `optional_links` may be absent; `link_headers` are
    headers with such links. `headers` and `queries` (parameters)
    stand in each call, and `template` is the body into which arguments are put. `outputs` are
    values of its accepted answers that later calls send. `authorize` are the parameters of the
    authorization request with which the customer authorises what the operation made, in place of an
    approval link. `given` says that there is no call: the
    consent comes with the customer's token. `whole` says that a change sends the request as it was
    sent last, with what is changed put in. `outcomes` are this operation's
    own, where they differ from the common ones. `submission` is the second call that executes
    a request which the operation made; `submitted` is the binding of the operation about a request since
    then. Both are whole.
    """

    method: str | None = None
    path: str | None = None
    aliases: tuple[str, ...] | None = None
    named: Mapping[int, OperationBinding] = field(default_factory=dict[int, "OperationBinding"])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    queries: Mapping[str, str] = field(default_factory=dict[str, str])
    template: Mapping[str, Json] = field(default_factory=dict[str, Json])
    arguments: Mapping[str, Spelling] = field(default_factory=dict[str, Spelling])
    modes: Mapping[str, Spelling] = field(default_factory=dict[str, Spelling])
    credentials: CredentialSpelling | None = None
    list: tuple[str, ...] = ()
    optional_list: bool = False
    one: str | None = None
    approval: str | None = None
    approval_header: str | None = None
    authorize: Mapping[str, Json] | None = None
    next: NextPage | None = None
    links: tuple[str, ...] = ()
    optional_links: frozenset[str] = frozenset()
    link_headers: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    item: ItemBinding = field(default_factory=ItemBinding)
    outputs: Mapping[str, OutputAt] = field(default_factory=dict[str, OutputAt])
    given: str | None = None
    whole: bool = False
    outcomes: Outcomes | None = None
    submission: SubmissionBinding | None = None
    submitted: OperationBinding | None = None
    line: int = 0

    def taken(self, operation: Operation) -> Mapping[str, None]:
        """Return the names of all arguments that a call can have, each once and in order."""
        named = (operation.about, operation.since, operation.until, operation.grants)
        names = (*named, *operation.arguments, *self.arguments)
        return dict.fromkeys(name for name in names if name)

    def requesting(self, mode: str | None, number: int) -> OperationBinding:
        """Return the binding in which a mode has its value of this number; 0 is the first."""
        spelling = self.modes.get(mode or "")
        if mode is None or spelling is None or not number:
            return self
        other = replace(spelling, value=spelling.others[number - 1])
        return replace(self, modes={**self.modes, mode: other})

    def under(self, alias: int | None) -> OperationBinding:
        """Return the binding under another path of the method, which may send arguments elsewhere."""
        own = None if alias is None else self.named.get(alias)
        return self if own is None else replace(self, arguments=own.arguments)

    def unsaid(self, operation: Operation, name: str) -> bool:
        """Whether an argument is not sent: a DELETE says by its method that it ends a request."""
        deletes = bool(operation.ends) and (self.method or operation.method) == "DELETE"
        return deletes and name not in {operation.about, *self.arguments}

    def names(self, operation: Operation) -> Sequence[str]:
        """Return the other paths of the method: the target's own, or the contract's."""
        return operation.aliases if self.aliases is None else self.aliases


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionBinding(OperationBinding):
    """The binding of a submission; `by` says whose token it has, None for that of the operation."""

    by: str | None = None


def values_from_file(operation: Operation, binding: OperationBinding) -> Iterator[str]:
    """Yield the arguments that come from the target file where a probe does not choose them.

    A change sends only what is to be changed, and the headers that every call has.
    """
    chosen = {operation.about, operation.grants, operation.owned, operation.since}
    if not operation.grants:
        chosen.add(operation.until)
    if operation.due:
        chosen.add(operation.due.argument)
    for name in operation.arguments:
        spelling = binding.arguments.get(name)
        in_header = spelling is not None and spelling.place is Place.HEADER
        if (
            name not in chosen
            and not binding.unsaid(operation, name)
            and (in_header or not operation.changes)
        ):
            yield name


def keys_without_value(
    operation: Operation, binding: OperationBinding, elsewhere: Collection[str] = ()
) -> Iterator[tuple[Pointer, str]]:
    """Yield the keys of a target file without which a plain call cannot be made, as text, too.

    `elsewhere` are the names of values that come from answers, or from the call that made the
    request of the operation.
    """
    at: Pointer = ("operations", operation.id)
    for name in values_from_file(operation, binding):
        spelling = binding.arguments.get(name)
        if spelling is None or spelling.value is None:
            key: Pointer = (*at, "arguments", name, "value")
            yield key, spell(key)
    for name in _unfilled_slots(operation, binding):
        if name not in elsewhere:
            path: Pointer = (*at, "path")
            yield path, f"{spell(path)}: {{{name}}}"


# -- Slots of paths: what stands in them, and which of them a call fills in by itself
# A slot of an operation about a request that is neither its key nor an argument repeats what the
# call that made the request had in the slot, or the argument, of the same name.
def quoted_slots(template: str, path: str) -> dict[str, str]:
    """Return the quoted values of a path's parameters; nothing if it is another path.

    The part before the template belongs to the base URL.
    """
    pieces = SLOT.split(template)
    names = pieces[1::2]
    pattern = "([^/]*)".join(re.escape(piece) for piece in pieces[::2])
    match = re.search(f"{pattern}$", path)
    return dict(zip(names, match.groups(), strict=True)) if match else {}


def slots_of(template: str, path: str) -> dict[str, str]:
    """Return the values of a path's parameters; nothing if it is another path."""
    return {name: unquote(value) for name, value in quoted_slots(template, path).items()}


def repeated_slots(operation: Operation, binding: OperationBinding) -> Iterator[str]:
    """Yield the slots that repeat what the call had that made the request."""
    if operation.about and not operation.makes:
        yield from dict.fromkeys(_unfilled_slots(operation, binding))


def _unfilled_slots(operation: Operation, binding: OperationBinding) -> Iterator[str]:
    """Yield the slots of a path that no argument or mode of the call fills."""
    spellings = (*binding.arguments.values(), *binding.modes.values())
    own = {spelling.name for spelling in spellings if spelling.place is Place.PATH}
    known = {*own, *binding.taken(operation), *binding.modes}
    yield from (name for name in SLOT.findall(binding.path or operation.path) if name not in known)


def makers(operation: Operation, operations: Iterable[Operation]) -> Iterator[Operation]:
    """Yield the operations that make the request that an operation is about.

    One that is not available neither shows nor changes it: others are about the same.
    """
    every = tuple(operations)
    same = (other.request for other in every if operation.about and other.about == operation.about)
    request = operation.request or next(filter(None, same), None)
    for maker in every:
        if maker.makes and maker.makes == request:
            yield maker


def made_slots(
    operation: Operation,
    operations: Iterable[Operation],
    bindings: Mapping[str, OperationBinding],
) -> frozenset[str]:
    """Return the names of the slots and arguments of the calls that make a request."""
    names: set[str] = set()
    for maker in makers(operation, operations):
        binding = bindings.get(maker.id, OperationBinding())
        names |= {*SLOT.findall(binding.path or maker.path), *binding.taken(maker)}
    return frozenset(names)
