"""Contexts change the steps of a probe, and nothing that the probe varies itself."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from rows import for_each

from assay.contexts import customer_dimensions, dimensions, mappers, request_dimensions
from assay.contexts.context import DimensionValue, StepMapper, in_context, label
from assay.history import (
    Advance,
    Arrange,
    Authorise,
    Authorised,
    Call,
    Ending,
    Holding,
    Lack,
    Register,
    Renew,
    Subject,
    Wire,
)
from assay.parsing.parse import find_contract, parse_contract
from assay.rules.dry_run import START, ConformingTarget, DryTarget, play
from assay.rules.state.calendar import is_banking_day


@pytest.fixture(scope="module")
def aisp():
    return parse_contract(find_contract("aisp"))


@pytest.fixture(scope="module")
def pis():
    return parse_contract(find_contract("pis"))


def value(mapper, name="d=v"):
    dimension, _, word = name.partition("=")
    return DimensionValue(
        dimension=dimension, name=word, description=name, reason=lambda _: "", mapper=mapper
    )


def played(script, contract, *mappers):
    """Return the steps of a script in the context of these mappers."""
    context = tuple(value(mapper) for mapper in mappers)
    return list(play(in_context(script, context), DryTarget(contract=contract)))


def steps(*every):
    """Return a probe of these steps."""
    return (step for step in every)


CUSTOMER = Arrange(subject="psu", holdings=(Holding(resource="account"),))
CREATE = Call(operation="create-payment", subject="psu", mode="immediate")
SIGN = Authorise(subject="psu", request="request-1", approval="dry-run:")
READ = Call(
    operation="read-payment", subject="psu", arguments={"paymentRequestResourceId": "request-1"}
)


def test_without_values_nothing_changes(pis):
    """The base context leaves every step as it is."""
    assert [CUSTOMER, CREATE, SIGN] == played(steps(CUSTOMER, CREATE, SIGN), pis)


def test_a_segment_is_given_to_customers_that_have_none(pis):
    """Who has a segment in the probe keeps it."""
    own = Arrange(subject="other", holdings=(), segment="PART")

    def mapper():
        return mappers.InSegment(segment="PRO")

    first, second = played(steps(CUSTOMER, own), pis, mapper)
    assert ("PRO", "PART") == (first.segment, second.segment)


def test_things_on_a_later_page_come_last_and_the_probe_sees_its_own(aisp):
    """The bank lists a page of other things first; the probe still finds its own thing."""
    seen = []

    def script():
        reply = yield CUSTOMER
        seen.append(reply)

    mapper = mappers.OnALaterPage(contract=aisp, size=5)
    (step,) = played(script(), aisp, lambda: mapper)
    assert [5, 1] == [holding.count for holding in step.holdings]
    (subject,) = seen
    assert ["psu-5"] == [thing.key for thing in subject.owns]


def test_plain_requests_are_made_in_the_mode_and_wait_for_their_day(pis):
    """A deferred request gets a day, and the clock moves there once all that are signed are signed."""

    def mapper():
        return mappers.InMode(contract=pis, mode="deferred")

    done = played(steps(CUSTOMER, CREATE, CREATE, SIGN, SIGN, READ), pis, mapper)
    _, made, _, *signed, moved, _ = done
    assert [SIGN, SIGN] == signed, "a request that nobody signs for a week is dropped"
    assert "deferred" == made.mode
    # Whole weeks: a trial on a Sunday stays on Sundays.
    day = (START + timedelta(weeks=1)).date()
    assert day == date.fromisoformat(made.arguments["date"])
    assert isinstance(moved, Advance)
    assert day == moved.to.date()


@for_each("offset", range(30))
def test_deferred_requests_of_a_trial_are_due_on_banking_days(pis, offset):
    """On each day of a year's end: never a day on which nothing is settled, and as far ahead again."""
    mapper = mappers.InMode(contract=pis, mode="deferred")
    begun = datetime(2026, 12, 10, 11, tzinfo=UTC) + timedelta(days=offset)
    mapper.reply(CUSTOMER, Subject(name="psu", now=begun, owns=()))
    first = date.fromisoformat(mapper.map(CREATE).arguments["date"])
    assert is_banking_day(first)
    assert 3 <= (first - begun.date()).days <= 14
    assert first == date.fromisoformat(mapper.map(CREATE).arguments["date"])


