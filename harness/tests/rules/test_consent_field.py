"""Fields that only a consent in a mode shows: literal histories."""

from dataclasses import replace
from functools import partial

from rows import for_each
from xs2a_consents import PSU as OWNER
from xs2a_consents import XS2A, clause, consent, ended, made, read, signed

from assay.history import Call, Code, Ending, Item, Owned, Subject
from assay.rules.rule import facts_of
from assay.testing import START, accepted, evidence, exchange, history, kind_in, refused
from assay.testing import listed as listing

PSU = replace(OWNER, owns=tuple(Owned(key=key, resource="account") for key in ("A", "B")))
OTHER = Subject(name="other", now=START, owns=(Owned(key="Z", resource="account"),))
ASKS = "with-owner-name"
ALL = ("A", "B")
ABOUT = "accounts.owner"
made, consent = partial(made, keys=ALL), partial(consent, keys=ALL)


def listed(*items, subject="psu", following=None, **how):
    """The accounts were listed: keys with the name of their owner, or None for one without."""
    call = Call(operation="accounts", subject=subject, **how)
    shown = (Item(key=key, fields=fields) for key, fields in items)
    return exchange(call, listing(*shown, next=following))


NAMED = (("A", {"ownerName": "Ada"}), ("B", {"ownerName": "Ada"}))
BARE = (("A", {}), ("B", {"ownerName": None}))
#: The name is shown under a consent that asks for it, which is then ended.
SEEN = (*consent("s", ASKS), listed(*NAMED), ended("s"))
SHOWN = "shown-in-mode agrees 1,2,3"


def said(*events, subjects=(PSU, OTHER)):
    """Return the evidence of a history, without that of `SEEN`."""
    return evidence(clause(ABOUT), history(*subjects, *events))


@for_each(
    ("items", "expected"),
    [
        (NAMED, [SHOWN]),
        (BARE, ["shown-in-mode disagrees 1,2,3"]),
        # One of several has it: another may have none.
        ((NAMED[0], BARE[1]), [SHOWN]),
        ((("A", {"ownerName": ""}),), ["shown-in-mode disagrees 1,2,3"]),
        # Nothing is shown, or only what the consent does not name.
        ((), []),
        ((("Z", {}),), []),
    ],
)
def test_the_field_is_shown_under_a_consent_that_asks_for_it(items, expected):
    """An item of what the consent names has it; an empty list says nothing."""
    assert expected == said(*consent("c", ASKS), listed(*items))


@for_each(
    ("events", "expected"),
    [
        ((*consent("c"), listed(*BARE)), ["withheld-otherwise agrees 5,6,7"]),
        ((*consent("c"), listed(*NAMED)), ["withheld-otherwise disagrees 5,6,7"]),
        # One item is enough, also one that the consent does not name.
        ((*consent("c"), listed(BARE[0], NAMED[1])), ["withheld-otherwise disagrees 5,6,7"]),
        ((*consent("c", keys=["A"]), listed(NAMED[1])), ["withheld-otherwise disagrees 5,6,7"]),
        ((*consent("c"), listed()), []),
        ((*consent("c"), listed(*NAMED, present=False)), ["withheld-otherwise disagrees 5,6,7"]),
        # Nothing is certain of one in another mode, unsigned, signed wrongly, ended or over.
        ((*consent("c", "without-balances"), listed(*NAMED)), []),
        ((made("c"), listed(*NAMED)), []),
        ((made("c"), signed("c", code=Code.WRONG), listed(*NAMED)), []),
        ((*consent("c"), ended("c"), listed(*NAMED)), []),
        ((*consent("c", validUntil="2020-01-01"), listed(*NAMED)), []),
        # One that asks is in force as well, or may be.
        ((*consent("d", ASKS), *consent("c"), listed(*NAMED)), []),
        ((made("d", ASKS), signed("d", ending=Ending.STOPPED), *consent("c"), listed(*NAMED)), []),
        # Another one that does not ask changes nothing, nor does one that nobody signed.
        ((*consent("d"), *consent("c"), listed(*NAMED)), ["withheld-otherwise disagrees 7,8,9"]),
        ((made("d", ASKS), *consent("c"), listed(*NAMED)), ["withheld-otherwise disagrees 6,7,8"]),
        # The one that was made last is used, whichever was signed.
        ((made("c"), *consent("d", ASKS), signed("c"), listed(*BARE)), []),
        ((made("d", ASKS), *consent("c"), signed("d"), listed(*NAMED)), []),
        # A consent of another customer, and one of another company.
        (
            (*consent("o", ASKS, keys=["Z"], subject="other"), *consent("c"), listed(*BARE)),
            ["withheld-otherwise agrees 7,8,9"],
        ),
        ((*consent("o", ASKS, by="tpp"), *consent("c"), listed(*NAMED, by="other")), []),
        (
            (*consent("c", by="other"), *consent("o", ASKS, by="tpp"), listed(*BARE, by="other")),
            ["withheld-otherwise agrees 5,6,9"],
        ),
    ],
)
def test_the_field_is_withheld_otherwise(events, expected):
    """Under a consent in no mode, where no other one can have opened it."""
    assert [SHOWN, *expected] == said(*SEEN, *events)


