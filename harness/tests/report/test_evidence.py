"""What disagrees comes first, controls are marked, and the story of a time rule can be followed."""

import json
import re

import pytest
from command_line import assay
from rows import for_each
from shipped import bank_of

from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.report import read_journal, render
from assay.report.timeline import KEPT_ENTRIES, EntryKind
from assay.report.values import EvidenceRole
from assay.report.views import by_cause, card_lines, curl_command, exchange_lines
from assay.rules.verdict import Agreement, Evidence, Standing
from assay.running.environment import set_up
from assay.running.session import Options, Session, run_session


def run(folder, mutant, keywords):
    """Run a selection against a bank with one fault, and return its report."""
    prepared = prepare(keywords=keywords)
    environment = set_up(prepared.target, bank=bank_of(mutant))
    journal = Journal.at(folder / "journal.jsonl")
    session = Session(
        plan=prepared.plan, environment=environment, journal=journal, options=Options()
    )
    try:
        run_session(session)
    finally:
        environment.close()
    return read_journal(folder / "journal.jsonl")


def on_day(day):
    return lambda exchange: exchange.at.startswith(day) and exchange.response.status == 429


#: Each mutant, its violation, and what only the exchange that disagrees has.
DISAGREEING = [
    ("quota.accounts-utc-day", "aisp/batch-quota/accounts-next-day", on_day("2026-09-17")),
    (
        "pis.cash.at-72-hours",
        "pis/cash/creditorAccount-at-72h",
        lambda exchange: '"categoryPurpose": "CASH"' in exchange.request.body,
    ),
    (
        "iban.wrong-check-digits",
        "aisp/iban/account",
        lambda exchange: exchange.operation == "accounts",
    ),
    (
        "available.accounts-503",
        "aisp/accounts.available/answers",
        lambda exchange: exchange.response.status == 503,
    ),
    (
        "pis.duplicate.never",
        "pis/duplicate/repeat-refused",
        lambda exchange: exchange.variation == "the same request again",
    ),
    (
        "consent.balance-any-consent",
        "aisp/consent.scope/balance-refused",
        lambda exchange: "does not cover" in exchange.variation and exchange.outcome == "accepted",
    ),
    (
        "paging.transactions-gap",
        "aisp/transactions.page-size/complete",
        lambda exchange: "page=3" in exchange.request.url,
    ),
    (
        "pis.redirect.idle-three-minutes",
        "pis/redirect.idle/alive-before",
        lambda exchange: exchange.variation == "just less than 4 minutes idle",
    ),
    (
        "form.balances-cut-off",
        "aisp/well-formed/json",
        lambda exchange: exchange.operation == "balances" and exchange.response.status == 200,
    ),
]


@pytest.mark.parametrize(("mutant", "obligation", "disagrees"), DISAGREEING)
def test_the_exchange_that_disagrees_comes_first(mutant, obligation, disagrees, tmp_path):
    """In the terminal, Markdown, HTML and JUnit; what belongs to the control is never before it."""
    report = run(tmp_path, mutant, obligation)
    (result,) = (each for each in report.results if each.planned.id == obligation)
    assert disagrees(result.exchanges[0])
    assert result.roles[result.exchanges[0].n] is EvidenceRole.DECISIVE
    shown = [result.roles.get(exchange.n) for exchange in result.exchanges]
    assert shown == sorted(shown, key=lambda role: role is EvidenceRole.CONTROL)
    for name in ("text", "markdown", "html", "junit"):
        path = tmp_path / name
        render(report, name, path)
        text = path.read_text("utf-8")
        first = re.search(r"exchange (\d+) · ", text)
        assert first, name
        assert int(first[1]) == result.exchanges[0].n, name


def test_the_timeline_tells_a_time_rule(tmp_path):
    """What was prepared and registered, the control, the clock, and what was executed."""
    report = run(tmp_path, "pis.cash.at-72-hours", "pis/cash/creditorAccount-at-72h")
    (result,) = report.of(Standing.VIOLATES)
    kinds = [entry.kind for entry in result.timeline]
    assert kinds[:2] == [EntryKind.CUSTOMER, EntryKind.REGISTERED]
    assert kinds[-1] is EntryKind.CARRIED_OUT
    text = "\n".join(card_lines(result))
    assert "registered since 2026-09-13 10:00:00+02:00" in text
    assert re.search(r"create-payment -> accepted \(201\), control", text)
    assert re.search(r"\[categoryPurpose is CASH\] -> accepted \(201\), shows it", text)


def test_the_timeline_says_how_the_clock_was_moved(tmp_path):
    """A new day has begun: by how much the clock was moved, and to when."""
    report = run(tmp_path, "quota.accounts-utc-day", "aisp/batch-quota/accounts-next-day")
    (result,) = report.of(Standing.VIOLATES)
    text = "\n".join(card_lines(result))
    assert "clock moved by 14 h 30 s to 2026-09-17 00:00:30+02:00" in text


