"""TLS, client certificates, signatures and tokens that `assay serve` can require.

The certificates are created in a folder of the user's choice and used again next time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import InputError

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from assay.sandbox.guard import SignatureKind
    from assay.sandbox.guard.certificates import CertificateFolder
    from assay.sandbox.guard.server import Demand, Tls


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
        from assay.sandbox.guard import guarded  # noqa: PLC0415 -- seldom asked for

        if self.folder is None:
            return guarded(app, oauth=self.oauth), None
        from assay.sandbox.guard.server import Tls  # noqa: PLC0415

        made = _papers(self.folder)
        tls = Tls(
            certificate=made.certificate("server"),
            key=made.key("server"),
            clients=made.certificate("ca") if self.mutual else None,
            demand=self.mutual or "handshake",
        )
        try:
            tls.context()
            keys = made.signers() if self.signatures else None
        except (OSError, ValueError):
            what = f"{self.folder} has a file that is not a certificate, or not its key"
            raise InputError.one("--tls", what, hint="name an empty or new folder") from None
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
                yield from (f"  {one}" for one in KEY_IDS if not rsa_only or "rsa" in one)
        if self.oauth:
            from assay.sandbox.guard.oauth import demo_accounts  # noqa: PLC0415

            yield "customers (for the screens) and clients (for tokens):"
            yield from (f"  {line}" for line in demo_accounts())
            curl += " -u demo-tpp:demo-tpp-secret -d grant_type=client_credentials"
            yield f"get a token {curl} {url}/oauth/token"
        elif not self.signatures:
            yield f"look at     {curl} -H 'Authorization: Bearer demo-alice' {url}/accounts"


def _papers(folder: Path) -> CertificateFolder:
    from assay.sandbox.guard.certificates import IncompleteFolder, open_certificates  # noqa: PLC0415

    try:
        return open_certificates(folder)
    except IncompleteFolder as no:
        what = f"{folder} has some of the files, but not {no}"
        raise InputError.one("--tls", what, hint="name an empty or new folder") from None
    except OSError as error:
        what = f"{folder} cannot be read or written: {error.strerror}"
        raise InputError.one("--tls", what, hint="name another folder") from None