def test_two_deferred_requests_of_a_sunday_are_alike(pis):
    """Both are due on a Friday, so that one can be the control of the other, and signed on a Sunday."""

    def day_of(step):
        return date.fromisoformat(step.arguments["date"])

    sunday = START + timedelta(days=6 - START.weekday())
    begins = Advance(to=sunday)

    def mapper():
        return mappers.InMode(contract=pis, mode="deferred", now=sunday)

    done = played(steps(begins, CREATE, SIGN, READ, CREATE, SIGN, READ), pis, mapper)
    first, second = (step for step in done if isinstance(step, Call) and step.arguments.get("date"))
    waited = [step.to.date() for step in done if isinstance(step, Advance)][1:]
    week = timedelta(weeks=1)
    friday = sunday.date() + timedelta(days=5)
    assert [friday, friday + week] == [day_of(first), day_of(second)]
    assert [sunday.date() + week, sunday.date() + 2 * week] == waited


def test_the_clock_is_not_moved_back_to_a_day_that_is_over(pis):
    """A request that was signed after its weeks are over is not waited for."""
    mapper = mappers.InMode(contract=pis, mode="deferred", now=START)
    over = (START + timedelta(days=9),)
    page = Wire(method="SIGN", url="", status=200)
    late = Authorised(n=1, step=SIGN, ending=Ending.CONFIRMED, moments=over, wire=page)
    list(mapper.after(SIGN, late))
    assert mapper.due is None


def test_a_request_in_another_mode_stays_as_it_is(pis):
    """What the probe varies on purpose is never mapped."""
    own = Call(operation="create-payment", subject="psu", mode="instant")

    def mapper():
        return mappers.InMode(contract=pis, mode="deferred")

    assert [CUSTOMER, own] == played(steps(CUSTOMER, own), pis, mapper)


XS2A = Path(__file__).parents[3] / "contract" / "examples" / "xs2a" / "xs2a.yaml"


def test_a_request_of_another_kind_stays_as_it_is():
    """Of two operations that make requests, only that with the mode and the amount is changed."""
    contract = parse_contract(XS2A)
    consent = Call(operation="make-consent", subject="psu", arguments={})
    payment = Call(operation="make-payment", subject="psu", mode="sepa-credit-transfers")
    mode, amount = "target-2-payments", "instructedAmount"

    def in_mode():
        return mappers.InMode(contract=contract, mode=mode)

    def with_amount():
        return mappers.WithArgument(contract=contract, argument=amount, value="1.00")

    same, paid = played(steps(consent, payment), contract, in_mode, with_amount)
    assert (consent, mode, "1.00") == (same, paid.mode, paid.arguments[amount])
    for reason in (mappers.mode_reason, mappers.argument_reason):
        name = mode if reason is mappers.mode_reason else amount
        assert (mappers.NO_REQUEST, "") == (
            reason(contract, name, [consent]),
            reason(contract, name, [consent, payment]),
        )


def test_a_factor_is_used_only_by_segments_that_have_it(pis):
    """A small professional has no soft token, so that signature stays as it is."""
    factors = {"PART": ("sms", "soft-token"), "PRO": ("sms",)}

    def mapper():
        return mappers.WithFactor(factor="soft-token", by_segment=factors)

    def segment():
        return mappers.InSegment(segment="PRO")

    assert "soft-token" == played(steps(CUSTOMER, CREATE, SIGN), pis, mapper)[-1].factor
    assert None is played(steps(CUSTOMER, CREATE, SIGN), pis, segment, mapper)[-1].factor


def test_without_the_customer_more_calls_than_a_day_allows_take_another_day(aisp):
    """Each customer has a count for each operation; the other day is the same weekday."""
    ask = Call(operation="balances", subject="psu", arguments={"iban": "psu-0"})
    other = replace(ask, subject="other")

    def mapper():
        return mappers.Unattended(
            contract=aisp, operations=frozenset({"balances"}), limits={"balances": 2}
        )

    every = played(steps(ask, other, ask, ask, other, other), aisp, mapper)
    away, others = (replace(each, present=False) for each in (ask, other))
    assert [away, others, away, Advance()] == every[:4]
    moved = every[4].to.astimezone(aisp.zone)
    assert (START.date() + timedelta(weeks=1), 12) == (moved.date(), moved.hour)
    assert [away, others, others] == every[5:]


