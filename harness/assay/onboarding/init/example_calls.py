"""Calls as a bank's manual shows them, read as an OpenAPI document.

    POST /payments
    X-Present: 1
    {"amount": "12.30", "currency": "EUR"}
    201 Location: /payments/42
    {"status": "NEW"}
    status: NEW, SIGNED, DONE

A call begins with its method and its path, with the query. A path names its parameters in braces;
below the path of another call, an id that was copied is one, too.
`create-payment: POST /payments` says which operation of the contract it is; several have commas.
Headers may follow, a body in JSON or as a form, and a status with the headers and the body of the
answer. A `curl` command is a call, too; the path that all URLs begin with is that of the base URL,
and JSON in the next line, or in the next block of Markdown, is its answer. A line with the name of a member lists all its
words. Other lines are left out. Several calls of one method and path may have different bodies.
What an answer shows of a bank that is called says more, so the answer is best copied as it came.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import dropwhile, islice, pairwise, takewhile
from types import MappingProxyType
from typing import Any, Final, TypeAlias, cast
from urllib.parse import SplitResult, parse_qsl, urlsplit

from assay.binding.model.forms import FORM
from assay.binding.model.secret_names import secret_header, secret_kind
from assay.contract.model import Json
from assay.errors import InputError

_CALL: Final = re.compile(
    r"[ \t]*(?:([a-z][a-z0-9, -]*):)?[ \t]*(GET|POST|PUT|PATCH|DELETE)[ \t]+(/[^\s?#]*)(?:\?(\S*))?.*"
)
#: A command of `curl`, after what it is said to be; the most lines that it has.
_CURL: Final = re.compile(r"[ \t]*(?:([a-z][a-z0-9, -]*):)?[ \t]*(?:[$>][ \t]+)?curl[ \t]+(.*)")
_CURL_LINES: Final = 60
#: Its options with a value, by what the value is.
_CURL_OPTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("-X", "--request"), "method"),
    **dict.fromkeys(("-H", "--header"), "header"),
    **dict.fromkeys(("-d", "--data", "--data-raw", "--data-binary", "--data-ascii"), "body"),
    **dict.fromkeys(("--json", "--data-urlencode"), "body"),
    "--url": "url",
    **dict.fromkeys(("-u", "--user", "-o", "--output", "-b", "--cookie", "-A", "--user-agent"), ""),
    **dict.fromkeys(("-E", "--cert", "--key", "--cacert", "-m", "--max-time", "-w", "-x"), ""),
    **dict.fromkeys(("--cert-type", "--key-type", "--write-out", "--proxy", "-e", "-c", "-F"), ""),
}
#: A value that the shell fills in, and the line before and after a block in Markdown.
_VARIABLE: Final = re.compile(r"[$](?:\w+|[{]\w+[}]|[(].*[)])")
#: A variable of the shell that gets a value, and one that is used.
_ASSIGNED: Final = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9_]*)=(\S.*)")
_USED: Final = re.compile(r"[$](?:([A-Z][A-Z0-9_]*)|[{]([A-Z][A-Z0-9_]*)[}])")
_FENCE: Final = re.compile(r"[ \t]*```[ \t]*(\w*)[ \t]*")
_STATUS: Final = re.compile(r"[ \t]*(?:HTTP/\S+[ \t]+)?([1-5]\d\d)\b")
#: A header of a call; the names of those in the lines of an answer; and a body that is a form.
_HEADER: Final = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9-]*):[ \t]+(\S.*?)[ \t]*")
_NAMED: Final = re.compile(r"([A-Za-z][A-Za-z0-9-]*):[ \t]")
_FORM: Final = re.compile(r"[ \t]*[A-Za-z_]+=[^\s&]*(?:&[A-Za-z_]+=[^\s&]*)*[ \t]*")
#: The words that a member may have.
_LIST: Final = re.compile(r"[ \t]*([A-Za-z_]\w*):[ \t]+([\w.-]+(?:[ \t]*[,|][ \t]*[\w.-]+)+)[ \t]*")
_WORDS: Final = re.compile(r"[ \t]*[,|][ \t]*")
_SLOT: Final = re.compile(r"[{]([^{}]+)[}]")
#: A word for one of few things: a state, a type, a reason.
WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,40}")
#: The format of a text that is a sum, and of an IBAN.
DECIMAL: Final = "decimal"
IBAN: Final = "iban"
_DAY, _MONTH = r"(0[1-9]|[12]\d|3[01])", r"(0[1-9]|1[0-2])"
#: Days that are not written as in ISO 8601, by their format in a target file.
OWN_DAYS: Final = {
    "YYYYMMDD": re.compile(rf"20\d\d{_MONTH}{_DAY}"),
    "DD.MM.YYYY": re.compile(rf"{_DAY}[.]{_MONTH}[.]20\d\d"),
    "DD/MM/YYYY": re.compile(rf"{_DAY}/{_MONTH}/20\d\d"),
    "DD-MM-YYYY": re.compile(rf"{_DAY}-{_MONTH}-20\d\d"),
}
#: The formats of a day.
DAYS: Final = frozenset({"date", "date-time", *OWN_DAYS})
#: What a list may show of an account or, encrypted, of a card.
_ACCOUNT_OR_CARD: Final = re.compile(r"[A-Za-z0-9+/=_-]{15,}")
LIKE_AN_IBAN: Final = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_FORMS: Final = {
    **OWN_DAYS,
    IBAN: LIKE_AN_IBAN,
    "uri": re.compile(r"https?://\S+"),
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d.*"),
    DECIMAL: re.compile(r"-?\d+\.\d\d?"),
}
#: The key of an operation with those of the contract that a text says it to be.
SAID: Final = "x-operations"
#: All words of members, by name; members of several things may have one name.
_WordLists: TypeAlias = Mapping[str, Sequence[Sequence[str]]]
#: How many values of a list, and members of an object, are read.
MOST: Final = 200


def is_calls(text: str) -> bool:
    """Whether a text has calls in its lines, and so is no document."""
    begin = text.splitlines()[:MOST]
    return any(_CALL.fullmatch(line) or _CURL.fullmatch(line) for line in begin)


def document(text: str, path: str) -> dict[str, Any]:
    """Return the document of the calls in a text.

    Under `SAID` each has the operations of the contract that the text says it to be.

    Raises:
        InputError: a body is not JSON.

    """
    lines, numbers, base = _without_curl(text.splitlines())
    calls = [(n, match) for n, line in enumerate(lines) if (match := _CALL.fullmatch(line))]
    ends = [*(n for n, _ in calls[1:]), len(lines)]
    shown: dict[tuple[str, str], _Call] = {}
    plain = {match[3].rstrip("/") for _, match in calls} - {""}
    ids = {
        value: name
        for (first, _), end in zip(calls, ends, strict=True)
        for value, name in _ids(lines[first + 1 : end])
    }
    for (first, match), end in zip(calls, ends, strict=True):
        said, method, where, query = match.groups()
        where = _with_slots(where, plain, ids)
        call = shown.setdefault((where, method.lower()), _Call())
        call.said.extend(filter(None, map(str.strip, (said or "").split(","))))
        answered = next((n for n in range(first + 1, end) if _STATUS.match(lines[n])), end)
        status = _STATUS.match(lines[answered]) if answered < end else None
        begin, body = _json(lines[first + 1 : answered])
        call.take(_parameters(where, query or "", head := lines[first + 1 : answered][:begin]))
        forms = [{**dict(parse_qsl(line.strip()))} for line in filter(_FORM.fullmatch, head)]
        call.form = not body if forms else call.form
        sent = [*([_read(body, path, numbers[first + 1 + begin])] if body else ()), *forms]
        # What is refused need not have all members.
        for each in sent if status is None or status[1][0] not in "45" else ():
            call.add(cast("Json", each))
        if status:
            rest = [lines[answered][status.end() :], *lines[answered + 1 : end]]
            begin, body = _json(rest)
            # One status of several: it does not say which others mean success.
            call.answer(f"{status[1][0]}XX", body, "\n".join(rest[: max(begin, 1)]))
    _require(shown.values())
    paths: dict[str, dict[str, Any]] = {}
    lists = _word_lists(lines)
    for (where, method), call in shown.items():
        paths.setdefault(where, {})[method] = call.node(lists)
    flows = dict(_flows(shown))
    schemes = {"securitySchemes": {"oauth": {"type": "oauth2", "flows": flows}}} if flows else {}
    made = {"openapi": "3.0.0", "paths": paths, "components": schemes}
    return {"servers": [{"url": base}], **made} if base else made


def _word_lists(lines: Iterable[str]) -> _WordLists:
    """Return the words that lines list for a member, by its name."""
    lists: dict[str, list[Sequence[str]]] = {}
    for match in filter(None, map(_LIST.fullmatch, lines)):
        lists.setdefault(match[1], []).append(_WORDS.split(match[2]))
    return lists


# -- Commands of curl ------------------------------------------------------------------------------
@dataclass(slots=True)
class _Curl:
    """What a command of curl sends, and where."""

    said: str
    url: str = ""
    method: str = ""
    header: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    in_query: bool = False

    @classmethod
    def read(cls, said: str, words: Sequence[str]) -> _Curl:
        """Return what the words of a command say."""
        made, left = cls(said), iter(words)
        for word in left:
            # A short option may have its value in the same word.
            joined = word[:2] in _CURL_OPTIONS and word[:2] != word and word[:2] != "--"
            option, value = (word[:2], word[2:]) if joined else (word, "")
            if option in _CURL_OPTIONS:
                value = value or next(left, "")
                match _CURL_OPTIONS[option]:
                    case "method":
                        made.method = value
                    case "url":
                        made.url = value
                    case "header":
                        made.header.append(value)
                    case "body":
                        made.body.append(value)
                    case _:
                        pass
            elif option in {"-G", "--get"}:
                made.in_query = True
            elif not option.startswith("-"):
                made.url = made.url or value or option
        return made

    @property
    def place(self) -> SplitResult:
        """The parts of the URL; of one that begins with a variable of the shell, too."""
        return urlsplit(self.url if "://" in self.url else f"https://{self.url.lstrip('/')}")

    def lines(self, base: str) -> list[str]:
        """Return the command as a call, with a path below that of the base URL."""
        data, place = "&".join(self.body), self.place
        query = "&".join(filter(None, (place.query, data if self.in_query else "")))
        method = self.method.upper() or ("POST" if self.body and not self.in_query else "GET")
        path = place.path.removeprefix(base) or "/"
        call = f"{self.said}{method} {path}{'?' if query else ''}{query}"
        return [call, *self.header, *([] if self.in_query else data.splitlines())]


def _without_curl(lines: Sequence[str]) -> tuple[list[str], list[int], str]:
    """Return lines with calls in place of commands, their numbers in the text, and the base URL."""
    begun = ((n, match) for n, line in enumerate(lines) if (match := _CURL.fullmatch(line)))
    known = dict(_assigned(lines))
    commands = ((n, _command(lines, n, match, known)) for n, match in begun)
    found = _of_the_bank({n: command for n, command in commands if command is not None})
    literal = [curl.place for curl, _ in found.values() if "://" in curl.url]
    steps = [place.path.split("/")[:-1] for place in literal]
    levels = zip(*steps, strict=False)
    same = takewhile(lambda names: len({*names}) == 1 and "{" not in names[0], levels)
    base = "/".join(names[0] for names in same)
    answers = frozenset(_answers(lines, found))
    made, numbers, n = list[str](), list[int](), 0
    while n < len(lines):
        curl, many = found.get(n, (None, 1))
        more = curl.lines(base) if curl else ["200" if n in answers else lines[n]]
        after = "".join(lines[n + many : n + many + 1]).lstrip()
        if curl and after[:1] in {"{", "["} and "<<" not in "".join(lines[n : n + many]):
            more.append("200")  # JSON in the next line, which is no body that the command reads
        made += more
        numbers += [n + 1] * len(more)
        n += many
    first = literal[0] if literal else None
    return made, numbers, f"{first.scheme}://{first.netloc}{base}" if first else ""


def _of_the_bank(found: Mapping[int, tuple[_Curl, int]]) -> dict[int, tuple[_Curl, int]]:
    """Return the commands without those at another variable: a test API, or a link that was answered."""
    places = [curl.place for curl, _ in found.values()]
    variables = Counter(each.netloc for each in places if "$" in each.netloc and each.path)
    others = variables.keys() - {name for name, _ in variables.most_common(1)}
    return {
        n: (curl, many)
        for n, (curl, many) in found.items()
        if (host := curl.place.netloc) not in others and (curl.place.path or "$" not in host)
    }


def _answers(lines: Sequence[str], begins: Iterable[int]) -> Iterator[int]:
    """Yield the line before the block of JSON that is next after the block of each command."""
    starts = [*begins, len(lines)]
    for begin, end in pairwise(starts):
        fences = [(n, match[1]) for n in range(begin, end) if (match := _FENCE.fullmatch(lines[n]))]
        # The first one ends the block of the command.
        yield from (n for n, word in fences[1:2] if word == "json")


def _assigned(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the variables of the shell to which a line gives a value of one word."""
    for match in filter(None, map(_ASSIGNED.fullmatch, lines)):
        with suppress(ValueError):  # a quotation that does not end
            value = shlex.split(match[2])
            if len(value) == 1 and "$" not in value[0]:
                yield match[1], value[0]


