"""`request-field`: the form of an argument of a request; a request with another value is rejected.

What is judged is the value that was sent: the number of its decimals (zeros at the end are open, and
so is an exponent), its length, its pattern, format or list of values, and whether its day is in the
past, in every time zone that the contract allows. `argument_rules` defines when a request counts
as accepted, and when a refusal counts.

A day that is further away than it may be (`at-most-days`) is not refused but reduced: the request
shows the last possible day. One day more or less is the same, since documents count days in two ways.
A request without an argument that has a `default` is accepted, and shows that value.

The TPP: it sends no value that is to be rejected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal

from assay.contract.model import Json
from assay.contract.scalars import text_of
from assay.history import Call, Exchange, State, Subject
from assay.rules import parameters, steps, text_shape
from assay.rules.argument_rules import Beside, Defect, Defects, RequestArgumentRule, Tried, replaced
from assay.rules.controls import served_between
from assay.rules.facets import Facts, Schema
from assay.rules.lifecycle import request_queries, request_steps
from assay.rules.lifecycle.parameters import check_argument
from assay.rules.lifecycle.request_steps import today
from assay.rules.lifecycle.tracker import Instance
from assay.rules.rule import Facet, Scenario, Script, bound
from assay.rules.state.calendar import dates, day_of
from assay.rules.text_shape import TextShape
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Agreement, Evidence, describe_answer

PRECISE, LONG, LONGEST = "too-precise", "too-long", "longest"
INVALID, PAST, REDUCED, DEFAULT = "invalid", "past", "reduced", "default"
#: The trial with values of another form, the one with a day that is too far away, and that without one.
VALUES, FAR, NONE = "values", "far", "none"
#: How many days beyond the last possible one a day is that is reduced.
BEYOND, DAY = 40, timedelta(days=1)
#: A number without an exponent, and its decimals.
_NUMBER = re.compile(r"-?[0-9]+(?:\.([0-9]+))?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestField(RequestArgumentRule):
    """An argument of a request, and what its values look like."""

    name = "request-field"
    refusing_facets = (PRECISE, LONG, INVALID, PAST)
    duty_facet = "good-values"
    at_most_one_of = text_shape.ALTERNATIVES
    at_least_one_of = (
        "decimals",
        "max-length",
        "format",
        "pattern",
        "enum",
        "not-past",
        "at-most-days",
        "default",
    )

    field: str = parameters.word(key="field", references=check_argument)
    decimals: int | None = parameters.parameter(
        {
            "description": "a whole number of at most 10",
            "type": "integer",
            "minimum": 0,
            "maximum": 10,
        },
        lambda value, _: int(value),
        key="decimals",
        required=False,
    )
    max_length: int | None = parameters.whole(key="max-length", required=False)
    format: str = text_shape.format_of_text()
    pattern: str = text_shape.pattern()
    enum: tuple[str, ...] = text_shape.enum()
    not_past: bool = parameters.flag(key="not-past")
    at_most_days: int | None = parameters.whole(key="at-most-days", required=False)
    default: Json = parameters.parameter(
        {"description": "a text, a number, true or false", "type": ["string", "number", "boolean"]},
        lambda value, _: value,
        key="default",
        required=False,
    )

    @property
    def shape(self) -> TextShape:
        """The shape of a good value."""
        return TextShape(format=self.format, pattern=self.pattern, enum=self.enum)

    def value_schema(self) -> tuple[Schema, bool]:
        """Return the form of the argument."""
        schema = self.shape.schema() if self.shape else {}
        if self.max_length is not None:
            schema = {**schema, "type": "string", "maxLength": self.max_length}
        return schema, False

    def facts(self) -> Facts:
        """Return which values of the argument are accepted, and which are altered."""
        request = self.lifecycle.request.id
        return Facts(
            admissions={request: (self._admits,)},
            rejections={request: (self._may_reject,)},
            alterations={self.field: (self._alters,)},
            expected=dict.fromkeys(((each, self.field) for each in self.about), (self._expects,)),
        )

    def _admits(self, call: Call, _subject: Subject | None) -> bool:
        """Whether the value is a good one."""
        return not self._wrong(call.arguments.get(self.field, ""))

    def _may_reject(self, arguments: Mapping[str, Json]) -> bool:
        """Whether the value may be one to be rejected: a day is, for all that is known."""
        value = arguments.get(self.field)
        if value in (None, ""):
            return False
        return self._wrong(value) != {} or (
            (self.not_past or self._reduces) and bool(day_of(value))
        )

    def _alters(self, value: Json, at: datetime) -> bool:
        """Whether a day is too far away, so that another one is shown."""
        day = day_of(value) if self._reduces else None
        return day is not None and day > dates(at, None)[-1] + (self.at_most_days or 0) * DAY - DAY

    def _expects(self, value: Json) -> str:
        """Return the form of the argument, if the value certainly has another one."""
        wrong = self._wrong(value) if value not in (None, "") else {}
        forms = {PRECISE: f"at most {self.decimals} decimals", INVALID: str(self.shape)}
        long = f"at most {self.max_length} characters"
        return " and ".join(forms.get(facet, long) for facet, why in wrong.items() if why)

    def _is_too_far(self, value: Json, at: datetime) -> bool:
        """Whether a day is too far away, counted in any way."""
        day, last = day_of(value), dates(at, self.lifecycle.contract.zone)[-1]
        return (
            self._reduces and day is not None and (day - last).days > (self.at_most_days or 0) + 1
        )

    @property
    def _reduces(self) -> bool:
        return self.at_most_days is not None

    def facets(self) -> tuple[Facet, ...]:
        """Return a facet for each thing that the clause says."""
        shown = bound(self.lifecycle.read, "field", self.field)
        unknown = "" if self.shape.misfits() else "every text that Assay knows matches"
        return tuple(
            self.argument_facet(
                id_,
                description,
                self.field,
                {REDUCED: FAR, DEFAULT: NONE}.get(id_, VALUES),
                *(shown if id_ in {REDUCED, DEFAULT} else ()),
                not_applicable_because=unknown if id_ == INVALID else "",
            )
            for id_, description in self._described()
        )

    def _described(self) -> Iterator[tuple[str, str]]:
        name, no = self.field, "a request is not accepted if"
        if self.decimals is not None:
            yield PRECISE, f"{no} {name} has more than {self.decimals} decimals"
        if self.max_length is not None:
            yield LONG, f"{no} {name} has more than {self.max_length} characters"
            yield LONGEST, f"a request is accepted if {name} has {self.max_length} characters"
        if self.shape:
            yield INVALID, f"{no} {name} is not {self.shape}"
        if self.not_past:
            yield PAST, f"{no} {name} is in the past"
        if self._reduces:
            yield REDUCED, f"{name} is reduced to {self.at_most_days} days from today and shown so"
        if self.default is not None:
            value = text_of(self.default)
            yield DEFAULT, f"a request without {name} is accepted, and shows {value}"

    def probe(self, scenario: Scenario) -> Script:
        """Make a valid request, then one with each other value, then a valid one again."""
        psu = yield from request_steps.customer(self.lifecycle)
        due = self.lifecycle.create.due
        deferred = due is not None and due.argument == self.field
        mode = next(iter(self.lifecycle.deferred_modes), None) if deferred else None
        control = request_steps.request(self.lifecycle, psu, mode)
        made = yield from steps.send(control)
        day_of_trial = today(self.lifecycle, psu)
        if scenario.id == FAR:
            day = day_of_trial + ((self.at_most_days or 0) + BEYOND) * DAY
            yield from self.send_and_read([replaced(control, self.field, day.isoformat())])
            return
        if scenario.id == NONE:
            given = {name: value for name, value in control.arguments.items() if name != self.field}
            yield from self.send_and_read(
                [replace(control, arguments=given, without=(*control.without, self.field))]
            )
            yield from steps.send(control)
            return
        usual = made.call.arguments.get(self.field)
        values = self._values("" if usual is None else text_of(usual), day_of_trial)
        yield from self.send_and_read(
            replaced(control, self.field, value, text_of(value)[:40] if bad else "")
            for value, bad in values
        )
        yield from steps.send(control)

    def _values(self, usual: str, day: date) -> Iterator[tuple[Json, bool]]:
        """Yield values, each with whether it is to be rejected."""
        if self.decimals is not None:
            whole = _NUMBER.fullmatch(usual)
            number = usual.partition(".")[0] if whole else "10"
            yield Decimal(f"{number}.{'0' * self.decimals}1"), True
        if self.max_length is not None:
            text = "".join(usual.split()) or "x"
            long = text * (self.max_length // len(text) + 1)
            yield long[: self.max_length], False
            yield f"{long[: self.max_length]}x", True
        for misfit in self.shape.misfits() if self.shape else ():
            yield misfit, True
        if self.not_past:
            # In no time zone is it today.
            yield (day - 2 * DAY).isoformat(), True

    def arguments_of(self) -> Mapping[str, Sequence[str]]:
        """Return the argument."""
        return {self.lifecycle.create.id: (self.field,)}

    def faults(self, made: Sequence[Instance]) -> Iterator[Defects]:
        """Yield the faults of each request; None where that is open."""
        for request in made:
            value, at = request.made.call.arguments.get(self.field), request.made.at
            if value in (None, "") or self._alters(value, at):
                yield None
                continue
            wrong = self._wrong(value, at)
            faults = tuple(
                Defect(argument=self.field, facet=facet, why=f"{self.field} {why}")
                for facet, why in wrong.items()
                if why
            )
            yield faults if len(faults) == len(wrong) else None

    def _wrong(self, value: Json, at: datetime | None = None) -> Mapping[str, str]:
        """Return what is wrong with a value, by facet; without words where that is open."""
        wrong: dict[str, str] = {}
        number = _NUMBER.fullmatch(text_of(value))
        if self.decimals is not None and number is None:
            wrong[PRECISE] = ""
        elif self.decimals is not None and number is not None:
            digits = number[1] or ""
            if len(digits) > self.decimals:
                sure = len(digits.rstrip("0")) > self.decimals
                wrong[PRECISE] = f"has {len(digits)} decimals" if sure else ""
        length = len(value) if isinstance(value, str) else 0
        if self.max_length is not None and length > self.max_length:
            wrong[LONG] = "" if text_shape.is_hidden(value) else f"has {length:,} characters"
        fits = self.shape.fits(value) if self.shape and value != "" else True
        if not fits:
            wrong[INVALID] = "" if fits is None else f"is not {self.shape}"
        day = day_of(value) if self.not_past and at is not None else None
        if day is not None and at is not None:
            begun = dates(at, self.lifecycle.contract.zone)
            if day < begun[-1]:
                wrong[PAST] = "is in the past" if day < begun[0] else ""
        return wrong

    def judge_other(self, tried: Tried, beside: Beside) -> Iterator[Evidence]:
        """Judge the longest values, days that are too far away, and requests without the argument."""
        made, value = tried.made, tried.made.call.arguments.get(self.field)
        longest = isinstance(value, str) and len(value) == self.max_length
        if tried.faults == () and longest and not text_shape.is_hidden(value):
            others = [each.made.n for each in beside(self.field) if each is not tried]
            yield from served_between(LONGEST, made, others, ())
        if tried.request is not None and self._is_too_far(value, made.at):
            controls = [each.made.n for each in beside(self.field)]
            yield from self._judge_reduced(tried.request, controls)
        if self.default is not None and self.field in made.call.without and tried.request:
            controls = [each.made.n for each in beside(self.field)]
            yield from self._judge_default(tried.request, controls)

    def _judge_default(self, request: Instance, controls: Sequence[int]) -> Iterator[Evidence]:
        """Judge what is shown of a request without the argument, until it is changed."""
        made, expected = request.made, f"{self.field} to be {text_of(self.default)}: none was sent"
        if request_queries.was_refused(made):
            yield from served_between(DEFAULT, made, controls, ())
        for exchange in () if request.changes else (made, *request.reads):
            value = exchange.item.fields.get(self.field) if exchange.item else None
            if value in (None, ""):
                continue
            same = request_queries.shows_value(self.default, value)
            agreement = UNCLEAR if same is None else AGREES if same else DISAGREES
            evidence = _evidence(DEFAULT, agreement, made, expected, text_of(value), exchange.n)
            member = exchange.member_of(exchange.item, "field", self.field)
            yield replace(evidence, decisive=exchange.n, member=member)

    def _judge_reduced(self, request: Instance, controls: Sequence[int]) -> Iterator[Evidence]:
        """Judge what is shown of a request whose day is too far away."""
        seen = [each for each in (request.made, *request.reads) if each.item]
        shown = [(each, day_of(each.item.fields.get(self.field))) for each in seen if each.item]
        first, last = (
            day + (self.at_most_days or 0) * DAY
            for day in (dates(request.made.at, self.lifecycle.contract.zone)[i] for i in (0, -1))
        )
        made, expected = request.made, f"{self.field} to be reduced to {last}"
        for exchange, day in shown:
            if day is not None:
                agreement = AGREES if first - DAY <= day <= last + DAY else DISAGREES
                evidence = _evidence(REDUCED, agreement, made, expected, str(day), exchange.n)
                member = exchange.member_of(exchange.item, "field", self.field)
                yield replace(evidence, decisive=exchange.n, member=member)
        if request_queries.was_refused(made) and controls:
            seen_ = describe_answer(made)
            yield _evidence(REDUCED, DISAGREES, made, expected, seen_, *controls[:1])
        elif request.state is State.REJECTED:
            yield _evidence(REDUCED, UNCLEAR, made, expected, request.describe())

    def duty(self) -> str:
        """Return that the argument has a valid value."""
        return f"every request has a valid {self.field}"

    def judge_sent(self, exchange: Exchange) -> tuple[Agreement, str, str] | None:
        """Judge the argument of a request that has it; None where that is open."""
        value = exchange.call.arguments.get(self.field)
        if value in (None, ""):
            return None
        wrong = self._wrong(value, exchange.at)
        sure = [why for why in wrong.values() if why]
        if wrong and not sure:
            return None
        done = f"{self.field} {sure[0]}" if sure else "it is"
        return DISAGREES if sure else AGREES, f"{self.field} is valid", done


def _evidence(
    facet: str, agreement: Agreement, made: Exchange, expected: str, seen: str, *others: int
) -> Evidence:
    return Evidence(
        facet=facet,
        agreement=agreement,
        expected=expected,
        seen=seen,
        exchanges=tuple(sorted({made.n, *others})),
    )
