"""Random traffic of TPPs, and random mutilations of its recording.

Every entry has a number of its own in a header of its response (`X-Entry`), so that an exchange of a
mutilated recording can be found again in the whole one.
"""

import json
from contextlib import suppress
from copy import deepcopy
from datetime import datetime, timedelta

from clients import SECOND, VIOLATIONS, Client, clean, days_ago

ENTRY = "X-Entry"


# -- traffic -----------------------------------------------------------------------------
def wander(client, rng, calls):
    """Call the bank at random, as no TPP should: everything may happen before everything else."""
    customers = [client.customer({"resource": "account", "count": 2}) for _ in range(2)]
    payments = []
    for _ in range(calls):
        psu, act = rng.choice(customers), rng.choice(ACTS)
        options = {"present": rng.random() < 0.5}
        if rng.random() < 0.05:
            options["base"] = SECOND
        act(client, rng, psu, payments, options)


def _account(rng, psu):
    return rng.choice(psu["holdings"])["key"]


def _list(client, rng, psu, payments, options):
    client.get("/accounts", psu, **options)


def _consent(client, rng, psu, payments, options):
    client.consent(psu, _account(rng, psu))


def _balances(client, rng, psu, payments, options):
    client.get("/accounts/balances", psu, params={"iban": _account(rng, psu)}, **options)


def _transactions(client, rng, psu, payments, options):
    since = days_ago(client, rng.choice([10, 89, 120]))
    asked = {"iban": _account(rng, psu), "dateFrom": since}
    answer = client.get("/accounts/transactions", psu, params=asked, **options)
    with suppress(KeyError, TypeError):
        client.get(answer.json()["links"]["next"], psu)


def _pay(client, rng, psu, payments, options):
    changed = {"amount": rng.choice(["1.00", "2.00"])}
    if rng.random() < 0.4:
        day = (client.now.date() + timedelta(days=rng.randrange(1, 4))).isoformat()
        changed |= {"paymentType": "deferred", "requestedExecutionDate": day}
    made = client.pay(psu, **changed, without=rng.choice([(), (), ("chargeBearer",)]))
    if "paymentRequestResourceId" in made:
        payments.append(made)
        if rng.random() < 0.6:
            client.sign(made["paymentRequestResourceId"], psu)


def _read_payment(client, rng, psu, payments, options):
    if payments:
        client.payment("GET", rng.choice(payments))


def _change_payment(client, rng, psu, payments, options):
    if payments:
        change = rng.choice([{"amount": "3.00"}, {"status": "cancelled"}])
        client.payment("PUT", rng.choice(payments), json=change)


def _wait(client, rng, psu, payments, options):
    client.wait(**rng.choice([{"hours": 1}, {"hours": 9}, {"days": 1}]))


def _violate(client, rng, psu, payments, options):
    rng.choice([*VIOLATIONS.values()])(client, psu)


ACTS = [_list, _consent, _balances, _pay, _read_payment] * 2
ACTS += [_transactions, _change_payment, _wait, _violate]


def behave(client, rng, calls):
    """Do what a TPP may do, and break one obligation at most."""
    psu = clean(client)
    if rng.random() < 0.7:
        rng.choice([*VIOLATIONS.values()])(client, psu)


def record(path, rng, *, app=None, calls=30):
    """Return a whole recording as a document, in the order of time."""
    client = Client(app=app)
    with suppress(KeyError, TypeError, ValueError, AssertionError):  # a faulty bank
        rng.choice([wander, behave])(client, rng, calls)
    document = json.loads(client.har(path).read_text(encoding="utf-8"))
    for number, entry in enumerate(document["log"]["entries"]):
        entry["response"]["headers"].append({"name": ENTRY, "value": str(number)})
    return document


# -- mutilations -------------------------------------------------------------------------
def _some(rng, entries):
    """Return some of the entries, at least one of them."""
    share = rng.choice([0.1, 0.3, 0.6])
    chosen = [one for one in entries if rng.random() < share]
    return chosen or ([rng.choice(entries)] if entries else [])


