"""`error-body` judges every refusal with one of its statuses by what the target file finds in it."""

import os
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from rows import for_each

from assay.history import Call, ErrorBody, Malformed, ShownError, Subject, Token
from assay.history.events import Masked
from assay.rules.checks import checked
from assay.testing import (
    START,
    accepted,
    errors,
    evidence,
    exchange,
    failed,
    history,
    kind_in,
    play,
    refused,
    unavailable,
)

CONTRACT = Path(__file__).parents[1] / "general_kinds" / "errors.yaml"
PROBLEM = {"Content-Type": "application/problem+json;charset=utf-8"}
GOOD = errors("FORMAT", fields={"class": "client"})
CALL = Call(operation="accounts", subject="psu")


@pytest.fixture(scope="module")
def clause():
    """Return the clause: a class and a code, with a class of client or limit."""
    return kind_in(CONTRACT, "errors")


def answered(answer, *, body=b"{}", call=CALL):
    """Return a call with its answer, which has a body."""
    made = exchange(call, answer)
    return replace(made, wire=replace(made.wire, body=body))


def says(clause, *events):
    """Return what the clause says of a history, without the numbers."""
    return [each.rpartition(" ")[0] for each in evidence(clause, history(*events))]


def test_a_good_refusal_agrees_in_every_facet(clause):
    """The parameters of a media type do not count."""
    assert [
        "media-type agrees",
        "class-present agrees",
        "code-present agrees",
        "class-allowed agrees",
    ] == says(clause, answered(refused(status=400, headers=PROBLEM, error=GOOD)))


@for_each(
    ("error", "said"),
    [
        (errors("A", fields={"class": "other"}), "class-allowed disagrees"),
        (errors("A", fields={"class": ""}), "class-present disagrees"),
        (errors("A", fields={"class": []}), "class-present disagrees"),
        (errors("", fields={"class": "limit"}), "code-present disagrees"),
        (errors("A", "", fields={"class": "limit"}), "code-present disagrees"),
        (errors(fields={"class": "limit"}), "code-present disagrees"),
        (errors("A", fields={"class": Masked("<private>")}), "class-allowed unclear"),
    ],
)
def test_a_wrong_error_is_seen(clause, error, said):
    """A value outside, an empty or missing field, one of several errors, none at all; a secret."""
    assert said in says(clause, answered(refused(status=400, headers=PROBLEM, error=error)))


@pytest.mark.parametrize(
    "answer",
    [
        accepted(),
        failed(status=502),
        refused(status=403, error=errors()),
        refused(status=418, error=errors()),
    ],
    ids=["accepted", "the gateway failed", "a status of another form", "an unknown status"],
)
def test_other_answers_are_not_judged(clause, answer):
    """Only refusals with a status that the clause names have an error of its form."""
    assert [] == says(clause, answered(answer, body=b"<html>"))


def test_a_malformed_request_may_not_reach_the_interface(clause):
    """What a server in front of it answers is no error of the interface."""
    call = replace(CALL, malformed=Malformed.BAD_IDENTIFIER)
    assert [] == says(clause, answered(refused(status=400, error=errors()), call=call))


def test_what_the_target_file_does_not_locate_is_not_judged(clause):
    """Without `error` only the media type can be judged, and only if there is a body."""
    nothing = refused(status=400, headers={"Content-Type": "text/html"})
    assert ["media-type disagrees"] == says(clause, answered(nothing))
    assert [] == says(clause, answered(nothing, body=b""))
    part = ErrorBody(located=("class",), errors=(ShownError(fields={"class": "client"}),))
    assert ["class-present agrees", "class-allowed agrees"] == says(
        clause,
        answered(unavailable(status=404), body=b""),
        answered(refused(status=404, error=part), body=b""),
    )


def test_another_operation_is_judged_only_if_the_rule_names_none(clause):
    """A rule without operations is about all of them."""
    elsewhere = answered(refused(status=400, error=GOOD), call=replace(CALL, operation="show"))
    assert says(clause, elsewhere)
    assert [] == says(replace(clause, names=("accounts",)), elsewhere)


@for_each(
    ("statuses", "bank", "last"),
    [
        (("401",), lambda _: refused(status=401), "no token"),
        (("4xx",), lambda _: refused(status=401), "no token"),
        (("400",), lambda _: refused(status=400), "no token"),
        (
            ("400",),
            lambda call: refused(status=401 if call.bearer else 400),
            "X-Request-ID is missing",
        ),
        (("404",), lambda _: refused(status=401), "about something that does not exist"),
        (("401",), lambda _: accepted(), "about something that does not exist"),
    ],
)
def test_the_probe_goes_on_until_a_refusal_has_a_status_of_the_rule(clause, statuses, bank, last):
    """A call without a token is refused by every bank that needs one, with a status of its own."""
    asked = replace(clause, statuses=statuses)
    calls = play(asked, "refused", bank).calls
    assert last == calls[-1].variation
    assert ("accounts", Token.NONE) == (calls[0].operation, calls[0].bearer)


# -- codes of refusals -----------------------------------------------------------------
ARRANGED = Subject(name="psu", now=START, owns=())


@pytest.fixture(scope="module")
def coded():
    """Return a clause that says how a call without a token is refused."""
    return kind_in(CONTRACT, "token")


def tried(answer):
    """Return a call with its token, and the same call without it."""
    without = replace(CALL, bearer=Token.NONE)
    return exchange(CALL, accepted()), exchange(without, answer)


MAIN, CODE, STATUS = (f"accounts-without-token{what}" for what in ("", "-code", "-status"))