def test_a_pass_has_its_evidence(tmp_path):
    """In JSON: which exchanges show it, and the timeline that has them."""
    report = run(tmp_path, "", "aisp/batch-quota/accounts-next-day")
    (result,) = report.of(Standing.CONFORMS)
    assert not result.exchanges
    render(report, "json", tmp_path / "report.json")
    written = json.loads((tmp_path / "report.json").read_text("utf-8"))
    (obligation,) = written["obligations"]
    numbers = {
        each["exchange"] for each in written["timelines"][result.shown_by] if "exchange" in each
    }
    assert obligation["evidence"][0]["exchanges"]
    assert set(obligation["evidence"][0]["exchanges"]) <= numbers
    shown = read_journal(tmp_path / "journal.jsonl", passes=True).results[0].exchanges
    assert {exchange.n for exchange in shown} == set(result.cites)


def test_passes_are_an_option_of_the_command(tmp_path):
    """`assay report --passes` writes the exchanges of conforming obligations as well."""
    run(tmp_path, "", "aisp/batch-quota/accounts-next-day")
    journal = str(tmp_path / "journal.jsonl")
    without, with_passes = (
        json.loads(assay("report", journal, "--format", "json", *option, cwd=tmp_path)[1])[
            "exchanges"
        ]
        for option in ((), ("--passes",))
    )
    assert not without
    assert with_passes


def evidence(*exchanges, **changes):
    return Evidence(
        facet="f",
        agreement=Agreement.DISAGREES,
        expected="",
        seen="",
        exchanges=exchanges,
        **changes,
    )


@for_each(
    ("item", "order"),
    [
        (evidence(4), (4,)),
        (evidence(1, 2, 3), (3, 1, 2)),
        (evidence(1, 2, 3, controls=(1, 2)), (3, 1, 2)),
        (evidence(1, 2, 3, 4, decisive=3, controls=(1, 2)), (3, 4, 1, 2)),
        (evidence(1, 2, controls=(1, 2)), (2, 1)),
        (evidence(1, 2, decisive=9), (2, 1)),
        (evidence(), ()),
    ],
)
def test_reading_order(item, order):
    """The decisive exchange, then the others, then the controls."""
    assert order == item.in_reading_order


def test_controls_are_cut_first(journal):
    """Of more exchanges than a report has room for, those of the control are left out."""
    cited = list(range(1, 16))
    item = {
        "agreement": "disagrees",
        "expected": "a refusal",
        "seen": "an acceptance",
        "exchanges": cited,
        "decisive": 13,
        "controls": cited[:12],
    }
    journal.plan()
    for n in cited:
        journal.exchange(n=n)
    journal.verdict(verdict="violates", evidence=[item])
    (result,) = journal.footer().read().results
    assert [exchange.n for exchange in result.exchanges] == [13, 14, 15, *range(1, 8)]


def test_a_timeline_is_bounded(journal):
    """Of exchanges that no verdict cites a number stays; those that one cites stay all."""
    journal.plan()
    for n in range(1, 201):
        journal.exchange(n=n)
    item = {"agreement": "agrees", "expected": "", "seen": "", "exchanges": [150, 190]}
    journal.verdict(evidence=[item])
    (result,) = journal.footer().read().results
    numbers = [entry.exchange for entry in result.timeline if entry.exchange]
    assert numbers == [*range(1, KEPT_ENTRIES + 1), 150, 190]
    left_out = [entry.text for entry in result.timeline if entry.kind is EntryKind.LEFT_OUT]
    assert left_out == [
        "109 more events that no verdict cites",
        "39 more events that no verdict cites",
        "10 more events that no verdict cites",
    ]


def test_one_cause_is_one_group(journal):
    """Obligations whose evidence cites the same failing call share a group, beside its violation.

    A call that failed in the same trial, and that no evidence cites, explains nothing.
    """
    failed = {"outcome": {"kind": "indeterminate", "why": "the target failed (503)"}}
    response = {"status": 503, "headers": [], "body": "", "truncated": False}
    names, numbers = [f"aisp/clause-{n}/facet" for n in range(3)], []
    for name in (*names, "aisp/other/facet", "aisp/available/answers"):
        journal.plan(name)
    for name in (*names, "aisp/available/answers"):
        journal.exchange(
            name.replace("/facet", "#facet").replace("/answers", "#answers"),
            **failed,
            response=response,
            n=len(numbers) + 1,
        )
        numbers.append(len(numbers) + 1)
    for n, name in enumerate(names):
        cites = {"agreement": "unclear", "expected": "", "seen": "", "exchanges": [numbers[n]]}
        journal.verdict(name, "indeterminate", f"reason {n}", evidence=[cites])
    journal.exchange("aisp/other#facet", **failed, response=response, n=99)
    journal.verdict("aisp/other/facet", "indeterminate", "a reason of its own", evidence=[])
    shows = {"agreement": "disagrees", "expected": "", "seen": "", "exchanges": numbers[-1:]}
    journal.verdict("aisp/available/answers", "violates", evidence=[shows])
    groups = by_cause(journal.footer().read())
    assert [(group.reason, group.advice, len(group.results)) for group in groups] == [
        ("balances: the target failed (503)", "see aisp/available/answers", 3),
        ("a reason of its own", "", 1),
    ]


