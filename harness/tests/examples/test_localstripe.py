"""The example of localstripe: what the server of others breaks of Stripe's reference is found, and nothing else."""

import json
import os
import socket
import subprocess
import sys
from importlib.util import find_spec

import pytest
from command_line import assay

from assay._resources import contract_dir

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("localstripe") is None,
        reason="localstripe is installed by the nightly environment only: pip install localstripe==1.15.10",
    ),
]

FOLDER = contract_dir() / "examples" / "localstripe"
README = (FOLDER / "README.md").read_text("utf-8")
#: What localstripe 1.15.10 breaks, by the reason.
VIOLATED = {
    "any key that begins with sk_ is valid, and all have the same account": {
        "key/charges-invented-token",
        "key/create-payment-invented-token",
        "key/create-refund-invented-token",
        "charges.all/only-own",
        "customers.all/only-own",
        "clients.deleted/others-stay",
    },
    "lists begin with the oldest object": {
        "charges.pages/order-within-page",
        "charges.pages/order-across-pages",
    },
    "a customer that was deleted is not found": {"clients.deleted/read-ended"},
    "an error of the server over a number or a body that it does not expect": {
        "charges/survives-malformed",
        "refunds/survives-malformed",
        "payments/survives-malformed",
        "holds/survives-malformed",
        "returns/survives-malformed",
    },
    "a page may have more than 100 objects": {"customers.limit/customers-beyond"},
    "`source` is an unexpected parameter": {"transactions.of/answers"},
    "a charge lacks `amount_captured`": {"charge.captured/charge-present"},
    "a charge takes the place of its id": {"payments.charge/payment", "payments.charge/hold"},
    "any text is a currency": {"currency/payment", "payments.currency/invalid"},
    "a fraction of a cent is cut off": {
        "payments.whole/too-precise",
        "payments.content/amount",
        "payments.executed/as-asked",
        "returns.whole/too-precise",
        "returns.content/amount",
    },
    "any amount can be paid": {
        "payments.amount/amount-just-above-999999.99",
        "payments.amount/amount-at-0.49",
        "payments.amount/amount-just-below-0.49",
    },
    "more can be refunded than is left": {"returns.once/refuses-refunded"},
    "idempotency keys are not read": {
        "payments.repeated/repeated",
        "payments.repeated/once",
        "payments.repeated/conflict",
        "returns.repeated/repeated",
        "returns.repeated/once",
        "returns.repeated/conflict",
    },
}
#: Only an accepted call could show the status of its refusal; none of the method with `source` is.
INDETERMINATE = {
    "key/charges-invented-token-status",
    "key/create-payment-invented-token-status",
    "key/create-refund-invented-token-status",
    "transactions.of/survives-malformed",
    "transactions.of/survives-unserved",
}
#: The server has one clock, the machine's, and one TPP; trials share it, so they are not side by side.
UNVERIFIED = ("at-once", "late", "later", "foreign", "foreign-status")


@pytest.fixture(scope="module")
def address():
    """The URL of the server, on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    server = subprocess.Popen(
        [sys.executable, "-m", "localstripe", "--port", port, "--from-scratch"],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert "Running on" in server.stdout.readline()
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.communicate()


def test_what_is_violated_is_true(address, tmp_path):
    """In the base context, in all others and in lives, the verdicts are those of the README."""
    (tmp_path / "target.yaml").write_text(
        f"assay: 1\ntarget: localstripe\ntransport: http\nextends: {FOLDER / 'target.yaml'}\n"
        f"contracts: [{FOLDER / 'stripe.yaml'}]\nbase_url: {address}\n",
        "utf-8",
    )
    words = ("--target", "target.yaml", "--contexts", "each", "--out", "run")
    code, out, err = assay("run", *words, cwd=tmp_path)

    assert 1 == code, out + err
    report = json.loads((tmp_path / "run" / "report.json").read_text("utf-8"))
    verdicts = {}
    for each in report["obligations"]:
        verdicts.setdefault(each["verdict"], set()).add(each["id"].removeprefix("stripe/"))
    assert set().union(*VIOLATED.values()) == verdicts["violates"]
    assert INDETERMINATE == verdicts["indeterminate"]
    assert all(each.endswith(UNVERIFIED) for each in verdicts["unverified"])
    assert {"conforms", "indeterminate", "unspecified", "unverified", "violates"} == {*verdicts}


def test_the_commands_of_the_readme():
    """The first serves the server at the address in the target file, the second runs the contract."""
    serve, run = [line[2:] for line in README.splitlines() if line.startswith("$ ")]

    assert "localstripe --port 8420 --from-scratch" == serve
    assert "base_url: http://127.0.0.1:8420" in (FOLDER / "target.yaml").read_text("utf-8")
    assert "assay run --target contract/examples/localstripe/target.yaml" == run
