"""Neutral variants of account information: banks that differ where the document is silent.

Status codes, bodies of refusals, further members, order, a shorter history and the effect
of a second consent are not in the document, so no check may depend on them.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import count

from assay.sandbox.access import BATCH, CARD_WINDOW, Access, ConsentRequest, Listing
from assay.sandbox.accounts import Cut, Cutter, Entry, IdSeed, Item, Row, pages_of
from assay.sandbox.calendar import NINETY_DAYS
from assay.sandbox.messages import OPERATIONS, Answer, Fault, Json, Request, error, login_in
from assay.sandbox.mutants.accounts import check_digit
from assay.sandbox.mutants.mutant import Change, answering, edge_flipped, limited_to, neutral
from assay.sandbox.policies import SOUND, Policies, put

__all__ = ["NEUTRAL_ANSWERS"]


def _refused(**codes: int) -> Change:
    return lambda bank: replace(bank, refusals=put(bank.refusals, **codes))


def _unattended(access: Access) -> bool:
    return not access.attended


def _each_name(access: Access) -> tuple[str, str, str]:
    return access.customer, access.operation, access.name


def _not_offered(status: int) -> Change:
    def answer(_consented: bool) -> Answer:
        return error(status, "this operation is not available")

    return lambda bank: replace(
        bank, unavailable=put(bank.unavailable, trustedBeneficiaries=answer, endUserIdentity=answer)
    )


def _as_written(identifier: str) -> str:
    return identifier


def _identity_as_list(name: str, consented: bool) -> Row:
    return {"PsuIdentity": [name] if consented else []}


def _digits(id_seed: IdSeed) -> str:
    """Return an encrypted PAN that keeps its format."""
    digits = f"9{id_seed.seed % 10**7:07d}{id_seed.serial % 10**7:07d}"
    return f"{digits}{check_digit(digits)}"


def _without_check_digit(id_seed: IdSeed) -> str:
    """Return a token that keeps the format of a PAN, and fails Luhn so that it is none."""
    digits = f"4{_digits(id_seed)[1:15]}"
    return f"{digits}{(1 + check_digit(digits)) % 10}"


def _numbered_token(id_seed: IdSeed) -> str:
    """Return a token whose digits pass Luhn's test by chance, as every tenth number does."""
    return f"tok-4{(id_seed.seed * 7919 + id_seed.serial * 104_729_041) % 10**15:015d}"


def _unreadable_is(status: int) -> Change:
    def found(_fault: Fault) -> int:
        return status

    return lambda bank: replace(
        bank, malformed=put(bank.malformed, **dict.fromkeys(OPERATIONS, found))
    )


def _wider(value: Json) -> Json:
    """Add members to every object except links."""
    if isinstance(value, Mapping):
        grown = {
            name: member if name == "links" else _wider(member) for name, member in value.items()
        }
        return {**grown, "x-note": None, "x-more": {"since": 2026}}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_wider(member) for member in value]
    return value


def _with_more(answer: Answer) -> Answer:
    return answer if isinstance(answer.body, bytes) else replace(answer, body=_wider(answer.body))


def _always(_request: Request, _answer: Answer) -> bool:
    return True


def _is_error(_request: Request, answer: Answer) -> bool:
    return answer.status >= 400  # noqa: PLR2004


def _is_success(_request: Request, answer: Answer) -> bool:
    return answer.status < 300  # noqa: PLR2004


def _is_consent(request: Request, answer: Answer) -> bool:
    return request.operation == "consents" and answer.status == 201  # noqa: PLR2004


def _as_html(answer: Answer) -> Answer:
    page = b"<!doctype html><title>No</title><p>Something is not right."
    return replace(answer, body=page, media="text/html; charset=utf-8")


def _with_headers(answer: Answer) -> Answer:
    headers = (("X-Request-Id", "0f3c"), ("Cache-Control", "no-store"))
    return replace(answer, headers=(*answer.headers, *headers))


