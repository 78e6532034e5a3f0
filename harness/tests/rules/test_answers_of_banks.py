"""What follows from a bank's answers about account information, as literal histories."""

from datetime import timedelta

from account_information import FAILED, NO, TODAY, account, ask, card, check, consent, item, owner
from rows import for_each

from assay.testing import listed

PSU = owner("psu", account("A1", 1, 2), account("A2", 1), card("C1"))
DATA = listed("x")


def balances(came=DATA, about="A1", **how):
    return ask("balances", came, about, **how)


def only(part, found):
    return [each for each in found if part in each]


# -- does a new consent replace the former one? ----------------------------------------
BOTH = (consent("A1"), balances(), consent("A2"), balances(about="A2"))


def former(*events, replaces="former"):
    return only("former", check("consent.scope", PSU, *events, replaces=replaces))


@for_each(
    ("replaces", "came", "said"),
    [
        ("former", NO, ["balance-former-refused agrees 5"]),
        ("former", DATA, ["balance-former-refused disagrees 5"]),
        ("former", FAILED, ["balance-former-refused unclear 5"]),
        ("nothing", DATA, ["balance-former-served agrees 5"]),
        ("nothing", NO, ["balance-former-served disagrees 5"]),
        ("nothing", FAILED, ["balance-former-served unclear 5"]),
        ("unspecified", DATA, []),
        ("unspecified", NO, []),
    ],
)
def test_what_only_a_former_consent_names(replaces, came, said):
    """It is refused where consents replace each other, and served where they add up."""
    assert said == former(*BOTH, balances(came), replaces=replaces)


@for_each(
    "events",
    [
        # It was never served under its own consent.
        (consent("A1"), consent("A2"), balances(about="A2"), balances(NO)),
        # Nothing is served under the new consent: the bank may be down.
        (consent("A1"), balances(), consent("A2"), balances(NO)),
        # The new consent was refused, and so it replaced nothing.
        (consent("A1"), balances(), consent("A2", came=NO), balances()),
        # The new consent names both.
        (consent("A1"), balances(), consent("A1", "A2"), balances(about="A2"), balances()),
        # What became of a consent is not known.
        (*BOTH[:2], consent("A2", came=FAILED), consent("A2"), balances(about="A2"), balances()),
        # Without the customer, a call may be one too many.
        (*BOTH, balances(NO, present=False)),
    ],
)
def test_nothing_is_said_where_another_cause_is_possible(events):
    """Each of these banks may replace consents, or not."""
    for replaces in ("former", "nothing"):
        assert [] == former(*events, replaces=replaces)


# -- what counts? ----------------------------------------------------------------------
def absent(came=DATA, about="A1", **how):
    return ask("balances", came, about, present=False, **how)


def counting(*events, **said):
    found = check("batch-quota", PSU, consent("A1"), *events, balances(), **said)
    return [each for each in found if each.partition(" ")[0].rpartition("-")[2] in WORDS]


WORDS = {"count", "free", "share", "apart"}
REFUSED = [absent(NO, about="A2")] * 4


@for_each(
    ("word", "came", "said"),
    [
        ("free", DATA, ["refused-calls-free agrees 6"]),
        ("free", NO, ["refused-calls-free disagrees 6"]),
        ("counted", NO, ["refused-calls-count agrees 6"]),
        ("counted", DATA, ["refused-calls-count disagrees 6"]),
        ("unspecified", DATA, []),
    ],
)
def test_refused_calls_count_or_not(word, came, said):
    """Four calls beyond the consent use up the limit, or leave it whole."""
    assert said == counting(*REFUSED, absent(came), **{"refused-calls": word})


@for_each(
    "events",
    [
        # Three are left after one refused call.
        (absent(NO, about="A2"), absent()),
        # Four served calls use up the limit in any case.
        (*[absent()] * 4, *REFUSED, absent(NO)),
        # One call failed, and may have counted.
        (*REFUSED[:3], absent(FAILED), absent(NO)),
        # A page turn beside the refused calls leaves open what has counted.
        (*REFUSED[:3], absent(), absent(follow="2"), absent(NO)),
    ],
)
def test_nothing_is_said_where_something_else_may_count(events):
    """Only calls of one doubtful kind, beside plain ones that were served, show how they count."""
    assert [] == counting(*events, **{"refused-calls": "free"})


