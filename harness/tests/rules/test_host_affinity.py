"""`host-affinity` looks at where links lead."""

from dataclasses import replace

from account_information import FAILED, LOST, NO, ask, check
from rows import for_each

from assay.testing import listed

HERE = "https://www.30001.live.bank.example/accounts"


def links(*given, url=HERE, came=None, operation="accounts"):
    event = ask(operation, came or listed("A1"))
    return check("live-host", replace(event, wire=replace(event.wire, url=url, links=given)))


@for_each(
    "link",
    [
        "https://www.30001.live.bank.example/accounts?page=2",
        "https://WWW.30001.Live.Bank.Example/accounts?page=2",
        "https://www.30001.live.bank.example:443/accounts",
        "http://www.30001.live.bank.example/accounts",
        "/accounts?page=2",
        "?page=2",
    ],
)
def test_a_link_to_the_same_host_is_there_however_it_is_spelt(link):
    """Case, the scheme's own port and relative links change nothing."""
    assert ["accounts-links agrees 1"] == links(link)
    assert ["accounts-links agrees 1"] == links(link, url=HERE.replace("example/", "example:443/"))


@for_each(
    "link",
    [
        "https://www.30002.live.bank.example/accounts",
        "https://www.30001.live.bank.example:8443/accounts",
        "https://www.30001.live.bank.example.evil.example/",
        "https://www.30001.live.bank.example@evil.example/",
        "//evil.example/accounts",
        "mailto:bank@bank.example",
        "http://[::1",
        "http://h:port/",
        "invalid://nowhere",
    ],
)
def test_a_link_to_another_host_or_to_none_leads_astray(link):
    """Also among good ones, and also when it is no URL at all."""
    assert ["accounts-links disagrees 1"] == links(HERE, link)


@for_each("came", [FAILED, LOST])
def test_answers_without_meaning_and_without_links_are_not_judged(came):
    """A failure's page may lead wherever it likes."""
    assert [] == links("https://evil.example/", came=came)
    assert [] == links()
    assert [] == links("https://evil.example/", operation="consents")


def test_a_refusals_links_are_judged():
    """It is an answer of the interface."""
    assert ["accounts-links disagrees 1"] == links("https://evil.example/", came=NO)
