"""`assay serve`: the sandbox bank over HTTP."""

from __future__ import annotations

import click

from assay.errors import InputError, did_you_mean
from assay.sandbox.policies import SOUND, Policies

EPILOG = """\b
Examples:
  assay serve
  assay serve --port 9000
  assay serve --mutant quota.utc-midnight
  curl -H 'Authorization: Bearer demo-alice' http://127.0.0.1:8080/accounts
"""


@click.command(epilog=EPILOG)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="The port; 0 takes any free one.",
)
@click.option(
    "--mutant",
    metavar="ID",
    help="Serve a bank with one fault, as `assay prove` lists them, to see what a finding is like.",
)
def command(host: str, port: int, mutant: str | None) -> int:
    """Serve the sandbox bank, with its control API, until interrupted."""
    from assay.sandbox.app import DEMO_PROVIDERS, DEMO_TOKENS, make_app  # noqa: PLC0415 -- only here
    from assay.sandbox.serve import listen  # noqa: PLC0415

    policies = _policies(mutant)
    try:
        server = listen(host, port, make_app(policies))
    except OSError as error:
        what = f"cannot listen on {host}:{port}: {error.strerror}"
        raise InputError.one("serve", what, hint="choose another --port") from None
    url = f"http://{host}:{server.effective_port}"
    click.echo(f"serving {f'the mutant {mutant}' if mutant else 'the sandbox bank'} on {url}")
    click.echo("  (Ctrl-C ends it)")
    click.echo(f"  test it   assay run --target {url}")
    for token in DEMO_TOKENS.values():
        click.echo(f"  look at   curl -H 'Authorization: Bearer {token}' {url}/accounts")
    provider = next(iter(DEMO_PROVIDERS))
    click.echo(f"  pay by    POST {url}/payment-requests with 'Authorization: Bearer {provider}'")
    try:
        server.run()
    finally:
        server.close()
    return 0


def _policies(mutant: str | None) -> Policies:
    """Return the sound bank's policies, or those of a mutant or neutral variant."""
    if mutant is None:
        return SOUND
    from assay.sandbox import mutants  # noqa: PLC0415 -- seldom asked for

    faulty = {one.id: one.change for one in (*mutants.MUTANTS, *mutants.PIS_MUTANTS)}
    change = faulty | {one.id: one.change for one in mutants.NEUTRAL}
    if mutant not in change:
        hint = did_you_mean(mutant, change) or "`assay prove` lists them all"
        raise InputError.one("--mutant", f"no mutant {mutant!r}", hint=hint)
    return change[mutant](SOUND)