def network(journal):
    """Return the builder of a journal about a target in the network."""
    target = {**journal.lines[0]["target"], "transport": "http"}
    journal.lines[0] = {**journal.lines[0], "target": target}
    return journal


def test_the_request_can_be_sent_again(journal):
    """A hidden header becomes a variable; nothing that a target sent can leave its quotes."""
    request = {
        "method": "POST",
        "url": "https://bank.invalid/a?b='; touch /tmp/x; '",
        "headers": [["authorization", "<hidden>"], ["x-'$(id)", "`id`"], ["host", "bank.invalid"]],
        "body": '{"name": "O\'Neil $(id)"}',
    }
    network(journal).plan().exchange(request=request).verdict(verdict="violates")
    (result,) = journal.footer().read().results
    assert result.resend == (
        "curl -i -X POST 'https://bank.invalid/a?b='\"'\"'; touch /tmp/x; '\"'\"''"
        " -H 'authorization: '\"${AUTHORIZATION}\" -H 'x-'\"'\"'$(id): `id`'"
        ' --data-raw \'{"name": "O\'"\'"\'Neil $(id)"}\''
    )


def test_nothing_is_sent_again_to_the_embedded_sandbox(journal):
    """It has no address; and a signature is no request."""
    journal.plan().exchange().verdict(verdict="violates")
    (result,) = journal.footer().read().results
    assert not result.resend
    network(journal)
    journal.lines[2]["operation"] = "signing"
    del journal.lines[-1]
    (result,) = journal.footer().read().results
    assert not curl_command(result.exchanges[0])


def test_a_signature_is_no_call(journal):
    """It is written as what the customer did; a hostile record of it as it is."""
    signature = {
        "operation": "signing",
        "request": {
            "method": "SIGN",
            "url": "<approval-link-1>",
            "headers": [],
            "body": '{"decision": "confirm", "factor": null}',
        },
        "response": {
            "status": 303,
            "headers": [],
            "body": '{"screens": ["login", "code"], "moments": ["10:00", "10:00"]}',
            "truncated": False,
        },
        "outcome": {"kind": "confirmed", "why": ""},
    }
    journal.plan().exchange(**signature).verdict(verdict="violates")
    (result,) = journal.footer().read().results
    assert list(exchange_lines(result.exchanges[0])) == [
        "* variation: without the customer",
        "> signature by psu at <approval-link-1>",
        "> decision: confirm",
        "< screens: login, code",
        "< moments: 10:00",
        "= confirmed (status 303)",
    ]
    journal.lines[2]["request"]["body"] = "[" * 100_000
    journal.lines[2]["response"]["body"] = "7"
    del journal.lines[-1]
    (result,) = journal.footer().read().results
    assert "> body: [[[" in "\n".join(exchange_lines(result.exchanges[0]))


def test_alike_is_said_once(journal, written):
    """What two exchanges show alike stands once on the page, with both; what differs stands again."""
    found = {"agreement": "disagrees", "expected": "EUR in euro", "variation": ""}
    evidence = [
        {**found, "seen": seen, "exchanges": [n]}
        for n, seen in ((17, "CHF"), (18, "CHF"), (19, "USD"))
    ]
    journal.plan().exchange().exchange(n=18).exchange(n=19)
    page = written(journal.verdict(verdict="violates", evidence=evidence).footer().read(), "html")
    assert 1 == page.count("<dt>Also</dt><dd>exchange 18 shows it</dd>")
    assert 1 == page.count("<dt>Expected</dt>")
    assert '<dt>Seen</dt><dd class="seen">USD</dd>' in page
    assert "<dt>Evidence</dt><dd>exchange 19 shows it</dd>" in page


def test_reason_is_not_repeated(journal, written):
    """A reason that only has the words of the finding is not on its card again; another one is."""
    for name in ("aisp/a/one", "aisp/b/two"):
        journal.plan(name)
    found = {"agreement": "disagrees", "expected": "EUR", "seen": "CHF", "exchanges": [17]}
    for name, reason in (("aisp/a/one", "expected EUR; CHF"), ("aisp/b/two", "only on Sundays")):
        journal.exchange("aisp/c#d").verdict(
            name, "violates", reason, evidence=[found], trial="aisp/c#d"
        )
        journal.lines[-2]["n"] = 17 if name == "aisp/a/one" else 18
    page = written(journal.footer().read(), "html")
    assert "<p>expected EUR; CHF</p>" not in page
    assert "<p>only on Sundays</p>" in page
