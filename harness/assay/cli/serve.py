"""`assay serve`: the sandbox bank over HTTP, with the security that the options require.

Certificates are created in a folder of the user's choice and used again next time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.errors import InputError, did_you_mean
from assay.sandbox.dialects import BASE_PATHS, DIALECTS
from assay.sandbox.policies import SOUND, Policies

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from assay.sandbox.guard import SignatureKind
    from assay.sandbox.guard.certificates import CertificateFolder
    from assay.sandbox.guard.server import Demand, Tls

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
    help="Serve a bank with one fault, for example quota.accounts-utc-day. `assay prove` lists all mutants.",
)
@click.option(
    "--dialect",
    type=click.Choice(sorted(DIALECTS)),
    help="Serve the bank through the API of this dialect, under its own path.",
)
@click.option(
    "--tls",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Serve over TLS with the certificates in this folder. An empty folder is filled with new ones.",
)
@click.option(
    "--mutual",
    type=click.Choice(["handshake", "answer"]),
    is_flag=False,
    flag_value="handshake",
    help="Require a client certificate. A call without one fails in the TLS handshake, or is "
    "answered with 401. Requires --tls.",
)
@click.option(
    "--signatures",
    type=click.Choice(["cavage", "rfc9421"]),
    help="Require signed calls, with a key from the --tls folder. Requires --tls.",
)
@click.option(
    "--oauth",
    is_flag=True,
    help="Require OAuth tokens, issued at /oauth/authorize and /oauth/token.",
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
    from assay.sandbox.app import DEMO_TOKENS, DEMO_TPPS, make_app  # noqa: PLC0415 -- only here
    from assay.sandbox.serve import listen  # noqa: PLC0415

    policies = _policies(mutant)
    app = make_app(policies)
    if dialect:
        app = DIALECTS[dialect](app)
    security = ServeSecurity(folder=tls, mutual=mutual, signatures=signatures, oauth=oauth)
    app, tls_settings = security.put_before(app)
    try:
        server = listen(host, port, app, tls_settings)
    except OSError as error:
        what = f"cannot listen on {host}:{port}: {error.strerror}"
        raise InputError.one("serve", what, hint="choose another port with --port") from None
    scheme = "https" if tls_settings else "http"
    url = f"{scheme}://{host}:{server.effective_port}{BASE_PATHS[dialect] if dialect else ''}"
    click.echo(f"serving {f'the mutant {mutant}' if mutant else 'the sandbox bank'} on {url}")
    click.echo("  (stop with Ctrl-C)")
    if security:
        click.echo(f"  test it   with a target file that has base_url: {url}")
        for line in security.instructions(f"{scheme}://{host}:{server.effective_port}"):
            click.echo(f"  {line}")
        return _until_interrupted(server)
    click.echo(f"  test it   assay run --target {url}")
    for token in DEMO_TOKENS.values():
        click.echo(f"  read      curl -H 'Authorization: Bearer {token}' {url}/accounts")
    tpp = next(iter(DEMO_TPPS))
    click.echo(f"  pay       POST {url}/payment-requests with 'Authorization: Bearer {tpp}'")
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

    faulty = {fault.id: fault.change for fault in (*mutants.MUTANTS, *mutants.PIS_MUTANTS)}
    neutral = (*mutants.NEUTRAL, *mutants.PIS_NEUTRAL)
    change = faulty | {variant.id: variant.change for variant in neutral}
    if mutant not in change:
        hint = did_you_mean(mutant, change) or "`assay prove` lists all of them"
        raise InputError.one("--mutant", f"there is no mutant {mutant!r}", hint=hint)
    return change[mutant](SOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSecurity:
    """What a served sandbox requires of its callers; by default nothing."""

    folder: Path | None
    mutual: Demand | None
    signatures: SignatureKind | None
    oauth: bool

    def __bool__(self) -> bool:
        """Whether anything is required."""
        return self.folder is not None or self.oauth

    def put_before(self, app: WSGIApplication) -> tuple[WSGIApplication, Tls | None]:
        """Return a bank behind these requirements, and the TLS settings to serve it with.

        Raises:
            InputError: an option needs another one, or the folder cannot be used.

        """
        for name, given in (("--mutual", self.mutual), ("--signatures", self.signatures)):
            if given and self.folder is None:
                what = f"{name} needs certificates"
                raise InputError.one("serve", what, hint="add --tls DIR")
        from assay.sandbox.guard import guarded  # noqa: PLC0415 -- seldom needed

        if self.folder is None:
            return guarded(app, oauth=self.oauth), None
        from assay.sandbox.guard.server import Tls  # noqa: PLC0415

        certificates = _certificates(self.folder)
        tls = Tls(
            certificate=certificates.certificate("server"),
            key=certificates.key("server"),
            clients=certificates.certificate("ca") if self.mutual else None,
            demand=self.mutual or "handshake",
        )
        try:
            tls.context()
            keys = certificates.signers() if self.signatures else None
        except (OSError, ValueError):
            what = f"{self.folder} contains a file that is not a certificate, or a key that does not match"
            raise InputError.one("--tls", what, hint="pass an empty or new folder") from None
        return guarded(app, signatures=self.signatures, keys=keys, oauth=self.oauth), tls

    def instructions(self, url: str) -> Iterator[str]:
        """Yield what a caller needs, as lines of text."""
        curl = "curl"
        if self.folder is not None:
            from assay.sandbox.guard.certificates import FILES, KEY_IDS  # noqa: PLC0415

            yield f"certificates in {self.folder}, each NAME.pem with its NAME-key.pem:"
            yield from (f"  {name:<12} {what}" for name, what in FILES.items())
            curl += f" --cacert {self.folder / 'ca.pem'}"
            if self.mutual:
                files = (self.folder / name for name in ("client.pem", "client-key.pem"))
                curl += " --cert {} --key {}".format(*files)
            if self.signatures:
                yield f"key identifiers for signatures ({self.signatures}):"
                rsa_only = self.signatures == "cavage"
                yield from (f"  {key_id}" for key_id in KEY_IDS if not rsa_only or "rsa" in key_id)
        if self.oauth:
            from assay.sandbox.guard.oauth import demo_accounts  # noqa: PLC0415

            yield "customers (for the screens) and clients (for tokens):"
            yield from (f"  {line}" for line in demo_accounts())
            curl += " -u demo-tpp:demo-tpp-secret -d grant_type=client_credentials"
            yield f"get a token {curl} {url}/oauth/token"
        elif not self.signatures:
            yield f"read        {curl} -H 'Authorization: Bearer demo-alice' {url}/accounts"


def _certificates(folder: Path) -> CertificateFolder:
    from assay.sandbox.guard.certificates import IncompleteFolder, open_certificates  # noqa: PLC0415

    try:
        return open_certificates(folder)
    except IncompleteFolder as error:
        what = f"{folder} contains some of the files, but not {error}"
        raise InputError.one("--tls", what, hint="pass an empty or new folder") from None
    except OSError as error:
        what = f"{folder} cannot be read or written: {error.strerror}"
        raise InputError.one("--tls", what, hint="name another folder") from None