@for_each(
    ("answer", "code", "status"),
    [
        (refused(status=401, error=errors("NO_TOKEN")), "agrees", "agrees"),
        (refused(status=401, error=errors("OTHER", "NO_TOKEN")), "agrees", "agrees"),
        (refused(status=401, error=errors("OTHER")), "disagrees", "agrees"),
        (refused(status=401, error=errors("")), "unclear", "agrees"),
        (refused(status=401, error=errors()), "unclear", "agrees"),
        (refused(status=418, error=errors("")), "disagrees", "disagrees"),
        (refused(status=418, error=errors()), "unclear", "disagrees"),
        (refused(status=403, error=errors("NO_TOKEN")), "agrees", "disagrees"),
        (refused(status=401), "unclear", "agrees"),
    ],
)
def test_the_code_and_the_status_of_a_refusal_are_facets_of_their_own(coded, answer, code, status):
    """The refusal itself agrees, whatever it says; without `error` nothing is known of the code.

    That there is a code is for the rule about error bodies to judge, where it names the status.
    """
    said = says(coded, ARRANGED, *tried(answer))
    assert [f"{MAIN} agrees", f"{CODE} {code}", f"{STATUS} {status}"] == said


def test_a_refusal_of_which_no_one_arranged_the_reason_is_a_doubt(coded):
    """In a recording of other traffic a call may be refused for several reasons."""
    wrong = refused(status=400, error=errors("OTHER"))
    assert [f"{CODE} unclear", f"{STATUS} unclear"] == says(coded, *tried(wrong))[1:]


def test_nothing_is_said_of_an_answer_that_refuses_nothing(coded):
    """A violation of the rule itself has no code, nor has a failure."""
    doubts = [f"{CODE} unclear", f"{STATUS} unclear"]
    assert [f"{MAIN} disagrees", *doubts] == says(coded, ARRANGED, *tried(accepted()))
    assert [f"{MAIN} unclear", *doubts] == says(coded, ARRANGED, *tried(failed()))


def test_a_code_is_judged_in_the_trials_of_its_own_rule_only(coded):
    """In a sequence, or in another context, several rules may refuse a call."""
    made = history(ARRANGED, *tried(refused(status=403, error=errors("OTHER"))))
    assert [MAIN, CODE, STATUS] == [each.facet for each in checked(coded, made)]
    assert [MAIN] == [each.facet for each in checked(coded, made, own=False)]


def test_a_call_beyond_a_limit_may_be_refused_for_that():
    """Five calls are served in a minute, so the refusal of the sixth one proves nothing of another rule."""
    clause = kind_in(CONTRACT, "token")
    served = [exchange(replace(CALL, operation="accounts"), accepted()) for _ in range(5)]
    beyond = exchange(replace(CALL, bearer=Token.NONE), refused(status=429, error=errors("1042")))
    said = says(clause, ARRANGED, *served, beyond)
    assert [f"{MAIN} unclear", f"{CODE} unclear", f"{STATUS} unclear"] == said


# -- any refusal -----------------------------------------------------------------------
WORDS = ("client", "limit", "other", "", None)
ODD = int(os.environ.get("ASSAY_ODD_REFUSALS", "300"))


def drawn(random):
    """Return a refusal with any number of errors, each with any class and code."""
    shown = []
    for _ in range(random.choice((0, 1, 1, 2))):
        word, code = random.choice((*WORDS, "absent")), random.choice(("A", "B", ""))
        fields = {} if word == "absent" else {"class": word}
        shown.append(ShownError(fields=fields, codes=(code,) if code else ()))
    located = random.choice((("code", "class"), ("code",), ("class",)))
    error = random.choice((ErrorBody(located=located, errors=tuple(shown)), None))
    kind = random.choice(
        ("application/problem+json", "Application/Problem+JSON; a=b", "text/html", "")
    )
    status = random.choice((400, 401, 403, 404, 422, 429, 500))
    headers = {"Content-Type": kind} if kind else {}
    return refused(status=status, headers=headers, error=error)


def wanted(answer):
    """Return what a reader of the contract says of a refusal: each facet that is judged, and how."""
    if answer.status not in {400, 401, 404, 409, 422, 429}:
        return {}
    kind = answer.headers.get("Content-Type", "").lower().split(";")[0]
    said = {"media-type": kind == "application/problem+json"}
    error = answer.outcome.error
    errors_ = error.errors if error else ()
    if error and "class" in error.located:
        classes = [each.fields.get("class") for each in errors_]
        said["class-present"] = bool(classes) and all(classes)
        if any(classes):
            said["class-allowed"] = {*filter(None, classes)} <= {"client", "limit"}
    if error and "code" in error.located:
        said["code-present"] = bool(errors_) and all(each.codes for each in errors_)
    return {facet: "agrees" if good else "disagrees" for facet, good in said.items()}


def test_any_refusal_is_judged_as_a_reader_of_the_contract_would(clause):
    """Generated refusals, of which each facet is judged once or not at all."""
    random = Random(7)
    for _ in range(ODD):
        answer = drawn(random)
        said = says(clause, answered(answer))
        assert sorted(f"{facet} {how}" for facet, how in wanted(answer).items()) == sorted(said)


@pytest.mark.parametrize("leave", ["refused", "unavailable"])
def test_a_refusal_from_before_the_application_is_not_judged(clause, leave):
    """A server in front has pages of its own, for calls that are too large for it."""
    answer = refused(status=400) if leave == "refused" else unavailable(status=400)
    of_bank = answered(answer, body=b"<html>")
    early = replace(of_bank, outcome=replace(of_bank.outcome, early=True))
    assert "media-type disagrees" in says(clause, of_bank)
    assert [] == says(clause, early)
