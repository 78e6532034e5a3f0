"""Lines of a journal, read back as the events that they tell.

The inverse of `run.again`. What is not as a journal has it raises `KeyError`, `ValueError`,
`TypeError` or `AttributeError`, which the reader of the file turns into its line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, cast

from assay.contract.model import Json
from assay.history import (
    Accepted,
    Advanced,
    Authorise,
    Authorised,
    Call,
    Cause,
    Code,
    Decision,
    Effect,
    Effects,
    Ending,
    Entry,
    Event,
    Exchange,
    Indeterminate,
    Item,
    Lacking,
    Malformed,
    Outcome,
    Owned,
    Registered,
    Rejected,
    State,
    Subject,
    Unavailable,
    Wire,
    Withdrawn,
)
from assay.history.events import Masked
from assay.journal.writer import SIGNING

#: What stands for a body of which only its form is known.
BODIES: Mapping[str, bytes] = {"json": b'"%s"', "broken": b'{"%s', "deep": b"[" * 100_000 + b"%s"}

Line = Mapping[str, Any]


# -- values ------------------------------------------------------------------------
def _value(told: Any, forms: Mapping[str, list[str]] | None = None) -> Json:
    match told:
        case str():
            return Masked(told, forms[told]) if forms and told in forms else told
        case list():
            values: list[Any] = told
            return [_value(one, forms) for one in values]
        case {"decimal": str(text)}:
            return Decimal(text)
        case {"object": list(pairs)}:
            listed = cast("list[list[Any]]", pairs)
            return {str(name): _value(one, forms) for name, one in listed}
        case _:
            return cast("Json", told)


def _values(told: Line | None, forms: Mapping[str, list[str]] | None = None) -> dict[str, Json]:
    return {name: _value(one, forms) for name, one in (told or {}).items()}


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time without an offset")
    return moment


def _item(told: Line, forms: Mapping[str, list[str]]) -> Item:
    state, on = told.get("state"), told.get("on")
    return Item(
        resource=told.get("resource"),
        key=told.get("key"),
        on=date.fromisoformat(on) if on else None,
        state=State(state) if state else None,
        fields=_values(told.get("fields"), forms),
        digest=told.get("digest", ""),
    )


# -- events ------------------------------------------------------------------------
def _exchange(line: Line) -> Exchange | Authorised:
    if line["operation"] == SIGNING:
        return _authorised(line)
    again, request, answer = line["again"], line["request"], line["response"]
    told = again["call"]
    form, mark = again.get("body", ("", ""))
    malformed = told.get("malformed")
    return Exchange(
        n=line["n"],
        at=_moment(line["at"]),
        call=Call(
            operation=line["operation"],
            subject=line["subject"],
            arguments=_values(told.get("arguments")),
            present=line["present"],
            alias=told.get("alias"),
            follow=told.get("follow"),
            mode=told.get("mode"),
            credentials=told.get("credentials", False),
            malformed=Malformed[malformed] if malformed else None,
            without=tuple(told.get("without", ())),
            varied=tuple(told.get("varied", ())),
            by=told.get("by", ""),
            host=told.get("host"),
            variation=line["variation"],
        ),
        outcome=_outcome(line, again),
        wire=Wire(
            method=request["method"],
            url=request["url"],
            request_headers=tuple((name, value) for name, value in request["headers"]),
            request_body=request["body"].encode(),
            status=answer["status"],
            headers=tuple((name, value) for name, value in answer["headers"]),
            body=BODIES[form].replace(b"%s", mark.encode()) if form else b"",
            truncated=again.get("cut", False),
            links=tuple(again.get("links", ())),
        ),
        ms=float(line.get("ms", 0.0)),
    )


def _outcome(line: Line, again: Line) -> Outcome:
    told, forms = again["answer"], again.get("forms", {})
    items = tuple(_item(one, forms) for one in told.get("items") or ())
    match line["outcome"]["kind"]:
        case "accepted":
            return Accepted(
                items=items if "items" in told else None,
                values=_values(told.get("values")),
                next=told.get("next"),
                approval=told.get("approval"),
            )
        case "rejected":
            return Rejected(leaked=items)
        case "unavailable":
            return Unavailable(leaked=items)
        case _:
            return Indeterminate(cause=Cause[told["cause"]], why=line["outcome"]["why"])


def _authorised(line: Line) -> Authorised:
    again, answer = line["again"], line["response"]
    step, offered = again["step"], again["offered"]
    return Authorised(
        n=line["n"],
        step=Authorise(
            subject=line["subject"],
            request=step["request"],
            approval=step["approval"],
            decision=Decision[step["decision"]],
            factor=step["factor"],
            by=step["by"],
            code=Code[step["code"]],
            pace=timedelta(seconds=step["pace"]),
            linger=tuple(timedelta(seconds=one) for one in step["linger"]),
            spoof=step["spoof"],
            variation=line["variation"],
        ),
        ending=Ending[again["ending"]],
        moments=tuple(map(_moment, again["moments"])),
        offered=None if offered is None else tuple(offered),
        screens=tuple(again["screens"]),
        redirected=again["redirected"],
        unspelt=tuple(again["unspelt"]),
        coded=again["coded"],
        stuck=again["stuck"],
        why=line["outcome"]["why"],
        wire=Wire(method="SIGN", url=line["request"]["url"], status=answer["status"]),
        ms=float(line.get("ms", 0.0)),
    )


def _subject(line: Line) -> Subject:
    again = line["again"]
    return Subject(
        name=line["name"],
        now=_moment(line["now"]),
        owns=tuple(
            Owned(
                key=more["key"],
                resource=one["resource"],
                traits=_values(more["traits"]),
                entries=tuple(
                    Entry(key=key, on=date.fromisoformat(on)) for on, key in more["entries"]
                ),
            )
            for one, more in zip(line["owns"], again["owns"], strict=True)
        ),
        fresh=again["fresh"],
        segment=again["segment"],
    )


def _effects(line: Line) -> Effects:
    done = line["done"]
    return Effects(
        now=_moment(line["now"]),
        done=None
        if done is None
        else tuple(
            Effect(
                request=one["again"]["request"],
                on=date.fromisoformat(one["on"]),
                fields=_values(one["again"]["fields"]),
            )
            for one in done
        ),
    )


def _registered(line: Line) -> Registered:
    return Registered(
        subject=line["subject"],
        argument=line["argument"],
        value=_value(line["again"]["value"]),
        since=_moment(line["since"]),
    )


def _withdrawn(line: Line) -> Withdrawn:
    again = line["again"]
    return Withdrawn(
        subject=line["subject"],
        request=again["request"],
        done=line["done"],
        now=_moment(again["now"]),
    )


def _advanced(line: Line) -> Advanced:
    return Advanced(now=_moment(line["now"]))


def _lacking(line: Line) -> Lacking:
    return Lacking(mode=line["mode"], now=_moment(line["again"]["now"]))


#: Each kind of line that tells an event, and what reads it.
EVENTS: Mapping[str, Callable[[Line], Event]] = {
    "exchange": _exchange,
    "subject": _subject,
    "advanced": _advanced,
    "effects": _effects,
    "registered": _registered,
    "withdrawn": _withdrawn,
    "lacking": _lacking,
}