def _command(
    lines: Sequence[str], first: int, match: re.Match[str], known: Mapping[str, str]
) -> tuple[_Curl, int] | None:
    """Return a command that begins in a line, and how many lines it has; None if it does not end."""
    text = match[2]
    for many in range(1, _CURL_LINES):
        if not text.endswith("\\"):
            with suppress(ValueError):  # a quotation goes on in the next line
                said = f"{match[1]}: " if match[1] else ""
                filled = _USED.sub(lambda each: known.get(each[1] or each[2], each[0]), text)
                return _Curl.read(said, shlex.split(filled)), many
        if first + many >= len(lines):
            break
        text = f"{text.removesuffix(chr(92))}\n{lines[first + many]}"
    return None


# -- Calls -----------------------------------------------------------------------------------------
@dataclass(slots=True)
class _Call:
    """What a text shows of one method and path: bodies that share no member are alternatives."""

    parameters: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    bodies: list[list[Json]] = field(default_factory=list)
    answers: dict[str, list[Json]] = field(default_factory=dict)
    headers: dict[str, dict[str, Any]] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    form: bool = False
    heads: list[set[str]] = field(default_factory=list)

    def take(self, parameters: Iterable[dict[str, Any]]) -> None:
        """Keep the parameters of one more call, of each the first one."""
        self.heads.append(set())
        for each in parameters:
            self.parameters.setdefault((each["in"], each["name"]), each)
            if each["in"] == "header":
                self.heads[-1].add(each["name"])

    def add(self, body: Json) -> None:
        """Keep a body that is sent, with those that it resembles."""
        mine = {*body} if isinstance(body, dict) else {""}
        for alike in self.bodies:
            if any(mine & ({*each} if isinstance(each, dict) else {""}) for each in alike):
                alike.append(body)
                return
        self.bodies.append([body])

    def answer(self, status: str, text: str, head: str) -> None:
        """Keep an answer, without its body if that is not whole."""
        self.answers.setdefault(status, [])
        self.headers.setdefault(status, {}).update({name: {} for name in _NAMED.findall(head)})
        with suppress(ValueError, RecursionError):
            self.answers[status].append(json.JSONDecoder().raw_decode(text)[0])

    def node(self, lists: _WordLists) -> dict[str, Any]:
        """Return the operation of an OpenAPI document; `lists` has all words of some members."""
        node: dict[str, Any] = {"parameters": [*self.parameters.values()], SAID: self.said}
        alternatives = [schema(alike, examples=True, lists=lists) for alike in self.bodies]
        if alternatives:
            whole = alternatives[0] if len(alternatives) == 1 else {"oneOf": alternatives}
            node["requestBody"] = content(whole, form=self.form)
        answers = {
            status: {
                "headers": self.headers[status],
                **(content(schema(seen, lists=lists)) if seen else {}),
            }
            for status, seen in self.answers.items()
        }
        return node | ({"responses": answers} if answers else {})


