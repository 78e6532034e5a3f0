"""Screens that ask for no decision: the code confirms, and who leaves or cancels has refused."""

import io
from dataclasses import replace
from functools import cache

import pytest
from rows import for_each

from assay.binding.read.join import bind
from assay.contexts.context import Depth
from assay.journal.redact import Careless
from assay.journal.writer import Journal
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.contextual import with_contexts
from assay.planning.plan import plan, restrict
from assay.preparation.target_file import find_target, read_target
from assay.proof.kill_matrix import variants
from assay.rules.verdict import Standing
from assay.running.contextual import run_contexts
from assay.running.environment import set_up
from assay.running.session import Session
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND

CANCEL = b'<p><a href="?cancel">Cancel\n <b>payment</b></a></p></main>'
GREEN = {Standing.CONFORMS, Standing.UNSPECIFIED, Standing.NOT_APPLICABLE}


def without_decision(app):
    """Return the sandbox with no screen for the decision: the right code signs the payment."""

    def bank(environ, start_response):
        if environ.get("QUERY_STRING") == "cancel":
            start_response("200 OK", [("Content-Type", "text/html")])
            return [b"<h1>You left</h1>"]
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        said = []
        page = b"".join(app(environ, lambda *args: said.append(args)))
        if b'data-screen="confirm"' in page:
            decided = b"decision=confirm&" + body
            environ |= {"REQUEST_METHOD": "POST", "CONTENT_LENGTH": str(len(decided))}
            environ["wsgi.input"] = io.BytesIO(decided)
            return app(environ, start_response)
        if b'data-screen="code"' in page:
            page = page.replace(b"</main>", CANCEL)
        status, headers = said[0][:2]
        headers = [each for each in headers if each[0].lower() != "content-length"]
        start_response(status, [*headers, ("Content-Length", str(len(page)))])
        return [page]

    return bank


@cache
def planned(refuse_link):
    """Return the plan of payments, and a target whose screens ask for no decision."""
    target = read_target(find_target("sandbox"))
    screens = target.sca.screens[:3]
    sca = replace(target.sca, screens=screens, confirmed_by="code", refuse_link=refuse_link)
    target = replace(target, sca=sca)
    return plan(bind([parse_contract(find_contract("pis"))], target), target), target


def run(policies=SOUND, *obligations, refuse_link="", depth=Depth.BASE):
    """Return the standing of each obligation, and its reason, at a bank that asks for no decision."""
    whole, target = planned(refuse_link)
    chosen = restrict(whole, obligations) if obligations else whole
    chosen = with_contexts(chosen, target, depth).plan
    environment = set_up(
        target, bank=lambda url: without_decision(make_app(policies, base_url=url))
    )
    session = Session(
        plan=chosen, environment=environment, journal=Journal(out=None, redactor=Careless())
    )
    try:
        session.open()
        for trial in chosen.trials:
            session.run_trial(trial)
        run_contexts(session, chosen.contextual)
        verdicts = session.close().verdicts
        return {each.obligation: (each.standing, each.reason) for each in verdicts}
    finally:
        environment.close()


@pytest.mark.parametrize("refuse_link", ["", "cancel payment"])
def test_all_obligations_are_met(refuse_link):
    """Whether the customer refuses by leaving, or by a link for that."""
    verdicts = run(refuse_link=refuse_link)
    assert {} == {name: each for name, each in verdicts.items() if each[0] not in GREEN}


@pytest.mark.slow
def test_all_obligations_are_met_in_every_context():
    """Nothing looks like a fault there that is none in the base context."""
    verdicts = run(depth=Depth.EACH)
    assert {} == {name: each for name, each in verdicts.items() if each[0] not in GREEN}


@for_each(
    ("mutant", "obligation"),
    [
        ("pis.factors.any-code", "pis/sca.factors/code-checked"),
        ("pis.factors.any-password", "pis/sca.factors/password-checked"),
        ("pis.redirect.idle-five-minutes", "pis/redirect.idle/dead-after"),
        ("pis.redirect.overall-20-minutes", "pis/redirect.overall/alive-before"),
        ("pis.redirect.idle-sent-to-home", "pis/redirect.idle/no-redirection"),
        ("pis.report-url.wherever", "pis/report-url/only-there"),
        ("pis.report-url.signed-to-bank", "pis/report-url/after-signing"),
        ("pis.execution.refused-executed", "pis/execution/refused-undone"),
    ],
)
def test_faults_are_found(mutant, obligation):
    """The customer's way through the screens shows as much as one that ends with a decision."""
    found = run(variants()[mutant].change(SOUND), obligation)
    assert Standing.VIOLATES is found[obligation][0]
