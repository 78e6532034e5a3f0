"""The desk with limits on calls, and what it counts wrongly."""

from typing import Any

from desk_bank import Answer, Desk


class CountingDesk(Desk):
    """Five calls of a customer for both lists a minute, and three for the entries of an account."""

    def answer(self, environ: dict[str, Any], steps: list[str]) -> Answer:
        """Answer a call; the favourite accounts are all of them."""
        self.called = steps
        return super().answer(environ, ["accounts"] if steps == ["favourites"] else steps)

    def limits(self, token: str, steps: list[str]) -> list[tuple[int, str]]:
        """Return the limit that a call counts for."""
        faults, path = self.faults, self.called
        if "takes no calls" in faults:
            return [(1, f"{token} {path[-1]}")]
        if path[-1] == "entries":
            item = "" if "one count for all accounts" in faults else path[1]
            most = 4 if "one call more of an account" in faults else 3
            if "one count for the entries of everybody" in faults:
                token = item = ""
            return [(most, f"{token} entries {item}")]
        owner = "" if "one count for all customers" in faults else token
        apart = path[0] if "one count for each list" in faults else ""
        return [(6 if "one call more" in faults else 5, f"{owner} {apart}")]


#: Each fault, and the obligations that it violates.
COUNTING_FAULTS = {
    "one count for all customers": {"together/per-customer"},
    "one count for each list": {"together/shared"},
    "one call more": {
        "together/accounts-refused",
        "together/favourites-refused",
        "together/shared",
    },
    "one call more of an account": {"each/entries-refused"},
    "one count for all accounts": {"each/per-item"},
    "one count for the entries of everybody": {"each/per-item", "each/per-customer"},
    "remembers for three minutes": {
        "together/accounts-next-minute",
        "together/favourites-next-minute",
        "each/entries-next-minute",
    },
    "forgets in half a minute": {"together/before-end", "each/before-end"},
    "takes no calls": {
        "together/accounts-served",
        "together/favourites-served",
        "each/entries-served",
    },
}
