"""The desk that says why it refuses a call, and what it says wrongly."""

from io import BytesIO
from typing import Any

from counting_desk import CountingDesk
from desk_bank import Answer

#: What servers and firewalls in front of a desk answer by themselves, as pages of their own.
PAGE = b"<html><head><title>Request not accepted</title></head></html>"


class Fronted:
    """A desk behind a server and a firewall with the limits that are usual for them."""

    def __init__(self, desk: Any) -> None:
        self.desk, self.refused = desk, 0

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        """Answer before the desk what is too large, or looks like an attack."""
        headers = [str(value) for name, value in environ.items() if name.startswith("HTTP_")]
        url = environ["PATH_INFO"] + environ.get("QUERY_STRING", "")
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = BytesIO(body)
        own = "/assay-control/" in environ["PATH_INFO"]
        status = (
            "400 Bad Request" if max(map(len, headers)) > 8_000 else
            "404 Not Found" if len(url) > 8_000 else
            "400 Bad Request" if len(body) > 8_192 or b";--" in body or ";--" in url else ""
        )  # fmt: skip
        if own or not status:
            return self.desk(environ, start_response)
        self.refused += 1
        start_response(status, [("Content-Type", "text/html"), ("Content-Length", str(len(PAGE)))])
        return [PAGE]


#: The code of each status.
CODES = {400: "bad-header", 401: "token", 404: "nothing-there", 409: "CONFLICT", 422: "value"}


class ErrorDesk(CountingDesk):
    """A desk whose refusals are problems, each with a class and a code, or a number."""

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        """Answer a request; a fault gives a refusal another status."""

        def started(status: str, headers: Any) -> Any:
            number = int(status[:3])
            own = "/assay-control/" in environ["PATH_INFO"]
            if not own and f"{number} as 403" in self.faults:
                status = "403 ."
            return start_response(status, headers)

        return super().__call__(environ, started)

    def error(self, status: int, steps: list[str]) -> Any:
        """Return the body of a refusal."""
        faults = self.faults
        error: dict[str, Any] = {"class": "L" if status == 429 else "C", "detail": {}}
        if status == 429:
            error["number"] = 1043 if "another code for 429" in faults else 1042
        else:
            code = "other" if f"another code for {status}" in faults else CODES.get(status, "?")
            error["detail"]["code"] = code
        if "no class" in faults:
            del error["class"]
        if "an unknown class" in faults:
            error["class"] = "X"
        errors = [error, {"class": "C"}] if "a second error without a code" in faults else [error]
        return {"failures" if "errors elsewhere" in faults else "problem": {"errors": errors}}

    def media_type(self, status: int) -> str:
        """Return the media type of an answer."""
        problem = status >= 400 and "errors as JSON" not in self.faults
        return "application/problem+json; charset=utf-8" if problem else "application/json"

    def limits(self, token: str, steps: list[str]) -> list[tuple[int, str]]:
        """Return the limit that a call counts for: entries and orders have none."""
        return super().limits(token, steps) if len(steps) == 1 and steps[0] != "orders" else []

    def answer(self, environ: dict[str, Any], steps: list[str]) -> Answer:
        """Answer a call of the interface."""
        return super().answer(environ, steps)


#: The obligations about a code, by the status of the refusal.
CODED = {
    400: {
        f"request-id/{name}-{fault}"
        for name in ("accounts", "show")
        for fault in ("missing", "invalid")
    },
    401: {"token/accounts-without-token", "token/accounts-invented-token"},
    404: {"own/entries-foreign"},
    409: {"key/conflict"},
    422: {"amount/too-precise"},
    429: {"limit/accounts-refused", "limit/favourites-refused", "limit/before-end", "limit/shared"},
}
#: Each fault, or several at once, and the obligations that it violates.
ERROR_FAULTS = {
    ("errors as JSON",): {"errors/media-type"},
    ("no class",): {"errors/class-present"},
    ("an unknown class",): {"errors/class-allowed"},
    ("a second error without a code",): {"errors/code-present"},
    ("errors elsewhere",): {"errors/class-present", "errors/code-present"},
    **{
        tuple(f"another code for {status}" for status in statuses): {
            f"{name}-code" for status in statuses for name in CODED[status]
        }
        for statuses in ((400, 404, 409), (401, 422, 429))
    },
    # A refusal with 404 may have 403 as well.
    tuple(f"{status} as 403" for status in CODED): {
        f"{name}-status" for status in CODED if status != 404 for name in CODED[status]
    },
}
