"""`assay serve`: the sandbox bank over HTTP."""

from __future__ import annotations

import click

from assay.errors import InputError

EPILOG = """\b
Examples:
  assay serve
  assay serve --port 9000
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
def command(host: str, port: int) -> int:
    """Serve the sandbox bank, with its control API, until interrupted."""
    from assay.sandbox.app import DEMO_TOKENS, make_app  # noqa: PLC0415 -- only here
    from assay.sandbox.serve import listen  # noqa: PLC0415

    try:
        server = listen(host, port, make_app())
    except OSError as error:
        what = f"cannot listen on {host}:{port}: {error.strerror}"
        raise InputError.one("serve", what, hint="choose another --port") from None
    url = f"http://{host}:{server.effective_port}"
    click.echo(f"serving the sandbox bank on {url} (Ctrl-C ends it)")
    click.echo(f"  test it   assay run --target {url}")
    for token in DEMO_TOKENS:
        click.echo(f"  look at   curl -H 'Authorization: Bearer {token}' {url}/accounts")
    try:
        server.run()
    finally:
        server.close()
    return 0
