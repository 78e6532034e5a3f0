"""`return-address` compares where a customer was sent with where the request said."""

from dataclasses import replace
from datetime import timedelta

from account_information import LOST
from payment_initiation import (
    BACK,
    CONFIRMED,
    DISCONNECTED,
    DONE,
    ENDED,
    OPEN,
    REFUSED,
    REJECTED,
    STOPPED,
    Signing,
    cancel,
    check,
    effects,
    make,
    modify,
    payer,
    ruled,
    shown,
    story,
)
from rows import for_each

from assay.history import Call, Decision
from assay.planning.plan import count_calls
from assay.rules.lifecycle.request_queries import same_url
from assay.testing import evidence

QUERY = "https://tpp.example/back?state=4711&x=%C3%A9"
EVIL = "https://evil.example/take"
CONTROL = story("P1")


def says(*events):
    return check("report-url", payer(), *events)


def sent(right, redirected, **seen):
    """Write down that somebody signed what named one address, and was sent to another."""
    return story("P1", arguments={"successfulReportUrl": right}, redirected=redirected, **seen)


# -- after signing --------------------------------------------------------------------
@for_each(
    ("right", "redirected"),
    [
        (BACK, BACK),
        (QUERY, QUERY),
        (QUERY, "https://TPP.example:443/back?state=4711&x=%c3%a9"),
        ("https://tpp.example", "https://tpp.example/"),
        ("https://tpp.example/a%7eb", "https://tpp.example/a~b"),
        ("https://tpp.example/back#done", "https://tpp.example/back#done"),
        ("http://localhost:80/", "HTTP://localhost/"),
        ("tpp-app:signed", "tpp-app:signed"),
        (BACK, BACK + "?state=4711&id=P1"),
        (BACK, BACK + "#done"),
        ("tpp-app:signed", "tpp-app:signed?id=P1"),
        (QUERY, QUERY + "&id=P1"),
        (QUERY, QUERY + "&state=confirm"),
        (QUERY, "https://tpp.example/back?id=P1&x=%C3%A9&state=4711"),
        (BACK + "?q=a+b&flag", BACK + "?q=a%20b&flag=&id=P1"),
    ],
)
def test_who_has_signed_is_sent_to_the_address(right, redirected):
    """The same text, one that RFC 3986 says is the same, or that with parameters of the bank."""
    assert ["after-signing agrees 1,2,3"] == says(*sent(right, redirected))


@for_each(
    ("redirected", "agreement"),
    [
        (BACK, "agrees"),
        (BACK + "?id=P1", "agrees"),
        (BACK + "?state=4711&id=P1", "agrees"),
        (BACK + "?id=P1&debug=1", "disagrees"),
        (BACK + "?ID=P1", "disagrees"),
        (EVIL + "?id=P1", "disagrees"),
    ],
)
def test_a_bank_adds_what_its_file_says(redirected, agreement):
    """Where the target file names the additions, another one makes it another address."""
    adds = ("state", "id")
    assert [f"after-signing {agreement} 1,2,3"] == says(*sent(BACK, redirected, adds=adds))


@for_each("right", ["", "back", "no address at all", "/back"])
def test_what_is_no_address_is_not_judged(right):
    """A bank that accepts it cannot send anybody there."""
    assert [] == says(*sent(right, None))


@for_each(
    "redirected",
    [
        "https://tpp.example/back",
        "https://tpp.example/",
        BACK + "?status=confirm",
        QUERY.replace("4711", "4712"),
        QUERY.replace("4711", "4712") + "&status=confirm",
        QUERY.replace("&", ""),
        QUERY.replace("https", "http"),
        QUERY.replace("tpp.example", "tpp.example:8443"),
        QUERY.replace("tpp.example", "tpp.example.evil.example"),
        QUERY.replace("tpp.example", "me@tpp.example"),
        QUERY.replace("back", "Back"),
        QUERY.replace("%C3%A9", "%2526"),
        EVIL,
        "tpp-app:signed",
        "https://[",
        "https://tpp.example:0/back",
        "",
    ],
)
def test_who_has_signed_is_sent_elsewhere(redirected):
    """What the request named in its query is lost or changed, too."""
    assert ["after-signing disagrees 1,2,3"] == says(*sent(QUERY, redirected))


