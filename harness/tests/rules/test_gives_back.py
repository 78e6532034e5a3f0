"""`gives-back` compares what is read with what was sent."""

from account_information import LOST, NO
from payment_initiation import REJECTED, check, make, modify, payer, read, shown
from rows import for_each


def says(*events):
    return check("payments.content", payer(), *events)


def test_what_is_shown_is_compared_field_by_field():
    """A field that is right and one that is wrong are two findings."""
    assert ["creditorAccount agrees 1,2", "amount disagrees 1,2"] == says(
        make(), read(shown(creditorAccount="C1", amount="12.31"))
    )


@for_each("amount", ["12.30", "12.3", "012.300"])
def test_amounts_are_numbers(amount):
    """However an amount is spelt, it is the same."""
    assert ["amount agrees 1,2"] == says(make(), read(shown(amount=amount)))


@for_each("came", [shown(), NO, LOST])
def test_what_is_not_shown_is_no_fault(came):
    """Documents seldom say that all must be shown."""
    assert [] == says(make(), read(came))


def test_a_change_is_in_force():
    """After a change that was accepted, the new value is the right one."""
    assert ["amount disagrees 1,2,3", "amount agrees 1,2,4"] == says(
        make(mode="deferred"),
        modify(amount="1.00"),
        read(shown(amount="12.30")),
        read(shown(amount="1.00")),
    )


def test_a_change_that_was_lost_leaves_doubt():
    """Nobody knows which value is in force."""
    assert ["amount unclear 1,3"] == says(
        make(mode="deferred"), modify(LOST, amount="1.00"), read(shown(amount="1.00"))
    )


def test_a_change_that_was_refused_changes_nothing():
    """The former value stays right."""
    assert ["amount agrees 1,3"] == says(
        make(mode="deferred"), modify(NO, amount="1.00"), read(shown(amount="12.30"))
    )


def test_somebody_elses_request_is_unknown():
    """What was never made in this history is not judged."""
    assert [] == says(make(), read(shown("P2", amount="1.00"), key="P2"))


def test_what_was_rejected_need_not_be_remembered():
    """Of a request that became nothing, anything may be shown."""
    assert [] == says(make(), read(shown(state=REJECTED, amount="0.00")))


@for_each("value", [None, ""])
def test_null_is_no_value(value):
    """Neither one that is shown, nor one that was sent: the target may fill it in."""
    assert [] == says(make(), read(shown(amount=value)))
    assert [] == says(make(categoryPurpose=value), read(shown(categoryPurpose="SUPP")))


@for_each("value", [{}, [], {"iban": ""}, [[None]]])
def test_what_is_empty_may_be_no_value(value):
    """A form has no empty values at all."""
    came = read(shown(creditorAccount="FR7630006000011234567890189"))
    assert ["creditorAccount unclear 1,2"] == says(make(creditorAccount=value), came)


def test_another_spelling_is_open():
    """A target that takes such a value may keep it in its own spelling; numbers are compared."""
    assert ["creditorAccount unclear 1,2"] == says(
        make(creditorAccount=" fr76 1234"), read(shown(creditorAccount="FR761234"))
    )
    assert ["amount unclear 1,2"] == says(make(amount="12,30"), read(shown(amount="12.30")))
    assert ["amount disagrees 1,2"] == says(make(amount="12.30"), read(shown(amount="1230")))


def test_a_value_that_the_contract_forbids_may_be_ignored():
    """Whether it is refused or has no effect is for the clause that forbids it."""
    dollars = modify(currency="USD")
    for shown_then in ("EUR", "USD"):
        assert [] == says(make(mode="deferred"), dollars, read(shown(currency=shown_then)))
    assert ["currency agrees 1,2"] == says(make(), read(shown(currency="EUR")))


@for_each("shown_as", ["FR76**********0189", "XXXX0189", "FR76…", "••••0189"])
def test_a_hidden_part_leaves_doubt(shown_as):
    """A bank may show a part of a number only."""
    assert ["creditorAccount unclear 1,2"] == says(make(), read(shown(creditorAccount=shown_as)))


@for_each(
    ("shown_as", "says_so"),
    [
        ("2026-09-17T00:00:00+02:00", "agrees"),
        ("2026-09-16T22:00:00Z", "unclear"),
        ("2026-09-15T22:00:00Z", "disagrees"),
        ("2026-09-16", "disagrees"),
        ("20260917", "unclear"),
    ],
)
def test_a_day_may_be_shown_as_a_moment(shown_as, says_so):
    """Formats are not in the document."""
    made = make(mode="deferred", date="2026-09-17")
    assert [f"date {says_so} 1,2"] == says(made, read(shown(date=shown_as)))


@for_each(
    ("shown_as", "says_so"),
    [("2026-09-19", "agrees"), ("2026-09-21", "unclear"), ("2026-09-20", "disagrees")],
)
def test_a_bank_may_keep_a_request_for_the_next_banking_day(shown_as, says_so):
    """Asked for a Saturday, it may be for the Monday after it; but for no Sunday."""
    made = make(mode="deferred", date="2026-09-19")
    assert [f"date {says_so} 1,2"] == says(made, read(shown(date=shown_as)))


def test_an_address_is_compared_as_an_address():
    """The port of its scheme and the case of its host change nothing."""
    made = make(successfulReportUrl="https://tpp.example/a?b=1")
    for url, says_so in (
        ("https://TPP.example:443/a?b=1", "agrees"),
        ("https://tpp.example/a?b=2", "disagrees"),
    ):
        found = says(made, read(shown(successfulReportUrl=url)))
        assert [f"successfulReportUrl {says_so} 1,2"] == found


def test_a_truth_value_may_be_kept_as_a_text():
    """Types are not in the document either."""
    made = make(categoryPurpose=True)
    assert ["categoryPurpose agrees 1,2"] == says(made, read(shown(categoryPurpose="true")))
    assert ["categoryPurpose disagrees 1,2"] == says(made, read(shown(categoryPurpose="false")))


@for_each(
    ("sent", "seen", "agreement"),
    [
        ("2027-01-27T00:00:00Z", "2027-01-27T01:00:00.000+01:00", "agrees"),
        ("2027-01-27T00:00:00Z", "2027-01-27T00:00:01Z", "disagrees"),
        ("2027-01-27T00:00:00Z", "2027-01-27T00:00:00", "unclear"),
        ("2027-01-27T00:00:00Z", "2027-01-29T00:00:00", "disagrees"),
        ("AT611904300234573201", "AT61 1904 3002 3457 3201", "agrees"),
    ],
)
def test_a_value_in_another_spelling_is_the_same(sent, seen, agreement):
    """An instant is one instant in any zone; without an offset, nobody knows which it is."""
    assert [f"creditorAccount {agreement} 1,2"] == says(
        make(creditorAccount=sent), read(shown(creditorAccount=seen))
    )


@for_each("amount", ["1_2.30", " 12.30 "])
def test_an_amount_that_is_no_number_does_not_agree(amount):
    """Python reads more texts as numbers than a TPP does."""
    assert ["amount unclear 1,2"] == says(make(), read(shown(amount=amount)))