def test_a_trial_takes_several_days_only_if_it_names_none(aisp):
    """Nor may it move the clock itself, or the target have no clock that can be moved."""
    ask = Call(operation="transactions", subject="psu", arguments={"iban": "psu-0"})
    ranged = replace(ask, arguments={"iban": "psu-0", "since": "2026-09-01"})

    def reason(*steps, clock=True):
        return mappers.unattended_reason(aisp, {"transactions": 2}, steps, clock=clock)

    assert "" == reason(ask, ask, clock=False) == reason(ranged, ranged)
    assert "" == reason(ask, ask, ask) == reason(ask, ask, replace(ask, subject="other"))
    exceeds = "the 3 calls of transactions exceed the 2 that a day allows"
    assert exceeds == reason(ask, ask, ask, clock=False) == reason(ask, ask, ranged)
    assert exceeds == reason(ask, ask, Advance(to=START), ask)
    assert reason(replace(ask, present=False))
    assert reason(replace(ask, operation="accounts"))


def test_the_weekday_comes_first_but_after_the_choice_of_a_bank(pis):
    """A trial begins at noon of the day, and the bank is chosen before anything else."""
    lack = Lack(mode="instant")

    def mapper():
        return dimensions.BeginningOn(contract=pis, day=partial(dimensions.next_weekday, 6))

    first, look, moved, customer = played(steps(lack, CUSTOMER), pis, mapper)
    assert (lack, Advance(), CUSTOMER) == (first, look, customer)
    assert 6 == moved.to.weekday()
    assert moved.to > START


def test_repetition_makes_the_first_call_twice_and_the_first_variation(pis):
    """The twin comes before the call, so that the probe sees the second answer."""
    varied = Call(operation="create-payment", subject="psu", variation="no amount")

    def mapper():
        return mappers.AfterAnother(contract=pis)

    assert [CREATE, CREATE, CREATE, varied, varied] == played(
        steps(CREATE, CREATE, varied), pis, mapper
    )


def test_repetition_makes_the_first_call_about_a_signed_request_twice_as_well(pis):
    """A state may be shown rightly the first time only."""
    about = {"paymentRequestResourceId": "request-1"}
    read = Call(operation="read-payment", subject="psu", arguments=about)
    sign = replace(SIGN, request="request-1")

    def mapper():
        return mappers.AfterAnother(contract=pis)

    assert [CREATE, CREATE, read, read, sign, read, read, read] == played(
        steps(CREATE, read, sign, read, read), pis, mapper
    )


def test_the_first_of_two_changes_asks_for_another_amount(pis):
    """A change that is refused for its variation is made twice as it is, and so is any other."""
    about = {"paymentRequestResourceId": "request-1"}
    change = Call(
        operation="modify-payment", subject="psu", arguments=about, varied=("amount", "date")
    )
    plain = {**about, "creditorAccount": "DE1"}

    def mapper():
        return mappers.AfterAnother(contract=pis)

    first, second = played(steps(change), pis, mapper)
    assert ({**about, "amount": mappers.OTHER_AMOUNT}, ("date",)) == (
        first.arguments,
        first.varied,
    )
    assert change == second
    for same in (replace(change, variation="late"), replace(change, varied=(), arguments=plain)):
        assert [same, same] == played(steps(same), pis, mapper)


def test_added_steps_are_changed_by_the_other_values(pis):
    """The twin of a call is made by the other TPP too."""

    def twice():
        return mappers.AfterAnother(contract=pis)

    def other():
        return mappers.ByAnotherTpp(operations=frozenset({"create-payment"}), tpp="other")

    assert ["other", "other"] == [step.by for step in played(steps(CREATE), pis, twice, other)]


def test_a_payee_is_registered_once_the_customer_exists(pis):
    """The registration follows the customer, and is older than any rule asks."""

    def mapper():
        return mappers.PayeeRegistered(operation="create-payment", argument="creditorAccount")

    _, registered, _ = played(steps(CUSTOMER, CREATE), pis, mapper)
    assert isinstance(registered, Register)
    assert registered.age > timedelta(hours=72)


