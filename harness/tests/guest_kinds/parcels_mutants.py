"""The service with one fault each, and others that only look different."""

from typing import Any

from parcels_bank import Answer, Lockers, Refused


class SilentLockers(Lockers):
    """No answer has a trace."""

    breaks = frozenset({"trace/returned"})

    def trace_of(self, trace: str, status: int) -> str | None:
        """Say nothing."""
        return None


class ShortTraces(Lockers):
    """A trace is cut after eight characters."""

    breaks = frozenset({"trace/returned"})

    def trace_of(self, trace: str, status: int) -> str | None:
        """Cut it."""
        return trace[:8]


class FirstTrace(Lockers):
    """Every answer has the first trace."""

    breaks = frozenset({"trace/returned", "trace/in-refusals"})
    first = ""

    def trace_of(self, trace: str, status: int) -> str | None:
        """Keep the first one."""
        self.first = self.first or trace
        return self.first


class SilentRefusals(Lockers):
    """A refusal has no trace."""

    breaks = frozenset({"trace/in-refusals"})

    def trace_of(self, trace: str, status: int) -> str | None:
        """Say nothing in a refusal."""
        return trace if status < 400 else None


class BooksAgain(Lockers):
    """The same key with the same body books again."""

    breaks = frozenset({"once/repeated"})

    def book(self, customer: str, key: str, body: Any) -> Answer:
        """Forget a key that comes with the same body."""
        known = self.bookings.get((customer, key))
        if known is not None and known[0] == body:
            return 201, self.booked(customer, key, body)
        return super().book(customer, key, body)


class RefusesRepeats(Lockers):
    """A key is refused the second time, whatever comes with it."""

    breaks = frozenset({"once/repeated"})

    def book(self, customer: str, key: str, body: Any) -> Answer:
        """Refuse a known key."""
        if (customer, key) in self.bookings:
            raise Refused(409)
        return super().book(customer, key, body)


class LooksAtTheKeyOnly(Lockers):
    """A key gives the first booking, whatever comes with it."""

    breaks = frozenset({"once/conflict"})

    def book(self, customer: str, key: str, body: Any) -> Answer:
        """Ignore the body of a known key."""
        known = self.bookings.get((customer, key))
        return (200, {"reference": known[1]}) if known else super().book(customer, key, body)


class OtherBodyBooks(Lockers):
    """A known key with another body is a new booking."""

    breaks = frozenset({"once/conflict"})

    def book(self, customer: str, key: str, body: Any) -> Answer:
        """Take the body for a part of the key."""
        return super().book(customer, f"{key} {body}", body)


class SmallHeaders(Lockers):
    """The header is spelt in small letters, which is the same header."""

    def header(self) -> str:
        """Spell it so."""
        return "parcel-trace"


class AnotherStatus(Lockers):
    """A conflict has another status."""

    def book(self, customer: str, key: str, body: Any) -> Answer:
        """Refuse with 422 instead of 409."""
        try:
            return super().book(customer, key, body)
        except Refused:
            raise Refused(422) from None


MUTANTS = [each for each in Lockers.__subclasses__() if hasattr(each, "breaks")]
NEUTRAL = [each for each in Lockers.__subclasses__() if not hasattr(each, "breaks")]