def requests_without_bodies(rng, entries):
    """Lose the bodies of requests; their size may be known, or not."""
    for entry in _some(rng, entries):
        posted = entry["request"].get("postData")
        if posted:
            entry["request"]["bodySize"] = rng.choice([len(posted["text"]), -1, 0])
            kind = rng.randrange(3)
            if kind == 0:
                del entry["request"]["postData"]
            elif kind == 1:
                del posted["text"]
            else:
                posted["text"] = ""
    return entries


def responses_without_bodies(rng, entries):
    """Lose the bodies of responses."""
    for entry in _some(rng, entries):
        content = entry["response"]["content"]
        if rng.random() < 0.5:
            content.pop("text", None)
        else:
            content["text"] = ""
    return entries


def cut_bodies(rng, entries):
    """Cut the bodies of requests and responses at any place."""
    for entry in _some(rng, entries):
        for part in (entry["request"].get("postData"), entry["response"]["content"]):
            if part and part.get("text") and rng.random() < 0.5:
                part["text"] = part["text"][: rng.randrange(len(part["text"]))]
    return entries


def limited_bodies(rng, entries):
    """Keep the beginnings of bodies only, as recorders with a limit do; the size is the true one."""
    limit = rng.choice([0, 16, 64, 256])
    for entry in entries:
        posted, content = entry["request"].get("postData"), entry["response"]["content"]
        for part in (posted, content):
            if part and len(part.get("text") or "") > limit:
                part["text"] = part["text"][:limit]
    return entries


def repeated(rng, entries):
    """List one entry several times in a row, a little later each time, as a recorder that retries."""
    if not entries:
        return entries
    at = rng.randrange(len(entries))
    begun = datetime.fromisoformat(entries[at]["startedDateTime"])
    again = []
    for n in range(1, rng.randrange(2, 7)):
        copy = deepcopy(entries[at])
        copy["startedDateTime"] = (begun + n * timedelta(milliseconds=1)).isoformat()
        again.append(copy)
    return entries[: at + 1] + again + entries[at + 1 :]


def skewed(rng, entries):
    """Give some entries, or those of one host, the time of a clock that goes wrong."""
    shift = rng.choice([-1, 1]) * timedelta(seconds=rng.choice([1, 30, 300, 3600, 86400]))
    chosen = _some(rng, entries)
    if rng.random() < 0.3:
        chosen = [one for one in entries if one["request"]["url"].startswith(SECOND)]
    for entry in chosen:
        moment = datetime.fromisoformat(entry["startedDateTime"]) + shift
        entry["startedDateTime"] = moment.isoformat()
    return entries


def fewer(rng, entries):
    """Drop some entries."""
    dropped = {id(one) for one in _some(rng, entries)}
    return [one for one in entries if id(one) not in dropped]


def duplicated(rng, entries):
    """List some entries twice, beside each other or at the end."""
    twice = [deepcopy(one) for one in _some(rng, entries)]
    if rng.random() < 0.5:
        return entries + twice
    return sorted(entries + twice, key=lambda one: one["startedDateTime"])


def filtered(rng, entries):
    """Keep one kind of entries."""
    kept = rng.choice(
        [
            lambda one: one["request"]["method"] == "GET",
            lambda one: one["request"]["method"] != "GET",
            lambda one: one["response"]["status"] >= 400,
            lambda one: one["response"]["status"] < 400,
            lambda one: one["request"]["url"].startswith(SECOND),
            lambda one: "payment-requests" in one["request"]["url"],
            lambda one: "consents" not in one["request"]["url"],
        ]
    )
    return [one for one in entries if kept(one)]


def equal_times(rng, entries):
    """Give all entries, or those of a stretch, one time, and any order."""
    if not entries:
        return entries
    first = rng.randrange(len(entries)) if rng.random() < 0.5 else 0
    for entry in entries[first:]:
        entry["startedDateTime"] = entries[first]["startedDateTime"]
    tail = entries[first:]
    rng.shuffle(tail)
    return entries[:first] + tail