def test_a_token_is_renewed_before_its_first_call_and_after_it(pis):
    """Each TPP's token, after the first call of each operation; customers have none here."""
    read = Call(operation="read-payment", subject="psu")
    other = Call(operation="read-payment", subject="psu", by="other")

    def mapper():
        return dimensions.WithRenewedToken(contract=pis, parties=frozenset({True, False}))

    own = Renew(subject="psu", operation="create-payment")
    second = Renew(subject="psu", operation="create-payment", by="other")
    assert [CUSTOMER, own, CREATE, own, read, own, read, second, other, second] == played(
        steps(CUSTOMER, CREATE, read, read, other), pis, mapper
    )


def test_customers_have_a_token_each(aisp):
    """A token of somebody who was never set up is none to renew; credentials are no token."""
    first = Call(operation="accounts", subject="psu")
    unknown = Call(operation="accounts", subject="nobody")
    bare = Call(operation="accounts", subject="psu", credentials=True)

    def mapper():
        return dimensions.WithRenewedToken(contract=aisp, parties=frozenset({False}))

    renewal, absent = Renew(subject="psu", operation="accounts"), replace(first, present=False)
    every = [CUSTOMER, bare, unknown, first, first, absent, absent]
    assert [*every[:3], renewal, first, renewal, first, absent, renewal, absent] == played(
        steps(*every), aisp, mapper
    )


def test_tokens_of_other_parties_stay(aisp):
    """Where only the TPP's tokens can be renewed, a customer's call is left alone."""

    def mapper():
        return dimensions.WithRenewedToken(contract=aisp, parties=frozenset({True}))

    first = Call(operation="accounts", subject="psu")
    assert [CUSTOMER, first] == played(steps(CUSTOMER, first), aisp, mapper)
    assert dimensions.renewal_reason(aisp, frozenset({True}), [CUSTOMER, first])
    assert "" == dimensions.renewal_reason(aisp, frozenset({False}), [CUSTOMER, first])


def test_a_request_goes_to_an_account_of_the_customers_own(pis):
    """She owns one account more, which the probe does not see; another payee is left alone."""
    seen = []
    elsewhere = replace(CREATE, arguments={"creditorAccount": "DE1"})

    def script():
        reply = yield CUSTOMER
        seen.extend(thing.key for thing in reply.owns)
        yield CREATE
        yield elsewhere

    def mapper():
        return request_dimensions.ToAnOwnAccount(operation=pis.operations["create-payment"])

    customer, made, other = played(script(), pis, mapper)
    assert 2 == sum(holding.count for holding in customer.holdings)
    assert ["psu-0"] == seen
    assert {"creditorAccount": "psu-1"} == made.arguments
    assert elsewhere == other


def test_own_accounts_are_no_payees_of_trials_that_name_theirs(pis):
    """A trial without a customer's own things has none to add."""
    reason = partial(request_dimensions.own_payee_reason, pis, "creditorAccount")
    assert "" == reason([CUSTOMER, CREATE])
    assert reason([CUSTOMER])
    assert reason([CUSTOMER, replace(CREATE, without=("creditorAccount",))])
    assert "" == reason([CUSTOMER, CREATE, replace(CREATE, subject="other")])


def test_requests_of_all_customers_go_to_one_own_account(pis):
    """The request of another customer is the control: it differs in nothing else."""
    other = [replace(each, subject="other") for each in (CUSTOMER, CREATE)]

    def mapper():
        return request_dimensions.ToAnOwnAccount(operation=pis.operations["create-payment"])

    _, made, alone, control = played(steps(CUSTOMER, CREATE, *other), pis, mapper)
    assert 1 == sum(holding.count for holding in alone.holdings)
    assert made.arguments == control.arguments == {"creditorAccount": "psu-1"}


def changed(pis, **own):
    """Return the mapper that changes deferred requests."""
    change = pis.operations["modify-payment"]
    return request_dimensions.OnceChanged(
        contract=pis, mode="deferred", change=change, argument="amount", **own
    )


def test_a_request_is_changed_to_what_it_says_already(pis):
    """It is made in the mode that can be changed, changed once, and signed then."""
    asked = replace(CREATE, arguments={"amount": "7.00"}, by="other")
    done = played(steps(CUSTOMER, asked, SIGN, READ), pis, lambda: changed(pis))
    _, made, change, sign, moved, _ = done
    assert "deferred" == made.mode
    assert ("modify-payment", "other") == (change.operation, change.by)
    assert {"paymentRequestResourceId": "request-1", "amount": "7.00"} == change.arguments
    assert SIGN == sign
    assert isinstance(moved, Advance)