def _with_slots(path: str, plain: Collection[str], ids: Mapping[str, str]) -> str:
    """Return a path with a parameter in place of what looks like the id of a thing.

    `plain` are the paths of all calls, and `ids` the names of the members that answers show.
    """
    made = ""
    for step in path.split("/")[1:]:
        copied = re.search(r"\d", step) and made in plain and "{" not in step
        made += f"/{{{ids.get(step, 'id')}}}" if copied else f"/{step}"
    return made


def _ids(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each value of the object that a call is answered with, with the name of its member."""
    answer = [*dropwhile(lambda line: not _STATUS.match(line), lines)]
    if status := _STATUS.match(answer[0]) if answer else None:
        _, body = _json([answer[0][status.end() :], *answer[1:]])
        with suppress(ValueError, RecursionError):
            value = json.JSONDecoder().raw_decode(body)[0]
            members = islice(value.items() if isinstance(value, dict) else (), MOST)
            yield from ((str(each), name) for name, each in members if WORD.fullmatch(name))


def _parameters(path: str, query: str, head: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the parameters of a call; others may lack its headers, and a secret has no value."""
    for name in _SLOT.findall(path):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    for name, value in parse_qsl(query, keep_blank_values=True):
        yield {"name": name, "in": "query", "schema": schema([value], examples=True)}
    for name, value in (each.groups() for each in map(_HEADER.fullmatch, head) if each):
        known = not (secret_kind(name) or secret_header(name.lower()))
        shown = schema([value], examples=True) if known else {"type": "string"}
        yield {"name": name, "in": "header", "schema": shown}


def _require(calls: Collection[_Call]) -> None:
    """Mark the headers as required that all calls with headers have, if they are several."""
    heads = [head for call in calls for head in call.heads if head]
    for call in calls if len(heads) > 1 else ():
        for place, name in call.parameters:
            if place == "header" and all(name in head for head in heads):
                call.parameters[place, name]["required"] = not secret_kind(name)


def _flows(shown: Mapping[tuple[str, str], _Call]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the OAuth flows by which the calls of a text get tokens."""
    asking = [each for each in shown.items() if ("query", "response_type") in each[1].parameters]
    for (where, _), call in shown.items():
        for form in (each for alike in call.bodies for each in alike if isinstance(each, dict)):
            scopes = str(form.get("scope") or "").split()
            flow: dict[str, Any] = {"tokenUrl": f".{where}", "scopes": dict.fromkeys(scopes, "")}
            if form.get("grant_type") == "client_credentials":
                yield "clientCredentials", flow
            elif form.get("grant_type") == "authorization_code" and asking:
                (at, _), asked = asking[0]
                scope = asked.parameters.get(("query", "scope"), {"schema": {}})["schema"]
                flow |= {"scopes": dict.fromkeys(scope.get("enum", ()), "")}
                yield "authorizationCode", flow | {"authorizationUrl": f".{at}"}


def _json(lines: Sequence[str]) -> tuple[int, str]:
    """Return the first line that begins with a bracket, by number, and the text from there on."""
    begins = (n for n, line in enumerate(lines) if line.lstrip()[:1] in {"{", "["})
    first = next(begins, len(lines))
    return first, "\n".join(lines[first:]).lstrip()


def _read(text: str, path: str, line: int) -> Json:
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError as error:
        what = f"the body of this call is not JSON: {error.msg.lower()}"
        hint = "write out what the manual left out with `...`"
        raise InputError.one(path, what, line=line + error.lineno - 1, hint=hint) from None
    except (ValueError, RecursionError):
        raise InputError.one(path, "this body is nested too deeply", line=line) from None
    return cast("Json", value)


def content(schema: object, *, form: bool = False) -> dict[str, Any]:
    """Return the part of a message that has a schema."""
    return {"content": {FORM if form else "application/json": {"schema": schema}}}


def schema(
    values: Sequence[Json],
    *,
    examples: bool = False,
    lists: _WordLists = MappingProxyType({}),
) -> dict[str, Any]:
    """Return a JSON schema of values that were seen, with the words for one of few things.

    With `examples`, it also has the values themselves, which may be private. `lists` has all words
    of some members.
    """
    objects = [cast("dict[str, Json]", value) for value in values if isinstance(value, dict)]
    if objects:
        names = dict.fromkeys(name for each in objects for name in islice(each, MOST))
        below = {
            name: {"type": "string", "enum": [*listed[0]]}
            if listed
            else schema(seen, examples=examples, lists=lists)
            for name in names
            for seen in [[each[name] for each in objects if name in each]]
            # Members of several things may have one name: the list with what was seen counts.
            for listed in [
                [known for known in lists.get(name, ()) if all(v in [None, *known] for v in seen)]
            ]
        }
        # Null in an answer says that an item may lack it.
        lacks = [None] if not examples else []
        required = [
            name
            for name in names
            if all(name in each and each[name] not in lacks for each in objects)
        ]
        return {"type": "object", "properties": below, "required": required}
    if any(isinstance(value, list) for value in values):
        elements = (each for value in values if isinstance(value, list) for each in value)
        inside = schema([*islice(elements, MOST)], examples=examples, lists=lists)
        return {"type": "array", "items": inside}
    texts = [value for value in values if isinstance(value, str)]
    if texts and all(map(_VARIABLE.fullmatch, texts)):
        return {"type": "string"}
    texts = [text for text in texts if not _VARIABLE.fullmatch(text)]
    if not texts:
        kinds: dict[type, str] = {bool: "boolean", int: "integer", float: "number"}
        known = [value for value in values if type(value) in kinds]
        found: dict[str, Any] = {"type": kinds[type(known[0])] if known else ""}
        return found | ({"example": json.dumps(known[0])} if known and examples else {})
    found = {"type": "string"}
    forms = (form for form, pattern in _FORMS.items() if all(map(pattern.fullmatch, texts)))
    form = next(forms, "")
    if any(map(LIKE_AN_IBAN.fullmatch, texts)) and all(map(_ACCOUNT_OR_CARD.fullmatch, texts)):
        form = IBAN
    if form:
        found["format"] = form
    if form != IBAN and all(map(WORD.fullmatch, texts)):
        found["enum"] = [*dict.fromkeys(texts)]
    elif examples:
        found["example"] = texts[0]
    return found
