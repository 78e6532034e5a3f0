"""A sound service with parcel lockers, in plain WSGI; nothing here knows of Assay.

Its control API (`assay-control/1`) makes worlds and customers. What mutants change is in
methods of its own.
"""

import json
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

NOW = "2026-09-16T08:00:00+00:00"
Answer = tuple[int, Any]


class Refused(Exception):  # noqa: N818 -- no error: an answer
    """The status of a refusal."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Lockers:
    """The service; one instance is one run."""

    def __init__(self) -> None:
        self.numbers = count(1)
        self.lockers: dict[str, str] = {}
        self.bookings: dict[tuple[str, str], tuple[Any, str]] = {}

    # -- what mutants change ---------------------------------------------------------
    def trace_of(self, trace: str, status: int) -> str | None:
        """Return what the answer says of the trace."""
        return trace

    def header(self) -> str:
        """Return the name of the header with the trace."""
        return "Parcel-Trace"

    def book(self, customer: str, key: str, body: Any) -> Answer:
        """Book a locker, once for a key."""
        known = self.bookings.get((customer, key))
        if known is None:
            return 201, self.booked(customer, key, body)
        if known[0] != body:
            raise Refused(409)
        return 200, {"reference": known[1]}

    def booked(self, customer: str, key: str, body: Any) -> Any:
        """Book a locker."""
        reference = f"B-{next(self.numbers)}"
        self.bookings[customer, key] = (body, reference)
        return {"reference": reference}

    # -- the interface ---------------------------------------------------------------
    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer a request."""
        steps = environ["PATH_INFO"].strip("/").split("/")
        try:
            own = steps[:1] == ["assay-control"]
            status, body = (self.control if own else self.answer)(environ, steps)
        except Refused as refusal:
            status, body = refusal.status, {}
        headers = [("Content-Type", "application/json")]
        trace = environ.get("HTTP_TRACE")
        said = self.trace_of(trace, status) if trace is not None else None
        if said is not None:
            headers.append((self.header(), said))
        start_response(f"{status} .", headers)
        return [json.dumps(body).encode()]

    def answer(self, environ: dict[str, Any], steps: list[str]) -> Answer:
        """Answer a call of the interface."""
        customer = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        owned = {number for number, owner in self.lockers.items() if owner == customer}
        if steps[0] == "lockers":
            if steps[1] not in owned:
                raise Refused(404)
            return 200, [{"id": f"{steps[1]}-1"}]
        if (environ["REQUEST_METHOD"], steps) != ("POST", ["bookings"]):
            raise Refused(404)
        body = json.loads(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))
        if body.get("locker") not in owned or body.get("size") not in {"small", "large"}:
            raise Refused(422)
        if "HTTP_BOOKING_KEY" not in environ:
            raise Refused(400)
        return self.book(customer, environ["HTTP_BOOKING_KEY"], body)

    def control(self, environ: dict[str, Any], steps: list[str]) -> Answer:
        """Answer a call of the control API: `/assay-control/1/worlds/...`."""
        if environ["REQUEST_METHOD"] == "DELETE":
            return 200, {}
        if environ["REQUEST_METHOD"] != "POST":
            raise Refused(404)
        if steps[-1] == "worlds":
            return 201, {"world": f"w-{next(self.numbers)}", "now": NOW}
        body = json.loads(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))
        token = f"t-{next(self.numbers)}"
        holdings: list[Any] = []
        for holding in body["holdings"]:
            for _ in range(holding["count"]):
                number = f"L-{next(self.numbers)}"
                self.lockers[number] = token
                made = {"resource": holding["resource"], "key": number, "traits": {}, "entries": []}
                holdings.append(made)
        return 201, {"customer": token, "token": token, "holdings": holdings, "now": NOW}
