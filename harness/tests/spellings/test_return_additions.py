"""A bank that adds query parameters to return addresses, and a file that says which."""

from urllib.parse import urlsplit

import pytest
from embedded import Gate, run_plan, standings

from assay.preparation.prepare import prepare
from assay.rules.verdict import Standing
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND

TARGET = """\
assay: 1
target: adding
extends: sandbox
operations:
  create-payment:
    arguments: {{successfulReportUrl: {{{adds}}}}}
"""


class Adding(Gate):
    """The sandbox, with parameters of its own in the addresses to which customers return."""

    added = ""

    def after(self, environ, status, headers, body):
        """Return an answer with what is added to its addresses."""
        changed = [
            (name, self.address(value) if name.lower() == "location" else value)
            for name, value in headers
        ]
        return status, changed, body

    def address(self, url):
        """Return the address with what is added to it, if it is one of a TPP."""
        if urlsplit(url).hostname != "tpp.example":
            return url
        return f"{url}{'&' if '?' in url else '?'}{self.added}"


@pytest.mark.parametrize(
    ("adds", "added", "standing"),
    [
        ("adds: [paymentId]", "paymentId=P1", Standing.CONFORMS),
        ("adds: [paymentId]", "debug=1", Standing.VIOLATES),
        ("", "debug=1", Standing.CONFORMS),
    ],
)
def test_additions_are_those_of_the_file(adds, added, standing, tmp_path):
    """Without `adds` any parameter may be added, and with it only those that it names."""
    file = tmp_path / "adding.yaml"
    file.write_text(TARGET.format(adds=adds))
    prepared = prepare(["pis"], str(file), keywords="report-url")

    def bank(base):
        gate = Adding(make_app(SOUND, base))
        gate.added = added
        return gate

    found = standings(run_plan(prepared.plan, prepared.target, bank))
    assert standing is found["pis/report-url/after-signing"]
    assert Standing.VIOLATES is not found["pis/report-url/only-there"]
