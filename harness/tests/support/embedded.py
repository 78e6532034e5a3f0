"""Whole runs in this process, at a bank that is a WSGI application, and what may stand before it."""

from io import BytesIO

from assay.journal.redact import Careless
from assay.journal.writer import Journal
from assay.running.environment import set_up, sound_bank
from assay.running.session import Session, run_session

JSON = [("Content-Type", "application/json")]


def run_plan(planned, target, bank=sound_bank, *, seed=0, journal=None):
    """Perform every trial of a plan; return the result, in which nothing of Assay failed."""
    environment = set_up(target, seed=seed, bank=bank)
    journal = journal or Journal(out=None, redactor=Careless())
    try:
        result = run_session(Session(plan=planned, environment=environment, journal=journal))
    finally:
        environment.close()
    assert () == result.faults
    return result


def standings(result):
    """Return the standing of each obligation."""
    return {each.obligation: each.standing for each in result.verdicts}


def standing(result, *standings):
    """Return the obligations that stand so, without the name of their contract."""
    return {
        each.obligation.partition("/")[2] for each in result.verdicts if each.standing in standings
    }


class Gate:
    """A bank behind a gate, which may answer a call by itself, change it, or change the answer."""

    def __init__(self, app):
        self.app = app

    def before(self, environ, body):
        """Return an answer (status, headers, body), the body to pass on, or nothing."""

    def after(self, environ, status, headers, body):
        """Return the answer as it goes out."""
        return status, headers, body

    def __call__(self, environ, start_response):
        """Answer a call."""
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        answer = self.before(environ, body)
        if not isinstance(answer, tuple):
            body, lines = body if answer is None else answer, []
            environ |= {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
            content = b"".join(self.app(environ, lambda *line: lines.append(line)))
            answer = self.after(environ, lines[-1][0], lines[-1][1], content)
        status, headers, content = answer
        kept = [each for each in headers if each[0].lower() != "content-length"]
        start_response(status, [*kept, ("Content-Length", str(len(content)))])
        return [content]