@for_each(
    ("right", "redirected"),
    [
        (BACK + "?id=1&id=1", BACK + "?id=1&state=2"),
        (BACK + "#done", BACK),
        (BACK + "#done", BACK + "?state=2#failed"),
        ("tpp-app:signed", "tpp-app:other?id=P1"),
        ("back", "back?id=P1"),
    ],
)
def test_what_the_request_named_is_kept(right, redirected):
    """Each parameter as often as it was named, and the fragment; and it is an address at all."""
    assert ["after-signing disagrees 1,2,3"] == says(*sent(right, redirected))


def test_an_escape_that_means_something_is_none_to_be_undone():
    """What an escaped sign stands for is not what the bare sign would do."""
    assert not same_url("https://tpp.example/?a=%26b", "https://tpp.example/?a=&b")
    assert not same_url("https://tpp.example/a%2Fb", "https://tpp.example/a/b")
    assert same_url("https://tpp.example/a%2fb", "https://tpp.example/a%2Fb")


@for_each(("stuck", "word"), [(True, "disagrees"), (False, "unclear")])
def test_who_has_signed_stays(stuck, word):
    """On a page that leads nowhere; one with a link or a script may lead there."""
    assert [f"after-signing {word} 1,2,3"] == says(*sent(BACK, None, stuck=stuck))


def test_what_was_put_off_is_signed_before_its_day():
    """Still open, and seen to be."""
    put_off = {"mode": "deferred", "date": "2026-09-19", "successfulReportUrl": BACK}
    for redirected, word in ((BACK, "agrees"), (EVIL, "disagrees")):
        way = story("P1", CONFIRMED, OPEN, arguments=put_off, redirected=redirected)
        assert [f"after-signing {word} 1,2,3"] == says(*way)
        assert [] == says(*way[:2])
        # It may have been rejected since it was made, as a repeat: it was not read.
        assert [] == says(*way[:2], effects())
        for state in (REJECTED, ENDED):
            over = story("P1", CONFIRMED, state, arguments=put_off, redirected=redirected)
            assert [] == says(*over)


@for_each("step", [{"linger": (timedelta(minutes=31),)}, {"pace": timedelta(1)}])
def test_who_pauses_may_be_disconnected_before_its_day(step):
    """A request that waits for its day is open whether it was signed or not."""
    put_off = {"mode": "deferred", "date": "2026-09-19", "successfulReportUrl": BACK}
    way = story("P1", CONFIRMED, OPEN, arguments=put_off, redirected=None, stuck=True, step=step)
    assert [] == says(*way)


@for_each("state", [OPEN, REJECTED, ENDED])
@for_each("redirected", [BACK, EVIL, None])
def test_what_was_not_carried_out_is_not_judged(state, redirected):
    """A rule may have rejected it, and the customer been sent where that is told."""
    assert [] == says(*story("P1", CONFIRMED, state, redirected=redirected))


@for_each(
    "seen",
    [
        {"ending": DISCONNECTED},
        {"ending": STOPPED},
        {"status": 503},
        {"step": {"by": "other"}},
        {"looked": LOST, "state": OPEN},
    ],
)
def test_ways_that_tell_nothing(seen):
    """Nobody signed, or nobody knows, or it was somebody else."""
    assert [] == says(*story("P1", **{"redirected": EVIL, **seen}))


def test_what_was_touched_otherwise_is_not_judged():
    """Nor what is said of a request that nobody made, or of two that have one key."""
    way = sent(BACK, EVIL)
    assert [] == says(*way, cancel())
    assert [] == says(*way, modify(shown("P1", DONE), amount="1.00"))
    assert [] == says(way[1])
    assert [] == says(make(), *way)


def test_a_request_without_an_address_is_not_judged():
    """One that is lacking cannot be gone to; that there must be one is another clause's."""
    assert ["after-signing unclear 1,2,3"] == says(*sent(None, EVIL))


# -- after refusing ---------------------------------------------------------------------
@for_each("redirected", [None, EVIL, BACK, BACK + "?refused=1"])
def test_where_one_is_sent_who_refused_is_not_judged(redirected):
    """The document does not say it: a bank may know one address only."""
    refused = story("P2", REFUSED, ENDED, redirected=redirected, step={"decision": Decision.REFUSE})
    assert ["after-signing agrees 1,2,3"] == says(*CONTROL, *refused)