def test_what_varies_or_was_made_otherwise_is_not_changed(pis):
    """A request in another mode stays as it is, and so does one that lacks something."""
    instant = replace(CREATE, mode="instant", arguments={"amount": "7.00"})
    assert [CUSTOMER, instant] == played(steps(CUSTOMER, instant), pis, lambda: changed(pis))
    varied = replace(CREATE, arguments={"amount": "7.00"}, variation="other")
    lacking = replace(varied, without=("creditorAccount",))
    assert 2 == len(played(steps(CUSTOMER, lacking), pis, lambda: changed(pis)))
    # Whatever else is special about it stays, since the change says the same.
    assert 3 == len(played(steps(CUSTOMER, varied), pis, lambda: changed(pis)))


def test_a_trial_that_makes_deferred_requests_has_these_changed(pis):
    """Its plain requests stay plain, and it waits for the days itself."""
    plain = replace(CREATE, arguments={"amount": "7.00"})
    own = replace(plain, mode="deferred")

    every = played(steps(CUSTOMER, plain, own, SIGN), pis, lambda: changed(pis, own_modes=True))
    assert [CUSTOMER, plain, own] == every[:3]
    assert ["modify-payment"] == [step.operation for step in every[3:4]]
    assert [SIGN] == every[4:]


def test_requests_are_changed_where_something_is_done_with_them(pis):
    """They are signed, read or changed: a second change is like a first one."""
    reason = partial(request_dimensions.change_reason, pis, "deferred")
    read, change = (
        Call(operation=name, subject="psu", arguments={"paymentRequestResourceId": "request-1"})
        for name in ("read-payment", "modify-payment")
    )
    instant, deferred = (replace(CREATE, mode=mode) for mode in ("instant", "deferred"))
    for later in (SIGN, read):
        assert "" == reason([CUSTOMER, CREATE, later])
        assert "" == reason([CUSTOMER, instant, deferred, later])
        assert "" == reason([CUSTOMER, CREATE, change, later])
        assert reason([CUSTOMER, instant, later])
    assert reason([CUSTOMER])
    assert reason([CUSTOMER, CREATE])
    assert reason([CUSTOMER, SIGN, CREATE])


def test_time_passes_before_the_customer_logs_in(pis):
    """The clock moves between the request and the first screen."""
    pause = timedelta(minutes=3)
    every = played(
        steps(CUSTOMER, CREATE, SIGN), pis, lambda: request_dimensions.PauseBefore(pause=pause)
    )
    assert [CUSTOMER, CREATE, Advance(), Advance(to=START + pause), SIGN] == every
    (sign,) = played(steps(SIGN), pis, lambda: request_dimensions.PauseOnScreens(pause=pause))
    assert replace(SIGN, pace=pause) == sign


def test_idle_customers_are_idle_on_another_screen(pis):
    """Only those who are idle; and a screen that need not load again is not looked at."""
    idle = replace(SIGN, linger=(timedelta(minutes=4),))
    looking = replace(SIGN, linger=(timedelta(minutes=3), timedelta(minutes=2)))
    for sign, expected in ((SIGN, SIGN), (idle, replace(idle, linger_on="code"))):
        assert [expected] == played(
            steps(sign), pis, lambda: request_dimensions.IdleOnScreen(screen="code")
        )
    reasons = {
        loads_again: [
            bool(request_dimensions.screen_reason([CREATE, sign], loads_again=loads_again))
            for sign in (SIGN, idle, looking)
        ]
        for loads_again in (True, False)
    }
    assert {True: [True, False, False], False: [True, False, True]} == reasons


def test_who_sets_the_times_of_a_trial_makes_no_other_pause(pis):
    """Neither a probe of a limit nor one of an age is slowed down."""
    paced = replace(SIGN, pace=timedelta(seconds=1))
    aged = Register(subject="psu", operation="o", argument="a", age=timedelta(hours=72))
    reason, later = partial(request_dimensions.pause_reason, pis), Advance(to=START)
    assert "" == reason([CREATE, SIGN, later])
    assert "" == reason([CREATE, SIGN, later, CREATE, SIGN])
    for every in ([CREATE], [CREATE, paced], [CREATE, later, SIGN], [aged, SIGN]):
        assert reason(every)


