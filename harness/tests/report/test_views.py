"""What holds of every view."""


def test_same_bytes(mixed, view):
    """The same report renders to the same text."""
    assert view(mixed) == view(mixed)


def test_card(mixed, view):
    """Every format shows sentence, source, evidence, exchange and command."""
    text = view(mixed)
    for sentence in (
        "At most four accesses a day without the customer.",
        "The next day four are accepted again.",
        "Limits",
        "163",
        "Up to 4 per calendar day",
        "refused with 429",
        "without the customer",
        "https://bank.invalid/accounts/1/balances",
        "token",
        "--seed 0",
    ):
        assert sentence in text


def test_every_reason(mixed, view):
    """Every format says why something was not checked, waived or left open."""
    text = view(mixed)
    for words in ("needs clock", "a probe crashed"):
        assert words in text


def test_missing_exchange(journal, view):
    """A cited exchange that the journal does not hold is said to be missing."""
    text = view(journal.plan().verdict(verdict="violates").footer().read())
    if view.format != "json":
        assert "exchange 17 is cited but missing from the journal" in text


def test_empty_plan(journal, view):
    """A run of nothing renders, and claims nothing."""
    text = view(journal.footer().read())
    assert "Nothing was verified" in text


def test_unfinished(journal, view):
    """An unfinished run says so in every format."""
    journal.plan().plan("aisp/b/two").verdict("aisp/b/two")
    text = view(journal.read(partial=True))
    assert "the run ended before this obligation was tested" in text
    assert "The run ended early" in text
