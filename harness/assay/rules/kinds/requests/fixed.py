"""`fixed`: an argument has exactly one valid value, and any other is rejected.

The invalid values are those that the contract names, which a target may know, and some
derived from the valid one, which no target can know. Another spelling (lower case, spaces
around it) is tested only if `spelling` is exact; if it is unspecified, such values are not
judged. `argument_rules` defines when a request counts as accepted, and when a refusal
counts.

Where requests can be changed, and the contract has the argument among those of a change, it
keeps its value: another one is refused, or has no effect on what is shown. The control is
the same change without it, accepted.

The TPP: the field has its one valid value.
`mandatory` covers absent fields. If the spelling is unspecified, the valid value in another
case is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assay.contract.model import Capability, Json
from assay.contract.scalars import is_word, text_of
from assay.files.document import found
from assay.history import Call, Exchange, History, State, Subject
from assay.rules import parameters, steps
from assay.rules.argument_rules import Defect, Defects, RequestArgumentRule, replaced
from assay.rules.controls import same_but
from assay.rules.facets import Facts, Schema
from assay.rules.lifecycle import request_queries, request_steps
from assay.rules.lifecycle.changes import Change, Phase, change_of
from assay.rules.lifecycle.parameters import check_argument
from assay.rules.lifecycle.tracker import Instance, Tracker
from assay.rules.rule import Facet, Scenario, Script, bound, needs
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Agreement, Evidence, describe_answer

#: The ways in which a value can be invalid.
OTHER, CASE, PADDED = "other-value", "lower-case", "padded"
#: The facet of changes.
STAYS = "stays-when-changed"


_OTHERS: Mapping[str, Json] = {
    "description": "a list of invalid values that are valid elsewhere",
    "type": "array",
    "uniqueItems": True,
    "items": {
        "description": "a text, a number, true or false",
        "type": ["string", "number", "boolean"],
        "minLength": 1,
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed(RequestArgumentRule):
    """A field of a request and its only valid value; `exact` if its spelling matters."""

    name = "fixed"
    refusing_facets = (OTHER, CASE, PADDED)
    duty_facet = "value-kept"

    field: str = parameters.word(key="field", references=check_argument)
    const: Json = parameters.parameter(
        {
            "description": "the only valid value",
            "type": ["string", "number", "boolean"],
            "minLength": 1,
        },
        lambda value, _: value,
        key="const",
    )
    others: tuple[Json, ...] = parameters.parameter(
        _OTHERS, lambda value, _: tuple(value), key="others"
    )
    exact: bool = parameters.choice(
        "exact",
        "unspecified",
        key="spelling",
        description="exact or unspecified",
        hint="does another spelling of the value count as another value?",
        convert=lambda value: value == "exact",
    )

    def facts(self) -> Facts:
        """Return the value, which is the only one that the field of a request can have."""
        request = self.lifecycle.request.id
        return Facts(
            fixed_values={self.field: (self.const,)},
            admissions={request: (self._admits,)},
            expected=dict.fromkeys(((each, self.field) for each in self.about), (self._expects,)),
        )

    def _admits(self, call: Call, _subject: Subject | None) -> bool:
        """Whether the field has its one value."""
        return is_word(self.const, call.arguments.get(self.field))

    def _expects(self, value: Json) -> str:
        """Return the value, for any other one."""
        return "" if is_word(self.const, value) else found(self.const)

    def value_schema(self) -> tuple[Schema, bool]:
        """Return the value."""
        return {"const": self.const}, False

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for other values, and one for each other spelling of the valid one."""
        descriptions = {
            OTHER: f"a request is not accepted with another {self.field}",
            CASE: f"a request is not accepted with {self.const} in lower case",
            PADDED: f"a request is not accepted with spaces around {self.const}",
        }
        facets = {facet for _, facet, _ in self._values()}
        out = tuple(
            self.argument_facet(
                facet, description, self.field, "values", *self.lifecycle.open_mode_requirement()
            )
            for facet, description in descriptions.items()
            if facet in facets
        )
        change = self.lifecycle.change
        if change is None or self.field not in change.arguments:
            return out
        create, varied = self.lifecycle.create, self.lifecycle.changeable_arguments
        changes = Facet(
            id=STAYS,
            description=f"no change gives a request another {self.field}",
            scenario=Scenario(id="changes"),
            needs=needs(Capability.PSU, Capability.WRITE),
            requires=(
                *self.lifecycle.state_requirement(),
                *bound(create, "mode", self.lifecycle.changeable_mode or ""),
                *bound(change, "argument", self.field),
                *bound(change, "other", varied),
            ),
        )
        return (*out, changes)

    def probe(self, scenario: Scenario) -> Script:
        """Make a request with the valid value, then with each other; read the accepted ones."""
        if scenario.id == "changes":
            yield from self._probe_changes()
            return
        psu = yield from request_steps.customer(self.lifecycle)
        control = request_steps.request(
            self.lifecycle, psu, self.lifecycle.open_mode, {self.field: self.const}
        )
        yield from steps.send(control)
        yield from self.send_and_read(
            replaced(control, self.field, value, text) for value, _, text in self._values()
        )

    def arguments_of(self) -> Mapping[str, Sequence[str]]:
        """Return the field."""
        return {self.lifecycle.create.id: (self.field,)}

    def faults(self, made: Sequence[Instance]) -> Iterator[Defects]:
        """Yield for each request whether its field has an invalid value."""
        why = f"{self.field} must be {self.const!r}"
        for request in made:
            value = request.made.call.arguments.get(self.field)
            facet = self._facet(value)
            if facet:
                yield (Defect(argument=self.field, facet=facet, why=why),)
            else:
                yield () if is_word(self.const, value) else None

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every request with another value, and every change to one."""
        yield from RequestArgumentRule.check(self, history)
        yield from self._changes(history)

    def duty(self) -> str:
        """Return that the field has its value."""
        return f"{self.field} is {self.const} in every request"

    def judge_sent(self, exchange: Exchange) -> tuple[Agreement, str, str] | None:
        """Judge the field of a request that names it."""
        value = exchange.call.arguments.get(self.field)
        if value in (None, ""):
            return None
        judged = self._judge(value)
        done = "it is" if judged is AGREES else f"it is {value!r}"
        return judged, f"{self.field} is {self.const!r}", done

    def _facet(self, value: Json) -> str:
        """Return the facet that an invalid value tests; "" if none does."""
        facet = difference(self.const, value)
        return facet if self.exact or facet == OTHER else ""

    def _values(self) -> Sequence[tuple[Json, str, str]]:
        """Return the invalid values to try, each with its facet and a description."""
        described = [(value, repr(value)) for value in self._others()]
        described += spellings(self.const)
        facets = {repr(value): (value, self._facet(value), text) for value, text in described}
        return [tried for tried in facets.values() if tried[1]]

    def _others(self) -> Sequence[Json]:
        """Return the values that the contract names as invalid, and some like the valid one."""
        return (*self.others, *others(self.const))

    def _probe_changes(self) -> Script:
        """Change a request, also to each other value of the field, and read it each time."""
        lifecycle = self.lifecycle
        psu = yield from request_steps.customer(lifecycle)
        mode = lifecycle.changeable_mode
        for value in self._others()[:1]:
            made = yield from steps.send(request_steps.request(lifecycle, psu, mode))
            for sent in ({self.field: value}, {}):
                call = request_steps.call_about(lifecycle.change, made, **sent)
                if call is not None:
                    words = f"{self.field} is to be changed to {value!r}" if sent else ""
                    varied = lifecycle.changeable_arguments
                    yield from steps.send(replace(call, varied=varied, variation=words))
                    yield from request_steps.read(lifecycle, made)

    def _changes(self, history: History) -> Iterator[Evidence]:
        """Judge changes that name another value, beside the same change without it."""
        book, facets = Tracker(lifecycle=self.lifecycle), list[Change]()
        for event in history.events:
            change = change_of(self.lifecycle, book, event)
            if change is not None and change.untouched and change.phase is Phase.UNSIGNED:
                facets.append(change)
            book.note(event)
        apart = {request.key for request in request_queries.with_own_key(book)}
        taken = {
            (change.request.key, same_but(change.exchange.call, self.field)): change.exchange
            for change in facets
            if self.field not in change.exchange.call.arguments and change.exchange.accepted
        }
        for change in facets:
            if change.request.key in apart and self._facet(change.new.get(self.field)) == OTHER:
                control = taken.get(
                    (change.request.key, same_but(change.exchange.call, self.field))
                )
                yield from self._changed(change, control)

    def _changed(self, change: Change, control: Exchange | None) -> Iterator[Evidence]:
        exchange, value = change.exchange, change.new[self.field]
        later = (read for read in change.request.reads if read.n > exchange.n and read.item)
        read = next(later, None)
        item = read.item if read else None
        shown = item.fields.get(self.field) if item else None
        over = item is not None and item.state is State.REJECTED
        if shown is not None and not over and request_queries.same_value(shown, value):
            agreement = DISAGREES
        elif exchange.accepted:
            kept = shown is not None and request_queries.same_value(shown, self.const)
            agreement = AGREES if kept or over else UNCLEAR
        elif control is None:
            return
        elif request_queries.was_refused(exchange):
            agreement = AGREES
        else:
            agreement = DISAGREES if change.failed else UNCLEAR
        beside = (exchange.n for exchange in (control, read) if exchange is not None)
        yield Evidence(
            facet=STAYS,
            agreement=agreement,
            expected=f"a refusal, or that {self.field} stays {self.const!r}",
            seen=describe_answer(exchange) + (f"; it shows {shown!r}" if shown is not None else ""),
            exchanges=tuple(sorted({*change.numbers, *beside})),
            variation=exchange.call.variation,
            decisive=exchange.n,
            controls=(control.n,) if control else (),
        )

    def _judge(self, value: Json) -> Agreement:
        if is_word(self.const, value):
            return AGREES
        right = text_of(self.const).casefold()
        alike = isinstance(value, str) and value.strip().casefold() == right
        return UNCLEAR if alike and not self.exact else DISAGREES


# -- other values ----------------------------------------------------------------------
# A text that is written like a number or a truth value may be taken for it, so that it is no
# other value; and a text of another kind in place of one is a value of another type.
def difference(right: Json, value: Json) -> str:
    """Return in which way a value is not the right one; "" if that is not certain."""
    if is_word(right, value) or not isinstance(value, str | int | float | Decimal):
        return ""
    if isinstance(right, str):
        return _spelling(right, value) if isinstance(value, str) else ""
    alike = not isinstance(value, str) and isinstance(value, bool) is isinstance(right, bool)
    return OTHER if alike else ""


def _spelling(right: str, value: str) -> str:
    """Return in which way a text is not the right one; "" for an empty one."""
    if not value.strip():
        return ""
    if value.strip().casefold() != right.strip().casefold():
        return OTHER
    if value.casefold() == right.casefold():
        return CASE
    return PADDED if value.strip() == right.strip() else ""


def spellings(right: Json) -> Sequence[tuple[Json, str]]:
    """Return other spellings of a value, each with a description; only texts have any."""
    if not isinstance(right, str):
        return ()
    return (
        (right.lower(), f"{right} in lower case"),
        (f" {right}", f"{right} after a space"),
        (f"{right} ", f"{right} before a space"),
        (f"{right}\n", f"{right} before a line break"),
    )


def others(right: Json) -> Iterator[Json]:
    """Yield values that are like the right one, and are others."""
    match right:
        case str():
            yield from _alike(right)
        case bool():
            yield not right
        case int() | Decimal():
            yield from (right + 1, right * 10 + 1, -right - 1)
        case _:
            pass


def _alike(text: str) -> Iterator[str]:
    """Yield texts that differ from the given one in all, some or the order of their letters."""
    yield "".join(map(_next, text))
    yield text[:-1] + _next(text[-1])
    yield _next(text[0]) + text[1:]
    yield text[::-1]
    yield text + text[-1]
    yield text[:-1]


def _next(letter: str) -> str:
    """Return the next letter or digit of the same sort, or any other character unchanged."""
    for first, last in ("AZ", "az", "09"):
        if first <= letter <= last:
            return first if letter == last else chr(ord(letter) + 1)
    return letter
