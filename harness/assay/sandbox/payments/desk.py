"""Where payments are worked on: a world, and the decisions of its bank.

Handed to every function that changes a payment, and nothing else is. Not state of its
own: that is in the world's book.
"""

from dataclasses import dataclass

from assay.sandbox.payments.book import Book, Payment
from assay.sandbox.payments.policies import PaymentPolicies
from assay.sandbox.roster import Item
from assay.sandbox.world import Customer, World

__all__ = ["Desk"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """One world's payments, and what decides on them."""

    world: World
    policies: PaymentPolicies

    @property
    def book(self) -> Book:
        """What is remembered."""
        return self.world.payments

    def owner(self, payment: Payment) -> Customer:
        """Find whose money it is."""
        return self.world.owners[payment.terms.debtor]

    def account(self, payment: Payment) -> Item:
        """Find the account that is debited."""
        return self.owner(payment).items[payment.terms.debtor]