def shuffled_times(rng, entries):
    """Exchange the times of the entries."""
    times = [one["startedDateTime"] for one in entries]
    rng.shuffle(times)
    for entry, time in zip(entries, times, strict=True):
        entry["startedDateTime"] = time
    return entries


def shuffled_entries(rng, entries):
    """List the entries in any order."""
    rng.shuffle(entries)
    return entries


def without_zone(rng, entries):
    """Write the times without their offset: as they are, or in UTC."""
    shift = rng.random() < 0.5
    for entry in entries:
        moment = datetime.fromisoformat(entry["startedDateTime"])
        moment = (moment - moment.utcoffset()) if shift else moment
        entry["startedDateTime"] = moment.replace(tzinfo=None).isoformat()
    return entries


def _without_header(entries, part, name):
    for entry in entries:
        headers = entry[part]["headers"]
        entry[part]["headers"] = [one for one in headers if one["name"].lower() != name]


def without_request_header(rng, entries):
    """Leave out one header of every request, or of some."""
    names = ["authorization", "psu-ip-address", "content-type", "content-length", "host"]
    every = rng.random() < 0.7
    _without_header(entries if every else _some(rng, entries), "request", rng.choice(names))
    return entries


def without_response_header(rng, entries):
    """Leave out one header of every response, or of some."""
    every = rng.random() < 0.5
    names = ["content-type", "location", "content-length", "www-authenticate"]
    _without_header(entries if every else _some(rng, entries), "response", rng.choice(names))
    return entries


def redirected(rng, entries):
    """Make some responses redirects that name no place."""
    for entry in _some(rng, entries):
        entry["response"] |= {
            "status": rng.choice([301, 302, 303, 307]),
            "statusText": "",
            "redirectURL": "",
        }
        entry["response"]["content"] = {"mimeType": "", "size": 0}
    return entries


def without_tokens(rng, entries):
    """Leave out every token, or hide all tokens behind one text."""
    if rng.random() < 0.5:
        _without_header(entries, "request", "authorization")
    else:
        for entry in entries:
            for header in entry["request"]["headers"]:
                if header["name"].lower() == "authorization":
                    header["value"] = rng.choice(["Bearer redacted", "Bearer", "redacted", ""])
    return entries


def truncated(rng, entries):
    """End, or begin, at any place."""
    at = rng.randrange(len(entries) + 1)
    return entries[:at] if rng.random() < 0.5 else entries[at:]


def never_answered(rng, entries):
    """Lose some responses altogether."""
    for entry in _some(rng, entries):
        entry["response"] = {"status": 0, "statusText": "", "headers": [], "content": {}}
    return entries


MUTILATIONS = (
    requests_without_bodies,
    responses_without_bodies,
    cut_bodies,
    limited_bodies,
    repeated,
    skewed,
    fewer,
    duplicated,
    filtered,
    equal_times,
    shuffled_times,
    shuffled_entries,
    without_zone,
    without_request_header,
    without_response_header,
    redirected,
    without_tokens,
    truncated,
    never_answered,
)


def mutilate(document, rng, only=None):
    """Return a mutilated copy of a recording, and what was done to it."""
    mutilated = deepcopy(document)
    chosen = only or rng.sample(MUTILATIONS, rng.choice([1, 1, 2]))
    entries = mutilated["log"]["entries"]
    for each in chosen:
        entries = each(rng, entries) if entries else entries
    mutilated["log"]["entries"] = entries
    return mutilated, " and ".join(each.__name__ for each in chosen)


def interleaved(first, second):
    """Return two recordings as one, in the order of time."""
    both = deepcopy(first)
    theirs = deepcopy(second["log"]["entries"])
    both["log"]["entries"] += theirs
    both["log"]["entries"].sort(key=lambda one: one["startedDateTime"])
    return both
