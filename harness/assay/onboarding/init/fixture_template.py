"""Skeleton of a fixture provider in Python, as `assay init --fixtures python` writes it.

One module beside the target file. It can be imported and is typed strictly as it stands; what
needs a customer is then unverified, and the reason says which method to write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import Template
from typing import Final

from assay.contract.model import Contract, Resource

__all__ = ["ADAPTER_CLASS", "adapter_module", "adapter_text"]

#: The name of the class in the module.
ADAPTER_CLASS: Final = "BankFixtures"

_TEXT: Final = Template('''\
"""Test data of $target, for Assay.

Write the parts that are marked with FILL IN. The manual is the page "Fixtures in Python".
`assay doctor --target $file` shows whether they work.

What trials ask for, in the words of the contract:

$resources
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
        #         key=item["$key"],
        #         resource=holding.resource,
        #         traits=dict(holding.traits),
        #         entries=tuple(Entry(key=e["id"], on=date.fromisoformat(e["on"])) for e in item["entries"]),
        #     )
        #     for holding in step.holdings
        #     for item in create(holding.resource, holding.count, holding.traits, holding.entries)
        # )
        # return Subject(name=step.subject, now=self.clock(None), owns=owns), Access(token="...")
        raise CannotArrange("a customer (write BankFixture.arrange in $module.py)")

    def clock(self, to: datetime | None) -> datetime:
        """Move the clock of the test system, and return the time that it shows then."""
        if to is not None:
            # FILL IN: move the clock, and add `clock` to `fixtures.offers`.
            raise CannotArrange("a clock that can be moved")
        return datetime.now(UTC)

    def close(self) -> None:
        """End the trial."""
        # FILL IN: delete what the trial created.
''')


def adapter_module(target: str) -> str:
    """Return the name of the module for a target."""
    name = "".join(letter if letter.isalnum() else "_" for letter in target.lower())
    return f"{name}_fixtures"


def adapter_text(target: str, file: str, contracts: Sequence[Contract]) -> str:
    """Return the module for a target file with these contracts."""
    return _TEXT.substitute(
        target=target,
        file=file,
        module=adapter_module(target),
        resources="\n".join(_resources(contracts)),
        key=next((resource.key for _, resource in _owned(contracts) if resource.key), "key"),
    )


def _owned(contracts: Sequence[Contract]) -> Iterator[tuple[Contract, Resource]]:
    """Yield what customers can own, with its contract."""
    made = {operation.request for each in contracts for operation in each.operations.values()}
    for contract in contracts:
        for resource in contract.resources.values():
            if resource.of is None and resource.id not in made:
                yield contract, resource


def _resources(contracts: Sequence[Contract]) -> Iterator[str]:
    """Yield a line for each thing that customers can own, with its states."""
    for contract, resource in _owned(contracts):
        traits = ", ".join(resource.traits) or "none"
        yield f"* {contract.id}: {resource.id} (states: {traits})"
