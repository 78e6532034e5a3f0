"""Faults as rows: what each replaces in a bank, and exactly which obligations that breaks."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Fault:
    """One way in which a bank is wrong; where it breaks nothing, the bank only looks different.

    `ways` are the attributes and methods of the bank that it replaces; a function gets the bank
    first. `leaves_open` are obligations about which such a bank shows nothing, `shows` those that
    it violates in the trials of other clauses.
    """

    name: str
    breaks: frozenset
    ways: dict = field(repr=False)
    leaves_open: frozenset = frozenset()
    shows: frozenset = frozenset()

    def of(self, bank):
        """Return a bank with this fault."""
        return changed(bank, self.name, **self.ways)

    def is_all_of(self, violated):
        """Whether these are the obligations that it violates, with those that it shows elsewhere."""
        return violated == self.breaks | self.shows


def changed(bank, name, **ways):
    """Return a bank that differs in some ways, each of which it has."""
    assert not [way for way in ways if not hasattr(bank, way)], (name, ways)
    return type(name, (bank,), ways)


def row(name, *breaks, leaves_open=(), shows=(), **ways):
    """Return a fault, with the obligations that it breaks, and those that it shows elsewhere."""
    return Fault(name, frozenset(breaks), ways, frozenset(leaves_open), frozenset(shows))


def always(value):
    """Return what decides the same, whatever it is asked."""
    return lambda *_: value