@for_each(
    "events",
    [
        (made("c", ASKS),),
        (made("c", ASKS), signed("c", code=Code.WRONG)),
        (*consent("c", ASKS), ended("c")),
        (*consent("c", ASKS, validUntil="2020-01-01"),),
        (*consent("c", ASKS), *consent("d")),
        (*consent("c", ASKS, keys=["A", "A"]),),
        (*consent("o", ASKS, keys=["Z"], subject="other"), *consent("c")),
    ],
)
def test_nothing_is_certain_of_a_consent_that_may_open_nothing(events):
    """One that is unsigned, signed wrongly, ended, over, replaced, odd or another customer's."""
    assert [] == said(*events, listed(*BARE))


def test_a_field_that_never_shows_is_not_withheld():
    """It may stand in another place than the target file says; one that is shown stands there."""
    plain = (*consent("c"), listed(*BARE))
    assert [] == said(*plain)
    assert ["shown-in-mode disagrees 4,5,6"] == said(*plain, *consent("d", ASKS), listed(*BARE))
    assert ["withheld-otherwise disagrees 1,2,3"] == said(*consent("c"), listed(*NAMED))


def test_each_page_is_judged_under_its_consent():
    """A further page belongs to the consent of the page before it, if no other was made between."""
    first, second = listed(BARE[0], following="/2"), listed(NAMED[1], follow="/2")
    assert [
        SHOWN,
        "withheld-otherwise agrees 5,6,7",
        "withheld-otherwise disagrees 5,6,8",
    ] == said(*SEEN, *consent("c"), first, second)
    asked = [*SEEN, *consent("c", ASKS)]
    none = listed(BARE[0], following="/2"), listed(BARE[1], follow="/2")
    assert "shown-in-mode disagrees 5,6,8" in said(*asked, *none)
    assert "shown-in-mode unclear 5,6,7" in said(*asked, none[0])
    # Page by page no more is asked of a bank than of one that lists both on one page.
    one = listed(NAMED[0], following="/2"), listed(BARE[1], follow="/2")
    assert "shown-in-mode unclear 5,6,8" in said(*asked, *one)
    assert "shown-in-mode agrees 5,6,7" in said(*asked, listed(NAMED[0], BARE[1]))
    assert [SHOWN, "withheld-otherwise agrees 5,6,7"] == said(
        *SEEN, *consent("c"), first, *consent("d", ASKS), second
    )
    assert [SHOWN] == said(*SEEN, *consent("c"), second)


def test_a_customer_of_before_may_have_consented_before():
    """What is shown to one who is not new may be shown under a consent of an earlier day."""
    old = replace(PSU, fresh=False)
    assert [SHOWN, "withheld-otherwise unclear 5,6,7"] == said(
        *SEEN, *consent("c"), listed(*NAMED), subjects=(old,)
    )


def test_a_refusal_shows_nothing():
    """Whether it is served is for other rules."""
    call = Call(operation="accounts", subject="psu")
    assert [] == said(*consent("c", ASKS), exchange(call, refused()))


def test_what_belongs_to_one_thing_is_covered_with_it(tmp_path):
    """Items of an operation about one thing are those of the consent that names this thing."""
    text = XS2A.read_text("utf-8").replace(
        "operation: accounts\n    mode: with", "operation: balances\n    mode: with"
    )
    path = tmp_path / "xs2a.yaml"
    path.write_text(text.replace("field: ownerName\n", "field: balanceType\n"))

    def read_balances(**fields):
        return read(accepted(Item(key=None, fields=fields)))

    events = (
        *consent("c"),
        read_balances(),
        *consent("d", ASKS),
        read_balances(balanceType="expected"),
    )
    kind = kind_in(path, "accounts.owner")
    assert ["shown-in-mode agrees 4,5,6", "withheld-otherwise agrees 1,2,3"] == evidence(
        kind, history(PSU, *events)
    )
    # A consent that does not name the thing does not ask for its fields.
    events = (*consent("d", ASKS, keys=["B"]), read_balances())
    assert [] == evidence(kind, history(PSU, *events))


def test_the_field_is_known_to_be_conditional():
    """Other rules and the doctor ask for it."""
    shown = f"under a consent in the mode {ASKS}"
    assert {("accounts", "ownerName"): shown} == facts_of(clause(ABOUT).contract).conditional_fields
