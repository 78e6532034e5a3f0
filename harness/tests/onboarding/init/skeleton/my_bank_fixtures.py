"""Test data of my-bank, for Assay.

Write the parts that are marked with FILL IN. The manual is the page "Fixtures in Python".
`assay doctor --target my-bank.yaml` shows whether they work.

What trials ask for, in the words of the contract:

* aisp: account (states: savings, inactive, offline)
* aisp: card (states: inactive, never-used, last-used, immediate-debit)
* pis: account (states: savings, inactive, offline)
"""

from datetime import UTC, datetime

from assay.fixtures.spi import Access, Arrange, CannotArrange, ReadOnlyFixture, Subject


class BankFixtures:
    """Opens a fixture for each trial. It is created once per run, with the `options` of the file."""

    def __init__(self, base_url: str, seed: int = 0) -> None:
        self.base_url, self.seed = base_url, seed

    def open(self) -> "BankFixture":
        # FILL IN: begin a trial at the test system, if it separates trials from each other. If it
        # has one clock for all, write `safety: {concurrency: 1}` in the target file.
        return BankFixture(self.base_url)


class BankFixture(ReadOnlyFixture):
    """The test data of one trial.

    Override further methods of `ReadOnlyFixture` for what the bank can do besides, and add their
    words to `fixtures.offers`: `tpp`, `register`, `renew`, `withdraw`, `effects`, `lack`, `sign`.
    """

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Return a customer who owns what the step asks for, in this order, and the credentials."""
        for holding in step.holdings:
            if holding.traits:
                # FILL IN: the states that the test system can prepare.
                state = ", ".join(f"{name}={value}" for name, value in holding.traits.items())
                raise CannotArrange(
                    f"a {holding.resource} with {state}",
                    resource=holding.resource,
                    trait=next(iter(holding.traits)),
                )
        # FILL IN: create the customer, or choose one, and return it as shown here. With customers
        # that existed before, write `fresh=False`, and `customers: existing` in the target file.
        #
        # from datetime import date
        # from assay.fixtures.spi import Entry, Owned
        #
        # owns = tuple(
        #     Owned(
        #         key=item["iban"],
        #         resource=holding.resource,
        #         traits=dict(holding.traits),
        #         entries=tuple(Entry(key=e["id"], on=date.fromisoformat(e["on"])) for e in item["entries"]),
        #     )
        #     for holding in step.holdings
        #     for item in create(holding.resource, holding.count, holding.traits, holding.entries)
        # )
        # return Subject(name=step.subject, now=self.clock(None), owns=owns), Access(token="...")
        raise CannotArrange("a customer (write BankFixture.arrange in my_bank_fixtures.py)")

    def clock(self, to: datetime | None) -> datetime:
        """Move the clock of the test system, and return the time that it shows then."""
        if to is not None:
            # FILL IN: move the clock, and add `clock` to `fixtures.offers`.
            raise CannotArrange("a clock that can be moved")
        return datetime.now(UTC)

    def close(self) -> None:
        """End the trial."""
        # FILL IN: delete what the trial created.
