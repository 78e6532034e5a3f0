"""`assay proxy`: a recording reverse proxy in front of a bank."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from types import FrameType

import click

from assay.errors import InputError

EPILOG = """\b
Examples:
  assay proxy --upstream https://sandbox.bank.example/v1 --record mine.har
  assay proxy --upstream https://api.bank.example --record mine.har --cert tpp.pem --key tpp.key
  assay judge mine.har --party tpp --target my-bank.yaml

\b
Point your client at the address that is printed, use it, and end this with Ctrl-C.
Customers' data stand in the record, as the bank gave them; tokens, cookies and passwords
do not, but names of their own for each (<token-1>).
"""


@click.command(epilog=EPILOG)
@click.option("--upstream", required=True, metavar="URL", help="The one bank to pass on to.")
@click.option(
    "--record",
    "path",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The HAR file to write; never one that is there already.",
)
@click.option(
    "--listen",
    default="127.0.0.1:8900",
    show_default=True,
    metavar="HOST:PORT",
    help="Where to listen; port 0 takes any free one.",
)
@click.option(
    "--rewrite/--no-rewrite",
    default=True,
    show_default=True,
    help="Turn the bank's absolute links in answers to this proxy; the record keeps them.",
)
@click.option("--cert", type=click.Path(path_type=Path), help="A client certificate, in PEM.")
@click.option("--key", type=click.Path(path_type=Path), help="Its key, if it is not in --cert.")
@click.option("--key-password-env", metavar="NAME", help="The variable with the key's password.")
@click.option("--ca", type=click.Path(path_type=Path), help="Who signs the bank's certificate.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, 600, min_open=True),
    default=60.0,
    show_default=True,
    help="How many seconds the bank may say nothing.",
)
def command(
    upstream: str,
    path: Path,
    listen: str,
    rewrite: bool,
    cert: Path | None,
    key: Path | None,
    key_password_env: str | None,
    ca: Path | None,
    timeout: float,
) -> int:
    """Pass a client's calls on to a bank and record them, until interrupted."""
    from assay.traffic.proxy import origins  # noqa: PLC0415 -- with all that it needs, only here
    from assay.traffic.proxy.recorder import HarRecorder  # noqa: PLC0415
    from assay.traffic.proxy.server import Proxy  # noqa: PLC0415
    from assay.traffic.proxy.upstream import Upstream, trust  # noqa: PLC0415

    origin, below = origins.upstream(upstream)
    host, port = _address(listen)
    bank = Upstream(origin=origin, timeout=timeout, context=trust(ca, cert, key, key_password_env))
    proxy = Proxy(upstream=bank, record=HarRecorder(path), host=host, port=port, rewrite=rewrite)
    with _interrupted() as over:
        try:
            proxy.open()
        except OSError as error:
            proxy.close()
            path.unlink()
            what = f"cannot listen on {listen}: {error.strerror}"
            raise InputError.one("--listen", what, hint="choose another port") from None
        try:
            _begin(proxy.url + below, origin + below, path, rewrite=rewrite, local=proxy.local)
            over.wait()
        finally:
            proxy.close()
    click.echo(f"{proxy.record.exchanges} exchanges recorded in {path}")
    return 0


def _begin(url: str, bank: str, path: Path, *, rewrite: bool, local: bool) -> None:
    """Say what happens from now on, and what to do next."""
    click.echo(f"recording what goes through {url} to {bank}")
    click.echo("  (Ctrl-C ends it)")
    if rewrite:
        click.echo("  the bank's links in answers lead here too; --no-rewrite leaves them")
    if not local:
        click.echo("  everybody who reaches this address can use it, and with your certificate")
    click.echo(f"  use it    with {url} for your client's base URL")
    click.echo(f"  and then  assay judge {path} --party tpp --target my-bank.yaml")


def _address(text: str) -> tuple[str, int]:
    """Return host and port of `HOST:PORT`, the host perhaps in brackets."""
    host, _, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not bare or not port.isascii() or not port.isdigit() or int(port) > 65535:  # noqa: PLR2004 -- of ports
        what = f"{text!r} is no address to listen on"
        raise InputError.one("--listen", what, hint="for example 127.0.0.1:8900")
    return bare, int(port)


@contextmanager
def _interrupted() -> Generator[Event, None, None]:
    """Give what is set when somebody wants this process to end, once and gracefully."""
    over = Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        over.set()

    before = {one: signal.signal(one, end) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield over
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