def test_a_list_is_asked_for_with_one_of_its_days(aisp):
    """The first day of one thing and the last of the next, the same one in equal calls."""
    first, second = (
        Call(operation="transactions", subject="psu", arguments={"iban": iban})
        for iban in ("psu-0", "psu-1")
    )

    def mapper():
        return dimensions.WithWholeRange(contract=aisp, days={"transactions": 90}, one=True)

    every = played(steps(CUSTOMER, first, second, first), aisp, mapper)[1:]
    since, until = str(START.date() - timedelta(days=89)), str(START.date())
    assert [{"since": since}, {"until": until}, {"since": since}] == [
        {name: day for name, day in call.arguments.items() if name != "iban"} for call in every
    ]


def test_things_have_a_page_of_entries_more_on_their_days(aisp):
    """So a list that had one page has two; what has no entries, or pages of them, stays."""
    sizes = mappers.entry_pages(aisp)
    assert {"account": 15, "card": 15} == sizes
    days = date(2026, 9, 15), date(2026, 9, 14)
    account, empty = Holding(resource="account", entries=days), Holding(resource="card")
    own = replace(CUSTOMER, holdings=(account, empty))

    def mapper():
        return mappers.WithMoreEntries(sizes=sizes)

    (arranged,) = played(steps(own), aisp, mapper)
    more, same = arranged.holdings
    assert empty == same
    assert (2 + 15, set(days)) == (len(more.entries), set(more.entries))
    reason = partial(mappers.entries_reason, aisp, sizes)
    read = Call(operation="transactions", subject="psu", arguments={"iban": "psu-0"})
    full = replace(own, holdings=(replace(account, entries=days * 8),))
    assert "" == reason([own, read])
    for every in ([own], [CUSTOMER, read], [full, read]):
        assert reason(every)


def test_a_list_is_asked_for_with_its_whole_range(aisp):
    """From the first day that is surely allowed until today; a range of the probe stays."""
    plain = Call(operation="transactions", subject="psu", arguments={"iban": "psu-0"})
    ranged = replace(plain, arguments={"iban": "psu-0", "since": "2026-09-01"})

    def mapper():
        return dimensions.WithWholeRange(contract=aisp, days={"transactions": 90})

    _, whole, kept = played(steps(CUSTOMER, plain, ranged), aisp, mapper)
    day = START.date()
    assert {
        "iban": "psu-0",
        "since": str(day - timedelta(days=89)),
        "until": str(day),
    } == whole.arguments
    assert ranged == kept
    assert "" == dimensions.range_reason(aisp, {"transactions"}, [CUSTOMER, plain])
    assert dimensions.range_reason(aisp, {"transactions"}, [CUSTOMER, plain, ranged])


def test_a_probe_is_closed_when_its_context_is(pis):
    """A probe that is given up midway can clean up."""
    closed = []

    def script():
        try:
            yield CUSTOMER
            yield CREATE
        finally:
            closed.append(True)

    running = in_context(script(), (value(StepMapper),))
    next(running)
    running.close()
    assert [True] == closed


def test_a_label_names_every_value():
    """Reports say in which context something was violated."""
    context = (value(StepMapper, "mode=instant"), value(StepMapper, "tpp=other"))
    assert "mode=instant, tpp=other" == label(context)


def test_the_base_scenario_is_priced_as_before(pis):
    """A wrapped probe without values costs what the probe costs."""
    target = ConformingTarget(contract=pis, accepts_variation=False)
    assert [CUSTOMER, CREATE] == list(play(in_context(steps(CUSTOMER, CREATE), ()), target))


def test_no_advance_before_a_signature_that_was_refused(pis):
    """Only what was signed waits for its day."""

    class Refusing(DryTarget):
        def reply(self, step):
            event = DryTarget.reply(self, step)
            if isinstance(event, Authorised):
                return Authorised(
                    n=0, step=step, ending=Ending.REFUSED, moments=event.moments, wire=event.wire
                )
            return event

    context = (value(lambda: mappers.InMode(contract=pis, mode="deferred")),)
    script = in_context(steps(CUSTOMER, CREATE, SIGN), context)
    done = list(play(script, Refusing(contract=pis)))
    assert [] == [step for step in done if isinstance(step, Advance)]