def _with_groups(answer: Answer) -> Answer:
    """Write each IBAN of a list as it is printed on paper."""
    if isinstance(answer.body, bytes) or not isinstance(answer.body, Mapping):
        return answer
    return replace(answer, body={name: _grouped(value) for name, value in answer.body.items()})


def _grouped(value: Json) -> Json:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_grouped(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    iban = value.get("iban")
    if not isinstance(iban, str) or not re.fullmatch(r"FR\d{12}\w{11}\d\d", iban, re.ASCII):
        return value
    return {**value, "iban": " ".join(iban[at : at + 4] for at in range(0, len(iban), 4))}


def _oldest_first(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    return entries[::-1]


def _last_first(listing: Listing) -> Sequence[Item]:
    return listing.items[::-1]


def _consented_only(listing: Listing) -> Sequence[Item]:
    consent = listing.consent
    return [item for item in listing.items if consent is None or item.key in consent]


def _consented_cards_only(listing: Listing) -> Sequence[Item]:
    consent = listing.consent
    return [
        item
        for item in listing.items
        if consent is None or item.resource == "account" or item.key in consent
    ]


def _never(_now: datetime) -> bool:
    return False


def _adds_up(former: frozenset[str] | None, new: frozenset[str]) -> frozenset[str]:
    return new | (former or frozenset())


def _one_page_more(size: int) -> Cutter:
    """Name one more page, which is empty, after a last page that is full."""
    right = pages_of(size)

    def cut(count: int, page: int) -> Cut:
        full = page * size == count
        return replace(right(count, page), next=page + 1) if full else right(count, page)

    return cut


def _what_it_can(request: ConsentRequest) -> frozenset[str] | None:
    return request.grantable


_EDGE_EXCLUDED = replace(CARD_WINDOW, too_old=edge_flipped(CARD_WINDOW.too_old))


def _first_day_excluded(first: date | None, last: date | None) -> tuple[date | None, date | None]:
    return first and (first if first == first.max else first + timedelta(days=1)), last


def _last_day_excluded(first: date | None, last: date | None) -> tuple[date | None, date | None]:
    return first, last and (last if last == last.min else last - timedelta(days=1))


def _numbered(bank: Policies) -> Policies:
    numbers = count(1)

    def respond(_request: Request, answer: Answer) -> Answer:
        if isinstance(answer.body, bytes) or not isinstance(answer.body, Mapping):
            return answer
        return replace(answer, body={**answer.body, "x-answer": next(numbers)})

    return replace(bank, respond=respond)


def _turned_around(bank: Policies) -> Policies:
    """Reverse every list in every second answer."""
    numbers = count(1)

    def respond(_request: Request, answer: Answer) -> Answer:
        body = answer.body
        if not isinstance(body, Mapping) or next(numbers) % 2:
            return answer
        return replace(answer, body={name: _turned(value) for name, value in body.items()})

    return replace(bank, respond=respond)


def _turned(value: Json) -> Json:
    return value[::-1] if isinstance(value, Sequence) and not isinstance(value, str) else value


def _printed(answer: Answer) -> Answer:
    """Write the members of every object in another order, with white space around them."""
    if isinstance(answer.body, bytes):
        return answer
    text = json.dumps(answer.body, indent="\t", sort_keys=True, ensure_ascii=False)
    return replace(answer, body=f" \r\n{text}\n".encode())


def _in_capitals(answer: Answer) -> Answer:
    headers = tuple((name.upper(), value) for name, value in answer.headers)
    return replace(answer, media=f"{answer.media.upper()} ; Charset=UTF-8", headers=headers)


def _with_nulls(answer: Answer) -> Answer:
    """Show null for the link to a page that there is not."""
    body = answer.body
    links = body.get("links") if isinstance(body, Mapping) else None
    if not isinstance(body, Mapping) or not isinstance(links, Mapping):
        return answer
    return replace(answer, body={**body, "links": {"next": None, "prev": None, **links}})


def _is_empty_list(_request: Request, answer: Answer) -> bool:
    body = answer.body
    return isinstance(body, Mapping) and [] in (body.get("accounts"), body.get("transactions"))


def _linked(base: Callable[[str], str]) -> Change:
    return lambda bank: replace(bank, links=put(bank.links, **dict.fromkeys(bank.links, base)))


# fmt: off
NEUTRAL_ANSWERS = (
    neutral("more-fields", "every object in answers, except links, has further members",
        respond=answering(_always, _with_more)),
    neutral("more-headers", "every answer has further headers",
        respond=answering(_always, _with_headers)),
    neutral("404-outside-consent", "items outside the consent are not found (404)",
        _refused(scope=404, ineligible=404)),
    neutral("422-for-the-unreadable", "malformed requests are answered with 422",
        _unreadable_is(422)),
    neutral("403-for-the-quota", "the fifth access is answered with 403", _refused(quota=403)),
    neutral("unknown-is-forbidden",
        "accounts that do not exist are refused like other customers' accounts",
        _refused(unknown=403)),
    neutral("identifiers-as-written", "an IBAN in lower case or in groups is not found",
        iban_of=_as_written),
    neutral("credentials-refused",
        "calls with a customer's credentials in the query are refused, with a token or without",
        respond=answering(lambda request, _: login_in(request.query) is not None,
                    lambda _: error(400, "credentials are not accepted"))),
    neutral("not-offered-404", "operations that are not offered are answered with 404",
        _not_offered(404)),
    neutral("not-offered-501", "operations that are not offered are answered with 501",
        _not_offered(501)),
    neutral("not-offered-403", "operations that are not offered are answered with 403",
        _not_offered(403)),
    neutral("not-offered-204",
        "operations that are not offered are answered with 204 and no content",
        _not_offered(204),
        leaves="trusted-beneficiaries/refused-without-consent"
               " trusted-beneficiaries/refused-with-consent"
               " end-user-identity/refused-without-consent end-user-identity/refused-with-consent"),
    neutral("identity-empty-before", "before a consent, the identity is an empty list",
        identity=_identity_as_list),
    neutral("ibans-in-groups", "IBANs are shown in groups of four",
        respond=answering(_is_success, _with_groups)),
    neutral("cards-of-digits", "cards are identified by 16 digits that begin with 9 and pass Luhn",
        mint=put(SOUND.mint, card=_digits)),
    neutral("cards-without-a-check-digit",
        "cards are identified by 16 digits of a payment network that fail Luhn",
        mint=put(SOUND.mint, card=_without_check_digit), leaves="iban/card"),
    neutral("cards-of-numbered-tokens",
        "cards are identified by a word and 16 digits, some of which pass Luhn by chance",
        mint=put(SOUND.mint, card=_numbered_token)),
    neutral("hal", "successful answers have the media type application/hal+json with a charset",
        respond=answering(_is_success,
                    lambda answer: replace(answer, media="application/hal+json;charset=utf-8"))),
    neutral("relative-links", "links are relative", _linked(lambda _base: "")),
    neutral("links-with-port", "links have the port of their scheme, and their host in capitals",
        _linked(lambda base: f"{base.upper()}:443" if base.startswith("https:") else base)),
    neutral("links-null", "links to pages that do not exist are null",
        respond=answering(_always, _with_nulls)),
    neutral("printed", "answers have white space between members, which are in another order",
        respond=answering(_always, _printed)),
    neutral("media-in-capitals", "media types and the names of headers are in capitals",
        respond=answering(_always, _in_capitals)),
    neutral("empty-204", "a page without items is answered with 204 and no body",
        respond=answering(_is_empty_list, lambda answer: replace(answer, status=204, body=b""))),
    neutral("45-days", "the history is 45 days long",
        depth=replace(NINETY_DAYS, too_old=limited_to(45)(NINETY_DAYS.too_old))),
    neutral("89-days", "the history does not include the 90th day",
        depth=replace(NINETY_DAYS, too_old=edge_flipped(NINETY_DAYS.too_old))),
    neutral("no-instant-balance", "accounts have no balance of the type OTHR",
        lambda bank: replace(bank, balance_types=put(bank.balance_types, account=("CLBD", "VALU")))),
    neutral("untyped-outstandings", "the first outstanding of a card has no type",
        lambda bank: replace(
            bank, balance_types=put(bank.balance_types, card=(None, "VALU", "OTHR")))),
    neutral("oldest-first", "transactions are listed oldest first", order=_oldest_first),
    neutral("last-opened-first", "accounts are listed in reverse order", listed=_last_first),
    neutral("consented-listed", "with a consent only what it names is listed",
        listed=_consented_only),
    neutral("consented-cards-listed",
        "with a consent only the cards that it names are listed, and all accounts",
        listed=_consented_cards_only),
    neutral("consented-listed-adding-up",
        "only what any consent named is listed, once there is one",
        listed=_consented_only, renew=_adds_up),
    neutral("consents-add-up", "a consent adds to the former one", renew=_adds_up),
    neutral("empty-last-page", "a last page that is full is followed by an empty one",
        lambda bank: replace(bank, pages=put(bank.pages, accounts=_one_page_more(5),
                                             transactions=_one_page_more(15)))),
    neutral("consents-are-cut",
        "a consent is accepted whatever it names, and grants what can be granted",
        granted=_what_it_can),
    neutral("extended-is-ignored",
        "the extended history mode is ignored and returns the usual 90 days",
        extended=NINETY_DAYS),
    neutral("no-maintenance", "the bank stays open on Sundays", closed=_never),
    neutral("consents-200", "a consent is answered with 200",
        respond=answering(_is_consent, lambda answer: replace(answer, status=200))),
    neutral("consents-204", "a consent is answered with 204 and no body",
        respond=answering(_is_consent, lambda answer: replace(answer, status=204, body=b""))),
    neutral("edge-day-excluded", "a card last used exactly two months ago is not listed",
        lambda bank: replace(bank, eligible=put(bank.eligible, card=_EDGE_EXCLUDED),
                             grantable=put(bank.grantable, card=_EDGE_EXCLUDED))),
    neutral("refused-calls-count", "refused accesses count towards the quota",
        lambda bank: replace(bank, counts_refused=True, quota=put(bank.quota, **dict.fromkeys(
            OPERATIONS, (replace(BATCH, charges_refused=True),))))),
    neutral("page-turns-count", "each page of a list counts towards the quota",
        lambda bank: replace(bank, quota=put(bank.quota, **dict.fromkeys(
            OPERATIONS, (replace(BATCH, applies=_unattended, charged=_unattended),))))),
    neutral("names-apart", "each name of a method has a quota of its own",
        lambda bank: replace(bank, quota=put(bank.quota, **dict.fromkeys(
            OPERATIONS, (replace(BATCH, pool=_each_name),))))),
    neutral("names-of-transactions-apart", "each name of the transactions has a quota of its own",
        lambda bank: replace(bank, quota=put(
            bank.quota, transactions=(replace(BATCH, pool=_each_name),)))),
    neutral("first-day-excluded", "the requested first day is excluded from the range",
        period=_first_day_excluded),
    neutral("last-day-excluded", "the requested last day is excluded from the range",
        period=_last_day_excluded),
    neutral("numbered-answers", "every answer has a unique number", _numbered),
    neutral("lists-in-any-order", "every second answer has its lists in reverse order",
        _turned_around),
    neutral("errors-empty", "refusals have no body",
        respond=answering(_is_error, lambda answer: replace(answer, body=b""))),
    neutral("errors-html", "refusals are HTML", respond=answering(_is_error, _as_html)),
)
# fmt: on
