"""Every decision of the holdout bank about account information, one method each."""

from collections.abc import Hashable, Sequence
from datetime import date

from holdout.domain import Call, Entry, Item, days_before, months_before

UNAVAILABLE = {"beneficiaries": 501, "identity": 501, "confirm": 405}


class AccountPolicy:
    """What is decided for account information."""

    def unavailable(self, call: Call) -> int | None:
        """The status by which an operation is not offered."""
        return UNAVAILABLE.get(call.operation)

    def carries_credentials(self, call: Call) -> bool:
        """Whether the call contains what only the customer may type."""
        words = ("utilisateur", "identifiant", "secret")
        body = call.body if isinstance(call.body, dict) else {}
        return call.basic or any(word in body or word in call.args for word in words)

    # The daily accesses without the customer.

    def quota(self, call: Call) -> int | None:
        return 4 if call.absent else None

    def quota_key(self, call: Call) -> Hashable:
        who = call.customer.id if call.customer else ""
        return (who, call.tpp, call.operation, self.quota_day(call))

    def quota_day(self, call: Call) -> date:
        return call.world.today

    def counts(self, call: Call) -> bool:
        return call.absent

    # The list.

    def account_listed(self, call: Call, item: Item) -> bool:
        return not any(item.is_(trait) for trait in ("savings", "inactive", "offline"))

    def card_listed(self, call: Call, item: Item) -> bool:
        used = item.last_used
        hidden = any(item.is_(trait) for trait in ("inactive", "never-used", "immediate-debit"))
        if hidden or used is None:
            return False
        return months_before(call.world.today, 2) <= used <= call.world.today

    def listed(self, call: Call, item: Item) -> bool:
        return self.card_listed(call, item) if item.card else self.account_listed(call, item)

    def holds(self, call: Call) -> list[Item]:
        """What the customer has, in the order of the list, before a consent narrows it."""
        items = call.customer.items if call.customer else []
        return sorted((i for i in items if self.listed(call, i)), key=lambda i: i.ref, reverse=True)

    def narrowed(self, call: Call, items: list[Item]) -> list[Item]:
        consent = call.consent
        return items if consent is None else [item for item in items if item.key in consent]

    def identity(self, call: Call) -> str | None:
        return call.customer.name if call.customer and call.consent is not None else None

    def list_size(self, call: Call) -> int:
        return 5

    def list_rest(self, call: Call, items: list[Item], after: str) -> list[Item]:
        """What follows this cursor."""
        return [item for item in items if item.ref < after] if after else items

    def list_key(self, call: Call, item: Item) -> str:
        return item.key

    def link_base(self, call: Call, link: str) -> str:
        return call.base

    # Consents.

    def consentable(self, call: Call, item: Item | None) -> bool:
        return item is not None and self.listed(call, item)

    def consent_stored(self, call: Call, keys: list[str]) -> None:
        who = call.customer.id if call.customer else ""
        call.world.consents[who, call.tpp] = tuple(dict.fromkeys(keys))

    def consent_refused(self, call: Call, keys: list[str]) -> None:
        """What a refused consent leads to: nothing."""

    def consented(self, call: Call, item: Item) -> bool:
        return item.key in (call.consent or ())

    # Balances and entries.

    def addressed(self, call: Call, key: object) -> Item | None:
        return call.customer.item(key) if call.customer else None

    def kinds(self, call: Call, item: Item) -> Sequence[str]:
        return ("CLBD", "VALU", "OTHR") if not item.card else ("CLBD", "OTHR")

    def currency(self, call: Call, item: Item) -> str:
        return "EUR"

    def shown_key(self, call: Call, item: Item) -> str:
        return item.key

    def shown_item(self, call: Call, item: Item) -> Item:
        """Whose balances or entries are shown."""
        return item

    def extended(self, call: Call) -> bool:
        """Whether a longer history may be asked for."""
        return False

    def depth(self, call: Call, item: Item) -> int:
        return 90

    def entry_shown(
        self, call: Call, item: Item, entry: Entry, since: date | None, end: date | None
    ) -> bool:
        today = call.world.today
        if not days_before(today, self.depth(call, item)) <= entry.on <= today:
            return False
        return (since is None or since <= entry.on) and (end is None or entry.on < end)

    def entries(self, call: Call, item: Item, rows: list[Entry]) -> list[Entry]:
        return sorted(rows, key=lambda row: (row.on, row.key))

    def entry_size(self, call: Call, item: Item) -> int:
        return 15

    def entry_page(
        self, call: Call, item: Item, rows: list[Entry], page: int
    ) -> tuple[list[Entry], bool]:
        size = self.entry_size(call, item)
        return rows[page * size : (page + 1) * size], len(rows) > (page + 1) * size

    def entry_date(self, call: Call, entry: Entry) -> date:
        return entry.on