def test_a_subject_of_another_day_sets_the_due_day(pis):
    """The due day counts from the bank's own clock."""
    later = datetime(2027, 3, 1, 8, tzinfo=UTC)
    mapper = mappers.InMode(contract=pis, mode="deferred")
    mapper.reply(CUSTOMER, Subject(name="psu", now=later, owns=()))
    assert "2027-03-08" == mapper.map(CREATE).arguments["date"]


def test_what_else_a_customer_owns_comes_last_and_is_hidden_from_the_probe(aisp):
    """The bank has one thing more of each resource, on a later page too; the probe sees its own."""
    seen = []

    def script():
        seen.append((yield CUSTOMER))

    change = partial(customer_dimensions._with_others, ("account", "card"))
    (step,) = played(
        script(),
        aisp,
        partial(mappers.OnALaterPage, contract=aisp, size=5),
        partial(customer_dimensions.Owning, change=change),
    )
    assert [("account", 5), ("account", 1), ("card", 1)] == [
        (holding.resource, holding.count) for holding in step.holdings
    ]
    (subject,) = seen
    assert ["psu-5"] == [thing.key for thing in subject.owns]


def test_a_thing_with_traits_is_not_replaced_by_one_of_another_resource(aisp):
    """A card is not a savings account; a random sequence has both."""
    savings = Holding(resource="account", traits={"savings": True})
    mapper = partial(mappers.OfAnotherResource, plain="account", other="card")
    (step,) = played(steps(replace(CUSTOMER, holdings=(*CUSTOMER.holdings, savings))), aisp, mapper)

    assert (Holding(resource="card"), savings) == step.holdings


def test_where_there_is_one_resource_a_customer_owns_one_more_of_it():
    """A payer has a second account."""
    held = (Holding(resource="account"),)
    more = customer_dimensions._with_others(("account",), held)
    assert (*held, Holding(resource="account")) == tuple(more)


def test_the_last_page_of_each_list_is_filled():
    """Six things become many pages of five, on the days that they have; four things become one page."""
    day, next_day = date(2026, 9, 1), date(2026, 9, 2)
    held = (
        Holding(resource="account", count=5, entries=(day, next_day, day)),
        Holding(resource="card"),
        Holding(resource="loan"),
    )
    full = partial(customer_dimensions._in_full_pages, ("account", "card"))
    first, *others, added = full(5, {"account": 2}, held)
    assert (day, next_day, day) * 3 + (day,) == first.entries
    assert [*held[1:]] == others
    assert Holding(resource="account", count=19) == added
    four = (Holding(resource="account", count=4),)
    assert (*four, Holding(resource="account", count=1)) == full(5, {}, four)
    whole = (Holding(resource="account", count=5, entries=(day, day)),)
    assert whole == tuple(full(5, {"account": 2}, whole))


@pytest.mark.parametrize(
    ("holdings", "operation", "applies"),
    [
        ((Holding(resource="account", count=4),), "accounts", True),
        ((Holding(resource="account", count=5),), "accounts", False),
        ((Holding(resource="account", traits={"savings": True}),), "accounts", False),
        ((Holding(resource="account", count=4),), "balances", False),
    ],
)
def test_pages_are_filled_where_a_list_is_read_and_all_is_listed(
    aisp, holdings, operation, applies
):
    """What a bank does not list fills no page, and without a list there is none."""
    change = partial(customer_dimensions._in_full_pages, ("account", "card"), 5, {})
    trial = [Arrange(subject="psu", holdings=holdings), Call(operation=operation, subject="psu")]
    assert applies is (customer_dimensions.full_pages_reason(aisp, change, trial) == "")


def test_a_consent_names_the_same_in_the_reverse_order(aisp):
    """Only what is named several times has an order; the list of something else stays."""
    consent = Call(operation="consents", subject="psu", arguments={"accounts": ["a", "b", "c"]})
    lists = customer_dimensions._lists_of_consents(aisp)
    (turned,) = played(steps(consent), aisp, partial(customer_dimensions.InReverse, lists=lists))
    assert ["c", "b", "a"] == turned.arguments["accounts"]
    one = replace(consent, arguments={"accounts": ["a", "a"]})
    assert "" == customer_dimensions.order_reason(lists, [one, consent])
    assert "" != customer_dimensions.order_reason(lists, [one])