# -- claims of the browser --------------------------------------------------------------
def spoofed(spoof, redirected, **seen):
    """Write down that a browser asked to be sent somewhere, and where it was sent."""
    return story("P2", redirected=redirected, step={"spoof": spoof}, **seen)


def only(*events):
    return [line for line in says(*CONTROL, *events) if line.startswith("only-there")]


@for_each("spoof", [EVIL, BACK + "/x", "https://tpp.example.evil.example/back"])
def test_the_browser_asks_in_vain(spoof):
    """It goes where the request said."""
    assert ["only-there agrees 1,2,3,4,5,6"] == only(*spoofed(spoof, BACK))


@for_each(
    ("spoof", "redirected"),
    [
        (EVIL, EVIL),
        (EVIL, "https://evil.example/"),
        (BACK + "/x", BACK + "/x"),
        ("https://tpp.example.evil.example/back", "https://tpp.example.evil.example/back"),
        ("evil-app:take", "evil-app:take"),
    ],
)
def test_the_browser_is_sent_where_it_asked_to_be(spoof, redirected):
    """To the very address, or at least to its host."""
    assert ["only-there disagrees 1,2,3,4,5,6"] == only(*spoofed(spoof, redirected))


@for_each(
    ("spoof", "redirected"),
    [
        (EVIL, None),
        (EVIL, "https://tpp.example/"),
        (EVIL, "https://www.bank.example/"),
        (EVIL, "evil-app:take"),
        (BACK + "/x", "https://tpp.example/y"),
        ("evil-app:take", EVIL),
    ],
)
@for_each("stuck", [True, False])
def test_what_goes_wrong_for_another_reason_is_another_facets(spoof, redirected, stuck):
    """It went elsewhere, and not because the browser asked."""
    assert ["only-there unclear 1,2,3,4,5,6"] == only(*spoofed(spoof, redirected, stuck=stuck))


def test_a_claim_says_nothing_of_plain_ways():
    """It is judged as what it is, and is no control for others."""
    claim = story("P1", step={"spoof": EVIL})
    assert ["only-there agrees 1,2,3"] == says(*claim)


def test_an_address_without_a_host():
    """An app of the third party's: the browser asks to be sent to a site, and is."""
    app = {"successfulReportUrl": "tpp-app:signed"}
    for redirected, word in (("tpp-app:signed", "agrees"), (EVIL, "disagrees")):
        way = spoofed(EVIL, redirected, arguments=app)
        assert [f"only-there {word} 1,2,3"] == says(*way)


def test_nothing_came_of_anything():
    """Where nothing is answered there is nothing to say."""
    assert [] == says(make(LOST), *story("P2", REFUSED, ENDED, made=LOST, looked=LOST))


# -- the probe ----------------------------------------------------------------------------
def probed(bank):
    """Return the clause, and what was played of it at a bank."""
    p = ruled("report-url")
    return p, bank.play(p, "ways-back")


def test_the_price():
    """What the plan says is what it costs."""
    p, played = probed(Signing())
    assert count_calls(p, p.scenario("ways-back")) == played.spent


@for_each(
    ("address", "added"), [(BACK + "?state=1", "&visit=2&step=back"), (BACK, "?visit=2&step=back")]
)
def test_the_probe_has_an_address_of_its_own(address, added):
    """One is the profile's; the other has more in its query, so that what is lost can be seen."""
    bank = Signing(address=address)
    probed(bank)
    addresses = [one["successfulReportUrl"] for one in bank.asked.values()]
    assert [address, address + added] == addresses[:2]
    assert {address} == set(addresses[2:])
    about = [one["debtorAccount"] for one in bank.asked.values()]
    assert len(set(about)) == len(about)


def test_the_probe_asks_for_addresses_that_begin_alike():
    """Another page there, a host that begins with the right one, and one that does not."""
    _, played = probed(Signing())
    assert [
        "https://tpp.example/elsewhere",
        "https://tpp.example.elsewhere.example/back?state=1",
        "https://another.elsewhere.example/",
    ] == [one.spoof for one in played.signatures if one.spoof]


def test_an_address_of_which_nothing_is_known():
    """The history does not tell what the profile has: other addresses are asked for."""

    class Unknown(Signing):
        """A bank whose target file does not say what is sent."""

        def reply(self, step, reply):
            reply = super().reply(step, reply)
            return replace(reply, call=step) if isinstance(step, Call) else reply

    _, played = probed(Unknown())
    assert 3 == len({one.spoof for one in played.signatures if one.spoof})


