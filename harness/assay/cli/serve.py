"""`assay serve`: the sandbox bank over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.serve_security import ServeSecurity
from assay.errors import InputError, did_you_mean
from assay.sandbox.dialects import BASE_PATHS, DIALECTS
from assay.sandbox.policies import SOUND, Policies

if TYPE_CHECKING:
    from assay.sandbox.guard import SignatureKind
    from assay.sandbox.guard.server import Demand

EPILOG = """\b
Examples:
  assay serve
  assay serve --port 9000
  assay serve --mutant quota.accounts-utc-day
  assay serve --dialect stet
  assay serve --tls try --mutual --signatures cavage
  assay serve --oauth
  curl -H 'Authorization: Bearer demo-alice' http://127.0.0.1:8080/accounts
"""


@click.command(epilog=EPILOG)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="Port to listen on; 0 takes any free port.",
)
@click.option(
    "--mutant",
    metavar="ID",
    help="Serve a bank with one fault (`assay prove` lists them), to see how it is reported.",
)
@click.option(
    "--dialect",
    type=click.Choice(sorted(DIALECTS)),
    help="Serve the bank with the API of this dialect, below a path of its own.",
)
@click.option(
    "--tls",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Serve over TLS with the certificates in this folder; they are created if it is empty.",
)
@click.option(
    "--mutual",
    type=click.Choice(["handshake", "answer"]),
    is_flag=False,
    flag_value="handshake",
    help="Require a client certificate: in the TLS handshake, or by answering 401. Needs --tls.",
)
@click.option(
    "--signatures",
    type=click.Choice(["cavage", "rfc9421"]),
    help="Require signed calls, with a key from the folder of --tls.",
)
@click.option(
    "--oauth",
    is_flag=True,
    help="Require tokens of the authorization server at /oauth/authorize and /oauth/token.",
)
def command(
    host: str,
    port: int,
    mutant: str | None,
    dialect: str | None,
    tls: Path | None,
    mutual: Demand | None,
    signatures: SignatureKind | None,
    oauth: bool,
) -> int:
    """Serve the sandbox bank, with its control API, until interrupted."""
    from assay.sandbox.app import DEMO_PROVIDERS, DEMO_TOKENS, make_app  # noqa: PLC0415 -- only here
    from assay.sandbox.serve import listen  # noqa: PLC0415

    policies = _policies(mutant)
    app = make_app(policies)
    if dialect:
        app = DIALECTS[dialect](app)
    demands = ServeSecurity(folder=tls, mutual=mutual, signatures=signatures, oauth=oauth)
    app, shown = demands.put_before(app)
    try:
        server = listen(host, port, app, shown)
    except OSError as error:
        what = f"cannot listen on {host}:{port}: {error.strerror}"
        raise InputError.one("serve", what, hint="choose another port with --port") from None
    scheme = "https" if shown else "http"
    url = f"{scheme}://{host}:{server.effective_port}{BASE_PATHS[dialect] if dialect else ''}"
    click.echo(f"serving {f'the mutant {mutant}' if mutant else 'the sandbox bank'} on {url}")
    click.echo("  (stop with Ctrl-C)")
    if demands:
        click.echo(f"  test it   with a target file that has base_url: {url}")
    else:
        click.echo(f"  test it   assay run --target {url}")
    if demands:
        for line in demands.instructions(f"{scheme}://{host}:{server.effective_port}"):
            click.echo(f"  {line}")
        return _until_interrupted(server)
    for token in DEMO_TOKENS.values():
        click.echo(f"  look at   curl -H 'Authorization: Bearer {token}' {url}/accounts")
    provider = next(iter(DEMO_PROVIDERS))
    click.echo(f"  pay by    POST {url}/payment-requests with 'Authorization: Bearer {provider}'")
    return _until_interrupted(server)


def _until_interrupted(server: Any) -> int:
    try:
        server.run()
    finally:
        server.close()
    return 0


def _policies(mutant: str | None) -> Policies:
    """Return the policies of the sound bank, of a mutant or of a neutral variant."""
    if mutant is None:
        return SOUND
    from assay.sandbox import mutants  # noqa: PLC0415 -- seldom asked for

    faulty = {one.id: one.change for one in (*mutants.MUTANTS, *mutants.PIS_MUTANTS)}
    change = faulty | {one.id: one.change for one in mutants.NEUTRAL}
    if mutant not in change:
        hint = did_you_mean(mutant, change) or "`assay prove` lists all of them"
        raise InputError.one("--mutant", f"there is no mutant {mutant!r}", hint=hint)
    return change[mutant](SOUND)