def test_a_week_passes_after_the_first_consent_alone(aisp):
    """Later consents of the trial follow at once: the trial is about the first one's data."""
    consent = Call(operation="consents", subject="psu", arguments={"accounts": ["psu-0"]})
    read = Call(operation="balances", subject="psu", arguments={"iban": "psu-0"})
    mapper = partial(
        customer_dimensions.WeekAfterConsent, contract=aisp, grants=frozenset({"consents"})
    )
    every = played(steps(CUSTOMER, read, consent, read, consent, read), aisp, mapper)
    moved = [step for step in every if isinstance(step, Advance) and step.to]
    assert [START.date() + timedelta(weeks=1)] == [step.to.date() for step in moved]
    assert every.index(moved[0]) == 4


@pytest.mark.parametrize(
    ("added", "reason"),
    [
        ([], ""),
        ([Advance(to=START)], "the trial sets the times itself"),
        (
            [Call(operation="accounts", subject="psu", present=False)],
            "calls without the customer are counted by the day",
        ),
    ],
)
def test_no_week_passes_where_days_matter(aisp, added, reason):
    """A trial that moves the clock, or counts the calls of a day, keeps its times."""
    consent = Call(operation="consents", subject="psu", arguments={"accounts": ["psu-0"]})
    grants = frozenset({"consents"})
    assert reason == customer_dimensions.idle_reason(aisp, grants, [consent, *added])
    assert "the trial gives no consent" == customer_dimensions.idle_reason(aisp, grants, added)


def test_the_other_half_of_the_year_begins_once_and_on_the_same_weekday(aisp):
    """The clock moves before anything but the choice of a bank, by whole weeks."""
    mapper = partial(dimensions.BeginningOn, contract=aisp, day=dimensions.half_a_year_later)
    every = played(steps(Lack(mode="instant"), CUSTOMER, CUSTOMER), aisp, mapper)
    (moved,) = [step for step in every if isinstance(step, Advance) and step.to]
    assert START.weekday() == moved.to.weekday()
    assert timedelta(weeks=25) < moved.to - START < timedelta(weeks=27)
    assert isinstance(every[0], Lack)


def test_another_payee_is_registered_beside_those_of_the_trial(pis):
    """A trial in which a request goes to that payee, or which registers a value, has its own."""
    mapper = partial(
        mappers.PayeeRegistered,
        operation="create-payment",
        argument="creditorAccount",
        value="DE-2",
    )
    _, registered = played(steps(CUSTOMER), pis, mapper)
    assert ("DE-2", "psu") == (registered.value, registered.subject)
    reason = partial(request_dimensions.another_payee_reason, pis, "creditorAccount")
    own = Register(
        subject="psu",
        operation="create-payment",
        argument="creditorAccount",
        age=timedelta(days=1),
    )
    assert "" == reason([CREATE, own])
    assert mappers.OWN == reason([CREATE, replace(own, value="DE-2")])
    assert mappers.OWN == reason([replace(CREATE, varied=("creditorAccount",))])
    assert mappers.NO_REQUEST == reason([CUSTOMER])


def test_what_changes_something_is_done_the_third_time_and_a_read_the_second(aisp):
    """A read more shows nothing more, and would be counted."""
    consent = Call(operation="consents", subject="psu", arguments={"accounts": ["psu-0"]})
    read = Call(operation="balances", subject="psu", arguments={"iban": "psu-0"})
    mapper = partial(mappers.AfterAnother, contract=aisp, times=2)
    every = played(steps(consent, read, consent, read), aisp, mapper)
    assert [consent] * 3 + [read] * 2 + [consent, read] == every
    reason = partial(mappers.repetition_reason, aisp)
    assert ("", "") == (reason([consent]), reason([consent], times=2))
    assert ("", "the trial changes nothing") == (reason([read]), reason([read], times=2))


def test_of_several_requests_the_first_one_is_another_one(pis):
    """What a bank keeps of an earlier request shows: its payee and its amount were others."""
    mapper = partial(
        mappers.AfterAnother,
        contract=pis,
        times=2,
        other_payees={"create-payment": "creditorAccount"},
    )
    first, *others = played(steps(CREATE), pis, mapper)
    assert (("creditorAccount",), {"amount": mappers.OTHER_AMOUNT}) == (
        first.varied,
        first.arguments,
    )
    assert [CREATE, CREATE] == others
    own = replace(CREATE, arguments={"creditorAccount": "psu-1"})
    assert [own] * 3 == played(steps(own), pis, mapper)