def test_a_bank_that_does_all_that_is_asked_conforms():
    """The probe's own history, of a bank whose browsers go where they should."""
    p, played = probed(Signing())
    said = [line.rpartition(" ")[0] for line in evidence(p, played.history, alone=True)]
    assert ["after-signing agrees"] * 2 + ["only-there agrees"] * 3 == said


def test_nothing_is_signed_where_nothing_can_be_made():
    """A refusal does not make the probe stumble."""
    _, played = probed(Signing(refuses=True))
    assert () == played.signatures


# -- after a refusal, where the bank says so -------------------------------------------------
def refusing(redirected=None, **seen):
    """Write down that a customer refused, and was sent somewhere."""
    step = {"decision": Decision.REFUSE, **seen.pop("step", {})}
    seen = {"stuck": redirected is None, **seen}
    return story("P2", REFUSED, ENDED, redirected=redirected, step=step, **seen)


def answered(where, *events):
    """Return what is said of a customer who refused, beside one who signed."""
    lines = check("report-url", payer(), *events, **{"after-refusal": where})
    return [line for line in lines if "refusal" in line]


@for_each(
    ("redirected", "same", "nowhere"),
    [
        (BACK, "agrees", "disagrees"),
        (BACK + "?error=denied", "agrees", "disagrees"),
        ("https://tpp.example/", "disagrees", "disagrees"),
        ("https://www.bank.example/", "disagrees", "unclear"),
        (EVIL, "disagrees", "unclear"),
        (None, "disagrees", "agrees"),
    ],
)
def test_where_one_is_sent_who_refused(redirected, same, nowhere):
    """To the address and back to the TPP are contraries; of a page of the bank's nothing is known."""
    events = *CONTROL, *refusing(redirected)
    assert [f"back-after-refusal {same} 1,2,3,4,5,6"] == answered("same-address", *events)
    assert [f"not-back-after-refusal {nowhere} 1,2,3,4,5,6"] == answered("nowhere", *events)


def test_a_refusal_is_judged_only_where_it_is_said():
    """The document does not say where one is sent who refused."""
    assert [] == answered("unspecified", *CONTROL, *refusing(BACK))
    assert ["after-signing", "only-there"] == [each.id for each in ruled("report-url").facets()]


@for_each("where", ["same-address", "nowhere"])
@for_each(
    "events",
    [
        # The page may lead on by a link or a script.
        (*CONTROL, *refusing(stuck=False)),
        # Nobody was sent back who signed, so that a redirection may be one that nobody sees.
        refusing(),
        (*story("P1", redirected=None), *refusing()),
    ],
)
def test_a_page_may_lead_on(where, events):
    """Then it is not decided."""
    assert {"unclear"} == {line.split()[1] for line in answered(where, *events)}


@for_each("where", ["same-address", "nowhere"])
@for_each("redirected", [BACK, EVIL, None])
@for_each(
    "seen",
    [
        {"ending": DISCONNECTED},
        {"step": {"linger": (timedelta(minutes=3),)}},
        {"step": {"by": "other"}},
        {"status": 403},
        {"status": 503},
        {"state": DONE},
    ],
)
def test_who_did_not_just_refuse_is_left_alone(where, redirected, seen):
    """The customer was disconnected or somebody else, the bank did not take it, or carried it out."""
    step = {"decision": Decision.REFUSE, **seen.get("step", {})}
    ending, state = seen.get("ending", REFUSED), seen.get("state", ENDED)
    events = story(
        "P2", ending, state, status=seen.get("status"), redirected=redirected, stuck=True, step=step
    )
    assert [] == answered(where, *CONTROL, *events)


def test_a_request_that_was_cancelled_is_left_alone():
    """The page may be about that."""
    made, way, looked = refusing(BACK)
    assert [] == answered("nowhere", *CONTROL, made, cancel(key="P2"), way, looked)


def test_the_price_of_a_refusal():
    """What the plan says is what it costs."""
    clause = ruled("report-url", **{"after-refusal": "nowhere"})
    played = Signing().play(clause, "refusal")
    assert count_calls(clause, clause.scenario("refusal")) == played.spent
    assert [Decision.CONFIRM, Decision.REFUSE] == [each.decision for each in played.signatures]
