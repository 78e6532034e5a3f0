"""`assay proxy`: a reverse proxy in front of a bank that records the traffic."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click

from assay.errors import InputError
from assay.report.wording import counted

#: What ends the proxy.
INTERRUPTIONS = frozenset({signal.SIGINT, signal.SIGTERM})
EPILOG = """\b
Examples:
  assay proxy --upstream https://sandbox.bank.example/v1 --record mine.har
  assay proxy --upstream https://api.bank.example --record mine.har --cert tpp.pem --key tpp.key
  assay judge mine.har --party tpp --target my-bank.yaml

\b
Point your client at the printed address, use it, and stop the proxy with Ctrl-C.
The HAR file contains customer data as the bank sent it. Tokens, cookies, codes and passwords are
replaced by placeholders such as <token-1>. Bodies that are neither JSON nor forms are left out,
because secrets in them cannot always be recognised (see --keep-bodies).
"""


@click.command(epilog=EPILOG)
@click.option("--upstream", required=True, metavar="URL", help="Base URL of the bank.")
@click.option(
    "--record",
    "path",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="HAR file to write. An existing file is never overwritten.",
)
@click.option(
    "--listen",
    default="127.0.0.1:8900",
    show_default=True,
    metavar="HOST:PORT",
    help="Address to listen on; port 0 takes any free port.",
)
@click.option(
    "--rewrite/--no-rewrite",
    default=True,
    show_default=True,
    help="Rewrite the bank's absolute links in responses so that they point to the proxy. The HAR file keeps the originals.",
)
@click.option(
    "--keep-bodies",
    is_flag=True,
    help="Also record bodies that are neither JSON nor forms (HTML, XML, text). Secrets in such"
    " bodies are masked only where they can be recognised.",
)
@click.option("--cert", type=click.Path(path_type=Path), help="Client certificate (PEM).")
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="Private key of the client certificate (PEM), if --cert does not contain it.",
)
@click.option(
    "--key-password-env", metavar="NAME", help="Environment variable with the password of the key."
)
@click.option(
    "--ca",
    type=click.Path(path_type=Path),
    help="CA certificate that issued the bank's certificate (PEM).",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, 600, min_open=True),
    default=60.0,
    show_default=True,
    help="Read timeout in seconds.",
)
def command(
    upstream: str,
    path: Path,
    listen: str,
    rewrite: bool,
    keep_bodies: bool,
    cert: Path | None,
    key: Path | None,
    key_password_env: str | None,
    ca: Path | None,
    timeout: float,
) -> int:
    """Forward a client's calls to a bank and record them, until interrupted."""
    # The proxy is imported with all that it needs, and only here.
    from assay.traffic.proxy import upstream as upstreams  # noqa: PLC0415
    from assay.traffic.proxy.recorder import HarRecorder  # noqa: PLC0415
    from assay.traffic.proxy.server import Proxy  # noqa: PLC0415

    origin, below = upstreams.parse_upstream(upstream)
    host, port = _address(listen)
    context = upstreams.tls_context(ca, cert, key, key_password_env)
    bank = upstreams.Upstream(origin=origin, timeout=timeout, context=context)
    record = HarRecorder(path, keep_bodies=keep_bodies)
    proxy = Proxy(upstream=bank, record=record, host=host, port=port, rewrite=rewrite)
    with _interruptions_blocked():
        try:
            proxy.open()
        except OSError as error:
            proxy.close()
            path.unlink()
            what = f"cannot listen on {listen}: {error.strerror}"
            raise InputError.one("--listen", what, hint="choose another port") from None
        try:
            _begin(proxy.url + below, origin + below, path, rewrite=rewrite, local=proxy.local)
            signal.sigwait(INTERRUPTIONS)
        finally:
            proxy.close()
    click.echo(f"{counted(proxy.record.exchanges, 'exchange')} recorded in {path}")
    return 0


def _begin(url: str, bank: str, path: Path, *, rewrite: bool, local: bool) -> None:
    """Print what is recorded, and what to do next."""
    click.echo(f"recording {url} -> {bank} (stop with Ctrl-C)")
    if rewrite:
        click.echo("  note    links in responses are rewritten to this proxy (see --no-rewrite)")
    if not local:
        click.echo("  warning anyone who can reach this address can use it with your certificate")
    click.echo(f"  use     {url} as the base URL of your client")
    click.echo(f"  judge   assay judge {path} --party tpp --target my-bank.yaml")


def _address(text: str) -> tuple[str, int]:
    """Return host and port of `HOST:PORT`, the host perhaps in brackets."""
    host, _, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not bare or not port.isascii() or not port.isdigit() or int(port) > 65535:  # noqa: PLR2004 -- of ports
        what = f"expected HOST:PORT, found {text!r}"
        raise InputError.one("--listen", what, hint="for example 127.0.0.1:8900")
    return bare, int(port)


@contextmanager
def _interruptions_blocked() -> Generator[None]:
    """Let SIGINT and SIGTERM wait until they are asked for, also in threads that begin meanwhile."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTIONS)
    try:
        yield
    finally:
        while signal.sigpending() & INTERRUPTIONS:
            signal.sigwait(INTERRUPTIONS)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