@for_each(
    ("word", "came", "said"),
    [
        ("free", DATA, "page-turns-free agrees 6"),
        ("free", NO, "page-turns-free disagrees 6"),
        ("counted", NO, "page-turns-count agrees 6"),
        ("counted", DATA, "page-turns-count disagrees 6"),
    ],
)
def test_page_turns_count_or_not(word, came, said):
    """A list of four pages is four calls, or one."""
    turns = [absent(follow=str(page)) for page in (2, 3, 4)]
    assert said == counting(absent(), *turns, absent(came), **{"page-turns": word})[0]


@for_each(
    ("word", "came", "said"),
    [
        ("shared", NO, "names-share agrees 6"),
        ("shared", DATA, "names-share disagrees 6"),
        ("apart", DATA, "names-apart agrees 6"),
        ("apart", NO, "names-apart disagrees 6"),
    ],
)
def test_two_names_share_a_count_or_not(word, came, said):
    """Four calls by one name use up that of the other, or do not."""
    found = check(
        "batch-quota", PSU, consent("A1"), *[absent()] * 4, absent(came, alias=0),
        balances(alias=0), balances(), names=word,
    )  # fmt: skip
    assert said in found


# -- what is listed after a consent? ---------------------------------------------------
@for_each(
    ("came", "said"),
    [
        (listed("A1", "A2", "C1"), "all-with-consent agrees 2"),
        (listed("A1"), "all-with-consent disagrees 2"),
        (listed("A1", "A2", item()), "all-with-consent unclear 2"),
    ],
)
def test_everything_stays_listed_after_a_consent_to_a_part(came, said):
    """What the consent does not name is there, too."""
    assert said in check(
        "accounts.listing", PSU, consent("A1"), ask("accounts", came), everything=True
    )


# -- has an account a balance of each type? --------------------------------------------
@for_each(
    ("types", "about", "said"),
    [
        (("CLBD", "VALU", "OTHR"), "A1", ["balance-each agrees 1"]),
        (("CLBD", "VALU", "OTHR", "CLBD"), "A1", ["balance-each agrees 1"]),
        (("CLBD", "VALU"), "A1", ["balance-each disagrees 1"]),
        (("CLBD", "VALU"), "C1", []),
    ],
)
def test_each_account_has_a_balance_of_each_type(types, about, said):
    """Of a card the bank says nothing."""
    shown = ask("balances", listed(*(item(balanceType=each) for each in types)), about)
    assert said == only("-each", check("balance-type", PSU, shown, complete=["balance"]))


# -- how far back does the history go? -------------------------------------------------
AGED = owner("psu", account("A1", 1, 89, 90, 91))


def history(*ages, next=None, **said):
    items = (item(f"A1-{age}", on=TODAY - timedelta(days=age)) for age in ages)
    found = check(
        "transactions.depth", AGED, ask("transactions", listed(*items, next=next), "A1"), **said
    )
    return [each for each in found if "edge" in each or "goes-back" in each]


@for_each(
    ("ages", "said", "verdict"),
    [
        ((1, 89, 90), {"edge": "included"}, ["shows-the-edge agrees 1"]),
        ((1, 89), {"edge": "included"}, ["shows-the-edge disagrees 1"]),
        ((1, 89), {"edge": "excluded"}, ["hides-the-edge agrees 1"]),
        ((1, 89, 90), {"edge": "excluded"}, ["hides-the-edge disagrees 1"]),
        ((1, 89), {"least": 90}, ["goes-back agrees 1"]),
        ((1,), {"least": 90}, ["goes-back disagrees 1"]),
        ((1,), {"least": 60}, ["goes-back agrees 1"]),
        ((1,), {}, []),
    ],
)
def test_how_far_back_a_history_goes(ages, said, verdict):
    """The ninetieth day is judged only where the bank says on which side it is."""
    assert verdict == history(*ages, **said)


def test_a_history_is_judged_when_all_its_pages_are_read():
    """What is missing may stand on the next page."""
    assert [] == history(1, next="2", least=90)
